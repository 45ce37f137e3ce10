"""What becomes of the messages of a Claude Code session when it is resumed.

What is sent is reached. What comes before the last compaction is summarised; what is on another branch was left by a
rewind, or ran in parallel. Neither is lost. A message is lost if no path leads from it to what was reached, and no
compaction came after it. `relink.py` reconnects it.
"""

from __future__ import annotations

from collections.abc import Callable

from foretold.sessions.resumption.chain import ChainRoute, follow
from foretold.sessions.resumption.graph import BOUNDARY, HOLLOW, NONE, PRESENT, SIDECHAIN, Graph
from foretold.types import NamedTuple

REACHED, SUMMARISED, ASIDE, LOST = 1, 2, 3, 4


class Reach(NamedTuple):
    """How many messages of a session become what on resume."""

    messages: int
    reached: int
    summarised: int
    aside: int
    lost: int
    broken: int = 0  #: records whose parent is not in the file
    cycles: int = 0
    doubles: int = 0  #: records whose uuid another has
    hollow: int = 0  #: messages without content
    refused: str = ""  #: why the agent does not resume it at all: see `resumption.claude.ERRORS`

    @property
    def share(self) -> float:
        """The part of the messages that should be reached that is.

        >>> Reach(100, 5, 0, 0, 95).share
        0.05
        """
        wanted = self.reached + self.lost
        return self.reached / wanted if wanted else 1.0


class Reachability(NamedTuple):
    """The state of every record, and the route that was followed."""

    state: bytearray
    route: ChainRoute


def find_reachability(graph: Graph) -> Reachability:
    """What becomes of each record."""
    route, state = follow(graph), bytearray(len(graph.flags))
    if not route.refused:
        for number in route.walked:
            state[number] = SUMMARISED
        for number in route.sent:
            state[number] = REACHED
        if route.walked:
            _mark_compacted(graph, state, route.walked[0])
    boundaries = (number for number in graph.records() if state[number] and graph.flags[number] & BOUNDARY)
    last_boundary = max(boundaries, default=NONE)
    for number in graph.records():
        _climb(graph, state, number)
    for number in range(last_boundary):
        if state[number] == LOST:
            state[number] = SUMMARISED
    return Reachability(state, route)


def _mark_compacted(graph: Graph, state: bytearray, first: int) -> None:
    """Mark what a compaction has summarised: the chain that ends with the logical parent of its boundary."""
    at = graph.logical_parent.get(first, NONE)
    while at >= 0 and graph.flags[at] & PRESENT and not state[at]:
        state[at] = SUMMARISED
        at = graph.logical_parent.get(at, NONE) if graph.parent[at] == NONE else graph.parent[at]


def _climb(graph: Graph, state: bytearray, number: int) -> None:
    """Mark a record and its ancestors as aside if they lead to what was reached, else as lost."""
    path: list[int] = []
    while number >= 0 and graph.flags[number] & PRESENT and not state[number]:
        path.append(number)
        state[number] = LOST  # so that a cycle ends
        number = graph.parent[number]
    if number >= 0 and state[number] in (REACHED, SUMMARISED, ASIDE):
        for each in path:
            state[each] = ASIDE


def first_places(graph: Graph, found: Reachability) -> tuple[int, int, int]:
    """The first lost message, the first record whose parent is missing, and the first reached; NONE if none is."""

    def first(fits: Callable[[int], bool]) -> int:
        return next((n for n in graph.records() if not graph.flags[n] & SIDECHAIN and fits(n)), NONE)

    lost = first(lambda number: found.state[number] == LOST and graph.is_message(number))
    broken = first(lambda number: _is_broken(graph, number))
    return lost, broken, next(iter(found.route.walked), NONE)


def _is_broken(graph: Graph, number: int) -> bool:
    parent = graph.parent[number]
    return parent >= 0 and not graph.flags[parent] & (PRESENT | HOLLOW)


def count_reach(graph: Graph, found: Reachability | None = None) -> Reach:
    """Count the messages in each state, and what is wrong."""
    found = found or find_reachability(graph)
    counts = dict.fromkeys((REACHED, SUMMARISED, ASIDE, LOST), 0)
    broken = 0
    for number in graph.records():
        if graph.flags[number] & SIDECHAIN:
            continue
        if graph.is_message(number) and not graph.flags[number] & HOLLOW:
            counts[found.state[number]] += 1
        broken += _is_broken(graph, number)
    return Reach(
        messages=sum(counts.values()),
        reached=counts[REACHED],
        summarised=counts[SUMMARISED],
        aside=counts[ASIDE],
        lost=counts[LOST],
        broken=broken,
        cycles=sum(problem == "cycle" for problem in found.route.problems.values()),
        doubles=graph.doubles,
        hollow=graph.hollow,
        refused=found.route.refused,
    )
