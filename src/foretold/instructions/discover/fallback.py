"""Files that are read where the agent's own are not: AGENTS.md in later versions of Claude Code.

1. Mode `instead`: they are read only if the whole walk gives no file of the agent's own with content. One decision
   for the walk; for nested folders, one per folder on top of it.
2. Mode `beside`: they are read beside the others. Mode `never`: they are not. Mode `managed-only`: only managed
   entries are sent at all.
3. Those of a folder stand before the first project or local entry that speaks for a folder below it, else behind
   all project and local entries.
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


def take_fallback(run: Loader) -> bool:
    """Read the fallback files of the walk into a run, each in its place; whether nested ones may follow."""
    table = run.dialect.fallback
    if table is None:
        return False
    mode, why = run.surroundings.mode, run.surroundings.mode_reason
    if run.surroundings.off or mode in ("never", "managed-only"):
        _note_unread(run, table, "disabled", run.surroundings.off or why)
        return False
    hider = _hider(run, table) if mode == "instead" else ""
    if hider:
        _note_unread(run, table, "shadowed", f"by {hider}")
        return False
    for folder in run.surroundings.walk:
        if folder in run.foreign:
            _note_folder(run, table, folder, "worktree", "")
        else:
            _take_folder(run, table, folder)
    return True


def _hider(run: Loader, table: Fallback) -> str:
    """The file of the walk that hides the fallback files, if there is one."""
    if run.own:
        return run.own[0]
    layer = table.hidden_unread_by  # claude-code: ag-sources-project-hides
    if layer in run.surroundings.sources:
        return ""
    names = [source.name for source in run.dialect.start if source.base == "walk" and source.layer == layer]
    for folder in run.surroundings.walk:
        for name in names:
            path = f"{folder}/{name}"
            text = read_text(run.tree, path, run.dialect)
            if not isinstance(text, Fault) and trim(text.shown):
                return path
    return ""


def _take_folder(run: Loader, table: Fallback, folder: str) -> None:
    """Read the fallback files of one folder and move them to their place."""
    first = len(run.entries)
    texts = frozenset(trim(entry.text) for entry in run.entries if entry.layer in SHARED and entry.announced)
    for name in table.names:
        run.take_file(f"{folder}/{name}", Origin(table.layer, folder, announced=False, fallback=True, unlike=texts))
    found = run.entries[first:]
    if found:
        at = _place(run.entries[:first], folder)
        run.entries[at:] = found + run.entries[at:first]


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


def _note_unread(run: Loader, table: Fallback, reason: str, why: str) -> None:
    for folder in run.surroundings.walk:
        _note_folder(run, table, folder, reason, why)


def _note_folder(run: Loader, table: Fallback, folder: str, reason: str, why: str) -> None:
    for name in table.names:
        path = f"{folder}/{name}"
        if path in run.seen:
            continue
        if run.tree.kind(path) == "missing":
            run.absent.append(path)
        else:
            run.skips.append(Skip(path, reason, why, table.layer))


def take_nested_fallback(run: Loader, folders: list[str], known: frozenset[str]) -> None:
    """Read the fallback files of nested folders; `known` are texts the model has from the start."""
    table = run.dialect.fallback
    if table is None:
        return
    for folder in folders:
        hider = "" if run.surroundings.mode == "beside" else _nested_hider(run, table, folder)
        if hider:
            _note_folder(run, table, folder, "shadowed", f"by {hider}")
            continue
        origin = Origin(table.layer, folder, announced=False, fallback=True, unlike=known)
        for name in table.names:
            run.take_file(f"{folder}/{name}", origin)


def _nested_hider(run: Loader, table: Fallback, folder: str) -> str:
    probe = Loader(run.tree, run.dialect, run.surroundings, run.trigger)
    for name in table.unless:
        layer = "local" if "local" in name else table.layer
        if probe.take_file(f"{folder}/{name}", Origin(layer, folder)):
            return f"{folder}/{name}"
    return ""
