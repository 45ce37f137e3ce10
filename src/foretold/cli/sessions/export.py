"""`foretold sessions export`: a session to keep, to share, or to give to another agent. Credentials are removed."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence

from foretold.cli.output import Paint, ProgressLine, plural, printable
from foretold.cli.sessions.options import homes_of, parser_of, session_of
from foretold.errors import ForetoldError, SessionFailed
from foretold.secrets.redactor import Redactor
from foretold.sessions.exporters.export import FORMS, Choice, export
from foretold.storage.atomic import replace_file
from foretold.types import Finding

SUFFIXES = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html", ".json": "json"}


def command_export(words: Sequence[str]) -> int:
    parser = parser_of(
        "export",
        "Write a session as Markdown, HTML or JSON. Credentials are replaced by their kind and a fingerprint.",
        "  foretold sessions export 118ca5f9 > talk.md\n"
        "  foretold sessions export 118ca5f9 -o talk.html   one page, no script\n"
        "  foretold sessions export 118ca5f9 --brief        for another agent to continue",
    )
    parser.add_argument("session", metavar="SESSION", help="its id or how it begins, its title, or any transcript file")
    parser.add_argument("-o", dest="out", metavar="FILE", help="write this file; its suffix selects the format")
    parser.add_argument(
        "--format", "--form", dest="form", choices=tuple(FORMS), help="markdown (the default), html, json"
    )
    parser.add_argument("--brief", action="store_true", help="messages and changed files; no tools")
    parser.add_argument("--full", action="store_true", help="also attachments, notices and thinking")
    parser.add_argument("--thinking", action="store_true", help="also the thinking of the model")
    parser.add_argument("--with-secrets", action="store_true", help="do not remove credentials")
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    options = parser.parse_args(list(words))
    form = options.form or ("json" if options.json else _form_of(options.out, parser))
    stored = session_of(options)
    redactor = None if options.with_secrets else Redactor()
    findings: list[Finding] = []
    choice = Choice(full=options.full, brief=options.brief, thinking=options.thinking)
    to_terminal = not options.out and sys.stdout.isatty()  # then the page itself shows how far it is
    with ProgressLine("exporting") as progress:
        tell = None if to_terminal else progress
        pieces = export(stored, form, redactor=redactor, choice=choice, findings=findings, progress=tell)
        if options.out:
            _write(options.out, pieces, force=options.force)
        else:
            sys.stdout.writelines(pieces)
    if options.out:
        print(f"written: {printable(options.out)}", file=sys.stderr)
    _report(redactor, findings, Paint(stored.cwd or "/", homes_of(options).home))
    return 1 if findings else 0


def _form_of(path: str | None, parser: argparse.ArgumentParser) -> str:
    """The format for the suffix of a file; without one, Markdown."""
    ending = os.path.splitext(path)[1].lower() if path else ""
    if ending and ending not in SUFFIXES:
        parser.error(
            f"there is no format for {printable(ending)} files: -o takes {', '.join(SUFFIXES)}, or add --format"
        )
    return SUFFIXES.get(ending, "markdown")


def _write(path: str, pieces: Iterator[str], *, force: bool) -> None:
    """Write a temporary file, and rename it when it is whole."""
    if os.path.lexists(path) and not force:
        more = "choose another name" if os.path.isdir(path) else "choose another name, or add --force"
        raise ForetoldError(f"{printable(path)} exists already; {more}")
    try:
        replace_file(path, (piece.encode("utf-8", "backslashreplace") for piece in pieces), sync=False)
    except OSError as error:
        raise SessionFailed(f"cannot write {printable(path)}: {error.strerror}") from None


def _report(redactor: Redactor | None, findings: list[Finding], paint: Paint) -> None:
    """Print what was removed, and what could not be read, to standard error."""
    if redactor is None:
        print("Nothing was removed: it may contain credentials.", file=sys.stderr)
    else:
        for found, times in sorted(redactor.found.items()):
            print(f"removed: {found.kind} {found.fingerprint}, {plural(times, 'time')}", file=sys.stderr)
        if not redactor.found:
            print("No credential was found.", file=sys.stderr)
    if findings:
        where = paint.path(findings[0].path)
        print(f"{plural(len(findings), 'record')} of {where} cannot be read: foretold sessions repair", file=sys.stderr)
