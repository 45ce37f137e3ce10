"""The records of a conversation as pieces of messages: what each says, before they are put together.

1. Errors of the API are left out, and thinking of another model. Tools have the names they have now.
2. A result that is an error has texts only. A blank text is no block.
3. Attachments travel with the user's messages, between tags, or as system messages, by the model. An image, and what is
   recorded as the user's, always stays with the user.
"""

from __future__ import annotations

from foretold.sessions.formats.claude.attachments import contents_of, tagged
from foretold.sessions.formats.claude.records import text_at
from foretold.sessions.resumption.nodes import Link
from foretold.sessions.resumption.open_calls import is_error
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from foretold.dialects.claude_code.sessions import SessionRules

Json = dict[str, object]
Content = str | list[Json]
EMPTY = "(no content)"
NO_REFERENCE = "[Tool references removed - tool search not enabled]"
#: attachments that travel with the user's messages: joined to a result; of several messages whose text was kept; never
#: joined to a result
ATTACHED = ("attached", "saved", "beside")
THINKING = ("thinking", "redacted_thinking")
CALL = ("type", "id", "name", "input")


class Piece(NamedTuple):
    """A message on its way: of a user, an assistant, or an attachment with one or more contents."""

    role: str  #: user, assistant, system, or one of `ATTACHED`
    contents: tuple[Content, ...]
    id: str = ""  #: of an answer


def pieces_of(
    links: Iterable[Link], rules: SessionRules, model: str, *, as_system: bool, unknown: list[Link]
) -> list[Piece]:
    """The records of a conversation as pieces; attachments that we do not know are put into `unknown`."""
    found: list[Piece] = []
    is_tagged = any(name in model for name in rules.tags_system)
    for link in links:
        said = link.value.get("message")
        content = said.get("content") if isinstance(said, dict) else None
        if link.type == "attachment":
            contents = contents_of(link.value, rules)
            if contents is None:
                unknown.append(link)
            elif contents:
                found.append(
                    _attached(link, contents, as_system=as_system, is_kept=rules.is_rendered, is_tagged=is_tagged)
                )
        elif link.type == "system" and link.value.get("subtype") == "local_command":
            found.append(Piece("user", (text_at(link.value, "content"),)))
        elif link.type == "user" and isinstance(content, str | list) and link.value.get("isVirtual") is not True:
            if content != [] or rules.keeps_empty:
                found.append(Piece("user", (_of_user(_content(content), rules),)))
        elif link.type == "assistant" and isinstance(content, str | list) and not is_error(link):
            blocks = _content(content)
            texts: list[Json] = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
            own = _renamed(_own(texts, text_at(said, "model"), model), rules)
            found.append(
                Piece("assistant", (_plain(own, rules),), link.message_id or ("-" if rules.joins_unnamed else ""))
            )
    return found


def _content(content: str | list[object]) -> Content:
    return content if isinstance(content, str) else [block for block in content if isinstance(block, dict)]


def _of_user(content: Content, rules: SessionRules) -> Content:
    """What the user's side says; a result that is an error has texts only, one that loads a tool says so."""
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


def _own(blocks: list[Json], said_by: str, model: str) -> list[Json]:
    """An answer without the thinking of another model."""
    if not said_by or not model or said_by == model:
        return blocks
    return [block for block in blocks if block.get("type") not in THINKING]


def _plain(blocks: list[Json], rules: SessionRules) -> list[Json]:
    """An answer whose calls have nothing but what the API takes, where the version sees to that."""
    if not rules.strips_calls:
        return blocks
    return [
        {name: value for name, value in block.items() if name in CALL} if block.get("type") == "tool_use" else block
        for block in blocks
    ]


def _renamed(blocks: list[Json], rules: SessionRules) -> list[Json]:
    """Calls of tools under the names that they have now."""
    return [
        {**block, "name": rules.renamed.get(text_at(block, "name"), block.get("name"))}
        if block.get("type") == "tool_use"
        else block
        for block in blocks
    ]


def _attached(link: Link, contents: Sequence[Content], *, as_system: bool, is_kept: bool, is_tagged: bool) -> Piece:
    role = text_at(link.value, "renderedRole") if is_kept else ""
    role = role or ("system" if as_system else "user")
    if as_system and role == "system" and all(_is_said(content) for content in contents):
        text = "\n".join(text_at(block, "text") for content in contents for block in blocks_in(content))
        return Piece("system", (tagged(text) if is_tagged else text,))
    if as_system and text_at(link.value.get("attachment"), "type") == "nested_memory":
        return Piece("beside", tuple(_tagged(content) for content in contents))
    is_saved = is_kept and len(contents) > 1 and isinstance(link.value.get("rendered"), list)
    return Piece("saved" if is_saved else "attached", tuple(_tagged(content) for content in contents))


def _is_said(content: Content) -> bool:
    """Whether a content is nothing but texts."""
    return all(is_text(block) for block in blocks_in(content))


def _tagged(content: Content) -> Content:
    """A content between tags, each of its texts; one with an image has them already."""
    if isinstance(content, str):
        return tagged(content)
    return [{**block, "text": tagged(text_at(block, "text"))} for block in content] if _is_said(content) else content


def is_blank(block: Json) -> bool:
    return block.get("type") == "text" and not text_at(block, "text").strip()


def is_text(block: object) -> bool:
    return text_at(block, "type") == "text"


def blocks_in(content: Content) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
