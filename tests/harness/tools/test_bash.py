"""Bash as a tool: folders, output, files that a command shows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from foretold.harness.permissions.check import Permission
from foretold.harness.tools.registry import DEFAULT_TOOLS, Result, ToolContext, run_tool


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    project = Path(os.path.realpath(tmp_path)) / "proj"
    (project / "sub").mkdir(parents=True)
    (project / "a.txt").write_text("text\n", encoding="utf-8")
    (project.parent / "more").mkdir()
    permission = Permission("bypass", cwd=project, home=project, add_dirs=[str(project.parent / "more")])
    return ToolContext(project, home=project, env={"PATH": "/usr/bin:/bin", "WORD": "here"}, permission=permission)


def bash(context: ToolContext, command: str, **given: object) -> Result:
    return run_tool(context, DEFAULT_TOOLS, {"name": "Bash", "input": {"command": command, **given}})


def test_the_folder_lasts_where_the_conversation_works(context: ToolContext) -> None:
    root = context.root
    assert bash(context, "cd sub").content == "(Bash completed with no output)"
    assert bash(context, "pwd").content == f"{root}/sub"
    assert bash(context, "cd ../../more; pwd").content == os.path.dirname(root) + "/more"
    assert (bash(context, "pwd").content, context.state.cwd) == (os.path.dirname(root) + "/more",) * 2
    assert bash(context, "cd /; pwd").content == f"/\nShell cwd was reset to {root}"
    assert bash(context, "cd sub && false").content == "Exit code 1"
    assert bash(context, "cd sub; exit 3").content == "Exit code 3"
    assert context.cwd == root


def test_a_folder_that_is_gone_is_left(context: ToolContext) -> None:
    bash(context, "cd sub")
    os.rmdir(context.root + "/sub")
    assert bash(context, "pwd").content == context.root


def test_a_link_that_leads_out_is_out(context: ToolContext, tmp_path: Path) -> None:
    os.symlink("/usr", context.root + "/link")
    assert bash(context, "cd link").content == f"Shell cwd was reset to {context.root}"


def test_nothing_else_lasts(context: ToolContext) -> None:
    assert bash(context, "export X=1; f() { :; }; echo $WORD").content == "here"
    assert bash(context, "echo [$X] $(type -t f)").content == "[]"


def test_a_time_is_in_milliseconds(context: ToolContext) -> None:
    result = bash(context, "echo a; sleep 60", timeout=300)
    assert (result.content, result.is_error) == ("Exit code 143\nCommand timed out after 0.3s\na", True)


def test_the_environment_may_give_another_time(context: ToolContext) -> None:
    context.env["BASH_DEFAULT_TIMEOUT_MS"] = "300"
    assert bash(context, "sleep 60").content == "Exit code 143\nCommand timed out after 0.3s"
    context.env["BASH_MAX_TIMEOUT_MS"] = "200"
    assert bash(context, "sleep 60", timeout=99_999_999).content == "Exit code 143\nCommand timed out after 0.3s"


def test_long_output_loses_its_middle_and_says_so(context: ToolContext) -> None:
    said = str(bash(context, "printf 'x%.0s' {1..40000}").content)
    assert said == "x" * 15_000 + "\n\n... [10000 characters truncated] ...\n\n" + "x" * 15_000
    failed = str(bash(context, "printf 'x%.0s' {1..40000}; exit 1").content)
    assert failed == "Exit code 1\n" + "x" * 5_000 + "\n\n... [30000 characters truncated] ...\n\n" + "x" * 5_000


@pytest.mark.parametrize(
    ("command", "said", "meaning"),
    [
        ("grep nothing a.txt", "(Bash completed with no output)", "No matches found"),
        ("cat a.txt | grep nothing", "(Bash completed with no output)", "No matches found"),
        ("echo b | diff - a.txt", "1c1\n< b\n---\n> text", "Files differ"),
        ("test -f none", "(Bash completed with no output)", "Condition is false"),
    ],
)
def test_a_status_that_only_says_no_is_no_failure(context: ToolContext, command: str, said: str, meaning: str) -> None:
    result = bash(context, command)
    assert (result.content, result.is_error) == (said, False)
    assert isinstance(result.value, dict)
    assert result.value["returnCodeInterpretation"] == meaning
    assert bash(context, "grep -q text a.txt && false").is_error
    assert bash(context, "grep nothing a.txt; false").is_error


def test_what_a_command_shows_counts_as_read(context: ToolContext) -> None:
    bash(context, "cd sub")
    result = bash(context, "cat ../a.txt")
    assert (result.paths, context.state.is_read(context.root + "/a.txt")) == ((context.root + "/a.txt",), True)
    edit = {"file_path": "../a.txt", "old_string": "text", "new_string": "word"}
    assert not run_tool(context, DEFAULT_TOOLS, {"name": "Edit", "input": edit}).is_error
    assert bash(context, "cat none").paths == ()
