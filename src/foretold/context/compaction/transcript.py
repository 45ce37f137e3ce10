"""Compaction as Claude Code records it: the boundary, the summary, and what is kept after it.

1. A group is an answer of the model, which is all records with its message id, and what follows it: results of tools,
   attachments, the next prompt. The last group is kept, if there are at least three; otherwise a command refuses
   (2.1.197) or keeps nothing (2.1.325), and an automatic compaction fails with `too_few_groups`. In the middle of a
   turn, 2.1.325 keeps nothing either if the first answer since the last compaction fills the window again.
2. It happens by itself when the tokens used reach the window less 33,000 (`CLAUDE_CODE_AUTO_COMPACT_WINDOW` sets it).
3. Of what the model writes, the first `<analysis>` goes, the first `<summary>` becomes `Summary:` and its trimmed text,
   several blank lines become one, the ends are trimmed. What has no such tags stays as it is. In 2.1.197 `$&` in a
   summary gives the summary itself, tags and all.
4. The boundary has no parent and a `logicalParentUuid`; the summary follows it, and what is attached follows that. The
   records that are kept are not written again: the boundary names them.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence

from foretold.dialects.claude_code.compaction import (
    CALLED,
    CONTENT,
    GO_ON,
    KEPT,
    OPENING,
    REMINDER,
    TOOLS,
    TRANSCRIPT,
    CompactionRules,
    compaction_rules,
)
from foretold.files.read_state.reading import numbered
from foretold.instructions.compaction.restored_files import attachment, reference, reference_text
from foretold.sessions.formats.fields import list_at, object_at
from foretold.text.frontmatter import trim
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.instructions.compaction.restored_files import Restored, Seen

    Json = Mapping[str, object]

SAID = ("user", "assistant")
CHAINED = (*SAID, "attachment", "system")
#: fields that every record of a session repeats
COMMON = ("userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug")


class CompactionRecords(NamedTuple):
    """The records of a compaction, in the order of the file; or why there are none."""

    records: list[dict[str, object]]
    reason: str = ""  #: too_few_groups, or empty-summary
    kept: tuple[str, ...] = ()  #: ids of the records that stay
    dropped: tuple[str, ...] = ()  #: ids of those that the summary replaces


class CompactionFacts(NamedTuple):
    """What a compaction knows about itself. The caller counts tokens."""

    trigger: str = "manual"  #: or auto
    tokens_before: int = 0
    tokens_after: int = 0
    dropped_before: int = 0  #: `cumulativeDroppedTokens` of the last boundary
    milliseconds: int = 0


PLAIN = CompactionFacts()


def limit(window: int, form: CompactionRules) -> int:
    """The tokens at which a conversation is compacted by itself."""
    return window - form.reserve


def shown_summary(answer: str, form: CompactionRules) -> str:
    """The part of the model's answer that is in the summary message."""
    text = answer
    if found := _find_element(text, "analysis"):
        text = text[: found[0]] + text[found[1] :]
    if found := _find_element(text, "summary"):
        start, end = found
        inside = "Summary:\n" + trim(text[start + len("<summary>") : end - len("</summary>")])
        if form.expands_dollars:
            inside = _expand_pattern(inside, text, start, end)
        text = text[:start] + inside + text[end:]
    return trim(re.sub(r"\n\n+", "\n\n", text))


def _find_element(text: str, tag: str) -> tuple[int, int] | None:
    """Where the first element of a name begins and ends."""
    start = text.find(f"<{tag}>")
    end = text.find(f"</{tag}>", start + len(tag) + 2) if start >= 0 else -1
    return (start, end + len(tag) + 3) if end >= 0 else None


def _expand_pattern(inside: str, text: str, start: int, end: int) -> str:
    """A replacement as JavaScript's `replace` reads it: `$&`, `` $` ``, `$'` and `$$`."""
    values = {"$": "$", "&": text[start:end], "`": text[:start], "'": text[end:]}
    return re.sub(r"\$([$&`'])", lambda match: values[match[1]], inside)


def summary_text(
    answer: str, transcript: str, form: CompactionRules, *, tools: Iterable[str] = (), has_kept: bool = True
) -> str:
    """The whole text of the message that replaces the conversation."""
    used = TOOLS.format(tools=", ".join(sorted(set(tools)))) if form.names_tools else ""
    end = KEPT if form.says_kept and has_kept else ""
    return OPENING + used + shown_summary(answer, form) + TRANSCRIPT.format(path=transcript) + GO_ON + end


def chain(records: Iterable[Json]) -> list[Json]:
    """The chained records since the last boundary, with those that it keeps after its summary; none of subagents.

    They are in the order of the file, which for a conversation without branches is that of the chain.
    """
    found: list[Json] = []
    kept: list[Json] = []
    by_id: dict[str, Json] = {}
    for record in records:
        if record.get("type") not in CHAINED or record.get("isSidechain") is True:
            continue
        if str(record.get("uuid")) in by_id:
            continue  # 2.1.197 writes records again that it has dropped long ago
        by_id[str(record.get("uuid"))] = record
        if record.get("subtype") == "compact_boundary":
            found, kept = [], [by_id[name] for name in kept_by(record) if name in by_id]
            continue
        found.append(record)
        if record.get("isCompactSummary") is True:
            found, kept = [*found, *kept], []
    return [*kept, *found]


def kept_by(boundary: Json) -> list[str]:
    """The ids that a boundary keeps."""
    kept = object_at(object_at(boundary, "compactMetadata"), "preservedMessages")
    ids = kept.get("allUuids", kept.get("uuids"))
    return [str(name) for name in ids] if isinstance(ids, list) else []


def record_groups(records: Sequence[Json]) -> list[list[Json]]:
    """The groups of a chain: what comes before the first answer, then each answer with what follows it."""
    found: list[list[Json]] = [[]]
    last = None
    for record in records:
        name = object_at(record, "message").get("id") if record.get("type") == "assistant" else None
        if name is not None and name != last:
            found.append([])
            last = name
        found[-1].append(record)
    return [group for group in found if group]


def tools_of(records: Iterable[Json]) -> list[str]:
    """The names of the tools that were called, sorted; not those of subagents."""
    names = set()
    for record in records:
        said = object_at(record, "message") if record.get("isSidechain") is not True else {}
        for block in list_at(said, "content"):
            if isinstance(block, dict) and block.get("type") == "tool_use":
                names.add(str(block.get("name", "")))
    return sorted(names)


def compaction_records(
    records: Sequence[Json],
    answer: str,
    transcript: str,
    *,
    facts: CompactionFacts = PLAIN,
    restored: Restored | None = None,
    now: float | None = None,
    make_id: Callable[[], str] = lambda: str(uuid.uuid4()),
) -> CompactionRecords:
    """The records that a compaction adds to a transcript, from which the agent continues.

    Where the agent itself would continue from an empty summary, nothing is written.
    """
    chained = chain(records)
    last = next((record for record in reversed(chained) if record.get("uuid")), {})
    form = compaction_rules(str(last.get("version", "")))
    kept = _kept_ids(records, chained, form, facts.trigger)
    if kept is None:
        return CompactionRecords([], "too_few_groups")
    if shown_summary(answer, form) in ("", "Summary:"):
        return CompactionRecords([], "empty-summary")
    leaf = kept[-1] if kept else [str(record.get("uuid")) for record in chained if record.get("type") in SAID][-1]
    stamp = timestamp(time.time() if now is None else now)
    common = {name: last[name] for name in COMMON if name in last}
    boundary, summary = make_id(), make_id()
    text = summary_text(answer, transcript, form, tools=tools_of(records), has_kept=bool(kept))
    made = [_boundary(boundary, summary, leaf, kept, facts, stamp), _summary(summary, boundary, text, stamp)]
    made += _attachment_records(restored, summary, form, common, stamp, make_id) if restored else []
    stays = set(kept)
    dropped = tuple(name for record in chained if (name := str(record.get("uuid"))) not in stays)
    return CompactionRecords([{**record, **common} for record in made], "", tuple(kept), dropped)


def _kept_ids(records: Sequence[Json], chained: list[Json], form: CompactionRules, trigger: str) -> list[str] | None:
    """The ids of the records that stay; None if there is too little to compact."""
    found = record_groups(chained)
    if not any(record.get("type") in SAID for record in chained):
        return None
    if form.refilled == "drops" and trigger == "auto" and _is_refilled(records, found):
        return []
    if len(found) < form.least_groups:
        return None if form.few == "refuses" or trigger == "auto" else []
    return [str(record.get("uuid")) for record in found[-1]]


def _is_refilled(records: Sequence[Json], found: list[list[Json]]) -> bool:
    """Whether a turn continues after a compaction, and this is its first answer since."""
    boundaries = [record for record in records if record.get("subtype") == "compact_boundary"]
    if not boundaries or len(found) < 2:
        return False
    kept = set(kept_by(boundaries[-1]))
    new = [group for group in found[1:] if str(group[0].get("uuid")) not in kept]
    return len(new) == 1 and bool(tools_of(found[-1]))


def timestamp(now: float) -> str:
    """A time as transcripts hold it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03}Z"


def _boundary(
    name: str, anchor: str, leaf: str, kept: list[str], facts: CompactionFacts, stamp: str
) -> dict[str, object]:
    data: dict[str, object] = {"trigger": facts.trigger, "preTokens": facts.tokens_before}
    data["durationMs"] = facts.milliseconds
    if kept:
        data["preservedSegment"] = {"headUuid": kept[0], "anchorUuid": anchor, "tailUuid": kept[-1]}
        data["preservedMessages"] = {"anchorUuid": anchor, "uuids": kept, "allUuids": kept}
    data["postTokens"] = facts.tokens_after
    data["cumulativeDroppedTokens"] = facts.dropped_before + max(0, facts.tokens_before - facts.tokens_after)
    return {
        "parentUuid": None,
        "logicalParentUuid": leaf,
        "isSidechain": False,
        "type": "system",
        "subtype": "compact_boundary",
        "content": CONTENT,
        "isMeta": False,
        "timestamp": stamp,
        "uuid": name,
        "level": "info",
        "compactMetadata": data,
    }


def _summary(name: str, parent: str, text: str, stamp: str) -> dict[str, object]:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "type": "user",
        "message": {"role": "user", "content": text},
        "isVisibleInTranscriptOnly": True,
        "isCompactSummary": True,
        "uuid": name,
        "timestamp": stamp,
    }


def _attachment_records(
    restored: Restored, parent: str, form: CompactionRules, common: Json, stamp: str, make_id: Callable[[], str]
) -> list[dict[str, object]]:
    cwd, made = str(common.get("cwd", "/")), []
    values = [(attachment(file.path, file.content or "", cwd, form), "user", _read(file)) for file in restored.files]
    values += [(reference(file.path, cwd), "system", [reference_text(file.path)]) for file in restored.named]
    for value, role, texts in values:
        name = make_id()
        record = {"parentUuid": parent, "isSidechain": False, "attachment": value, "type": "attachment"}
        record |= {"uuid": name, "timestamp": stamp}
        if form.renders:
            record |= {"rendered": [{"content": REMINDER.format(text=text)} for text in texts], "renderedRole": role}
        made.append(record)
        parent = name
    return made


def _read(file: Seen) -> list[str]:
    """The call and the result as which a file is attached."""
    asked = json.dumps({"file_path": file.path}, ensure_ascii=False, separators=(",", ":"))
    lines = numbered((file.content or "").split("\n"), 1)
    return [text.replace("{input}", asked).replace("{lines}", lines) for text in CALLED]
