"""What stands beside the chain of a transcript is put back: blocks of an answer, results of tools that ran at once.

Older versions put both behind the last link with the same message id, by their time. Newer ones put results in the
order of the file, with what follows each of them, and keep the blocks of an answer together.
"""

from __future__ import annotations

from foretold.sessions.resumption.nodes import Link, Links, calls_in, key_of, results_in, time_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    Groups = dict[str, list[Link]]  #: by message id


def with_siblings(file: Links, walked: Sequence[Link]) -> list[Link]:
    """Put blocks and results behind the last link of their answer, by their time."""
    inside = {id(link) for link in walked}
    groups = _groups(file.by_id.values())
    owner = {key_of(link.value.get("uuid")): name for name, links in groups.items() for link in links}
    results: Groups = {}
    for key, link in file.by_id.items():
        name = owner.get(file.parent_of[key])
        if name and id(link) not in inside and results_in(link):
            results.setdefault(name, []).append(link)
    behind: dict[int, list[Link]] = {}
    for name, last in _last_blocks(walked).items():
        blocks = [link for link in groups[name] if id(link) not in inside]
        behind[id(last)] = sorted(blocks, key=time_of) + sorted(results.get(name, ()), key=time_of)
    return [one for link in walked for one in (link, *behind.get(id(link), ()))]


def gathered(file: Links, walked: Sequence[Link]) -> list[Link]:
    """Put all results of an answer together, in the order of the file, where one of them is not in its place."""
    inside = {id(link) for link in walked}
    chain = _together(walked)
    place = {id(link): at for at, link in enumerate(chain)}
    groups, trains = _groups(file.by_id.values()), _trains(file, inside)
    results = _results(file, groups)
    moved: set[int] = set()
    before: dict[int, list[Link]] = {}
    behind: dict[int, list[Link]] = {}
    for name, last in _last_blocks(chain).items():
        behind[id(last)] = sorted((link for link in groups[name] if id(link) not in inside), key=time_of)
        own, end = results.get(name, []), place[id(last)]
        if all(id(link) in inside and place[id(link)] > end for link in own):
            continue
        moved |= {id(link) for link in own}
        train = [one for link in own for one in (link, *trains.get(id(link), ()))]
        later = [link for link in own if place.get(id(link), -1) > end]
        first = min(later, key=lambda link: place[id(link)], default=None)
        if first is None:
            behind[id(last)] += train
        else:
            before[id(first)] = train
    found: list[Link] = []
    for link in chain:
        found += (*before.get(id(link), ()), *(() if id(link) in moved else (link,)), *behind.get(id(link), ()))
    return found


def _last_blocks(links: Sequence[Link]) -> dict[str, Link]:
    """The last block of each answer, by its message id."""
    return {link.message_id: link for link in links if link.type == "assistant" and link.message_id}


def _together(walked: Sequence[Link]) -> list[Link]:
    """Blocks of one answer without the attachments that stand between them: these follow."""
    found: list[Link] = []
    for link in walked:
        at = len(found)
        while at and link.type == "assistant" and found[at - 1].type in ("attachment", "system"):
            at -= 1
        same = at and link.type == found[at - 1].type == "assistant" and link.message_id == found[at - 1].message_id
        found.insert(at if same and link.message_id else len(found), link)
    return found


def _trains(file: Links, inside: set[int]) -> dict[int, list[Link]]:
    """What follows each result that stands beside the chain, up to the next answer."""
    children: dict[Hashable, list[Hashable]] = {}
    for key, link in file.by_id.items():
        if id(link) not in inside and link.type in ("attachment", "user") and not results_in(link):
            children.setdefault(file.parent_of[key], []).append(key)
    found: dict[int, list[Link]] = {}
    for key, link in file.by_id.items():
        if id(link) in inside or not results_in(link):
            continue
        train, waiting = found.setdefault(id(link), []), list(reversed(children.pop(key, [])))
        while waiting:
            child = waiting.pop()
            train.append(file.by_id[child])
            waiting += reversed(children.pop(child, []))
    return found


def _results(file: Links, groups: Groups) -> Groups:
    """The results of each answer: those that follow it, or else name one of its calls; in the order of the file."""
    owner = {key_of(link.value.get("uuid")): name for name, links in groups.items() for link in links}
    caller = {call: name for name, links in reversed(groups.items()) for link in links for call in calls_in(link)}
    found: Groups = {}
    for key, link in file.by_id.items():
        calls = results_in(link)
        name = owner.get(file.parent_of[key]) or next((caller[call] for call in calls if call in caller), "")
        if calls and name:
            found.setdefault(name, []).append(link)
    return {name: sorted(links, key=lambda link: link.line) for name, links in found.items()}


def _groups(links: Iterable[Link]) -> Groups:
    groups: Groups = {}
    for link in links:
        if link.type == "assistant" and link.message_id:
            groups.setdefault(link.message_id, []).append(link)
    return groups
