"""Which records of a session its agent reaches: the rules of `chain.py` and `beside.py`, in numbers.

Both give the same for every file (a test compares them); this one holds no record, so the file may be of any size.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right

from foretold.sessions.resumption.array_siblings import gathered, with_siblings
from foretold.sessions.resumption.chain import WINDOW
from foretold.sessions.resumption.compact_arrays import by_time
from foretold.sessions.resumption.graph import (
    BOUNDARY,
    DATED,
    FIRST_SIDE,
    GONE,
    HOLLOW,
    NOBODY,
    PLAIN,
    SIDE,
    SUMMARY,
    THERE,
    Kept,
    Links,
)
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Followed(NamedTuple):
    """What is sent, in its order; all that the way from the leaf went through; and what was wrong on it."""

    sent: array[int]
    walked: array[int]
    wrong: dict[int, str]  #: broken, cycle
    leaf: int = NOBODY
    refused: str = ""  #: see `resumed.ERRORS`


def follow(links: Links) -> Followed:
    """The conversation of a file, as the agent finds it."""
    parents = _link_preserved(links)
    leaf = leaf_of(links)
    wrong: dict[int, str] = {}
    walked = array("i", _walk(links, leaf, wrong) if leaf >= 0 else ())
    walked.reverse()
    sent = _since_boundary(links, gathered(links, walked) if links.rules.gathers else with_siblings(links, walked))
    _restore(links, parents)
    return Followed(sent, walked, wrong, leaf, _refused(links, sent, leaf))


def _refused(links: Links, sent: array[int], leaf: int) -> str:
    if links.rules.refuses_damage and links.has_null:
        return "null_record"
    if links.rules.refuses_damage and any(links.flags[number] & (HOLLOW | PLAIN) for number in sent):
        return "bad_record"
    if not sent or (leaf in sent and not links.flags[leaf] & DATED):
        return "not_found"
    return ""


def leaf_of(links: Links) -> int:
    """The record that the conversation ends with; NOBODY if there is none."""
    last, named = _last(links), links.leaf_named
    last = NOBODY if last == links.nameless else last  # what has no uuid is none
    if not links.is_there(named):
        return last
    if last >= 0 and named in _ancestors(links, last):
        return last
    return NOBODY if links.flags[named] & SIDE else named


def _written(links: Links) -> Iterator[int]:
    """The records of the file that are no sidechain, the last first."""
    again = list(links.again)
    for number in range(len(links.flags) - 1, -1, -1):
        while again and again[-1][0] > number:
            _, double, is_side = again.pop()
            if not is_side and links.is_there(double):
                yield double
        if not links.flags[number] & FIRST_SIDE and links.is_there(number):
            yield number


def _last(links: Links) -> int:
    silent = bytearray(len(links.flags))  # records that nothing said stands above
    latest = NOBODY
    for number in _written(links):
        latest = number if latest == NOBODY else latest
        # claude-code: a summary that nothing follows yet ends with what is kept behind it
        at = tip = _tip(links, number) if links.rules.leaf == "tip" else links.tail_of.get(number, number)
        while links.is_there(at) and not silent[at]:
            if links.is_said(at):
                return tip
            silent[at] = 1
            at = links.above(at)
    return latest


def _ancestors(links: Links, at: int) -> set[int] | _Marked:
    marked = _Marked(len(links.flags))
    while links.is_there(at) and at not in marked:
        marked.add(at)
        at = links.above(at)
    return marked


class _Marked:
    """A set of numbers, a byte each."""

    def __init__(self, size: int) -> None:
        self.bytes = bytearray(size)

    def add(self, number: int) -> None:
        self.bytes[number] = 1

    def __contains__(self, number: int) -> bool:
        return bool(self.bytes[number])


def _tip(links: Links, root: int) -> int:
    """The last record of the file that descends from a record and that nothing follows; in a circle, itself."""
    followed = bytearray(len(links.flags))
    for number in links.records():
        above = links.above(number)
        if above >= 0 and links.is_there(number) and not links.flags[number] & SIDE:
            followed[above] = 1
    elsewhere = bytearray(len(links.flags))
    for number in range(len(links.flags) - 1, -1, -1):
        if followed[number] or not links.is_there(number):
            continue
        at = number
        while at != root and links.is_there(at) and not elsewhere[at] and not links.flags[at] & SIDE:
            elsewhere[at] = 1
            at = links.above(at)
        if at == root:
            return number
    return root


def _walk(links: Links, leaf: int, wrong: dict[int, str]) -> Iterator[int]:
    seen = bytearray(len(links.flags))
    said: _Said | None = None
    at = leaf
    while at >= 0 and not seen[at]:
        seen[at] = 1
        yield at
        parent = links.parent[at]
        if parent == NOBODY:
            return
        if links.is_there(parent) and not seen[parent]:
            at = parent
            continue
        wrong[at] = "cycle" if links.is_there(parent) else "broken"
        if links.flags[at] & SUMMARY:
            return
        said = said or _Said(links)
        at = said.before(links.times[at], seen)


class _Said:
    """The messages of a file by their time."""

    def __init__(self, links: Links) -> None:
        said = (
            number
            for number in links.records()
            if links.is_there(number) and links.is_said(number) and not links.flags[number] & SIDE
        )
        self.times = links.times
        self.order = by_time(said, links.times)
        self.unseen: dict[int, int] = {}  #: where those of one time begin, and where the first that was not seen is

    def before(self, time: float, seen: bytearray) -> int:
        """The latest message up to a time that was not seen; of several at once the first in the file."""
        end = bisect_right(self.order, time, key=self.times.__getitem__)
        while end > 0 and time - (moment := self.times[self.order[end - 1]]) <= WINDOW:
            begin = self._begin(end, moment)
            at = self.unseen.get(begin, begin)
            while at < end and seen[self.order[at]]:
                at += 1
            self.unseen[begin] = at
            if at < end:
                return self.order[at]
            end = begin
        return NOBODY

    def _begin(self, end: int, moment: float) -> int:
        step = 1
        while end - step > 0 and self.times[self.order[end - step]] == moment:
            step *= 2
        at = max(0, end - step)
        while self.times[self.order[at]] != moment:
            at += 1
        return at


def _since_boundary(links: Links, sent: array[int]) -> array[int]:
    """From the last boundary of a compaction on."""
    for at in range(len(sent) - 1, -1, -1):
        if links.flags[sent[at]] & BOUNDARY:
            return sent[at:]
    return sent


def _restore(links: Links, parents: array[int]) -> None:
    """The links as the file has them."""
    if links.kept:
        links.parent = parents
        for number, flags in enumerate(links.flags):
            links.flags[number] = flags & ~GONE


def _link_preserved(links: Links) -> array[int]:
    """Link what a boundary preserves in behind its anchor; the parents as they were."""
    parents = links.parent[:] if links.kept else links.parent
    for boundary, kept in sorted(links.kept.items()):
        anchor, listed = _preserved(links, kept)
        if not links.is_there(anchor) or not listed or not all(links.is_there(number) for number in listed):
            continue
        staying = set(listed)
        for number in range(boundary):
            if links.flags[number] & THERE and number not in staying:
                links.flags[number] |= GONE
        for number in range(len(links.flags)):
            if links.flags[number] & THERE and links.above(number) == anchor and number not in staying:
                links.parent[number] = listed[-1]
        for before, number in zip((anchor, *listed), listed, strict=False):
            links.parent[number] = before
        links.tail_of[anchor] = listed[-1]
    return parents


def _preserved(links: Links, kept: Kept) -> tuple[int, list[int]]:
    if kept.listed is not None:
        return kept.anchor, list(kept.listed)
    found: list[int] = []
    at = kept.tail
    while links.is_there(at) and at not in found:
        found.append(at)
        if at == kept.head:
            return kept.anchor, found[::-1]
        at = links.above(at)
    return NOBODY, []
