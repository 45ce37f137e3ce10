"""Documents made to be slow, for every agent: `python bench/hostile_agents.py [SIZE] [AGENT…]`.

1. A document stands in the one file that an agent reads first; frontmatter, in one of its rules, if it has any.
2. Each load has a process of its own, and a limit. Its CPU time counts, at a quarter of the size and at the whole one.
3. Printed is what takes longer than `BAR`, or grows by more than `GROWTH` for four times the size; exit status 1 if
   anything does.
"""

from __future__ import annotations

import gc
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping

from shapes import DOCUMENTS, FRONTS, Shape
from trees import write

import foretold
from foretold.dialects.registry import AGENTS

SIZE = 1_000_000
BAR, GROWTH = 2.0, 6.0  #: seconds; times
LEAST = 0.5  #: seconds, below which growth is noise
LIMIT = 30
NAMES = (
    *("CLAUDE.md", "AGENTS.md", "GEMINI.md", "QWEN.md", "MINK.md", "CRUSH.md", "WARP.md", ".goosehints", ".rules"),
    *(".github/copilot-instructions.md", ".cursorrules", ".windsurfrules", ".clinerules", ".junie/guidelines.md"),
    *(".kiro/steering/a.md", ".roo/rules/a.md", ".continue/rules/a.md", "CONVENTIONS.md", ".deepagents/AGENTS.md"),
)
RULES = (
    *(".claude/rules/a.md", ".cursor/rules/a.mdc", ".github/instructions/a.instructions.md", ".windsurf/rules/a.md"),
    *(".clinerules/a.md", ".continue/rules/a.md", ".kiro/steering/a.md", ".qwen/rules/a.md"),
)


FRONT = "---\napplyTo: '**'\npaths: '**'\nglobs: '**'\nalwaysApply: true\n---\n"


def main(size: int, agents: list[str]) -> int:
    slow = 0
    for agent in agents:
        for names, shapes in ((NAMES, DOCUMENTS), (RULES, FRONTS)):
            name = _name_for(agent, names)
            for shape, small, large in _measure(agent, name, shapes, size) if name else ():
                growth = large / small if small else 0.0
                if large > BAR or (large > LEAST and growth > GROWTH):
                    slow += 1
                    print(f"{agent:15} {name:32} {shape:28} {large:6.2f} s, {growth:4.1f}x", flush=True)
    print(f"{slow} of {len(agents)} agents' documents of {size:,} bytes are slow")
    return 1 if slow else 0


def _measure(agent: str, name: str, shapes: Mapping[str, Shape], size: int) -> Iterator[tuple[str, float, float]]:
    for shape, make in shapes.items():
        small, large = (_seconds(agent, name, make(each)) for each in (size // 4, size))
        yield shape, small, large


def _name_for(agent: str, names: tuple[str, ...]) -> str:
    """The first of these files that an agent reads; empty if it reads none of them."""
    for name in names:
        with tempfile.TemporaryDirectory() as root:
            view = _load(root, agent, name, FRONT + "Text.\n" if names is RULES else "Text.\n")
            if any(entry.path.endswith(name) for entry in (*view.entries, *(rule.entry for rule in view.waiting))):
                return name
    return ""


def _load(root: str, agent: str, name: str, text: str) -> foretold.View:
    project, home = f"{root}/project", f"{root}/home"
    os.makedirs(home)
    write(f"{project}/docs/guide.md", "Short.\n")
    write(f"{project}/.aider.conf.yml", "read: [CONVENTIONS.md]\n")
    write(f"{project}/{name}", text)
    return foretold.load(project, agent=agent, home=home, env={})


def _seconds(agent: str, name: str, text: str) -> float:
    """The CPU time of a load in a process of its own; infinite if it has no end, or fails."""
    root = tempfile.mkdtemp()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            gc.disable()  # as the command does
            began = time.process_time()
            view = _load(root, agent, name, text)
            _ = view.findings, view.text
            os.write(writing, json.dumps(time.process_time() - began).encode())
        finally:
            os._exit(0)
    os.close(writing)
    is_done = bool(select.select([reading], [], [], LIMIT)[0])
    if not is_done:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    shutil.rmtree(root)
    return float(json.loads(data)) if data else float("inf")


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(main(int(given[0]) if given else SIZE, given[1:] or list(AGENTS)))
