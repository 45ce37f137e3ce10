"""Changing several files: all of them or none.

1. First the new contents are written to temporary files next to their places, with their modes, and synced. A failure
   here leaves every file as it was.
2. Then each file is exchanged with its temporary file, in one step. If what comes out is not what the plan saw, another
   program was faster: it goes back, and so does everything that was done before it.
3. Folders are opened by their real path, part by part, following no link: one that is swapped in is met, not followed.
4. What comes out stays next to its place until all is done and synced; then it is removed.

A process that is killed between the steps leaves some files changed and others not, each of them whole. What they were
is in the store of `restore.py`, written before the first step.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from foretold.errors import NotSynced, RestoreRefused, RestoreStopped
from foretold.files.restore.look import CHUNK, READ, FileState, look_at, state_of_open
from foretold.storage.dirfd import open_folder
from foretold.storage.kernel import KERNEL, Kernel, token, write_all
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.files.restore.plans import FileChange

TEMPORARY, ASIDE = ".foretold-", "-old"
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class _Changed(Exception):
    """A file is not what the plan saw."""


def put_back(changes: Sequence[FileChange], name: str = "", kernel: Kernel = KERNEL) -> bool:
    """Make all changes, or none. `name` is part of the names of our temporary files. Whether none of those is left.

    RestoreRefused: nothing was changed. RestoreStopped: something was, and could not be taken back.
    """
    swaps = [_Swap(change, temporary(name or token(), at), kernel) for at, change in enumerate(changes)]
    made: list[_Swap] = []
    try:
        try:
            for swap in swaps:
                swap.get_ready()
            for swap in swaps:
                swap.make()
                made.append(swap)
        except BaseException as error:
            _take_back(made, error)
            made.clear()
            if isinstance(error, OSError | _Changed):
                raise RestoreRefused(f"{_describe(error, swap)}. Nothing was changed") from error
            raise
        _sync(swaps)
    finally:
        clean = [swap.close(is_made=len(made) == len(swaps)) for swap in swaps]
    return all(clean)


def temporary(name: str, number: int) -> str:
    """The name of the n-th temporary file."""
    return f"{TEMPORARY}{name}-{number}"


def _take_back(made: Iterable[_Swap], error: BaseException) -> None:
    for swap in reversed(list(made)):
        try:
            swap.take_back()
        except (OSError, _Changed) as second:
            said = f"{_describe(error, swap)}; and {swap.change.path} could not be changed back: {second}"
            raise RestoreStopped(f"{said}. Some files are changed and others are not") from error


def _describe(error: BaseException, swap: _Swap) -> str:
    if isinstance(error, _Changed):
        return f"{swap.change.path} was changed by another program meanwhile; read it again"
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"cannot restore {swap.change.path}: {reason}"


def _sync(swaps: Iterable[_Swap]) -> None:
    try:
        for swap in swaps:
            swap.sync()
    except OSError as error:
        said = f"the files are restored, but the disk did not confirm it ({error.strerror}): a power cut may undo it"
        raise NotSynced(said) from error


class _Swap:
    """One change in progress."""

    def __init__(self, change: FileChange, waiting: str, kernel: Kernel) -> None:
        self.change, self.waiting, self.kernel = change, waiting, kernel
        self.folder = self.file = -1  #: descriptors
        self._is_filled = False

    def get_ready(self) -> None:
        """Open the folder, and write the new content next to its place."""
        change = self.change
        self.folder = open_folder(change.folder, self.kernel, make=change.action == "create")
        if change.action == "mode":
            self.file = os.open(change.name, READ, dir_fd=self.folder)
            if not _is(state_of_open(self.file), change.before):
                raise _Changed
        elif change.action != "delete":
            self._fill()

    def _fill(self) -> None:
        change = self.change
        assert change.source is not None
        source = os.open(change.source, READ)
        try:
            target = self.kernel.open(self.waiting, _NEW, 0o600, dir_fd=self.folder)
            try:
                at = 0
                while data := os.pread(source, CHUNK, at):
                    write_all(self.kernel, target, data)
                    at += len(data)
                self._copy_ownership(target)
                self.kernel.fsync(target)
                if state_of_open(target).digest != change.after.digest:
                    raise _Changed
            finally:
                self.kernel.close(target)
            self._is_filled = True
        finally:
            os.close(source)

    def _copy_ownership(self, target: int) -> None:
        """Owner and extended attributes of the old file, and the new mode."""
        before = self.change.before
        if before.kind == "file":
            about = os.fstat(target)
            if before.owner != (about.st_uid, about.st_gid):
                os.fchown(target, *before.owner)
            with suppress(OSError, AttributeError):
                path = os.path.join(self.change.folder, self.change.name)
                for name in os.listxattr(path, follow_symlinks=False):
                    os.setxattr(target, name, os.getxattr(path, name, follow_symlinks=False))
        self.kernel.fchmod(target, self.change.after.mode)

    def make(self) -> None:
        """Make the change in one step. If that fails, nothing was changed."""
        change = self.change
        if change.action == "mode":
            self.kernel.fchmod(self.file, change.after.mode)
        elif change.action == "create":
            self._move_in()
        elif change.action == "delete":
            self._move_out()
        else:
            self._exchange(change.before)

    def _move_in(self) -> None:
        folders = {"src_dir_fd": self.folder, "dst_dir_fd": self.folder}
        try:
            self.kernel.link(self.waiting, self.change.name, **folders, follow_symlinks=False)
        except FileExistsError:
            raise _Changed from None
        except OSError:
            if look_at(self.change.name, self.folder).kind != "missing":
                raise _Changed from None
            self.kernel.rename(self.waiting, self.change.name, **folders)  # a file system without links

    def _move_out(self) -> None:
        folders = {"src_dir_fd": self.folder, "dst_dir_fd": self.folder}
        try:
            self.kernel.rename(self.change.name, self.waiting, **folders)
        except FileNotFoundError:
            raise _Changed from None
        if not _is(look_at(self.waiting, self.folder), self.change.before):
            with self._undoing():
                self.kernel.rename(self.waiting, self.change.name, **folders)
            raise _Changed

    def _exchange(self, expected: FileState) -> None:
        try:
            if not self.kernel.exchange(self.waiting, self.change.name, self.folder, self.folder):
                self._exchange_by_hand(expected)
                return
        except FileNotFoundError:
            raise _Changed from None
        if not _is(look_at(self.waiting, self.folder), expected):
            with self._undoing():
                self.kernel.exchange(self.waiting, self.change.name, self.folder, self.folder)
            raise _Changed

    def _exchange_by_hand(self, expected: FileState) -> None:
        """Without the system call: the old file gets a second name, then the new one takes its first."""
        if not _is(look_at(self.change.name, self.folder), expected):
            raise _Changed
        aside, folders = self.waiting + ASIDE, {"src_dir_fd": self.folder, "dst_dir_fd": self.folder}
        self.kernel.link(self.change.name, aside, **folders, follow_symlinks=False)
        try:
            self.kernel.rename(self.waiting, self.change.name, **folders)
        except OSError:
            with suppress(OSError):
                self.kernel.unlink(aside, dir_fd=self.folder)
            raise
        try:
            self.kernel.rename(aside, self.waiting, **folders)
        except OSError:
            with self._undoing():
                self.kernel.rename(aside, self.change.name, **folders)
            raise

    @contextmanager
    def _undoing(self) -> Iterator[None]:
        """Undo a step that met another file. If that fails, that file stays next to its place."""
        try:
            yield
        except OSError as error:
            said = f"{self.change.path} was changed by another program meanwhile, and could not be put back"
            where = os.path.join(self.change.folder, self.waiting)
            raise RestoreStopped(f"{said} ({error.strerror}): what it was is in {where}") from error

    def take_back(self) -> None:
        """Undo the step."""
        change = self.change
        if change.action == "mode":
            self.kernel.fchmod(self.file, change.before.mode)
        elif change.action == "create":
            self._take_out()
        elif change.action == "delete":
            self._put_in()
        else:
            self._exchange(change.after)

    def _take_out(self) -> None:
        if _is(look_at(self.change.name, self.folder), self.change.after):
            self.kernel.unlink(self.change.name, dir_fd=self.folder)
        else:
            raise _Changed

    def _put_in(self) -> None:
        self._move_in()
        with suppress(OSError):
            self.kernel.unlink(self.waiting, dir_fd=self.folder)

    def sync(self) -> None:
        if self.change.action == "mode":
            self.kernel.fsync(self.file)
        self.kernel.fsync(self.folder)

    def close(self, *, is_made: bool) -> bool:
        """Remove the temporary file, if all was made; else only if it is ours. Whether nothing is left."""
        try:
            found = look_at(self.waiting, self.folder) if self.folder >= 0 else FileState()
            if found.kind == "missing":
                return True
            if not is_made and not self._is_ours(found):
                return False  # the only copy of what another program wrote
            self.kernel.unlink(self.waiting, dir_fd=self.folder)
        except OSError:
            return False
        finally:
            for descriptor in (self.file, self.folder):
                if descriptor >= 0:
                    os.close(descriptor)
        return True

    def _is_ours(self, found: FileState) -> bool:
        """Whether a file is what we wrote, or half of it: it was never in its place."""
        return found.digest == self.change.after.digest or (found.kind == "file" and not self._is_filled)


def _is(found: FileState, expected: FileState) -> bool:
    return (found.kind, found.digest, found.mode) == (expected.kind, expected.digest, expected.mode)
