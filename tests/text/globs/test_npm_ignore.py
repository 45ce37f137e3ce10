"""Rule `paths`: what npm `ignore` was recorded to say, what Claude Code was recorded to do, and no slow pattern."""

import json
import os
import time

import pytest
from hypothesis import given, settings, strategies as st

from foretold.text.globs.npm_ignore import IgnoreMatcher, RuleIndex

FIXTURES = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "gitignore.json")

#: recorded with a read of `src/a/x.ts` (claude-code: rule-glob-ts, rule-neg, rule-esc, rule-paths-root)
RECORDED = {
    ("*.ts",): True,
    ("x.ts",): True,
    ("src",): True,
    ("a",): True,
    ("src/",): True,
    ("src/*",): True,
    ("src/*.ts",): False,
    ("/src",): True,
    ("/*.ts",): False,
    ("SRC",): True,
    ("*.TS",): True,
    ("./src/**",): False,
    ("./*.ts",): False,
    ("../x",): False,
    ("/home/src/a/x.ts",): False,
    ("**/*.ts", "!**/x.ts"): False,
    ("src", "!src/a"): True,
    ("!lib/**",): False,
    ("#src",): False,
    ("\\src",): True,
    ("/",): False,
    (".",): False,
    ("./",): False,
    ("**/",): True,
    ("**/*",): True,
    ("*",): True,
}

#: many characters that could go together badly
HOSTILE = {
    "stars": ["*a" * 2500 + "*b"],
    "folders": ["**/" * 1000 + "x"],
    "folders and names": ["**/a/" * 1000 + "b"],
    "names": ["**/" + "a/" * 2500 + "b"],
    "open brackets": ["[" * 100_000],
    "open classes": ["[" + "[:" * 50_000],
    "closed classes": ["[" + "[:" * 50_000 + "]"],
    "brackets": ["[ab]" * 1250 + "c"],
    "stars and brackets": ["*[ab]" * 1000 + "c"],
    "questions": ["?" * 5000],
    "backslashes": ["\\" * 100_001],
    "spaces": [" " * 100_000 + "\\ " * 1000],
    "lines": ["*", "!*/*"] * 1000,
}
PATHS = ["ab" * 2500, "a/" * 2500 + "b!"]

lines = st.text(st.sampled_from("aAbé/.*?[]!^-\\ #:x"), max_size=8) | st.from_regex(
    r"[!/]?((a|b|src|\*|\*\*|\*\.ts|a\*|\?x|[a-b])/){0,3}(a|b|x\.ts|\*|\*\*|\*\.ts|\*x\*|s?c)/?", fullmatch=True
)
paths = st.lists(
    st.sampled_from(["a", "b", "src", "x.ts", "A", "y.test.ts", "c", "ax", ".", "é", "-"]), min_size=1, max_size=5
).map("/".join)


def test_what_ignore_said():
    with open(FIXTURES, encoding="utf-8") as file:
        rows = json.load(file)
    assert len(rows) > 300
    assert [row for row in rows if IgnoreMatcher(row[0]).matches(row[1]) is not row[2]] == []


def test_what_the_agent_did():
    assert {patterns: IgnoreMatcher(patterns).matches("src/a/x.ts") for patterns in RECORDED} == RECORDED


@pytest.mark.parametrize("path", ["", ".", "..", "/", "/a", "./a", "../a", "../"])
def test_a_path_outside_the_base_never_matches(path):
    assert not IgnoreMatcher(["*", "**", "a", "/a", "../a", ".*"]).matches(path)
    assert RuleIndex([["*"], ["a"]]).matching(path) == []


def test_no_patterns_match_nothing():
    assert not IgnoreMatcher([]).matches("a")
    assert RuleIndex([]).matching("a") == []
    assert RuleIndex([[], [""], ["a"]]).matching("a") == [2]


def test_a_folder_matches_with_and_without_its_slash():
    assert [IgnoreMatcher(["src/"]).matches(path) for path in ("src", "src/", "src/x")] == [False, True, True]
    assert [IgnoreMatcher(["src"]).matches(path) for path in ("src", "src/", "src/x")] == [True, True, True]


def test_the_index_names_rules_in_order():
    rules = [["*.py"], ["src/**"], ["*.ts", "!x.ts"], ["**/x.ts"], ["*.ts"], ["src/a/*.ts"], ["lib", "X.TS"], ["*.ts"]]
    assert RuleIndex(rules).matching("src/a/x.ts") == [1, 3, 4, 5, 6, 7]


@given(st.lists(st.lists(lines, max_size=3), max_size=8), paths)
def test_the_index_loses_and_adds_nothing(rules, path):
    brute = [number for number, patterns in enumerate(rules) if IgnoreMatcher(patterns).matches(path)]
    assert RuleIndex(rules).matching(path) == brute


@given(st.lists(lines, max_size=4), paths, paths)
def test_below_a_matched_folder_all_is_matched(patterns, folder, below):
    if IgnoreMatcher(patterns).matches(folder + "/"):
        assert IgnoreMatcher(patterns).matches(f"{folder}/{below}")


@given(lines, paths)
def test_a_negation_takes_back_what_its_pattern_gives(line, path):
    assert not IgnoreMatcher([line, "!" + line]).matches(path) or line.startswith(("!", "#"))


@given(st.lists(st.text(max_size=20), max_size=3), st.text(max_size=30))
def test_nothing_raises(patterns, path):
    assert RuleIndex([patterns]).matching(path) == ([0] if IgnoreMatcher(patterns).matches(path) else [])


@pytest.mark.parametrize("name", HOSTILE)
def test_no_pattern_is_slow(name):
    start = time.process_time()
    for path in PATHS:
        IgnoreMatcher(HOSTILE[name]).matches(path)
    assert time.process_time() - start < 2


def test_three_thousand_rules_are_quick():
    shapes = ["src/mod{}/**/*.ts", "**/*.ext{}", "packages/p{}/*.py", "*.test{}.ts", "dir{}", "src/**/m{}/*.tsx"]
    rules = [[shapes[number % 6].format(number)] for number in range(3000)]
    build, ask = [], []
    for _ in range(5):
        start = time.process_time()
        index = RuleIndex(rules)
        middle = time.process_time()
        assert index.matching("src/mod12/components/button.test3.ts") == [3, 12]
        ask.append(time.process_time() - middle)
        build.append(middle - start)
    assert (min(build) < 0.05, min(ask) < 0.005) == (True, True), (build, ask)


@settings(max_examples=50)
@given(st.text(st.characters(min_codepoint=128), min_size=1, max_size=3))
def test_other_letters_match_themselves(name):
    assert IgnoreMatcher([f"/{name}"]).matches(name)
