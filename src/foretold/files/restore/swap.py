"""Putting files back: all of them or none.

1. First everything is got ready beside its place, under a name of ours: the new content with its mode, synced. What
   fails here leaves every file as it was.
2. Then each file changes places with what was got ready, in one step. If what comes out is not what was looked at,
   somebody was faster: it goes back, and so does all that was done before it.
3. Folders are walked by their real path, part by part, following no link: one that is swapped in is met, not followed.
4. What comes out stays beside its place until all is done and synced; then it is taken away.

A process that is killed between the steps leaves some files done and others not, each of them whole. What they were is
in `undo.py`, written down before the first step.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from foretold.errors import NotSynced, RestoreRefused, RestoreStopped
from foretold.files.restore.look import CHUNK, READ, FileState, look_at, state_of_open
from foretold.storage.dirfd import open_folder
from foretold.storage.kernel import KERNEL, Kernel, token, write_all
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from foretold.files.restore.plans import FileChange

TEMPORARY, ASIDE = ".foretold-", "-old"
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class _Changed(Exception):
    """A file is not what it was when it was looked at."""


def put_back(changes: Sequence[FileChange], name: str = "", kernel: Kernel = KERNEL) -> bool:
    """Make all changes, or none. `name` is what our own files beside them are called by. Whether none of those is left.

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
                raise RestoreRefused(f"{_said(error, swap)}. Nothing was changed") from error
            raise
        _sync(swaps)
    finally:
        clean = [swap.close(is_made=len(made) == len(swaps)) for swap in swaps]
    return all(clean)


def temporary(name: str, number: int) -> str:
    """What the n-th file is called while it waits beside its place."""
    return f"{TEMPORARY}{name}-{number}"


def _take_back(made: Iterable[_Swap], error: BaseException) -> None:
    for swap in reversed(list(made)):
        try:
            swap.take_back()
        except (OSError, _Changed) as second:
            said = f"{_said(error, swap)}; and {swap.change.path} could not be put back again: {second}"
            raise RestoreStopped(f"{said}. Some files are changed and others are not") from error


def _said(error: BaseException, swap: _Swap) -> str:
    if isinstance(error, _Changed):
        return f"{swap.change.path} was changed by somebody else meanwhile; look at it again"
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"cannot put back {swap.change.path}: {reason}"


def _sync(swaps: Iterable[_Swap]) -> None:
    try:
        for swap in swaps:
            swap.sync()
    except OSError as error:
        said = f"the files are put back, but the disk did not confirm it ({error.strerror}): a power cut may undo it"
        raise NotSynced(said) from error


class _Swap:
    """One change on its way."""

    def __init__(self, change: FileChange, beside: str, kernel: Kernel) -> None:
        self.change, self.beside, self.kernel = change, beside, kernel
        self.folder = self.file = -1  #: descriptors
        self._is_filled = False

    def get_ready(self) -> None:
        """Open the folder, and have the new content beside its place."""
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
            target = self.kernel.open(self.beside, _NEW, 0o600, dir_fd=self.folder)
            try:
                at = 0
                while data := os.pread(source, CHUNK, at):
                    write_all(self.kernel, target, data)
                    at += len(data)
                self._dress(target)
                self.kernel.fsync(target)
                if state_of_open(target).digest != change.after.digest:
                    raise _Changed
            finally:
                self.kernel.close(target)
            self._is_filled = True
        finally:
            os.close(source)

    def _dress(self, target: int) -> None:
        """Owner, mode and extended attributes: those that the file has, but for the mode."""
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
        """The one step. If it fails, it was not made."""
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
            self.kernel.link(self.beside, self.change.name, **folders, follow_symlinks=False)
        except FileExistsError:
            raise _Changed from None
        except OSError:
            if look_at(self.change.name, self.folder).kind != "missing":
                raise _Changed from None
            self.kernel.rename(self.beside, self.change.name, **folders)  # a file system without links

    def _move_out(self) -> None:
        folders = {"src_dir_fd": self.folder, "dst_dir_fd": self.folder}
        try:
            self.kernel.rename(self.change.name, self.beside, **folders)
        except FileNotFoundError:
            raise _Changed from None
        if not _is(look_at(self.beside, self.folder), self.change.before):
            with self._giving_back():
                self.kernel.rename(self.beside, self.change.name, **folders)
            raise _Changed

    def _exchange(self, expected: FileState) -> None:
        try:
            if not self.kernel.exchange(self.beside, self.change.name, self.folder, self.folder):
                self._exchange_by_hand(expected)
                return
        except FileNotFoundError:
            raise _Changed from None
        if not _is(look_at(self.beside, self.folder), expected):
            with self._giving_back():
                self.kernel.exchange(self.beside, self.change.name, self.folder, self.folder)
            raise _Changed

    def _exchange_by_hand(self, expected: FileState) -> None:
        """Where the system has no exchange: the old file gets a second name, then the new one takes its first."""
        if not _is(look_at(self.change.name, self.folder), expected):
            raise _Changed
        aside, folders = self.beside + ASIDE, {"src_dir_fd": self.folder, "dst_dir_fd": self.folder}
        self.kernel.link(self.change.name, aside, **folders, follow_symlinks=False)
        try:
            self.kernel.rename(self.beside, self.change.name, **folders)
        except OSError:
            with suppress(OSError):
                self.kernel.unlink(aside, dir_fd=self.folder)
            raise
        try:
            self.kernel.rename(aside, self.beside, **folders)
        except OSError:
            with self._giving_back():
                self.kernel.rename(aside, self.change.name, **folders)
            raise

    @contextmanager
    def _giving_back(self) -> Iterator[None]:
        """Undo what came out wrong. If that fails, what was there is beside its place, and stays there."""
        try:
            yield
        except OSError as error:
            said = f"{self.change.path} was changed by somebody else meanwhile, and could not be put back"
            where = os.path.join(self.change.folder, self.beside)
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
            self.kernel.unlink(self.beside, dir_fd=self.folder)

    def sync(self) -> None:
        if self.change.action == "mode":
            self.kernel.fsync(self.file)
        self.kernel.fsync(self.folder)

    def close(self, *, is_made: bool) -> bool:
        """Take away what waits beside the place, if all was made; else only what is ours. Whether nothing is left."""
        try:
            found = look_at(self.beside, self.folder) if self.folder >= 0 else FileState()
            if found.kind == "missing":
                return True
            if not is_made and not self._is_ours(found):
                return False  # the only place where somebody's text is
            self.kernel.unlink(self.beside, dir_fd=self.folder)
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
