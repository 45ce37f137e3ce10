"""The benchmark of hooks: CPU time of `foretold hook EVENT` in bare interpreter starts. Status 1 if a bar is missed.

python bench/hooks.py                 the whole run: 300 rules, 10,000 and 900 memories, a transcript of 1 GB; then
                                      prompts to stores of 10 to 100,000 memories, first hooks included
python bench/hooks.py --quick         a transcript of 64 MB, at most 10,000 memories, fewer repetitions
python bench/hooks.py --only prompts  one part: events, prompts
python bench/hooks.py --module        `python -m foretold` instead of the installed script
python bench/hooks.py --vectors PY    builds the table of words with an interpreter that has the extra `vectors`
python bench/hooks.py --json FILE     the figures for programs

CPU time (user and system) of the process that the agent waits for, the fastest and the median of many, in turns with
`python -c pass` of the same interpreter. Processes that it leaves behind are not waited for, and do not count.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from report import Row, Table, millis, over, render, times, write_json
from stores import _fill, _write
from trees import write

PROMPT_BAR, TABLE_BAR, BAR = 6.0, 8.0, 3.5
SIZES = (10, 100, 1_000, 10_000, 100_000)
PARTS = ("events", "prompts")
RULES, MEMORIES, FEWER, TRANSCRIPT = 300, 10_000, 900, 1 << 30
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROMPT = "which cluster did we deploy the billing router to?"
TRACE = "".join(f'  File "src/part{at}/main.ts", line {at}, in route_{at}\n    raise Lost()\n' for at in range(30))
MEGABYTE = 1 << 20


class Place:
    """A project, a home with its memories, and a transcript."""

    def __init__(self, root: str, size: int, memories: int = MEMORIES) -> None:
        self.repo, self.home = os.path.realpath(f"{root}/repo"), os.path.realpath(f"{root}/home")
        self.memory = f"{self.home}/.claude/projects/{_slug(self.repo)}/memory"
        os.makedirs(f"{self.repo}/.git")
        write(f"{self.repo}/CLAUDE.md", "# Shop\n\nUse pnpm. See @docs/style.md\n")
        write(f"{self.repo}/docs/style.md", "# Style\n\nTwo spaces.\n")
        write(f"{self.repo}/.foretold.toml", "[hooks]\nbudget = 1000\n")
        for at in range(RULES):
            globs = f'---\npaths: "src/part{at}/**/*.{"ts" if at % 2 else "py"}"\n---\n'
            write(
                f"{self.repo}/.claude/rules/rule{at}.md",
                f"{globs}# Rule {at}\n\n{'Check what you were given. ' * 12}\n",
            )
        for at in range(40):
            write(f"{self.repo}/src/part{at}/main.{'ts' if at % 2 else 'py'}", "x = 1\n")
        _fill(self.memory, memories)
        _write(f"{self.memory}/project_main.md", "The entry is `src/part7/main.ts`.", "where it starts", "main")
        about = "which cluster we deploy the billing router to"
        _write(f"{self.memory}/project_router.md", "The billing router runs in the cluster of Oslo.", about, "router")
        write(f"{self.memory}/MEMORY.md", "- [main](project_main.md) - where it starts\n")
        self.transcript = f"{self.home}/.claude/projects/{_slug(self.repo)}/session.jsonl"
        _transcript(self.transcript, size, self.repo)


def _slug(path: str) -> str:
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in path)


def _transcript(path: str, size: int, repo: str) -> None:
    """Records as Claude Code writes them: the same megabyte again and again, and attachments near the end."""
    base = {"sessionId": "bench", "cwd": repo, "isSidechain": False, "timestamp": "2026-01-02T03:04:05.678Z"}
    lines: list[str] = []
    length = 0
    while length < MEGABYTE:
        text = f"Step {len(lines)}: looked at the router. " * (1 + len(lines) % 40)
        line = json.dumps({"type": "assistant", "message": {"role": "assistant", "content": text}, **base}) + "\n"
        lines.append(line)
        length += len(line)
    block = "".join(lines).encode()
    with open(path, "wb") as file:
        for _ in range(max(1, size // len(block))):
            file.write(block)
        for at in range(12):
            rule = f"{repo}/.claude/rules/rule{at}.md"
            nested = {"type": "nested_memory", "path": rule, "content": {"path": rule, "content": "x"}}
            file.write((json.dumps({"type": "attachment", "attachment": nested, **base}) + "\n").encode())


def payloads(place: Place) -> dict[str, tuple[str, dict[str, object], float]]:
    """What is measured: a name, the event with its payload, and the bar."""
    repo, memory = place.repo, place.memory

    def tool(name: str, **given: object) -> dict[str, object]:
        return {"tool_name": name, "tool_input": given, "tool_use_id": "toolu_1", "tool_response": {"ok": True}}

    change = tool("Bash", command="sed -i s/1/2/ src/part9/main.ts src/part7/main.ts")
    reading = tool("Read", file_path=f"{repo}/src/part3/main.ts")
    return {
        "UserPromptSubmit, recall": ("UserPromptSubmit", {"prompt": PROMPT}, PROMPT_BAR),
        "UserPromptSubmit, a command": ("UserPromptSubmit", {"prompt": "/compact"}, BAR),
        "SessionStart, startup": ("SessionStart", {"source": "startup"}, BAR),
        "SessionStart, compact": ("SessionStart", {"source": "compact"}, BAR),
        "PreToolUse, Write": ("PreToolUse", tool("Write", file_path=f"{repo}/src/a.ts", content="x"), BAR),
        "PreToolUse, a memory": ("PreToolUse", tool("Write", file_path=f"{memory}/a.md", content="Tabs."), BAR),
        "PostToolUse, Read": ("PostToolUse", reading, BAR),
        "PostToolUse, shell": ("PostToolUse", change, BAR),
        "PreCompact": ("PreCompact", {"trigger": "auto", "custom_instructions": None}, BAR),
        "Stop": ("Stop", {"stop_hook_active": False, "last_assistant_message": "Done."}, BAR),
        "SessionEnd": ("SessionEnd", {"reason": "exit"}, BAR),
        "InstructionsLoaded": (
            "InstructionsLoaded",
            {"file_path": f"{repo}/CLAUDE.md", "memory_type": "Project", "load_reason": "session_start"},
            BAR,
        ),
    }


def fewer(place: Place) -> dict[str, tuple[str, dict[str, object], float]]:
    """What is measured with a store in which every file is looked at."""
    wanted = payloads(place)
    said = f"{FEWER} memories"
    return {
        f"UserPromptSubmit, recall, {said}": wanted["UserPromptSubmit, recall"],
        f"PostToolUse, shell, {said}": wanted["PostToolUse, shell"],
    }


class Runner:
    """Runs hooks as processes, each in a conversation of its own: what was said once is not said again."""

    def __init__(self, place: Place, scratch: str, *, module: bool) -> None:
        folder = next((each for each in (os.path.dirname(sys.executable), f"{ROOT}/.venv/bin") if _has(each)), "")
        self.python = f"{folder}/python" if folder else sys.executable
        self.command = [self.python, "-m", "foretold"] if module or not folder else [f"{folder}/foretold"]
        self.place, self.scratch, self.count = place, scratch, 0
        self.env = {"HOME": place.home, "PATH": "/usr/bin:/bin"}
        searched = os.environ.get("PYTHONPATH", "")
        if searched:
            self.env["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, searched.split(os.pathsep)))

    def bare(self) -> float:
        return self._spent([self.python, "-c", "pass"], os.devnull)[0]

    def hook(self, event: str, payload: dict[str, object]) -> tuple[float, str]:
        self.count += 1
        base = {"session_id": f"bench-{self.count}", "transcript_path": self.place.transcript, "cwd": self.place.repo}
        path = f"{self.scratch}/payload.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**base, "hook_event_name": event, **payload}, file)
        return self._spent([*self.command, "hook", event], path)

    def _spent(self, words: list[str], given: str) -> tuple[float, str]:
        out = f"{self.scratch}/out"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        files = [(os.POSIX_SPAWN_OPEN, 0, given, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, out, flags, 0o600)]
        os.chdir(self.place.repo)
        child = os.posix_spawn(words[0], words, self.env, file_actions=files)
        _, status, usage = os.wait4(child, 0)
        if status:
            raise SystemExit(f"{' '.join(words)}: status {status}")
        with open(out, encoding="utf-8") as file:
            return usage.ru_utime + usage.ru_stime, file.read()


def _has(folder: str) -> bool:
    return os.path.exists(f"{folder}/foretold") and os.path.exists(f"{folder}/python")


SAYS = {
    "UserPromptSubmit, recall": "recalled-memories",
    "SessionStart, compact": "did not survive",
    "PostToolUse, shell": "names src/part7/main.ts",
}


def measure(runner: Runner, rounds: int, wanted: dict[str, tuple[str, dict[str, object], float]]) -> list[Row]:
    spent: dict[str, list[float]] = {name: [] for name in wanted}
    bare: list[float] = []
    for turn in range(rounds + 1):
        once = [runner.bare() for _ in range(2)]
        for name, (event, payload, _) in wanted.items():
            os.utime(f"{runner.place.repo}/src/part7/main.ts")  # as if the command had just changed it
            cost, said = runner.hook(event, payload)
            expected = SAYS.get(name.removesuffix(f", {FEWER} memories"), "")
            if expected not in said:
                raise SystemExit(f"{name}: it does not say {expected!r}: {said[:300]}")
            if turn:
                spent[name].append(cost)
        bare += once if turn else []
    return [_row(name, sorted(spent[name]), sorted(bare), wanted[name][2]) for name in wanted]


def _row(name: str, spent: list[float], bare: list[float], bar: float) -> Row:
    low, middle = spent[0] / bare[0], spent[len(spent) // 2] / bare[len(bare) // 2]
    return Row(
        name,
        (millis(spent[0]), times(low), times(middle), f"{bar}x"),
        {"cpu_ms": spent[0] * 1000, "ratio": low, "median_ratio": middle},
        ("ratio",) if low > bar else (),
    )


def cold(runner: Runner) -> list[Row]:
    """What it costs when nothing is kept: once for a project, and after each change of what it depends on."""
    bare = min(runner.bare() for _ in range(5))
    rows = []
    for name in ("SessionStart, startup", "UserPromptSubmit, recall", "PostToolUse, shell"):
        event, payload, _ = payloads(runner.place)[name]
        costs = []
        for _ in range(3):
            shutil.rmtree(f"{runner.place.home}/.cache/foretold/hooks", ignore_errors=True)
            costs.append(runner.hook(event, payload)[0])
            settle(runner.place)
        figures: dict[str, float | int | str | None] = {"cpu_ms": min(costs) * 1000, "ratio": min(costs) / bare}
        rows.append(
            Row(f"{name}, nothing kept", (millis(min(costs)), times(min(costs) / bare), "", ""), figures, (), "no bar")
        )
    return rows


def settle(place: Place, most: float = 600.0) -> None:
    """Wait until no process works for this place any more."""
    deadline = time.monotonic() + most
    while time.monotonic() < deadline:
        time.sleep(0.5)
        if not _working(place):
            return
    stop(place)


def stop(place: Place) -> None:
    """End the processes that hooks of this place left behind."""
    while left := _working(place):
        for process in left:
            os.kill(process, signal.SIGTERM)
        time.sleep(0.1)


def _working(place: Place) -> list[int]:
    """The processes that hooks of this place left behind."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if b"--work" in words and os.fsencode(place.repo) in words:
            found.append(int(name))
    return found


# Prompts to stores of many sizes


def prompts(root: str, rounds: int, sizes: Sequence[int], *, module: bool, vectors: str) -> Table:
    """What a prompt costs, from the very first one on, without the table of words and with it."""
    rows = []
    for size in sizes:
        runner = Runner(Place(f"{root}/{size}", MEGABYTE, size - 2), root, module=module)
        time.sleep(0.5)
        rows.append(_prompt_row(runner, f"{size:,} memories", rounds, PROMPT_BAR))
        why = _build_table(runner, vectors)
        if why:
            rows.append(Row(f"{size:,}, with the table", ("",) * 6, {"missing": why}, (), why))
        else:
            rows.append(_prompt_row(runner, f"{size:,}, with the table", rounds, TABLE_BAR))
        shutil.rmtree(f"{root}/{size}")
        print(f"{rows[-2].name}: {' '.join(rows[-2].cells)}", file=sys.stderr, flush=True)
    return Table(
        "UserPromptSubmit",
        "CPU time of the hook against `python -c pass`, in turns, the fastest of several. First: nothing is kept, "
        "neither the place nor an index. Then, with an index: a prompt that recalls a memory, its median, the same "
        f"after an edit of one memory, and a pasted trace of {len(TRACE):,} characters. Bars: {PROMPT_BAR}x, with the "
        f"table {TABLE_BAR}x; the median has none.",
        ("store", "first", "next", "median", "edited", "trace", "bar"),
        rows,
    )


def _prompt_row(runner: Runner, name: str, rounds: int, bar: float) -> Row:
    place, bare = runner.place, [runner.bare() for _ in range(5)]
    spent: dict[str, list[float]] = {"first": [], "next": [], "edited": [], "trace": []}
    for _ in range(max(5, rounds // 2)):
        forget(place)
        bare += [runner.bare() for _ in range(2)]
        spent["first"].append(runner.hook("UserPromptSubmit", {"prompt": PROMPT})[0])
        stop(place)
    forget(place)
    runner.hook("SessionStart", {"source": "startup"})
    settle(place)
    for at in range(rounds):
        bare += [runner.bare() for _ in range(2)]
        cost, said = runner.hook("UserPromptSubmit", {"prompt": PROMPT})
        if "project_router.md" not in said:
            raise SystemExit(f"{name}: the prompt does not recall project_router.md: {said[:300]}")
        spent["next"].append(cost)
        spent["trace"].append(runner.hook("UserPromptSubmit", {"prompt": TRACE})[0])
        _write(f"{place.memory}/project_main.md", f"The entry is `src/part{at}/main.ts`.", "where it starts", "main")
        spent["edited"].append(runner.hook("UserPromptSubmit", {"prompt": PROMPT})[0])
        settle(place) if at == 0 else stop(place)
    ratios = {what: min(costs) / min(bare) for what, costs in spent.items()}
    median = sorted(spent["next"])[rounds // 2] / sorted(bare)[len(bare) // 2]
    cells = (ratios["first"], ratios["next"], median, ratios["edited"], ratios["trace"])
    slow = tuple(what for what, ratio in ratios.items() if ratio > bar)
    return Row(name, (*map(times, cells), f"{bar}x"), {**ratios, "median": median, "bar": bar}, slow)


def forget(place: Place) -> None:
    """Remove everything that hooks have kept of a place, but not the table of words."""
    for folder in (f"{place.home}/.cache/foretold/hooks", f"{place.home}/.local/state/foretold"):
        shutil.rmtree(folder, ignore_errors=True)
    for path in glob.glob(f"{place.home}/.cache/foretold/recall-*"):
        os.unlink(path)


def _build_table(runner: Runner, python: str) -> str:
    """Build the table of words for a place; why that is not possible."""
    words = [*([python, "-m", "foretold"] if python else runner.command), "memory", "vectors", "build"]
    env = {**runner.env, "PYTHONPATH": f"{ROOT}/src"} if python else runner.env
    done = subprocess.run(words, env=env, cwd=runner.place.repo, capture_output=True, text=True, check=False)
    said = (done.stderr or done.stdout).strip()
    return "" if done.returncode == 0 else said.splitlines()[0] if said else f"status {done.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--module", action="store_true")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--vectors", metavar="PYTHON", default="")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    tables = []
    with tempfile.TemporaryDirectory() as root:
        if options.only != "prompts":
            tables.append(events(root, quick=options.quick, module=options.module))
        if options.only != "events":
            sizes = SIZES[:-1] if options.quick else SIZES
            rounds = 6 if options.quick else 15
            tables.append(prompts(root, rounds, sizes, module=options.module, vectors=options.vectors))
        os.chdir(ROOT)
    print("\n".join(map(render, tables)))
    missed = over(tables)
    if options.json:
        write_json(options.json, tables, {"python": platform.python_version()})
    print("\n".join(missed) or "Every figure is within its bar.")
    return 1 if missed else 0


def events(root: str, *, quick: bool, module: bool) -> Table:
    """Every event, in one place that has a lot of everything."""
    place = Place(f"{root}/events", 64 * MEGABYTE if quick else TRANSCRIPT)
    time.sleep(0.5)
    runner = Runner(place, root, module=module)
    runner.hook("SessionStart", {"source": "startup"})
    settle(place)
    rounds = 10 if quick else 40
    rows = measure(runner, rounds, payloads(place))
    settle(place)
    smaller = Runner(Place(f"{root}/fewer", MEGABYTE, FEWER), root, module=module)
    time.sleep(0.5)
    smaller.hook("SessionStart", {"source": "startup"})
    settle(smaller.place)
    rows += measure(smaller, rounds, fewer(smaller.place))
    settle(smaller.place)
    rows += cold(runner)
    about = f"{RULES} rules, {MEMORIES:,} memories (or {FEWER}), a transcript of {'64 MB' if quick else '1 GB'}."
    return Table(
        "Hooks",
        f"CPU time of an event against `python -c pass`, in turns; {about} Bars: recall {PROMPT_BAR}x, others {BAR}x.",
        ("event", "CPU ms", "fastest", "median", "bar"),
        rows,
    )


if __name__ == "__main__":
    sys.exit(main())
