"""Read, as the agent does it.

1. Names of binary files and devices that never end are refused. A line number below 0 and a limit below 1 are ignored.
2. A range that was read before is not sent again while the file's time is the same, where the version does so.
3. Without a limit, a file above 256 KB is refused, whatever the offset. Where tokens are counted, a whole file with too
   many of them is cut after a share of its lines, and does not count as read; a range with too many is refused.
4. Lines are numbered from the offset on; what follows the last newline is a line too.
5. A notebook is shown as its cells: sources between tags, and the output of each cell after it.
6. The state then holds the text, its range and the file's time.
"""

from __future__ import annotations

import json
import os

from foretold.dialects.claude_code.files import (
    BINARY,
    BLOCKING,
    ENCODINGS,
    IMAGES,
    REFUSED_LATER,
    TOO_LARGE,
    TOO_MANY_TOKENS,
)
from foretold.files.read_state.encoded import decode_for_reading, encoding_problem
from foretold.files.read_state.values import KnownFile, Outcome, failed, refused
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.files.read_state.state import PathState, ReadState


SURELY_FEW = 25_000  #: characters whose tokens are not counted
SHARE = 0.85  #: of the lines that would just fit


def read_file(
    state: ReadState, given: str, offset: int | None, limit: int | None, *, may_stub: bool, quiet: bool = False
) -> Outcome:
    """Read a file, or say why not. If `quiet`, tokens are not counted."""
    path, rules = state.path_of(given), state.rules
    first = 1 if offset is None or offset < 0 else offset
    limit = limit if limit is not None and limit > 0 else None
    ending = os.path.splitext(path)[1].lower()[1:]
    if path in BLOCKING:
        return refused("device", rules.blocking.format(path=path), path)
    if ending in BINARY:
        return refused("binary", rules.binary.format(ending="." + ending), path)
    seen = state.disk.see(path if rules.reads_slash else state.spelled(given))
    known, asked = state.entries.get(path), (first, limit, seen.mtime)
    if may_stub and rules.stub and known and (known.offset, known.limit, known.mtime) == asked and not known.partial:
        return Outcome("unchanged_stub", rules.stub, path)
    if seen.kind != "file":
        return _not_a_file(state, seen, path, state.spelled(given))
    if ending in IMAGES or ending == "pdf":
        return _media(path, ending, seen.size)
    if limit is None and seen.size > rules.most_bytes:
        said = TOO_LARGE.format(size=size_of(seen.size), limit=size_of(rules.most_bytes)) + rules.large
        return failed("too_large", said, path)
    try:
        data = state.disk.read(path)
    except OSError as error:
        return failed("unreadable", f"EACCES: {error.strerror}, open '{path}'", path)
    text = decode_for_reading(data, wide=rules.reads_wide)
    if ending == "ipynb":
        return _notebook(state, path, text, seen.mtime, first, limit)
    outcome, entry = _shown(state, path, text, seen.mtime, first, limit, counted=not quiet)
    if entry is not None:
        state.know(path, entry)
    if rules.keeps_encoding and outcome.ok and (what := encoding_problem(data)):  # which writing would lose
        is_so, seen_above = ENCODINGS[what]
        outcome = outcome._replace(text=f"{outcome.text}\n\n[This file {is_so}{seen_above}{REFUSED_LATER}]")
    return outcome


def _media(path: str, ending: str, size: int) -> Outcome:
    """An image or a PDF: the caller attaches what the model sees of it, and it does not count as read."""
    if ending == "pdf":
        return Outcome("media", f"PDF file read: {path} ({size_of(size)})", path)
    return Outcome("media", "", path) if size else failed("empty", f"Image file is empty: {path}", path)


def _not_a_file(state: ReadState, seen: PathState, path: str, spelled: str) -> Outcome:
    if seen.kind == "missing":
        return failed("not_found", state.missing(path), path)
    if seen.kind == "folder":
        return failed("folder", f"EISDIR: illegal operation on a directory, read '{path}'", path)
    if seen.kind == "under-a-file":
        return failed("under_a_file", f"ENOTDIR: not a directory, {state.rules.stat} '{spelled}'", path)
    if path == "/dev/null":
        return _shown(state, path, "", 0, 1, None)[0]
    if seen.kind == "other":  # the agent waits for a FIFO forever
        return failed("not_a_file", f"{path} is not a file: it is a FIFO, a socket or a device.", path)
    return failed("unreadable", f"EACCES: {seen.said}, stat '{path}'", path)


def _shown(
    state: ReadState, path: str, text: str, mtime: int, first: int, limit: int | None, *, counted: bool = True
) -> tuple[Outcome, KnownFile | None]:
    """What a range of a text looks like, and what is known after it."""
    rules = state.rules
    lines = text.split("\n")
    start = max(first - 1, 0)
    chosen = lines[start:] if limit is None else lines[start : start + limit]
    content = "\n".join(chosen)
    whole = start == 0 and (limit is None or (rules.covers and limit > len(lines)))
    entry = KnownFile(content, mtime, state.clock(), first, limit, whole, whole)
    if counted and (cut := _too_many(state, path, content, len(lines), first, limit)) is not None:
        outcome = cut
        return outcome, entry._replace(whole=False, shown=False, partial=True) if outcome.ok else None
    about = Outcome("content", numbered(chosen, first), path, offset=first, lines=len(lines), content=content)
    if rules.says_empty and not text:
        said = "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>"
        return about._replace(kind="warning", code="empty", text=said), entry
    if not (chosen if rules.says_empty else content):
        said = (
            f"<system-reminder>Warning: the file exists but is shorter than the provided offset ({first})."
            f" The file has {len(lines)} lines.</system-reminder>"
        )
        return about._replace(kind="warning", code="shorter_than_offset", text=said), entry
    return about, entry


def _too_many(state: ReadState, path: str, content: str, lines: int, first: int, limit: int | None) -> Outcome | None:
    """The outcome for a text with too many tokens; None if it has not."""
    most = state.rules.most_tokens
    if state.count_tokens is None or len(content) <= SURELY_FEW:
        return None
    tokens = state.count_tokens(content)
    if tokens <= most:
        return None
    numbers = {"tokens": tokens, "limit": most, "lines": lines, "units": len(content)}
    if limit is not None or first != 1:
        return failed("too_many_tokens", TOO_MANY_TOKENS.format(**numbers) + state.rules.large, path)
    shown = int(lines * most / tokens * SHARE)
    if shown:
        chosen, form = content.split("\n")[:shown], state.rules.page
    else:
        shown = int(len(content) * most / tokens * SHARE)
        chosen, form = [content[:shown]], state.rules.excerpt
    said = form.format(shown=shown, next=shown + 1, **numbers) + numbered(chosen, 1)
    return Outcome("content", said, path, "too_many_tokens", lines=lines, content="\n".join(chosen))


def _notebook(state: ReadState, path: str, text: str, mtime: int, first: int, limit: int | None) -> Outcome:
    cells = cells_of(text)
    if cells is None:
        said = "Notebook file is not valid JSON (it may be truncated, corrupted, or still being written)"
        return failed("unreadable", said, path)
    state.know(path, KnownFile(text, mtime, state.clock(), first, limit))
    return Outcome("content", cells, path, content=text)


def numbered(lines: list[str], first: int) -> str:
    """Lines with their numbers."""
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, first))


def size_of(count: int) -> str:
    """Bytes in the agent's words.

    >>> [size_of(n) for n in (9, 262_145, 300_000, 5_200_000)]
    ['9 bytes', '256KB', '293KB', '5MB']
    """
    if count < 1024:
        return f"{count} bytes"
    power, unit = (1, "KB") if count < 1024**2 else (2, "MB") if count < 1024**3 else (3, "GB")
    return f"{count / 1024**power:.1f}".removesuffix(".0") + unit


def cells_of(text: str) -> str | None:
    """The text of a notebook; None if it is not JSON.

    >>> cells_of('{"cells": [{"cell_type": "markdown", "source": ["# a", "b"]}]}')
    '<cell id="cell-0"><cell_type>markdown</cell_type># ab</cell id="cell-0">'
    """
    try:
        cells = json.loads(text)["cells"]
        return "\n".join(_cell(number, cell) for number, cell in enumerate(cells))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _cell(number: int, cell: dict[str, object]) -> str:
    name = cell.get("id") or f"cell-{number}"
    kind = "" if cell.get("cell_type") == "code" else f"<cell_type>{cell.get('cell_type')}</cell_type>"
    outputs = cell.get("outputs")
    printed = [_joined(output.get("text")) for output in outputs] if isinstance(outputs, list) else []
    said = "".join(f"\n\n{text}" for text in printed if text)
    return f'<cell id="{name}">{kind}{_joined(cell.get("source"))}</cell id="{name}">{said}'


def _joined(text: object) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text or "")
