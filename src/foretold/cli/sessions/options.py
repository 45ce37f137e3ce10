"""The options that every `foretold sessions` command has, and text that several of them print."""

from __future__ import annotations

import argparse
import os
import shlex

from foretold.cli.options import make_parser
from foretold.cli.output import Paint
from foretold.errors import NoSuchSession
from foretold.sessions.catalog import find_homes, find_session
from foretold.sessions.exporters.formatting import format_time
from foretold.sessions.formats.readers import READERS, resume_command as words_to_resume, unknown_reader
from foretold.sessions.model import Homes, StoredSession

UNITS = {"h": 1 / 24, "d": 1.0, "w": 7.0}  #: days


def parser_of(name: str, about: str, examples: str) -> argparse.ArgumentParser:
    """A parser with the options of every command of this group."""
    helps = {
        "C": "a folder of the project",
        "agent": f"only of this agent: {', '.join(READERS)}",
        "home": "the home folder that the sessions are in",
    }
    return make_parser(f"sessions {name}", about, examples, "-C --agent --home --json", **helps)


def homes_of(options: argparse.Namespace) -> Homes:
    """Where the sessions of a command line are."""
    return find_homes(options.home)


def paint_of(options: argparse.Namespace) -> Paint:
    return Paint(os.path.realpath(options.cwd), homes_of(options).home)


def session_of(options: argparse.Namespace) -> StoredSession:
    """The session that a command line names, or the transcript file, wherever it is."""
    return session_called(homes_of(options), options.session, agents_of(options), files=True)


def session_called(
    homes: Homes, name: str, agents: tuple[str, ...] | None = None, *, files: bool = False
) -> StoredSession:
    """The session with a name; with `files`, also any transcript. If it is only in the archive, the error says so."""
    try:
        return find_session(homes, name, agents=agents, files=files)
    except NoSuchSession as error:
        if "\n" in str(error):  # several match, a line each
            raise
        from foretold.sessions.archive.archive import archive_hint

        hint = archive_hint(homes, name)
        raise NoSuchSession(f"{error}; {hint}" if hint else str(error)) from None


def name_in_command(stored: StoredSession, options: argparse.Namespace) -> str:
    """What names a session in a command that is printed: its file if that was given, since its id may be another's."""
    return shlex.quote(options.session if os.path.lexists(options.session) else stored.id)


def home_option(options: argparse.Namespace) -> str:
    """The home that was given, for a command that is printed."""
    return f" --home {shlex.quote(os.path.abspath(options.home))}" if options.home else ""


def agents_of(options: argparse.Namespace) -> tuple[str, ...] | None:
    """The agent that a command line names; None for all."""
    if options.agent is None:
        return None
    name = options.agent.partition("@")[0].lower()
    if name not in READERS:
        raise unknown_reader(name)
    return (name,)


def resume_command(stored: StoredSession) -> str:
    """The command that resumes a session from any folder.

    >>> resume_command(StoredSession("claude-code", "1-2", "/x", cwd="/a b"))
    "cd '/a b' && claude --resume 1-2"
    """
    words = shlex.join(words_to_resume(stored))
    return f"cd {shlex.quote(stored.cwd)} && {words}" if stored.cwd else words


def period_of(stored: StoredSession) -> str:
    """From when to when a session ran: `2026-03-01 10:00 to 10:07`."""
    began, ended = format_time(stored.started), format_time(stored.changed)
    if not began or began == ended:
        return ended
    return f"{began} to {ended[11:] if began[:10] == ended[:10] else ended}"


def count(word: str, least: int = 0) -> int:
    """A number of an option."""
    if not word.isdecimal() or int(word) < least:
        raise argparse.ArgumentTypeError(f"{word!r} is not a number; give {least} or more")
    return int(word)


def days(word: str) -> float:
    """An age as people write it, in days: `12h`, `30d`, `2w`; a number alone is days.

    >>> days("12h"), days("30"), days("2w"), days("1.5d")
    (0.5, 30.0, 14.0, 1.5)
    """
    number, unit = (word[:-1], word[-1:]) if word[-1:] in UNITS else (word, "d")
    if not number.replace(".", "", 1).isdecimal() or not number.isascii():
        raise argparse.ArgumentTypeError(f"{word!r} is not an age; write e.g. 30d, 2w or 12h")
    return float(number) * UNITS[unit]


def stored_json(stored: StoredSession) -> dict[str, object]:
    """A session as `--json` prints it."""
    resume = list(words_to_resume(stored))
    return {**stored._asdict(), "resume": resume, "command": resume_command(stored)}
