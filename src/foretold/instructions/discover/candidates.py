"""Which of the names of a source counts in a folder.

1. `text`: the first that gives a text. `file`: the first that is a file, whatever is in it. `path`: the first that
   exists at all, even a folder. What comes after it is shadowed.
2. `walk`: the first that exists in any folder of the walk, and that one in all of them.
"""

from __future__ import annotations

from foretold.dialects.schema import FileSource
from foretold.instructions.discover.rules import collation_key
from foretold.instructions.view import Origin
from foretold.types import TYPE_CHECKING, Entry, Finding, Skip

if TYPE_CHECKING:
    from foretold.instructions.engine import Loader


def take_named(loader: Loader, source: FileSource, folder: str) -> None:
    """Take the one name of a source that counts here."""
    names = (source.name, *source.others)
    if source.pick == "walk":
        _take_of_walk(loader, source, names, folder)
        return
    counts = ""
    for name in names:
        path = f"{folder.rstrip('/')}/{name}"
        if counts:
            loader.note(Skip(path, "shadowed", f"by {counts}", source.layer))
        elif _take(loader, path, source, folder):
            counts = path


def _take(loader: Loader, path: str, source: FileSource, folder: str) -> bool:
    """Take a path; whether it counts, so that no other is tried."""
    origin = Origin(source.layer, folder, name=source.label)
    if source.pick == "text":
        return loader.take_file(path, origin)
    kind = loader.tree.kind(path)
    if kind == "file" or (kind != "missing" and source.pick == "path"):
        loader.take_file(path, origin)
        return True
    loader.note(Skip(path, "folder" if kind == "folder" else "not-a-file", "", source.layer))
    return False


def _take_of_walk(loader: Loader, source: FileSource, names: tuple[str, ...], folder: str) -> None:
    key = (source.layer, *names)
    choices, walk = loader.choices, [each.rstrip("/") for each in loader.surroundings.walk]
    if key not in choices:
        there = (name for name in names if any(loader.tree.kind(f"{each}/{name}") != "missing" for each in walk))
        choices[key] = next(there, "")
    chosen = choices[key]
    for name in names:
        path = f"{folder.rstrip('/')}/{name}"
        if name == chosen:
            loader.take_file(path, Origin(source.layer, folder))
        else:
            loader.note(Skip(path, "shadowed", f"the walk has {chosen}", source.layer))


def arrange(loader: Loader) -> None:
    """Order the entries as the dialect does; where names are the identity, the last of a name wins."""
    dialect = loader.dialect
    if dialect.identity == "name":
        last: dict[str, Entry] = {}
        for entry in loader.entries:
            before = last.get(entry.name.lower())
            if before is not None:
                loader.skips.append(Skip(before.path, "shadowed", f"by {entry.path}", before.layer))
            last[entry.name.lower()] = entry
        loader.entries = list(last.values())
    for layer in dialect.unordered:
        paths = [entry.path for entry in loader.entries if entry.layer == layer]
        if len(paths) > 1:
            said = f"the agent gives its {len(paths)} {layer} files in an unspecified order"
            loader.findings.append(Finding(paths[0], None, "order-unspecified", said))
    if dialect.sorts == ("name",):
        loader.entries.sort(key=lambda entry: collation_key(entry.name))
    elif dialect.sorts:
        # entries of other layers first, as they are; the rest in the order of JavaScript, by UTF-16 code unit
        loader.entries.sort(
            key=lambda entry: entry.path.encode("utf-16-be", "surrogatepass") if entry.layer in dialect.sorts else b""
        )
