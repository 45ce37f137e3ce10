"""What Claude Code does about its memory folder: where it is, what it may write there, and what it says about age.

1. Memory is on unless a switch turns it off; the folder is named with a final slash. With a custom system prompt
   (`--system-prompt`, `--system-prompt-file`) the index is still read, but the model is not shown the folder.
2. The memories of a folder are those of its repository: of the main one for a linked worktree, of the bare one for a
   worktree of that, its own for a submodule. Transcripts are those of the folder itself. Links are followed first.
3. A Write or Edit in the folder needs no approval if the file's name ends in `.md`, in lower case; but it does in
   folders that hold the settings of tools, and where a link leads out.
4. A file that is written there is normalized, in a style that depends on the version (`write`).
5. What is read in the folder, when it is two days old or more, is preceded by a note about its age.
"""

from __future__ import annotations

import os

from foretold.dialects.claude_code.settings import read_surroundings
from foretold.dialects.registry import choose
from foretold.dialects.releases.history import DatedChange, ReleaseHistory
from foretold.dialects.settings_files import parse_args
from foretold.dialects.surroundings import LoadRequest, find_git, join
from foretold.memory.format.yaml import NEWER_STYLE, STYLE, YamlStyle
from foretold.storage.tree import Disk, Tree, is_inside
from foretold.types import NamedTuple

DAY = 86_400  #: seconds
OLD = 2  #: days
NOTE = (
    "<system-reminder>This memory is {days} days old. Memories are point-in-time observations, not live state — claims"
    " about code behavior or file:line citations may be outdated. Verify against current code before asserting as"
    " fact.</system-reminder>\n"
)
STYLES = ReleaseHistory(
    STYLE,
    (
        DatedChange(
            "2.1.325",
            "2.1.197",
            "The frontmatter of memory files is written otherwise: empty values, comments, the time of a change.",
            NEWER_STYLE._asdict(),
            topic="memory",
        ),
    ),
)
PROMPTS = {"--system-prompt": "one", "--system-prompt-file": "one"}


class Switch(NamedTuple):
    """Whether memory is on."""

    enabled: bool
    directory: str | None  #: as shown to the model, with a final slash; None if it is not shown
    reason: str  #: what turns memory off, or hides the folder from the model


class MemoryProject(NamedTuple):
    """The projects that a folder's memories and transcripts belong to."""

    memory: str
    transcript: str


def switch(request: LoadRequest, tree: Tree | None = None) -> Switch:
    """Whether memory is on for Claude Code in a folder, and where it is."""
    surroundings = read_surroundings(tree if tree is not None else Disk(), request)
    if not surroundings.memory:
        return Switch(enabled=False, directory=None, reason=surroundings.memory_reason)
    for option in parse_args(request.args, PROMPTS):
        return Switch(enabled=True, directory=None, reason=option)
    return Switch(enabled=True, directory=surroundings.memory + "/", reason="")


def project_of(cwd: str | os.PathLike[str], tree: Tree | None = None) -> MemoryProject:
    """The projects that the memories and the transcripts of a folder belong to."""
    folder = os.path.realpath(cwd)
    git = find_git(tree if tree is not None else Disk(), folder)
    return MemoryProject(git.main if git else folder, folder)


def style_of(agent: str) -> YamlStyle:
    """The style in which a version of Claude Code writes a memory file."""
    return STYLES.at(choose(agent).dialect.version)


def note_days(age_days: float) -> int | None:
    """How many days old the agent says a memory is; None if it says nothing."""
    return int(age_days) if age_days >= OLD else None


def age_note(changed: float, now: float) -> str:
    """The note before the text of a memory that was changed at one time and is read at another, in seconds."""
    days = note_days((now - changed) / DAY)
    return "" if days is None else NOTE.format(days=days)


#: folders, in any case, in which every write needs approval; seen on 2.1.197 and 2.1.325
GUARDED = frozenset(".cargo .claude .devcontainer .git .husky .idea .mvn .vscode .yarn node_modules".split())


def writes_without_asking(path: str, folder: str, tree: Tree | None = None) -> bool:
    """Whether Claude Code, in its default permission mode, writes a file of its memory folder without approval."""
    tree = tree if tree is not None else Disk()
    path, folder = join("/", path.strip()), join("/", folder)
    if not path.endswith(".md") or not is_inside(path, folder) or path == folder:
        return False
    if any(part in GUARDED for part in path[len(folder) :].lower().split("/")[:-1]):
        return False
    return is_inside(tree.real(path), tree.real(folder))
