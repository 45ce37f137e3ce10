"""What installing and uninstalling would do. Looking only.

1. Installing puts into each settings file what is not there yet, or is there in another form; the rest stays as it is.
2. Uninstalling gives a file back as it was, byte for byte, if it is as we left it; a file that was made for ours goes,
   with the folders that were made for it. Of a file that somebody changed since, only ours is taken out.
3. A file that is not valid, or has something else where ours must go, is refused as a whole.
4. If nobody says which parts, the server is left out where the Python that would run it lacks the package for it.
"""

from __future__ import annotations

import os

from foretold.dialects.install_targets import Install
from foretold.errors import BadArgument, SettingsRefused
from foretold.serve.install.backup import Kept, Record, digest_of
from foretold.serve.install.change import added, made_for, removed
from foretold.serve.install.ours import PARTS, Piece, wanted
from foretold.serve.install.program import doubts, our_command
from foretold.serve.install.python import way_to_get, without_package
from foretold.serve.install.targets import Here, Settings, install_of, settings_of
from foretold.serve.install.unsafe import Unsafe
from foretold.types import TYPE_CHECKING, NamedTuple

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
    pieces: tuple[Piece, ...] = ()  #: of an install: what the files shall have
    command: tuple[str, ...] = ()  #: and the words that start foretold


def plan_install(
    agent: str,
    here: Here,
    kept: Kept,
    *,
    scope: str = "user",
    parts: Collection[str] | None = None,
    events: Collection[str] = (),
    command: Sequence[str] = (),
) -> Plan:
    """What installing would do. `parts`: None is all that can run. SettingsRefused: nothing can be done safely."""
    install = install_of(agent)
    _known(agent, install, parts, events)
    command = list(command) or our_command(scope, here.env)
    python = without_package(command, here.env) if install.mcp else ""
    left_out = parts is None and bool(python)
    chosen = ("hooks",) if left_out else PARTS if parts is None else parts
    pieces = wanted(install, chosen, command, events)
    notes = tuple(_missing_package(python, left_out=left_out)) if left_out or "mcp" in chosen else ()
    if not pieces and left_out:
        return Plan(agent, scope, (), notes=notes)
    edits, same = [], []
    for settings in settings_of(install, scope, here, {piece.part for piece in pieces}):
        edit = _with_ours(settings, [piece for piece in pieces if piece.part in settings.parts], kept)
        if edit is None:
            same.append(settings.path)
        else:
            edits.append(edit)
    if not edits and not same:
        raise SettingsRefused(f"{agent} has no settings for this ({scope}). Nothing was changed")
    if edits:
        notes += tuple(_notes(agent, install, parts or (), {piece.part for piece in pieces}, command, here))
    return Plan(agent, scope, tuple(edits), tuple(same), notes, tuple(pieces), tuple(command))


def _missing_package(python: str, *, left_out: bool) -> Iterator[str]:
    if python:
        said = "the MCP server is left out" if left_out else "the MCP server cannot start yet"
        yield f"{said}: the package that it needs is not there; try: {way_to_get(python)}"


def _notes(
    agent: str, install: Install, asked: Collection[str], parts: Collection[str], command: Sequence[str], here: Here
) -> Iterator[str]:
    yield from doubts(command, here.env)
    if "hooks" in asked and not install.hooks:
        yield f"{agent} has no hooks that foretold knows"
    if "hooks" in parts and install.hooks and install.hooks.note:
        yield install.hooks.note


def _known(agent: str, install: Install, parts: Collection[str] | None, events: Collection[str]) -> None:
    """BadArgument: hooks are asked for that the agent does not have."""
    hooks = install.hooks
    if not hooks and (events or (parts is not None and "mcp" not in parts)):
        raise BadArgument(f"{agent} has no hooks that foretold knows. Nothing was changed")
    names = [hook.event for hook in hooks.events] if hooks else []
    ours = [hook.ours for hook in hooks.events] if hooks else []
    unknown = sorted(set(events) - {*names, *ours})
    if unknown:
        said = f"{agent} has no event {', '.join(unknown)}; there are: {', '.join(names)}"
        raise BadArgument(f"{said}. Nothing was changed")


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
    first = (old.first or old.before or "") if old and before is None else ""
    return Record(settings.target, before, (digest,), (*made_before, *places), folders, first)


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
    was = _before(record, kept)
    try:
        left = removed(settings.text, settings.form, settings.servers, parts, made, was)
        rest = set(settings.parts) - parts
        bare = removed(left, settings.form, settings.servers, rest, made, was) if rest else left
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


def _before(record: Record | None, kept: Kept) -> str | None:
    """What a file once was without ours; None if that is not known."""
    digest = (record.before or record.first) if record else ""
    data = kept.content(digest) if digest else None
    return None if data is None else data.decode("utf-8", "replace")


def _restored(settings: Settings, record: Record, kept: Kept) -> Edit | None:
    """A file as it was before; None if that is not known any more."""
    if record.before == "":
        return Edit(settings, None, None, record.folders, how="restored")
    before = kept.content(record.before) if record.before else None
    return Edit(settings, before, None, how="restored") if before is not None else None


def _is_anything(text: str, form: str) -> bool:
    return bool("".join(text.removeprefix("\ufeff").split()).removeprefix("{").removesuffix("}")) or form == "yaml"
