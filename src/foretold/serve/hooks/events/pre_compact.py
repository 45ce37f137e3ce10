"""PreCompact: write down what will be lost. Nothing can be said to the model here.

1. How long the transcript is now: what stands before that is what the compaction takes.
2. How many attached instruction files that concerns, in the log.
3. The transcript is archived, if the user wants that.
"""

from __future__ import annotations

import os

from foretold.serve.hooks.agent_protocols import SILENCE, Said
from foretold.serve.hooks.json import text_of
from foretold.serve.hooks.log import log
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.hooks.context import Scene


def hear(scene: Scene) -> Said:
    """Prepare for a compaction."""
    try:
        size = os.stat(text_of(scene.payload, "transcript_path")).st_size
    except (OSError, ValueError):
        size = -1
    if size >= 0:
        scene.notes.add(("compacting", str(size)))
    attached = {note[1] for note in scene.notes.since("attached") if len(note) > 1}
    said = _said(len(attached))
    scene.why.append(f"compaction: {said}")
    if attached and not scene.asking.is_dry:
        log(scene.ours.state, scene.event, scene.session, said)
    if scene.settings.archive:
        scene.leave("archive")
    return SILENCE


def _said(count: int) -> str:
    """What may be lost, for people.

    >>> _said(1)
    '1 attached instruction file may be lost, and is said again afterwards'
    """
    if not count:
        return "no instruction file is known to be attached, so none is lost"
    if count == 1:
        return "1 attached instruction file may be lost, and is said again afterwards"
    return f"{count} attached instruction files may be lost, and are said again afterwards"
