"""The surroundings of an agent that looks only at its working directory and at the home, and reads no settings."""

from __future__ import annotations

from foretold.dialects.surroundings import Request, World, find_git, plain_world
from foretold.storage.tree import Tree


def read_world(tree: Tree, request: Request) -> World:
    """The surroundings of a session."""
    return plain_world(request, git=find_git(tree, request.cwd))
