"""`foretold` alone: what the agent receives here, what is lost, and what to type next. It writes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from foretold.cli.explain import print_nested
from foretold.cli.options import folder_parser, next_command, parse
from foretold.cli.output import Paint, name_of, plural, print_entries, print_view_findings, title_of
from foretold.dialects.registry import DEFAULT_AGENT
from foretold.instructions.advice import can_match, find_unreported
from foretold.instructions.explain import NestedFiles, find_nested
from foretold.instructions.load import load
from foretold.instructions.view import View
from foretold.storage.tree import Disk

MOST_ROWS, MOST_NESTED, MOST_FINDINGS = 20, 3, 5  #: that are listed here
MORE = "foretold explain"  #: lists the rest

EXAMPLES = """\
  foretold                what the agent receives here
  foretold --json         the same as data
  foretold --help         all commands"""


def command(words: Sequence[str]) -> int:
    parser = folder_parser("", "What does your coding agent receive in this folder?", EXAMPLES)
    options, question = parse(parser, words)
    view = load(options.cwd, **question)
    nested = find_nested(view)
    if options.json:
        from foretold.cli.json import emit, tree_json

        emit("overview", tree_json(view, nested))
    else:
        _print(view, nested, _others(view) if options.agent == DEFAULT_AGENT else [])
    return 1 if view.findings or nested.findings else 0


def _others(view: View) -> list[View]:
    """What the other agents that are set up here receive."""
    from foretold.dialects.registry import EVIDENCE, RECORDED, find_agents
    from foretold.instructions.compare import compare

    names = find_agents(Disk(), view.surroundings.cwd, view.surroundings.home)
    if names == list(EVIDENCE)[:RECORDED]:
        return []  # none is set up, or all of them: too many for a short answer
    others = [name for name in names if name != view.dialect.agent]
    return list(compare(view.surroundings.cwd, others, home=view.surroundings.home).views) if others else []


def _print(view: View, nested: NestedFiles, others: list[View]) -> None:
    paint = Paint(view.surroundings.cwd, view.surroundings.home)
    print(title_of(view, paint))
    print_entries(view, paint, MOST_ROWS, MORE)
    print_nested(nested, paint, MOST_NESTED, MORE, in_short=True)
    lost = len(find_unreported(view, Disk())) if not view.refusal else 0
    waits = view.waiting if not view.refusal else ()
    rules = sum(1 for rule in waits if can_match(rule.entry, view.dialect.rules.patterns))
    waiting = f"{plural(rules, 'rule')} waiting for a matching file" if rules else ""
    rest = [*filter(None, [waiting, f"{plural(lost, 'other candidate')} not loaded" if lost else ""])]
    if rest:
        print("\n" + ", ".join(rest) + ".")
    if others:
        print(f"\n{paint.bold('Other agents here')}\n")
        for other in others:
            files = f"{plural(len(other.entries), 'file')}, about {plural(other.tokens, 'token')}"
            text = "refuses to start: not trusted" if other.refusal else files if other.entries else "nothing"
            print(f"  {name_of(other):16} {text}")
        print(paint.faint("  compare them: foretold compare"))
    print_view_findings((*view.findings, *nested.findings), paint, most=MOST_FINDINGS, more=MORE)
    print("\nnext: " + _next(view, paint.width - 6))


def _next(view: View, room: int) -> str:
    explain = next_command(view, "explain")
    if view.refusal:
        return f"start {name_of(view)} here once, and trust the folder"
    if not view.entries:
        said = f"{explain}   says where the agent looked"
        return said if len(said) <= room else f"{explain}\n      says where the agent looked"
    if explain != "foretold explain":
        return f"{explain}\n      says why, for every file; show prints the text"
    return "foretold explain   says why, for every file; foretold show prints the text"
