"""What git ignores: by git itself, and by us."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

from foretold.harness.tools.walk import FolderWalk
from foretold.text.globs.git import parse_ignore

ENV = {"PATH": os.environ["PATH"], "HOME": "/", "GIT_CONFIG_NOSYSTEM": "1"}
NAMES = ["a", "b", "build", "x.py", "y.pyc", "B", "a b", "#c", "!d", "[e]"]
LINES = (
    "a;b/;/build;*.py;*.py[co];a/**;**/b;a/**/x.py;!x.py;!/a/b/;build/*;?;[ab];[!a]*;\\#c;\\!d;#c;"
    "a b;a/b;/a/b/x.py;*;!*/;**;**/build/**;a*b;b/a;[[:upper:]];x.py  ;\\[e\\];[]a];a\\ b;!**/a;/*;!/b"
).split(";")


def test_files_are_those_that_git_shows(tmp_path: Path) -> None:
    rnd = random.Random(11)
    for number in range(25):
        root = tmp_path / str(number)
        root.mkdir()
        subprocess.run(["git", "init", "-q", str(root)], check=True, env=ENV)
        for _ in range(25):
            folder = root.joinpath(*(rnd.choice(NAMES[:4]) for _ in range(rnd.randint(0, 3))))
            try:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / rnd.choice(NAMES)).write_text("", encoding="utf-8")
            except (FileExistsError, NotADirectoryError, IsADirectoryError):
                continue
        for folder in [root, *(path for path in root.rglob("*") if path.is_dir() and ".git" not in path.parts)]:
            if folder == root or rnd.random() < 0.2:
                lines = rnd.choices(LINES, k=rnd.randint(1, 4))
                (folder / ".gitignore").write_text("\n".join(lines) + "\n", encoding="utf-8")
        listed = subprocess.run(
            ["git", "ls-files", "--others", "--exclude-standard", "-z"],
            cwd=root,
            check=True,
            env=ENV,
            capture_output=True,
        ).stdout
        wanted = sorted(name for name in listed.decode().split("\0") if name)
        found = sorted(os.path.relpath(entry.path, root) for entry in FolderWalk(str(root), ignores=True).files())
        assert found == wanted, {str(path): path.read_text() for path in root.rglob(".gitignore")}


def test_folders_above_count_up_to_the_repository(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.py\n", encoding="utf-8")
    repository = tmp_path / "repo"
    (repository / "src").mkdir(parents=True)
    (repository / "src/a.py").write_text("", encoding="utf-8")
    (repository / "src/b.txt").write_text("", encoding="utf-8")
    assert [entry.name for entry in FolderWalk(f"{repository}/src", ignores=True).files()] == ["a.py", "b.txt"]
    (repository / ".gitignore").write_text("*.txt\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(repository)], check=True, env=ENV)
    assert [entry.name for entry in FolderWalk(f"{repository}/src", ignores=True).files()] == ["a.py"]


def test_lines_match_whole_paths() -> None:
    build, compiled = parse_ignore("build/\n*.py[co]\n")
    assert (bool(build.pattern.fullmatch("a/build")), bool(compiled.pattern.fullmatch("x.pyc"))) == (True, True)
