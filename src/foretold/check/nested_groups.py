"""What becomes of the files below the top, folder by folder, for a project that is checked again and again.

`find_nested` judges all files below the top with one view of the start. Most of that view has nothing to do with most
folders; so each folder is judged with an excerpt of it, and is judged again only if the excerpt, the surroundings or a
file that was read there is another. Put together, the answers are those of `find_nested`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from foretold.dialects.registry import DialectChoice
from foretold.dialects.surroundings import Surroundings
from foretold.instructions.discover.inventory import Inventory, list_names
from foretold.instructions.explain import NestedFiles, find_nested
from foretold.instructions.intent import PUNCTUATION
from foretold.instructions.remedies import DIRECTIVES
from foretold.instructions.view import View, Waiting
from foretold.storage.tree import Tree
from foretold.types import Entry, Finding, NamedTuple, Skip


class ViewExcerpt(NamedTuple):
    """What of a view concerns the files of one folder."""

    entries: tuple[Entry, ...] = ()
    withheld: tuple[Entry, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    skips: tuple[Skip, ...] = ()
    findings: tuple[Finding, ...] = ()
    hidden: tuple[str, str] = ("", "")


class SessionStart:
    """The surroundings of a start. They have functions in them, so two of them are never equal: one is made again only
    if a file that was read for it has changed."""

    def __init__(self, surroundings: Surroundings) -> None:
        self.surroundings = surroundings


def group_files(
    tree: Tree, choice: DialectChoice, start: SessionStart, inventory: Inventory
) -> dict[str, tuple[str, ...]]:
    """The files that an agent may look for, by the folder that each is in; those that lead nowhere by themselves."""
    found: dict[str, list[str]] = {}
    for path in inventory.select(list_names(choice.dialect, start.surroundings)):
        is_file = tree.kind(path) == "file"
        found.setdefault(path.rpartition("/")[0] if is_file else path, []).append(path)
    return {folder: tuple(paths) for folder, paths in found.items()}


def excerpt_view(view: View, groups: Mapping[str, tuple[str, ...]], tree: Tree) -> list[ViewExcerpt]:
    """What of a view concerns each of some groups of files."""
    owners: dict[str, str] = {}
    for folder, paths in groups.items():
        for path in paths:
            owners[path] = owners[tree.real(path)] = folder
    parts: dict[str, list[tuple[int, object]]] = {}

    def add(number: int, paths: Iterable[str], what: object) -> None:
        for folder in {owners[path] for path in paths if path in owners}:
            parts.setdefault(folder, []).append((number, what))

    for entry in view.entries:
        add(0, (entry.path, tree.real(entry.path), *entry.includes), entry._replace(text="", raw="", size=0))
    for entry in view.withheld:
        add(1, (entry.path,), entry._replace(text="", raw="", size=0))
    for rule in view.waiting:
        add(2, (rule.entry.path,), rule)
    for skip in view.skips:
        add(3, (skip.path, skip.path.rstrip(PUNCTUATION)), skip)
    for finding in view.findings:
        add(4, (finding.path,), finding)
    whole = ViewExcerpt(view.entries, view.withheld, view.waiting, view.skips, view.findings, view.hidden)
    free = tuple(entry for entry in view.entries if not entry.announced and not entry.depth)  # they hide others
    walls = tuple(skip for skip in view.skips if skip.reason == "not-walked" or _is_directive(skip))
    common = ViewExcerpt(entries=free, skips=walls, hidden=view.hidden)
    return [
        whole if paths == (folder,) else _put_together(common, parts[folder]) if folder in parts else common
        for folder, paths in groups.items()
    ]


def _put_together(common: ViewExcerpt, parts: list[tuple[int, object]]) -> ViewExcerpt:
    fields: list[list[object]] = [[*each] for each in common[:5]]
    for number, what in parts:
        fields[number].append(what)
    return ViewExcerpt._make([*map(tuple, fields), common.hidden])


def _is_directive(skip: Skip) -> bool:
    return skip.reason == "missing" and skip.path.rpartition("/")[2] in DIRECTIVES


def judge_group(
    tree: Tree, choice: DialectChoice, start: SessionStart, excerpt: ViewExcerpt, paths: tuple[str, ...]
) -> NestedFiles:
    """What becomes of the files of one folder."""
    view = View(
        choice,
        start.surroundings,
        excerpt.entries,
        skips=excerpt.skips,
        findings=excerpt.findings,
        waiting=excerpt.waiting,
        withheld=excerpt.withheld,
        hidden=excerpt.hidden,
    )
    return find_nested(view, tree, Inventory(paths))


def join_groups(view: View, parts: Iterable[NestedFiles], inventory: Inventory) -> NestedFiles:
    """The answers for all folders as one."""
    parts, known = list(parts), set(view.findings)
    verdicts = {each.path: each for part in parts for each in part.verdicts}
    findings = dict.fromkeys(each for part in parts for each in part.findings)
    return NestedFiles(
        tuple(verdicts[path] for path in inventory.paths if path in verdicts),
        inventory.cut,
        tuple(each for each in findings if each not in known),
        tuple(each for part in parts for each in part.entries),
        tuple(each for part in parts for each in part.waiting),
        tuple(each for part in parts for each in part.skips),
    )
