"""Transcripts, as the notes describe them: `~/.claude/sessions/<id>/transcript.jsonl`.

The recorded agent keeps them in `~/.claude/projects/<slug>/<id>.jsonl`. Here both are found, and what is new is written
to the place that the notes name; the format is the agent's, so `claude --resume FILE` takes it.
"""

from __future__ import annotations

import os
from typing import Unpack

from foretold.compat.engine import Folder, refuse_unknown
from foretold.compat.notes.places import Surrounding
from foretold.errors import NoSuchSession
from foretold.sessions.catalog import find_homes, find_session
from foretold.sessions.formats.claude.reader import (
    SESSIONS,
    TRANSCRIPT,
    check_session_id,
    config_folder,
    is_session_id,
)
from foretold.sessions.resumption.claude import Resumed, resume
from foretold.sessions.transcript.writer import Transcript, new_session


def get_transcript_path(session_id: str, **options: Unpack[Surrounding]) -> str:
    """The file of a session, whether it exists or not. An id that is a path is an error.

    >>> get_transcript_path("4d1f", home="/home/me", env={})
    '/home/me/.claude/sessions/4d1f/transcript.jsonl'
    """
    refuse_unknown(options, Surrounding)
    home = options.get("home")
    homes = find_homes(None if home is None else os.fspath(home), options.get("env"))
    return os.path.join(config_folder(homes), SESSIONS, check_session_id(session_id), TRANSCRIPT)


def open_transcript(session_id: str = "", *, sync: bool = True, **options: Unpack[Surrounding]) -> Transcript:
    """A transcript to write to, new or continued: each message is in the file when its method returns."""
    cwd: Folder = options.get("cwd", ".")
    path = get_transcript_path(session_id or new_session(), **options)
    return Transcript(path, cwd=os.path.realpath(cwd), sync=sync)


def find_transcript(session: str, **options: Unpack[Surrounding]) -> str:
    """The file of a stored session, by its id, how that begins, its title or its file; in either place."""
    if os.path.isfile(session):
        return os.path.abspath(session)
    if is_session_id(session) and os.path.isfile(path := get_transcript_path(session, **options)):
        return path
    home = options.get("home")
    homes = find_homes(None if home is None else os.fspath(home), options.get("env"))
    found = find_session(homes, session, agents=["claude-code"])
    if not os.path.isfile(found.path):
        raise NoSuchSession(f"no session is called {session!r}")
    return found.path


def resume_session(session: str, prompt: str = "", **options: Unpack[Surrounding]) -> Resumed:
    """What a resumed session sends to its model, and what it leaves out."""
    path = find_transcript(session, **options)
    return resume(path, prompt) if prompt else resume(path)
