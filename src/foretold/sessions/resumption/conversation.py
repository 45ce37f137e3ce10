"""A stored session as its agent would load it to go on, and the commands that go on with it.

1. What Claude Code and Codex send again is computed by their rules (claude.py, codex.py), and is exact. For other
   agents the messages are those of the file, in its order, and `is_exact` is False.
2. A session that is where its agent keeps it is resumed by the agent's own command. A file from elsewhere is first
   copied to where the agent looks for it, under its id; Gemini CLI and opencode take a file by themselves.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from foretold.dialects.releases.played import PLAYED
from foretold.errors import SessionFailed
from foretold.sessions.catalog import messages_of, newest_first
from foretold.sessions.formats.readers import resume_command
from foretold.sessions.model import Homes, StoredSession
from foretold.types import Finding, NamedTuple

Commands = list[tuple[str, ...]]


class LoadedConversation(NamedTuple):
    """What an agent loads when it resumes a session."""

    messages: tuple[object, ...]  #: as they are sent; where `is_exact` is False, each a `Message`
    dropped: tuple[tuple[str, str], ...] = ()  #: what is not sent: a record or a line, and why
    findings: tuple[Finding, ...] = ()
    refused: str = ""  #: why the agent does not resume it
    is_exact: bool = True


def load_conversation(stored: StoredSession) -> LoadedConversation:
    """The conversation of a session, as its agent loads it."""
    load = LOADERS.get(stored.agent, _load_file)
    try:
        return load(stored)
    except OSError as error:
        raise SessionFailed(f"{stored.path!r} cannot be read: {error.strerror}") from None


def _load_claude(stored: StoredSession) -> LoadedConversation:
    from foretold.sessions.resumption.claude import ERRORS, resume

    found = resume(stored.path, version=stored.version or NEWEST)
    dropped = tuple((each.id, each.reason) for each in found.dropped)
    return LoadedConversation(found.messages, dropped, found.findings, ERRORS.get(found.error, found.error))


def _load_codex(stored: StoredSession) -> LoadedConversation:
    from foretold.sessions.formats.codex.zstd import readable
    from foretold.sessions.resumption.codex import resume_codex

    findings: list[Finding] = []
    with readable(stored.path, findings) as path:
        if not path:
            return LoadedConversation((), findings=tuple(findings), refused="it cannot be unpacked")
        found = resume_codex(path)
    dropped = tuple((f"line {each.line}", each.reason) for each in found.dropped)
    return LoadedConversation(found.messages, dropped, (*findings, *found.findings), found.refused)


def _load_file(stored: StoredSession) -> LoadedConversation:
    findings: list[Finding] = []
    messages = tuple(message for message in messages_of(stored, findings) if message.kind in ("", "summary"))
    return LoadedConversation(messages, findings=tuple(findings), is_exact=False)


NEWEST = PLAYED["claude-code"][-1]  #: the version of Claude Code whose rules count for a file that names none
LOADERS: dict[str, Callable[[StoredSession], LoadedConversation]] = {"claude-code": _load_claude, "codex": _load_codex}


# How to go on with it


def commands_to_continue(stored: StoredSession, homes: Homes) -> Commands:
    """The commands that go on with a session, one after the other; none where its agent has no way."""
    path = os.path.realpath(stored.path)
    if any(os.path.realpath(each.path) == path for each in newest_first(homes, (stored.agent,))):
        return [*_enter(stored), resume_command(stored)]
    return ADOPTIONS[stored.agent](stored, homes)


def _enter(stored: StoredSession) -> Commands:
    return [("cd", stored.cwd)] if stored.cwd and os.path.isdir(stored.cwd) else []


def _copy(stored: StoredSession, place: str) -> Commands:
    return [("mkdir", "-p", os.path.dirname(place)), ("cp", "-n", stored.path, place)]


def _adopt_claude(stored: StoredSession, homes: Homes) -> Commands:
    from foretold.dialects.claude_code.settings import slug
    from foretold.sessions.formats.claude.reader import config_folder

    if stored.kind == "subagent":
        return []
    folder = stored.cwd if stored.cwd and os.path.isdir(stored.cwd) else os.getcwd()
    place = os.path.join(config_folder(homes), "projects", slug(os.path.realpath(folder)), f"{stored.id}.jsonl")
    return [*_copy(stored, place), ("cd", folder), resume_command(stored)]


def _adopt_codex(stored: StoredSession, homes: Homes) -> Commands:
    from foretold.sessions.formats.codex.reader import codex_home

    began = time.gmtime(stored.started or stored.changed)
    name = os.path.basename(stored.path)
    if not (name.startswith("rollout-") and stored.id in name):
        name = time.strftime(f"rollout-%Y-%m-%dT%H-%M-%S-{stored.id}.jsonl", began)
    place = os.path.join(codex_home(homes), "sessions", time.strftime("%Y/%m/%d", began), name)
    return [*_copy(stored, place), *_enter(stored), resume_command(stored)]


def _adopt_gemini(stored: StoredSession, _homes: Homes) -> Commands:
    return [*_enter(stored), ("gemini", "--session-file", stored.path)]


def _adopt_opencode(stored: StoredSession, _homes: Homes) -> Commands:
    if not stored.path.endswith(".json"):
        return []  # a database from elsewhere: opencode reads only its own
    return [("opencode", "import", stored.path), *_enter(stored), resume_command(stored)]


#: agent -> what goes on with a file that is not where the agent keeps its sessions
ADOPTIONS: dict[str, Callable[[StoredSession, Homes], Commands]] = {
    "claude-code": _adopt_claude,
    "codex": _adopt_codex,
    "gemini-cli": _adopt_gemini,
    "opencode": _adopt_opencode,
}
