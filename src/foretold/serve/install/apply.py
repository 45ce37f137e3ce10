"""Applies a plan: all of its settings files, or none.

1. What the files are, and what they become, is backed up first, synced.
2. Then each file is exchanged with a temporary file next to it, in one step (`files/restore/swap.py`). If one is not
   what the plan saw, another process was faster: everything is undone, and `SettingsRefused` says so.
3. Last, empty folders that were made for ours are removed, and records that are no longer needed.
"""

from __future__ import annotations

import os
from contextlib import suppress

from foretold.errors import RestoreRefused, RestoreStopped, SettingsRefused
from foretold.files.restore.look import FileState
from foretold.files.restore.plans import FileChange
from foretold.files.restore.restore import Undo
from foretold.files.restore.swap import ASIDE, put_back, temporary
from foretold.serve.install.backup import Backups, digest_of
from foretold.serve.install.plan import Edit, InstallPlan
from foretold.storage.kernel import token

MODES = {"user": 0o600, "project": 0o644}  #: of a file that is made


def apply_plan(plan: InstallPlan, backups: Backups) -> None:
    """Apply a plan. SettingsRefused: nothing was changed."""
    if not plan.edits:
        return
    try:
        with Undo(backups.folder, backups.kernel).locked():
            _apply(plan, backups)
    except OSError as error:
        raise SettingsRefused(
            f"the settings cannot be backed up in {backups.folder}: {error.strerror}. Nothing was changed"
        ) from error
    except RestoreRefused as error:
        raise SettingsRefused(str(error).replace("cannot restore", "cannot write")) from error
    except RestoreStopped as error:
        raise SettingsRefused(f"{error}; the backup is in {backups.folder}") from error


def _apply(plan: InstallPlan, backups: Backups) -> None:
    backups.end()
    changes = [_change(edit, MODES[plan.scope], backups) for edit in plan.edits]
    known = [backups.record(edit.settings.target) for edit in plan.edits]
    name = token()
    places = [os.path.join(each.folder, temporary(name, number)) for number, each in enumerate(changes)]
    backups.begin([path for place in places for path in (place, place + ASIDE)])
    for edit in plan.edits:
        if edit.record:
            backups.write(edit.record)
    try:
        put_back(changes, name, backups.kernel)
    except RestoreRefused:
        for record in filter(None, known):
            backups.write(record)
        backups.end()
        raise
    backups.end()
    for edit in plan.edits:
        for folder in edit.folders:
            with suppress(OSError):
                os.rmdir(folder)
        if edit.record is None:
            backups.forget(edit.settings.target)


def _change(edit: Edit, mode: int, backups: Backups) -> FileChange:
    settings = edit.settings
    if settings.found.kind == "file":
        backups.keep(settings.data)
        mode = settings.found.mode
    folder = os.path.dirname(settings.target)
    if edit.after is None:
        return FileChange(settings.target, "delete", settings.found, FileState(), None, folder)
    digest = backups.keep(edit.after)
    action = "write" if settings.found.kind == "file" else "create"
    after = FileState("file", digest, mode, len(edit.after))
    assert digest == digest_of(edit.after)
    return FileChange(settings.target, action, settings.found, after, backups.object_path(digest), folder)
