"""`foretold` alone: what the agent receives here, what is lost, and what to type next. It writes nothing."""

from __future__ import annotations

from foretold.cli.listing import name_of, print_entries, print_findings, title
from foretold.cli.options import parse, parser_of, typed
from foretold.cli.paint import Paint, plural
from foretold.dialects.registry import DEFAULT_AGENT
from foretold.instructions.load import load
from foretold.instructions.view import View
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

EXAMPLES = """\
  foretold                what the agent is told here
  foretold --json         the same as data
  foretold --help         all commands"""


def command(words: Sequence[str]) -> int:
    parser = parser_of("", "What is your coding agent told in this folder?", EXAMPLES)
    options, question = parse(parser, words)
    view = load(options.folder, **question)
    if options.json:
        from foretold.cli.schema import emit, view_json

        emit("overview", view_json(view))
    else:
        _print(view, _others(view) if options.agent == DEFAULT_AGENT else [])
    return 1 if view.findings else 0


def _others(view: View) -> list[View]:
    """What the other agents that are set up here are told."""
    from foretold.dialects.registry import EVIDENCE, RECORDED, find_agents
    from foretold.instructions.compare import compare
    from foretold.storage.tree import Disk

    names = find_agents(Disk(), view.surroundings.cwd, view.surroundings.home)
    if names == list(EVIDENCE)[:RECORDED]:
        return []  # none is set up, or all of them: too many for a short answer
    others = [name for name in names if name != view.dialect.agent]
    return list(compare(view.surroundings.cwd, others, home=view.surroundings.home).views) if others else []


def _print_others(views: list[View], paint: Paint) -> None:
    print(f"\n{paint.bold('Other agents here')}\n")
    for view in views:
        said = f"{plural(len(view.entries), 'file')}, about {view.tokens:,} tokens"
        told = "refuses to start: not trusted" if view.refusal else said if view.entries else "nothing"
        print(f"  {name_of(view):16} {told}")
    print(paint.faint("  side by side: foretold compare"))


def _print(view: View, others: list[View]) -> None:
    paint = Paint(view.surroundings.cwd, view.surroundings.home)
    print(title(view, paint))
    print_entries(view, paint)
    lost = sum(1 for skip in view.skips if skip.reason != "not-yet-read")
    rest = []
    if view.waiting:
        rest.append(f"{plural(len(view.waiting), 'rule')} waiting for a matching file")
    if lost:
        rest.append(f"{plural(lost, 'candidate')} not delivered")
    if rest:
        print("\n" + ", ".join(rest) + ".")
    if others:
        _print_others(others, paint)
    print_findings(view.findings, paint, most=5, more=typed(view, "explain"))
    print("\nnext: " + _next(view))


def _next(view: View) -> str:
    explain = typed(view, "explain")
    if not view.entries:
        return f"{explain}   says where the agent looked"
    if explain != "foretold explain":
        return f"{explain}\n      says why, for every file; show prints the text"
    return "foretold explain   says why, for every file; foretold show prints the text"
