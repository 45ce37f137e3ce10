"""Grep: lines of files by a regular expression.

1. Three ways to answer: the files, the newest first; the lines, with their numbers; how many lines of each file.
2. At most 250 lines or files are given, or as many as are asked for; if there are more, it is said how many there are.
3. Paths are relative to the working directory where they are in it. Files that may not be read are not searched.
"""

from __future__ import annotations

import os

from foretold.harness.tools.base import Result, Tool, ToolContext, failure, input_schema
from foretold.harness.tools.glob import shown_path
from foretold.harness.tools.search import TYPES, FileMatches, LineSearchResult, SearchRequest, run_search
from foretold.storage.tree import open_regular
from foretold.text.globs.picomatch import Glob
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.harness.tools.base import Input

LIMIT = 250
MODES = ("content", "files_with_matches", "count")


def search(context: ToolContext, given: Input) -> Result:
    """Search files."""
    place = context.state.path_of(str(given.get("path") or "."))
    kind = str(given.get("type") or "")
    if not os.path.exists(place):
        said = f"Path does not exist: {place}. Note: your current working directory is {context.cwd}."
        return failure(said, is_tagged=True)
    if kind and kind not in TYPES:
        return failure(f"Search failed: there is no file type {kind!r}. There are: {', '.join(sorted(TYPES))}.")
    if os.path.isfile(place) and _is_binary(place):
        return Result(f"Binary file, not searched: {shown_path(context.cwd, place)}")
    around = _number(given, "-C") or _number(given, "context")
    answer = run_search(
        SearchRequest(
            place,
            str(given["pattern"]),
            str(given.get("output_mode", "files_with_matches")),
            TYPES.get(kind, ()),
            given.get("-i") is True,
            given.get("multiline") is True,
            around or _number(given, "-B"),
            around or _number(given, "-A"),
        ),
        context.env,
    )
    if answer.problem:
        return failure(f"Search failed: {answer.problem}")
    return _render(context, given, place, answer._replace(found=_filter(context, given, place, answer.found)))


def _filter(context: ToolContext, given: Input, place: str, found: list[FileMatches]) -> list[FileMatches]:
    """Files that may be shown, and that the glob matches."""
    pattern = str(given.get("glob") or "")
    negated = pattern.startswith("!")
    named = pattern.removeprefix("!").removeprefix("./")
    glob = Glob(named.removeprefix("/") if "/" in named else f"**/{named}") if pattern else None
    kept = []
    for one in found:
        names = (shown_path(context.cwd, one.path), shown_path(place, one.path))
        fits = glob is None or any(glob.matches(name) for name in names) != negated
        if fits and context.permission.may_show(one.path):
            kept.append(one)
    return kept


def _render(context: ToolContext, given: Input, place: str, answer: LineSearchResult) -> Result:
    """The answer in the mode that was asked for, and of a long one the page that was asked for."""
    mode, found = str(given.get("output_mode", "files_with_matches")), answer.found
    if mode == "content":
        items = _lines(context, given, place, found)
    elif mode == "count":
        items = [f"{shown_path(context.cwd, one.path)}:{one.hits}" for one in found]
    else:
        newest = sorted(found, key=lambda one: (-_modified(one.path), one.path))
        items = [shown_path(context.cwd, one.path) for one in newest]
    limit, offset = _number(given, "head_limit", LIMIT), _number(given, "offset")
    shown = items[offset : offset + limit] if limit else items[offset:]
    parts = [f"limit: {limit}"] if limit and len(items) > offset + limit else []
    parts += [f"offset: {offset}"] if offset else []
    page = ", ".join([*parts, f"total: {len(items)}"]) if parts else ""
    text, nothing = "\n".join(shown), f"No entries at this offset ({page})" if page else ""
    value: dict[str, object] = {"mode": mode, "numFiles": 0, "filenames": [], "content": text}
    if mode == "content":
        value |= {"numLines": len(shown), "totalLines": len(items)}
        pages = f"\n\n[Showing results with pagination = {page}]" if page else ""
        said = text + pages if shown else nothing or "No matches found"
    elif mode == "count":
        total = sum(one.hits for one in found)
        value |= {"numFiles": len(found), "numMatches": total}
        said = f"{text or 'No matches found'}\n\nFound {_plural(total, 'total occurrence')} across"
        said += f" {_plural(len(found), 'file')}.{' with pagination = ' + page if page else ''}"
    else:
        value = {"mode": mode, "filenames": shown, "numFiles": len(shown), "totalFiles": len(found)}
        head = f"Found {_plural(len(shown), 'file')}{' ' + page if page else ''}"
        said = f"{head}\n{text}" if shown else nothing or "No files found"
    return Result("\n".join([said, *(f"({note})" for note in answer.notes)]), value=value)


def _lines(context: ToolContext, given: Input, place: str, found: list[FileMatches]) -> list[str]:
    numbered, several = given.get("-n") is not False, not os.path.isfile(place)
    grouped = any(_number(given, key) for key in ("-A", "-B", "-C", "context"))
    lines: list[str] = []
    for one in found:
        name = shown_path(context.cwd, one.path) if several else ""
        last = -1
        for number, matches, text in one.lines:
            if grouped and lines and number != last + 1:
                lines.append("--")
            mark, last = ":" if matches else "-", number
            lines.append((name + mark if name else "") + (f"{number}{mark}" if numbered else "") + text)
    return lines


def _plural(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


def _modified(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _is_binary(path: str) -> bool:
    with open(path, "rb", opener=open_regular) as file:
        return b"\0" in file.read(65_536)


def _number(given: Input, key: str, default: int = 0) -> int:
    value = given.get(key)
    return max(int(value), 0) if isinstance(value, int | float) else default


def _lines_around(what: str) -> dict[str, object]:
    return {"type": "number", "description": f"How many lines {what} to show; only with output_mode content"}


GREP = Tool(
    "Grep",
    "Search the lines of files with a regular expression. It answers with the files that match, the newest first; with "
    "output_mode content with the lines, with count with how many there are. What git ignores and binary files are not "
    "searched. At most 250 lines or files come unless head_limit says otherwise.",
    input_schema(
        "pattern",
        {
            "pattern": {"type": "string", "description": "The regular expression"},
            "path": {"type": "string", "description": "A file or folder; by default the working directory"},
            "glob": {"type": "string", "description": "Only files that match this pattern, such as *.{ts,tsx}"},
            "type": {"type": "string", "description": "Only files of a language, such as py, js, rust, go, java"},
            "output_mode": {"type": "string", "enum": list(MODES), "description": "What to answer with"},
            "-i": {"type": "boolean", "description": "Ignore case"},
            "-n": {"type": "boolean", "description": "Show the numbers of lines; on by default"},
            "-A": _lines_around("after each match"),
            "-B": _lines_around("before each match"),
            "-C": _lines_around("around each match"),
            "context": _lines_around("around each match"),
            "head_limit": {"type": "number", "description": "At most so many lines or files; 0: all"},
            "offset": {"type": "number", "description": "Leave out so many lines or files at the beginning"},
            "multiline": {"type": "boolean", "description": "Let a match go over several lines"},
        },
    ),
    search,
)
