"""What is wrong with a session, how much of it the agent reaches, and a mended copy beside it.

1. Looking changes nothing. Every line is read; damage is named by line, and what can be saved of it is saved
   (`salvage.py`). For agents that link their records, the links are followed as the agent does (`reach.py`).
2. Mending writes a new file with a new session id, whole or not at all, mode 0600; the damaged one stays as it is. Its
   records are those that were saved, in their order, with the parents that `mending.py` gives them.
3. Records keep everything else they have, also what we do not know. A record is written anew only if something in it
   changes; else its bytes are copied.
"""

from __future__ import annotations

import json
import os
import uuid
from contextlib import suppress

from headnote.errors import RestoreRefused, SessionFailed
from headnote.memory.durable import KERNEL, Kernel, failed, token, write_all
from headnote.sessions.codex_packed import PACKED, readable
from headnote.sessions.mending import mended
from headnote.sessions.model import Stored
from headnote.sessions.reach import HOLLOW, UNKNOWN, Links, Reach, reach_of
from headnote.sessions.salvage import Found, saved_lines, told
from headnote.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headnote.sessions.filing import Progress

LINKED = ("claude-code",)  #: agents whose records name their parents
MOST_FINDINGS = 1000
#: agent -> where records have the session's id, as keys from the top
NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "claude-code": (("sessionId",),),
    "codex": (("payload", "id"), ("payload", "session_id")),
    "gemini-cli": (("sessionId",), ("$set", "sessionId")),
}
#: agent -> how much of the id its file is named by
NAMED = {"gemini-cli": 8}
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Diagnosis(NamedTuple):
    """The state of a session."""

    stored: Stored
    lines: int
    records: int
    bytes_lost: int  #: of damaged lines that nothing can be saved of
    findings: tuple[Finding, ...]
    reach: Reach | None = None  #: as the agent resumes it; None where records are not linked
    then: Reach | None = None  #: as it would resume the mended copy
    damaged: int = 0  #: lines

    @property
    def is_sound(self) -> bool:
        return not self.damaged and (self.reach is None or not _faults(self.reach))


def _faults(reach: Reach) -> int:
    return reach.lost + reach.broken + reach.cycles + reach.doubles + reach.hollow


def examine(stored: Stored, progress: Progress | None = None) -> Diagnosis:
    """What is wrong with a session. Changes nothing."""
    findings: list[Finding] = []
    lines = records = lost = damaged = hidden = 0
    links = Links()
    is_linked = stored.agent in LINKED
    for found in _lines_of(stored, progress):
        lines += 1
        records += len(found.saved.records)
        lost += found.saved.lost
        finding = told(stored.path, found)
        if finding is not None:
            damaged += 1
            findings += [finding] if len(findings) < MOST_FINDINGS else []
        if found.saved.why not in ("", "not-utf8"):
            hidden += len(found.saved.records)
        elif is_linked:
            links.add(found.saved.records[0])
    if not is_linked:
        return Diagnosis(stored, lines, records, lost, tuple(findings), damaged=damaged)
    now = reach_of(links)
    if hidden:
        links = _links_of(stored)
    mended(links)
    then = reach_of(links)
    unread = max(0, then.messages - now.messages)  # messages on lines that the agent cannot read
    now = now._replace(messages=now.messages + unread, lost=now.lost + unread)
    findings += _about(stored, now)
    return Diagnosis(stored, lines, records, lost, tuple(findings), now, then, damaged)


def _links_of(stored: Stored) -> Links:
    """The links of all records that can be saved."""
    links = Links()
    for found in _lines_of(stored, None):
        for record in found.saved.records:
            links.add(record)
    return links


def _about(stored: Stored, reach: Reach) -> Iterator[Finding]:
    """The findings about links."""
    path, hint = stored.path, f"headnote sessions repair {stored.id} --write"
    if reach.lost:
        said = f"{reach.lost:,} of {reach.reached + reach.lost:,} messages are not reached when it is resumed"
        yield Finding(path, None, "chain-broken", said, hint)
    if reach.broken:
        said = f"{reach.broken:,} records follow one that is not in the file"
        yield Finding(path, None, "parent-missing", said, hint)
    if reach.cycles:
        yield Finding(path, None, "chain-cycle", "records follow one another in a circle", hint)
    if reach.doubles:
        said = f"{reach.doubles:,} records have the uuid of another; a mended copy has the first"
        yield Finding(path, None, "record-double", said, hint)
    if reach.hollow:
        said = f"{reach.hollow:,} messages have no content: Claude Code 2.1.197 does not resume such a session"
        yield Finding(path, None, "message-hollow", said, hint)


def _lines_of(stored: Stored, progress: Progress | None) -> Iterator[Found]:
    """The lines of a session, unpacked where its agent has packed it."""
    problems: list[Finding] = []
    try:
        with readable(stored.path, problems) as path:
            if not path:
                raise SessionFailed(f"cannot read {stored.path}: {problems[0].message if problems else 'it is empty'}")
            size = os.path.getsize(path)
            for found in saved_lines(path):
                yield found
                if progress:
                    progress(found.line.end, size)
    except OSError as error:
        raise SessionFailed(f"cannot read {stored.path}: {error.strerror}") from error


def mend(
    stored: Stored,
    folder: str | None = None,
    *,
    name: str | None = None,
    kernel: Kernel = KERNEL,
    progress: Progress | None = None,
) -> Stored:
    """Write a mended copy beside a session, or into a folder. `name` is its id: a new one, if none is given."""
    if stored.agent not in NAMES:
        raise SessionFailed(f"sessions of {stored.agent} are no files, and cannot be mended")
    links = _links_of(stored) if stored.agent in LINKED else Links()
    name = name or str(uuid.uuid4())
    path = os.path.join(folder or os.path.dirname(stored.path), _file_name(stored, name))
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    beside = os.path.join(os.path.dirname(path), f".headnote-{token()}")
    try:
        _write(beside, _copy(stored, name, links, progress), kernel)
        kernel.link(beside, path)
    except FileExistsError:
        raise RestoreRefused(f"{path} is there already, and was not overwritten") from None
    except OSError as error:
        raise failed(f"cannot write {path}", error) from error
    finally:
        with suppress(OSError):
            kernel.unlink(beside)
    return stored._replace(id=name, path=path, size=os.path.getsize(path), changed=os.stat(path).st_mtime)


def _file_name(stored: Stored, name: str) -> str:
    old, last = stored.id, os.path.basename(stored.path).removesuffix(PACKED)
    short = NAMED.get(stored.agent, len(old))
    if old[:short] not in last:
        return f"{name}{os.path.splitext(last)[1]}"
    return last.replace(old[:short], name[:short])


def _write(path: str, pieces: Iterator[bytes], kernel: Kernel) -> None:
    descriptor = kernel.open(path, _NEW, 0o600)
    try:
        waiting: list[bytes] = []
        for piece in pieces:
            waiting.append(piece)
            if len(waiting) >= 64 or len(piece) > 1_000_000:
                write_all(kernel, descriptor, b"".join(waiting))
                waiting.clear()
        write_all(kernel, descriptor, b"".join(waiting))
        kernel.fsync(descriptor)
    finally:
        kernel.close(descriptor)


def _copy(stored: Stored, name: str, links: Links, progress: Progress | None) -> Iterator[bytes]:
    """The mended file, a line at a time."""
    changes = mended(links)
    keys = list(links.ids)
    written: set[int] = set()
    for found in _lines_of(stored, progress):
        for record in found.saved.records:
            number = links.number_of(record)
            if number != UNKNOWN:
                if number in written or links.flags[number] & HOLLOW:
                    continue
                written.add(number)
            fresh = _renamed(record, stored, name)
            if number in changes:
                fresh = {**fresh, "parentUuid": links.name(changes[number], keys)}
            if fresh is record and not found.saved.why:
                yield found.line.data + b"\n"
            else:
                yield _line(fresh)


def _renamed(record: dict[str, object], stored: Stored, name: str) -> dict[str, object]:
    """A record of the new session; the same object if it does not name the old one."""
    for keys in NAMES[stored.agent]:
        record = _set(record, keys, stored.id, name)
    return record


def _set(record: dict[str, object], keys: tuple[str, ...], old: str, new: str) -> dict[str, object]:
    value = record.get(keys[0])
    if len(keys) == 1:
        return {**record, keys[0]: new} if value == old else record
    if not isinstance(value, dict):
        return record
    inner = _set(value, keys[1:], old, new)
    return record if inner is value else {**record, keys[0]: inner}


def _line(record: dict[str, object]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair, as agents write it: escaped
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"
