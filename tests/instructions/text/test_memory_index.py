"""The memory index and where it is cut; the numbers were recorded (claude-code-memory: memory_index)."""

import hashlib

import pytest
from hypothesis import given, strategies as st

from foretold.dialects.registry import dialect_at
from foretold.instructions.text.memory_index import Cut, cut_index, cut_middle, units_of

OLD, NEW = (dialect_at("claude-code", version).memory_index for version in ("2.1.197", "2.1.325"))
TAIL = "Keep index entries to one line under ~200 chars; move detail into topic files."


def warning(size):
    return f"\n\n> WARNING: MEMORY.md is {size}. Only part of it was loaded. {TAIL}"


def lines(count, of="- line {:04}"):
    return "\n".join(of.format(number) for number in range(1, count + 1))


@pytest.mark.parametrize(
    "text", ["", "a", lines(199), lines(200), "a" * 24_999, "a" * 25_000, "世" * 25_000, "😀" * 12_500]
)
def test_within_the_limits(text):
    assert cut_index(text, OLD) == cut_index(text, NEW) == Cut(text, 0, 0)


@pytest.mark.parametrize("count", [201, 300, 5000])
def test_too_many_lines(count):
    text = lines(count)
    size = f"{count} lines (limit: 200)" if units_of(text) <= 25_000 else f"{count} lines and 58.6KB"
    lost = len(text) - len(lines(200))
    assert cut_index(text, OLD) == Cut(lines(200) + warning(size), count - 200, lost)


@pytest.mark.parametrize(
    ("text", "kept", "size"),
    [
        ("a" * 25_001, "a" * 25_000, "24.4KB"),
        ("a" * 25_600, "a" * 25_000, "25KB"),
        ("z" * 40_000, "z" * 25_000, "39.1KB"),
        ("a\n" + "b" * 30_000, "a", "29.3KB"),
        ("b" * 30_000, "b" * 25_000, "29.3KB"),
        ("😀" * 12_501, "😀" * 12_500, "24.4KB"),
        ("a" * 24_999 + "\n" + "b" * 10, "a" * 24_999, "24.4KB"),
        ("a" * 25_000 + "\n" + "b" * 10, "a" * 25_000, "24.4KB"),
        ("a" * 25_001 + "\n" + "b" * 10, "a" * 25_000, "24.4KB"),
        ("x" + "😀" * 12_500, "x" + "😀" * 12_499 + "\ufffd", "24.4KB"),  # in the middle of a pair
        ("a" * 24_999 + "😀\n" + "b" * 10, "a" * 24_999 + "\ufffd", "24.4KB"),  # and a line end just behind it
    ],
    ids=range(11),
)
def test_too_long(text, kept, size):
    found = cut_index(text, OLD)
    assert found.text == kept + warning(f"{size} (limit: 24.4KB) — index entries are too long")


def test_too_many_and_too_long():
    """claude-code-memory: memidx-both, 250 lines of 200."""
    text = lines(250, "- line {:04}" + "x" * 189)
    found = cut_index(text, OLD)
    kept = lines(124, "- line {:04}" + "x" * 189)
    assert found == Cut(kept + warning("250 lines and 49.1KB"), 126, len(text) - len(kept))


def test_digests_that_were_recorded():
    recorded = {
        "ec8346e4d43f391550bc4d5229c55df0a2056e6348e5eb3f30302fe55c092792": "a" * 24_999,
        "e75a4260add904da049c2ee8bd50006826986a4d66e261a702161f76537a8895": "a" * 25_001,
        "e662efd9500649bcaba54cc20166b54c0df0863f038eb197d86dcf1975a33f09": "z" * 40_000,
        "8d83fe233f046e0fe5697e7ada2ca5b23a24b19fec724b72c144ce148167dd6d": "😀" * 12_501,
        "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb": "a\n" + "b" * 30_000,
    }
    bodies = [cut_index(text, OLD).text.partition("\n\n> WARNING")[0] for text in recorded.values()]
    assert [hashlib.sha256(body.encode()).hexdigest() for body in bodies] == list(recorded)


def test_later_versions_say_what_was_cut():
    """claude-code@2.1.325: cli-automem-long."""
    found = cut_index("\n".join(map(str, range(1, 301))), NEW)
    assert found.text.endswith(
        "\n200\n\n> WARNING: MEMORY.md is 300 lines (limit: 200). Only part of it was loaded: "
        f'100 of 300 lines were cut off, starting at line 201 ("201"). {TAIL}'
    )
    assert found[1:] == (100, 400)


@given(st.text(st.sampled_from("ab\n😀世"), max_size=300), st.integers(1, 5), st.integers(1, 60))
def test_what_is_left_is_a_beginning_within_the_limits(text, most_lines, most_units):
    index = OLD._replace(lines=most_lines, units=most_units)
    found = cut_index(text, index)
    if "\n\n> WARNING" not in found.text:
        assert (found.text, units_of(text) <= most_units, text.count("\n") < most_lines) == (text, True, True)
        return
    kept = found.text.rpartition("\n\n> WARNING")[0]
    assert units_of(kept) <= most_units
    assert kept.count("\n") < most_lines
    assert text.startswith(kept.removesuffix("\ufffd"))


@pytest.mark.parametrize(("units", "size"), [(30_720, "30KB"), (1_572_864, "1.5MB")])
def test_sizes(units, size):
    assert f"MEMORY.md is {size} (limit: 24.4KB)" in cut_index("a" * units, OLD).text


def test_a_middle_that_is_left_out():
    assert cut_middle("abcdefgh", 4) == "ab…1 tokens truncated…gh"
