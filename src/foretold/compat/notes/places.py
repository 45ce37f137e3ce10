"""Where the functions of these notes look: what the original takes from its process is a keyword here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypedDict

from foretold.compat.engine import Folder
from foretold.storage.tree import Tree

#: the recorded version whose texts surround a turn; the notes describe its forms
RECORDED = "claude-code@2.1.197"


class Surrounding(TypedDict, total=False):
    """A project, a home, the organisation's folder, and the environment."""

    cwd: Folder
    home: Folder | None
    managed: Folder | None
    env: Mapping[str, str] | None


class NotesOptions(Surrounding, total=False):
    """The same, with what decides which instructions are loaded."""

    args: Iterable[str]
    settings: Mapping[str, object] | None
    add_dirs: Iterable[str]
    tree: Tree | None


def surrounding_of(options: NotesOptions) -> Surrounding:
    """What functions about memory and sessions take of some options."""
    return {key: options[key] for key in Surrounding.__annotations__ if key in options}  # type: ignore[literal-required,return-value]
