"""The folder of a store: every Markdown file below it, except the index, is a memory."""

from __future__ import annotations

import os
from contextlib import suppress

from foretold.errors import BadName, NoSuchMemory
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
        _scan(self.path, None, "", found, [] if findings is None else findings)
        return dict(sorted(found.items()))

    def read_index(self) -> bytes | None:
        """The bytes of the index; None if there is none."""
        with suppress(NoSuchMemory):
            return self.read(INDEX).data
        return None


def _scan(name: str, above: int | None, prefix: str, found: dict[str, Stamp], skipped: list[Finding]) -> None:
    """All files of a folder, and of those in it; `above` is the descriptor of the one that it is in."""
    try:
        folder = os.open(name, FOLDER if above is None else INSIDE, dir_fd=above)
    except OSError as error:
        if above is not None or not isinstance(error, FileNotFoundError | NotADirectoryError):
            skipped.append(Finding(prefix[:-1] or name, None, "unreadable", error.strerror or str(error)))
        return
    try:
        with os.scandir(folder) as items:
            for item in items:
                file = prefix + item.name
                if item.name.startswith("."):
                    continue
                if item.is_symlink():
                    said = "it is a symbolic link, and the store does not follow links"
                    skipped.append(Finding(file, None, "memory-link", said, "put the file itself here"))
                elif item.is_dir(follow_symlinks=False) and file.count("/") + 2 > MAX_PARTS:
                    said = f"the store looks only {MAX_PARTS} folders deep"
                    skipped.append(Finding(file, None, "memory-too-deep", said))
                elif item.is_dir(follow_symlinks=False):
                    _scan(item.name, folder, file + "/", found, skipped)
                elif item.name.endswith(".md") and file != INDEX and item.is_file(follow_symlinks=False):
                    _add(item, file, found, skipped)
    finally:
        os.close(folder)


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
