"""Doing what a plan says: all settings files of it, or none.

1. What the files are, and what they become, is kept first, synced.
2. Then the files change places with what was got ready beside them, each in one step (`files/swap.py`). If one is not
   what the plan looked at, somebody was faster: all goes back, and `SettingsRefused` says so.
3. Last, folders that were made for ours and are empty go, and records that are not needed any more.
"""

from __future__ import annotations

import os
from contextlib import suppress

from foretold.errors import RestoreRefused, RestoreStopped, SettingsRefused
from foretold.files.restore.look import FileState
from foretold.files.restore.plans import FileChange
from foretold.files.restore.restore import Undo
from foretold.files.restore.swap import ASIDE, put_back, temporary
from foretold.serve.install.backup import Kept, digest_of
from foretold.serve.install.plan import Edit, Plan
from foretold.storage.kernel import token

MODES = {"user": 0o600, "project": 0o644}  #: of a file that is made


def carry_out(plan: Plan, kept: Kept) -> None:
    """Do what a plan says. SettingsRefused: nothing was changed."""
    if not plan.edits:
        return
    try:
        with Undo(kept.folder, kept.kernel).locked():
            _carry_out(plan, kept)
    except OSError as error:
        said = f"what the settings are cannot be kept in {kept.folder}: {error.strerror}"
        raise SettingsRefused(f"{said}. Nothing was changed") from error
    except RestoreRefused as error:
        raise SettingsRefused(str(error).replace("cannot restore", "cannot write")) from error
    except RestoreStopped as error:
        raise SettingsRefused(f"{error}; what they were is in {kept.folder}") from error


def _carry_out(plan: Plan, kept: Kept) -> None:
    kept.end()
    changes = [_change(edit, MODES[plan.scope], kept) for edit in plan.edits]
    known = [kept.record(edit.settings.target) for edit in plan.edits]
    name = token()
    kept.begin([path for number, change in enumerate(changes) for path in _beside(change, temporary(name, number))])
    for edit in plan.edits:
        if edit.record:
            kept.write(edit.record)
    try:
        put_back(changes, name, kept.kernel)
    except RestoreRefused:
        for record in filter(None, known):
            kept.write(record)
        kept.end()
        raise
    kept.end()
    _tidy(plan, kept)


def _beside(change: FileChange, name: str) -> list[str]:
    return [os.path.join(change.folder, each) for each in (name, name + ASIDE)]


def _tidy(plan: Plan, kept: Kept) -> None:
    for edit in plan.edits:
        for folder in edit.folders:
            with suppress(OSError):
                os.rmdir(folder)
        if edit.record is None:
            kept.forget(edit.settings.target)


def _change(edit: Edit, mode: int, kept: Kept) -> FileChange:
    settings = edit.settings
    if settings.found.kind == "file":
        kept.keep(settings.data)
        mode = settings.found.mode
    folder = os.path.dirname(settings.target)
    if edit.after is None:
        return FileChange(settings.target, "delete", settings.found, FileState(), None, folder)
    digest = kept.keep(edit.after)
    action = "write" if settings.found.kind == "file" else "create"
    after = FileState("file", digest, mode, len(edit.after))
    assert digest == digest_of(edit.after)
    return FileChange(settings.target, action, settings.found, after, kept.object_path(digest), folder)
