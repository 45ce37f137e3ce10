"""code-assist: its memory system, as `foretold.compat.code_assist` offers it (`docs/compat/code-assist.md`)."""

from __future__ import annotations

from foretold.dialects.claude_code.instructions import TEMPLATE
from foretold.dialects.schema import Dialect, Envelope, FileSource, ProgramOptions, Rules, Template, TextRules

START = (
    FileSource("managed", "managed", "CLAUDE.md", switch="managed"),
    FileSource("managed", "managed", ".claude/CLAUDE.md", switch="managed"),
    FileSource("user", "user", "CLAUDE.md", switch="user"),
    FileSource("project", "cwd", "CLAUDE.md", switch="project"),
    FileSource("project", "cwd", ".claude/CLAUDE.md", switch="project"),
    FileSource("project", "cwd", ".claude/rules", "rules", switch="project"),
    FileSource("local", "cwd", "CLAUDE.local.md", switch="project"),
    FileSource("project", "added", "CLAUDE.md"),
    FileSource("project", "added", ".claude/CLAUDE.md"),
)

DESCRIPTIONS = (
    ("managed", " (organization-managed instructions)"),
    ("user", " (user's private global instructions for all projects)"),
)
#: as in the sample of its documents: the text directly under its header, an empty line between files
DOCUMENT = Template(
    entry="Contents of {path}{description}:\n{text}", nested="", descriptions=DESCRIPTIONS, trim="right"
)
#: as its program writes it  # ca-d05
PROGRAM_HEADER = "# claudeMd\n"  #: what its program writes before the block, instead of the sentence
PROGRAM = DOCUMENT._replace(entry="Contents of {path}{description}:\n\n{text}", trim="none")

V1 = Dialect(
    agent="code-assist",
    version="1",
    evidence="source",
    surroundings="seeds.mink",
    managed=(("", "/etc/code-assist"),),
    user=".claude",
    start=START,
    walk="cwd",
    after_bom=True,
    reading=TextRules(frontmatter="none", markdown=False, drops_bom=True, blank="empty"),
    rules=Rules(".md", "paths", excluded_by=("real", "spelled"), deep=False, ordered="path"),
    template=DOCUMENT,
    envelope=Envelope(before=f"{TEMPLATE.header}\n\n", role="system", place="system"),
    warns=("long", "credential", "local"),
)

DIALECTS = (V1,)
COMMAND_LINE = ProgramOptions("", flags="--no-managed --no-user", one="--additional-dir")
