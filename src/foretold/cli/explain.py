"""`foretold explain`: every candidate, loaded or not, with its reason."""

from __future__ import annotations

from collections.abc import Sequence

from foretold.cli import COMMON, split_options
from foretold.cli.options import folder_parser, parse
from foretold.cli.output import (
    Paint,
    plural,
    print_entries,
    print_rows,
    print_skips,
    print_view_findings,
    printable,
    title_of,
)
from foretold.dialects.surroundings import join
from foretold.instructions.advice import advise_skip, can_match, find_unreported, list_roots
from foretold.instructions.discover.rule_conditions import written_key, written_patterns
from foretold.instructions.explain import FileVerdict, NestedFiles, find_nested, verdict_of
from foretold.instructions.intent import CodeContext
from foretold.instructions.load import load
from foretold.instructions.view import View, Waiting
from foretold.storage.tree import Disk
from foretold.types import REASONS, TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.cli.options import Question


EXAMPLES = """\
  foretold explain                       the whole trace; --all with every path
  foretold explain --file src/api/x.ts   what reading that file adds
  foretold explain .claude/rules/api.md  is this file loaded, when, and why not
  foretold explain --session 118ca5f9    what that session really received
  foretold explain --json | jq .skips"""


def command(words: Sequence[str]) -> int:
    parser = folder_parser("explain", "Say why each instruction file is loaded, or not.", EXAMPLES)
    parser.add_argument("path", nargs="?", metavar="PATH.md", help="explain this one instruction file")
    parser.add_argument("--file", metavar="PATH", help="a file of the project that the agent reads")
    parser.add_argument("--all", action="store_true", help="list everything, also the paths that are not there")
    parser.add_argument("--session", metavar="ID", help="what this session received, next to what the files say now")
    options, question = parse(parser, words)
    if bool(options.path) + bool(options.file) + bool(options.session) > 1:
        parser.error("give an instruction file, --file or --session, not several of them")
    if options.session:
        from foretold.cli.sessions.explain import explain_session

        # a session has its own agent, so the default does not count
        agent = split_options(words, COMMON, ())[0].get("--agent")
        return explain_session(options.session, options.home, agent, as_json=options.json)
    if options.file:
        return _explain_file(options.cwd, options.file, question, as_json=options.json)
    view = load(options.cwd, **question)
    if options.path:
        return _explain_one(view, options.path, as_json=options.json)
    nested = find_nested(view)
    if options.json:
        from foretold.cli.json import emit, tree_json

        emit("explain", tree_json(view, nested))
    else:
        _print_trace(view, nested, is_all=options.all)
    return 1 if view.findings or nested.findings else 0


def _print_trace(view: View, nested: NestedFiles, *, is_all: bool) -> None:
    paint = Paint(view.surroundings.cwd, view.surroundings.home)
    most, more = MANY if is_all else SOME, "--all"
    print(title_of(view, paint))
    print_entries(view, paint)
    # those that cannot match have findings
    waiting = [rule for rule in view.waiting if can_match(rule.entry, view.dialect.rules.patterns)]
    if waiting and not view.refusal:
        print(f"\n{paint.bold('Waiting for a matching file')}: {plural(len(waiting), 'rule')}\n")
        for rule in waiting:
            _print_waiting(rule, view, paint)
    print_nested(nested, paint, most, more)
    unreported = find_unreported(view, Disk()) if not view.refusal else []
    if unreported:
        print(f"\n{paint.bold('Not loaded')}\n")
        print_skips(unreported, paint, most, more)
    print_view_findings((*view.findings, *nested.findings), paint)
    if view.absent:
        found = f"{paint.bold('Looked for, not found')}: {plural(len(view.absent), 'path')}"
        print(f"\n{found}" + ("\n" if is_all else f" ({more})"))
        for path in view.absent if is_all else ():
            print(paint.faint(f"  {paint.fit(paint.path(path), paint.width - 2).rstrip()}"))


SOME, MANY = 10, 100_000  #: rows of a group; with --all


def _print_waiting(rule: Waiting, view: View, paint: Paint) -> None:
    print(_row(paint.path(rule.entry.path), rule.entry.tokens, paint, 2))
    base = "" if rule.base == view.surroundings.cwd else f", relative to {rule.base}"
    patterns = ", ".join(written_patterns(rule.entry, view.dialect.rules))
    print(paint.faint(paint.wrap(f"{written_key(rule.entry, view.dialect.rules)}{base}: {patterns}", 6)))


def print_nested(nested: NestedFiles, paint: Paint, most: int, more: str, *, in_short: bool = False) -> None:
    """Instruction files that the start does not look at: when they are loaded, or why never; the rest is counted."""
    if not nested.verdicts and not nested.cut:
        return
    print(f"\n{paint.bold('Not read at the start')}: {plural(len(nested.verdicts), 'instruction file')}")
    print(end="" if in_short else "\n")
    groups: dict[tuple[str, str], list[FileVerdict]] = {}
    for verdict in sorted(nested.verdicts, key=lambda each: ("on-touch", "on-match", "never").index(each.loaded)):
        groups.setdefault((verdict.loaded, verdict.reason), []).append(verdict)
    for group in groups.values():
        shown = group if len(group) <= most + 1 else group[:most]
        print(paint.wrap(_title_of(group), 2))
        left = f"… and {len(group) - len(shown)} more ({more})" if len(shown) < len(group) else ""
        if in_short:
            paths = ", ".join(paint.path(verdict.path) for verdict in shown)
            print(paint.faint(paint.wrap(f"{paths} {left}".rstrip(), 4)))
            continue
        _print_verdicts(shown, paint, is_alike=len({verdict.detail for verdict in group}) == 1)
        if left:
            print(paint.faint(f"    {left}"))
    if nested.cut:
        print(paint.wrap(f"There may be more: {nested.cut}.", 2))


def _title_of(group: list[FileVerdict]) -> str:
    """What files that are treated alike have in common."""
    first = group[0]
    if first.loaded != "never":
        return first.answer if len(group) == 1 else first.answer.replace("its folder", "their folder")
    is_alike = len({verdict.detail for verdict in group}) == 1
    detail = f" ({first.detail})" if is_alike and first.detail else ""
    return f"{first.answer}: {REASONS.get(first.reason, first.why[0])}{detail}"


def _print_verdicts(verdicts: list[FileVerdict], paint: Paint, *, is_alike: bool) -> None:
    for verdict in verdicts:
        detail = "" if is_alike else f", {paint.text(verdict.detail)}"
        rename = verdict.change[0] if verdict.reason in ("wrong-case", "wrong-extension") else ""
        row, change = paint.path(verdict.path) + detail, f"→ {printable(rename)}" if rename else ""
        if rename and len(row) + 2 + len(change) <= paint.width - 17:
            row, change = f"{row}  {change}", ""
        print(_row(row, verdict.tokens, paint, 4))
        if change:
            print(paint.faint(paint.wrap(change, 6)))


def _row(path: str, tokens: int, paint: Paint, indent: int) -> str:
    room = paint.width - indent - 13
    return " " * indent + (f"{paint.fit(path, room)} {tokens:>8,} tok" if tokens else paint.fit(path, room).rstrip())


def _explain_file(folder: str, file: str, question: Question, *, as_json: bool) -> int:
    from foretold.instructions.session import Attachment, Session

    session = Session(folder, **question)
    view = session.start()
    attachment, path = session.read(file), join(view.surroundings.cwd, file)
    if as_json:
        from foretold.cli.json import attachment_json, emit

        emit("explain-file", {"file": path, **attachment_json(attachment)})
        return 1 if attachment.findings else 0
    paint = Paint(view.surroundings.cwd, view.surroundings.home)
    print(title_of(view, paint))
    if view.dialect.touch_asked:
        said = f"{view.dialect.agent} reads nothing after its start; this is for a program that asks for it (touched=)"
        print("\n" + paint.wrap(said, 0))
    tokens = sum(entry.tokens for entry in attachment.entries)
    there = "" if Disk().kind(path) != "missing" else " (it does not exist)"
    adds = (
        f"adds {plural(len(attachment.entries), 'file')}, about {plural(tokens, 'token')}" if tokens else "adds nothing"
    )
    if view.refusal:
        attachment, tokens, adds = Attachment((), ()), 0, "adds nothing: the agent refuses to start here"
    print("\n" + paint.wrap(f"Reading {path}{there} {adds}", 0) + ("\n" if tokens else ""))
    print_rows(attachment.entries, paint)
    for entry in attachment.entries:
        if entry.globs:
            patterns = ", ".join(written_patterns(entry, view.dialect.rules))
            print(paint.faint(paint.wrap(f"{entry.path}: its paths match ({patterns})", 5)))
    tree, contexts = Disk(), dict[str, CodeContext]()
    roots = list_roots(view.surroundings)
    skips = [skip for skip in attachment.skips if next(advise_skip(skip, tree, roots, contexts), None) is None]
    if skips:
        print(f"\n{paint.bold('Not attached')}\n")
        print_skips(skips, paint, MANY, "")
    print_view_findings(attachment.findings, paint)
    return 1 if attachment.findings else 0


def _explain_one(view: View, path: str, *, as_json: bool) -> int:
    from foretold.findings.registry import severity_of

    verdict = verdict_of(view, path)
    if as_json:
        from foretold.cli.json import emit, verdict_json

        emit("explain-path", verdict_json(verdict))
    else:
        paint = Paint(view.surroundings.cwd, view.surroundings.home)
        print(title_of(view, paint))
        print("\n" + paint.wrap(f"{verdict.path}: {verdict.answer}", 0))
        for line in (*verdict.why, *(f"→ {change}" for change in verdict.change)):
            print(paint.wrap(line, 2))
        print_view_findings([each for each in verdict.findings if each.message not in verdict.why], paint)
    is_clean = all(severity_of(finding) == "note" for finding in verdict.findings)
    return 0 if verdict.loaded != "never" and is_clean else 1
