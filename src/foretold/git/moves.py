"""What became of paths that are not there: git's history, from its end, as far as it is needed.

1. Deletions are read newest first, without looking for renames (a rename is then a deletion too), until every path
   was met or the time is over. That costs a comparison of trees a commit, and never of contents.
2. Only the commits that were met are asked for their renames.
3. A path that was renamed to one that is not there either is followed, at most `HOPS` times.
4. A folder went where most of its files went, if they kept their names below it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from foretold.git.runner import GitRepository, PathChange
from foretold.storage.tree import is_inside
from foretold.types import NamedTuple

HOPS = 5
SECONDS = 20.0  #: for a pass over the history


class PathFate(NamedTuple):
    """What became of a path."""

    path: str  #: its whole path when it was last there
    to: str = ""  #: where it is now; empty if it was deleted
    commit: str = ""  #: empty if that is staged and not committed
    date: str = ""
    times: int = 1  #: how often it went; known only if all of some commits were asked


def trace_paths(
    git: GitRepository,
    paths: Iterable[str],
    exists: Callable[[str], bool],
    seconds: float = SECONDS,
    *,
    commits: int = 0,
) -> dict[str, PathFate]:
    """What became of each path, file or folder; those that git never knew are left out.

    A path need not be whole: `api/users.py` also means `src/api/users.py`. With `commits` it must be, and only about
    so many of the last commits are asked: that is much cheaper.
    """
    fates: dict[str, PathFate] = {}
    wanted = {path: path for path in paths}  #: what to look for now, by what was asked
    _find_staged(git, wanted, fates, exists)
    for _ in range(HOPS):
        done = {asked for asked, fate in fates.items() if fate.to and exists(fate.to)}
        left = {asked: now for asked, now in wanted.items() if asked not in done}
        met = _find_deletions(git, {*left.values()}, seconds, commits) if left else {}
        renames = git.changes({fate.commit for fate in met.values()}) if met else {}
        wanted = {}
        for asked, now in left.items():
            if now not in met:
                continue
            fate = met[now]
            to = _find_target(now, fate.path, renames.get(fate.commit, []), git.prefix)
            fates[asked] = fate._replace(to=to)
            if to and not exists(to):
                wanted[asked] = to
        if not wanted:
            break
    return {asked: fate if not fate.to or exists(fate.to) else fate._replace(to="") for asked, fate in fates.items()}


def _find_staged(
    git: GitRepository, wanted: dict[str, str], fates: dict[str, PathFate], exists: Callable[[str], bool]
) -> None:
    """A rename that is staged and not committed."""
    changes = git.staged()
    for path in wanted if changes else ():
        old = next((change.old for change in changes if change.new and _concerns(path, change.old)), "")
        to = _find_target(path, _relative(old, git.prefix), changes, git.prefix) if old else ""
        if to and exists(to):
            fates[path] = PathFate(old, to)


def _find_deletions(git: GitRepository, wanted: set[str], seconds: float, commits: int) -> dict[str, PathFate]:
    """For each path the newest deletion that concerns it, as a fate that has no target yet."""
    by_name: dict[str, list[str]] = {}
    for path in wanted:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    met: dict[str, PathFate] = {}
    for deleted, commit, date in git.deletions(seconds, paths=sorted(wanted) if commits else (), commits=commits):
        inside = _relative(deleted, git.prefix)
        for path in [path for part in {*deleted.split("/")} & by_name.keys() for path in by_name[part]]:
            if path not in met and (is_inside(inside, path) if commits else _concerns(path, deleted)):
                met[path] = PathFate(inside, "", commit, date)
            elif path == inside and path in met:
                met[path] = met[path]._replace(times=met[path].times + 1)
        if len(met) == len(wanted) and not commits:
            break
    return met


def _concerns(path: str, deleted: str) -> bool:
    """Whether a path is this file, the end of its path, or a folder it was in."""
    return f"/{path}/" in f"/{deleted}/"


def _relative(path: str, prefix: str) -> str:
    """A path of the repository, seen from the folder that was asked for."""
    return path.removeprefix(prefix) if path.startswith(prefix) else "/".join([".."] * prefix.count("/") + [path])


def _find_target(path: str, deleted: str, changes: list[PathChange], prefix: str) -> str:
    """Where a commit put a path; empty if it deleted it."""
    if f"/{deleted}".endswith(f"/{path}"):
        to = next((change.new for change in changes if _relative(change.old, prefix) == deleted), "")
        return _relative(to, prefix) if to else ""
    folder = deleted[: f"/{deleted}/".index(f"/{path}/") + len(path)]
    ends: Counter[str] = Counter()
    for change in changes:
        old, new = _relative(change.old, prefix), _relative(change.new, prefix)
        below = old.removeprefix(folder)
        if change.new and old.startswith(folder + "/") and new.endswith(below):
            ends[new.removesuffix(below)] += 1
    return ends.most_common(1)[0][0] if ends else ""
