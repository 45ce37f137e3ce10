import os

import pytest

from foretold.files import Outcome, ReadState

LINES = "word word word\n" * 8000


def with_file(folder, text, **options):
    (folder / "f.txt").write_text(text, encoding="utf-8")
    return ReadState(folder, **options)


# measured with a counter that says 40,000
def test_too_many_tokens_give_a_page_that_is_no_read(tmp_path):
    state = with_file(tmp_path, LINES, count_tokens=lambda _: 40_000)
    first = state.read("f.txt")
    assert first.text.startswith(
        "<system-reminder>[Truncated: PARTIAL view — showing lines 1-4250 of 8001 total (40000 tokens, cap 25000). Call"
        " Read with offset=4251 limit=4250 for the next page, or Grep to find a specific section. Do NOT answer from"
        " this page alone if the answer may be further in the file.]</system-reminder>\n\n1\tword word word\n2\t"
    )
    assert first.text.endswith("\n4250\tword word word")
    assert len(first.text) == 84188
    assert state.read("f.txt") == first
    assert state.edit("f.txt", "zz", "y").code == "not_read"
    assert state.read("f.txt", 2).text == (
        "File content (40000 tokens) exceeds maximum allowed tokens (25000). Use offset and limit parameters to read"
        " specific portions of the file, or search for specific content instead of reading the whole file."
    )
    assert state.read("f.txt", limit=4).kind == "content"
    assert state.edit("f.txt", "zz", "y").code == "string_not_found"


def test_long_lines_are_cut_by_characters(tmp_path):
    state = with_file(tmp_path, "x" * 120_000, count_tokens=lambda _: 40_000)
    found = state.read("f.txt").text
    assert found.startswith("<system-reminder>[Truncated: PARTIAL view — showing the first 63750 of 120000 characters")
    assert len(found) == 64116


def test_short_texts_are_not_counted(tmp_path):
    def count(_):
        raise AssertionError

    assert with_file(tmp_path, "ab c\n" * 4900, count_tokens=count).read("f.txt").kind == "content"


def test_a_large_file_is_read_in_portions_only(tmp_path):
    state = with_file(tmp_path, "x" * 262_144)
    assert state.read("f.txt").kind == "content"
    state = with_file(tmp_path, "0123456\n" * 40_000)
    refused = Outcome(
        "error",
        "File content (312.5KB) exceeds maximum allowed size (256KB). Use offset and limit parameters to read specific"
        " portions of the file, or search for specific content instead of reading the whole file.",
        f"{tmp_path}/f.txt",
        "too_large",
    )
    assert (state.read("f.txt"), state.read("f.txt", 9)) == (refused, refused)
    assert "f.txt" not in state
    assert state.read("f.txt", 39_999, 2).text == "39999\t0123456\n40000\t0123456"


@pytest.mark.parametrize(
    ("offset", "limit", "text"),
    [
        (None, None, "1\ta\n2\tb\n3\t"),
        (0, None, "0\ta\n1\tb\n2\t"),
        (-1, 0, "1\ta\n2\tb\n3\t"),
        (2, None, "2\tb\n3\t"),
        (1, 1, "1\ta"),
        (2, 100, "2\tb\n3\t"),
    ],
)
def test_ranges(tmp_path, offset, limit, text):
    assert with_file(tmp_path, "a\nb\n").read("f.txt", offset, limit).text == text


def test_a_home_folder_and_links_in_paths(tmp_path):
    os.mkdir(tmp_path / "home")
    (tmp_path / "home" / "f.txt").write_text("a\n")
    os.symlink("home", tmp_path / "link")
    state = ReadState(tmp_path, home=tmp_path / "home")
    assert state.read(" ~/f.txt ").path == f"{tmp_path}/home/f.txt"
    assert state.read("link/../home/./f.txt").kind == "unchanged_stub"
    assert state.edit("link/f.txt", "a", "b").code == "not_read"


def test_names_that_are_not_opened(tmp_path):
    state = ReadState(tmp_path)
    assert [state.read(name).code for name in ("/dev/zero", "a.zip", "A.EXE", "none", ".")] == [
        "device",
        "binary",
        "binary",
        "not_found",
        "folder",
    ]


def test_an_image_is_no_read(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    state = ReadState(tmp_path)
    assert (state.read("a.png").kind, state.write("a.png", "x").code) == ("media", "not_read")
