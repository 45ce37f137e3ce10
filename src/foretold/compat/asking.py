"""How an interface asks the engine: with its dialect, perhaps changed, and in folders that need not be there."""

from __future__ import annotations

import os
from typing import TypedDict

from foretold.dialects.registry import DialectChoice
from foretold.dialects.schema import Dialect
from foretold.dialects.surroundings import LoadRequest
from foretold.instructions.load import load_kept, load_view, make_request
from foretold.instructions.view import View
from foretold.storage.tree import Disk, Tree
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Folder = str | os.PathLike[str]


class Options(TypedDict, total=False):
    """What the functions take of the surroundings that the original has of its process."""

    cwd: Folder
    agent: str
    home: Folder | None
    managed: Folder | None
    env: Mapping[str, str] | None
    args: Iterable[str]
    settings: Mapping[str, object] | None
    add_dirs: Iterable[str]
    tree: Tree | None


def question(
    dialect: Dialect,
    cwd: Folder | None,
    home: Folder | None,
    *,
    managed: Folder | None = None,
    settings: Mapping[str, object] | None = None,
    add_dirs: Iterable[Folder] = (),
) -> tuple[DialectChoice, LoadRequest]:
    """What is asked of the engine."""
    choice, request = make_request(
        cwd or ".", dialect.agent, home=home, managed=managed, settings=settings, add_dirs=several(add_dirs)
    )
    return choice._replace(dialect=dialect), request._replace(dialect=dialect)


def answer(choice: DialectChoice, request: LoadRequest, tree: Tree | None) -> View:
    """What the engine says; a view of the disk is kept until something changes, unless a function was asked for it."""
    if tree is None and not any(callable(value) for value in request.settings.values()):
        return load_kept(choice, request)
    return load_view(tree if tree is not None else Disk(), choice, request)


def several(given: Iterable[Folder]) -> list[str]:
    """Names or paths as a list; a single one stands for itself.

    >>> several("CLAUDE.md"), several(["a", "b"])
    (['CLAUDE.md'], ['a', 'b'])
    """
    return [os.fspath(given)] if isinstance(given, str | os.PathLike) else [os.fspath(each) for each in given]
