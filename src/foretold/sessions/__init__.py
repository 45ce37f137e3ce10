"""What was said: conversations that agents keep on disk, and a writer for harnesses.

    for stored in foretold.sessions.list_sessions(limit=5):
        for message in foretold.sessions.read(stored):
            print(stored.agent, message.role, message.text)

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

_PLACES = {
    "Archive": "foretold.sessions.archive.archive",
    "Choice": "foretold.sessions.exporters.export",
    "Diagnosis": "foretold.sessions.repair.diagnose",
    "Hit": "foretold.sessions.fulltext.search",
    "Homes": "foretold.sessions.model",
    "Message": "foretold.sessions.model",
    "Part": "foretold.sessions.model",
    "Redactor": "foretold.secrets.redactor",
    "Results": "foretold.sessions.fulltext.search",
    "Resumed": "foretold.sessions.resumption.claude",
    "Stored": "foretold.sessions.model",
    "Told": "foretold.sessions.instructions_seen.compare",
    "Transcript": "foretold.sessions.transcript.writer",
    "examine": "foretold.sessions.repair.diagnose",
    "export": "foretold.sessions.exporters.export",
    "find_session": "foretold.sessions.catalog",
    "fork": "foretold.sessions.transcript.fork",
    "homes_here": "foretold.sessions.catalog",
    "leaving": "foretold.sessions.archive.retention",
    "list_sessions": "foretold.sessions.catalog",
    "mend": "foretold.sessions.repair.diagnose",
    "new_session": "foretold.sessions.transcript.writer",
    "open_index": "foretold.sessions.fulltext.search",
    "read": "foretold.sessions.formats.readers",
    "resume": "foretold.sessions.resumption.claude",
    "resume_codex": "foretold.sessions.resumption.codex",
    "search": "foretold.sessions.fulltext.search",
    "transcript_path": "foretold.sessions.transcript.writer",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.secrets.redactor import Redactor as Redactor
    from foretold.sessions.archive.archive import Archive as Archive
    from foretold.sessions.archive.retention import leaving as leaving
    from foretold.sessions.catalog import find_session as find_session
    from foretold.sessions.catalog import homes_here as homes_here
    from foretold.sessions.catalog import list_sessions as list_sessions
    from foretold.sessions.exporters.export import Choice as Choice
    from foretold.sessions.exporters.export import export as export
    from foretold.sessions.formats.readers import read as read
    from foretold.sessions.fulltext.search import Hit as Hit
    from foretold.sessions.fulltext.search import Results as Results
    from foretold.sessions.fulltext.search import open_index as open_index
    from foretold.sessions.fulltext.search import search as search
    from foretold.sessions.instructions_seen.compare import Told as Told
    from foretold.sessions.model import Homes as Homes
    from foretold.sessions.model import Message as Message
    from foretold.sessions.model import Part as Part
    from foretold.sessions.model import Stored as Stored
    from foretold.sessions.repair.diagnose import Diagnosis as Diagnosis
    from foretold.sessions.repair.diagnose import examine as examine
    from foretold.sessions.repair.diagnose import mend as mend
    from foretold.sessions.resumption.claude import Resumed as Resumed
    from foretold.sessions.resumption.claude import resume as resume
    from foretold.sessions.resumption.codex import resume_codex as resume_codex
    from foretold.sessions.transcript.fork import fork as fork
    from foretold.sessions.transcript.writer import Transcript as Transcript
    from foretold.sessions.transcript.writer import new_session as new_session
    from foretold.sessions.transcript.writer import transcript_path as transcript_path


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'foretold.sessions' has no attribute {name!r}")
    value: object = getattr(__import__(_PLACES[name], fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
