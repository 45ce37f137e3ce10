"""Calls with their results, and nothing else: what the API demands of the messages of a conversation.

1. A call with an id that was there already is taken out, and so is a result without its call, or a second one.
2. A call without a result gets one that says so; a call that the vendor ran itself and that has none is taken out.
3. A message that has lost all it had says that it has no content.
"""

from __future__ import annotations

from foretold.sessions.formats.claude.records import text_at
from foretold.sessions.resumption.fragments import EMPTY, Json, Piece, blocks_in
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MISSING = "[Tool result missing due to internal error]"
REMOVED = "[Orphaned tool result removed due to conversation resume]"
CUT_CALL = "[Tool use interrupted]"


def paired(pieces: Sequence[Piece]) -> list[Piece]:
    """Calls with their results, and nothing else."""
    found: list[Piece] = []
    seen: set[str] = set()
    waiting: list[str] = []
    for piece in pieces:
        if piece.role == "assistant":
            found += _answered(waiting)
            piece, waiting = _calls(piece, seen)
        elif piece.role == "user":
            piece, waiting = _results(piece, waiting, is_first=not found), []
        found.append(piece)
    return [*found, *_answered(waiting)]


def _answered(waiting: Sequence[str]) -> list[Piece]:
    return [Piece("user", ([_missing(call) for call in waiting],))] if waiting else []


def _missing(call: str) -> Json:
    return {"type": "tool_result", "tool_use_id": call, "content": MISSING, "is_error": True}


def _calls(piece: Piece, seen: set[str]) -> tuple[Piece, list[str]]:
    kept: list[Json] = []
    calls: list[str] = []
    served = {text_at(block, "tool_use_id") for block in blocks_in(piece.contents[0])}
    for block in blocks_in(piece.contents[0]):
        if block.get("type") == "server_tool_use" and text_at(block, "id") not in served:
            continue
        if block.get("type") == "tool_use":
            if text_at(block, "id") in seen:
                continue
            seen.add(text_at(block, "id"))
            calls.append(text_at(block, "id"))
        kept.append(block)
    said = CUT_CALL if piece.contents[0] else EMPTY
    return piece._replace(contents=(kept or [{"type": "text", "text": said, "citations": []}],)), calls


def _results(piece: Piece, waiting: Sequence[str], *, is_first: bool) -> Piece:
    content = piece.contents[0]
    if isinstance(content, str):
        return piece if not waiting else Piece("user", ([*map(_missing, waiting), *blocks_in(content)],))
    open_calls = list(waiting)
    kept: list[Json] = []
    for block in content:
        if block.get("type") == "tool_result":
            if text_at(block, "tool_use_id") not in open_calls:
                continue
            open_calls.remove(text_at(block, "tool_use_id"))
        kept.append(block)
    kept = [*map(_missing, open_calls), *kept]
    if kept or not content:
        return Piece("user", (kept,))
    return Piece("user", ([{"type": "text", "text": REMOVED}] if is_first else EMPTY,))
