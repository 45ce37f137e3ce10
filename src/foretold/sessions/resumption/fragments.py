"""The records of a conversation as fragments of messages: what each contains, before they are joined.

1. Errors of the API are left out, and thinking of another model. Renamed tools get their current names.
2. A result that is an error has texts only. A blank text is dropped.
3. Attachments are sent with the user's messages, between tags, or as system messages, depending on the model. An image,
   and what is recorded as the user's, always stays with the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from foretold.dialects.claude_code.sessions import SessionRules
from foretold.sessions.formats.claude.attachments import contents_of, tagged
from foretold.sessions.formats.fields import text_at
from foretold.sessions.resumption.graph import Json, RecordNode
from foretold.sessions.resumption.open_calls import THINKING, is_error
from foretold.types import NamedTuple

Content = str | list[Json]
EMPTY = "(no content)"
NO_REFERENCE = "[Tool references removed - tool search not enabled]"
#: roles of attachments that are sent with the user's messages: joined to a result; several messages whose text was
#: recorded; never joined to a result
ATTACHED = ("attached", "saved", "separate")
CALL = ("type", "id", "name", "input")


class Fragment(NamedTuple):
    """A part of a message: of a user, an assistant, or an attachment with one or more contents."""

    role: str  #: user, assistant, system, or one of `ATTACHED`
    contents: tuple[Content, ...]
    id: str = ""  #: of an answer


def fragments_of(
    nodes: Iterable[RecordNode], rules: SessionRules, model: str, *, as_system: bool, unknown: list[RecordNode]
) -> list[Fragment]:
    """The records of a conversation as fragments; attachments of unknown types are added to `unknown`."""
    found: list[Fragment] = []
    is_tagged = any(name in model for name in rules.tags_system)
    for node in nodes:
        message = node.value.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if node.type == "attachment":
            contents = contents_of(node.value, rules)
            if contents is None:
                unknown.append(node)
            elif contents:
                has_text = rules.is_rendered
                found.append(_attachment(node, contents, as_system=as_system, has_text=has_text, is_tagged=is_tagged))
        elif node.type == "system" and node.value.get("subtype") == "local_command":
            found.append(Fragment("user", (text_at(node.value, "content"),)))
        elif node.type == "user" and isinstance(content, str | list) and node.value.get("isVirtual") is not True:
            if content != [] or rules.keeps_empty:
                found.append(Fragment("user", (_user_content(_known_blocks(content), rules),)))
        elif node.type == "assistant" and isinstance(content, str | list) and not is_error(node):
            blocks = _known_blocks(content)
            author = text_at(message, "model")
            is_foreign = bool(author and model and author != model)
            name = node.message_id or ("-" if rules.joins_unnamed else "")
            found.append(Fragment("assistant", (_answer(blocks_in(blocks), rules, is_foreign=is_foreign),), name))
    return found


def _known_blocks(content: str | list[object]) -> Content:
    return content if isinstance(content, str) else [block for block in content if isinstance(block, dict)]


def _user_content(content: Content, rules: SessionRules) -> Content:
    """The content of a user message; a result that is an error has texts only, one that loads a tool says so."""
    if isinstance(content, str):
        return content
    found: list[Json] = []
    for block in content:
        inner = block.get("content")
        loads = isinstance(inner, list) and any(text_at(one, "type") == "tool_reference" for one in inner)
        if isinstance(inner, list) and block.get("is_error") is True:
            found.append({**block, "content": [one for one in inner if is_text(one)]})
        elif loads and rules.tool_loaded:
            found += (block, {"type": "text", "text": rules.tool_loaded})
        elif loads:
            found.append({**block, "content": [{"type": "text", "text": NO_REFERENCE}]})
        else:
            found.append(block)
    kept = [block for block in found if not is_blank(block)]
    return kept if kept or not found else EMPTY


def _answer(blocks: list[Json], rules: SessionRules, *, is_foreign: bool) -> list[Json]:
    """An answer without the thinking of another model; its calls have current names, and no fields the API refuses."""
    found: list[Json] = []
    for block in blocks:
        if block.get("type") == "tool_use":
            block = {**block, "name": rules.renamed.get(text_at(block, "name"), block.get("name"))}
            if rules.strips_calls:
                block = {name: value for name, value in block.items() if name in CALL}
        if not is_foreign or block.get("type") not in THINKING:
            found.append(block)
    return found


def _attachment(
    node: RecordNode, contents: Sequence[Content], *, as_system: bool, has_text: bool, is_tagged: bool
) -> Fragment:
    role = text_at(node.value, "renderedRole") if has_text else ""
    role = role or ("system" if as_system else "user")
    if as_system and role == "system" and all(_is_text_only(content) for content in contents):
        text = "\n".join(text_at(block, "text") for content in contents for block in blocks_in(content))
        return Fragment("system", (tagged(text) if is_tagged else text,))
    if as_system and text_at(node.value.get("attachment"), "type") == "nested_memory":
        return Fragment("separate", tuple(_tag(content) for content in contents))
    is_saved = has_text and len(contents) > 1 and isinstance(node.value.get("rendered"), list)
    return Fragment("saved" if is_saved else "attached", tuple(_tag(content) for content in contents))


def _is_text_only(content: Content) -> bool:
    """Whether a content has texts only."""
    return all(is_text(block) for block in blocks_in(content))


def _tag(content: Content) -> Content:
    """A content with tags around each text; one with an image has them already."""
    if isinstance(content, str):
        return tagged(content)
    return (
        [{**block, "text": tagged(text_at(block, "text"))} for block in content] if _is_text_only(content) else content
    )


def is_blank(block: Json) -> bool:
    return block.get("type") == "text" and not text_at(block, "text").strip()


def is_text(block: object) -> bool:
    return text_at(block, "type") == "text"


def blocks_in(content: Content) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
