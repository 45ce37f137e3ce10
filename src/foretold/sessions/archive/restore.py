"""Bringing an archived session back, byte for byte, with mode and time; and proving that an archive can.

1. The plan comes first: every file, and what stands where it would go. Nothing is ever overwritten: one other file in
   the way, and nothing at all is written.
2. A file is written under a temporary name, its digest checked, synced, given its mode and time, and then linked to its
   name, which fails if somebody took it meanwhile.
3. `verify` reads everything and compares the digest of every file of every snapshot.
"""

from __future__ import annotations

import hashlib
import os

from foretold.errors import RestoreRefused, SessionFailed
from foretold.sessions.archive.snapshot import Contents, Kept, Snapshot
from foretold.storage.atomic import create_file
from foretold.storage.kernel import KERNEL, Kernel
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foretold.sessions.archive.store_session import Progress


class Return(NamedTuple):
    """A file that comes back."""

    kept: Kept
    path: str
    what: str  #: new, same (it is there already), taken (another file is there)


def plan_restore(contents: Contents, to: str | None = None, snapshot: Snapshot | None = None) -> list[Return]:
    """What restoring would write, into the agent's folder or into another. Changes nothing."""
    snapshot = snapshot or contents.last
    root = snapshot.root if to is None else os.path.abspath(to)
    plan = []
    for kept in snapshot.files:
        if not _is_inside(kept.name):
            raise SessionFailed(f"the archive names a file outside of the agent's folder: {kept.name!r}")
        path = os.path.join(root, kept.name)
        what = "new" if not os.path.lexists(path) else "same" if _is_same(path, kept) else "taken"
        plan.append(Return(kept, path, what))
    return plan


def restore(
    contents: Contents,
    plan: list[Return],
    *,
    is_fresh: bool = False,
    kernel: Kernel = KERNEL,
    progress: Progress | None = None,
) -> list[str]:
    """Write what was planned; the paths. `is_fresh`: with the time of now, so that no agent deletes it at once."""
    taken = [each.path for each in plan if each.what == "taken"]
    if taken:
        said = f"another file is at {taken[0]}" + (f" (and {len(taken) - 1} more)" if len(taken) > 1 else "")
        raise RestoreRefused(f"{said}; nothing was written. --to DIR restores into another folder")
    total, done = sum(each.kept.size for each in plan), 0
    written: list[str] = []
    for each in plan:
        if each.what == "new":
            try:
                _write(contents, each, kernel, is_fresh=is_fresh)
            except FileExistsError:
                raise RestoreRefused(f"somebody has just written {each.path}; it was not overwritten") from None
            except OSError as error:
                said = (
                    f"cannot write {each.path}: {error.strerror}; {len(written)} files were written, none overwritten"
                )
                raise SessionFailed(f"{said}. Mend that, and restore again: it goes on where it stopped") from error
            written.append(each.path)
        done += each.kept.size
        if progress:
            progress(done, total)
    return written


def _write(contents: Contents, each: Return, kernel: Kernel, *, is_fresh: bool) -> None:
    folder = os.path.dirname(each.path)
    os.makedirs(folder, 0o755, exist_ok=True)
    changed = None if is_fresh else each.kept.changed
    create_file(each.path, _checked(contents, each.kept), mode=each.kept.mode, changed=changed, kernel=kernel)


def _checked(contents: Contents, kept: Kept) -> Iterator[bytes]:
    """The bytes of a file; SessionFailed if they are not the ones that were archived."""
    digest = hashlib.sha256()
    for data in contents.bytes_of(kept):
        digest.update(data)
        yield data
    if digest.hexdigest() != kept.digest:
        raise SessionFailed(f"the archive of {kept.name} does not add up, and was not restored")


def verify(contents: Contents, progress: Progress | None = None) -> list[Finding]:
    """What cannot be restored any more: nothing, in a sound archive."""
    findings: list[Finding] = []
    seen: set[tuple[int, int, str]] = set()
    wanted = [kept for snapshot in contents.snapshots for kept in snapshot.files]
    total, done = sum(kept.size for kept in wanted), 0
    for kept in wanted:
        key = (kept.stream, kept.size, kept.digest)
        problem = None if key in seen else _problem(contents, kept)
        seen.add(key)
        done += kept.size
        if progress:
            progress(done, total)
        if problem:
            findings.append(
                Finding(contents.frames.path, None, "archive-damaged", problem, "archive the session again")
            )
    return findings


def _problem(contents: Contents, kept: Kept) -> str:
    digest = hashlib.sha256()
    try:
        for data in contents.bytes_of(kept):
            digest.update(data)
    except SessionFailed as error:
        return str(error).partition(". ")[0]
    return "" if digest.hexdigest() == kept.digest else f"{kept.name} does not have the digest that was archived"


def _is_same(path: str, kept: Kept) -> bool:
    digest = hashlib.sha256()
    try:
        if not os.path.isfile(path) or os.path.islink(path) or os.path.getsize(path) != kept.size:
            return False
        with open(path, "rb") as file:
            while data := file.read(1024 * 1024):
                digest.update(data)
    except OSError:
        return False
    return digest.hexdigest() == kept.digest


def _is_inside(name: str) -> bool:
    return bool(name) and not name.startswith("/") and ".." not in name.split("/")
