"""The surroundings of a system that reads no settings of its own: whatever it needs is given by its caller.

`settings` may hold

    claudeMdExcludes   globs of files that are not loaded
    sources            switches to turn on beyond those of the dialect, or with a `-` before them, off
    userDir            the system's folder, instead of the one in the home
    boundary           where the walk starts: top, repository, cwd
    approve            a function that is asked about a path outside of the working directory

"""

from __future__ import annotations

from headnote.dialects.world import Request, World, find_git, is_inside, join, walk_of
from headnote.tree import Tree
from headnote.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

BOUNDARIES = ("top", "below-top", "repository", "cwd")


def read_world(tree: Tree, request: Request) -> World:
    """The surroundings of a session, from what was given."""
    dialect, settings = request.dialect, request.settings
    user = settings.get("userDir")
    boundary = settings.get("boundary", dialect.walk)
    excludes = settings.get("claudeMdExcludes", ())
    git = find_git(tree, request.cwd) if boundary == "repository" else None
    return World(
        cwd=request.cwd,
        walk=_walk(request.cwd, boundary, git.top if git else request.cwd),
        home=request.home,
        user=join(request.cwd, user) if isinstance(user, str) else join(request.home, dialect.user),
        managed=request.managed,
        added=tuple(join(request.cwd, path) for path in request.add_dirs),
        off="",
        sources=_sources(request),
        switched_by="the caller",
        excludes=tuple(excludes) if isinstance(excludes, list | tuple) else (),
        spelled={},
        approved=_approval(settings.get("approve")),
        mode="never",
        mode_reason="",
        texts={},
        memory="",
        memory_reason="",
        model=request.model or dialect.model,
        date=request.date,
        prompt_follows=False,
        git=None,
        findings=(),
    )


def _walk(cwd: str, boundary: object, top: str) -> tuple[str, ...]:
    if boundary == "cwd":
        return (cwd,)
    folders = walk_of(cwd)
    if boundary == "repository":
        return tuple(folder for folder in folders if is_inside(folder, top)) or (cwd,)
    return ("/", *folders) if boundary == "top" else tuple(folders)


def _sources(request: Request) -> frozenset[str]:
    known = {source.switch for source in request.dialect.start} - {""}
    given = request.settings.get("sources", ())
    words = [str(word) for word in given] if isinstance(given, list | tuple) else []
    off = {word[1:] for word in words if word.startswith("-")}
    return frozenset((known - set(request.dialect.opt_in) | set(words)) & known - off)


def _approval(given: object) -> Callable[[str], bool]:
    """Whether a path outside may be imported: by a function, a plain yes, or not at all."""
    if callable(given):
        return lambda path: bool(given(path))
    return lambda _: given is True
