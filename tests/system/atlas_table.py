"""What was played, in short: `tests/conformance/releases/AGENT.jsonl`, a line per release, oldest first.

1. A line says on which day the cases were played, how many there are, which were equal to what we say, by name which
   were not, and which a release cannot play, with the reason.
2. `answers` has a digest of our answer per case that was equal. A case that is not in it has the digest of the line
   before: so a line shows what changed in the release, and the file stays small.
3. A line with `only` was made to date a change: just the cases in `answers` and `differ` were played.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from atlas_compare import judge, why_unplayed

from foretold.dialects.releases.history import version_key
from foretold.proof.conform.cases import Case

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "tests", "conformance", "releases")

Line = dict[str, Any]


def table_path(agent: str) -> str:
    return os.path.join(FOLDER, f"{agent}.jsonl")


def read_table(agent: str) -> list[Line]:
    """The lines of an agent, with all answers in each."""
    try:
        with open(table_path(agent), encoding="utf-8") as file:
            lines: list[Line] = [json.loads(line) for line in file]
    except FileNotFoundError:
        return []
    known: dict[str, str] = {}
    for line in lines:
        known |= line["answers"]
        left_out = {*line["differ"], *(case for cases in line["unplayed"].values() for case in cases)}
        if "only" not in line:
            line["answers"] = {case: known[case] for case in sorted(known.keys() - left_out)}
    return lines


def write_table(agent: str, lines: Iterable[Line]) -> None:
    """Write lines that have all answers."""
    known: dict[str, str] = {}
    os.makedirs(FOLDER, exist_ok=True)
    path = table_path(agent)
    with open(path + ".new", "w", encoding="utf-8") as file:
        for line in sorted(lines, key=lambda line: version_key(line["version"])):
            partial = "only" in line
            new = {case: made for case, made in line["answers"].items() if partial or known.get(case) != made}
            known |= line["answers"]
            file.write(json.dumps({**line, "answers": dict(sorted(new.items()))}, ensure_ascii=False) + "\n")
    os.replace(path + ".new", path)


def merge_lines(old: Line, new: Line) -> Line:
    """A line with what some cases showed now, and what the others did before."""
    unplayed = {reason: set(cases) - new["answers"].keys() for reason, cases in old["unplayed"].items()}
    for reason, cases in new["unplayed"].items():
        unplayed[reason] = unplayed.get(reason, set()) | set(cases)
    answers = {case: made for case, made in (old["answers"] | new["answers"]).items() if case not in new["differ"]}
    differ = {case: said for case, said in old["differ"].items() if case not in new["answers"]} | new["differ"]
    found = {**old, "played": max(old["played"], new["played"]), "equal": len(answers), "differ": differ}
    return {
        **found,
        "unplayed": {reason: sorted(cases) for reason, cases in unplayed.items() if cases},
        "answers": answers,
    }


def make_line(agent: str, version: str, cases: list[Case], rows: dict[str, Any]) -> Line:
    """The line of a release, from what it sent."""
    differ: dict[str, str] = {}
    unplayed: dict[str, list[str]] = defaultdict(list)
    answers: dict[str, str] = {}
    for case in cases:
        name, row = str(case["id"]), rows.get(str(case["id"]))
        if row is None:
            continue
        if why := why_unplayed(row):
            unplayed[why].append(name)
            continue
        differences, made = judge(case, row, version)
        if differences:
            differ[name] = differences[0][:120]
        else:
            answers[name] = made
    played = sorted({str(row["played"]) for row in rows.values() if "played" in row})
    found: Line = {"agent": agent, "version": version, "played": played[-1] if played else "", "cases": len(cases)}
    found |= {"equal": len(answers), "differ": differ, "unplayed": dict(sorted(unplayed.items())), "answers": answers}
    done = len(answers) + len(differ) + sum(map(len, unplayed.values()))
    return found if done == len(cases) else {**found, "only": True}
