"""Read the sessions of Claude Code: `<config>/projects/<slug of the folder>/<session>.jsonl`, one record per line.

1. `find_sessions` reads folders only. A subagent has a separate file, `<session>/subagents/agent-<id>.jsonl`. A session
   may also have a folder of its own, `<config>/sessions/<session>/transcript.jsonl`: the agent's recorded versions keep
   none there, but its notes describe it (docs/compat/notes.md), and `claude --resume FILE` takes it.
2. `summarize` reads at most `ENDS` bytes of the head and of the tail, however long a line is. A line that is cut there
   is searched for the fields that a list needs.
3. The title is the last `custom-title`, else the last `ai-title`, else the last `summary`, else the first prompt that a
   person typed.
4. `read_messages` streams: it holds one line, and the names of calls whose result has not come yet.

The format: docs/formats/claude-code-session.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import chain

from foretold.errors import SessionFailed
from foretold.sessions.formats.claude.records import Names, message_of, prompt_of
from foretold.sessions.formats.fields import first_text, list_folder, one_line, parse_times, session_file, text_at
from foretold.sessions.formats.jsonl import parse_records, read_ends, records_of
from foretold.sessions.model import Homes, Message, StoredSession
from foretold.types import Finding

AGENT = "claude-code"
LONGEST_ID = 200  #: bytes: a file system takes names of 255 bytes, and ours are longer by an extension
SESSIONS, TRANSCRIPT = "sessions", "transcript.jsonl"
_ID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
#: what a list needs of a record, also of an incomplete line
_FIELDS = ("cwd", "version", "gitBranch", "timestamp", "sessionId")
#: type of a record -> its field that is a title, the strongest first
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}


def config_folder(homes: Homes) -> str:
    """The configuration folder of Claude Code."""
    return homes.env.get("CLAUDE_CONFIG_DIR") or os.path.join(homes.home, ".claude")


def session_stem(path: str) -> str:
    """What the other files of a session are named after: its transcript without extension, or its own folder.

    >>> session_stem("/c/projects/-app/4d1f.jsonl"), session_stem("/c/sessions/4d1f/transcript.jsonl")
    ('/c/projects/-app/4d1f', '/c/sessions/4d1f')
    """
    return os.path.dirname(path) if has_own_folder(path) else os.path.splitext(path)[0]


def is_session_id(name: str) -> bool:
    """Whether a text can be the id of a session: one name of a file, which leads to no other folder.

    >>> is_session_id("4d1f"), is_session_id("../4d1f"), is_session_id("..")
    (True, False, False)
    """
    is_plain = name.isprintable() and not any(separator in name for separator in "/\\")
    return is_plain and name.strip() not in ("", ".", "..") and len(name.encode()) <= LONGEST_ID


def check_session_id(name: str) -> str:
    """The same id; an error if it would lead out of the folder that sessions are kept in."""
    if not is_session_id(name):
        raise SessionFailed(f"{name[:LONGEST_ID]!r} cannot be the id of a session: an id is one name, without a path")
    return name


def session_id(path: str) -> str:
    """The id of the session that a transcript holds, by its path."""
    return os.path.basename(session_stem(path))


def has_own_folder(path: str) -> bool:
    """Whether a transcript is `sessions/<session>/transcript.jsonl`."""
    folder, name = os.path.split(path)
    return name == TRANSCRIPT and os.path.basename(os.path.dirname(folder)) == SESSIONS


def sibling_path(path: str, session: str) -> str:
    """Where another session is stored as that of a transcript is.

    >>> sibling_path("/c/projects/-app/1.jsonl", "2"), sibling_path("/c/sessions/1/transcript.jsonl", "2")
    ('/c/projects/-app/2.jsonl', '/c/sessions/2/transcript.jsonl')
    """
    check_session_id(session)
    name = os.path.join(session, TRANSCRIPT) if has_own_folder(path) else f"{session}.jsonl"
    return os.path.join(os.path.dirname(session_stem(path)), name)


def find_sessions(homes: Homes) -> Iterator[StoredSession]:
    """Every session, and every subagent of one, in the order of their names."""
    config = config_folder(homes)
    yield from _in_projects(os.path.join(config, "projects"))
    for folder in list_folder(os.path.join(config, SESSIONS)):
        for entry in list_folder(folder.path) if folder.is_dir() else ():
            if entry.name == TRANSCRIPT:
                yield from session_file(AGENT, folder.name, entry)
            elif entry.name == "subagents":
                yield from _subagents(entry.path, folder.name)


def _in_projects(projects: str) -> Iterator[StoredSession]:
    for project in list_folder(projects):
        if not project.is_dir():
            continue
        for entry in list_folder(project.path):
            name, ending = os.path.splitext(entry.name)
            if ending == ".jsonl" and _ID.match(name):
                yield from session_file(AGENT, name, entry)
            elif _ID.match(entry.name) and entry.is_dir():
                yield from _subagents(os.path.join(entry.path, "subagents"), entry.name)


def _subagents(folder: str, session: str) -> Iterator[StoredSession]:
    for entry in list_folder(folder):
        name, ending = os.path.splitext(entry.name)
        if ending == ".jsonl" and name.startswith("agent-"):
            yield from session_file(AGENT, name, entry, "subagent", session)
        elif entry.is_dir(follow_symlinks=False):
            yield from _subagents(entry.path, session)


def read_messages(stored: StoredSession, since: int = 0, findings: list[Finding] | None = None) -> Iterator[Message]:
    """The records of a session as messages, from a byte on, in file order."""
    names: Names = {}
    for record in records_of(stored.path, since, findings):
        yield message_of(record, names, is_subagent=stored.kind == "subagent")


def summarize(stored: StoredSession) -> StoredSession:
    """A session with what the two ends of its file say."""
    head, tail = (parse_records(data, _FIELDS) for data in read_ends(stored.path)[:2])
    records = head + tail
    if not records:
        return stored
    newest = records[::-1]
    times = parse_times(records)
    models = (text_at(value.get("message"), "model") for value in newest)
    forked = next((value["forkedFrom"] for value in records if isinstance(value.get("forkedFrom"), dict)), None)
    is_fork = forked is not None and stored.kind == "main"
    titles = (text_at(value, field) for kind, field in _TITLES.items() for value in newest if value.get("type") == kind)
    title = next(filter(None, chain(titles, map(prompt_of, head))), "")
    return stored._replace(  # cwd: the folder it began in decides where it is stored and how it is resumed
        cwd=first_text(records, "cwd"),
        title=one_line(title or first_text(newest, "lastPrompt")),
        started=times[0] if times else None,
        changed=max(times[-1], times[0]) if times else stored.changed,
        branch=first_text(newest, "gitBranch"),
        version=first_text(newest, "version"),
        model=next((model for model in models if model and not model.startswith("<")), ""),
        kind="fork" if is_fork else stored.kind,
        parent=text_at(forked, "sessionId") if is_fork else stored.parent,
    )
