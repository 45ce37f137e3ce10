"""The links of a Claude Code session in few bytes.

1. What is held of a record is the number of its uuid and of its parent, its time, and of which answer, or of whose
   call, it is a part: some 35 bytes, so a session of any size can be looked at. `follow.py` finds the conversation.
2. Numbers are in the order of the file. A second record with the same uuid takes the place of the first.
3. Newer versions pass over a message without content, as if it were not there.
"""

from __future__ import annotations

from array import array

from foretold.dialects.claude_code.sessions import NEWER, SessionRules
from foretold.sessions.formats.claude.records import moment, text_at
from foretold.sessions.resumption.compact_arrays import NONE, Numbers, Times
from foretold.sessions.resumption.nodes import LINKS, Link, calls_in, key_of, results_in
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

NOBODY, UNKNOWN = NONE, -2
#: of each record: its type in two bits, and what it is
KIND, USER, ASSISTANT, ATTACHMENT, SYSTEM = 3, 0, 1, 2, 3
SIDE, BOUNDARY, RESULT, HOLLOW, SUMMARY, THERE, PLAIN = 4, 8, 16, 32, 64, 128, 256
FIRST_SIDE, MOVED, GONE, DATED = 512, 1024, 2048, 4096
_KINDS = {"user": USER, "assistant": ASSISTANT, "attachment": ATTACHMENT, "system": SYSTEM}


class Kept(NamedTuple):
    """What a boundary says is preserved: an anchor, and messages, or the two ends of a segment."""

    anchor: int
    listed: tuple[int, ...] | None
    head: int = NOBODY
    tail: int = NOBODY


class First(NamedTuple):
    """The first of records with the same uuid."""

    parent: int
    flags: int
    time: float
    group: int
    kept: Kept | None = None
    logical: int = NOBODY


class Links:
    """The links of a file, as numbers. Add every record in order, close it, then ask.

    To the agent, records without a uuid are one and the same; to mend a file they are taken apart.
    """

    def __init__(self, rules: SessionRules = NEWER, *, parts_nameless: bool = False) -> None:
        self.rules, self.parts_nameless = rules, parts_nameless
        self.unnamed: set[int] = set()  #: records without a uuid, where they are taken apart
        self.came = 0  #: records that have, or share, a number
        self.double_at: set[int] = set()  #: which of these share it
        self.uuids = Numbers()
        self.parent, self.times, self.flags = array("i"), Times(), array("H")
        self.group = array("i")  #: of an answer its message id, of a result its call
        self.more: dict[int, tuple[int, ...]] = {}  #: further calls of a result
        self.message_ids, self.calls = Numbers(), Numbers()
        self.caller = array("i")  #: of each call the first record that it stands in
        self.callers: dict[int, list[int]] = {}  #: and further ones
        self.called: dict[int, frozenset[int]] = {}  #: the calls of records that took the place of another
        self.logical: dict[int, int] = {}
        self.kept: dict[int, Kept] = {}
        self.tail_of: dict[int, int] = {}  #: summaries of compactions, and the last message kept behind each
        self.again: list[tuple[int, int, bool]] = []  #: how many numbers there were, number, whether a sidechain
        self.first: dict[int, First] = {}
        self.doubles = self.hollow = 0
        self.nameless = self.leaf_named = NOBODY
        self.answers = 0  #: how many message ids there are
        self.has_null = False  #: whether a line is `null`

    def add(self, record: dict[str, object]) -> int:
        """Learn a record; its number, NOBODY if it has none."""
        kind = record.get("type")
        if kind == "last-prompt":
            self.leaf_named = self._named(record.get("leafUuid"))
        if not isinstance(kind, str) or kind not in LINKS:
            return NOBODY
        key, flags = key_of(record.get("uuid")), _flags(record)
        number = self.uuids.find(key)
        if flags & HOLLOW:
            self.hollow += 1
            if not self.rules.refuses_damage:
                self._pass_over(key, number, record)
                return NOBODY
        if key is None and self.parts_nameless:
            number = self._new((self.came,))
            self.unnamed.add(number)
        elif number == NOBODY:
            number = self._new(key)
        elif not self.flags[number] & THERE:  # it was only named; it stands here
            fresh = self._new(key)
            self.parent[number], self.flags[number], number = fresh, MOVED, fresh
        else:
            self._double(number, is_side=bool(flags & SIDE))
            flags |= self.flags[number] & FIRST_SIDE
        if number not in self.first and flags & SIDE:
            flags |= FIRST_SIDE
        self.came += 1
        self._fill(number, record, flags | THERE)
        return number

    def _new(self, key: Hashable) -> int:
        self.parent.append(NOBODY)
        self.times.append(0.0)
        self.flags.append(0)
        self.group.append(NONE)
        return self.uuids.add(key)

    def _double(self, number: int, *, is_side: bool) -> None:
        self.doubles += 1
        self.double_at.add(self.came)
        self.again.append((len(self.uuids), number, is_side))
        kept, logical = self.kept.pop(number, None), self.logical.pop(number, NOBODY)
        was = First(self.parent[number], self.flags[number], self.times[number], self.group[number], kept, logical)
        self.first.setdefault(number, was)
        self.more.pop(number, None)
        self.called.pop(number, None)

    def _pass_over(self, key: Hashable, number: int, record: dict[str, object]) -> None:
        """Only who its parent is will be asked, when it is mended."""
        number = self._new(key) if number == NOBODY else number
        if not self.flags[number] & THERE:
            self.flags[number] |= HOLLOW
            self.parent[number] = self._named(record.get("parentUuid"))

    def _named(self, name: object) -> int:
        key = key_of(name)
        if key is None:
            return NOBODY
        number = self.uuids.find(key)
        return self._new(key) if number == NOBODY else number

    def _fill(self, number: int, record: dict[str, object], flags: int) -> None:
        time = moment(record.get("timestamp"))
        self.parent[number] = self._named(record.get("parentUuid"))
        self.flags[number] = flags | (0 if time is None else DATED)
        self.times[number] = time or 0.0
        self.group[number] = self._group(number, record, flags)
        if flags & BOUNDARY:
            self.logical[number] = self._named(record.get("logicalParentUuid"))
            kept = self._preserved(record.get("compactMetadata"))
            if kept:
                self.kept[number] = kept

    def _group(self, number: int, record: dict[str, object], flags: int) -> int:
        link = Link(record, 0)
        if flags & KIND == ASSISTANT:
            name = link.message_id
            group = self.message_ids.known(name) if name else NONE
            if group != NONE and self.rules.gathers:
                self._call_in(number, [self._call(call) for call in calls_in(link)])
            return group
        if not flags & RESULT or not self.rules.gathers:
            return NONE
        numbers = [self._call(call) for call in results_in(link)]
        if len(numbers) > 1:
            self.more[number] = tuple(numbers[1:])
        return numbers[0]

    def _call_in(self, number: int, calls: list[int]) -> None:
        if number in self.first:
            self.called[number] = frozenset(calls)
        for call in calls:
            if self.caller[call] == NONE:
                self.caller[call] = number
            elif self.caller[call] != number:
                self.callers.setdefault(call, []).append(number)

    def caller_of(self, call: int) -> int:
        """The message id of the answer that a call stands in."""
        for number in (self.caller[call], *self.callers.get(call, ())):
            is_stale = number in self.first and call not in self.called.get(number, ())
            if self.is_there(number) and self.flags[number] & KIND == ASSISTANT and not is_stale:
                return int(self.group[number])
        return NONE

    def _preserved(self, data: object) -> Kept | None:
        if not isinstance(data, dict):
            return None
        listed, segment = data.get("preservedMessages"), data.get("preservedSegment")
        if isinstance(listed, dict) and isinstance(listed.get("uuids"), list):
            return Kept(self._named(listed.get("anchorUuid")), tuple(map(self._named, listed["uuids"])))
        if not isinstance(segment, dict):
            return None
        ends = (self._named(segment.get("headUuid")), self._named(segment.get("tailUuid")))
        return Kept(self._named(segment.get("anchorUuid")), None, *ends)

    def _call(self, call: str) -> int:
        number = self.calls.known(call)
        if number == len(self.caller):
            self.caller.append(NONE)
        return number

    def close(self) -> Links:
        """No more records come: what was needed to number them is let go."""
        here = self._here
        self.nameless = self.uuids.find(None)
        self.leaf_named = here(self.leaf_named)
        self.logical = {number: here(before) for number, before in self.logical.items()}
        self.kept = {number: self._kept_here(kept) for number, kept in self.kept.items()}
        for number, first in self.first.items():
            kept = first.kept and self._kept_here(first.kept)
            self.first[number] = first._replace(parent=here(first.parent), kept=kept, logical=here(first.logical))
        for number, parent in enumerate(self.parent):
            if parent >= 0 and self.flags[parent] & MOVED and not self.flags[number] & MOVED:
                self.parent[number] = self.parent[parent]
        self.answers = len(self.message_ids)
        self.uuids, self.message_ids, self.calls = Numbers(), Numbers(), Numbers()
        return self

    def _here(self, number: int) -> int:
        """The number that a record got when it came, if it was only named before."""
        return self.parent[number] if number >= 0 and self.flags[number] & MOVED else number

    def _kept_here(self, kept: Kept) -> Kept:
        listed = None if kept.listed is None else tuple(map(self._here, kept.listed))
        return Kept(self._here(kept.anchor), listed, self._here(kept.head), self._here(kept.tail))

    def is_there(self, number: int) -> bool:
        return number >= 0 and self.flags[number] & (THERE | GONE) == THERE

    def above(self, number: int) -> int:
        """The parent of a record; a record without a uuid is the parent of those that have none."""
        parent = self.parent[number]
        return self.nameless if parent == NOBODY else parent

    def records(self) -> Iterator[int]:
        """Every record, in the order of the file."""
        return (number for number, flags in enumerate(self.flags) if flags & THERE)

    def is_said(self, number: int) -> bool:
        return self.flags[number] & KIND in (USER, ASSISTANT)


def is_hollow(record: dict[str, object]) -> bool:
    """Whether a message has no content."""
    return record.get("type") in LINKS and bool(_flags(record) & HOLLOW)


def _flags(record: dict[str, object]) -> int:
    kind = _KINDS[text_at(record, "type")]
    flags, message = kind, record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if kind in (USER, ASSISTANT) and not isinstance(content, str | list):
        flags |= HOLLOW
    if kind == ASSISTANT and isinstance(content, str):
        flags |= PLAIN
    if record.get("isSidechain") is True:
        flags |= SIDE
    if record.get("subtype") == "compact_boundary":
        flags |= BOUNDARY
    if record.get("isCompactSummary") is True:
        flags |= SUMMARY
    return flags | RESULT if results_in(Link(record, 0)) else flags
