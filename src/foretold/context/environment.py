"""The environment: where an agent works, and as what.

1. A heading and lines: working directory, (later version: what a worktree means,) whether it is a git repository,
   additional directories, platform, shell, version of the system, then what the version says to everybody.
2. An additional directory is named if it is there and not inside the working directory.
3. The shell is `zsh` or `bash` if $SHELL has that word, else $SHELL as it is, `unknown` without one; the later version
   names the program that runs commands and, if it is another one, the login shell.
4. The model's lines stand in the same section, or (later version) are an attachment of their own.

Recorded: tests/context/models.jsonl, turns.jsonl. Platforms other than Linux were not.
"""

from __future__ import annotations

import os
import sys

from foretold.context.models import ModelIdentity, identify_model
from foretold.dialects.claude_code.context import TurnContext, turn_context_of
from foretold.dialects.registry import DEFAULT_AGENT
from foretold.dialects.surroundings import find_git, join
from foretold.storage.tree import Disk, is_inside
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from foretold.storage.tree import Tree

HEADING = "# Environment"
INTRODUCTION = "You have been invoked in the following environment: "  # the space at its end is the agent's


class Environment(NamedTuple):
    """Where an agent works."""

    cwd: str
    is_git: bool
    is_worktree: bool
    additional: tuple[str, ...]
    platform: str
    shell: str
    os_version: str
    model: ModelIdentity

    @property
    def snapshot(self) -> dict[str, object]:
        """As the `environment` attachment of a transcript holds it."""
        return {
            "workingDirectory": self.cwd,
            "isWorktree": self.is_worktree,
            "isGitRepo": self.is_git,
            "additionalWorkingDirectories": list(self.additional),
            "platform": self.platform,
            "shell": self.shell,
            "osVersion": self.os_version,
        }


def environment_of(
    cwd: str | os.PathLike[str] = ".",
    *,
    agent: str = DEFAULT_AGENT,
    env: Mapping[str, str] | None = None,
    add_dirs: Iterable[str] = (),
    model: str = "",
    platform: str = "",
    os_version: str = "",
    tree: Tree | None = None,
) -> Environment:
    """The environment of an agent that starts in a folder; what is not given is the process's own.

    >>> import tempfile
    >>> folder = os.path.realpath(tempfile.mkdtemp())
    >>> found = environment_of(folder, agent="claude-code@2.1.197", env={"SHELL": "/bin/zsh"}, model="haiku")
    >>> found.is_git, found.shell, found.model.name
    (False, 'zsh', 'Haiku 4.5')
    """
    around, tree = turn_context_of(agent), Disk() if tree is None else tree
    folder = os.path.realpath(cwd)
    git = find_git(tree, folder)
    added = dict.fromkeys(join(folder, path) for path in add_dirs)
    shell = (os.environ if env is None else env).get("SHELL", "")
    return Environment(
        cwd=folder,
        is_git=git is not None,
        is_worktree=git is not None and git.main != git.top,
        additional=tuple(path for path in added if tree.kind(path) == "folder" and not is_inside(path, folder)),
        platform=platform or sys.platform,
        shell=shell_name(shell, around),
        os_version=os_version or _os_version(),
        model=identify_model(model, around),
    )


def shell_name(shell: str, around: TurnContext) -> str:
    """A shell as the agent names it.

    >>> from foretold.dialects.claude_code.context import V2_1_197, V2_1_325
    >>> shell_name("/usr/bin/fish", V2_1_197), shell_name("/usr/bin/fish", V2_1_325)
    ('/usr/bin/fish', 'bash (login shell: fish)')
    """
    known = next((name for name in ("zsh", "bash") if name in shell), "")
    if around.shell_form == "kept":
        return known or shell or "unknown"
    login = shell.rpartition("/")[2]
    return "bash" if login in ("", "bash") else f"bash (login shell: {login})"


def _os_version() -> str:
    """The system's name and release, as `uname -sr` says them."""
    if hasattr(os, "uname"):
        told = os.uname()
        return f"{told.sysname} {told.release}"
    import platform

    return f"{platform.system()} {platform.release()}"


def environment_section(found: Environment, *, agent: str = DEFAULT_AGENT, dynamic_only: bool = False) -> str:
    """The section as it is sent.

    `dynamic_only`: the lines that differ between machines, without what is said to everybody, as the earlier version
    sends them outside of the system prompt.

    >>> model = ModelIdentity("m", "", "", "")
    >>> here = Environment("/repo", True, False, ("/lib",), "linux", "bash", "Linux 6.1", model)
    >>> section = environment_section(here, agent="claude-code@2.1.197", dynamic_only=True)
    >>> print("\\n".join(section.split("\\n")[2:]))
     - Primary working directory: /repo
     - Is a git repository: true
     - Additional working directories:
      - /lib
     - Platform: linux
     - Shell: bash
     - OS Version: Linux 6.1
    """
    around = turn_context_of(agent)
    said = _model_lines(found.model) if around.model_lines else []
    closing = () if dynamic_only else (*said, *around.closing)
    return _section(found.snapshot, around, closing)


def section_of(snapshot: Mapping[str, object], around: TurnContext) -> str:
    """The section of an `environment` attachment."""
    return _section(snapshot, around, around.closing)


def _section(snapshot: Mapping[str, object], around: TurnContext, closing: Iterable[str]) -> str:
    lines = [f"Primary working directory: {snapshot['workingDirectory']}"]
    lines += around.worktree if snapshot["isWorktree"] else ()
    lines.append(f"Is a git repository: {str(snapshot['isGitRepo']).lower()}")
    added = snapshot["additionalWorkingDirectories"]
    if added and isinstance(added, list):
        lines.append("\n  - ".join(("Additional working directories:", *map(str, added))))
    for name, key in (("Platform", "platform"), ("Shell", "shell"), ("OS Version", "osVersion")):
        lines.append(f"{name}: {snapshot[key]}")
    return "\n - ".join((f"{HEADING}\n{INTRODUCTION}", *lines, *closing))


def _model_lines(model: ModelIdentity) -> list[str]:
    return [model.sentence] + ([f"Assistant knowledge cutoff is {model.cutoff}."] if model.cutoff else [])
