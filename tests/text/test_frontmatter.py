"""Frontmatter: where it ends, what it says, and what it costs. Cases of the recorded agent are named."""

import base64
import json
import os
import re
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings, strategies as st

import foretold
from foretold.text import frontmatter
from foretold.text.frontmatter import Front, first_line, line_value, parse, split, split_fenced, trim

RECORDED = os.path.join(os.path.dirname(__file__), "..", "conformance")
TITLE = "Contents of {proj}/CLAUDE.md (project instructions, checked into the codebase):\n\n"
SPACES = "\t\n\v\f\r \u00a0\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
NOT_SPACES = "\x1c\x1d\x1e\x1f\x85\u180e\u200b\u2060"


def recorded(version, *prefixes):
    """The recorded cases of a version whose names start so."""
    with open(os.path.join(RECORDED, f"claude-code@{version}.jsonl"), encoding="utf-8") as file:
        return [case for case in map(json.loads, file) if case["id"].startswith(prefixes)]


def text_of(file):
    return base64.b64decode(file["b64"]).decode() if isinstance(file, dict) else file


def seconds(action):
    start = time.process_time()
    action()
    return time.process_time() - start


# -- split ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "after_bom"), [("2.1.197", False), ("2.1.325", True)])
def test_the_recorded_agent_shows_the_same_body(version, after_bom):
    shown, expected = {}, {}
    for case in recorded(version, "cont-fm", "cont-x-fm", "n325-bom-double"):
        body = split(text_of(case["files"]["{proj}/CLAUDE.md"]), after_bom=after_bom)[1]
        shown[case["id"]] = trim(body)
        memory = case["expect"]["memory"]
        expected[case["id"]] = memory.partition(TITLE)[2].partition("\n\nContents of ")[0]
    assert shown == expected
    assert len(shown) > 14


@pytest.mark.parametrize(
    ("text", "front", "body"),
    [
        ("---\na: 1\n---\nb\n", "a: 1\n", "b\n"),
        ("---\n---\nb", "", "b"),  # claude-code: cont-fm-empty
        ("---\na: 1\n---", "a: 1\n", ""),  # claude-code: cont-x-fm-nonl
        ("---\na: b---c\n---\n", "a: b", "c\n---\n"),  # claude-code: cont-x-fm-dashes
        ("---\na: 1\n---\n\n\n    code\n", "a: 1\n", "code\n"),  # claude-code: cont-x-fm-cr
        ("---  \r\na: 1\r\n--- \t\r\nb", "a: 1\r\n", "b"),
        ("---\n\n \n a: 1\n---\n", " a: 1\n", ""),
        ("----\na: 1\n---\n", None, "----\na: 1\n---\n"),
        ("--- x\na: 1\n---\n", None, "--- x\na: 1\n---\n"),
        ("---\na: 1\n--\n", None, "---\na: 1\n--\n"),
        ("---", None, "---"),
        ("---\n", None, "---\n"),
        ("", None, ""),
        (" ---\na: 1\n---\n", None, " ---\na: 1\n---\n"),
    ],
)
def test_split(text, front, body):
    assert split(text, after_bom=False) == split(text, after_bom=True) == (front, body)


@pytest.mark.parametrize("space", SPACES)
def test_white_space_of_ecmascript_is_space(space):
    assert split(f"---{space}\nx---{space}{space}b", after_bom=False) == ("x", "b")
    assert trim(f"{space}a{space}b{space}") == f"a{space}b"


@pytest.mark.parametrize("other", NOT_SPACES)
def test_other_white_space_is_text(other):
    assert split(f"---{other}\nx---", after_bom=False)[0] is None
    assert split(f"---\nx---{other}b", after_bom=False) == ("x", f"{other}b")
    assert trim(f"{other}a{other}") == f"{other}a{other}"


def test_one_byte_order_mark_may_come_first():
    text = "\ufeff---\na: 1\n---\nb"
    assert split(text, after_bom=True) == ("a: 1\n", "b")
    assert split(text, after_bom=False) == (None, text)
    assert split("\ufeff" + text, after_bom=True) == (None, "\ufeff" + text)  # claude-code: n325-bom-double
    assert split("\ufefftext", after_bom=True) == (None, "\ufefftext")


def test_first_line():
    texts = ["---\na: 1\n---\n", "\ufeff---\na: 1\n---\n", "---\n\n \na: 1\n---\n", "---\n---\n", "text\n"]
    assert [first_line(text) for text in texts] == [2, 2, 4, 2, 1]


PIECES = st.sampled_from(["---", "-", "\n", " ", "\r\n", "\t", "a: b", "x", "\ufeff", "\u2028", "\x85", "\x1c"])
DOCUMENTS = st.tuples(st.sampled_from(["", "---", "---\n", "\ufeff---\n"]), st.lists(PIECES).map("".join)).map("".join)


@given(DOCUMENTS, st.booleans())
def test_split_parts_the_text(text, after_bom):
    front, body = split(text, after_bom=after_bom)
    if front is None:
        assert body == text
    else:
        between = text[: len(text) - len(body)].removeprefix("\ufeff" if after_bom else "")
        assert re.fullmatch(f"---[{SPACES}\u2000-\u200a]*\n{re.escape(front)}---[{SPACES}\u2000-\u200a]*", between)
        assert "---" not in front
        assert body == body.lstrip(frontmatter.SPACE)


@pytest.mark.parametrize("filler", [" ", "\n", "-", "- ", "--\n", "a", "\u2028", " \n", "---", "---\n", "\ufeff"])
@pytest.mark.parametrize("opening", ["---", "---\n", "--- \n\na---"])
def test_split_takes_linear_time(opening, filler):
    assert seconds(lambda: split(opening + filler * 1_000_000, after_bom=True)) < 2


# -- parse ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("front", "values"),
    [
        ("", {}),
        ("# only a comment\n", {}),
        ("a: b\n", {"a": "b"}),
        ("a: b", {"a": "b"}),
        ("a: b\r\nc:\r\n  - d\r\n", {"a": "b", "c": ["d"]}),
        ("a: it's, \"so\" & so \nb: ''\n", {"a": 'it\'s, "so" & so', "b": ""}),
        ("a:\nb:\n- c\n- 'd # e'\n\n# f\ng: \"h: i\"\n", {"a": None, "b": ["c", "d # e"], "g": "h: i"}),
        ("a: [b, 'c, d' , \"e\"]\nf: []\n", {"a": ["b", "c, d", "e"], "f": []}),
        ("a: null\nb: true\nc: 5\nd: .5\ne: nullable\n", {"a": None, "b": True, "c": 5, "d": 0.5, "e": "nullable"}),
        ("a: yes\nb: off\nc: 2024-01-02\nd: 12:30:45\n", {"a": "yes", "b": "off", "c": "2024-01-02", "d": "12:30:45"}),
        ("a: b # c\n", {"a": "b"}),
        ("'a': &x b\nc: *x\n", {"a": "b", "c": "b"}),
        ("a: >-\n  b,\n  c\nd: |\n  e\n  f\n", {"a": "b, c", "d": "e\nf\n"}),
        ("a: [b,\n  c\n]\n", {"a": ["b", "c"]}),
        ("a:\n  b: c\n", {"a": {"b": "c"}}),
        ("1: a\nb: c\n", {"b": "c"}),
        ("{a: b}\n", {"a": "b"}),
    ],
)
def test_valid_frontmatter(front, values):
    assert parse(front) == Front(values, None, None)


@pytest.mark.parametrize(
    ("front", "values"),
    [
        ("a: 1\na: 2\n", {"a": 2}),  # claude-code: rule-fm-edge r11
        ("a: b\nc: d\n'a':\n- e\na: f\n", {"c": "d", "a": "f"}),
        (" a: b\n a: c\n", {"a": "c"}),
        (
            "# x\na:\n  b: c\n  d: e\n  b: f\ng:\n- h: i\n  h: j\na2: k\n",
            {"a": {"d": "e", "b": "f"}, "g": [{"h": "j"}], "a2": "k"},
        ),
        ("\ta: b\n", {"a": "b"}),  # claude-code: rule-form-bad r12
        ("\ta: b\n\tc: d\n", {"a": "b", "c": "d"}),
        ("a:\n\t- b\n\t- c\n", {"a": ["b", "c"]}),
        ("a:\n  -\tb\n", {"a": ["b"]}),
        ("a: !x\nb: !x c\nd: [!x, e, !f]\ng: [!h]\n", {"a": None, "b": "c", "d": [None, "e", None], "g": [None]}),
        ("a:\n- b\n- !c/**\n", {"a": ["b", None]}),
        ("a: [?.ts, b?]\n", {"a": ["?.ts", "b?"]}),
        ("a: b\x07\x85\u2028c\n", {"a": "b\x07\x85\u2028c"}),
        ('a: "\ufeffb\x00"\n', {"a": "\ufeffb\x00"}),
        ("a: \udc80\n", {"a": "\udc80"}),
        ("a: \U00100041!\n", {"a": "\U00100041!"}),
    ],
)
def test_what_ryaml_takes_otherwise(front, values):
    assert parse(front) == Front(values, None, None)


def test_a_line_that_ends_in_cr_is_not_mended():
    """Both recorded versions were asked: the rule is loaded at the start, as one without `paths`."""
    found = parse("paths: *.ts\r\nx: y\r\n")
    assert found.values == {}
    assert found.problem.startswith("not valid YAML, so nothing of it counts: ")


@pytest.mark.parametrize(
    ("front", "values"),
    [
        ("paths: **/*.ts\n", {"paths": "**/*.ts"}),  # claude-code: rule-form-unquoted r00
        ("paths: {a,b}/*.ts\n", {"paths": "{a,b}/*.ts"}),
        ("paths: @x/**\n", {"paths": "@x/**"}),
        ("paths: [**/*.ts]\n", {"paths": "[**/*.ts]"}),
        ("paths: [ src/**\n", {"paths": "[ src/**"}),  # claude-code: rule-form-bad r10
        ('paths: "src/**\n', {"paths": '"src/**'}),
        ("a: b: c\npaths: d\n", {"a": "b: c", "paths": "d"}),
        ("a: b: c\npaths: ['d', \"e\"]\nf: '*'\n", {"a": "b: c", "paths": ["d", "e"], "f": "*"}),
        ("a: @\npaths: src/**  # c\n", {"a": "@", "paths": "src/**  # c"}),  # claude-code: rule-badyaml-list d
        ('a: @\\ "b"\n', {"a": '@\\ "b"'}),
    ],
)
def test_values_that_need_quotes(front, values):
    found = parse(front)
    assert found.values == values
    assert found.problem.startswith("not valid YAML: ")
    assert found.problem.endswith(" in quotes")
    assert found.line == 1


@pytest.mark.parametrize(
    ("front", "line"),
    [
        ("paths:\n  - **/*.ts\n", 2),  # claude-code: rule-form-unquoted r02
        ("paths:\n  - src/**\n  - *.ts\n", 3),
        ('description: "x\npaths: src/**\n', 2),  # claude-code: rule-badyaml-list c
        ("paths: src/**\n  bad: indent\n", 2),  # claude-code: rule-badyaml-list e
        ("a: 1\n\tpaths: src/**\n", 2),  # 13.3
        ("a: @\npaths: >-\n  src/**\n", 1),  # 13.2: the `>-` is put in quotes too
        ("x1: @\n", 1),  # 13.2: no such key
        ("x.y: @\n", 1),
        ("my key: @\n", 1),
        (" a: @\n", 1),
        (": [ : x\n  - }\n", 1),  # claude-code: cont-fm-invalid
        ("paths: [\na,\nb\n]\n", 2),
        ("paths: 'a\nb'\n", 2),
    ],
)
def test_unreadable_frontmatter(front, line):
    found = parse(front)
    assert (found.values, found.line) == ({}, line)
    assert found.problem.startswith("not valid YAML, so nothing of it counts: ")


@pytest.mark.parametrize("front", ["just words\n", "- a\n- b\n", "[a]\n", "5\n", "\ntext\n\n"])
def test_what_is_no_mapping_says_nothing(front):
    assert parse(front) == Front({}, "the text between the two `---` has no `key: value` lines; it is dropped", 1)


# -- properties ----------------------------------------------------------------------------------------------

USUAL = st.lists(
    st.one_of(
        st.builds(
            "{}: {}".format,
            st.sampled_from(["paths", "a", "_b", "c-1", "true", "null"]),
            st.one_of(
                st.sampled_from(
                    [
                        "",
                        " ",
                        "src/**",
                        "a b ",
                        ".5",
                        ".x",
                        ".inf",
                        "null",
                        "nullx",
                        "null, a",
                        "it's",
                        "a#b",
                        "ä",
                        "日本",
                    ]
                ),
                st.sampled_from(
                    [
                        "'a'",
                        '"b"',
                        "''",
                        "'a' ",
                        '"\\n"',
                        "'''",
                        "[a, b]",
                        "['a' , \"b,c\"]",
                        "[]",
                        "[a b,c ]",
                        "[null]",
                    ]
                ),
                st.text(max_size=8),
                st.text(max_size=8).map(lambda text: f'"{text}"'),
                st.text(max_size=8).map(lambda text: f"'{text}'"),
                st.text(max_size=8).map(lambda text: f"[{text}]"),
            ),
        ),
        st.sampled_from(
            ["paths:", "a:", "a: ", "", "  ", "# c", " # c", "a:b", "- a", "  - a", "  -  'b'", "    - c", "  -", "..."]
        ),
        st.text(max_size=6).map(lambda text: f"  - {text}"),
    ),
    max_size=5,
)


@given(USUAL, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["", "\n"]))
def test_the_quick_way_is_the_long_way(lines, end, last):
    front = end.join(lines) + last
    values = frontmatter._simple(front)
    if values is not None:
        assert frontmatter._general(front) == Front(values, None, None)


NESTED = st.lists(
    st.sampled_from(
        [
            *("metadata:", "metadata: ", "a: b", "b:", "a: b: c", "a: 5", "a: [x, 'y']", "- a", "  - a", "  - 'b'"),
            *(
                "  type: user",
                "  a:",
                "  a: 'b'",
                '  a: "b c"',
                "  a: 5",
                "  a: true",
                "  a: b: c",
                "  b: [x]",
                "    - c",
            ),
            *(
                "    d: e",
                "  # c",
                "",
                "  ",
                "  a: b # c",
                "   a: b",
                "x",
                "  x",
                " a: b",
                "  a: ~",
                "  null: x",
                "\ta: b",
            ),
        ]
    ),
    min_size=1,
    max_size=7,
)


@given(NESTED, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n"]))
@settings(max_examples=600)
def test_the_quick_way_into_a_nested_mapping_is_the_long_way(lines, end, last):
    front = end.join(lines) + last
    values = frontmatter._nested(front)
    if values is not None:
        assert frontmatter._general(front) == Front(values, None, None)


def test_the_form_in_which_a_memory_is_stored_needs_no_yaml():
    front = (
        'name: a\ndescription: "b: c"\nmetadata: \n  node_type: memory\n  tags: \n    - x\n    - "y"\n  type: user\n'
    )
    inner = {"node_type": "memory", "tags": ["x", "y"], "type": "user"}
    assert frontmatter._nested(front) == {"name": "a", "description": "b: c", "metadata": inner}


SOUP = st.lists(
    st.sampled_from(
        [
            *"[]{},:'\"#&*!|>?%@`-\\ \t\r\n0a~",
            "a: ",
            "\n  ",
            "\n- ",
            "&a ",
            "*a",
            "!!int ",
            "<<: ",
            "? ",
            "%TAG ",
            "...",
        ]
    )
).map("".join)


@given(st.one_of(SOUP, st.text(st.characters(codec=None)), SOUP.map(lambda soup: f"paths: {soup}")))
def test_nothing_raises(front):
    found = parse(front)
    assert all(isinstance(key, str) for key in found.values)
    assert (found.problem is None) == (found.line is None)
    assert found.line is None or 1 <= found.line <= front.count("\n") + 1


# -- cost ----------------------------------------------------------------------------------------------------

BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
NESTED = {
    "brackets": "paths: " + "[" * 30_000,
    "closed brackets": "paths: " + "[" * 30_000 + "]" * 30_000,
    "brackets and comments": "paths: " + "[ #]\n " * 9_000,
    "brackets that look closed": "paths: " + "['[x]', " * 8_000,
    "braces": "{" * 60_000,
    "bomb": BOMB,
    "one large anchor": "a: &a [" + "x," * 9_000 + "]\npaths: [" + "*a," * 9_000 + "]\n",
    "doubling": "paths: " + "".join(f"[&a{n} " for n in range(40)) + "x" + "".join(f", *a{n}]" for n in range(40)),
    "directives": "".join(f"%TAG !t{n}! x\n" for n in range(4_000)),
    "length": "a: b\n" * 800_000,
}


@pytest.mark.parametrize("name", NESTED)
def test_hostile_text_is_refused_in_time(name):
    assert seconds(lambda: parse(NESTED[name])) < 1
    assert parse(NESTED[name]).values == {}
    assert parse(NESTED[name]).problem.endswith(", so it is not read")


@pytest.mark.parametrize(
    "text",
    [
        "paths: " + "[" * 900 + "]" * 900,
        "- " * 30_000,
        "? " * 30_000,
        "\n".join(" " * n + "a:" for n in range(350)),
        "a: b\n" * 13_000,
        "".join(f"k{n}: v\n" for n in range(6_000)),
        "paths: a" + " " * 60_000 + "#",
        "paths: [a" + " " * 60_000 + "#]",
        "paths: '" + "a, " * 20_000,
        "a: [b, " * 900,
        "paths: " + "!a[" * 900,
        "a: b: c\n" * 8_000,
        "a: [" + "x]\na: [" * 9_000,
        "\u2028" * 65_000,
        "paths:\n" + "\t- a\n" * 13_000,
        "#" * 65_000,
        ": " * 32_000,
    ],
    ids=lambda text: text[:12],
)
def test_no_text_takes_long(text):
    assert seconds(lambda: parse(text)) < 4


def test_many_brace_globs_are_honest():
    front = "paths:\n" + "".join(f"  - src/{{a{n},b}}/[xy]/**  # c\n" for n in range(1_500))
    assert parse(front).problem is None
    assert len(parse(front).values["paths"]) == 1_500


def test_aliases_are_honest_in_small_numbers():
    assert parse("a: &a [b]\npaths: [*a, *a, *a]\n").values["paths"] == [["b"]] * 3


def test_the_usual_shape_needs_no_yaml_parser():
    code = (
        "import sys; from foretold.text.frontmatter import parse; before = 'ryaml' in sys.modules;"
        "parse('paths:\\n  - \"src/**\"\\n  - lib/*\\n'); parse('a: [b, \"c\"]\\n'); after = 'ryaml' in sys.modules;"
        "parse('paths: *.ts\\n'); print(before, after, 'ryaml' in sys.modules)"
    )
    env = {"PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(foretold.__file__)))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert done.stdout == "False False True\n"


# -- the stricter reading of Copilot CLI ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "front"),
    [
        ("---\na: 1\n---\nb\n", "a: 1\n"),
        ("---\na: 1\n---", "a: 1\n"),
        ("--- \na: 1\n---\t\nb", "a: 1\n"),
        ("\ufeff---\r\na: 1\r\n---\r\nb", "a: 1\r\n"),
        ("---\n---\nb", ""),
        ("---\na: 1\n----\n---\nb", "a: 1\n----\n"),
        ("---\na: 1 ---\nb", None),
        ("---\na: 1\n ---\nb", None),
        ("---\na: 1\n...\nb", None),
        ("\n---\na: 1\n---\n", None),
        ("---yaml\na: 1\n---\n", None),
    ],
)
def test_fences_are_whole_lines(text, front):
    assert split_fenced(text) == (front, text)


@pytest.mark.parametrize("text", ["a: 1\na: 2\n", "a:\n\t- b\n", "a: **/*.ts\n", "a: b: c\n", "a: *b\n"])
def test_a_strict_reading_repairs_nothing(text):
    assert parse(text, strict=True, repairs=False).values == {}
    assert parse(text, strict=True, repairs=False).problem


@pytest.mark.parametrize(
    ("text", "values"),
    [("a: 1\na: 2\n", {}), ("a:\n\t- b\n", {}), ("a: **/*.ts\n", {"a": "**/*.ts"}), ("a: @b\na: c\n", {})],
)
def test_a_strict_reading_may_repair(text, values):
    """Claude Code before 2.1.113, which was asked. # claude-code: rule-fm-edge"""
    found = parse(text, strict=True)
    assert found.values == values
    assert found.problem


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("b: p/**\na: q/**\n", ("a", "q/**")),
        ("a:\nb: p/**\n", ("b", "p/**")),
        ('a: ""\nb: p/**\n', ("b", "p/**")),
        ("a: 'x/**'\n", ("a", "x/**")),
        ('a: "x # y"\n', ("a", "x # y")),
        ('a: "x" # y\n', ("a", '"x"')),
        ("a: x   # y\n", ("a", "x")),
        ("a: # y\n", ("a", "# y")),
        ('a: "x\n', ("a", '"x')),
        ("a: [x, y]\n", ("a", "[x, y]")),
        ("a:\tx\r\n", ("a", "x")),
        ('a: "\n', ("", "")),
        ("  a: x\na:x\na : x\nA: x\n", ("", "")),
        ("a:\n  - x\n", ("", "")),
    ],
)
def test_one_line_of_what_is_not_valid(text, found):
    assert line_value(text, ("a", "b")) == found
