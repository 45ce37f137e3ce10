"""From entries to the parts of a request, for agents that have several, and to what a touched file brings.

1. A part has groups; a group takes the entries of its layers or kinds, in their order. A group or a part without
   entries is not sent.
2. Paths are shown whole, relative to the working directory, or relative to the top of the repository.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from foretold.dialects.schema import Dialect, EntryGroup, Nested, RequestPart
from foretold.dialects.surroundings import Surroundings
from foretold.instructions.render.blocks import shown_path
from foretold.types import TYPE_CHECKING, Block, Entry

if TYPE_CHECKING:
    from foretold.instructions.view import View

HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def part_blocks(entries: Sequence[Entry], dialect: Dialect, surroundings: Surroundings) -> list[tuple[str, Block]]:
    """Place and block of every part that has entries."""
    found = []
    layers = {entry.layer for entry in entries} | {entry.kind for entry in entries}
    for part in dialect.parts:
        texts = [_group_text(group, entries, surroundings, layers) for group in part.groups]
        said = [text for text in texts if text]
        if said:
            text = (_before(part, layers, surroundings) + part.join.join(said) + part.after).removesuffix(part.chops)
            found.append((part.place, Block(part.role, "text", text)))
    return found


def _before(part: RequestPart, layers: set[str], surroundings: Surroundings) -> str:
    layer, where = part.where
    return part.before.replace(
        "{where}", where.replace("{cwd}", shown_path(surroundings.cwd)) if layer in layers else ""
    )


def _group_text(group: EntryGroup, entries: Sequence[Entry], surroundings: Surroundings, layers: set[str]) -> str:
    taken = [entry for entry in entries if entry.kind in group.takes or f"{entry.layer} {entry.kind}" in group.takes]
    if not taken:
        return ""
    text = group.join.join(_entry_text(group.entry, entry, surroundings) for entry in taken)
    if group.needs and group.needs not in layers:
        return text
    return group.before + text + group.after


def _entry_text(form: str, entry: Entry, surroundings: Surroundings) -> str:
    path = shown_path(entry.path)
    top = surroundings.git.top if surroundings.git else surroundings.cwd
    return form.format(
        path=path,
        relative=os.path.relpath(path, surroundings.cwd) if "{relative}" in form else "",
        project=os.path.relpath(path, top) if "{project}" in form else "",
        name=entry.name,
        layer=entry.layer,
        text=entry.text,
        globs=", ".join(entry.globs),
    )


def nested_blocks(entries: Sequence[Entry], nested: Nested, surroundings: Surroundings) -> list[Block]:
    """The blocks that carry what one touched file brings."""
    if not entries:
        return []
    if nested.escapes:
        entries = [entry._replace(text=entry.text.translate(HTML)) for entry in entries]
    texts = [_entry_text(nested.entry, entry, surroundings) for entry in entries]
    if nested.each:
        whole = "".join(nested.before + text + nested.after for text in texts)
        return [Block(nested.role, nested.type, whole)]
    return [Block(nested.role, nested.type, nested.before + nested.join.join(texts) + nested.after)]


def resumed_blocks(before: View, now: View) -> tuple[str, list[Block]]:
    """What a resumed conversation is told about its instructions, and in which of the words of `EFFECTS`.

    Compared are whole texts, with the head that names the folder, not the paths of files. # codex: codex-110, codex-124
    The memory summary stays as it was, as a resumed 0.166.0 showed.
    """
    plan = now.dialect.continuation
    part = next(part for part in now.dialect.parts if part.place == "before-prompt")
    old, new = ([slot.block.text for slot in view.slots if slot.place == part.place] for view in (before, now))
    if old == new:
        return "same" if before.slots == now.slots else "kept", []
    if not new:
        text = part.before.replace("{where}", "") + plan.withdraws + part.after
        return "withdrawn", [Block(part.role, "text", text)]
    effect, said = ("replaced", plan.replaces) if old else ("added", "")
    head = _before(part, {entry.layer for entry in now.entries}, now.surroundings)
    return effect, [Block(part.role, "text", head + said + text.removeprefix(head)) for text in new]
