"""Erasing a memory or a text from everything that foretold keeps, with a proof of what was looked at.

1. A memory goes with all its versions: from its store (store/erasure.py), and from the caches, which are deleted whole.
2. A text goes from every store on this machine, from archived sessions, from what else is in our state folder, from the
   caches, and from files that are named (`also`). Copies that are named after their digest (what undoes a restore of
   files, or an installation; a large index) are deleted: a changed one would be taken for damaged.
3. What agents keep themselves, and shell histories, are searched and named, never changed.
4. What cannot be read stops nothing: it is named, and everything else is erased. In a folder of memories, what is not
   a memory (another kind of file, one that is too large) is searched and named like an agent's.
5. The proof: each place with its files, its bytes, and how often the text was found; after erasing, everything is
   searched again.
6. `<state>/erasures.jsonl` says that something was erased: when, from where, how often. Not what, and no digest of it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from foretold.errors import ForetoldError, StoreFailed
from foretold.memory.location import MemoryLocation, folder_name, known_projects
from foretold.memory.note import INDEX
from foretold.memory.project import Memories
from foretold.memory.recall.index import WORD_TABLE
from foretold.memory.store.erasure import Eraser, MemoryEraser, StoreErasure, TextEraser, erase_in_store
from foretold.memory.store.journal import NAME as LOG
from foretold.memory.store.large_index import KEPT
from foretold.memory.store.store import Store
from foretold.memory.store.transaction import now
from foretold.secrets.erasure.scrub import blank_in_file, count_in_file, files_in
from foretold.secrets.erasure.spellings import Spellings
from foretold.sessions.archive.archive import ENDING
from foretold.sessions.archive.erasure import erase_in_archive
from foretold.storage.append_log import RecordLog
from foretold.storage.folder import Folder
from foretold.storage.frames import Frames
from foretold.storage.kernel import sync_folder, token
from foretold.storage.tree import open_regular
from foretold.types import NamedTuple

LEDGER = "erasures.jsonl"
#: where agents keep transcripts, and shells what was typed; below the home folder
AGENTS = (
    *(".claude", ".claude.json", ".codex", ".gemini", ".qwen", ".copilot", ".cline", ".continue", ".opencode"),
    *(".local/share/opencode", ".config/opencode", ".aider.chat.history.md"),
)
SHELLS = (".bash_history", ".zsh_history", ".python_history", ".local/share/fish/fish_history")
FOLDERS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME")  #: variables that move the agents' folders
_DIGEST = re.compile(r"[0-9a-f]{64}")


class ErasurePlace(NamedTuple):
    """A place that was searched."""

    kind: str  #: memory, history, proposals, archive, kept, cache, also, agent, shell, settings
    path: str
    files: int = 1
    size: int = 0  #: bytes
    found: int = 0  #: how often it was there
    removed: int = 0
    left: int = 0  #: how often it is there when everything was searched again
    problem: str = ""  #: why it could not be searched, or changed


class ErasureReport(NamedTuple):
    """What was searched, found and removed."""

    places: tuple[ErasurePlace, ...]
    done: bool

    @property
    def found(self) -> int:
        return sum(place.found for place in self.places if place.kind not in NAMED_ONLY)

    @property
    def left(self) -> int:
        return sum(place.left for place in self.places if place.kind not in NAMED_ONLY)

    @property
    def is_whole(self) -> bool:
        """Whether everything could be searched, and changed."""
        return not any(place.problem for place in self.places)

    @property
    def is_clean(self) -> bool:
        """Whether nothing of it is left in what is ours, and everything could be searched."""
        return self.done and not self.left and self.is_whole


NAMED_ONLY = ("agent", "shell", "settings")  #: kinds of places that are not ours to change


def erase_memory(memories: Memories, name: str, *, apply: bool) -> ErasureReport:
    """Erase one memory with all its versions from every store that has it or had it, a copy for the team included."""
    stores = [store for store in memories.stores if store.has(name) or store.log(name)] or [memories.own]
    places = [place for store in stores for place in _erase_versions(store, name, apply=apply)]
    cache = _search_cache(memories.place.cache, None)
    places.append(_drop_cache(cache) if apply else cache)
    if apply:
        _note(memories, places)
    return ErasureReport(tuple(places), apply)


def _erase_versions(store: Store, name: str, *, apply: bool) -> list[ErasurePlace]:
    """Erase a memory from one store; the places, with what is left in the history."""
    eraser = MemoryEraser(store, name)
    found = erase_in_store(store, eraser, now(), apply=apply)
    unread = {file: why for file, why in found.unread.items() if file in (INDEX, eraser.current)}
    places = list(_store_places(store, found._replace(unread=unread), apply=apply))
    if not apply:
        return places
    again = MemoryEraser(store, eraser.current)
    left = sum(change.has_text for change in store.log() if change.number in again.numbers)
    return [place._replace(left=left) if place.kind == "history" else place for place in places]


def erase_text(memories: Memories, texts: Sequence[str], *, also: Sequence[str] = (), apply: bool) -> ErasureReport:
    """Erase texts from everything that is ours, and from the files `also`. ValueError if one is too short."""
    spellings = Spellings(*texts)
    before = _run(memories, spellings, also, apply=apply)
    if not apply:
        return ErasureReport(tuple(before), done=False)
    _note(memories, before)
    after = {(place.kind, place.path): place for place in _run(memories, spellings, also, apply=False)}
    seen = set()
    places = []
    for place in before:
        again = after.get((place.kind, place.path))
        seen.add((place.kind, place.path))
        places.append(
            place._replace(left=again.found if again else 0, problem=place.problem or (again or place).problem)
        )
    places += [place._replace(left=place.found) for key, place in after.items() if key not in seen]
    return ErasureReport(tuple(places), done=True)


def _run(memories: Memories, spellings: Spellings, also: Sequence[str], *, apply: bool) -> list[ErasurePlace]:
    """Every place, in an order in which none brings back what another lost: caches last."""
    when = now()
    stores = _stores(memories)
    cache = _search_cache(memories.place.cache, spellings)  # before a store is opened, which writes to it
    places: list[ErasurePlace] = []
    opened: list[Store] = []
    for store in stores:
        try:
            found = erase_in_store(store, TextEraser(spellings), when, apply=apply)
        except ForetoldError as error:
            places.append(ErasurePlace("history", store.state, problem=str(error)))
            places += _plain_places("memory", store.path, spellings, apply=False, skip=[store.state])
            continue
        opened.append(store)
        places += _store_places(store, found, apply=apply)
        done = [f"{store.path}/{file}" for file in (*found.read, *found.unread)]
        places += _plain_places("agent", store.path, spellings, apply=False, skip=[*done, store.state, *also])
    places += _state_places(memories.place, stores, opened, spellings, apply=apply)
    for path in also:
        places += _plain_places("also", path, spellings, apply=apply)
    places.append(_drop_cache(cache) if apply else cache)
    skip = [store.path for store in stores]
    for kind, path in _agent_paths(memories):
        places += _plain_places(kind, path, spellings, apply=False, skip=[*skip, *also])
    return places


def _stores(memories: Memories) -> list[Store]:
    """The stores of this project, and of every other one with a history on this machine."""
    found = {store.state: store for store in memories.stores}
    state, cache = memories.place.state, memories.place.cache
    for folder, identity in known_projects(state).items():
        if folder not in found and os.path.basename(folder) == folder_name(identity.store):
            found[folder] = Store(identity.store, folder, f"{cache}/{os.path.basename(folder)}", policy="auto")
    with suppress(OSError):
        for name in sorted(os.listdir(state)):
            folder = os.path.join(state, name)
            if folder not in found and os.path.isfile(f"{folder}/log.jsonl"):
                path = next((each for each in _candidates(memories) if folder_name(each) == name), f"{folder}/memories")
                found[folder] = Store(path, folder, f"{cache}/{name}", policy="auto")
    return list(found.values())


def _candidates(memories: Memories) -> Iterator[str]:
    """Folders of memories that agents have for other projects, and ours for projects without an agent's."""
    projects = os.path.dirname(os.path.dirname(memories.place.store))
    for above, inside in ((projects, "memory"), (memories.place.state, "memories"), (memories.place.state, "overlay")):
        with suppress(OSError):
            for name in os.listdir(above):
                if os.path.isdir(f"{above}/{name}/{inside}"):
                    yield f"{above}/{name}/{inside}"


def _store_places(store: Store, found: StoreErasure, *, apply: bool) -> Iterator[ErasurePlace]:
    files = [f"{store.path}/{file}" for file in found.read]
    count = sum(found.files.values())
    yield ErasurePlace("memory", store.path, len(files), _size(files), count, count if apply else 0)
    log = store.journal.lines.path
    yield ErasurePlace("history", log, 1, _size([log]), found.history, found.history if apply else 0)
    others = [path for path in files_in(store.state) if path.endswith(".jsonl") and path != log]
    if others:
        removed = found.proposals if apply else 0
        yield ErasurePlace("proposals", store.state, len(others), _size(others), found.proposals, removed)
    for file, problem in found.unread.items():
        yield ErasurePlace("memory", f"{store.path}/{file}", problem=problem)


def _state_places(
    place: MemoryLocation, stores: Sequence[Store], opened: Sequence[Store], spellings: Spellings, *, apply: bool
) -> Iterator[ErasurePlace]:
    """What else is in our state folder: archives, backups, logs, copies. With FORETOLD_HOME, caches are in it, too.

    The logs of a store that could not be `opened` are searched, and stay as they are: they need its lock.
    """
    logged = {store.journal.lines.path for store in stores}
    searched_logs = {os.path.dirname(store.journal.lines.path) for store in opened}
    missed: list[OSError] = []
    done = {f"{folder}/{LOG}" for folder in searched_logs} | {f"{place.state}/config.toml"}
    folders = (*(f"{store.path}/" for store in stores), f"{place.cache}/")
    logs = {os.path.dirname(path) for path in logged}
    dropped: list[str] = []
    for path in files_in(place.state, missed):
        folder = {os.path.dirname(path), os.path.dirname(os.path.dirname(path))} if path.endswith(".jsonl") else set()
        if folder & searched_logs or path in done or path.startswith(folders):
            continue
        is_locked = bool(folder & logs)
        kind = "archive" if path.endswith(ENDING) else "kept"
        searched = ErasurePlace(kind, path, 1, _size([path]))
        try:
            count = _erase_file(path, spellings, apply=apply and not is_locked)
        except (ForetoldError, OSError) as error:
            yield searched._replace(problem=str(error))
            continue
        if count and _is_named_by_digest(path):
            dropped.append(path)
        yield searched._replace(found=count, removed=count if apply and not is_locked else 0)
    yield from _missed_places("kept", missed)
    if apply:
        _drop_objects(dropped)


def _erase_file(path: str, spellings: Spellings, *, apply: bool) -> int:
    if path.endswith(ENDING):
        count = erase_in_archive(Frames(path), spellings, apply=apply)
        if apply and count:
            with suppress(FileNotFoundError):  # half a frame, which no search can read and no caller was promised
                os.unlink(f"{path}.torn")
        return count
    is_blanked = apply and not _is_named_by_digest(path)
    return blank_in_file(path, spellings) if is_blanked else count_in_file(path, spellings)


def _is_named_by_digest(path: str) -> bool:
    """Whether a file is a copy that nobody would take for itself once it is changed: it is deleted instead."""
    return os.path.basename(os.path.dirname(path)) in ("objects", KEPT) and bool(_DIGEST.match(os.path.basename(path)))


def _drop_objects(paths: Sequence[str]) -> None:
    """Delete copies that are named after their digest, and put random values for it where they are named."""
    for path in paths:
        os.unlink(path)
        sync_folder(os.path.dirname(path))
        name = os.path.basename(path).encode()
        for other in files_in(os.path.dirname(os.path.dirname(path))):
            with suppress(OSError), open(other, "r+b", opener=open_regular) as file:
                data = file.read()
                for match in re.finditer(re.escape(name), data):
                    os.pwrite(file.fileno(), os.urandom(32).hex().encode(), match.start())


def _missed_places(kind: str, missed: Sequence[OSError]) -> Iterator[ErasurePlace]:
    """Folders that could not be listed."""
    for error in missed:
        yield ErasurePlace(kind, str(error.filename), 0, problem=error.strerror or str(error))


def _search_cache(cache: str, spellings: Spellings | None) -> ErasurePlace:
    """The caches. Nothing in them is lost: what cannot be read is deleted with the rest."""
    files = list(files_in(cache))
    count, problem = 0, ""
    for path in files if spellings else ():
        try:
            count += count_in_file(path, spellings) if spellings else 0
        except StoreFailed as error:
            problem = str(error)
    return ErasurePlace("cache", cache, len(files), _size(files), count, problem=problem)


def _drop_cache(place: ErasurePlace) -> ErasurePlace:
    """Delete every cache: indexes have a text in pieces, where no search finds it. They are made again when needed."""
    cache = place.path
    if os.path.isdir(cache):
        for name in os.listdir(cache):
            if name == WORD_TABLE:  # made from a package, of no text of the user's; and not made again by itself
                continue
            path, aside = os.path.join(cache, name), os.path.join(cache, f".foretold-{token()}")
            with suppress(FileNotFoundError):
                os.rename(path, aside)  # in one step: a database never loses its log alone
            if os.path.isdir(aside) and not os.path.islink(aside):
                shutil.rmtree(aside, ignore_errors=True)  # which would open, and wait for, a pipe
            with suppress(OSError):
                os.unlink(aside)
    return place._replace(removed=place.found, problem="")


def _agent_paths(memories: Memories) -> Iterator[tuple[str, str]]:
    home = memories.place.home
    for name in AGENTS:
        yield "agent", os.path.join(home, name)
    for variable in FOLDERS:
        if os.environ.get(variable):
            yield "agent", os.environ[variable]
    for name in SHELLS:
        yield "shell", os.path.join(home, name)
    yield "settings", f"{memories.place.state}/config.toml"
    yield "settings", os.path.join(os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config", "foretold")


def _plain_places(
    kind: str, path: str, spellings: Spellings, *, apply: bool, skip: Sequence[str] = ()
) -> Iterator[ErasurePlace]:
    """The files below a path that have the texts, and one place for all the others."""
    files, size = 0, 0
    missed: list[OSError] = []
    act: Callable[[str, Spellings], int] = blank_in_file if apply else count_in_file
    for file in files_in(path, missed):
        if file.startswith(tuple(f"{each.rstrip('/')}/" for each in skip)) or file in skip:
            continue
        files += 1
        size += _size([file])
        try:
            count = act(file, spellings)
        except StoreFailed as error:
            yield ErasurePlace(kind, file, 1, _size([file]), problem=str(error))
            continue
        if count:
            yield ErasurePlace(kind, file, 1, _size([file]), count, count if apply else 0)
    yield from _missed_places(kind, missed)
    if files or kind == "also":
        problem = "" if files or os.path.lexists(path) else "there is no such file or folder"
        yield ErasurePlace(kind, f"{path} (searched)", files, size, problem=problem)


def _size(paths: Sequence[str]) -> int:
    total = 0
    for path in paths:
        with suppress(OSError):
            total += os.lstat(path).st_size
    return total


def _note(memories: Memories, places: Sequence[ErasurePlace]) -> None:
    """Record that something was erased."""
    kinds = {place.kind for place in places if place.removed}
    counts = {kind: sum(place.removed for place in places if place.kind == kind) for kind in sorted(kinds)}
    state = Folder(memories.place.state)
    with state.locked():
        RecordLog(os.path.join(state.path, LEDGER)).append([{"time": now(), "by": "user", "removed": counts}])


__all__ = ["Eraser", "ErasurePlace", "ErasureReport", "erase_memory", "erase_text"]
