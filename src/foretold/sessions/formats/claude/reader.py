"""Read the sessions of Claude Code: `<config>/projects/<slug of the folder>/<session>.jsonl`, one record per line.

1. `find_sessions` reads folders only. A subagent has a separate file, `<session>/subagents/agent-<id>.jsonl`.
2. `summarize` reads at most `ENDS` bytes of the head and of the tail, however long a line is. A line that is cut there
   is searched for the fields that a list needs.
3. The title is the last `custom-title`, else the last `ai-title`, else the last `summary`, else the first prompt that a
   person typed.
4. `read_messages` streams: it holds one line, and the names of calls whose result has not come yet.

The format: docs/formats/claude-code-session.md.
"""

from __future__ import annotations

import json
import os
import re

from foretold.sessions.formats.claude.records import Names, message_of, moment, prompt_of, text_at
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.model import Homes, Message, StoredSession
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

AGENT = "claude-code"
FORMAT = "claude-code-session"
ENDS = 64 * 1024  #: bytes of the head, and of the tail, that a card is made of
LONGEST_TITLE = 120
_ID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_FIELD = re.compile(rb'(?<!\\)"(cwd|version|gitBranch|timestamp|sessionId)":\s?("(?:[^"\\]|\\.)*")')
#: type of a record -> its field that is a title, the strongest first
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}

Json = dict[str, object]


def config_folder(homes: Homes) -> str:
    """Where Claude Code keeps what is its own.

    >>> config_folder(Homes("/home/me", {})), config_folder(Homes("/home/me", {"CLAUDE_CONFIG_DIR": "/etc/mine"}))
    ('/home/me/.claude', '/etc/mine')
    """
    return homes.env.get("CLAUDE_CONFIG_DIR") or os.path.join(homes.home, ".claude")


def find_sessions(homes: Homes) -> Iterator[StoredSession]:
    """Every session, and every subagent of one, in the order of their names."""
    projects = os.path.join(config_folder(homes), "projects")
    for project in _entries(projects):
        if not project.is_dir():
            continue
        for entry in _entries(project.path):
            name, ending = os.path.splitext(entry.name)
            if ending == ".jsonl" and _ID.match(name):
                yield from _stored(entry, name)
            elif _ID.match(entry.name) and entry.is_dir():
                yield from _subagents(os.path.join(entry.path, "subagents"), entry.name)


def _subagents(folder: str, session: str) -> Iterator[StoredSession]:
    for entry in _entries(folder):
        name, ending = os.path.splitext(entry.name)
        if ending == ".jsonl" and name.startswith("agent-"):
            yield from _stored(entry, name, "subagent", session)
        elif entry.is_dir(follow_symlinks=False):
            yield from _subagents(entry.path, session)


def _stored(entry: os.DirEntry[str], name: str, kind: str = "main", parent: str = "") -> Iterator[StoredSession]:
    try:
        state = entry.stat()
    except OSError:
        return  # deleted a moment ago, or a link that leads nowhere
    yield StoredSession(AGENT, name, entry.path, changed=state.st_mtime, size=state.st_size, kind=kind, parent=parent)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def resume_command(stored: StoredSession) -> tuple[str, ...]:
    """What resumes a session, typed in its folder; a subagent is resumed with its session.

    >>> resume_command(StoredSession("claude-code", "4d1f", "/x/4d1f.jsonl"))
    ('claude', '--resume', '4d1f')
    """
    return ("claude", "--resume", stored.parent if stored.kind == "subagent" else stored.id)


def read_messages(stored: StoredSession, since: int = 0, findings: list[Finding] | None = None) -> Iterator[Message]:
    """The records of a session as messages, from a byte on, in the order of the file."""
    names: Names = {}
    for record in records_of(stored.path, since, findings):
        yield message_of(record, names, is_subagent=stored.kind == "subagent")


def summarize(stored: StoredSession) -> StoredSession:
    """A session with what the two ends of its file tell."""
    try:
        with open(stored.path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            head = file.read(ENDS)
            start = max(len(head), size - ENDS)
            file.seek(start)
            tail = file.read(size - start) if start < size else b""
    except OSError:
        return stored
    return _filled(stored, _values(head), _values(tail, is_whole_start=start == len(head) and head.endswith(b"\n")))


def _values(data: bytes, *, is_whole_start: bool = True) -> list[Json]:
    """The records of a piece of a file; of one that is cut, the fields that can be made out."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    find_sessions: list[Json] = []
    for number, line in enumerate(lines):
        try:
            value = json.loads(line) if number or is_whole_start else None
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            find_sessions.append(value)
        elif line:
            find_sessions.append(_made_out(line))
    return find_sessions


def _made_out(line: bytes) -> Json:
    """The first value of each field that a list needs, of a line that is not whole."""
    fields: Json = {}
    for name, value in _FIELD.findall(line):
        if name.decode() not in fields:
            try:
                fields[name.decode()] = json.loads(value)
            except ValueError:
                continue
    return fields


def _filled(stored: StoredSession, head: list[Json], tail: list[Json]) -> StoredSession:
    records = head + tail
    times = [time for value in records if (time := moment(value.get("timestamp"))) is not None]
    forked = next((value["forkedFrom"] for value in records if isinstance(value.get("forkedFrom"), dict)), None)
    fork = isinstance(forked, dict) and stored.kind == "main"
    return stored._replace(  # the folder it began in: it is kept, and resumed, by that (`kept.py`)
        cwd=_first(head, "cwd") or _first(tail, "cwd"),
        title=_title(head, tail),
        started=times[0] if times else None,
        changed=max(times[-1], times[0]) if times else stored.changed,
        branch=_first(reversed(records), "gitBranch"),
        version=_first(reversed(records), "version"),
        model=next((model for value in reversed(records) if (model := _model(value))), ""),
        kind="fork" if fork else stored.kind,
        parent=text_at(forked, "sessionId") if fork else stored.parent,
    )


def _first(values: Iterator[Json] | list[Json], name: str) -> str:
    return next((value for record in values if isinstance(value := record.get(name), str) and value), "")


def _model(value: Json) -> str:
    model = text_at(value.get("message"), "model")
    return "" if model.startswith("<") else model


def _title(head: list[Json], tail: list[Json]) -> str:
    newest = [*reversed(tail), *reversed(head)]
    for kind, field in _TITLES.items():
        for value in newest:
            if value.get("type") == kind and text_at(value, field):
                return one_line(text_at(value, field))
    prompt = next((prompt for value in head if (prompt := prompt_of(value))), "")
    return one_line(prompt or _first(newest, "lastPrompt"))


def one_line(text: str, longest: int = LONGEST_TITLE) -> str:
    """A text on one line, cut where it is too long for a list.

    >>> one_line(" a\\n  b "), one_line("abcdef", 4)
    ('a b', 'abc…')
    """
    text = " ".join(text[: longest * 8].split())
    return text if len(text) <= longest else text[: longest - 1] + "…"
