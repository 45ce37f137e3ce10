"""Which folders a plan looks in, and in which order.

1. The walk (`Surroundings.walk`) goes from the dialect's choice of a top down to the working directory; `closest` goes
   in the other direction, and ends at the first folder that has what is looked for.
2. `below` are the folders strictly below the working directory down to that of a touched file; `around` those of the
   repository down to it, without the ones that were looked in at the start.
3. Neighbours of a plan that share a base of many folders are taken together: all of them in the first folder, then
   all of them in the next.
4. In a linked git worktree inside its main repository, folders of the main work tree that are outside the worktree
   count as foreign: their project files are skipped, their local files are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from foretold.dialects.schema import FileSource
from foretold.dialects.surroundings import Surroundings, walk_between, walk_of
from foretold.storage.tree import is_inside

NESTED = ("below", "around")  #: bases whose folders depend on the touched file
MANY = ("walk", "upward", "edges", "between", *NESTED, "reach", "added")


def folders_below(cwd: str, touched: str) -> list[str]:
    """The folders strictly below a folder down to that of a file."""
    folder = touched.rpartition("/")[0]
    if not is_inside(folder, cwd) or folder == cwd:
        return []
    return [path for path in walk_of(folder) if len(path) > len(cwd)]


def folders_to(surroundings: Surroundings, touched: str) -> list[str]:
    """The folders from the top of the project down to that of a file in the working directory or in an added folder."""
    folder = touched.rpartition("/")[0]
    if not any(is_inside(folder, base) for base in (surroundings.cwd, *surroundings.added)):
        return []
    tops = [base for base in (surroundings.walk[0], *surroundings.added) if is_inside(folder, base)]
    return list(walk_between(tops[0], folder))


def folders_around(surroundings: Surroundings, touched: str) -> list[str]:
    """The folders of the repository down to that of a file that the session's start did not look in."""
    folder = touched.rpartition("/")[0]
    if not is_inside(folder, surroundings.top):
        return []
    known = {surroundings.top, *surroundings.walk}
    return [each for each in walk_between(surroundings.top, folder) if each not in known]


#: base -> its folders
BASES: dict[str, Callable[[Surroundings, str], Iterable[str]]] = {
    "managed": lambda surroundings, _: (surroundings.managed,),
    "user": lambda surroundings, _: (surroundings.user,),
    "home": lambda surroundings, _: (surroundings.home,),
    "cwd": lambda surroundings, _: (surroundings.cwd,),
    "project": lambda surroundings, _: (surroundings.top,),
    "path": lambda *_: ("/",),  # the name of the source is a whole path
    "settings": lambda *_: ("",),
    "walk": lambda surroundings, _: surroundings.walk,
    "closest": lambda surroundings, _: surroundings.walk[::-1],
    "upward": lambda surroundings, _: surroundings.walk[::-1],
    "edges": lambda surroundings, _: dict.fromkeys((surroundings.walk[0], surroundings.walk[-1])),
    "between": lambda surroundings, _: surroundings.walk[-2:0:-1],
    "below": lambda surroundings, touched: folders_below(surroundings.cwd, touched),
    "around": folders_around,
    "reach": folders_to,
    "added": lambda surroundings, _: surroundings.added,
    "memory": lambda surroundings, _: filter(None, (surroundings.memory,)),
}


def steps(
    plan: tuple[FileSource, ...], surroundings: Surroundings, touched: str = ""
) -> Iterator[tuple[FileSource, str]]:
    """Every source of a plan with every folder it is looked for in, in the agent's order."""
    at = 0
    while at < len(plan):
        base = plan[at].base
        end = at + 1
        while base in MANY and not plan[at].apart and end < len(plan) and plan[end].base == base:
            end += 1
        for folder in BASES[base](surroundings, touched):
            for source in plan[at:end]:
                yield source, folder
        at = end


def find_foreign_folders(surroundings: Surroundings) -> frozenset[str]:
    """Folders of the walk that belong to the main repository of a nested worktree.

    # claude-code: disc-worktree-nested, disc-bare-worktree, disc-worktree-outside
    """
    git = surroundings.git
    if git is None or git.bare or git.main == git.top or not is_inside(git.top, git.main):
        return frozenset()
    return frozenset(
        folder for folder in surroundings.walk if is_inside(folder, git.main) and not is_inside(folder, git.top)
    )
