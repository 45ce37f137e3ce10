"""Plays the recorded cases to released programs, release after release, and writes what was seen.

`make atlas` plays every release of `RELEASES` that the tables in `tests/conformance/releases` do not have yet, and the
cases of every dated change to the two releases that it names. Then it writes the tables, `docs/releases.md` and the
list of played releases. It can be stopped at any time: what was played is kept in `$XDG_CACHE_HOME/foretold/atlas`,
case by case. A release is installed in a temporary folder and removed once it was played, so that at most one is on
the disk. Programs run in a network that has nothing but a loopback interface.

    atlas.py --verify claude-code@2.1.330      is it equal to the newest known release? if not, since when, and how
    atlas.py --date claude-code@2.1.278..2.1.285 ag-mode-cckey      in which release a case changed
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from typing import Any

from foretold.dialects.registry import history_of
from foretold.dialects.releases.history import version_key
from foretold.proof.conform.cases import Case, read_cases
from foretold.proof.probe.run import namespace
from foretold.proof.probe.sandbox import bring_up_loopback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from atlas_bisect import find_boundary, is_repeated, releases_between
from atlas_page import NAMES, write_page, write_played
from atlas_player import Program, play_case
from atlas_table import make_line, merge_lines, read_table, write_table

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "foretold")
AGENTS_DIR = os.path.join(tempfile.gettempdir(), "foretold-atlas-agents")  #: a user without rights must reach it, too
ROWS_DIR = os.path.join(CACHE, "atlas")
MACHINE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
SYSTEM = f"{sys.platform}-{MACHINE}"
MUSL = {"x64": "x86_64-unknown-linux-musl", "arm64": "aarch64-unknown-linux-musl"}.get(MACHINE, "")
#: those that `make atlas` plays: both sides of what changed, and some in between
RELEASES = {
    "claude-code": "1.0.0 1.0.98 2.0.0 2.0.64 2.1.0 2.1.42 2.1.63 2.1.64 2.1.72 2.1.79 2.1.92 2.1.104 2.1.113 2.1.128 "
    "2.1.139 2.1.154 2.1.165 2.1.178 2.1.187 2.1.197 2.1.198 2.1.207 2.1.208 2.1.211 2.1.218 2.1.219 2.1.227 2.1.231 "
    "2.1.232 2.1.239 2.1.245 2.1.250 2.1.259 2.1.267 2.1.268 2.1.274 2.1.278 2.1.281 2.1.284 2.1.285 2.1.287 2.1.288 "
    "2.1.290 2.1.292 2.1.293 2.1.299 2.1.300 2.1.306 2.1.307 2.1.312 2.1.317 2.1.318 2.1.322 2.1.325",
    "codex": "0.115.0 0.120.0 0.132.0 0.149.0 0.166.0",
    "copilot-cli": "1.0.81 1.0.87 1.0.92 1.0.102",
    "gemini-cli": "0.40.1 0.45.2 0.51.0 0.61.0",
    "opencode": "1.1.11 1.3.0 1.17.0 1.18.33",
}
#: agent, the last release that does not know it, and an option of its recipe with the number of words that follow
REFUSED = (
    ("claude-code", (1, 0, 68), "--settings 1"),
    ("copilot-cli", (1, 0, 92), "--disable-client-telemetry"),
)
RECORD = 64  #: bytes of a name in the pipe from which workers take cases
NODE = f"node-{SYSTEM}@24"  # from 22 on it keeps what it compiled, which saves a third of a run


def packages_of(agent: str, version: str) -> tuple[tuple[str, ...], str, bool]:
    """What to install, the program in it, and whether node runs it."""
    key = version_key(version)
    if agent == "claude-code":
        if key >= (2, 1, 113):
            return (
                (f"@anthropic-ai/claude-code-{SYSTEM}@{version}",),
                f"@anthropic-ai/claude-code-{SYSTEM}/claude",
                False,
            )
        return (f"@anthropic-ai/claude-code@{version}",), "@anthropic-ai/claude-code/cli.js", True
    if agent == "codex":
        if key < (0, 100, 0):
            return (f"@openai/codex@{version}",), f"@openai/codex/vendor/{MUSL}/codex/codex", False
        folder = f"@openai/codex-{SYSTEM}/vendor/{MUSL}/{'bin' if key >= (0, 133, 0) else 'codex'}"
        return (f"@openai/codex-{SYSTEM}@npm:@openai/codex@{version}-{SYSTEM}",), f"{folder}/codex", False
    if agent == "opencode":
        needs = (f"@vscode/ripgrep-{SYSTEM}@1.18.0",) if key < (1, 1, 0) else ()  # it would load ripgrep itself
        return (f"opencode-{SYSTEM}@{version}", *needs), f"opencode-{SYSTEM}/bin/opencode", False
    if agent == "gemini-cli":
        name = "bundle/gemini.js" if key >= (0, 36) else "dist/index.js"
        return (f"@google/gemini-cli@{version}",), f"@google/gemini-cli/{name}", True
    if agent == "copilot-cli":
        return (f"@github/copilot-{SYSTEM}@{version}",), f"@github/copilot-{SYSTEM}/copilot", False
    raise SystemExit(f"atlas: no packages are known for {agent}")


def npm(folder: str, *packages: str) -> None:
    os.makedirs(folder, exist_ok=True)
    command = ["npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    subprocess.run([*command, *packages], check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def install(agent: str, version: str) -> Program:
    """A release, installed if it is not yet."""
    packages, name, needs_node = packages_of(agent, version)
    folder = os.path.join(AGENTS_DIR, f"{agent}@{version}")
    path = os.path.join(folder, "node_modules", name)
    if not os.path.exists(path):
        npm(folder, *packages)
    if not os.path.exists(path):
        raise SystemExit(f"atlas: {agent} {version} has no program at {name}")
    if not needs_node:
        os.chmod(path, 0o755)
        words, env = (path,), _path_with(os.path.join(folder, "node_modules", f"@vscode/ripgrep-{SYSTEM}", "bin"))
    else:
        node_folder = os.path.join(AGENTS_DIR, "node")
        node = os.path.join(node_folder, "node_modules", f"node-{SYSTEM}", "bin", "node")
        if not os.path.exists(node):
            npm(node_folder, NODE)
        os.chmod(node, 0o755)
        compiled = os.path.join(folder, "compiled")
        os.makedirs(compiled, exist_ok=True)
        os.chmod(compiled, 0o777)
        words, env = (node, path), {"NODE_COMPILE_CACHE": compiled}
    key = version_key(version)
    refuses = [option for name, last, option in REFUSED if name == agent and key <= last]
    return Program(agent, version, tuple(words), env, tuple(refuses))


def _path_with(folder: str) -> dict[str, str]:
    return {"PATH": f"{folder}:{os.environ.get('PATH', os.defpath)}"} if os.path.isdir(folder) else {}


def cases_of(agent: str, version: str) -> list[Case]:
    """The cases that are played to a release: those of the newest recorded one."""
    folder = os.path.join(ROOT, "tests", "conformance")
    if agent != "claude-code":
        return [case for case in read_cases(f"{folder}/{agent}.jsonl") if case["agent"] == agent]
    cases = read_cases(f"{folder}/claude-code@2.1.325.jsonl")
    if version_key(version) <= (2, 1, 207):  # where Edit without a Read before fails
        older = {case["id"]: case for case in read_cases(f"{folder}/claude-code@2.1.197.jsonl")}
        cases = [older.get(case["id"], case) for case in cases]
    return cases


def rows_path(agent: str, version: str) -> str:
    return os.path.join(ROWS_DIR, f"{agent}@{version}.jsonl")


def read_rows(agent: str, version: str) -> dict[str, dict[str, Any]]:
    """What was played to a release so far: the last row of each case."""
    try:
        with open(rows_path(agent, version), encoding="utf-8") as file:
            rows = [json.loads(line) for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return {}
    return {row["id"]: row for row in rows}


def work(agent: str, version: str) -> None:
    """Play the cases whose names are read from standard input, which all workers share."""
    bring_up_loopback()
    program = install(agent, version)
    cases = {case["id"]: case for case in cases_of(agent, version)}
    while name := os.read(0, RECORD):
        case = cases[name.decode().strip()]
        try:
            row = play_case(case, program)
        except Exception as error:
            row = {"id": case["id"], "failed": f"{type(error).__name__}: {error}"}
        with open(rows_path(agent, version), "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def list_open(agent: str, version: str, wanted: set[str]) -> list[str]:
    """The cases that are asked for, or that were not played yet: first those that may hang, so that no worker waits."""
    known = {name for name, row in read_rows(agent, version).items() if "failed" not in row}
    names = [str(case["id"]) for case in cases_of(agent, version)]
    found = [name for name in names if (name in wanted if wanted else name not in known)]
    return sorted(found, key=lambda name: "fifo" not in name)


def play_release(agent: str, version: str, *, jobs: int = 2, cases: str = "", keep: bool = False) -> None:
    """Play all cases that were not played yet, or these; remove the release afterwards, unless it is to be kept."""
    began = time.time()
    install(agent, version)
    os.makedirs(ROWS_DIR, exist_ok=True)
    prefix = namespace()
    if not prefix:
        raise SystemExit("atlas: this system allows no network of its own (unshare)")
    command = [*prefix, sys.executable, os.path.abspath(__file__), "--worker", agent, version]
    names = list_open(agent, version, set(cases.split(",")) - {""})
    reader, writer = os.pipe()
    os.write(writer, "".join(name.ljust(RECORD) for name in names).encode())  # less than a pipe holds
    workers = [subprocess.Popen(command, stdin=reader) for _ in range(jobs)]
    os.close(writer)
    os.close(reader)
    for worker in workers:
        worker.wait()
    rows = read_rows(agent, version).values()
    cpu = sum(row.get("cpu", 0) for row in rows)
    print(f"{agent}@{version}: {len(rows)} cases, {cpu:.0f} CPU s, {time.time() - began:.0f} s", flush=True)
    if not keep:
        shutil.rmtree(os.path.join(AGENTS_DIR, f"{agent}@{version}"), ignore_errors=True)


def play_boundaries(agent: str, *, jobs: int) -> None:
    """Play the cases of every change to both releases that it names, where that was not done yet."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for change in history_of(agent).changes:
        wanted[change.after] |= set(change.cases)
        wanted[change.version] |= set(change.cases)
    lines = {line["version"]: line for line in read_table(agent)}
    for version in sorted(wanted, key=version_key):
        line = lines.get(version, {"answers": {}, "differ": {}, "unplayed": {}})
        seen = {*line["answers"], *line["differ"], *(case for cases in line["unplayed"].values() for case in cases)}
        if missing := wanted[version] - seen - read_rows(agent, version).keys():
            play_release(agent, version, jobs=jobs, cases=",".join(sorted(missing)))


def write_all(*, again: bool = False) -> None:
    """Bring the tables, the page and the list of played releases up to date with what was played here.

    What is in a table is judged again only if the tables of the agents have changed since, that is, if asked for.
    """
    found: dict[str, list[str]] = {agent: [] for agent in NAMES}
    for name in sorted(os.listdir(ROWS_DIR)) if os.path.isdir(ROWS_DIR) else []:
        agent, _, version = name.removesuffix(".jsonl").partition("@")
        found.get(agent, []).append(version)
    for agent, versions in found.items():
        lines = {line["version"]: line for line in read_table(agent)}
        for version in versions:
            if version in lines and "only" not in lines[version] and not again:
                continue
            line = make_line(agent, version, cases_of(agent, version), read_rows(agent, version))
            if "only" in line and version in lines:
                line = merge_lines(lines[version], line)
            lines[version] = line
        if lines:
            write_table(agent, lines.values())
    write_played()
    write_page(list(NAMES))


def report_release(agent: str, version: str) -> int:
    """Say whether a release is equal to the newest known one; if not, date each difference and draft the change."""
    known = history_of(agent).ends[1]
    cases = {str(case["id"]): case for case in cases_of(agent, version)}
    line = make_line(agent, version, list(cases.values()), read_rows(agent, version))
    playable = line["equal"] + len(line["differ"])
    for reason, names in line["unplayed"].items():
        print(f"cannot be played: {', '.join(names)}: {reason}")
    print(f"{agent}@{version} is equal to {known} on {line['equal']} of {playable}")
    dated = defaultdict(list)
    for name, difference in line["differ"].items():
        print(f"  {name}: {difference}")
        dated[date_case(cases[name], known, version)].append(name)
    for (after, since), names in sorted(dated.items()):
        print(f'\nDatedChange(\n    "{since}",\n    "{after}",\n    "What changed, in a sentence.",')
        print(f'    {{"field": "value"}},\n    {tuple(names)!r},\n),')
    return 1 if line["differ"] else 0


def date_case(case: Case, first: str, last: str) -> tuple[str, str]:
    """The two releases between which what a case shows changed; both ends, if it cannot be dated."""
    agent, name = str(case["agent"]), str(case["id"])

    def play(version: str) -> dict[str, Any] | None:
        play_release(agent, version, jobs=1, cases=name)
        return read_rows(agent, version).get(name)

    boundary = find_boundary(case, releases_between(agent, first, last), play)
    return boundary if boundary and is_repeated(case, boundary, play) else (first, last)


def main() -> int:
    """Play releases and write what was seen; `--verify` reports on one, `--date` dates a case between two."""
    if sys.argv[1:2] == ["--worker"]:
        work(*sys.argv[2:4])
        return 0
    parser = argparse.ArgumentParser(prog="atlas.py", description=__doc__)
    parser.add_argument("releases", nargs="*", metavar="AGENT@VERSION", help="default: those of RELEASES")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cases", default="", metavar="ID,ID", help="play just these, again")
    parser.add_argument("--keep", action="store_true", help="do not remove a release that was played")
    parser.add_argument("--write", action="store_true", help="play nothing, only write the tables and the page")
    parser.add_argument("--verify", metavar="AGENT@VERSION", help="play a new release, and say what it does otherwise")
    parser.add_argument("--date", nargs=2, metavar=("AGENT@A..B", "CASE"), help="in which release a case changed")
    options = parser.parse_args()
    if options.verify:
        agent, _, version = options.verify.partition("@")
        play_release(agent, version, jobs=options.jobs, keep=options.keep)
        return report_release(agent, version)
    if options.date:
        agent, _, span = options.date[0].partition("@")
        first, _, last = span.partition("..")
        case = next(case for case in cases_of(agent, last) if case["id"] == options.date[1])
        after, since = date_case(case, first, last)
        print(f"{options.date[1]}: {after} -> {since}")
        return 0
    listed = [f"{agent}@{version}" for agent, versions in RELEASES.items() for version in versions.split()]
    for name in () if options.write else options.releases or listed:
        agent, _, version = name.partition("@")
        if options.cases or not is_played(agent, version):
            play_release(agent, version, jobs=options.jobs, cases=options.cases, keep=options.keep)
    for agent in () if options.write or options.releases else RELEASES:
        play_boundaries(agent, jobs=options.jobs)
    if not (options.write or options.keep):
        shutil.rmtree(AGENTS_DIR, ignore_errors=True)
    write_all(again=options.write)
    return 0


def is_played(agent: str, version: str) -> bool:
    """Whether a release is in the table as a whole, so that nothing is left to do."""
    return any(line["version"] == version and "only" not in line for line in read_table(agent))


if __name__ == "__main__":
    raise SystemExit(main())
