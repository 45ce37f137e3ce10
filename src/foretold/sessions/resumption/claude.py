"""`resume`: the messages that Claude Code sends when it goes on with a session, and what it leaves out.

    read the records → find the chain (`chain.py`) → close open ends (`settle.py`) → cut at a message → add the prompt
    → make messages (`wire.py`)

1. A file without a conversation is `not_found`, as is one whose leaf has no time. Older versions refuse a file with a
   line `null` (`null_record`), or with a record that has no message (`bad_record`).
2. A cut (`--resume-session-at`) comes after open ends were closed: what is behind it is gone, also what closed them.
   A message that the chain does not have is `no_message`.
3. The context block (CLAUDE.md, the date) is no part of a transcript in older versions. Give it as `context`, and it
   stands before the first message; newer versions record it as an attachment.
4. Of a file only ids, parents, times and the like are held; what is sent is read again, so what was compacted, and
   other branches, cost next to nothing.
5. What is not sent is named: records that the chain does not reach, calls and answers that were dropped.
"""

from __future__ import annotations

import json

from foretold.dialects.claude_code.instructions import OLDER_MODELS
from foretold.dialects.claude_code.sessions import rules_of
from foretold.errors import SessionFailed
from foretold.sessions.formats.claude.records import text_at
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.resumption.chain import Chain, find_chain, is_dated
from foretold.sessions.resumption.fragments import Piece, pieces_of
from foretold.sessions.resumption.nodes import LINKS, Link, blocks_of, stub_of
from foretold.sessions.resumption.open_calls import settle
from foretold.sessions.resumption.wire import messages_of
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from io import BufferedReader

    from foretold.types import Message

    Records = Iterable[dict[str, object]]

ERRORS = {
    "not_found": "there is no conversation in it",
    "null_record": "a line is `null`, which this version cannot resume",
    "bad_record": "a record has no message, which this version cannot resume",
    "no_message": "the conversation has no message with this id",
}


class DroppedRecord(NamedTuple):
    """A record that is not sent, and why: branch, sidechain, compacted, call-without-result, thinking-alone,
    blank-answer, cut."""

    id: str
    reason: str


class Resumed(NamedTuple):
    """A conversation as the agent goes on with it."""

    messages: tuple[Message, ...]
    leaf: str = ""  #: the record that the next one follows
    dropped: tuple[DroppedRecord, ...] = ()
    findings: tuple[Finding, ...] = ()
    error: str = ""  #: why the agent refuses: see `ERRORS`
    chain: tuple[Link, ...] = ()  #: the records that are sent


def resume(
    source: str | Records,
    prompt: str | None = None,
    *,
    at: str | None = None,
    version: str = "2.1.197",
    model: str = "",
    context: str | None = None,
) -> Resumed:
    """The messages of a session, from its file or its records, with a prompt behind them.

    >>> told = {"type": "user", "uuid": "1", "parentUuid": None, "timestamp": "2026-11-15T08:36:46.184Z"}
    >>> said = {"type": "assistant", "uuid": "2", "parentUuid": "1", "timestamp": "2026-11-15T08:36:47.184Z"}
    >>> told["message"] = {"role": "user", "content": "Hello"}
    >>> said["message"] = {"role": "assistant", "id": "m", "content": [{"type": "text", "text": "Hi."}]}
    >>> for message in resume([told, said], "How are you?").messages:
    ...     print(message)
    {'role': 'user', 'content': 'Hello'}
    {'role': 'assistant', 'content': [{'type': 'text', 'text': 'Hi.'}]}
    {'role': 'user', 'content': 'How are you?'}
    """
    rules, findings = rules_of(version), list[Finding]()
    links = _stubs(source, findings) if isinstance(source, str) else _links(source)
    chain = find_chain((link for link in links if rules.refuses_damage or _is_whole(link)), rules)
    refused = _refused(chain, findings) if rules.refuses_damage else ""
    if refused or chain is None or not _is_dated(chain):
        return Resumed((), findings=tuple(findings), error=refused or "not_found")
    settled = settle(_whole(source, chain.links) if isinstance(source, str) else chain.links, rules)
    kept = _cut(settled.links, at)
    if kept is None:
        return Resumed((), chain.leaf, findings=tuple(findings), error="no_message")
    unknown: list[Link] = []
    model = model or model_of(kept)
    pieces = pieces_of(kept, rules, model, as_system=takes_system(model), unknown=unknown)
    if context is not None and rules.has_context:
        pieces.insert(0, Piece("user", (context,)))
    if prompt is not None:
        pieces.append(Piece("user", (prompt,)))
    path = source if isinstance(source, str) else ""
    findings += (_unknown(path, link) for link in unknown)
    lost = [*chain.lost, *settled.dropped, *_behind(settled.links, kept)]
    dropped = tuple(DroppedRecord(name, reason) for name, reason in lost)
    leaf = at or chain.leaf
    return Resumed(tuple(messages_of(pieces, rules)), leaf, dropped, tuple(findings), chain=tuple(kept))


def takes_system(model: str) -> bool:
    """Whether a model receives attachments as system messages.

    >>> takes_system("claude-opus-4-8"), takes_system("claude-sonnet-4-5")
    (True, False)
    """
    return not any(name in model for name in OLDER_MODELS)


def model_of(links: Sequence[Link]) -> str:
    """The model that spoke last."""
    for link in reversed(links):
        model = text_at(link.value.get("message"), "model")
        if link.type == "assistant" and model and not model.startswith("<"):
            return model
    return ""


def _links(records: Records) -> Iterator[Link]:
    return (Link(value, number) for number, value in enumerate(records, 1))


def _stubs(path: str, findings: list[Finding]) -> Iterator[Link]:
    """The links of a file without what they say."""
    for record in records_of(path, findings=findings):
        # of two records on a line the agent reads the first
        if record.place == 0 and record.value.get("type") in (*LINKS, "last-prompt"):
            yield Link(stub_of(record.value), record.line, record.start)


def _whole(path: str, stubs: Sequence[Link]) -> list[Link]:
    """The links that are sent, read again with what they say."""
    found = []
    with open(path, "rb") as file:
        for stub in stubs:
            value = _record_at(file, stub.start, path)
            if value.get("uuid") != stub.value.get("uuid"):
                raise SessionFailed(f"{path} was rewritten while it was read; try again")
            found.append(stub._replace(value=value))
    return found


def _record_at(file: BufferedReader, start: int, path: str) -> dict[str, object]:
    """The record that begins at a byte; where its line is damaged, `records_of` knows what to do."""
    file.seek(start)
    try:
        value = json.loads(file.readline())
    except ValueError:
        value = None
    return value if isinstance(value, dict) else next((record.value for record in records_of(path, start)), {})


def _refused(chain: Chain | None, findings: Sequence[Finding]) -> str:
    if any(finding.code == "record-strange" and finding.message.endswith("NoneType") for finding in findings):
        return "null_record"
    return "" if chain is None or all(_is_whole(link) and not _is_plain(link) for link in chain.links) else "bad_record"


def _is_whole(link: Link) -> bool:
    """Whether a message has a content."""
    if link.type not in ("user", "assistant"):
        return True
    said = link.value.get("message")
    return isinstance(said, dict) and isinstance(said.get("content"), str | list)


def _is_plain(link: Link) -> bool:
    """Whether an answer is a text instead of blocks."""
    said = link.value.get("message")
    return link.type == "assistant" and isinstance(said, dict) and isinstance(said.get("content"), str)


def _is_dated(chain: Chain) -> bool:
    return bool(chain.links) and all(is_dated(link) for link in chain.links if link.id == chain.leaf)


def _cut(links: Sequence[Link], at: str | None) -> Sequence[Link] | None:
    if at is None:
        return links
    return next((links[: number + 1] for number, link in enumerate(links) if link.id == at), None)


def _behind(links: Sequence[Link], kept: Sequence[Link]) -> list[tuple[str, str]]:
    return [(link.id, "cut") for link in links[len(kept) :] if link.line and (blocks_of(link) or link.type == "user")]


def _unknown(path: str, link: Link) -> Finding:
    kind = text_at(link.value.get("attachment"), "type")
    said = f"what the agent sends for an attachment of the type {kind} is not known; it is left out"
    return Finding(path, link.line, "attachment-unknown", said)
