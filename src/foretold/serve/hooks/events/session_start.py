"""SessionStart: what the agent will not get by itself. Nothing, where there is nothing.

1. After a compaction: the nested instructions and rules that it took, as far as they fit; the others by name.
2. The index of the team's memories, which no agent loads; and of the private ones, if this agent loads none.
3. One line if memories were found to be out of date, and one if some lie under another path of this repository.
4. All of it has BUDGET tokens. What 2 and 3 say is worked out once, and again when a folder has changed: here, if there
   are few memories, else by another process, and then the last answer serves until it is done.
5. A conversation that begins anew has no notes; old ones are removed.
"""

from __future__ import annotations

import os

from foretold.serve.hooks.agent_protocols import SILENCE, Said
from foretold.serve.hooks.events.after_compaction import lost_paths
from foretold.serve.hooks.events.rules_here import told_here, within
from foretold.serve.hooks.json import text_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.hooks.context import Scene

BUDGET = 2000  #: tokens
FEW = 300  #: files in a folder of memories that are read while the agent waits
LOST = "These instruction files were attached earlier, and did not survive the compaction of this conversation:"


def hear(scene: Scene) -> Said:
    """What to say at the start."""
    source = text_of(scene.payload, "source")
    parts = []
    if source == "compact":
        parts.append(_lost(scene))
        scene.notes.add(("compacted",))
    elif source in ("startup", "clear") and scene.notes.all:
        scene.notes.add(("compacted",))  # nothing is known any more
    if source != "resume":
        parts += _here(scene)
    found = [part for part in parts if part]
    return Said("\n\n".join(found)) if found else SILENCE


def _lost(scene: Scene) -> str:
    if not scene.settings.rules:
        return ""
    told = told_here(scene)
    paths = lost_paths(scene, told.restores)
    files = (
        "1 attached instruction file is" if len(paths) == 1 else f"{len(paths) or 'no'} attached instruction files are"
    )
    scene.why.append(f"compaction: {files} lost")
    known = {rule.path: rule.text for rule in told.rules}
    texts = [(path, known.get(path) or _text(path)) for path in paths if path not in told.started]
    return within(LOST, texts, told.template, BUDGET // 2)


def _text(path: str) -> str:
    """The text of a nested file as it is, without its frontmatter."""
    from foretold.text.frontmatter import split

    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return split(file.read(64 * 1024), after_bom=True)[1]
    except OSError:
        return ""


def _here(scene: Scene) -> list[str]:
    """What is known about this place."""
    if not scene.settings.team and not scene.settings.drift:
        return []
    folders = [folder for folder, _ in scene.where.stores if os.path.isdir(folder)]
    value = scene.recalled("summary")
    if value is None:
        if not folders and not os.path.isdir(scene.ours.state):
            return []
        from foretold.memory.recall.file_stamps import is_many

        if not any(is_many(folder, FEW) for folder in folders):
            from foretold.serve.hooks.events.memory_summary import summarise

            value = summarise(scene)
        else:
            value = scene.recalled("summary", anyway=True)
            scene.refresh("there are many memories")
    if not isinstance(value, tuple):
        return []
    index, drifted, elsewhere = value
    scene.why += [
        f"memories: {why}" for why in _reasons(int(drifted), has_index=bool(index), is_elsewhere=bool(elsewhere))
    ]
    said = [str(index) if scene.settings.team else "", _drift_line(int(drifted), scene), str(elsewhere)]
    if scene.recalled("book-made") is None and folders:
        scene.refresh("the list of the files that memories name is out of date")
    return said


def _reasons(drifted: int, *, has_index: bool, is_elsewhere: bool) -> list[str]:
    """What was found out about memories, for people."""
    return [
        "there is an index that the agent does not load itself" if has_index else "there is no index to tell of",
        f"{drifted or 'none'} {'are' if drifted > 1 else 'is'} known to be out of date",
        *(["some lie under another path of this repository"] if is_elsewhere else []),
    ]


def _drift_line(count: int, scene: Scene) -> str:
    if not count or not scene.settings.drift:
        return ""
    names = "1 memory names" if count == 1 else f"{count} memories name"
    return f"{names} files or symbols that are not there any more: check before relying on them."
