"""`make live`: install pinned releases of the agents, play recorded cases to them, and probe each end to end.

python tests/system/live.py              60 cases of claude-code (each version) and of codex, 10 of each other agent
FULL=1 python tests/system/live.py       all of them
python tests/system/live.py codex cline  only these
python tests/system/live.py --docs       write the table of docs/conformance.md

Of Claude Code and Codex also: sessions, checkpoints and compactions (`live_sessions.py`, `live_files.py`,
`live_codex.py`, `live_compaction.py`), and conversations of a harness (`live_harness.py`). Of all that have them: hooks
and the MCP server (`live_hooks.py`).

Agents are installed from npm into $XDG_CACHE_HOME/foretold/agents, without running their install scripts. Nothing of
this is part of `make test`.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from foretold.proof.conform.cases import CaseOutcome, read_cases
from foretold.proof.probe.cases import play
from foretold.proof.probe.run import probe

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


RELEASES = (
    *(
        Release(
            "claude-code",
            version,
            (f"@anthropic-ai/claude-code-{SYSTEM}@{version}",),
            f"@anthropic-ai/claude-code-{SYSTEM}/claude",
            cases=f"claude-code@{version}",
            few=60,
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
BESIDE = {
    "claude-code": (("live_sessions.py", "{version}"), ("live_files.py", "{program}", "{version}"), HOOKS),
    "codex": (("live_codex.py", "{program}"), HOOKS),
    **dict.fromkeys("gemini-cli opencode copilot-cli qwen-code cline continue".split(), (HOOKS,)),
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


def replay(release: Release, program: str, *, full: bool) -> list[CaseOutcome]:
    """Play the cases of a release."""
    cases = read_cases(os.path.join(ROOT, "tests", "conformance", f"{release.cases or release.agent}.jsonl"))
    found: list[CaseOutcome] = []
    for case in cases:
        if not full and sum(outcome.status != "skipped" for outcome in found) >= release.few:
            break
        found.append(play(case, program, allow_setup=True))
    return found


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


def main() -> int:
    full, words = bool(os.environ.get("FULL")), [word for word in sys.argv[1:] if not word.startswith("-")]
    rows, failed = [], False
    for release in RELEASES:
        if words and release.agent not in words:
            continue
        began = time.monotonic()
        program = install(release)
        found = replay(release, program, full=full)
        equal = sum(outcome.status == "passed" for outcome in found)
        different = [outcome for outcome in found if outcome.status == "failed"]
        skipped = sum(outcome.status == "skipped" for outcome in found)
        probed = probe_once(release, program)
        failed = failed or bool(different) or probed != "equal"
        rows.append((release, equal, len(different), skipped, probed))
        said = f"{equal} cases equal, {len(different)} different, {skipped} not playable; probe {probed}"
        print(f"{release.agent} {release.version}: {said} ({time.monotonic() - began:.0f} s)", flush=True)
        for outcome in different:
            print(f"  {outcome.id} {outcome.reason} {json.dumps(outcome.differences)[:400]}", flush=True)
        failed = not ask_more(release, program) or failed
    here = os.path.dirname(os.path.abspath(__file__))
    more = ("live_compaction.py", "live_harness.py") if not words or "claude-code" in words else ()
    for name in more:
        failed = subprocess.run([sys.executable, os.path.join(here, name)], check=False).returncode != 0 or failed
    if "--docs" in sys.argv:
        write_docs(rows)
    return 1 if failed else 0


ABOUT = """\
# Conformance

Recorded cases, played once more to the released programs by `make live` (`FULL=1` plays all of them). A case is equal
when every recorded text is, whole, in the request that it was recorded in, and no other instruction text is. Not
playable are cases with files at the top of the file system or in the organisation's folder, with another user, with
subagents, or that depend on the order in which a file system lists a folder; `foretold conform` runs those, too.
`python tests/system/live.py --docs` writes the rows of what it played.

| agent | version | played | equal | different | not playable | probe |
|---|---|---|---|---|---|---|
"""


def write_docs(rows: list[tuple[Release, int, int, int, str]]) -> None:
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
