"""Names of memory files."""

import unicodedata

import pytest
from hypothesis import given, strategies as st

from foretold.errors import BadName
from foretold.memory.note import new_file, safe_file, slug_of
from foretold.storage.names import MAX_PART, same_name

TEXT = st.text(st.characters(exclude_categories=()) | st.sampled_from("./\\~%:- \0․／．"))


@given(TEXT | TEXT.map(lambda text: f"{text}.md"))
def test_a_safe_file_has_only_safe_parts(file):
    try:
        parts = safe_file(file)
    except BadName:
        return
    assert "/".join(parts) == file
    assert file.endswith(".md")
    assert file.isprintable()
    for part in parts:
        assert part not in ("", ".", "..")
        assert not part.startswith((".", "~", "-"))
        assert not part.endswith((".", " "))
        assert not set(part) & set('\\:%"<>|?*\0')
        assert len(part.encode()) <= MAX_PART


@given(st.text(), st.sampled_from(["user", "feedback", "project", "reference"]))
def test_every_topic_with_a_letter_makes_a_safe_file(topic, type_):
    try:
        file = new_file(type_, topic)
    except BadName:
        assert not any(char.isalnum() for char in topic.lower())
        return
    try:
        assert safe_file(file) == (file,)
    except BadName:  # a letter whose compatibility form is no safe character, such as U+00BD
        assert unicodedata.normalize("NFKC", file) != file


@pytest.mark.parametrize(
    ("topic", "file"),
    [
        ("Real databases", "user_real_databases.md"),
        ("user role", "user_role.md"),
        ("../../etc/passwd", "user_etc_passwd.md"),
        ("A.md", "user_a_md.md"),
        ("Über  Größe", "user_über_größe.md"),
        ("e\u0301", "user_é.md"),
    ],
)
def test_the_file_of_a_topic(topic, file):
    assert new_file("user", topic) == file


def test_very_long_topics():
    for topic in ("x" * 10_000, "日本" * 10_000, "𝒳" * 10_000, "a b " * 5_000):
        assert len(new_file("reference", topic).encode()) <= MAX_PART
        assert safe_file(new_file("reference", slug_of(topic)))


def test_a_part_may_have_as_many_bytes_as_a_file_system_takes():
    assert safe_file("a" * 252 + ".md") == ("a" * 252 + ".md",)
    with pytest.raises(BadName, match="longer than 255 bytes"):
        safe_file("a" * 253 + ".md")
    with pytest.raises(BadName, match="longer than 255 bytes"):
        safe_file("é" * 127 + ".md")


def test_the_same_name():
    assert len({same_name(name) for name in ("É.md", "e\u0301.MD", "é.md", "E\u0301.Md")}) == 1
    assert same_name("a.md") != same_name("b.md")


@given(st.text())
def test_the_form_of_a_letter_makes_no_other_name(name):
    assert {same_name(unicodedata.normalize(form, name)) for form in ("NFC", "NFD")} == {same_name(name)}


def test_new_file():
    assert new_file("feedback", "Real databases in tests!") == "feedback_real_databases_in_tests.md"
    assert new_file("user", "User role") == "user_role.md"


def test_slug_of():
    assert (slug_of("  Merge freeze, May 2026 "), slug_of("日本語")) == ("merge-freeze-may-2026", "日本語")
