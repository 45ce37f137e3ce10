"""`foretold explain`: every candidate, loaded or not, with its reason."""

from __future__ import annotations

from collections.abc import Sequence

from foretold.cli import COMMON, split_options
from foretold.cli.options import folder_parser, parse
from foretold.cli.output import Paint, plural, print_entries, print_rows, print_skips, print_view_findings, title_of
from foretold.dialects.surroundings import join
from foretold.instructions.explain import verdict_of
from foretold.instructions.load import load
from foretold.instructions.view import View
from foretold.storage.tree import Disk
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.cli.options import Question


EXAMPLES = """\
  foretold explain                       the whole trace
  foretold explain --file src/api/x.ts   what reading that file adds
  foretold explain .claude/rules/api.md  is this file loaded, when, and why not
  foretold explain --session 118ca5f9    what that session really received
  foretold explain --json | jq .skips"""


def command(words: Sequence[str]) -> int:
    parser = folder_parser("explain", "Say why each instruction file is loaded, or not.", EXAMPLES)
    parser.add_argument("path", nargs="?", metavar="PATH.md", help="explain this one instruction file")
    parser.add_argument("--file", metavar="PATH", help="a file of the project that the agent reads")
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
    if options.json:
        from foretold.cli.json import emit, view_json

        emit("explain", view_json(view))
    else:
        _print_trace(view)
    return 1 if view.findings else 0


def _print_trace(view: View) -> None:
    paint = Paint(view.surroundings.cwd, view.surroundings.home)
    print(title_of(view, paint))
    print_entries(view, paint)
    if view.waiting:
        print(f"\n{paint.bold('Waiting for a matching file')}\n")
        for rule in view.waiting:
            print(f"  {paint.fit(paint.path(rule.entry.path), paint.width - 2).rstrip()}")
            base = "" if rule.base == view.surroundings.cwd else f", relative to {rule.base}"
            print(paint.faint(paint.wrap(f"paths{base}: {', '.join(rule.entry.globs)}", 6)))
    lost = [skip for skip in view.skips if skip.reason != "not-yet-read"]
    if lost:
        print(f"\n{paint.bold('Not delivered')}\n")
        print_skips(lost, paint)
    print_view_findings(view.findings, paint)
    if view.absent:
        print(f"\n{paint.bold('Looked for, not found')}: {plural(len(view.absent), 'path')}\n")
        for path in view.absent:
            print(paint.faint(f"  {paint.fit(paint.path(path), paint.width - 2).rstrip()}"))


def _explain_file(folder: str, file: str, question: Question, *, as_json: bool) -> int:
    from foretold.instructions.session import Session

    session = Session(folder, **question)
    view = session.start()
    attachment, path = session.read(file), join(view.surroundings.cwd, file)
    if as_json:
        from foretold.cli.json import attachment_json, emit

        emit("explain-file", {"file": path, **attachment_json(attachment)})
        return 1 if attachment.findings else 0
    paint = Paint(view.surroundings.cwd, view.surroundings.home)
    print(title_of(view, paint))
    tokens = sum(entry.tokens for entry in attachment.entries)
    there = "" if Disk().kind(path) != "missing" else " (it does not exist)"
    adds = f"adds {plural(len(attachment.entries), 'file')}, about {tokens:,} tokens" if tokens else "adds nothing"
    print("\n" + paint.wrap(f"Reading {path}{there} {adds}", 0) + ("\n" if tokens else ""))
    print_rows(attachment.entries, paint)
    for entry in attachment.entries:
        if entry.globs:
            print(paint.faint(paint.wrap(f"{entry.path}: its paths match ({', '.join(entry.globs)})", 5)))
    if attachment.skips:
        print(f"\n{paint.bold('Not attached')}\n")
        print_skips(attachment.skips, paint)
    print_view_findings(attachment.findings, paint)
    return 1 if attachment.findings else 0


def _explain_one(view: View, path: str, *, as_json: bool) -> int:
    verdict = verdict_of(view, path)
    if as_json:
        from foretold.cli.json import emit

        emit("explain-path", dict(verdict._asdict()))
    else:
        paint = Paint(view.surroundings.cwd, view.surroundings.home)
        print(title_of(view, paint))
        print("\n" + paint.wrap(f"{verdict.path}: {verdict.answer}", 0))
        for line in (*verdict.why, *(f"→ {change}" for change in verdict.change)):
            print(paint.wrap(line, 2))
    return 0 if verdict.loaded != "never" else 1
