"""`explain` and `explain_file`: what an agent is told here, what it is not, and why.

1. Rows come in the agent's order: what is loaded, what waits for a file, what is not delivered, what an author should
   know. They go over pages together.
2. The texts themselves are not repeated: the model has them, and they are resources (`foretold://told/<agent>`).
3. A file outside the project may be asked about. Nothing of it is read or told but what instruction files say of it.
4. A page belongs to the view it was cut from: if a file changed meanwhile, one begins again.
"""

from __future__ import annotations

import os
from threading import Lock

from foretold.dialects.registry import AGENTS
from foretold.serve.mcp.paging import (
    ROW,
    clip,
    count_text,
    end_text,
    join_rows,
    page_of,
)
from foretold.serve.mcp.schema import CURSOR, CUT, NEXT, flag, number, record, several, takes, text
from foretold.serve.mcp.tool import McpTool, ToolAnswer
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.instructions.view import View
    from foretold.serve.mcp.context import ToolContext
    from foretold.serve.mcp.tool import Given
    from foretold.types import Entry, Finding, Skip

    Row = dict[str, object]

LOOKING = Lock()  #: views are kept for the whole process
GROUPS = ("entries", "waiting", "skips", "findings")
MANY = 200  #: rows of a page

_ENTRY = record(
    {
        "path": text("the file"),
        "layer": text("managed, user, project, local, memory …"),
        "kind": text("file, rule, import, index …"),
        "reason": text("why it is loaded"),
        "parent": text("the file that imports it; empty if none does"),
        "globs": several(text("a pattern"), "the paths it is for; empty: for all"),
        "bytes": number("on disk"),
        "tokens": number("estimated"),
    }
)
_SKIP = record(
    {
        "path": text("the file"),
        "reason": text("a word: missing, excluded, too-large, shadowed, not-yet-read …"),
        "detail": text("more about it; may be empty"),
        "parent": text("the file that names it; empty if none does"),
    }
)
_FINDING = record(
    {
        "path": text("the file"),
        "line": number("where; 0 if it is about the whole file"),
        "code": text("a word for it"),
        "message": text("what is wrong"),
        "hint": text("what to do; may be empty"),
    }
)
_FRAME = {
    "agent": text("the agent"),
    "version": text("its version"),
    "assumed": flag("whether this version was never recorded, so that another's behaviour is assumed"),
    "folder": text("the folder the agent works in"),
}
_PAGES = {
    "entries": several(_ENTRY, "what the model receives, in order"),
    "waiting": several(_ENTRY, "rules that come when a file is read that they are for"),
    "skips": several(_SKIP, "what is there, or was asked for, and is not delivered"),
    "findings": several(_FINDING, "what the author of a file should know"),
    "counts": record({name: number("in all") for name in GROUPS}, "how many there are, on all pages"),
    "cut": CUT,
    "next": NEXT,
}
_AGENT = text(f"whose: {', '.join(sorted(AGENTS))}, or name@version; default: you, if you are one of them", most=80)


# At the start


def explain(context: ToolContext, given: Given) -> ToolAnswer:
    """What is loaded at the start of a session."""
    view = view_of(context, str(given.get("agent", "")))
    groups = {
        "entries": [_entry(context, entry) for entry in view.entries],
        "waiting": [_entry(context, rule.entry) for rule in view.waiting],
        "skips": [_skip(context, skip) for skip in view.skips if skip.reason != "not-yet-read"],
        "findings": [_finding(context, finding) for finding in view.findings],
    }
    data = {**_frame(view), "tokens": view.tokens, **_page("explain", given, groups)}
    dialect, cwd = view.dialect, view.surroundings.cwd
    head = f"{dialect.agent} {dialect.version} in {cwd}: about {view.tokens:,} tokens of instructions"
    return ToolAnswer(f"{head}.{_assumed(view)}\n{_text(data)}", data)


def view_of(context: ToolContext, agent: str = "") -> View:
    """What an agent is told at the start; the one that asks, unless another is named."""
    from foretold.instructions.load import load

    with LOOKING:
        view = load(context.folder, agent=agent or context.agent, home=context.home, env=context.env)
        _ = view.text  # made once, and kept
        return view


# For a file


def explain_file(context: ToolContext, given: Given) -> ToolAnswer:
    """What reading a file adds, and whether it is an instruction file itself."""
    from foretold.dialects.surroundings import join
    from foretold.instructions.explain import verdict_of
    from foretold.instructions.session import Session

    with LOOKING:
        agent = str(given.get("agent", "")) or context.agent
        session = Session(context.folder, agent=agent, home=context.home, env=context.env)
        view = session.start()
        path = join(view.surroundings.cwd, str(given["file"]))
        attachment = session.read(path)
        verdict = verdict_of(view, path)
    groups = {
        "entries": [_entry(context, entry) for entry in attachment.entries],
        "waiting": [],
        "skips": [_skip(context, skip) for skip in attachment.skips],
        "findings": [_finding(context, finding) for finding in attachment.findings],
    }
    data = {
        **_frame(view),
        "file": context.short_path(path),
        "exists": os.path.lexists(path),
        "outside": not (path + "/").startswith(view.surroundings.cwd.rstrip("/") + "/"),
        "loaded": verdict.loaded,
        "answer": clip(verdict.answer, 1_000),
        "why": [clip(why, 1_000) for why in verdict.why[:10]],
        "change": [clip(change, 1_000) for change in verdict.change[:10]],
        **_page("explain_file", given, groups),
    }
    return ToolAnswer(_file_text(data), data)


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


# Rows


def _entry(context: ToolContext, entry: Entry) -> Row:
    return {
        "path": clip(context.short_path(entry.path), 800),
        "layer": entry.layer,
        "kind": entry.kind,
        "reason": entry.reason,
        "parent": clip(context.short_path(entry.parent or ""), 800),
        "globs": [clip(glob, 200) for glob in entry.globs[:8]],
        "bytes": entry.size,
        "tokens": entry.tokens,
    }


def _skip(context: ToolContext, skip: Skip) -> Row:
    row = {
        "path": context.short_path(skip.path),
        "reason": skip.reason,
        "detail": skip.detail,
        "parent": skip.parent or "",
    }
    return {key: clip(value, ROW // 5) for key, value in row.items()}


def _finding(context: ToolContext, finding: Finding) -> Row:
    return {
        "path": clip(context.short_path(finding.path), ROW // 5),
        "line": finding.line or 0,
        "code": finding.code,
        "message": clip(finding.message, ROW // 5),
        "hint": clip(finding.hint, ROW // 5),
    }


def _frame(view: View) -> Row:
    dialect = view.dialect
    return {
        "agent": dialect.agent,
        "version": dialect.version,
        "assumed": view.assumed,
        "folder": view.surroundings.cwd,
    }


def _page(tool: str, given: Given, groups: dict[str, list[Row]]) -> Row:
    """A page of all rows, group by group."""
    every = [(name, row) for name in GROUPS for row in groups[name]]
    start, shown, fields = page_of(tool, given, [row for _, row in every], MANY, "what is loaded has changed")
    page: Row = {name: [row for group, row in every[start : start + len(shown)] if group == name] for name in GROUPS}
    page |= {"counts": {name: len(groups[name]) for name in GROUPS}, **fields}
    return page


# Text


def _text(data: Row) -> str:
    parts = (
        ("Loaded", data["entries"], _entry_line),
        ("Waits for a file it is for", data["waiting"], _entry_line),
        ("Not delivered", data["skips"], _skip_line),
        ("To put right", data["findings"], _finding_line),
    )
    said = [f"{title}:\n{join_rows(rows, form)}" for title, rows, form in parts if isinstance(rows, list) and rows]
    return end_text(said, data)


def _entry_line(row: Row) -> str:
    more = [str(row["layer"]), str(row["reason"]), f"{row['tokens']:,} tokens"]
    more += [f"imported by {row['parent']}"] if row["parent"] else []
    globs = row["globs"]
    more += [f"for {', '.join(globs)}"] if isinstance(globs, list) and globs else []
    return f"  {row['path']} ({', '.join(more)})"


def _skip_line(row: Row) -> str:
    detail = f", {row['detail']}" if row["detail"] else ""
    list_some = f" (named in {row['parent']})" if row["parent"] else ""
    return f"  {row['path']}: {row['reason']}{detail}{list_some}"


def _finding_line(row: Row) -> str:
    place = f"{row['path']}:{row['line']}" if row["line"] else str(row["path"])
    hint = f" → {row['hint']}" if row["hint"] else ""
    return f"  {place}: {row['message']} [{row['code']}]{hint}"


def _assumed(view: View) -> str:
    return " This version was never recorded; the nearest one's behaviour is assumed." if view.assumed else ""


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
        takes({"agent": _AGENT, "cursor": CURSOR}),
        record({**_FRAME, "tokens": number("estimated, of all that is loaded"), **_PAGES}),
        explain,
    ),
    McpTool(
        "explain_file",
        "What a file brings",
        _ABOUT_FILE,
        takes(
            {
                "file": text("a path, from the project's folder or whole", most=4_000, least=1),
                "agent": _AGENT,
                "cursor": CURSOR,
            },
            "file",
        ),
        record(
            {
                **_FRAME,
                "file": text("the file that was asked about"),
                "exists": flag("whether it is there"),
                "outside": flag("whether it is outside the agent's folder"),
                "loaded": text("the file as an instruction file: start, on-match, on-touch or never"),
                "answer": text("the same in words"),
                "why": several(text("a reason")),
                "change": several(text("what to change for it to be loaded")),
                **_PAGES,
            }
        ),
        explain_file,
    ),
)
