"""What a later request of a conversation says about the instructions of its start.

1. Within a run most agents keep the text of the start: a changed file is not seen. One reads its files again for every
   request.
2. A new process that resumes the conversation makes the text anew, in its place and without a word; or the old text
   stays in the conversation, and a message says what holds now: only the new text if there was none, the new text (or
   those files of it that differ) instead of the old one, or that there is none any more. Some say nothing.
"""

from __future__ import annotations

from foretold.instructions.render.blocks import entry_texts, shown_path
from foretold.instructions.render.parts import resumed_blocks
from foretold.instructions.view import View
from foretold.text.frontmatter import trim
from foretold.types import Block, NamedTuple

#: what an update says; a message is sent for the last three
EFFECTS = {
    "same": "nothing has changed",
    "kept": "files have changed, and the model still has the old text",
    "rebuilt": "the text of the start was made anew, without a word about it",
    "added": "the model was sent instructions for the first time",
    "replaced": "the model was sent a text that replaces the one before",
    "withdrawn": "the model was told that instructions no longer apply",
}


class StartUpdate(NamedTuple):
    """What a request says about the instructions of the start, after they may have changed."""

    effect: str  #: same, kept, rebuilt, added, replaced or withdrawn (`EFFECTS`)
    view: View  #: the start, as the conversation now has it
    blocks: tuple[Block, ...] = ()  #: what this request has and the one before had not
    changed: tuple[str, ...] = ()  #: files whose text is not what the model has: changed, new or gone
    repeated: tuple[Block, ...] = ()  #: texts of touched files that the agent sends a second time
    assumed: str = ""  #: why this is not certain; empty = recorded


def update_resumed(before: View, now: View, repeated: tuple[Block, ...] = (), *, begun: bool = False) -> StartUpdate:
    """What a new process sends, if the conversation had the start `before`; `begun` if it ever had instructions."""
    start = now.dialect.continuation.start
    if start == "kept":
        changed = find_changed(before, now)
        return StartUpdate("kept" if changed else "same", before, (), changed, repeated, assumption_of(now))
    if start == "whole":
        effect, blocks = resumed_blocks(before, now)
    elif start == "files":
        effect, blocks = _tell_files(before, now, begun=begun or bool(before.entries))
    else:
        effect, blocks = _rebuild(before, now)
    return StartUpdate(effect, now, tuple(blocks), find_changed(before, now), repeated, assumption_of(now))


def update_request(before: View, now: View) -> StartUpdate:
    """What the next request of the same run sends, with the files as they are `now`."""
    assumed, changed = assumption_of(now), find_changed(before, now)
    if now.dialect.continuation.requests == "kept":
        return StartUpdate("kept" if changed else "same", before, (), changed, assumed=assumed)
    effect, blocks = _rebuild(before, now)
    return StartUpdate(effect, now, tuple(blocks), changed, assumed=assumed)


def _rebuild(before: View, now: View) -> tuple[str, list[Block]]:
    old = before.slots
    if now.slots == old:
        return "same", []
    return "rebuilt", [slot.block for slot in now.slots if slot not in old]


def _tell_files(before: View, now: View, *, begun: bool) -> tuple[str, list[Block]]:
    """Those files that differ, then those that are gone; white space at the ends does not count."""
    plan, template, envelope = now.dialect.continuation, now.dialect.template, now.dialect.envelope
    old, new = ({entry.path: trim(entry.text) for entry in view.entries} for view in (before, now))
    changed = [entry for entry in now.entries if old.get(entry.path) != new[entry.path]]
    gone = [plan.gone.format(path=shown_path(path)) for path in old if path not in new]
    if not changed and not gone:
        return "same", []
    said = [template.header if not begun else plan.replaces if changed else plan.withdraws]
    text = template.join.join((*said, *entry_texts(changed, template), *gone))
    block = Block(envelope.role, "text", envelope.before + text + envelope.after + envelope.after_last)
    return "added" if not begun else "replaced" if changed else "withdrawn", [block]


def find_changed(before: View, now: View) -> tuple[str, ...]:
    """The files of the start whose text differs, in their present order, then those that are gone."""
    old, new = ({entry.path: entry.text for entry in view.entries} for view in (before, now))
    return (*(path for path in new if old.get(path) != new[path]), *(path for path in old if path not in new))


def assumption_of(view: View) -> str:
    """Why an update is not certain; empty if the agent was recorded doing this."""
    unknown = view.choice.note
    return view.dialect.continuation.why or unknown
