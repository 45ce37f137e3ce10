"""The options that every `foretold sessions` command has, and words that several of them print."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import textwrap
import time

from foretold.cli.options import formatter
from foretold.cli.paint import size
from foretold.errors import NoSuchSession, UnknownAgent
from foretold.sessions.catalog import find_homes, find_session
from foretold.sessions.exporters.formatting import format_time
from foretold.sessions.formats.readers import READERS, reader_of
from foretold.sessions.model import Homes, StoredSession

UNITS = {"h": 1 / 24, "d": 1.0, "w": 7.0}  #: days


def parser_of(name: str, about: str, examples: str) -> argparse.ArgumentParser:
    """A parser with the options that are the same everywhere."""
    parser = argparse.ArgumentParser(
        prog=f"foretold sessions {name}",
        description=textwrap.fill(about, 80),
        epilog=f"examples:\n{examples}",
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("-C", dest="cwd", default=".", metavar="DIR", help="a folder of the project")
    parser.add_argument("--agent", metavar="NAME", help=f"only of this agent: {', '.join(READERS)}")
    parser.add_argument("--home", metavar="DIR", help="the home folder that the sessions are in")
    parser.add_argument("--json", action="store_true", help="data for programs")
    return parser


def homes_of(options: argparse.Namespace) -> Homes:
    """Where the sessions are that a command line speaks of."""
    return find_homes(options.home)


def session_of(options: argparse.Namespace) -> StoredSession:
    """The session that a command line names."""
    return session_called(homes_of(options), options.session, agents_of(options))


def session_called(homes: Homes, name: str, agents: tuple[str, ...] | None = None) -> StoredSession:
    """The session with a name. If it is only in the archive, the error says so."""
    try:
        return find_session(homes, name, agents=agents)
    except NoSuchSession as error:
        if "\n" in str(error):  # several fit, a line each
            raise
        from foretold.sessions.archive.archive import archive_hint

        hint = archive_hint(homes, name)
        raise NoSuchSession(f"{error}; {hint}" if hint else str(error)) from None


def agents_of(options: argparse.Namespace) -> tuple[str, ...] | None:
    """The agent that a command line names; None for all."""
    if options.agent is None:
        return None
    name = options.agent.partition("@")[0].lower()
    if name not in READERS:
        raise UnknownAgent(f"the sessions of {name} cannot be read; there are readers for: {', '.join(READERS)}")
    return (name,)


def resume_command(stored: StoredSession) -> str:
    """What to type to go on with a session, wherever one is.

    >>> resume_command(StoredSession("claude-code", "1-2", "/x", cwd="/a b"))
    "cd '/a b' && claude --resume 1-2"
    """
    words = shlex.join(reader_of(stored.agent).resume_command(stored))
    return f"cd {shlex.quote(stored.cwd)} && {words}" if stored.cwd else words


def when(seconds: float | None) -> str:
    """A moment, in the time of this machine."""
    return format_time(seconds)


def period(stored: StoredSession) -> str:
    """From when to when a session was held: `2026-03-01 10:00 to 10:07`."""
    began, ended = format_time(stored.started), format_time(stored.changed)
    if not began or began == ended:
        return ended
    return f"{began} to {ended[11:] if began[:10] == ended[:10] else ended}"


def count(word: str) -> int:
    """A number of an option: none is less than nothing."""
    if not word.isdecimal():
        raise argparse.ArgumentTypeError(f"{word!r} is no number of them; 0 or more")
    return int(word)


def days(word: str) -> float:
    """An age as people write it, in days: `12h`, `30d`, `2w`; a number alone is days.

    >>> days("12h"), days("30"), days("2w"), days("1.5d")
    (0.5, 30.0, 14.0, 1.5)
    """
    number, unit = (word[:-1], word[-1:]) if word[-1:] in UNITS else (word, "d")
    if not number.replace(".", "", 1).isdecimal() or not number.isascii():
        raise argparse.ArgumentTypeError(f"{word!r} is no age; write e.g. 30d, 2w or 12h")
    return float(number) * UNITS[unit]


def stored_json(stored: StoredSession) -> dict[str, object]:
    """A session as `--json` prints it."""
    fields = dict(stored._asdict())
    return {**fields, "resume": list(reader_of(stored.agent).resume_command(stored)), "command": resume_command(stored)}


class Progress:
    """A line on standard error that says how far long work is: only in a terminal, and after a second."""

    def __init__(self, doing: str) -> None:
        self._doing, self._began, self._last = doing, time.monotonic(), 0.0
        self._shown = False

    def __call__(self, done: int, total: int, unit: str = "bytes") -> None:
        now = time.monotonic()
        if not sys.stderr.isatty() or now - self._began < 1 or now - self._last < 0.2:
            return
        self._last, self._shown = now, True
        share = f"{100 * done // total} %" if total else ""
        much = f"{size(done)} of {size(total)}" if unit == "bytes" else f"{done:,} of {total:,} {unit}"
        print(f"\r{self._doing}: {share} {much}"[: _width() - 1] + "\x1b[K", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._shown = False


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:
        return 80
