"""What Aider is given to read: `--read FILE`, else `read:` of its configuration; the nearest file wins."""

from __future__ import annotations

from foretold.dialects.schema import Source
from foretold.dialects.settings_files import MAX_SETTINGS, parse_args, texts_of
from foretold.dialects.surroundings import Request, World, find_git, join, plain_world
from foretold.storage.tree import Fault, Tree
from foretold.text.frontmatter import parse

NAME = ".aider.conf.yml"


def read_world(tree: Tree, request: Request) -> World:
    """The surroundings of an Aider session."""
    git = find_git(tree, request.cwd)
    wanted = parse_args(request.args, {"--read": "one"}).get("--read", [])
    for folder in (request.cwd, git.top if git else request.cwd, request.home):
        data = tree.read(f"{folder.rstrip('/')}/{NAME}", MAX_SETTINGS) if not wanted else Fault("missing")
        if not isinstance(data, Fault):
            wanted = texts_of(parse(data.decode("utf-8", "replace")).values.get("read"))
    paths = [join(request.cwd, path) for path in wanted]
    return plain_world(request, git=git, start=tuple(Source("project", "path", path[1:]) for path in paths))
