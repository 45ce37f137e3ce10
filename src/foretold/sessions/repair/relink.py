"""Which parents have to change for a whole conversation to be reached, by every version.

1. Of records with the same uuid the first stays. A parent that is not in the file, or that leads into a cycle, is
   replaced by the record before it.
2. A message without content is removed; what follows it follows its parent.
3. Each lost piece is inserted where it is in the file: its beginning after the last reached record before it, and the
   next prompt after its end. Calls are not separated from their results: pieces are inserted only before a prompt.
4. If messages are still not reached, because `last-prompt` names another end, the copy names the new one. If that does
   not help either, every record follows the one before it in the file.
5. The last record needs a time; if it has none that can be read, it gets the last one that was read before it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right

from foretold.dialects.claude_code.sessions import NEWEST, OLDEST, SessionRules
from foretold.sessions.repair.reachability import LOST, Reachability, find_reachability
from foretold.sessions.resumption.chain import follow
from foretold.sessions.resumption.graph import (
    BOUNDARY,
    DATED,
    HOLLOW,
    KIND,
    NONE,
    PLAIN_TEXT,
    PRESENT,
    RESULT,
    SIDECHAIN,
    USER,
    Graph,
)
from foretold.types import NamedTuple

_TRIES = 3


class Changes(NamedTuple):
    """What has to change in a file."""

    parents: dict[int, int]  #: of records that get another one
    leaf: int = NONE  #: what the copy names as its end, if it has to name one
    undated: frozenset[int] = frozenset()  #: records that need a time


def relink(graph: Graph) -> Changes:
    """Find what has to change in a graph for repair; it is changed accordingly."""
    graph.hollow, graph.has_null, before = 0, False, array("i", graph.parent)
    for number, flags in enumerate(graph.flags):
        graph.flags[number] = flags & ~PLAIN_TEXT
    _skip_hollow_parents(graph)
    _replace_broken_parents(graph)
    named, undated = graph.named_leaf, _reach_all(graph)
    parents = {
        number: parent
        for number, parent in enumerate(graph.parent)
        if parent != before[number] and graph.flags[number] & PRESENT
    }
    return Changes(parents, NONE if graph.named_leaf == named else graph.named_leaf, undated)


def _reach_all(graph: Graph) -> frozenset[int]:
    """Connect everything; returns the leaves that have no time."""
    undated: set[int] = set()
    for _ in range(_TRIES):
        if all(_reach_by(graph, rules, undated) for rules in (NEWEST, OLDEST)):
            return frozenset(undated)
    _chain_in_file_order(graph)
    for rules in (NEWEST, OLDEST):
        _reach_by(graph, rules, undated)
    return frozenset(undated)


def _reach_by(graph: Graph, rules: SessionRules, undated: set[int]) -> bool:
    """Whether a version reaches everything; if not, what is lost is inserted."""
    graph.rules = rules
    leaf = follow(graph).leaf
    if leaf >= 0 and not graph.flags[leaf] & DATED:
        undated.add(leaf)
        graph.flags[leaf] |= DATED
    found = find_reachability(graph)
    if found.route.refused:
        graph.named_leaf = _last_message(graph)
        return graph.named_leaf == NONE
    if not _lost_pieces(graph, found.state):
        # a parent that a compaction has dropped is not broken: there is nothing to repair
        return "cycle" not in found.route.problems.values()
    tail = _insert_lost(graph, found)
    if _lost_pieces(graph, find_reachability(graph).state):
        graph.named_leaf = tail
    return False


def _last_message(graph: Graph) -> int:
    messages = (n for n in graph.records() if graph.is_message(n) and not graph.flags[n] & SIDECHAIN)
    return max(messages, default=NONE)


def _skip_hollow_parents(graph: Graph) -> None:
    for number in graph.records():
        seen = {number}
        parent = graph.parent[number]
        while parent >= 0 and graph.flags[parent] & (HOLLOW | PRESENT) == HOLLOW and parent not in seen:
            seen.add(parent)
            parent = graph.parent[parent]
        graph.parent[number] = parent if parent not in seen else NONE


def _record_before(graph: Graph, number: int, *, is_ordered: bool) -> int:
    """The record before another in the file that is not in a sidechain, and does not descend from it."""
    for at in range(number - 1, -1, -1):
        if graph.flags[at] & (PRESENT | SIDECHAIN) == PRESENT and (is_ordered or not graph.descends(at, number)):
            return at
    return NONE


def _replace_broken_parents(graph: Graph) -> None:
    """Replace parents that are missing, or that lead into a cycle."""
    done = bytearray(len(graph.flags))  # 2 = on the path that is being followed
    is_ordered = all(
        graph.parent[number] < number or not graph.flags[graph.parent[number]] & PRESENT for number in graph.records()
    )
    for start in graph.records():
        path: list[int] = []
        number = start
        while number >= 0 and not done[number]:
            done[number] = 2
            path.append(number)
            parent = graph.parent[number]
            if parent >= 0 and not graph.flags[parent] & PRESENT:
                graph.parent[number] = _record_before(graph, number, is_ordered=is_ordered)
                break
            if parent >= 0 and done[parent] == 2:
                first = min(path[path.index(parent) :])  # a cycle begins with what was written first
                graph.parent[first] = _record_before(graph, first, is_ordered=is_ordered)
                break
            number = parent
        for each in path:
            done[each] = 1


def _insert_lost(graph: Graph, found: Reachability) -> int:
    """Insert every lost piece, in the order of the file; returns the new end of the conversation."""
    prompts = sorted(number for number in found.route.sent if graph.flags[number] & (KIND | RESULT) == USER)
    tail = found.route.leaf
    for root, end in _lost_pieces(graph, found.state):
        at = bisect_right(prompts, root)
        if at == len(prompts):
            graph.parent[root] = tail
            tail = end
        else:
            graph.parent[root] = graph.parent[prompts[at]]
            graph.parent[prompts[at]] = end
    return tail


def _lost_pieces(graph: Graph, state: bytearray) -> list[tuple[int, int]]:
    """Beginning and end of each lost piece with messages in it, in the order of the file."""
    roots: dict[int, int] = {}
    ends: dict[int, int] = {}
    spoken: set[int] = set()
    for number in graph.records():
        if state[number] == LOST and not graph.flags[number] & SIDECHAIN:
            root = _root_of(graph, number, roots)
            ends[root] = number
            if graph.is_message(number):
                spoken.add(root)
    return sorted((root, end) for root, end in ends.items() if root in spoken)


def _root_of(graph: Graph, number: int, roots: dict[int, int]) -> int:
    path: list[int] = []
    while number not in roots:
        path.append(number)
        roots[number] = number  # so that a cycle ends
        parent = graph.parent[number]
        if parent < 0 or graph.flags[parent] & (PRESENT | SIDECHAIN) != PRESENT:
            break
        number = parent
    root = roots[number]
    for each in path:
        roots[each] = root
    return root


def _chain_in_file_order(graph: Graph) -> None:
    """Let every record follow the one before it in the file, except sidechains and boundaries."""
    last = NONE
    for number in graph.records():
        if graph.flags[number] & (SIDECHAIN | BOUNDARY) == SIDECHAIN:
            continue
        graph.parent[number] = NONE if graph.flags[number] & BOUNDARY else last
        last = number
    graph.named_leaf = last
