"""Which of the names of a source counts in a folder.

1. `text`: the first that gives a text. `file`: the first that is a file, whatever is in it. `path`: the first that is
   there at all, even a folder. What comes behind it is shadowed.
2. `walk`: the first that is there in any folder of the walk, and that one in all of them.
"""

from __future__ import annotations

from foretold.dialects.schema import FileSource
from foretold.instructions.view import Origin
from foretold.types import TYPE_CHECKING, Entry, Finding, Skip

if TYPE_CHECKING:
    from foretold.instructions.engine import Loader


def take_named(run: Loader, source: FileSource, folder: str) -> None:
    """Take the one name of a source that counts here."""
    names = (source.name, *source.others)
    if source.pick == "walk":
        _take_of_walk(run, source, names, folder)
        return
    counts = ""
    for name in names:
        path = f"{folder.rstrip('/')}/{name}"
        if counts:
            _note(run, path, "shadowed", f"by {counts}", source)
        elif _take(run, path, source, folder):
            counts = path


def _take(run: Loader, path: str, source: FileSource, folder: str) -> bool:
    """Take a path; whether it counts, so that no other is tried."""
    origin = Origin(source.layer, folder, name=source.label)
    if source.pick == "text":
        return run.take_file(path, origin)
    kind = run.tree.kind(path)
    if kind == "file" or (kind != "missing" and source.pick == "path"):
        run.take_file(path, origin)
        return True
    _note(run, path, "folder" if kind == "folder" else "not-a-file", "", source)
    return False


def _take_of_walk(run: Loader, source: FileSource, names: tuple[str, ...], folder: str) -> None:
    key = (source.layer, *names)
    if key not in run.named:
        there = [
            name
            for name in names
            if any(run.tree.kind(f"{each.rstrip('/')}/{name}") != "missing" for each in run.surroundings.walk)
        ]
        run.named[key] = there[0] if there else ""
    chosen = run.named[key]
    for name in names:
        path = f"{folder.rstrip('/')}/{name}"
        if name == chosen:
            run.take_file(path, Origin(source.layer, folder))
        else:
            _note(run, path, "shadowed", f"the walk has {chosen}", source)


def _note(run: Loader, path: str, reason: str, detail: str, source: FileSource) -> None:
    if run.tree.kind(path) == "missing":
        run.absent.append(path)
    else:
        run.skips.append(Skip(path, reason, detail, source.layer))


def arrange(run: Loader) -> None:
    """Order the entries as the dialect does, and let the last of a name stand for all."""
    dialect = run.dialect
    if dialect.identity == "name":
        last: dict[str, Entry] = {}
        for entry in run.entries:
            before = last.get(entry.name.lower())
            if before is not None:
                run.skips.append(Skip(before.path, "shadowed", f"by {entry.path}", before.layer))
            last[entry.name.lower()] = entry
        run.entries = list(last.values())
    for layer in dialect.unordered:
        paths = [entry.path for entry in run.entries if entry.layer == layer]
        if len(paths) > 1:
            said = f"the agent gives its {len(paths)} {layer} files in no certain order"
            run.findings.append(Finding(paths[0], None, "order-unspecified", said))
    if dialect.sorts == ("name",):
        from foretold.instructions.text.locale_compare import collation_key

        run.entries.sort(key=lambda entry: collation_key(entry.name))
    elif dialect.sorts:
        found = sorted((entry for entry in run.entries if entry.layer in dialect.sorts), key=_code_units)
        others = [entry for entry in run.entries if entry.layer not in dialect.sorts]
        run.entries = [*others, *found]


def _code_units(entry: Entry) -> bytes:
    """The order of JavaScript: by UTF-16 code unit."""
    return entry.path.encode("utf-16-be", "surrogatepass")
