"""Repairs a conversation that was interrupted: its messages are those of the transcript, and no call is open.

1. The transcript is opened again. An interrupt may come when a record is in the file and its writer does not know it
   yet: only the file knows where the chain ends. A torn end is put aside.
2. Calls of the last answer that have no result get one that says so. Those further up are left to the rules by which
   the agent resumes: a result after them would split the conversation.
3. The messages are taken from the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from foretold.dialects.claude_code.sessions import INTERRUPTED, rules_of
from foretold.errors import StoreFailed
from foretold.sessions.formats.claude.records import CHAINED
from foretold.sessions.formats.fields import text_at
from foretold.sessions.resumption.chain import find_chain
from foretold.sessions.resumption.graph import RecordNode
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.harness.harness import Harness


def repair_conversation(harness: Harness) -> None:
    """Make a conversation whole whose turn was broken off, wherever that was."""
    if not harness.recorder.is_begun:
        return
    with suppress(StoreFailed):  # what was the matter in the first place is more important
        harness.recorder.reopen()
        answer_open_calls(harness)
    harness.reload_messages()


def answer_open_calls(harness: Harness) -> None:
    """Go on from the end of the chain, and give each call of the last answer a result."""
    transcript = harness.recorder.transcript
    nodes = chain_of(harness.recorder.records(), harness.version)
    if nodes:
        transcript.leaf = nodes[-1].id
    for call in find_open_calls(nodes):
        transcript.tool_result(call, INTERRUPTED, is_error=True)


def chain_of(records: Iterable[Mapping[str, object]], version: str) -> Sequence[RecordNode]:
    """The records that are sent."""
    nodes = (RecordNode(dict(value), number) for number, value in enumerate(records, 1))
    return find_chain(nodes, rules_of(version)).nodes


def own_records(records: Sequence[Mapping[str, object]], version: str) -> list[Mapping[str, object]]:
    """The records without those of other branches since the last compaction: of a rewind, or of another process."""
    ours = {node.id for node in chain_of(records, version)}
    ends = (at for at, each in enumerate(records) if each.get("subtype") == "compact_boundary" and _id(each) in ours)
    last = max(ends, default=-1)
    return [
        each
        for at, each in enumerate(records)
        if at <= last or each.get("type") not in CHAINED or each.get("isSidechain") is True or _id(each) in ours
    ]


def _id(record: Mapping[str, object]) -> str:
    return text_at(record, "uuid")


def descendants_of(records: Iterable[Mapping[str, object]], top: str) -> tuple[str, ...]:
    """The ids of a record and of all that descend from it."""
    found: dict[object, None] = {top: None}
    for record in records:
        if _id(record) and record.get("parentUuid") in found:
            found[_id(record)] = None
    return tuple(map(str, found))


def find_open_calls(nodes: Sequence[RecordNode]) -> list[str]:
    """The calls of the last answer that have no result, if no other message came since."""
    calls: list[str] = []
    answered: set[str] = set()
    name = ""
    for node in reversed([node for node in nodes if node.type in ("user", "assistant")]):
        if node.type == "user":
            results = set(node.results)
            if not results:
                break
            answered |= results
        elif name and node.message_id != name:
            break
        else:
            name = node.message_id
            calls[:0] = node.calls
    return [call for call in calls if call not in answered]
