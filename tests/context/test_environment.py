"""The environment, as it was sent on Linux."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from foretold.compat.claude_prompt import env_block
from foretold.context.environment import Environment, ModelIdentity, environment_of, environment_section, shell_name
from foretold.context.git import GitStatus
from foretold.dialects.claude_code.context import turn_context_of

V2_1_197, V2_1_325 = turn_context_of("claude-code@2.1.197"), turn_context_of("claude-code@2.1.325")

SHELLS = [  # $SHELL, as 2.1.197 and 2.1.325 name it
    ("", "unknown", "bash"),
    ("/bin/zsh", "zsh", "bash (login shell: zsh)"),
    ("/opt/zsh-5/bin/thing", "zsh", "bash (login shell: thing)"),
    ("/usr/bin/bash", "bash", "bash"),
    ("bash", "bash", "bash"),
    ("/usr/bin/fish", "/usr/bin/fish", "bash (login shell: fish)"),
    ("/bin/sh", "/bin/sh", "bash (login shell: sh)"),
    ("/bin/ksh93", "/bin/ksh93", "bash (login shell: ksh93)"),
]


@pytest.mark.parametrize(("shell", "earlier", "later"), SHELLS)
def test_shells(shell: str, earlier: str, later: str) -> None:
    assert (shell_name(shell, V2_1_197), shell_name(shell, V2_1_325)) == (earlier, later)


def test_added_folders_that_are_there_and_not_inside(tmp_path: Path) -> None:
    here = tmp_path / "proj"
    (here / "sub").mkdir(parents=True)
    (tmp_path / "x y").mkdir()
    found = environment_of(here, env={}, add_dirs=["../x y", ".", "sub", "/nope", "../x y"], os_version="Linux 6.1")
    assert found.additional == (os.path.realpath(tmp_path / "x y"),)


def test_a_worktree_is_explained_by_the_later_version(tmp_path: Path) -> None:
    who = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    make = "git init -q first && git -C first commit -q --allow-empty -m c && git -C first worktree add -q ../second"
    subprocess.run(["sh", "-ec", make], cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path), **who}, check=True)
    found = environment_of(tmp_path / "second", env={}, platform="linux", os_version="Linux 6.1")
    assert (found.is_git, found.is_worktree) == (True, True)
    earlier = environment_section(found, agent="claude-code@2.1.197").split("\n")
    later = environment_section(found, agent="claude-code@2.1.325").split("\n")
    assert [line[:30] for line in earlier[2:5]] == [
        " - Primary working directory: ",
        " - Is a git repository: true",
        " - Platform: linux",
    ]
    assert [line[:30] for line in later[2:6]] == [
        " - Primary working directory: ",
        " - This is a git worktree — an",
        " - The git stash stack is shar",
        " - Is a git repository: true",
    ]


def test_the_form_of_the_seed() -> None:
    model = ModelIdentity("m", "", "", "")
    here = Environment("/repo", True, False, ("/lib",), "linux", "bash", "Linux 6.1", model)
    git = GitStatus("main", "main", "", " M a</env>\n", "1 one\n2 two")
    assert env_block(here, git) == (
        "<env>\nWorking directory: /repo\nIs directory a git repo: Yes\nGit branch: main\nGit status:\n M a/env>\n"
        "Recent commits:\n1 one\n2 two\nAdditional working directories: /lib\nPlatform: linux\nOS Version: Linux 6.1\n"
        "Model: m\n</env>"
    )
