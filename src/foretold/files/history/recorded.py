"""The file history of sessions that Claude Code recorded, read after it is closed. Nothing of the agent's is changed.

1. What belongs to a session is its transcript, `<config>/projects/<slug>/<session>.jsonl`, and its backups,
   `<config>/file-history/<session>/`. The agent keeps the last 100 prompts in mind, and forgets those before a
   compaction when it is resumed; here all are read that the transcript still has.
2. A transcript is read line by line; only lines that speak of files or are prompts are parsed.
3. Files are named relative to the folder that the session began in. If that is gone, and the session belongs to another
   one by now (`sessions/relocate/project_folder.py`), its files are those of that folder: a project that has moved.
4. The sessions of a folder are those held in it or below it, and those held above it that touched a file in it. Those
   of a file are found by the names of backups too, wherever they were held.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping

from foretold.dialects.claude_code.file_history import HistoryForm, form_of
from foretold.dialects.claude_code.settings import slug
from foretold.errors import NoCheckpoint, SessionFailed
from foretold.files.history.history import BackupFolder, wanted_of
from foretold.files.history.snapshots import FileSnapshot, backup_name, backups_at, path_of, snapshots_of
from foretold.files.restore.plans import WantedFile
from foretold.sessions.catalog import find_session as stored_session
from foretold.sessions.formats.claude.reader import config_folder, find_sessions, has_own_folder
from foretold.sessions.formats.claude.records import prompt_of
from foretold.sessions.formats.fields import list_names, parse_time, text_at
from foretold.sessions.formats.jsonl import lines_of
from foretold.sessions.model import Homes, StoredSession
from foretold.sessions.relocate.moves import FolderMove, infer_move
from foretold.sessions.relocate.project_folder import resolve_folder
from foretold.storage.append_log import parse_object
from foretold.storage.tree import folders_above, is_inside
from foretold.types import Finding, NamedTuple

Progress = Callable[[int, int], None]

LONGEST_PROMPT = 300
_SPEAKS = re.compile(rb'"type":\s?"(?:file-history-|user")')
_RESULT = b'"tool_use_id":'  #: of a record that is not a prompt; in a prompt's text the quotes would be escaped


class Recorded(NamedTuple):
    """A session, and what its files were."""

    session: str
    transcript: str
    cwd: str
    version: str
    backups: BackupFolder
    snapshots: tuple[FileSnapshot, ...]
    prompts: Mapping[str, str]  #: what was typed, by the id of the prompt
    findings: tuple[Finding, ...] = ()

    @property
    def form(self) -> HistoryForm:
        return form_of(self.version)

    @property
    def tracked(self) -> tuple[str, ...]:
        """The whole paths of all files that were ever tracked, in the order in which that began."""
        keys = dict.fromkeys(key for snapshot in self.snapshots for key in snapshot.files)
        return tuple(path_of(key, self.cwd) for key in keys)

    @property
    def changed(self) -> float:
        """When the last snapshot was taken."""
        return parse_time(self.snapshots[-1].time) or 0.0 if self.snapshots else 0.0

    def snapshot(self, name: str) -> FileSnapshot:
        """The snapshot of a prompt, by its id or how that begins; `last` is the newest."""
        if name == "last" and self.snapshots:
            return self.snapshots[-1]
        named = [each for each in self.snapshots if name and each.message.startswith(name)]
        if len(named) == 1:
            return named[0]
        more = f"{name!r} begins {len(named)} of them" if named else f"no prompt {name!r} has a checkpoint"
        raise NoCheckpoint(f"{more}; see: foretold files rewind {self.session[:8]}")

    def wanted(self, message: str) -> list[WantedFile]:
        """What every file is to be to go back to a prompt."""
        return wanted_of(backups_at(self.snapshots, message) or {}, self.cwd, self.backups, self.form)


def read_recorded(stored: StoredSession, homes: Homes, asked: str = "") -> Recorded:
    """What a session's transcript says about files; `asked` is a folder that it may belong to by now."""
    records: list[dict[str, object]] = []
    findings: list[Finding] = []
    prompts: dict[str, str] = {}
    cwd = version = ""
    for record in _records(stored.path, findings):
        if str(record.get("type")).startswith("file-history-"):
            records.append(record)
        else:
            cwd = cwd or text_at(record, "cwd")
            version = text_at(record, "version") or version
            prompts[text_at(record, "uuid")] = prompt_of(record)[:LONGEST_PROMPT]
    cwd = cwd or (_folder_of(stored.path) if records else "")
    if records and not cwd:
        findings.append(Finding(stored.path, None, "history-strange", "nothing says which folder the session was in"))
        records = []
    way = infer_move(cwd, resolve_folder(stored._replace(cwd=cwd), homes, asked).cwd) if cwd else None
    taken = snapshots_of(records, stored.path, findings)
    if way and way.old:
        cwd, taken = way.path(cwd), [_now_at(each, way) for each in taken]
    known = {each.message: prompts.get(each.message, "") for each in taken}
    folder = os.path.join(config_folder(homes), "file-history", stored.id)
    return Recorded(stored.id, stored.path, cwd, version, BackupFolder(folder), tuple(taken), known, tuple(findings))


def _now_at(snapshot: FileSnapshot, way: FolderMove) -> FileSnapshot:
    """A snapshot of a project that has moved, with the paths that its files have now."""
    files = {way.path(key): each._replace(parent=way.path(each.parent)) for key, each in snapshot.files.items()}
    return snapshot._replace(files=files)


def _folder_of(path: str) -> str:
    """The folder of a session that has no whole prompt."""
    for line in lines_of(path):
        if b'"cwd":' in line.data and not line.is_long and (cwd := text_at(parse_object(line.data), "cwd")):
            return cwd
    return ""


def _records(path: str, findings: list[Finding]) -> Iterator[dict[str, object]]:
    """The records that matter here."""
    try:
        for line in lines_of(path):
            if not _SPEAKS.search(line.data) or _RESULT in line.data:
                continue
            value = None if line.is_long else parse_object(line.data)
            if value is not None:
                yield value
            elif b'"file-history-' in line.data[:400]:
                said = "a record about files is damaged and is skipped"
                findings.append(Finding(path, line.number, "history-strange", said))
    except OSError as error:
        raise SessionFailed(f"{path} cannot be read: {error.strerror}") from error


# Finding sessions


def list_sessions_in(homes: Homes, folder: str, progress: Progress | None = None) -> list[Recorded]:
    """The sessions that changed files in a folder, the newest first."""
    here, above = slug(folder), {slug(each) for each in folders_above(folder)}
    named = [
        each
        for each in _main(homes)
        if _project(each) in above or _project(each).startswith(here[:200]) or has_own_folder(each.path)
    ]
    read = _read(named, homes, progress, folder)
    return _newest(each for each in read if any(is_inside(path, folder) for path in (*each.tracked, each.cwd)))


def list_sessions_with(
    homes: Homes, path: str, *, everywhere: bool = False, progress: Progress | None = None
) -> list[Recorded]:
    """The sessions that tracked a file, the newest first. `everywhere` reads all there are: a file that was never there
    at a prompt has no backup to be found by."""
    digest = backup_name(path, 1).partition("@")[0]
    above = {slug(each) for each in folders_above(path)}
    named = [
        each for each in _main(homes) if everywhere or _project(each) in above or _has_backup(homes, each.id, digest)
    ]
    return _newest(each for each in _read(named, homes, progress) if path in each.tracked)


def _read(named: list[StoredSession], homes: Homes, progress: Progress | None, asked: str = "") -> Iterator[Recorded]:
    """Sessions, one by one; `progress` gets the bytes read so far and in total."""
    total, done = sum(each.size for each in named), 0
    for each in named:
        if progress:
            progress(done, total)
        yield read_recorded(each, homes, asked)
        done += each.size


def find_session(homes: Homes, name: str) -> Recorded:
    """A session of Claude Code by its id or its title, how one of them begins, or its transcript."""
    stored = stored_session(homes, name, agents=("claude-code",), hint="foretold files list shows them")
    recorded = read_recorded(stored, homes)
    if not recorded.snapshots:
        raise NoCheckpoint(
            f"session {stored.id} has no checkpoints of files; Claude Code makes them in a terminal, and with "
            "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1 without one"
        )
    return recorded


def _main(homes: Homes) -> Iterator[StoredSession]:
    """All transcripts but those of subagents: their edits are not tracked."""
    return (each for each in find_sessions(homes) if each.kind == "main")


def _newest(read: Iterator[Recorded]) -> list[Recorded]:
    return sorted((each for each in read if each.snapshots), key=lambda each: each.changed, reverse=True)


def _project(stored: StoredSession) -> str:
    return os.path.basename(os.path.dirname(stored.path))


def _has_backup(homes: Homes, session: str, digest: str) -> bool:
    names = list_names(os.path.join(config_folder(homes), "file-history", session))
    return any(name.startswith(f"{digest}@") for name in names)
