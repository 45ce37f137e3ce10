"""The records of a Claude Code transcript as a graph, in few bytes.

1. Records of the types user, assistant, attachment and system are nodes, found by their `uuid`; all others are skipped.
   A second record with the same uuid replaces the first.
2. A graph holds of a record the number of its uuid and of its parent, its time, and the answer or the call that it
   belongs to: about 40 bytes, so that a session of any size can be examined. `chain.py` finds the conversation in it.
3. Numbers follow the order of the file.
4. Newer versions skip a message without content, as if it were not there.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator

from foretold.dialects.claude_code.sessions import NEWEST, SessionRules
from foretold.sessions.formats.claude.records import CHAINED
from foretold.sessions.formats.fields import list_at, object_at, parse_time, text_at
from foretold.types import NamedTuple

Json = dict[str, object]

NODE_TYPES = CHAINED
MESSAGE_TYPES = ("user", "assistant")
NONE = -1  #: no record, no group
#: the flags of a record: its type in two bits, and what it is
KIND, USER, ASSISTANT, ATTACHMENT, SYSTEM = 3, 0, 1, 2, 3
SIDECHAIN, BOUNDARY, RESULT, HOLLOW, SUMMARY, PRESENT, PLAIN_TEXT = 4, 8, 16, 32, 64, 128, 256
FIRST_SIDECHAIN, MOVED, CUT_OFF, DATED = 512, 1024, 2048, 4096
_KINDS = {"user": USER, "assistant": ASSISTANT, "attachment": ATTACHMENT, "system": SYSTEM}
_LOAD = 0.8  #: part of the hash slots that is used before more are added


class RecordNode(NamedTuple):
    """A record of the conversation and its place in the file."""

    value: Json
    line: int  #: 0 = it is not in the file
    start: int = -1  #: its first byte; -1 = it was not read from a file

    @property
    def id(self) -> str:
        return text_at(self.value, "uuid") or (f"line {self.line}" if self.start < 0 else f"byte {self.start}")

    @property
    def type(self) -> str:
        return text_at(self.value, "type")

    @property
    def message_id(self) -> str:
        return text_at(self.value.get("message"), "id")

    @property
    def blocks(self) -> list[Json]:
        """The blocks of a message whose content is a list."""
        return [block for block in list_at(self.value.get("message"), "content") if isinstance(block, dict)]

    @property
    def calls(self) -> list[str]:
        """The ids of the calls in an answer."""
        return self._ids("assistant", "tool_use", "id")

    @property
    def results(self) -> list[str]:
        """The ids of the calls whose results are in a message."""
        return self._ids("user", "tool_result", "tool_use_id")

    def _ids(self, role: str, kind: str, name: str) -> list[str]:
        is_asked = self.value.get("type") == role
        return [text_at(block, name) for block in self.blocks if block.get("type") == kind] if is_asked else []


class Preserved(NamedTuple):
    """What a compaction preserves: an anchor, and the messages after it, or the two ends of a segment."""

    anchor: int
    numbers: tuple[int, ...]
    is_segment: bool


class Graph:
    """The nodes of a file, as numbers: `add` every record in order, `close`, then query.

    To the agent, the last of several records with the same uuid counts, and all records without one are one record. To
    repair a file, the first counts, and records without a uuid are kept apart.
    """

    def __init__(self, rules: SessionRules = NEWEST, *, is_for_repair: bool = False) -> None:
        self.rules, self.is_for_repair = rules, is_for_repair
        self.unnamed: set[int] = set()  #: records without a uuid, where they are kept apart
        self.added = 0  #: records that have a number, or share one
        self.double_at: set[int] = set()  #: which of these share it
        self.uuids = KeyNumbers()
        self.parent, self.times, self.flags = array("i"), array("d"), array("H")
        self.group = array("i")  #: of an answer its message id, of a result its call
        self.more_calls: dict[int, tuple[int, ...]] = {}  #: further calls of a result
        self.message_ids, self.calls = KeyNumbers(), KeyNumbers()
        self.caller = array("i")  #: of each call, the first record that has it
        self.callers: dict[int, list[int]] = {}  #: and further ones
        self.replaced_calls: dict[int, frozenset[int]] = {}  #: the calls of records that replaced another
        self.logical_parent: dict[int, int] = {}
        self.preserved: dict[int, Preserved] = {}  #: by boundary
        self.tail_of: dict[int, int] = {}  #: summaries of compactions, and the last message preserved after each
        self.repeats: list[tuple[int, int, bool]] = []  #: how many numbers there were, number, whether a sidechain
        self.repeated_at: dict[int, tuple[int, int]] = {}  #: where the last record with a repeated uuid is
        self.doubles = self.hollow = 0
        self.nameless = self.named_leaf = NONE
        self.answer_count = 0
        self.has_null = False  #: whether a line is `null`

    def add(self, record: Json) -> int:
        """Add a record; its number, NONE if it does not get one."""
        kind = record.get("type")
        if kind == "last-prompt":
            self.named_leaf = self._number_of(record.get("leafUuid"))
        if not isinstance(kind, str) or kind not in NODE_TYPES:
            return NONE
        key, flags = _key_of(record.get("uuid")), _flags(record)
        number = self.uuids.find(key)
        if flags & HOLLOW:
            self.hollow += 1
            if not self.rules.refuses_damage:
                self._skip_hollow(key, number, record)
                return NONE
        if key is None and self.is_for_repair:
            number = self._new((self.added,))
            self.unnamed.add(number)
        elif number == NONE:
            number = self._new(key)
        elif not self.flags[number] & PRESENT:  # so far it was only referred to
            fresh = self._new(key)
            self.parent[number], self.flags[number], number = fresh, MOVED, fresh
        else:
            self._note_double(number, is_side=bool(flags & SIDECHAIN))
            if self.is_for_repair:
                return NONE
            flags |= self.flags[number] & FIRST_SIDECHAIN
        if number not in self.repeated_at and flags & SIDECHAIN:
            flags |= FIRST_SIDECHAIN
        self.added += 1
        self._fill(number, record, flags | PRESENT)
        return number

    def _new(self, key: Hashable) -> int:
        self.parent.append(NONE)
        self.times.append(0.0)
        self.flags.append(0)
        self.group.append(NONE)
        return self.uuids.add(key)

    def _note_double(self, number: int, *, is_side: bool) -> None:
        """Note a record whose uuid another has; unless the first counts, it replaces that one."""
        self.doubles += 1
        self.double_at.add(self.added)
        if self.is_for_repair:
            self.added += 1
            return
        self.repeats.append((len(self.uuids), number, is_side))
        self.repeated_at[number] = (len(self.uuids) - 1, len(self.repeats))
        for facts in (self.preserved, self.logical_parent, self.more_calls, self.replaced_calls):
            facts.pop(number, None)

    def _skip_hollow(self, key: Hashable, number: int, record: Json) -> None:
        """Remember only its parent, for a repair."""
        number = self._new(key) if number == NONE else number
        if not self.flags[number] & PRESENT:
            self.flags[number] |= HOLLOW
            self.parent[number] = self._number_of(record.get("parentUuid"))

    def _number_of(self, name: object) -> int:
        key = _key_of(name)
        if key is None:
            return NONE
        number = self.uuids.find(key)
        return self._new(key) if number == NONE else number

    def _fill(self, number: int, record: Json, flags: int) -> None:
        time = parse_time(record.get("timestamp"))
        self.parent[number] = self._number_of(record.get("parentUuid"))
        self.flags[number] = flags | (0 if time is None else DATED)
        self.times[number] = time or 0.0
        self.group[number] = self._group_of(number, RecordNode(record, 0), flags)
        if flags & BOUNDARY:
            self.logical_parent[number] = self._number_of(record.get("logicalParentUuid"))
            preserved = self._preserved_by(record.get("compactMetadata"))
            if preserved:
                self.preserved[number] = preserved

    def _group_of(self, number: int, node: RecordNode, flags: int) -> int:
        if flags & KIND == ASSISTANT:
            name = node.message_id
            group = self.message_ids.find_or_add(name) if name else NONE
            if group != NONE and self.rules.gathers:
                self._note_calls(number, [self._call(call) for call in node.calls])
            return group
        if not flags & RESULT or not self.rules.gathers:
            return NONE
        numbers = [self._call(call) for call in node.results]
        if len(numbers) > 1:
            self.more_calls[number] = tuple(numbers[1:])
        return numbers[0]

    def _note_calls(self, number: int, calls: list[int]) -> None:
        if number in self.repeated_at:
            self.replaced_calls[number] = frozenset(calls)
        for call in calls:
            if self.caller[call] == NONE:
                self.caller[call] = number
            elif self.caller[call] != number:
                self.callers.setdefault(call, []).append(number)

    def answer_of(self, call: int) -> int:
        """The message id of the answer that has a call; of several the first."""
        groups = []
        for number in (self.caller[call], *self.callers.get(call, ())):
            is_stale = number in self.repeated_at and call not in self.replaced_calls.get(number, ())
            if self.is_there(number) and self.flags[number] & KIND == ASSISTANT and not is_stale:
                groups.append(self.group[number])
        return min(groups, default=NONE)

    def _preserved_by(self, data: object) -> Preserved | None:
        listed, segment = object_at(data, "preservedMessages"), object_at(data, "preservedSegment")
        is_segment = not isinstance(listed.get("uuids"), list)
        if is_segment and not segment:
            return None
        held = segment if is_segment else listed
        names = [segment.get("headUuid"), segment.get("tailUuid")] if is_segment else list_at(listed, "uuids")
        anchor, *numbers = map(self._number_of, (held.get("anchorUuid"), *names))
        return Preserved(anchor, tuple(numbers), is_segment)

    def _call(self, call: str) -> int:
        number = self.calls.find_or_add(call)
        if number == len(self.caller):
            self.caller.append(NONE)
        return number

    def close(self) -> Graph:
        """No more records come: free what was needed to number them."""
        settle = self._moved_to
        self.nameless = self.uuids.find(None)
        self.named_leaf = settle(self.named_leaf)
        self.logical_parent = {number: settle(parent) for number, parent in self.logical_parent.items()}
        for number, kept in self.preserved.items():
            self.preserved[number] = kept._replace(anchor=settle(kept.anchor), numbers=tuple(map(settle, kept.numbers)))
        for number, parent in enumerate(self.parent):
            if parent >= 0 and self.flags[parent] & MOVED and not self.flags[number] & MOVED:
                self.parent[number] = self.parent[parent]
        self.answer_count = len(self.message_ids)
        self.uuids, self.message_ids, self.calls = KeyNumbers(), KeyNumbers(), KeyNumbers()
        return self

    def _moved_to(self, number: int) -> int:
        """The number that a record got when it was added, if it was referred to before."""
        return self.parent[number] if number >= 0 and self.flags[number] & MOVED else number

    def is_there(self, number: int) -> bool:
        return number >= 0 and self.flags[number] & (PRESENT | CUT_OFF) == PRESENT

    def parent_of(self, number: int) -> int:
        """The parent of a record; a record without a uuid is the parent of those without a parent."""
        parent = self.parent[number]
        return self.nameless if parent == NONE else parent

    def descends(self, at: int, number: int) -> bool:
        """Whether a record is another, or descends from it."""
        seen = bytearray(len(self.flags))
        while self.is_there(at) and at != number and not seen[at]:
            seen[at] = 1
            at = self.parent_of(at)
        return at == number

    def records(self) -> Iterator[int]:
        """Every record, in the order of the file."""
        return (number for number, flags in enumerate(self.flags) if flags & PRESENT)

    def is_message(self, number: int) -> bool:
        return self.flags[number] & KIND in (USER, ASSISTANT)

    def is_answer(self, number: int) -> bool:
        return self.flags[number] & KIND == ASSISTANT

    def place_of(self, number: int) -> tuple[int, int]:
        """Where a record is in the file, to sort by: of several with the same uuid the last counts."""
        return self.repeated_at.get(number, (number, 0))


def _key_of(value: object) -> Hashable:
    """What a record is found by: its uuid, of any type; all records without one share a key."""
    return value if isinstance(value, str | int | float) else None


def is_hollow(record: Json) -> bool:
    """Whether a message has no content."""
    return record.get("type") in NODE_TYPES and bool(_flags(record) & HOLLOW)


def _flags(record: Json) -> int:
    kind = _KINDS[text_at(record, "type")]
    flags, message = kind, record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if kind in (USER, ASSISTANT) and not isinstance(content, str | list):
        flags |= HOLLOW
    if kind == ASSISTANT and isinstance(content, str):
        flags |= PLAIN_TEXT
    if record.get("isSidechain") is True:
        flags |= SIDECHAIN
    if record.get("subtype") == "compact_boundary":
        flags |= BOUNDARY
    if record.get("isCompactSummary") is True:
        flags |= SUMMARY
    return flags | RESULT if kind == USER and RecordNode(record, 0).results else flags


class KeyNumbers:
    """Keys, numbered from 0 in the order in which they came.

    A dict needs about 150 bytes for a uuid, this needs 15. A key is identified by 64 bits of its hash: among five
    million keys, two are confused once in a million files.

    >>> numbers = KeyNumbers()
    >>> numbers.add("a"), numbers.add("b"), numbers.find("a"), numbers.find("c")
    (0, 1, 0, -1)
    >>> numbers.add("a"), numbers.find("a"), len(numbers)
    (2, 2, 3)
    """

    def __init__(self) -> None:
        self.hashes = array("q")
        self.slots = array("i", [NONE]) * 1021

    def __len__(self) -> int:
        return len(self.hashes)

    def find(self, key: Hashable) -> int:
        """The number of a key; NONE if it has none."""
        return self.slots[self._slot(hash((key,)))]

    def add(self, key: Hashable) -> int:
        """Give a key the next number, which replaces the one it may have."""
        if len(self.hashes) >= len(self.slots) * _LOAD:
            self._grow()
        mixed, number = hash((key,)), len(self.hashes)
        self.slots[self._slot(mixed)] = number
        self.hashes.append(mixed)
        return number

    def find_or_add(self, key: Hashable) -> int:
        number = self.find(key)
        return self.add(key) if number == NONE else number

    def _slot(self, mixed: int) -> int:
        slots, hashes, size = self.slots, self.hashes, len(self.slots)
        at = mixed % size
        while (number := slots[at]) >= 0 and hashes[number] != mixed:
            at = at + 1 if at + 1 < size else 0
        return at

    def _grow(self) -> None:
        self.slots = array("i", [NONE]) * (len(self.slots) * 4 // 3 | 1)
        for number, mixed in enumerate(self.hashes):
            self.slots[self._slot(mixed)] = number
