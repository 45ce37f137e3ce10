"""`resume`: the messages that Claude Code sends when it resumes a session, and what it leaves out.

1. A file without a conversation is `not_found`, as is one whose leaf has no time. Older versions refuse a file with a
   line `null` (`null_record`), or with a record that has no message (`bad_record`).
2. A cut (`--resume-session-at`) comes after open ends were closed: everything after it is dropped, including what
   closed them. A message that is not in the chain is `no_message`.
3. In older versions the context block (CLAUDE.md, the date) is not part of a transcript. Pass it as `context`, and it
   is put before the first message; newer versions record it as an attachment.
4. Of a file only ids, parents, times and the like are held; what is sent is read again, so that compacted records and
   other branches cost next to nothing.
5. Everything that is not sent is listed: records that are not in the chain, calls and answers that were dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import BufferedReader

from foretold.dialects.claude_code.instructions import OLDER_MODELS
from foretold.dialects.claude_code.sessions import rules_of
from foretold.errors import SessionFailed
from foretold.sessions.formats.fields import text_at
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.resumption.chain import find_chain
from foretold.sessions.resumption.fragments import Fragment, fragments_of
from foretold.sessions.resumption.graph import NODE_TYPES, RecordNode
from foretold.sessions.resumption.open_calls import close_open_ends
from foretold.sessions.resumption.wire import messages_of
from foretold.storage.append_log import parse_object
from foretold.storage.tree import open_regular
from foretold.types import Finding, Message, NamedTuple

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
    """A conversation as the agent resumes it."""

    messages: tuple[Message, ...]
    leaf: str = ""  #: the record that the next one follows
    dropped: tuple[DroppedRecord, ...] = ()
    findings: tuple[Finding, ...] = ()
    error: str = ""  #: why the agent refuses: see `ERRORS`
    chain: tuple[RecordNode, ...] = ()  #: the records that are sent


def resume(
    source: str | Records,
    prompt: str | None = None,
    *,
    at: str | None = None,
    version: str = "2.1.197",
    model: str = "",
    context: str | None = None,
) -> Resumed:
    """The messages of a session, from its file or its records, followed by a prompt.

    >>> question = {"type": "user", "uuid": "1", "parentUuid": None, "timestamp": "2026-11-15T08:36:46.184Z"}
    >>> answer = {"type": "assistant", "uuid": "2", "parentUuid": "1", "timestamp": "2026-11-15T08:36:47.184Z"}
    >>> question["message"] = {"role": "user", "content": "Hello"}
    >>> answer["message"] = {"role": "assistant", "id": "m", "content": [{"type": "text", "text": "Hi."}]}
    >>> for message in resume([question, answer], "How are you?").messages:
    ...     print(message)
    {'role': 'user', 'content': 'Hello'}
    {'role': 'assistant', 'content': [{'type': 'text', 'text': 'Hi.'}]}
    {'role': 'user', 'content': 'How are you?'}
    """
    rules, findings = rules_of(version), list[Finding]()
    path = source if isinstance(source, str) else ""
    chain = find_chain(_nodes_of(source, findings), rules)
    has_null = any(each.code == "record-strange" and each.message.endswith("NoneType") for each in findings)
    error = "null_record" if rules.refuses_damage and has_null else chain.error
    if error:
        return Resumed((), findings=tuple(findings), error=error)
    closed, dropped = close_open_ends(_read_again(path, chain.nodes) if path else chain.nodes, rules)
    last = len(closed) if at is None else next((n for n, node in enumerate(closed, 1) if node.id == at), 0)
    if at is not None and not last:
        return Resumed((), chain.leaf, findings=tuple(findings), error="no_message")
    kept, cut = closed[:last], [each for each in closed[last:] if each.line and (each.blocks or each.type == "user")]
    unknown: list[RecordNode] = []
    model = model or model_of(kept)
    fragments = fragments_of(kept, rules, model, as_system=takes_system(model), unknown=unknown)
    if context is not None and rules.has_context:
        fragments.insert(0, Fragment("user", (context,)))
    if prompt is not None:
        fragments.append(Fragment("user", (prompt,)))
    findings += (_unknown_attachment(path, node) for node in unknown)
    return Resumed(
        tuple(messages_of(fragments, rules)),
        leaf=at or chain.leaf,
        dropped=tuple(DroppedRecord(*lost) for lost in (*chain.lost, *dropped, *((node.id, "cut") for node in cut))),
        findings=tuple(findings),
        chain=tuple(kept),
    )


def takes_system(model: str) -> bool:
    """Whether a model receives attachments as system messages."""
    return not any(name in model for name in OLDER_MODELS)


def model_of(nodes: Sequence[RecordNode]) -> str:
    """The model that answered last."""
    for node in reversed(nodes):
        model = text_at(node.value.get("message"), "model")
        if node.type == "assistant" and model and not model.startswith("<"):
            return model
    return ""


def _nodes_of(source: str | Records, findings: list[Finding]) -> Iterator[RecordNode]:
    if not isinstance(source, str):
        yield from (RecordNode(value, number) for number, value in enumerate(source, 1))
        return
    for record in records_of(source, findings=findings):
        # of two records on a line the agent reads the first
        if record.place == 0 and record.value.get("type") in (*NODE_TYPES, "last-prompt"):
            yield RecordNode(record.value, record.line, record.start)


def _read_again(path: str, nodes: Sequence[RecordNode]) -> list[RecordNode]:
    """The nodes of a file with their records."""
    found = []
    with open(path, "rb", opener=open_regular) as file:
        for node in nodes:
            value = _record_at(file, node.start, path)
            if value.get("uuid") != node.value.get("uuid"):
                raise SessionFailed(f"{path} was rewritten while it was read; try again")
            found.append(node._replace(value=value))
    return found


def _record_at(file: BufferedReader, start: int, path: str) -> dict[str, object]:
    """The record that begins at a byte; `records_of` reads one on a damaged line."""
    file.seek(start)
    value = parse_object(file.readline())
    return value if value is not None else next((record.value for record in records_of(path, start)), {})


def _unknown_attachment(path: str, node: RecordNode) -> Finding:
    kind = text_at(node.value.get("attachment"), "type")
    message = f"what the agent sends for an attachment of the type {kind} is not known; it is left out"
    return Finding(path, node.line, "attachment-unknown", message)
