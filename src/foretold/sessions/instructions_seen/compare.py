"""What a session was really told, beside what the files say now.

1. Where the transcript records the text of a file, texts are compared. Where it does not, times are: a file that was
   written after it was last loaded is one the session has an old copy of.
   Where it records the text of all files together, a file is as it was told if its text stands in that.
2. Files that came with a file that was read are forgotten at a compaction until such a file is read again.
3. What a session that starts now would be told, and this one was not, is named too.
4. If the project has moved since, a file that was told under its old path is the one under the new path.
"""

from __future__ import annotations

import os
import stat

from foretold.errors import SessionFailed
from foretold.instructions.load import load
from foretold.sessions.formats.readers import reader_of
from foretold.sessions.instructions_seen.events import Compaction, Load, Telling
from foretold.sessions.model import Homes, Stored
from foretold.sessions.relocate.project_folder import moved
from foretold.text.frontmatter import trim
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foretold.instructions.view import View
    from foretold.sessions.relocate.project_folder import Moved

#: agent -> the module of `sessions/` that finds in a transcript what it was told
TELLERS = {"claude-code": "instructions_seen.claude", "codex": "instructions_seen.codex"}

#: state -> what it means
STATES = {
    "same": "as it is now",
    "old-copy": "an old copy",
    "lost": "lost at compaction",
    "gone": "told, and not loaded any more",
    "not-told": "loaded now, but this session was not told",
}
LARGEST = 40 * 1024 * 1024  #: characters of a file that are compared
LOUD = ("old-copy", "lost", "gone", "not-told")


class ToldFile(NamedTuple):
    """One instruction file in the eyes of a session."""

    path: str
    state: str
    event: str  #: start, or read
    told: float | None  #: when it was last given to the model
    changed: float | None  #: when the file was last written
    evidence: str  #: text: texts were compared; together: with one text of all files; time: only times could be
    compaction: int = 0  #: of a lost one
    text: str | None = None  #: as it was told, where that is recorded
    now: str | None = None  #: as a session that starts now would be told


class Told(NamedTuple):
    """What a session was told."""

    stored: Stored
    files: tuple[ToldFile, ...]
    loads: tuple[Load, ...]
    compactions: tuple[Compaction, ...]
    findings: tuple[Finding, ...]


def told(stored: Stored, homes: Homes) -> Told:
    """Compare what a session was told with what its files say now."""
    damage: list[Finding] = []
    try:
        way = moved(reader_of(stored.agent).card(stored).cwd, stored.cwd)
        events = [_now_at(event, way) for event in _tellings(stored, damage)]
    except OSError as error:
        raise SessionFailed(f"{stored.path!r} cannot be read: {error.strerror}") from None
    loads = tuple(event for event in events if isinstance(event, Load))
    compactions = tuple(event for event in events if isinstance(event, Compaction))
    agent = f"{stored.agent}@{stored.version}" if stored.version else stored.agent
    is_there = os.path.isabs(stored.cwd) and os.path.isdir(stored.cwd)
    view = load(stored.cwd, agent=agent, home=homes.home, env=homes.env) if is_there else None
    files = tuple(_compared(events, view, loads))
    return Told(stored, files, loads, compactions, (*damage, *_findings(files)))


def _tellings(stored: Stored, damage: list[Finding]) -> Iterable[Telling | Load | Compaction]:
    name = TELLERS.get(stored.agent)
    if name is None:
        return [Load(stored.started, "start")]
    module = __import__(f"foretold.sessions.{name}", fromlist=["tellings"])
    found: Iterable[Telling | Load | Compaction] = module.tellings(stored, damage)
    return found


def _now_at(event: Telling | Load | Compaction, way: Moved) -> Telling | Load | Compaction:
    return event._replace(path=way.path(event.path)) if isinstance(event, Telling) else event


def _compared(events: list[Telling | Load | Compaction], view: View | None, loads: tuple[Load, ...]) -> list[ToldFile]:
    live: dict[str, Telling] = {}
    lost: dict[str, tuple[Telling, int]] = {}
    for event in events:
        if isinstance(event, Telling):
            live[event.path] = event
            lost.pop(event.path, None)
        elif isinstance(event, Compaction):
            for path in [path for path, telling in live.items() if telling.event == "read"]:
                lost[path] = live.pop(path), event.number
    whole = live.pop("", None)
    has_start = any(telling.event == "start" for telling in live.values())
    now = {entry.path: entry.text for entry in view.entries} if view else {}
    files = [_by_text(telling, now) for telling in live.values()]
    files += [_lost(telling, number) for telling, number in lost.values()]
    known = {file.path for file in files}
    for path, text in now.items():
        if path not in known:
            files.append(
                _by_whole(path, text, whole)
                if whole
                else _not_told(path, text)
                if has_start
                else _by_time(path, text, loads)
            )
    return sorted(files, key=lambda file: (LOUD.index(file.state) if file.state in LOUD else len(LOUD), file.path))


def _by_text(telling: Telling, now: dict[str, str]) -> ToldFile:
    text = now.get(telling.path)
    if telling.event == "read":
        text, said = _file(telling.path), telling.raw if telling.raw is not None else telling.text
        state = "gone" if text is None else "same" if text == said else "old-copy"
    else:
        state = "gone" if text is None else "same" if trim(text) == trim(telling.text) else "old-copy"
    return ToldFile(
        telling.path, state, telling.event, telling.time, _written(telling.path), "text", 0, telling.text, text
    )


def _by_whole(path: str, text: str, whole: Telling) -> ToldFile:
    """Of a transcript that records the text of all files together."""
    state = "same" if trim(text) in whole.text else "old-copy"
    return ToldFile(path, state, "start", whole.time, _written(path), "together", 0, whole.text, text)


def _lost(telling: Telling, number: int) -> ToldFile:
    path, now = telling.path, _file(telling.path)
    return ToldFile(path, "lost", telling.event, telling.time, _written(path), "text", number, telling.text, now)


def _not_told(path: str, text: str) -> ToldFile:
    return ToldFile(path, "not-told", "start", None, _written(path), "text", 0, None, text)


def _by_time(path: str, text: str, loads: tuple[Load, ...]) -> ToldFile:
    """Of a transcript that records no text: whether the file was written after it was last loaded."""
    last = next((load.time for load in reversed(loads) if load.time is not None), None)
    written = _written(path)
    state = "old-copy" if last is not None and written is not None and written > last else "same"
    return ToldFile(path, state, "start", last, written, "time", 0, None, text)


def _file(path: str) -> str | None:
    """The text of a file; None if there is none that could be read: a pipe would never end."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with open(descriptor, encoding="utf-8", errors="replace", newline="") as file:
            return file.read(LARGEST) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except (OSError, ValueError):
        return None


def _written(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return None


def _findings(files: tuple[ToldFile, ...]) -> list[Finding]:
    found = []
    for file in files:
        if file.state == "old-copy":
            said = "the session runs on an old copy of this file"
            found.append(Finding(file.path, None, "told-old-copy", said, "resume it, or start a new one"))
        elif file.state == "lost":
            said = f"the session lost this file at compaction {file.compaction}"
            found.append(Finding(file.path, None, "told-lost", said, "let the agent read a file that brings it"))
        elif file.state == "gone":
            said = "the session was told this file, and it is not loaded any more"
            found.append(Finding(file.path, None, "told-gone", said))
        elif file.state == "not-told":
            said = "the file is loaded now, but this session was not told it"
            found.append(Finding(file.path, None, "told-not", said, "resume it, or start a new one"))
    return found
