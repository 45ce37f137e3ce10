"""The atlas: how it finds the release in which a case changed, and how it keeps what it saw."""

import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "system"))

import atlas_table
from atlas import REFUSED, RELEASES, packages_of
from atlas_bisect import find_boundary, is_repeated
from atlas_compare import why_unplayed

from foretold.dialects.releases.history import version_key

CASE = {"id": "disc-basic", "agent": "claude-code", "turns": []}
NAMES = [f"1.0.{number}" for number in range(20)]


def row(text, **more):
    """What a release sent: one request with one text."""
    said = f"<system-reminder>\nContents of /proj/a/CLAUDE.md:\n\n{text}\n</system-reminder>"
    sent = {"texts": [["user", "text", said]], "requests": [{"run": 0, "model": "m", "parts": [0]}], "exit": [0]}
    return {"id": CASE["id"], "played": "2026-11-19", **sent, **more}


class Player:
    """Releases of which those from one on say something else; it counts how often it is asked."""

    def __init__(self, since, broken=()):
        self.since, self.broken, self.asked = since, broken, []

    def __call__(self, version):
        self.asked.append(version)
        if version in self.broken:
            return row("", requests=[], exit=[1], stderr="error: unknown option '--new'\n")
        return row("new" if version_key(version) >= version_key(self.since) else "old")


@pytest.mark.parametrize("since", NAMES[1:])
def test_a_boundary_is_found_in_few_steps(since):
    player = Player(since)
    after = NAMES[NAMES.index(since) - 1]
    assert find_boundary(CASE, NAMES, player) == (after, since)
    assert len(player.asked) <= 7
    assert is_repeated(CASE, (after, since), player)


def test_a_release_that_cannot_play_is_passed_over():
    broken = ("1.0.9", "1.0.10", "1.0.11")
    assert find_boundary(CASE, NAMES, Player("1.0.10", broken)) == ("1.0.8", "1.0.12")


@pytest.mark.parametrize(
    ("since", "broken"), [("2.0.0", ()), ("1.0.0", ()), ("1.0.5", ("1.0.0",)), ("1.0.5", ("1.0.19",))]
)
def test_without_a_difference_between_the_ends_there_is_no_boundary(since, broken):
    assert find_boundary(CASE, NAMES, Player(since, broken)) is None


def test_what_does_not_repeat_itself_is_not_believed():
    said = iter(["one", "two", "three", "four"])
    assert not is_repeated(CASE, ("1.0.1", "1.0.2"), lambda version: row(next(said)))


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({}, ""),
        ({"skipped": "it needs another provider"}, "it needs another provider"),
        ({"timed_out": True}, "it ran too long"),
        (
            {"requests": [], "exit": [1], "stderr": "x\nerror: unknown option '--a' (Did you mean --b?)"},
            "no request: error: unknown option '--a'",
        ),
        ({"requests": [], "exit": [1], "stderr": "at /home/me/cli.js"}, "no request: at …"),
        ({"exit": [0, 1], "stderr": "gone"}, "a later run failed: gone"),
        (
            {"texts": [["user", "tool_result", "Agent type 'claude' not found. Available agents: a"]]},
            "Agent type 'claude' not found",
        ),
    ],
)
def test_why_a_row_says_nothing(more, why):
    assert why_unplayed(row("text", **more)) == why


def test_a_table_keeps_what_differs_from_the_line_before(tmp_path, monkeypatch):
    monkeypatch.setattr(atlas_table, "FOLDER", str(tmp_path))
    line = {"agent": "codex", "played": "2026-11-19", "cases": 3, "equal": 2, "differ": {}, "unplayed": {}}
    lines = [
        {**line, "version": "0.2.0", "answers": {"a": "1", "b": "3"}},
        {**line, "version": "0.10.0", "answers": {"a": "1"}, "differ": {"b": "another text"}},
        {**line, "version": "0.1.0", "answers": {"a": "1", "b": "2"}},
        {**line, "version": "0.1.5", "answers": {"b": "2"}, "only": True},
    ]
    atlas_table.write_table("codex", lines)
    with open(tmp_path / "codex.jsonl", encoding="utf-8") as file:
        assert [len(text) < 200 for text in file] == [True] * 4
    found = atlas_table.read_table("codex")
    assert [each["version"] for each in found] == ["0.1.0", "0.1.5", "0.2.0", "0.10.0"]
    assert [each["answers"] for each in found] == [{"a": "1", "b": "2"}, {"b": "2"}, {"a": "1", "b": "3"}, {"a": "1"}]


@pytest.mark.parametrize("agent", sorted(RELEASES))
def test_releases_are_listed_in_order_and_have_packages(agent):
    versions = RELEASES[agent].split()
    assert versions == sorted(set(versions), key=version_key)
    for version in versions:
        packages, program, _ = packages_of(agent, version)
        assert packages
        assert program.count("/") > 1
    assert {name for name, _, _ in REFUSED} <= set(RELEASES)


def test_cases_that_are_played_again_take_the_place_of_what_was_there():
    line = {"agent": "codex", "version": "0.2.0", "cases": 4}
    answers = {"a": "1", "b": "2"}
    old = {
        **line,
        "played": "2026-11-18",
        "equal": 2,
        "differ": {"c": "x"},
        "unplayed": {"slow": ["d"]},
        "answers": answers,
    }
    new = {
        **line,
        "played": "2026-11-19",
        "equal": 2,
        "differ": {"b": "y"},
        "unplayed": {},
        "answers": {"c": "3", "d": "4"},
    }
    assert atlas_table.merge_lines(old, {**new, "only": True}) == {
        **line,
        "played": "2026-11-19",
        "equal": 3,
        "differ": {"b": "y"},
        "unplayed": {},
        "answers": {"a": "1", "c": "3", "d": "4"},
    }
