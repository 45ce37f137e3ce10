"""Measures one peer and foretold in turns, under the interpreter that has the peer installed (see peers.py).

Reads a JSON object from standard input, writes one line of JSON for each row: the tree, then what `compare` gives.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Callable

from loading import load, loader
from measure import Effort, cpu_seconds, fastest
from trees import AGENTS, Place

from foretold.instructions.text.read import read_text
from foretold.storage.tree import Disk
from foretold.text.frontmatter import trim

LIMIT = 10.0  #: seconds for one load of a peer


def claudemd_loader(where: Place) -> Callable[[], object]:
    """Its one class: user, project, `.claude`, rules, local, memory; imports inline. Its cache is off."""
    from claudemd_loader import ClaudeMdLoaderContext

    os.environ["HOME"] = where.home
    warnings.simplefilter("ignore")
    return lambda: ClaudeMdLoaderContext(where.cwd, caching=False).load_claudemd()


def deepagents(where: Place) -> Callable[[], object]:
    """Its memory middleware: it is given the paths that our load delivers; it looks for none and imports none."""
    from deepagents.backends.filesystem import FilesystemBackend
    from deepagents.middleware.memory import MemoryMiddleware

    sources = [entry.path for entry in load(where, AGENTS[1], Disk()).entries]

    def run() -> str:
        memory = MemoryMiddleware(backend=FilesystemBackend(root_dir="/", virtual_mode=False), sources=sources)
        update = memory.before_agent({}, None, None)
        return memory._format_agent_memory(update["memory_contents"])

    return run


PEERS = {"claudemd-loader": claudemd_loader, "deepagents": deepagents}


def given(where: Place) -> Callable[[], object]:
    """Ours, doing what deepagents does: paths are given, each is read and understood, the texts are joined."""
    view = load(where, AGENTS[1], Disk())
    paths = [entry.path for entry in view.entries]

    def run() -> str:
        disk = Disk()
        texts = [read_text(disk, path, view.dialect) for path in paths]
        return "\n\n".join(f"{path}\n\n{trim(text.shown)}" for path, text in zip(paths, texts, strict=True))

    return run


class TooLongError(Exception):
    pass


def _stop(*_: object) -> None:
    raise TooLongError


def compare(where: Place, name: str, effort: Effort) -> list[float | None]:
    """CPU seconds: the peer (None: too slow), ours doing the same, and a whole load of ours if that is more."""
    peer, whole = PEERS[name](where), loader(where, AGENTS[1])
    ours = [given(where), whole] if name == "deepagents" else [whole]
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        once = cpu_seconds(peer)
    except TooLongError:
        return [None, *fastest(effort, *ours)]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return [*fastest(Effort(0, 2) if once > 1 else effort, peer, *ours)]


def main() -> None:
    asked = json.load(sys.stdin)
    signal.signal(signal.SIGALRM, _stop)
    for name, places in asked["places"].items():
        where = Place(*places)
        found = compare(where, asked["peer"], Effort(*asked["effort"]))
        print(json.dumps([name, *found]), flush=True)


if __name__ == "__main__":
    main()
