"""Globs of rules as Claude Code matches them: what the agent did with each rule and file."""

import json
import os
import time

import pytest
from hypothesis import given, strategies as st
from tests.text.globs.test_npm_ignore import HOSTILE, PATHS

from foretold.instructions.discover.rule_conditions import globs_of, never_matches
from foretold.text.globs.early_ignore import EarlyIgnoreMatcher, is_broken, matches_nothing
from foretold.text.globs.npm_ignore import RuleIndex

#: per rule: the numbers of the files whose Read attached it, in 2.1.325; 2.1.197 gave the same for the 531 rules that
#: are not broken, and attaches no rule of a folder in which one is
FIXTURES = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "claude-code-globs.json")
#: rules that are not followed: a run of `*` after an escaped backslash, and a negation that reaches the `/` of a folder
KNOWN = [["\\\\**"], ["src/**", "!src/[**"]]


def recorded():
    with open(FIXTURES, encoding="utf-8") as file:
        return json.load(file)


def test_what_the_agent_attached():
    truth = recorded()
    paths = truth["paths"]
    assert (len(truth["rules"]), len(paths)) == (537, 42)
    different = []
    for rule, attached in truth["rules"]:
        globs = globs_of(rule).patterns
        matcher = EarlyIgnoreMatcher(globs)
        ours = [at for at, path in enumerate(paths) if matcher.matches(path)] if globs else "always"
        if ours != attached:
            different.append(rule)
    assert different == KNOWN


def test_the_index_attaches_the_same():
    truth = recorded()
    rules = [(globs_of(rule).patterns, attached) for rule, attached in truth["rules"] if rule not in KNOWN]
    index = RuleIndex([globs for globs, _ in rules], EarlyIgnoreMatcher)
    for at, path in enumerate(truth["paths"]):
        assert index.matching(path) == [
            number for number, (globs, attached) in enumerate(rules) if globs and at in attached
        ]


def test_no_rule_that_was_attached_is_said_to_match_nothing():
    """But for those that matched a file which no project has: one called `!src`, `[**` or `\\src`."""
    truth = recorded()
    odd = {at for at, path in enumerate(truth["paths"]) if path[0] in "!#\\[" or "[**" in path or "\\" in path}
    said = [
        rule
        for rule, attached in truth["rules"]
        if attached != "always" and set(attached) - odd and all(never_matches(glob) for glob in globs_of(rule).patterns)
    ]
    assert said == []


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/[!y].ts", "src/x.ts", False),
        ("src/[!y].ts", "src/!.ts", True),
        ("src/[^y].ts", "src/y.ts", True),
        ("**/*.[!j]s", "src/api/y.test.js", True),
        ("src/[]x].ts", "src/x.ts", False),
        ("src/[[:alpha:]].ts", "src/p].ts", True),
        ("src/[**", "src/x.ts", True),
        ("src/**/", "src/x.ts", True),
        ("\\src", "src/x.ts", False),
        ("my\\sdir", "my dir/x.ts", True),
        ("a\\d.ts", "a5.ts", True),
        ("a\\u0062", "ab", True),
        ("src\\b", "src", True),
    ],
)
def test_one_pattern(pattern, path, expected):
    assert EarlyIgnoreMatcher([pattern]).matches(path) is expected


@pytest.mark.parametrize("line", ["[src/x.ts", "src/[a--].ts", "src/[~-x].ts", "[src/"])
def test_a_broken_line_matches_nothing_and_leaves_the_others(line):
    assert is_broken(line)
    assert matches_nothing(line)
    assert EarlyIgnoreMatcher(["lib", line, "*.ts"]).matches("src/x.ts")


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_pattern_is_slow(kind):
    started = time.process_time()
    for path in PATHS:
        EarlyIgnoreMatcher(HOSTILE[kind]).matches(path)
    assert time.process_time() - started < 5


@given(
    st.text(st.sampled_from("ab/*?[]!^-\\ :dsx0é"), max_size=12), st.text(st.sampled_from("ab/.-^[]!0 "), max_size=9)
)
def test_any_line_has_an_answer(line, path):
    assert EarlyIgnoreMatcher([line]).matches(path) in (True, False)
    if matches_nothing(line):
        assert not EarlyIgnoreMatcher([line]).matches(path)
