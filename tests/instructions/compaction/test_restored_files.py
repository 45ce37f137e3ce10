"""Which files come back after a compaction. The sizes are those around which the agent itself changed its mind."""

import os
from pathlib import Path

import pytest

from foretold.dialects.claude_code.compaction import compaction_rules
from foretold.files.read_state.state import ReadState
from foretold.instructions.compaction.restored_files import (
    Seen,
    attachment,
    cost_of,
    loaded_again,
    restore_files,
    token_count,
)
from foretold.types import REASONS

V2_1_197, V2_1_325 = FORMS = (compaction_rules("2.1.197"), compaction_rules("2.1.325"))

EACH = pytest.mark.parametrize("form", FORMS, ids=("2.1.197", "2.1.325"))


def seen(*ages, text="x\n"):
    return [Seen(f"/w/f{number}", text, 1000.0 - age) for number, age in enumerate(ages)]


def names(found):
    return [path.rpartition("/")[2] for path in found.paths]


def why(found):
    return {skip.path.rpartition("/")[2]: skip.reason for skip in found.skips}


@EACH
def test_the_five_newest(form):
    found = restore_files(seen(60, 50, 40, 30, 20, 10, 0), form)
    assert names(found) == ["f6", "f5", "f4", "f3", "f2"]
    assert [(skip.path, skip.reason, skip.detail) for skip in found.skips] == [
        ("/w/f1", "not-newest", "5 are newer"),
        ("/w/f0", "not-newest", "5 are newer"),
    ]


@EACH
def test_of_equals_the_one_that_was_read_last(form):
    """It is given first. Times are whole milliseconds."""
    read = [Seen(f"/w/f{number}", "x", 7 + number / 10) for number in (3, 1, 2, 0)]
    assert names(restore_files(read, form)) == ["f3", "f1", "f2", "f0"]


@EACH
def test_a_file_that_is_gone_takes_a_place(form):
    read = [Seen(file.path, None if number == 0 else "x", file.mtime) for number, file in enumerate(seen(*range(7)))]
    found = restore_files(read, form)
    assert (names(found), why(found)) == (
        ["f1", "f2", "f3", "f4"],
        {"f0": "missing", "f5": "not-newest", "f6": "not-newest"},
    )


@EACH
def test_what_the_start_has_takes_none(form):
    found = restore_files(seen(*range(7)), form, never=["/w/f0", "/w/other"])
    assert names(found) == ["f1", "f2", "f3", "f4", "f5"]
    assert why(found) == {"f0": "already-loaded", "f6": "not-newest"}


def test_what_the_start_has():
    """Rules, imports, `.claude/CLAUDE.md`, nested files and those of parent folders are not among them."""
    assert loaded_again("/w/", "/h/.claude/", "/etc/claude-code", "/h/m/") == {
        "/w/CLAUDE.md",
        "/w/CLAUDE.local.md",
        "/h/.claude/CLAUDE.md",
        "/etc/claude-code/CLAUDE.md",
        "/h/m/MEMORY.md",
    }
    assert loaded_again("/w", "/h") == {"/w/CLAUDE.md", "/w/CLAUDE.local.md", "/h/CLAUDE.md"}


# -- one file --------------------------------------------------------------------------------------------------


@EACH
@pytest.mark.parametrize(
    ("path", "text", "tokens"),
    [
        ("a.txt", "x" * 20_001, 5000),
        ("a.txt", "x" * 20_002, 5001),
        ("a.txt", "é" * 20_001, 5000),
        ("a.txt", "😀" * 10_001, 5001),  # two units each
        ("a.json", "1" * 10_000, 5000),
        ("a.JSONL", "1" * 10_001, 5001),
        ("a.jsonc", "", 0),
    ],
)
def test_the_estimate(form, path, text, tokens):
    assert token_count(path, text, form) == tokens
    found = restore_files([(f"/w/{path}", text, 1.0)], form)
    assert (found.paths, why(found)) == ((f"/w/{path}",), {}) if tokens <= 5000 else ((), {path: "too-large"})
    assert [file.path for file in found.named] == ([] if tokens <= 5000 else [f"/w/{path}"])


@EACH
@pytest.mark.parametrize(
    ("path", "size", "asked"),
    [("a.txt", 5001, False), ("a.txt", 5002, True), ("a.json", 2500, False), ("a.json", 2501, True)],
)
def test_when_the_model_is_asked(form, path, size, asked):
    calls = []
    count = token_count(path, "x" * size, form, lambda text: calls.append(len(text)) or 7)
    assert (calls, count) == ([size], 7) if asked else ([], 1250)


@EACH
@pytest.mark.parametrize(("tokens", "comes"), [(5000, True), (5001, False)])
def test_what_the_model_counts_decides(form, tokens, comes):
    found = restore_files([("/w/f", "x" * 60_000, 1.0)], form, count=lambda _: tokens)
    assert bool(found.files) is comes


# -- all of them -------------------------------------------------------------------------------------------------


def text_of(size):
    return ("x" * 99 + "\n") * (size // 100) + "y" * (size % 100)


@pytest.mark.parametrize(
    ("form", "size", "comes"),
    [(V2_1_197, 46_691, True), (V2_1_197, 46_692, False), (V2_1_325, 47_008, True), (V2_1_325, 47_009, False)],
)
def test_the_budget_to_the_character(form, size, comes):
    """Three files of 50,000 characters and one more, in a folder with a path of 21 characters."""
    cwd = "/t" + "m" * 10 + "/abc/proj"
    cwd = cwd + "x" * (21 - len(cwd))
    read = [(f"{cwd}/f{number}.txt", text_of(50_000), 9.0 - number) for number in range(3)]
    found = restore_files([*read, (f"{cwd}/f3.txt", text_of(size), 1.0)], form, cwd=cwd, count=lambda _: 1)
    assert len(found.files) == 3 + comes
    assert why(found) == ({} if comes else {"f3.txt": "budget"})


@EACH
def test_one_that_is_too_much_is_passed_over(form):
    read = seen(0, 1, 2, 3, text=text_of(60_000)) + [Seen(f"/w/g{age}", "s\n", 900.0 - age) for age in range(4)]
    found = restore_files(read, form, count=lambda _: 1)
    assert names(found) == ["f0", "f1", "f2", "g0"]
    assert why(found) == {"f3": "budget", "g1": "not-newest", "g2": "not-newest", "g3": "not-newest"}
    assert {skip.reason for skip in found.skips} <= set(REASONS)


def test_what_an_attachment_costs():
    attached = attachment("/w/a/b.txt", "one\ntwo\n", "/w", V2_1_197)
    assert attached == {
        "type": "file",
        "filename": "/w/a/b.txt",
        "content": {
            "type": "text",
            "file": {
                "filePath": "/w/a/b.txt",
                "content": "one\ntwo\n",
                "numLines": 3,
                "startLine": 1,
                "totalLines": 3,
            },
        },
        "displayPath": "a/b.txt",
    }
    assert [cost_of(attached, form) for form in FORMS] == [77, 47]
    assert attachment("/o/x", "", "/w/p", V2_1_325)["displayPath"] == "../../o/x"


@EACH
def test_a_file_counts_once(form):
    found = restore_files([Seen("/w/a", "new", 3), Seen("/w/b", "b", 2), Seen("/w/a", "old", 1)], form)
    assert found.files == (Seen("/w/a", "new", 3), Seen("/w/b", "b", 2))


@EACH
def test_what_is_on_disk_counts(form):
    """A file that was read in part comes back whole, one that was changed as it is now."""
    read = [Seen("/w/a", "part", 3), Seen("/w/b", "old", 2), Seen("/w/c", "", 1)]
    now = {"/w/a": "part and more", "/w/b": None, "/w/c": "x" * 30_000}
    found = restore_files(read, form, text=now.get)
    assert (found.files, why(found)) == ((Seen("/w/a", "part and more", 3),), {"b": "missing", "c": "too-large"})


@EACH
def test_what_the_read_state_gives(form, tmp_path):
    state = ReadState(str(tmp_path))
    for number in range(3):
        path = tmp_path / f"f{number}.txt"
        path.write_text(f"{number}\n" * 3, encoding="utf-8")
        os.utime(path, (1_700_000_000,) * 2)
        state.read(str(path), limit=1)
    found = restore_files(state.recent(), form, text=lambda path: Path(path).read_text(encoding="utf-8"))
    assert names(found) == ["f2.txt", "f1.txt", "f0.txt"]
    assert found.files[0].content == "2\n2\n2\n"


@EACH
def test_every_file_is_accounted_for(form):
    read = [*seen(*range(9)), Seen("/w/CLAUDE.md", "c", 2000.0), Seen("/w/big", "x" * 90_000, 1999.0)]
    found = restore_files(read, form, never=loaded_again("/w", "/h"))
    assert sorted([*found.paths, *(skip.path for skip in found.skips)]) == sorted(file.path for file in read)


def test_what_the_start_has_without_an_organisation():
    found = loaded_again("/w", "/h/.claude", memory="/h/.claude/projects/-w/memory/")
    memory = "/h/.claude/projects/-w/memory/MEMORY.md"
    assert found == {"/h/.claude/CLAUDE.md", memory, "/w/CLAUDE.local.md", "/w/CLAUDE.md"}


def test_tokens_are_rounded():
    assert token_count("a.txt", "x" * 20_001, V2_1_197) == 5000
    assert token_count("a.json", "1" * 2_501, V2_1_197) == 1251
