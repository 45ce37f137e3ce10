"""PreCompact: note what will be dropped. The model cannot be told anything here.

1. The length of the transcript now: what comes before is what the compaction drops.
2. How many attached instruction files that concerns, in the log.
3. The transcript is archived, if the user wants that.
"""

from __future__ import annotations

import os

from foretold.serve.hooks.agent_protocols import NO_OUTPUT, HookOutput
from foretold.serve.hooks.json import text_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.hooks.context import HookContext


def handle(context: HookContext) -> HookOutput:
    """Prepare for a compaction."""
    try:
        size = os.stat(text_of(context.payload, "transcript_path")).st_size
    except (OSError, ValueError):
        size = -1
    if size >= 0:
        context.notes.add(("compacting", str(size)))
    attached = {note[1] for note in context.notes.since("attached") if len(note) > 1}
    text = describe_loss(len(attached))
    context.why.append(f"compaction: {text}")
    if attached:
        context.log(text)
    if context.settings.archive:
        context.start_jobs("archive")
    return NO_OUTPUT


def describe_loss(count: int) -> str:
    """What may be lost, for people.

    >>> describe_loss(1)
    '1 attached instruction file may be lost, and is repeated afterwards'
    """
    if not count:
        return "no instruction file is known to be attached, so none is lost"
    if count == 1:
        return "1 attached instruction file may be lost, and is repeated afterwards"
    return f"{count} attached instruction files may be lost, and are repeated afterwards"
