"""The links of a transcript: the records that a conversation is made of, and what they say of calls and results."""

from __future__ import annotations

from sys import intern

from foretold.sessions.formats.claude.records import moment, text_at
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

Json = dict[str, object]
#: the fields of a record that decide whether it is sent, and where
_CHAINING = (
    "type",
    "uuid",
    "parentUuid",
    "timestamp",
    "isSidechain",
    "isCompactSummary",
    "subtype",
    "compactMetadata",
    "leafUuid",
)
_PAIRED, _PAIRING = ("tool_use", "tool_result"), ("type", "id", "tool_use_id")
LINKS = ("user", "assistant", "attachment", "system")
SAID = ("user", "assistant")


class Link(NamedTuple):
    """A record of the chain and where it stands in its file."""

    value: Json
    line: int
    start: int = -1  #: its first byte; -1 = it comes from no file

    @property
    def id(self) -> str:
        return text_at(self.value, "uuid") or (f"line {self.line}" if self.start < 0 else f"byte {self.start}")

    @property
    def type(self) -> str:
        return text_at(self.value, "type")

    @property
    def message_id(self) -> str:
        return text_at(self.value.get("message"), "id")


class Links:
    """The links of a file by uuid, in the order in which their uuids first appeared."""

    def __init__(self, records: Iterable[Link]) -> None:
        self.by_id: dict[Hashable, Link] = {}
        self.written: list[Link] = []
        self.leaf_named: object = None
        self.tail_of: dict[Hashable, Hashable] = {}  #: summaries of compactions, and the last message kept behind each
        for record in records:
            if record.type in LINKS:
                self.by_id[key_of(record.value.get("uuid"))] = record
                self.written.append(record)
            elif record.type == "last-prompt":
                self.leaf_named = record.value.get("leafUuid")
        self.order = {key: number for number, key in enumerate(self.by_id)}
        self.parent_of = {key: key_of(link.value.get("parentUuid")) for key, link in self.by_id.items()}


def key_of(value: object) -> Hashable:
    """What a record is found by: its uuid, whatever type it has; records without one share a place."""
    return value if isinstance(value, str | int | float) else None


def time_of(link: Link) -> float:
    return moment(link.value.get("timestamp")) or 0.0


def blocks_of(link: Link) -> list[Json]:
    """The blocks of a message whose content is a list."""
    said = link.value.get("message")
    content = said.get("content") if isinstance(said, dict) else None
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def calls_in(link: Link) -> list[str]:
    """The ids of the calls of an answer."""
    blocks = blocks_of(link) if link.type == "assistant" else []
    return [text_at(block, "id") for block in blocks if block.get("type") == "tool_use"]


def results_in(link: Link) -> list[str]:
    """The ids of the calls whose results a message brings."""
    blocks = blocks_of(link) if link.type == "user" else []
    return [text_at(block, "tool_use_id") for block in blocks if block.get("type") == "tool_result"]


def stub_of(value: Json) -> Json:
    """What of a record decides whether it is sent, and where: all but what it says.

    >>> stub_of({"type": "user", "uuid": "1", "message": {"content": "a long story"}, "cwd": "/home/me"})
    {'type': 'user', 'uuid': '1', 'message': {'content': ''}}
    """
    found = {name: _shared(value[name]) for name in _CHAINING if value.get(name) not in (None, False)}
    if found["type"] in SAID:
        found["message"] = _stub_of_message(value.get("message"))
    return found


def _stub_of_message(said: object) -> Json | None:
    """The calls and results of a message, under its id; a message without content is none."""
    content = said.get("content") if isinstance(said, dict) else None
    if not isinstance(content, str | list):
        return None
    blocks: str | list[Json] = ""
    if isinstance(content, list):
        calls = (block for block in content if text_at(block, "type") in _PAIRED)
        blocks = [{name: _shared(block[name]) for name in _PAIRING if name in block} for block in calls]
    name = text_at(said, "id")
    return {"id": _shared(name), "content": blocks} if name else {"content": blocks}


def _shared(value: object) -> object:
    """A text once for all that have it: ids come twice, types again and again."""
    return intern(value) if isinstance(value, str) else value
