"""The folder of a store: every Markdown file below it, except the index, is a memory."""

from __future__ import annotations

import os

from foretold.errors import BadName
from foretold.memory.note import INDEX, MAX_FILE
from foretold.storage.dirfd import INSIDE, Stamp, stamp_of
from foretold.storage.folder import Folder
from foretold.storage.kernel import FOLDER
from foretold.storage.names import MAX_PARTS, safe_parts
from foretold.types import Finding


class MemoryFolder(Folder):
    """A folder of memories."""

    ending, largest = ".md", MAX_FILE

    def files(self, findings: list[Finding] | None = None) -> dict[str, Stamp]:
        """Every memory file with its stamp, sorted by name. `findings` gets what was skipped, and why."""
        found: dict[str, Stamp] = {}
        skipped: list[Finding] = [] if findings is None else findings
        try:
            top = os.open(self.path, FOLDER)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            skipped.append(Finding(self.path, None, "unreadable", error.strerror or str(error)))
            return {}
        try:
            _scan(top, "", found, skipped)
        finally:
            os.close(top)
        return dict(sorted(found.items()))


def _scan(folder: int, prefix: str, found: dict[str, Stamp], skipped: list[Finding]) -> None:
    with os.scandir(folder) as items:
        for item in items:
            file = prefix + item.name
            if item.name.startswith("."):
                continue
            if item.is_symlink():
                said = "it is a symbolic link, and the store does not follow links"
                skipped.append(Finding(file, None, "memory-link", said, "put the file itself here"))
            elif item.is_dir(follow_symlinks=False):
                _enter(folder, file, found, skipped)
            elif item.name.endswith(".md") and file != INDEX and item.is_file(follow_symlinks=False):
                _add(item, file, found, skipped)


def _enter(folder: int, file: str, found: dict[str, Stamp], skipped: list[Finding]) -> None:
    if file.count("/") + 2 > MAX_PARTS:
        said = f"the store looks only {MAX_PARTS} folders deep"
        skipped.append(Finding(file, None, "memory-too-deep", said))
        return
    try:
        inner = os.open(file.rpartition("/")[2], INSIDE, dir_fd=folder)
    except OSError as error:
        skipped.append(Finding(file, None, "unreadable", error.strerror or str(error)))
        return
    try:
        _scan(inner, file + "/", found, skipped)
    finally:
        os.close(inner)


def _add(item: os.DirEntry[str], file: str, found: dict[str, Stamp], skipped: list[Finding]) -> None:
    try:
        safe_parts(file, ".md")
        about = item.stat(follow_symlinks=False)
    except BadName as error:
        shown = os.fsencode(file).decode("utf-8", "replace")
        skipped.append(Finding(shown, None, "memory-name", str(error), "rename the file"))
        return
    except OSError:
        return  # deleted in this moment
    if about.st_size > MAX_FILE:
        said = f"it has {about.st_size:,} bytes; a memory has at most {MAX_FILE:,}"
        skipped.append(Finding(file, None, "memory-too-large", said))
    else:
        found[file] = stamp_of(about)
