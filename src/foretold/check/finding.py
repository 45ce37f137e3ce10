"""What `foretold check` reports: a finding, the agents that it holds for, and how it can be fixed."""

from __future__ import annotations

import re

from foretold.types import TYPE_CHECKING, Facts, Finding, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_NUMBER = re.compile(r"[0-9][0-9,.]*")


class TextEdit(NamedTuple):
    """Bytes of a file that are replaced; a file that is not there is empty."""

    path: str
    start: int  #: offset in bytes
    end: int
    text: str


class Rename(NamedTuple):
    """A file that gets another name."""

    path: str
    to: str


class Effect(NamedTuple):
    """What a fix announces about what agents are given.

    The texts of files that it edits may change; files that it brings come, with what they import; files that it
    rescopes come at another time. Everything else stays as it is.
    """

    brings: tuple[str, ...] = ()
    rescopes: tuple[str, ...] = ()


class Fix(NamedTuple):
    """How a finding can be fixed. A safe fix changes no word that the author wrote, and delivers what was meant."""

    title: str  #: in the imperative: `write @docs/testing.md`
    edits: tuple[TextEdit, ...] = ()
    renames: tuple[Rename, ...] = ()
    is_safe: bool = True
    effect: Effect = Effect()


class CheckFinding(NamedTuple):
    """Something the author of a file should know. `severity` and `fix` are filled in when a check is run."""

    path: str  #: absolute
    line: int | None
    code: str
    message: str
    hint: str = ""
    agents: tuple[str, ...] = ()  #: with their versions, `claude-code@2.1.325`; empty: whatever the agent
    severity: str = ""
    fix: Fix | None = None
    facts: Facts | None = None  #: what a fix is made of

    @property
    def key(self) -> tuple[str, int, str, str]:
        """What findings of several agents have in common: then they are one. `@a.md: …` and `@b.md: …` are two."""
        return self.path, self.line or 0, self.code, self.message.partition(": ")[0]

    @property
    def topic(self) -> str:
        """What a message is about, if it says so before a colon (`@docs/a.md: …`); empty if it does not."""
        topic, colon, _ = self.message.partition(": ")
        return topic if colon else ""


def mask_numbers(text: str) -> str:
    """A message in which numbers do not count: a file that grows by a byte has the same finding.

    >>> mask_numbers("12,345 bytes, from line 7 on")
    '# bytes, from line # on'
    """
    return _NUMBER.sub("#", text)


def from_findings(findings: Iterable[Finding], agents: tuple[str, ...] = ()) -> Iterator[CheckFinding]:
    """Findings of a loader or a store, as those of a check."""
    for each in findings:
        yield CheckFinding(each.path, each.line, each.code, each.message, each.hint, agents, facts=each.facts)


def merge_findings(findings: Iterable[CheckFinding]) -> list[CheckFinding]:
    """Findings by file and line, each once, with all agents that it holds for."""
    merged: dict[tuple[str, int, str, str], CheckFinding] = {}
    for each in findings:
        known = merged.get(each.key)
        if known is None:
            merged[each.key] = each
        elif known.agents:  # one that holds for all agents stays so
            agents = tuple(dict.fromkeys((*known.agents, *each.agents))) if each.agents else ()
            merged[each.key] = known._replace(agents=agents)
    return sorted(merged.values(), key=lambda each: (each.path, each.line or 0, each.code, each.message))
