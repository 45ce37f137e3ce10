"""Glob: files by their names.

1. A pattern without a slash holds at every depth; one with a slash from the folder on that is searched. `*` and `?`
   stay in a name, `**` crosses folders, braces are alternatives; hidden files and those that git ignores are found,
   those in `.git` are not. (The agent finds these, too.)
2. The longest unchanged come first, as the agent has it; at most a hundred are listed, and the rest is counted.
3. Paths are relative to the working directory where they are in it. Files that may not be read are not listed.
"""

from __future__ import annotations

import os
import time

from foretold.harness.tools.base import Result, Tool, ToolContext, failure, input_schema
from foretold.harness.tools.walk import FolderWalk, split_pattern
from foretold.text.globs.picomatch import Glob
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.harness.tools.base import Input

MOST = 100  #: files that are listed


def find(context: ToolContext, given: Input) -> Result:
    """Find files."""
    began = time.monotonic()
    folder, pattern = split_pattern(str(given["pattern"]), str(given.get("path") or ""))
    folder = context.state.path_of(folder) if folder else context.cwd
    if not os.path.isdir(folder):
        said = f"Directory does not exist: {folder}. Note: your current working directory is {context.cwd}."
        said = f"Path is not a directory: {folder}" if os.path.lexists(folder) else said
        return failure(said, is_tagged=True)
    walk = FolderWalk(folder, ignores=False)
    glob = Glob(pattern if "/" in pattern else "**/" + pattern)
    start = len(walk.folder.rstrip("/")) + 1
    found = [
        (entry.stat(follow_symlinks=False).st_mtime_ns, entry.path)
        for entry in walk.files()
        if glob.matches(entry.path[start:]) and context.permission.may_show(entry.path)
    ]
    names = [shown_path(context.cwd, path) for _, path in sorted(found)]
    value = {
        "filenames": names[:MOST],
        "durationMs": int((time.monotonic() - began) * 1000),
        "numFiles": min(len(names), MOST),
        "truncated": len(names) > MOST,
        "totalMatches": len(names),
        "countIsComplete": walk.is_complete,
    }
    lines = names[:MOST] or ["No files found"]
    if len(names) > MOST:
        rest = f"{len(names) - MOST} more are not listed. Narrow the pattern or path to see the rest."
        lines.append(f"(Showing {MOST} of {len(names)} matching files; {rest})")
    if not walk.is_complete:
        lines.append("(The folder has too many files to search all of them. Give a path to search a part of it.)")
    return Result("\n".join(lines), value=value)


def shown_path(cwd: str, path: str) -> str:
    """A path as the model sees it.

    >>> shown_path("/repo", "/repo/a/b"), shown_path("/repo", "/repository/b")
    ('a/b', '/repository/b')
    """
    return path[len(cwd.rstrip("/")) + 1 :] if path.startswith(cwd.rstrip("/") + "/") else path


GLOB = Tool(
    "Glob",
    "Find files by their names, with patterns such as **/*.py, src/**/*.{ts,tsx} or README*. The longest unchanged come"
    " first; at most 100 are listed.",
    input_schema(
        "pattern",
        {
            "pattern": {"type": "string", "description": "The pattern"},
            "path": {"type": "string", "description": "The folder to search; by default the working directory"},
        },
    ),
    find,
)
