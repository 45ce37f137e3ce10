"""What stands beside the chain, in numbers: the rules of `beside.py` for files of any size.

Only answers of which something stands elsewhere than in the chain are held; those are few, or the file is small.
"""

from __future__ import annotations

from array import array

from foretold.sessions.resumption.compact_arrays import NONE
from foretold.sessions.resumption.graph import ASSISTANT, ATTACHMENT, KIND, RESULT, SYSTEM, USER, Links
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    Groups = dict[int, list[int]]


def with_siblings(links: Links, walked: array[int]) -> array[int]:
    """Put blocks and results behind the last link of their answer, by their time."""
    inside, last = _inside(links, walked), _last_blocks(links, walked)
    blocks: Groups = {}
    results: Groups = {}
    for number in _others(links, inside):
        group = links.group[number] if _is_answer(links, number) else NONE
        if group != NONE and last[group] != NONE:
            blocks.setdefault(last[group], []).append(number)
        group = _owner(links, number)
        if links.flags[number] & RESULT and group != NONE and last[group] != NONE:
            results.setdefault(last[group], []).append(number)
    if not blocks and not results:
        return walked
    found = array("i")
    for number in walked:
        found.append(number)
        for beside in (blocks, results):
            found.extend(sorted(beside.get(number, ()), key=links.times.__getitem__))
    return found


def gathered(links: Links, walked: array[int]) -> array[int]:
    """Put all results of an answer together where one of them is not in its place."""
    inside, chain = _inside(links, walked), _together(links, walked)
    last, place = _last_blocks(links, chain), array("i", [-1]) * len(links.flags)
    for at, number in enumerate(chain):
        place[number] = at
    own = _misplaced(links, last, place)
    behind: Groups = {}
    for number in _others(links, inside):
        group = links.group[number] if _is_answer(links, number) else NONE
        if group != NONE and last[group] != NONE:
            behind.setdefault(last[group], []).append(number)
    for numbers in behind.values():
        numbers.sort(key=links.times.__getitem__)
    moved: set[int] = set()
    before: Groups = {}
    trains = _trains(links, inside) if own else {}
    for group, results in own.items():
        end = last[group]
        moved.update(results)
        train = [one for number in results for one in (number, *trains.get(number, ()))]
        later = [number for number in results if place[number] > place[end]]
        if later:
            before[min(later, key=place.__getitem__)] = train
        else:
            behind.setdefault(end, []).extend(train)
    if not moved and not behind:
        return chain
    found = array("i")
    for number in chain:
        found.extend(before.get(number, ()))
        if number not in moved:
            found.append(number)
        found.extend(behind.get(number, ()))
    return found


def _misplaced(links: Links, last: array[int], place: array[int]) -> Groups:
    """The results of each answer of the chain of which one is not behind it."""
    wrong: set[int] = set()
    for number in _results(links):
        group = _answered(links, number)
        if group != NONE and last[group] != NONE and place[number] <= place[last[group]]:
            wrong.add(group)
    found: Groups = {}
    for number in _results(links) if wrong else ():
        group = _answered(links, number)
        if group in wrong:
            found.setdefault(group, []).append(number)
    return found


def _results(links: Links) -> Iterator[int]:
    return (number for number, flags in enumerate(links.flags) if flags & RESULT and links.is_there(number))


def _answered(links: Links, number: int) -> int:
    """The answer that a result belongs to: the one it follows, or else the one that has its call."""
    owner = _owner(links, number)
    if owner != NONE:
        return owner
    calls = (links.group[number], *links.more.get(number, ()))
    return next((group for call in calls if call != NONE and (group := links.caller_of(call)) != NONE), NONE)


def _owner(links: Links, number: int) -> int:
    above = links.above(number)
    return links.group[above] if links.is_there(above) and _is_answer(links, above) else NONE


def _is_answer(links: Links, number: int) -> bool:
    return links.flags[number] & KIND == ASSISTANT


def _inside(links: Links, walked: array[int]) -> bytearray:
    inside = bytearray(len(links.flags))
    for number in walked:
        inside[number] = 1
    return inside


def _others(links: Links, inside: bytearray) -> Iterator[int]:
    return (number for number in links.records() if not inside[number] and links.is_there(number))


def _last_blocks(links: Links, chain: array[int]) -> array[int]:
    """The last block of each answer, by the number of its message id."""
    last = array("i", [NONE]) * links.answers
    for number in chain:
        if _is_answer(links, number) and links.group[number] != NONE:
            last[links.group[number]] = number
    return last


def _together(links: Links, walked: array[int]) -> array[int]:
    """Blocks of one answer without the attachments that stand between them: these follow."""
    found = walked
    for place, number in enumerate(walked):
        at, group = place, links.group[number] if _is_answer(links, number) else NONE
        while at and group != NONE and links.flags[found[at - 1]] & KIND in (ATTACHMENT, SYSTEM):
            at -= 1
        if at == place or not at or not _is_answer(links, found[at - 1]) or links.group[found[at - 1]] != group:
            continue
        found = found[:] if found is walked else found
        found.insert(at, found.pop(place))
    return found


def _trains(links: Links, inside: bytearray) -> Groups:
    """What follows each result that stands beside the chain, up to the next answer."""
    children: Groups = {}
    for number in _others(links, inside):
        if links.flags[number] & KIND in (ATTACHMENT, USER) and not links.flags[number] & RESULT:
            children.setdefault(links.above(number), []).append(number)
    found: Groups = {}
    for number in _others(links, inside):
        if not links.flags[number] & RESULT:
            continue
        train, waiting = found.setdefault(number, []), list(reversed(children.pop(number, [])))
        while waiting:
            child = waiting.pop()
            train.append(child)
            waiting += reversed(children.pop(child, []))
    return found
