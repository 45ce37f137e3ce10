"""The benchmark of recall: quality over LoCoMo, cost over stores of files. Exit status 1 if a bar is missed.

python bench/recall.py                the whole run; with wordllama and tantivy installed, their rows as well
python bench/recall.py --data DIR     where locomo10.json.gz and locomo_audit_errors.json.gz lie
python bench/recall.py --only cost    one part: session, turn, cost
python bench/recall.py --quick        a store of 20,000 files instead of 100,000, no slow rows
python bench/recall.py --json FILE    the figures for programs
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sys
import tempfile
import time

import locomo
import rankers
from report import Row, Table, over, render, write_json
from stores import cost

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(os.path.dirname(ROOT), "shared", "data", "locomo")
#: recall@5: over sessions of all five categories, over turns of categories 1-4; without a model, with the static table
BARS = {("session", "ours"): 0.884, ("turn", "ours"): 0.518, ("session", "vectors"): 0.892, ("turn", "vectors"): 0.531}
PARTS = ("session", "turn", "cost")


def main() -> int:
    options = _options()
    began = time.monotonic()
    print(f"foretold, Python {platform.python_version()}, {os.cpu_count()} cores.\n")
    tables: list[Table] = []
    for part in options.only or PARTS:
        if part == "cost":
            with tempfile.TemporaryDirectory(prefix="foretold-bench-") as folder:
                tables.append(cost(os.path.realpath(folder), quick=options.quick))
        elif os.path.exists(f"{options.data}/locomo10.json.gz"):
            tables.append(quality(options.data, part, quick=options.quick))
        else:
            print(f"{part}: no LoCoMo data in {options.data} (--data names another folder)\n")
            continue
        print(render(tables[-1]), flush=True)
    print(f"{time.monotonic() - began:.0f} s")
    if options.json:
        write_json(options.json, tables, {"python": platform.python_version(), "machine": platform.machine()})
    missed = over(tables)
    print("\n".join([f"{len(missed)} bars missed:", *missed]) if missed else "Every figure is within its bar.")
    return 1 if missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=DATA, metavar="DIR", help="the folder with the LoCoMo files")
    parser.add_argument("--only", action="append", choices=PARTS, help="one part; may be repeated")
    parser.add_argument("--quick", action="store_true", help="smaller stores, no slow rows")
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    return parser.parse_args()


def quality(folder: str, grain: str, *, quick: bool) -> Table:
    corpus = locomo.load(folder, grain)
    rows = []
    for name, ranker in _rankers(corpus, quick=quick).items():
        ranked = [ranker(question.text) for question in corpus.questions]
        rows.append(_row(name, corpus, ranked))
    return Table(
        f"LoCoMo, one memory a {grain}: {len(corpus.memories):,} memories, {len(corpus.questions):,} questions",
        "Categories 1-4; then recall@5 and MRR over all five; then recall@5 (1-4) over conversations 0-4, on which "
        "constants were chosen, and 5-9, which were in sight meanwhile, so no blind test. Bars: recall@5, sessions "
        "over all five categories, turns over 1-4.",
        ("retriever", "R@1", "R@5", "R@10", "nDCG", "MRR", "all R@5", "all MRR", "0-4", "5-9", "bar"),
        rows,
    )


def _rankers(corpus: locomo.Corpus, *, quick: bool) -> dict[str, locomo.Ranker]:
    fts5 = rankers.fts5(corpus)
    found = {} if quick else {"keyword grep": rankers.grep(corpus)}
    found["FTS5 porter"] = fts5
    if importlib.util.find_spec("tantivy"):
        found["tantivy en_stem"] = rankers.tantivy(corpus)
    found["ours"] = rankers.ours(corpus)
    if importlib.util.find_spec("wordllama"):
        from foretold.memory.recall.vectors import WordLlama

        table, postings = WordLlama(), rankers.index_memories(corpus.memories)
        if not quick:
            found["FTS5 + vectors by rank (RRF)"] = rankers.rrf(fts5, table, postings)
        found["ours, vectors"] = rankers.ours(corpus, table, postings)
    return found


def _row(name: str, corpus: locomo.Corpus, ranked: list[list[str]]) -> Row:
    asked = corpus.questions
    four = locomo.measure(asked, ranked, lambda question: question.category < 5)
    five = locomo.measure(asked, ranked, lambda _: True)
    early = locomo.measure(asked, ranked, lambda question: question.category < 5 and question.conversation < 5)
    late = locomo.measure(asked, ranked, lambda question: question.category < 5 and question.conversation >= 5)
    bar = BARS.get((corpus.grain, name.removeprefix("ours, ")))
    judged = five.r5 if corpus.grain == "session" else four.r5
    figures = {**four._asdict(), "all_r5": five.r5, "all_mrr": five.mrr, "r5_0_4": early.r5, "r5_5_9": late.r5}
    return Row(
        name,
        (*(f"{value:.3f}" for value in figures.values()), f"{bar:.3f}" if bar else ""),
        {**figures},
        ("recall@5",) if bar and judged < bar else (),
        "" if bar else "no bar",
    )


if __name__ == "__main__":
    sys.exit(main())
