"""Which globs have a file: for rules that apply where something that matches them exists.

1. A glob is tested against every path below the working directory, as seen from there and as seen from the root of
   the project, and against the bare name; `*` crosses folders, `**/` may be none. A folder counts as well as a file.
   It may also match the working directory itself: its whole path, or its path from the root.
2. All globs share one walk, nearest folders first, which ends as soon as each rule has its hit. Folders that hold no
   work of the project (`PRUNED`) are not entered unless a glob names them. Links are not followed.
3. A glob whose fixed beginning is not there needs no walk. Of the others, most are ruled out for a whole folder by
   one look for their fixed ending among its names.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product

from foretold.storage.tree import Fault, Tree, is_inside

PRUNED = frozenset(".git .hg .svn .tox .venv .mypy_cache .pytest_cache .ruff_cache __pycache__ node_modules".split())
MAX_STARS = 64  #: of one glob; no one writes more
_PARTS = re.compile(r"(?<![^/])\*\*/|\*+|\?|\[!?\]?[^\]]*\]|[^*?\[]+|\[")
_MAGIC = re.compile(r"[*?\[]")
_ENDS = re.compile(r"[*?\]]")


def first_hits(tree: Tree, cwd: str, rules: Sequence[Sequence[str]], *, root: str = "") -> list[str | None]:
    """For each rule the first path below `cwd` that one of its globs matches; None if there is none.

    Globs are seen from `cwd`, and from the `root` above it if one is given; a hit is always seen from `cwd`.
    """
    hits: list[str | None] = [None] * len(rules)
    base = cwd.rstrip("/")
    prefixes = [""]
    if root and root != cwd and is_inside(cwd, root):
        prefixes.append(base[len(root.rstrip("/")) + 1 :] + "/")

    @cache
    def is_there(folder: str) -> bool:
        """Whether the folders of a fixed beginning are there."""
        return not folder or (is_there(folder.rpartition("/")[0]) and tree.kind(f"{base}/{folder}") == "folder")

    wanted: list[_Glob] = []
    links: dict[str, bool] = {}  #: folder of a fixed beginning -> whether a walk would not enter it
    for number, globs in enumerate(rules):
        for written, prefix in product(globs, prefixes):
            if prefix and written.startswith("/"):
                continue  # it is seen from nowhere
            glob = _Glob(number, written, cwd, prefix)
            if glob.is_here(cwd):
                hits[number] = cwd
            elif not glob.head.startswith("/") and is_there(folder := glob.head.rpartition("/")[0]):
                wanted.append(glob)
                if folder and folder not in links:
                    links[folder] = tree.real(f"{base}/{folder}") != f"{base}/{folder}"
    wanted = [glob for glob in wanted if hits[glob.rule] is None]
    if wanted:
        _walk(tree, cwd, wanted, hits, [folder for folder, is_link in links.items() if is_link])
    return hits


def is_usable(glob: str) -> bool:
    """Whether a glob has no more stars than can be read."""
    return glob.count("*") <= MAX_STARS or _compiled(glob) is not None


def _walk(tree: Tree, cwd: str, wanted: list[_Glob], hits: list[str | None], links: list[str]) -> None:
    closed = PRUNED - {name for glob in wanted for name in glob.segments}
    by_ending = _by_ending(wanted)
    waiting = deque([("", cwd), *((f"{link}/", f"{cwd.rstrip('/')}/{link}") for link in links)])
    while waiting:
        inside, folder = waiting.popleft()
        listed = tree.names(folder)
        if isinstance(listed, Fault):
            continue
        names, folders = listed
        all_names = "\n".join(("", *names, ""))
        found = False
        for ending, globs in by_ending.items():
            if ending in all_names:
                for glob in globs:
                    if hits[glob.rule] is None:
                        hits[glob.rule] = glob.first_of(inside, names)
                        found = found or hits[glob.rule] is not None
        if found:
            wanted = [glob for glob in wanted if hits[glob.rule] is None]
            if not wanted:
                return
            by_ending = _by_ending(wanted)
        for name in folders:
            if name not in closed:
                waiting.append((f"{inside}{name}/", f"{folder.rstrip('/')}/{name}"))


def _by_ending(globs: list[_Glob]) -> dict[str, list[_Glob]]:
    found: dict[str, list[_Glob]] = {}
    for glob in globs:
        found.setdefault(glob.ending, []).append(glob)
    return found


class _Glob:
    """One glob of one rule, seen from the folder that `prefix` leads down from to the working directory.

    It is compiled when its fixed parts do not rule it out.
    """

    __slots__ = ("_match", "ending", "head", "is_anchored", "prefix", "rule", "segments", "written")

    def __init__(self, rule: int, written: str, cwd: str, prefix: str = "") -> None:
        self.rule, self.prefix = rule, prefix
        if written.startswith("/") and len(written) > len(cwd) and is_inside(written, cwd):
            written = "./" + written[len(cwd.rstrip("/")) + 1 :]
        self.is_anchored = written.startswith("./")  #: it is not tested against the bare name
        written = written.removeprefix("./").rstrip("/") or "/"
        while written.endswith("/**/**"):
            written = written.removesuffix("/**")
        self.written = written
        self.segments = written.split("/")
        whole = written.removesuffix("/**")  # `docs/**` matches `docs` itself, also if it is a file
        magic = _MAGIC.search(whole)
        self.head = _head_below(whole[: magic.start()] if magic else whole, prefix)
        last = self.segments[-1]
        ending = _ENDS.split(last)[-1]
        starts = "\n" if ending == last and ending else ""
        self.ending = starts + ending + "\n"
        self._match: Callable[[str], object] | None = None

    def matches(self, path: str) -> bool:
        return self._matches_whole(self.prefix + path)

    def _matches_whole(self, path: str) -> bool:
        if self._match is None:
            self._match = _compiled(self.written) or (lambda _: None)
        return bool(self._match(path))

    def is_here(self, cwd: str) -> bool:
        """Whether it matches the working directory itself."""
        if self.prefix:
            return self.head == "" and self._matches_whole(self.prefix[:-1])
        return cwd.startswith(self.head) and cwd.endswith(self.ending.strip("\n")) and self.matches(cwd)

    def first_of(self, inside: str, names: list[str]) -> str | None:
        ending = self.ending.strip("\n")
        for name in names:
            if not name.endswith(ending):
                continue
            is_bare = inside and not self.is_anchored and not self.prefix and not self.written.endswith("/**")
            if self.matches(inside + name) or (is_bare and self.matches(name)):
                return inside + name
        return None


def _head_below(head: str, prefix: str) -> str:
    """What is left of a fixed beginning below a prefix; one that leads elsewhere is taken for absolute: no hit.

    >>> _head_below("src/api/v1/", "src/api/"), _head_below("src/", "src/api/"), _head_below("src/web/", "src/api/")
    ('v1/', '', '/')
    """
    if head.startswith(prefix):
        return head[len(prefix) :]
    return "" if prefix.startswith(head) else "/"


def _compiled(glob: str) -> Callable[[str], re.Match[str] | None] | None:
    """The match function of a glob; None if it has too many stars.

    Every part but the last is taken at its first place and never given back, so nothing backtracks.
    """
    whole = glob.removesuffix("/**")
    groups = list(_groups(whole))
    if len(groups) > MAX_STARS:
        return None
    first, *rest = groups
    form: str = first[1]
    for at, (star, fixed) in enumerate(rest, 1):
        lazy = r"(?:.*?/)??" if star == "**/" else ".*?"
        form += f"{lazy}{fixed}" if at == len(rest) else f"(?>{lazy}{fixed})"
    if whole != glob:
        form += "(?:/.*)?"
    return re.compile(form, re.DOTALL).fullmatch


def _groups(glob: str) -> Iterator[tuple[str, str]]:
    """The fixed parts of a glob as patterns, each with the star before it."""
    star, fixed = "", ""
    for part in _PARTS.findall(glob):
        if part == "**/" or part[0] == "*":
            yield star, fixed
            star, fixed = part, ""
        elif part == "?":
            fixed += "."
        elif part[0] == "[" and len(part) > 2:
            fixed += _class(part[1:-1])
        else:
            fixed += re.escape(part)
    yield star, fixed


def _class(body: str) -> str:
    """A class of characters; ranges that are none are left out, as the shell does."""
    negated = body[0] == "!"
    at, members = int(negated), []
    while at < len(body):
        is_range = body[at + 1 : at + 2] == "-" and at + 2 < len(body)
        last = body[at + 2] if is_range else body[at]
        if body[at] <= last:
            members.append(re.escape(body[at]) + (f"-{re.escape(last)}" if is_range else ""))
        at += 3 if is_range else 1
    if not members:
        return "." if negated else "(?!)"
    return f"[{'^' if negated else ''}{''.join(members)}]"
