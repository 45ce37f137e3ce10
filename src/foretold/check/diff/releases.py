"""Which versions of agents a repository pins, before and after a change, and how far they are from the newest.

1. A file that pins another version after the change is reported, with the number of dated changes between the two
   (`dialects.releases.history`). Files with the same change are named together.
2. A version that is pinned only before, or only after, is compared with the newest known: that is what is assumed
   where nothing is pinned.
3. Where the change leaves alone what is pinned, the pin that counts is compared with the newest known release, and
   with the one that is installed, if that is asked for.
4. What an upgrade does to one repository is told by `foretold upgrade`; here it is only named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from foretold.check.project import Project
from foretold.check.report.sentences import count, join_words
from foretold.dialects.registry import DEFAULT_AGENT, dialect_at, history_of
from foretold.dialects.releases.history import version_key
from foretold.dialects.releases.pinned import VersionSource, find_installed
from foretold.types import NamedTuple

MOST_PLACES = 3  #: that are named


class ReleaseChange(NamedTuple):
    """Two versions of an agent, and how what it is told differs between them."""

    kind: str  #: changed, pinned, unpinned: what the change does; newest, installed: what the pin is compared with
    agent: str
    places: tuple[str, ...]  #: the files that pin, with lines
    before: str
    after: str
    changes: int  #: dated changes that lie between

    @property
    def is_change(self) -> bool:
        """Whether the change has brought it."""
        return self.kind in ("changed", "pinned", "unpinned")

    @property
    def command(self) -> str:
        """The command that says what differs in this repository; empty where no dated change does."""
        agent = "" if self.agent == DEFAULT_AGENT else f" --agent {self.agent}"
        return f"foretold upgrade --from {self.before} --to {self.after}{agent}" if self.changes else ""


def compare_pins(before: Project, after: Project, env: Mapping[str, str] | None = None) -> tuple[ReleaseChange, ...]:
    """What a change does to the versions that are pinned. With an environment, what is installed there counts, too."""
    agents = dict.fromkeys(choice.dialect.agent for side in (after, before) for choice in side.choices)
    found = list[ReleaseChange]()
    for agent in agents:
        changed = [*_compare_files(agent, before, after)]
        found += changed or _compare_newest(agent, after, env)
    return tuple(found)


def _compare_files(agent: str, before: Project, after: Project) -> Iterator[ReleaseChange]:
    """The files that pin another version of an agent than before."""
    old, now = (_list_pins(agent, side) for side in (before, after))
    newest = _newest(agent)
    merged: dict[tuple[str, str, str], list[str]] = {}
    for path in dict.fromkeys((*now, *old)):
        first, then = old.get(path), now.get(path)
        if (first and first.version) != (then and then.version):
            kind = "changed" if first and then else "pinned" if then else "unpinned"
            version, later = (each.version if each else newest for each in (first, then))
            source = then or first
            merged.setdefault((kind, version, later), []).append(source.place if source else path)
    for (kind, version, later), places in merged.items():
        yield _compare(kind, agent, tuple(places), version, later)


def _list_pins(agent: str, project: Project) -> dict[str, VersionSource]:
    """Of every file the first version of an agent that it pins; none, if another version was asked for."""
    found: dict[str, VersionSource] = {}
    for pin in project.pins.list_sources(agent) if project.pin_of(agent) else ():
        found.setdefault(pin.path, pin)
    return found


def _compare_newest(agent: str, project: Project, env: Mapping[str, str] | None) -> list[ReleaseChange]:
    pin = project.pin_of(agent)
    if pin is None:
        return []
    installed = find_installed(project.tree, project.top, agent, env) if env is not None else None
    others = {"newest": _newest(agent), "installed": installed.version if installed else pin.version}
    return [
        _compare(kind, agent, (pin.place,), pin.version, version)
        for kind, version in others.items()
        if version_key(version) != version_key(pin.version)
    ]


def _newest(agent: str) -> str:
    return history_of(agent).ends[1] or dialect_at(agent).version


def _compare(kind: str, agent: str, places: tuple[str, ...], before: str, after: str) -> ReleaseChange:
    low, high = sorted((version_key(before), version_key(after)))
    between = [change for change in history_of(agent).changes if low < version_key(change.version) <= high]
    return ReleaseChange(kind, agent, places, before, after, len(between))


def describe_release(change: ReleaseChange) -> str:
    """One sentence.

    >>> describe_release(ReleaseChange("changed", "claude-code", ("package.json:3",), "2.1.250", "2.1.288", 9))
    'package.json:3 pins claude-code 2.1.288 instead of 2.1.250: 9 dated changes lie between'
    """
    agent, before, after = change.agent, change.before, change.after
    more = len(change.places) - MOST_PLACES
    places = join_words([*change.places[:MOST_PLACES], *([f"{more} more"] if more > 0 else [])])
    verb = "pins" if len(change.places) == 1 else "pin"
    said = {
        "changed": f"{places} {verb} {agent} {after} instead of {before}",
        "pinned": f"{places} {verb} {agent} {after}, which was not pinned there; the newest known is {before}",
        "unpinned": f"{agent} {before} is no longer pinned in {places}; the newest known is {after}",
        "newest": f"{places} {verb} {agent} {before}; the newest known is {after}",
        "installed": f"{places} {verb} {agent} {before}; {after} is installed here",
    }[change.kind]
    return f"{said}: {_describe_distance(change)}"


def _describe_distance(change: ReleaseChange) -> str:
    newest = _newest(change.agent)
    unknown = [each for each in (change.before, change.after) if version_key(each) > version_key(newest)]
    if unknown:
        return f"what changed after {newest} is not known"
    if not change.changes:
        return "no dated change lies between"
    return f"{count(change.changes, 'dated change')} {'lies' if change.changes == 1 else 'lie'} between"
