"""The messages of a conversation as they go to the model.

1. Attachments travel with the user's messages, each between tags, or as system messages, by the model. With the user's
   they move up to the answer or result before them, and join the text of the last result there. As a system message
   all attachments of a turn follow the user's message, a blank line between two. An image always stays with the user.
2. Messages of the user that meet become one: a text that is followed by a text gets a newline. The messages of one
   attachment stay apart where nothing of the user's is before them.
3. Answers with the same message id become one, also over results that stand between; calls come last. Errors of the API
   are left out, and thinking of another model.
4. Results come first in their message. A result without its call is taken out, and one that was there already; a call
   without a result gets one that says so. A message that has lost all it had says that it has no content.
"""

from __future__ import annotations

from foretold.sessions.formats.claude.attachments import tagged
from foretold.sessions.formats.claude.records import text_at
from foretold.sessions.resumption.fragments import ATTACHED, Content, Json, Piece, blocks_in, is_blank, is_text
from foretold.sessions.resumption.pairs import paired
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foretold.dialects.claude_code.sessions import SessionRules


def messages_of(pieces: Sequence[Piece], rules: SessionRules) -> list[Json]:
    """Pieces as messages of the API."""
    said = _Said(folds=rules.folds_lists)
    waiting: list[str] = []
    has_user = False
    for piece in _moved_up(pieces):
        if piece.role == "system":
            waiting += (str(content) for content in piece.contents)
            continue
        if piece.role == "assistant":
            if waiting and has_user:
                said.system(waiting)
                waiting = []
            elif waiting and said.found and said.found[-1].id != piece.id:
                # claude-code: between two answers there is no turn that a system message could follow
                said.user(Piece("attached", tuple(tagged(text) for text in waiting)))
                waiting = []
            has_user = said.answer(piece)
        else:
            said.user(piece)
            has_user = True
    if waiting:
        said.system(waiting)
    return [{"role": piece.role, "content": piece.contents[0]} for piece in paired(said.found)]


class _Said:
    """Messages that are being put together."""

    def __init__(self, *, folds: bool) -> None:
        self.found: list[Piece] = []
        self._folds = folds
        self._open: dict[str, int] = {}  # answers that may still get blocks: since then only results were said

    def system(self, texts: Sequence[str]) -> None:
        self.found.append(Piece("system", ("\n\n".join(texts),)))
        self._open.clear()

    def user(self, piece: Piece) -> None:
        if not self.found or self.found[-1].role != "user":
            self.found += (Piece("user", (content,)) for content in piece.contents)
        else:
            for content in piece.contents:
                self.found[-1] = Piece("user", (self._joined(piece.role, content),))
        if not _has_result(self.found[-1]):
            self._open.clear()

    def _joined(self, role: str, content: Content) -> list[Json]:
        before, after = blocks_in(self.found[-1].contents[0]), blocks_in(content)
        if role == "attached":
            return _attach(before, after, folds_lists=self._folds)
        return _join(before, after)

    def answer(self, piece: Piece) -> bool:
        """Add an answer; whether the turn that it belongs to has words of the user that are not yet behind."""
        at = self._open.get(piece.id) if piece.id else None
        if at is None:
            self._open[piece.id] = len(self.found)
            self.found.append(piece)
            return False
        joined = _calls_last([*blocks_in(self.found[at].contents[0]), *blocks_in(piece.contents[0])])
        self.found[at] = Piece("assistant", (joined,), piece.id)
        return at < len(self.found) - 1


def _moved_up(pieces: Sequence[Piece]) -> list[Piece]:
    """Attachments behind the answer or the result before them, in their order."""
    found: list[Piece] = []
    waiting: list[Piece] = []
    for piece in reversed(pieces):
        if piece.role in ATTACHED:
            waiting.append(piece)
            continue
        if piece.role == "assistant" or _has_result(piece):
            found += waiting
            waiting = []
        found.append(piece)
    return (found + waiting)[::-1]


def _has_result(piece: Piece) -> bool:
    return any(block.get("type") == "tool_result" for content in piece.contents for block in blocks_in(content))


def _join(before: list[Json], after: list[Json]) -> list[Json]:
    """Two contents as one; results first."""
    if before and after and before[-1].get("type") == after[0].get("type") == "text":
        before = [*before[:-1], {**before[-1], "text": text_at(before[-1], "text") + "\n"}]
    return [block for block in _results_first([*before, *after]) if not is_blank(block)]


def _results_first(blocks: list[Json]) -> list[Json]:
    results = [block for block in blocks if block.get("type") == "tool_result"]
    return [*results, *(block for block in blocks if block.get("type") != "tool_result")]


def _calls_last(blocks: list[Json]) -> list[Json]:
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    return [*(block for block in blocks if block.get("type") != "tool_use"), *calls]


def _attach(before: list[Json], after: list[Json], *, folds_lists: bool) -> list[Json]:
    """An attachment behind a result becomes part of it."""
    last = before[-1] if before else {}
    content = last.get("content")
    if last.get("type") == "tool_result" and all(is_text(block) for block in after):
        if isinstance(content, str):
            text = "\n\n".join([*([content] if content else []), *(text_at(block, "text") for block in after)])
            return [*before[:-1], {**last, "content": text}]
        if (
            isinstance(content, list)
            and folds_lists
            and not any(text_at(one, "type") == "tool_reference" for one in content)
        ):
            return [*before[:-1], {**last, "content": _join(content, after)}]
    return _results_first([*before, *after])
