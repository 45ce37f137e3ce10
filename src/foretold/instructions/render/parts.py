"""From entries to the parts of a request, for agents that have several, and to what a touched file brings.

1. A part has groups; a group takes the entries of its layers or kinds, in their order. A group or a part without
   entries is not sent. Groups of the rest follow after an empty line; where there is nothing else, nothing is after
   them. # copilot-cli: copilot-211, copilot-214, copilot-221
2. Paths are shown whole, relative to the working directory, or relative to the top of the repository.
3. What a touched file brings is escaped, put together, and then masked, where the dialect does so.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from foretold.dialects.schema import Dialect, EntryGroup, Nested, RequestPart
from foretold.dialects.surroundings import Surroundings
from foretold.instructions.render.blocks import shown_path
from foretold.instructions.render.escape import escape_html
from foretold.types import TYPE_CHECKING, Block, Entry

if TYPE_CHECKING:
    from foretold.instructions.view import View


def part_blocks(entries: Sequence[Entry], dialect: Dialect, surroundings: Surroundings) -> list[tuple[str, Block]]:
    """Place and block of every part that has entries."""
    found = []
    layers = {entry.layer for entry in entries} | {entry.kind for entry in entries}
    for part in dialect.parts:
        said, rest = (
            [text for group in groups if (text := _group_text(group, entries, surroundings, layers)) is not None]
            for groups in (part.groups, part.rest)
        )
        text, after = part.join.join(filter(None, said)), "\n\n".join(rest)
        if text:
            text = _before(part, layers, surroundings) + text + part.after
        if text or after:
            text = text if not after else f"{text}\n{after}\n"
            text = text if said and after else text.removesuffix(part.chops)
            found.append((part.place, Block(part.role, "text", text)))
    return found


def _before(part: RequestPart, layers: set[str], surroundings: Surroundings) -> str:
    layer, where = part.where
    is_there = not layer or layer in layers
    return part.before.replace("{where}", where.replace("{cwd}", shown_path(surroundings.cwd)) if is_there else "")


def _group_text(
    group: EntryGroup, entries: Sequence[Entry], surroundings: Surroundings, layers: set[str]
) -> str | None:
    """The text of a group; None if it has no entries."""
    taken = [entry for entry in entries if entry.kind in group.takes or f"{entry.layer} {entry.kind}" in group.takes]
    if not taken:
        return None
    text = group.join.join(_entry_text(group.entry, entry, surroundings) for entry in taken)
    if group.needs and group.needs not in layers:
        return text
    return group.before + text + group.after


def _entry_text(form: str, entry: Entry, surroundings: Surroundings) -> str:
    path = shown_path(entry.path)
    return form.format(
        path=path,
        relative=os.path.relpath(path, surroundings.cwd) if "{relative}" in form else "",
        project=os.path.relpath(path, surroundings.top) if "{project}" in form else "",
        name=shown_path(entry.name),
        layer=entry.layer,
        text=entry.text,
        globs=", ".join(entry.globs),
    )


def nested_blocks(entries: Sequence[Entry], nested: Nested, surroundings: Surroundings) -> list[Block]:
    """The blocks that carry what one touched file brings."""
    if not entries:
        return []
    if nested.escapes:
        entries = [each._replace(text=escape_html(each.text), name=escape_html(each.name)) for each in entries]
    texts = [_entry_text(nested.entry, entry, surroundings) for entry in entries]
    if nested.each:
        whole = "".join(nested.before + text + nested.after for text in texts)
    else:
        whole = nested.before + nested.join.join(texts) + nested.after
    if nested.masks:
        from foretold.instructions.render.masks import mask_secrets  # most agents have no need of this

        whole = mask_secrets(whole, nested)
    return [Block(nested.role, nested.type, whole)]


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
