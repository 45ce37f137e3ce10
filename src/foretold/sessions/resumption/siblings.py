"""Add what is next to the chain of a transcript: blocks of an answer, results of tools that ran in parallel.

Older versions put both after the last node with the same message id, by time. Newer ones put results in the order of
the file, each with what follows it, and keep the blocks of an answer together.

Only answers of which a part is not in the chain are held; those are few, or the file is small.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from foretold.sessions.resumption.graph import ATTACHMENT, KIND, NONE, RESULT, SYSTEM, USER, Graph

Groups = dict[int, list[int]]


def add_siblings(graph: Graph, walked: array[int]) -> array[int]:
    """Put blocks and results after the last node of their answer, by time."""
    inside, last = _mark(graph, walked), _last_blocks(graph, walked)
    blocks = _blocks_outside(graph, inside, last)
    results: Groups = {}
    for number in _outside(graph, inside):
        group = _parent_answer(graph, number)
        if graph.flags[number] & RESULT and group != NONE and last[group] != NONE:
            results.setdefault(last[group], []).append(number)
    if not blocks and not results:
        return walked
    found = array("i")
    for number in walked:
        found.append(number)
        found.extend(blocks.get(number, ()))
        found.extend(sorted(results.get(number, ()), key=graph.times.__getitem__))
    return found


def gather_results(graph: Graph, walked: array[int]) -> array[int]:
    """Put all results of an answer together, in the order of the file, if one of them is misplaced."""
    inside, chain = _mark(graph, walked), _join_blocks(graph, walked)
    last, place = _last_blocks(graph, chain), array("i", [NONE]) * len(graph.flags)
    for at, number in enumerate(chain):
        place[number] = at
    misplaced = _find_misplaced(graph, last, place)
    followers = _find_followers(graph, inside) if misplaced else {}
    after = _blocks_outside(graph, inside, last)
    moved: set[int] = set()
    before: Groups = {}
    for group, results in misplaced.items():
        end = last[group]
        moved.update(results)
        train = [one for number in results for one in (number, *followers.get(number, ()))]
        later = [number for number in results if place[number] > place[end]]
        if later:
            before[min(later, key=place.__getitem__)] = train
        else:
            after.setdefault(end, []).extend(train)
    if not moved and not after:
        return chain
    found = array("i")
    for number in chain:
        found.extend(before.get(number, ()))
        if number not in moved:
            found.append(number)
        found.extend(after.get(number, ()))
    return found


def _blocks_outside(graph: Graph, inside: bytearray, last: array[int]) -> Groups:
    """The blocks that are not in the chain, by the last block of their answer that is, in the order of their times."""
    found: Groups = {}
    for number in _outside(graph, inside):
        group = graph.group[number] if graph.is_answer(number) else NONE
        if group != NONE and last[group] != NONE:
            found.setdefault(last[group], []).append(number)
    for numbers in found.values():
        numbers.sort(key=graph.times.__getitem__)
    return found


def _find_misplaced(graph: Graph, last: array[int], place: array[int]) -> Groups:
    """All results of each answer in the chain of which one result is not after it."""
    wrong: set[int] = set()
    for number, group in _results(graph):
        if group != NONE and last[group] != NONE and place[number] <= place[last[group]]:
            wrong.add(group)
    found: Groups = {}
    for number, group in _results(graph) if wrong else ():
        if group in wrong:
            found.setdefault(group, []).append(number)
    for numbers in found.values():
        numbers.sort(key=graph.place_of)
    return found


def _results(graph: Graph) -> Iterator[tuple[int, int]]:
    """Every result, and its answer."""
    numbers = (number for number, flags in enumerate(graph.flags) if flags & RESULT and graph.is_there(number))
    return ((number, _answer_of_result(graph, number)) for number in numbers)


def _answer_of_result(graph: Graph, number: int) -> int:
    """The answer that a result belongs to: its parent, else the one that has its call."""
    parent = _parent_answer(graph, number)
    if parent != NONE:
        return parent
    calls = (graph.group[number], *graph.more_calls.get(number, ()))
    return next((group for call in calls if call != NONE and (group := graph.answer_of(call)) != NONE), NONE)


def _parent_answer(graph: Graph, number: int) -> int:
    parent = graph.parent_of(number)
    return graph.group[parent] if graph.is_there(parent) and graph.is_answer(parent) else NONE


def _mark(graph: Graph, walked: array[int]) -> bytearray:
    inside = bytearray(len(graph.flags))
    for number in walked:
        inside[number] = 1
    return inside


def _outside(graph: Graph, inside: bytearray) -> Iterator[int]:
    return (number for number in graph.records() if not inside[number] and graph.is_there(number))


def _last_blocks(graph: Graph, chain: array[int]) -> array[int]:
    """The last block of each answer, by the number of its message id."""
    last = array("i", [NONE]) * graph.answer_count
    for number in chain:
        if graph.is_answer(number) and graph.group[number] != NONE:
            last[graph.group[number]] = number
    return last


def _join_blocks(graph: Graph, walked: array[int]) -> array[int]:
    """Move the blocks of an answer together; attachments between them come after."""
    found = walked
    for place, number in enumerate(walked):
        at, group = place, graph.group[number] if graph.is_answer(number) else NONE
        while at and group != NONE and graph.flags[found[at - 1]] & KIND in (ATTACHMENT, SYSTEM):
            at -= 1
        if at == place or not at or not graph.is_answer(found[at - 1]) or graph.group[found[at - 1]] != group:
            continue
        found = found[:] if found is walked else found
        found.insert(at, found.pop(place))
    return found


def _find_followers(graph: Graph, inside: bytearray) -> Groups:
    """What follows each result that is not in the chain, up to the next answer."""
    children: Groups = {}
    for number in _outside(graph, inside):
        if graph.flags[number] & KIND in (ATTACHMENT, USER) and not graph.flags[number] & RESULT:
            children.setdefault(graph.parent_of(number), []).append(number)
    found: Groups = {}
    for number in _outside(graph, inside):
        if not graph.flags[number] & RESULT:
            continue
        train, waiting = found.setdefault(number, []), list(reversed(children.pop(number, [])))
        while waiting:
            child = waiting.pop()
            train.append(child)
            waiting += reversed(children.pop(child, []))
    return found
