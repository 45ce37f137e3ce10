"""The jobs that hooks leave to a background process.

1. `refresh` updates the place, the instructions here, the recall index with its vectors, the path index, and the
   summary of a start. Memories that did not change are not read again.
2. `archive` and `extract` run `foretold sessions archive` and `foretold memory extract` for one session.
3. A job that fails adds a line to the log and does not stop the next.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

from foretold.secrets.masking import mask_credentials
from foretold.serve.hooks.background import run_alone, start_command
from foretold.serve.hooks.cache import stamp_of
from foretold.serve.hooks.context import Caller, HookContext
from foretold.serve.hooks.log import fault_of, log
from foretold.serve.hooks.path_index import PathIndex, claimed_paths
from foretold.serve.hooks.said_before import folder_of, sweep
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.memory.drift.quick_check import CachedVerdict
    from foretold.memory.note import Memory

SETTLED = 0.25  #: seconds after which the stamps of what was just written can be trusted


def run_jobs(jobs: str, folder: str, session: str, caller: Caller) -> None:
    """Do the jobs, one after the other."""
    context = HookContext("work", {"cwd": folder, "session_id": session}, caller)
    context.folder = os.path.realpath(folder)
    os.nice(10)
    for job in jobs.split(","):

        def do(job: str = job) -> None:
            try:
                JOBS[job](context)
            except Exception as error:
                log(context.ours.state, job, session, fault_of(error))

        run_alone(context.ours.state, job, session if job != "refresh" else context.place_id, do)


def refresh(context: HookContext) -> None:
    """Update everything that hooks look up."""
    from foretold.serve.hooks.events.rules_here import instructions_here, load_instructions
    from foretold.serve.hooks.events.session_start import summarise

    _index_memories(context, is_missing=True)  # before anything else: until it is there, prompts recall nothing
    time.sleep(SETTLED)
    _index_memories(context)
    if context.cached("instructions") is None:
        load_instructions(context)
    instructions_here(context)
    _write_path_index(context)
    if context.cached("summary") is None:
        summarise(context)
    _embed_memories(context)
    for folder in (folder_of(context.ours.state), f"{context.ours.cache}/hooks"):
        sweep(folder)


def _index_memories(context: HookContext, *, is_missing: bool = False) -> None:
    """Bring the recall indexes up to date; with `is_missing`, build those that are not there."""
    from foretold.memory.recall.cache import RecallCache, index_path

    home = context.ours.cache
    for folder, without in _list_indexes(context):
        if not is_missing or not os.path.exists(index_path(home, folder, without)):
            RecallCache(home).ask(folder, lambda index: index.get_value("count"), without)


def _embed_memories(context: HookContext) -> None:
    """Make the vectors that indexes lack, if the table of word vectors was built."""
    from foretold.memory.recall.cache import RecallCache
    from foretold.memory.recall.table import complete_vectors, open_table

    table = open_table(context.ours.cache)
    if table is None:
        return
    try:
        for folder, without in _list_indexes(context):
            RecallCache(context.ours.cache).ask(folder, lambda index: complete_vectors(index, table), without)
    finally:
        table.base.close()


def _list_indexes(context: HookContext) -> Iterator[tuple[str, frozenset[str]]]:
    """The folders of memories that have an index, each with the folders in it that have their own."""
    folders = [folder for folder, _ in context.place.readable]
    for folder in folders:
        inner = (os.path.relpath(other, folder) for other in folders if other != folder)
        yield folder, frozenset(path for path in inner if not path.startswith(".."))


def _write_path_index(context: HookContext) -> None:
    """Write which memories name which paths, and the last verdict on each."""
    from foretold.memory.drift.quick_check import load_verdicts
    from foretold.memory.recall.file_stamps import read_memory, scan_folder
    from foretold.serve.hooks.events.session_start import list_folders
    from foretold.storage.tree import Disk

    place, disk = context.place, Disk()
    before = PathIndex(context.ours.cache, context.key)
    verdicts = load_verdicts(place.verdicts)
    entries: dict[str, object] = {}
    began, count = time.time_ns(), 0
    for folder, scope in place.readable:
        disk.stamps.update({path: stamp_of(path) for path in list_folders([folder])})
        for file, _, _, changed, _ in scan_folder(folder).stamps:
            memory = read_memory(folder, file, changed / 1e9, scope)
            count += 1
            if memory is not None:
                _add_memory(entries, memory, folder, before, verdicts.get(memory.digest))
    before.write(entries)
    context.store("paths-made", (began, count), disk)


def _add_memory(
    entries: dict[str, object], memory: Memory, folder: str, before: PathIndex, held: CachedVerdict | None
) -> None:
    """Add the entries of one memory. The paths that it names are taken from the last index, if that has them."""
    known = before.find(f"d{memory.digest}")
    paths = known[3] if isinstance(known, tuple) else claimed_paths(memory)
    verdict = (held.state, held.evidence, held.time) if held is not None and held.state != "unknown" else ("", "", 0.0)
    entries[f"d{memory.digest}"] = (*verdict, paths)
    for _, path in paths:
        if path:
            naming = entries.setdefault(f"p{path}", [])
            assert isinstance(naming, list)
            naming.append((f"{folder}/{memory.file}", mask_credentials(memory.description)[0]))


def _run_command(context: HookContext, words: list[str], *options: str) -> None:
    """Run a command of ours for this session, and wait for it."""
    argv = [*words, context.session, "-C", context.folder, "--home", context.caller.home, *options]
    code = os.waitstatus_to_exitcode(os.waitpid(start_command(argv, context.caller.env), 0)[1])
    if code not in (0, 1):
        log(context.ours.state, words[1], context.session, f"foretold {' '.join(words)} exited with {code}")


JOBS: dict[str, Callable[[HookContext], None]] = {
    "refresh": refresh,
    "archive": lambda context: _run_command(context, ["sessions", "archive"]),
    "extract": lambda context: _run_command(context, ["memory", "extract"], "--model", context.settings.extract),
}
