"""A large repository, made quickly, and memories that speak of it."""

from __future__ import annotations

import random
import subprocess
from typing import NamedTuple

from foretold.memory.note import Memory, read_note

FAST = ("-c", "core.compression=0", "-c", "pack.compression=0", "-c", "gc.auto=0", "-c", "init.defaultBranch=main")
LINES = 32  #: of a file, on average


class Big(NamedTuple):
    """A repository whose file `n` is known by its number."""

    root: str
    count: int
    commit: str


def big(root: str, count: int, seed: int = 1) -> Big:
    """A repository of this many files of code, a hundred a folder, about 2.8 kB each; then a few are moved."""
    subprocess.run(["git", *FAST, "init", "-q", root], check=True)
    lines = _lines(random.Random(seed))
    chance = random.Random(seed + 1)
    with subprocess.Popen(["git", *FAST, "-C", root, "fast-import", "--quiet"], stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        write = process.stdin.write
        write(b"commit refs/heads/main\ncommitter t <t@t> 1700000000 +0000\ndata 5\nfirst\n")
        for number in range(count):
            start, length = chance.randrange(len(lines) - 2 * LINES), chance.randint(5, 2 * LINES - 5)
            data = (content(number) + "".join(lines[start : start + length])).encode()
            write(b"M 644 inline %s\ndata %d\n%s\n" % (path(number).encode(), len(data), data))
        for number in range(20):
            write(b"commit refs/heads/main\ncommitter t <t@t> %d +0000\ndata 5\nlater\n" % (1700000100 + number))
            write(b"R %s %s\n" % (path(number).encode(), path(number).replace("src/", "lib/").encode()))
    subprocess.run(["git", "-C", root, "reset", "-q", "--hard", "main"], check=True)
    head = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return Big(root, count, head.stdout[:12])


def path(number: int) -> str:
    return f"src/m{number // 10_000}/p{number // 100 % 100}/f{number}.py"


def content(number: int) -> str:
    """The lines by which a file is known."""
    return (
        f"def unique_name_{number}(request):\n    if os.environ.get('SETTING_{number}_ON'):\n"
        f"        parser.add_argument('--option-{number}-x')\n    return request.total + {number}\n"
    )


def _lines(chance: random.Random) -> list[str]:
    """Lines of code over a vocabulary of 3,000 words and 8,000 names."""
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(3000)]
    names = [f"{chance.choice(words)}_{chance.choice(words)}" for _ in range(4000)]
    names += [chance.choice(words).title() + chance.choice(words).title() for _ in range(4000)]
    return [
        f"{'    ' * chance.randint(0, 3)}{chance.choice(names)} = {chance.choice(words)}({chance.choice(names)}, "
        f"{chance.choice(words)}.{chance.choice(words)})  # {' '.join(chance.choices(words, k=chance.randint(1, 8)))}\n"
        for _ in range(40_000)
    ]


TEXT = """\
---
name: note-{at}
description: how part {at} is set up
metadata:
  type: project
---

Part {at} is handled by `unique_name_{n}()` in `{path}`; see also {path} and `p{folder}/f{n}.py:2`.

**Why:** `SETTING_{n}_ON` and `--option-{n}-x` changed it in commit `{commit}`, after `m{top}/p{folder}/*.py` grew.

**How to apply:** keep what `{path}` says:

```python
def unique_name_{n}(request):
    if os.environ.get('SETTING_{n}_ON'):
```
"""


def memories(repository: Big, number: int, *, stale: int, seed: int = 5) -> list[Memory]:
    """So many memories with claims of all kinds; every `stale`-th one speaks of what is not there, none if 0."""
    chance = random.Random(seed)
    found = []
    for at in range(number):
        n = chance.randrange(100, repository.count)
        commit = repository.commit
        if stale and at % stale == 0:
            n += repository.count if at % (2 * stale) else 0
            n = chance.randrange(20) if at % (4 * stale) == 0 else n
            commit = f"{chance.randrange(16**9, 16**10):x}"
        values = {"at": at, "n": n, "path": path(n), "folder": n // 100 % 100, "top": n // 10_000, "commit": commit}
        found.append(read_note(f"note_{at}.md", TEXT.format(**values).encode()))
    return found
