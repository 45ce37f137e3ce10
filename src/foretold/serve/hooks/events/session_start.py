"""SessionStart: what the agent does not load by itself. Nothing, if there is nothing.

1. After a compaction: the nested instructions and rules that it dropped, as far as they fit; the others by name.
   Known are those that hooks noted, and those in the end of the transcript: at most TAIL bytes are read, however long
   the conversation is. Only the part counts that this compaction dropped: after the one before it, and up to the length
   that the transcript had when it began (`compacting`).
2. The agent attaches the newest files that it has read again, and what came with them counts among those (`restores`).
   When the hook runs, they are not in the transcript yet (claude-code 2.1.197 and 2.1.325), so they are predicted. What
   a hook had said is never among them.
3. The index of the team's memories, which no agent loads, with whose words they are; and of the private ones, if this
   agent loads none. Each is cut to SHARE tokens, and credentials in it are masked. Of a team that the user has not
   accepted, only the number of its memories (`memory.location`).
4. One line if the last `verify` found memories to be out of date (of those that did not change since), and one if some
   are stored under another path of this repository.
5. All of it has BUDGET tokens. What 3 and 4 say is computed once, and again when a folder has changed: here, if there
   are few memories, else by another process, and then the last answer is used until it is done.
6. A new conversation has no notes; old ones are removed.
"""

from __future__ import annotations

import os

from foretold.serve.hooks.agent_protocols import NO_OUTPUT, HookOutput
from foretold.serve.hooks.cache import stamp_of
from foretold.serve.hooks.events.rules_here import fit_texts, inside_texts, instructions_here
from foretold.serve.hooks.json import parse, table_of, text_of
from foretold.serve.hooks.said_before import tail_of
from foretold.storage.tree import open_regular
from foretold.types import TYPE_CHECKING, Entry, estimate_tokens

if TYPE_CHECKING:
    from foretold.memory.note import Memory
    from foretold.memory.project import Memories
    from foretold.serve.hooks.context import HookContext

BUDGET = 2000  #: tokens
FEW = 300  #: files in a folder of memories that are read while the agent waits
SHARE = 1200  #: tokens of an index
TAIL = 1024 * 1024
LOST = "These instruction files were attached earlier, and did not survive the compaction of this conversation:"
CODES = ("memory-moved", "memory-split")
_NESTED, _BOUNDARY = b'"nested_memory"', b'"compact_boundary"'


def handle(context: HookContext) -> HookOutput:
    """What to say at the start."""
    source = text_of(context.payload, "source")
    parts = []
    if source == "compact":
        parts.append(_quote_lost(context))
        context.notes.add(("compacted",))
    elif source in ("startup", "clear") and context.notes.all:
        context.notes.add(("compacted",))  # nothing is known any more
    if source != "resume":
        parts += _describe_memories(context)
    found = [part for part in parts if part]
    return HookOutput("\n\n".join(found)) if found else NO_OUTPUT


# What a compaction dropped


def _quote_lost(context: HookContext) -> str:
    if not context.settings.rules:
        return ""
    here = instructions_here(context)
    paths = find_lost_paths(context, here.restores)
    files = f"{len(paths) or 'no'} attached instruction file{' is' if len(paths) == 1 else 's are'}"
    context.why.append(f"compaction: {files} lost")
    known = {rule.path: rule.text for rule in here.rules}
    texts = [(path, known.get(path) or _nested_text(path)) for path in paths if path not in here.started]
    return fit_texts(LOST, inside_texts(context, texts), here.template, BUDGET // 2)


def _nested_text(path: str) -> str:
    """The text of a nested file as it is, without its frontmatter."""
    from foretold.text.frontmatter import split

    try:
        with open(path, encoding="utf-8", errors="replace", opener=open_regular) as file:
            return split(file.read(64 * 1024), after_bom=True)[1]
    except OSError:
        return ""


def find_lost_paths(context: HookContext, restores: int) -> list[str]:
    """The instruction files that were attached, and no longer are; the last first."""
    noted = [note for note in context.notes.since("attached", "compacting") if len(note) > 1]
    sizes = [int(note[1]) for note in noted if note[0] == "compacting" and note[1].isdigit()]
    attached = _attached_in(text_of(context.payload, "transcript_path"), sizes[-1] if sizes else None)
    own = [*(note[1] for note in noted if note[0] == "attached" and note[2:] == ("agent",)), *attached]
    again = _newest([*own, *(note[1] for note in context.notes.since("read"))], restores)
    paths = dict.fromkeys([*(note[1] for note in noted if note[0] == "attached"), *own])
    return [path for path in reversed(paths) if path not in again and os.path.isfile(path)]


def _newest(paths: list[str], most: int) -> set[str]:
    """Those files that were changed last."""
    stamps = {}
    for path in paths:
        try:
            stamps[path] = os.stat(path).st_mtime_ns
        except OSError:
            continue
    return set(sorted(stamps, key=lambda path: -stamps[path])[:most])


def _attached_in(transcript: str, begun: int | None) -> list[str]:
    """The files of attachments that this compaction dropped: after the one before it, up to where it began."""
    found: list[str] = []
    at, data = tail_of(transcript, TAIL, os.O_RDONLY)
    point = at + len(data) if begun is None else begun
    for line in data.split(b"\n"):  # the first one may be cut, and is then not JSON
        if at >= point:
            break
        at += len(line) + 1
        if _BOUNDARY in line:
            found.clear()
        elif _NESTED in line and b'"attachment"' in line:
            try:
                value = parse(line)
            except ValueError:
                continue
            attachment = table_of(value, "attachment") if isinstance(value, dict) else {}
            if text_of(attachment, "path") and text_of(attachment, "type") == "nested_memory":
                found.append(text_of(attachment, "path"))
    return found


# Memories of this place


def _describe_memories(context: HookContext) -> list[str]:
    """What is known about the memories of this place."""
    if not context.settings.team and not context.settings.drift:
        return []
    folders = [folder for folder, _ in context.place.stores if os.path.isdir(folder)]
    value = context.cached("summary")
    if value is None:
        if not folders and not os.path.isdir(context.ours.state):
            return []
        from foretold.memory.recall.file_stamps import has_many_files

        if not any(has_many_files(folder, FEW) for folder in folders):
            value = summarise(context)
        else:
            value = context.cached("summary", anyway=True)
            context.refresh("there are many memories")
    if not isinstance(value, tuple):
        return []
    index, drifted, elsewhere = str(value[0]), int(value[1]), str(value[2])
    context.why += [
        f"memories: there is {'an index that the agent does not load itself' if index else 'no index to add'}",
        f"memories: {drifted or 'none'} {'are' if drifted > 1 else 'is'} known to be out of date",
        *(["memories: some are stored under another path of this repository"] if elsewhere else []),
    ]
    if context.cached("paths-made") is None and folders:
        context.refresh("the list of the files that memories name is out of date")
    names = "1 memory names" if drifted == 1 else f"{drifted} memories name"
    warning = f"{names} files or symbols that no longer exist: check before relying on them."
    is_warned = drifted and context.settings.drift
    return [index if context.settings.team else "", warning if is_warned else "", elsewhere]


def summarise(context: HookContext) -> tuple[str, int, str]:
    """The index to add, the number of memories that are out of date, and where others are stored; slow, and cached."""
    from foretold.memory.project import open as open_memories
    from foretold.storage.tree import Disk

    place, disk = context.place, Disk()
    every = open_memories(context.folder, agent=place.keeper, **context.caller.around)
    folders, memories = [store.path for store in every.stores], every.for_models()
    paths = [*list_folders(folders), place.verdicts, f"{place.verdicts}/verdicts.json", context.ours.state]
    paths += [every.place.consent] if every.place.consent else []
    disk.stamps.update({path: stamp_of(path) for path in paths})
    notes = memories.memories()
    index = "\n\n".join(filter(None, (_indexes(memories, is_read=place.is_read), _name_unaccepted(every))))
    value = (index, _count_drifted(notes, place.verdicts), _elsewhere(memories))
    context.store("summary", value, disk)
    return value


def list_folders(folders: list[str]) -> list[str]:
    """Folders, and the folders in them."""
    inner = [top for folder in folders for top, _, _ in os.walk(folder)]
    return [*folders, *(path for path in inner if path not in folders)]


def _indexes(memories: Memories, *, is_read: bool) -> str:
    from foretold.memory.store.team import FROM_REPOSITORY, team_entry, team_text
    from foretold.secrets.masking import mask_credentials

    parts = []
    entry = team_entry(memories.team) if memories.team is not None else None
    if entry is not None:
        parts.append(team_text(_cut(entry), FROM_REPOSITORY))
    text = memories.index().strip() if not is_read and not memories.place.off else ""
    if text:  # the private index, for an agent that loads none
        cut = _cut(Entry(f"{memories.place.store}/MEMORY.md", "memory", text, text, "index"))
        about = "memories of earlier conversations; `foretold memory show NAME` prints one"
        parts.append(f"Contents of {cut.path} ({about}):\n\n{cut.text}")
    return mask_credentials("\n\n".join(part for part in parts if part))[0]


def _name_unaccepted(memories: Memories) -> str:
    """What is said of a team's memories that the user has not accepted."""
    count = memories.count_unaccepted()
    if not count:
        return ""
    brought = (
        "1 team memory that the user has not accepted: it is"
        if count == 1
        else (f"{count} team memories that the user has not accepted: they are")
    )
    how = "The user can look (foretold memory list --team) and decide (foretold memory trust)."
    return f"This repository brings {brought} not shown. {how}"


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


def _count_drifted(notes: list[Memory], verdicts: str) -> int:
    from foretold.memory.drift.quick_check import load_verdicts

    held = load_verdicts(verdicts)
    found = [held[note.digest].state for note in notes if note.digest in held]
    return sum(state in ("missing", "moved", "changed") for state in found)


def _elsewhere(memories: Memories) -> str:
    from foretold.memory.doctor import find_misplaced

    found = [each for each in find_misplaced(memories) if each.code in CODES]
    if not found:
        return ""
    more = f" (and {len(found) - 1} more: foretold memory doctor)" if len(found) > 1 else ""
    text = f"Memories of this repository are stored elsewhere: {found[0].message}"
    return f"{text}. The user can bring them here: {found[0].hint}{more}"
