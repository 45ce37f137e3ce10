"""One pass over a plan: files, and what they import down to a depth; each candidate ends as an entry or as a skip.

1. A file is taken once: its identity is its real path, the first to come wins and keeps its layer.
2. What it imports follows it, depth first, in the order of the text, in the same layer.
3. A rule with `paths` waits (`rules`).
4. A file without content has no entry.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from foretold.dialects.schema import Dialect, FileSource
from foretold.dialects.surroundings import Surroundings, join
from foretold.instructions.discover.locate import find_foreign_folders, steps
from foretold.instructions.discover.rule_conditions import refusal_of
from foretold.instructions.discover.rules import escape_cell, is_taken_now, take_rules
from foretold.instructions.text.imports import MAX_PATH, is_contained, is_text, target_of
from foretold.instructions.text.memory_index import cut_index, cut_middle
from foretold.instructions.text.read import RUST_SPACE, FileText, clean_text, read_text, trim_text
from foretold.instructions.view import Origin, Waiting
from foretold.storage.tree import MISSING, Fault, Tree, is_inside
from foretold.text.frontmatter import SPACE, trim
from foretold.types import TYPE_CHECKING, Entry, Finding, Skip

if TYPE_CHECKING:
    from foretold.storage.absence import Absences
    from foretold.text.globs.picomatch import Glob

#: places in running text where a token is nearly an import, and what is wrong there
MANY = 128  #: imports of one text from which on folders are listed, to see which are not there
NEARLY = {
    "punctuation-before": "there is punctuation before the @",
    "bad-start": "no import starts like this",
    "fragment": "in this release, what follows the # is part of the name",
}
REPEATABLE = ("none", "name", "text")  #: identities that let a path come twice
MEMORY = Origin("memory", "")


def compile_excludes(patterns: Sequence[str], tree: Tree) -> list[Glob]:
    """Exclude patterns: absolute globs, tested against the path that is shown. A backslash is a slash.

    A pattern also matches with the links in the folder above its fixed part resolved: `/link/CLAUDE.md` excludes the
    file in the folder that the link leads to; `/link/*.md` does not, as the folder above `/link/` is not a link.
    """
    if not patterns:
        return []
    from foretold.text.globs.picomatch import Glob

    found = []
    for written in patterns:
        pattern = written.replace("\\", "/")
        found.append(Glob(pattern))
        fixed = next((at for at, char in enumerate(pattern) if char in "*?[{"), len(pattern))
        end = pattern[:fixed].rstrip("/").rfind("/") if written.startswith("/") else 0
        real = tree.real(join("/", pattern[:end])) if end > 0 else pattern[:end]
        if real != pattern[:end]:
            found.append(Glob(real + pattern[end:]))
    return found


class Loader:
    """One pass: what it reads, what it has found, and what it has taken."""

    def __init__(self, tree: Tree, dialect: Dialect, surroundings: Surroundings, trigger: str = "") -> None:
        self.tree, self.dialect, self.surroundings, self.trigger = tree, dialect, surroundings, trigger
        self.excludes = compile_excludes(surroundings.excludes, tree)
        self.foreign = find_foreign_folders(surroundings) if dialect.worktree != "all" else frozenset()
        self.entries: list[Entry] = []
        self.skips: list[Skip] = []
        self.findings: list[Finding] = []
        self.absent: list[str] = []
        self.waiting: list[Waiting] = []
        self.own: list[str] = []  #: files of the walk, or of nested folders, that have an entry
        # what was taken, so that nothing is taken twice
        self.files: dict[str, str] = {}  #: path, real path or inode -> the path that it was taken as
        self.texts: set[str] = set()
        self.rule_folders: set[str] = set()
        self.rules_here: set[str] = set()  #: rules of the folder that is being read, by real path
        self.rule_names: dict[str, str] = {}  #: rules by what they are called in the folder that holds them
        self.choices: dict[tuple[str, ...], str] = {}  #: names of a source -> what was chosen for the whole walk
        self.left = surroundings.budget  #: bytes
        self.bounds = ""  #: the folder that the target of a link must be in; entries are then named by their targets
        self.wakes: Callable[[Waiting], bool] | None = None  #: whether a rule that would wait matches already
        self.absences: Absences | None = None  #: what is surely not there, if a text has a great many imports
        self._listed: dict[str, dict[str, list[str]]] = {}  #: folder -> its names by what they are in lower case
        self._folders: dict[str, str] = {}  #: folder -> its kind
        self._is_missing: Callable[[str], bool] | None = getattr(tree, "is_missing", None)  #: of a tree that remembers

    # -- the plan -------------------------------------------------------------------------------------------

    def follow(self, plan: tuple[FileSource, ...]) -> None:
        """Take every source of a plan."""
        for source, folder in steps(plan, self.surroundings, self.trigger):
            self.take(source, folder)

    def take(self, source: FileSource, folder: str) -> None:
        """Take a source in one of its folders."""
        path = f"{folder.rstrip('/')}/{source.name}"
        if source.kind == "setting":
            self._take_setting(source)
            return
        is_certain = not source.others and source.pick != "any-case"
        if self._is_missing is not None and is_certain and self._is_missing(path):
            self.absent.append(path)
            return
        if source.base == "closest" and (source.name,) in self.choices:
            self.note(Skip(path, "shadowed", f"by {self.choices[source.name,]}", source.layer))
            return
        above = self._kind_above(path) if "/" in source.name else "folder"
        if above == "unreadable":
            self.skips.append(Skip(path, "unreadable", "Permission denied", source.layer))
        elif above != "folder":
            self.absent.append(path)
        elif off := self._off(source, folder):
            self._note_off(path, source, folder, off)
        else:
            self._take_there(path, source, folder)

    def _take_there(self, path: str, source: FileSource, folder: str) -> None:
        """Take a source that is switched on and may be there."""
        if source.kind == "rules" or (source.kind == "either" and self.tree.kind(path) == "folder"):
            if take_rules(self, path, source, folder) and source.base == "closest":
                self.choices[source.name,] = path
        elif source.kind == "index":
            self._take_index(path)
        elif source.kind == "listed":
            self._list(path, source)
        elif source.kind == "unread":
            self.note(Skip(path, "not-here", layer=source.layer))
        elif source.pick == "any-case":
            self._take_any_case(path, source, folder)
        elif source.pick != "text" or source.others:
            self._take_named(source, folder)
        else:
            spelled = self.surroundings.spelled.get(folder) if source.base in ("added", "user") else None
            shown = path if spelled is None else spelled + source.name
            kind = "summary" if source.kind == "summary" else "file"
            origin = Origin(source.layer, folder, kind, name=source.label, literal=source.literal)
            if self.take_file(path, origin, shown) and source.base in ("walk", "below"):
                self.own.append(path)

    def _take_named(self, source: FileSource, folder: str) -> None:
        """Take the one name of a source that counts in a folder; what comes after it is shadowed."""
        names, base, counts = (source.name, *source.others), folder.rstrip("/"), ""
        if source.pick == "walk":
            self._take_of_walk(source, names, folder)
            return
        for path in (name if name[:1] == "/" else f"{base}/{name}" for name in names):
            if counts:
                self.note(Skip(path, "shadowed", f"by {counts}", source.layer))
            elif self._counts(path, source, folder):
                counts = path

    def _take_any_case(self, path: str, source: FileSource, folder: str) -> None:
        """Take the file of this name, else the first that differs only in case, as the file system lists them."""
        above, _, name = path.rpartition("/")
        if above not in self._listed:
            items = self.tree.scan(above or "/")
            self._listed[above] = {}
            for item in () if isinstance(items, Fault) else items:
                self._listed[above].setdefault(item.name.lower(), []).append(item.name)
        names = self._listed[above].get(name.lower(), [])
        counts = ""
        for each in sorted(names, key=lambda each: each != name):
            there = f"{above}/{each}"
            kind = "shadowed" if counts else self.tree.kind(there)
            if kind == "file":
                counts = there
                label = self.label(source, folder, self.tree.real(there))
                self.take_file(there, Origin(source.layer, folder, name=label, literal=source.literal))
            else:
                reasons = {"shadowed": f"by {counts}", "missing": "the link is broken", "folder": ""}
                reason = kind if kind in (*reasons, "unreadable") else "not-a-file"
                self.skips.append(Skip(there, reason, reasons.get(kind, ""), source.layer))
        if not counts:
            self.absent.append(path)

    def label(self, source: FileSource, folder: str, real: str) -> str:
        """The name of an entry that a source brings from a folder."""
        if "{" not in source.label:
            return source.label
        near, project = os.path.relpath(real, folder), os.path.relpath(real, self.surroundings.top)
        return source.label.format(path=real, relative=near, project=project)

    def _counts(self, path: str, source: FileSource, folder: str) -> bool:
        """Take a path; whether it counts: by its text, as a `file` whatever is in it, or as a `path`, even a folder."""
        kind = "" if source.pick == "text" else self.tree.kind(path)
        if kind == "missing" and source.pick == "link" and self._is_listed(path):
            self.skips.append(Skip(path, "missing", "the link is broken", source.layer))
            return True
        if kind == "missing":  # as most are, so nothing is made for it
            self.absent.append(path)
            return False
        if kind in ("", "file") or source.pick == "path":
            has_entry = self.take_file(path, Origin(source.layer, folder, name=source.label))
            return has_entry if source.pick == "text" else True
        self.skips.append(Skip(path, "folder" if kind == "folder" else "not-a-file", "", source.layer))
        return False

    def _is_listed(self, path: str) -> bool:
        """Whether a folder lists a name, whatever it leads to."""
        folder, _, name = path.rpartition("/")
        items = self.tree.scan(folder or "/")
        return not isinstance(items, Fault) and any(item.name == name for item in items)

    def _take_of_walk(self, source: FileSource, names: tuple[str, ...], folder: str) -> None:
        """Take the first name that exists in any folder of the walk, and that one in all of them."""
        key, walk = (source.layer, *names), [each.rstrip("/") for each in self.surroundings.walk]
        if key not in self.choices:
            there = (name for name in names if any(self.tree.kind(f"{each}/{name}") != "missing" for each in walk))
            self.choices[key] = next(there, "")
        chosen = self.choices[key]
        for name in names:
            path = f"{folder.rstrip('/')}/{name}"
            if name == chosen:
                self.take_file(path, Origin(source.layer, folder))
            else:
                self.note(
                    Skip(
                        path, "shadowed", f"the agent uses {chosen} in this folder and in those above it", source.layer
                    )
                )

    def _off(self, source: FileSource, folder: str) -> str:
        """Why a source is switched off here; empty when it is on."""
        if self.surroundings.off:
            return self.surroundings.off
        if source.switch and source.switch not in self.surroundings.sources:
            return f"{self.surroundings.switched_by} leaves out {source.switch}"
        return "worktree" if folder in self.foreign and source.switch == "project" else ""

    def _note_off(self, path: str, source: FileSource, folder: str, off: str) -> None:
        if off == "worktree" and source.kind == "rules" and self.dialect.worktree:
            take_rules(self, path, source, folder, only_waiting=True)
        elif off == "worktree":
            self.note(Skip(path, "worktree", layer=source.layer))
        elif source.switch not in self.dialect.opt_in or self.tree.kind(path) != "missing":
            self.note(Skip(path, "disabled", off, source.layer))

    def _kind_above(self, path: str) -> str:
        """What is where the folder of a candidate should be: asked once for all candidates in it."""
        folder = path.rpartition("/")[0]
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = self.tree.kind(folder)
        return known

    # -- what is not delivered --------------------------------------------------------------------------------

    def note(self, skip: Skip) -> None:
        """Note why a path is not delivered; one that does not exist is only absent."""
        if self.tree.kind(skip.path) == "missing":
            self.absent.append(skip.path)
        else:
            self.skips.append(skip)

    def skip(self, path: str, reason: str, origin: Origin, detail: str = "") -> None:
        """Note why a file is not delivered, whether or not it exists."""
        self.skips.append(Skip(path, reason, detail, origin.layer, origin.parent, origin.line))

    def is_excluded(self, path: str, layer: str) -> bool:
        """Whether an exclude pattern matches a path; those of the organisation cannot be excluded."""
        return bool(self.excludes) and layer != "managed" and any(glob.matches(path) for glob in self.excludes)

    def _fault(self, path: str, fault: Fault, origin: Origin) -> None:
        if fault == MISSING and origin.parent is None and origin.kind != "rule":
            self.absent.append(path)
        else:
            self.skip(path, fault.reason, origin, fault.detail)

    # -- one file -------------------------------------------------------------------------------------------

    def take_file(
        self, path: str, origin: Origin, shown: str = "", real: str = "", text: FileText | Fault | None = None
    ) -> bool:
        """Take a file and what it imports; whether it has an entry.

        `shown` is how the agent spells its path, if not like this; `real` is its real path and `text` its content, if
        they are known.
        """
        is_once = self.dialect.identity not in REPEATABLE
        files = self.files
        if is_once and path in files and (origin.wait is None or path in self.rules_here):
            self.skip(path, "duplicate", origin, files[path])
            return False
        if origin.kind != "rule" and self.is_excluded(shown or path, origin.layer):
            note = self.note if origin.parent is None else self.skips.append
            note(Skip(path, "excluded", "", origin.layer, origin.parent, origin.line))
            return False
        limit = self.left if origin.layer == self.dialect.budget else None
        if limit == 0:
            self.note(Skip(path, "budget", "", origin.layer, origin.parent, origin.line))
            return False
        if text is None:
            text = read_text(self.tree, path, self.dialect, origin.kind, limit)
        if isinstance(text, Fault):
            self._fault(path, text, origin)
            return False
        if text.broken and origin.layer in self.dialect.reading.refuses:
            self.skip(path, "bad-encoding", origin)
            return False
        real = real or self.tree.real(path)
        if self.bounds and not is_inside(real, self.bounds):
            self.skip(path, "outside-project", origin, f"it is a link to {real}")
            return False
        shown = real if self.bounds else shown or path
        if origin.wait is not None and not is_taken_now(self, shown, real, text, origin, origin.wait):
            return False
        by = self.dialect.identity
        key = path if by == "spelled" else str(self.tree.identity(path)) if by == "inode" else real
        if is_once and key in files:
            self.skip(path, "duplicate", origin, files[key])
            return False
        files[key] = files[path] = path
        return self._deliver(shown, real, text, origin)

    def _deliver(self, path: str, real: str, text: FileText, origin: Origin) -> bool:
        """Add an entry for a text, and for what it imports; whether the text has one."""
        self.findings += text.findings
        if self.dialect.rules.named and origin.kind == "file":
            reason, detail = refusal_of(self.dialect.rules.admits, text)
            if reason:
                self.skip(path, reason, origin, detail)
                return False
        if origin.wait is not None and origin.wait.only:
            self.skip(path, "worktree", origin)
            self.take_imports(path, real, text, origin)
            return False
        dialect = self.dialect
        if dialect.imports.mode == "inline" or dialect.reading.trims or dialect.reading.invisible:
            text = self._shown_text(path, real, text, origin)
        if origin.kind == "summary":
            text = text._replace(shown=cut_middle(text.shown, dialect.max_summary))
            origin = origin._replace(kind="file")
        stripped = text.shown.strip(RUST_SPACE if dialect.reading.space == "rust" else SPACE)
        if not stripped or stripped in origin.unlike or (dialect.identity == "text" and origin.kind != "rule"):
            reason = self._needless(text.shown, stripped, origin)
            if reason:
                self.skip(path, reason, origin)
                return False
        self.entries.append(self.entry(path, text, origin))
        if origin.layer == self.dialect.budget and self.left is not None:
            self.left -= text.size
            if text.lost:
                said = f"its last {text.lost:,} bytes are not loaded: the budget of the agent is used up"
                self.findings.append(Finding(path, None, "budget-cut", said, "shorten the files, or raise the budget"))
        if text.mentions:
            self.take_imports(path, real, text, origin)
        return True

    def _shown_text(self, path: str, real: str, text: FileText, origin: Origin) -> FileText:
        """A text with its imports in place and its ends trimmed, where the dialect does so."""
        if self.dialect.imports.mode == "inline" and not origin.literal:
            from foretold.instructions.text.inline import expand, expand_flat  # most agents have no need of this

            if self.surroundings.flat:
                whole, includes = expand_flat(self, real, text, origin)
            else:
                whole, includes = expand(self, path, real, text, origin)
            text = text._replace(shown=whole, includes=includes)
        if self.dialect.reading.trims:
            text = text._replace(shown=trim_text(text, self.dialect.reading, origin))
        if self.dialect.reading.invisible:
            text = text._replace(shown=clean_text(text.shown, self.dialect.reading))
        return text

    def _needless(self, text: str, stripped: str, origin: Origin) -> str:
        """Why a text has no entry: it is blank, or repeats another."""
        if self.dialect.identity == "text" and origin.kind != "rule":
            if text in self.texts:
                return "same-content"
            self.texts.add(text)
        blank = self.dialect.reading.blank
        drops = {"skip": True, "empty": not text, "rules": origin.kind != "rule"}
        if not stripped and drops.get(blank, False):
            return "empty"
        return "same-content" if stripped in origin.unlike else ""

    def entry(self, path: str, text: FileText, origin: Origin, reason: str = "") -> Entry:
        """The entry of a text."""
        name = origin.name
        if self.dialect.rules.named:
            named = text.front.get("name")
            stem = os.path.splitext(os.path.basename(path))[0]
            name = named if isinstance(named, str) and named else name or stem
        if not reason:
            reason = "include" if origin.parent else "nested_traversal" if self.trigger else "session_start"
            if self.trigger and text.globs.patterns:  # claude-code: nest-fm-only; whether or not they match
                reason = "path_glob_match"
        # in the order of its fields: with keywords, a load of small files takes 5 % longer
        return Entry(
            path,
            origin.layer,
            text.shown,
            text.raw,
            origin.kind,
            reason,
            origin.parent,
            self.trigger or None,
            text.globs.patterns,
            text.size,
            origin.depth,
            origin.folder,
            origin.announced,
            origin.fallback,
            name,
            text.includes,
        )

    # -- imports --------------------------------------------------------------------------------------------

    def take_imports(self, path: str, real: str, text: FileText, origin: Origin) -> None:
        """Take the files that a text imports, in its order."""
        place = path if self.dialect.imports.linked == "link" else real
        folder, home, layer = place.rpartition("/")[0] or "/", self.surroundings.home, origin.layer
        tried: set[str] = set()
        elsewhere: dict[str, tuple[str, int]] = {}
        is_missing = self._find_absences(text, origin, folder)
        for mention in text.mentions:
            target = target_of(mention.path, folder, home)
            if not target or target in tried:
                continue
            line = mention.line + text.offset
            if mention.region != "text":
                if mention.region not in NEARLY or target not in elsewhere:
                    elsewhere[target] = mention.region, line
                continue
            tried.add(target)
            if is_missing is not None and len(target) <= MAX_PATH and is_missing(target):
                self.skips.append(Skip(target, "missing", "", layer, path, line))
                continue
            below = origin._replace(kind="import", parent=path, line=line, depth=origin.depth + 1, unlike=frozenset())
            self._take_import(target, below)
        for target, (region, line) in elsewhere.items():
            if target not in tried and (region == "bad-start" or is_missing is None or not is_missing(target)):
                self._note_elsewhere(target, region, origin._replace(parent=path, line=line))

    def _find_absences(self, text: FileText, origin: Origin, folder: str) -> Callable[[str], bool] | None:
        """What tells that an import is not there, for a text in this folder that has a great many.

        None for other texts, and where a file that is not there may be skipped for another reason.
        """
        if len(text.mentions) < MANY or self.excludes or origin.layer == self.dialect.budget:
            return None
        if self.absences is None:
            from foretold.storage.absence import Absences  # few texts have need of this

            self.absences = Absences(self.tree)
        self.absences.roots[folder.rstrip("/")] = None
        return self.absences.is_missing

    def _take_import(self, target: str, origin: Origin) -> None:
        if len(target) > MAX_PATH:
            self.skip(target, "bad-name", origin, f"{len(target)} characters")
        elif refusal := self._refusal(target, origin):
            self.skip(target, refusal if self.tree.kind(target) != "missing" else "missing", origin)
        else:
            self.take_file(target, origin)

    def _refusal(self, target: str, origin: Origin) -> str:
        """Why an import is not followed, whether or not its file exists; empty when it is."""
        imports = self.dialect.imports
        if origin.depth > imports.depth:
            return "depth-cap"
        if not is_text(target, imports):
            return "not-a-text-file"
        if not is_contained(target, origin.layer, imports, self.surroundings, self.tree):
            return "outside-project"
        return ""

    def _note_elsewhere(self, target: str, region: str, origin: Origin) -> None:
        """An import where the agent does not look: noted if its file exists, or if only its start is wrong."""
        nearly = NEARLY.get(region)
        if region == "bad-start" or self.tree.kind(target) == "file":
            self.skip(target, "not-an-import" if nearly else "in-code", origin, nearly or region)

    # -- settings, the memory index, files that are only listed ------------------------------------------------

    def _take_setting(self, source: FileSource) -> None:
        if source.name not in self.surroundings.texts:
            return
        where, text = self.surroundings.texts[source.name]
        if self.surroundings.off:
            self.skips.append(Skip(where, "disabled", self.surroundings.off, source.layer))
        elif text:
            size = len(text.encode("utf-8", "replace"))
            self.entries.append(Entry(where, source.layer, text, text, kind="setting", size=size, announced=False))

    def _take_index(self, path: str) -> None:
        index = self.dialect.memory_index
        text = read_text(self.tree, path, self.dialect)
        if isinstance(text, Fault):
            self._fault(path, text, MEMORY)
            return
        real = self.tree.real(path)
        if real in self.files:
            self.skip(path, "duplicate", MEMORY, self.files[real])
            return
        cut = cut_index(trim(text.shown), index) if index is not None else None
        if cut is not None and index is not None and not index.trims and not cut.lost_units:
            cut = cut._replace(text=text.shown if cut.text else "")
        if cut is None or not cut.text:
            self.skip(path, "empty", MEMORY)
            return
        if cut.lost_units:
            said = f"{cut.lost_lines} lines and {cut.lost_units} characters of the memory index are not loaded"
            self.findings.append(Finding(path, None, "index-cut", said, "keep one short line per memory"))
        self.entries.append(Entry(path, "memory", cut.text, text.raw, kind="index", size=text.size, announced=False))

    def _list(self, path: str, source: FileSource) -> None:
        """A file of which the model gets only the name; that of the top folder has none. # copilot-cli: copilot-011"""
        if self.tree.kind(path) != "file":
            self.absent.append(path)
            return
        near = escape_cell(os.path.relpath(path, self.surroundings.top))
        folder = os.path.dirname(near)
        if not folder:
            return
        row = f"| {folder}/ | '{near}' | Agent instructions for {folder}/**/* |"
        self.entries.append(Entry(path, source.layer, row, row, kind="folder-row"))
