"""`foretold.compare_releases`: what two releases of one agent do differently in one folder.

1. Both releases are asked through one tree that remembers, with the engine and the cells of `compare.py`. Files of
   folders below count, too: what a touched file next to them brings.
2. A row is a file that is treated differently: it comes (`new`), goes (`gone`), comes at another time (`later`,
   `sooner`, `other`), at another place (`moved`), with another text (`changed`), is `cut` or is `whole` again, or is
   still not loaded, for another `reason`. Of files whose order differs, the fewest count as moved.
3. The dated changes between the releases are played one by one: one that changes anything of what is loaded, attached,
   sent or found in this folder has an `effect`, and every other is `idle`. What a tool attaches counts where something
   waits for it. A change that no table has is `unseen`: whether it matters here is not known.
4. Files that are read (`files`) are compared with what each release attaches to them.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

from foretold.dialects.registry import DEFAULT_AGENT, DialectChoice, history_of, make_request, make_request_for
from foretold.dialects.releases.history import DatedChange, set_fields, version_key
from foretold.dialects.surroundings import LoadRequest
from foretold.instructions.compare import SILENT, Cell, list_cells, list_cells_below
from foretold.instructions.discover.inventory import Inventory, list_names, take_inventory
from foretold.instructions.discover.nested import WaitingRules
from foretold.instructions.explain import NestedFiles, find_nested
from foretold.instructions.load import load_view, require_folder
from foretold.instructions.session import Attachment, Session
from foretold.instructions.view import View
from foretold.storage.layers import CachingDisk
from foretold.storage.tree import Fault, Tree
from foretold.text.diff import LineCount, count_lines
from foretold.types import TYPE_CHECKING, Entry, Finding, NamedTuple, Skip

if TYPE_CHECKING:
    from typing import Unpack

    from foretold.instructions.load import LoadOptions

MOST_TOUCHED = 8  #: files that each change is tried on
MOST_BELOW = 40  #: files of folders below that each change is tried on; those of both ends are all looked at
MOST_MATCHED = 1_000  #: files of the tree that are tried on the rules that wait
RANKS = {"always": 3, "cut": 3, "listed": 2, "waits": 1, "nested": 1}


class UpgradedFile(NamedTuple):
    """A file that one of two releases treats differently from the other."""

    kind: str  #: new, gone, sooner, later, other, moved, changed, cut, whole, reason
    path: str
    before: Cell
    after: Cell
    lines: LineCount = LineCount()  #: of a text that both give


class UpgradedRead(NamedTuple):
    """What touching one file attaches, in two releases."""

    path: str
    before: Attachment
    after: Attachment

    @property
    def is_changed(self) -> bool:
        return (self.before.entries, self.before.blocks) != (self.after.entries, self.after.blocks)


class Upgrade(NamedTuple):
    """What two releases of one agent do differently in one folder."""

    before: View
    after: View
    files: tuple[UpgradedFile, ...]
    reads: tuple[UpgradedRead, ...]
    skips: tuple[Skip, ...]  #: that are only in the newer release, of files that have no row
    unskipped: tuple[Skip, ...]  #: that are only in the older one
    new: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
    effects: tuple[DatedChange, ...]  #: dated changes that have an effect here, oldest first
    idle: tuple[DatedChange, ...]  #: those that have none
    unseen: tuple[DatedChange, ...]  #: those of which it is not known
    cut: str = ""  #: why files in folders below may be missing

    @property
    def is_changed(self) -> bool:
        """Whether anything is loaded, attached, sent or found otherwise."""
        is_read_otherwise = any(each.is_changed for each in self.reads)
        return bool(self.files or self.skips or self.unskipped or self.new or self.fixed or self.effects) or (
            is_read_otherwise
        )


def compare_releases(
    cwd: str | os.PathLike[str] = ".",
    before: str = "",
    after: str = "",
    *,
    files: Iterable[str] = (),
    tree: Tree | None = None,
    **options: Unpack[LoadOptions],
) -> Upgrade:
    """What two releases of an agent do differently in a folder; `before` and `after` are versions.

    Without them it is the version in the name of the agent, else the oldest that is known, and the newest. The options
    are those of `foretold.load`.

    >>> import foretold, os, tempfile
    >>> folder = os.path.realpath(tempfile.mkdtemp())
    >>> with open(os.path.join(folder, "AGENTS.md"), "w", encoding="utf-8") as file:
    ...     _ = file.write("Use tabs.\\n")
    >>> found = foretold.compare_releases(folder, "2.1.280", "2.1.281", home=folder, env={})
    >>> [(each.kind, os.path.basename(each.path)) for each in found.files]
    [('new', 'AGENTS.md')]
    >>> [change.says for change in found.effects]
    ['AGENTS.md is loaded where there is no CLAUDE.md.']
    """
    tree = tree if tree is not None else CachingDisk()
    agent, _, version = options.get("agent", DEFAULT_AGENT).lower().partition("@")
    oldest, newest = history_of(agent).ends
    first, last = before or version or oldest, after or newest
    env, is_managed = options.get("env"), options.get("managed") is not None
    options["agent"] = f"{agent}@{first}"
    start = make_request(cwd, **options)
    require_folder(tree, start[1])
    end = make_request_for(start[1], f"{agent}@{last}", env, managed=is_managed)
    sides = _Sides(tree, start, end, tuple(files))
    steps = list(_list_steps(start, end, env, managed=is_managed))
    effects, idle = sides.play(steps)
    unseen = tuple(change for change in _changes_between(agent, first, last) if not change.sets)
    return sides.compare()._replace(effects=effects, idle=idle, unseen=unseen)


Question = tuple[DialectChoice, LoadRequest]


def _changes_between(agent: str, first: str, last: str) -> list[DatedChange]:
    low, high = version_key(first), version_key(last)
    return [change for change in history_of(agent).changes if low < version_key(change.version) <= high]


def _list_steps(
    start: Question, end: Question, env: Mapping[str, str] | None, *, managed: bool
) -> Iterator[tuple[DatedChange, Question]]:
    """The dated changes between two releases, each with the question to a release that has it and no later one."""
    agent, table = start[0].dialect.agent, start[0].dialect
    asked = [choice.asked or choice.dialect.version for choice, _ in (start, end)]
    for number, change in enumerate(_changes_between(agent, *asked)):
        if change.sets:
            choice, request = make_request_for(start[1], f"{agent}@{change.version}", env, managed=managed)
            # several changes may share a release, and a tree that remembers knows texts by the version of their table
            table = set_fields(table, change.sets)._replace(version=f"{change.version}-{number}")
            yield change, (choice._replace(dialect=table), request._replace(dialect=table))


class _Side(NamedTuple):
    """What one release does."""

    view: View
    below: NestedFiles
    touched: tuple[Attachment, ...]  #: what reading each of the files that are tried attaches
    mentioned: Attachment | None  #: what a prompt that mentions all of them does

    @property
    def essence(self) -> tuple[object, ...]:
        """All of it that a model, or the author of a file, could notice."""
        view, below = self.view, self.below
        waiting = (*view.waiting, *below.waiting)
        return (
            view.refusal,
            tuple(view.slots),
            tuple((each.path, each.layer, each.text) for each in view.entries),
            tuple((each.path, each.reason, each.parent, each.line) for each in view.skips if each.reason != "missing"),
            (view.findings, below.findings),
            tuple((rule.entry.path, rule.entry.text, rule.entry.globs, rule.base) for rule in waiting),
            tuple((each.path, each.loaded, each.reason) for each in below.verdicts),
            tuple((each.path, each.text) for each in below.entries),
            tuple((each.entries, each.blocks) for each in (*self.touched, self.mentioned) if each is not None),
            self._habits(),
        )

    def _habits(self) -> tuple[object, ...]:
        """What the agent does later with what is there: tools count where something waits for one."""
        dialect, later = self.view.dialect, [each for each in self.below.verdicts if each.loaded != "never"]
        tools = (dialect.triggers, dialect.silent, dialect.mention_missing, dialect.races)
        goes_on = (dialect.continuation, dialect.subagents_without)
        return tools if later or self.view.waiting else (), goes_on if self.view.entries else ()

    @property
    def texts(self) -> dict[str, Entry]:
        """Every text that is loaded at some time, by its path."""
        entries = (*(rule.entry for rule in (*self.view.waiting, *self.below.waiting)), *self.below.entries)
        return {each.path: each for each in (*entries, *reversed(self.view.entries))}

    @property
    def cells(self) -> dict[str, Cell]:
        return {**list_cells_below(self.below), **list_cells(self.view)}


class _Sides:
    """Two releases, and those between, in one folder: asked with the same tree, inventory and touched files."""

    def __init__(self, tree: Tree, start: Question, end: Question, files: tuple[str, ...]) -> None:
        self.tree, self.start, self.end, self.files = tree, start, end, files
        views = [load_view(tree, *question) for question in (start, end)]
        tables = [list_names(view.dialect, view.surroundings) for view in views]
        has_rules = any(view.waiting for view in views)
        self.inventory = take_inventory(tree, views[0].surroundings.cwd, tables, every=has_rules)
        self.before, self.after = (self._look(question, self.inventory, files) for question in (start, end))
        self._touched = tuple(dict.fromkeys((*files, *self._find_touched())))[: MOST_TOUCHED + len(files)]

    def _look(self, question: Question, inventory: Inventory, files: Sequence[str]) -> _Side:
        session = Session.of(*question, self.tree)
        view = session.start()
        attached = tuple(session.read(path) for path in files) if not view.refusal else ()
        mentioned = Session.of(*question, self.tree).mention(*files) if attached else None
        return _Side(view, find_nested(view, self.tree, inventory), attached, mentioned)

    def _find_touched(self) -> Iterator[str]:
        """Files that bring something when they are touched: next to nested instruction files, and for rules."""
        for side in (self.before, self.after):
            for folder in dict.fromkeys((each.trigger or "").rpartition("/")[0] for each in side.below.entries):
                yield self._find_neighbour(folder)
        top = self.after.view.surroundings.cwd.rstrip("/")
        paths = [f"{top}/{path}" for path in self.inventory.files[:MOST_MATCHED]]
        for side in (self.before, self.after):
            rules = WaitingRules(side.view.waiting, side.view.dialect.rules.patterns)
            yield from (path for path in paths if rules.matching(path))

    def _find_neighbour(self, folder: str) -> str:
        """A file next to instruction files; one that is not there, if there is no other."""
        items = self.tree.scan(folder)
        known = set(self.inventory.paths)
        paths = [] if isinstance(items, Fault) else [f"{folder}/{item.name}" for item in items if item.kind == "file"]
        return next((path for path in sorted(paths) if path not in known), f"{folder}/a-file")

    def play(self, steps: Sequence[tuple[DatedChange, Question]]) -> tuple[tuple[DatedChange, ...], ...]:
        """The changes that have an effect here, and those that have none."""
        few = self.inventory._replace(paths=self.inventory.paths[:MOST_BELOW])
        before = self._look(self.start, few, self._touched).essence
        if before == self._look(self.end, few, self._touched).essence:
            return (), tuple(change for change, _ in steps)
        found: tuple[list[DatedChange], list[DatedChange]] = ([], [])
        for change, question in steps:
            now = self._look(question, few, self._touched).essence
            found[now == before].append(change)
            before = now
        return tuple(found[False]), tuple(found[True])

    def compare(self) -> Upgrade:
        before, after = self.before, self.after
        files = tuple(_list_files(before, after))
        rows = {each.path for each in files}
        old, new = ({_identify(skip): skip for skip in _list_skips(side, rows)} for side in (before, after))
        found = [dict.fromkeys((*side.view.findings, *side.below.findings)) for side in (before, after)]
        touched = zip(self.files, before.touched, after.touched, strict=False)
        return Upgrade(
            before.view,
            after.view,
            files,
            tuple(UpgradedRead(*each) for each in touched),
            tuple(skip for key, skip in new.items() if key not in old),
            tuple(skip for key, skip in old.items() if key not in new),
            tuple(each for each in found[1] if each not in found[0]),
            tuple(each for each in found[0] if each not in found[1]),
            (),
            (),
            (),
            self.inventory.cut,
        )


def _list_skips(side: _Side, rows: set[str]) -> Iterator[Skip]:
    """What is left out, but for what a row says, what is just not there, and words with @ that are no imports."""
    for skip in side.view.skips:
        if skip.path not in rows and (skip.reason not in SILENT or skip.reason in ("disabled", "in-code")):
            yield skip


def _identify(skip: Skip) -> tuple[object, ...]:
    return skip.path, skip.reason, skip.parent, skip.line


def _list_files(before: _Side, after: _Side) -> Iterator[UpgradedFile]:
    old, new = before.cells, after.cells
    old_texts, new_texts = before.texts, after.texts
    moved = _find_moved(before.view.entries, after.view.entries)
    for path in dict.fromkeys((*new, *old)):
        cells = old.get(path, Cell()), new.get(path, Cell())
        texts = [texts[path].text if path in texts else "" for texts in (old_texts, new_texts)]
        kind = _kind_of(*cells, is_changed=texts[0] != texts[1], is_moved=path in moved)
        if kind:
            is_both = path in old_texts and path in new_texts and texts[0] != texts[1]
            lines = count_lines(*(text.encode("utf-8", "replace") for text in texts)) if is_both else LineCount()
            yield UpgradedFile(kind, path, *cells, lines)


def _kind_of(before: Cell, after: Cell, *, is_changed: bool, is_moved: bool) -> str:
    """What happened to a file; empty if nothing did."""
    ranks = RANKS.get(before.state, 0), RANKS.get(after.state, 0)
    if ranks == (0, 0):
        return "reason" if (before.state, before.reason) != (after.state, after.reason) else ""
    if 0 in ranks:
        return "new" if not ranks[0] else "gone"
    if ranks[0] != ranks[1]:
        return "sooner" if ranks[0] < ranks[1] else "later"
    if before.state != after.state:
        return {"cut": "cut", "always": "whole"}.get(after.state, "other")
    if before.lost != after.lost:
        return "cut"
    return "changed" if is_changed else "moved" if is_moved else ""


def _find_moved(before: Sequence[Entry], after: Sequence[Entry]) -> set[str]:
    """The fewest files that have to move to get from one order to another: those outside the longest common one."""
    places = {entry.path: number for number, entry in reversed([*enumerate(before)])}
    shared = [path for path in dict.fromkeys(entry.path for entry in after) if path in places]
    ends: list[int] = []  #: the last place of the best run of each length
    best: list[str] = []
    runs: list[list[str]] = []
    for path in shared:
        length = bisect_left(ends, places[path])
        run = [*(runs[length - 1] if length else []), path]
        if length == len(ends):
            ends.append(places[path])
            runs.append(run)
        else:
            ends[length], runs[length] = places[path], run
        best = runs[-1]
    return set(shared) - set(best)
