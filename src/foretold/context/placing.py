"""Where attachments stand in a request, by version and by family of models.

1. Older models: each text in tags, a block of its own in the user's message, before the context and the prompt; after
   tools, behind the text of the last tool's result.
2. Newer models: all texts in one message of the role `system` behind the user's, with a blank line between them; a
   mention's call and its result stand together. (`sonnet-5` in the later version: the same, each in its tags.)
3. Images are blocks of the user's message for every model, and in the later version so are mentions, nested
   instructions, context and attribution.
4. The last block before the prompt ends with a newline. Between mentions and nested instructions there is one as well.
5. A mention's call that would be the first block is a message of its own before the user's.
6. In the earlier version the context of a tool's hook is a block behind the results for every model.

The order of the attachments is that of the transcript. Recorded: tests/context/turns.jsonl.
"""

from __future__ import annotations

from foretold.context.attachments import Attachment, image_of, texts
from foretold.dialects.claude_code.context import TurnContext, turn_context_of
from foretold.dialects.registry import DEFAULT_AGENT, choose
from foretold.instructions.render.blocks import CLOSE, OPEN, placement_of
from foretold.types import TYPE_CHECKING, Block, Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from foretold.dialects.schema import Placement

#: attachments that were merged one by one, so that newlines stand between their blocks
SEAMED = ("file", "directory", "nested_memory")
CALLED = OPEN + "Called the "


def turn_messages(
    prompt: str,
    attachments: Iterable[Attachment | None],
    *,
    agent: str = DEFAULT_AGENT,
    model: str = "",
    context: Sequence[Block] = (),
) -> list[Message]:
    """The messages of a prompt: the user's, and one of the role `system` where the model takes such.

    An attachment that is None (nothing has changed) is passed over.

    `context` are blocks that stand before the prompt and are no attachments (the user context of the earlier version).

    >>> date = Attachment("date", {"date": "2026-01-02"})
    >>> turn_messages("Hi.", [date], agent="claude-code@2.1.325", model="claude-opus-5-5")
    ... # doctest: +NORMALIZE_WHITESPACE
    [{'role': 'user', 'content': [{'type': 'text', 'text': 'Hi.'}]},
     {'role': 'system', 'content': [{'type': 'text', 'text': "Today's date is 2026-01-02."}]}]
    """
    around, placement = _tables(agent, model)
    user, system = _parted(tuple(filter(None, attachments)), around, placement)
    messages: list[Message] = []
    if user and str(user[0].get("text")).startswith(CALLED):
        messages.append({"role": "user", "content": user.pop(0)["text"]})
    content: list[object] = [*user, *(_text(block.text) for block in context), _text(prompt)]
    messages.append({"role": "user", "content": content})
    if system:
        messages.append({"role": "system", "content": [_text(system)]})
    return messages


def _tables(agent: str, model: str) -> tuple[TurnContext, Placement]:
    dialect = choose(agent).dialect
    return turn_context_of(agent), placement_of(model or dialect.model, dialect)


def _text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def is_older(placement: Placement) -> bool:
    """Whether a family of models takes no system messages inside a conversation."""
    return placement.files == "tool-result"


def _parted(
    attachments: tuple[Attachment, ...], around: TurnContext, placement: Placement
) -> tuple[list[dict[str, object]], str]:
    """The blocks of the user's message, and the text of the system's."""
    user: list[dict[str, object]] = []
    system: list[str] = []
    seams: list[int] = []
    for attachment in attachments:
        said = texts(attachment, around)
        image = image_of(attachment)
        if image is not None:
            user += [*(_text(OPEN + text + CLOSE) for text in said), image]
        elif is_older(placement) or attachment.type in around.user_types:
            if attachment.type in SEAMED and not is_older(placement):
                seams += range(len(user) if seams or len(said) == 1 else len(user) + 1, len(user) + len(said))
            user += [_text(OPEN + text + CLOSE) for text in said]
        elif said:
            system.append("\n".join(said))
    _end_lines(user, seams)
    if placement.fallback == "system-tagged":
        system = [OPEN + text + CLOSE for text in system]
    return user, "\n\n".join(system)


def _end_lines(user: list[dict[str, object]], seams: list[int]) -> None:
    """Put newlines at the end of blocks: between seamed ones, and of the last."""
    ended = set(seams[:-1])
    if user and user[-1]["type"] == "text":
        ended.add(len(user) - 1)
    for at in ended:
        user[at] = _text(f"{user[at]['text']}\n")


def tool_blocks(
    attachments: Iterable[Attachment | None], *, agent: str = DEFAULT_AGENT, model: str = ""
) -> tuple[Block, ...]:
    """The blocks that stand behind the results of tools. The text of a `tool_result` follows the tool's own.

    >>> edited = Attachment("edited_text_file", {"filename": "/a", "snippet": "1\\tx"})
    >>> [block.role for block in tool_blocks([edited], agent="claude-code@2.1.325", model="claude-opus-5-5")]
    ['system']
    """
    around, placement = _tables(agent, model)
    result: list[str] = []
    user: list[Block] = []
    system: list[str] = []
    for attachment in filter(None, attachments):
        said = texts(attachment, around)
        if attachment.type == "hook_additional_context" and around.tool_hooks == "user":
            user += [Block("user", "text", OPEN + text + CLOSE) for text in said]
        elif is_older(placement):
            result += [f"\n\n{OPEN}{text}{CLOSE}" for text in said]
        elif attachment.type in around.user_types:
            user += [Block("user", "text", OPEN + text + CLOSE) for text in said]
        else:
            system += said
    if placement.fallback == "system-tagged":
        system = [OPEN + text + CLOSE for text in system]
    blocks = [Block("user", "tool_result", "".join(result))] if result else []
    blocks += [*(block._replace(text=block.text + "\n") for block in user[:-1]), *user[-1:]]
    return (*blocks, *([Block("system", "text", "\n\n".join(system))] if system else []))
