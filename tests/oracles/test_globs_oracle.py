"""Exclude globs against npm `picomatch`: seeded pairs of a pattern and a path, answered by one node process.

Paths are absolute and normal. Not asked is what the module says it leaves aside (`followed`). Of the patterns that
people write every answer must be equal, of those put together from single characters nearly every one.
"""

import json
import os
import random
import re

import pytest

from foretold.text.globs.picomatch import Glob

from .node import ask

FIXTURES = os.path.join(os.path.dirname(__file__), "..", "fixtures", "picomatch.json")
ANSWER = """
const picomatch = require('picomatch');
const answer = (path, pattern) => {
  try { return picomatch.isMatch(path, pattern, {dot: true}); } catch { return false; }
};
return question.map(([pattern, paths]) => paths.map(path => answer(path, pattern)));
"""

#: what patterns are made of
KINDS = {
    "ordinary": [
        *("/home/u", "/", "/", "**", "/**", "/**/", "*", "CLAUDE.md", ".claude", "/rules", "a", ".md", "*.md", "?"),
        *("{a,b}", "{a,b}.md", "{a,}", "{1..3}", "[a-b]", "[^a]", "[!a]", "[ab]", "[[:digit:]]", "proj", "**/"),
    ],
    "groups": [
        *("/home/u", "/", "/", "**", "/**/", "*", "CLAUDE.md", ".claude", "/rules", "a", "b", ".md", "*.md", "?"),
        *("{a,b}", "!(a)", "@(a|b)", "+(a|b)", "*(a)", "?(b)", "!(*.md)", "!(a*)", "!(a|b)", "!(/a)", "(a|b)"),
    ],
    "stars": ["*", "**", "a", "b", "/", "/", ".", "?", "-", "a.b", "*.js", "**/", "/**", "./"],
    "letters": ["é", "😀", "ß", "?", "*", "[é]", "[^é]", "[😀]", "[a-😀]", "/", "{é,a}", "\u2028", "\n", "."],
    "soup": list("ab/.*?[]!^- (){},|+@$1:"),
    "extglobs": ["!(", "@(", "+(", "*(", "?(", ")", ")", ")", "|", "a", "b", "*", "**", "/", ".", "ab", ".js"],
    "braces": [*("..", "{a,b}", "{1..3}", "[a-c]", "**"), *"{},13ac*/.()|"],
    "brackets": [*("[^", "[!", "[:", ":]", "alpha", "[:alpha:]", "[[:digit:]]"), *"[]-az/*^"],
    "negations": ["!", "!!", "!(", "a", ")", "./", "*", "/", ".", "**", "(", "?"],
}
WRITTEN = ("ordinary", "groups", "stars", "letters")
NAMES = [
    *("a", "b", "aa", "ab", "ba", "aab", "a.md", "b.md", "CLAUDE.md", ".claude", "rules", "proj", "home", "u", ".a"),
    *("a.js", "a.b", "a]", "[a]", "(a", "a)", "{a", "a}", "a|b", "a+", "+a", "!a", "1..3", "a\nb", "a b"),
    *"é😀ß:$xzc12-^![]{}()|+@?*,",
]
FILLERS = ["", "a", "b", "aa", "x", "ab", ".a", "a.md", "a/b", "b/a"]
PATTERNS_PER_KIND = 600


def generate(kind):
    chance = random.Random(f"picomatch {kind}")
    for _ in range(PATTERNS_PER_KIND):
        parts = chance.choices(KINDS[kind], k=chance.randint(1, 8))
        lead = chance.choice(["", "", "/", "/", "/", "!", "!/"])
        pattern = lead + "".join(parts)
        if followed(pattern):
            others = ["/" + "/".join(chance.choices(NAMES, k=chance.randint(1, 3))) for _ in range(6)]
            yield pattern, others + [alike(chance, parts) for _ in range(6)]


def followed(pattern):
    """Whether the module claims to read a pattern as picomatch does."""
    depth = 0
    for char in pattern:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth < 0:
            return False
    odd = r"\*{3}|\{[^}]*(\.\.[^}]*,|,[^}]*\.\.)|\[\+"
    repeats = re.findall(r"[*+]\(([^()]*)(.?)", pattern)
    return not depth and not re.search(odd, pattern) and all(close == ")" and apart(body) for body, close in repeats)


def apart(body):
    """Whether the options of a repeated group begin with different letters."""
    begin = [option[:1] for option in body.split("|")]
    return len(begin) == 1 or (len(set(begin)) == len(begin) and "".join(begin).isalpha() and "" not in begin)


def alike(chance, parts):
    """A path that looks like a pattern, its wildcards filled in."""
    text = "".join(
        chance.choice(FILLERS) if set(part) & set("*?[](){}!@+|,") and chance.random() < 0.85 else part
        for part in parts
    )
    return "/" + "/".join([name for name in text.split("/") if name not in ("", ".", "..")] or ["a"])


@pytest.fixture(scope="module")
def answers():
    """Per kind: patterns, paths and what picomatch says; and the recorded fixtures with what it says now."""
    with open(FIXTURES, encoding="utf-8") as file:
        recorded = json.load(file)
    rows = {kind: list(generate(kind)) for kind in KINDS}
    rows["fixtures"] = [(pattern, [path]) for pattern, path, _ in recorded]
    said = iter(ask(ANSWER, [row for kind in rows for row in rows[kind]]))
    return recorded, {kind: [(*row, next(said)) for row in rows[kind]] for kind in rows}


@pytest.mark.parametrize("kind", KINDS)
def test_equal_to_picomatch(answers, kind):
    rows = answers[1][kind]
    different = [
        (pattern, path, expected)
        for pattern, paths, said in rows
        for path, expected in zip(paths, said, strict=True)
        if Glob(pattern).matches(path) is not expected
    ]
    allowed = 0 if kind in WRITTEN else sum(len(said) for _, _, said in rows) // 200
    assert len(different) <= allowed, different
    assert sum(sum(said) for _, _, said in rows) > 100  # enough of them match


def test_the_recorded_fixtures_still_hold(answers):
    recorded, rows = answers
    assert [said[0] for _, _, said in rows["fixtures"]] == [expected for _, _, expected in recorded]
