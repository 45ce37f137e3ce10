"""Which records of a Claude Code transcript are the conversation, in which order: as the agent finds them on resume.

1. Records of the types user, assistant, attachment and system are links, by their `uuid`; all others are passed over. A
   second record with the same uuid takes the place of the first.
2. The chain ends with its leaf: the last link of the file that was said, or follows one that was; no sidechain. Newer
   versions go on from there to the last record that descends from it. If the last `last-prompt` names a record that the
   leaf does not descend from, that record is the leaf.
3. From the leaf it goes to the parent, and so on. Where the parent is not in the file, or was there already, it goes on
   with the latest message of the five seconds before; if there is none, the conversation begins there. It begins also
   at a record without a parent, and at a summary whose parent is lost.
4. Answers with several blocks, and results of tools that ran side by side, fork the chain. Those beside it are put back
   (`beside.py`).
5. What comes before the last `compact_boundary` is not sent; but the messages that the boundary says are preserved are
   linked in behind its anchor, if all of them are there; a summary that nothing follows yet ends with them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque

from foretold.dialects.claude_code.sessions import SessionRules
from foretold.sessions.formats.claude.records import moment
from foretold.sessions.resumption.nodes import SAID, Json, Link, Links, key_of, time_of
from foretold.sessions.resumption.siblings import gathered, with_siblings
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

WINDOW = 5.0  #: seconds before a record whose parent is lost, in which the agent looks for another


class Chain(NamedTuple):
    """The records that are sent, and why others are not."""

    links: tuple[Link, ...]
    leaf: str
    lost: tuple[tuple[str, str], ...] = ()  #: uuid and reason: branch, compacted, sidechain


def find_chain(records: Iterable[Link], rules: SessionRules) -> Chain | None:
    """The conversation of a transcript; None if there is none."""
    file = Links(records)
    everything = list(file.by_id.values())
    _link_preserved(file)
    leaf = _leaf(file, rules)
    if leaf is None:
        return None
    walked = _walk(file, leaf)
    sent = _since_boundary(gathered(file, walked) if rules.gathers else with_siblings(file, walked))
    return Chain(tuple(sent), file.by_id[leaf].id, tuple(_lost(everything, sent)))


def _lost(everything: Iterable[Link], sent: Sequence[Link]) -> Iterable[tuple[str, str]]:
    """The messages that are not sent, and why."""
    kept = {id(link) for link in sent}
    boundary = sent[0].line if sent and _is_boundary(sent[0]) else 0
    for link in everything:
        if id(link) not in kept and link.type in SAID:
            reason = "compacted" if link.line < boundary else "branch"
            yield link.id, "sidechain" if link.value.get("isSidechain") is True else reason


def _leaf(file: Links, rules: SessionRules) -> Hashable | None:
    last = _last(file, rules)
    named = key_of(file.leaf_named)
    if named is None or named not in file.by_id:
        return last
    if last is not None and named in _ancestors(file, last):
        return last
    return None if file.by_id[named].value.get("isSidechain") is True else named


def _last(file: Links, rules: SessionRules) -> Hashable | None:
    """The last record of the file that was said, or follows one that was; no sidechain."""
    keys = (key_of(link.value.get("uuid")) for link in file.written if link.value.get("isSidechain") is not True)
    main = [key for key in keys if key in file.by_id]
    for key in reversed(main):
        # claude-code: a summary that nothing follows yet ends with what is kept behind it
        key = _tip(file, key) if rules.leaf == "tip" else file.tail_of.get(key, key)
        if any(file.by_id[above].type in SAID for above in _ancestors(file, key)):
            return key
    return main[-1] if main else None


def _tip(file: Links, root: Hashable) -> Hashable:
    """The last record of the file that descends from a record and that nothing follows; in a circle, itself."""
    children: dict[Hashable, list[Hashable]] = {}
    for key, link in file.by_id.items():
        if link.value.get("isSidechain") is not True:
            children.setdefault(file.parent_of[key], []).append(key)
    seen, tips, waiting = {root}, [], [root]
    while waiting:
        key = waiting.pop()
        below = children.get(key, ())
        waiting += (child for child in below if child not in seen)
        seen.update(below)
        if not below:
            tips.append(key)
    return max(tips, key=lambda key: file.order[key], default=root)


def _ancestors(file: Links, at: Hashable) -> set[Hashable]:
    found: set[Hashable] = set()
    while at in file.by_id and at not in found:
        found.add(at)
        at = file.parent_of[at]
    return found


def _walk(file: Links, leaf: Hashable) -> list[Link]:
    found: list[Link] = []
    seen: set[Hashable] = set()
    said: Said | None = None
    at = leaf
    while at not in seen:
        seen.add(at)
        link, parent = file.by_id[at], file.parent_of[at]
        found.append(link)
        if parent is None:
            break
        if parent in file.by_id and parent not in seen:
            at = parent
            continue
        said = said or Said(file)
        before = [] if link.value.get("isCompactSummary") is True else said.before(time_of(link), seen)
        if not before:
            break
        (at,) = before
    return found[::-1]


class Said:
    """The messages of a file by their time."""

    def __init__(self, file: Links) -> None:
        self.by_time: dict[float, deque[Hashable]] = {}
        for key, link in file.by_id.items():
            if link.type in SAID and link.value.get("isSidechain") is not True:
                self.by_time.setdefault(time_of(link), deque()).append(key)
        self.times = sorted(self.by_time)

    def before(self, time: float, seen: set[Hashable]) -> list[Hashable]:
        """The latest message up to a time that was not seen; of several at once the first in the file."""
        at = bisect_right(self.times, time) - 1
        while at >= 0 and time - self.times[at] <= WINDOW:
            keys = self.by_time[self.times[at]]
            while keys and keys[0] in seen:
                keys.popleft()
            if keys:
                return [keys[0]]
            at -= 1
        return []


def _since_boundary(links: list[Link]) -> list[Link]:
    """From the last boundary of a compaction on."""
    for at in range(len(links) - 1, -1, -1):
        if _is_boundary(links[at]):
            return links[at:]
    return links


def _is_boundary(link: Link) -> bool:
    return link.value.get("subtype") == "compact_boundary"


def _link_preserved(file: Links) -> None:
    """Link what a boundary preserves in behind its anchor."""
    for link in list(file.by_id.values()):
        data = link.value.get("compactMetadata")
        if not _is_boundary(link) or not isinstance(data, dict):
            continue
        anchor, kept = _preserved(file, data)
        if anchor not in file.by_id or not kept or any(key not in file.by_id for key in kept):
            continue
        behind = file.order[key_of(link.value.get("uuid"))]
        for key in [key for key in file.by_id if file.order[key] < behind and key not in kept]:
            del file.by_id[key]
        for key, parent in file.parent_of.items():
            if parent == anchor and key not in kept:
                file.parent_of[key] = kept[-1]
        for before, key in zip((anchor, *kept), kept, strict=False):
            file.parent_of[key] = before
        file.tail_of[anchor] = kept[-1]


def _preserved(file: Links, data: Json) -> tuple[Hashable, list[Hashable]]:
    """The anchor of a boundary and the messages it preserves: those it lists, else a segment of the chain."""
    listed, segment = data.get("preservedMessages"), data.get("preservedSegment")
    if isinstance(listed, dict) and isinstance(listed.get("uuids"), list):
        return key_of(listed.get("anchorUuid")), [key_of(name) for name in listed["uuids"]]
    if not isinstance(segment, dict):
        return None, []
    kept: list[Hashable] = []
    at, head = key_of(segment.get("tailUuid")), key_of(segment.get("headUuid"))
    while at in file.by_id and at not in kept:
        kept.insert(0, at)
        if at == head:
            return key_of(segment.get("anchorUuid")), kept
        at = file.parent_of[at]
    return None, []


def is_dated(link: Link) -> bool:
    """Whether a record's time can be read: a leaf without one is no conversation to the agent."""
    return moment(link.value.get("timestamp")) is not None
