"""`make live`: install pinned releases of the agents, play recorded cases to them, and probe each end to end.

python tests/system/live.py              60 cases of claude-code (each version) and of codex, 10 of each other agent
FULL=1 python tests/system/live.py       all of them
python tests/system/live.py codex cline  only these; also one version: claude-code@2.1.325
python tests/system/live.py --docs       write the table of docs/conformance.md
python tests/system/live.py --cases      only the cases and the probe
python tests/system/live.py --resume     do not play again what an earlier run has played and found equal
JOBS=2 MINUTES=20                        how many cases at once; after how many minutes no other of a release is begun

Of Claude Code and Codex also: sessions, checkpoints and compactions (`live_sessions.py`, `live_files.py`,
`live_codex.py`, `live_compaction.py`), and conversations of a harness (`live_harness.py`). Of all that have them: hooks
and the MCP server (`live_hooks.py`), and settings that attack (`live_attacks.py`).

Agents are installed from npm into $XDG_CACHE_HOME/foretold/agents, without running their install scripts. Then all of
this runs in a network that has a loopback interface only, in a tree of processes that ends with it, and in a temporary
folder that is removed. What was played is noted in $XDG_CACHE_HOME/foretold/live, a line a case. None of this is part
of `make test`.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from foretold.errors import ForetoldError
from foretold.proof.conform.cases import Case, CaseOutcome, read_cases
from foretold.proof.probe.cases import cannot_play, play
from foretold.proof.probe.run import namespace, probe
from foretold.proof.probe.sandbox import bring_up_loopback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
AGENTS_DIR = os.path.join(CACHE, "foretold", "agents")
MACHINE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
SYSTEM = f"{sys.platform}-{MACHINE}"
MUSL = {"x64": "x86_64-unknown-linux-musl", "arm64": "aarch64-unknown-linux-musl"}.get(MACHINE, "")
FILES = {"CLAUDE.md": "Told.\n", "AGENTS.md": "Told, too.\n", "GEMINI.md": "And told.\n", "QWEN.md": "Told last.\n"}


class Release(NamedTuple):
    """A pinned release: its packages, and its program among them."""

    agent: str
    version: str
    packages: tuple[str, ...]
    program: str
    node: str = ""  #: what runs the program; empty = itself
    cases: str = ""
    few: int = 10
    more: tuple[str, ...] = ()  #: other files with cases of it


RELEASES = (
    *(
        Release(
            "claude-code",
            version,
            (f"@anthropic-ai/claude-code-{SYSTEM}@{version}",),
            f"@anthropic-ai/claude-code-{SYSTEM}/claude",
            cases=f"claude-code@{version}",
            few=60,
            more=("claude-code-more",),
        )
        for version in ("2.1.197", "2.1.325")
    ),
    Release(
        "codex",
        "0.166.0",
        (f"@openai/codex-{SYSTEM}@npm:@openai/codex@0.166.0-{SYSTEM}",),
        f"@openai/codex-{SYSTEM}/vendor/{MUSL}/bin/codex",
        few=60,
    ),
    Release("gemini-cli", "0.61.0", ("@google/gemini-cli@0.61.0",), "@google/gemini-cli/bundle/gemini.js", "node"),
    Release("opencode", "1.18.33", (f"opencode-{SYSTEM}@1.18.33",), f"opencode-{SYSTEM}/bin/opencode"),
    Release("copilot-cli", "1.0.102", (f"@github/copilot-{SYSTEM}@1.0.102",), f"@github/copilot-{SYSTEM}/copilot"),
    Release(
        "qwen-code",
        "0.24.4",
        ("@qwen-code/qwen-code@0.24.4", f"node-{SYSTEM}@24"),
        "@qwen-code/qwen-code/cli-entry.js",
        f"node-{SYSTEM}/bin/node",
    ),
    Release("cline", "3.0.65", (f"@cline/cli-{SYSTEM}@3.0.65",), f"@cline/cli-{SYSTEM}/bin/cline"),
    Release("continue", "1.5.47", ("@continuedev/cli@1.5.47",), "@continuedev/cli/dist/cn.js", "node"),
)


#: agent -> programs of this folder that ask it more: about sessions, checkpoints, hooks and servers
HOOKS = ("live_hooks.py", "{agent}@{version}")
ATTACKS = ("live_attacks.py", "{program}", "{agent}@{version}")
BESIDE = {
    "claude-code": (("live_sessions.py", "{version}"), ("live_files.py", "{program}", "{version}"), HOOKS, ATTACKS),
    "codex": (("live_codex.py", "{program}"), HOOKS, ATTACKS),
    **dict.fromkeys("gemini-cli opencode copilot-cli qwen-code cline continue".split(), (HOOKS, ATTACKS)),
}


def install(release: Release) -> str:
    """The program of a release, installed if it is not yet."""
    folder = os.path.join(AGENTS_DIR, f"{release.agent}@{release.version}")
    modules = os.path.join(folder, "node_modules")
    program = os.path.join(modules, release.program)
    if not os.path.exists(program):
        os.makedirs(folder, exist_ok=True)
        command = ["npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        subprocess.run([*command, *release.packages], check=True, stdin=subprocess.DEVNULL)
    if not release.node:
        os.chmod(program, 0o755)
        return program
    runner = os.path.join(folder, "run")
    node = release.node if release.node == "node" else os.path.join(modules, release.node)
    if node != "node":
        os.chmod(node, 0o755)
    with open(runner, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec "{node}" "{program}" "$@"\n')
    os.chmod(runner, 0o755)
    return runner


class Journal:
    """What was played to a release, a line a case, so that a run can be resumed."""

    def __init__(self, release: Release, *, resume: bool) -> None:
        folder = os.path.join(CACHE, "foretold", "live")
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, f"{release.agent}@{release.version}.jsonl")
        self.equal: set[str] = set()
        self._lock = threading.Lock()
        if resume and os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file if line.endswith("\n")]
            self.equal = {line["case"] for line in lines if line["status"] == "passed"}
        elif os.path.exists(self.path):
            os.remove(self.path)

    def note(self, case: Case, outcome: CaseOutcome, seconds: float) -> None:
        line = {"case": digest(case), "id": outcome.id, "status": outcome.status, "seconds": round(seconds, 1)}
        with self._lock, open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def digest(case: Case) -> str:
    return hashlib.sha256(json.dumps(case, sort_keys=True).encode()).hexdigest()


def read_recordings(release: Release) -> Iterator[Case]:
    """The cases of a release, in every file that has some for it."""
    names = [release.cases or release.agent, *release.more]
    for name in names:
        for case in read_cases(os.path.join(ROOT, "tests", "conformance", f"{name}.jsonl")):
            if case.get("agent") == release.agent and case.get("version") == release.version:
                yield case


def replay(release: Release, program: str, *, full: bool, resume: bool) -> list[CaseOutcome]:
    """Play the cases of a release, a few at once; those that time does not allow are left out."""
    cases = list(read_recordings(release))
    if not full:
        playable = [case for case in cases if not cannot_play(case, allow_setup=True)]
        cases = playable[: release.few]
    journal = Journal(release, resume=resume)
    end = time.monotonic() + float(os.environ.get("MINUTES") or 24 * 60) * 60

    def play_one(case: Case) -> CaseOutcome:
        if digest(case) in journal.equal:
            return CaseOutcome(str(case["id"]), "passed")
        began = time.monotonic()
        if began > end:
            return CaseOutcome(str(case["id"]), "left", "no time was left")
        try:
            outcome = play(case, program, allow_setup=True)
        except (ForetoldError, OSError, subprocess.TimeoutExpired) as error:
            outcome = CaseOutcome(str(case["id"]), "failed", str(error))
        journal.note(case, outcome, time.monotonic() - began)
        return outcome

    with ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
        return list(pool.map(play_one, cases))


def probe_once(release: Release, program: str) -> str:
    """A probe end to end, in a small repository; equal, or what is not."""
    with tempfile.TemporaryDirectory(prefix="foretold-live-") as folder:
        proj, home = os.path.join(folder, "proj"), os.path.join(folder, "home")
        os.makedirs(os.path.join(proj, "sub"))
        os.mkdir(home)
        subprocess.run(["git", "init", "-q", proj], check=True)
        for name, text in FILES.items():
            for place in (proj, os.path.join(proj, "sub")):
                with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                    file.write(text)
        with open(os.path.join(proj, "sub", "f.txt"), "w", encoding="utf-8") as file:
            file.write("hi\n")
        found = probe(f"{release.agent}@{release.version}", proj, program=program, home=home, read=["sub/f.txt"])
    return "equal" if found.same else "different"


def ask_more(release: Release, program: str) -> bool:
    """Run what else there is to ask a release; whether all of it was as expected."""
    here = os.path.dirname(os.path.abspath(__file__))
    same = True
    for name, *words in BESIDE.get(release.agent, ()):
        filled = [word.format(program=program, version=release.version, agent=release.agent) for word in words]
        done = subprocess.run([sys.executable, os.path.join(here, name), *filled], check=False)
        print(f"{release.agent} {release.version}: {name} ended with {done.returncode}", flush=True)
        same = same and done.returncode == 0
    return same


def run_release(release: Release, *, full: bool) -> tuple[Row | None, bool]:
    """Everything about one release: its row, if there was time for all, and whether all of it was as expected."""
    began = time.monotonic()
    program = install(release)
    found = replay(release, program, full=full, resume="--resume" in sys.argv)
    counts = {status: sum(outcome.status == status for outcome in found) for status in STATUSES}
    probed = probe_once(release, program)
    equal, different, skipped, left = counts.values()
    said = f"{equal} cases equal, {different} different, {skipped} not playable; probe {probed}"
    if left:
        said += f"; {left} not played: no time was left"
    print(f"{release.agent} {release.version}: {said} ({time.monotonic() - began:.0f} s)", flush=True)
    for outcome in found:
        if outcome.status == "failed":
            print(f"  {outcome.id} {outcome.reason} {json.dumps(outcome.differences)[:400]}", flush=True)
    same = not different and not left and probed == "equal"
    if "--cases" not in sys.argv:
        same = ask_more(release, program) and same
    row = None if left else (release, equal, different, skipped, probed)
    return row, same


STATUSES = ("passed", "failed", "skipped", "left")
Row = tuple[Release, int, int, int, str]


def main() -> int:
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    wanted = [each for each in RELEASES if not words or {each.agent, f"{each.agent}@{each.version}"} & set(words)]
    if "--isolated" not in sys.argv:
        for release in wanted:
            install(release)
        return run_isolated()
    bring_up_loopback()
    rows, failed = list[Row](), False
    for release in wanted:
        row, same = run_release(release, full=bool(os.environ.get("FULL")))
        rows += [row] if row else []
        failed = failed or not same
        if "--docs" in sys.argv:  # after each, so that a run that is ended early has written what it knows
            write_docs(rows)
    here = os.path.dirname(os.path.abspath(__file__))
    asks_claude = any(release.agent == "claude-code" for release in wanted) and "--cases" not in sys.argv
    for name in ("live_compaction.py", "live_harness.py") if asks_claude else ():
        failed = subprocess.run([sys.executable, os.path.join(here, name)], check=False).returncode != 0 or failed
    return 1 if failed else 0


def run_isolated() -> int:
    """Run this program again where it reaches nothing but itself, and where nothing outlives it."""
    prefix = namespace()
    if not prefix:
        print("live: this system allows no network of its own (unshare), and agents must not reach another", flush=True)
        return 2
    # hexadecimal: `_` in a path that is imported is emphasis
    folder = os.path.join(os.path.realpath(tempfile.gettempdir()), f"foretold-live-{os.urandom(4).hex()}")
    os.mkdir(folder)
    try:
        words = [*prefix, sys.executable, os.path.abspath(__file__), "--isolated", *sys.argv[1:]]
        return subprocess.run(words, env={**os.environ, "TMPDIR": folder}, check=False).returncode
    finally:
        left = sorted(os.listdir(folder))
        if left:
            print(f"live: removed from the temporary folder: {', '.join(left[:10])}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)


ABOUT = """\
# Conformance

Recorded cases, played once more to the released programs by `make live` (`FULL=1` plays all of them). A case is equal
when every recorded text is, whole, in the request that it was recorded in, and no other instruction text is. Not
playable are cases with files at the top of the file system or in the organisation's folder, with another user, with
subagents, or that depend on the order in which a file system lists a folder; `foretold conform` runs those, too.
`FULL=1 python tests/system/live.py --docs` writes the rows, each when all cases of the release were played.

| agent | version | played | equal | different | not playable | probe |
|---|---|---|---|---|---|---|
"""


def write_docs(rows: list[Row]) -> None:
    """Write the rows of this run; those of other agents stay."""
    path = os.path.join(ROOT, "docs", "conformance.md")
    known: dict[str, str] = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            rows_there = [
                line for line in file.read().split("\n") if line.startswith("| ") and "| version |" not in line
            ]
        known = {" ".join(line.split("|")[1:3]): line for line in rows_there}
    for release, equal, different, skipped, probed in rows:
        cells = (release.agent, release.version, equal + different, equal, different, skipped, probed)
        line = "| " + " | ".join(map(str, cells)) + " |"
        known[" ".join(line.split("|")[1:3])] = line
    with open(path, "w", encoding="utf-8") as file:
        file.write(ABOUT + "\n".join(known[key] for key in sorted(known)) + "\n")


if __name__ == "__main__":
    sys.exit(main())
