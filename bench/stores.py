"""What recall costs over stores of files: whole processes, against a bare interpreter and against one `stat` a file.

Figures of time are CPU time of the child, the fastest of several, in turns with what they are compared to. The files
are made as the agent writes them, of words whose frequencies fall as those of a language do.
"""

from __future__ import annotations

import os
import random
import sys

from report import Row, Table, times

COLD_BAR, MEMORY_BAR = 6.0, 300.0
SMALL, LARGE, QUICK = 10_000, 100_000, 20_000
QUERY = "which cluster did we deploy the billing router to?"
SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")

ASK = f"import sys; from foretold.memory.recall.recall import recall; recall(sys.argv[1], {QUERY!r}, cache=sys.argv[2])"
STAT = "import os, sys\nfor top, _, names in os.walk(sys.argv[1]):\n    [os.lstat(f'{top}/{name}') for name in names]"


def cost(root: str, *, quick: bool) -> Table:
    rows = _small(f"{root}/small", 10 if quick else 30)
    rows += _large(f"{root}/large", QUICK if quick else LARGE)
    return Table(
        "Cost",
        f"Whole processes over files of about 400 characters. Ratios are to `python -c pass`. Bars: cold answer "
        f"{COLD_BAR:g}x, resident memory {MEMORY_BAR:g} MB.",
        ("process", "CPU ms", "ratio", "peak MB"),
        rows,
    )


def _small(folder: str, rounds: int) -> list[Row]:
    """A store that is up to date; one in which a file was edited; and what both are measured against."""
    _fill(folder, SMALL)
    ask = ["-c", ASK, folder, f"{folder}-cache"]
    built = _run(ask)
    _run(ask)
    edited = f"{folder}/d7/project_7.md"
    names = ["bare interpreter", "stat of 10,000 files", "answer from 10,000", "the same, one file edited"]
    best = dict.fromkeys(names, (float("inf"), 0.0))
    for at in range(rounds):
        best[names[0]] = min(best[names[0]], _run(["-c", "pass"]))
        best[names[1]] = min(best[names[1]], _run(["-c", STAT, folder]))
        best[names[2]] = min(best[names[2]], _run(ask))
        _write(edited, f"Edited in round {at}: the billing router.", long_ago=False)
        best[names[3]] = min(best[names[3]], _run(ask))
        _write(edited, f"Edited in round {at}, and long ago.")
        _run(ask)
    bare = best[names[0]][0]
    bars = {names[2]: COLD_BAR}
    found = [_row(name, *value, bare, bars.get(name)) for name, value in best.items()]
    return [*found, _row("index of 10,000 built", *built, bare, None)]


def _large(folder: str, count: int) -> list[Row]:
    _fill(folder, count)
    ask = ["-c", ASK, folder, f"{folder}-cache"]
    bare = min(_run(["-c", "pass"]) for _ in range(5))[0]
    built, answered = _run(ask), min(_run(ask) for _ in range(3))
    return [
        _row(f"index of {count:,} built", *built, bare, None, MEMORY_BAR),
        _row(f"answer from {count:,}", *answered, bare, None, MEMORY_BAR),
    ]


def _row(name: str, spent: float, peak: float, bare: float, bar: float | None, memory: float | None = None) -> Row:
    ratio = spent / bare
    missed = [*(["ratio"] if bar and ratio > bar else []), *(["memory"] if memory and peak > memory else [])]
    return Row(
        name,
        (f"{spent * 1000:.1f}", times(ratio), f"{peak:.0f}"),
        {"cpu_ms": spent * 1000, "ratio": ratio, "peak_mb": peak},
        tuple(missed),
        "" if bar or memory else "no bar",
    )


def _run(words: list[str]) -> tuple[float, float]:
    """CPU seconds and peak of resident megabytes of one process."""
    silence = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1)]
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": SOURCES}
    child = os.posix_spawn(sys.executable, [sys.executable, *words], env, file_actions=silence)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{words}: status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _fill(folder: str, count: int) -> None:
    made = random.Random(count)
    vocabulary = [f"{a}{b}{c}" for a in ("ba", "ke", "lo", "mi", "ru", "ste") for b in "dfglnrst" for c in _endings()]
    for at, word in enumerate(QUERY.strip("?").split()):
        vocabulary[at * 40] = word
    weights = [1 / (rank + 20) for rank in range(len(vocabulary))]
    for at in range(10):
        os.makedirs(f"{folder}/d{at}")
    for at in range(count):
        words = made.choices(vocabulary, weights, k=70)
        _write(f"{folder}/d{at % 10}/project_{at}.md", " ".join(words[10:]), " ".join(words[:10]), f"note-{at}")


def _endings() -> list[str]:
    return [
        f"{vowel}{end}" for vowel in ("a", "e", "io", "u") for end in ("", "n", "rt", "sk", "ble", "ment", "x", "p")
    ]


def _write(path: str, body: str, description: str = "edited", name: str = "note", *, long_ago: bool = True) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"---\nname: {name}\ndescription: {description}\nmetadata:\n  type: project\n---\n\n{body}\n")
    if long_ago:
        os.utime(path, (1.7e9, 1.7e9))
