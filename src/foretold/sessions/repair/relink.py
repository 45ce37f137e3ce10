"""Which links have to be other ones for a whole conversation to be reached, by every version.

1. Of records with the same uuid the first stays. A parent that is not in the file, or that leads in a circle, is
   replaced by the record that stands before.
2. A record without content is taken out, and what follows it follows its parent.
3. Each piece that no way leads from is linked in where it stands: its beginning behind the last reached record before
   it, and the next prompt behind its end. Calls are not parted from their results: only before a prompt is a place.
4. If messages are still not reached, because `last-prompt` names another end, the copy names this one. If that does not
   help either, records follow one another as they stand in the file.
5. The last record needs a time; if it has none that can be read, it gets the last one that was read before it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right

from foretold.dialects.claude_code.sessions import NEWER, OLDER, SessionRules
from foretold.sessions.repair.reachability import LOST, Judged, judge
from foretold.sessions.resumption.graph import (
    BOUNDARY,
    DATED,
    HOLLOW,
    KIND,
    NOBODY,
    PLAIN,
    RESULT,
    SIDE,
    THERE,
    UNKNOWN,
    USER,
    Links,
)
from foretold.types import NamedTuple

_TRIES = 3


class Mended(NamedTuple):
    """What of a file has to be another."""

    parents: dict[int, int]  #: of records that get another one
    leaf: int = UNKNOWN  #: what the copy names as its end, if that has to be said
    undated: frozenset[int] = frozenset()  #: records that need a time


def mended(links: Links) -> Mended:
    """What has to be another; the links are changed accordingly."""
    for number, first in links.first.items():
        links.parent[number], links.flags[number] = first.parent, first.flags
        links.times[number], links.group[number] = first.time, first.group
        links.kept.pop(number, None)
        links.logical.pop(number, None)
        if first.kept:
            links.kept[number] = first.kept
        if first.flags & BOUNDARY:
            links.logical[number] = first.logical
    links.again, links.first, links.doubles, links.hollow, links.has_null = [], {}, 0, 0, False
    before = array("i", links.parent)
    for number, flags in enumerate(links.flags):
        links.flags[number] = flags & ~PLAIN
    _step_over_hollow(links)
    _link_broken(links)
    named, undated = links.leaf_named, _reach_all(links)
    parents = {number: parent for number, parent in enumerate(links.parent) if parent != before[number]}
    parents = {number: parent for number, parent in parents.items() if links.flags[number] & THERE}
    return Mended(parents, UNKNOWN if links.leaf_named == named else links.leaf_named, undated)


def _reach_all(links: Links) -> frozenset[int]:
    """Link everything in; what ends the conversation, and has no time."""
    undated: set[int] = set()
    for _ in range(_TRIES):
        if all(_is_reached(links, rules, undated) for rules in (NEWER, OLDER)):
            return frozenset(undated)
    _line_up(links)
    for rules in (NEWER, OLDER):
        _is_reached(links, rules, undated)
    return frozenset(undated)


def _is_reached(links: Links, rules: SessionRules, undated: set[int]) -> bool:
    """Whether a version reaches everything; if not, what is lost is linked in."""
    links.rules = rules
    way = judge(links).way
    if way.leaf >= 0 and not links.flags[way.leaf] & DATED:
        undated.add(way.leaf)
        links.flags[way.leaf] |= DATED
    judged = judge(links)
    if judged.way.refused:
        links.leaf_named = _last_said(links)
        return links.leaf_named == NOBODY
    if not _pieces(links, judged.state):
        # a parent that a compaction has let go is not broken: there is nothing to mend
        return "cycle" not in judged.way.wrong.values()
    tail = _link_lost(links, judged)
    if _pieces(links, judge(links).state):
        links.leaf_named = tail
    return False


def _last_said(links: Links) -> int:
    said = (number for number in links.records() if links.is_said(number) and not links.flags[number] & SIDE)
    return max(said, default=NOBODY)


def _step_over_hollow(links: Links) -> None:
    for number in links.records():
        seen = {number}
        parent = links.parent[number]
        while parent >= 0 and links.flags[parent] & (HOLLOW | THERE) == HOLLOW and parent not in seen:
            seen.add(parent)
            parent = links.parent[parent]
        links.parent[number] = parent if parent not in seen else NOBODY


def _before(links: Links, number: int, *, is_ordered: bool) -> int:
    """The record that stands before another in the file, is no sidechain, and does not follow it."""
    for at in range(number - 1, -1, -1):
        if links.flags[at] & (THERE | SIDE) == THERE and (is_ordered or not _follows(links, at, number)):
            return at
    return NOBODY


def _follows(links: Links, at: int, number: int) -> bool:
    seen = bytearray(len(links.flags))
    while at >= 0 and at != number and not seen[at]:
        seen[at] = 1
        at = links.parent[at]
    return at == number


def _link_broken(links: Links) -> None:
    """Parents that are missing, or that would be met again."""
    done = bytearray(len(links.flags))
    is_ordered = all(
        links.parent[number] < number or not links.flags[links.parent[number]] & THERE for number in links.records()
    )
    for start in links.records():
        path: list[int] = []
        number = start
        while number >= 0 and not done[number]:
            done[number] = 2
            path.append(number)
            parent = links.parent[number]
            if parent >= 0 and not links.flags[parent] & THERE:
                links.parent[number] = _before(links, number, is_ordered=is_ordered)
                break
            if parent >= 0 and done[parent] == 2:
                first = min(path[path.index(parent) :])
                # the beginning of a circle is what was written first
                links.parent[first] = _before(links, first, is_ordered=is_ordered)
                break
            number = parent
        for each in path:
            done[each] = 1


def _link_lost(links: Links, judged: Judged) -> int:
    """Link every lost piece in, in the order of the file; what the conversation then ends with."""
    prompts = sorted(number for number in judged.way.sent if links.flags[number] & (KIND | RESULT) == USER)
    tail = judged.way.leaf
    for root, end in _pieces(links, judged.state):
        at = bisect_right(prompts, root)
        if at == len(prompts):
            links.parent[root] = tail
            tail = end
        else:
            links.parent[root] = links.parent[prompts[at]]
            links.parent[prompts[at]] = end
    return tail


def _pieces(links: Links, state: bytearray) -> list[tuple[int, int]]:
    """Beginning and end of each piece that is lost and has messages in it, in the order of the file."""
    roots: dict[int, int] = {}
    ends: dict[int, int] = {}
    talk: set[int] = set()
    for number in links.records():
        if state[number] == LOST and not links.flags[number] & SIDE:
            root = _root(links, number, roots)
            ends[root] = number
            if links.is_said(number):
                talk.add(root)
    return sorted((root, end) for root, end in ends.items() if root in talk)


def _root(links: Links, number: int, roots: dict[int, int]) -> int:
    path: list[int] = []
    while number not in roots:
        path.append(number)
        roots[number] = number  # so that a circle ends
        parent = links.parent[number]
        if parent < 0 or not links.flags[parent] & THERE or links.flags[parent] & SIDE:
            break
        number = parent
    root = roots[number]
    for each in path:
        roots[each] = root
    return root


def _line_up(links: Links) -> None:
    """Every record follows the one that stands before it in the file, but for sidechains and beginnings."""
    last = NOBODY
    for number in links.records():
        if links.flags[number] & (SIDE | BOUNDARY) == SIDE:
            continue
        links.parent[number] = NOBODY if links.flags[number] & BOUNDARY else last
        last = number
    links.leaf_named = last
