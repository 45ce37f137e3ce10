"""Restoring files so that the restore can be undone: the plan, the backups, the changes, in this order.

1. The store is in `$FORETOLD_HOME/files`, else in `$XDG_STATE_HOME/foretold/files`: `objects/` has contents by their
   digest, `restores/<id>.json` what one restore does to which files.
2. Everything is written and synced before the first file is touched; the restore is then `begun`, and `done` when it is
   finished. One that is begun and not done was interrupted: it can be undone too, or repeated.
3. Two restores do not run at once: the lock is the kernel's, and ends with its process.
4. Contents are never deleted here. Deleting the folder frees the space, and what was restored before cannot be undone.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from foretold.errors import NoCheckpoint, NotSynced, RestoreRefused, RestoreStopped
from foretold.files.restore.look import FileState, look_at
from foretold.files.restore.plans import FileChange, RestorePlan, WantedFile
from foretold.files.restore.swap import ASIDE, put_back, temporary
from foretold.paths import foretold_folders
from foretold.storage.atomic import read_chunks, replace_file
from foretold.storage.dirfd import open_folder
from foretold.storage.kernel import KERNEL, Kernel, sync_folder, token
from foretold.storage.lock import wait_for_lock
from foretold.storage.tree import open_regular, read_regular
from foretold.types import NamedTuple


class RestoreResult(NamedTuple):
    """What was done, and the id that undoes it; empty if there was nothing to do."""

    plan: RestorePlan
    undo: str = ""


def refuse_problems(plan: RestorePlan) -> None:
    """RestoreRefused if the plan has problems."""
    if plan.problems:
        said = "; ".join(f"{each.path}: {each.message}" for each in plan.problems)
        raise RestoreRefused(f"{said}. Nothing was changed")


def restore(plan: RestorePlan, undo: Undo, why: str) -> RestoreResult:
    """Make all changes of a plan, or none. What they overwrite is backed up first."""
    refuse_problems(plan)
    if not plan.changes and all(each.is_done for each in undo.restores()):
        return RestoreResult(plan)
    with undo.locked():
        undo.settle()
        if not plan.changes:
            return RestoreResult(plan)
        begun = undo.begin(plan.changes, why)
        try:
            is_clean = put_back(plan.changes, begun.id, undo.kernel)
        except (RestoreStopped, NotSynced) as error:
            raise type(error)(f"{error}. Undo it: {undo.command or f'foretold files undo {begun.id}'}") from error
        except BaseException:
            undo.forget(begun)
            raise
        if is_clean:
            undo.finish(begun)
        undo.settle()
    return RestoreResult(plan, begun.id)


def take_back(given: Restore, plan: RestorePlan, undo: Undo) -> RestoreResult:
    """Undo a restore, by the plan made of its backups; this can be undone itself."""
    done = restore(plan, undo, f"undo {given.id}: {given.why}")
    if not given.is_done and not undo.sweep(given):
        undo.finish(given)
    undo.remove_folders(given)
    return done


SCHEMA = "foretold.files.restore.restore/1"
MOST = 1 << 28  #: bytes of a record that is read
PATIENCE = 60.0  #: seconds to wait for another process


class ChangedFile(NamedTuple):
    """A file that a restore changes: digest and mode before and after; None: there is no file."""

    path: str
    folder: str
    before: tuple[str, int] | None
    after: tuple[str, int] | None
    beside: str  #: the name of our temporary file next to it
    owner: tuple[int, int] = (-1, -1)  #: user and group of the file that was there


class Restore(NamedTuple):
    """One restore."""

    id: str
    time: float
    why: str
    files: tuple[ChangedFile, ...]
    is_done: bool = False
    folders: tuple[str, ...] = ()  #: that it creates, outer ones first


def state_folder(home: str, env: Mapping[str, str]) -> str:
    """Where the store is.

    >>> state_folder("/home/me", {}), state_folder("/home/me", {"FORETOLD_HOME": "/srv/notes"})
    ('/home/me/.local/state/foretold/files', '/srv/notes/files')
    """
    return foretold_folders(home, env).state + "/files"


class Undo:
    """The store of restores and of what they overwrote."""

    def __init__(self, folder: str, kernel: Kernel = KERNEL, *, command: str = "") -> None:
        self.folder, self.kernel = folder, kernel
        self.command = command  #: what undoes the last restore, if it is not `foretold files undo`

    # Writing

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Allow one restore at a time."""
        with self._refusing():
            os.makedirs(self.folder, 0o700, exist_ok=True)
            lock = open_regular(os.path.join(self.folder, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if not wait_for_lock(lock, PATIENCE):
                said = f"another process has been restoring files for {PATIENCE:g} seconds"
                raise RestoreRefused(f"{said}. Nothing was changed")
            yield
        finally:
            os.close(lock)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            said = f"the files could not be backed up in {self.folder}: {error.strerror or error}"
            raise RestoreRefused(f"{said}. Nothing was changed") from error

    def begin(self, changes: Sequence[FileChange], why: str) -> Restore:
        """Back up the files, and record what will be done to them."""
        name = time.strftime("%Y%m%d-%H%M%S-", time.gmtime()) + token()[-4:]
        files = tuple(
            ChangedFile(
                each.path,
                each.folder,
                _state(each.before),
                _state(each.after),
                temporary(name, number),
                each.before.owner,
            )
            for number, each in enumerate(changes)
        )
        restore = Restore(name, time.time(), why, files, folders=_list_missing_folders(changes))
        with self._refusing():
            for change in changes:
                if change.before.kind == "file":
                    self._keep(change)
            self._write(restore)
        return restore

    def finish(self, restore: Restore) -> None:
        """Record that it is done. If that fails, it is only listed as interrupted."""
        with suppress(OSError):
            self._write(restore._replace(is_done=True))

    def object_path(self, digest: str) -> str:
        return os.path.join(self.folder, "objects", digest)

    def _keep(self, change: FileChange) -> None:
        """The content of a file, by its digest."""
        target = self.object_path(change.before.digest)
        if look_at(target).digest == change.before.digest:
            return
        self._folder(os.path.dirname(target))
        source = open_regular(os.path.join(change.folder, change.name), os.O_NOFOLLOW)
        try:
            replace_file(target, _checked(source, change), kernel=self.kernel)
        finally:
            os.close(source)
        sync_folder(os.path.dirname(target), self.kernel)

    def _write(self, restore: Restore) -> None:
        folder = os.path.join(self.folder, "restores")
        self._folder(folder)
        values = {**restore._asdict(), "files": [each._asdict() for each in restore.files]}
        data = json.dumps({"schema": SCHEMA, **values}, indent=1).encode()
        replace_file(os.path.join(folder, f"{restore.id}.json"), data, kernel=self.kernel)
        sync_folder(folder, self.kernel)

    def _folder(self, path: str) -> None:
        """Create a folder, and sync the one above."""
        if os.path.isdir(path):
            return
        self._folder(os.path.dirname(path))
        with suppress(FileExistsError):
            self.kernel.mkdir(path, 0o700)
        sync_folder(os.path.dirname(path), self.kernel)

    # Reading

    def restores(self) -> list[Restore]:
        """All restores, the newest first."""
        try:
            names = os.listdir(os.path.join(self.folder, "restores"))
        except OSError:
            return []
        found = (self._read(name) for name in names if not name.startswith("."))
        return sorted((each for each in found if each), key=lambda each: each.time, reverse=True)

    def _read(self, name: str) -> Restore | None:
        try:
            values = json.loads(read_regular(os.path.join(self.folder, "restores", name), MOST))
            files = tuple(
                ChangedFile(
                    each["path"],
                    each["folder"],
                    _pair(each["before"]),
                    _pair(each["after"]),
                    each["beside"],
                    _owner(each.get("owner", (-1, -1))),  # not in records of earlier releases
                )
                for each in values["files"]
            )
            folders = tuple(map(str, values.get("folders", ())))
            return Restore(values["id"], float(values["time"]), values["why"], files, bool(values["is_done"]), folders)
        except (OSError, ValueError, KeyError, TypeError):
            return None  # not our file, or of a later version

    def find(self, name: str) -> Restore:
        """A restore by its id, or the beginning of it."""
        found = [each for each in self.restores() if each.id == name or (name and each.id.startswith(name))]
        if not found:
            raise NoCheckpoint(f"there is no restore {name!r}; foretold files undo lists all")
        if len(found) > 1 and found[0].id != name:
            raise NoCheckpoint(f"{name!r} could be: {', '.join(each.id for each in found)}")
        return found[0]

    def wanted(self, restore: Restore) -> list[WantedFile]:
        """What the files were before a restore."""
        return [
            WantedFile(
                each.path,
                self.object_path(each.before[0]),
                parent=each.folder,
                mode=each.before[1],
                owner=each.owner,
            )
            if each.before
            else WantedFile(each.path, None, parent=each.folder)
            for each in restore.files
        ]

    def changed_since(self, restore: Restore) -> list[str]:
        """Files that are neither what they were before a restore nor what it made of them."""
        known = {each.path: (each.before, each.after) for each in restore.files}
        return [path for path, states in known.items() if _state(look_at(path)) not in states]

    def sweep(self, restore: Restore) -> list[str]:
        """Remove what an interrupted restore left next to the files; those that hold something unknown stay."""
        left: list[str] = []
        for each in restore.files:
            known = [pair[0] for pair in (each.before, each.after) if pair]
            for name in (each.beside, each.beside + ASIDE):
                path = os.path.join(each.folder, name)
                found = look_at(path)
                # if the file in its place is unchanged, nothing was moved yet: then this one is ours, whole or not
                is_ours = found.digest in known or _state(look_at(each.path)) == each.before
                try:
                    if found.kind == "file" and is_ours:
                        self.kernel.unlink(path)
                    elif found.kind != "missing":
                        left.append(path)
                except OSError:
                    left.append(path)
        return left

    def settle(self) -> None:
        """Finish or forget interrupted restores whose files are all old, or all new."""
        for restore in self.restores():
            if restore.is_done:
                continue
            states = [(_state(look_at(each.path)), each) for each in restore.files]
            if all(state == each.after for state, each in states):
                if not self.sweep(restore):
                    self.finish(restore)
            elif all(state == each.before for state, each in states):
                self.forget(restore)

    def forget(self, restore: Restore) -> None:
        """Forget a restore that changed nothing, unless something is left next to the files."""
        if not self.sweep(restore):
            self.remove_folders(restore)
            with suppress(OSError):
                self.kernel.unlink(os.path.join(self.folder, "restores", f"{restore.id}.json"))

    def remove_folders(self, restore: Restore) -> None:
        """Remove the folders that a restore created, unless something is in them."""
        for path in reversed(restore.folders):
            with suppress(OSError):
                above = open_folder(os.path.dirname(path), self.kernel, make=False)
                try:
                    self.kernel.rmdir(os.path.basename(path), dir_fd=above)
                finally:
                    os.close(above)


def _list_missing_folders(changes: Sequence[FileChange]) -> tuple[str, ...]:
    """The folders that have to be created for some files, outer ones first."""
    found: dict[str, None] = {}
    for change in changes:
        missing, folder = [], change.folder
        while change.action == "create" and not os.path.lexists(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        found.update(dict.fromkeys(reversed(missing)))
    return tuple(found)


def _state(found: FileState) -> tuple[str, int] | None:
    return (found.digest, found.mode) if found.kind == "file" else None


def _pair(value: Sequence[str | int] | None) -> tuple[str, int] | None:
    if value is None:
        return None
    digest, mode = value
    return str(digest), int(mode)


def _owner(value: Sequence[int]) -> tuple[int, int]:
    user, group = value
    return int(user), int(group)


def _checked(source: int, change: FileChange) -> Iterator[bytes]:
    """The content of a file; RestoreRefused if it is not the one that the plan saw."""
    digest = hashlib.sha256()
    for data in read_chunks(source):
        digest.update(data)
        yield data
    if digest.hexdigest() != change.before.digest:
        raise RestoreRefused(f"{change.path} is being changed by another program. Nothing was changed")
