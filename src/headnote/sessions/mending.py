"""Which parents have to be other ones for a whole conversation to be reached.

1. Of records with the same uuid the first stays. A parent that is not in the file, or that leads in a circle, is
   replaced by the record that stands before.
2. A record without content is taken out, and what follows it follows its parent.
3. Each piece that no way leads from is linked in where it stands: its beginning behind the last reached record before
   it, and the next prompt behind its end. Calls are not parted from their results: only before a prompt is a place.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right

from headnote.sessions.reach import HOLLOW, LOST, NOBODY, PROMPT, SIDE, TALK, UNKNOWN, Links, judge


def mended(links: Links) -> dict[int, int]:
    """The new parent of each record that needs one; the links are changed accordingly."""
    for number, (parent, flags) in links.first.items():
        links.parent[number], links.flags[number] = parent, flags
    before = array("q", links.parent)
    _step_over_hollow(links)
    _link_broken(links)
    _link_lost(links)
    return {
        number: links.parent[number]
        for number in links.order
        if links.parent[number] != before[number] and not links.flags[number] & HOLLOW
    }


def _step_over_hollow(links: Links) -> None:
    for number in links.order:
        seen = {number}
        parent = links.parent[number]
        while parent >= 0 and links.flags[parent] & HOLLOW and parent not in seen:
            seen.add(parent)
            parent = links.parent[parent]
        links.parent[number] = parent if parent not in seen else NOBODY


def _link_broken(links: Links) -> None:
    """Parents that are missing, or that would be met again."""
    done = bytearray(len(links.parent))
    for start in links.order:
        path: list[int] = []
        seen: set[int] = set()
        number = start
        while number >= 0 and not done[number]:
            seen.add(number)
            path.append(number)
            parent = links.parent[number]
            if parent >= 0 and links.place[parent] == UNKNOWN:
                links.parent[number] = links.before(number)
                break
            if parent in seen:
                first = min((each for each in path[path.index(parent) :]), key=lambda each: links.place[each])
                links.parent[first] = links.before(first)  # the beginning of a circle is what was written first
                break
            number = parent
        for each in path:
            done[each] = 1


def _link_lost(links: Links) -> None:
    """Link every lost piece in, in the order of the file."""
    judged = judge(links)
    if not judged.way:
        return
    pieces = _pieces(links, judged.state)
    prompts = sorted((links.place[each], each) for each in judged.way if links.flags[each] & PROMPT)
    tail = judged.way[0]
    for root, end in pieces:
        at = bisect_right(prompts, (links.place[root], len(links.parent)))
        if at == len(prompts):
            links.parent[root] = tail
            tail = end
        else:
            following = prompts[at][1]
            links.parent[root] = links.parent[following]
            links.parent[following] = end


def _pieces(links: Links, state: bytearray) -> list[tuple[int, int]]:
    """Beginning and end of each piece that is lost and has messages in it, in the order of the file."""
    roots: dict[int, int] = {}
    ends: dict[int, int] = {}
    talk: set[int] = set()
    for number in links.order:
        if state[number] == LOST and not links.flags[number] & (SIDE | HOLLOW):
            root = _root(links, number, roots)
            ends[root] = number
            if links.flags[number] & TALK:
                talk.add(root)
    return sorted(((root, end) for root, end in ends.items() if root in talk), key=lambda piece: links.place[piece[0]])


def _root(links: Links, number: int, roots: dict[int, int]) -> int:
    path: list[int] = []
    while number not in roots:
        path.append(number)
        parent = links.parent[number]
        if parent < 0 or links.place[parent] == UNKNOWN or parent in path:
            break
        number = parent
    root = roots.get(number, number)
    for each in path:
        roots[each] = root
    return root
