"""The report for people: grouped by file, in 80 columns, with a summary that says what to do next."""

import pytest

from foretold.check.finding import CheckFinding
from foretold.check.report.text import render_statistics, render_text
from foretold.cli.output import Paint

from .reports import CLAUDE, CODEX, make_report


@pytest.fixture
def paint(place, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    return Paint(place.proj, place.home)


def test_a_report(place, paint):
    report = make_report(place, ignored=2, known=3, cut="there are more than 60,000 folders")
    assert render_text(report, paint, "foretold check proj") == (
        """\
AGENTS.md
       error budget-cut  codex
       23 bytes are lost
       → shorten it

CLAUDE.md
    3  error import-punctuation  claude-code  (fixable)
       docs/a.md,: not imported
       → add a space
    3  warning text-repeated
       AGENTS.md has it, too
       → keep one

~/.claude/x.md
    2  note file-long
       it has 300 lines

2 errors, 1 warning, 1 note in 3 files
checked 3 files for claude-code 2.1.325 and codex 0.166.0
tokens in every session that starts at the top: claude-code 1,200, codex 300
ignored: 2 findings that comments or per-file-ignores name
known: 3 findings of the baseline
cut: not everything was looked at: there are more than 60,000 folders

what it means:   foretold rule budget-cut
fix 1 of them:   foretold check proj --fix
"""
    )


def test_a_clean_tree_gets_one_line(place, paint):
    assert render_text(make_report(place, []), paint) == "no problems in 2 files of 2 agents\n"


def test_a_tree_without_instructions(place, paint):
    from foretold.check.project import CheckOptions, Project
    from foretold.check.run import CheckReport

    report = CheckReport(Project(place.proj, CheckOptions(home="")), ())
    assert render_text(report, paint) == "no problems: there are no instruction files of any agent here\n"


def test_what_was_left_out_is_said_of_a_clean_tree_too(place, paint):
    for name in ("tests/fixtures/a", "fixtures/b", "old"):
        place.write(f"proj/{name}/CLAUDE.md")
    report = make_report(place, [], ignored=1)
    report = report._replace(
        project=type(report.project)(place.proj, report.project.options._replace(exclude=("old/",)))
    )
    assert render_text(report, paint).splitlines() == [
        "no problems in 2 files of 2 agents",
        "left out: 2 files in folders of fixtures or templates (--include-fixtures)",
        "left out: 1 file that settings or --exclude name",
        "ignored: 1 finding that comments or per-file-ignores name",
    ]


def test_what_is_said_of_several_files_is_said_once(place, paint):
    message = "claude-code never loads it"
    findings = [
        CheckFinding(
            place.path(f"proj/{name}/AGENTS.md"), None, "file-shadowed", message, f"create {name}", (CLAUDE,), "error"
        )
        for name in ("a", "b", "c")
    ]
    findings.append(CheckFinding(place.path("proj/b/AGENTS.md"), 7, "file-long", "long", "cut it", (), "note"))
    report = make_report(place, findings)
    assert render_text(report, paint).partition("\n1 ")[0].splitlines()[:12] == [
        "a/AGENTS.md",
        "b/AGENTS.md",
        "c/AGENTS.md",
        "       error file-shadowed",
        "       claude-code never loads it",
        "       → create a, and so on for the others",
        "",
        "b/AGENTS.md",
        "    7  note file-long",
        "       long",
        "       → cut it",
        "",
    ]


def test_many_files_are_counted(place, paint):
    findings = [
        CheckFinding(place.path(f"proj/{number:02}.md"), 1, "import-missing", "same", "do it", (), "error")
        for number in range(40)
    ]
    lines = render_text(make_report(place, findings), paint).splitlines()
    assert lines[19:24] == [
        "19.md:1",
        "… and 20 more (--json)",
        "       error import-missing",
        "       same",
        "       → do it",
    ]


def test_equal_hints_are_written_once(place, paint):
    path = place.path("proj/CLAUDE.md")
    findings = [CheckFinding(path, line, "import-missing", f"{line}", "do it", (), "error") for line in (1, 2)]
    assert render_text(make_report(place, findings), paint).count("→ do it") == 1


def test_an_agent_is_named_where_it_does_not_hold_for_all(place, paint):
    path = place.path("proj/CLAUDE.md")
    findings = [
        CheckFinding(path, 1, "import-missing", "one", "", (CLAUDE, CODEX), "error"),
        CheckFinding(path, 2, "import-missing", "two", "", (CODEX,), "error"),
        CheckFinding(path, 3, "import-missing", "codex does three", "", (CODEX,), "error"),
    ]
    titles = [line for line in render_text(make_report(place, findings), paint).splitlines() if "error import" in line]
    assert titles == [
        "    1  error import-missing",
        "    2  error import-missing  codex",
        "    3  error import-missing",
    ]


def test_nothing_is_wider_than_the_terminal_and_no_control_character_is_printed(place, paint):
    name = "very-long-folder-name/" * 6 + "CLAUDE.md"
    message = "a \x1b[31mlong\u202e message " * 12 + "x" * 200
    findings = [CheckFinding(place.path(f"proj/{name}"), 123456, "import-missing", message, message, (), "error")]
    text = render_text(make_report(place, findings), paint)
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_statistics(place, paint):
    shown = render_statistics(make_report(place), paint)
    assert [line.split()[:3] for line in shown.splitlines() if line[:5].strip()] == [
        ["1", "error", "budget-cut"],
        ["1", "error", "import-punctuation"],
        ["1", "warning", "text-repeated"],
        ["1", "note", "file-long"],
    ]
    assert max(map(len, shown.splitlines())) <= 80
