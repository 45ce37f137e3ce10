"""Full-text search over all sessions of all agents.

1. A message is found if every word of the query is in what the asked roles said, with the asked tools. Candidates come
   from the index, or from the files; whether one matches is decided by its text, as it is in the file now. So answers
   are the same with and without the index, and a stale index gives no wrong one.
2. The newest come first. Ranked, the best of the newest `POOL` come first: how often the words occur, in how short a
   message, and what a person said before what a model said before what a tool printed.
3. The transcripts of subagents are searched as well; they are resumed by resuming their session.
4. Where no index can be written, the files are searched, and a finding says why.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import islice

from foretold.errors import ForetoldError
from foretold.paths import cache_home
from foretold.sessions.catalog import find_homes, is_held_in, newest_first
from foretold.sessions.formats.readers import reader_of
from foretold.sessions.fulltext.index import SessionIndex, UnusableIndex, key_of
from foretold.sessions.fulltext.message_text import Passage, choose_passages, passages_of, with_tools
from foretold.sessions.fulltext.ordering import Filters, MessagePlace, places_in_files, places_in_index
from foretold.sessions.fulltext.query import QueryMatcher, parse_query
from foretold.sessions.model import StoredSession
from foretold.sessions.relocate.project_folder import FolderResolver
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from foretold.sessions.fulltext.index import Key, Progress
    from foretold.sessions.model import Homes, Message

ORDERS = ("newest", "ranked")
POOL = 1000
WEIGHTS = {"user": 1.5, "assistant": 1.2}
WIDTH = 160  #: characters of a snippet
_BEFORE = 40  #: of them, before the first word


class Snippet(NamedTuple):
    """A line of text, and the words in it that were searched for."""

    text: str
    marks: tuple[tuple[int, int], ...]  #: from which character to which


class Hit(NamedTuple):
    """A message that was found."""

    stored: StoredSession  #: of a subagent, `parent` is the session it belongs to
    message: str  #: its id
    role: str  #: of what the snippet shows: user, assistant, system, tool
    tool: str
    time: float | None
    snippet: Snippet
    command: tuple[str, ...]  #: what resumes the session, typed in `stored.cwd`
    start: int  #: where the record begins
    score: float = 0.0  #: where hits are ranked


class Results(NamedTuple):
    """What was found."""

    hits: tuple[Hit, ...]
    more: bool  #: whether there is more than was asked for
    sessions: int  #: that were searched
    findings: tuple[Finding, ...] = ()


def search(
    query: str,
    *,
    homes: Homes | None = None,
    project: str | None = None,
    agents: Iterable[str] | None = None,
    after: float | None = None,
    before: float | None = None,
    roles: Sequence[str] = (),
    tools: Sequence[str] = (),
    limit: int = 20,
    order: str = "newest",
    use_index: bool = True,
    cache: str | None = None,
    index: SessionIndex | None = None,
    progress: Progress | None = None,
) -> Results:
    """Messages with every word of a query: `word`, `"a phrase"`, `begin*`, `-without`.

    For many questions, open the index once (`open_index`) and pass it as `index`: then no folder is scanned, and what
    was written after the index was opened is not found.

    >>> import tempfile
    >>> from foretold.sessions.model import Homes
    >>> search("pool", homes=Homes(tempfile.mkdtemp(), {}))
    Results(hits=(), more=False, sessions=0, findings=())
    """
    if order not in ORDERS:
        raise ForetoldError(f"no order is called {order!r}; there are: {', '.join(ORDERS)}")
    homes = homes or find_homes()
    asked = parse_query(query)
    sessions = newest_first(homes, agents) if index is None else _of_agents(index.sessions(), agents)
    if not asked.wanted:
        return Results((), more=False, sessions=len(sessions))
    findings: list[Finding] = []
    folder = os.path.realpath(project) if project else ""
    filters = Filters(after, before, tuple(roles), tuple(tools))
    is_own = index is None and use_index and bool(sessions)
    if is_own:
        index = _index_or_none(homes, cache, sessions, progress, findings)
    with index if is_own and index is not None else nullcontext():
        summaries = _Summaries(index, FolderResolver(homes, folder))
        some = [stored for stored in sessions if is_held_in(summaries.of(stored), folder)] if folder else sessions
        places = (
            places_in_files(asked, some, filters, _sum_up(some, progress))
            if index is None
            else places_in_index(index, asked, some, filters)
        )
        found = _hits_of(places, QueryMatcher(asked), filters)
        hits = list(islice(found, POOL if order == "ranked" else limit + 1))
        if order == "ranked":
            hits.sort(key=lambda hit: -hit.score)
        shown = tuple(
            hit._replace(stored=stored, command=reader_of(stored.agent).resume_command(stored))
            for hit in hits[:limit]
            for stored in (summaries.of(hit.stored),)
        )
    return Results(shown, len(hits) > limit, len(some), tuple(findings))


def _of_agents(sessions: list[StoredSession], agents: Iterable[str] | None) -> list[StoredSession]:
    names = None if agents is None else {*agents}
    return sessions if names is None else [stored for stored in sessions if stored.agent in names]


def open_index(
    homes: Homes | None = None, *, cache: str | None = None, progress: Progress | None = None
) -> SessionIndex:
    """The index of all sessions, up to date. Close it, or use it in a `with`.

    >>> import tempfile
    >>> from foretold.sessions.model import Homes
    >>> with open_index(Homes(tempfile.mkdtemp(), {})) as index:
    ...     search("pool", index=index).sessions
    0
    """
    homes = homes or find_homes()
    return _update_index(homes, cache, newest_first(homes), progress)


def _update_index(
    homes: Homes,
    cache: str | None,
    sessions: list[StoredSession],
    progress: Progress | None,
    findings: list[Finding] | None = None,
) -> SessionIndex:
    index = SessionIndex(_cache_of(homes, cache))
    try:
        index.update(sessions, progress, findings)
    except BaseException:
        index.close()
        raise
    return index


def _index_or_none(
    homes: Homes, cache: str | None, sessions: list[StoredSession], progress: Progress | None, findings: list[Finding]
) -> SessionIndex | None:
    """The index, up to date; None if none can be written here."""
    try:
        return _update_index(homes, cache, sessions, progress, findings)
    except (sqlite3.Error, OSError, UnusableIndex) as error:
        folder = _cache_of(homes, cache)
        said = f"no index can be written here ({error}); the files themselves were searched"
        findings.append(Finding(folder, None, "index-unusable", said))
        return None


def _cache_of(homes: Homes, cache: str | None) -> str:
    return cache or cache_home({**homes.env, "HOME": homes.home})


class _Summaries:
    """Sessions with title, folder and the like: from the index, else from both ends of their files. The folder is the
    one that they belong to now."""

    def __init__(self, index: SessionIndex | None, homing: FolderResolver) -> None:
        self._index, self._homing = index, homing
        self._read: dict[Key, StoredSession] = {}

    def of(self, stored: StoredSession) -> StoredSession:
        key = key_of(stored)
        if key not in self._read:
            known = self._index.known().get(key) if self._index is not None else None
            noted = known.summary if known is not None else ""
            summary = StoredSession(*json.loads(noted)) if noted else reader_of(stored.agent).summarize(stored)
            self._read[key] = self._homing.resolve_folder(summary)
        return self._read[key]


def _sum_up(sessions: list[StoredSession], progress: Progress | None) -> Callable[[int], object]:
    """A function that adds up what it is given, and reports the sum."""
    total, done = sum(stored.size for stored in sessions), 0

    def report(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, total)

    return report


# From places to hits


def _hits_of(places: Iterable[MessagePlace], matcher: QueryMatcher, filters: Filters) -> Iterator[Hit]:
    for place in places:
        message = place.read()
        hit = None if message is None else _hit_of(place.stored, message, matcher, filters)
        if hit is not None:
            yield hit


def _hit_of(stored: StoredSession, message: Message, matcher: QueryMatcher, filters: Filters) -> Hit | None:
    said = choose_passages(passages_of(message), filters.roles, ())
    if not matcher.fits([each.text for each in said]):
        return None
    if any(part.kind == "result" and not part.tool for part in message.parts):
        message = with_tools(stored, message)
        said = choose_passages(passages_of(message), filters.roles, ())
    said = choose_passages(said, (), filters.tools)
    if not matcher.fits([each.text for each in said]):
        return None
    best = max(said, key=lambda each: len(matcher.spans(each.text, 20))) if len(said) > 1 else said[0]
    return Hit(
        stored=stored,
        message=message.id,
        role=best.voice,
        tool=best.tool,
        time=message.time,
        snippet=snippet_of(best.text, matcher.spans(best.text, 100)),  # now: the text of a hit may have megabytes
        command=(),
        start=message.start,
        score=_score_of(said, matcher),
    )


def _score_of(said: list[Passage], matcher: QueryMatcher) -> float:
    """How well a message matches: occurrences count less and less, and less in a long message."""
    texts = [each.text for each in said]
    length = 0.25 + 0.75 * sum(map(len, texts)) / 2000
    found = sum(count / (count + 1.2 * length) for count in matcher.counts(texts))
    return round(found * max(WEIGHTS.get(each.voice, 1.0) for each in said), 6)


# Snippets


def snippet_of(text: str, spans: Sequence[tuple[int, int]], width: int = WIDTH) -> Snippet:
    """A snippet around the place where most of the words are; white space becomes single spaces.

    >>> snippet_of("Set the\\n  pool size", [(10, 14)])
    Snippet(text='Set the pool size', marks=((8, 12),))
    >>> snippet_of("a" * 50 + " pool " + "b" * 50, [(51, 55)], 30)
    Snippet(text='…aaaaaaa pool bbbbbbbbbbbbbbb…', marks=((9, 13),))
    """
    at = _densest(spans, width)
    start = max(0, (spans[at][0] if spans else 0) - min(_BEFORE, width // 3) * 2)
    length = 2 * width
    characters, marks = _one_line(text, start, spans, length)
    first = marks[0][0] if marks else 0
    cut = max(0, min(first - min(_BEFORE, width // 4 + 1), len(characters) - width)) if len(characters) > width else 0
    has_head, has_tail = bool(start or cut), False
    line = characters[cut:]
    if len(line) + has_head > width or start + length < len(text):
        line, has_tail = line[: width - 1 - has_head], True
    if has_head:
        line = "…" + line
    moved = [(a - cut + has_head, b - cut + has_head) for a, b in marks]
    visible = tuple((a, min(b, len(line))) for a, b in moved if has_head <= a < len(line))
    return Snippet(line + "…" * has_tail, visible)


def _densest(spans: Sequence[tuple[int, int]], width: int) -> int:
    """The span after which most others follow within a width."""
    best, most, end = 0, 0, 0
    for at, (start, _) in enumerate(spans):
        while end < len(spans) and spans[end][1] <= start + width - _BEFORE:
            end += 1
        if end - at > most:
            best, most = at, end - at
    return best


def _one_line(
    text: str, start: int, spans: Sequence[tuple[int, int]], length: int
) -> tuple[str, list[tuple[int, int]]]:
    """Some characters of a text with single spaces, and where the spans are then."""
    made: list[str] = []
    place: dict[int, int] = {}
    for at in range(start, min(len(text), start + length)):
        char = text[at]
        if char.isspace():
            if made and made[-1] != " ":
                made.append(" ")
            place[at] = len(made)
            continue
        place[at] = len(made)
        made.append(char if char.isprintable() else "·")
    marks = [(place[a], place[b - 1] + 1) for a, b in spans if a in place and b - 1 in place]
    return "".join(made).rstrip(), marks
