"""The benchmark: ratios, in one run. Exit status 1 if a bar is exceeded.

python bench/load.py                the whole run
python bench/load.py --quick        fewer repetitions, no tree of 200,000 files
python bench/load.py --peers        loaders from PyPI as well (installs them in .cache/peers)
python bench/load.py --only hostile one part
python bench/load.py --json FILE    the figures for programs
python bench/load.py --peers --docs docs/performance.md     the tables of that page
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import tempfile
import time

import loading
from measure import FULL, QUICK
from report import Table, over, render, write_docs, write_json
from start import start
from touch import touch
from trees import BUILDERS, Place, files

from hostile import hostile

LOADING = {
    "floor": loading.against_floor,
    "parser": loading.against_parser,
    "size": loading.against_size,
    "reload": loading.reload,
    "tree": loading.against_walk,
}
PARTS = (*LOADING, "touch", "hostile", "start")


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the folder is removed
    effort = QUICK if options.quick else FULL
    wanted = {*(options.only or PARTS)} | ({"peers"} if options.peers else set())
    began = time.monotonic()
    print(f"foretold, Python {platform.python_version()}, {os.cpu_count()} cores. CPU time, minimum of many runs.\n")
    tables: list[Table] = []

    def tell(table: Table) -> None:
        tables.append(table)
        print(render(table, whole=options.all), flush=True)

    with tempfile.TemporaryDirectory(prefix="foretold-bench-") as folder:
        root = os.path.realpath(folder)
        places = _build(root, options.files) if wanted & {*LOADING, "peers"} else {}
        for part, measured in LOADING.items():
            if part in wanted:
                tell(measured(places, effort))
        if "touch" in wanted:
            tell(touch(root, effort))
        if "hostile" in wanted:
            tell(hostile(root, quick=options.quick))
        if "start" in wanted:
            tell(start(root, effort))
        if "peers" in wanted:
            from peers import peers

            tell(peers(places, effort))
    print(f"{time.monotonic() - began:.0f} s")
    if options.json:
        write_json(options.json, tables, {"python": platform.python_version(), "machine": platform.machine()})
    if options.docs:
        write_docs(options.docs, "\n".join(render(table, whole=False) for table in tables))
    return _end(tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, smaller trees")
    parser.add_argument("--files", type=int, metavar="N", help="the largest tree of files (200,000; quick: 10,000)")
    parser.add_argument("--only", action="append", choices=(*PARTS, "peers"), help="one part; may be repeated")
    parser.add_argument("--peers", action="store_true", help="install and measure loaders from PyPI")
    parser.add_argument("--all", action="store_true", help="print every row of long tables")
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    parser.add_argument("--docs", metavar="FILE", help="write the tables into a page of the documentation")
    options = parser.parse_args()
    options.files = options.files or (10_000 if options.quick else 200_000)
    return options


def _build(root: str, largest: int) -> dict[str, Place]:
    """The trees, up to this many files."""
    places = {}
    for name, build in BUILDERS.items():
        count = int(name.removeprefix("files ").replace(",", "")) if name.startswith("files") else 0
        if count <= largest:
            places[name] = build(f"{root}/{name.replace(' ', '-').replace(',', '')}")
    if largest not in (100, 10_000, 200_000):
        places[f"files {largest:,}"] = files(f"{root}/files", largest)
    return places


def _end(tables: list[Table]) -> int:
    exceeded = over(tables)
    print("\n".join([f"{len(exceeded)} over the bar:", *exceeded]) if exceeded else "Every figure is within its bar.")
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
