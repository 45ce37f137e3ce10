"""Everything that is dated about an agent, of all topics, in one list.

1. The changes of an agent are those of its instructions and those of the modules in `MORE`, oldest first.
2. A change came somewhere after the release that was seen not to have it, and up to the one that was seen to. Of a span
   of releases, those are *sure* that came within it for certain; others only *may* have come there.
3. How well a release is known depends on the topic: an open change of how files are read says nothing about which
   instructions are loaded.
"""

from __future__ import annotations

from collections.abc import Iterator

from foretold.dialects.registry import AGENTS, history_of
from foretold.dialects.releases.history import DatedChange, ReleaseHistory, version_key
from foretold.errors import BadArgument
from foretold.types import NamedTuple

#: agent -> modules with histories other than that of its instructions. A text, and no import: memory is a room above
MORE = {
    "claude-code": (
        *(f"dialects.claude_code.{name}" for name in "settings context files sessions compaction file_history".split()),
        "memory.format.agent",
    ),
}


class ReleaseCatalog(NamedTuple):
    """What is known about the releases of an agent."""

    agent: str
    changes: tuple[DatedChange, ...]  #: of all topics, oldest first
    played: tuple[str, ...]
    oldest: str
    newest: str

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(change.topic for change in self.changes))

    def evidence_for(self, version: str, topic: str = "") -> str:
        """How well it is known what a release does, in one topic or in all: recorded, between or assumed."""
        changes = tuple(change for change in self.changes if topic in ("", change.topic))
        return ReleaseHistory(None, changes, self.played).evidence_for(version)

    def list_sure(self, first: str, last: str) -> tuple[DatedChange, ...]:
        """The changes that came after one release, and at the latest with another."""
        low, high = version_key(first), version_key(last)
        return tuple(
            each for each in self.changes if low <= version_key(each.after) and version_key(each.version) <= high
        )

    def list_open(self, first: str, last: str) -> tuple[DatedChange, ...]:
        """The changes that may have come after one release and up to another, and may have come elsewhere."""
        low, high, sure = version_key(first), version_key(last), self.list_sure(first, last)
        inside = (each for each in self.changes if low < version_key(each.version) and version_key(each.after) < high)
        return tuple(each for each in inside if each not in sure)


def open_catalog(agent: str) -> ReleaseCatalog:
    """All that is dated about an agent. UnknownAgent if there is no such agent.

    >>> catalog = open_catalog("claude-code")
    >>> [change.version for change in catalog.list_sure("2.1.287", "2.1.288")]
    ['2.1.288']
    """
    history = history_of(agent)
    changes = sorted(_list_changes(agent), key=lambda change: version_key(change.version))
    first, last = history.ends
    newest = max((last, *(change.version for change in changes)), key=version_key)
    return ReleaseCatalog(agent, tuple(changes), history.played, first, newest)


def _list_changes(agent: str) -> Iterator[DatedChange]:
    yield from history_of(agent).changes
    for place in MORE.get(agent, ()):
        module = __import__(f"foretold.{place}", fromlist=["HISTORY"])
        for value in vars(module).values():
            if isinstance(value, ReleaseHistory):
                yield from value.changes


def agents_with_changes() -> list[str]:
    """The agents of which more than one release is known."""
    return [agent for agent in AGENTS if MORE.get(agent) or history_of(agent).changes]


def require_changes(agent: str) -> ReleaseCatalog:
    """The catalog of an agent. BadArgument, with those that have one, if one release of it is known."""
    catalog = open_catalog(agent)
    if not catalog.changes:
        said = f"one release of {agent} is known ({history_of(agent).base.version}), so there is nothing to compare"
        raise BadArgument(f"{said}; agents with a history: {', '.join(agents_with_changes())}")
    return catalog


def is_next(version: str, after: str) -> bool:
    """Whether two releases are neighbours by their numbers.

    >>> is_next("2.1.64", "2.1.63"), is_next("0.132.0", "0.131.0"), is_next("2.0.42", "2.0.37")
    (True, True, False)
    """
    new, old = version_key(version), version_key(after)
    while new[1:] and old[1:] and new[-1] == old[-1] == 0:
        new, old = new[:-1], old[:-1]
    return bool(new) and new[:-1] == old[:-1] and new[-1] == old[-1] + 1
