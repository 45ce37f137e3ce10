"""Reading memory entries of code-assist: its `memory.memory_scan`."""

from __future__ import annotations

from typing import Unpack

from foretold.compat.code_assist.memory.memory_types import MemoryEntry, type_of
from foretold.compat.code_assist.paths import list_dirs
from foretold.compat.engine import Folder, Places, refuse_unknown
from foretold.compat.flat_frontmatter import header_of, pair_of, unquote
from foretold.storage.tree import Disk, Fault, Tree
from foretold.types import Finding

MAX_FILE = 4 * 1024 * 1024
INDEX = "MEMORY.md"


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
    refuse_unknown(options, Options, "project_root")
    tree, home = options.get("tree") or Disk(), options.get("home")
    paths: list[str] = []
    for folder in list_dirs(project_root, home):
        items = tree.scan(str(folder))
        if isinstance(items, Fault):
            if items.reason != "missing":
                report(options, str(folder), items.reason, items.detail or items.reason)
            continue
        names = sorted(item.name for item in items if item.kind in ("file", "link"))
        paths += [f"{folder}/{name}" for name in names if name.endswith(".md") and name != INDEX]
    return [entry for path in paths if (entry := _entry(tree, path, options)) is not None]


def report(options: Options, path: str, *said: str, line: int | None = None) -> None:
    found = options.get("findings")
    if found is not None:
        found.append(Finding(path, line, *said))


def _entry(tree: Tree, path: str, options: Options) -> MemoryEntry | None:
    data = tree.read(path, MAX_FILE)
    if isinstance(data, Fault):
        report(options, path, data.reason, data.detail or data.reason)
        return None
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if "\ufffd" in text and b"\xef\xbf\xbd" not in data:
        said = "bytes that are not UTF-8 are shown as U+FFFD"
        report(options, path, "not-utf8", said, "save the file as UTF-8")
    header = header_of(text)
    values = parse_memory_frontmatter(text)
    return MemoryEntry(
        name=values.get("name") or path.rpartition("/")[2].removesuffix(".md"),
        description=values.get("description", ""),
        type=type_of(values.get("type", "")),
        content=("\n".join(header[1]) if header else text).strip(),
        file_path=path,
    )
