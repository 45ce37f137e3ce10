"""`foretold.compare`: what several agents load in one folder, side by side.

1. Every agent is asked through one tree that remembers what it has seen, so a file is read once for all of them.
2. A row is a file that at least one agent loads, lists, waits with, or leaves out for its own reason; a cell says what
   becomes of it for one agent: `always`, `cut`, `listed`, `waits`, `never`, or nothing at all.
3. With a file that is read, what that brings is `read`.
4. With `nested`, files in folders below have rows, too: `nested` is what a touched file in the same folder brings.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from foretold.dialects.registry import AGENTS, EVIDENCE, RECORDED, find_agents, make_request, make_request_for
from foretold.errors import ForetoldError
from foretold.instructions.advice import can_match
from foretold.instructions.load import load_view, require_folder
from foretold.instructions.session import Session
from foretold.instructions.view import View
from foretold.storage.layers import CachingDisk
from foretold.storage.tree import Disk, Tree
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.instructions.explain import NestedFiles

#: reasons that are about a path and not about the agent: they make no row of their own
SILENT = (
    *("missing", "disabled", "duplicate", "already-attached", "already-loaded", "not-yet-read", "in-code"),
    *("not-an-import", "unknown-user", "bad-name"),
)


class Cell(NamedTuple):
    """What becomes of one file for one agent."""

    state: str = ""  #: always, cut, listed, waits, read, nested, never; empty = the agent does not look at it
    order: int = 0  #: its place among what the agent loads, from 1
    tokens: int = 0
    lost: int = 0  #: bytes of its end that are not loaded
    reason: str = ""  #: why never


class Comparison(NamedTuple):
    """What several agents load in one folder."""

    cwd: str
    views: tuple[View, ...]
    paths: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]  #: path, agent -> cell
    others: tuple[str, ...] = ()  #: agents that are known and were not asked, unless the caller chose
    cut: str = ""  #: why files in folders below may be missing

    def cell(self, path: str, view: View) -> Cell:
        return self.cells.get((path, view.dialect.agent), Cell())


def compare(
    cwd: str | os.PathLike[str] = ".",
    agents: Iterable[str] | None = None,
    *,
    read: str = "",
    home: str | os.PathLike[str] | None = None,
    managed: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    nested: bool = False,
    tree: Tree | None = None,
) -> Comparison:
    """What agents load in a folder; by default those that are set up there, and the recorded ones whose files are.

    With `read`, also what each of them loads once it reads that file; with `nested`, what becomes of the instruction
    files in folders below: that looks at the whole tree.

    >>> import foretold, os, tempfile
    >>> folder = os.path.realpath(tempfile.mkdtemp())
    >>> with open(os.path.join(folder, "CLAUDE.md"), "w", encoding="utf-8") as file:
    ...     _ = file.write("Use tabs.\\n")
    >>> found = foretold.compare(folder, ["claude-code", "codex"], home=folder, env={})
    >>> [found.cell(f"{folder}/CLAUDE.md", view).state for view in found.views]
    ['always', '']
    """
    tree = tree if tree is not None else CachingDisk()
    _, first = make_request(cwd, "claude-code", home=home, managed=managed, env=env)
    require_folder(tree, first)
    asked = {name: make_request_for(first, name, env, managed=managed is not None) for name in agents or ()}
    views = {name: load_view(tree, *question) for name, question in asked.items()}
    others: tuple[str, ...] = ()
    if agents is None:
        set_up = find_agents(tree, first.cwd, first.home, env)
        for name in [each for at, each in enumerate(EVIDENCE) if at < RECORDED or each in set_up]:
            asked[name] = make_request_for(first, name, env, managed=managed is not None)
            view = load_view(tree, *asked[name])
            if name in set_up or any(entry.layer in OF_PROJECT for entry in view.entries):
                views[name] = view
        others = tuple(name for name in AGENTS if name not in views)
    if not views:
        raise ForetoldError("no agent to compare; name some with --agent, or all of them with --agent all")
    cells: dict[tuple[str, str], Cell] = {}
    for name, view in views.items():
        cells.update(((path, view.dialect.agent), cell) for path, cell in list_cells(view).items())
        if read:
            _note_read(cells, Session.of(*asked[name], tree), read)
    cut = _note_nested(cells, list(views.values()), tree) if nested else ""
    paths = tuple(_ordered(cells, len(views)))
    return Comparison(first.cwd, tuple(views.values()), paths, cells, others, cut)


OF_PROJECT = ("project", "local", "legacy")  #: layers of files that a repository brings


def _note_nested(cells: dict[tuple[str, str], Cell], views: list[View], tree: Tree) -> str:
    """Note what becomes of the files in folders below; why these are not all."""
    from foretold.instructions.discover.inventory import list_names, take_inventory
    from foretold.instructions.explain import find_nested

    tables = [list_names(view.dialect, view.surroundings) for view in views]
    inventory = take_inventory(tree, views[0].surroundings.cwd, tables)
    for view in views:
        for path, cell in list_cells_below(find_nested(view, tree, inventory)).items():
            cells.setdefault((path, view.dialect.agent), cell)
    return inventory.cut


def list_cells_below(found: NestedFiles) -> dict[str, Cell]:
    """What becomes of each file in folders below, for one agent."""
    states = {"on-touch": "nested", "on-match": "waits", "never": "never"}
    return {
        verdict.path: Cell(states[verdict.loaded], tokens=verdict.tokens, reason=verdict.reason)
        for verdict in found.verdicts
    }


def list_cells(view: View) -> dict[str, Cell]:
    """What becomes of each file that the start of one agent accounts for."""
    if view.refusal:
        paths = {entry.path: None for entry in (*view.entries, *(rule.entry for rule in view.waiting))}
        return {path: Cell("never", reason="not-started") for path in paths}
    cells: dict[str, Cell] = {}
    cut = {finding.path: finding for finding in view.findings if finding.code == "budget-cut"}
    for number, entry in enumerate(view.entries, 1):
        state = "listed" if entry.is_listed else "cut" if entry.path in cut else "always"
        lost = max(Disk().size(entry.path) - entry.size, 0) if state == "cut" else 0
        cells[entry.path] = Cell(state, number, entry.tokens, lost)
        for path in entry.includes:
            cells.setdefault(path, Cell("always", number))
    for rule in view.waiting:
        waits = (
            Cell("waits", tokens=rule.entry.tokens)
            if can_match(rule.entry, view.dialect.rules.patterns)
            else Cell("never", reason="no-match")
        )
        cells.setdefault(rule.entry.path, waits)
    for skip in view.skips:
        if skip.reason not in SILENT:
            cells.setdefault(skip.path, Cell("never", reason=skip.reason))
    return cells


def _note_read(cells: dict[tuple[str, str], Cell], session: Session, path: str) -> None:
    view = session.start()
    for entry in session.read(path).entries if not view.refusal else ():
        cells[entry.path, view.dialect.agent] = Cell("read", tokens=entry.tokens)


def _ordered(cells: Mapping[tuple[str, str], Cell], agents: int) -> list[str]:
    """Files that agents differ in come first, then in the order of the first agent that has them."""
    loaded: dict[str, int] = {}
    order: dict[str, int] = {}
    for (path, _), cell in cells.items():
        loaded[path] = loaded.get(path, 0) + (cell.state in ("always", "cut", "read"))
        order[path] = min(order.get(path, LAST), cell.order or LAST)
    return sorted(loaded, key=lambda path: (loaded[path] in (0, agents), order[path], path))


LAST = 999_999
