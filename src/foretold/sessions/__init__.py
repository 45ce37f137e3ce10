"""What was said: conversations that agents keep on disk, and a writer for harnesses.

    for stored in foretold.sessions.list_sessions(limit=5):
        for message in foretold.sessions.read(stored):
            print(stored.agent, message.role, message.text)

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

from foretold.imports import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.secrets.redactor import Redactor as Redactor
    from foretold.sessions.archive.archive import Archive as Archive
    from foretold.sessions.archive.retention import find_expiring_sessions as find_expiring_sessions
    from foretold.sessions.catalog import (
        find_homes as find_homes,
        find_session as find_session,
        list_sessions as list_sessions,
    )
    from foretold.sessions.exporters.export import Choice as Choice, export as export
    from foretold.sessions.formats.readers import read as read
    from foretold.sessions.fulltext.search import (
        Hit as Hit,
        Results as Results,
        open_index as open_index,
        search as search,
    )
    from foretold.sessions.instructions_seen.compare import InstructionsSeen as InstructionsSeen
    from foretold.sessions.model import Homes as Homes, Message as Message, Part as Part, StoredSession as StoredSession
    from foretold.sessions.repair.copy import write_repaired_copy as write_repaired_copy
    from foretold.sessions.repair.diagnose import Diagnosis as Diagnosis, diagnose as diagnose
    from foretold.sessions.resumption.claude import Resumed as Resumed, resume as resume
    from foretold.sessions.resumption.codex import resume_codex as resume_codex
    from foretold.sessions.transcript.fork import fork as fork
    from foretold.sessions.transcript.writer import (
        Transcript as Transcript,
        new_session as new_session,
        transcript_path as transcript_path,
    )

__getattr__, __dir__ = attach(
    __name__,
    {
        "foretold.secrets.redactor": "Redactor",
        "foretold.sessions.archive.archive": "Archive",
        "foretold.sessions.archive.retention": "find_expiring_sessions",
        "foretold.sessions.catalog": "find_session find_homes list_sessions",
        "foretold.sessions.exporters.export": "Choice export",
        "foretold.sessions.formats.readers": "read",
        "foretold.sessions.fulltext.search": "Hit Results open_index search",
        "foretold.sessions.instructions_seen.compare": "InstructionsSeen",
        "foretold.sessions.model": "Homes Message Part StoredSession",
        "foretold.sessions.repair.copy": "write_repaired_copy",
        "foretold.sessions.repair.diagnose": "Diagnosis diagnose",
        "foretold.sessions.resumption.claude": "Resumed resume",
        "foretold.sessions.resumption.codex": "resume_codex",
        "foretold.sessions.transcript.fork": "fork",
        "foretold.sessions.transcript.writer": "Transcript new_session transcript_path",
    },
)
