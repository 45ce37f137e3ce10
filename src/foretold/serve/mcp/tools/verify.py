"""`verify_memories`: whether what memories claim about a repository is still so.

1. Only memories that have drifted are listed, each with the claims that fail and the evidence; the others are counted.
2. A page belongs to what was found: if memories or files changed meanwhile, one begins again.
"""

from __future__ import annotations

import math

from foretold.serve.mcp.paging import ROW, clip, count_text, end_text, page_of
from foretold.serve.mcp.schema import CURSOR, CUT, NEXT, number, record, several, takes, text, texts
from foretold.serve.mcp.tool import McpTool, ToolAnswer
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.memory.drift.verify import MemoryVerdict
    from foretold.serve.mcp.context import ToolContext
    from foretold.serve.mcp.tool import Given

    Row = dict[str, object]

STATES = ("valid", "moved", "missing", "unknown")
PAGE = 100  #: rows


def verify_memories(context: ToolContext, given: Given) -> ToolAnswer:
    """Whether what memories claim is still so."""
    names = given.get("names")
    verdicts = context.memories().verify(
        tuple(map(str, names)) if isinstance(names, list) else (),
        progress=lambda doing, done, total: context.progress(done, total or math.inf, doing),
    )
    bad = [_verdict(each) for each in verdicts if each.state in ("moved", "missing")]
    _, rows, fields = page_of("verify_memories", given, bad, PAGE, "memories or files have changed")
    data: Row = {
        "checked": len(verdicts),
        "states": {state: sum(each.state == state for each in verdicts) for state in STATES},
        "drifted": rows,
        **fields,
    }
    counts = ", ".join(f"{sum(each.state == state for each in verdicts):,} {state}" for state in STATES)
    said = [f"{count_text(len(verdicts), 'memory')} checked against the repository: {counts}."]
    for row in rows:
        said.append(f"{row['file']}: {row['state']}")
        said += [f"  line {each['line']}: {each['claim']}: {each['evidence']}" for each in row["claims"]]  # type: ignore[attr-defined]
    if rows:
        said.append("Correct one with update_memory, after a look at what is true now.")
    return ToolAnswer(end_text(said, data), data)


def _verdict(verdict: MemoryVerdict) -> Row:
    bad = [each for each in verdict.claims if each.state in ("moved", "missing")]
    claims = [
        {
            "claim": clip(each.claim.text, ROW // 20),
            "kind": each.claim.kind,
            "line": each.claim.line,
            "state": each.state,
            "evidence": clip(each.evidence, ROW // 20),
            "where": clip(each.where, ROW // 20),
        }
        for each in bad[:8]
    ]
    return {"file": verdict.file, "state": verdict.state, "claims": claims, "more": max(0, len(bad) - 8)}


_VERIFY = """\
Check what memories claim about this repository (paths, functions, flags, commits, quoted code) against the files and \
git, without a model, and list those that no longer hold, with the evidence and where things moved. All memories, or \
those in `names`. Changes no memory."""
_CLAIM = record(
    {
        "claim": text("what the memory names"),
        "kind": text("path, symbol, flag, commit, code"),
        "line": number("of the memory's file"),
        "state": text("moved or missing"),
        "evidence": text("how that is known"),
        "where": text("where it is now; may be empty"),
    }
)

TOOLS = (
    McpTool(
        "verify_memories",
        "Check memories for drift",
        _VERIFY,
        takes({"names": texts("files or names; default: all"), "cursor": CURSOR}),
        record(
            {
                "checked": number("memories"),
                "states": record({state: number("memories") for state in STATES}),
                "drifted": several(
                    record(
                        {
                            "file": text("the memory"),
                            "state": text("moved or missing"),
                            "claims": several(_CLAIM),
                            "more": number("claims that are not shown"),
                        }
                    )
                ),
                "cut": CUT,
                "next": NEXT,
            }
        ),
        verify_memories,
    ),
)
