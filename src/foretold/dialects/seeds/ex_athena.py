"""ExAthena's project memory, as `foretold.compat.ex_athena` offers it (`docs/compat/ex-athena.md`)."""

from __future__ import annotations

from foretold.dialects.schema import Dialect, Envelope, FileSource, ProgramOptions, Template, TextRules

NAMES = ("AGENTS.md", "CLAUDE.md")


def plan(names: tuple[str, ...]) -> tuple[FileSource, ...]:
    """The three levels, with these names for the first two; the local name is fixed."""
    levels = (("user", "user"), ("project", "cwd"))
    named = [FileSource(layer, base, names[0], others=names[1:]) for layer, base in levels] if names else []
    return (*named, FileSource("local", "cwd", "AGENTS.local.md"))


V1 = Dialect(
    agent="ex-athena",
    version="1",
    evidence="source",
    surroundings="seeds.mink",
    user=".config/ex_athena",
    start=plan(NAMES),
    walk="cwd",
    after_bom=True,
    reading=TextRules(frontmatter="none", markdown=False, drops_bom=True),
    template=Template(entry="<!-- memory: {layer} {path} -->\n{text}", nested=""),
    envelope=Envelope(place="first", per_entry=True, message="memory"),
)

DIALECTS = (V1,)
COMMAND_LINE = ProgramOptions("", flags="", one="--user-dir --filename")
