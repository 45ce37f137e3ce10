"""The surroundings of an agent that walks from the top of the repository, and whose settings are not known to us."""

from __future__ import annotations

from foretold.dialects.surroundings import Request, World, find_git, plain_world, walk_between
from foretold.storage.tree import Tree, is_inside


def read_world(tree: Tree, request: Request) -> World:
    """The surroundings of a session."""
    git = find_git(tree, request.cwd)
    top = git.top if git else ""
    if request.dialect.walk == "home" and is_inside(request.cwd, request.home):
        top = request.home
    return plain_world(request, walk=walk_between(top, request.cwd), git=git)
