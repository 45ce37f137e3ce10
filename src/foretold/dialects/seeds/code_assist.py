"""code-assist: its memory system, as `foretold.compat.code_assist` offers it (`docs/compat/code-assist.md`)."""

from __future__ import annotations

from foretold.dialects.claude_code.instructions import TEMPLATE
from foretold.dialects.schema import Envelope, Imports, Reading, Source, Template
from foretold.dialects.seeds.mink import V1 as MINK

START = (
    Source("managed", "managed", "CLAUDE.md", switch="managed"),
    Source("managed", "managed", ".claude/CLAUDE.md", switch="managed"),
    Source("user", "user", "CLAUDE.md", switch="user"),
    Source("project", "cwd", "CLAUDE.md", switch="project"),
    Source("project", "cwd", ".claude/CLAUDE.md", switch="project"),
    Source("project", "cwd", ".claude/rules", "rules", switch="project"),
    Source("local", "cwd", "CLAUDE.local.md", switch="project"),
    Source("project", "added", "CLAUDE.md"),
    Source("project", "added", ".claude/CLAUDE.md"),
)

V1 = MINK._replace(
    agent="code-assist",
    managed=(("", "/etc/code-assist"),),
    start=START,
    touch=(),
    imports=Imports(depth=0, extensions=frozenset(), free=(), contain=(), mode="none"),
    rules=MINK.rules._replace(wakes="touch"),  # its rules always apply: frontmatter is text to it
    template=Template(
        header="",
        entry="Contents of {path}{description}:\n\n{text}",
        nested="",
        join="\n\n",
        escapes=False,
        descriptions=(
            ("managed", " (organization-managed instructions)"),
            ("user", " (user's private global instructions for all projects)"),
        ),
        trim="none",
    ),
    envelope=Envelope(
        "claudeMd",
        before=f"# claudeMd\n{TEMPLATE.header}\n\n",
        after="",
        after_last="",
        without="",
        role="system",
        place="system",
    ),
    triggers=(),
    walk="cwd",
    opt_in=(),
    reading=Reading(frontmatter="none", markdown=False, drops_bom=True, blank="empty"),
)

DIALECTS = (V1,)
