"""Glob: files by their names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from foretold.harness.permissions.check import Permission
from foretold.harness.tools.registry import DEFAULT_TOOLS, Result, ToolContext, run_tool
from foretold.harness.tools.walk import FolderWalk


def glob(folder: Path, pattern: str, *, deny: tuple[str, ...] = (), cwd: str = "", **given: str) -> Result:
    permission = Permission("bypass", deny=deny, cwd=folder, home=folder)
    context = ToolContext(folder, home=folder, env={}, permission=permission)
    context.cwd = cwd or context.cwd
    block = {"name": "Glob", "input": {"pattern": pattern, **given}}
    return run_tool(context, DEFAULT_TOOLS, block)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    names = ["a.py", "B.py", ".env", "src/b.py", "src/deep/c.ts", ".git/d.py", "out/e.py", "secrets/f.py"]
    for age, name in enumerate(names):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
        os.utime(path, (1_700_000_000 + age, 1_700_000_000 + age))
    (tmp_path / ".gitignore").write_text("out/\n", encoding="utf-8")
    (tmp_path / "link.py").symlink_to("a.py")
    (tmp_path / "linked").symlink_to("src")
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", "a.py\nB.py\nsrc/b.py\nout/e.py\nsecrets/f.py"),
        ("**/*.ts", "src/deep/c.ts"),
        ("src/*", "src/b.py"),
        ("src/**", "src/b.py\nsrc/deep/c.ts"),
        ("./a.py", "a.py"),
        ("*.{ts,env}", ".env\nsrc/deep/c.ts"),
        (".e*", ".env"),
        ("b.py", "src/b.py"),
        ("../*", "No files found"),
        ("nothing", "No files found"),
    ],
)
def test_patterns(folder: Path, pattern: str, found: str) -> None:
    assert glob(folder, pattern).content == found


def test_paths_are_relative_to_the_working_directory(folder: Path) -> None:
    assert glob(folder, "*.ts", path="src").content == "src/deep/c.ts"
    assert glob(folder, f"{folder}/src/**/*.ts").content == "src/deep/c.ts"
    assert glob(folder, "*.ts", cwd=f"{folder}/src").content == "deep/c.ts"
    assert glob(folder, "a.py", cwd=f"{folder}/src", path=str(folder)).content == f"{folder}/a.py"


def test_what_may_not_be_read_is_not_listed(folder: Path) -> None:
    assert glob(folder, "f.py", deny=("Read(./secrets/**)",)).content == "No files found"


def test_a_hundred_are_listed_and_the_rest_is_counted(tmp_path: Path) -> None:
    for number in range(120):
        (tmp_path / f"{number:03}.txt").write_text("", encoding="utf-8")
        os.utime(tmp_path / f"{number:03}.txt", (1_700_000_000 + number, 1_700_000_000 + number))
    result = glob(tmp_path, "*.txt")
    rest = "(Showing 100 of 120 matching files; 20 more are not listed. Narrow the pattern or path to see the rest.)"
    assert str(result.content).split("\n") == [*(f"{number:03}.txt" for number in range(100)), rest]


def test_a_walk_that_is_too_long_ends_and_says_so(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text("", encoding="utf-8")
    walk = FolderWalk(str(tmp_path), ignores=False, most=2)
    assert [entry.name for entry in walk.files()] == ["a", "b"]
    assert not walk.is_complete


def test_a_folder_that_is_none(folder: Path) -> None:
    said = f"Directory does not exist: {folder}/none. Note: your current working directory is {folder}."
    assert glob(folder, "*", path="none").content == f"<tool_use_error>{said}</tool_use_error>"
    assert glob(folder, "*", path="a.py").is_error
