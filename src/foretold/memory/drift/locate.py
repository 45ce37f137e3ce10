"""The files of a repository, listed once, and where the paths that memories name are among them.

1. In a git repository git lists what is tracked, and what is neither tracked nor ignored. Submodules, and repositories
   inside, are walked without git: their settings are not trusted. Elsewhere folders are walked, without following
   links; folders that programs generate are left out. What could not be listed is named.
2. A path that exists, from the root of the repository, is that path. Git need not list it (an ignored file counts).
3. Else it may be the end of a longer path (`api/users.py` is `src/api/users.py`), differ in case only, lack the ending
   of its file, or start with the name of the repository's own folder: if one file matches, it is that one; if several
   do, that is `unknown`.
4. A pattern with `*` or `?` exists if a file matches it. `**` crosses folders; a pattern may begin in any folder.
5. A path outside of the repository is only looked at if the caller wants that.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property

from foretold.git.runner import GitRepository
from foretold.memory.drift import classify
from foretold.storage.tree import open_regular
from foretold.types import NamedTuple

SHOWN = 3  #: paths that are named where several match
_LINE = re.compile(r"(?::|#L)(\d+)")


class PathMatch(NamedTuple):
    """The answer for one path: no state if it does not exist."""

    state: str = ""
    evidence: str = ""
    where: str = ""


def printable(path: str) -> str:
    """A path that can be printed: bytes that are not UTF-8 are escaped."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


class FileLocator:
    """The files of a repository, by the last part of their paths; only those that are asked for."""

    def __init__(
        self,
        root: str,
        listing: Listing,
        asked: Collection[str],
        *,
        outside: bool = False,
        is_there: Callable[[str], bool] = os.path.lexists,
    ) -> None:
        """`is_there` says whether something is at an absolute path."""
        self.root, self._listing, self._outside, self._is_there = root, listing, outside, is_there
        self._own = os.path.basename(os.path.realpath(root))
        self.files = frozenset(listing.files)
        self.folders = _folders(listing.files) | {*listing.empty}
        paths = {*map(normalize_path, asked)}
        paths |= {_head(path) for path in paths if _is_pattern(path)}
        self._asked: set[str] | None = {path.rpartition("/")[2].casefold() for path in paths} - {""}
        self._by_name = self._index(self._asked)

    def _index(self, names: set[str] | None) -> dict[str, list[str]]:
        """The files and folders by these names, or by all that they have."""
        found: dict[str, list[str]] = {}
        for path in (*self._listing.files, *self.folders):
            name = path.rpartition("/")[2].casefold()
            keys = {name, name.partition(".")[0], name.rpartition(".")[0]} if "." in name[1:] else {name}
            for key in keys if names is None else keys & names:
                found.setdefault(key, []).append(path)
        return found

    def _near(self, name: str) -> Sequence[str]:
        """The files and folders of a name. One that nobody announced costs an index of all names, once."""
        name = name.casefold()
        if self._asked is not None and name and name not in self._asked:
            self._asked, self._by_name = None, self._index(None)
        return self._by_name.get(name, ())

    def exists(self, path: str) -> bool:
        """Whether a path is on disk, or left out of a sparse checkout."""
        return path in self._listing.absent or self._is_there(os.path.join(self.root, path))

    def find(self, text: str) -> PathMatch:
        """Where a path, as a memory writes it, is."""
        path = self._from_root(text)
        if path.startswith("/"):
            if not self._outside:
                return PathMatch("unknown", "outside the repository, not looked at")
            if self._is_there(path):
                return PathMatch("valid", f"{printable(path)} exists", path)
            return PathMatch("missing", f"{printable(path)} does not exist")
        if path == "" or "\0" in path or len(path) > 4096:
            return PathMatch() if path else PathMatch("valid", "it is the repository itself", ".")
        own = path.removeprefix(self._own + "/")
        found = self._exact(path) or self._by_end(path) or (self._match(path) if _is_pattern(path) else None)
        found = found or (self._exact(own) or self._by_end(own) if own != path else None)
        return self._with_line(found, text) if found else PathMatch()

    def relative(self, text: str) -> str:
        """The path from the root of the repository; empty if it is outside."""
        path = self._from_root(text)
        return "" if path.startswith("/") else path

    def _from_root(self, text: str) -> str:
        """A path from the root of the repository; outside of it the whole path."""
        path = normalize_path(text)
        if not path.startswith(("~", "/")):
            return path
        whole = os.path.normpath(os.path.expanduser(path))
        for root in (os.path.normpath(self.root), os.path.realpath(self.root)):
            if whole == root or whole.startswith(root + "/"):
                return whole[len(root) + 1 :]
        return whole if whole.startswith("/") else "/" + whole

    def _exact(self, path: str) -> PathMatch | None:
        if path in self._listing.absent:
            return PathMatch("valid", f"git has {printable(path)}; the sparse checkout leaves it out", path)
        if not self._is_there(os.path.join(self.root, path)):
            return None
        unlisted = "" if path in self.files or path in self.folders else ", and git does not list it"
        return PathMatch("valid", f"{printable(path)} exists{unlisted}", path)

    def _by_end(self, path: str) -> PathMatch | None:
        """The one file or folder whose path ends with this one."""
        end = "/" + path.casefold()
        near = self._near(path.rpartition("/")[2])
        ends = [each for each in near if f"/{each}".casefold().endswith(end)]
        if not ends and not classify.is_sure(path):
            ends = [each for each in near if f"/{each.rpartition('.')[0]}".casefold().endswith(end)]
        exact = [each for each in ends if f"/{each}".endswith("/" + path)]
        there = [each for each in exact or ends if self.exists(each)]
        if len(there) == 1:
            return PathMatch("valid", f"it is {printable(there[0])}", there[0])
        if there:
            first = sorted(there, key=lambda each: (each.count("/"), each))[:SHOWN]
            names = ", ".join([*map(printable, first), *(["…"] if len(there) > SHOWN else [])])
            return PathMatch("unknown", f"{len(there):,} paths end with it: {names}")
        return None

    def has_name(self, name: str) -> bool:
        """Whether a file, without its ending, or a folder has this name."""
        return name in self._names

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(path.rpartition("/")[2].partition(".")[0] for path in (*self.files, *self.folders))

    def namesakes(self, path: str) -> list[str]:
        """Files of the same name in other folders."""
        name = path.rpartition("/")[2]
        near = self._near(name)
        return [each for each in near if each.rpartition("/")[2] == name and self.exists(each)]

    def find_folders(self, name: str) -> list[str]:
        """The folders of a name, those nearest to the root first."""
        return self._folders_by_name.get(name, [])

    @cached_property
    def _folders_by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for folder in sorted(self.folders, key=lambda each: (each.count("/"), each)):
            found.setdefault(folder.rpartition("/")[2], []).append(folder)
        return found

    def list_folder(self, folder: str) -> list[str]:
        """The files right in a folder."""
        return [path for path in self._below(folder) if path.rpartition("/")[0] == folder]

    def list_below(self, folder: str) -> Iterator[str]:
        """The files in a folder, and in those in it, by name."""
        return self._below(folder)

    def _match(self, path: str) -> PathMatch | None:
        """A file that a pattern matches: only folders that its first words name, and files with its end, are tried."""
        matches, end = _pattern(path).fullmatch, re.split(r"[*?\]}]", path)[-1]
        head = _head(path)
        near = self._near(head.rpartition("/")[2]) if head else ()
        folders = [each for each in near if f"/{each}".endswith("/" + head) and each in self.folders] if head else [""]
        for folder in folders:
            for each in self._below(folder):
                if end in each and matches(each) and self.exists(each):
                    return PathMatch("valid", f"{printable(each)} matches", each)
        return None

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._listing.files)

    def _below(self, folder: str) -> Iterator[str]:
        """The files in a folder, and in those in it."""
        start = bisect_left(self._sorted, f"{folder}/") if folder else 0
        end = bisect_left(self._sorted, f"{folder}0") if folder else len(self._sorted)  # `0` comes after `/`
        return (self._sorted[at] for at in range(start, end))

    def _with_line(self, found: PathMatch, text: str) -> PathMatch:
        """A line number past the end of its file is missing."""
        number = _LINE.match(text.removeprefix(classify.without_line(text)))
        if not number or found.where not in self.files:
            return found
        try:
            with open(os.path.join(self.root, found.where), "rb", opener=open_regular) as file:
                data = file.read(4 << 20)
        except OSError:
            return found
        count, line = data.count(b"\n") + (not data.endswith(b"\n")), int(number[1])
        if line <= count or len(data) == 4 << 20:
            return found
        return PathMatch("missing", f"{printable(found.where)} has {count:,} lines, no line {line:,}", found.where)


def normalize_path(text: str) -> str:
    """A path as it is compared: without line number, leading `./` and final slash."""
    path = classify.without_line(text).removeprefix("./").rstrip("/")
    return path or ("/" if text.startswith("/") else "")


def _folders(files: Iterable[str]) -> set[str]:
    """Every folder that a file is in."""
    found: set[str] = set()
    for folder in {path.rpartition("/")[0] for path in files}:
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _is_pattern(path: str) -> bool:
    return any(char in path for char in "*?{[")


def _head(path: str) -> str:
    """The folders that a pattern names before its first star."""
    return re.split(r"[*?{\[]", path)[0].rpartition("/")[0]


def _pattern(path: str) -> re.Pattern[str]:
    """A glob as a regular expression that begins in any folder."""

    def translate(found: re.Match[str]) -> str:
        part = found[0]
        if part[0] == "{" and part[-1] == "}":
            return "(?:" + "|".join(map(re.escape, part[1:-1].split(","))) + ")"
        wild = {"**/": "(?:[^/]+/)*", "*": "[^/]*", "?": "[^/]"}.get(part)
        return wild or (".*" if part[0] == "*" else re.escape(part))

    inner = re.sub(r"\*\*/|\*+|\?|\{[^{}]*\}|[^*?{]+|\{", translate, path)
    return re.compile(f"(?:.*/)?{inner}(?:/.*)?", re.DOTALL)


#: folders that a walk skips
LEFT_OUT = frozenset(
    ".git .hg .svn .jj node_modules .venv venv __pycache__ .tox .nox .mypy_cache .ruff_cache .pytest_cache .cache "
    ".gradle .idea .terraform target dist build".split()
)
MOST_FILES = 2_000_000


class Listing(NamedTuple):
    """The files of a repository: paths relative to its root, with `/`."""

    files: list[str]
    absent: frozenset[str] = frozenset()  #: files that git has and a sparse checkout leaves out
    empty: tuple[str, ...] = ()  #: submodules that are not checked out
    unread: tuple[str, ...] = ()  #: folders that the file system refuses to list
    walked: bool = False  #: whether some files were not listed by git


def list_files(root: str, git: GitRepository | None) -> Listing:
    """List a repository."""
    unread: list[str] = []
    tracked = git.tracked() if git else None
    if tracked is None:
        return Listing([*_walk(root, "", unread)], unread=tuple(unread), walked=True)
    files, empty = tracked.files, []
    for folder in tracked.folders:
        whole = os.path.join(root, folder)
        is_linked = os.path.realpath(whole) != os.path.join(os.path.realpath(root), folder)
        inside = [*_walk(root, folder, unread)] if os.path.isdir(whole) and not is_linked else []
        files += inside
        if not inside:
            empty.append(folder)
    return Listing(files, tracked.absent, tuple(empty), tuple(unread), walked=len(empty) < len(tracked.folders))


def _walk(root: str, start: str, unread: list[str]) -> Iterator[str]:
    """Every file and link below a folder, in no order."""
    waiting, count = [start], 0
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as items:
                entries = [(item.name, item.is_dir(follow_symlinks=False)) for item in items]
        except OSError:
            unread.append(folder)
            continue
        for name, is_folder in entries:
            path = f"{folder}/{name}" if folder else name
            if name == ".git":
                continue
            if not is_folder:
                count += 1
                yield path
            elif name not in LEFT_OUT:
                waiting.append(path)
        if count > MOST_FILES:
            unread.append(f"all beyond {MOST_FILES:,} files")
            return
