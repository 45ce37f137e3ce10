"""Check a tree again and again, as its files change: what `foretold check --watch` and `foretold lsp` do.

1. `LiveProject` is a project that keeps what it has computed (`memo`): views, nested files, findings of a family, and
   whatever a family computes for one file with `Project.remember`. Each is computed again only if a file that it read
   has changed. The answer is that of a new check, by the same functions.
2. `LiveDisk` is asked once for everything. Its stamps say what has changed since: one `stat` a path.
3. Unsaved texts of an editor are laid over it; nothing is written.
4. Only another text of a file that was there is judged by itself. If files come or go, or one changes that decides
   what is looked at (`DECIDING`), everything is looked at anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from foretold.check.memo import Memo, TrackedTree
from foretold.check.nested_groups import SessionStart, excerpt_view, group_files, join_groups, judge_group
from foretold.check.project import MAX_TEXT, CheckOptions, Project
from foretold.check.run import CheckReport, check_tree, open_project
from foretold.check.settings import FILES as SETTINGS_FILES
from foretold.dialects.releases.pinned import may_pin
from foretold.dialects.surroundings import find_git, join
from foretold.git.runner import keep_answers
from foretold.instructions.explain import NestedFiles
from foretold.instructions.load import find_surroundings, load_within
from foretold.instructions.view import View
from foretold.storage.layers import MOST, CachingDisk, ChangedTree, within
from foretold.storage.tree import Disk, Fault, is_inside, kind_of, unchanged
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeVar

    from foretold.dialects.registry import DialectChoice
    from foretold.git.runner import Question

    Value = TypeVar("Value")


#: how the names of files end whose texts no question to git is about
PROSE = (".md", ".mdc", ".mdx", ".markdown", ".txt")
#: files whose text changes more than what reads it: what git answers, what is checked at all, what commands there are
DECIDING = (
    *(".gitignore", ".gitattributes", ".gitmodules", "package.json", *SETTINGS_FILES),
    *("makefile", "gnumakefile", "justfile", ".justfile", "taskfile.yml", "taskfile.yaml"),
)


MAX_GIT_FILE = 8192  #: bytes of a file `.git`, which has one path


class LiveDisk(CachingDisk):
    """The disk, asked once for everything, until it is told to look again.

    In the tree, what is missing is known from the names of its folder. Above it and in the home, where files come and
    go that nobody asks for, each path is looked at by itself.
    """

    __slots__ = ("_aliases", "_top", "unsaved")

    def __init__(self, top: str) -> None:
        super().__init__()
        self._top = os.path.realpath(top)
        self.unsaved: dict[str, bytes] = {}  #: texts of files that are there, by real path, which count instead
        self._aliases: dict[str, set[str]] = {}  #: real path -> other paths by which it was read

    def read(self, path: str, limit: int) -> bytes | Fault:
        real = self.real(path)
        if real in self.unsaved:
            return within(self.unsaved[real], limit)
        if real != path:
            self._aliases.setdefault(real, set()).add(path)
        return super().read(path, limit)

    def is_missing(self, path: str) -> bool:
        return is_inside(path, self._top) and path != self._top and super().is_missing(path)

    def _names_in(self, folder: str) -> frozenset[str] | None:
        if Disk.kind(self, folder) != "folder":
            return super()._names_in(folder)
        found = self.names(folder)  # which leaves a stamp: what is missing may come
        return None if isinstance(found, Fault) else frozenset(found[0])

    def find_changes(self) -> list[str]:
        """The paths that are not what they were when they were looked at; of a folder, the names that came or went."""
        changed = [path for path, stamp in self.stamps.items() if not unchanged({path: stamp})]
        return [each for path in changed for each in self._list_changes(path)]

    def _list_changes(self, path: str) -> list[str]:
        before = self._listed.get(path)
        if before is None or isinstance(before, Fault) or _kind_at(path) != "folder":
            return [path]
        after = Disk.names(self, path)  # and another stamp
        if isinstance(after, Fault):
            return [path]
        return [f"{path.rstrip('/')}/{name}" for name in sorted(set(before[0]) ^ set(after[0]))]

    def renew(self, path: str) -> set[str] | None:
        """Look at a path again: the paths by which it was read, if its text or rights changed; None if more has."""
        before, after = self._known_kind(path), _kind_at(path)
        if before == "link" or (before != after and before):  # a link may lead elsewhere now
            return None
        self.stamps.pop(path, None)
        if before == "file" and (path in self._texts or path in self._executable):
            return (self._renew_text(path) if path in self._texts else set()) | self._renew_rights(path)
        if before == "folder" and path in self._listed:
            return self._renew_names(path)
        if before:
            Disk.kind(self, path)
        return set()

    def _known_kind(self, path: str) -> str:
        """What was at a path: file, folder, other, missing; empty if nobody has looked there."""
        if self._real.get(path, "") not in ("", path):
            return "link"
        folder, _, name = path.rpartition("/")
        listed = self._listed.get(folder or "/")
        if listed is None or isinstance(listed, Fault) or name in listed[0]:
            known = self._kinds.get(path) or ("folder" if path in self._listed else "")
            return known or ("file" if path in self._texts or (listed and not isinstance(listed, Fault)) else "")
        return "missing"

    def _renew_text(self, path: str) -> set[str]:
        before = self._texts.pop(path)
        if super().read(path, MOST) == before:
            self._texts[path] = before  # the same object: what was made of it holds
            return set()
        others = self._aliases.get(path, set())
        for other in others:
            self._texts.pop(other, None)
        return {path, *others}

    def _renew_rights(self, path: str) -> set[str]:
        was = self._executable.pop(path, None)
        return set() if was is None or self.is_executable(path) == was else {path}

    def _renew_names(self, folder: str) -> set[str] | None:
        before, after = self._listed[folder], Disk.names(self, folder)
        if isinstance(before, Fault) or isinstance(after, Fault):
            return set() if before == after else None
        return set() if all(set(old) == set(new) for old, new in zip(before, after, strict=True)) else None


def _kind_at(path: str) -> str:
    try:
        return kind_of(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return "missing"


def _decides(path: str, project: Project) -> bool:
    name = os.path.basename(path).lower()
    return name in DECIDING or name.endswith(".mk") or may_pin(project.relative(path))


def _stat(path: str) -> tuple[int, ...] | None:
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return None
    return info.st_mtime_ns, info.st_size, info.st_ino


def _find_index(disk: LiveDisk, top: str) -> str:
    """The index of the repository that holds a folder. In a worktree or a submodule, `.git` is a file that names it."""
    git = find_git(disk, top)
    if git is None:
        return ""
    folder = f"{git.top.rstrip('/')}/.git"
    if disk.kind(folder) == "file":
        data = disk.read(folder, MAX_GIT_FILE)
        named = "" if isinstance(data, Fault) else os.fsdecode(data).partition("gitdir:")[2].strip()
        folder = join(git.top, named) if named else folder
    return f"{folder}/index"


class LiveProject(Project):
    """A project that keeps what it has computed as long as the files that it came from are the same."""

    def __init__(self, top: str, options: CheckOptions, disk: LiveDisk) -> None:
        self.disk = disk
        self._live = TrackedTree(Memo(), disk)
        self._decoded: dict[str, tuple[bytes, str]] = {}  #: texts, with the bytes that they were made from
        super().__init__(top, options, self._live)
        self.memo = self._live.memo

    def change(self, paths: Iterable[str], unsaved: Mapping[str, bytes]) -> None:
        """Take it that the texts of these files are others; those that are not saved are given."""
        there = {path: text for path, text in unsaved.items() if self.disk.kind(path) == "file"}
        new = {path: text for path, text in unsaved.items() if path not in there}
        self.disk.unsaved = there
        self._live.below = ChangedTree(self.disk, new) if new else self.disk
        self.memo.forget(paths)

    # -- what depends on texts

    def read(self, path: str) -> str | None:
        data = self._live.read(path, MAX_TEXT)
        if isinstance(data, Fault):
            return None
        known = self._decoded.get(path)
        if known is None or known[0] is not data:
            known = self._decoded[path] = data, data.decode("utf-8", "replace")
        return known[1]

    def view(self, choice: DialectChoice, folder: str = "") -> View:
        folder = folder or self.top
        return self.memo.remember_fixed(("view", choice.dialect.name, folder), self._load, choice, folder)

    def _load(self, choice: DialectChoice, folder: str) -> View:
        return load_within(self.tree, choice, self._start(choice, folder).surroundings)

    def _start(self, choice: DialectChoice, folder: str) -> SessionStart:
        return self.memo.remember_fixed(("start", choice.dialect.name, folder), self._read_start, choice, folder)

    def nested(self, choice: DialectChoice) -> NestedFiles:
        return self.memo.remember_fixed(("nested", choice.dialect.name), self._find_nested, choice)

    def _find_nested(self, choice: DialectChoice) -> NestedFiles:
        name, view = choice.dialect.name, self.view(choice)
        if view.refusal:
            return NestedFiles(())
        start = self._start(choice, self.top)
        groups = self.remember(("groups", name), partial(group_files, self.tree, choice, start, self.inventory))
        parts = [
            self.remember(("nested", name, folder), partial(judge_group, self.tree, choice, start, excerpt, paths))
            for (folder, paths), excerpt in zip(groups.items(), excerpt_view(view, groups, self.tree), strict=True)
        ]
        return join_groups(view, parts, self.inventory)

    def _read_start(self, choice: DialectChoice, folder: str) -> SessionStart:
        return SessionStart(find_surroundings(self.tree, self._make_request(choice)._replace(cwd=folder)))

    @property
    def instruction_files(self) -> tuple[str, ...]:
        compute: Callable[[Project], tuple[str, ...]] = vars(Project)["instruction_files"].func  # there it is kept
        return self.memo.remember_fixed("instruction_files", compute, self)


class LiveCheck:
    """A tree that is checked again and again.

    `report` is the newest answer, and `has_news` says whether a text that was read, or the answer, is another than
    before.
    """

    has_news = True

    def __init__(
        self,
        top: str,
        folder: str = "",
        options: CheckOptions | None = None,
        *,
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        unsaved: Mapping[str, bytes] | None = None,
    ) -> None:
        self._asked = top, folder, options, tuple(select), tuple(ignore)
        self._answers: dict[Question, bytes | None] = {}  #: of git
        self._unsaved = dict(unsaved or {})
        self.begin()

    def begin(self) -> None:
        """Look at everything anew."""
        top, folder, options, select, ignore = self._asked
        self.disk = LiveDisk(top)
        tree = ChangedTree(self.disk, self._unsaved) if self._unsaved else self.disk
        opened = open_project(top, folder, options, select=select, ignore=ignore, tree=tree)
        self.settings = opened.settings
        self.project = LiveProject(top, opened.project.options, self.disk)
        self.project.change((), self._unsaved)
        self._index = _find_index(self.disk, self.project.top)
        self._indexed = _stat(self._index)
        self._answers.clear()
        self._check()

    def _check(self) -> None:
        with keep_answers(self._answers):
            self.report = check_tree(self.project, self.settings)

    def edit(self, texts: Mapping[str, bytes | None]) -> CheckReport:
        """Check with other unsaved texts; None is for a file of which the disk's text counts again."""
        changed: set[str] = set()
        is_anew = False
        for path, text in texts.items():
            place = self.disk.real(path)
            before = self._unsaved.pop(place, None)
            if text is not None:
                self._unsaved[place] = text
            is_anew = is_anew or self.disk.kind(place) != "file" or _decides(place, self.project)
            if text != before:
                changed |= {path, place}
        return self._look_again(changed, is_anew=is_anew)

    def find_changes(self) -> list[str]:
        """The paths that are not what they were when they were looked at; git's index is among them."""
        is_indexed = _stat(self._index) == self._indexed
        return list(dict.fromkeys([*self.disk.find_changes(), *(() if is_indexed else (self._index,))]))

    def refresh(self, paths: Iterable[str]) -> CheckReport:
        """Check again after these paths have changed on the disk."""
        changed: set[str] = set()
        is_anew = False
        for path in paths:
            if path == self._index:
                is_anew = is_anew or not self._tracks_the_same()
                continue
            found = self.disk.renew(path)
            changed |= found or set()
            is_anew = is_anew or found is None or (bool(found) and _decides(path, self.project))
        return self._look_again(changed, is_anew=is_anew)

    def _forget_answers(self, changed: set[str]) -> None:
        """Forget who wrote the lines of these files; if code, which is searched, may be among them, all answers."""
        if not all(path.lower().endswith(PROSE) for path in changed):
            self._answers.clear()
            return
        names = {self.project.relative(path) for path in changed}
        for question in [each for each in self._answers if "blame" in each[1] and not names.isdisjoint(each[1])]:
            del self._answers[question]

    def _tracks_the_same(self) -> bool:
        """Whether git, asked again, names the same files; its index changes whenever anybody asks for the status."""
        self._indexed = _stat(self._index)
        found = self.project.git.indexed() if self.project.git else None
        return (tuple(found.files) if found else ()) == self.project.indexed

    def _look_again(self, changed: set[str], *, is_anew: bool) -> CheckReport:
        before = self.report
        if is_anew:
            self.begin()
        elif changed:
            self.project.change(changed, self._unsaved)
            self._forget_answers(changed)
            self._check()
        self.has_news = bool(changed) or self.report[1:] != before[1:]
        return self.report
