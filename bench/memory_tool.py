"""Eight processes insert into one file of a memory tool: ours, and the local one of Anthropic's package.

Each process inserts 25 lines at the top of one file, the next as soon as the last was acknowledged. What counts is how
many of the 200 acknowledged lines are in the file afterwards. Time is the wall's, the disk is the one of `--root`.

    python bench/memory_tool.py
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool
from report import Row, Table, over, render, write_json

from foretold.adapters.anthropic_memory import MemoryTool

PROCESSES, LINES = 8, 25
PATH = "/memories/shared.md"


def ours(root: str) -> BetaAbstractMemoryTool:
    return MemoryTool(cwd=root, home=root, env={})


def theirs(root: str) -> BetaAbstractMemoryTool:
    return BetaLocalFilesystemMemoryTool(root)


def insert_all(make: Callable[[str], BetaAbstractMemoryTool], root: str, name: int) -> None:
    """What one process does; it ends with the number of inserts that were not acknowledged."""
    tool = make(root)
    refused = 0
    for number in range(LINES):
        given = {"command": "insert", "path": PATH, "insert_line": 0, "insert_text": f"{name}-{number}"}
        try:
            tool.call(given)
        except ToolError:
            refused += 1
    os._exit(refused)


def measure(title: str, make: Callable[[str], BetaAbstractMemoryTool], root: str, processes: int) -> Row:
    folder = tempfile.mkdtemp(dir=root)
    tool = make(folder)
    tool.call({"command": "create", "path": PATH, "file_text": ""})
    begin = time.monotonic()
    for name in range(processes):
        if os.fork() == 0:
            insert_all(make, folder, name)
    refused = sum(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(processes))
    spent = time.monotonic() - begin
    text = str(tool.call({"command": "view", "path": PATH}))
    kept = len({line.partition("\t")[2] for line in text.split("\n")[1:]} - {""})
    asked = processes * LINES - refused
    each = spent * 1000 / (processes * LINES)
    return Row(
        f"{title}, {processes} process{'es' * (processes > 1)}",
        (str(asked), str(kept), f"{each:.1f}"),
        {"processes": processes, "acknowledged": asked, "kept": kept, "ms": each},
        () if kept == asked or make is theirs else ("lost lines",),
        "no bar" if make is theirs else "",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", help="where the files are (default: a temporary folder)")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.root) as root:
        tools = (("foretold", ours), ("the package's own", theirs))
        rows = [measure(title, make, root, count) for count in (1, PROCESSES) for title, make in tools]
    table = Table(
        "Inserting lines through a memory tool",
        f"{LINES} lines for each process, all into one file. Bar: no acknowledged line is lost. Time is the wall's for "
        "one insert, with every process waiting for the others.",
        ("tool", "acknowledged", "kept", "ms"),
        rows,
    )
    print(render(table))
    if options.json:
        write_json(options.json, [table], {"processes": PROCESSES, "lines": LINES})
    return 1 if over([table]) else 0


if __name__ == "__main__":
    sys.exit(main())
