"""What instructions claim: how long the family truth takes. Exit status 1 over a bar.

python bench/claims.py                 documents of 1 MB with 20,000 claims, against one pass of the Markdown parser
python bench/claims.py --tree FOLDER   a repository as well: CPU seconds of the family, with those of git
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable

import pyromark
from measure import Effort, fastest
from report import Row, Table, millis, over, render, times

from foretold.check.project import CheckOptions, Project
from foretold.check.settings import CheckSettings
from foretold.check.truth import documents, find_problems
from foretold.check.truth.documents import TruthDocument, find_claims
from foretold.memory.drift import sentences

BAR, WHOLE_BAR = 5.0, 8.0  #: times one pass of the Markdown parser: to find the claims, and to judge them as well
COUNT = 20_000
EFFORT = Effort(1.0, 3, 12)
SHAPES: dict[str, Callable[[int], str]] = {
    "paths in a list": lambda n: f"- see `src/mod{n % 90}/file{n}.py` for the rest\n",
    "links in a list": lambda n: f"- see [it](src/mod{n % 90}/file{n}.py) for the rest\n",
    "paths in paragraphs": lambda n: f"Look at `src/mod{n % 90}/file{n}.py`, **then** go on.\n\n",
    "names in a list": lambda n: f"- call `doThing{n}` with **care** and [look](#a)\n",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", metavar="FOLDER", action="append", default=[], help="a repository to check")
    options = parser.parse_args()
    print(f"foretold, Python {platform.python_version()}, {os.cpu_count()} cores. CPU time, minimum of many runs.\n")
    with tempfile.TemporaryDirectory(prefix="foretold-bench-") as folder:
        tables = [against_parser(os.path.realpath(folder))]
    tables += [on_trees(options.tree)] if options.tree else []
    for table in tables:
        print(render(table))
    exceeded = over(tables)
    print("\n".join([f"{len(exceeded)} over the bar:", *exceeded]) if exceeded else "Every figure is within its bar.")
    return 1 if exceeded else 0


def against_parser(root: str) -> Table:
    for number in range(COUNT):
        folder = f"{root}/src/mod{number % 90}"
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/file{number}.py", "w", encoding="utf-8"):
            pass
    subprocess.run(["git", "init", "-q", root], check=True)
    rows = [_row(root, name, shape) for name, shape in SHAPES.items()]
    return Table(
        "Claims of a document against one pass of the Markdown parser",
        f"{COUNT:,} claims in about 1 MB, in a tree that has what they name. Read: the claims; bar {BAR:.0f}x. "
        f"Judged: the whole family, with the index of all files; bar {WHOLE_BAR:.0f}x.",
        ("claims", "parser ms", "read", "judged"),
        rows,
    )


def _row(root: str, name: str, shape: Callable[[int], str]) -> Row:
    text = "".join(map(shape, range(COUNT)))
    with open(f"{root}/CLAUDE.md", "w", encoding="utf-8") as file:
        file.write(text)
    document = TruthDocument(f"{root}/CLAUDE.md", ("",), text, 1, "main")

    def parse() -> object:
        return list(pyromark.events_with_range(text))

    prepared: list[Project] = []

    def prepare() -> None:
        forget()
        project = Project(root, CheckOptions(agents=("claude-code",), home=""))
        _ = project.instruction_files, project.files
        prepared.append(project)

    def judge() -> object:
        return list(find_problems(prepared.pop(), CheckSettings()))

    best = fastest(EFFORT, parse, lambda: find_claims(document), before=forget)
    prepare()
    judged = fastest(EFFORT, judge, before=prepare)[0]
    read, whole = best[1] / best[0], judged / best[0]
    exceeded = (["read"] if read > BAR else []) + (["judged"] if whole > WHOLE_BAR else [])
    figures = {"parser_ms": best[0] * 1000, "read": read, "judged": whole}
    return Row(name, (millis(best[0]), times(read), times(whole)), figures, tuple(exceeded))


def forget() -> None:
    """Forget what is kept of texts that were read before."""
    for kept in (documents, sentences):
        for value in vars(kept).values():
            getattr(value, "cache_clear", lambda: None)()


def on_trees(folders: list[str]) -> Table:
    rows = []
    for folder in folders:
        project = Project(folder, CheckOptions(home=""))
        _ = project.instruction_files, project.files
        before = _spent()
        found = len(list(find_problems(project, CheckSettings())))
        own, git = (after - first for after, first in zip(_spent(), before, strict=True))
        cells = (f"{len(project.files):,}", f"{own:.2f}", f"{git:.2f}", str(found))
        rows.append(Row(os.path.basename(folder), cells, {"own": own, "git": git}, (), "no bar"))
    about = "CPU seconds of the family after the files are listed: ours, and those of git. agnix alone: 0.4 to 0.9."
    return Table("The family truth on whole repositories", about, ("tree", "files", "ours", "git", "findings"), rows)


def _spent() -> tuple[float, float]:
    """CPU seconds of this process, and of those that it has started."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime, others.ru_utime + others.ru_stime


if __name__ == "__main__":
    sys.exit(main())
