"""The index of code-assist, and choosing among its memories."""

import os
import subprocess
import sys

import pytest

from foretold.compat import code_assist
from foretold.compat.code_assist import MemoryEntry
from foretold.errors import StoreFailed
from foretold.memory.note import safe_file

FOLDER = "home/.claude/projects/fake/memory"
INDEX = f"{FOLDER}/MEMORY.md"


def stored(place):
    with open(place.path(INDEX), "rb") as file:
        return file.read()


def read(place, findings=None):
    return code_assist.read_memory_index("/fake", home=place.home, findings=findings)


def add(place, *words):
    code_assist.add_memory_to_index("/fake", *words, home=place.home)


def remove(place, name):
    code_assist.remove_memory_from_index("/fake", name, home=place.home)


# -- reading -------------------------------------------------------------------------------------------------


def test_reading_whole_lines(place):
    """C-39: the limit of bytes was never applied."""
    assert read(place) == ""
    place.write(INDEX, "x\n" * 200)
    assert read(place) == "x\n" * 200
    place.write(INDEX, "x\n" * 201)
    findings = []
    assert read(place, findings) == "x\n" * 200
    assert [(place.short(each.path), each.line, each.code) for each in findings] == [(INDEX, 201, "index-cut")]
    line = "ü" * 499 + "\n"
    place.write(INDEX, line * 30)
    assert read(place) == line * 25
    place.write(INDEX, "ü" * 12_501)
    assert read(place) == "ü" * 12_500


def test_reading_what_is_no_text(place):
    place.write(INDEX, b"\xef\xbb\xbfcaf\xe9")
    assert read(place) == "caf\ufffd"
    os.remove(place.path(INDEX))
    place.folder(INDEX)
    findings = []
    assert (read(place, findings), [each.code for each in findings]) == ("", ["folder"])


# -- changing ------------------------------------------------------------------------------------------------


def test_adding_loses_nothing(place):
    """C-40: what was cut when it was read was cut on the disk."""
    text = "# Mine\n" + "".join(f"- [T{n}](t{n}.md) — {'x' * 200}\n" for n in range(300))
    place.write(INDEX, text)
    add(place, "Rule 1", "rule_1.md", "First rule")
    assert stored(place).decode() == text + "- [Rule 1](rule_1.md) — First rule\n"


def test_adding_the_first(place):
    add(place, "A [b]\nc", "a.md", "")
    assert stored(place) == b"- [A (b) c](a.md)\n"
    add(place, "B", "b c.md", "two\nlines")
    assert stored(place).decode() == "- [A (b) c](a.md)\n- [B](<b c.md>) — two lines\n"
    remove(place, "b c.md")
    assert stored(place) == b"- [A (b) c](a.md)\n"


def test_adding_again_changes_the_entry(place):
    place.write(INDEX, "- [A](a.md) — old\n- [B](b.md) — see a.md\nlast line without an end")
    add(place, "A", "./a.md", "new")
    add(place, "C", "c.md", "third")
    assert stored(place).decode() == (
        "- [A](./a.md) — new\n- [B](b.md) — see a.md\nlast line without an end\n- [C](c.md) — third\n"
    )


def test_bytes_and_line_ends_of_others_stay(place):
    place.write(INDEX, b"caf\xe9\r\n\x0cnot a line end\x85\r\n")
    add(place, "A", "a.md", "x")
    assert stored(place) == b"caf\xe9\r\n\x0cnot a line end\x85\r\n- [A](a.md) \xe2\x80\x94 x\r\n"
    remove(place, "a.md")
    assert stored(place) == b"caf\xe9\r\n\x0cnot a line end\x85\r\n"


def test_removing_one_file_leaves_the_others(place):
    """C-41: every line that had the name in it went."""
    kept = ["- [D](data.md) — of a.md\n", "See [A](a.md).\n", "- [X](x/a.md)\n", "a.md\n"]
    place.write(INDEX, "".join([kept[0], "- [A](a.md) — x\n", *kept[1:], "* [A again](./a.md)\n"]))
    remove(place, "a.md")
    assert stored(place).decode() == "".join(kept)


def test_removing_from_nothing_makes_nothing(place):
    remove(place, "a.md")
    assert os.listdir(place.home) == []


def test_writing(place):
    code_assist.write_memory_index("/fake", "one\ud800\n", home=place.home)
    assert stored(place) == b"one?\n"
    code_assist.write_memory_index("/fake", "two\n", home=place.home)
    assert stored(place) == b"two\n"
    assert os.listdir(place.path(FOLDER)) == ["MEMORY.md"]
    assert os.stat(place.path(INDEX)).st_mode & 0o777 == 0o600


def test_an_index_that_cannot_be_read_is_not_written(place):
    place.folder(INDEX)
    with pytest.raises(StoreFailed, match=r"cannot read MEMORY\.md"):
        add(place, "A", "a.md", "x")
    assert os.listdir(place.path(FOLDER)) == ["MEMORY.md"]


def test_many_processes_add_at_once(place):
    code = (
        "import sys; from foretold.compat import code_assist\n"
        "for n in range(20): code_assist.add_memory_to_index('/fake', 'T', f'{sys.argv[1]}_{n}.md', 'x')"
    )
    env = place.environment()
    workers = [subprocess.Popen([sys.executable, "-c", code, str(number)], env=env) for number in range(4)]
    assert [worker.wait(timeout=60) for worker in workers] == [0, 0, 0, 0]
    expected = sorted(f"- [T]({worker}_{n}.md) — x" for worker in range(4) for n in range(20))
    assert sorted(stored(place).decode().splitlines()) == expected


# -- names and choice ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("My Rule", "my_rule.md"),
        ("Größe & Co.", "größe_co.md"),
        ("a__b  c-d", "a_b_c-d.md"),
        ("../../etc/passwd", "etcpasswd.md"),
        ("-rf", "rf.md"),
        ("Memory", "memory_note.md"),
        ("  \n", "untitled.md"),
        ("x" * 300, "x" * 252 + ".md"),
    ],
)
def test_names_of_files(name, file):
    """C-42"""
    assert code_assist.generate_memory_filename(name) == file
    assert safe_file(file) == (file,)


def test_relevant_memories(place):
    """C-43"""
    place.write(f"{FOLDER}/a.md", "---\nname: a\ndescription: Python style\n---\nsnake_case")
    place.write(f"{FOLDER}/b.md", "---\nname: b\n---\npython tests, Style of tests")
    place.write(f"{FOLDER}/c.md", "---\nname: c\n---\nTests")
    names = [
        [entry.name for entry in code_assist.find_relevant_memories("/fake", query, home=place.home)]
        for query in ("style python", "tests STYLE", "snake", "nothing", " ")
    ]
    assert names == [["a", "b"], ["b", "a", "c"], ["a"], [], ["a", "b", "c"]]


@pytest.mark.parametrize(
    ("description", "context", "is_loaded"),
    [("", "", True), ("Testing patterns", "we need TESTING", True), ("how to do it", "how to do it", False)],
)
def test_should_it_be_loaded(description, context, is_loaded):
    """C-44"""
    assert code_assist.should_load_memory(MemoryEntry("x", description), context) is is_loaded


# -- the folder of the documents -----------------------------------------------------------------------------

DOCUMENTED = "home/.claude/projects/-fake"


def test_the_index_next_to_the_entries_of_the_documents_is_read(place):
    place.write(f"{DOCUMENTED}/MEMORY.md", "- [A](a.md)")
    assert read(place) == "- [A](a.md)"
    place.write(INDEX, "- [B](b.md)")
    assert read(place) == "- [B](b.md)\n- [A](a.md)"


def test_what_is_cut_is_reported_of_the_file_that_has_it(place):
    place.write(INDEX, "x\n" * 150)
    place.write(f"{DOCUMENTED}/MEMORY.md", "y\n" * 51)
    findings = []
    assert read(place, findings) == "x\n" * 150 + "y\n" * 50
    assert [(place.short(each.path), each.line) for each in findings] == [(f"{DOCUMENTED}/MEMORY.md", 51)]


def test_an_entry_is_added_where_its_file_is(place):
    place.write(f"{DOCUMENTED}/a.md", "A")
    add(place, "A", "a.md", "")
    assert read(place) == "- [A](a.md)\n"
    assert not os.path.lexists(place.path(INDEX))
    place.write(f"{FOLDER}/b.md", "B")
    add(place, "B", "b.md", "")
    assert stored(place) == b"- [B](b.md)\n"
    remove(place, "a.md")
    assert read(place) == "- [B](b.md)\n"
