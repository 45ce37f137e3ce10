"""`foretold memory vectors`: the table of word vectors that recall and hooks use, once it was built."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from foretold.cli.json import emit
from foretold.cli.memory.options import open_store, parser_of
from foretold.cli.output import Paint, write_controls
from foretold.extras import how_to_install
from foretold.memory.recall.table import LICENCE, TableState, remove_table, table_state

ACTIONS = ("status", "build", "remove")


def command_vectors(words: Sequence[str]) -> int:
    about = (
        "The table of word vectors, by which recall and hooks find memories that mean the same in other words. It is "
        "built once from the package of the extra vectors; afterwards the package is not needed. Nothing is fetched."
    )
    examples = "  foretold memory vectors build\n  foretold memory vectors status\n  foretold memory vectors remove"
    parser = parser_of("vectors", about, examples)
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="status", help="default: %(default)s")
    options = parser.parse_args(words)
    memories = open_store(options)
    cache = memories.place.cache
    if options.action == "build":
        from foretold.memory.recall.vectors import build_table

        show = _print_progress if sys.stderr.isatty() and not options.json else None
        build_table(cache, show)
    elif options.action == "remove":
        remove_table(cache)
    return _report(table_state(cache), options, Paint(memories.place.root, memories.place.home))


def _report(state: TableState, options: argparse.Namespace, paint: Paint) -> int:
    if options.json:
        emit("vectors", {"action": options.action, **state._asdict(), "licence": LICENCE})
        return 1 if state.problem else 0
    if state.problem:
        print(f"The table of word vectors cannot be used: {state.problem}")
        print("Build it again: foretold memory vectors build")
        return 1
    if not state.is_built:
        print("There is no table of word vectors: memories are found by their words alone.")
        if options.action != "remove":
            print("Build it: foretold memory vectors build")
            print(paint.wrap(f"It needs a package for a moment: {how_to_install('vectors')}", 2))
        return 0
    print(f"{state.tokens:,} tokens, {state.bytes / 1e6:.1f} MB, from {state.source}")
    print(f"in {paint.path(state.path)}")
    print(paint.wrap(f"Licence: {LICENCE}", 0))
    return 0


def _print_progress(done: int, total: int) -> None:
    end = "\n" if done >= total else ""
    write_controls(f"\r\x1b[Kthe table of word vectors: {done:,} of {total:,}{end}")
