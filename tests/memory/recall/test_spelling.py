"""Words that no memory has: what is looked for in their place, and what is not."""

import sqlite3

import pytest
from hypothesis import given, strategies as st

from foretold.memory.note import read_note
from foretold.memory.recall.index import find_among, index_memories, make_query
from foretold.memory.recall.query import long_forms, word_groups
from foretold.memory.recall.ranking import rank
from foretold.memory.recall.spelling import HEAD, LONG, TABLES, Vocabulary, count_edits, shortened


def vocabulary(*texts):
    base = sqlite3.connect(":memory:", isolation_level=None)
    for table in TABLES:
        base.execute(table)
    known = Vocabulary(base)
    known.learn(texts)
    return known


@pytest.mark.parametrize(
    ("text", "word", "rule", "found"),
    [
        ("the checkpoint of a device", "chekpoint", "misspelt", ("checkpoint",)),
        ("the checkpoint of a device", "devcie", "misspelt", ("device",)),
        ("a release", "relase", "misspelt", ("release",)),
        ("the cache", "cahce", "misspelt", ("cache",)),
        ("idempotent requests", "idempotant", "misspelt", ("idempotent",)),
        ("Daten werden pseudonymisiert", "pseudonymisierung", "form", ("pseudonymisiert",)),
        ("a connection", "conn", "form", ("connection",)),
        ("Excel und Dateien", "exceldateien", "compound", ("excel", "dateien")),
        ("in which timezone", "timezones", "misspelt", ("timezone",)),
        ("the mark", "mars", "", ()),
        ("port 8080", "8081", "", ()),
        ("use tabs", "spaces", "", ()),
        ("a receipt", "xx", "", ()),
    ],
)
def test_what_takes_the_place_of_a_word(text, word, rule, found):
    assert vocabulary(text).find(word) == (rule, found)


def test_two_words_that_the_index_has_as_one():
    assert vocabulary("a bluegreen rollout").find("blue", "green") == ("form", ("bluegreen",))
    assert vocabulary("an understandingly long one").find("under", "standingly") == ("form", ("understandingly",))
    assert vocabulary("the nightmode switch").find("zone", "") == ("", ())


def ask(query, **texts):
    asked = make_query(word_groups(query))
    notes = [read_note(f"{name}.md", text.encode()) for name, text in texts.items()]
    return [(mark.candidate.file, mark.why) for mark in rank(asked, [find_among(notes, asked)])]


def test_why_names_the_word_that_was_found():
    assert ask("chekpoint", a="Every checkpoint is signed.", b="Use tabs.") == [
        ("a.md", {"chekpoint (as checkpoint)": ("body",)})
    ]


def test_the_word_itself_is_worth_more_than_one_that_takes_its_place():
    exact = rank(*asked("release", "a release"))
    meant = rank(*asked("relase", "a release"))
    assert exact[0].score > meant[0].score > 0


def asked(query, text):
    words = make_query(word_groups(query))
    return words, [find_among([read_note("a.md", text.encode())], words)]


def test_a_word_that_some_memory_has_is_never_replaced():
    assert [file for file, _ in ask("planer", a="the planer of the yard", b="the planner of the yard")] == ["a.md"]


def test_a_dropped_memory_takes_its_words_along():
    index = index_memories([read_note("a.md", b"Every checkpoint is signed.")])
    index.drop(1)
    index.total()
    query = make_query(word_groups("chekpoint"))
    assert index.find(query).respelled == {}
    index.base.close()


def test_short_words_of_developers():
    assert [file for file, _ in ask("pkg mgr?", a="The package manager is pnpm.", b="Use tabs.")] == ["a.md"]
    assert long_forms("prod") == ("production",)
    assert long_forms("production") == ()  # what is produced is not deployed


@given(st.text("abcdef", min_size=4, max_size=12), st.data())
def test_one_edit_is_always_found(word, data):
    at = data.draw(st.integers(1, len(word) - 1))
    char = data.draw(st.sampled_from("xyz"))
    kind = data.draw(st.sampled_from(["add", "drop", "change"]))
    other = {"add": word[:at] + char, "drop": word[:at], "change": word[:at] + char}[kind]
    other += word[at:] if kind == "add" else word[at + 1 :]
    assert count_edits(word, other, 1) == 1
    assert shortened(word) & shortened(other)


@given(st.text("ab", max_size=9), st.text("ab", max_size=9), st.integers(1, 2))
def test_edits_are_counted_alike_from_both_sides(one, other, most):
    assert count_edits(one, other, most) == count_edits(other, one, most)
    assert (count_edits(one, other, most) == 0) == (one == other)


def test_long_words_may_have_two_errors():
    assert HEAD < LONG
    assert vocabulary("idempotency").find("idempotanci") == ("misspelt", ("idempotency",))
    assert vocabulary("harbour").find("herbor") == ("", ())
