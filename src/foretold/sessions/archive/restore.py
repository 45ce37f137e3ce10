"""Restoring an archived session, byte for byte, with mode and time; and verifying that an archive can be restored.

1. The plan comes first: every file, and what is at its path now. Nothing is ever overwritten: if another file is at one
   of the paths, nothing at all is written.
2. A file is written under a temporary name, its digest checked, synced, given its mode and time, and then linked to its
   name, which fails if another process has taken it meanwhile.
3. `verify_archive` reads everything and compares the digest of every file of every snapshot.
"""

from __future__ import annotations

import os

from foretold.errors import RestoreRefused, SessionFailed
from foretold.sessions.archive.snapshot import ArchiveContents, ArchivedFile, ArchiveSnapshot
from foretold.storage.atomic import create_file
from foretold.storage.kernel import KERNEL, Kernel
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from foretold.sessions.archive.store_session import Progress


class FileReturn(NamedTuple):
    """A file to restore."""

    file: ArchivedFile
    path: str
    what: str  #: new, same (it is there already), taken (another file is there)


def plan_restore(
    contents: ArchiveContents, to: str | None = None, snapshot: ArchiveSnapshot | None = None
) -> list[FileReturn]:
    """What restoring would write, into the agent's folder or into another. Changes nothing."""
    snapshot = snapshot or contents.last
    root = snapshot.root if to is None else os.path.abspath(to)
    plan = []
    for file in snapshot.files:
        if not file.name or file.name.startswith("/") or ".." in file.name.split("/"):
            raise SessionFailed(f"the archive names a file outside of the agent's folder: {file.name!r}")
        path = os.path.join(root, file.name)
        what = "new" if not os.path.lexists(path) else "same" if file.is_at(path) else "taken"
        plan.append(FileReturn(file, path, what))
    return plan


def restore(
    contents: ArchiveContents,
    plan: list[FileReturn],
    *,
    is_fresh: bool = False,
    kernel: Kernel = KERNEL,
    progress: Progress | None = None,
) -> list[str]:
    """Write what was planned; the paths. `is_fresh`: with the current time, so that no agent deletes it at once."""
    taken = [each.path for each in plan if each.what == "taken"]
    if taken:
        said = f"another file is at {taken[0]}" + (f" (and {len(taken) - 1} more)" if len(taken) > 1 else "")
        raise RestoreRefused(f"{said}; nothing was written. --to DIR restores into another folder")
    total, done = sum(each.file.size for each in plan), 0
    written: list[str] = []
    for file, path, what in plan:
        if what == "new":
            try:
                os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
                changed = None if is_fresh else file.changed
                create_file(path, contents.read_file(file), mode=file.mode, changed=changed, kernel=kernel)
            except FileExistsError:
                raise RestoreRefused(f"another process has just written {path}; it was not overwritten") from None
            except OSError as error:
                said = f"cannot write {path}: {error.strerror}; {len(written)} files were written, none overwritten"
                raise SessionFailed(f"{said}. Fix that, and restore again: it continues where it stopped") from error
            written.append(path)
        done += file.size
        if progress:
            progress(done, total)
    return written


def verify_archive(contents: ArchiveContents) -> list[Finding]:
    """What cannot be restored any more: nothing, in a sound archive."""
    findings: list[Finding] = []
    seen: set[tuple[int, int, str]] = set()
    for file in (file for snapshot in contents.snapshots for file in snapshot.files):
        key = (file.stream, file.size, file.digest)
        try:
            for _ in () if key in seen else contents.read_file(file):
                pass
        except SessionFailed as error:
            said, hint = str(error).partition(". ")[0], "archive the session again"
            findings.append(Finding(contents.frames.path, None, "archive-damaged", said, hint))
        seen.add(key)
    return findings
