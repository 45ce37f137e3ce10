"""Clearing old results of tools: the text goes, the call and its place stay.

1. The newest `keep` results stay, and so do those that the model has not seen yet: no answer follows them. An error
   stays: it is short, and shows what not to try again.
2. An older one is replaced by a note, once; a result that is not longer than the note stays. So a message, once
   cleared, never changes again: the beginning of the conversation stays the same for a cache.
3. Nothing is cleared unless at least `least` characters go: each clearing costs the cache of what follows.
4. Messages that carry instructions, or have `pin: true`, are not touched. Those given are not changed.

What is cleared is gone for the model, so it should know in time: `SUMMARISE` is a section for a system prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foretold.context.compaction.compactor import is_pinned, results_in
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    Message = Mapping[str, object]

NOTE = "[The result of this call was cleared to save space. Call the tool again if you need it.]"
#: a section of a system prompt, where results are cleared
CLEARS = """\
# Results of tools are cleared

Only the {keep} newest results of tools stay in this conversation. Older ones are replaced by a short note, without
warning; the calls stay. If you need an old result, call the tool again.
"""
#: and what the model should do about it
SUMMARISE = """\
# Write down what you learn from tools

When a result holds something that you will need later (a path, a line number, a name, a number, the words of an error),
say it in your answer, in your own words: the result itself may be gone by then.
"""


class Cleared(NamedTuple):
    """A conversation without its old results, and what was cleared."""

    messages: list[Message]
    ids: tuple[str, ...]  #: of the calls whose results were cleared now
    characters: int  #: that are gone


def clear_results(messages: Sequence[Message], *, keep: int = 3, least: int = 0, note: str = NOTE) -> Cleared:
    """Replace all but the newest results by a note.

    >>> old = [{"role": "tool", "tool_call_id": str(n), "content": "x" * 200} for n in range(3)]
    >>> cleared = clear_results([*old, {"role": "assistant", "content": "done"}], keep=1)
    >>> [len(message["content"]) for message in cleared.messages], cleared.ids
    ([88, 88, 200, 4], ('0', '1'))
    """
    seen = max((at for at, message in enumerate(messages) if message.get("role") == "assistant"), default=0)
    found = [(at, name) for at, message in enumerate(messages) for name in results_in(message)]
    old = found[: max(0, len(found) - keep)]
    wanted: dict[int, set[str]] = {}
    for at, name in old:
        if at < seen and not is_pinned(messages[at]):
            wanted.setdefault(at, set()).add(name)
    changed = list(messages)
    ids: list[str] = []
    gone = 0
    for at, called in wanted.items():
        changed[at], names, count = _without(messages[at], called, note)
        ids += names
        gone += count
    if not ids or gone < least:
        return Cleared(list(messages), (), 0)
    return Cleared(changed, tuple(ids), gone)


def sections(*, keep: int) -> list[str]:
    """What a system prompt should say where results are cleared.

    >>> [text.splitlines()[0] for text in sections(keep=3)]
    ['# Results of tools are cleared', '# Write down what you learn from tools']
    """
    return [CLEARS.format(keep=keep), SUMMARISE]


def _without(message: Message, names: set[str], note: str) -> tuple[Message, list[str], int]:
    """A message with the results of some calls replaced: which, and how many characters that saves."""
    if message.get("role") == "tool":
        size = _size(message.get("content"))
        if size <= len(note):
            return message, [], 0
        return {**message, "content": note}, [str(message.get("tool_call_id", ""))], size - len(note)
    content = message["content"]
    assert isinstance(content, list | tuple)
    blocks: list[object] = []
    ids: list[str] = []
    gone = 0
    for block in content:
        name = block.get("tool_use_id") if isinstance(block, dict) and block.get("type") == "tool_result" else None
        size = _size(block.get("content")) if name in names else 0
        if size <= len(note) or block.get("is_error"):
            blocks.append(block)
            continue
        blocks.append({**block, "content": note})
        ids.append(str(name))
        gone += size - len(note)
    return ({**message, "content": blocks} if ids else message), ids, gone


def _size(content: object) -> int:
    """The characters of a result; what is not text counts by its length as JSON."""
    if isinstance(content, str):
        return len(content)
    import json

    return len(json.dumps(content, default=str)) if content else 0
