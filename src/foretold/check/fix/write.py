"""Writing fixes so that they can be taken back: all files or none, and byte for byte.

1. What a file was is stored before anything is written (`files.restore`): in `$FORETOLD_HOME/check`, else in
   `$XDG_STATE_HOME/foretold/check`. The last `MOST_KEPT` runs are kept.
2. A file that is not what was read when the fix was proven, has several names, or is reached through a link that leads
   out of the project, is not written, and then nothing is. The plan leaves such files out (`obstacles.py`): here, it is
   about what another program has done meanwhile.
3. Modes and owners stay, also of a file that gets another name. Folders are opened by their real path, and no link is
   followed.
4. What only git can judge is looked at afterwards; if it is not as announced, everything is taken back.
5. `undo_fixes` restores what the last run changed in a project, if nobody has changed these files since, and removes
   the folders that it created.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress

from foretold.check.fix.plan import FixPlan
from foretold.check.fix.proof import JUDGED_BY_GIT
from foretold.check.project import Project
from foretold.errors import NoCheckpoint, RestoreRefused
from foretold.files.restore.plans import RestorePlan, WantedFile, make_plan
from foretold.files.restore.restore import Restore, RestoreResult, Undo, restore, take_back
from foretold.git.runner import GitRepository
from foretold.paths import foretold_folders
from foretold.storage.atomic import replace_file
from foretold.storage.digest import digest_of
from foretold.storage.tree import Disk, Fault, is_inside

MOST_KEPT = 50  #: runs that can be undone
MOST = 64 * 1024 * 1024
WHY = "check --fix in "


def open_undo(home: str, env: Mapping[str, str]) -> Undo:
    """The store of what fixes overwrote."""
    return Undo(f"{foretold_folders(home, env).state}/check", command="foretold check --undo")


def write_fixes(plan: FixPlan, undo: Undo) -> RestoreResult:
    """Write the files of a plan, all or none. RestoreRefused if that cannot be done safely."""
    if not plan.changes:
        return RestoreResult(RestorePlan())
    wanted = [_want(path, change, plan, undo) for path, change in plan.changes.items()]
    found = make_plan(wanted)
    for each in found.changes:
        _require_unchanged(each.path, each.before.digest, each.before.names, plan.project)
    done = restore(found, undo, f"{WHY}{plan.project.top}")
    lost = _find_unfulfilled(plan)
    if lost:
        given = undo.find(done.undo)
        take_back(given, make_plan(undo.wanted(given)), undo)
        raise RestoreRefused(f"{lost}, so everything was taken back. Nothing was changed")
    _forget_old(undo)
    return done


def _want(path: str, change: object, plan: FixPlan, undo: Undo) -> WantedFile:
    """What a file should be; its new text is stored first."""
    top = plan.project.top
    if not is_inside(os.path.realpath(path), top):
        raise RestoreRefused(f"{path} is not in {top}. Nothing was changed")
    folder = os.path.realpath(os.path.dirname(path))
    if change is None:
        return WantedFile(path, None, parent=folder)
    if not isinstance(change, bytes):
        raise RestoreRefused(f"{path} is not a text. Nothing was changed")
    source = undo.object_path(digest_of(change))
    try:
        os.makedirs(os.path.dirname(source), 0o700, exist_ok=True)
        replace_file(source, change)
    except OSError as error:
        raise RestoreRefused(f"cannot write {source}: {error.strerror}. Nothing was changed") from error
    mode, owner = _find_rights(path, plan)
    return WantedFile(path, source, parent=folder, mode=mode, owner=owner)


def _find_rights(path: str, plan: FixPlan) -> tuple[int, tuple[int, int]]:
    """The mode and the owner that a file has, or has under its old name; else those of a new file."""
    for place in (path, plan.origins.get(path, path)):
        with suppress(OSError):
            about = os.lstat(place)
            return stat.S_IMODE(about.st_mode), (about.st_uid, about.st_gid)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask, (-1, -1)


def _require_unchanged(path: str, digest: str, names: int, project: Project) -> None:
    """RestoreRefused unless a file still is what the proof was made with."""
    data = project.tree.read(path, MOST)
    known = "" if isinstance(data, Fault) else digest_of(data)
    if known != digest:
        raise RestoreRefused(f"{path} was changed meanwhile; check again. Nothing was changed")
    if names > 1:
        raise RestoreRefused(
            f"{path} has {names} names (hard links) now, and only one would be changed. Nothing was changed"
        )


def _find_unfulfilled(plan: FixPlan) -> str:
    """What git does not do as announced; empty if nothing."""
    paths = [each.finding.path for each in plan.fixes if each.finding.code in JUDGED_BY_GIT]
    git = GitRepository.of(plan.project.top) if paths else None
    ignored = git.ignored(map(plan.project.relative, paths)) if git else set()
    left = [path for path in map(plan.project.relative, paths) if path not in ignored]
    return f"git still does not ignore {left[0]}" if left else ""


def undo_fixes(top: str, undo: Undo) -> RestoreResult:
    """Take back the last fixes of a project. NoCheckpoint if there are none; RestoreRefused if files were changed."""
    given = find_last(top, undo)
    changed = undo.changed_since(given)
    if changed:
        said = f"{changed[0]} was changed after the fixes of {given.id}"
        raise RestoreRefused(f"{said}; what it was is in {_copy_of(changed[0], given, undo)}. Nothing was changed")
    return take_back(given, make_plan(undo.wanted(given)), undo)


def find_last(top: str, undo: Undo) -> Restore:
    """The last fixes of a project that were not taken back."""
    restores = undo.restores()
    undone = {each.why.removeprefix("undo ").partition(":")[0] for each in restores if each.why.startswith("undo ")}
    top = os.path.realpath(top)
    found = next((each for each in restores if each.why == f"{WHY}{top}" and each.id not in undone), None)
    if found is None:
        raise NoCheckpoint(f"there is nothing to undo: no fixes of {top} are stored in {undo.folder}")
    return found


def _copy_of(path: str, given: Restore, undo: Undo) -> str:
    before = next((each.before for each in given.files if each.path == path), None)
    return undo.object_path(before[0]) if before else "no file: there was none"


def _forget_old(undo: Undo) -> None:
    """Forget runs beyond the last ones, and the texts that only they need. What fails is tried next time."""
    with undo.locked(), suppress(OSError):
        restores = undo.restores()
        for each in restores[MOST_KEPT:]:
            undo.kernel.unlink(os.path.join(undo.folder, "restores", f"{each.id}.json"))
        needed = {
            state[0]
            for each in restores[:MOST_KEPT]
            for file in each.files
            for state in (file.before, file.after)
            if state
        }
        listed = Disk().names(os.path.join(undo.folder, "objects"))
        for name in [] if isinstance(listed, Fault) else listed[0]:
            if name not in needed:
                undo.kernel.unlink(undo.object_path(name))
