"""One pass over a plan: every candidate ends as an entry or as a skip.

1. A file is taken once: its identity is its real path, the first to come wins and keeps its layer.
2. What it imports follows it, depth first, in the order of the text, in the same layer.
3. A rule with `paths` waits (`rules`).
4. A file without content has no entry.
"""

from __future__ import annotations

import os

from foretold.dialects.schema import Dialect, FileSource
from foretold.dialects.surroundings import Surroundings
from foretold.instructions.discover.candidates import take_named
from foretold.instructions.discover.excludes import compile_excludes
from foretold.instructions.discover.locate import foreign_folders, steps
from foretold.instructions.discover.rule_conditions import refusal_of
from foretold.instructions.discover.rules import is_taken_now, take_rules
from foretold.instructions.text.imports import MAX_PATH, is_contained, is_text, target_of
from foretold.instructions.text.memory_index import cut_index, cut_middle
from foretold.instructions.text.read import RUST_SPACE, InstructionText, read_text, trim_text
from foretold.instructions.view import Origin, Waiting
from foretold.storage.tree import MISSING, Fault, Tree
from foretold.text.frontmatter import SPACE, trim
from foretold.types import TYPE_CHECKING, Entry, Finding, Skip

if TYPE_CHECKING:
    from collections.abc import Callable

#: places in running text where a token is nearly an import, and what is wrong there
NEARLY = {"punctuation-before": "punctuation stands before the @", "bad-start": "no import starts like this"}


class Loader:
    """The state of one pass."""

    def __init__(self, tree: Tree, dialect: Dialect, surroundings: Surroundings, trigger: str = "") -> None:
        self.tree, self.dialect, self.surroundings, self.trigger = tree, dialect, surroundings, trigger
        self.entries: list[Entry] = []
        self.skips: list[Skip] = []
        self.findings: list[Finding] = []
        self.absent: list[str] = []
        self.waiting: list[Waiting] = []
        self.own: list[str] = []  #: files of the walk, or of nested folders, that have an entry
        self.seen: dict[str, str] = {}
        self.waited: set[str] = set()
        self.excludes = compile_excludes(surroundings.excludes, tree)
        self.foreign = foreign_folders(surroundings)
        self._folders: dict[str, str] = {}
        self.rule_folders: set[str] = set()
        self.closest: dict[str, str] = {}  #: name of a source -> the folder of the walk that has it
        self.named: dict[tuple[str, ...], str] = {}  #: names of a source -> the one that counts for the walk
        self.left = surroundings.budget
        self._knows: Callable[[str], bool] | None = getattr(tree, "is_missing", None)  #: of a tree that remembers
        self.texts: set[str] = set()

    # -- the plan -------------------------------------------------------------------------------------------

    def follow(self, plan: tuple[FileSource, ...]) -> None:
        """Take every source of a plan."""
        for source, folder in steps(plan, self.surroundings, self.trigger):
            self.take(source, folder)

    def take(self, source: FileSource, folder: str) -> None:
        path = f"{folder.rstrip('/')}/{source.name}"
        if source.kind == "setting":
            self._take_setting(source)
            return
        if self._knows is not None and not source.others and self._knows(path):
            self.absent.append(path)
            return
        if source.base == "closest" and source.name in self.closest:
            self._note_farther(path, source)
            return
        above = self._kind_above(path) if "/" in source.name else "folder"
        if above == "unreadable":
            self.skips.append(Skip(path, "unreadable", "Permission denied", source.layer))
            return
        if above != "folder":
            self.absent.append(path)
            return
        off = self._off(source, folder)
        if off:
            self._note_off(path, source, folder, off)
        elif source.kind == "rules" or (source.kind == "either" and self.tree.kind(path) == "folder"):
            if take_rules(self, path, source, folder) and source.base == "closest":
                self.closest[source.name] = path
        elif source.kind == "index":
            self._take_index(path)
        elif source.kind == "listed":
            self._list(path, source)
        elif source.pick != "text" or source.others:
            take_named(self, source, folder)
        else:
            self._take_own(path, source, folder)

    def _take_own(self, path: str, source: FileSource, folder: str) -> None:
        spelled = self.surroundings.spelled.get(folder) if source.base in ("added", "user") else None
        shown = path if spelled is None else spelled + source.name
        kind = "summary" if source.kind == "summary" else "file"
        taken = self.take_file(
            path, Origin(source.layer, folder, kind, name=source.label, literal=source.literal), shown
        )
        if taken and source.base in ("walk", "below"):
            self.own.append(path)

    def _note_farther(self, path: str, source: FileSource) -> None:
        """A folder of the walk whose like was found closer to the working directory."""
        if self.tree.kind(path) == "missing":
            self.absent.append(path)
        else:
            self.skips.append(Skip(path, "shadowed", f"by {self.closest[source.name]}", source.layer))

    def _off(self, source: FileSource, folder: str) -> str:
        """Why a source is switched off here; empty when it is on."""
        if self.surroundings.off:
            return self.surroundings.off
        if source.switch and source.switch not in self.surroundings.sources:
            return f"{self.surroundings.switched_by} leaves out {source.switch}"
        if folder in self.foreign and source.switch == "project":
            return "worktree"
        return ""

    def _note_off(self, path: str, source: FileSource, folder: str, off: str) -> None:
        if off == "worktree" and source.kind == "rules" and self.dialect.worktree_rules:
            take_rules(self, path, source, folder, only_waiting=True)
            return
        if self.tree.kind(path) == "missing":
            if source.switch not in self.dialect.opt_in:
                self.absent.append(path)
        elif off == "worktree":
            self.skips.append(Skip(path, "worktree", layer=source.layer))
        else:
            self.skips.append(Skip(path, "disabled", off, source.layer))

    def _kind_above(self, path: str) -> str:
        """What stands where the folder of a candidate should be: asked once for all candidates in it."""
        folder = path.rpartition("/")[0]
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = self.tree.kind(folder)
        return known

    # -- one file -------------------------------------------------------------------------------------------

    def take_file(
        self, path: str, origin: Origin, shown: str = "", real: str = "", text: InstructionText | Fault | None = None
    ) -> bool:
        """Take a file and what it imports; whether it has an entry.

        `shown` is how the agent spells its path, if not like this; `real` where it really is, and `text` what is in
        it, if that is known.
        """
        once = self.dialect.identity
        if path in self.seen and once not in ("none", "name", "text") and (origin.wait is None or path in self.waited):
            self.skip(path, "duplicate", origin, self.seen[path])
            return False
        if origin.kind != "rule" and self.is_excluded(shown or path, origin.layer):
            if origin.parent is None and self.tree.kind(path) == "missing":
                self.absent.append(path)
            else:
                self.skip(path, "excluded", origin)
            return False
        limit = self.left if origin.layer == self.dialect.budget else None
        if limit == 0:
            self._over_budget(path, origin)
            return False
        if text is None:
            text = read_text(self.tree, path, self.dialect, origin.kind, limit)
        if isinstance(text, Fault):
            self._fault(path, text, origin)
            return False
        real = real or self.tree.real(path)
        shown = shown or path
        if origin.wait is not None and not is_taken_now(self, shown, real, text, origin, origin.wait):
            return False
        key = str(self.tree.identity(path)) if once == "inode" else real
        if key in self.seen and once not in ("none", "name", "text"):
            self.skip(path, "duplicate", origin, self.seen[key])
            return False
        self.seen[key] = self.seen[path] = path
        return self._deliver(shown, real, text, origin)

    def _over_budget(self, path: str, origin: Origin) -> None:
        if self.tree.kind(path) == "missing":
            self.absent.append(path)
        else:
            self.skip(path, "budget", origin)

    def _deliver(self, path: str, real: str, text: InstructionText, origin: Origin) -> bool:
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
        if self.dialect.imports.mode == "inline" and not origin.literal:
            whole, includes = self._expanded(path, real, text, origin)
            text = text._replace(shown=whole, includes=includes)
        if self.dialect.reading.trims:
            text = text._replace(shown=trim_text(text, self.dialect.reading, origin))
        if origin.kind == "summary":
            text, origin = text._replace(shown=cut_middle(text.shown)), origin._replace(kind="file")
        if self.dialect.identity == "text":
            if text.shown in self.texts:
                self.skip(path, "same-content", origin)
                return False
            self.texts.add(text.shown)
        shown = text.shown.strip(RUST_SPACE if self.dialect.reading.space == "rust" else SPACE)
        if not shown and self._is_blank(text.shown):
            self.skip(path, "empty", origin)
            return False
        if shown in origin.unlike:
            self.skip(path, "same-content", origin)
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

    def _expanded(self, path: str, real: str, text: InstructionText, origin: Origin) -> tuple[str, tuple[str, ...]]:
        """The text with what it imports; most agents have no need of this."""
        if self.surroundings.flat:
            from foretold.instructions.text.inline import expand_flat

            return expand_flat(self, real, text, origin)
        from foretold.instructions.text.inline import expand

        return expand(self, path, real, text, origin)

    def _is_blank(self, text: str) -> bool:
        """Whether a text without words is no entry."""
        kept = self.dialect.reading.blank
        return kept == "skip" or (kept == "empty" and not text)

    def _list(self, path: str, source: FileSource) -> None:
        """A file that the model is only told of. # copilot-cli: copilot-011"""
        if self.tree.kind(path) != "file":
            self.absent.append(path)
            return
        near = os.path.relpath(path, self.surroundings.cwd)
        folder = os.path.dirname(near)
        row = f"| {folder}/ | '{near}' | Agent instructions for {folder}/**/* |"
        self.entries.append(Entry(path, source.layer, row, row, "folder-row"))

    def entry(self, path: str, text: InstructionText, origin: Origin, reason: str = "") -> Entry:
        globs = text.globs.patterns
        name = origin.name
        if self.dialect.rules.named:
            named = text.front.get("name")
            stem = os.path.splitext(os.path.basename(path))[0]
            name = named if isinstance(named, str) and named else name or stem
        if reason:
            pass
        elif self.trigger and globs:  # claude-code: nest-fm-only; whether or not they match
            reason = "path_glob_match"
        elif origin.parent:
            reason = "include"
        else:
            reason = "nested_traversal" if self.trigger else "session_start"
        return Entry(
            path,
            origin.layer,
            text.shown,
            text.raw,
            origin.kind,
            reason,
            origin.parent,
            self.trigger or None,
            globs,
            text.size,
            origin.depth,
            origin.folder,
            origin.announced,
            origin.fallback,
            name,
            text.includes,
        )

    def is_excluded(self, path: str, layer: str) -> bool:
        return bool(self.excludes) and layer != "managed" and any(glob.matches(path) for glob in self.excludes)

    def skip(self, path: str, reason: str, origin: Origin, detail: str = "") -> None:
        self.skips.append(Skip(path, reason, detail, origin.layer, origin.parent, origin.line))

    def _fault(self, path: str, fault: Fault, origin: Origin) -> None:
        if fault == MISSING and origin.parent is None and origin.kind != "rule":
            self.absent.append(path)
        else:
            self.skip(path, fault.reason, origin, fault.detail)

    # -- imports --------------------------------------------------------------------------------------------

    def take_imports(self, path: str, real: str, text: InstructionText, origin: Origin) -> None:
        folder = real.rpartition("/")[0] or "/"
        tried: set[str] = set()
        elsewhere: dict[str, tuple[str, int]] = {}
        for mention in text.mentions:
            target = target_of(mention.path, folder, self.surroundings.home)
            if not target or target in tried:
                continue
            line = mention.line + text.offset
            if mention.region != "text":
                if mention.region not in NEARLY or target not in elsewhere:
                    elsewhere[target] = mention.region, line
                continue
            tried.add(target)
            if len(target) > MAX_PATH:
                self.skips.append(Skip(target, "bad-name", f"{len(target)} characters", origin.layer, path, line))
                continue
            below = origin._replace(kind="import", parent=path, line=line, depth=origin.depth + 1, unlike=frozenset())
            refusal = self._refusal(target, below)
            if refusal:
                there = self.tree.kind(target) != "missing"
                self.skip(target, refusal if there else "missing", below)
            else:
                self.take_file(target, below)
        for target, (region, line) in elsewhere.items():
            if target not in tried:
                self._note_in_code(target, region, origin, path, line)

    def _refusal(self, target: str, origin: Origin) -> str:
        """Why an import is not followed, before anyone looks whether it is there; empty when it is."""
        imports = self.dialect.imports
        if origin.depth > imports.depth:
            return "depth-cap"
        if not is_text(target, imports):
            return "not-a-text-file"
        if not is_contained(target, origin.layer, imports, self.surroundings, self.tree):
            return "outside-project"
        return ""

    def _note_in_code(self, target: str, region: str, origin: Origin, path: str, line: int) -> None:
        """An import where the agent does not look: said if there is such a file, or if only its start is wrong."""
        nearly = NEARLY.get(region)
        if region == "bad-start" or self.tree.kind(target) == "file":
            reason = "not-an-import" if nearly else "in-code"
            self.skips.append(Skip(target, reason, nearly or region, origin.layer, path, line))

    # -- settings, the memory index ----------------------------------------------------------------------------

    def _take_setting(self, source: FileSource) -> None:
        if source.name not in self.surroundings.texts:
            return
        where, text = self.surroundings.texts[source.name]
        if self.surroundings.off:
            self.skips.append(Skip(where, "disabled", self.surroundings.off, source.layer))
        elif text:
            size = len(text.encode("utf-8", "replace"))
            self.entries.append(Entry(where, source.layer, text, text, "setting", size=size, announced=False))

    def _take_index(self, path: str) -> None:
        index = self.dialect.memory_index
        text = read_text(self.tree, path, self.dialect)
        if isinstance(text, Fault):
            self._fault(path, text, Origin("memory", ""))
            return
        if self.tree.real(path) in self.seen:
            self.skip(path, "duplicate", Origin("memory", ""), self.seen[self.tree.real(path)])
            return
        cut = cut_index(trim(text.shown), index) if index is not None else None
        if cut is None or not cut.text:
            self.skips.append(Skip(path, "empty", layer="memory"))
            return
        if cut.lost_units:
            said = f"{cut.lost_lines} lines and {cut.lost_units} characters of the memory index are not loaded"
            self.findings.append(Finding(path, None, "index-cut", said, "keep one short line per memory"))
        self.entries.append(Entry(path, "memory", cut.text, text.raw, "index", size=text.size, announced=False))
