"""Keys and times in few bytes, for files with millions of records.

A dict needs some 150 bytes for a uuid; `Numbers` needs 15. A key is told by 64 bits of its hash: among five million two
are mixed up once in a million files.
"""

from __future__ import annotations

from array import array

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

NONE = -1
_FULL = 0.8  #: the part of the slots that is used before there are more of them


class Numbers:
    """Keys, numbered from 0 on in the order in which they came.

    >>> numbers = Numbers()
    >>> numbers.add("a"), numbers.add("b"), numbers.find("a"), numbers.find("c")
    (0, 1, 0, -1)
    >>> numbers.add("a"), numbers.find("a"), len(numbers)
    (2, 2, 3)
    """

    def __init__(self) -> None:
        self.hashes = array("q")
        self.slots = array("i", [NONE]) * 1021

    def __len__(self) -> int:
        return len(self.hashes)

    def find(self, key: Hashable) -> int:
        """The number of a key; NONE if it did not come."""
        return self.slots[self._slot(hash((key,)))]

    def add(self, key: Hashable) -> int:
        """Give a key the next number; if it has one, it has this one from now on."""
        if len(self.hashes) >= len(self.slots) * _FULL:
            self._grow()
        mixed, number = hash((key,)), len(self.hashes)
        self.slots[self._slot(mixed)] = number
        self.hashes.append(mixed)
        return number

    def known(self, key: Hashable) -> int:
        """The number of a key, which is given one if it has none."""
        number = self.find(key)
        return self.add(key) if number == NONE else number

    def _slot(self, mixed: int) -> int:
        slots, hashes, size = self.slots, self.hashes, len(self.slots)
        at = mixed % size
        while (number := slots[at]) >= 0 and hashes[number] != mixed:
            at = at + 1 if at + 1 < size else 0
        return at

    def _grow(self) -> None:
        self.slots = array("i", [NONE]) * (len(self.slots) * 4 // 3 | 1)
        for number, mixed in enumerate(self.hashes):
            self.slots[self._slot(mixed)] = number


class Times:
    """Times in seconds, four bytes each where they are none or whole milliseconds within 24 days of the first.

    >>> times = Times()
    >>> for time in (0.0, 1794731806.184, 1794731811.5, 3.25):
    ...     times.append(time)
    >>> [times[number] for number in range(4)], times.other
    ([0.0, 1794731806.184, 1794731811.5, 3.25], {3: 3.25})
    """

    def __init__(self) -> None:
        self.since = array("I")
        self.base = 0
        self.other: dict[int, float] = {}

    def append(self, time: float) -> None:
        self.since.append(0)
        self[len(self.since) - 1] = time

    def __setitem__(self, number: int, time: float) -> None:
        self.other.pop(number, None)
        whole = round(time * 1000)
        self.base = self.base or max(0, whole - (1 << 31))
        past = whole - self.base if self.base else 0
        if time and not (whole / 1000 == time and 0 < past < 1 << 32):
            self.other[number] = time
            past = 0
        self.since[number] = past if time else 0

    def __getitem__(self, number: int) -> float:
        past = self.since[number]
        return (self.base + past) / 1000 if past else self.other.get(number, 0.0)


def by_time(numbers: Iterator[int], times: Times) -> array[int]:
    """Numbers in the order of their times; those of the same time as they come."""
    from heapq import merge
    from itertools import islice, pairwise

    pieces: list[array[int]] = []
    while piece := sorted(islice(numbers, 1 << 16), key=times.__getitem__):
        pieces.append(array("i", piece))
    if all(times[left[-1]] <= times[right[0]] for left, right in pairwise(pieces)):
        return array("i", (number for piece in pieces for number in piece))
    return array("i", merge(*pieces, key=times.__getitem__))
