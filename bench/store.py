"""What one memory costs among many: `add` and `show` as whole processes, among 1,000 and among 100,000 memories.

python bench/store.py                     both sizes; 1 if a ratio is over its bar
python bench/store.py --many 20000        less patience

1. Files are written directly, as an agent would. The first `add` takes them all into the history; it is printed, and is
   not part of the ratio.
2. Each figure is the CPU time of a process, the fastest of several, both sizes in turns in one run: a busy machine
   disturbs both alike.
3. `show` is asked by file, by the name that a file is given, and by a name that only its frontmatter has and that is in
   no index; the last one reads every file, and has no bar.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

FEW = 1_000
ADD_BAR, SHOW_BAR = 3.0, 1.25
WORDS = [sys.executable, "-I", "-c", "from foretold.cli import run; run()", "memory"]


class Place:
    """A project with so many memories."""

    def __init__(self, root: str, count: int) -> None:
        self.root, self.count, self.added = f"{root}/{count}", count, 0
        self.store = f"{self.root}/memory"
        os.makedirs(self.store)
        os.makedirs(f"{self.root}/project")
        for number in range(count):
            name = f"fact-{number:06}"
            text = f"---\nname: {name}\ndescription: about {number}\nmetadata:\n  type: user\n---\n\nFact {number}.\n"
            with open(f"{self.store}/user_fact_{number:06}.md", "w", encoding="utf-8") as file:
                file.write(text)
        with open(f"{self.store}/zz.md", "w", encoding="utf-8") as file:
            file.write("---\nname: odd-one-out\ndescription: elsewhere\nmetadata:\n  type: user\n---\n\nHere.\n")

    def run(self, *words: str) -> tuple[float, float, int]:
        """CPU seconds, wall seconds and peak memory in KB of a command."""
        env = {"HOME": self.root, "FORETOLD_HOME": f"{self.root}/own", "PATH": os.defpath}
        began = time.monotonic()
        process = subprocess.Popen(
            [*WORDS, *words, "--folder", self.store, "-C", f"{self.root}/project"], env=env, stdout=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{words} ended with {process.returncode}")
        return used.ru_utime + used.ru_stime, time.monotonic() - began, used.ru_maxrss

    def add(self) -> tuple[float, float, int]:
        self.added += 1
        return self.run("add", f"New {self.added}", "-t", "user", "-d", "new", "-b", "New.")

    def show(self, name: str) -> tuple[float, float, int]:
        return self.run("show", name)


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--many", type=int, default=100_000)
    words.add_argument("--rounds", type=int, default=9)
    given = words.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as root:
        few, many = Place(root, FEW), Place(root, given.many)
        for place in (few, many):
            _, wall, peak = place.add()
            print(f"first add among {place.count:>7,}: {wall:6.2f} s, {peak / 1024:4.0f} MB", flush=True)
        bad = False
        asked = {
            "add": (Place.add, given.rounds, ADD_BAR),
            "show, by file": (lambda place: place.show("user_fact_000700"), given.rounds, SHOW_BAR),
            "show, by name": (lambda place: place.show("fact-000700"), given.rounds, SHOW_BAR),
            "show, other name": (lambda place: place.show("odd-one-out"), 2, 0.0),
        }
        for name, (act, rounds, bar) in asked.items():
            both = [(act(few), act(many)) for _ in range(rounds)]
            small, large = min(one[0] for one, _ in both), min(other[0] for _, other in both)
            peak = max(other[2] for _, other in both) / 1024
            bad |= bool(bar) and large > small * bar
            limit = f"bar {bar:g}x" if bar else "no bar"
            figures = f"{small * 1e3:6.0f} ms {large * 1e3:7.0f} ms {large / small:5.2f}x"
            print(f"{name:<17} {figures}  {limit}, {peak:.0f} MB", flush=True)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
