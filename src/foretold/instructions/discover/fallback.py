"""Files that are read where the agent's own are not: AGENTS.md in later versions of Claude Code.

1. Mode `instead`: they are read only if the whole walk gives no file of the agent's own with content. One decision
   for the walk; for nested folders, one per folder on top of it.
2. Mode `beside`: they are read in addition to the others. Mode `never`: they are not. Mode `managed-only`: only
   managed entries are sent at all.
3. Those of a folder come before the first project or local entry of a folder below it, else after all project and
   local entries.
4. One whose text equals that of a project or local entry of another kind is left out.
"""

from __future__ import annotations

from foretold.dialects.schema import Fallback
from foretold.instructions.engine import Loader
from foretold.instructions.text.read import read_text
from foretold.instructions.view import Origin
from foretold.storage.tree import Fault, is_inside
from foretold.text.frontmatter import trim
from foretold.types import Entry, Skip

SHARED = ("project", "local")
NO_FALLBACK = ("disabled", "the agent has no such files")


def take_fallback(loader: Loader) -> tuple[str, str]:
    """Take the fallback files of the walk, each in its place.

    Why nested ones will not follow, as the reason and the detail of a skip; two empty texts if they may.
    """
    table = loader.dialect.fallback
    if table is None:
        return NO_FALLBACK
    mode, why = loader.surroundings.mode, loader.surroundings.mode_reason
    reason = ""
    if loader.surroundings.off or mode in ("never", "managed-only"):
        reason, why = "disabled", loader.surroundings.off or why
    elif mode == "instead" and (hider := _hider(loader, table)):
        reason, why = "shadowed", f"by {hider}"
    for folder in loader.surroundings.walk:
        if reason:
            _note_folder(loader, table, folder, reason, why)
        elif folder in loader.foreign:
            _note_folder(loader, table, folder, "worktree", "")
        else:
            _take_folder(loader, table, folder)
    return reason, why if reason else ""


def _hider(loader: Loader, table: Fallback) -> str:
    """The file of the walk that hides the fallback files; empty if there is none."""
    if loader.own:
        return loader.own[0]
    layer = table.hidden_unread_by  # claude-code: ag-sources-project-hides
    if layer in loader.surroundings.sources:
        return ""
    names = [source.name for source in loader.dialect.start if source.base == "walk" and source.layer == layer]
    for folder in loader.surroundings.walk:
        for name in names:
            path = f"{folder}/{name}"
            text = read_text(loader.tree, path, loader.dialect)
            if not isinstance(text, Fault) and trim(text.shown):
                return path
    return ""


def _take_folder(loader: Loader, table: Fallback, folder: str) -> None:
    """Take the fallback files of one folder and move them to their place."""
    first = len(loader.entries)
    texts = frozenset(trim(entry.text) for entry in loader.entries if entry.layer in SHARED and entry.announced)
    for name in table.names:
        loader.take_file(f"{folder}/{name}", Origin(table.layer, folder, announced=False, fallback=True, unlike=texts))
    found = loader.entries[first:]
    if found:
        at = _place(loader.entries[:first], folder)
        loader.entries[at:] = found + loader.entries[at:first]


def _place(entries: list[Entry], folder: str) -> int:
    last = 0
    for at, entry in enumerate(entries):
        if entry.layer in SHARED:
            if entry.folder != folder and is_inside(entry.folder, folder):
                return at
            last = at + 1
    if last:
        return last
    return next((at for at, entry in enumerate(entries) if entry.layer == "memory"), len(entries))


def _note_folder(loader: Loader, table: Fallback, folder: str, reason: str, why: str) -> None:
    for name in table.names:
        path = f"{folder}/{name}"
        if path not in loader.files:
            loader.note(Skip(path, reason, why, table.layer))


def take_nested_fallback(loader: Loader, table: Fallback, folders: list[str], known: frozenset[str]) -> None:
    """Take the fallback files of nested folders; `known` are texts the model has from the start."""
    for folder in folders:
        hider = "" if loader.surroundings.mode == "beside" else _nested_hider(loader, table, folder)
        if hider:
            _note_folder(loader, table, folder, "shadowed", f"by {hider}")
            continue
        origin = Origin(table.layer, folder, announced=False, fallback=True, unlike=known)
        for name in table.names:
            loader.take_file(f"{folder}/{name}", origin)


def _nested_hider(loader: Loader, table: Fallback, folder: str) -> str:
    probe = Loader(loader.tree, loader.dialect, loader.surroundings, loader.trigger)
    for name in table.unless:
        layer = "local" if "local" in name else table.layer
        if probe.take_file(f"{folder}/{name}", Origin(layer, folder)):
            return f"{folder}/{name}"
    return ""
