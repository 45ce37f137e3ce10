"""What was said: conversations that agents keep on disk, and a writer for harnesses.

    for stored in foretold.sessions.list_sessions(limit=5):
        for message in foretold.sessions.read(stored):
            print(stored.agent, message.role, message.text)

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

_PLACES = {
    "Archive": "foretold.sessions.archive",
    "Choice": "foretold.sessions.pages",
    "Diagnosis": "foretold.sessions.repair",
    "Hit": "foretold.sessions.hits",
    "Homes": "foretold.sessions.model",
    "Message": "foretold.sessions.model",
    "Part": "foretold.sessions.model",
    "Redactor": "foretold.sessions.redact",
    "Results": "foretold.sessions.hits",
    "Resumed": "foretold.sessions.resumed",
    "Stored": "foretold.sessions.model",
    "Told": "foretold.sessions.told",
    "Transcript": "foretold.sessions.write",
    "examine": "foretold.sessions.repair",
    "export": "foretold.sessions.pages",
    "find_session": "foretold.sessions.listing",
    "fork": "foretold.sessions.forked",
    "homes_here": "foretold.sessions.listing",
    "leaving": "foretold.sessions.retention",
    "list_sessions": "foretold.sessions.listing",
    "mend": "foretold.sessions.repair",
    "new_session": "foretold.sessions.write",
    "open_index": "foretold.sessions.hits",
    "read": "foretold.sessions.agents",
    "resume": "foretold.sessions.resumed",
    "resume_codex": "foretold.sessions.codex_resume",
    "search": "foretold.sessions.hits",
    "transcript_path": "foretold.sessions.write",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.sessions.agents import read as read
    from foretold.sessions.archive import Archive as Archive
    from foretold.sessions.codex_resume import resume_codex as resume_codex
    from foretold.sessions.forked import fork as fork
    from foretold.sessions.hits import Hit as Hit
    from foretold.sessions.hits import Results as Results
    from foretold.sessions.hits import open_index as open_index
    from foretold.sessions.hits import search as search
    from foretold.sessions.listing import find_session as find_session
    from foretold.sessions.listing import homes_here as homes_here
    from foretold.sessions.listing import list_sessions as list_sessions
    from foretold.sessions.model import Homes as Homes
    from foretold.sessions.model import Message as Message
    from foretold.sessions.model import Part as Part
    from foretold.sessions.model import Stored as Stored
    from foretold.sessions.pages import Choice as Choice
    from foretold.sessions.pages import export as export
    from foretold.sessions.redact import Redactor as Redactor
    from foretold.sessions.repair import Diagnosis as Diagnosis
    from foretold.sessions.repair import examine as examine
    from foretold.sessions.repair import mend as mend
    from foretold.sessions.resumed import Resumed as Resumed
    from foretold.sessions.resumed import resume as resume
    from foretold.sessions.retention import leaving as leaving
    from foretold.sessions.told import Told as Told
    from foretold.sessions.write import Transcript as Transcript
    from foretold.sessions.write import new_session as new_session
    from foretold.sessions.write import transcript_path as transcript_path


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'foretold.sessions' has no attribute {name!r}")
    value: object = getattr(__import__(_PLACES[name], fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
