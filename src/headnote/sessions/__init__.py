"""What was said: conversations that agents keep on disk, and a writer for harnesses.

    for stored in headnote.sessions.list_sessions(limit=5):
        for message in headnote.sessions.read(stored):
            print(stored.agent, message.role, message.text)

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

_PLACES = {
    "Archive": "headnote.sessions.archive",
    "Choice": "headnote.sessions.pages",
    "Diagnosis": "headnote.sessions.repair",
    "Hit": "headnote.sessions.hits",
    "Homes": "headnote.sessions.model",
    "Message": "headnote.sessions.model",
    "Part": "headnote.sessions.model",
    "Redactor": "headnote.sessions.redact",
    "Results": "headnote.sessions.hits",
    "Resumed": "headnote.sessions.resumed",
    "Stored": "headnote.sessions.model",
    "Told": "headnote.sessions.told",
    "Transcript": "headnote.sessions.write",
    "examine": "headnote.sessions.repair",
    "export": "headnote.sessions.pages",
    "find_session": "headnote.sessions.listing",
    "fork": "headnote.sessions.forked",
    "homes_here": "headnote.sessions.listing",
    "leaving": "headnote.sessions.retention",
    "list_sessions": "headnote.sessions.listing",
    "mend": "headnote.sessions.repair",
    "new_session": "headnote.sessions.write",
    "open_index": "headnote.sessions.hits",
    "read": "headnote.sessions.agents",
    "resume": "headnote.sessions.resumed",
    "resume_codex": "headnote.sessions.codex_resume",
    "search": "headnote.sessions.hits",
    "transcript_path": "headnote.sessions.write",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headnote.sessions.agents import read as read
    from headnote.sessions.archive import Archive as Archive
    from headnote.sessions.codex_resume import resume_codex as resume_codex
    from headnote.sessions.forked import fork as fork
    from headnote.sessions.hits import Hit as Hit
    from headnote.sessions.hits import Results as Results
    from headnote.sessions.hits import open_index as open_index
    from headnote.sessions.hits import search as search
    from headnote.sessions.listing import find_session as find_session
    from headnote.sessions.listing import homes_here as homes_here
    from headnote.sessions.listing import list_sessions as list_sessions
    from headnote.sessions.model import Homes as Homes
    from headnote.sessions.model import Message as Message
    from headnote.sessions.model import Part as Part
    from headnote.sessions.model import Stored as Stored
    from headnote.sessions.pages import Choice as Choice
    from headnote.sessions.pages import export as export
    from headnote.sessions.redact import Redactor as Redactor
    from headnote.sessions.repair import Diagnosis as Diagnosis
    from headnote.sessions.repair import examine as examine
    from headnote.sessions.repair import mend as mend
    from headnote.sessions.resumed import Resumed as Resumed
    from headnote.sessions.resumed import resume as resume
    from headnote.sessions.retention import leaving as leaving
    from headnote.sessions.told import Told as Told
    from headnote.sessions.write import Transcript as Transcript
    from headnote.sessions.write import new_session as new_session
    from headnote.sessions.write import transcript_path as transcript_path


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'headnote.sessions' has no attribute {name!r}")
    value: object = getattr(__import__(_PLACES[name], fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
