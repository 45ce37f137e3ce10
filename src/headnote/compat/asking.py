"""How an interface asks the engine: with its dialect, perhaps changed, and in folders that need not be there."""

from __future__ import annotations

import os

from headnote.dialects.registry import Choice
from headnote.dialects.table import Dialect
from headnote.dialects.world import Request
from headnote.instructions.load import ask, load_kept, load_view
from headnote.instructions.view import View
from headnote.tree import Tree
from headnote.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Folder = str | os.PathLike[str]


def question(
    dialect: Dialect,
    cwd: Folder | None,
    home: Folder | None,
    *,
    managed: Folder | None = None,
    settings: Mapping[str, object] | None = None,
    add_dirs: Iterable[Folder] = (),
) -> tuple[Choice, Request]:
    """What is asked of the engine."""
    folders = [os.path.abspath(folder) for folder in add_dirs]
    choice, request = ask(cwd or ".", dialect.agent, home, managed, None, (), settings, None, None, folders)
    return choice._replace(dialect=dialect), request._replace(dialect=dialect)


def answer(choice: Choice, request: Request, tree: Tree | None) -> View:
    """What the engine says; a view of the disk is kept until something changes."""
    return load_kept(choice, request) if tree is None else load_view(tree, choice, request)
