"""Cline CLI, recorded on 3.0.65 (`tests/conformance/cline.jsonl`).

It looks only at its working directory and at the home, and has no settings about instructions.
"""

from __future__ import annotations

from foretold.dialects.schema import Dialect, Group, Part, Reading, Rules, Source
from foretold.dialects.surroundings import Request, Surroundings, find_git, plain_surroundings
from foretold.storage.tree import Tree

V3_0_65 = Dialect(
    agent="cline",
    version="3.0.65",
    evidence="recorded",
    surroundings="cline",
    programs=("cline",),
    environment=(),
    managed=(("", "/etc/cline"),),
    start=(
        Source("project", "cwd", "AGENTS.md", label="Workspace AGENTS.md"),
        Source("project", "cwd", ".clinerules", "either", label=".clinerules"),
        Source("project", "cwd", ".cline/rules", "rules"),
        Source("user", "home", ".agents/AGENTS.md", label="Global AGENTS.md"),
        Source("user", "home", ".cline/rules", "rules"),
        Source("user", "home", "Documents/Cline/Rules", "rules"),
        Source("user", "home", "Cline/Rules", "rules"),
    ),
    after_bom=True,
    rules=Rules(
        (".md", ".markdown", ".txt"),
        "",
        deep=False,
        ordered="locale",
        admits="cline",
        named=True,
    ),
    identity="name",
    sorts=("name",),
    reading=Reading(frontmatter="all", markdown=False, drops_bom=True, trims=("user", "project")),
    parts=(Part("system", "system", (Group(("file", "rule"), "## {name}\n{text}", "\n\n"),), before="# Rules\n"),),
    user=".cline",
)

DIALECTS = (V3_0_65,)


def read_surroundings(tree: Tree, request: Request) -> Surroundings:
    """The surroundings of a session."""
    return plain_surroundings(request, git=find_git(tree, request.cwd))
