"""Files, as the notes describe them: what the model has read, and what files were before it changed them.

1. `FileStateCache` is `foretold.files.ReadState`: one per conversation. An edit needs a read, and fails if the file has
   changed since. A compaction takes `recent()`, then calls `clear()`; a fork gets a `clone()`.
2. `file_history_state` reads the snapshots that the transcript of a session has. They are never in a prompt. `rewind`
   of `foretold.files.FileHistory`, of a harness, and `foretold files restore` go back to one of them.
"""

from __future__ import annotations

from typing import NamedTuple, Unpack

from foretold.compat.notes.places import Surrounding
from foretold.compat.notes.sessions import find_transcript
from foretold.files.history.history import FileHistory as FileHistory
from foretold.files.history.snapshots import FileSnapshot, path_of, snapshots_of
from foretold.files.read_state.state import ReadState
from foretold.sessions.formats.fields import text_at
from foretold.sessions.formats.jsonl import records_of

FileStateCache = ReadState


class FileHistoryState(NamedTuple):
    """What the files of a session were at each of its prompts."""

    snapshots: tuple[FileSnapshot, ...]
    tracked_files: tuple[str, ...]  #: whole paths


def file_history_state(session: str, **options: Unpack[Surrounding]) -> FileHistoryState:
    """The file history that a session's transcript has, by its id or its file."""
    records = [record.value for record in records_of(find_transcript(session, **options))]
    taken = snapshots_of(records)
    cwd = next(filter(None, (text_at(record, "cwd") for record in records)), "")
    keys = dict.fromkeys(key for snapshot in taken for key in snapshot.files)
    return FileHistoryState(tuple(taken), tuple(path_of(key, cwd) for key in keys))
