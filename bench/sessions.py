"""The benchmark of sessions: indexing, searching, listing. Ratios in one run. Exit status 1 if a bar is missed.

python bench/sessions.py                   64 MB of transcripts, a session of 256 MB
python bench/sessions.py --size 512M       as much of them
python bench/sessions.py --full            1 GB of transcripts, a session of 5 GB (needs 7 GB of disk, and minutes)
python bench/sessions.py --rg PATH         where ripgrep is; without it, its rows are left out
python bench/sessions.py --only search     one part: index, search, memory, list
python bench/sessions.py --json FILE       the figures for programs
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time

import session_parts
from report import Table, over, render, write_json
from transcripts import write_home

SIZE, LONG, SESSIONS = "64M", "256M", 5000
PARTS = ("index", "search", "memory", "list")


def main() -> int:
    options = _options()
    began = time.monotonic()
    print(f"foretold, Python {platform.python_version()}, {os.cpu_count()} cores.\n", flush=True)
    wanted = options.only or PARTS
    tables: list[Table] = []

    def tell(table: Table) -> None:
        tables.append(table)
        print(render(table), flush=True)

    with tempfile.TemporaryDirectory(prefix="foretold-bench-", dir=options.folder) as folder:
        root = os.path.realpath(folder)
        if {"index", "search"} & {*wanted}:
            size = _bytes(options.size)
            home = f"{root}/home"
            files = write_home(home, size, sessions=max(8, size >> 21))
            tell(session_parts.index(home, files))
            if "search" in wanted:
                tell(session_parts.searching(home, files, options.rg))
            shutil.rmtree(home)
        if "memory" in wanted:
            tell(session_parts.memory(root, _bytes(options.long), 600 if options.full else 90))
        if "list" in wanted:
            tell(session_parts.listing(root, SESSIONS))
    print(f"{time.monotonic() - began:.0f} s")
    if options.json:
        write_json(options.json, tables, {"python": platform.python_version(), "machine": platform.machine()})
    missed = over(tables)
    print("\n".join([f"{len(missed)} bars missed:", *missed]) if missed else "Every figure is within its bar.")
    return 1 if missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", help=f"of the transcripts, e.g. 512M ({SIZE}; --full: 1G)")
    parser.add_argument("--long", help=f"of the one long session ({LONG}; --full: 5G)")
    parser.add_argument("--full", action="store_true", help="the sizes of the bars")
    parser.add_argument("--rg", default=shutil.which("rg"), metavar="PATH", help="ripgrep")
    parser.add_argument("--folder", metavar="DIR", help="where the data is made; default: the temporary folder")
    parser.add_argument("--only", action="append", choices=PARTS, help="one part; may be repeated")
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    options = parser.parse_args()
    options.size = options.size or ("1G" if options.full else SIZE)
    options.long = options.long or ("5G" if options.full else LONG)
    return options


def _bytes(text: str) -> int:
    """A size as it is typed.

    >>> _bytes("64M"), _bytes("1G"), _bytes("10")
    (67108864, 1073741824, 10)
    """
    unit = {"K": 10, "M": 20, "G": 30}.get(text[-1:].upper())
    return int(text[:-1]) << unit if unit else int(text)


if __name__ == "__main__":
    sys.exit(main())
