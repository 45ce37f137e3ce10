"""Grep: lines of files, by Python and, where it is there, by ripgrep."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from foretold.harness.permissions.check import Permission
from foretold.harness.tools.registry import DEFAULT_TOOLS, Result, ToolContext, run_tool
from foretold.harness.tools.search import SearchRequest, run_search

RIPGREP = os.path.dirname(shutil.which("rg", path=f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}") or "")
ENGINES = ["", pytest.param(RIPGREP, marks=pytest.mark.skipif(not RIPGREP, reason="ripgrep is not installed"))]


AROUND = "src/b.py-1-debug\nsrc/b.py:2:DEBUG\n--\nsrc/b.py-4-x\nsrc/b.py:5:DEBUG again"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "a.py": "import os\nDEBUG = True\nprint(os)\n",
        "src/b.py": "debug\nDEBUG\n\nx\nDEBUG again",
        "src/c.txt": "nothing\r\nDEBUG\r\n",
        "long.txt": "DEBUG " + "x" * 600 + "\n",
        "out/d.py": "DEBUG\n",
        ".hidden": "DEBUG\n",
        "secrets/e.py": "DEBUG\n",
        ".gitignore": "out/\n",
    }
    for age, (name, text) in enumerate(files.items()):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        os.utime(path, (1_700_000_000 + age, 1_700_000_000 + age))
    (tmp_path / "binary").write_bytes(b"DEBUG\0\n")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9 LATIN\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True, env={"PATH": os.environ["PATH"], "HOME": "/"})
    return tmp_path


def grep(folder: Path, engine: str, pattern: str, **given: object) -> Result:
    permission = Permission("bypass", deny=["Read(./secrets/**)"], cwd=folder, home=folder)
    context = ToolContext(folder, home=folder, env={"PATH": engine}, permission=permission)
    named = {key.replace("_opt", "-"): value for key, value in given.items()}
    return run_tool(context, DEFAULT_TOOLS, {"name": "Grep", "input": {"pattern": pattern, **named}})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("pattern", "given", "said"),
    [
        ("DEBUG", {}, "Found 5 files\n.hidden\nlong.txt\nsrc/c.txt\nsrc/b.py\na.py"),
        ("DEBUG", {"type": "py"}, "Found 2 files\nsrc/b.py\na.py"),
        ("DEBUG", {"glob": "*.{txt,md}"}, "Found 2 files\nlong.txt\nsrc/c.txt"),
        ("DEBUG", {"glob": "src/*.py"}, "Found 1 file\nsrc/b.py"),
        ("DEBUG", {"glob": "!src/**", "type": "py"}, "Found 1 file\na.py"),
        ("DEBUG", {"path": "out/d.py"}, "Found 1 file\nout/d.py"),
        ("DEBUG", {"path": "src", "head_limit": 1}, "Found 1 file limit: 1, total: 2\nsrc/c.txt"),
        ("LATIN", {"output_mode": "content"}, "latin.txt:1:caf\ufffd LATIN"),
        ("debug", {"-i": True, "output_mode": "content", "path": "src/b.py"}, "1:debug\n2:DEBUG\n5:DEBUG again"),
        ("debug", {"output_mode": "content", "-n": False}, "src/b.py:debug"),
        (
            "DEBUG",
            {"output_mode": "content", "glob": "*.txt"},
            "long.txt:1:[Omitted long matching line]\nsrc/c.txt:2:DEBUG",
        ),
        (
            "DEBUG",
            {"output_mode": "content", "type": "py", "-B": 1},
            "a.py-1-import os\na.py:2:DEBUG = True\n--\n" + AROUND,
        ),
        ("os.DEBUG", {"multiline": True, "output_mode": "content"}, "a.py:1:import os\na.py:2:DEBUG = True"),
        (
            "DEBUG",
            {"output_mode": "count", "type": "py"},
            "a.py:1\nsrc/b.py:2\n\nFound 3 total occurrences across 2 files.",
        ),
        (
            "o",
            {"output_mode": "content", "path": "a.py", "head_limit": 1, "offset": 1},
            "3:print(os)\n\n[Showing results with pagination = offset: 1, total: 2]",
        ),
        (
            "o",
            {"output_mode": "content", "path": "a.py", "offset": 9},
            "No entries at this offset (offset: 9, total: 2)",
        ),
        ("nowhere", {}, "No files found"),
        ("nowhere", {"output_mode": "content"}, "No matches found"),
        ("nowhere", {"output_mode": "count"}, "No matches found\n\nFound 0 total occurrences across 0 files."),
        ("DEBUG", {"path": "binary"}, "Binary file, not searched: binary"),
    ],
)
def test_searches(folder: Path, engine: str, pattern: str, given: dict[str, object], said: str) -> None:
    assert grep(folder, engine, pattern, **given).content == said


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_no_expression_is_an_error(folder: Path, engine: str) -> None:
    result = grep(folder, engine, "((")
    assert result.is_error
    assert str(result.content).startswith("Search failed: ")


def test_a_kind_that_is_none_names_those_that_are(folder: Path) -> None:
    said = str(grep(folder, "", "x", type="nope").content)
    assert said.startswith("Search failed: there is no file type 'nope'. There are: asm, c, ")


def test_a_place_that_is_none(folder: Path) -> None:
    said = f"Path does not exist: {folder}/none. Note: your current working directory is {folder}."
    assert grep(folder, "", "x", path="none").content == f"<tool_use_error>{said}</tool_use_error>"


def test_an_expression_that_takes_for_ever_is_ended(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a" * 60 + "b\n", encoding="utf-8")
    answer = run_search(SearchRequest(str(tmp_path), "(a+)+$"), {"PATH": ""}, seconds=1)
    assert answer.problem == "the search did not end within 1 s. Give a path or a simpler pattern."


def test_a_huge_file_is_named_not_searched(tmp_path: Path) -> None:
    with open(tmp_path / "huge.txt", "wb") as file:
        file.truncate(20_000_001)
    (tmp_path / "a.txt").write_text("x\n", encoding="utf-8")
    context = ToolContext(tmp_path, home=tmp_path, env={"PATH": ""}, permission=Permission(cwd=tmp_path, home=tmp_path))
    result = run_tool(context, DEFAULT_TOOLS, {"name": "Grep", "input": {"pattern": "x"}})
    assert result.content == "Found 1 file\na.txt\n(1 file is too large and not searched.)"
