"""Lists of entries, skips and findings for a terminal of 80 columns."""

from __future__ import annotations

from foretold.cli.paint import Paint, plural, size
from foretold.instructions.view import View
from foretold.types import REASONS, TYPE_CHECKING, Entry, Finding, Skip

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "copilot-cli": "Copilot CLI",
    "gemini-cli": "Gemini CLI",
    "qwen-code": "Qwen Code",
    "vscode-copilot": "VS Code Copilot",
    "roo": "Roo Code",
    "cline": "Cline",
    "continue": "Continue",
}


def name_of(view: View) -> str:
    """An agent as people call it."""
    agent = view.dialect.agent
    return NAMES.get(agent, agent if agent in LOWER else agent.capitalize())


LOWER = ("code-assist", "deepagents", "ex-athena", "mink", "opencode")
HOW = {"source": "from its source", "documented": "from its documents"}


def title(view: View, paint: Paint) -> str:
    """Which agent, which version and how sure we are, where."""
    dialect = view.dialect
    name = f"{name_of(view)} {view.choice.asked or dialect.version}"
    where = paint.fit(paint.path(view.surroundings.cwd), paint.width - 3).rstrip()
    if view.assumed:
        how = f"not recorded; taken to be like {dialect.version}"
    elif dialect.evidence in HOW:
        name, how = name_of(view), HOW[dialect.evidence]
    else:
        how = dialect.evidence if view.choice.asked else f"the newest {dialect.evidence} version"
    return f"{paint.bold(name)}, {how}\nin {where}"


def print_entries(view: View, paint: Paint) -> None:
    """What the model receives, in its order."""
    if view.refusal:
        said = f"It refuses to start here (exit status {view.refusal}): the folder is not trusted."
        print(f"\n{said} Say yes to it there, once.")
        return
    if not view.entries:
        print("\nIt is told nothing: no instruction file is delivered.")
        return
    total = sum(entry.size for entry in view.entries)
    print(f"\nTold at the start: {plural(len(view.entries), 'file')}, {size(total)}, about {view.tokens:,} tokens\n")
    print_rows(view.entries, paint)


def print_rows(entries: Sequence[Entry], paint: Paint) -> None:
    """One line an entry: order, layer, path with imports indented, bytes, tokens."""
    room = paint.width - 37
    for number, entry in enumerate(entries, 1):
        lead = "  " * entry.depth + ("└ " if entry.depth else "")
        row = f"{number:3}  {entry.layer:8} {paint.fit(lead + paint.path(entry.path), room)}"
        print(f"{row} {size(entry.size):>9} {entry.tokens:>7,} tok")
        for path in entry.includes:
            print(f"{'':13} {paint.fit(f'  └ {paint.path(path)}', room).rstrip()}")


def print_skips(skips: Sequence[Skip], paint: Paint) -> None:
    """One line a skip, and the reason in words."""
    for skip in skips:
        print(f"  {paint.fit(paint.path(skip.path), paint.width - 22)} {paint.red(skip.reason)}")
        where = f"{skip.parent}{f':{skip.line}' if skip.line else ''}: " if skip.parent else ""
        detail = f" ({skip.detail})" if skip.detail else ""
        print(paint.faint(paint.wrap(f"{where}{REASONS[skip.reason]}{detail}", 6)))


def print_findings(findings: Sequence[Finding], paint: Paint, most: int | None = None, more: str = "") -> None:
    """What the author of a file should know, and what to do."""
    if not findings:
        return
    print(f"\n{paint.bold(plural(len(findings), 'finding'))}\n")
    for finding in findings[:most]:
        where = paint.path(finding.path) + (f":{finding.line}" if finding.line else "")
        print(f"  {paint.fit(where, min(len(where), paint.width - len(finding.code) - 4))}  {paint.red(finding.code)}")
        print(paint.wrap(finding.message, 6))
        if finding.hint:
            print(paint.faint(paint.wrap(f"→ {finding.hint}", 6)))
    if most is not None and len(findings) > most:
        print(f"  … and {plural(len(findings) - most, 'more finding')}: {more}")
