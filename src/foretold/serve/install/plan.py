"""What installing and uninstalling would do. It only looks.

1. Installing adds to each settings file what is missing, or is there in another form; commands of ours that are not
   isolated become so (`isolation.py`); the rest stays as it is. Repairing does only the second.
2. Uninstalling restores a file byte for byte if it is as we left it; a file that was created for ours is deleted, with
   the folders that were made for it. From a file that was changed since, only what an install wrote is removed.
3. A file that is not valid, or has something else in the place of ours, is refused as a whole.
4. If no parts are chosen, the server is left out if the Python that would run it lacks the package for it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence

from foretold.dialects.install_targets import Install
from foretold.errors import BadArgument, SettingsRefused
from foretold.extras import how_to_install
from foretold.serve.install.backup import BackupRecord, Backups, digest_of
from foretold.serve.install.change import add_ours, handlers_in, isolate_ours, made_for, remove_ours, value_of
from foretold.serve.install.formats import Unsafe
from foretold.serve.install.ours import PARTS, InstallPiece, is_our_handler, wanted_pieces
from foretold.serve.install.program import PACKAGE, doubts, our_command, without_package
from foretold.serve.install.targets import CurrentSettings, InstallPlace, install_of, settings_of
from foretold.types import NamedTuple


class Edit(NamedTuple):
    """What happens to one settings file."""

    settings: CurrentSettings
    after: bytes | None  #: None: the file is deleted
    record: BackupRecord | None  #: what is known about it afterwards; None: it needs no record
    folders: tuple[str, ...] = ()  #: folders that are removed with it
    how: str = ""  #: of an uninstall: restored, removed

    @property
    def path(self) -> str:
        return self.settings.path

    @property
    def is_new(self) -> bool:
        return self.settings.found.kind == "missing"


class InstallPlan(NamedTuple):
    """What would be done."""

    agent: str
    scope: str
    edits: tuple[Edit, ...]
    same: tuple[str, ...] = ()  #: files that need no change
    notes: tuple[str, ...] = ()  #: what the user should know, or must do
    pieces: tuple[InstallPiece, ...] = ()  #: of an install: what the files get
    command: tuple[str, ...] = ()  #: and the command that starts foretold


def plan_install(
    agent: str,
    place: InstallPlace,
    backups: Backups,
    *,
    scope: str = "user",
    parts: Collection[str] | None = None,
    events: Collection[str] = (),
    command: Sequence[str] = (),
) -> InstallPlan:
    """What installing would do. `parts`: None is all that can run. SettingsRefused: nothing can be done safely."""
    install = install_of(agent)
    _check_events(agent, install, parts, events)
    command = list(command) or our_command(scope, place.env)
    python = without_package(command, place.env) if install.mcp else ""
    left_out = parts is None and bool(python)
    chosen = ("hooks",) if left_out else PARTS if parts is None else parts
    pieces = wanted_pieces(install, chosen, command, events)
    notes = []
    if python and (left_out or "mcp" in chosen):
        what = "the MCP server is left out" if left_out else "the MCP server cannot start yet"
        notes = [f"{what}: the package that it needs is not installed; try: {how_to_install(PACKAGE, python)}"]
    if not pieces and left_out:
        return InstallPlan(agent, scope, (), notes=tuple(notes))
    planned = {
        settings.path: _plan_addition(
            settings, [piece for piece in pieces if piece.part in settings.parts], backups, install, command
        )
        for settings in settings_of(install, scope, place, {piece.part for piece in pieces})
    }
    if not planned:
        raise SettingsRefused(f"{agent} has no settings for this ({scope}). Nothing was changed")
    plan = _made_of(planned, agent, scope)
    if plan.edits:
        notes += doubts(command, place.env)
        if "hooks" in (parts or ()) and not install.hooks:
            notes.append(f"{agent} has no hooks that foretold knows")
        if install.hooks and install.hooks.note and any(piece.part == "hooks" for piece in pieces):
            notes.append(install.hooks.note)
    return plan._replace(notes=tuple(notes), pieces=tuple(pieces), command=tuple(command))


def _made_of(planned: Mapping[str, Edit | None], agent: str, scope: str) -> InstallPlan:
    """A plan of these files; those without an edit stay as they are."""
    same = tuple(path for path, edit in planned.items() if edit is None)
    return InstallPlan(agent, scope, tuple(edit for edit in planned.values() if edit), same)


def _check_events(agent: str, install: Install, parts: Collection[str] | None, events: Collection[str]) -> None:
    """BadArgument: the agent does not have these hooks."""
    hooks = install.hooks
    if not hooks and (events or (parts is not None and "mcp" not in parts)):
        raise BadArgument(f"{agent} has no hooks that foretold knows. Nothing was changed")
    names = [hook.event for hook in hooks.events] if hooks else []
    ours = [hook.ours for hook in hooks.events] if hooks else []
    unknown = sorted(set(events) - {*names, *ours})
    if unknown:
        raise BadArgument(
            f"{agent} has no event {', '.join(unknown)}; there are: {', '.join(names)}. Nothing was changed"
        )


def plan_repair(
    agent: str, place: InstallPlace, backups: Backups, *, scope: str = "user", command: Sequence[str] = ()
) -> InstallPlan:
    """What isolating our commands in an agent's settings would do: nothing is added. SettingsRefused: as above."""
    install = install_of(agent)
    command = list(command) or our_command(scope, place.env)
    planned = {
        settings.path: _plan_addition(settings, [], backups, install, command)
        for settings in settings_of(install, scope, place, PARTS)
        if settings.found.kind == "file"
    }
    return _made_of(planned, agent, scope)._replace(command=tuple(command))


def _plan_addition(
    settings: CurrentSettings,
    pieces: Sequence[InstallPiece],
    backups: Backups,
    install: Install,
    command: Sequence[str],
) -> Edit | None:
    """How a file gets these pieces, and what of ours is not isolated becomes so; None if nothing is to be changed."""
    if settings.found.kind == "missing" and not settings.is_made:
        why = "it does not exist, and without the agent's own settings it would be of no use; start the agent first"
        raise SettingsRefused(f"{settings.path} cannot be changed: {why}. Nothing was changed")
    try:
        text = add_ours(settings.text, settings.form, pieces) if pieces else settings.text
        after = isolate_ours(text, settings.form, install, command).encode()
        made = made_for(settings.text, settings.form, pieces)
    except Unsafe as error:
        raise _refuse(settings, error) from None
    if after == settings.data and settings.found.kind == "file":
        return None
    return Edit(settings, after, _record(settings, after, made, backups))


def _refuse(settings: CurrentSettings, error: Unsafe) -> SettingsRefused:
    why = f"{settings.path} cannot be changed safely: {error}"
    return SettingsRefused(f"{why}. Fix it, or change it by hand. Nothing was changed")


def _record(settings: CurrentSettings, after: bytes, made: Sequence[Sequence[str]], backups: Backups) -> BackupRecord:
    """What will be known about a file: what it was before the first of our changes in a row."""
    old, now = backups.record(settings.target), settings.found.digest
    digest, places = digest_of(after), tuple(map(tuple, made))
    if old and now in old.after:
        return old._replace(after=(*old.after, digest), made=(*old.made, *places))
    bare = remove_ours(settings.text, settings.form, settings.servers, PARTS)  # whether or not we wrote it
    before = now if bare == settings.text else None
    made_before = old.made if old and before is None else ()
    folders = _missing_folders(settings.target) or (old.folders if old and before is None else ())
    first = (old.first or old.before or "") if old and before is None else ""
    return BackupRecord(settings.target, before, (digest,), (*made_before, *places), folders, first)


def _missing_folders(path: str) -> tuple[str, ...]:
    """The missing folders above a file, the innermost first."""
    found = []
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return tuple(found)


def plan_uninstall(
    agent: str, place: InstallPlace, backups: Backups, *, scope: str = "user", parts: Collection[str] = PARTS
) -> InstallPlan:
    """What uninstalling would do. SettingsRefused: nothing can be done safely."""
    planned, notes = dict[str, Edit | None](), []
    for settings in settings_of(install_of(agent), scope, place, parts):
        edit = planned[settings.path] = _plan_removal(settings, set(settings.parts) & set(parts), backups)
        left = (edit.after or b"").decode() if edit else settings.text
        stays = sum(is_our_handler(handler) for _, handler in _handlers(left, settings)) if "hooks" in parts else 0
        if stays and not (edit and edit.how == "restored"):
            hooks = "1 hook that calls foretold was" if stays == 1 else f"{stays} hooks that call foretold were"
            stay = "stays" if stays == 1 else "stay"
            notes.append(f"{hooks} not written by `foretold install`, and {stay}; remove by hand: {settings.path}")
    return _made_of(planned, agent, scope)._replace(notes=tuple(notes))


def _handlers(text: str, settings: CurrentSettings) -> list[tuple[object, dict[str, object]]]:
    if "hooks" not in settings.parts or not text.strip():
        return []
    return list(handlers_in(value_of(text, settings.form).get("hooks")))


def _plan_removal(settings: CurrentSettings, parts: set[str], backups: Backups) -> Edit | None:
    record = backups.record(settings.target)
    is_ours = record is not None and settings.found.digest in record.after
    made = None if record is None else {*record.made}
    known = (record.before or record.first) if record else ""
    data = backups.content(known) if known else None
    was = None if data is None else data.decode("utf-8", "replace")
    try:
        left = remove_ours(settings.text, settings.form, settings.servers, parts, made, was)
        rest = set(settings.parts) - parts
        bare = remove_ours(left, settings.form, settings.servers, rest, made, was) if rest else left
    except Unsafe as error:
        raise _refuse(settings, error) from None
    if left == settings.text:
        return None
    if left != bare:  # some of ours stays
        if record and is_ours:
            record = record._replace(after=(*record.after, digest_of(left.encode())))
        return Edit(settings, left.encode(), record, how="removed")
    if record and record.before == "" and (is_ours or not _is_anything(left, settings.form)):
        return Edit(settings, None, None, record.folders, how="restored")
    if record and record.before and is_ours and data is not None:
        return Edit(settings, data, None, how="restored")
    return Edit(settings, left.encode(), None, how="removed")


def _is_anything(text: str, form: str) -> bool:
    return bool("".join(text.removeprefix("\ufeff").split()).removeprefix("{").removesuffix("}")) or form == "yaml"
