"""Reserved tags in attached text are disarmed, whatever they are dressed as."""

import re

import pytest
from hypothesis import given, strategies as st

from foretold.instructions.render.escape import NAMES, escape_fallback, escape_reserved, escape_tag, seal_tag


@pytest.mark.parametrize("name", NAMES)
def test_every_reserved_tag(name):
    for tag in (name, "/" + name, name.upper(), " " + name, name.replace("-", "_")):
        assert escape_reserved(f"a <{tag}> b") == f"a <\\{tag}> b"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "a < b > c",
        "<b>bold</b>",
        "<system>",
        "<system-reminders>",
        "<my-system-reminder>",
        "system-reminder",
        "<\\/system-reminder>",
        "é < b",
    ],
)
def test_other_text_is_left_alone(text):
    assert (escape_reserved(text), escape_fallback(text)) == (text, text)


@pytest.mark.parametrize(
    "text",
    [
        "＜system-reminder>",
        "<ѕystem-reminder>",
        "<𝐬ystem-reminder>",
        "<s\u200bystem-reminder>",
        "<sýstem-reminder>",
        "<system‑reminder>",
        "<\u200b/\u200bsystem-reminder>",
    ],
)
def test_look_alikes(text):
    assert escape_reserved(text).startswith("<\\")


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("</system-reminder>", "&lt;/system-reminder>"),
        ("< / SYSTEM-reminder>", "&lt; / SYSTEM-reminder>"),
        ("<system-reminders>", "<system-reminders>"),
        ("<command-name>", "<command-name>"),
    ],
)
def test_fallback_files_know_one_tag(text, escaped):
    assert escape_fallback(text) == escaped


TEXTS = st.lists(
    st.sampled_from(
        [
            "<",
            "</",
            "＜",
            "system-reminder",
            "SYSTEM_Reminder",
            "tick",
            ">",
            " ",
            "\\",
            "a",
            "é",
            "\u200b",
            "İ",
            "ﬁ",
            "\n",
            "-",
        ]
    ),
    max_size=12,
).map("".join)


@given(TEXTS)
def test_no_reserved_tag_is_left_and_twice_is_once(text):
    escaped = escape_reserved(text)
    assert re.search(r"(?i)</?\s*(?:system[-_]reminder|tick)(?![\w-])", escaped) is None
    assert escape_reserved(escaped) == escaped


@given(TEXTS)
def test_only_brackets_change(text):
    def bare(said):
        return said.replace("＜", "<").replace("<\\", "<")

    assert bare(escape_reserved(text)) == bare(text)


@pytest.mark.parametrize("piece", ["<", "<tick ", "< ", "＜é", "<\u200b", "</", "system-reminder "])
def test_long_texts_end(piece):
    assert len(escape_reserved(piece * 20_000 + "<tick>")) >= 20_000


def test_the_tags_of_an_envelope():
    assert (
        seal_tag("a < / Memory> ＜/ｍemory> <memory-card>", "memory") == "a &lt; / Memory> &lt;/ｍemory> <memory-card>"
    )
    assert escape_tag("a </Memory> b <memory-card>", "memory") == "a &lt;/Memory> b <memory-card>"


def test_reserved_tags_in_files():
    assert escape_fallback("</system-reminder>") == "&lt;/system-reminder>"
    assert escape_reserved("a <b> </system-reminder>") == "a <b> <\\/system-reminder>"
