"""`foretold rule`: one finding, all of them, a code that does not exist."""

import pytest

from foretold.cli import main
from foretold.findings.registry import load_families

from .documents import read_document


def test_one_rule(capsys):
    assert main(["rule", "restore-link"]) == 0
    assert (
        capsys.readouterr().out
        == """\
restore-link (error)

  a symbolic link is in the place of a file to be restored

Why
  Restoring would write through the link.

Example
  src/app.py -> /etc/hosts

What to do
  move it away
"""
    )


def test_a_rule_of_a_check_says_what_to_write_instead(capsys):
    assert main(["rule", "ignore-unused"]) == 0
    assert (
        capsys.readouterr().out
        == """\
ignore-unused (note)

  a comment ignores a finding that is not there

Why
  Whoever reads it believes that something is wrong; and it would hide the next
  such finding.

Example
  <!-- foretold: ignore import-missing --> before an import whose file exists

Write instead
  the line without the comment

What to do
  remove the comment

Agents
  all

Fixable
  foretold check --fix
"""
    )


def test_all_rules_fit_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["rule"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert listed == [rule.code for rules in load_families().values() for rule in rules]
    assert max(map(len, lines)) <= 80


def test_the_rules_of_a_family(capsys):
    assert main(["rule"]) == 0
    assert "\ntruth: What instructions claim\n" in capsys.readouterr().out
    assert main(["rule", "truth"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "truth: What instructions claim"
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert listed == [rule.code for rule in load_families()["truth"]]
    assert main(["rule", "truth", "--json"]) == 0
    assert [rule["code"] for rule in read_document(capsys.readouterr().out)["rules"]] == listed


@pytest.mark.parametrize(("word", "meant"), [("IMPORT-PUNCTUATION", "import-punctuation"), ("delivry", "delivery")])
def test_what_may_have_been_meant(capsys, word, meant):
    assert main(["rule", word]) == 2
    assert f"no finding has the code {word!r}, did you mean {meant!r}?" in capsys.readouterr().err


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
