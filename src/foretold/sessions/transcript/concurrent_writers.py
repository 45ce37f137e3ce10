"""Who else writes to a transcript: two that go on with one session make two branches of it.

1. What stands between the lines that we wrote, or behind the last, somebody else wrote. Records of the chain are
   something said; a `last-prompt` decides which branch the next resume follows.
2. A branch is named once, by the first of its records that we saw: what follows it on the same branch is known.
3. Records of subagents in the file of a conversation are nobody's branch.
"""

from __future__ import annotations

import os
from contextlib import suppress

from foretold.sessions.formats.fields import text_at
from foretold.sessions.formats.jsonl import records_of
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

CHAINED = ("user", "assistant", "attachment", "system")
SHARED = (
    "somebody else has gone on with this session; both branches stay in it, and a resume follows the one that spoke"
    " last. For theirs: Harness.resume({session!r}, branch={branch!r})"
)


class Others:
    """What others appended to a file of which the first bytes are known."""

    def __init__(self, path: str, *, is_sidechain: bool = False) -> None:
        self.path, self._is_sidechain = path, is_sidechain
        self.known = os.path.getsize(path)  #: bytes of which is known whose they are
        self.have_spoken = False  #: since `answered`
        self.have_led = False  #: they spoke, or named a leaf, since `led`
        self.writing = ""  #: the id of our record that may be there before we know it: an interrupt came between
        self.findings: list[Finding] = []
        self._theirs: set[str] = set()

    def up_to(self, start: int, end: int) -> None:
        """Our line stands from `start` to `end`: what comes before it, and is not known, is theirs."""
        if self.known < start:
            self._read(start)
        self.known = end

    def look(self) -> None:
        """See what is behind our last line."""
        with suppress(OSError):  # a file that somebody removed says nothing
            self._read(os.path.getsize(self.path))

    def _read(self, end: int) -> None:
        if self.known >= end:
            return
        for record in records_of(self.path, self.known):
            if record.start >= end:
                break
            self.known = record.end
            self._take(record.value)

    def _take(self, value: Mapping[str, object]) -> None:
        if value.get("type") == "last-prompt":
            self.have_led = True
        name = text_at(value, "uuid")
        if value.get("type") not in CHAINED or name in ("", self.writing):
            return
        if (value.get("isSidechain") is True) != self._is_sidechain:
            return
        self.have_spoken = self.have_led = True
        if text_at(value, "parentUuid") not in self._theirs:
            session = os.path.splitext(os.path.basename(self.path))[0]
            said = SHARED.format(session=session, branch=name)
            self.findings.append(Finding(self.path, None, "session-shared", said))
        self._theirs.add(name)
