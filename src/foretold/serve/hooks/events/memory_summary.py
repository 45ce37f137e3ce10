"""What a start says about memories, worked out from all of them, and kept: the slow way.

1. The index of the team, and of the private store if the agent does not load it, each cut to SHARE tokens, and
   without what looks like a credential.
2. How many memories the last `verify` found to be missing something, of those that were not changed since.
3. Where memories of this repository lie that the agent does not read.
"""

from __future__ import annotations

import os

from foretold.memory.doctor import elsewhere
from foretold.memory.drift.quick_check import kept_in
from foretold.memory.project import Memories, open as open_memories
from foretold.memory.store.team import team_entry, team_text
from foretold.secrets.masking import masked
from foretold.serve.hooks.cache import stamp_of
from foretold.storage.tree import Disk
from foretold.types import TYPE_CHECKING, Entry, estimate_tokens

if TYPE_CHECKING:
    from foretold.memory.note import Memory
    from foretold.serve.hooks.context import Scene

SHARE = 1200  #: tokens of an index
CODES = ("memory-moved", "memory-split")


def summarise(scene: Scene) -> tuple[str, int, str]:
    """The index to be told, the number of memories that are out of date, and where others lie."""
    asking = scene.asking
    memories = open_memories(
        scene.folder, agent=scene.where.keeper, home=asking.home, managed=asking.managed or None, env=asking.env
    )
    where, disk = scene.where, Disk()
    folders = [store.path for store in memories.stores]
    paths = [*below(folders), where.verdicts, f"{where.verdicts}/verdicts.json", scene.ours.state]
    disk.stamps.update({path: stamp_of(path) for path in paths})
    notes = memories.memories()
    value = (_indexes(memories, is_read=where.is_read), _drifted(notes, where.verdicts), _elsewhere(memories))
    scene.keep("summary", value, disk)
    return value


def below(folders: list[str]) -> list[str]:
    """Folders, and the folders in them."""
    inner = [top for folder in folders for top, _, _ in os.walk(folder)]
    return [*folders, *(path for path in inner if path not in folders)]


def _indexes(memories: Memories, *, is_read: bool) -> str:
    parts = []
    entry = team_entry(memories.team) if memories.team is not None else None
    if entry is not None:
        parts.append(team_text(_cut(entry)))
    if not is_read and not memories.place.off:
        parts.append(_private(memories))
    return masked("\n\n".join(part for part in parts if part))[0]


def _private(memories: Memories) -> str:
    """The private index, for an agent that loads none."""
    text = memories.index().strip()
    if not text:
        return ""
    cut = _cut(Entry(f"{memories.place.store}/MEMORY.md", "memory", text, text, "index"))
    said = "memories of earlier conversations; `foretold memory show NAME` prints one"
    return f"Contents of {cut.path} ({said}):\n\n{cut.text}"


def _cut(entry: Entry) -> Entry:
    """An index that is not too long: its first lines, and how many more there are."""
    lines = entry.text.split("\n")
    room, taken = SHARE, 0
    while taken < len(lines) and (room := room - estimate_tokens(f"{lines[taken]}\n")) >= 0:
        taken += 1
    if taken == len(lines):
        return entry
    more = f"(and {len(lines) - taken} more lines: foretold memory list)"
    return entry._replace(text="\n".join([*lines[:taken], more]))


def _drifted(notes: list[Memory], verdicts: str) -> int:
    held = kept_in(verdicts)
    found = [held[note.digest].state for note in notes if note.digest in held]
    return sum(state in ("missing", "moved") for state in found)


def _elsewhere(memories: Memories) -> str:
    found = [each for each in elsewhere(memories) if each.code in CODES]
    if not found:
        return ""
    more = f" (and {len(found) - 1} more: foretold memory doctor)" if len(found) > 1 else ""
    said = f"Memories of this repository lie elsewhere: {found[0].message}"
    return f"{said}. The user can bring them here: {found[0].hint}{more}"
