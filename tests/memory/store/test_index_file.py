"""The lines of the index: which are entries, and how they follow the files."""

import pytest

from foretold.memory.note import read_note
from foretold.memory.store.index_file import IndexEntry, Update, entries_of, entry_line, shorten_entry, update_index


def memory(file, name, description=""):
    return read_note(file, f"---\nname: {name}\ndescription: {description}\n---\n".encode())


A, B = memory("a.md", "a", "first"), memory("b.md", "b", "second")


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("- [A](a.md) — first", IndexEntry(0, "A", "a.md")),
        ("* [A](a.md)", IndexEntry(0, "A", "a.md")),
        ("  + [A](./a.md): nested", IndexEntry(0, "A", "a.md")),
        ("- [A](<a b.md>)", IndexEntry(0, "A", "a b.md")),
        ("- [A](a%20b.md#part)", IndexEntry(0, "A", "a b.md")),
        ("- [A \\] b](deep/a.md)\r", IndexEntry(0, "A \\] b", "deep/a.md")),
        ("[A](a.md)", None),
        ("- see [A](a.md)", None),
        ("- [A](../a.md)", None),
        ("- [A](%2e%2e/a.md)", None),
        ("- [A](/a.md)", None),
        ("- [A](~/a.md)", None),
        ("- [A](https://example.org/a.md)", None),
        ("- [A](a.txt)", None),
    ],
)
def test_what_is_an_entry(line, entry):
    assert entries_of(line) == [entry] * (entry is not None)


def test_a_new_memory_gets_an_entry_behind_the_last_one():
    before = "# Mine\n\n- [A](a.md) — first\n\nAfter.\n"
    after = "# Mine\n\n- [A](a.md) — first\n- [B](b.md) — second\n\nAfter.\n"
    assert update_index(before, Update({"b.md": (None, B)})) == after
    assert update_index("", Update({"a.md": (None, A)})) == "- [A](a.md) — first\n"
    assert update_index("Mine.", Update({"a.md": (None, A)})) == "Mine.\n\n- [A](a.md) — first\n"
    assert update_index("- [A](a.md)", Update({"b.md": (None, B)})) == "- [A](a.md)\n- [B](b.md) — second\n"


def test_an_entry_of_ours_follows_and_one_in_other_words_stays():
    now = memory("a.md", "a", "changed")
    assert update_index("- [A](a.md) — first\n", Update({"a.md": (A, now)})) == "- [A](a.md) — changed\n"
    assert update_index("- [A](a.md): mine\n", Update({"a.md": (A, now)})) == "- [A](a.md): mine\n"


def test_an_entry_moves_and_goes_with_its_file():
    moved = memory("c.md", "c", "first")
    update = Update({"c.md": (A, moved)}, moved={"a.md": "c.md"})
    assert update_index("- [A](a.md) — first\n", update) == "- [C](c.md) — first\n"
    assert update_index("- [A](a.md): mine\n", update) == "- [A](c.md): mine\n"
    text = "Top.\n- [A](a.md): mine\n- [On its way](later.md)\nEnd."
    assert update_index(text, Update({}, frozenset({"a.md"}))) == "Top.\n- [On its way](later.md)\nEnd."


def test_of_two_entries_for_a_file_the_one_that_somebody_wrote_stays():
    text = "- [A](a.md) — first\n- [A](a.md): in my words\n"
    assert update_index(text, Update({"a.md": (None, A)})) == "- [A](a.md): in my words\n"
    twice = "- [A](a.md): mine\n- [A](a.md): mine too\n"
    assert update_index(twice, Update({"a.md": (None, A)})) == twice


def test_lines_of_windows_stay_lines_of_windows():
    before = "# Mine\r\n- [A](a.md) — first\r\nEnd.\r\n"
    after = "# Mine\r\n- [A](a.md) — changed\r\n- [B](b.md) — second\r\nEnd.\r\n"
    update = Update({"a.md": (A, memory("a.md", "a", "changed")), "b.md": (None, B)})
    assert update_index(before, update) == after


@pytest.mark.parametrize("text", ["", "\n", "a", "\r\n", "- [A](a.md)", "\ufeff# Mine\n", "x\n\n\n", "\udcff\n"])
def test_nothing_to_do_changes_nothing(text):
    assert update_index(text, Update({})) == text


def test_a_line_of_ours_is_an_entry_of_its_file_and_short():
    for file, name, description in [
        ("a.md", "a", "x" * 500),
        ("with space.md", "[odd] (name)", "a — b"),
        ("paren(1).md", "n" * 300, ""),
        ("100%25.md", "per cent", "d"),
        ("deep/é.md", "é", "日本" * 100),
    ]:
        line = entry_line(memory(file, f'"{name}"', f'"{description}"'))
        assert [entry.file for entry in entries_of(line)] in ([file], ["100%.md"])
        assert len(line) <= 150
        assert shorten_entry(line) == line


def test_entries_of():
    assert entries_of("# Mine\n- [Role](user_role.md) — a chemist\n- [Site](https://example.org/a.md)\n") == [
        IndexEntry(number=1, title="Role", file="user_role.md")
    ]


def test_update_index():
    role = read_note("user_role.md", b"---\nname: role\ndescription: a chemist\n---\n")
    assert (
        update_index("Keep this.\n", Update({"user_role.md": (None, role)}))
        == "Keep this.\n\n- [Role](user_role.md) — a chemist\n"
    )
