"""Memory entries of code-assist: its `memory` package, as far as reading goes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from foretold.compat.code_assist.paths import Folder, get_documented_dir, get_memory_dir
from foretold.compat.headers import header_of, pair_of, unquoted
from foretold.storage.tree import Disk, Fault, Tree
from foretold.types import Finding

MAX_FILE = 4 * 1024 * 1024
INDEX = "MEMORY.md"


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
    """The type of this name, in any case of letters; `user` for every other.

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
    pairs = [pair for line in header.lines if (pair := pair_of(line))] if header else []
    return {key: unquoted(value) for key, value in pairs}


def scan_memory_files(
    project_root: Folder,
    *,
    home: Folder | None = None,
    tree: Tree | None = None,
    findings: list[Finding] | None = None,
) -> list[MemoryEntry]:
    """The memories of a project, by name of file: those of the folder that is read, then those of the documented one.

    What cannot be read, or is no UTF-8, is told in `findings`.
    """
    tree = tree if tree is not None else Disk()
    told: list[Finding] = [] if findings is None else findings
    folders = (get_memory_dir(project_root, home=home), get_documented_dir(project_root, home=home))
    found = [_entry(tree, path, told) for folder in folders for path in _files(tree, str(folder), told)]
    return [entry for entry in found if entry is not None]


def _files(tree: Tree, folder: str, findings: list[Finding]) -> list[str]:
    items = tree.scan(folder)
    if isinstance(items, Fault):
        if items.reason != "missing":
            findings.append(Finding(folder, None, items.reason, items.detail or items.reason))
        return []
    names = sorted(item.name for item in items if item.kind in ("file", "link"))
    return [f"{folder}/{name}" for name in names if name.endswith(".md") and name != INDEX]


def _entry(tree: Tree, path: str, findings: list[Finding]) -> MemoryEntry | None:
    data = tree.read(path, MAX_FILE)
    if isinstance(data, Fault):
        findings.append(Finding(path, None, data.reason, data.detail or data.reason))
        return None
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if "\ufffd" in text and b"\xef\xbf\xbd" not in data:
        said = "bytes that are not UTF-8 are shown as U+FFFD"
        findings.append(Finding(path, None, "not-utf8", said, "save the file as UTF-8"))
    header = header_of(text)
    values = parse_memory_frontmatter(text)
    return MemoryEntry(
        name=values.get("name") or path.rpartition("/")[2].removesuffix(".md"),
        description=values.get("description", ""),
        type=type_of(values.get("type", "")),
        content=("\n".join(header.body) if header else text).strip(),
        file_path=path,
    )
