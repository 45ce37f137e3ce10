"""A folder whose files are whole or absent, and that no path leads out of.

1. Every path is walked from the folder's own descriptor, part by part, following no link: one that is swapped in
   meanwhile is met, not followed.
2. A new file is written under a temporary name, synced, and then linked to its own name, which fails if the name is
   taken. A changed one is written likewise and then exchanged with the old one; if that is not the one that was
   expected, they are exchanged back.
3. The lock is the kernel's, on the folder itself: it ends with its process and leaves nothing on disk.
4. Temporary files are made only under the lock, at the top. The next process that holds it may therefore remove those
   of one that died, after checking whether they hold something that exists nowhere else.
5. Under the lock the folder is listed once; the list counts while the folder's own stamp stays the same, unless that is
   of this very moment.
6. An empty folder is synced into all those above it before a file is put there: the process that made it may have
   died before that.
"""

from __future__ import annotations

import errno
import hashlib  # noqa: F401 - makes `digest_of` fast: two files are compared between two steps
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import contextmanager, suppress

from foretold.errors import BadName, MemoryChanged, MemoryExists, NoSuchMemory, NotSynced, StoreFailed
from foretold.storage.atomic import Data, fill
from foretold.storage.digest import digest_of
from foretold.storage.dirfd import INSIDE, FileBytes, Stamp, read_in, stamp_of
from foretold.storage.kernel import FOLDER, KERNEL, Kernel, failed, is_there, link_new, store_errors, sync_folder, token
from foretold.storage.lock import pause, try_lock
from foretold.storage.names import MAX_PARTS, safe_parts, same_name
from foretold.types import Finding, NamedTuple

TEMPORARY = ".foretold-"
PATIENCE = 60.0  #: seconds to wait for another process that holds the lock
TICK = 50_000_000  #: nanoseconds; more than a tick of any clock by which files are stamped


class Modes(NamedTuple):
    """Who may read: only the owner, or everyone."""

    file: int = 0o600
    folder: int = 0o700


class _Spot(NamedTuple):
    """The place of a file: descriptors of the whole folder and of the file's own, and its name in the latter."""

    top: int
    parent: int
    name: str


class Folder:
    """The files of one folder."""

    ending = ""  #: of every file
    apart = ""  #: a file that is not listed with the others
    largest = 4 * 1024 * 1024  #: bytes of a file that is read

    def __init__(self, path: str, modes: Modes | None = None, kernel: Kernel = KERNEL) -> None:
        self.path = path
        self.modes = modes or Modes()
        self.kernel = kernel
        self._held: int | None = None  #: the folder's descriptor while we hold its lock
        self._rescue: Callable[[bytes], None] | None = None  #: keeps what other programs wrote
        self._listed: tuple[Stamp, list[str], str] | None = None  #: the folder's stamp, and the names in it then

    def read(self, file: str) -> FileBytes:
        """A file's bytes. Raises NoSuchMemory, or StoreFailed for anything but a regular file."""
        with self._spot(file) as spot:
            return read_in(spot.parent, spot.name, file, self.path, self.largest)

    def files(self, findings: list[Finding] | None = None) -> dict[str, Stamp]:
        """Every file with its stamp, sorted by name. `findings` gets what was skipped, and why."""
        return dict(sorted(self.look(frozenset(), [] if findings is None else findings)[1].items()))

    def look(self, known: Set[str], findings: list[Finding]) -> tuple[Set[str], dict[str, Stamp]]:
        """The known files that are there, by their names alone, and all others with their stamps."""
        met: list[tuple[str, list[str]]] = []
        found: dict[str, Stamp] = {}
        try:
            folder = os.open(self.path, FOLDER)
        except OSError as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                findings.append(Finding(self.path, None, "unreadable", error.strerror or str(error)))
            return set(), found
        try:
            count = self._look(folder, "", known, met, found, findings)
        finally:
            os.close(folder)
        if count == len(known):
            return known, found
        return {prefix + name for prefix, names in met for name in names} & known, found

    def _look(
        self,
        folder: int,
        prefix: str,
        known: Set[str],
        met: list[tuple[str, list[str]]],
        found: dict[str, Stamp],
        skipped: list[Finding],
    ) -> int:
        """Look into one folder, and those in it; how many known files are there."""
        try:
            names = self.names(folder)
        except StoreFailed as error:
            skipped.append(Finding(prefix[:-1] or self.path, None, "unreadable", str(error)))
            return 0
        met.append((prefix, names))
        others = [name for name in names if prefix + name not in known]
        count = len(names) - len(others)
        for name in others:
            file = prefix + name
            if name.startswith("."):
                continue
            try:
                about = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if file == self.apart and not stat.S_ISLNK(about.st_mode):
                    continue
                if stat.S_ISDIR(about.st_mode) and file.count("/") + 2 <= MAX_PARTS:
                    inner = os.open(name, INSIDE, dir_fd=folder)
                    try:
                        count += self._look(inner, file + "/", known, met, found, skipped)
                    finally:
                        os.close(inner)
            except FileNotFoundError:
                continue  # deleted in this moment
            except OSError as error:
                skipped.append(Finding(file, None, "unreadable", error.strerror or str(error)))
                continue
            problem = _find_problem(file, about, self.ending, self.largest)
            if problem is not None:
                skipped.append(problem)
            elif stat.S_ISREG(about.st_mode) and name.endswith(self.ending):
                found[file] = stamp_of(about)
        return count

    # Changes; under the lock

    @contextmanager
    def locked(self, rescue: Callable[[bytes], None] | None = None) -> Iterator[None]:
        """Lock the folder, creating it if needed. `rescue` is given what killed processes left."""
        descriptor = self._lock()
        try:
            if not self.names(descriptor):
                self.root()
            self._sweep(descriptor, rescue)
            self._held, self._rescue = descriptor, rescue
            yield
        finally:
            self._held = self._rescue = self._listed = None
            os.close(descriptor)

    def leftovers(self, folder: int | None = None) -> list[str]:
        """The temporary files that are there. Under the lock, those that no sweep removed."""
        names, joined = self._list(self._held if folder is None else folder)  # type: ignore[arg-type]
        return [name for name in names if name.startswith(TEMPORARY)] if f"\0{TEMPORARY}" in joined else []

    def names(self, folder: int) -> list[str]:
        """The names in an open folder of this one. Under the lock the folder itself is listed once while it stays."""
        return self._list(folder)[0]

    def _list(self, folder: int) -> tuple[list[str], str]:
        """The names, and all of them in one text, each between two zeros: what is not in it, needs no loop to see."""
        with store_errors(f"cannot list {self.path}"):
            stamp = stamp_of(os.fstat(folder))
            if self._listed is not None and self._listed[0] == stamp:
                return self._listed[1:]
            is_old = abs(time.time_ns() - stamp.ctime) > TICK  # else a change within this tick would not show
            names = os.listdir(folder)
            joined = "\0".join(["", *names, ""])
            if is_old and stamp_of(os.fstat(folder)) == stamp:
                self._listed = (stamp, names, joined)
            return names, joined

    def _lock(self) -> int:
        until = time.monotonic() + PATIENCE
        while True:
            with store_errors(f"cannot open {self.path}"):
                self.make()
                descriptor = os.open(self.path, FOLDER)
            is_held = False
            try:
                # one that was replaced while we waited is not held: lock the one that is there now
                with store_errors(f"cannot lock {self.path}"), suppress(FileNotFoundError):
                    is_held = try_lock(descriptor) and os.path.samestat(os.fstat(descriptor), os.stat(self.path))
            finally:
                if not is_held:
                    os.close(descriptor)
            if is_held:
                return descriptor
            if time.monotonic() > until:
                said = f"another process has locked {self.path} for {PATIENCE:g} seconds"
                raise StoreFailed(f"{said}. Nothing was changed")
            pause()

    def make(self) -> None:
        """Create the folder and those above it that are missing."""
        missing = []
        path = os.path.abspath(self.path)
        while not os.path.isdir(path):
            missing.append(path)
            path = os.path.dirname(path)
        for folder in reversed(missing):
            try:
                self.kernel.mkdir(folder, self.modes.folder)
                os.chmod(folder, self.modes.folder)
            except FileExistsError:
                if not os.path.isdir(folder):
                    raise NotADirectoryError(errno.ENOTDIR, "", folder) from None

    def root(self) -> None:
        """Sync the folder into those above it."""
        path = os.path.abspath(self.path)
        while (above := os.path.dirname(path)) != path:
            path = above
            try:
                sync_folder(path, self.kernel)
            except PermissionError:
                return  # we may not even read it, so we did not create it
            except OSError as error:
                raise failed(f"cannot sync {path}", error) from error

    def _sweep(self, top: int, rescue: Callable[[bytes], None] | None) -> None:
        """Remove the temporary files of processes that died."""
        for name in self.leftovers(top):
            data = self._data(top, name)
            if data is not None or (rescue is None and _is_file(top, name)):
                if rescue and data is not None:
                    rescue(data)
                with suppress(OSError):  # the next one sweeps again
                    self.kernel.unlink(name, dir_fd=top)

    def _data(self, folder: int, name: str) -> bytes | None:
        """The bytes of a file; None if it is missing, or cannot be one of ours: a folder, a link, a file too large."""
        try:
            return read_in(folder, name, name, "here", self.largest).data
        except (NoSuchMemory, StoreFailed):
            return None

    def stamp(self, file: str) -> Stamp:
        """The stamp of a file, which is not followed if it is a link. OSError, or NoSuchMemory without its folder."""
        with self._spot(file) as spot:
            return stamp_of(os.stat(spot.name, dir_fd=spot.parent, follow_symlinks=False))

    def stamps(self, files: Iterable[str]) -> dict[str, Stamp]:
        """The stamps of some files, of those that have one. Under the lock."""
        found: dict[str, Stamp] = {}
        for file in files:
            with suppress(OSError, NoSuchMemory, StoreFailed):
                if "/" in file:
                    found[file] = self.stamp(file)
                else:
                    found[file] = stamp_of(os.stat(file, dir_fd=self._held, follow_symlinks=False))
        return found

    def has(self, file: str) -> bool:
        """Whether there is a regular file of this path."""
        with suppress(NoSuchMemory, StoreFailed, OSError), self._spot(file) as spot:
            return stat.S_ISREG(os.stat(spot.name, dir_fd=spot.parent, follow_symlinks=False).st_mode)
        return False

    def create(self, file: str, data: bytes) -> None:
        """Create a file; MemoryExists if it is there."""
        with self._changing(file, make=True) as spot:
            self._refuse_twin(spot, file)
            with self._temporary(spot, data, self.modes.file) as temporary:
                try:
                    link_new(self.kernel, temporary, spot.name, spot.top, spot.parent)
                except FileExistsError:
                    raise MemoryExists(f"{file} is there already") from None

    def refuse_twin(self, file: str) -> None:
        """MemoryExists if a file has this name, or one that some file systems cannot tell from it."""
        with suppress(NoSuchMemory), self._spot(file) as spot:  # else not even its folder is there
            self._refuse_twin(spot, file)

    def _refuse_twin(self, spot: _Spot, file: str) -> None:
        """MemoryExists if a name in a file's folder is the same on some file system. Most names are plain ASCII."""
        (names, joined), key = self._list(spot.parent), same_name(spot.name)
        if joined.isascii() and f"\0{key}\0" not in joined.lower():
            return
        for other in names:
            if same_name(other) == key:
                raise MemoryExists(f"{file} is there already" + (f", as {other}" if other != spot.name else ""))

    def replace(self, file: str, data: bytes, expect: str) -> None:
        """Replace a file whose digest is `expect`; MemoryChanged if it has another one."""
        with self._changing(file) as spot:
            self._expect(spot, expect, file)
            mode = stat.S_IMODE(os.stat(spot.name, dir_fd=spot.parent, follow_symlinks=False).st_mode)
            with self._temporary(spot, data, mode, expect) as temporary:
                self._expect(spot, expect, file)  # again: writing and syncing takes long, exchanging does not
                try:
                    exchanged = self.kernel.exchange(temporary, spot.name, spot.top, spot.parent)
                except FileNotFoundError:
                    raise _changed(file) from None
                if not exchanged:
                    self.kernel.rename(temporary, spot.name, src_dir_fd=spot.top, dst_dir_fd=spot.parent)
                elif not self._is(spot.top, temporary, expect):
                    foreign = self._data(spot.top, temporary)
                    with _putting_back(file):
                        self.kernel.exchange(temporary, spot.name, spot.top, spot.parent)
                    if self._rescue is not None and foreign:
                        with suppress(
                            StoreFailed
                        ):  # its program may have read ours in between, and continue from there
                            self._rescue(foreign)
                    raise _changed(file)

    def remove(self, file: str, expect: str) -> None:
        """Remove a file whose digest is `expect`."""
        with self._changing(file) as spot:
            self._expect(spot, expect, file)
            aside = TEMPORARY + token()
            try:
                self.kernel.rename(spot.name, aside, src_dir_fd=spot.parent, dst_dir_fd=spot.top)
            except FileNotFoundError:
                raise _changed(file) from None
            if self._is(spot.top, aside, expect):
                with suppress(OSError):  # it is gone from its place; the next sweep removes this one
                    self.kernel.unlink(aside, dir_fd=spot.top)
                return
            with _putting_back(file), suppress(FileExistsError):  # if a newer file is there, the next sweep keeps this
                link_new(self.kernel, aside, spot.name, spot.top, spot.parent)
                with suppress(OSError):
                    self.kernel.unlink(aside, dir_fd=spot.top)
            raise _changed(file)

    def replace_large(self, file: str, data: Data, expect: Stamp) -> None:
        """Replace a file of any size that has this stamp; MemoryChanged if it has another. The caller has its bytes."""
        with self._changing(file) as spot:
            temporary, is_known = TEMPORARY + token(), True
            try:
                fill(temporary, data, spot.top, mode=self.modes.file, kernel=self.kernel)
                if not _is_same(spot.parent, spot.name, expect):
                    raise _changed(file)
                if not self.kernel.exchange(temporary, spot.name, spot.top, spot.parent):
                    self.kernel.rename(temporary, spot.name, src_dir_fd=spot.top, dst_dir_fd=spot.parent)
                elif not _is_same(spot.top, temporary, expect):
                    is_known = False
                    with _putting_back(file):
                        self.kernel.exchange(temporary, spot.name, spot.top, spot.parent)
                    is_known = True
                    raise _changed(file)
            finally:
                if is_known:
                    with suppress(OSError):
                        self.kernel.unlink(temporary, dir_fd=spot.top)

    def create_large(self, file: str, data: Data) -> None:
        """Create a file of any size, synced; one that is there is replaced. The caller knows what is in it."""
        with self._changing(file, make=True) as spot:
            temporary = TEMPORARY + token()
            try:
                fill(temporary, data, spot.top, mode=self.modes.file, kernel=self.kernel)
                self.kernel.rename(temporary, spot.name, src_dir_fd=spot.top, dst_dir_fd=spot.parent)
            except BaseException:
                with suppress(OSError):
                    self.kernel.unlink(temporary, dir_fd=spot.top)
                raise

    def age(self, file: str, changed: float) -> None:
        """Set the time at which a file was changed elsewhere. A failure is ignored."""
        with self._spot(file) as spot, suppress(OSError):
            os.utime(spot.name, (changed, changed), dir_fd=spot.parent, follow_symlinks=False)

    def confirm(self, file: str) -> None:
        """Sync a file's folder: the file is right, but the process that wrote it may have died before syncing."""
        with self._changing(file):
            pass

    def _expect(self, spot: _Spot, expect: str, file: str) -> None:
        if digest_of(read_in(spot.parent, spot.name, file, "here", self.largest).data) != expect:
            raise _changed(file)

    def _is(self, parent: int, name: str, *digests: str) -> bool:
        data = self._data(parent, name)
        return data is not None and digest_of(data) in digests

    @contextmanager
    def _temporary(self, spot: _Spot, data: bytes, mode: int, expect: str = "") -> Iterator[str]:
        """A synced temporary file, removed afterwards.

        Unless it then holds neither our text nor the expected one: another program wrote twice in between, and the next
        sweep keeps what it wrote.
        """
        name, is_filled = TEMPORARY + token(), False
        try:
            fill(name, data, spot.top, mode=mode, kernel=self.kernel)
            is_filled = True
            yield name
        finally:
            if not is_filled or self._is(spot.top, name, digest_of(data), expect):
                with suppress(OSError):
                    self.kernel.unlink(name, dir_fd=spot.top)

    @contextmanager
    def _changing(self, file: str, *, make: bool = False) -> Iterator[_Spot]:
        """The place of a file; its folder is synced at the end. MemoryChanged if it is another folder by then."""
        with store_errors(f"cannot write {file}"), self._spot(file, make=make, top=self._held) as spot:
            yield spot
            try:
                self.kernel.fsync(spot.parent)
            except OSError as error:
                said = f"{file} is written, but the disk did not confirm it ({error.strerror}): a power cut may undo it"
                raise NotSynced(said) from error
            with suppress(OSError):
                if os.path.samestat(os.fstat(spot.top), os.stat(self.path)):
                    return
            raise MemoryChanged(f"{self.path} was replaced by another folder meanwhile; read it again")

    @contextmanager
    def _spot(self, file: str, *, make: bool = False, top: int | None = None) -> Iterator[_Spot]:
        parts = safe_parts(file, self.ending)
        opened: list[int] = []
        try:
            with store_errors(f"cannot open the folder of {file}"):
                try:
                    opened.append(os.open(self.path, FOLDER) if top is None else os.dup(top))
                    for part in parts[:-1]:
                        opened.append(self._step(opened[-1], part, make=make))
                except (FileNotFoundError, NotADirectoryError):
                    raise NoSuchMemory(f"there is no {file} in {self.path}") from None
            yield _Spot(opened[0], opened[-1], parts[-1])
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def _step(self, folder: int, part: str, *, make: bool) -> int:
        if make:
            if not is_there(part, folder):
                self.kernel.mkdir(part, self.modes.folder, dir_fd=folder)
            self.kernel.fsync(folder)  # also if it was there: the process that made it may not have synced it
        return os.open(part, INSIDE, dir_fd=folder)


def _find_problem(file: str, about: os.stat_result, ending: str, largest: int) -> Finding | None:
    """Why something in the folder is not a memory though it may look like one."""
    shown = os.fsencode(file).decode("utf-8", "replace")
    if stat.S_ISLNK(about.st_mode):
        said = "it is a symbolic link, and the store does not follow links"
        return Finding(file, None, "memory-link", said, "put the file itself here")
    if stat.S_ISDIR(about.st_mode) and file.count("/") + 2 > MAX_PARTS:
        return Finding(file, None, "memory-too-deep", f"the store looks only {MAX_PARTS} folders deep")
    if not file.endswith(ending):
        return None
    if not stat.S_ISREG(about.st_mode):
        what = "it is a folder" if stat.S_ISDIR(about.st_mode) else "it is not a regular file"
        return Finding(shown, None, "unreadable", f"{what}, and cannot be a memory", "give it another name, or move it")
    try:
        safe_parts(file, ending)
    except BadName as error:
        return Finding(shown, None, "memory-name", str(error), "rename the file")
    if about.st_size > largest:
        said = f"it has {about.st_size:,} bytes; a memory has at most {largest:,}"
        return Finding(file, None, "memory-too-large", said)
    return None


def _is_same(folder: int, name: str, expect: Stamp) -> bool:
    """Whether a file is the one with this stamp. Exchanging it changes its ctime alone."""
    try:
        found = stamp_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return False
    return found[:3] == expect[:3]


def _is_file(folder: int, name: str) -> bool:
    """Whether a name is a regular file's, of any size."""
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _changed(file: str) -> MemoryChanged:
    return MemoryChanged(f"{file} was changed by another program meanwhile; read it again")


@contextmanager
def _putting_back(file: str) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        said = f"{file} was changed by another program meanwhile, and could not be put back ({error.strerror})"
        raise StoreFailed(f"{said}: the next change adds what it wrote to the history") from error
