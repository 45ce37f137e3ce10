"""How an interface asks the engine: with its dialect, perhaps changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TypedDict, Unpack

from foretold.dialects.registry import DEFAULT_AGENT, DialectChoice, make_request
from foretold.dialects.schema import Dialect
from foretold.dialects.surroundings import LoadRequest
from foretold.errors import ForetoldError, unknown_keyword
from foretold.instructions.load import load_cached, load_view, require_folder
from foretold.instructions.view import View
from foretold.storage.tree import Disk, Tree

Folder = str | os.PathLike[str]


class Places(TypedDict, total=False):
    """What the functions of all interfaces take beyond the arguments of the original."""

    home: Folder | None
    tree: Tree | None


class Options(Places, total=False):
    """What the functions take from their surroundings; the original takes it from its process."""

    cwd: Folder
    agent: str
    managed: Folder | None
    env: Mapping[str, str] | None
    args: Iterable[str]
    settings: Mapping[str, object] | None
    add_dirs: Iterable[str]


def refuse_unknown(options: Mapping[str, object], known: type, *others: str) -> None:
    """TypeError for a keyword that is none of `**options`; `others` are the function's own, which may have been meant.

    >>> refuse_unknown({"hom": "/h"}, Places)
    Traceback (most recent call last):
    TypeError: unknown keyword 'hom', did you mean 'home'?
    """
    names: frozenset[str] = known.__optional_keys__  # type: ignore[attr-defined]
    for name in options:
        if name not in names:
            raise unknown_keyword(name, [*names, *others])


def question(
    dialect: Dialect,
    cwd: Folder | None,
    home: Folder | None,
    *,
    managed: Folder | None = None,
    settings: Mapping[str, object] | None = None,
    add_dirs: Iterable[Folder] = (),
) -> tuple[DialectChoice, LoadRequest]:
    """A question to the engine."""
    choice, request = make_request(
        cwd or ".", dialect.agent, home=home, managed=managed, settings=settings, add_dirs=several(add_dirs)
    )
    return choice._replace(dialect=dialect), request._replace(dialect=dialect)


def ask_claude(**options: Unpack[Options]) -> tuple[DialectChoice, LoadRequest]:
    """A question to the engine about Claude Code."""
    cwd, agent = options.pop("cwd", "."), options.pop("agent", DEFAULT_AGENT)
    options.pop("tree", None)  # the question does not depend on it
    choice, request = make_request(cwd, agent, **options)  # type: ignore[arg-type,misc]
    if choice.dialect.agent != DEFAULT_AGENT:
        raise ForetoldError(f"these are the functions of {DEFAULT_AGENT}; for {agent}, see foretold.load")
    return choice, request


def answer(choice: DialectChoice, request: LoadRequest, tree: Tree | None) -> View:
    """The engine's answer; a view of the disk is cached until something changes, unless a setting is a function.

    NotAFolder if the working directory is not there.
    """
    require_folder(tree if tree is not None else Disk(), request)
    if tree is None and not any(callable(value) for value in request.settings.values()):
        return load_cached(choice, request)
    return load_view(tree if tree is not None else Disk(), choice, request)


def several(given: Iterable[Folder]) -> list[str]:
    """Names or paths as a list; a single one stands for itself.

    >>> several("CLAUDE.md"), several(["a", "b"])
    (['CLAUDE.md'], ['a', 'b'])
    """
    return [os.fspath(given)] if isinstance(given, str | os.PathLike) else [os.fspath(each) for each in given]
