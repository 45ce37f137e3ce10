"""mink, the CLAUDE.md loader of Chimera: as `foretold.compat.mink` offers it (`docs/compat/mink.md`).

The tables say what its documents promise; where its program falls behind them, they do not follow it.
"""

from __future__ import annotations

from foretold.dialects.claude_code.instructions import V2_1_325
from foretold.dialects.schema import Dialect, Envelope, Imports, Placement, Reading, Rules, Source, Template, Trigger

EVERY_LAYER = ("managed", "user", "project", "local")

START = (
    Source("managed", "managed", "CLAUDE.md", switch="managed"),
    Source("project", "walk", "CLAUDE.md"),
    Source("local", "walk", "CLAUDE.local.md"),
    Source("project", "walk", ".claude/CLAUDE.md"),
    Source("user", "user", "CLAUDE.md"),
    Source("project", "closest", ".claude/rules", "rules"),
)

#: what it says it lacks: the files of a folder, once a file below it is read
TOUCH = (
    Source("project", "below", "CLAUDE.md"),
    Source("local", "below", "CLAUDE.local.md"),
    Source("project", "below", ".claude/CLAUDE.md"),
)

V1 = Dialect(
    agent="mink",
    version="1",
    evidence="source",
    surroundings="seeds.given",
    programs=(),
    environment=(),
    managed=V2_1_325.managed,
    model="",
    start=START,
    touch=TOUCH,
    max_file=V2_1_325.max_file,
    after_bom=True,
    again="new",
    added_undoes_bare=False,
    local_settings="cwd",
    worktree_rules=False,
    imports=Imports(depth=5, extensions=frozenset(), free=(), contain=("spelled", "real"), mode="inline"),
    rules=Rules(
        ".md",
        "paths",
        links="anywhere",
        excluded_by=("real", "spelled"),
        free=EVERY_LAYER,
        deep=False,
        ordered="path",
        wakes="exists",
    ),
    fallback=None,
    memory_index=None,
    template=Template(
        header="",
        entry="<!-- source: {path} -->\n{text}\n",
        nested="<!-- source: {path} -->\n{text}",
        join="\n",
        escapes=False,
        descriptions=(),
        trim="right",
    ),
    envelope=Envelope(
        "memory",
        before='<memory source="CLAUDE.md">\n',
        after="</memory>",
        after_last="",
        without="",
        place="after-system",
        sentinel="memory",
    ),
    placements=(Placement((), "envelope", "envelope", 0),),
    triggers=(Trigger("Read", "file_path"),),
    mention_missing=False,
    subagents_without=(),
    types=tuple((layer, layer) for layer in EVERY_LAYER),
    walk="top",
    opt_in=("managed",),
    reading=Reading(frontmatter="rules", markdown=False, drops_bom=True),
)

DIALECTS = (V1,)
