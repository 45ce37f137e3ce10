"""What hooks leave to a process of its own: bringing caches up to date, archiving, learning.

1. `refresh`: the place, what the agent is told here, the index of recall, the book of what memories name, and what a
   start says. Memories that did not change are not read again.
2. `archive` and `extract` are the commands `foretold sessions archive` and `foretold memory extract`, for one session.
3. One process for each job and conversation; a job that fails leaves a line in the log and does not stop the next.
"""

from __future__ import annotations

import os
import time

from foretold.secrets.masking import masked
from foretold.serve.hooks.background import alone, start_command
from foretold.serve.hooks.cache import stamp_of
from foretold.serve.hooks.context import Asking, Scene
from foretold.serve.hooks.log import fault, log
from foretold.serve.hooks.memories_naming import paths_of
from foretold.serve.hooks.path_index import Book
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foretold.memory.drift.quick_check import Held
    from foretold.memory.note import Memory

SETTLED = 0.25  #: seconds after which the stamps of what was just written can be believed
Entry = tuple[str, str, float, list[tuple[str, str]]]


def work(jobs: str, folder: str, session: str, asking: Asking) -> None:
    """Do the jobs, one after the other."""
    scene = Scene("work", {"cwd": folder, "session_id": session}, asking)
    scene.folder = os.path.realpath(folder)
    os.nice(10)
    for job in jobs.split(","):
        whose = session if job != "refresh" else Book(scene.ours.cache, scene.key).path.rpartition("-")[2]

        def do(job: str = job) -> None:
            try:
                _DO[job](scene)
            except Exception as error:
                log(scene.ours.state, job, session, fault(error))

        alone(scene.ours.state, job, whose, do)


def refresh(scene: Scene) -> None:
    """Bring all that hooks look up in step with the files."""
    from foretold.memory.recall.cache import Cache
    from foretold.serve.hooks.events.memory_summary import summarise
    from foretold.serve.hooks.events.rules_here import look, told_here
    from foretold.serve.hooks.said_before import folder_of, sweep

    time.sleep(SETTLED)
    where = scene.where
    if scene.recalled("told") is None:
        look(scene)
    told_here(scene)
    cache, folders = Cache(scene.ours.cache), [folder for folder, _ in where.stores]
    for folder in folders:
        inner = (os.path.relpath(other, folder) for other in folders if other != folder)
        cache.ask(folder, lambda index: index.told("count"), frozenset(p for p in inner if not p.startswith("..")))
    _write_book(scene)
    if scene.recalled("summary") is None:
        summarise(scene)
    for folder in (folder_of(scene.ours.state), f"{scene.ours.cache}/hooks"):
        sweep(folder)


def _write_book(scene: Scene) -> None:
    """Which memories name which paths, and how each of them stood last."""
    from foretold.memory.drift.quick_check import kept_in
    from foretold.memory.recall.file_stamps import read_memory, walk_of
    from foretold.serve.hooks.events.memory_summary import below
    from foretold.storage.tree import Disk

    where, disk = scene.where, Disk()
    before = Book(scene.ours.cache, scene.key)
    verdicts = kept_in(where.verdicts)
    entries: dict[str, object] = {}
    began, count = time.time_ns(), 0
    for folder, scope in where.stores:
        disk.stamps.update({path: stamp_of(path) for path in below([folder])})
        for file, _, _, changed, _ in walk_of(folder).stamps:
            memory = read_memory(folder, file, changed / 1e9, scope)
            count += 1
            if memory is not None:
                _enter(entries, memory, folder, before, verdicts.get(memory.digest))
    before.write(entries)
    scene.keep("book-made", (began, count), disk)


def _enter(entries: dict[str, object], memory: Memory, folder: str, before: Book, held: Held | None) -> None:
    """The entries of one memory. What it names is taken from the last book, if that has it."""
    known = before.find(f"d{memory.digest}")
    paths = known[3] if isinstance(known, tuple) else paths_of(memory)
    verdict = (held.state, held.evidence, held.time) if held is not None and held.state != "unknown" else ("", "", 0.0)
    entries[f"d{memory.digest}"] = (*verdict, paths)
    for _, path in paths:
        if path:
            naming = entries.setdefault(f"p{path}", [])
            assert isinstance(naming, list)
            naming.append((f"{folder}/{memory.file}", masked(memory.description)[0]))


def archive(scene: Scene) -> None:
    """Keep the transcript of this conversation."""
    _command(scene, ["sessions", "archive", scene.session, "-C", scene.folder, "--home", scene.asking.home])


def extract(scene: Scene) -> None:
    """Learn from this conversation."""
    words = ["memory", "extract", scene.session, "-C", scene.folder, "--home", scene.asking.home]
    _command(scene, [*words, "--model", scene.settings.extract])


def _command(scene: Scene, words: Sequence[str]) -> None:
    """Run a command of ours, and wait for it."""
    code = os.waitstatus_to_exitcode(os.waitpid(start_command(words, scene.asking.env), 0)[1])
    if code not in (0, 1):
        log(scene.ours.state, words[1], scene.session, f"foretold {words[0]} {words[1]} ended with {code}")


_DO = {"refresh": refresh, "archive": archive, "extract": extract}
