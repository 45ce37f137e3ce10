"""Read, Write and Edit, over what the model knows of files (`foretold.files.ReadState`), which also has the wording.

1. Paths are relative to the folder that the shell is in.
2. Before a file is changed, and only if it will be, `before_edit` gets its path.
3. An image or a PDF comes as what it is; one that is too large for a request is refused.
4. A change is also given as the hunks that transcripts of Claude Code hold: three lines of context, hunks that would
   touch are one, and a last line without a newline is followed by a line that says so. Of very long changes only the
   equal ends are found, and all between them counts as replaced.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from foretold.files.read_state.encoded import decode_for_editing
from foretold.harness.tools.base import Result, Tool, ToolContext, failure, input_schema
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from foretold.files.read_state.state import LocalDisk
    from foretold.files.read_state.values import Outcome
    from foretold.harness.tools.base import Input

CONTEXT = 3
LONG = 2_000  #: lines between the ends that are the same
NO_NEWLINE = "\\ No newline at end of file"
MOST_IMAGE = 3_750_000  #: bytes; five million characters as base64
MOST_PDF = 20_000_000


def hunks_of(before: str, after: str) -> list[dict[str, object]]:
    """The hunks that lead from one text to another."""
    from difflib import SequenceMatcher  # only where something was edited

    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    tail = next((n for n in range(shorter - head) if old[-1 - n] != new[-1 - n]), shorter - head)
    ends = len(old) - tail, len(new) - tail
    middle: list[Any] = [("replace", head, ends[0], head, ends[1])]
    if max(ends) - head <= LONG:
        between = SequenceMatcher(None, old[head : ends[0]], new[head : ends[1]], autojunk=False)
        middle = [(tag, i + head, j + head, k + head, m + head) for tag, i, j, k, m in between.get_opcodes()]
    codes = [("equal", 0, head, 0, head), *middle, ("equal", ends[0], len(old), ends[1], len(new))]
    whole: SequenceMatcher[str] = SequenceMatcher()
    whole.get_opcodes = lambda: [code for code in codes if code[1] < code[2] or code[3] < code[4]]  # type: ignore[method-assign]
    return [_hunk(group, old, new) for group in whole.get_grouped_opcodes(CONTEXT)]


def _hunk(group: list[Any], old: list[str], new: list[str]) -> dict[str, object]:
    lines: list[str] = []
    for tag, i, j, k, m in group:
        lines += _marked(" ", old[i:j]) if tag == "equal" else [*_marked("-", old[i:j]), *_marked("+", new[k:m])]
    start, first = group[0][1], group[0][3]
    sizes = {"oldStart": start + 1, "oldLines": group[-1][2] - start}
    return {**sizes, "newStart": first + 1, "newLines": group[-1][4] - first, "lines": lines}


def _marked(mark: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield NO_NEWLINE


def read(context: ToolContext, given: Input) -> Result:
    """Read a file."""
    path = str(given["file_path"])
    outcome = context.state.read(path, _number(given, "offset"), _number(given, "limit"))
    if not outcome.ok:
        return _failure(outcome)
    if outcome.kind == "media":
        return _media(context, path, outcome)
    return Result(outcome.text, value=_read_value(path, outcome), outcome=outcome, paths=(outcome.path,))


def write(context: ToolContext, given: Input) -> Result:
    """Write a file."""
    path, content = str(given["file_path"]), str(given["content"])
    outcome, before = _watch_change(context, lambda: context.state.write(path, content))
    if not outcome.ok:
        return _failure(outcome)
    value: dict[str, object] = {
        "type": "create" if outcome.kind == "created" else "update",
        "filePath": path,
        "content": content,
        "structuredPatch": [] if before is None else hunks_of(before, content),
        "originalFile": before,
        "userModified": False,
    }
    return _changed(outcome, value)


def edit(context: ToolContext, given: Input) -> Result:
    """Replace a text of a file."""
    path, old, new = (str(given[key]) for key in ("file_path", "old_string", "new_string"))
    every = bool(given.get("replace_all", False))
    outcome, before = _watch_change(context, lambda: context.state.edit(path, old, new, replace_all=every))
    if not outcome.ok:
        return _failure(outcome)
    known = context.state.entries.get(outcome.path)
    value: dict[str, object] = {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "originalFile": before,
        "structuredPatch": hunks_of(before or "", known.content) if known else [],
        "userModified": False,
        "replaceAll": every,
    }
    return _changed(outcome, value)


class _WatchedDisk:
    """A disk that calls `before_edit` before it writes, and knows what was there."""

    def __init__(self, disk: LocalDisk, context: ToolContext) -> None:
        self._disk, self._context = disk, context
        self.before: str | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._disk, name)

    def write(self, path: str, data: bytes) -> None:
        if self._disk.see(path).kind == "file":
            self.before = decode_for_editing(self._disk.read(path)).text
        if self._context.before_edit is not None:
            self._context.before_edit(path)
        self._disk.write(path, data)


def _watch_change(context: ToolContext, change: Callable[[], Outcome]) -> tuple[Outcome, str | None]:
    """Make a change; what came of it, and the text that was there before."""
    disk = context.state.disk
    watched = _WatchedDisk(disk, context)
    context.state.disk = watched  # type: ignore[assignment]
    try:
        return change(), watched.before
    finally:
        context.state.disk = disk


def _number(given: Input, key: str) -> int | None:
    value = given.get(key)
    return int(value) if isinstance(value, int | float) else None


def _failure(outcome: Outcome) -> Result:
    said = outcome.text.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
    return Result(outcome.text, is_error=True, value=f"Error: {said}", outcome=outcome)


def _changed(outcome: Outcome, value: dict[str, object]) -> Result:
    text = f"{outcome.text}\n\nNote: {outcome.loss}." if outcome.loss else outcome.text
    return Result(text, value=value, outcome=outcome, paths=(outcome.path,))


def _read_value(path: str, outcome: Outcome) -> dict[str, object]:
    if outcome.kind == "unchanged_stub":
        return {"type": "file_unchanged", "file": {"filePath": path}}
    lines = {"numLines": outcome.content.count("\n") + 1, "startLine": outcome.offset, "totalLines": outcome.lines}
    return {"type": "text", "file": {"filePath": path, "content": outcome.content, **lines}}


def _media(context: ToolContext, path: str, outcome: Outcome) -> Result:
    """An image or a PDF as a block."""
    from foretold.context.mentions import IMAGES, image_content, pdf_content

    ending = os.path.splitext(outcome.path)[1].lower()[1:]
    data = context.state.disk.read(outcome.path)
    most = MOST_PDF if ending == "pdf" else MOST_IMAGE
    if len(data) > most:
        return failure(f"{outcome.path} has {len(data)} bytes; at most {most} can be shown.", outcome=outcome)
    if ending == "pdf":
        pdf = pdf_content(path, data)
        text: dict[str, object] = {"type": "text", "text": outcome.text}
        return Result([text, _source("document", "application/pdf", pdf)], value=pdf, outcome=outcome)
    image = image_content(data, IMAGES[ending]) if ending in IMAGES else None
    if image is None:
        return failure(f"{outcome.path} is not an image, despite its name.", outcome=outcome)
    return Result([_source("image", f"image/{IMAGES[ending]}", image)], value=image, outcome=outcome)


def _source(kind: str, media: str, content: dict[str, object]) -> dict[str, object]:
    file = content["file"]
    data = file["base64"] if isinstance(file, dict) else ""
    return {"type": kind, "source": {"type": "base64", "data": data, "media_type": media}}


PATH = {
    "type": "string",
    "description": "The file: an absolute path, or one relative to the working directory",
}

READ = Tool(
    "Read",
    "Read a file. Lines come numbered from 1, as number, tab, text. Without a range the whole file comes, which must be"
    " at most 256 KB; give offset and limit for parts of longer ones. Images, PDF files and notebooks can"
    " be read, too. A file must be read before it is changed.",
    input_schema(
        "file_path",
        {
            "file_path": PATH,
            "offset": {"type": "integer", "description": "The first line, from 1"},
            "limit": {"type": "integer", "description": "How many lines"},
        },
    ),
    read,
)

WRITE = Tool(
    "Write",
    "Write a whole file, and the folders above it. What was there is replaced, and must have been read before. To"
    " change a part of a file use Edit.",
    input_schema(
        "file_path content",
        {"file_path": PATH, "content": {"type": "string", "description": "The whole new text"}},
    ),
    write,
)

EDIT = Tool(
    "Edit",
    "Replace a text of a file that was read before. old_string must be in the file exactly once, white space included, "
    "without the line numbers that Read shows; more of the surrounding text makes it unique. With replace_all every "
    "occurrence is replaced.",
    input_schema(
        "file_path old_string new_string",
        {
            "file_path": PATH,
            "old_string": {"type": "string", "description": "The text to replace"},
            "new_string": {"type": "string", "description": "The text that takes its place; it must be another one"},
            "replace_all": {"type": "boolean", "description": "Replace all occurrences; by default the one"},
        },
    ),
    edit,
)
