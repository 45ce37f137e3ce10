"""Fits the gate of the hook (`foretold.memory.recall.relevance`), and says how well it does where it was not fitted.

python bench/gate.py                     fit both gates on bench/coding_memory, and print their lines
python bench/gate.py --data DIR          the folder with memories.jsonl, prompts.jsonl and none.jsonl
python bench/gate.py --table FOLDER      where `foretold memory vectors build` put its table; without it, words alone

1. Stores are folders of files. Each project alone, half of its memories (twice), all projects in one, and all projects
   among paragraphs of the packages that are installed here: the gate shall not depend on the size of a store.
2. The numbers of each match are those of `describe_matches`; a match is good if the label says so.
3. A logistic regression (Newton's method, L2 of 1) weighs them. It is judged by leaving one project out: prompts of a
   project are judged by weights that never saw it. The weights that are printed are fitted on all of them.
4. The threshold is a part of `base`. `--least` is the probability from which a memory is quoted.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import random
import re
import shutil
import sys
import sysconfig
import tempfile
from math import exp, log
from typing import NamedTuple

from foretold.memory.recall.index import WORD_TABLE
from foretold.memory.recall.recall import recall
from foretold.memory.recall.relevance import MatchNumbers, QuoteGate, describe_matches, is_small_talk

ROOT = os.path.dirname(os.path.abspath(__file__))
NOW = 1_790_000_000.0
STALE, FRESH = NOW - 600 * 86400, NOW - 30 * 86400
LIMIT = 5  #: memories that the hook quotes at most


class Case(NamedTuple):
    """A prompt in a store: its matches with their numbers, best first."""

    store: str
    project: str
    kind: str
    text: str
    relevant: frozenset[str]
    matches: list[tuple[str, MatchNumbers | None]]
    is_small: bool


def main() -> int:
    options = _options()
    data = {name: _read_lines(f"{options.data}/{name}.jsonl") for name in ("memories", "prompts", "none")}
    for name, table in (("WITH_WORDS", ""), ("WITH_VECTORS", options.table)):
        if name == "WITH_VECTORS" and not table:
            print("WITH_VECTORS: not fitted; --table names the folder of the table")
            continue
        with tempfile.TemporaryDirectory(prefix="foretold-gate-") as folder:
            cases = collect_cases(os.path.realpath(folder), data, table)
        least = options.least or (0.23 if table else 0.22)
        report(name, cases, least, is_near=bool(table))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=f"{ROOT}/coding_memory", metavar="DIR", help="the prompts and memories")
    parser.add_argument("--table", default="", metavar="FOLDER", help="the folder of the table of word vectors")
    parser.add_argument("--least", type=float, help="the probability from which a memory is quoted")
    return parser.parse_args()


def _read_lines(path: str) -> list[dict]:
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


# Cases


def collect_cases(folder: str, data: dict[str, list[dict]], table: str) -> list[Case]:
    """Every prompt in every store that it can be judged in."""
    cache = f"{folder}/cache"
    os.makedirs(cache)
    if table:
        shutil.copy(f"{table}/{WORD_TABLE}", cache)
    found = []
    for name, project, memories in list_stores(data["memories"]):
        files = write_store(f"{folder}/{name}-{project}", memories)
        there = {memory["id"] for memory in memories}
        for prompt in (*data["prompts"], *data["none"]):
            relevant = frozenset(prompt["relevant"]) & there
            if project in ("", prompt["project"]) and (relevant or not prompt["relevant"]):
                found.append(ask(f"{folder}/{name}-{project}", cache, files, prompt, name, relevant))
    return found


def list_stores(memories: list[dict]) -> list[tuple[str, str, list[dict]]]:
    """The stores: name, project if it has one only, memories."""
    picked = random.Random(5)
    projects = sorted({memory["project"] for memory in memories})
    own = {project: [memory for memory in memories if memory["project"] == project] for project in projects}
    stores = [("each", project, own[project]) for project in projects]
    for number in (0, 1):
        stores += [(f"half {number}", each, picked.sample(own[each], len(own[each]) // 2)) for each in projects]
    prose = installed_prose()
    return [*stores, ("all", "", memories), ("300", "", memories + prose[:150]), ("900", "", memories + prose[:750])]


def installed_prose() -> list[dict]:
    """Paragraphs from the descriptions of installed packages, as memories of another project."""
    found: dict[str, dict] = {}
    for path in sorted(glob.glob(f"{sysconfig.get_path('purelib')}/*.dist-info/METADATA")):
        with open(path, encoding="utf-8", errors="replace") as file:
            paragraphs = re.split(r"\n\s*\n", file.read())
        for paragraph in paragraphs:
            text = " ".join(paragraph.split())
            cut = re.match(r"(.{20,120}?)[.:;,]\s+(.{40,480})$", text)
            if cut and sum(char.isalpha() or char == " " for char in text) > 0.85 * len(text):
                values = {"name": f"note-{len(found)}", "description": cut[1], "body": cut[2]}
                key = f"prose/{len(found)}"
                found[text[:60]] = {"id": key, "project": "prose", "type": "reference", "stale": False, **values}
    return list(found.values())


def write_store(folder: str, memories: list[dict]) -> dict[str, str]:
    """Write memories as files; which file is which."""
    os.makedirs(folder)
    files = {}
    for memory in memories:
        name = f"{memory['type']}_{memory['project']}_{memory['name']}.md"
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            head = f"name: {memory['name']}\ndescription: {json.dumps(memory['description'], ensure_ascii=False)}"
            file.write(f"---\n{head}\ntype: {memory['type']}\n---\n{memory['body']}\n")
        changed = STALE if memory["stale"] else FRESH
        os.utime(f"{folder}/{name}", (changed, changed))
        files[name] = memory["id"]
    return files


def ask(folder: str, cache: str, files: dict[str, str], prompt: dict, store: str, relevant: frozenset[str]) -> Case:
    """One prompt to one store."""
    seen: list[tuple[str, MatchNumbers | None]] = []
    small = []

    def look(query, indexes, ranked):
        numbers = describe_matches(query, indexes, ranked)
        seen.extend((files[mark.candidate.file], each) for mark, each in zip(ranked, numbers, strict=False))
        small.append(is_small_talk(query))
        return []

    recall(folder, prompt["text"], cache=cache, now=NOW, worth=look)
    return Case(store, prompt["project"], prompt["kind"], prompt["text"], relevant, seen, small[0])


# Fitting


def fit(rows: list[MatchNumbers], good: list[bool], used: list[int]) -> QuoteGate:
    """The weights that tell good matches from others best."""
    means = [sum(row[at] for row in rows) / len(rows) for at in used]
    spreads = [
        (sum((row[at] - mean) ** 2 for row in rows) / len(rows)) ** 0.5 or 1.0
        for at, mean in zip(used, means, strict=True)
    ]
    scaled = [
        [*((row[at] - mean) / spread for at, mean, spread in zip(used, means, spreads, strict=True)), 1.0]
        for row in rows
    ]
    weights = _newton(scaled, good)
    plain = [0.0] * len(MatchNumbers._fields)
    for at, weight, spread in zip(used, weights, spreads, strict=False):
        plain[at] = weight / spread
    base = weights[-1] - sum(plain[at] * mean for at, mean in zip(used, means, strict=True))
    return QuoteGate(*plain, base)


def _newton(rows: list[list[float]], good: list[bool], steps: int = 12) -> list[float]:
    size = len(rows[0])
    weights = [0.0] * size
    for _ in range(steps):
        slope = [weight if at < size - 1 else 0.0 for at, weight in enumerate(weights)]
        curve = [[1.0 if at == to and at < size - 1 else 0.0 for to in range(size)] for at in range(size)]
        for row, is_good in zip(rows, good, strict=True):
            chance = 1 / (1 + exp(-sum(map(float.__mul__, weights, row))))
            wrong, steep = chance - is_good, chance * (1 - chance) + 1e-6
            for at, value in enumerate(row):
                slope[at] += wrong * value
                line, part = curve[at], steep * value
                for to in range(at + 1):
                    line[to] += part * row[to]
        for at in range(size):
            for to in range(at):
                curve[to][at] = curve[at][to]
        weights = [weight - step for weight, step in zip(weights, _solve(curve, slope), strict=True)]
    return weights


def _solve(matrix: list[list[float]], values: list[float]) -> list[float]:
    """Gauss-Jordan, of a symmetric positive matrix."""
    size = len(values)
    rows = [[*line, value] for line, value in zip(matrix, values, strict=True)]
    for at in range(size):
        rows[at] = [value / rows[at][at] for value in rows[at]]
        for other in range(size):
            if other != at and rows[other][at]:
                factor = rows[other][at]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[at], strict=True)]
    return [row[-1] for row in rows]


# Report


def report(name: str, cases: list[Case], least: float, *, is_near: bool) -> None:
    used = [at for at, field in enumerate(MatchNumbers._fields) if is_near or not field.startswith("near")]
    print(f"\n{name}: quoted from a probability of {least:.2f}\n")
    print("left out    store    said  precision  about nothing, and something said")
    projects = sorted({case.project for case in cases})
    gates = {project: _fit_cases([case for case in cases if case.project != project], used) for project in projects}
    final = _fit_cases(cases, used)
    for label, chosen in (("each", gates), ("none", dict.fromkeys(projects, final))):
        for store in ("each", "all", "300", "900"):
            figures = measure([case for case in cases if case.store == store], chosen, least)
            print(f"{label:<11} {store:<7} {figures[0]:.3f}      {figures[1]:.3f}  {figures[2]:.3f}")
    if os.environ.get("GATE_VERBOSE"):
        _print_misses([case for case in cases if case.store == "each"], gates, least)
    final = final._replace(base=final.base - log(least / (1 - least)))
    print(f"\n{name} = QuoteGate({', '.join(f'{value:.2f}' for value in final)})", flush=True)


def _fit_cases(cases: list[Case], used: list[int]) -> QuoteGate:
    pairs = [(numbers, file in case.relevant) for case in cases for file, numbers in case.matches[:6] if numbers]
    return fit([numbers for numbers, _ in pairs], [good for _, good in pairs], used)


def say(case: Case, gate: QuoteGate, least: float) -> list[str]:
    """What is quoted."""
    bar = log(least / (1 - least))
    if case.is_small:
        return []
    said = []
    for file, numbers in case.matches:
        if numbers and sum(map(float.__mul__, gate[:-1], map(float, numbers))) + gate.base > bar:
            said.append(file)
    return said[:LIMIT]


def measure(cases: list[Case], gates: dict[str, QuoteGate], least: float) -> tuple[float, float, float]:
    """Prompts with something relevant said; the relevant part of what is said; prompts about nothing that get any."""
    said = [(case, say(case, gates[case.project], least)) for case in cases]
    about = [bool(case.relevant & {*files}) for case, files in said if case.relevant]
    empty = [bool(files) for case, files in said if not case.relevant]
    good = sum(len(case.relevant & {*files}) for case, files in said)
    total = sum(len(files) for _, files in said)
    return sum(about) / len(about), good / max(1, total), sum(empty) / len(empty)


def _print_misses(cases: list[Case], gates: dict[str, QuoteGate], least: float) -> None:
    kinds: dict[str, list[bool]] = {}
    for case in cases:
        files = say(case, gates[case.project], least)
        if case.relevant:
            kinds.setdefault(case.kind, []).append(bool(case.relevant & {*files}))
        elif files:
            print("said, about nothing:", case.text, files)
    print("  ".join(f"{kind} {sum(hit) / len(hit):.2f}" for kind, hit in kinds.items()))


if __name__ == "__main__":
    sys.exit(main())
