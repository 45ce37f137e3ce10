"""Which globs have a file: for rules that apply where something that matches them exists.

1. A glob is seen from the working directory, and tested against every path below it and against the bare name; `*`
   crosses folders, `**/` may be none. A folder counts as well as a file. It may also match the working directory
   itself.
2. All globs share one walk, nearest folders first, which ends as soon as each rule has its hit. Folders that hold no
   work of the project (`PRUNED`) are not entered unless a glob names them. Links are not followed.
3. A glob whose fixed beginning is not there needs no walk. Of the others, most are ruled out for a whole folder by
   one look for their fixed ending among its names.
"""

from __future__ import annotations

import re
from collections import deque

from headnote.dialects.world import is_inside
from headnote.tree import Fault, Tree
from headnote.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PRUNED = frozenset(".git .hg .svn .tox .venv .mypy_cache .pytest_cache .ruff_cache __pycache__ node_modules".split())
MAX_STARS = 64  #: of one glob; nobody writes more
_PARTS = re.compile(r"(?<![^/])\*\*/|\*+|\?|\[!?\]?[^\]]*\]|[^*?\[]+|\[")
_MAGIC = re.compile(r"[*?\[]")


def first_hits(tree: Tree, cwd: str, rules: Sequence[Sequence[str]]) -> list[str | None]:
    """For each rule the first path that one of its globs matches, seen from `cwd`; None if there is none."""
    hits: list[str | None] = [None] * len(rules)
    wanted: list[_Glob] = []
    for number, globs in enumerate(rules):
        for written in globs:
            glob = _Glob(number, written, cwd)
            if glob.is_here:
                hits[number] = cwd
            elif glob.is_possible(tree, cwd):
                wanted.append(glob)
    wanted = [glob for glob in wanted if hits[glob.rule] is None]
    if wanted:
        _walk(tree, cwd, wanted, hits)
    return hits


def _walk(tree: Tree, cwd: str, wanted: list[_Glob], hits: list[str | None]) -> None:
    closed = PRUNED - {name for glob in wanted for name in glob.segments}
    waiting = deque([("", cwd)])
    while waiting:
        inside, folder = waiting.popleft()
        listed = tree.names(folder)
        if isinstance(listed, Fault):
            continue
        names, folders = listed
        all_names = "\n".join(("", *names, ""))
        found = False
        for glob in wanted:
            if hits[glob.rule] is None and glob.ending in all_names:
                hits[glob.rule] = glob.first_of(inside, names)
                found = found or hits[glob.rule] is not None
        if found:
            wanted = [glob for glob in wanted if hits[glob.rule] is None]
            if not wanted:
                return
        for name in folders:
            if name not in closed:
                waiting.append((f"{inside}{name}/", f"{folder.rstrip('/')}/{name}"))


class _Glob:
    """One glob of one rule."""

    __slots__ = ("_match", "ending", "head", "is_here", "rule", "segments")

    def __init__(self, rule: int, written: str, cwd: str) -> None:
        self.rule = rule
        match = _compiled(written)
        self.is_here = match is not None and bool(match(cwd))
        if written.startswith(("/", "./")):
            inside = is_inside(written, cwd)
            written = written[len(cwd.rstrip("/")) + 1 :] if inside else written.removeprefix("./")
            match = _compiled(written)
        self.segments = written.split("/")
        self.head = written[: found.start()] if (found := _MAGIC.search(written)) else written
        last = self.segments[-1]
        ending = re.split(r"[*?\]]", last)[-1]
        starts = "\n" if ending == last and ending else ""
        self.ending = starts + ending + "\n"
        self._match = match

    def is_possible(self, tree: Tree, cwd: str) -> bool:
        """Whether its fixed beginning is there; an absolute glob sees nothing of the working directory."""
        folder = self.head.rpartition("/")[0]
        if self._match is None or self.head.startswith("/"):
            return False
        return not folder or tree.kind(f"{cwd.rstrip('/')}/{folder}") == "folder"

    def first_of(self, inside: str, names: list[str]) -> str | None:
        match, ending = self._match, self.ending.strip("\n")
        assert match is not None
        for name in names:
            if name.endswith(ending) and (match(name) or match(inside + name)):
                return inside + name
        return None


def _compiled(glob: str) -> Callable[[str], re.Match[str] | None] | None:
    """The match function of a glob; None if it cannot be used.

    Every part but the last is taken at its first place and never given back, so nothing backtracks.
    """
    groups = list(_groups(glob))
    if len(groups) > MAX_STARS:
        return None
    first, *rest = groups
    form: str = first[1]
    for at, (star, fixed) in enumerate(rest, 1):
        lazy = r"(?:.*?/)??" if star == "**/" else ".*?"
        form += f"{lazy}{fixed}" if at == len(rest) else f"(?>{lazy}{fixed})"
    if glob.endswith("/**"):
        form = form.removesuffix("/.*?") + "(?:/.*)?"
    try:
        return re.compile(form, re.DOTALL).fullmatch
    except re.error:
        return None


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
            body = part[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            fixed += f"[^{body[1:]}]" if body[0] == "!" else f"[{body.replace('^', chr(92) + '^', 1)}]"
        else:
            fixed += re.escape(part)
    yield star, fixed
