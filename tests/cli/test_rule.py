"""`foretold rule`: one finding, all of them, a code that does not exist."""

import pytest

from foretold.cli import main
from foretold.findings.registry import load_families

from .documents import read_document


def test_one_rule(capsys):
    assert main(["rule", "import-punctuation"]) == 0
    assert (
        capsys.readouterr().out
        == """\
import-punctuation (error)

  punctuation after an import is taken as part of its name

Why
  The agent looks for a file that ends in a comma or a bracket.

Example
  see @docs/style.md, please

What to do
  put white space after the path
"""
    )


def test_all_rules_fit_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["rule"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert listed == [rule.code for rules in load_families().values() for rule in rules]
    assert max(map(len, lines)) <= 80


def test_data(capsys):
    assert main(["rule", "personal", "--json"]) == 0
    data = read_document(capsys.readouterr().out)
    assert (data["schema"], data["rules"][0]["code"], data["rules"][0]["severity"]) == (
        "foretold.rule/1",
        "personal",
        "warning",
    )


def test_a_code_that_does_not_exist(capsys):
    assert main(["rule", "import-mising"]) == 2
    assert capsys.readouterr().err == (
        "foretold: no finding has the code 'import-mising', did you mean 'import-missing'?\n"
        "see all of them: foretold rule\n"
    )


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help(capsys, word):
    with pytest.raises(SystemExit, match="0"):
        main(["rule", word])
    assert "foretold rule import-punctuation" in capsys.readouterr().out
