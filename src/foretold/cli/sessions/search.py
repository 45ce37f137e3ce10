"""`foretold sessions search`: what was said, in all sessions of all agents."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from difflib import get_close_matches
from functools import partial

from foretold.cli.json import emit, findings_json, pick
from foretold.cli.output import Paint, ProgressLine, plural, print_findings, printable
from foretold.cli.sessions.options import (
    UNITS,
    agents_of,
    count,
    days,
    homes_of,
    paint_of,
    parser_of,
    resume_command,
    stored_json,
)
from foretold.sessions.exporters.formatting import format_time
from foretold.sessions.fulltext.message_text import VOICES
from foretold.sessions.fulltext.query import parse_query
from foretold.sessions.fulltext.search import Hit, Results, search

FIRST = 20  #: hits that are shown
VALUED = ("-C", "-n", *(f"--{name}" for name in "agent home project after before role tool limit".split()))
FLAGS = ("-h", *(f"--{name}" for name in "help json all ranked no-index".split()))
EXAMPLES = """\
  foretold sessions search connection pool          both words, in one message
  foretold sessions search '"connection pool"'      as a phrase
  foretold sessions search 'migrat* -test' --role user --after 2026-10-01
  foretold sessions search timeout --tool Bash --project . --ranked"""


def command_search(words: Sequence[str]) -> int:
    parser = _parser()
    given, wanted = split_words(words)
    options = parser.parse_args(given)
    for word in wanted if "--" not in words else ():
        if word.startswith("--") and (close := get_close_matches(word.partition("=")[0], [*VALUED, *FLAGS], 1, 0.75)):
            parser.error(f"there is no {word}; did you mean {close[0]}? To search for it, write: -- {word}")
    query = " ".join(wanted)
    parsed = parse_query(query)
    if not parsed.wanted:
        only = ": -word only says what must not occur" if parsed.unwanted else ""
        parser.error(f"there is no word to search for{only}")
    try:
        with ProgressLine("Reading sessions" if options.no_index else "Indexing sessions") as progress:
            found = search(
                query,
                homes=homes_of(options),
                project=os.path.join(options.cwd, options.project) if options.project else None,
                agents=agents_of(options),
                after=options.after,
                before=options.before,
                roles=options.role,
                tools=options.tool,
                limit=options.limit,
                order="ranked" if options.ranked else "newest",
                use_index=not options.no_index,
                progress=progress,
            )
    except KeyboardInterrupt:
        kept = "" if options.no_index else "; what was indexed is kept, and the next search continues from there"
        print(f"Interrupted{kept}.", file=sys.stderr)
        return 130
    if options.json:
        hits = [_hit_json(hit) for hit in found.hits]
        counts = {"query": query, "more": found.more, "sessions": found.sessions}
        emit("search", {**counts, "hits": hits, "findings": findings_json(found.findings)})
    else:
        _print(found, paint_of(options), options)
    return 1 if found.findings else 0


def _parser() -> argparse.ArgumentParser:
    about = (
        "Find messages with all these words, in prompts, answers, thinking, calls and output; also of subagents. "
        '"quoted words" are a phrase, word* is a prefix, -word must not occur.'
    )
    parser = parser_of("search", about, EXAMPLES)
    parser.usage = f"{parser.prog} [OPTIONS] WORD..."
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--all", action="store_true", help="in every project (the default)")
    where.add_argument("--project", metavar="DIR", help="only sessions of this folder or below")
    parser.add_argument("--after", type=_day, metavar="DATE", help="since this day: 2026-10-31, or 7d for a week ago")
    parser.add_argument("--before", type=_day, metavar="DATE", help="before this day")
    parser.add_argument("--role", action="append", choices=VOICES, default=[], help="only of these")
    parser.add_argument("--tool", action="append", default=[], metavar="NAME", help="only calls and results of it")
    parser.add_argument("--ranked", action="store_true", help="best first instead of newest")
    limit = partial(count, least=1)
    parser.add_argument("-n", "--limit", type=limit, default=FIRST, metavar="N", help=f"at most N ({FIRST})")
    parser.add_argument("--no-index", action="store_true", help="read the files without an index")
    return parser


def split_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options of a command line, and the words to search for. Only known options count; after `--` none does.

    >>> split_words(["hel*", "-hello", "--tool", "Bash", "-n", "5", "--parse-http"])
    (['--tool', 'Bash', '-n', '5'], ['hel*', '-hello', '--parse-http'])
    """
    options: list[str] = []
    wanted: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return options, [*wanted, *words[at + 1 :]]
        name, equals, _ = word.partition("=")
        is_long = name.startswith("--") and name in (*VALUED, *FLAGS)
        is_option = word in (*VALUED, *FLAGS) or (is_long and bool(equals))
        length = 2 if word in VALUED else 1
        (options if is_option else wanted).extend(words[at : at + length])
        at += length
    return options, wanted


def _day(text: str) -> float:
    """A day, in the time of this machine."""
    if text[-1:] in UNITS and text[:-1].isdecimal():
        return time.time() - days(text) * 86_400
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a date; write 2026-10-31, or 7d for a week ago") from None


def _hit_json(hit: Hit) -> dict[str, object]:
    return {
        "session": stored_json(hit.stored),
        **pick(hit, "message role"),
        "tool": hit.tool or None,
        **pick(hit, "time start"),
        "snippet": hit.snippet.text,
        "marks": [list(mark) for mark in hit.snippet.marks],
        "score": hit.score,
    }


def _print(found: Results, paint: Paint, options: argparse.Namespace) -> None:
    last = None
    for hit in found.hits:
        if (hit.stored.path, hit.stored.id) != last:
            last = (hit.stored.path, hit.stored.id)
            _print_session(hit, paint)
        _print_hit(hit, paint)
    if not found.hits:
        print(f"Nothing was found in {plural(found.sessions, 'session')}.")
    if found.more:
        print(f"More: --limit {max(FIRST, options.limit * 5)}, or more words.")
    print_findings(found.findings, paint)


def _print_session(hit: Hit, paint: Paint) -> None:
    stored = hit.stored
    whose = f" (a subagent of {stored.parent[:8]})" if stored.kind == "subagent" else ""
    title = " ".join(printable(stored.title or stored.id).split())
    head = f"{stored.agent}{whose}, "
    print(head + paint.bold(paint.fit(title, max(20, paint.width - len(head))).rstrip()))
    print(paint.faint(f"  {printable(resume_command(stored))}"))


def _print_hit(hit: Hit, paint: Paint) -> None:
    tool = f" {printable(hit.tool)}" if hit.tool else ""
    print(f"  {format_time(hit.time)}  {hit.role}{tool}")
    text, marks = hit.snippet
    at, lines = 0, []
    for line in _wrap(text, paint.width - 4):
        shown, here = "", at
        for start, end in marks:
            start, end = max(start, at), min(end, at + len(line))
            if start < end:
                shown += printable(text[here:start]) + paint.bold(printable(text[start:end]))
                here = end
        lines.append(shown + printable(text[here : at + len(line)]))
        at += len(line)
    print("\n".join(f"    {line.strip()}" for line in lines) + "\n")


def _wrap(text: str, width: int) -> list[str]:
    """A line in pieces that fit, each ending after a space if there is one."""
    cut = text.rfind(" ", 0, width + 1) + 1 or width
    return [text[:cut], *_wrap(text[cut:], width)] if len(text) > width else [text]
