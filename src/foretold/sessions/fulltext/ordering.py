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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing

from foretold.sessions.formats.jsonl import unreadable
from foretold.sessions.fulltext.index import SessionIndex, key_of
from foretold.sessions.fulltext.message_text import VOICES, is_queued, mask_of
from foretold.sessions.fulltext.query import ascii_words, fts_expression
from foretold.sessions.fulltext.scan import ParallelScan, message_at, scan_session
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.sessions.fulltext.index import IndexShard, Progress
    from foretold.sessions.fulltext.query import SearchQuery
    from foretold.sessions.model import Message, StoredSession
    from foretold.types import Finding

    Found = Iterator[tuple[StoredSession, Message]]
    #: age, path, negated start, end, session, and the message where it has been read already; an age is a negated time
    Place = tuple[float, str, int, int, StoredSession, Message | None]
    #: what has not been looked at: some places at a time, and how old the rest is at least
    Source = Iterator[tuple[list[Place], float]]

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


def _sort(sources: Iterable[tuple[float, str, Source]]) -> Found:
    """The messages of sources, the newest first, each once. A source comes with its age and its path."""
    waiting = [(age, path, number, source) for number, (age, path, source) in enumerate(sources)]
    places: list[Place] = []
    heapq.heapify(waiting)
    last = None
    while places or waiting:
        if waiting and (not places or waiting[0][0] <= places[0][0]):
            begins, path, number, source = heapq.heappop(waiting)
            step = next(source, None)
            if step is not None:
                for place in step[0]:
                    heapq.heappush(places, place)
                heapq.heappush(waiting, (max(step[1], begins), path, number, source))
            continue
        _, path, back, end, stored, read = heapq.heappop(places)
        key = (path, back, stored.id)
        message = None if key == last else read or message_at(stored, -back, end)
        last = key
        if message is not None and not is_queued(stored, message):
            yield stored, message


def _age_of(time: float | None, stored: StoredSession) -> float:
    return -(stored.changed if time is None else min(time, stored.changed))


def messages_in_index(
    index: SessionIndex, query: SearchQuery, sessions: Sequence[StoredSession], filters: Filters
) -> Found:
    """Messages in the index, the newest first. What is new must have been read by `SessionIndex.update`."""
    match = fts_expression(query)
    mask = mask_of(filters.roles or VOICES)
    tools = {name.lower() for name in filters.tools}

    def find(shard: IndexShard, here: Mapping[int, StoredSession], first: int = 0, last: int = 2**62) -> Source:
        places: list[Place] = []
        for session, start, size, time, voices, used in shard.find(match, first, last):
            stored = here.get(session)
            if stored is None or not voices & mask or (tools and tools.isdisjoint(used.lower().split("\n"))):
                continue
            age = _age_of(time, stored)
            if filters.has_time(-age):
                places.append((age, stored.path, -start, start + size, stored, None))
        yield places, math.inf

    sources: list[tuple[float, str, Source]] = []
    for shard in index.shards:
        known = shard.known
        here = {known[key].row: stored for stored in sessions if (key := key_of(stored)) in known}
        if not shard.has_more_than(FEW, match):
            sources.append((-math.inf, "", find(shard, here)))
            continue
        sources += [
            (_age_of(newest, here[session]), here[session].path, find(shard, here, first, last))
            for first, last, session, newest in shard.batches()
            if session in here and not filters.is_before(newest)
        ]
    return _sort(sources)


def messages_in_files(
    query: SearchQuery,
    sessions: Sequence[StoredSession],
    filters: Filters,
    progress: Progress | None,
    findings: list[Finding],
) -> Found:
    """The same messages, straight from the files. `progress` gets the size of those that were opened, and of all;
    `findings` those that cannot be read."""
    words = ascii_words(query)
    some = [stored for stored in sessions if not filters.is_before(stored.changed)]
    total, done = sum(stored.size for stored in sessions), 0

    def scan(stored: StoredSession) -> Source:
        nonlocal done
        done += stored.size
        if progress is not None:
            progress(done, total)
        if parallel.is_clean(stored):
            return
        try:
            for messages, begins in scan_session(stored, words):
                aged = [(_age_of(message.time, stored), message) for message in messages]
                yield (
                    [
                        (age, stored.path, -message.start, message.end, stored, message)
                        for age, message in aged
                        if filters.has_time(-age)
                    ],
                    -math.inf if begins is None else -(begins + SLACK),
                )
                if begins is not None and filters.is_before(begins + SLACK):
                    return
        except OSError as error:
            findings.append(unreadable(stored.path, error))

    with closing(ParallelScan(words, some)) as parallel:
        yield from _sort((-stored.changed, stored.path, scan(stored)) for stored in some)
