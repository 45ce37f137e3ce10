"""What was said, piece by piece, and who said it: what a transcript's records tell of the origin of every text.

1. Only what a person typed is `user`: a prompt, one that was queued while the agent worked, and the answer to a
   question that the agent asked with its tool for that. Whatever else stands in a record of the role user is not.
2. Results of tools are `tool`; files, folders and resources that were attached are `file`; instruction files, also
   those of folders, are `instructions`; memories that were recalled are `recalled`; all else that an agent adds is
   `reminder`.
3. Recalled memories are found by their wrapper in any text, so also in what a hook or a tool gave; what stands around
   them keeps its origin. A wrapper is looked for within one text only: no text can open one that another closes.
4. The origin follows from the record, never from what a text says of itself: `<user>` in the result of a tool is text.
5. Records of subagents, and those that say nothing, are left out.
"""

from __future__ import annotations

from headnote.dialects.claude_sessions import NEWER
from headnote.memory.rendered import recalled_spans
from headnote.sessions.attached import contents_of
from headnote.sessions.claude_records import moment, prompt_of, text_at
from headnote.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headnote.sessions.lines import Record

    Json = Mapping[str, object]

ORIGINS = ("user", "assistant", "tool", "file", "instructions", "recalled", "reminder")
ASKING = ("AskUserQuestion",)  #: tools whose result is what a person answered
INTERRUPTED = "[Request interrupted by user"  #: what the agent writes down when a person stops it
_FILES = (
    "file new_file directory new_directory edited_text_file selected_lines_in_ide opened_file_in_ide mcp_resource"
    " pdf_reference compact_file_reference at_mention_reference diagnostics"
).split()
_ATTACHED = {
    **dict.fromkeys(_FILES, "file"),
    "nested_memory": "instructions",
    "instructions": "instructions",
    "relevant_memories": "recalled",
}


class Said(NamedTuple):
    """A piece of a conversation."""

    id: str  #: of the message it stands in; several pieces may have one id
    role: str  #: user, assistant or system
    text: str
    origin: str  #: see ORIGINS
    session: str = ""
    time: float | None = None  #: seconds since 1970
    tool: str = ""  #: whose result it is; of the assistant, the tools that are called, with spaces between
    end: int = 0  #: where its record ends in the file; 0 if that is not known


def said_of(records: Iterable[Json | Record]) -> list[Said]:
    """What the records of a transcript say, in their order.

    >>> said_of([{"type": "user", "uuid": "u-1", "message": {"role": "user", "content": "Use tabs."}}])[0][:4]
    ('u-1', 'user', 'Use tabs.', 'user')
    """
    tools: dict[str, str] = {}
    found: list[Said] = []
    for record in records:
        value = record if isinstance(record, dict) else getattr(record, "value", {})
        if value.get("isSidechain") is True:
            continue
        first = Said(
            text_at(value, "uuid") or f"byte {getattr(record, 'start', 0)}",
            "system",
            "",
            "reminder",
            text_at(value, "sessionId"),
            moment(value.get("timestamp")),
            end=getattr(record, "end", 0),
        )
        for piece in _pieces(dict(value), first, tools):
            found += parted(piece)
    return found


def _pieces(value: dict[str, object], first: Said, tools: dict[str, str]) -> list[Said]:
    kind, message = value.get("type"), value.get("message")
    if kind == "attachment":
        return _attached(value, first)
    if not isinstance(message, dict) or kind not in ("user", "assistant"):
        return []
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    given = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    if kind == "assistant":
        return _answered(given, first, tools)
    beside = any(block.get("type") == "tool_result" for block in given)
    return [piece for block in given for piece in _asked(block, value, first, tools, beside=beside)]


def _answered(blocks: list[dict[str, object]], first: Said, tools: dict[str, str]) -> list[Said]:
    """What an answer says, and the tools that it calls."""
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    tools.update((text_at(block, "id"), text_at(block, "name")) for block in calls)
    text = "\n\n".join(text_at(block, "text") for block in blocks if block.get("type") == "text").strip()
    if not text and not calls:
        return []
    called = " ".join(text_at(block, "name") for block in calls)
    return [first._replace(role="assistant", text=text, origin="assistant", tool=called)]


def _asked(
    block: dict[str, object], value: dict[str, object], first: Said, tools: dict[str, str], *, beside: bool
) -> list[Said]:
    """A block of a record of the role user; `beside`: the record has results of tools."""
    if block.get("type") == "tool_result":
        tool = tools.get(text_at(block, "tool_use_id"), "")
        origin = "user" if tool in ASKING and block.get("is_error") is not True else "tool"
        return [first._replace(role="user", text=_result(block.get("content")), origin=origin, tool=tool)]
    text = text_at(block, "text")
    is_typed = not beside and _is_person(value) and bool(prompt_of({**value, "message": {"content": text}}))
    is_typed = is_typed and not text.startswith(INTERRUPTED)
    return [first._replace(role="user", text=text, origin="user" if is_typed else "reminder")]


def _result(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(text_at(block, "text") for block in blocks if text_at(block, "text"))


def _attached(value: dict[str, object], first: Said) -> list[Said]:
    attachment = value.get("attachment")
    kind = text_at(attachment, "type")
    if kind == "queued_command" and _is_typed(attachment):
        prompt = attachment.get("prompt") if isinstance(attachment, dict) else ""
        return [first._replace(role="user", text=_result(prompt), origin="user")]
    texts = contents_of(value, NEWER) or []
    if kind == "instructions" and isinstance(attachment, dict) and isinstance(attachment.get("files"), list):
        texts = [text_at(file, "content") for file in attachment["files"]]
    origin = _ATTACHED.get(kind, "reminder")
    return [first._replace(text=text if isinstance(text, str) else _result(text), origin=origin) for text in texts]


def _is_typed(attachment: object) -> bool:
    """Whether a queued prompt is a person's: not a notification, and of no other sender."""
    if not isinstance(attachment, dict):
        return False
    return (
        _is_person(attachment)
        and attachment.get("isMeta") is not True
        and attachment.get("commandMode") in (None, "prompt")
    )


def _is_person(value: dict[str, object]) -> bool:
    """Whether a record names no sender but a person."""
    sender = value.get("origin")
    return not isinstance(sender, dict) or sender.get("kind") in (None, "human")


def parted(piece: Said) -> list[Said]:
    """A piece with the memories that were recalled in it set apart."""
    if piece.origin == "recalled" or "<recalled-memories" not in piece.text:
        return [piece] if piece.text.strip() or (piece.tool and piece.origin == "assistant") else []
    found, at = [], 0
    for start, end in recalled_spans(piece.text):
        found.append(piece._replace(text=piece.text[at:start]))
        found.append(piece._replace(text=piece.text[start:end], origin="recalled"))
        at = end
    found.append(piece._replace(text=piece.text[at:]))
    return [each for each in found if each.text.strip()]
