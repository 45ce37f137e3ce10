"""The git status, in repositories that the real agent was asked in (git.jsonl: how each is made, and what it sent)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from foretold.context.git import GitStatus, git_status, git_text
from foretold.dialects.claude_code.context import GIT_NOTE

HERE = os.path.dirname(__file__)
with open(os.path.join(HERE, "git.jsonl"), encoding="utf-8") as file:
    REPOSITORIES = [json.loads(line) for line in file]
WHEN = "2026-01-01T00:00:00Z"
WHO = {f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in
       (("NAME", "Ann"), ("EMAIL", "a@x.y"), ("DATE", WHEN))}  # fmt: skip


def _make(tmp_path: Path, setup: str) -> tuple[str, dict[str, str]]:
    folder, home = tmp_path / "proj", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(home), **WHO}
    quiet = subprocess.DEVNULL
    subprocess.run(["bash", "-ec", setup], cwd=folder, env=env, check=True, stdin=quiet, stdout=quiet, stderr=quiet)
    return str(folder), env


@pytest.mark.parametrize("repository", REPOSITORIES, ids=lambda repository: str(repository["name"]))
def test_a_repository_as_the_agent_shows_it(repository: dict[str, str], tmp_path: Path) -> None:
    folder, env = _make(tmp_path, repository["setup"])
    found = git_status(folder, env=env)
    assert found is not None
    for version in ("2.1.197", "2.1.325"):
        expected = repository["both"] if "both" in repository else repository[version]
        assert git_text(found, agent=f"claude-code@{version}") == f"{GIT_NOTE}\n\n{expected}"


def test_no_repository(tmp_path: Path) -> None:
    assert git_status(tmp_path) is None


def test_a_git_that_hangs_is_given_up(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    found = git_status(tmp_path, env={"PATH": f"{program.parent}:{os.environ['PATH']}"}, timeout=0.2)
    assert found is not None
    assert (found.status, found.commits, [finding.code for finding in found.findings]) == (
        None,
        "",
        ["git-unavailable"],
    )


def test_a_status_without_end_is_cut(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\ncase "$*" in *" status --short"*) exec yes \'?? a\';; esac\n')
    program.chmod(0o755)
    found = git_status(tmp_path, env={"PATH": f"{program.parent}:{os.environ['PATH']}"})
    assert found is not None
    assert found.status is not None
    assert "truncated because it exceeds 2k characters" in git_text(found)


def test_a_monitor_of_the_repository_is_not_run(tmp_path: Path) -> None:
    setup = "git init -q -b main .; git commit -q --allow-empty -m c; : > a"
    setup += "; git config core.fsmonitor 'touch ../ran; false'"
    folder, env = _make(tmp_path, setup)
    found = git_status(folder, env=env)
    assert found == GitStatus("main", "main", "", "?? a\n", "5c67e08 c")
    assert not (tmp_path / "ran").exists()


def test_the_index_is_not_written(tmp_path: Path) -> None:
    folder, env = _make(tmp_path, "git init -q -b main .; echo 1 > a; git add a; git commit -qm c")
    os.utime(os.path.join(folder, "a"), (1, 1))  # git would refresh its index
    index = os.path.join(folder, ".git", "index")
    before = os.stat(index)
    git_status(folder, env=env)
    after = os.stat(index)
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_outside_of_a_repository_there_is_nothing_to_show() -> None:
    assert git_text(None) == ""
