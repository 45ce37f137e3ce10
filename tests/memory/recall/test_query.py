"""Words of queries and names of code."""

import sqlite3

import pytest
from hypothesis import given, strategies as st

from foretold.memory.note import read_note
from foretold.memory.recall.index import RecallQuery, find_among, make_query, pick_rarest
from foretold.memory.recall.query import (
    FORMS,
    MOST,
    STOPWORDS,
    _with_ment,
    anchor_words,
    fts_expression,
    letter_pairs,
    split_camel_case,
    word_groups,
    word_starts,
)
from foretold.memory.recall.ranking import find_best_stretch, rank

NAMES = {
    "parse_http_response": "parse http response parsehttpresponse",
    "parseHTTPResponse": "parse http response parsehttpresponse",
    "src/web/app.py": "src web app py",
    "os.path.joinPath": "os path join joinpath",
    "std::chrono::steady_clock": "std chrono steady clock steadyclock",
    "MAX_FILE": "max file maxfile",
    "__init__": "",
    "plain": "",
    "HTTP": "",
    "2026": "",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_code_is_found_by_its_parts(name):
    assert anchor_words(name) == NAMES[name]


def found(text, query):
    """Whether a memory with this text is found by a query."""
    asked = make_query(word_groups(query))
    return bool(rank(asked, [find_among([read_note("a.md", text.encode())], asked)]))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("call parseHttpResponse", "parse_http_response"),
        ("call parse_http_response", "parseHttpResponse"),
        ("call parse_http_response", "how are responses parsed?"),
        ("see src/web/app.py", "the web app"),
        ("we went to Rome", "who goes to Rome?"),
        ("the children ran", "a child that runs"),
        ("我们使用制表符缩进", "制表符"),
        ("タブを使う", "タブ"),
        ("un café crème", "cafe creme"),
        ("re\u0301sume\u0301 builder", "resume"),
        ("Ｕｓｅ ＴＡＢＳ", "ｔａｂｓ"),
        ("what is this", "what is it"),
    ],
)
def test_found_in_other_words(text, query):
    assert found(text, query)


def test_a_word_that_is_not_there_finds_nothing():
    assert not found("use tabs", "spaces")
    assert not found("use tabs", "")
    assert not found("use tabs", "?!")


@given(st.text(max_size=200))
def test_no_text_is_a_syntax_error(query):
    asked = make_query(word_groups(query))
    rank(asked, [find_among([read_note("a.md", b"use tabs, never NEAR spaces")], asked)])


@pytest.mark.parametrize(
    "query",
    [
        'tabs" OR "x',
        "tabs AND NOT (x",
        "NEAR(tabs x, 5)",
        "name:tabs",
        "^tabs*",
        "tabs\0spaces",
        "tabs \ud800",
        "👩‍👩‍👧 tabs",
        "{tabs} + -",
        "'tabs';DROP TABLE word",
    ],
)
def test_operators_are_text(query):
    assert found("use tabs", query)


def test_a_long_query_is_bounded():
    query = " ".join(f"word{n}" for n in range(10_000))
    assert len(word_groups(query)) == MOST
    assert found("word7 stands here", query)


def test_of_a_long_query_the_rarest_words_count():
    notes = [read_note(f"{n}.md", (" ".join(f"common{i}" for i in range(60)) + f" rare{n}").encode()) for n in range(5)]
    asked = make_query(word_groups(" ".join(f"common{i}" for i in range(60)) + " rare3"))
    assert rank(asked, [find_among(notes, asked)])[0].candidate.file == "3.md"


def test_every_form_finds_every_other():
    for line in FORMS.split("|"):
        forms = line.split()
        assert len(forms) > 1
        for form in forms:
            assert form not in STOPWORDS
            assert {*word_groups(form)[0]} >= {*forms}


def test_forms_are_in_one_group_each():
    forms = [form for line in FORMS.split("|") for form in line.split()]
    assert len(forms) == len({*forms})


@given(st.text(max_size=100))
def test_only_letters_and_digits_reach_an_expression(text):
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE word USING fts5(text)")
    match = fts_expression(word_groups(text))
    if match:
        base.execute("SELECT * FROM word WHERE word MATCH ?", (match,)).fetchall()
    base.close()


@given(st.text())
def test_parts_never_raise(text):
    anchor_words(text)
    letter_pairs(text)
    word_starts(text)
    for word in text.split():
        split_camel_case(word)


def test_pick_rarest():
    assert pick_rarest(RecallQuery((("tabs",), ("xyz",)), (("tab",), ("xyz",))), {"tab": 3}) == [(0, 3)]


def test_find_among():
    found = find_among([read_note("a.md", b"Use tabs.")], make_query([("tab",)]))
    assert (found.memories, found.spread, found.candidates[0].places) == (1, {"tab": 1}, [("tab", "body", 1)])


def test_make_query():
    assert make_query([("running", "ran")]) == RecallQuery(words=(("running", "ran"),), stems=(("run", "ran"),))


def test_with_ment():
    assert (_with_ment("deployment"), _with_ment("deploying"), _with_ment("they"), _with_ment("city")) == (
        ("deploy",),
        ("deployment",),
        (),
        (),
    )


def test_anchor_words():
    assert anchor_words("Call parseHttp in src/web_app.py, as agreed.") == "parse http parsehttp src web app py webapp"
    assert (anchor_words("Use tabs."), anchor_words("使用制表符")) == ("", "使用 用制 制表 表符")


def test_split_camel_case():
    assert (split_camel_case("parseHTTPResponse"), split_camel_case("Tabs"), split_camel_case("v2")) == (
        ["parse", "HTTP", "Response"],
        [],
        [],
    )


def test_letter_pairs():
    assert (letter_pairs("制表符"), letter_pairs("制")) == (["制表", "表符"], ["制"])


def test_fts_expression():
    assert fts_expression([("go", "went"), ("tabs",)]) == '"go" OR "went" OR "tabs"'


def test_word_starts():
    assert word_starts("Use tabs.") == [0, 4]


def test_rank():
    query = make_query([("tabs",), ("deploy",)])
    notes = [read_note("a.md", b"Tabs."), read_note("b.md", b"Deploys need no tabs."), read_note("c.md", b"Other.")]
    assert [(mark.candidate.file, mark.why) for mark in rank(query, [find_among(notes, query)])] == [
        ("b.md", {"tabs": ("body",), "deploy": ("body",)}),
        ("a.md", {"tabs": ("body",)}),
    ]


def test_find_best_stretch():
    assert find_best_stretch([(0, 0), (10, 1), (90, 0)], [2.0, 3.0]) == (5.0, 0, 10)


def test_word_groups():
    groups = [("go", "went", "gone"), ("getusername",), ("get", "got", "gotten"), ("user",), ("name",)]
    assert word_groups("Why did we go for getUserName?") == groups
    assert (word_groups('what is "this"?'), word_groups("(*^-\x00")) == ([("what",), ("is",), ("this",)], [])
