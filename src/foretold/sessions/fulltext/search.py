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

import functools
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from itertools import islice

from foretold.errors import ForetoldError
from foretold.paths import cache_home
from foretold.sessions.catalog import find_homes, is_held_in, newest_first
from foretold.sessions.formats.readers import reader_of, resume_command
from foretold.sessions.fulltext.index import SessionIndex, UnusableIndex, key_of
from foretold.sessions.fulltext.message_text import Passage, choose_passages, passages_of
from foretold.sessions.fulltext.ordering import Filters, messages_in_files, messages_in_index
from foretold.sessions.fulltext.query import QueryMatcher, parse_query
from foretold.sessions.fulltext.scan import with_tools
from foretold.sessions.model import StoredSession
from foretold.sessions.relocate.project_folder import FolderResolver
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from foretold.sessions.fulltext.index import Progress
    from foretold.sessions.fulltext.ordering import Found
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
    asked, filters = parse_query(query), Filters(after, before, tuple(roles), tuple(tools))
    sessions = _sessions_of(index, homes, agents)
    if not asked.wanted:
        return Results((), more=False, sessions=len(sessions))
    findings: list[Finding] = []
    folder = os.path.realpath(project) if project else ""
    with ExitStack() as stack:
        if index is None and use_index and sessions:
            index = _update_index(_cache_of(homes, cache), sessions, progress, findings, stack)
        summary_of = _summarizer(index, FolderResolver(homes, folder))
        some = [stored for stored in sessions if is_held_in(summary_of(stored), folder)] if folder else sessions
        if index is None:
            messages = messages_in_files(asked, some, filters, progress, findings)
        else:
            messages = messages_in_index(index, asked, some, filters)
        hits = _take_hits(messages, QueryMatcher(asked), filters, order, limit + 1)
        summed = [(hit, summary_of(hit.stored)) for hit in hits[:limit]]
    shown = tuple(hit._replace(stored=stored, command=resume_command(stored)) for hit, stored in summed)
    return Results(shown, len(hits) > limit, len(some), tuple(findings))


def _sessions_of(index: SessionIndex | None, homes: Homes, agents: Iterable[str] | None) -> list[StoredSession]:
    """All sessions of these agents, the newest first."""
    names = None if agents is None else {*agents}
    if index is None:
        return newest_first(homes, names)
    return [stored for stored in index.sessions if names is None or stored.agent in names]


def _take_hits(messages: Found, matcher: QueryMatcher, filters: Filters, order: str, count: int) -> list[Hit]:
    found = (_hit_of(stored, message, matcher, filters) for stored, message in messages)
    if order != "ranked":
        return list(islice(filter(None, found), count))
    return sorted(islice(filter(None, found), POOL), key=lambda hit: -hit.score)


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
    index = SessionIndex(_cache_of(homes, cache))
    index.update(newest_first(homes), progress)
    return index


def _update_index(
    folder: str, sessions: list[StoredSession], progress: Progress | None, findings: list[Finding], stack: ExitStack
) -> SessionIndex | None:
    """The index, up to date and open until the stack ends; None if none can be written here."""
    index = SessionIndex(folder)
    try:
        index.update(sessions, progress, findings)
    except (sqlite3.Error, OSError, UnusableIndex) as error:
        said = f"no index can be written here ({error}); the files themselves were searched"
        findings.append(Finding(folder, None, "index-unusable", said))
        return None
    return stack.enter_context(index)


def _cache_of(homes: Homes, cache: str | None) -> str:
    return cache or cache_home({**homes.env, "HOME": homes.home})


def _summarizer(index: SessionIndex | None, resolver: FolderResolver) -> Callable[[StoredSession], StoredSession]:
    """Sessions with title, folder and the like: from the index, else from both ends of their files. The folder is the
    one that they belong to now."""

    @functools.cache
    def summary_of(stored: StoredSession) -> StoredSession:
        known = index.known.get(key_of(stored)) if index is not None else None
        noted = StoredSession(*json.loads(known.summary)) if known is not None and known.summary else None
        return resolver.resolve_folder(noted or reader_of(stored.agent).summarize(stored))

    return summary_of


def _hit_of(stored: StoredSession, message: Message, matcher: QueryMatcher, filters: Filters) -> Hit | None:
    said = choose_passages(passages_of(message), filters.roles, ())
    if not matcher.fits([each.text for each in said]):
        return None
    named = with_tools(stored, message)
    said = choose_passages(said if named is message else passages_of(named), filters.roles, filters.tools)
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
