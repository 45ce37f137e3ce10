"""`explain` and `explain_file`: what an agent is told here, what it is not, and why.

1. Rows come in the agent's order: what is loaded, what waits for a file, what is not delivered, what an author should
   know. They go over pages together.
2. The texts themselves are not repeated: the model has them, and they are resources (`foretold://told/<agent>`).
3. A file outside the project may be asked about. Nothing of it is read or told but what instruction files say of it.
   Text of an instruction file outside the project and the agent's own files is not given either: it is named
   (`instructions.confinement`).
4. A page belongs to the view it was cut from: if a file changed meanwhile, one begins again.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from threading import Lock

from foretold.dialects.registry import AGENTS
from foretold.instructions.confinement import WITHHELD
from foretold.serve.mcp.paging import ROW, clip, count_text, end_text, page_of
from foretold.serve.mcp.schema import CURSOR, PAGED, RowKind, flag, number, record, several, takes, text
from foretold.serve.mcp.tool import CallAnswer, McpTool
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.instructions.view import View
    from foretold.serve.mcp.context import CallContext
    from foretold.serve.mcp.schema import Row
    from foretold.serve.mcp.tool import Given
    from foretold.types import Entry, Finding

LOOKING = Lock()  #: views are kept for the whole process
GROUPS = ("entries", "waiting", "skips", "findings")
MANY = 200  #: rows of a page
LONG = ROW // 5  #: bytes of a field

_ENTRY = RowKind(
    path=(text("the file"), lambda here, entry: clip(here.short_path(entry.path), LONG)),
    layer=(text("managed, user, project, local, memory …"), lambda _, entry: entry.layer),
    kind=(text("file, rule, import, index …"), lambda _, entry: entry.kind),
    reason=(text("why it is loaded"), lambda _, entry: entry.reason),
    parent=(
        text("the file that imports it; empty if none does"),
        lambda here, entry: clip(here.short_path(entry.parent or ""), LONG),
    ),
    globs=(
        several(text("a pattern"), "the paths it is for; empty: for all"),
        lambda _, entry: [clip(glob, 200) for glob in entry.globs[:8]],
    ),
    bytes=(number("on disk"), lambda _, entry: entry.size),
    tokens=(number("estimated"), lambda _, entry: _tokens(entry)),
)
_SKIP = RowKind(
    path=(text("the file"), lambda here, skip: clip(here.short_path(skip.path), LONG)),
    reason=(
        text("a word: missing, excluded, too-large, shadowed, not-yet-read …"),
        lambda _, skip: clip(skip.reason, LONG),
    ),
    detail=(text("more about it; may be empty"), lambda _, skip: clip(skip.detail, LONG)),
    parent=(text("the file that names it; empty if none does"), lambda _, skip: clip(skip.parent or "", LONG)),
)
_FINDING = RowKind(
    path=(text("the file"), lambda here, finding: clip(here.short_path(finding.path), LONG)),
    line=(number("where; 0 if it is about the whole file"), lambda _, finding: finding.line or 0),
    code=(text("a word for it"), lambda _, finding: finding.code),
    message=(text("what is wrong"), lambda _, finding: clip(finding.message, LONG)),
    hint=(text("what to do; may be empty"), lambda _, finding: clip(finding.hint, LONG)),
)
_FRAME = RowKind(
    agent=(text("the agent"), lambda view: view.dialect.agent),
    version=(text("its version"), lambda view: view.dialect.version),
    assumed=(
        flag("whether this version was never recorded, so that another's behaviour is assumed"),
        lambda view: view.assumed,
    ),
    folder=(text("the folder the agent works in"), lambda view: view.surroundings.cwd),
)
_PAGES = {
    "entries": several(_ENTRY.schema, "what the model receives, in order"),
    "waiting": several(_ENTRY.schema, "rules that come when a file is read that they are for"),
    "skips": several(_SKIP.schema, "what is there, or was asked for, and is not delivered"),
    "findings": several(_FINDING.schema, "what the author of a file should know"),
    "counts": record("how many there are, on all pages", **{name: number("in all") for name in GROUPS}),
    **PAGED,
}
_AGENT = text(f"whose: {', '.join(sorted(AGENTS))}, or name@version; default: you, if you are one of them", most=80)


# At the start


def explain(context: CallContext, given: Given) -> CallAnswer:
    """What is loaded at the start of a session."""
    view = view_of(context, str(given.get("agent", "")))
    waiting = [rule.entry for rule in view.waiting]
    skips = [skip for skip in view.skips if skip.reason != "not-yet-read"]
    page = _page("explain", context, given, view.entries, waiting, skips, view.findings)
    tokens = view.tokens + sum(_tokens(entry) - entry.tokens for entry in view.entries)
    data = {**_FRAME.row(view), "tokens": tokens, **page}
    head = f"{data['agent']} {data['version']} in {data['folder']}: about {tokens:,} tokens of instructions."
    if view.assumed:
        head += " This version was never recorded; the nearest one's behaviour is assumed."
    return CallAnswer(f"{head}\n{_text(data)}", data)


def view_of(context: CallContext, agent: str = "") -> View:
    """What an agent is told at the start; the one that asks, unless another is named. Some text is only named."""
    from foretold.instructions.confinement import ConfinedTree
    from foretold.instructions.load import load

    tree = ConfinedTree()
    with LOOKING:
        view = load(context.folder, tree=tree, agent=agent or context.agent, home=context.home, env=context.env)
    view.entries = tuple(map(tree.measure, view.entries))
    return view


def _tokens(entry: Entry) -> int:
    """The tokens of an entry; of one whose text is not given, by its size."""
    return (entry.size + 3) // 4 if entry.raw.startswith(WITHHELD) else entry.tokens


# For a file


def explain_file(context: CallContext, given: Given) -> CallAnswer:
    """What reading a file adds, and whether it is an instruction file itself."""
    from foretold.dialects.surroundings import join
    from foretold.instructions.confinement import ConfinedTree
    from foretold.instructions.explain import verdict_of
    from foretold.instructions.session import Session

    tree = ConfinedTree()
    with LOOKING:
        agent = str(given.get("agent", "")) or context.agent
        session = Session(context.folder, tree=tree, agent=agent, home=context.home, env=context.env)
        view = session.start()
        path = join(view.surroundings.cwd, str(given["file"]))
        attachment = session.read(path)
        verdict = verdict_of(view, path)
    entries = tuple(map(tree.measure, attachment.entries))
    data = {
        **_FRAME.row(view),
        "file": context.short_path(path),
        "exists": os.path.lexists(path),
        "outside": not (path + "/").startswith(view.surroundings.cwd.rstrip("/") + "/"),
        "loaded": verdict.loaded,
        "answer": clip(verdict.answer, 1_000),
        "why": [clip(why, 1_000) for why in (*verdict.why, *map(_describe_finding, verdict.findings))[:10]],
        "change": [clip(change, 1_000) for change in verdict.change[:10]],
        **_page("explain_file", context, given, entries, (), attachment.skips, attachment.findings),
    }
    return CallAnswer(_file_text(data), data)


def _describe_finding(finding: Finding) -> str:
    return f"line {finding.line}: {finding.message}" if finding.line else finding.message


def _file_text(data: Row) -> str:
    there = "" if data["exists"] else " (there is no such file)"
    out = " It is outside the folder the agent works in." if data["outside"] else ""
    counts = data["counts"]
    adds = counts["entries"] if isinstance(counts, dict) else 0
    much = count_text(adds, "instruction file") if adds else "no instruction file"
    head = f"Reading {data['file']}{there} adds {much} for {data['agent']}."
    itself = f"As an instruction file: {data['answer']}." if data["loaded"] != "never" else ""
    why = [f"  {each}" for key in ("why", "change") for each in data[key]] if itself else []  # type: ignore[attr-defined]
    return "\n".join(part for part in (head + out, itself, *why, _text(data)) if part)


# Rows and text


def _page(tool: str, context: CallContext, given: Given, *values: Sequence[object]) -> Row:
    """A page of the rows of all groups, group by group."""
    kinds = (_ENTRY, _ENTRY, _SKIP, _FINDING)
    groups = [[kind.row(context, value) for value in group] for kind, group in zip(kinds, values, strict=True)]
    every = [(name, row) for name, rows in zip(GROUPS, groups, strict=True) for row in rows]
    start, shown, fields = page_of(tool, given, [row for _, row in every], MANY, "what is loaded has changed")
    page: Row = {name: [row for group, row in every[start : start + len(shown)] if group == name] for name in GROUPS}
    return {**page, "counts": dict(zip(GROUPS, map(len, groups), strict=True)), **fields}


def _text(data: Row) -> str:
    forms = (
        ("Loaded", _entry_line),
        ("Waits for a file it is for", _entry_line),
        ("Not delivered", _skip_line),
        ("To put right", _finding_line),
    )
    said = []
    for name, (title, form) in zip(GROUPS, forms, strict=True):
        rows = data[name]
        assert isinstance(rows, list)
        said += [f"{title}:", *map(form, rows)] if rows else []
    return end_text(said, data)


def _entry_line(row: Row) -> str:
    more = [str(row["layer"]), str(row["reason"]), f"{row['tokens']:,} tokens"]
    more += [f"imported by {row['parent']}"] if row["parent"] else []
    globs = row["globs"]
    more += [f"for {', '.join(globs)}"] if isinstance(globs, list) and globs else []
    return f"  {row['path']} ({', '.join(more)})"


def _skip_line(row: Row) -> str:
    detail = f", {row['detail']}" if row["detail"] else ""
    named = f" (named in {row['parent']})" if row["parent"] else ""
    return f"  {row['path']}: {row['reason']}{detail}{named}"


def _finding_line(row: Row) -> str:
    place = f"{row['path']}:{row['line']}" if row["line"] else str(row["path"])
    hint = f" → {row['hint']}" if row["hint"] else ""
    return f"  {place}: {row['message']} [{row['code']}]{hint}"


_ABOUT = """\
Say which instruction files (CLAUDE.md, AGENTS.md, rules, imports, memory index) a coding agent loads in this project \
at the start of a session, in order, with the reason and the cost of each; which rules wait for a matching file; which \
files are NOT delivered, and why; and what is wrong with them. Use it when an instruction seems to be ignored or \
missing, or to see what instructions cost. Changes nothing."""
_ABOUT_FILE = """\
Say which further instruction files an agent receives when it reads a given file (nested CLAUDE.md or AGENTS.md, rules \
with matching paths), and, if the file is an instruction file itself, when it is loaded or why it is not. Changes \
nothing; the file itself is not read."""

TOOLS = (
    McpTool(
        "explain",
        "What is loaded here",
        _ABOUT,
        takes(agent=_AGENT, cursor=CURSOR),
        record(**_FRAME.fields, tokens=number("estimated, of all that is loaded"), **_PAGES),
        explain,
    ),
    McpTool(
        "explain_file",
        "What a file brings",
        _ABOUT_FILE,
        takes(
            "file",
            file=text("a path, from the project's folder or whole", most=4_000, least=1),
            agent=_AGENT,
            cursor=CURSOR,
        ),
        record(
            **_FRAME.fields,
            file="the file that was asked about",
            exists=flag("whether it is there"),
            outside=flag("whether it is outside the agent's folder"),
            loaded="the file as an instruction file: start, on-match, on-touch or never",
            answer="the same in words",
            why=several("a reason"),
            change=several("what to change for it to be loaded"),
            **_PAGES,
        ),
        explain_file,
    ),
)
