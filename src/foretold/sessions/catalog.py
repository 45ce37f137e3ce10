"""Every session on this machine, straight from disk: what agents' own pickers do not show is here too.

1. Sessions are found by scanning folders; no index of the agent, and none of ours, is believed.
2. They are put in order by when their file was last written, newest first; only as many as are asked for are opened,
   and of those only head and tail are read.
3. A session belongs to the folder that it was held in. If that is gone, it belongs to the one that its agent keeps it
   for (`kept.py`): a project that has moved, and its sessions with it.
4. A name finds a session by its id, its file, the beginning of its id, its title, or the beginning of its title. What
   fits several is told with all that tells them apart (`named.py`).
"""

from __future__ import annotations

import json
import os
import stat
from itertools import islice

from foretold.errors import NoSuchSession, SessionFailed
from foretold.sessions.ambiguous import several
from foretold.sessions.formats.jsonl_ends import bytes_of
from foretold.sessions.formats.readers import READERS, reader_of
from foretold.sessions.model import Homes, StoredSession
from foretold.sessions.relocate.project_folder import KEPT_BY, Homing, is_below, kept_in
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from foretold.sessions.model import Message
    from foretold.types import Finding

IN_PLAIN_TEXT = ("claude-code",)  #: agents whose sessions have their folder in them as it is
LISTS = "foretold sessions lists them, --all in every folder"
KINDS = ("main", "fork", "archived")  #: those that a person has held


def homes_here(home: str | None = None, env: Mapping[str, str] | None = None) -> Homes:
    """Where the sessions of this user are. Another home has none of this process's environment."""
    if home is not None:
        return Homes(os.path.abspath(home), env or {})
    return Homes(os.path.expanduser("~"), os.environ if env is None else env)


def newest_first(homes: Homes, agents: Iterable[str] | None = None) -> list[StoredSession]:
    """Every session by path, id and time of its file; none is opened."""
    found = [_dated(stored) for agent in agents or READERS for stored in reader_of(agent).find_sessions(homes)]
    return sorted(found, key=lambda stored: (-stored.changed, stored.path, stored.id))


def _dated(stored: StoredSession) -> StoredSession:
    if stored.changed:
        return stored
    try:
        status = os.stat(stored.path)
    except OSError:
        return stored
    return stored._replace(changed=status.st_mtime, size=status.st_size)


def list_sessions(
    homes: Homes | None = None,
    *,
    agents: Iterable[str] | None = None,
    project: str | None = None,
    kinds: tuple[str, ...] = KINDS,
    limit: int | None = None,
) -> list[StoredSession]:
    """The newest sessions first, of all agents and all projects, or of one.

    >>> import tempfile
    >>> list_sessions(Homes(tempfile.mkdtemp(), {}))
    []
    """
    found = sessions_of(homes or homes_here(), agents=agents, project=project, kinds=kinds)
    return by_time(islice(found, limit))


def by_time(cards: Iterable[StoredSession]) -> list[StoredSession]:
    """Sessions that were opened, by the time of their last record, newest first: a file may be written to later.

    >>> cards = StoredSession("codex", "1", "", changed=5.0), StoredSession("codex", "2", "", changed=7.0)
    >>> [stored.id for stored in by_time(cards)]
    ['2', '1']
    """
    return sorted(cards, key=lambda stored: -stored.changed)


def sessions_of(
    homes: Homes,
    *,
    agents: Iterable[str] | None = None,
    project: str | None = None,
    kinds: tuple[str, ...] = KINDS,
) -> Iterator[StoredSession]:
    """The same one by one: a session is opened when it is asked for."""
    folder = os.path.realpath(project) if project else ""
    homing = Homing(homes, folder)
    for stored in newest_first(homes, agents):
        if stored.kind not in kinds and stored.kind != "main":
            continue
        if folder and not _may_be_of(stored, folder):
            continue
        card = card_of(stored, homing)
        if card and card.kind in kinds and (not folder or is_of(card, folder)):
            yield card


def _may_be_of(stored: StoredSession, folder: str) -> bool:
    """Whether a session may belong to a folder: to look for bytes is ten times faster than to parse them."""
    if stored.agent not in IN_PLAIN_TEXT or not folder.isascii() or json.dumps(folder) != f'"{folder}"':
        return True
    if stored.agent in KEPT_BY and is_below(kept_in(stored), KEPT_BY[stored.agent](folder)):
        return True
    return _is_file(stored.path) and any(folder.encode() in data for data in bytes_of(stored.path)[:2])


def card_of(stored: StoredSession, homing: Homing | None = None) -> StoredSession | None:
    """A session with what its ends tell, and its folder; None if it is no file: a pipe would never end."""
    if not _is_file(stored.path):
        return None
    return (homing or Homing()).at_home(reader_of(stored.agent).summarize(stored))


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def messages_of(stored: StoredSession, findings: list[Finding] | None = None) -> Iterator[Message]:
    """The messages of a session; a file that cannot be read, or is none, is an error that says so."""
    if not _is_file(stored.path):
        raise SessionFailed(f"{stored.path!r} is not there any more, or is no file")
    try:
        yield from reader_of(stored.agent).read_messages(stored, 0, findings)
    except OSError as error:
        raise SessionFailed(f"{stored.path!r} cannot be read: {error.strerror}") from None


def is_of(stored: StoredSession, folder: str) -> bool:
    """Whether a session was held in a folder or below it.

    >>> [is_of(StoredSession("codex", "1", "", cwd=cwd), "/a") for cwd in ("/a/b", "/ab")]
    [True, False]
    """
    cwd = stored.cwd.rstrip("/") or "/"
    return bool(stored.cwd) and (cwd == folder or cwd.startswith(folder.rstrip("/") + "/"))


def find_session(homes: Homes, name: str, *, agents: Iterable[str] | None = None, hint: str = LISTS) -> StoredSession:
    """The session with an id, a file, the beginning of an id, a title, or the beginning of a title."""
    if not name.strip():
        raise NoSuchSession(f"a session has an id; {hint}")
    every, homing = newest_first(homes, agents), Homing(homes)
    close = [stored for stored in every if stored.id == name] or _filed(every, name) or _begun(every, name)
    close = close or _titled(every, name, homing)
    if not close:
        raise NoSuchSession(f"no session is called {name!r}; {hint}")
    if len({(stored.agent, stored.id) for stored in close}) > 1:
        raise NoSuchSession(several(name, close, card_of))
    card = card_of(close[0], homing)
    if card is None:
        raise SessionFailed(f"{close[0].path!r} is not there any more, or is no file")
    return card


def _begun(every: list[StoredSession], name: str) -> list[StoredSession]:
    """Sessions whose id begins so; those of subagents only if there is no other."""
    begun = [stored for stored in every if stored.id.startswith(name)]
    return [stored for stored in begun if stored.kind != "subagent"] or begun


def _filed(every: list[StoredSession], name: str) -> list[StoredSession]:
    """Sessions in a file of this name."""
    try:
        status = os.stat(name)
    except (OSError, ValueError):
        return []
    path = os.path.realpath(name)
    same = [stored for stored in every if stored.size == status.st_size or not stored.size]
    return [stored for stored in same if os.path.realpath(stored.path) == path]


def _titled(every: list[StoredSession], name: str, homing: Homing) -> list[StoredSession]:
    """Sessions with a title; else those whose title begins so, in letters of any case."""
    cards = [card for stored in every if stored.kind != "subagent" and (card := card_of(stored, homing))]
    begin = " ".join(name.split()).casefold()
    whole = [card for card in cards if card.title == name]
    return whole or [card for card in cards if card.title.casefold().startswith(begin)]
