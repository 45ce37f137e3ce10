"""Linters of instruction files: where they are, how they are called, what they say.

Each is run with its usual rules and told to print JSON, in the repository, with the home of the tree and nothing else
of this machine. `ctxlint` looks two folders deep unless told otherwise, and at servers only if asked, so it is asked.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.check.fixture import Remark, Tree, make_remark

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: where peers are installed: outside of the repository, and kept for the next run
PEERS = os.path.join(tempfile.gettempdir(), "foretold-check-peers")
TIMEOUT = 60  #: seconds; a linter that takes longer gave up


class Linter(NamedTuple):
    """How a linter is called on a tree, and where the remarks are in what it prints."""

    name: str
    package: str
    installer: str  #: pip, npm, or nothing for our own
    program: str
    words: Callable[[Tree], list[str]]
    said: Callable[[Any], Iterator[tuple[str, str, str]]]


class Run(NamedTuple):
    """What one run gave: remarks, or nothing if the linter gave up; and its CPU seconds."""

    remarks: list[Remark] | None
    seconds: float


def _ours(found: Any) -> Iterator[tuple[str, str, str]]:
    for each in found["findings"]:
        yield each["path"], each["code"], f"{each['message']} {each.get('hint') or ''}"


def _agnix(found: Any) -> Iterator[tuple[str, str, str]]:
    for each in found["diagnostics"]:
        yield each["file"], each["rule"], f"{each['message']} {each.get('suggestion') or ''}"


def _skillsaw(found: Any) -> Iterator[tuple[str, str, str]]:
    for each in found["violations"]:
        yield each["file_path"] or "", each["rule_id"], each["message"]


def _ctxlint(found: Any) -> Iterator[tuple[str, str, str]]:
    for file in found["files"]:
        path = "" if "(" in file["path"] else file["path"]  # "(project)" and the like: not a file
        for each in file["issues"]:
            yield path, each["ruleId"], f"{each['message']} {each.get('suggestion') or ''}"


def _claudelint(found: Any) -> Iterator[tuple[str, str, str]]:
    for validator in found["validators"]:
        for each in (*validator["errors"], *validator["warnings"]):
            yield each.get("file") or "", each.get("ruleId") or "", f"{each['message']} {each.get('fix') or ''}"


OURS = Linter(
    "foretold",
    "",
    "",
    os.path.join(os.path.dirname(sys.executable), "foretold"),
    lambda tree: ["check", tree.repo, "--format", "json", "--home", tree.home],
    _ours,
)
AGNIX = Linter("agnix", "agnix", "pip", "agnix", lambda _: ["--format", "json", "--max-files", "0", "."], _agnix)
LINTERS = (
    OURS,
    AGNIX,
    Linter(
        "skillsaw",
        "skillsaw",
        "pip",
        "skillsaw",
        lambda _: ["lint", "--format", "json", "--no-progress", "."],
        _skillsaw,
    ),
    Linter(
        "ctxlint",
        "@yawlabs/ctxlint",
        "npm",
        "ctxlint",
        lambda _: ["--format", "json", "--mcp", "--session", "--depth", "6", "."],
        _ctxlint,
    ),
    Linter(
        "claude-code-lint",
        "claude-code-lint",
        "npm",
        "claudelint",
        lambda _: ["check-all", "--no-cache", "--no-collapse", "--format", "json", "--cwd", "."],
        _claudelint,
    ),
)


def install() -> None:
    """Install the peers by name, as pip and npm of this machine are set up."""
    python = os.path.join(PEERS, "pip", "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", os.path.join(PEERS, "pip")], check=True)
    names = {kind: [each.package for each in LINTERS if each.installer == kind] for kind in ("pip", "npm")}
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", *names["pip"]]
    os.makedirs(os.path.join(PEERS, "npm"), exist_ok=True)
    npm = [
        "npm",
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--prefix",
        os.path.join(PEERS, "npm"),
        *names["npm"],
    ]
    for words in (pip, npm):
        if subprocess.run(words, stderr=subprocess.DEVNULL, check=False).returncode:
            print(f"not installed: {' '.join(words)}", file=sys.stderr)


def find_program(linter: Linter) -> str:
    """The path of a linter's program; empty if it is not there."""
    if not linter.installer:
        return linter.program if os.path.exists(linter.program) else ""
    folder = {"pip": "pip/bin", "npm": "npm/node_modules/.bin"}[linter.installer]
    installed = os.path.join(PEERS, folder, linter.program)
    if os.path.exists(installed):
        return installed
    found = shutil.which(linter.program) or ""
    # skillsaw installs a `claudelint` of its own
    is_npm = "node_modules" in os.path.realpath(found)
    return found if is_npm == (linter.installer == "npm") else ""


def find_version(program: str) -> str:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout.split() or ["?"])[-1].removeprefix("v")


def run(linter: Linter, program: str, tree: Tree, *more: str) -> Run:
    """Run a linter on a tree."""
    done, seconds = measure([program, *linter.words(tree), *more], tree)
    try:
        found = json.loads(done)
        return Run([make_remark(tree, *said) for said in linter.said(found)], seconds)
    except (ValueError, KeyError, TypeError):
        return Run(None, seconds)


def measure(words: list[str], tree: Tree) -> tuple[str, float]:
    """What a command prints, and the CPU seconds of it and of all that it starts."""
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": tree.home, "NO_COLOR": "1"}
    before = _spent()
    try:
        done = subprocess.run(
            words,
            cwd=tree.repo,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT,
            check=False,
        ).stdout
    except subprocess.TimeoutExpired:
        done = b""
    return done.decode("utf-8", "replace"), _spent() - before


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
