"""What becomes of one instruction file, and what to change; and of every one in a tree.

1. What the start of a session has seen is in its view: loaded, waiting, or skipped with a reason.
2. A file in a folder below is judged as if a file next to it were touched: by the same loader, with the same tables.
   A rule there waits for its paths, and one whose paths can match nothing is never loaded.
3. What is left has a name that is nearly right (capitals, the ending of a rule), is in a folder that only a session
   started there would look at, or is not an instruction file at all (`remedies.py`).
4. Findings go with the file that they are about, whether it is loaded at the start, later or never. Where the agent
   refuses to start, nothing is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from foretold.dialects.surroundings import join
from foretold.instructions.advice import advise, advise_skip, can_match, find_dead_globs, list_roots
from foretold.instructions.discover.fallback import take_nested_fallback
from foretold.instructions.discover.inventory import (
    Inventory,
    NameTable,
    is_below,
    is_source_below,
    list_names,
    take_inventory,
)
from foretold.instructions.discover.locate import folders_below, steps
from foretold.instructions.discover.nested import use_nested_rules
from foretold.instructions.discover.rule_conditions import written_patterns
from foretold.instructions.engine import Loader
from foretold.instructions.intent import DOCUMENTS, PUNCTUATION, extension_of_path
from foretold.instructions.remedies import find_directive, find_remedy, find_similar, import_fallback
from foretold.instructions.view import View, Waiting
from foretold.storage.tree import Disk, Fault, Tree, is_inside
from foretold.text.frontmatter import trim
from foretold.types import REASONS, TYPE_CHECKING, Entry, FactFinding, Facts, Finding, NamedTuple, Skip

if TYPE_CHECKING:
    from foretold.instructions.intent import CodeContext

START = "loaded at the start of every session"
MATCH = "loaded when a matching file is touched"
TOUCH = "loaded when a file in its folder is touched"
NEVER = "not loaded"
TOUCH_ABOVE = "loaded when a file in a folder above it is touched"
NO_INSTRUCTIONS = "it is a folder, and there is no instruction file in it"
MOST_IN_FOLDER = 10  #: files of a folder that are named
LISTED = "listed at the start of every session, by its name"
LISTED_MATCH = f"{LISTED} and patterns, and {MATCH}"
#: endings of texts; another file in a folder of rules was hardly meant to be one
PAGES = ("adoc", "markdown", "md", "mdc", "mdown", "mdx", "rst", "text", "txt")
CODES = {"wrong-case": "name-case", "wrong-extension": "rule-extension"}  #: reason -> code of its finding


class FileVerdict(NamedTuple):
    """The answer for one path. `loaded` is start, listed, on-match, on-touch or never."""

    path: str
    loaded: str
    answer: str
    why: tuple[str, ...]
    change: tuple[str, ...]
    reason: str = ""  #: of one that is never loaded: a word of `foretold.types.REASONS`, if there is one
    detail: str = ""  #: more about the reason
    tokens: int = 0  #: of one that is loaded
    findings: tuple[Finding, ...] = ()  #: about this file, by line


class NestedFiles(NamedTuple):
    """The instruction files of a tree that its start says nothing about, and why these are not all."""

    verdicts: tuple[FileVerdict, ...]
    cut: str = ""
    findings: tuple[Finding, ...] = ()  #: about these files and what they import; the start has none of them
    entries: tuple[Entry, ...] = ()  #: what a touched file in each of the folders brings of that folder
    waiting: tuple[Waiting, ...] = ()  #: rules of these folders that wait for a path
    skips: tuple[Skip, ...] = ()  #: what is not delivered there


def verdict_of(view: View, path: str, tree: Tree | None = None) -> FileVerdict:
    """What becomes of one instruction file in a view."""
    return _Judge(view, tree if tree is not None else Disk()).judge(join(view.surroundings.cwd, path))


def find_nested(view: View, tree: Tree | None = None, inventory: Inventory | None = None) -> NestedFiles:
    """What becomes of the instruction files in and below the working directory that the start does not account for.

    This looks at the whole tree, unless an inventory of it is given.
    """
    if view.refusal:
        return NestedFiles(())
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
    verdicts = [verdict for verdict in verdicts if not judge.is_document(verdict)]
    findings = dict.fromkeys(
        (*judge.list_findings(), *filter(None, (_name_finding(each, judge.renames) for each in verdicts)))
    )
    known_findings = set(view.findings)
    new = tuple(finding for finding in findings if finding not in known_findings)
    loaders = judge.list_loaders()
    return NestedFiles(
        tuple(verdicts),
        inventory.cut,
        new,
        tuple(entry for loader in loaders for entry in loader.entries),
        tuple(rule for loader in loaders for rule in loader.waiting),
        tuple(skip for loader in loaders for skip in loader.skips),
    )


def _name_finding(verdict: FileVerdict, renames: Mapping[str, str]) -> Finding | None:
    """The finding about a file that was meant to be loaded, by its name, and is not."""
    code = CODES.get(verdict.reason)
    if not code:
        return None
    stem = verdict.path.rpartition("/")[2].partition(".")[0]
    if code == "rule-extension" and (extension_of_path(verdict.path) not in PAGES or stem.upper() == "README"):
        return None
    said = f"{NEVER}: {REASONS[verdict.reason]} ({verdict.detail})"
    hint, facts = "; ".join(verdict.change), Facts(verdict.path, renames.get(verdict.path, ""))
    return FactFinding(verdict.path, None, code, said, hint, facts=facts)


def describe_skip(skip: Skip) -> str:
    """A reason in words."""
    return f"{skip.reason}: {REASONS[skip.reason]}" + (f" ({skip.detail})" if skip.detail else "")


class _Judge:
    """Answers for paths of one view; each nested folder is loaded once."""

    def __init__(self, view: View, tree: Tree) -> None:
        self.view, self.tree = view, tree
        self.names = list_names(view.dialect, view.surroundings)
        self._folders: dict[str, Loader] = {}
        self._found: dict[str, tuple[Finding, ...]] = {}  #: what is found in each of them
        self._contexts: dict[str, CodeContext] = {}
        self.renames: dict[str, str] = {}  #: path -> the name with which the agent would read it

    def judge(self, path: str) -> FileVerdict:
        """What becomes of a file, and what is wrong with it."""
        if status := self.view.refusal:
            said = f"the agent refuses to start here (exit status {status}): the folder is not trusted"
            change = "start the agent here once, and trust the folder"
            return FileVerdict(path, "never", NEVER, (said,), (change,), "not-started", "the folder is not trusted")
        verdict, paths = self._judge(path), (path, self.tree.real(path))
        found = [each for each in (*self.view.findings, *self.list_findings()) if each.path in paths]
        found.sort(key=lambda finding: finding.line or 0)
        return verdict._replace(findings=tuple(dict.fromkeys(found)))

    def list_loaders(self) -> list[Loader]:
        """The passes over the folders that were loaded so far."""
        return list(self._folders.values())

    def list_findings(self) -> list[Finding]:
        """What is found in the folders that were loaded so far."""
        surroundings, kind = self.view.surroundings, self.view.dialect.rules.patterns
        for holder, loader in self._folders.items():
            if holder not in self._found:
                said = advise(loader.skips, loader.waiting, self.tree, list_roots(surroundings), kind)
                self._found[holder] = (*loader.findings, *said)
        return [finding for found in self._found.values() for finding in found]

    def _judge(self, path: str) -> FileVerdict:
        view, tree = self.view, self.tree
        real = tree.real(path)
        for rule in view.waiting:
            if rule.entry.path in (path, real):
                return self._waits(path, rule.entry, rule.base)
        for number, entry in enumerate(view.entries, 1):
            if entry.path in (path, real) or tree.real(entry.path) == real:
                return _at_start(view, entry, number, path)
            if path in entry.includes or real in entry.includes:
                return FileVerdict(path, "start", START, (f"its text is in {entry.path}, in place of the import",), ())
        skips = [skip for skip in view.skips if skip.path in (path, real) or _almost(skip, path)]
        if not skips:
            return self._elsewhere(path)
        if skips[0].reason == "wrong-extension":
            return self._wrong_extension(path, tuple(skips[0].detail.removeprefix("only ").split(" or ")))
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
        if isinstance(listed, Fault):
            return False
        known = {each.rpartition("/")[2].lower() for each in self.names.files}
        others = [each for each in listed[0] if each not in listed[1] and each.lower() not in known]
        pages = [each for each in others if each.endswith(name[-3:]) and each != each.upper()[:-3] + each[-3:]]
        code = [each for each in others if extension_of_path(each) not in ("", *DOCUMENTS)]
        return len(pages) > len(code)

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
        is_listed = any(each.is_listed and each.path == entry.path for each in self.view.entries)
        link = () if entry.path == path else (f"{path} is a link to {entry.path}",)
        answer = LISTED_MATCH if is_listed else MATCH
        return FileVerdict(path, "on-match", answer, (*link, said, *notes), (), tokens=entry.tokens)

    def _skipped(self, path: str, skips: Sequence[Skip]) -> FileVerdict:
        why = []
        for skip in skips:
            where = f"{skip.parent}:{skip.line}: " if skip.parent else ""
            if skip.path != path and skip.reason == "missing":
                why.append(f"{where}the import is taken to mean {skip.path}")
            else:
                why.append(where + describe_skip(skip))
        roots = list_roots(self.view.surroundings)
        found = [each for each in self.view.findings if (each.path, each.line) == (path, None)]
        found += [each for skip in skips for each in advise_skip(skip, self.tree, roots, self._contexts)]
        hints = tuple(dict.fromkeys(each.hint for each in found if each.hint))
        fallback = self.view.dialect.fallback
        is_hidden = skips[0].reason == "shadowed" and fallback is not None
        if is_hidden and fallback is not None and path.rpartition("/")[2] in fallback.names:
            hints = (import_fallback(path, fallback, self.tree),)
        return FileVerdict(path, "never", NEVER, tuple(why), hints, skips[0].reason, skips[0].detail)

    # -- what the start does not look at ----------------------------------------------------------------------

    def _elsewhere(self, path: str) -> FileVerdict:
        kind = self.tree.kind(path)
        if kind != "file":
            return self._folder(path) if kind == "folder" else self._missing(path)
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
            return self._wrong_extension(path, rules[1].suffix)
        if nearly := self._wrong_case(path):
            return nearly
        closed = [skip for skip in self.view.skips if skip.reason == "not-walked" and is_inside(path, skip.path)]
        if closed:
            return self._skipped(path, [skip._replace(path=path) for skip in closed])
        return self._imported(path) or self._unread(path, [holder for holder, _ in holders])

    def _unread(self, path: str, holders: list[str]) -> FileVerdict:
        """A file that the agent does not look for: perhaps something names it, in a way that does not count."""
        skips = (*self.view.skips, *(skip for loader in self._folders.values() for skip in loader.skips))
        named = find_directive(skips, path, self.tree)
        if named is not None and named.parent:
            word = named.path.rpartition("/")[2]
            near = os.path.relpath(path, os.path.dirname(self.tree.real(named.parent)))
            why = f"{named.parent}:{named.line}: @{word} is not a directive of this agent"
            return FileVerdict(path, "never", NEVER, (why,), (f"write @{near} there",))
        remedy = find_remedy(self.view, path, self.names, holders)
        return FileVerdict(path, "never", NEVER, (remedy.why,), remedy.change)

    def _imported(self, path: str) -> FileVerdict | None:
        """The verdict on a file that a nested file imports, in a folder above it."""
        real = self.tree.real(path)
        for folder in folders_below(self.view.surroundings.cwd, path):
            for entry in self._load_folder(folder).entries:
                if entry.path in (path, real) and entry.parent:
                    why = f"imported by {entry.parent}, when a file in {folder} is touched"
                    return FileVerdict(path, "on-touch", TOUCH_ABOVE, (why,), (), tokens=entry.tokens)
        return None

    def _folder(self, path: str) -> FileVerdict:
        """A folder: which instruction files are in it."""
        found = [*take_inventory(self.tree, path, [self.names]).select(self.names)]
        known = [*(entry.path for entry in self.view.entries), *(rule.entry.path for rule in self.view.waiting)]
        found += [each for each in dict.fromkeys(known) if is_below(each, path) and each not in found]
        shown = ", ".join(each[len(path.rstrip("/")) + 1 :] for each in found[:MOST_IN_FOLDER])
        more = f" and {len(found) - MOST_IN_FOLDER} more" if len(found) > MOST_IN_FOLDER else ""
        why = f"it is a folder; its instruction files are {shown}{more}" if found else NO_INSTRUCTIONS
        change = (f"ask about one of them: foretold explain {found[0]}",) if found else ()
        return FileVerdict(path, "never", NEVER, (why,), change, "folder")

    def _missing(self, path: str) -> FileVerdict:
        """A path that is not there: a slip, or a file that could be created."""
        known = [*(entry.path for entry in self.view.entries), *(rule.entry.path for rule in self.view.waiting)]
        known += [skip.path for skip in self.view.skips]
        similar = find_similar(path, self.tree, known)
        change = (f"did you mean {' or '.join(similar)}?",) if similar else ()
        rules = self.names.find_rules(path)
        is_wanted = path.endswith(rules[1].suffix) if rules else bool(_find_holders(path, self.names))
        if not similar and (is_wanted or path in self.view.absent):
            change = ("create it",)
        return FileVerdict(path, "never", NEVER, (REASONS["missing"],), change, "missing")

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
            return self._skipped(path, skips)
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
                change = f"move its text to {right}" if taken else f"rename it to {short}"
                self.renames.update({} if taken else {path: short})
                return found._replace(change=(change + self._shadows(path, name),))
        return None

    def _wrong_extension(self, path: str, suffix: str | tuple[str, ...]) -> FileVerdict:
        """The verdict on a file in a folder of rules with an ending that the agent does not read there."""
        endings = (suffix,) if isinstance(suffix, str) else suffix
        name = path.rpartition("/")[2]
        stem = name.removesuffix(".md") if endings[0].endswith(".md") else os.path.splitext(name)[0]
        stem = stem if stem != name else os.path.splitext(name)[0]
        right, detail = f"{stem}{endings[0]}", f"only {' or '.join(endings)}"
        self.renames[path] = right
        why = describe_skip(Skip(path, "wrong-extension", detail))
        return FileVerdict(path, "never", NEVER, (why,), (f"rename it to {right}",), "wrong-extension", detail)

    def _shadows(self, path: str, name: str) -> str:
        """What a file of this name would hide, for the advice to make one; empty if nothing."""
        fallback = self.view.dialect.fallback
        if fallback is None or name not in fallback.unless or self.view.surroundings.mode != "instead":
            return ""
        folder = path[: -len(name) - 1]
        names, kind = tuple(f"/{each}" for each in fallback.names), self.tree.kind
        if folder not in self.view.surroundings.walk:
            is_hidden, where = any(kind(folder + each) == "file" for each in names), "here"
        else:
            below = take_inventory(self.tree, folder, [NameTable(fallback.names)]).paths
            is_hidden, where = any(each.endswith(names) for each in below), "here or below"
        short = fallback.names[0]
        said = f", and import {short} there (@{short}): with a {name}, no {short} is read {where}"
        return said if is_hidden else ""


def _almost(skip: Skip, path: str) -> bool:
    """Whether an import was meant for a path, but has punctuation after it."""
    return skip.reason == "missing" and skip.path.startswith(path) and not skip.path[len(path) :].strip(PUNCTUATION)


def _at_start(view: View, entry: Entry, number: int, path: str) -> FileVerdict:
    count = f"about {entry.tokens:,} token{'' if entry.tokens == 1 else 's'}"
    why = [f"number {number} of {len(view.entries)}, layer {entry.layer}, {count}"]
    if entry.is_listed:
        return FileVerdict(entry.path, "listed", LISTED, tuple(why), (), tokens=entry.tokens)
    if entry.path != path:
        why.insert(0, f"{path} is a link to {entry.path}")
    if entry.parent:
        why.append(f"imported by {entry.parent}")
    if entry.differs_from_disk:
        why.append("shown without its frontmatter or comments")
    return FileVerdict(entry.path, "start", START, tuple(why), (), tokens=entry.tokens)


def _find_holders(path: str, names: NameTable) -> list[tuple[str, str]]:
    """The folders that a file may speak for, each with the name that it has there."""
    rules = names.find_rules(path)
    found = [(rules[0], rules[1].name)] if rules else []
    ends = path.lower() if names.any_case else path
    wanted = {name: name.lower() if names.any_case else name for name in names.files}
    return found + [(path[: -len(name) - 1], name) for name in wanted if ends.endswith(f"/{wanted[name]}")]
