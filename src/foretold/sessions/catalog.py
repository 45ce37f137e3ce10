"""Every session on this machine, straight from disk: what agents' own pickers do not show is here too.

1. Sessions are found by scanning folders; no index of the agent, and none of ours, is trusted.
2. They are sorted by when their file was last written, newest first; only as many as are asked for are opened, and of
   those only head and tail are read.
3. A session belongs to the folder that it was held in. If that is gone, it belongs to the one that its agent keeps it
   for (relocate/project_folder.py): a project that has moved, and its sessions with it.
4. A name finds a session by its id, its file, the beginning of its id, its title, or the beginning of its title. If it
   matches several, the error lists them, with enough of each id to tell them apart.
5. Where a person asks, the name may also be that of any transcript file, wherever it is: `files=True`. Then its content
   says whose it is (formats/recognition.py).
"""

from __future__ import annotations

import json
import os
import stat
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, count, islice

from foretold.errors import ForetoldError, NoSuchSession, SessionFailed
from foretold.sessions.formats.fields import with_status
from foretold.sessions.formats.jsonl import read_ends, unreadable
from foretold.sessions.formats.readers import READERS, reader_of
from foretold.sessions.model import Homes, StoredSession
from foretold.sessions.relocate.project_folder import FOLDER_NAMES, FolderResolver, folder_name_of, is_below
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from foretold.sessions.model import Message


IN_PLAIN_TEXT = ("claude-code",)  #: agents whose sessions have their folder in them as it is
LISTS = "foretold sessions lists them, --all in every folder"
KINDS = ("main", "fork", "archived")  #: those that a person has held
MOST = 8  #: sessions that an error lists
WIDTH = 80  #: columns of a line
SHORTEST = 8  #: characters of an id that people know sessions by


def find_homes(home: str | None = None, env: Mapping[str, str] | None = None) -> Homes:
    """Where the sessions of this user are. Another home has none of this process's environment."""
    if home is not None:
        return Homes(os.path.abspath(home), env or {})
    return Homes(os.path.expanduser("~"), os.environ if env is None else env)


def newest_first(homes: Homes, agents: Iterable[str] | None = None) -> list[StoredSession]:
    """Every session by path, id and time of its file; none is opened."""
    listed = (stored for agent in agents or READERS for stored in reader_of(agent).find_sessions(homes))
    found = [stored if stored.changed else next(iter(with_status(stored)), stored) for stored in listed]
    return sorted(found, key=lambda stored: (-stored.changed, stored.path, stored.id))


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
    found = iter_sessions(homes or find_homes(), agents=agents, project=project, kinds=kinds)
    return sort_by_time(islice(found, limit))


def sort_by_time(sessions: Iterable[StoredSession]) -> list[StoredSession]:
    """Sessions that were opened, by the time of their last record, newest first: a file may be written to later."""
    return sorted(sessions, key=lambda stored: -stored.changed)


def iter_sessions(
    homes: Homes,
    *,
    agents: Iterable[str] | None = None,
    project: str | None = None,
    kinds: tuple[str, ...] = KINDS,
    findings: list[Finding] | None = None,
) -> Iterator[StoredSession]:
    """The same one by one: a session is opened when it is asked for. What is not a file is named in `findings`."""
    folder = os.path.realpath(project) if project else ""
    resolver = FolderResolver(homes, folder)
    for stored in newest_first(homes, agents):
        if stored.kind not in kinds and stored.kind != "main":
            continue
        if folder and not _may_be_of(stored, folder):
            continue
        summary = summarize_session(stored, resolver)
        if summary is None and findings is not None and os.path.lexists(stored.path):
            findings.append(unreadable(stored.path, OSError("it is not a regular file")))
        if summary and summary.kind in kinds and (not folder or is_held_in(summary, folder)):
            yield summary


def _may_be_of(stored: StoredSession, folder: str) -> bool:
    """Whether a session may belong to a folder: searching bytes is ten times faster than parsing them."""
    if stored.agent not in IN_PLAIN_TEXT or not folder.isascii() or json.dumps(folder) != f'"{folder}"':
        return True
    if stored.agent in FOLDER_NAMES and is_below(folder_name_of(stored), FOLDER_NAMES[stored.agent](folder)):
        return True
    return _is_file(stored.path) and any(folder.encode() in data for data in read_ends(stored.path)[:2])


def summarize_session(stored: StoredSession, resolver: FolderResolver | None = None) -> StoredSession | None:
    """A session with what the ends of its file say, and its folder; None if it is not a file (a pipe never ends)."""
    if not _is_file(stored.path):
        return None
    return (resolver or FolderResolver()).resolve_folder(reader_of(stored.agent).summarize(stored))


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def messages_of(stored: StoredSession, findings: list[Finding] | None = None) -> Iterator[Message]:
    """The messages of a session. Raises SessionFailed if its file cannot be read, or is not a regular file."""
    if not _is_file(stored.path):
        raise SessionFailed(f"{stored.path!r} does not exist any more, or is not a file")
    try:
        yield from reader_of(stored.agent).read_messages(stored, 0, findings)
    except OSError as error:
        raise SessionFailed(f"{stored.path!r} cannot be read: {error.strerror}") from None


def is_held_in(stored: StoredSession, folder: str) -> bool:
    """Whether a session was held in a folder or below it."""
    cwd = stored.cwd.rstrip("/") or "/"
    return bool(stored.cwd) and (cwd == folder or cwd.startswith(folder.rstrip("/") + "/"))


def find_session(
    homes: Homes, name: str, *, agents: Iterable[str] | None = None, hint: str = LISTS, files: bool = False
) -> StoredSession:
    """The session with an id, a file, the beginning of an id, a title, or the beginning of a title.

    With `files`, also a transcript that is in no folder of an agent. A model does not get to name such a file.
    """
    if not name.strip():
        raise NoSuchSession(f"a session is named by its id or title; {hint}")
    every, resolver = newest_first(homes, agents), FolderResolver(homes)
    close = [stored for stored in every if stored.id == name] or _in_file(every, name)
    problem = None
    if files and not close and os.path.lexists(name if os.path.lexists(name) else name.rpartition("#")[0]):
        try:
            return _in_any_file(name, agents, resolver)
        except ForetoldError as error:
            problem = error  # unless a session is called so
    if not close:
        begun = [stored for stored in every if stored.id.startswith(name)]
        close = [stored for stored in begun if stored.kind != "subagent"] or begun
    close = close or _with_title(every, name, resolver)
    if not close and problem is not None:
        raise problem
    if not close:
        raise NoSuchSession(f"no session is called {name!r}; {hint}")
    if len({(stored.agent, stored.id) for stored in close}) > 1:
        raise NoSuchSession(describe_ambiguity(name, close, summarize_session))
    summary = summarize_session(close[0], resolver)
    if summary is None:
        raise SessionFailed(f"{close[0].path!r} does not exist any more, or is not a file")
    return summary


def _in_any_file(name: str, agents: Iterable[str] | None, resolver: FolderResolver) -> StoredSession:
    """The session in a transcript file, wherever it is."""
    from foretold.sessions.formats.recognition import recognize_transcript

    stored = recognize_transcript(name)
    if agents is not None and stored.agent not in agents:
        raise NoSuchSession(f"{name!r} is a transcript of {stored.agent}, not of {' or '.join(agents)}")
    summary = summarize_session(stored, resolver)
    return stored if summary is None else summary


def _in_file(every: list[StoredSession], name: str) -> list[StoredSession]:
    """Sessions in a file of this name."""
    try:
        status = os.stat(name)
    except (OSError, ValueError):
        return []
    path = os.path.realpath(name)
    same = [stored for stored in every if stored.size == status.st_size or not stored.size]
    return [stored for stored in same if os.path.realpath(stored.path) == path]


def _with_title(every: list[StoredSession], name: str, resolver: FolderResolver) -> list[StoredSession]:
    """Sessions with a title; else those whose title begins with it, in any case."""
    mains = [stored for stored in every if stored.kind != "subagent"]
    summaries = [summary for stored in mains if (summary := summarize_session(stored, resolver))]
    begin = " ".join(name.split()).casefold()
    whole = [summary for summary in summaries if summary.title == name]
    return whole or [summary for summary in summaries if summary.title.casefold().startswith(begin)]


def describe_ambiguity(
    name: str, close: Sequence[StoredSession], summarize: Callable[[StoredSession], StoredSession | None]
) -> str:
    """The error for a name that matches several sessions; only those that are listed are opened."""
    ones = [*{(stored.agent, stored.id): stored for stored in close}.values()]
    ids = {stored.id for stored in ones}
    length = next(size for size in count(SHORTEST) if len({each[:size] for each in ids}) == len(ids))
    rows = [f"{name!r} matches {len(ones):,} sessions; {'give --agent' if len(ids) == 1 else 'write more of the id'}:"]
    for stored in sort_by_time(summarize(stored) or stored for stored in ones[:MOST]):
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(stored.changed))
        head = f"  {when}  {stored.agent:11}  {_plain(stored.id[:length]):{length}}  "
        title = _cut(_plain(stored.title or "(nothing was said)"), max(20, WIDTH - len(head)))
        rows.append((head + title).rstrip())
    return "\n".join([*rows, f"  and {len(ones) - MOST:,} more"] if len(ones) > MOST else rows)


def _plain(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)


def _cut(text: str, room: int) -> str:
    """A text cut to so many columns."""
    ends = [*accumulate(map(_columns, text))]
    return text if ends[-1] <= room else text[: sum(end < room for end in ends)] + "…"


def _columns(char: str) -> int:
    return 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
