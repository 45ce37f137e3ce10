"""Writes `docs/releases.md` and the list of played releases from the tables in `tests/conformance/releases`."""

from __future__ import annotations

import os
import textwrap
from collections import defaultdict
from typing import Any

from atlas_table import ROOT, read_table

from foretold.dialects.registry import history_of
from foretold.dialects.releases.history import DatedChange, version_key
from foretold.proof.conform.cases import read_cases

PAGE = os.path.join(ROOT, "docs", "releases.md")
PLAYED_MODULE = os.path.join(ROOT, "src", "foretold", "dialects", "releases", "played.py")
NAMES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "copilot-cli": "Copilot CLI",
    "gemini-cli": "Gemini CLI",
    "opencode": "opencode",
}
INTRO = """\
# Releases

An agent is not one behaviour but a history. foretold knows what each release of an agent does as the sum of a base and
of dated changes ([how to add one](../CONTRIBUTING.md)); `foretold releases` prints them, and `foretold upgrade` says
what an update changes in a folder ([the command](command.md)).

This page is written by `make atlas`, which installs releases outside of the repository, plays the recorded cases to
them against a model server on the loopback interface, and compares what they sent with what foretold says they send.
*equal* counts cases whose instruction texts are the same byte for byte, in the same requests and roles; *cannot be
played* are those that the release cannot play at all: it refuses an option, hangs, or the case needs a place that only
the recording had. Whatever is not equal is named below the table.

How well a release is known: *recorded* if the cases were played to it; *between* if it lies between two that were, and
nothing changed there that is not dated; *assumed* if it is outside of the range, or between the two sides of a change.
"""


def write_page(agents: list[str]) -> None:
    """Write the page about all agents that have a table."""
    parts = [INTRO]
    for agent in agents:
        lines = read_table(agent)
        whole = [line for line in lines if "only" not in line]
        if whole:
            parts += [f"## {NAMES[agent]}\n", _figures(whole), _named(whole), _changes(history_of(agent).changes)]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join(parts).rstrip("\n") + "\n")


def _figures(lines: list[dict[str, Any]]) -> str:
    rows = ["| release | played | cases | cannot be played | equal | |", "|---|---|--:|--:|--:|--:|"]
    equal = told = 0
    for line in reversed(lines):
        unplayed = sum(map(len, line["unplayed"].values()))
        playable = line["equal"] + len(line["differ"])
        equal, told = equal + line["equal"], told + playable
        share = f"{100 * line['equal'] / playable:.1f} %" if playable else ""
        cells = (line["version"], line["played"], line["cases"], unplayed, f"{line['equal']} of {playable}", share)
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    releases = f"{len(lines)} releases" if len(lines) > 1 else "one release"
    total = f"{equal:,} of {told:,} answers of {releases} are equal: {100 * equal / told:.2f} %."
    return f"{total}\n\n" + "\n".join(rows) + "\n"


def _named(lines: list[dict[str, Any]]) -> str:
    differ, unplayed = defaultdict(list), defaultdict(list)
    for line in reversed(lines):
        for case in line["differ"]:
            differ[case].append(line["version"])
        for reason, cases in line["unplayed"].items():
            for case in cases:
                unplayed[reason.strip().splitlines()[-1][:100] if reason.strip() else "no reason"].append(
                    (case, line["version"])
                )
    text = "Not equal:\n\n" + "\n".join(f"* `{case}`: {_some(found)}" for case, found in sorted(differ.items())) + "\n"
    text = text if differ else "No case differs.\n"
    if not unplayed:
        return f"{text}\nEvery case can be played.\n"
    text += "\nCannot be played:\n\n"
    for reason, found in sorted(unplayed.items()):
        cases = sorted({case for case, _ in found})
        versions = sorted({version for _, version in found}, key=version_key, reverse=True)
        everywhere = "every release" if len(versions) == len(lines) else _some(versions)
        said = f"* {reason}: {', '.join(f'`{case}`' for case in cases)} ({everywhere})"
        text += textwrap.fill(said, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"
    return text


def _some(versions: list[str]) -> str:
    return ", ".join(versions) if len(versions) <= 6 else f"{versions[0]} to {versions[-1]} ({len(versions)} releases)"


def _changes(changes: tuple[DatedChange, ...]) -> str:
    rows = ["What changed:\n", "| release | what changed | seen not to in | cases |", "|---|---|---|---|"]
    for change in reversed(changes):
        cases = ", ".join(f"`{case}`" for case in change.cases)
        rows.append(f"| {change.version} | {change.says} | {change.after} | {cases} |")
    return "\n".join(rows) + "\n"


def list_played(agent: str) -> list[str]:
    """The releases that were played as a whole, and those from which the cases are."""
    path = os.path.join(ROOT, "tests", "conformance")
    files = [name for name in os.listdir(path) if name.startswith((f"{agent}@", f"{agent}.jsonl"))]
    recorded = {str(case["version"]) for name in files for case in read_cases(os.path.join(path, name))}
    return sorted(recorded | {line["version"] for line in read_table(agent) if "only" not in line}, key=version_key)


def write_played() -> None:
    """Write which releases were played as a whole, or recorded, into the package."""
    with open(PLAYED_MODULE, encoding="utf-8") as file:
        head = file.read().partition("PLAYED: ")[0]
    text = f"{head}PLAYED: dict[str, tuple[str, ...]] = {{\n"
    text += "    agent: tuple(versions.split())\n    for agent, versions in {\n"
    for agent in sorted(NAMES):
        filled = textwrap.wrap(" ".join(list_played(agent)), 100)
        quoted = [f'"{line} "' for line in filled[:-1]] + [f'"{filled[-1]}"']
        several = "(\n" + "".join(f"            {line}\n" for line in quoted) + "        )"
        text += f'        "{agent}": {several if len(quoted) > 1 else quoted[0]},\n'
    text += "    }.items()\n}\n"
    with open(PLAYED_MODULE, "w", encoding="utf-8") as file:
        file.write(text)
