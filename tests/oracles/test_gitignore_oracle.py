"""Rule `paths` against npm `ignore`: seeded pairs of patterns and paths, answered by one node process."""

import json
import os
import random
import re

import pytest

from foretold.text.globs.early_ignore import EarlyIgnoreMatcher
from foretold.text.globs.npm_ignore import IgnoreMatcher, RuleIndex

from .node import ask

FIXTURES = os.path.join(os.path.dirname(__file__), "..", "fixtures", "gitignore.json")
ANSWER = """
const ignore = require('ignore');
return question.map(([patterns, paths]) => {
  const rule = ignore().add(patterns);
  return paths.map(path => rule.ignores(path));
});
"""

#: what patterns are made of, and what paths are made of
KINDS = {
    "ordinary": (
        [
            *("src", "lib", "a", "docs", "x.ts", ".env", "SRC"),
            *("*.ts", "*.md", "*", "**", "test_*", "*.test.ts", "b?", "[ab]"),
        ],
        ["src", "lib", "a", "docs", "x.ts", "y.md", ".env", "Src", "test_a", "x.test.ts", "b1", "b"],
    ),
    "soup": (list("aaAbB/.*?[]!^-\\ #:"), list("aAbBcz.-]![:\\ *#?^")),
    "brackets": (
        [*("[", "[", "]", "]", "[:", ":]", "[:alpha:]", "[:digit:]", "[!", "^", "-", "\\"), *"abc0zAZ_/*"],
        list("aAbBcz.-]![:\\ *#?^05_"),
    ),
    "stars": (
        ["*", "**", "***", "/", "/", "a", "b", "?", "!", "\\/", "ab", "/**/", "**/", "/**", " ", "\\ "],
        list("aabbAB "),
    ),
    "letters": (list("éÉßẞµμΜſsSKk\u212aıIiİ😀😁[]-*?!/aǅǆǄΣσςÿŸﬁ"), list("éÉßẞµμΜſsSKk\u212aıIiİ😀😁aǅǆǄΣσςÿŸﬁ")),
    "blanks": (list("a b\t\r\n\\/*# !"), list("a b\t\r\n\\*#!")),
}
RULES_PER_KIND = 400


def different_on_purpose(patterns):
    r"""What is not followed.

    * `ignore` matches `a\/**` with the folder `a` itself, too, which `a/**` does not. Its README lists a run of `*`
      beside an escaped slash as a known difference from git.
    * `ignore` does not see a `*` right before a line break inside a pattern. No path of a rule has one.
    """
    trimmed = [pattern.rstrip("\r\n").rstrip(" ") for pattern in patterns]
    return any(line.rstrip("*").endswith("\\/") or re.search(r"\*[\r\n]", line) for line in trimmed)


def generate(kind):
    chance = random.Random(f"gitignore {kind}")
    parts, names = KINDS[kind]
    for _ in range(RULES_PER_KIND):
        patterns = [pattern(chance, kind, parts) for _ in range(chance.choice([1, 1, 1, 2, 3]))]
        if not different_on_purpose(patterns):
            paths = [path(chance, kind, names) for _ in range(8)]
            yield patterns, paths + [alike(chance, names, pattern) for pattern in patterns for _ in range(4)]


def pattern(chance, kind, parts):
    if kind != "ordinary":
        return "".join(chance.choices(parts, k=chance.randint(1, 9)))
    sign, start, end = (
        chance.choice(["", "", "", "!"]),
        chance.choice(["", "", "/"]),
        chance.choice(["", "", "/", "/**"]),
    )
    return sign + start + "/".join(chance.choices(parts, k=chance.randint(1, 4))) + end


def path(chance, kind, names):
    most = 1 if kind == "ordinary" else 3
    segments = ["".join(chance.choices(names, k=chance.randint(1, most))) for _ in range(chance.randint(1, 4))]
    return valid("/".join(segments)) + chance.choice(["", "", "", "/"])


def alike(chance, names, pattern):
    """A path that looks like a pattern, its wildcards filled in."""
    filled = [
        chance.choice(names) if unit in "*?[" and chance.random() < 0.8 else unit
        for unit in pattern
        if unit not in "]\\!" or chance.random() < 0.3
    ]
    return valid("".join(filled)) + chance.choice(["", "", "/a", "/"])


def valid(path):
    """A relative path without empty names; `ignore` throws on others."""
    return "/".join(name for name in path.split("/") if name.strip(".")) or "a"


EARLY_ANSWER = """
const ignore = require('early-ignore');
const isSound = pattern => {
  try { ignore().add(pattern).ignores('a/b'); ignore().add(['*', pattern]).ignores('a/b') } catch { return false }
  return true;
};
return question.map(([patterns, paths]) => {
  const rule = ignore().add(patterns.filter(isSound));
  return paths.map(path => rule.ignores(path));
});
"""


def early_different_on_purpose(patterns):
    r"""What is not followed of the early releases.

    * `\/` before a run of `*`, and `*` after an escaped backslash or before a line break.
    * A bracket at the end that can match the `/` of a folder, and an unclosed one with a `/` and a `*` at the end.
    """
    trimmed = [pattern.rstrip() for pattern in patterns]
    return any(re.search(r"\\/\*|\\\\\s*\*|\*[\r\n]|\[--:\]$|\[[^]]*/[^]]*\*$", line) for line in trimmed)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_to_ignore_before_7_0_6(kind):
    rows = [row for row in generate(kind) if not early_different_on_purpose(row[0])]
    said = ask(EARLY_ANSWER, rows)
    assert [
        (patterns, path, expected)
        for (patterns, paths), answer in zip(rows, said, strict=True)
        for path, expected in zip(paths, answer, strict=True)
        if EarlyIgnoreMatcher(patterns).matches(path) is not expected
    ] == []
    assert sum(map(sum, said)) > 250


@pytest.fixture(scope="module")
def answers():
    """Per kind: rules, paths and what `ignore` says; and the recorded fixtures with what it says now."""
    with open(FIXTURES, encoding="utf-8") as file:
        recorded = json.load(file)
    rows = {kind: list(generate(kind)) for kind in KINDS}
    rows["fixtures"] = [(patterns, [path]) for patterns, path, _ in recorded]
    said = iter(ask(ANSWER, [row for kind in rows for row in rows[kind]]))
    return recorded, {kind: [(*row, next(said)) for row in rows[kind]] for kind in rows}


@pytest.mark.parametrize("kind", KINDS)
def test_equal_to_ignore(answers, kind):
    rows = answers[1][kind]
    assert [
        (patterns, path, expected)
        for patterns, paths, said in rows
        for path, expected in zip(paths, said, strict=True)
        if IgnoreMatcher(patterns).matches(path) is not expected
    ] == []
    assert sum(sum(said) for _, _, said in rows) > 250  # enough of them match


def test_the_index_is_equal_to_ignore(answers):
    rows = answers[1]["ordinary"]
    index = RuleIndex([patterns for patterns, _, _ in rows])
    for number, (_, paths, said) in enumerate(rows):
        assert [number in index.matching(path) for path in paths[:2]] == said[:2]


def test_the_recorded_fixtures_still_hold(answers):
    recorded, rows = answers
    assert [said[0] for _, _, said in rows["fixtures"]] == [expected for _, _, expected in recorded]
