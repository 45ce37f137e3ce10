"""What an agent does, over its releases: a base, and dated changes of it.

1. The base is what the oldest release does that is known. Each change says in which release it came, and which release
   before it still did not have it; what it sets; the recorded cases that show it; and one sentence for people.
2. What a release does is the sum of the base and the changes up to it. Changes are listed oldest first.
3. How well that is known: a release that was played is *recorded*; one between two that were played is *between*,
   unless a change could lie on either side of it; every other is *assumed*, and gets what the nearest one does.
"""

from __future__ import annotations

from collections.abc import Mapping

from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Generic, TypeVar

    Table = TypeVar("Table")

    class _OfTable(Generic[Table]):
        pass

else:
    Table = None

    class _OfTable:
        """A class with a parameter, without importing `typing`."""

        def __class_getitem__(cls, parameter):
            return cls


class DatedChange(NamedTuple):
    """One thing that a release began to do otherwise."""

    version: str  #: the first release that does
    after: str  #: the last one that was seen not to
    says: str  #: what changed, as a sentence for people
    sets: Mapping[str, object] = {}  #: field of the table -> its value; `imports.depth` is a field of a field, and
    #: `environment+` adds to what the field has
    cases: tuple[str, ...] = ()  #: recorded cases that tell the two releases apart
    topic: str = "instructions"  #: whose table it is: instructions, context, files, sessions, compaction, memory


class ReleaseHistory(_OfTable[Table]):
    """A table over the releases of an agent.

    >>> from foretold.dialects.schema import Dialect
    >>> change = DatedChange("1.4.0", "1.2.0", "Imports go four hops.", {"imports.depth": 4})
    >>> history = ReleaseHistory(Dialect("example", "1.0.0"), (change,), ("1.0.0", "1.5.0"))
    >>> [history.at(version).imports.depth for version in ("1.3.9", "1.4.0", "")]
    [0, 4, 4]
    >>> [history.evidence_for(version) for version in ("1.0.0", "1.1.0", "1.3.0", "1.4.9", "2.0.0")]
    ['recorded', 'between', 'assumed', 'between', 'assumed']
    """

    __slots__ = ("_sums", "base", "changes", "played")

    def __init__(self, base: Table, changes: tuple[DatedChange, ...] = (), played: tuple[str, ...] = ()) -> None:
        self.base = base  #: the table of the oldest release
        self.changes = changes
        self.played = played  #: releases to which recorded cases were played, oldest first
        self._sums: dict[int, Table] = {}

    def at(self, version: str) -> Table:
        """The table of a release, which may be named as `agent@version`; of what is not a version, the newest."""
        version = version.rpartition("@")[2]
        wanted = version_key(version)
        count = len(self.changes)
        while wanted and count and version_key(self.changes[count - 1].version) > wanted:
            count -= 1
        if count not in self._sums:
            self._sums[count] = set_fields(self.base, *(change.sets for change in self.changes[:count]))
        table = self._sums[count]
        if "version" not in getattr(table, "_fields", ()):
            return table
        return set_fields(table, {"version": version if wanted else self.ends[1]})

    def evidence_for(self, version: str) -> str:
        """How well it is known what a release does: recorded, between or assumed."""
        if version in self.played:
            return "recorded"
        key, played = version_key(version), self.played
        if not played or not version_key(played[0]) < key < version_key(played[-1]):
            return "assumed"
        open_here = (version_key(change.after) < key < version_key(change.version) for change in self.changes)
        return "assumed" if any(open_here) else "between"

    @property
    def ends(self) -> tuple[str, str]:
        """The oldest and the newest release that is known; empty if there is one table for all."""
        dated = [change.version for change in (*self.changes[:1], *self.changes[-1:])]
        names = sorted((*self.played[:1], *self.played[-1:], *dated), key=version_key)
        return (str(getattr(self.base, "version", "")) or names[0], names[-1]) if names else ("", "")


def version_key(version: str) -> tuple[int, ...]:
    """A version as numbers; empty if it is not a version.

    >>> version_key("2.1.325"), version_key("latest")
    ((2, 1, 325), ())
    """
    parts = version.partition("-")[0].split(".")
    plain = all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts)
    return tuple(int(part) for part in parts) if plain else ()


def set_fields(table: Table, *values: Mapping[str, object]) -> Table:
    """A table with other values of its fields, and of the fields of its fields, one after the other."""
    own = dict[str, object]()
    for name, value in (each for mapping in values for each in mapping.items()):
        field, _, rest = name.rstrip("+").partition(".")
        before = own[field] if field in own else getattr(table, field)
        if rest:
            own[field] = set_fields(before, {name.partition(".")[2]: value})
        else:
            own[field] = (*before, *value) if name.endswith("+") else value  # type: ignore[misc]
    replaced: Table = table._replace(**own) if own else table  # type: ignore[attr-defined]
    return replaced
