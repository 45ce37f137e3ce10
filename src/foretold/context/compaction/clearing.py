"""Clearing old results of tools: the text goes, the call and its place stay.

1. The newest `keep` results stay, and so do those that the model has not seen yet: no answer follows them. An error
   stays: it is short, and shows what not to try again.
2. An older one is replaced by a note, once; a result that is not longer than the note stays. So a message, once
   cleared, never changes again: the beginning of the conversation stays the same for a cache.
3. Nothing is cleared unless at least `least` characters go: each clearing costs the cache of what follows. For the same
   reason `step` results are cleared at a time: what is cleared depends on the messages alone, so that a conversation
   that is loaded again is cleared in the same places.
4. Messages that carry instructions, or have `pin: true`, are not touched. Those given are not changed.

What is cleared is gone for the model, so it should know in time: `SUMMARISE` is a section for a system prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foretold.context.compaction.compactor import is_pinned, results_in
from foretold.sessions.formats.fields import text_at
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


def clear_results(
    messages: Sequence[Message], *, keep: int = 3, least: int = 0, step: int = 1, note: str = NOTE
) -> Cleared:
    """Replace all but the newest results by a note.

    >>> old = [{"role": "tool", "tool_call_id": str(n), "content": "x" * 200} for n in range(3)]
    >>> cleared = clear_results([*old, {"role": "assistant", "content": "done"}], keep=1)
    >>> [len(message["content"]) for message in cleared.messages], cleared.ids
    ([88, 88, 200, 4], ('0', '1'))
    """
    seen = max((at for at, message in enumerate(messages) if message.get("role") == "assistant"), default=0)
    found = [(at, name) for at, message in enumerate(messages) for name in results_in(message)]
    count = max(0, len(found) - keep) // step * step
    old = {(at, name) for at, name in found[:count] if at < seen and not is_pinned(messages[at])}
    changed, ids, gone = list(messages), list[str](), 0

    def clear(at: int, result: Message, name: str) -> Message:
        """A result, with the note in its place if it goes."""
        nonlocal gone
        size = _size(result.get("content")) if (at, name) in old else 0
        if size <= len(note) or result.get("is_error"):
            return result
        ids.append(name)
        gone += size - len(note)
        return {**result, "content": note}

    for at in sorted({at for at, _ in old}):
        message, content, count = messages[at], messages[at].get("content"), len(ids)
        if message.get("role") == "tool":
            changed[at] = clear(at, message, str(message.get("tool_call_id", "")))
        elif isinstance(content, list | tuple):
            blocks = [
                clear(at, each, text_at(each, "tool_use_id")) if isinstance(each, dict) else each for each in content
            ]
            changed[at] = {**message, "content": blocks} if len(ids) > count else message
    return Cleared(changed, tuple(ids), gone) if ids and gone >= least else Cleared(list(messages), (), 0)


def sections(*, keep: int) -> list[str]:
    """What a system prompt should say where results are cleared."""
    return [CLEARS.format(keep=keep), SUMMARISE]


def _size(content: object) -> int:
    """The characters of a result; what is not text counts by its length as JSON."""
    if isinstance(content, str):
        return len(content)
    import json

    return len(json.dumps(content, default=str)) if content else 0
