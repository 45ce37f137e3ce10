"""Compare the instruction files that a session received with what the files contain now.

1. Where the transcript records the text of a file, texts are compared. Where it does not, times are: a session has an
   old copy of a file that was written after it was last loaded. Where it records the text of all files as one, a file
   is unchanged if its text is part of that.
2. Files that were loaded with a file that was read are lost at a compaction until such a file is read again.
3. Files that a session starting now would load, and this one did not, are reported too.
4. What the model was sent again in the middle of the session counts: a new text, and that a file no longer applies.
   An agent that reads its files for every request has no old copy.
5. If the project has moved since, a file recorded under its old path is the one under the new path.
6. What a session starting now would load is what the release loads that ran: the one of the last record. Where no
   record names one, it is the program on PATH, else the newest known.
"""

from __future__ import annotations

import os

from foretold.dialects.registry import choose
from foretold.dialects.releases.history import version_key
from foretold.errors import SessionFailed
from foretold.instructions.load import load
from foretold.instructions.view import View
from foretold.sessions.formats.readers import reader_of
from foretold.sessions.instructions_seen.events import (
    CompactionEvent,
    Event,
    InstructionText,
    LoadEvent,
    ReleaseEvent,
    SentAgain,
    read_events,
)
from foretold.sessions.model import Homes, StoredSession
from foretold.sessions.relocate.moves import FolderMove, infer_move
from foretold.storage.tree import open_regular
from foretold.text.frontmatter import trim
from foretold.types import Finding, NamedTuple

#: state -> what it means
STATES = {
    "same": "as it is now",
    "old-copy": "an old copy",
    "lost": "lost at compaction",
    "gone": "loaded then, but not any more",
    "not-seen": "loaded now, but not by this session",
}
LARGEST = 40 * 1024 * 1024  #: characters of a file that are compared
_RESTART = "resume the session, or start a new one"
#: state -> code, message and hint of its finding; the states that need attention, most urgent first
PROBLEMS = {
    "old-copy": ("told-old-copy", "the session runs on an old copy of this file", _RESTART),
    "lost": (
        "told-lost",
        "the session lost this file at compaction {compaction}",
        "let the agent read a file that loads it",
    ),
    "gone": ("told-gone", "the session received this file, which is not loaded any more", ""),
    "not-seen": ("told-not", "the file is loaded now, but this session did not receive it", _RESTART),
}


class SeenFile(NamedTuple):
    """One instruction file as a session has seen it."""

    path: str
    state: str
    event: str  #: start, or read
    seen_at: float | None  #: when the model last received it
    changed: float | None  #: when the file was last written
    evidence: str  #: what was compared: text, together (one text of all files), time
    compaction: int = 0  #: at which it was lost
    text: str | None = None  #: as the model received it, where that is recorded
    now: str | None = None  #: as a session that starts now would receive it


class SessionRelease(NamedTuple):
    """Which release of its agent a session ran, and how well it is known what that does."""

    version: str  #: the last one that a record names; else the one that is assumed
    source: str  #: transcript; where no record names one, program (on PATH) or newest
    evidence: str  #: recorded, between, assumed or documented, as in `dialects.releases.history`
    note: str = ""  #: why the answer may be wrong for this version
    events: tuple[ReleaseEvent, ...] = ()  #: the versions in turn
    unread: tuple[ReleaseEvent, ...] = ()  #: what records name and is not a version


class InstructionsSeen(NamedTuple):
    """The instruction files that a session received, compared with those of now."""

    stored: StoredSession
    files: tuple[SeenFile, ...]
    loads: tuple[LoadEvent, ...]
    compactions: tuple[CompactionEvent, ...]
    findings: tuple[Finding, ...]
    sent_again: tuple[SentAgain, ...] = ()
    is_rebuilt: bool = False  #: whether the agent makes the text of its start anew whenever it resumes a session
    release: SessionRelease | None = None


def compare_instructions(stored: StoredSession, homes: Homes) -> InstructionsSeen:
    """Compare the instructions that a session received with what its files contain now."""
    damage: list[Finding] = []
    try:
        move = infer_move(reader_of(stored.agent).summarize(stored).cwd, stored.cwd)
        events = [_relocate(event, move) for event in read_events(stored, damage)]
    except OSError as error:
        raise SessionFailed(f"{stored.path!r} cannot be read: {error.strerror}") from None
    loads = tuple(event for event in events if isinstance(event, LoadEvent))
    compactions = tuple(event for event in events if isinstance(event, CompactionEvent))
    release = _find_release(stored, [event for event in events if isinstance(event, ReleaseEvent)], homes)
    agent = stored.agent if release.source == "newest" else f"{stored.agent}@{release.version}"
    is_there = os.path.isabs(stored.cwd) and os.path.isdir(stored.cwd)
    view = load(stored.cwd, agent=agent, home=homes.home, env=homes.env) if is_there else None
    files = tuple(_compare(events, view, loads))
    sent_again = tuple(event for event in events if isinstance(event, SentAgain))
    rebuilt = view is not None and view.dialect.continuation.start == "rebuilt"
    findings = (*damage, *_findings(files))
    return InstructionsSeen(stored, files, loads, compactions, findings, sent_again, rebuilt, release)


def _find_release(stored: StoredSession, events: list[ReleaseEvent], homes: Homes) -> SessionRelease:
    """The release that ran a session."""
    events = events or [ReleaseEvent(stored.version, stored.started, 0)] * bool(stored.version)  # of an older form
    known = [event for event in events if version_key(event.version)]
    choice = choose(f"{stored.agent}@{known[-1].version}") if known else choose(stored.agent, homes.env)
    return SessionRelease(
        known[-1].version if known else choice.asked or choice.dialect.version,
        "transcript" if known else "program" if choice.asked else "newest",
        "assumed" if choice.assumed else choice.dialect.evidence,
        choice.note,
        tuple(known),
        tuple(event for event in events if not version_key(event.version)),
    )


def _relocate(event: Event, move: FolderMove) -> Event:
    """An event with the paths that its files have now."""
    if isinstance(event, InstructionText):
        return event._replace(path=move.path(event.path))
    if isinstance(event, SentAgain):
        return event._replace(files=tuple(file._replace(path=move.path(file.path)) for file in event.files))
    return event


def _compare(events: list[Event], view: View | None, loads: tuple[LoadEvent, ...]) -> list[SeenFile]:
    live: dict[str, InstructionText] = {}
    lost: dict[str, tuple[InstructionText, int]] = {}
    has_start = False
    for event in events:
        if isinstance(event, InstructionText):
            live[event.path] = event
            lost.pop(event.path, None)
        elif isinstance(event, SentAgain):
            for file in event.files:
                if file.text is None and file.path:  # the model was told that it no longer applies
                    live.pop(file.path, None)
                    has_start = True
        elif isinstance(event, CompactionEvent):
            for path in [path for path, seen in live.items() if seen.event == "read"]:
                lost[path] = live.pop(path), event.number
    whole = live.pop("", None)
    has_start = has_start or bool(whole and not whole.text) or any(seen.event == "start" for seen in live.values())
    now = {entry.path: entry.text for entry in view.entries} if view else {}
    files = [_compare_text(seen, now) for seen in live.values()]
    files += [
        _seen_file(seen, "lost", _read_file(seen.path))._replace(compaction=number) for seen, number in lost.values()
    ]
    known = {file.path for file in files}
    for path, text in now.items():
        if path in known:
            continue
        if whole and whole.text:
            state = "same" if trim(text) in whole.text else "old-copy"
            files.append(_seen_file(whole._replace(path=path, event="start"), state, text, "together"))
        elif has_start:
            files.append(SeenFile(path, "not-seen", "start", None, _mtime(path), "text", now=text))
        else:
            files.append(_compare_time(path, text, loads))
    if view and view.dialect.continuation.requests == "again":  # it has no copy: the next request reads them again
        files = [file._replace(state="same") if file.evidence == "time" else file for file in files]
    urgency = list(PROBLEMS)
    return sorted(files, key=lambda file: (urgency.index(file.state) if file.state in PROBLEMS else 99, file.path))


def _seen_file(seen: InstructionText, state: str, now: str | None, evidence: str = "text") -> SeenFile:
    return SeenFile(seen.path, state, seen.event, seen.time, _mtime(seen.path), evidence, text=seen.text, now=now)


def _compare_text(seen: InstructionText, loaded: dict[str, str]) -> SeenFile:
    if seen.event == "read":
        now = _read_file(seen.path)
        is_same = now == (seen.raw if seen.raw is not None else seen.text)
    else:
        now = loaded.get(seen.path)
        is_same = now is not None and trim(now) == trim(seen.text)
    return _seen_file(seen, "gone" if now is None else "same" if is_same else "old-copy", now)


def _compare_time(path: str, text: str, loads: tuple[LoadEvent, ...]) -> SeenFile:
    """Where the transcript records no text: whether the file was written after it was last loaded."""
    last = next((load.time for load in reversed(loads) if load.time is not None), None)
    written = _mtime(path)
    state = "old-copy" if last is not None and written is not None and written > last else "same"
    return SeenFile(path, state, "start", last, written, "time", now=text)


def _read_file(path: str) -> str | None:
    """The text of a regular file, None if it cannot be read. Never blocks: reading a pipe might not end."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="", opener=open_regular) as file:
            return file.read(LARGEST)
    except (OSError, ValueError):
        return None


def _mtime(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return None


def _findings(files: tuple[SeenFile, ...]) -> list[Finding]:
    found = []
    for file in files:
        if file.state in PROBLEMS:
            code, message, hint = PROBLEMS[file.state]
            if file.state == "old-copy" and file.evidence == "time":
                message = "the file was written after the session loaded it, and its text may differ"
            found.append(Finding(file.path, None, code, message.format(compaction=file.compaction), hint))
    return found
