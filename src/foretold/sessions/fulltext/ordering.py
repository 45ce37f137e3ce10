"""Messages that may match, the newest first, with or without the index.

1. A message is as old as its time says, and never newer than its session, which is as old as its file. One without a
   time counts as its session. Of the same age, the order is by file, and from its end.
2. With the index: where few messages have the words, all of them are sorted. Otherwise batches are opened from the
   newest on, until nothing in those that are left can be newer than what was found.
3. Without it: files are read from the newest on, each from its end, and for as long. The records of a file are assumed
   to be in the order of their times, give or take `SLACK`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence

from foretold.sessions.fulltext.index import SessionIndex, key_of
from foretold.sessions.fulltext.message_text import VOICES, is_queued, mask_of
from foretold.sessions.fulltext.query import ascii_words, fts_expression
from foretold.sessions.fulltext.scan import LineFilter, ParallelScan, message_at, scan_session
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.sessions.fulltext.index import Batch, IndexedMessage
    from foretold.sessions.fulltext.query import SearchQuery
    from foretold.sessions.model import Message, StoredSession

FEW = 2_000  #: messages that are put in order all at once
SLACK = 3600.0  #: seconds


class Filters(NamedTuple):
    """Which messages are asked for."""

    after: float | None = None
    before: float | None = None
    roles: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    def has_time(self, time: float) -> bool:
        return not self.is_before(time) and (self.before is None or time < self.before)

    def is_before(self, time: float) -> bool:
        """Whether a time is too early."""
        return self.after is not None and time < self.after


class MessagePlace(NamedTuple):
    """Where a message is; places are ordered by age."""

    age: float  #: its time, negated
    path: str
    back: int  #: where it begins, negated
    end: int
    stored: StoredSession
    message: Message | None = None  #: where it has been read already

    def read(self) -> Message | None:
        message = self.message or message_at(self.stored, -self.back, self.end)
        return None if message is None or is_queued(self.stored, message) else message


class PlaceSource(NamedTuple):
    """Places that have not been looked at; none is newer than this."""

    age: float
    path: str
    number: int
    more: Callable[[], tuple[list[MessagePlace], float | None]]  #: some of them, and how old the rest is; None: no rest


def sort_places(places: list[MessagePlace], sources: list[PlaceSource]) -> Iterator[MessagePlace]:
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


def _age_of(time: float | None, stored: StoredSession) -> float:
    return -(stored.changed if time is None else min(time, stored.changed))


# With the index


def places_in_index(
    index: SessionIndex, query: SearchQuery, sessions: Sequence[StoredSession], filters: Filters
) -> Iterator[MessagePlace]:
    """Places in the index, the newest first. What is new must have been read by `SessionIndex.update`."""
    known = index.known()
    here = {known[key].row: stored for stored in sessions if (key := key_of(stored)) in known}
    match = fts_expression(query)
    if not index.has_more_than(FEW, match):
        return sort_places(_places_of(index.find(match), here, filters), [])

    def source_of(batch: Batch) -> PlaceSource:
        stored = here[batch.session]

        def more() -> tuple[list[MessagePlace], None]:
            return _places_of(index.find(match, batch.first, batch.last), here, filters), None

        return PlaceSource(_age_of(batch.newest, stored), stored.path, batch.first, more)

    batches = [batch for batch in index.batches() if batch.session in here and not filters.is_before(batch.newest)]
    return sort_places([], [source_of(batch) for batch in batches])


def _places_of(rows: list[IndexedMessage], here: dict[int, StoredSession], filters: Filters) -> list[MessagePlace]:
    mask = mask_of(filters.roles or VOICES)
    tools = {name.lower() for name in filters.tools}
    found = []
    for row in rows:
        stored = here.get(row.session)
        if stored is None or not row.voices & mask or (tools and tools.isdisjoint(row.tools.lower().split("\n"))):
            continue
        age = _age_of(row.time, stored)
        if filters.has_time(-age):
            found.append(MessagePlace(age, stored.path, -row.start, row.start + row.size, stored))
    return found


# Without it


def places_in_files(
    query: SearchQuery, sessions: Sequence[StoredSession], filters: Filters, progress: Callable[[int], object]
) -> Iterator[MessagePlace]:
    """The same places, straight from the files. `progress` is called with the size of each file that is opened."""
    lines = LineFilter(ascii_words(query))
    some = [stored for stored in sessions if not filters.is_before(stored.changed)]
    parallel = ParallelScan(lines, some)
    sources = []
    for number, stored in enumerate(some):
        scan = _FileScan(stored, lines, parallel, filters, progress)
        sources.append(PlaceSource(-stored.changed, stored.path, number, scan.read_more))
    try:
        yield from sort_places([], sources)
    finally:
        parallel.close()


class _FileScan:
    """A session that is read as far as it is needed."""

    def __init__(
        self,
        stored: StoredSession,
        lines: LineFilter,
        parallel: ParallelScan,
        filters: Filters,
        progress: Callable[[int], object],
    ) -> None:
        self._stored, self._lines, self._parallel = stored, lines, parallel
        self._filters, self._progress = filters, progress
        self._regions: Iterator[tuple[list[Message], float | None]] | None = None

    def read_more(self) -> tuple[list[MessagePlace], float | None]:
        if self._regions is None:
            self._progress(self._stored.size)
            if self._parallel.is_clean(self._stored):
                return [], None
            self._regions = scan_session(self._stored, self._lines)
        try:
            messages, begins = next(self._regions, ([], -math.inf))
        except OSError:
            return [], None
        places = [place for message in messages if (place := self._place_of(message)) is not None]
        if begins == -math.inf or (begins is not None and self._filters.is_before(begins + SLACK)):
            return places, None
        return places, -math.inf if begins is None else -(begins + SLACK)

    def _place_of(self, message: Message) -> MessagePlace | None:
        age = _age_of(message.time, self._stored)
        if not self._filters.has_time(-age):
            return None
        return MessagePlace(age, self._stored.path, -message.start, message.end, self._stored, message)
