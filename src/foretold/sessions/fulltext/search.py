"""Full-text search over what was said, in all sessions of all agents.

1. A message is found if every word of the query is in it, said by whom and with which tool it is asked for. What may be
   meant comes from the index, or from the files; whether it is meant is decided by its text, as it stands in the file
   now. So answers are the same with and without the index, and a stale index gives no wrong one.
2. The newest come first. Ranked, the best of the newest `POOL` come first: how often the words occur, in how short a
   message, and what a person said before what a model said before what a tool printed.
3. The transcripts of subagents are searched as well; what resumes them is what resumes their session.
4. Where no index can be kept, the files are searched, and a finding says why.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3

from foretold.errors import ForetoldError
from foretold.paths import cache_home
from foretold.sessions.catalog import homes_here, is_of, newest_first
from foretold.sessions.formats.readers import reader_of
from foretold.sessions.fulltext.calls import with_tools
from foretold.sessions.fulltext.database import key_of
from foretold.sessions.fulltext.index import Index, Unusable
from foretold.sessions.fulltext.message_text import Said, chosen, said_in
from foretold.sessions.fulltext.ordering import Filters, Place, from_files, from_index
from foretold.sessions.fulltext.query import Matcher, query_of
from foretold.sessions.fulltext.snippet import Snippet, snippet_of
from foretold.sessions.model import StoredSession
from foretold.sessions.relocate.project_folder import Homing
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from foretold.sessions.fulltext.database import Key
    from foretold.sessions.fulltext.query import Query
    from foretold.sessions.model import Homes, Message

    Progress = Callable[[int, int], object]  #: bytes that are done, bytes in all

ORDERS = ("newest", "ranked")
POOL = 1000
WEIGHTS = {"user": 1.5, "assistant": 1.2}


class Hit(NamedTuple):
    """A message that was found."""

    stored: StoredSession  #: of a subagent, `parent` is the session it belongs to
    message: str  #: its id
    role: str  #: of what is shown: user, assistant, system, tool
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
    index: Index | None = None,
    progress: Progress | None = None,
) -> Results:
    """Messages with every word of a query: `word`, `"a phrase"`, `begin*`, `-without`.

    Whoever asks many questions keeps an index open (`open_index`) and gives it: then no folder is looked through, and
    what was written after its last update is not found.

    >>> import tempfile
    >>> from foretold.sessions.model import Homes
    >>> search("pool", homes=Homes(tempfile.mkdtemp(), {}))
    Results(hits=(), more=False, sessions=0, findings=())
    """
    if order not in ORDERS:
        raise ForetoldError(f"no order is called {order!r}; there are: {', '.join(ORDERS)}")
    homes = homes or homes_here()
    asked = query_of(query)
    sessions = newest_first(homes, agents) if index is None else _of(index.sessions(), agents)
    findings: list[Finding] = []
    filters = Filters(
        -math.inf if after is None else after, math.inf if before is None else before, tuple(roles), tuple(tools)
    )
    folder = os.path.realpath(project) if project else ""
    if not asked.wanted:
        return Results((), more=False, sessions=len(sessions))
    if index is not None:
        return _answer(asked, index, sessions, Homing(homes, folder), folder, filters, findings, limit, order, progress)
    own = _index(homes, cache, sessions, findings, progress) if use_index and sessions else None
    with own or Index(""):
        return _answer(asked, own, sessions, Homing(homes, folder), folder, filters, findings, limit, order, progress)


def _of(sessions: list[StoredSession], agents: Iterable[str] | None) -> list[StoredSession]:
    names = None if agents is None else {*agents}
    return sessions if names is None else [stored for stored in sessions if stored.agent in names]


def _answer(
    asked: Query,
    index: Index | None,
    sessions: list[StoredSession],
    homing: Homing,
    folder: str,
    filters: Filters,
    findings: list[Finding],
    limit: int,
    order: str,
    progress: Progress | None,
) -> Results:
    known = index.known() if index is not None else {}
    cards = _Cards({key: each.card for key, (_, each) in known.items()}, homing)
    some = [stored for stored in sessions if is_of(cards.of(stored), folder)] if folder else sessions
    if index is not None:
        places = from_index(index, asked, some, filters)
    else:
        places = from_files(asked, some, filters, _telling(some, progress))
    matcher = Matcher(asked)
    hits = list(_hits(places, matcher, filters, POOL if order == "ranked" else limit + 1))
    if order == "ranked":
        hits.sort(key=lambda hit: -hit.score)
    shown = tuple(_shown(hit, cards.of(hit.stored)) for hit in hits[:limit])
    return Results(shown, len(hits) > limit, len(some), tuple(findings))


def open_index(homes: Homes | None = None, *, cache: str | None = None, progress: Progress | None = None) -> Index:
    """The index of all sessions, up to date. Close it, or use it in a `with`.

    >>> import tempfile
    >>> from foretold.sessions.model import Homes
    >>> with open_index(Homes(tempfile.mkdtemp(), {})) as index:
    ...     search("pool", index=index).sessions
    0
    """
    homes = homes or homes_here()
    index = Index(cache or cache_home({**homes.env, "HOME": homes.home}))
    try:
        index.update(newest_first(homes), progress)
    except BaseException:
        index.close()
        raise
    return index


def _index(
    homes: Homes, cache: str | None, sessions: list[StoredSession], findings: list[Finding], progress: Progress | None
) -> Index | None:
    """The index, up to date; None if none can be kept here."""
    index = Index(cache or cache_home({**homes.env, "HOME": homes.home}))
    try:
        index.update(sessions, progress, findings)
    except (sqlite3.Error, OSError, Unusable) as error:
        index.close()
        said = f"no index can be kept here ({error}); the files themselves were searched"
        findings.append(Finding(index.home, None, "index-unusable", said))
        return None
    except BaseException:
        index.close()
        raise
    return index


class _Cards:
    """Sessions with title, folder and the like: as the index keeps them, else from both ends of their files. The folder
    is the one that they belong to now."""

    def __init__(self, known: dict[Key, str], homing: Homing) -> None:
        self._known, self._homing = known, homing
        self._read: dict[Key, StoredSession] = {}

    def of(self, stored: StoredSession) -> StoredSession:
        key = key_of(stored)
        if key not in self._read:
            kept = self._known.get(key)
            card = StoredSession(*json.loads(kept)) if kept else reader_of(stored.agent).summarize(stored)
            self._read[key] = self._homing.at_home(card)
        return self._read[key]


def _telling(sessions: list[StoredSession], progress: Progress | None) -> Callable[[int], object]:
    total, done = sum(stored.size for stored in sessions), 0

    def tell(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, total)

    return tell


# From places to hits


def _hits(places: Iterable[Place], matcher: Matcher, filters: Filters, most: int) -> Iterator[Hit]:
    left = most
    for place in places:
        message = place.read()
        hit = None if message is None else _hit(place.stored, message, matcher, filters)
        if hit is not None:
            yield hit
            left -= 1
            if left <= 0:
                return


def _hit(stored: StoredSession, message: Message, matcher: Matcher, filters: Filters) -> Hit | None:
    said = chosen(said_in(message), filters.roles, ())
    if not matcher.fits([each.text for each in said]):
        return None
    if any(part.kind == "result" and not part.tool for part in message.parts):
        message = with_tools(stored, message)
        said = chosen(said_in(message), filters.roles, ())
    said = chosen(said, (), filters.tools)
    if not matcher.fits([each.text for each in said]):
        return None
    best = max(said, key=lambda each: len(matcher.spans(each.text, 20))) if len(said) > 1 else said[0]
    snippet = snippet_of(best.text, matcher.spans(best.text, 100))  # now: the text of a hit may be of megabytes
    return Hit(
        stored, message.id, best.voice, best.tool, message.time, snippet, (), message.start, _score(matcher, said)
    )


def _score(matcher: Matcher, said: list[Said]) -> float:
    """How well a message fits: occurrences count less and less, and less in a long message."""
    texts = [each.text for each in said]
    length = 0.25 + 0.75 * sum(map(len, texts)) / 2000
    found = sum(count / (count + 1.2 * length) for count in matcher.counts(texts))
    return round(found * max(WEIGHTS.get(each.voice, 1.0) for each in said), 6)


def _shown(hit: Hit, card: StoredSession) -> Hit:
    """A hit as it is shown: with its session's card, and the command that resumes it."""
    return hit._replace(stored=card, command=reader_of(card.agent).resume_command(card))
