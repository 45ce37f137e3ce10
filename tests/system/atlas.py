"""Plays recorded cases to released programs, release after release (being written)."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from typing import Any

from foretold.proof.conform.cases import Case, read_cases
from foretold.proof.probe.run import namespace
from foretold.proof.probe.sandbox import bring_up_loopback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from atlas_player import Program, play_case

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "foretold")
AGENTS_DIR = os.path.join(CACHE, "atlas-agents")
ROWS_DIR = os.path.join(CACHE, "atlas")
MACHINE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
SYSTEM = f"{sys.platform}-{MACHINE}"
MUSL = {"x64": "x86_64-unknown-linux-musl", "arm64": "aarch64-unknown-linux-musl"}.get(MACHINE, "")
NODE = f"node-{SYSTEM}@24"  # from 22 on it keeps what it compiled, which saves a third of a run


def version_key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


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
        folder = f"@openai/codex-{SYSTEM}/vendor/{MUSL}"
        return (f"@openai/codex-{SYSTEM}@npm:@openai/codex@{version}-{SYSTEM}",), f"{folder}/bin/codex", False
    if agent == "opencode":
        return (f"opencode-{SYSTEM}@{version}",), f"opencode-{SYSTEM}/bin/opencode", False
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
        found = [
            os.path.join(top, file)
            for top, _, files in os.walk(folder)
            for file in files
            if file in ("codex", "gemini.js", "index.js", "copilot", "cli.js")
        ]
        raise SystemExit(f"atlas: {path} is not there; perhaps {found[:10]}")
    if not needs_node:
        os.chmod(path, 0o755)
        words, env = (path,), {}
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
    refuses = []
    if agent == "claude-code":
        key = version_key(version)
        if key <= (1, 0, 68):
            refuses.append("--settings 1")
    return Program(agent, version, tuple(words), env, tuple(refuses))


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


def work(agent: str, version: str, index: int, count: int, wanted: set[str]) -> None:
    """Play a share of the cases, those that were not played yet."""
    bring_up_loopback()
    program = install(agent, version)
    known = read_rows(agent, version)
    todo = [case for case in cases_of(agent, version) if (case["id"] in wanted if wanted else case["id"] not in known)]
    for case in todo[index::count]:
        try:
            row = play_case(case, program)
        except Exception as error:
            row = {"id": case["id"], "failed": f"{type(error).__name__}: {error}"}
        with open(rows_path(agent, version), "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def play_release(agent: str, version: str, jobs: int, wanted: str, keep: bool) -> None:
    began = time.time()
    install(agent, version)
    os.makedirs(ROWS_DIR, exist_ok=True)
    prefix = namespace()
    if not prefix:
        raise SystemExit("atlas: this system allows no network of its own (unshare)")
    workers = [
        subprocess.Popen(
            [*prefix, sys.executable, os.path.abspath(__file__), "--worker", agent, version, str(i), str(jobs), wanted]
        )
        for i in range(jobs)
    ]
    for worker in workers:
        worker.wait()
    rows = read_rows(agent, version)
    cpu = sum(row.get("cpu", 0) for row in rows.values())
    odd = [
        f"{row['id']}: {row.get('failed') or row.get('skipped') or row.get('stderr', '')[-80:]}"
        for row in rows.values()
        if "requests" not in row or not row["requests"] or row.get("timed_out")
    ]
    print(
        f"{agent}@{version}: {len(rows)} rows, {cpu:.0f} CPU s, {time.time() - began:.0f} s; odd: {len(odd)}",
        flush=True,
    )
    with open(os.path.join(ROWS_DIR, "odd.txt"), "a") as file:
        file.write(f"== {agent}@{version}\n" + "\n".join(odd) + "\n")
    if not keep:
        shutil.rmtree(os.path.join(AGENTS_DIR, f"{agent}@{version}"), ignore_errors=True)


def main() -> int:
    if sys.argv[1] == "--worker":
        agent, version, index, count, wanted = sys.argv[2:7]
        work(agent, version, int(index), int(count), set(wanted.split(",")) - {""})
        return 0
    with open("/proc/self/autogroup", "w") as file:
        file.write(os.environ.get("NICE", "5"))
    keep = "--keep" in sys.argv
    for word in sys.argv[1:]:
        if not word.startswith("--"):
            agent, _, version = word.partition("@")
            play_release(agent, version, int(os.environ.get("JOBS", "2")), os.environ.get("CASES", ""), keep)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
