"""What installing and uninstalling would do. Looking only.

1. Installing puts into each settings file what is not there yet, or is there in another form; the rest stays as it is.
2. Uninstalling gives a file back as it was, byte for byte, if it is as we left it; a file that was made for ours goes,
   with the folders that were made for it. Of a file that somebody changed since, only ours is taken out.
3. A file that is not valid, or has something else where ours must go, is refused as a whole.
"""

from __future__ import annotations

import os

from headnote.dialects.installs import INSTALLS, Install
from headnote.errors import SettingsRefused
from headnote.serve.install.change import added, made_for, removed
from headnote.serve.install.kept import Kept, Record, digest_of
from headnote.serve.install.pieces import PARTS, Piece, wanted
from headnote.serve.install.places import Here, Settings, install_of, settings_of
from headnote.serve.install.program import doubts, is_importable, our_command
from headnote.serve.install.unsafe import Unsafe
from headnote.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


class Edit(NamedTuple):
    """What happens to one settings file."""

    settings: Settings
    after: bytes | None  #: None: the file goes
    record: Record | None  #: what is known of it afterwards; None: it needs no record
    folders: tuple[str, ...] = ()  #: folders that go with it
    how: str = ""  #: of an uninstall: restored, removed

    @property
    def path(self) -> str:
        return self.settings.path


class Plan(NamedTuple):
    """What would be done."""

    agent: str
    scope: str
    edits: tuple[Edit, ...]
    same: tuple[str, ...] = ()  #: files that need no change
    notes: tuple[str, ...] = ()  #: what the user should know, or must do


def plan_install(
    agent: str,
    here: Here,
    kept: Kept,
    *,
    scope: str = "user",
    parts: Collection[str] = PARTS,
    events: Collection[str] = (),
    command: Sequence[str] = (),
) -> Plan:
    """What installing would do. SettingsRefused: nothing can be done safely."""
    install = install_of(agent)
    _known(agent, events)
    command = list(command) or our_command(scope, here.env)
    pieces = wanted(install, parts, command, events)
    edits, same = [], []
    for settings in settings_of(install, scope, here, {piece.part for piece in pieces}):
        edit = _with_ours(settings, [piece for piece in pieces if piece.part in settings.parts], kept)
        if edit is None:
            same.append(settings.path)
        else:
            edits.append(edit)
    if not edits and not same:
        raise SettingsRefused(f"{agent} has no settings for this ({scope}). Nothing was changed")
    notes = _notes(install, {piece.part for piece in pieces}, command, here) if edits else ()
    return Plan(agent, scope, tuple(edits), tuple(same), tuple(notes))


def _notes(install: Install, parts: Collection[str], command: Sequence[str], here: Here) -> Iterator[str]:
    yield from doubts(command, here.env)
    if "mcp" in parts and not is_importable("mcp"):
        yield "the MCP server needs one more package: pip install 'headnote[mcp]'"
    if "hooks" in parts and install.hooks and install.hooks.note:
        yield install.hooks.note


def _known(agent: str, events: Collection[str]) -> None:
    hooks = INSTALLS[agent].hooks
    names = [hook.event for hook in hooks.events] if hooks else []
    ours = [hook.ours for hook in hooks.events] if hooks else []
    unknown = sorted(set(events) - {*names, *ours})
    if unknown:
        said = f"there are: {', '.join(names)}" if names else "it has no hooks of ours"
        raise SettingsRefused(f"{agent} has no event {', '.join(unknown)}; {said}. Nothing was changed")


def _with_ours(settings: Settings, pieces: Sequence[Piece], kept: Kept) -> Edit | None:
    """How a file gets ours; None if it has it."""
    if settings.found.kind == "missing" and not settings.is_made:
        said = "it is not there, and without the agent's own settings it would be of no use; start the agent first"
        raise SettingsRefused(f"{settings.path} cannot be changed: {said}. Nothing was changed")
    try:
        after = added(settings.text, settings.form, pieces).encode()
        made = made_for(settings.text, settings.form, pieces)
    except Unsafe as error:
        raise _refused(settings, error) from None
    if after == settings.data and settings.found.kind == "file":
        return None
    return Edit(settings, after, _record(settings, after, made, kept))


def _refused(settings: Settings, error: Unsafe) -> SettingsRefused:
    said = f"{settings.path} cannot be changed safely: {error}"
    return SettingsRefused(f"{said}. Mend it, or change it by hand. Nothing was changed")


def _record(settings: Settings, after: bytes, made: Sequence[Sequence[str]], kept: Kept) -> Record:
    """What will be known of a file: what it was before the first of our changes in a row."""
    old, now = kept.record(settings.target), settings.found.digest
    digest, places = digest_of(after), tuple(map(tuple, made))
    if old and now in old.after:
        return old._replace(after=(*old.after, digest), made=(*old.made, *places))
    before = now if not _has_ours(settings) else None
    made_before = old.made if old and before is None else ()
    folders = _missing_folders(settings.target) or (old.folders if old and before is None else ())
    return Record(settings.target, before, (digest,), (*made_before, *places), folders)


def _has_ours(settings: Settings) -> bool:
    """Whether a file has anything of ours, whoever put it there."""
    return removed(settings.text, settings.form, settings.servers, PARTS) != settings.text


def _missing_folders(path: str) -> tuple[str, ...]:
    """The folders above a file that are not there, the innermost first."""
    found = []
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return tuple(found)


def plan_uninstall(agent: str, here: Here, kept: Kept, *, scope: str = "user", parts: Collection[str] = PARTS) -> Plan:
    """What uninstalling would do. SettingsRefused: nothing can be done safely."""
    edits, same = [], []
    for settings in settings_of(install_of(agent), scope, here, parts):
        edit = _without_ours(settings, set(settings.parts) & set(parts), kept)
        if edit is None:
            same.append(settings.path)
        else:
            edits.append(edit)
    return Plan(agent, scope, tuple(edits), tuple(same))


def _without_ours(settings: Settings, parts: set[str], kept: Kept) -> Edit | None:
    record = kept.record(settings.target)
    is_ours = record is not None and settings.found.digest in record.after
    made = None if record is None else {*record.made}
    keys = settings.servers
    try:
        left = removed(settings.text, settings.form, keys, parts, made)
        bare = left if parts == set(settings.parts) else removed(left, settings.form, keys, settings.parts, made)
    except Unsafe as error:
        raise _refused(settings, error) from None
    if left == settings.text:
        return None
    if left != bare:  # something of ours stays
        known = record._replace(after=(*record.after, digest_of(left.encode()))) if record and is_ours else record
        return Edit(settings, left.encode(), known, how="removed")
    if record and is_ours:
        restored = _restored(settings, record, kept)
        if restored:
            return restored
    if record and record.before == "" and not _is_anything(left, settings.form):
        return Edit(settings, None, None, record.folders, how="restored")
    return Edit(settings, left.encode(), None, how="removed")


def _restored(settings: Settings, record: Record, kept: Kept) -> Edit | None:
    """A file as it was before; None if that is not known any more."""
    if record.before == "":
        return Edit(settings, None, None, record.folders, how="restored")
    before = kept.content(record.before) if record.before else None
    return Edit(settings, before, None, how="restored") if before is not None else None


def _is_anything(text: str, form: str) -> bool:
    return bool("".join(text.removeprefix("\ufeff").split()).removeprefix("{").removesuffix("}")) or form == "yaml"
