"""`file_versions`: what files were before an agent changed them.

1. Each state is what a file was before a prompt, as Claude Code's checkpoints hold it; without a file, the files of the
   project that have any are listed.
2. Only files of this project are told.
"""

from __future__ import annotations

import os

from foretold.errors import BadArgument, NoCheckpoint
from foretold.serve.mcp.paging import clip, count_text, end_text, page_of
from foretold.serve.mcp.schema import CURSOR, PAGED, RowKind, number, record, several, takes, text
from foretold.serve.mcp.tool import CallAnswer, McpTool
from foretold.serve.mcp.tools.search import moment_text
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.files.history.recorded import Recorded
    from foretold.serve.mcp.context import CallContext
    from foretold.serve.mcp.schema import Row
    from foretold.serve.mcp.tool import Given

PAGE = 60  #: rows
STATES = {"kept": "{:,} bytes", "lost": "its backup is gone", "no file": "there was no file"}

_FILE = RowKind(
    file=(text("a file"), lambda here, path, _: here.short_path(path)),
    time=(text("its last checkpoint"), lambda _here, _path, when: moment_text(when)),
)
_VERSION = RowKind(
    at=(text("its name; restore_file takes it"), lambda version: version.name),
    time=(text("when it was recorded"), lambda version: moment_text(version.time)),
    prompt=(
        text("the prompt that it was there before"),
        lambda version: clip(" ".join(version.prompt.split()), 200),
    ),
    state=(
        text("kept, lost (the backup is gone), or no file (there was none)"),
        lambda version: "lost" if version.is_lost else "no file" if version.source is None else "kept",
    ),
    bytes=(number("its size"), lambda version: version.found.size),
    added=(number("lines, against the state before"), lambda version: version.lines.added if version.lines else 0),
    removed=(number("lines, against the state before"), lambda version: version.lines.removed if version.lines else 0),
)


def file_versions(context: CallContext, given: Given) -> CallAnswer:
    """The kept states of a file, or the files that have any."""
    return _of_file(context, given) if given.get("file") else _of_project(context, given)


def _of_project(context: CallContext, given: Given) -> CallAnswer:
    from foretold.files.history.recorded import list_sessions_in

    root = _root(context)
    found = list_sessions_in(context.homes, root, context.progress_of("reading sessions"))
    last: dict[str, float] = {}
    for recorded in found:
        for path in recorded.tracked:
            if _is_in(path, root):
                last[path] = max(last.get(path, 0.0), recorded.changed)
    newest = sorted(last.items(), key=lambda each: (-each[1], each[0]))
    rows = [_FILE.row(context, path, when) for path, when in newest]
    head = f"Files of {root} with earlier states, {len(rows):,} in all, those changed last first:" if rows else _NONE
    data: Row = {"file": "", "now": "", **_page(given, "files", rows), "versions": []}
    said = [head, *(f"  {row['file']} ({row['time']})" for row in data["files"])]  # type: ignore[attr-defined]
    return CallAnswer(end_text(said, data), data)


def _of_file(context: CallContext, given: Given) -> CallAnswer:
    from foretold.files.history.versions import list_versions
    from foretold.files.restore.look import look_at

    path, sessions = tracked(context, str(given["file"]))
    now = look_at(path)
    rows = [_VERSION.row(each) for each in list_versions(sessions, path)]
    on_disk = "not there" if now.kind == "missing" else f"{now.kind}, {now.size:,} bytes"
    data: Row = {"file": context.short_path(path), "now": on_disk, **_page(given, "versions", rows), "files": []}
    states = count_text(len(rows), "state")
    said = [f"{data['file']} ({on_disk}): {states}, each what the file was before a prompt, newest first:"]
    for row in data["versions"]:  # type: ignore[attr-defined]
        state, lines = STATES[row["state"]].format(row["bytes"]), f"+{row['added']} -{row['removed']}"
        said.append(f"  {row['at']}  {row['time']}  {state}, {lines}  “{row['prompt']}”")
    said.append("Bring one back: restore_file with `at`.")
    return CallAnswer(end_text(said, data), data)


def _page(given: Given, name: str, rows: list[Row]) -> Row:
    _, shown, fields = page_of("file_versions", given, rows, PAGE, "something was changed")
    return {"count": len(rows), name: shown, **fields}


# Which file


def _root(context: CallContext) -> str:
    """The project's folder: that of its repository."""
    from foretold.memory.location import locate_memories

    return locate_memories(context.folder, agent=context.keeper, home=context.home, env=context.env).root


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def tracked(context: CallContext, file: str) -> tuple[str, list[Recorded]]:
    """A file of the project by its whole path, and the sessions that have states of it."""
    from foretold.files.history.recorded import list_sessions_with

    given = os.path.normpath(os.path.join(os.path.realpath(context.folder), file))
    real = os.path.join(os.path.realpath(os.path.dirname(given)), os.path.basename(given))
    root = os.path.realpath(_root(context))
    if not _is_in(real, root):
        raise BadArgument(
            f"{clip(file, 300)} is not in {root}: only files of this project are listed and put back here"
        )
    for everywhere in (False, True):
        for path in dict.fromkeys((real, given)):
            sessions = list_sessions_with(
                context.homes, path, everywhere=everywhere, progress=context.progress_of("reading sessions")
            )
            if sessions:
                return path, sessions
    raise NoCheckpoint(f"no state of {context.short_path(real)} is kept. {_NONE}")


_NONE = (
    "Claude Code records states of files that its own tools edit, in a terminal; what shell commands and subagents "
    "change is not recorded, and states are deleted after 30 days."
)
_VERSIONS = """\
List the earlier states of a file that Claude Code's checkpoints hold, newest first: each is what the file was before \
the agent worked on a prompt, also for files that git does not know and after the session is closed. Without `file`: \
the files of this project that have any. Changes nothing."""
TOOLS = (
    McpTool(
        "file_versions",
        "Earlier states of a file",
        _VERSIONS,
        takes(
            file=text("a file of this project; default: list the files that have states", most=4_000),
            cursor=CURSOR,
        ),
        record(
            file="the file; empty if none was named",
            now="what is on disk",
            count=number("rows, on all pages"),
            versions=several(_VERSION.schema, "the newest first"),
            files=several(_FILE.schema),
            **PAGED,
        ),
        file_versions,
    ),
)
