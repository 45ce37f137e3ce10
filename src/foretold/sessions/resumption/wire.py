"""The messages of a conversation as they go to the model.

1. Attachments are sent with the user's messages, each between tags, or as system messages, depending on the model. With
   the user's they move up to the answer or result before them, and join the text of the last result there. As a system
   message, all attachments of a turn follow the user's message, with a blank line between two.
2. Adjacent messages of the user become one: a text that is followed by a text gets a newline. The messages of one
   attachment stay separate if no message of the user is before them.
3. Answers with the same message id become one, even with results between them; calls come last.
4. Results come first in their message. A call whose id was used before is removed, and so is a result without its call,
   or a second one. A call without a result gets one that says so; one that the vendor ran itself is removed. A message
   that has lost everything says that it has no content.
"""

from __future__ import annotations

from collections.abc import Sequence

from foretold.dialects.claude_code.sessions import SessionRules
from foretold.sessions.formats.claude.attachments import tagged
from foretold.sessions.formats.fields import text_at
from foretold.sessions.resumption.fragments import ATTACHED, EMPTY, Content, Fragment, blocks_in, is_blank, is_text
from foretold.sessions.resumption.graph import Json

MISSING = "[Tool result missing due to internal error]"
REMOVED = "[Orphaned tool result removed due to conversation resume]"
CUT_CALL = "[Tool use interrupted]"


def messages_of(fragments: Sequence[Fragment], rules: SessionRules) -> list[Json]:
    """Fragments as messages of the API."""
    joined = _Messages(folds=rules.folds_lists)
    waiting: list[str] = []
    has_user = False
    for fragment in _move_attachments_up(fragments):
        if fragment.role == "system":
            waiting += (str(content) for content in fragment.contents)
            continue
        if fragment.role == "assistant":
            if waiting and has_user:
                joined.system(waiting)
                waiting = []
            elif waiting and joined.found and joined.found[-1].id != fragment.id:
                # claude-code: between two answers there is no turn that a system message could follow
                joined.user(Fragment("attached", tuple(tagged(text) for text in waiting)))
                waiting = []
            has_user = joined.answer(fragment)
        else:
            joined.user(fragment)
            has_user = True
    if waiting:
        joined.system(waiting)
    return [{"role": fragment.role, "content": fragment.contents[0]} for fragment in pair_calls(joined.found)]


class _Messages:
    """Messages that are being put together."""

    def __init__(self, *, folds: bool) -> None:
        self.found: list[Fragment] = []
        self._folds = folds
        self._open: dict[str, int] = {}  # answers that may still get blocks: only results came after them

    def system(self, texts: Sequence[str]) -> None:
        self.found.append(Fragment("system", ("\n\n".join(texts),)))
        self._open.clear()

    def user(self, fragment: Fragment) -> None:
        if not self.found or self.found[-1].role != "user":
            self.found += (Fragment("user", (content,)) for content in fragment.contents)
        else:
            for content in fragment.contents:
                self.found[-1] = Fragment("user", (self._join_last(fragment.role, content),))
        if not _has_result(self.found[-1]):
            self._open.clear()

    def _join_last(self, role: str, content: Content) -> list[Json]:
        before, after = blocks_in(self.found[-1].contents[0]), blocks_in(content)
        if role == "attached":
            return join_attachment(before, after, folds_lists=self._folds)
        return _join(before, after)

    def answer(self, fragment: Fragment) -> bool:
        """Add an answer; returns whether a message of the user comes after the answer that it was joined to."""
        at = self._open.get(fragment.id) if fragment.id else None
        if at is None:
            self._open[fragment.id] = len(self.found)
            self.found.append(fragment)
            return False
        blocks = [*blocks_in(self.found[at].contents[0]), *blocks_in(fragment.contents[0])]
        joined = sorted(blocks, key=lambda block: block.get("type") == "tool_use")
        self.found[at] = Fragment("assistant", (joined,), fragment.id)
        return at < len(self.found) - 1


def _move_attachments_up(fragments: Sequence[Fragment]) -> list[Fragment]:
    """Move attachments to the answer or the result before them, in their order."""
    found: list[Fragment] = []
    waiting: list[Fragment] = []
    for fragment in reversed(fragments):
        if fragment.role in ATTACHED:
            waiting.append(fragment)
            continue
        if fragment.role == "assistant" or _has_result(fragment):
            found += waiting
            waiting = []
        found.append(fragment)
    return (found + waiting)[::-1]


def _has_result(fragment: Fragment) -> bool:
    return any(block.get("type") == "tool_result" for content in fragment.contents for block in blocks_in(content))


def _join(before: list[Json], after: list[Json]) -> list[Json]:
    """Two contents as one; results first."""
    if before and after and before[-1].get("type") == after[0].get("type") == "text":
        before = [*before[:-1], {**before[-1], "text": text_at(before[-1], "text") + "\n"}]
    return [block for block in _results_first([*before, *after]) if not is_blank(block)]


def _results_first(blocks: list[Json]) -> list[Json]:
    return sorted(blocks, key=lambda block: block.get("type") != "tool_result")


def join_attachment(before: list[Json], after: list[Json], *, folds_lists: bool) -> list[Json]:
    """An attachment after a result becomes part of it."""
    last = before[-1] if before else {}
    content = last.get("content")
    if last.get("type") == "tool_result" and all(is_text(block) for block in after):
        if isinstance(content, str):
            text = "\n\n".join([*([content] if content else []), *(text_at(block, "text") for block in after)])
            return [*before[:-1], {**last, "content": text}]
        loads_tool = isinstance(content, list) and any(text_at(one, "type") == "tool_reference" for one in content)
        if isinstance(content, list) and folds_lists and not loads_tool:
            return [*before[:-1], {**last, "content": _join(content, after)}]
    return _results_first([*before, *after])


def pair_calls(fragments: Sequence[Fragment]) -> list[Fragment]:
    """Calls with their results, and nothing else."""
    found: list[Fragment] = []
    seen: set[str] = set()
    waiting: list[str] = []
    for fragment in fragments:
        if fragment.role == "assistant":
            found += _missing_results(waiting)
            fragment, waiting = _keep_new_calls(fragment, seen)
        elif fragment.role == "user":
            fragment, waiting = _keep_open_results(fragment, waiting, is_first=not found), []
        found.append(fragment)
    return [*found, *_missing_results(waiting)]


def _missing_results(waiting: Sequence[str]) -> list[Fragment]:
    return [Fragment("user", ([_missing_result(call) for call in waiting],))] if waiting else []


def _missing_result(call: str) -> Json:
    return {"type": "tool_result", "tool_use_id": call, "content": MISSING, "is_error": True}


def _keep_new_calls(fragment: Fragment, seen: set[str]) -> tuple[Fragment, list[str]]:
    kept: list[Json] = []
    calls: list[str] = []
    served = {text_at(block, "tool_use_id") for block in blocks_in(fragment.contents[0])}
    for block in blocks_in(fragment.contents[0]):
        if block.get("type") == "server_tool_use" and text_at(block, "id") not in served:
            continue
        if block.get("type") == "tool_use":
            if text_at(block, "id") in seen:
                continue
            seen.add(text_at(block, "id"))
            calls.append(text_at(block, "id"))
        kept.append(block)
    notice = CUT_CALL if fragment.contents[0] else EMPTY
    return fragment._replace(contents=(kept or [{"type": "text", "text": notice, "citations": []}],)), calls


def _keep_open_results(fragment: Fragment, waiting: Sequence[str], *, is_first: bool) -> Fragment:
    content = fragment.contents[0]
    if isinstance(content, str):
        return fragment if not waiting else Fragment("user", ([*map(_missing_result, waiting), *blocks_in(content)],))
    open_calls = list(waiting)
    kept: list[Json] = []
    for block in content:
        if block.get("type") == "tool_result":
            if text_at(block, "tool_use_id") not in open_calls:
                continue
            open_calls.remove(text_at(block, "tool_use_id"))
        kept.append(block)
    kept = [*map(_missing_result, open_calls), *kept]
    if kept or not content:
        return Fragment("user", (kept,))
    return Fragment("user", ([{"type": "text", "text": REMOVED}] if is_first else EMPTY,))
