"""What is wrong with a session, how much of it the agent reaches, and a mended copy beside it.

1. Looking changes nothing. Every line is read; damage is named by line, and what can be saved of it is saved
   (`salvage.py`). For agents that link their records, the links are followed as the agent does (`reach.py`), by the
   rules of the version that wrote the session last. Some damage makes an agent refuse a session: that is said.
2. Mending writes a new file with a new session id, whole or not at all, mode 0600; the damaged one stays as it is. Its
   records are those that were saved, in their order, with the links that reach all of them (`copying.py`).
3. What is foretold of a copy is found by following the links of the records that it would have. A copy is of use if
   more of it is reached, or if a version refuses the file as it is; else `useless` says why not.
"""

from __future__ import annotations

import os
import uuid
from array import array

from foretold.dialects.claude_code.sessions import NEWER, RULES, rules_of
from foretold.dialects.registry import version_key
from foretold.errors import RestoreRefused, SessionFailed
from foretold.sessions.formats.codex.validity import Rollout
from foretold.sessions.formats.codex.zstd import PACKED, readable
from foretold.sessions.formats.readers import reader_of
from foretold.sessions.model import StoredSession
from foretold.sessions.repair.copy import LINKED, NAMES, ROLLOUTS, copied, relinked, session_lines
from foretold.sessions.repair.reachability import Places, Reach, judge, places_of, reach_of
from foretold.sessions.repair.salvage import Found, told
from foretold.sessions.resumption.claude import ERRORS
from foretold.sessions.resumption.graph import Links
from foretold.storage.atomic import create_file
from foretold.storage.kernel import KERNEL, Kernel, failed
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foretold.sessions.archive.store_session import Progress

    Row = tuple[Found | None, dict[str, object]]

DOOMED = ("gemini-cli",)  #: agents that may delete a session at their next start
NEWEST = max(RULES, key=version_key)
MOST_FINDINGS = 1000
WRONG = ("lost", "broken", "cycles", "doubles", "hollow")  #: of a `Reach`: what a copy mends
HIDING = ("glued", "torn", "nul")  #: damage that hides whole records from agents
#: agent -> how much of the id its file is named by
NAMED = {"gemini-cli": 8}


class Diagnosis(NamedTuple):
    """The state of a session."""

    stored: StoredSession
    lines: int
    records: int
    bytes_lost: int  #: of damaged lines that nothing can be saved of
    findings: tuple[Finding, ...]
    reach: Reach | None = None  #: as the agent resumes it; None where records are not linked
    then: Reach | None = None  #: as it would resume the mended copy
    damaged: int = 0  #: lines
    refused: str = ""  #: why the agent does not resume it at all
    version: str = ""  #: of the agent, by whose rules this is said
    rescued: int = 0  #: records of damaged lines that the agent does not read, and a copy has
    is_doubted: bool = False  #: whether other versions may refuse it

    @property
    def is_sound(self) -> bool:
        return not self.findings

    @property
    def useless(self) -> str:
        """Why a mended copy would be of no use; empty if it has more, or is not refused."""
        if not (self.then.messages if self.then else self.records):
            return "nothing can be saved: there is no message in it" if self.then else "nothing can be saved"
        if self.is_sound:
            return "nothing is wrong with it"
        is_more = self.rescued > 0
        if self.reach and self.then:
            is_more = self.then.reached > self.reach.reached or self.then.lost < self.reach.lost
        return "" if is_more or self.refused or self.is_doubted else "a copy would not have more"


class _Count:
    """What was found while the lines went by."""

    def __init__(self) -> None:
        self.lines = self.records = self.lost = self.damaged = 0
        self.hidden: int | None = None  #: the first line with a record that the agent does not read
        self.rescued = 0
        self.findings: list[Finding] = []

    def add(self, path: str, found: Found) -> None:
        self.lines += 1
        self.records += len(found.saved.records)
        self.lost += found.saved.lost
        if found.saved.why in HIDING:
            self.rescued += len(found.saved.records)
        if self.hidden is None and len(found.saved.records) > found.saved.read:
            self.hidden = found.line.number
        finding = told(path, found)
        if finding is not None:
            self.damaged += 1
            self.findings += [finding] if len(self.findings) < MOST_FINDINGS else []


def diagnose(stored: StoredSession, progress: Progress | None = None, *, version: str = "") -> Diagnosis:
    """What is wrong with a session. Changes nothing. Without a version, the one that wrote it last is meant."""
    found = _examined_links(stored, progress, version) if stored.agent in LINKED else _examined(stored, progress)
    if not found.useless:
        return found
    write = _hint(stored)  # nobody is told to write what would be of no use
    kept = tuple(each._replace(hint="") if each.hint == write else each for each in found.findings)
    return found._replace(findings=kept)


def _examined(stored: StoredSession, progress: Progress | None) -> Diagnosis:
    """A session whose records are not linked."""
    count = _Count()
    rollout = Rollout(_head(stored)) if stored.agent in ROLLOUTS else None
    for found in session_lines(stored, progress):
        count.add(stored.path, found)
        if rollout:
            rollout.add(found)
    refused = rollout.refused() if rollout else ""
    said = (*_refusal(stored, refused), *_dangers(stored), *count.findings)
    facts = Diagnosis(stored, count.lines, count.records, count.lost, said, damaged=count.damaged)
    return facts._replace(refused=refused, rescued=count.rescued)


def _examined_links(stored: StoredSession, progress: Progress | None, version: str) -> Diagnosis:
    """A session whose records name their parents."""
    count, lines = _Count(), array("I")
    version = version or stored.version or reader_of(stored.agent).summarize(stored).version or NEWEST
    links = Links(rules_of(version))
    for found in session_lines(stored, progress):
        count.add(stored.path, found)
        links.has_null = links.has_null or found.saved.why == "null"
        for record in found.saved.records[: found.saved.read]:
            _note_line(lines, links.add(record), found.line.number)
    judged = judge(links.close())
    now = then = reach_of(links, judged)
    where = Places(*(lines[number] if number >= 0 else 0 for number in places_of(links, judged)))
    is_doubted = links.has_null or links.hollow > 0
    if count.findings or now.refused or links.nameless >= 0 or any(now._asdict()[key] for key in WRONG):
        is_whole = count.hidden is None and links.nameless < 0 and links.rules == NEWER
        then = reach_of(_links_of_copy(stored, version, links if is_whole else _links_of(stored)))
    unread = max(0, then.messages - now.messages)  # messages on lines that the agent cannot read
    now = now._replace(messages=now.messages + unread, lost=now.lost + unread)
    if unread and (not where.lost or (count.hidden or 0) < where.lost):
        where = where._replace(lost=count.hidden or 0)
    refused = ERRORS[now.refused] if now.refused else ""
    said = (*_refusal(stored, refused), *count.findings, *_about(stored, now, where))
    facts = Diagnosis(stored, count.lines, count.records, count.lost, said, now, then, count.damaged, refused, version)
    return facts._replace(is_doubted=is_doubted)


def _note_line(lines: array[int], number: int, line: int) -> None:
    """Hold the line that a record first stands in; 0 for those that are only named."""
    if number >= len(lines):
        lines.extend([0] * (number + 1 - len(lines)))
    if number >= 0:
        lines[number] = lines[number] or line


def _links_of(stored: StoredSession) -> Links:
    """The links of all records that can be saved."""
    links = Links(parts_nameless=True)
    for found in session_lines(stored, None):
        for record in found.saved.records:
            links.add(record)
    return links.close()


def _links_of_copy(stored: StoredSession, version: str, links: Links) -> Links:
    """The links of a mended copy, as a version reads it; nothing is written."""
    copy = Links(rules_of(version))
    for _, record in relinked(stored, links, None):
        copy.add(record)
    return copy.close()


def _head(stored: StoredSession) -> bytes:
    with readable(stored.path, []) as path, open(path or os.devnull, "rb") as file:
        return file.read(3)


def _refusal(stored: StoredSession, refused: str) -> Iterator[Finding]:
    if refused:
        said = f"the agent does not resume it: {refused}"
        yield Finding(stored.path, None, "session-refused", said, _hint(stored))


def _hint(stored: StoredSession) -> str:
    return f"foretold sessions repair {stored.id} --write"


def _dangers(stored: StoredSession) -> list[Finding]:
    """That a session is about to be deleted by its agent."""
    findings: list[Finding] = []
    if stored.agent in DOOMED:
        next(iter(reader_of(stored.agent).read_messages(stored, 0, findings)), None)
    hint = f"foretold sessions archive {stored.id}"
    return [finding._replace(hint=hint) for finding in findings if finding.code == "session-doomed"]


def _about(stored: StoredSession, reach: Reach, where: Places) -> Iterator[Finding]:
    """The findings about links, each with the line that it begins in."""
    path, hint = stored.path, _hint(stored)
    if reach.lost and not reach.refused:
        said = f"{reach.lost:,} of {reach.messages:,} messages are not reached when it is resumed; this is the first"
        if where.begin > where.lost > 0:
            said += f". What is reached begins in line {where.begin:,}"
        yield Finding(path, where.lost or None, "chain-broken", said, hint)
    if reach.broken:
        said = f"{_records(reach.broken)} a parent that is not in the file"
        said += "; this is the first" if reach.broken > 1 else ""
        yield Finding(path, where.broken or None, "parent-missing", said, hint)
    if reach.cycles:
        yield Finding(path, None, "chain-cycle", "records follow one another in a circle", hint)
    if reach.doubles:
        said = f"{_records(reach.doubles)} the uuid of another; a mended copy has the first"
        yield Finding(path, None, "record-double", said, hint)
    if reach.hollow:
        said = f"messages without content: {reach.hollow:,}; Claude Code 2.1.197 does not resume such a session"
        yield Finding(path, None, "message-hollow", said, hint)


def _records(count: int) -> str:
    return "1 record has" if count == 1 else f"{count:,} records have"


def write_repaired_copy(
    stored: StoredSession,
    folder: str | None = None,
    *,
    name: str | None = None,
    kernel: Kernel = KERNEL,
    progress: Progress | None = None,
) -> StoredSession:
    """Write a mended copy beside a session, or into a folder. `name` is its id: a new one, if none is given."""
    if stored.agent not in NAMES:
        raise SessionFailed(f"sessions of {stored.agent} are no files, and cannot be mended")
    links = _links_of(stored) if stored.agent in LINKED else Links()
    name = name or str(uuid.uuid4())
    path = os.path.join(folder or os.path.dirname(stored.path), _file_name(stored, name))
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    try:
        create_file(path, copied(stored, name, links, progress), kernel=kernel)
    except FileExistsError:
        raise RestoreRefused(f"{path} is there already, and was not overwritten") from None
    except OSError as error:
        raise failed(f"cannot write {path}", error) from error
    return stored._replace(id=name, path=path, size=os.path.getsize(path), changed=os.stat(path).st_mtime)


def _file_name(stored: StoredSession, name: str) -> str:
    old, last = stored.id, os.path.basename(stored.path).removesuffix(PACKED)
    short = NAMED.get(stored.agent, len(old))
    if old[:short] not in last:
        return f"{name}{os.path.splitext(last)[1]}"
    return last.replace(old[:short], name[:short])
