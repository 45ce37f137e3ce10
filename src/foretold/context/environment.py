"""The environment: where an agent works, and what it calls its model.

1. A heading and lines: working directory, (later version: what a worktree means,) whether it is a git repository,
   additional directories, platform, shell, version of the system, then what the version says to every user.
2. An additional directory is named if it exists and is not inside the working directory.
3. The shell is `zsh` or `bash` if $SHELL has that word, else $SHELL as it is, `unknown` without one; the later version
   names the program that runs commands and, if it is another one, the login shell.
4. The model's lines are in the same section, or (later version) a separate attachment.
5. An alias (`opus`, `sonnet[1m]`) means an id; ids of retired models mean the agent's own `opus`. A model is recognised
   by a part of its id, so also under the names of cloud providers.
6. `[1m]` asks for a context of a million tokens. It is named where that is a choice; else the agent keeps it in the id,
   or (later version) drops it.
7. A model without a name is called by its id, and its commits are signed with the agent's own name.

Recorded: tests/context/models.jsonl, turns.jsonl. Platforms other than Linux were not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

from foretold.dialects.claude_code.context import TurnContext, turn_context_of
from foretold.dialects.registry import DEFAULT_AGENT
from foretold.dialects.surroundings import find_git, join
from foretold.storage.tree import Disk, is_inside
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.storage.tree import Tree


WIDE = "[1m]"


class ModelIdentity(NamedTuple):
    """A model as its agent names it."""

    id: str
    name: str  #: empty if the agent has no name for it
    cutoff: str  #: of its knowledge; empty if the agent names none
    author: str  #: as a commit's trailer names it

    @property
    def sentence(self) -> str:
        """The line that names the model."""
        if not self.name:
            return f"You are powered by the model {self.id}."
        return f"You are powered by the model named {self.name}. The exact model ID is {self.id}."


def identify_model(model: str, around: TurnContext) -> ModelIdentity:
    """The identity of a model; an empty one is the agent's default.

    >>> older, newer = turn_context_of("claude-code@2.1.197"), turn_context_of("claude-code@2.1.325")
    >>> identify_model("sonnet", older).author, identify_model("opus[1m]", older).name
    ('Claude Sonnet 5', 'Opus 4.8 (1M context)')
    >>> identify_model("opus[1m]", newer).id
    'claude-opus-5-5'
    >>> identify_model("my-model", newer)
    ModelIdentity(id='my-model', name='', cutoff='', author='Claude Code')
    """
    found = id_of(model, around)
    known = next((each for each in around.models if each.part in found), None)
    if known is None:
        family = "Claude" if "claude-3" in found else around.unnamed_author
        return ModelIdentity(found, "", "", family)
    wide = found.endswith(WIDE)
    shown = found.removesuffix(WIDE) if known.wide == "dropped" else found
    suffix = " (1M context)" if wide and known.wide == "named" else ""
    return ModelIdentity(shown, known.name + suffix, known.cutoff, (known.author or f"Claude {known.name}") + suffix)


def id_of(model: str, around: TurnContext) -> str:
    """The id that an alias stands for."""
    bare, wide = model.removesuffix(WIDE) or "default", WIDE if model.endswith(WIDE) else ""
    if any(bare.startswith(name) for name in around.retired):
        return around.aliases["opus"]
    if bare not in around.aliases:
        return bare + wide
    return around.aliases[bare].removesuffix(WIDE) + wide if wide else around.aliases[bare]


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
    from platform import release, system

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
        os_version=os_version or f"{system()} {release()}",
        model=identify_model(model, around),
    )


def shell_name(shell: str, around: TurnContext) -> str:
    """A shell as the agent names it."""
    known = next((name for name in ("zsh", "bash") if name in shell), "")
    if around.shell_form == "kept":
        return known or shell or "unknown"
    login = shell.rpartition("/")[2]
    return "bash" if login in ("", "bash") else f"bash (login shell: {login})"


def environment_section(found: Environment, *, agent: str = DEFAULT_AGENT, dynamic_only: bool = False) -> str:
    """The section as it is sent.

    `dynamic_only`: the lines that differ between machines, without what every user gets, as the earlier version
    sends them outside of the system prompt.

    >>> model = ModelIdentity("m", "", "", "")
    >>> here = Environment("/repo", True, False, ("/lib",), "linux", "bash", "Linux 6.1", model)
    >>> environment_section(here, agent="claude-code@2.1.197", dynamic_only=True).split("\\n - ")[3:5]
    ['Additional working directories:\\n  - /lib', 'Platform: linux']
    """
    around = turn_context_of(agent)
    if dynamic_only:
        return section_of(found.snapshot, around, ())
    said = [found.model.sentence] if around.model_lines else []
    said += [f"Assistant knowledge cutoff is {found.model.cutoff}."] if said and found.model.cutoff else []
    return section_of(found.snapshot, around, (*said, *around.closing))


def section_of(snapshot: Mapping[str, object], around: TurnContext, closing: Iterable[str]) -> str:
    """The section of a snapshot, as `environment` attachments hold it."""
    lines = [f"Primary working directory: {snapshot['workingDirectory']}"]
    lines += around.worktree if snapshot["isWorktree"] else ()
    lines.append(f"Is a git repository: {str(snapshot['isGitRepo']).lower()}")
    added = snapshot["additionalWorkingDirectories"]
    if added and isinstance(added, list):
        lines.append("\n  - ".join(("Additional working directories:", *map(str, added))))
    for name, key in (("Platform", "platform"), ("Shell", "shell"), ("OS Version", "osVersion")):
        lines.append(f"{name}: {snapshot[key]}")
    return "\n - ".join((f"{HEADING}\n{INTRODUCTION}", *lines, *closing))
