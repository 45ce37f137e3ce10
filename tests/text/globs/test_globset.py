"""Patterns of Copilot CLI: what the program was recorded to attach for them, and no slow pattern."""

import json
import os
import time

import pytest

from foretold.text.globs.globset import GlobsetIndex, GlobsetPattern

#: pattern -> files that 1.0.102 took it to match, and files that it did not
FIXTURES = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "globset.json")

#: many characters that could go together badly
HOSTILE = {
    "stars": "*a" * 2500 + "*b",
    "folders": "**/" * 1000 + "x",
    "folders and names": "/**/a" * 1000 + "/x",
    "open brackets": "[" * 20_000,
    "open braces": "{" * 20_000,
    "many options": "{" + "a*," * 10_000 + "b}",
    "braces in a row": "{a*,b*}" * 2_000,
}


def test_equals_what_was_recorded() -> None:
    with open(FIXTURES, encoding="utf-8") as file:
        recorded = json.load(file)
    found = {
        pattern: {
            "yes": [path for path in (*says["yes"], *says["no"]) if GlobsetIndex([[pattern]]).matching(path)],
            "no": [path for path in (*says["yes"], *says["no"]) if not GlobsetIndex([[pattern]]).matching(path)],
        }
        for pattern, says in recorded.items()
    }
    assert found == recorded


def test_says_which_rules_match() -> None:
    index = GlobsetIndex([["src/**"], ["*.py", "no/**"], ["docs/**", "src/[!b].ts"], []])
    assert index.matching("src/a.ts") == [0, 2]
    assert index.matching("lib/x.py") == [1]


def test_ranges_go_on_from_each_other_and_count_bytes() -> None:
    assert GlobsetIndex([["[a-c-x]"]]).matching("m") == [0]
    assert GlobsetIndex([["[-a]"], ["[a-]"], ["[!-]"]]).matching("-") == [0, 1]
    assert GlobsetIndex([["[é][é]"]]).matching("é") == [0]


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("a/[b", "its `[` is not closed"),
        ("{a,b", "its `{` is not closed"),
        ("a}", "its `}` closes nothing"),
        ("[z-a]", "its range `z-a` is empty"),
        ("a\\", "a backslash at its end makes nothing literal"),
        ("a/**", ""),
    ],
)
def test_says_why_a_pattern_matches_nothing(pattern: str, problem: str) -> None:
    assert GlobsetPattern(pattern).problem == problem


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_patterns_end_soon(name: str) -> None:
    began = time.perf_counter()
    GlobsetIndex([[HOSTILE[name]]]).matching("a/" * 1000 + "a")
    assert time.perf_counter() - began < 2
