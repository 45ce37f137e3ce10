import os
import stat

import pytest

from foretold.files import ReadState
from foretold.files.read_state.matching import find_match, fit_style, repair_text, replace_text
from foretold.files.read_state.state import LocalDisk
from foretold.storage.kernel import Kernel


def known(folder, name="a.txt", data=b"alpha\nbeta\n", **options):
    """A state that has read a file."""
    (folder / name).write_bytes(data)
    state = ReadState(folder, **options)
    state.read(name)
    return state


def test_a_write_keeps_the_mode_and_leaves_nothing_else(tmp_path):
    state = known(tmp_path)
    os.chmod(tmp_path / "a.txt", 0o750)
    assert state.edit("a.txt", "beta", "B").ok
    assert stat.S_IMODE(os.stat(tmp_path / "a.txt").st_mode) == 0o750
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_reader_that_has_the_file_open_keeps_the_old_one(tmp_path):
    state = known(tmp_path)
    with open(tmp_path / "a.txt", encoding="utf-8") as reader:
        state.write("a.txt", "new\n")
        assert reader.read() == "alpha\nbeta\n"


class Swapping(LocalDisk):
    """Somebody puts a link into the file's place just after it was looked at."""

    def target(self, path):
        found = super().target(path)
        os.remove(path)
        os.symlink("secret", path)
        return found


def test_a_link_that_is_swapped_in_is_not_followed(tmp_path):
    (tmp_path / "secret").write_text("secret\n")
    state = known(tmp_path, disk=Swapping())
    outcome = state.edit("a.txt", "beta", "B")
    assert (outcome.code, (tmp_path / "secret").read_text()) == ("unwritable", "secret\n")
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "secret"]


class FullKernel(Kernel):
    def write(self, descriptor, data):
        os.write(descriptor, data[:3])
        raise OSError(28, "No space left on device")


class Full(LocalDisk):
    kernel = FullKernel()


def test_a_full_disk_leaves_the_old_file_and_what_was_known(tmp_path):
    state = known(tmp_path, disk=Full())
    before = dict(state.entries)
    assert state.edit("a.txt", "beta", "B").text == f"No space left on device: '{tmp_path}/a.txt'"
    assert state.write("a.txt", "x").code == "unwritable"
    assert (os.listdir(tmp_path), (tmp_path / "a.txt").read_bytes()) == (["a.txt"], b"alpha\nbeta\n")
    assert state.entries == before


def test_what_the_older_agent_destroys_is_told(tmp_path):
    wide = "\ufeffa\n".encode("utf-16-le")
    assert known(tmp_path, data=b"caf\xe9\n").edit("a.txt", "caf", "x").loss
    assert known(tmp_path, data=b"\xff\xfea\0b").edit("a.txt", "a", "x").loss
    assert known(tmp_path, data=wide).write("a.txt", "b").loss
    assert not known(tmp_path, data=wide).edit("a.txt", "a", "b").loss
    assert not known(tmp_path, data="\ufffd x\n".encode()).edit("a.txt", "x", "y").loss


@pytest.mark.parametrize("data", [b"caf\xe9\n", b"a\0b\n", b"\xfe\xff\0a"])
def test_the_newer_agent_refuses_to_destroy(tmp_path, data):
    state = known(tmp_path, data=data, version="2.1.325")
    assert (state.edit("a.txt", "a", "b").code, state.write("a.txt", "b").code) == ("encoding", "encoding")
    assert (tmp_path / "a.txt").read_bytes() == data


def test_texts_can_be_taken_as_they_are(tmp_path):
    state = ReadState(tmp_path, repairs=False)
    state.write("a.js", 'x = "\\u00e9";  \n')
    state.edit("a.js", "\\u00e9", "\\u00e8 ")
    assert (tmp_path / "a.js").read_text() == 'x = "\\u00e8 ";  \n'


def test_folders_are_made(tmp_path):
    assert ReadState(tmp_path).write("a/b/c.txt", "x").kind == "created"
    assert ReadState(tmp_path).edit("d/e.txt", "", "x").kind == "updated"
    assert (tmp_path / "d/e.txt").read_text() == "x"


def test_a_name_of_255_bytes_can_be_written(tmp_path):
    assert ReadState(tmp_path).write("n" * 255, "x").kind == "created"
    assert ReadState(tmp_path).write("n" * 256, "x").kind == "error"


def test_a_path_with_a_nul_is_an_error(tmp_path):
    state = ReadState(tmp_path)
    assert [state.read("a\0").kind, state.write("a\0", "x").kind, state.edit("a\0", "x", "y").kind] == ["error"] * 3


@pytest.mark.parametrize("text", [" " * 200_000 + "x", "\\" * 200_000 + "u", "\\u00e" * 50_000, '"' * 200_000])
def test_hostile_texts_are_quick(text):
    assert repair_text(text, "a.py")
    assert find_match("é" * 50_000, "é" * 20_000 + "x") is None
    assert len(fit_style(find_match("“" * 10, '"'), text)) == len(text)


@pytest.mark.parametrize(
    ("text", "old", "new", "every", "made"),
    [
        ("a\nb\nc\n", "b", "", False, "a\nc\n"),
        ("b x\n", "b", "", False, " x\n"),
        ("b\nbx b\n", "b", "", True, "bx "),
        ("aaa", "aa", "b", False, "ba"),
        ("a", "a", "$& \\1", False, "$& \\1"),
    ],
)
def test_replaced(text, old, new, every, made):
    assert replace_text(text, old, new, every=every) == made
