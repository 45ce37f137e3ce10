"""Notice other processes that write to the same transcript: two that resume one session make two branches of it.

1. What is between the lines that we wrote, or after the last, another process wrote. Records of the chain are messages
   of it; a `last-prompt` decides which branch the next resume follows.
2. A branch is reported once, by the first of its records that we saw; what follows it on the same branch is known.
3. Records of subagents in the file of a conversation do not count as a branch.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from foretold.sessions.formats.claude.records import CHAINED
from foretold.sessions.formats.fields import text_at
from foretold.sessions.formats.jsonl import records_of
from foretold.types import Finding

SHARED = (
    "another process has resumed this session; both branches stay in it, and a resume follows the one that wrote last."
    " For the other one: Harness.resume({session!r}, branch={branch!r})"
)


class OtherWriters:
    """What other processes appended to a file whose first bytes are known."""

    def __init__(self, path: str, *, is_sidechain: bool = False) -> None:
        self.path, self._is_sidechain = path, is_sidechain
        self.known = os.path.getsize(path)  #: bytes whose writer is known
        self.have_written = False  #: messages, since our last one
        self.have_led = False  #: they wrote messages, or named a leaf, since we last named one
        self.writing = ""  #: the id of our record that may be in the file before we know: an interrupt came between
        self.findings: list[Finding] = []
        self._theirs: set[str] = set()

    def note_own(self, start: int, end: int) -> None:
        """Our line is from `start` to `end`: what comes before it, and is not known, is theirs."""
        if self.known < start:
            self._read(start)
        self.known = end

    def check(self) -> None:
        """Read what is after our last line."""
        with suppress(OSError):  # the file may have been removed
            self._read(os.path.getsize(self.path))

    def _read(self, end: int) -> None:
        if self.known >= end:
            return
        for record in records_of(self.path, self.known):
            if record.start >= end:
                break
            self.known = record.end
            self._note(record.value)

    def _note(self, value: Mapping[str, object]) -> None:
        if value.get("type") == "last-prompt":
            self.have_led = True
        name = text_at(value, "uuid")
        if value.get("type") not in CHAINED or name in ("", self.writing):
            return
        if (value.get("isSidechain") is True) != self._is_sidechain:
            return
        self.have_written = self.have_led = True
        if text_at(value, "parentUuid") not in self._theirs:
            session = os.path.splitext(os.path.basename(self.path))[0]
            message = SHARED.format(session=session, branch=name)
            self.findings.append(Finding(self.path, None, "session-shared", message))
        self._theirs.add(name)
