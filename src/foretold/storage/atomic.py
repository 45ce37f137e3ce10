"""A folder that nothing leads out of, and whose files are whole or absent.

1. Every path is walked from the folder's own descriptor, part by part, following no link; so a link that is swapped in
   meanwhile is met, not followed.
2. A new file is written under a temporary name, synced, and then linked to its own name, which fails if the name is
   taken. A changed one is written likewise and then changes places with the old one; if that is not the one that was
   expected, they change back.
3. The lock is the kernel's, on the folder itself: it ends with its process, and leaves nothing behind.
4. Temporary files are made under the lock only, at the top, so whoever holds it may sweep away those of a process that
   died, after it has looked whether they hold something that is nowhere else.
5. A folder that holds nothing yet is synced into all those above it before something is put there: whoever made it may
   have died before that.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from foretold.errors import MemoryChanged, MemoryExists, NoSuchMemory, NotSynced, StoreFailed
from foretold.storage.dirfd import FOLDER, INSIDE, Held, Stamp, is_there, read_in, scan
from foretold.storage.kernel import KERNEL, Kernel, failed, token, write_all
from foretold.storage.names import digest_of, safe_file, same_name
from foretold.types import Finding, NamedTuple

TEMPORARY = ".foretold-"
PATIENCE = 60.0  #: seconds to wait for another process that holds the lock
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Modes(NamedTuple):
    """Who may read: the owner only, or everybody."""

    file: int = 0o600
    folder: int = 0o700


class Spot(NamedTuple):
    """Where a file stands: the store's folder and the file's own, as descriptors, and its name in there."""

    top: int
    parent: int
    name: str


class Folder:
    """The files of one folder."""

    def __init__(self, path: str, modes: Modes | None = None, kernel: Kernel = KERNEL) -> None:
        self.path = path
        self.modes = modes or Modes()
        self.kernel = kernel
        self._held: int | None = None  #: the folder's descriptor while we hold its lock
        self._rescue: Callable[[bytes], None] | None = None  #: who keeps what others wrote, meanwhile

    # Looking

    def read(self, file: str) -> Held:
        """A file's bytes. Raises NoSuchMemory, or StoreFailed for what is no plain file."""
        with self._spot(file) as spot:
            return read_in(spot.parent, spot.name, file, self.path)

    def files(self, findings: list[Finding] | None = None) -> dict[str, Stamp]:
        """Every Markdown file below the folder but the index, with its stamp, in the order of their names."""
        found: dict[str, Stamp] = {}
        told: list[Finding] = [] if findings is None else findings
        try:
            top = os.open(self.path, FOLDER)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            told.append(Finding(self.path, None, "unreadable", error.strerror or str(error)))
            return {}
        try:
            scan(top, "", found, told)
        finally:
            os.close(top)
        return dict(sorted(found.items()))

    # Changing; under the lock

    @contextmanager
    def locked(self, rescue: Callable[[bytes], None] | None = None) -> Iterator[None]:
        """Hold the folder alone. It is made if it is not there; `rescue` is given what dead processes left behind."""
        descriptor = self._lock()
        try:
            if not os.listdir(descriptor):
                self.root()
            self._sweep(descriptor, rescue)
            self._held, self._rescue = descriptor, rescue
            yield
        finally:
            self._held = self._rescue = None
            os.close(descriptor)

    def _lock(self) -> int:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self.make()
                descriptor = os.open(self.path, FOLDER)
            except OSError as error:
                raise failed(f"cannot open {self.path}", error) from error
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(descriptor), os.stat(self.path)):
                    return descriptor
            except (BlockingIOError, FileNotFoundError):
                pass  # it is held, or was replaced while we waited: then lock the one that is there now
            except OSError as error:
                os.close(descriptor)
                raise failed(f"cannot lock {self.path}", error) from error
            os.close(descriptor)
            if time.monotonic() > until:
                said = f"another process has held {self.path} for {PATIENCE:g} seconds. Nothing was changed"
                raise StoreFailed(said)
            time.sleep(0.001 + int.from_bytes(os.urandom(1)) / 50_000)

    def make(self) -> None:
        """Make the folder and those above it that are not there."""
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
                self._sync_path(path)
            except PermissionError:
                return  # we may not even read it, so it is none that we have made
            except OSError as error:
                raise failed(f"cannot sync {path}", error) from error

    def _sweep(self, top: int, rescue: Callable[[bytes], None] | None) -> None:
        """Take away what processes that died left behind."""
        for name in os.listdir(top):
            if name.startswith(TEMPORARY):
                try:
                    data = read_in(top, name, name).data
                except (NoSuchMemory, StoreFailed):
                    continue  # a folder, a link, a file too large: none of ours
                if rescue:
                    rescue(data)
                with suppress(OSError):  # the next one sweeps again
                    self.kernel.unlink(name, dir_fd=top)

    def create(self, file: str, data: bytes) -> None:
        """A new file, or MemoryExists."""
        with self._changing(file, make=True) as spot:
            self._refuse_twin(spot, file)
            with self._temporary(spot, data, self.modes.file) as temporary:
                try:
                    self._link(spot, temporary)
                except FileExistsError:
                    raise MemoryExists(f"{file} is there already") from None

    def _link(self, spot: Spot, temporary: str) -> None:
        """Give a temporary file its own name, if that is free."""
        folders = {"src_dir_fd": spot.top, "dst_dir_fd": spot.parent}
        try:
            self.kernel.link(temporary, spot.name, **folders, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
                raise
            if is_there(spot.name, spot.parent):  # no links here: the lock keeps our own processes apart
                raise FileExistsError(errno.EEXIST, "", spot.name) from None
            self.kernel.rename(temporary, spot.name, **folders)

    def refuse_twin(self, file: str) -> None:
        """MemoryExists if a file has this name, or one that some file systems cannot tell from it."""
        try:
            with self._spot(file) as spot:
                self._refuse_twin(spot, file)
        except NoSuchMemory:
            return  # not even its folder is there

    def _refuse_twin(self, spot: Spot, file: str) -> None:
        key = same_name(spot.name)
        for other in os.listdir(spot.parent):
            if same_name(other) == key:
                raise MemoryExists(f"{file} is there already" + (f", as {other}" if other != spot.name else ""))

    def replace(self, file: str, data: bytes, expect: str) -> None:
        """Other bytes for a file whose digest is `expect`; MemoryChanged if it is another one by then."""
        with self._changing(file) as spot:
            self._expect(spot, expect, file)
            mode = stat.S_IMODE(os.stat(spot.name, dir_fd=spot.parent, follow_symlinks=False).st_mode)
            with self._temporary(spot, data, mode, expect) as temporary:
                self._expect(spot, expect, file)  # again: to write and sync takes long, to exchange does not
                try:
                    exchanged = self.kernel.exchange(temporary, spot.name, spot.top, spot.parent)
                except FileNotFoundError:
                    raise _changed(file) from None
                if not exchanged:
                    self.kernel.rename(temporary, spot.name, src_dir_fd=spot.top, dst_dir_fd=spot.parent)
                elif not self._is(spot.top, temporary, expect):
                    foreign = self._bytes(spot.top, temporary)
                    with _putting_back(file):
                        self.kernel.exchange(temporary, spot.name, spot.top, spot.parent)
                    self._keep(foreign)
                    raise _changed(file)

    def _keep(self, data: bytes) -> None:
        """Have a foreign text written down: its program may have read ours in between, and go on from there."""
        if self._rescue is not None and data:
            with suppress(StoreFailed):
                self._rescue(data)

    @staticmethod
    def _bytes(folder: int, name: str) -> bytes:
        try:
            return read_in(folder, name, name).data
        except (NoSuchMemory, StoreFailed):
            return b""

    def remove(self, file: str, expect: str) -> None:
        """Take a file away whose digest is `expect`."""
        with self._changing(file) as spot:
            self._expect(spot, expect, file)
            aside = TEMPORARY + token()
            try:
                self.kernel.rename(spot.name, aside, src_dir_fd=spot.parent, dst_dir_fd=spot.top)
            except FileNotFoundError:
                raise _changed(file) from None
            if not self._is(spot.top, aside, expect):
                self._put_back(spot, aside, file)
                raise _changed(file)
            with suppress(OSError):  # it is gone from its place; the next sweep takes it from this one
                self.kernel.unlink(aside, dir_fd=spot.top)

    def _put_back(self, spot: Spot, aside: str, file: str) -> None:
        """Undo the first half of a removal. If there is a newer file by now, the next sweep keeps this one."""
        with _putting_back(file), suppress(FileExistsError):
            self._link(spot, aside)
            with suppress(OSError):
                self.kernel.unlink(aside, dir_fd=spot.top)

    def age(self, file: str, changed: float) -> None:
        """Give a file the time at which it was changed elsewhere. What prevents it prevents nothing else."""
        with self._spot(file) as spot, suppress(OSError):
            os.utime(spot.name, (changed, changed), dir_fd=spot.parent, follow_symlinks=False)

    def confirm(self, file: str) -> None:
        """Sync a file's place: it is as it should be, but whoever put it there may have died before this."""
        with self._changing(file):
            pass

    def _expect(self, spot: Spot, expect: str, file: str) -> None:
        if digest_of(read_in(spot.parent, spot.name, file).data) != expect:
            raise _changed(file)

    def _is(self, parent: int, name: str, *digests: str) -> bool:
        try:
            return digest_of(read_in(parent, name, name).data) in digests
        except (NoSuchMemory, StoreFailed):
            return False

    @contextmanager
    def _temporary(self, spot: Spot, data: bytes, mode: int, expect: str = "") -> Iterator[str]:
        """A synced file under a name of its own, which is gone afterwards.

        Unless it then holds neither our text nor the expected one: somebody was in between twice, and the next sweep
        keeps what they wrote.
        """
        name = TEMPORARY + token()
        try:
            self._fill(name, spot.top, data, mode)
        except BaseException:
            with suppress(OSError):
                self.kernel.unlink(name, dir_fd=spot.top)
            raise
        try:
            yield name
        finally:
            if self._is(spot.top, name, digest_of(data), expect):
                with suppress(OSError):
                    self.kernel.unlink(name, dir_fd=spot.top)

    def _fill(self, name: str, top: int, data: bytes, mode: int) -> None:
        descriptor = self.kernel.open(name, _NEW, mode, dir_fd=top)
        try:
            self.kernel.fchmod(descriptor, mode)
            write_all(self.kernel, descriptor, data)
            self.kernel.fsync(descriptor)
        finally:
            self.kernel.close(descriptor)

    @contextmanager
    def _changing(self, file: str, *, make: bool = False) -> Iterator[Spot]:
        """Where a file stands; the folder is synced at the end."""
        try:
            with self._spot(file, make=make, top=self._held) as spot:
                yield spot
                self._sync(spot.parent, file)
                self._stay(spot.top)
        except OSError as error:
            raise failed(f"cannot write {file}", error) from error

    def _sync(self, descriptor: int, file: str) -> None:
        try:
            self.kernel.fsync(descriptor)
        except OSError as error:
            said = f"{file} is written, but the disk did not confirm it ({error.strerror}): a power cut may undo it"
            raise NotSynced(said) from error

    def _stay(self, top: int) -> None:
        """MemoryChanged if the folder is no longer the one that was written to."""
        with suppress(OSError):
            if os.path.samestat(os.fstat(top), os.stat(self.path)):
                return
        raise MemoryChanged(f"{self.path} was replaced by another folder meanwhile; look at it again")

    def _sync_path(self, path: str) -> None:
        descriptor = os.open(path, FOLDER)
        try:
            self.kernel.fsync(descriptor)
        finally:
            os.close(descriptor)

    @contextmanager
    def _spot(self, file: str, *, make: bool = False, top: int | None = None) -> Iterator[Spot]:
        parts = safe_file(file)
        opened: list[int] = []
        try:
            try:
                opened.append(os.open(self.path, FOLDER) if top is None else os.dup(top))
                for part in parts[:-1]:
                    opened.append(self._step(opened[-1], part, make=make))
            except (FileNotFoundError, NotADirectoryError):
                raise NoSuchMemory(f"there is no {file} in {self.path}") from None
            except OSError as error:
                raise failed(f"cannot open the folder of {file}", error) from error
            yield Spot(opened[0], opened[-1], parts[-1])
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def _step(self, folder: int, part: str, *, make: bool) -> int:
        if make:
            if not is_there(part, folder):
                self.kernel.mkdir(part, self.modes.folder, dir_fd=folder)
            self.kernel.fsync(folder)  # also if it was there: whoever made it may not have synced it
        return os.open(part, INSIDE, dir_fd=folder)


def _changed(file: str) -> MemoryChanged:
    return MemoryChanged(f"{file} was changed by somebody else meanwhile; look at it again")


@contextmanager
def _putting_back(file: str) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        said = f"{file} was changed by somebody else meanwhile, and could not be put back ({error.strerror})"
        raise StoreFailed(f"{said}: what they wrote comes into the history with the next change") from error
