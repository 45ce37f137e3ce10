"""Messages that may be meant, the newest first, with or without the index.

1. A message is as old as its time says, and never newer than its session, which is as old as its file. One without a
   time counts as its session. Of the same age, the order is by file, and from the end of it.
2. With the index: where few messages have the words, all of them are put in order. Else runs are opened from the newest
   on, until nothing in those that are left can be newer than what was found.
3. Without it: files are read from the newest on, each from its end, and for as long. The records of a file are taken to
   stand in the order of their times, give or take `SLACK`.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right

from foretold.sessions.fulltext.database import key_of, mask_of
from foretold.sessions.fulltext.index import Index
from foretold.sessions.fulltext.message_text import is_queued
from foretold.sessions.fulltext.parallel_scan import Ahead
from foretold.sessions.fulltext.query import expression
from foretold.sessions.fulltext.scan import Sieve, message_at, scanned
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from foretold.sessions.fulltext.database import Found, Run
    from foretold.sessions.fulltext.query import Query
    from foretold.sessions.model import Message, StoredSession

FEW = 2_000  #: messages that are put in order all at once
SLACK = 3600.0  #: seconds


class Filters(NamedTuple):
    """Which messages are asked for."""

    after: float = -math.inf
    before: float = math.inf
    roles: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


class Place(NamedTuple):
    """A message, and how old it is; it is in order by that."""

    age: float  #: its time, negated
    path: str
    back: int  #: where it begins, negated
    end: int
    stored: StoredSession
    message: Message | None = None  #: where it has been read already

    def read(self) -> Message | None:
        message = self.message or message_at(self.stored, -self.back, self.end)
        return None if message is None or is_queued(self.stored, message) else message


class Source(NamedTuple):
    """Places that have not been looked at; none is newer than this."""

    age: float
    path: str
    number: int
    more: Callable[[], tuple[list[Place], float | None]]  #: some of them, and how old the rest is; None: no rest


def in_order(places: list[Place], sources: list[Source]) -> Iterator[Place]:
    """Every place, the newest first, each once."""
    heapq.heapify(places)
    heapq.heapify(sources)
    last = None
    while places or sources:
        if places and (not sources or places[0].age < sources[0].age):
            place = heapq.heappop(places)
            key = (place.path, place.back, place.stored.id)
            if key != last:
                yield place
            last = key
            continue
        source = heapq.heappop(sources)
        more, age = source.more()
        for place in more:
            heapq.heappush(places, place)
        if age is not None:
            heapq.heappush(sources, source._replace(age=max(age, source.age)))


def age_of(time: float | None, stored: StoredSession) -> float:
    return -(stored.changed if time is None else min(time, stored.changed))


# With the index


def from_index(index: Index, query: Query, sessions: Sequence[StoredSession], filters: Filters) -> Iterator[Place]:
    """Places in the index, the newest first. What is new must have been read by `Index.update`."""
    known = index.known()
    there: list[dict[int, StoredSession]] = [{} for _ in index.shards]
    for stored in sessions:
        if (found := known.get(key_of(stored))) is not None:
            there[found[0]][found[1].row] = stored
    match = expression(query)
    places: list[Place] = []
    sources: list[Source] = []
    for shard, here in zip(index.shards, there, strict=True):
        numbers = shard.numbers(match, most=FEW + 1)
        runs = [run for run in shard.runs() if run.session in here and run.newest >= filters.after] if numbers else []
        if len(numbers) > FEW:
            for run in runs:
                stored = here[run.session]
                age = age_of(run.newest, stored)

                def more(shard=shard, run=run, stored=stored) -> tuple[list[Place], None]:  # type: ignore[no-untyped-def]
                    found = shard.numbers(match, run.first, run.last)
                    return _places(shard.rows(run, found), stored, filters), None

                sources.append(Source(age, stored.path, run.first, more))
            continue
        for run, some in _by_run(runs, numbers):
            places += _places(shard.rows(run, some), here[run.session], filters)
    return in_order(places, sources)


def _by_run(runs: list[Run], numbers: list[int]) -> Iterator[tuple[Run, list[int]]]:
    """Numbers with the run that they belong to; dead ones are left out."""
    firsts = [run.first for run in runs]
    found: dict[int, list[int]] = {}
    for number in numbers:
        at = bisect_right(firsts, number) - 1
        if at >= 0 and number <= runs[at].last:
            found.setdefault(at, []).append(number)
    for at, some in found.items():
        yield runs[at], some


def _places(rows: list[Found], stored: StoredSession, filters: Filters) -> list[Place]:
    mask = mask_of(filters.roles) or mask_of(("user", "assistant", "system", "tool"))
    tools = {name.lower() for name in filters.tools}
    found = []
    for row in rows:
        if not row.voices & mask or (tools and tools.isdisjoint(row.tools.lower().split("\n"))):
            continue
        age = age_of(row.time, stored)
        if filters.after <= -age < filters.before:
            found.append(Place(age, stored.path, -row.start, row.start + row.size, stored))
    return found


# Without it


def from_files(
    query: Query, sessions: Sequence[StoredSession], filters: Filters, tell: Callable[[int], object]
) -> Iterator[Place]:
    """The same places, straight from the files. `tell` is called with the size of each file that is opened."""
    sieve = Sieve(query)
    some = [stored for stored in sessions if stored.changed >= filters.after]
    ahead = Ahead(sieve, some)
    sources = [
        Source(-stored.changed, stored.path, number, _File(stored, sieve, ahead, filters, tell).more)
        for number, stored in enumerate(some)
    ]
    try:
        yield from in_order([], sources)
    finally:
        ahead.close()


class _File:
    """A session that is read as far as it is needed."""

    def __init__(
        self, stored: StoredSession, sieve: Sieve, ahead: Ahead, filters: Filters, tell: Callable[[int], object]
    ) -> None:
        self._stored, self._sieve, self._ahead, self._filters, self._tell = stored, sieve, ahead, filters, tell
        self._pieces: Iterator[tuple[list[Message], float | None]] | None = None

    def more(self) -> tuple[list[Place], float | None]:
        if self._pieces is None:
            self._tell(self._stored.size)
            if self._ahead.is_clean(self._stored):
                return [], None
            self._pieces = scanned(self._stored, self._sieve)
        try:
            messages, begins = next(self._pieces, ([], -math.inf))
        except OSError:
            return [], None
        places = [place for message in messages if (place := self._place(message)) is not None]
        if begins == -math.inf or (begins is not None and begins + SLACK < self._filters.after):
            return places, None
        return places, -math.inf if begins is None else -(begins + SLACK)

    def _place(self, message: Message) -> Place | None:
        age = age_of(message.time, self._stored)
        if not self._filters.after <= -age < self._filters.before:
            return None
        return Place(age, self._stored.path, -message.start, message.end, self._stored, message)
