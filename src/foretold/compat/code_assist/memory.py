"""Memory entries of code-assist and their index: its `memory` package, `memdir` and `find_relevant`.

1. Of `MEMORY.md` the first 200 lines are read, and of those whole lines within 25,000 bytes.
2. A change starts from the whole file, under the lock of the memory store, and replaces it in one step: no line and no
   byte of another writer is lost. Bytes that are not UTF-8 are preserved.
3. An entry is a list item that starts with a link, `- [Title](file.md) — description`. It belongs to the file that the
   link leads to, and to no other whose name it happens to contain.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Unpack

from foretold.compat.code_assist.paths import Folder, get_documented_dir, get_memory_dir
from foretold.compat.engine import Places
from foretold.compat.flat_frontmatter import header_of, pair_of, unquote
from foretold.errors import MemoryChanged, MemoryExists, NoSuchMemory
from foretold.memory.store.index_file import entries_of
from foretold.storage.digest import digest_of
from foretold.storage.folder import Folder as Store
from foretold.storage.tree import Disk, Fault, Tree
from foretold.types import Finding

MAX_FILE = 4 * 1024 * 1024
INDEX = "MEMORY.md"
MAX_MEMORY_INDEX_LINES = 200
MAX_MEMORY_INDEX_SIZE = 25_000  #: bytes
TRIES = 10  #: when a program that does not lock writes at the same moment
MAX_NAME = 255  #: bytes of a file's name


class MemoryType(StrEnum):
    """What a memory is about."""

    USER = "user"
    FEEDBACK = "feedback"
    PROJECT = "project"
    REFERENCE = "reference"


@dataclass(slots=True)
class MemoryEntry:
    """One memory."""

    name: str
    description: str = ""
    type: MemoryType = MemoryType.USER
    content: str = ""
    file_path: str = ""

    def __post_init__(self) -> None:
        self.type = type_of(self.type)


def type_of(word: str) -> MemoryType:
    """The type of this name, in upper or lower case; `user` for any other.

    >>> type_of("FEEDBACK"), type_of("whatever")
    (<MemoryType.FEEDBACK: 'feedback'>, <MemoryType.USER: 'user'>)
    """
    known = {kind.value: kind for kind in MemoryType}
    return known.get(word.strip().lower(), MemoryType.USER)


def parse_memory_frontmatter(content: str) -> dict[str, str]:
    """The values of a memory's frontmatter, all of them texts.

    >>> parse_memory_frontmatter('---\\nname: "quoted name"\\n---\\n\\nBody')
    {'name': 'quoted name'}
    """
    header = header_of(content)
    pairs = [pair for line in header[0] if (pair := pair_of(line))] if header else []
    return {key: unquote(value) for key, value in pairs}


class Options(Places, total=False):
    """What the functions that read take beyond the arguments of the original; `findings` gets what is wrong."""

    findings: list[Finding] | None


def scan_memory_files(project_root: Folder, **options: Unpack[Options]) -> list[MemoryEntry]:
    """The memories of a project, by name of file: those of the folder that is read, then those of the documented one.

    What cannot be read, or is not UTF-8, is reported in `findings`.
    """
    tree, home = options.get("tree") or Disk(), options.get("home")
    paths: list[str] = []
    for folder in (get_memory_dir(project_root, home=home), get_documented_dir(project_root, home=home)):
        items = tree.scan(str(folder))
        if isinstance(items, Fault):
            if items.reason != "missing":
                _report(options, str(folder), items.reason, items.detail or items.reason)
            continue
        names = sorted(item.name for item in items if item.kind in ("file", "link"))
        paths += [f"{folder}/{name}" for name in names if name.endswith(".md") and name != INDEX]
    return [entry for path in paths if (entry := _entry(tree, path, options)) is not None]


def _report(options: Options, path: str, *said: str, line: int | None = None) -> None:
    found = options.get("findings")
    if found is not None:
        found.append(Finding(path, line, *said))


def _entry(tree: Tree, path: str, options: Options) -> MemoryEntry | None:
    data = tree.read(path, MAX_FILE)
    if isinstance(data, Fault):
        _report(options, path, data.reason, data.detail or data.reason)
        return None
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if "\ufffd" in text and b"\xef\xbf\xbd" not in data:
        said = "bytes that are not UTF-8 are shown as U+FFFD"
        _report(options, path, "not-utf8", said, "save the file as UTF-8")
    header = header_of(text)
    values = parse_memory_frontmatter(text)
    return MemoryEntry(
        name=values.get("name") or path.rpartition("/")[2].removesuffix(".md"),
        description=values.get("description", ""),
        type=type_of(values.get("type", "")),
        content=("\n".join(header[1]) if header else text).strip(),
        file_path=path,
    )


def read_memory_index(project_root: Folder, **options: Unpack[Options]) -> str:
    """The index as it is loaded; empty if there is none. What was cut, or cannot be read, is reported in `findings`."""
    path = str(get_memory_dir(project_root, home=options.get("home")) / INDEX)
    data = (options.get("tree") or Disk()).read(path, MAX_FILE)
    if isinstance(data, Fault):
        if data.reason != "missing":
            _report(options, path, data.reason, data.detail or data.reason)
        return ""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    kept = _cut_index(text)
    if len(kept) < len(text):
        said = f"{len(text) - len(kept)} of {len(text)} characters are not loaded"
        _report(options, path, "index-cut", said, "keep one short line per memory", line=kept.count("\n") + 1)
    return kept


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
    _change(project_root, home, lambda _: _storable(content))


def add_memory_to_index(
    project_root: Folder, title: str, filename: str, description: str, *, home: Folder | None = None
) -> None:
    """Add the entry of a file at the end of the index, or update the entry that it has."""
    title, filename, description = (" ".join(_storable(text).split()) for text in (title, filename, description))
    title = title.replace("[", "(").replace("]", ")")
    target = f"<{filename}>" if re.search(r"[\s()]", filename) else filename
    entry = f"- [{title}]({target})" + (f" — {description}" if description else "")
    _change(project_root, home, lambda text: _with(text, filename, entry))


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

    path = get_memory_dir(project_root, home=home) / INDEX
    if path.is_symlink() or path.exists():
        _change(project_root, home, without)


def _storable(text: str) -> str:
    """A text without halves of surrogate pairs, which cannot be stored."""
    return text.encode("utf-8", "replace").decode()


def _places(text: str, filename: str) -> list[int]:
    """The numbers of the lines that are entries of a file."""
    wanted = filename.removeprefix("./")
    return [entry.number for entry in entries_of(text) if entry.file == wanted]


def _change(project_root: Folder, home: Folder | None, edit: Callable[[str], str]) -> None:
    """Replace the index by the result of an edit."""
    store = Store(str(get_memory_dir(project_root, home=home)))
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


def find_relevant_memories(project_root: Folder, query: str, **options: Unpack[Options]) -> list[MemoryEntry]:
    """The memories that have words of a query, those with the most of them first; all for an empty query."""
    entries = scan_memory_files(project_root, **options)
    if not query.split():
        return entries
    scores = [score(query, f"{entry.name} {entry.description} {entry.content}") for entry in entries]
    ranked = sorted(zip(scores, entries, strict=True), key=lambda pair: -pair[0])
    return [entry for count, entry in ranked if count]


def score(query: str, text: str) -> int:
    """How many different words of a query are found in a text, also within other words.

    >>> score("Python tests python", "how we test python code"), score("tests", "we are testing")
    (1, 0)
    """
    text = text.lower()
    return sum(word in text for word in dict.fromkeys(query.lower().split()))


def should_load_memory(entry: MemoryEntry, context: str) -> bool:
    """Whether a memory bears on a context: it has no description, or one with a longer word that occurs there.

    >>> should_load_memory(MemoryEntry("a", "testing patterns"), "we need Testing")
    True
    """
    context = context.lower()
    words = entry.description.lower().split()
    return not words or any(word in context for word in words if len(word) > 3)
