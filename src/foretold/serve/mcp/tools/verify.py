"""`verify_memories`: whether what memories claim about a repository is still so.

1. Only memories that have drifted are listed, each with the claims that fail and the evidence; the others are counted.
2. A page belongs to what was found: if memories or files changed meanwhile, one begins again.
"""

from __future__ import annotations

import math

from foretold.serve.mcp.paging import ROW, clip, count_text, end_text, page_of
from foretold.serve.mcp.schema import CURSOR, PAGED, RowKind, number, record, several, takes, text, texts
from foretold.serve.mcp.tool import CallAnswer, McpTool
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.mcp.context import CallContext
    from foretold.serve.mcp.schema import Row
    from foretold.serve.mcp.tool import Given

STATES = ("valid", "moved", "changed", "missing", "unknown")
BAD = ("moved", "changed", "missing")
PAGE = 100  #: rows
MANY = 8  #: claims of a row
SHORT = ROW // 20  #: bytes of a field

_CLAIM = RowKind(
    claim=(text("what the memory names"), lambda each: clip(each.claim.text, SHORT)),
    kind=(text("path, symbol, flag, commit, code, value"), lambda each: each.claim.kind),
    line=(number("of the memory's file"), lambda each: each.claim.line),
    state=(text("moved, changed or missing"), lambda each: each.state),
    evidence=(text("how that is known"), lambda each: clip(each.evidence, SHORT)),
    where=(text("where it is now; may be empty"), lambda each: clip(each.where, SHORT)),
)
_DRIFTED = RowKind(
    file=(text("the memory"), lambda verdict, _: verdict.file),
    state=(text("moved, changed or missing"), lambda verdict, _: verdict.state),
    claims=(several(_CLAIM.schema), lambda _, claims: [_CLAIM.row(each) for each in claims[:MANY]]),
    more=(number("claims that are not shown"), lambda _, claims: max(0, len(claims) - MANY)),
)


def verify_memories(context: CallContext, given: Given) -> CallAnswer:
    """Whether what memories claim is still so."""
    names = given.get("names")
    verdicts = context.memories().verify(
        tuple(map(str, names)) if isinstance(names, list) else (),
        progress=lambda doing, done, total: context.progress(done, total or math.inf, doing),
    )
    bad = [
        _DRIFTED.row(verdict, [claim for claim in verdict.claims if claim.state in BAD])
        for verdict in verdicts
        if verdict.state in BAD
    ]
    _, rows, fields = page_of("verify_memories", given, bad, PAGE, "memories or files have changed")
    states = {state: sum(each.state == state for each in verdicts) for state in STATES}
    data: Row = {"checked": len(verdicts), "states": states, "drifted": rows, **fields}
    counts = ", ".join(f"{count:,} {state}" for state, count in states.items())
    said = [f"{count_text(len(verdicts), 'memory')} checked against the repository: {counts}."]
    for row in rows:
        said.append(f"{row['file']}: {row['state']}")
        said += [f"  line {each['line']}: {each['claim']}: {each['evidence']}" for each in row["claims"]]  # type: ignore[attr-defined]
    if rows:
        said.append("Correct one with update_memory, after a look at what is true now.")
    return CallAnswer(end_text(said, data), data)


_VERIFY = """\
Check what memories claim about this repository (paths, functions, flags, commits, values, quoted code) against the \
files and git, without a model, and list those that no longer hold, with the evidence and where things moved. All \
memories, or those in `names`. Changes no memory."""

TOOLS = (
    McpTool(
        "verify_memories",
        "Check memories for drift",
        _VERIFY,
        takes(names=texts("files or names; default: all"), cursor=CURSOR),
        record(
            checked=number("memories"),
            states=record(**{state: number("memories") for state in STATES}),
            drifted=several(_DRIFTED.schema),
            **PAGED,
        ),
        verify_memories,
    ),
)
