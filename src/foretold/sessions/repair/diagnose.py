"""Find out what is wrong with a session, and how much of it the agent reaches. Nothing is changed.

1. Every line is read; damage is reported by line, and what can be saved of it is saved (`salvage.py`). For agents that
   link their records, the links are followed as the agent does (`reachability.py`), by the rules of the version that
   wrote the session last. Damage that makes an agent refuse a session is reported as such.
2. What a repaired copy (`copy.py`) would reach is found by following the links of the records that it would have. A
   copy is useful if more of it is reached, or if a version refuses the file as it is; otherwise `useless` says why not.
"""

from __future__ import annotations

import shlex
from array import array
from collections.abc import Iterator

from foretold.dialects.claude_code.sessions import rules_of
from foretold.dialects.releases.played import PLAYED
from foretold.sessions.formats.codex.validity import RolloutCheck
from foretold.sessions.formats.codex.zstd import readable
from foretold.sessions.formats.readers import reader_of
from foretold.sessions.model import StoredSession
from foretold.sessions.repair.copy import LINKED, ROLLOUTS, read_graph, relinked_rows, session_lines
from foretold.sessions.repair.reachability import Reach, count_reach, find_reachability, first_places
from foretold.sessions.repair.salvage import SalvagedLine, finding_of
from foretold.sessions.resumption.claude import ERRORS
from foretold.sessions.resumption.graph import Graph
from foretold.storage.tree import open_regular
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from foretold.sessions.archive.store_session import Progress

DELETING = ("gemini-cli",)  #: agents that may delete a session at their next start
NEWEST = PLAYED["claude-code"][-1]
MOST_FINDINGS = 1000
REPAIRABLE = ("lost", "broken", "cycles", "doubles", "hollow")  #: fields of a `Reach` that a copy repairs
HIDING = ("glued", "torn", "nul")  #: damage that hides whole records from agents


class Diagnosis(NamedTuple):
    """The state of a session."""

    stored: StoredSession
    lines: int
    records: int
    bytes_lost: int  #: of damaged lines of which nothing can be saved
    findings: tuple[Finding, ...]
    reach: Reach | None = None  #: as the agent resumes it; None where records are not linked
    after_repair: Reach | None = None  #: as it would resume the repaired copy
    damaged: int = 0  #: lines
    refused: str = ""  #: why the agent does not resume it at all
    version: str = ""  #: of the agent whose rules were applied
    rescued: int = 0  #: records of damaged lines that the agent does not read, but a copy has
    may_be_refused: bool = False  #: by other versions

    @property
    def is_sound(self) -> bool:
        return not self.findings

    @property
    def useless(self) -> str:
        """Why a repaired copy would be useless; empty if it has more, or is not refused."""
        after = self.after_repair
        if not (after.messages if after else self.records):
            return "nothing can be saved: there is no message in it" if after else "nothing can be saved"
        if self.is_sound:
            return "nothing is wrong with it"
        has_more = self.rescued > 0
        if self.reach and after:
            has_more = after.reached > self.reach.reached or after.lost < self.reach.lost
        return "" if has_more or self.refused or self.may_be_refused else "a copy would not have more"


class _LineCounts:
    """What was found while the lines were read."""

    def __init__(self) -> None:
        self.lines = self.records = self.lost = self.damaged = self.rescued = 0
        self.hidden = 0  #: the first line with a record that the agent does not read
        self.findings: list[Finding] = []

    def add(self, path: str, found: SalvagedLine) -> None:
        saved = found.saved
        self.lines += 1
        self.records += len(saved.records)
        self.lost += saved.lost
        if saved.damage in HIDING:
            self.rescued += len(saved.records)
        if not self.hidden and len(saved.records) > saved.read:
            self.hidden = found.line.number
        finding = finding_of(path, found)
        if finding is not None:
            self.damaged += 1
            self.findings += [finding] if len(self.findings) < MOST_FINDINGS else []

    def diagnosis(self, stored: StoredSession, findings: tuple[Finding, ...], refused: str) -> Diagnosis:
        about = (*_refusal(stored, refused), *findings)
        return Diagnosis(stored, self.lines, self.records, self.lost, about, damaged=self.damaged, refused=refused)


def diagnose(stored: StoredSession, progress: Progress | None = None, *, version: str = "") -> Diagnosis:
    """What is wrong with a session. Changes nothing. By default the version that wrote it last is assumed."""
    found = _diagnose_linked(stored, progress, version) if stored.agent in LINKED else _diagnose_flat(stored, progress)
    if not found.useless:
        return found
    hint = _hint(stored)  # do not suggest to write a useless copy
    findings = tuple(each._replace(hint="") if each.hint == hint else each for each in found.findings)
    return found._replace(findings=findings)


def _begin_of(path: str) -> bytes:
    """The bytes in which a byte order mark would be."""
    if not path:
        return b""
    with open(path, "rb", opener=open_regular) as file:
        return file.read(3)


def _diagnose_flat(stored: StoredSession, progress: Progress | None) -> Diagnosis:
    """A session whose records are not linked."""
    counts = _LineCounts()
    check = None
    if stored.agent in ROLLOUTS:
        with readable(stored.path, []) as path:
            check = RolloutCheck(_begin_of(path))
    for found in session_lines(stored, progress):
        counts.add(stored.path, found)
        if check:
            check.add(found)
    refused = check.refusal() if check else ""
    return counts.diagnosis(stored, (*_deletion(stored), *counts.findings), refused)._replace(rescued=counts.rescued)


def _diagnose_linked(stored: StoredSession, progress: Progress | None, version: str) -> Diagnosis:
    """A session whose records name their parents."""
    version = version or stored.version or reader_of(stored.agent).summarize(stored).version or NEWEST
    counts, lines, graph = _LineCounts(), array("I"), Graph(rules_of(version))
    for found in session_lines(stored, progress):
        counts.add(stored.path, found)
        graph.has_null = graph.has_null or found.saved.damage == "null"
        for record in found.saved.records[: found.saved.read]:
            _note_line(lines, graph.add(record), found.line.number)
    reachability = find_reachability(graph.close())
    now = after = count_reach(graph, reachability)
    lost, broken, begin = (lines[number] if number >= 0 else 0 for number in first_places(graph, reachability))
    may_be_refused = graph.has_null or graph.hollow > 0
    if counts.findings or now.refused or graph.nameless >= 0 or any(now._asdict()[key] for key in REPAIRABLE):
        is_complete = not counts.hidden and not graph.doubles and graph.nameless < 0 and graph.rules == rules_of(NEWEST)
        copy = Graph(rules_of(version))
        for _, record in relinked_rows(stored, graph if is_complete else read_graph(stored)):
            copy.add(record)
        after = count_reach(copy.close())
    unread = max(0, after.messages - now.messages)  # messages on lines that the agent cannot read
    now = now._replace(messages=now.messages + unread, lost=now.lost + unread)
    if unread and (not lost or counts.hidden < lost):
        lost = counts.hidden
    refused = ERRORS[now.refused] if now.refused else ""
    findings = (*counts.findings, *_link_findings(stored, now, lost, broken, begin))
    return counts.diagnosis(stored, findings, refused)._replace(
        reach=now, after_repair=after, version=version, may_be_refused=may_be_refused
    )


def _note_line(lines: array[int], number: int, line: int) -> None:
    """Remember the line of the first record with a number; 0 for those that are only referred to."""
    while len(lines) <= number:
        lines.append(0)
    if number >= 0 and not lines[number]:
        lines[number] = line


def _refusal(stored: StoredSession, refused: str) -> Iterator[Finding]:
    if refused:
        message = f"the agent does not resume it: {refused}"
        yield Finding(stored.path, None, "session-refused", message, _hint(stored))


def _hint(stored: StoredSession) -> str:
    return f"foretold sessions repair {shlex.quote(stored.path)} --write"  # an id may be that of another file, too


def _deletion(stored: StoredSession) -> list[Finding]:
    """That a session is about to be deleted by its agent."""
    findings: list[Finding] = []
    if stored.agent in DELETING:
        next(iter(reader_of(stored.agent).read_messages(stored, 0, findings)), None)
    hint = f"foretold sessions archive {stored.id}"
    return [finding._replace(hint=hint) for finding in findings if finding.code == "session-doomed"]


def _link_findings(stored: StoredSession, reach: Reach, lost: int, broken: int, begin: int) -> Iterator[Finding]:
    """The findings about links, each with the line of the first record."""
    path, hint = stored.path, _hint(stored)
    if reach.lost and not reach.refused:
        message = f"{reach.lost:,} of {reach.messages:,} messages are not reached on resume; this is the first"
        if begin > lost > 0:
            message += f". What is reached begins in line {begin:,}"
        yield Finding(path, lost or None, "chain-broken", message, hint)
    if reach.broken:
        message = f"{_records_have(reach.broken)} a parent that is not in the file"
        message += "; this is the first" if reach.broken > 1 else ""
        yield Finding(path, broken or None, "parent-missing", message, hint)
    if reach.cycles:
        yield Finding(path, None, "chain-cycle", "the parents of records form a cycle", hint)
    if reach.doubles:
        message = f"{_records_have(reach.doubles)} the uuid of another; a repaired copy has the first"
        yield Finding(path, None, "record-double", message, hint)
    if reach.hollow:
        message = f"messages without content: {reach.hollow:,}; Claude Code 2.1.197 does not resume such a session"
        yield Finding(path, None, "message-hollow", message, hint)


def _records_have(count: int) -> str:
    return "1 record has" if count == 1 else f"{count:,} records have"
