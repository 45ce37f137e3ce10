"""The index of memory entries of code-assist: its `memory.memdir`.

1. Of `MEMORY.md` the first 200 lines are read, and of those whole lines within 25,000 bytes.
2. A change starts from the whole file, under the lock of the memory store, and replaces it in one step: no line and no
   byte of another writer is lost. Bytes that are not UTF-8 are preserved.
3. Entries may lie in two folders (`paths`), and each has its own index: the program's is read first, then that of the
   documents. A change is made where the file of the entry is.
4. An entry is a list item that starts with a link, `- [Title](file.md) — description`. It belongs to the file that the
   link leads to, and to no other whose name it happens to contain.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Unpack

from foretold.compat.code_assist.config.constants import MAX_MEMORY_INDEX_LINES, MAX_MEMORY_INDEX_SIZE
from foretold.compat.code_assist.memory.memory_scan import INDEX, MAX_FILE, Options, report
from foretold.compat.code_assist.paths import list_dirs
from foretold.compat.engine import Folder, refuse_unknown
from foretold.errors import MemoryChanged, MemoryExists, NoSuchMemory
from foretold.memory.store.index_file import entries_of
from foretold.storage.digest import digest_of
from foretold.storage.folder import Folder as Store
from foretold.storage.tree import Disk, Fault

TRIES = 10  #: when a program that does not lock writes at the same moment
MAX_NAME = 255  #: bytes of a file's name


def read_memory_index(project_root: Folder, **options: Unpack[Options]) -> str:
    """The index as it is loaded; empty if there is none. What was cut, or cannot be read, is reported in `findings`."""
    refuse_unknown(options, Options, "project_root")
    paths = [f"{folder}/{INDEX}" for folder in list_dirs(project_root, options.get("home"))]
    texts = [(path, text) for path in paths if (text := _read_text(path, options))]
    whole = "".join(text if text.endswith("\n") else f"{text}\n" for _, text in texts[:-1])
    before = len(whole)
    whole += texts[-1][1] if texts else ""
    kept = _cut_index(whole)
    if len(kept) < len(whole):
        said = f"{len(whole) - len(kept)} of {len(whole)} characters are not loaded"
        path, start = (texts[-1][0], before) if len(kept) >= before else (texts[0][0], 0)
        line = kept.count("\n", start) + 1
        report(options, path, "index-cut", said, "keep one short line per memory", line=line)
    return kept


def _read_text(path: str, options: Options) -> str:
    data = (options.get("tree") or Disk()).read(path, MAX_FILE)
    if isinstance(data, Fault):
        if data.reason != "missing":
            report(options, path, data.reason, data.detail or data.reason)
        return ""
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def _cut_index(text: str) -> str:
    """Whole lines within both limits; of one line that is too long, its start."""
    kept = "".join(_lines(text)[:MAX_MEMORY_INDEX_LINES])
    data = kept.encode("utf-8", "replace")
    if len(data) <= MAX_MEMORY_INDEX_SIZE:
        return kept
    at = data.rfind(b"\n", 0, MAX_MEMORY_INDEX_SIZE) + 1
    return data[: at or MAX_MEMORY_INDEX_SIZE].decode("utf-8", "ignore")


def _lines(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends one."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def write_memory_index(project_root: Folder, content: str, *, home: Folder | None = None) -> None:
    """Write the whole index. Its folder is made if it is not there."""
    _change(_find_folder(project_root, home), lambda _: _storable(content))


def add_memory_to_index(
    project_root: Folder, title: str, filename: str, description: str, *, home: Folder | None = None
) -> None:
    """Add the entry of a file at the end of the index, or update the entry that it has."""
    title, filename, description = (" ".join(_storable(text).split()) for text in (title, filename, description))
    title = title.replace("[", "(").replace("]", ")")
    target = f"<{filename}>" if re.search(r"[\s()]", filename) else filename
    entry = f"- [{title}]({target})" + (f" — {description}" if description else "")
    _change(_find_folder(project_root, home, filename), lambda text: _with(text, filename, entry))


def _with(text: str, filename: str, entry: str) -> str:
    lines = _lines(text)
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    places = _places(text, filename)
    if places:
        lines[places[0]] = entry + end
    else:
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += end
        lines.append(entry + end)
    return "".join(lines)


def remove_memory_from_index(project_root: Folder, filename: str, *, home: Folder | None = None) -> None:
    """Remove the entries of one file. All other lines stay, whatever they mention."""

    def without(text: str) -> str:
        places = set(_places(text, filename))
        return "".join(line for number, line in enumerate(_lines(text)) if number not in places)

    for folder in list_dirs(project_root, home):
        if os.path.lexists(folder / INDEX):
            _change(folder, without)


def _storable(text: str) -> str:
    """A text without halves of surrogate pairs, which cannot be stored."""
    return text.encode("utf-8", "replace").decode()


def _places(text: str, filename: str) -> list[int]:
    """The numbers of the lines that are entries of a file."""
    wanted = filename.removeprefix("./")
    return [entry.number for entry in entries_of(text) if entry.file == wanted]


def _find_folder(project_root: Folder, home: Folder | None, filename: str = "") -> Path:
    """The folder whose index is meant: that of the file, else one that has an index, else the program's own."""
    folders = list_dirs(project_root, home)
    wanted = [name for name in (filename.removeprefix("./"), INDEX) if name]
    found = (folder for name in wanted for folder in folders if os.path.lexists(folder / name))
    return next(found, folders[0])


def _change(folder: Path, edit: Callable[[str], str]) -> None:
    """Replace an index by the result of an edit."""
    store = Store(str(folder))
    for left in reversed(range(TRIES)):
        try:
            with store.locked():
                old: bytes | None = None
                with suppress(NoSuchMemory):
                    old = store.read(INDEX).data
                new = edit((old or b"").decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
                if old is None:
                    store.create(INDEX, new)
                elif new != old:
                    store.replace(INDEX, new, digest_of(old))
            return
        except (MemoryChanged, MemoryExists):
            if not left:
                raise


def generate_memory_filename(name: str) -> str:
    """The name of a memory's file: lower case, words joined by `_`, no other punctuation but `-`.

    It never starts with a `-`, is never too long for a file, and never the name of the index, in any case.

    >>> generate_memory_filename("My Rule"), generate_memory_filename("!"), generate_memory_filename("MEMORY")
    ('my_rule.md', 'untitled.md', 'memory_note.md')
    """
    words = re.sub(r"[^\w\s-]", "", name.lower())
    stem = re.sub(r"[\s_]+", "_", words).strip("_-")
    stem = stem.encode("utf-8", "ignore")[: MAX_NAME - len(".md")].decode("utf-8", "ignore") or "untitled"
    return f"{stem}_note.md" if f"{stem}.md" == INDEX.lower() else f"{stem}.md"
