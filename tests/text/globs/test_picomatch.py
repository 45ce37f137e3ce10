"""Exclude globs: what npm `picomatch` was recorded to say, what Claude Code was recorded to do, and no slow pattern."""

import json
import os
import time

import pytest
from hypothesis import given, strategies as st

from foretold.text.globs.picomatch import LONGEST, Glob

FIXTURES = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "picomatch.json")

#: recorded with `/home/u/proj/CLAUDE.md` (claude-code: excl-abs, excl-glob, excl-name, excl-dir, excl-tilde, …)
RECORDED = {
    "/home/u/proj/CLAUDE.md": True,
    "**/CLAUDE.md": True,
    "/home/u/**": True,
    "/home/*/proj/*.md": True,
    "/home/u/proj/CLAUDE.??": True,
    "/home/u/proj/[C]LAUDE.md": True,
    "/home/u/@(proj|x)/CLAUDE.md": True,
    "/home/u/{proj,x}/*": True,
    "CLAUDE.md": False,
    "proj/CLAUDE.md": False,
    "~/proj/CLAUDE.md": False,
    "/home/u/proj": False,
    "/home/u/proj/": False,
    "/home/u/proj/claude.md": False,
    "!/home/u/proj/CLAUDE.md": False,
    "!/home/u/proj/x.md": True,
}

#: many characters that could go together badly
HOSTILE = {
    "stars": "/" + "*a" * 2500 + "*b",
    "folders": "**/" * 1000 + "x",
    "folders and names": "/**/a" * 1000 + "/x",
    "open brackets": "[" * 20_000,
    "a bracket of brackets": "[" * 20_000 + "]",
    "classes": "[" + "[:" * 10_000 + "]",
    "open groups": "(" * 20_000,
    "groups": "/" + "(" * 10_000 + ")" * 10_000,
    "open braces": "{" * 20_000,
    "braces": "{" * 10_000 + "}" * 10_000,
    "choices": "/" + "{a,b}" * 1000,
    "choices in choices": "/" + "{a," * 5000 + "}" * 5000,
    "ranges": "/{" + "1.." * 20_000 + "}",
    "open extglobs": "/" + "+(" * 10_000,
    "extglobs": "/" + "+(ab|a)" * 1000,
    "negated extglobs": "/" + "!(a)" * 1000,
    "extglobs in extglobs": "/" + "+(a" * 49 + "|b" * 500 + ")" * 49,
    "groups that repeat groups": "/((((ab|a|b)+x|a)+y|ba)+z|ab)+",
    "options": "/@(" + "|" * 10_000 + ")",
    "many choices": "/" + "{a,b}" * 10_000,
    "many open groups": "(" * 50_000,
    "many stars": "/" + "*a" * 10_000,
    "a long text": "/" + "a" * 65_000,
    "a long repeat": "/+(" + "a" * 60_000 + ")",
    "repeats": "/" + "+(a)" * 16_000,
    "other names": "/" + "!(*)" * 13_000,
    "exclamation marks": "!" * 20_000 + "a",
    "text in pieces": "/" + "a@" * 10_000,
}
PATHS = ["/" + "a" * 5000, "/a" * 2500 + "/ab!"]

globs = st.text(st.sampled_from('ab/.*?[]!^-\\(){},|+@$"1:é'), max_size=14)
names = st.text(st.sampled_from("ab.-é😀"), min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
words = st.text(st.sampled_from("ab-é"), min_size=1, max_size=2)
paths = st.lists(names, min_size=1, max_size=4).map(lambda names: "/" + "/".join(names))


def test_what_picomatch_said():
    with open(FIXTURES, encoding="utf-8") as file:
        rows = json.load(file)
    assert len(rows) > 300
    assert [row for row in rows if Glob(row[0]).matches(row[1]) is not row[2]] == []


def test_what_the_agent_did():
    assert {pattern: Glob(pattern).matches("/home/u/proj/CLAUDE.md") for pattern in RECORDED} == RECORDED


def test_a_pattern_that_is_too_long_matches_nothing():
    assert Glob("a" * LONGEST).matches("a" * LONGEST)
    assert not Glob("a" * (LONGEST + 1)).matches("a" * (LONGEST + 1))
    assert not Glob("*" + "a" * LONGEST).matches("a" * LONGEST)


def test_nothing_matches_nothing():
    assert [Glob(pattern).matches("") for pattern in ("", "*", "**", "!a", "{,a}")] == [False] * 5
    assert not Glob("").matches("a")


def test_what_is_invalid_matches_only_itself():
    assert [Glob("[z-a]").matches(path) for path in ("[z-a]", "z", "a", "-")] == [True, False, False, False]


@given(paths)
def test_stars_match_every_path(path):
    assert Glob("/**").matches(path)
    assert Glob("**").matches(path)
    assert Glob("/" + "/".join("*" for _ in path.split("/")[1:])).matches(path)


@given(words, words, st.lists(words, min_size=1, max_size=3))
def test_a_choice_is_its_options(first, second, folders):
    path = "/" + "/".join(folders)
    either = any(Glob(f"/**/{name}").matches(path) for name in (first, second))
    assert Glob(f"/**/{{{first},{second}}}").matches(path) is either
    assert Glob(f"/**/@({first}|{second})").matches(path) is either


@given(st.text(st.sampled_from("ab/.*?é"), max_size=8), paths)
def test_an_exclamation_mark_turns_the_answer_round(pattern, path):
    assert Glob(f"!/{pattern}").matches(path) is not Glob(f"/{pattern}").matches(path)


@given(globs | st.text(max_size=20), paths | st.text(max_size=20))
def test_nothing_raises(pattern, path):
    glob = Glob(pattern)
    assert glob.matches(path) is glob.matches(path)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_pattern_is_slow(name):
    start = time.process_time()
    glob = Glob(HOSTILE[name])
    for path in PATHS:
        glob.matches(path)
    assert time.process_time() - start < 2
