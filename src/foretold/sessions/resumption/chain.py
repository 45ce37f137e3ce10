"""The chain: which records of a Claude Code transcript the agent sends when it resumes it, and in which order.

1. The chain ends with its leaf: the last node of the file that is a message, or descends from one; sidechains do not
   count. Newer versions go on from there to the last record that descends from it. If the last `last-prompt` names a
   record that the leaf does not descend from, that record is the leaf.
2. From the leaf it goes to the parent, and so on. Where the parent is not in the file, or was visited before, it
   continues with the latest message of the five seconds before; if there is none, the conversation begins there. It
   also begins at a record without a parent, and at a summary whose parent is missing.
3. Answers with several blocks, and results of tools that ran in parallel, fork the chain: `siblings.py` adds those next
   to it.
4. What comes before the last `compact_boundary` is not sent; but the messages that the boundary preserves are inserted
   after its anchor, if all of them are there; a summary that nothing follows yet ends with them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from foretold.dialects.claude_code.sessions import SessionRules
from foretold.sessions.resumption.graph import (
    BOUNDARY,
    CUT_OFF,
    DATED,
    FIRST_SIDECHAIN,
    HOLLOW,
    NONE,
    PLAIN_TEXT,
    PRESENT,
    SIDECHAIN,
    SUMMARY,
    Graph,
    Preserved,
    RecordNode,
)
from foretold.sessions.resumption.siblings import add_siblings, gather_results
from foretold.types import NamedTuple

#: seconds before a record whose parent is missing, in which the agent looks for another
WINDOW = 5.0


class Chain(NamedTuple):
    """The records that are sent, and why others are not."""

    nodes: tuple[RecordNode, ...]
    leaf: str
    lost: tuple[tuple[str, str], ...] = ()  #: id and reason: branch, compacted, sidechain
    error: str = ""  #: why the agent refuses to resume: not_found, bad_record


def find_chain(records: Iterable[RecordNode], rules: SessionRules) -> Chain:
    """The conversation of a transcript. Of records that come from a file, only their places are held."""
    graph, nodes = Graph(rules), dict[int, RecordNode]()
    for node in records:
        number = graph.add(node.value)
        if number != NONE:
            nodes[number] = node if node.start < 0 else node._replace(value={"uuid": node.value.get("uuid")})
    route = follow(graph.close())
    if route.leaf == NONE:
        return Chain((), "", error="not_found")
    sent = tuple(nodes[number] for number in route.sent)
    return Chain(sent, nodes[route.leaf].id, tuple(_find_lost(graph, nodes, route.sent)), route.refused)


def _find_lost(graph: Graph, nodes: dict[int, RecordNode], sent: Sequence[int]) -> Iterator[tuple[str, str]]:
    """The messages that are not sent, and why."""
    inside = set(sent)
    boundary = nodes[sent[0]].line if sent and graph.flags[sent[0]] & BOUNDARY else 0
    for number in graph.records():
        if number not in inside and graph.is_message(number):
            reason = "compacted" if nodes[number].line < boundary else "branch"
            yield nodes[number].id, "sidechain" if graph.flags[number] & SIDECHAIN else reason


class ChainRoute(NamedTuple):
    """A conversation in numbers: what is sent, in order; all records from the first to the leaf; problems met."""

    sent: array[int]
    walked: array[int]
    problems: dict[int, str]  #: broken, cycle
    leaf: int = NONE
    refused: str = ""  #: see `claude.ERRORS`


def follow(graph: Graph) -> ChainRoute:
    """Find the conversation of a graph, as the agent does."""
    parents = _insert_preserved(graph)
    leaf = _find_leaf(graph)
    problems: dict[int, str] = {}
    walked = array("i", _walk(graph, leaf, problems) if leaf >= 0 else ())
    walked.reverse()
    siblings = gather_results if graph.rules.gathers else add_siblings
    sent = siblings(graph, walked)
    sent = sent[max((at for at, number in enumerate(sent) if graph.flags[number] & BOUNDARY), default=0) :]
    if graph.preserved:  # undo `_insert_preserved`
        graph.parent = parents
        for number, flags in enumerate(graph.flags):
            graph.flags[number] = flags & ~CUT_OFF
    return ChainRoute(sent, walked, problems, leaf, _refusal(graph, sent, leaf))


def _refusal(graph: Graph, sent: array[int], leaf: int) -> str:
    if graph.rules.refuses_damage and graph.has_null:
        return "null_record"
    if graph.rules.refuses_damage and any(graph.flags[number] & (HOLLOW | PLAIN_TEXT) for number in sent):
        return "bad_record"
    if not sent or (leaf in sent and not graph.flags[leaf] & DATED):
        return "not_found"
    return ""


def _find_leaf(graph: Graph) -> int:
    """The record that the conversation ends with; NONE if there is none."""
    last, named = _find_last(graph), graph.named_leaf
    last = NONE if last == graph.nameless else last  # a record without a uuid cannot be the leaf
    if not graph.is_there(named):
        return last
    if last >= 0 and graph.descends(last, named):
        return last
    return NONE if graph.flags[named] & SIDECHAIN else named


def _from_last(graph: Graph) -> Iterator[int]:
    """The records of the file without sidechains, the last first."""
    repeats = list(graph.repeats)
    for number in range(len(graph.flags) - 1, -1, -1):
        while repeats and repeats[-1][0] > number:
            _, double, is_side = repeats.pop()
            if not is_side and graph.is_there(double):
                yield double
        if not graph.flags[number] & FIRST_SIDECHAIN and graph.is_there(number):
            yield number


def _find_last(graph: Graph) -> int:
    silent = bytearray(len(graph.flags))  # records that descend from no message
    latest = NONE
    for number in _from_last(graph):
        latest = number if latest == NONE else latest
        # claude-code: a summary that nothing follows yet ends with what is preserved after it
        at = tip = _find_tip(graph, number) if graph.rules.leaf == "tip" else graph.tail_of.get(number, number)
        while graph.is_there(at) and not silent[at]:
            if graph.is_message(at):
                return tip
            silent[at] = 1
            at = graph.parent_of(at)
    return latest


def _find_tip(graph: Graph, root: int) -> int:
    """The last record of the file that descends from a record and has no descendants; in a cycle, the record itself."""
    followed = bytearray(len(graph.flags))
    for number in graph.records():
        parent = graph.parent_of(number)
        if parent >= 0 and graph.is_there(number) and not graph.flags[number] & SIDECHAIN:
            followed[parent] = 1
    elsewhere = bytearray(len(graph.flags))
    for number in range(len(graph.flags) - 1, -1, -1):
        if followed[number] or not graph.is_there(number):
            continue
        at = number
        while at != root and graph.is_there(at) and not elsewhere[at] and not graph.flags[at] & SIDECHAIN:
            elsewhere[at] = 1
            at = graph.parent_of(at)
        if at == root:
            return number
    return root


def _walk(graph: Graph, leaf: int, problems: dict[int, str]) -> Iterator[int]:
    """From the leaf to the first record."""
    seen = bytearray(len(graph.flags))
    messages: _MessagesByTime | None = None
    at = leaf
    while at >= 0 and not seen[at]:
        seen[at] = 1
        yield at
        parent = graph.parent[at]
        if parent == NONE:
            return
        if graph.is_there(parent) and not seen[parent]:
            at = parent
            continue
        problems[at] = "cycle" if graph.is_there(parent) else "broken"
        if graph.flags[at] & SUMMARY:
            return
        messages = messages or _MessagesByTime(graph)
        at = messages.latest_before(graph.times[at], seen)


class _MessagesByTime:
    """The messages of a file in the order of their times."""

    def __init__(self, graph: Graph) -> None:
        self.times = graph.times
        self.order = self._sort(
            number
            for number in graph.records()
            if graph.is_there(number) and graph.is_message(number) and not graph.flags[number] & SIDECHAIN
        )
        self.unseen: dict[int, int] = {}  #: where those of one time begin, and where the first unseen one is

    def _sort(self, numbers: Iterator[int]) -> array[int]:
        """Sort in pieces, which are merged: a list of all numbers would need ten times the memory."""
        from heapq import merge
        from itertools import chain, islice, pairwise

        pieces: list[array[int]] = []
        while piece := sorted(islice(numbers, 1 << 16), key=self.times.__getitem__):
            pieces.append(array("i", piece))
        is_sorted = all(self.times[left[-1]] <= self.times[right[0]] for left, right in pairwise(pieces))
        return array("i", chain(*pieces) if is_sorted else merge(*pieces, key=self.times.__getitem__))

    def latest_before(self, time: float, seen: bytearray) -> int:
        """The latest unseen message up to a time; of several at the same time the first in the file."""
        end = bisect_right(self.order, time, key=self.times.__getitem__)
        while end > 0 and time - (moment := self.times[self.order[end - 1]]) <= WINDOW:
            begin = bisect_left(self.order, moment, hi=end, key=self.times.__getitem__)
            at = self.unseen.get(begin, begin)
            while at < end and seen[self.order[at]]:
                at += 1
            self.unseen[begin] = at
            if at < end:
                return self.order[at]
            end = begin
        return NONE


def _insert_preserved(graph: Graph) -> array[int]:
    """Insert what a boundary preserves after its anchor; returns the parents as they were."""
    parents = graph.parent[:] if graph.preserved else graph.parent
    for boundary, preserved in sorted(graph.preserved.items()):
        anchor, listed = _find_preserved(graph, preserved)
        if not graph.is_there(anchor) or not listed or not all(graph.is_there(number) for number in listed):
            continue
        staying = set(listed)
        for number in range(boundary):
            if graph.flags[number] & PRESENT and number not in staying:
                graph.flags[number] |= CUT_OFF
        for number in range(len(graph.flags)):
            if graph.flags[number] & PRESENT and graph.parent_of(number) == anchor and number not in staying:
                graph.parent[number] = listed[-1]
        for before, number in zip((anchor, *listed), listed, strict=False):
            graph.parent[number] = before
        graph.tail_of[anchor] = listed[-1]
    return parents


def _find_preserved(graph: Graph, preserved: Preserved) -> tuple[int, list[int]]:
    """The anchor of a boundary and the messages it preserves: those it lists, else a segment of the chain."""
    if not preserved.is_segment:
        return preserved.anchor, list(preserved.numbers)
    found: list[int] = []
    head, at = preserved.numbers
    while graph.is_there(at) and at not in found:
        found.append(at)
        if at == head:
            return preserved.anchor, found[::-1]
        at = graph.parent_of(at)
    return NONE, []
