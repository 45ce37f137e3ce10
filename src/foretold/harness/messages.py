"""The messages of a conversation as a model receives them; they only grow, until a compaction.

1. A request repeats the one before it, byte for byte, and goes on: nothing that was sent is changed. Only a prompt that
   comes where the model has not answered (it failed, or was interrupted) joins the last message, as the agent has it;
   and old results of tools are cleared in what is sent, several at a time, if that was asked for. What was said stays.
2. After three messages a provider may keep what it has read: the last of the first request, the last of the request
   before, and the last of this one.
3. Results of tools are one message of the user. What is attached to them stands where the recorded agent puts it: in
   the text of the last result, after the results, or in a message of the role `system`.
4. The messages of a stored conversation are made from its records, as the agent makes them (`messages_of_records`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from foretold.context.compaction.clearing import clear_results
from foretold.dialects.claude_code.sessions import rules_of
from foretold.models.protocol import ModelRequest
from foretold.sessions.resumption.chain import find_chain
from foretold.sessions.resumption.claude import takes_system
from foretold.sessions.resumption.fragments import Fragment, fragments_of
from foretold.sessions.resumption.graph import RecordNode
from foretold.sessions.resumption.wire import join_attachment, messages_of
from foretold.types import TYPE_CHECKING, Block

if TYPE_CHECKING:
    from foretold.types import Message

MAX_TOKENS = 8192


class Dialogue:
    """What was said so far, as messages.

    >>> said = Dialogue()
    >>> said.add([{"role": "user", "content": "Hi."}])
    >>> said.request(("Be brief.",)).cached
    (0,)
    >>> said.add([{"role": "assistant", "content": "Hello."}, {"role": "user", "content": "How are you?"}])
    >>> said.request(("Be brief.",)).cached
    (0, 2)
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self.messages = list(messages)
        self._marks: list[int] = []

    def add(self, messages: Iterable[Message]) -> None:
        """Say more."""
        self.messages += messages

    def request(
        self,
        system: tuple[str, ...],
        tools: tuple[dict[str, object], ...] = (),
        max_tokens: int = MAX_TOKENS,
        *,
        keep: int = 0,
    ) -> ModelRequest:
        """Ask for what comes next; of the results of tools, at least the newest `keep` are sent, or all of them."""
        last = len(self.messages) - 1
        if last not in self._marks:
            self._marks = [*dict.fromkeys((*self._marks[:1], *self._marks[-1:])), last]
        sent = self.messages
        if keep:
            sent = [dict(message) for message in clear_results(sent, keep=keep, step=keep).messages]
        return ModelRequest(system, tuple(sent), tools, max_tokens, tuple(self._marks))

    @property
    def is_open(self) -> bool:
        """Whether the model has not answered the last message: then a prompt joins it."""
        return bool(self.messages) and self.messages[-1]["role"] != "assistant"

    def begin(self, messages: Iterable[Message]) -> None:
        """Other messages than before, after a compaction or a rewind; those at the front that are the same stay."""
        new = list(messages)
        pairs = zip(self.messages, new, strict=False)
        same = next((at for at, (one, two) in enumerate(pairs) if blocks_form(one) != blocks_form(two)), None)
        same = min(len(self.messages), len(new)) if same is None else same
        self.messages = [*self.messages[:same], *new[same:]]
        self._marks = [mark for mark in self._marks if mark < same]

    def copy(self) -> Dialogue:
        """A fork, whose requests have the same beginning."""
        other = Dialogue(self.messages)
        other._marks = list(self._marks)
        return other


def result_messages(results: Sequence[Message], blocks: Sequence[Block], *, folds_lists: bool = True) -> list[Message]:
    """The results of one answer's calls, with the blocks that `context.tool_blocks` gives.

    >>> result = {"tool_use_id": "t", "type": "tool_result", "content": "1\\tx"}
    >>> result_messages([result], [Block("user", "tool_result", "\\n\\nNote.")])
    [{'role': 'user', 'content': [{'tool_use_id': 't', 'type': 'tool_result', 'content': '1\\tx\\n\\nNote.'}]}]
    """
    content = list(results)
    for block in blocks:
        if block.type == "tool_result":
            more: Message = {"type": "text", "text": block.text.removeprefix("\n\n")}
            content = join_attachment(content, [more], folds_lists=folds_lists)
    content += [
        {"type": "text", "text": block.text} for block in blocks if (block.role, block.type) == ("user", "text")
    ]
    said: list[Message] = [{"role": "user", "content": content}]
    if system := [{"type": "text", "text": block.text} for block in blocks if block.role == "system"]:
        said.append({"role": "system", "content": system})
    return said


def messages_of_records(
    records: Iterable[Mapping[str, object]], *, version: str, model: str, context: Sequence[Block] = ()
) -> tuple[list[Message], str]:
    """The messages of a transcript, and the record that the next one follows. Open ends stay open."""
    rules = rules_of(version)
    chain = find_chain((RecordNode(dict(value), number) for number, value in enumerate(records, 1)), rules)
    if not chain.nodes:
        return [], ""
    fragments = fragments_of(chain.nodes, rules, model, as_system=takes_system(model), unknown=[])
    fragments[:0] = [Fragment("user", (block.text.removesuffix("\n"),)) for block in context]
    return [blocks_form(message) for message in messages_of(fragments, rules)], chain.leaf


def blocks_form(message: Message) -> Message:
    """A message whose content is a list of blocks."""
    content = message["content"]
    return {**message, "content": [{"type": "text", "text": content}]} if isinstance(content, str) else message
