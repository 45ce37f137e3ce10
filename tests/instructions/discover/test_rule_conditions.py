"""The `paths` of a rule: which globs they stand for, and which of those are in vain."""

import json
import os
import time

import pytest
from hypothesis import given, strategies as st

from foretold.instructions.discover.rule_conditions import MAX_GLOBS, Globs, globs_of, never_matches
from foretold.text.frontmatter import parse, split

RECORDED = os.path.join(os.path.dirname(__file__), "..", "..", "conformance")
ABOUT_PATHS = ("rule-form-", "rule-fm-", "rule-glob-", "rule-esc", "rule-paths-", "rule-badyaml", "rule-outside")
ABOUT_PATHS += ("rule-yaml", "rule-nest", "rule-neg", "n325-bom-nested", "imp-fm", "cont-fm-paths")


def seconds(action):
    start = time.process_time()
    action()
    return time.process_time() - start


def globs(text, *, after_bom):
    """The globs of a rule file."""
    front = split(text, after_bom=after_bom)[0]
    values = {} if front is None else parse(front).values
    return globs_of(values["paths"]).patterns if "paths" in values else ()


@pytest.mark.parametrize(("version", "after_bom"), [("2.1.197", False), ("2.1.325", True)])
def test_the_recorded_agent_has_the_same_globs(version, after_bom):
    """A rule that was loaded says its globs, or that it has none; one that was not has some."""
    ours, theirs = {}, {}
    with open(os.path.join(RECORDED, f"claude-code@{version}.jsonl"), encoding="utf-8") as file:
        cases = [case for case in map(json.loads, file) if case["id"].startswith(ABOUT_PATHS)]
    for case in cases:
        said = {item["file_path"]: tuple(item.get("globs") or ()) for item in case["expect"]["loaded"]}
        for path, text in case["files"].items():
            if isinstance(text, str) and "---" in text and path.endswith(".md"):
                name = f"{case['id']} {path}"
                found = globs(text.replace("{proj}", "/srv/proj"), after_bom=after_bom)
                ours[name] = found if path in said else bool(found)
                theirs[name] = said.get(path, True)
    assert ours == theirs
    assert len(ours) > 100


@pytest.mark.parametrize(
    ("value", "patterns"),
    [
        ("src/**", ("src",)),
        ("  src/** ,\tlib/*.ts\n", ("src", "lib/*.ts")),
        ("src/** lib/**", ("src/** lib",)),
        ("src/**\nlib/**\n", ("src/**\nlib",)),
        (["a", ["b, c", [["d"]]], "e"], ("a", "b", "c", "d", "e")),
        ("\ufeffa\u2003,\x85b", ("a", "\x85b")),
        ("src/{a,b}/*.ts", ("src/a/*.ts", "src/b/*.ts")),
        ("{a, b}", ("a", "b")),  # 13.4
        ("{a,b}{c,d}/**", ("ac", "ad", "bc", "bd")),
        ("x{a,}", ("xa", "x")),
        ("x{a}", ("xa",)),
        ("{a,**}", ("a", "**")),
        ("**,**/**", ()),
        ("src/**/**", ("src/**",)),
        ("*/**", ("*",)),
        ("**/", ("**/",)),
        ("a,,b,", ("a", "b")),
        ("a,{/**,}", ("a",)),
    ],
)
def test_globs(value, patterns):
    assert globs_of(value).patterns == patterns


@pytest.mark.parametrize(
    ("value", "patterns"),
    [
        ("{a,{b,c}}", ("a}", "b", "c}")),
        ("x{}", ("x{}",)),
        ("{a,b", ("{a,b",)),
        ("a},b", ("a},b",)),
        ("{{x}}", ("x",)),
    ],
)
def test_braces_that_are_not_understood(value, patterns):
    said = f"`{value}`: braces in braces, empty or open ones are not understood: write each pattern"
    assert globs_of(value) == Globs(patterns, said)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "`paths` has no pattern in it, so the rule always applies"),
        ("", "`paths` has no pattern in it, so the rule always applies"),
        (" , ", "`paths` has no pattern in it, so the rule always applies"),
        ([], "`paths` has no pattern in it, so the rule always applies"),
        ([5, None], "`paths` has no pattern in it, so the rule always applies"),
        ("**", "`paths` matches every file, so the rule always applies"),
        (["/**", "**/**"], "`paths` matches every file, so the rule always applies"),
        (5, "`paths` is a number, not a pattern, so the rule always applies"),
        (True, "`paths` is `true`, not a pattern, so the rule always applies"),
        ({"a": "b"}, "`paths` is a mapping, not a pattern, so the rule always applies"),
    ],
)
def test_what_leaves_a_rule_unconditional(value, problem):
    assert globs_of(value) == Globs((), problem)


def test_what_is_dropped_is_said():
    said = "`paths` holds a number, which is ignored: write patterns as text"
    assert globs_of([5, "src/**"]) == Globs(("src",), said)


ITEMS = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text("{},*/ a\n", max_size=20),
        st.dictionaries(st.text(), st.text()),
    ),
    lambda inner: st.lists(inner, max_size=4),
)


@given(ITEMS)
def test_nothing_raises_and_globs_are_clean(value):
    found = globs_of(value)
    assert all(isinstance(pattern, str) and pattern for pattern in found.patterns)
    assert set(found.patterns) != {"**"}
    assert found.patterns or found.problem


@given(st.lists(st.text("ab*/.", min_size=1, max_size=6).filter(lambda text: not text.endswith("/**")), min_size=1))
def test_a_list_and_a_text_say_the_same(patterns):
    assert globs_of(patterns).patterns == globs_of(", ".join(patterns)).patterns
    assert globs_of("{" + ",".join(patterns) + "}").patterns in (tuple(patterns), ())


def deep_list():
    value = ["a"]
    for _ in range(50_000):
        value = [value]
    return value


def endless_list():
    value = ["a"]
    value.extend([value] * 1_000)
    return value


@pytest.mark.parametrize(
    "value",
    [
        "{a,b}" * 40,
        "{a}" * 40_000,
        "{" * 120_000,
        "{," * 60_000,
        "{" + "a," * 50_000 + "}" + "b" * 50_000,
        "{a," * 40_000 + "}" * 40_000,
        "," * 120_000,
        "{}" * 60_000,
        ["{a,b}" * 12] * 1_000,
        deep_list(),
        endless_list(),
    ],
    ids=range(11),
)
def test_hostile_values_end_in_time(value):
    assert seconds(lambda: globs_of(value)) < 3
    found = globs_of(value)
    assert len(found.patterns) <= MAX_GLOBS
    assert sum(map(len, found.patterns)) < 10_000_000


def test_too_many_globs_are_said():
    found = globs_of("src/" + "{a,b}" * 40)
    assert 500 < len(found.patterns) <= MAX_GLOBS
    assert found.patterns[0] == "src/" + "a" * 40
    assert found.problem is not None
    assert found.problem.startswith("`paths` expands to too many patterns")


@pytest.mark.parametrize(
    ("pattern", "word"),
    [
        ("./src", "without"),  # claude-code: rule-glob-ts r08
        ("../proj/src", "below its own folder"),  # claude-code: rule-glob-ts r27
        ("src/../a", "below its own folder"),
        ("/home/me/proj/src", "absolute path"),  # claude-code: rule-glob-ts r25
        ("/Users/me/proj/src", "absolute path"),
        ("C:/proj/src", "absolute path"),
        ("~/src", "home folder"),
        ("$HOME/src", "home folder"),
        ("!src", "add one that matches"),  # claude-code: rule-glob-ts r16
        ("#src", "comment"),  # claude-code: rule-esc r02
        ("/", "leave `paths` out"),  # claude-code: rule-paths-root
        (".", "leave `paths` out"),
        ("./", "leave `paths` out"),
        ("src//a", "one slash"),
        ("src\\a.ts", "write `/`"),
        ("src/**\nlib", "write a list"),  # claude-code: rule-form-list r07
        ('"src', "close the quotes"),  # claude-code: rule-form-bad r11
        ("[**/*.ts]", "in quotes"),  # claude-code: rule-form-unquoted r05
        ("[ src", "in quotes"),  # claude-code: rule-form-bad r10
        ("src/**  # comment", "a comment has become part"),  # claude-code: rule-badyaml-list d
    ],
)
def test_what_never_matches(pattern, word):
    assert word in never_matches(pattern)


CAN_MATCH = """
src /src *.ts **/*.ts **/ src/**/x.ts .github .* ..a ... a/.b/c [xy].ts [a-z]* \\#a \\!a a#b ~a @x/y home/x
"""


@pytest.mark.parametrize("pattern", [*CAN_MATCH.split(), "my dir", "my\\ dir", "a:b", "C:", "it's"])
def test_what_can_match(pattern):
    assert never_matches(pattern) is None


def test_a_negation_beside_others_is_not_in_vain():
    assert never_matches("!src/gen", alone=False) is None


@given(st.text())
def test_any_text_has_an_answer(pattern):
    assert never_matches(pattern) is None or never_matches(pattern)
