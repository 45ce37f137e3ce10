"""The instruction files of a whole tree: everything below a folder that an agent may be told, at the start or later.

1. A name counts if an agent looks for it somewhere in a project, in any capitals; in a folder of rules every file does.
   The names come from the tables of the dialect, as its settings change them.
2. The tree is walked nearest folders first, without following links. Folders that hold no work of the project
   (`PRUNED`) and those that `.gitignore` files name are not entered. Files that git ignores count: agents read them.
3. The walk ends after a number of folders, of names, of found files, or at a depth, and says so: `Inventory.cut`. No
   load does this; only commands about the whole tree do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from foretold.dialects.schema import Dialect, FileSource
from foretold.dialects.surroundings import Surroundings, upward
from foretold.instructions.discover.locate import NESTED
from foretold.storage.tree import Fault, Tree, is_inside
from foretold.text.globs.fnmatch_walk import PRUNED
from foretold.text.globs.npm_ignore import IgnoreMatcher
from foretold.text.globs.utf16 import fold
from foretold.text.patterns import lazy
from foretold.types import NamedTuple

MAX_DEPTH = 32
MAX_IGNORE = 64 * 1024  #: bytes of a `.gitignore`
MAX_PATTERN = 256  #: characters of a line of it
MAX_TRIED = 5_000_000  #: characters of patterns that are tried on folders: about a second; honest trees need a tenth
#: where a source is looked for within a project
IN_PROJECT = ("walk", "upward", "edges", "between", "closest", "cwd", "project", "reach", *NESTED)


class WalkLimits(NamedTuple):
    """How much of a tree is looked at."""

    folders: int = 10_000  #: a tree of 100,000 files has about as many; 0.3 s of the processor
    names: int = 300_000
    found: int = 1_000


class RulesFolder(NamedTuple):
    """A folder of rules, by its name, and how the names of the rules in it end."""

    name: str
    suffix: str | tuple[str, ...] = ""


class NameTable(NamedTuple):
    """The names that an agent looks for in a project; some have folders in them."""

    files: tuple[str, ...]
    rules: tuple[RulesFolder, ...] = ()
    any_case: bool = False  #: whether files are found in any capitals

    def find_rules(self, path: str) -> tuple[str, RulesFolder] | None:
        """The innermost folder of rules that a path is in: the folder that holds it, and which one it is."""
        found = [(path.rfind(f"/{rules.name}/"), rules) for rules in self.rules if f"/{rules.name}/" in path]
        at, rules = max(found, key=lambda each: each[0], default=(-1, RulesFolder("")))
        return (path[:at] or "/", rules) if at >= 0 else None


def list_names(dialect: Dialect, surroundings: Surroundings | None = None) -> NameTable:
    """The names that an agent looks for, from its tables and, if they are known, its settings."""
    start = surroundings.start if surroundings is not None else ()
    touch = surroundings.touch if surroundings is not None else ()
    plan = (*(start or dialect.start), *(touch or dialect.touch))
    here = [source for source in plan if source.base in IN_PROJECT]
    files = [name for source in here if source.kind in ("file", "either") for name in (source.name, *source.others)]
    files += dialect.fallback.names if dialect.fallback is not None else ()
    folders = [source for source in here if source.kind in ("rules", "either")]
    rules = [RulesFolder(source.name, source.suffix or dialect.rules.suffix) for source in folders]
    any_case = any(source.pick == "any-case" for source in here)
    return NameTable(tuple(dict.fromkeys(files)), tuple(dict.fromkeys(rules)), any_case)


class Inventory(NamedTuple):
    """The files of a tree that may be instructions for some agent, nearest first; and why these are not all."""

    paths: tuple[str, ...]
    cut: str = ""
    files: tuple[str, ...] = ()  #: every file and link of the tree, if that was asked for: paths below its top

    def add_files(self, top: str, files: Iterable[str], tables: Iterable[NameTable]) -> Inventory:
        """The same with more files of the tree, which the walk did not come to."""
        files, tables = tuple(files), list(tables)
        more = Inventory(tuple(f"{top.rstrip('/')}/{path}" for path in files))
        found = dict.fromkeys((*self.paths, *(path for names in tables for path in more.select(names))))
        return Inventory(tuple(found), self.cut, (*self.files, *files))

    def select(self, names: NameTable) -> Iterator[str]:
        """Those of them that concern one agent."""
        wanted = tuple(f"/{name.lower()}" for name in names.files)
        for path in self.paths:
            if path.lower().endswith(wanted) or names.find_rules(path):
                yield path


def take_inventory(
    tree: Tree, top: str, tables: Iterable[NameTable], limits: WalkLimits | None = None, *, every: bool = False
) -> Inventory:
    """Look for the names of some agents in a folder and everything below it; with `every`, list all files as well."""
    tables = list(tables)
    walk = _Walk(
        tree,
        top,
        {name for table in tables for name in table.files},
        {rules.name for table in tables for rules in table.rules},
    )
    walk.limits, walk.every = limits or walk.limits, [] if every else None
    walk.run()
    return Inventory(tuple(walk.found), walk.cut, tuple(walk.every or ()))


_WILDCARD = lazy(r"[*?]+|\[[^\]]*\]?")  #: what stands for other text in a pattern


class _IgnoreFile:
    """The folders that one `.gitignore` names; what is below a folder that it names is not asked about.

    So a line can only name folders of its own last name. For each name these lines are picked once; most folders have
    few names, and most names no line at all.
    """

    def __init__(self, folder: str, lines: list[str]) -> None:
        self.folder = folder  #: with a slash at its end
        self._lines = lines
        self._plain: dict[str, list[int]] = {}  #: last name -> numbers of lines
        self._wild: list[tuple[int, tuple[str, ...]]] = []  #: number of a line -> texts that its names have
        self._cost = 0
        for number, line in enumerate(lines):
            last = line.rstrip("/ ").removeprefix("!").rpartition("/")[2]
            if "\\" in line or "]/" in line:
                self._wild.append((number, ()))
            elif "*" in last or "?" in last or "[" in last:
                texts = tuple(filter(None, fold(_WILDCARD.sub("*", last)).split("*")))
                self._wild.append((number, texts))
                self._cost += len(last)
            else:
                self._plain.setdefault(fold(last), []).append(number)
        self._known: dict[str, tuple[IgnoreMatcher | bool, int]] = {}

    def matches(self, path: str, name: str) -> tuple[bool, int]:
        """Whether it names a folder, and how many characters of patterns were tried."""
        cost = 0
        if name not in self._known:
            self._known[name], cost = self._pick(name), self._cost
        matcher, each = self._known[name]
        if isinstance(matcher, bool):
            return matcher, cost
        return matcher.matches(path[len(self.folder) :]), cost + each

    def _pick(self, name: str) -> tuple[IgnoreMatcher | bool, int]:
        """What decides about folders of a name: its lines, or their answer, if it does not depend on the path."""
        folded = fold(name)
        wild = [number for number, texts in self._wild if all(text in folded for text in texts)]
        lines = [self._lines[number] for number in sorted([*self._plain.get(folded, ()), *wild])]
        if all("/" not in line.rstrip("/ ").removeprefix("**/") for line in lines):
            return IgnoreMatcher(lines).matches(f"{name}/"), 0
        return IgnoreMatcher(lines), sum(map(len, lines))


class _Open(NamedTuple):
    """A folder that is to be looked at."""

    inside: str  #: its path below the top, with a slash before it
    is_rules: bool
    ignores: tuple[_IgnoreFile, ...]


class _Walk:
    """One walk over a tree."""

    def __init__(self, tree: Tree, top: str, files: set[str], rules: set[str]) -> None:
        self.tree, self.top = tree, top.rstrip("/")
        self.found: list[str] = []
        self.every: list[str] | None = None  #: all files, if they are wanted
        self.limits = WalkLimits()
        self.cut = ""
        self._endings: dict[str, list[str]] = {}  #: the last part of a name, in lower case -> whole names
        for name in files:
            self._endings.setdefault(name.lower().rpartition("/")[2], []).append("/" + name.lower())
        self._rules = tuple(f"/{name}" for name in rules)
        self._folders = self._names = self._tried = 0

    def run(self) -> None:
        waiting = deque([_Open("", is_rules=False, ignores=self._read_ignores_above())])
        while waiting and not self.cut:
            self._look(waiting.popleft(), waiting)

    def _look(self, here: _Open, waiting: deque[_Open]) -> None:
        inside, is_rules, ignores = here
        self._folders += 1
        listed = self.tree.names(self.top + inside or "/")
        if isinstance(listed, Fault):
            return
        names, below = listed
        self._names += len(names)
        if ".gitignore" in names:
            ignores += self._read_ignore(self.top + inside)
        folders = set(below)
        self._take(inside, names, folders, is_rules=is_rules)
        if self.every is not None:
            start = inside[1:] + "/" if inside else ""
            self.every += [start + name for name in names if name not in folders]
        for name in sorted(below):
            path = f"{inside}/{name}"
            if name not in PRUNED and not self._is_ignored(f"{self.top}{path}/", name, ignores):
                waiting.append(_Open(path, is_rules or path.endswith(self._rules), ignores))
        if waiting:
            self.cut = self._limit(inside)

    def _limit(self, inside: str) -> str:
        """Why the walk ends here although there is more; empty if it goes on."""
        limits = self.limits
        if self._folders >= limits.folders:
            return f"only the {limits.folders:,} nearest folders were looked at"
        if self._names > limits.names:
            return f"only {self._folders:,} folders were looked at, which have {self._names:,} names"
        if len(self.found) >= limits.found:
            return f"only the first {limits.found:,} files are listed"
        if self._tried > MAX_TRIED:
            return f"only {self._folders:,} folders were looked at: the .gitignore files have too many patterns"
        return f"only {MAX_DEPTH} levels of folders were looked at" if inside.count("/") >= MAX_DEPTH else ""

    def _take(self, inside: str, names: list[str], folders: set[str], *, is_rules: bool) -> None:
        """Take the names of a folder that count, in the order of the alphabet."""
        endings = self._endings
        for name in sorted(names) if is_rules else sorted(name for name in names if name.lower() in endings):
            path = f"{inside}/{name}"
            if name in folders or len(self.found) >= self.limits.found:
                continue
            if is_rules or path.lower().endswith(tuple(endings[name.lower()])):
                self.found.append(self.top + path)

    # -- what git ignores

    def _read_ignores_above(self) -> tuple[_IgnoreFile, ...]:
        """The patterns of the folders from the top of the repository down to the one above this."""
        above: list[str] = []
        for folder in upward(self.top or "/"):
            if self.tree.kind(folder.rstrip("/") + "/.git") != "missing":
                files = self._read_ignore(folder.rstrip("/"), ".git/info/exclude")
                outer = [*above[1:], folder] if above else []
                return sum((self._read_ignore(each.rstrip("/")) for each in reversed(outer)), files)
            above.append(folder)
        return ()

    def _read_ignore(self, folder: str, name: str = ".gitignore") -> tuple[_IgnoreFile, ...]:
        data = self.tree.read(f"{folder}/{name}", MAX_IGNORE)
        if isinstance(data, Fault):
            return ()
        lines = [line.rstrip("\r") for line in data.decode("utf-8", "replace").split("\n")]
        lines = [line for line in lines if line.strip() and line[0] != "#" and len(line) <= MAX_PATTERN]
        return (_IgnoreFile(folder + "/", lines),) if lines else ()

    def _is_ignored(self, path: str, name: str, ignores: tuple[_IgnoreFile, ...]) -> bool:
        for file in ignores:
            is_named, tried = file.matches(path, name)
            self._tried += tried
            if is_named:
                return True
        return False


def is_source_below(source: FileSource) -> bool:
    """Whether a source is looked for in the folders of touched files."""
    return source.base in (*NESTED, "reach")


def is_below(path: str, folder: str) -> bool:
    """Whether a folder lies strictly below another."""
    return path != folder and is_inside(path, folder)
