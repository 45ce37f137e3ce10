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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from foretold.errors import NotSynced, RestoreRefused, RestoreStopped
from foretold.files.restore.look import FileState, look_at, state_of_open
from foretold.files.restore.plans import FileChange
from foretold.storage.atomic import fill, read_chunks
from foretold.storage.dirfd import open_folder
from foretold.storage.kernel import KERNEL, Kernel, link_new, token
from foretold.storage.tree import open_regular

TEMPORARY, ASIDE = ".foretold-", "-old"


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
                swap.make(back=False)
                made.append(swap)
        except BaseException as error:
            _take_back(made, error)
            made.clear()
            if isinstance(error, OSError | _Changed):
                raise RestoreRefused(f"{_describe(error, swap)}. Nothing was changed") from error
            raise
        try:
            for swap in swaps:
                swap.sync()
        except OSError as error:
            said = f"the disk did not confirm it ({error.strerror}): a power cut may undo it"
            raise NotSynced(f"the files are restored, but {said}") from error
    finally:
        clean = [swap.close(is_made=len(made) == len(swaps)) for swap in swaps]
    return all(clean)


def temporary(name: str, number: int) -> str:
    """The name of the n-th temporary file."""
    return f"{TEMPORARY}{name}-{number}"


def _take_back(made: Sequence[_Swap], error: BaseException) -> None:
    for swap in reversed(made):
        try:
            swap.make(back=True)
        except (OSError, _Changed) as second:
            said = f"{_describe(error, swap)}; and {swap.change.path} could not be changed back: {second}"
            raise RestoreStopped(f"{said}. Some files are changed and others are not") from error


def _describe(error: BaseException, swap: _Swap) -> str:
    if isinstance(error, _Changed):
        return f"{swap.change.path} was changed by another program meanwhile; read it again"
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"cannot restore {swap.change.path}: {reason}"


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
            self.file = open_regular(change.name, os.O_NOFOLLOW, dir_fd=self.folder)
            _expect(state_of_open(self.file), change.before)
        elif change.action != "delete" and change.source is not None:
            source = open_regular(change.source, os.O_NOFOLLOW)
            try:
                data, copy = read_chunks(source), self._copy_ownership
                fill(self.waiting, data, self.folder, mode=change.after.mode, finish=copy, kernel=self.kernel)
            finally:
                os.close(source)
            if look_at(self.waiting, self.folder).digest != change.after.digest:
                raise _Changed
            self._is_filled = True

    def _copy_ownership(self, target: int) -> None:
        """Owner and extended attributes of the old file; of a new one, the owner that it should have."""
        before = self.change.before
        owner = before.owner if before.kind == "file" else self.change.after.owner
        about = os.fstat(target)
        if owner not in ((-1, -1), (about.st_uid, about.st_gid)):
            os.fchown(target, *owner)
        if before.kind == "file":
            with suppress(OSError, AttributeError):
                path = os.path.join(self.change.folder, self.change.name)
                for name in os.listxattr(path, follow_symlinks=False):
                    os.setxattr(target, name, os.getxattr(path, name, follow_symlinks=False))

    def make(self, *, back: bool) -> None:
        """Make the change in one step, or undo it. If that fails, nothing was changed."""
        name, waiting, action = self.change.name, self.waiting, self.change.action
        before, after, appears, vanishes = self.change.before, self.change.after, "create", "delete"
        if back:
            before, after, appears, vanishes = after, before, vanishes, appears
        if action == "mode":
            self.kernel.fchmod(self.file, after.mode)
        elif action == appears:
            try:
                link_new(self.kernel, waiting, name, self.folder, self.folder)
            except FileExistsError:
                raise _Changed from None
            if back:
                with suppress(OSError):
                    self.kernel.unlink(waiting, dir_fd=self.folder)
        elif action != vanishes:
            self._exchange(before)
        elif back:
            _expect(look_at(name, self.folder), before)
            self.kernel.unlink(name, dir_fd=self.folder)
        else:
            with _gone_is_changed():
                self._rename(name, waiting)
            self._check(before, lambda: self._rename(waiting, name))

    def _rename(self, old: str, new: str) -> None:
        self.kernel.rename(old, new, src_dir_fd=self.folder, dst_dir_fd=self.folder)

    def _exchange(self, expected: FileState) -> None:
        def exchange() -> bool:
            return self.kernel.exchange(self.waiting, self.change.name, self.folder, self.folder)

        with _gone_is_changed():
            if not exchange():
                self._exchange_by_hand(expected)
                return
        self._check(expected, exchange)

    def _exchange_by_hand(self, expected: FileState) -> None:
        """Without the system call: the old file gets a second name, then the new one takes its first."""
        name, aside = self.change.name, self.waiting + ASIDE
        _expect(look_at(name, self.folder), expected)
        self.kernel.link(name, aside, src_dir_fd=self.folder, dst_dir_fd=self.folder, follow_symlinks=False)
        try:
            self._rename(self.waiting, name)
        except OSError:
            with suppress(OSError):
                self.kernel.unlink(aside, dir_fd=self.folder)
            raise
        try:
            self._rename(aside, self.waiting)
        except OSError:
            self._undo(lambda: self._rename(aside, name))
            raise

    def _check(self, expected: FileState, undo: Callable[[], object]) -> None:
        """Undo a step if what came out is not what was expected."""
        try:
            _expect(look_at(self.waiting, self.folder), expected)
        except _Changed:
            self._undo(undo)
            raise

    def _undo(self, undo: Callable[[], object]) -> None:
        """Undo a step that met another file. If that fails, that file stays next to its place."""
        try:
            undo()
        except OSError as error:
            said = f"{self.change.path} was changed by another program meanwhile, and could not be put back"
            where = os.path.join(self.change.folder, self.waiting)
            raise RestoreStopped(f"{said} ({error.strerror}): what it was is in {where}") from error

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
            is_half = found.kind == "file" and not self._is_filled  # it was never in its place
            if not is_made and not is_half and found.digest != self.change.after.digest:
                return False  # the only copy of what another program wrote
            self.kernel.unlink(self.waiting, dir_fd=self.folder)
        except OSError:
            return False
        finally:
            for descriptor in (self.file, self.folder):
                if descriptor >= 0:
                    os.close(descriptor)
        return True


def _expect(found: FileState, expected: FileState) -> None:
    if (found.kind, found.digest, found.mode) != (expected.kind, expected.digest, expected.mode):
        raise _Changed


@contextmanager
def _gone_is_changed() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise _Changed from None
