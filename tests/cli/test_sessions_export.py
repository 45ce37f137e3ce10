"""`foretold sessions export`: the file that is asked for, or a word about why not."""

import pytest

from foretold.cli.sessions import command

from ..sessions import house


@pytest.fixture
def home(tmp_path):
    house.claude_session(tmp_path / "home")
    return tmp_path / "home"


def run(home, *words):
    return command(["export", house.name_of(1), "--home", str(home), *map(str, words)])


def test_an_ending_that_no_form_has_is_refused_and_nothing_is_written(home, tmp_path, capsys):
    with pytest.raises(SystemExit) as error:
        run(home, "-o", tmp_path / "talk.pdf")
    said = "there is no format for .pdf files: -o takes\n.md, .markdown, .html, .htm, .json, or add --format\n"
    assert error.value.code == 2
    assert capsys.readouterr().err.endswith(f"\nforetold sessions export: error: {said}")
    assert not (tmp_path / "talk.pdf").exists()


@pytest.mark.parametrize(
    ("name", "words", "start"),
    [
        ("a.md", (), "# "),
        ("a.HTML", (), "<!doctype html>"),
        ("a.json", (), '{"schema": "foretold.export/1"'),
        ("a", (), "# "),
        ("a.pdf", ("--form", "html"), "<!doctype html>"),
    ],
)
def test_the_ending_tells_the_form(home, tmp_path, capsys, name, words, start):
    assert run(home, "-o", tmp_path / name, *words) == 0
    assert (tmp_path / name).read_text().startswith(start)
    assert capsys.readouterr().err.startswith(f"written: {tmp_path / name}\n")
