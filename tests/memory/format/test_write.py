"""Stored memory files: what the real agent wrote, what we write ourselves, and what nobody should have written."""

import os
import time

import pytest
from hypothesis import given, settings, strategies as st

from foretold.memory.format.agent import style_of
from foretold.memory.format.write import (
    _with_time,
    ends_on_own_line,
    normalize_note,
    note_name,
    read_frontmatter,
    render_note,
    values_with_comments,
)
from foretold.memory.format.yaml import NEWER_STYLE, STYLE, number, quote, write_yaml
from foretold.proof.conform.cases import read_cases

MORE = read_cases(os.path.join(os.path.dirname(os.path.abspath(__file__)), "stored_more.jsonl"))
NOW = "2026-01-02T03:04:05.678Z"
FORMS = [STYLE, NEWER_STYLE]


@pytest.mark.parametrize("case", MORE, ids=lambda case: f"{case['version']}-{case['id']}")
def test_what_the_agent_stored(case):
    given = case["input"]
    form = style_of(f"claude-code@{case['version']}")
    found = normalize_note(given["content"], given["session_id"], form, given.get("now", ""))
    assert {"stored": found, "changed": found != given["content"]} == case["expected"]


def test_the_file_of_what_it_stored_is_whole():
    versions = [case["version"] for case in MORE]
    assert {version: versions.count(version) for version in set(versions)} == {"2.1.197": 1338, "2.1.325": 645}


def test_what_we_write_stays_but_for_the_session():
    """The agent changes nothing else of a file in its own form."""
    ours = render_note("tabs", "Use tabs: always", {"node_type": "memory", "type": "feedback", "n": [1, {}]}, "Body\n")
    assert ours.split("\n") == [
        "---",
        "name: tabs",
        'description: "Use tabs: always"',
        "metadata: ",
        "  node_type: memory",
        "  type: feedback",
        '  "n": ',
        "    - 1",
        "    - {}",
        "---",
        "",
        "Body",
        "",
    ]
    assert normalize_note(ours, "s") == ours.replace("\n---\n\n", "\n  originSessionId: s\n---\n\n")


def test_the_newer_form_has_no_space_and_a_time():
    content = "---\nname: tabs\ndescription: d\nlist: []\n---\nBody\n"
    assert normalize_note(content, "s", NEWER_STYLE, NOW) == (
        "---\nname: tabs\ndescription: d\nmetadata:\n  node_type: memory\n  list: []\n"
        f"  originSessionId: s\n  modified: {NOW}\n---\n\nBody\n"
    )


def test_the_newer_form_keeps_what_it_cannot_read():
    """2.1.197 loses these values; 2.1.325 leaves the file alone."""
    content = "---\nname: a\njust words\n---\nBody\n"
    assert (
        normalize_note(content, "s")
        == '---\nname: ""\nmetadata: \n  node_type: memory\n  originSessionId: s\n---\n\nBody\n'
    )
    assert normalize_note(content, "s", NEWER_STYLE, NOW) == content


def test_the_newer_form_notes_the_time_of_every_change():
    content = "---\nname: a\nmetadata:\n  type: user\n  originSessionId: other\n---\nBody\n"
    first = normalize_note(content, "s", NEWER_STYLE, "2026-01-01T00:00:00.000Z")
    assert first == content.replace("other\n", "other\n  modified: 2026-01-01T00:00:00.000Z\n")
    assert normalize_note(first, "s", NEWER_STYLE, NOW) == content.replace("other\n", f"other\n  modified: {NOW}\n")
    assert normalize_note(content, "s") == content


@pytest.mark.parametrize(
    ("text", "name"),
    [("a-b_c", "a-b_c"), ("", ""), ("A", "a"), ("--A--", "a"), ("Straße", "stra-e"), ("İ", "i"), ("../../etc", "etc")],
)
def test_names(text, name):
    assert note_name(text) == name


def test_numbers_are_those_of_javascript():
    values, valid = read_frontmatter(
        "a: 007\nb: 0x1F\nc: -0\nd: 0b1\ne: 1e400\nf: 1_0\ng: 12345678901234567890\nh: '5'\n"
    )
    assert (values, valid) == (
        {"a": 7, "b": 31, "c": 0, "d": "0b1", "e": float("inf"), "f": "1_0", "g": 12345678901234567890.0, "h": "5"},
        True,
    )
    found = [number(value) for value in (10**400, -(10**400), 1e-324, 123456789.123456789, 100, float("nan"))]
    assert found == ["Infinity", "-Infinity", "0", "123456789.12345679", "100", "NaN"]


def test_values_of_the_library_user():
    """Tuples are lists, other keys and values become texts."""
    assert write_yaml({"a": (1, 2), 3: None, True: b"x"}) == '"3": null\na: \n  - 1\n  - 2\n"true": "b\'x\'"'


LETTERS = st.characters(codec="utf-8", exclude_categories=("Cs", "Co", "Cn"))
PLAIN, KEYS = st.text(LETTERS, max_size=20), st.text(LETTERS, max_size=6)
SCALARS = st.one_of(PLAIN, st.integers(-(2**40), 2**40), st.booleans(), st.floats(allow_nan=False))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)


@given(PLAIN)
@settings(max_examples=300, deadline=None)
def test_a_text_is_read_as_it_was_written(text):
    if "---" not in text and "\0" not in text:
        assert read_frontmatter(f"a: {quote(text)}\nb: [{quote(text)}]\n")[0] == {"a": text, "b": [text]}


@given(st.text(max_size=200), st.sampled_from(FORMS))
@settings(max_examples=300, deadline=None)
def test_nothing_raises(text, form):
    for content in (text, f"---\n{text}\n---\nBody\n", f"---\nname: {text}\nmetadata:\n  x: {text}\n---\n"):
        normalize_note(content, "s", form, NOW)


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.sampled_from(FORMS))
@settings(max_examples=200, deadline=None)
def test_what_is_stored_is_stored(metadata, form):
    """A file in the agent's form, with a session's id, stays as it is but for the time."""
    note = render_note("a", "d", {**metadata, "originSessionId": "s", "modified": NOW}, "Body\n", form)
    if "---" not in note[4:].partition("\n---\n")[0]:
        assert normalize_note(note, "other", form, NOW) == note


HOSTILE = {
    "brackets": "[" * 60_000,
    "comments": "a: " + " #" * 30_000,
    "quotes": "a: " + ' "\\' * 20_000,
    "spaces": " " * 60_000 + "x",
    "line ends": "a: '" + "\r\n" * 30_000 + "'",
    "lines": "a: b # c\n" * 300_000,
    "digits": "a: " + "9" * 60_000,
    "hexadecimal": "a: 0x" + "f" * 60_000,
    "anchors": "".join(f"k{number}: &a{number} t\n" for number in range(4_000)),
    "aliases": "a: &a [x]\n" + "".join(f"b{number}: [*a, *a]\n" for number in range(1_000)),
    "mended lines": "z: a: b\n" + "".join(f"k{number}: @t # c\n" for number in range(4_000)),
    "stamps": " modified: x #\n" * 4_000,
    "metadata": "metadata:\n" * 6_000,
    "blanks": "metadata:\n" + "  \n" * 20_000 + "x",
    "marks": "a: \ue101\ue203\ue307\ue40b\ue50d 5",
    "surrogate": "a: \ud83d",
}


@pytest.mark.parametrize("form", FORMS, ids=["2.1.197", "2.1.325"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_costs_bounded_time(text, form):
    start = time.process_time()
    normalize_note(f"---\n{text}\n---\nBody\n", "s", form, NOW)
    assert time.process_time() - start < 30


def test_render_note():
    assert (
        render_note("tabs", "Use tabs: always", {"type": "feedback"}, "Body\n")
        == '---\nname: tabs\ndescription: "Use tabs: always"\nmetadata: \n  type: feedback\n---\n\nBody\n'
    )


def test_note_name():
    assert (note_name("My Name!"), note_name("a_b--c-"), note_name("UPPER_case"), note_name("日本語")) == (
        "my-name",
        "a_b--c-",
        "upper-case",
        "",
    )


def test_read_frontmatter():
    assert read_frontmatter("a: 007\nb: '007'\n1: 0b1\n") == ({"a": 7.0, "b": "007", "1": "0b1"}, True)


def test_ends_on_own_line():
    assert (ends_on_own_line("---\na: b\n---\n"), ends_on_own_line("---\na: b --- c\n---\n")) == (True, False)


def test_values_with_comments():
    assert values_with_comments("a: b # c\n", {"a": "b"}, valid=True) == {"a": "b # c"}
    assert values_with_comments("a: 5 # c\n", {"a": 5.0}, valid=True) is None


def test_with_time():
    assert (
        _with_time("---\nmetadata:\n  a: b\n---\n", "2026-01-02")
        == "---\nmetadata:\n  a: b\n  modified: 2026-01-02\n---\n"
    )


def test_write_yaml():
    assert write_yaml({"b": [1, {"c": "x"}], "1": "y"}) == '"1": "y"\nb: \n  - 1\n  - c: x'


def test_quote():
    assert (quote("plain text"), quote("yes"), quote("it's"), quote("1.5"), quote("2024-01-01")) == (
        "plain text",
        '"yes"',
        '"it\'s"',
        '"1.5"',
        "2024-01-01",
    )


def test_number():
    assert [number(n) for n in (5, 1.50, 1e21, 1.5e-7, -0.0, 2**63)] == [
        "5",
        "1.5",
        "1e+21",
        "1.5e-7",
        "-0",
        "9223372036854776000",
    ]
