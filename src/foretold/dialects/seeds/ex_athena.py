"""ExAthena's project memory, as `foretold.compat.ex_athena` offers it (`docs/compat/ex-athena.md`)."""

from __future__ import annotations

from foretold.dialects.schema import Envelope, Reading, Source, Template
from foretold.dialects.seeds.code_assist import V1 as CODE_ASSIST

NAMES = ("AGENTS.md", "CLAUDE.md")


def plan(names: tuple[str, ...]) -> tuple[Source, ...]:
    """The three levels, with these names for the first two; the local name is fixed."""
    levels = (("user", "user"), ("project", "cwd"))
    named = [Source(layer, base, names[0], others=names[1:]) for layer, base in levels] if names else []
    return (*named, Source("local", "cwd", "AGENTS.local.md"))


V1 = CODE_ASSIST._replace(
    agent="ex-athena",
    start=plan(NAMES),
    template=Template(
        header="",
        entry="<!-- memory: {layer} {path} -->\n{text}",
        nested="",
        join="\n\n",
        escapes=False,
        descriptions=(),
    ),
    envelope=Envelope(
        "memory", before="", after="", after_last="", without="", place="first", per_entry=True, message="memory"
    ),
    user=".config/ex_athena",
    reading=Reading(frontmatter="none", markdown=False, drops_bom=True),
)

DIALECTS = (V1,)
