"""Whole processes: CPU time of the child as the system counts it, in turns with a bare interpreter."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from types import ModuleType

from measure import Effort
from report import Row, Table, millis
from trees import write

SHOW_BAR, IMPORT_BAR = 3.5, 1.3
SEARCHED = os.pathsep.join(map(os.path.abspath, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))))
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def start(root: str, effort: Effort) -> Table:
    python, show = _commands()
    ordinary = _ordinary(f"{root}/ordinary")
    _prove(show, ordinary)
    runs = {
        "import foretold": ([python, "-c", "import foretold"], ordinary, IMPORT_BAR),
        "foretold show": (show, ordinary, SHOW_BAR),
        "foretold show --json": ([*show, "--json"], ordinary, None),
    }
    if os.path.exists(f"{ROOT}/sample/demo.py"):
        sample = _sample(f"{root}/sample")
        runs["foretold show, sample"] = ([*show, "--managed", f"{root}/sample/managed"], sample, SHOW_BAR)
    rounds = 60 if effort.least > 3 else 15
    before = os.getcwd()
    rows = [_row(name, words, where, bar, python, rounds) for name, (words, where, bar) in runs.items()]
    os.chdir(before)
    return Table(
        "7. Whole processes",
        f"CPU ms of a process against `python -c pass` of the same interpreter, in turns; {' '.join(show[-3:])}. "
        f"Bars: show {SHOW_BAR}x, import {IMPORT_BAR}x.",
        ("process", "bare ms", "ours ms", "ratio", "bar"),
        rows,
    )


def _row(name: str, words: list[str], where: tuple[str, str], bar: float | None, python: str, rounds: int) -> Row:
    bare, ours = float("inf"), float("inf")
    _spent(words, where)  # the first run writes byte code
    for _ in range(rounds):
        bare = min(bare, _spent([python, "-c", "pass"], where))
        ours = min(ours, _spent(words, where))
    ratio = ours / bare
    return Row(
        name,
        (millis(bare), millis(ours), f"{ratio:.2f}x", f"{bar}x" if bar else ""),
        {"bare_ms": bare * 1000, "ours_ms": ours * 1000, "ratio": ratio},
        ("ratio",) if bar and ratio > bar else (),
        "" if bar else "no bar",
    )


def _spent(words: list[str], where: tuple[str, str]) -> float:
    """The CPU seconds of one process."""
    os.chdir(where[0])
    silence = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    child = os.posix_spawn(words[0], words, _env(where), file_actions=silence)
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):
        raise SystemExit(f"{' '.join(words)}: exit status {code}")
    return usage.ru_utime + usage.ru_stime


def _env(where: tuple[str, str]) -> dict[str, str]:
    env = {"HOME": where[1], "PATH": "/usr/bin:/bin"}
    return {**env, "PYTHONPATH": SEARCHED} if SEARCHED else env


def _prove(show: list[str], where: tuple[str, str]) -> None:
    """A process that fails is fast: look once at what it prints."""
    done = subprocess.run(show, cwd=where[0], env=_env(where), capture_output=True, text=True, check=False)
    if "Answer briefly." not in done.stdout:
        raise SystemExit(f"{' '.join(show)}: {done.stderr or done.stdout}")


def _commands() -> tuple[str, list[str]]:
    """The interpreter, and `foretold show` under it: the installed script if there is one."""
    for folder in (os.path.dirname(sys.executable), f"{ROOT}/.venv/bin"):
        if os.path.exists(f"{folder}/foretold") and os.path.exists(f"{folder}/python"):
            return f"{folder}/python", [f"{folder}/foretold", "show"]
    return sys.executable, [sys.executable, "-m", "foretold", "show"]


def _ordinary(root: str) -> tuple[str, str]:
    """A project with an import, a user file and settings."""
    cwd, home = f"{root}/repo", f"{root}/home"
    write(f"{cwd}/CLAUDE.md", "# Shop\n\nUse pnpm. See @docs/style.md\n\n<!-- owner: web -->\n- no default exports\n")
    write(f"{cwd}/docs/style.md", "# Style\n\nTwo spaces. Names in English.\n")
    write(f"{cwd}/.claude/settings.json", '{"permissions": {"allow": ["Bash(pnpm test)"]}, "env": {"CI": "1"}}\n')
    write(f"{home}/.claude/CLAUDE.md", "Answer briefly.\n")
    os.makedirs(f"{cwd}/.git")
    return cwd, home


def _sample(root: str) -> tuple[str, str]:
    """The bundled sample repository, staged as `make demo` stages it."""
    spec = importlib.util.spec_from_file_location("demo", f"{ROOT}/sample/demo.py")
    assert spec is not None
    assert spec.loader is not None
    demo: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    os.makedirs(root)
    demo.stage(root)
    return f"{root}/repo", f"{root}/home"
