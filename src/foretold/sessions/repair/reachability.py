"""What becomes of the messages of a Claude Code session when it is resumed.

What is sent is reached. What stands before the last compaction is summarised; what stands on another branch was left by
a rewind, or stands beside it. Neither is lost. A message is lost if no way leads from it to what was reached, and no
compaction came after it. `mending.py` links it in again.
"""

from __future__ import annotations

from foretold.sessions.resumption.array_chain import Followed, follow
from foretold.sessions.resumption.graph import ASSISTANT, BOUNDARY, HOLLOW, KIND, NOBODY, SIDE, THERE, USER, Links
from foretold.types import NamedTuple

REACHED, SUMMARISED, ASIDE, LOST = 1, 2, 3, 4


class Reach(NamedTuple):
    """What becomes of the messages of a session on resume."""

    messages: int
    reached: int
    summarised: int
    aside: int
    lost: int
    broken: int = 0  #: links that lead nowhere
    cycles: int = 0
    doubles: int = 0  #: records whose uuid another has
    hollow: int = 0  #: messages without content
    refused: str = ""  #: why the agent does not resume it at all: see `resumed.ERRORS`

    @property
    def share(self) -> float:
        """The part of what should be there that is.

        >>> Reach(100, 5, 0, 0, 95).share
        0.05
        """
        wanted = self.reached + self.lost
        return self.reached / wanted if wanted else 1.0


class Judged(NamedTuple):
    """The state of every record, and the way that was followed."""

    state: bytearray
    way: Followed


def judge(links: Links) -> Judged:
    """What becomes of each record."""
    way, state = follow(links), bytearray(len(links.flags))
    if not way.refused:
        for number in way.walked:
            state[number] = SUMMARISED
        for number in way.sent:
            state[number] = REACHED
        if way.walked:
            _before_compaction(links, state, way.walked[0])
    boundaries = (number for number in links.records() if state[number] and links.flags[number] & BOUNDARY)
    last_boundary = max(boundaries, default=NOBODY)
    for number in links.records():
        _climb(links, state, number)
    for number in range(last_boundary):
        if state[number] == LOST:
            state[number] = SUMMARISED
    return Judged(state, way)


def _before_compaction(links: Links, state: bytearray, first: int) -> None:
    """What a compaction has summarised stands before it, in the chain that the boundary names."""
    at = links.logical.get(first, NOBODY)
    while at >= 0 and links.flags[at] & THERE and not state[at]:
        state[at] = SUMMARISED
        at = links.logical.get(at, NOBODY) if links.parent[at] == NOBODY else links.parent[at]


def _climb(links: Links, state: bytearray, number: int) -> None:
    """Whether a way leads from a record to what was reached."""
    path: list[int] = []
    while number >= 0 and links.flags[number] & THERE and not state[number]:
        path.append(number)
        state[number] = LOST  # so that a circle ends
        number = links.parent[number]
    if number >= 0 and state[number] in (REACHED, SUMMARISED, ASIDE):
        for each in path:
            state[each] = ASIDE


class Places(NamedTuple):
    """Where to look: the numbers of records, NOBODY if there is none."""

    lost: int  #: the first message that is not reached
    broken: int  #: the first record whose parent is not there
    begin: int  #: what is reached begins with it


def places_of(links: Links, judged: Judged) -> Places:
    """The first record of each kind, in the order of the file."""

    def is_lost(number: int) -> bool:
        return judged.state[number] == LOST and links.is_said(number) and not links.flags[number] & SIDE

    lost = filter(is_lost, links.records())
    broken = (number for number in links.records() if not links.flags[number] & SIDE and _is_broken(links, number))
    walked = judged.way.walked
    return Places(next(lost, NOBODY), next(broken, NOBODY), walked[0] if walked else NOBODY)


def _is_broken(links: Links, number: int) -> bool:
    parent = links.parent[number]
    return parent >= 0 and not links.flags[parent] & (THERE | HOLLOW)


def reach_of(links: Links, judged: Judged | None = None) -> Reach:
    """The numbers that a person is told."""
    judged = judged or judge(links)
    counts = dict.fromkeys((REACHED, SUMMARISED, ASIDE, LOST), 0)
    broken = 0
    for number in links.records():
        flags = links.flags[number]
        if flags & SIDE:
            continue
        if flags & KIND in (USER, ASSISTANT) and not flags & HOLLOW:
            counts[judged.state[number]] += 1
        broken += _is_broken(links, number)
    return Reach(
        sum(counts.values()),
        counts[REACHED],
        counts[SUMMARISED],
        counts[ASIDE],
        counts[LOST],
        broken=broken,
        cycles=sum(problem == "cycle" for problem in judged.way.wrong.values()),
        doubles=links.doubles,
        hollow=links.hollow,
        refused=judged.way.refused,
    )
