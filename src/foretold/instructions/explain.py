"""What becomes of one instruction file, and what to change; and of every one in a tree.

1. What the start of a session has seen is in its view: loaded, waiting, or skipped with a reason.
2. A file in a folder below is judged as if a file next to it were touched: by the same loader, with the same tables.
   A rule there waits for its paths, and one whose paths can match nothing is never loaded.
3. What is left has a name that is nearly right (capitals, the ending of a rule), is in a folder that only a session
   started there would look at, or is not an instruction file at all.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from foretold.dialects.surroundings import join
from foretold.instructions.advice import can_match, find_dead_globs
from foretold.instructions.discover.fallback import take_nested_fallback
from foretold.instructions.discover.inventory import (
    Inventory,
    NameTable,
    is_below,
    is_source_below,
    list_names,
    take_inventory,
)
from foretold.instructions.discover.locate import steps
from foretold.instructions.discover.nested import use_nested_rules
from foretold.instructions.discover.rule_conditions import written_patterns
from foretold.instructions.engine import Loader
from foretold.instructions.intent import PUNCTUATION
from foretold.instructions.view import View
from foretold.storage.tree import Disk, Fault, Tree, is_inside
from foretold.text.frontmatter import trim
from foretold.types import REASONS, TYPE_CHECKING, Finding, NamedTuple, Skip

if TYPE_CHECKING:
    from foretold.types import Entry

START = "loaded at the start of every session"
MATCH = "loaded when a matching file is touched"
TOUCH = "loaded when a file in its folder is touched"
NEVER = "not loaded"


class FileVerdict(NamedTuple):
    """The answer for one path. `loaded` is start, on-match, on-touch or never."""

    path: str
    loaded: str
    answer: str
    why: tuple[str, ...]
    change: tuple[str, ...]
    reason: str = ""  #: of one that is never loaded: a word of `foretold.types.REASONS`, if there is one
    detail: str = ""  #: more about the reason
    tokens: int = 0  #: of one that is loaded


class NestedFiles(NamedTuple):
    """The instruction files of a tree that its start says nothing about, and why these are not all."""

    verdicts: tuple[FileVerdict, ...]
    cut: str = ""


def verdict_of(view: View, path: str, tree: Tree | None = None) -> FileVerdict:
    """What becomes of one instruction file in a view."""
    return _Judge(view, tree if tree is not None else Disk()).judge(join(view.surroundings.cwd, path))


def find_nested(view: View, tree: Tree | None = None, inventory: Inventory | None = None) -> NestedFiles:
    """What becomes of the instruction files in and below the working directory that the start does not account for.

    This looks at the whole tree, unless an inventory of it is given.
    """
    tree = tree if tree is not None else Disk()
    names = list_names(view.dialect, view.surroundings)
    if inventory is None:
        inventory = take_inventory(tree, view.surroundings.cwd, [names])
    known = {entry.path for entry in (*view.entries, *view.withheld)}
    known |= {skip.path for skip in view.skips if skip.reason != "wrong-extension"}
    known |= {path for entry in view.entries for path in entry.includes}
    judge = _Judge(view, tree)
    paths = [path for path in inventory.select(names) if path not in known and tree.real(path) not in known]
    verdicts = [verdict for verdict in map(judge.judge, paths) if verdict.loaded != "start"]
    return NestedFiles(tuple(verdict for verdict in verdicts if not judge.is_document(verdict)), inventory.cut)


def describe_skip(skip: Skip) -> str:
    """A reason in words."""
    return f"{skip.reason}: {REASONS[skip.reason]}" + (f" ({skip.detail})" if skip.detail else "")


class _Judge:
    """Answers for paths of one view; each nested folder is loaded once."""

    def __init__(self, view: View, tree: Tree) -> None:
        self.view, self.tree = view, tree
        self.names = list_names(view.dialect, view.surroundings)
        self._folders: dict[str, Loader] = {}

    def judge(self, path: str) -> FileVerdict:
        view, tree = self.view, self.tree
        real = tree.real(path)
        for number, entry in enumerate(view.entries, 1):
            if entry.path in (path, real) or tree.real(entry.path) == real:
                return _at_start(view, entry, number)
            if path in entry.includes or real in entry.includes:
                notes = [_message(finding) for finding in view.findings if finding.path in (path, real)]
                said = f"its text is in {entry.path}, in place of the import"
                return FileVerdict(path, "start", START, (said, *notes), ())
        for rule in view.waiting:
            if rule.entry.path in (path, real):
                return self._waits(path, rule.entry, rule.base)
        skips = [skip for skip in view.skips if skip.path in (path, real) or _almost(skip, path)]
        if not skips:
            return self._elsewhere(path)
        if skips[0].reason == "wrong-extension":
            return _wrong_extension(path, tuple(skips[0].detail.removeprefix("only ").split(" or ")))
        found = self._skipped(path, skips)
        if all(_almost(skip, path) and skip.path != path for skip in skips):  # that import fails; it may come otherwise
            other = self._elsewhere(path)
            if other.loaded != "never":
                return other._replace(why=(*other.why, *found.why), change=found.change)
        return found

    def is_document(self, verdict: FileVerdict) -> bool:
        """Whether a file with other capitals is just a page among others: `agents.md` next to `tools.md`."""
        folder, _, name = verdict.path.rpartition("/")
        if verdict.reason != "wrong-case" or folder == self.view.surroundings.cwd:
            return False
        listed = self.tree.names(folder)
        pages = [] if isinstance(listed, Fault) else [each for each in listed[0] if each.endswith(name[-3:])]
        return any(each != name and each != each.upper()[:-3] + each[-3:] for each in pages)

    def _waits(self, path: str, entry: Entry, base: str) -> FileVerdict:
        """A rule with `paths`; those that can match nothing never wake it."""
        kind = self.view.dialect.rules.patterns
        notes = tuple(find_dead_globs(entry, kind).values())
        if not can_match(entry, kind):
            change = f"write paths that match, relative to {base}"
            why = ("its paths can match no file", *notes)
            return FileVerdict(path, "never", NEVER, why, (change,), "no-match", "its paths can match no file")
        patterns = ", ".join(written_patterns(entry, self.view.dialect.rules))
        said = f"its paths wait for a file that matches: {patterns}, seen from {base}"
        return FileVerdict(path, "on-match", MATCH, (said, *notes), (), tokens=entry.tokens)

    def _skipped(self, path: str, skips: Sequence[Skip]) -> FileVerdict:
        why = []
        for skip in skips:
            where = f"{skip.parent}:{skip.line}: " if skip.parent else ""
            if skip.path != path and skip.reason == "missing":
                why.append(f"{where}the import is taken to mean {skip.path}")
            else:
                why.append(where + describe_skip(skip))
        places = {(path, None), *((skip.parent or skip.path, skip.line) for skip in skips)}
        found = [each for each in self.view.findings if (each.path, each.line) in places and each.hint]
        hints = tuple(dict.fromkeys(each.hint for each in found))
        return FileVerdict(path, "never", NEVER, tuple(why), hints, skips[0].reason, skips[0].detail)

    # -- what the start does not look at ----------------------------------------------------------------------

    def _elsewhere(self, path: str) -> FileVerdict:
        if self.tree.kind(path) != "file":
            return FileVerdict(path, "never", NEVER, ("there is no such file",), ("create it",), "missing")
        if off := self.view.surroundings.off:
            return self._skipped(path, [Skip(path, "disabled", off)])
        holders = _find_holders(path, self.names)
        for holder, name in holders:
            if is_below(holder, self.view.surroundings.cwd):
                found = self._in_folder(path, holder, name)
                if found is not None:
                    return found
        rules = self.names.find_rules(path)
        if rules and not path.endswith(rules[1].suffix):
            return _wrong_extension(path, rules[1].suffix)
        if nearly := self._wrong_case(path):
            return nearly
        closed = [skip for skip in self.view.skips if skip.reason == "not-walked" and is_inside(path, skip.path)]
        if closed:
            return self._skipped(path, [skip._replace(path=path) for skip in closed])
        change = _possible_changes(self.view, path, self.names)
        why = "the agent does not look there, and nothing imports it" if change else "the agent does not look there"
        return FileVerdict(path, "never", NEVER, (why,), change)

    def _in_folder(self, path: str, holder: str, name: str) -> FileVerdict | None:
        """What becomes of a file if another one in the folder that holds it is touched; None if nothing is known."""
        loader, real = self._load_folder(holder), self.tree.real(path)
        for entry in loader.entries:
            if entry.path in (path, real):
                return FileVerdict(path, "on-touch", TOUCH, (f"in {holder}",), (), tokens=entry.tokens)
        for rule in loader.waiting:
            if rule.entry.path in (path, real):
                return self._waits(path, rule.entry, rule.base)
        skips = [skip for skip in loader.skips if skip.path in (path, real) and skip.parent is None]
        skips = [skip for skip in skips if skip.reason != "wrong-extension"]
        fallback = self.view.dialect.fallback
        is_fallback = fallback is not None and name in fallback.names
        if not skips and is_fallback and not self.view.nested_fallback:
            skips = [Skip(path, *self.view.hidden)]
        if skips:
            found = self._skipped(path, skips)
            if is_fallback and fallback is not None and found.reason == "shadowed":
                found = found._replace(change=(f"write @{name} into {holder}/{fallback.unless[0]}",))
            return found
        rules = self.names.find_rules(path)
        if rules and not path.endswith(rules[1].suffix):
            return None
        found = self._skipped(path, [Skip(path, "start-only")])
        return found._replace(change=(f"start the agent in {holder}",))

    def _load_folder(self, holder: str) -> Loader:
        """What a touched file in a folder brings of that folder."""
        known = self._folders.get(holder)
        if known is not None:
            return known
        view, surroundings = self.view, self.view.surroundings
        loader = self._folders[holder] = Loader(self.tree, view.dialect, surroundings, f"{holder}/x")
        if view.dialect.nested is not None:
            use_nested_rules(loader, view.dialect.nested)
        if is_inside(self.tree.real(holder), surroundings.cwd) and not view.dialect.touch_asked:
            for source, folder in steps(surroundings.touch or view.dialect.touch, surroundings, loader.trigger):
                if folder == holder and is_source_below(source):
                    loader.take(source, folder)
        table = view.dialect.fallback
        if table is not None and view.nested_fallback:
            texts = (trim(entry.text) for entry in view.entries if not entry.announced and not entry.depth)
            take_nested_fallback(loader, table, [holder], frozenset(texts))
        return loader

    def _wrong_case(self, path: str) -> FileVerdict | None:
        """The verdict on a file whose name has other capitals than one that the agent looks for."""
        for name in self.names.files if not self.names.any_case else ():
            right = path[: len(path) - len(name)] + name
            if path.lower().endswith(f"/{name.lower()}") and right != path:
                if self.tree.kind(right) != "missing" and self.tree.identity(right) == self.tree.identity(path):
                    return self.judge(right)._replace(path=path)  # a file system that ignores case
                short = name.rpartition("/")[2]
                found = self._skipped(path, [Skip(path, "wrong-case", f"it looks for {short}")])
                taken = self.tree.kind(right) != "missing"
                return found._replace(change=(f"move its text to {right}" if taken else f"rename it to {short}",))
        return None


def _almost(skip: Skip, path: str) -> bool:
    """Whether an import was meant for a path, but has punctuation after it."""
    return skip.reason == "missing" and skip.path.startswith(path) and not skip.path[len(path) :].strip(PUNCTUATION)


def _at_start(view: View, entry: Entry, number: int) -> FileVerdict:
    why = [f"number {number} of {len(view.entries)}, layer {entry.layer}, about {entry.tokens:,} tokens"]
    if entry.parent:
        why.append(f"imported by {entry.parent}")
    if entry.differs_from_disk:
        why.append("shown without its frontmatter or comments")
    why += [_message(finding) for finding in view.findings if finding.path == entry.path]
    return FileVerdict(entry.path, "start", START, tuple(why), (), tokens=entry.tokens)


def _message(finding: Finding) -> str:
    return f"line {finding.line or '?'}: {finding.message}"


def _find_holders(path: str, names: NameTable) -> list[tuple[str, str]]:
    """The folders that a file may speak for, each with the name that it has there."""
    rules = names.find_rules(path)
    found = [(rules[0], rules[1].name)] if rules else []
    ends = path.lower() if names.any_case else path
    wanted = {name: name.lower() if names.any_case else name for name in names.files}
    return found + [(path[: -len(name) - 1], name) for name in wanted if ends.endswith(f"/{wanted[name]}")]


def _wrong_extension(path: str, suffix: str | tuple[str, ...]) -> FileVerdict:
    endings = (suffix,) if isinstance(suffix, str) else suffix
    name = path.rpartition("/")[2]
    stem = name.removesuffix(".md") if endings[0].endswith(".md") else os.path.splitext(name)[0]
    stem = stem if stem != name else os.path.splitext(name)[0]
    detail = f"only {' or '.join(endings)}"
    why = describe_skip(Skip(path, "wrong-extension", detail))
    return FileVerdict(path, "never", NEVER, (why,), (f"rename it to {stem}{endings[0]}",), "wrong-extension", detail)


def _possible_changes(view: View, path: str, names: NameTable) -> tuple[str, ...]:
    """How a file could be loaded that the agent does not look for."""
    changes = []
    if view.dialect.imports.depth:
        base = view.surroundings.cwd.rstrip("/") + "/"
        near = path[len(base) :] if path.startswith(base) else path
        changes.append(f"import it (@{near}) from a file in {view.surroundings.cwd} that is loaded")
    if names.rules and not names.find_rules(path):
        changes.append(f"move it to {names.rules[-1].name}/")
    return (", or ".join(changes),) if changes else ()
