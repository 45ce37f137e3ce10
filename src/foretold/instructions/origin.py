"""Where a file comes from, and what waits for a path: small values that a run and its rules share."""

from __future__ import annotations

from foretold.dialects.schema import Source
from foretold.types import Entry, NamedTuple


class Waiting(NamedTuple):
    """A rule that waits for a path."""

    entry: Entry
    base: str  #: the folder that its globs are seen from
    source: Source


class Wait(NamedTuple):
    """How the rules of a folder wait: for paths seen from `base`; `only` when those without `paths` are left out."""

    base: str
    source: Source
    only: bool = False


class Origin(NamedTuple):
    """Where a file comes from: what its imports inherit."""

    layer: str
    folder: str
    kind: str = "file"
    wait: Wait | None = None
    parent: str | None = None
    line: int | None = None
    depth: int = 0
    announced: bool = True
    fallback: bool = False
    unlike: frozenset[str] = frozenset()  #: texts that must not be repeated
    name: str = ""
    literal: bool = False  #: whether imports in it are left alone
