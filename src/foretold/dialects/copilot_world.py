"""How Copilot CLI is told where to look: by its environment and its flags."""

from __future__ import annotations

from foretold.dialects.schema import Source
from foretold.dialects.settings_files import parse_args
from foretold.dialects.surroundings import Request, World, find_git, join, plain_world, walk_between
from foretold.storage.tree import Tree

OPTIONS = {"--no-custom-instructions": "flag"}


def read_world(tree: Tree, request: Request) -> World:
    """The surroundings of a Copilot CLI session."""
    env = request.env
    git = find_git(tree, request.cwd)
    more = [
        join(request.cwd, path.strip())
        for path in env.get("COPILOT_CUSTOM_INSTRUCTIONS_DIRS", "").split(",")
        if path.strip()
    ]
    off = "--no-custom-instructions" in parse_args(request.args, OPTIONS)
    return plain_world(
        request,
        walk=walk_between(git.top if git else "", request.cwd),
        user=join(request.cwd, env["COPILOT_HOME"]) if env.get("COPILOT_HOME") else join(request.home, ".copilot"),
        off="--no-custom-instructions" if off else "",
        git=git,
        start=(
            *request.dialect.start,
            *(Source("project", "path", f"{path}/.github/instructions"[1:], "rules") for path in more),
            *(Source("project", "path", f"{path}/AGENTS.md"[1:], "listed") for path in more),
        ),
    )
