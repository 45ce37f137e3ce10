"""What `codex resume ID` sends to its model: the conversation, rebuilt from its rollout.

1. A record is a line of JSON with `timestamp`, `type` and `payload`; a line that Codex cannot read is skipped. Codex
   refuses a file whose first record is not a `session_meta`, one with a byte that is not UTF-8 (as in a record that was
   torn within a character), and a newer file (`history_mode: paginated`) whose last readable record has no `ordinal`.
2. Items are taken in file order. In a newer file the last `session_meta` begins the conversation; if it has a
   `history_base`, it is a fork, and begins with that many bytes of the rollout it names, which Codex needs to resume.
3. A compaction replaces everything before it with its `replacement_history`; one of older versions, which has none,
   with the prompts that people wrote and its summary.
4. A rollback of n turns removes the last n prompts and everything after them, and the context before them.
5. Then results without a call are left out, and calls without a result get one (`items.py`).

What depends on the moment is not included: the base instructions (`instructions` is the stored text; Codex sends it
first, without its part about plans if there is no such tool), context that is sent again before the new prompt because
it has changed or because there is no record of what was sent (`context_again`), the id of the new prompt, images that
Codex cannot decode, and results longer than the model in use allows, which Codex cuts in the middle.

Recorded on 0.166.0.
"""

from __future__ import annotations

import os
from itertools import takewhile

from foretold.sessions.formats.codex.items import Item, add_results, as_sent, find_orphans, is_sent
from foretold.sessions.formats.codex.records import CONTEXT, unwrapped
from foretold.sessions.formats.codex.zstd import PACKED, readable
from foretold.sessions.formats.fields import list_at, text_at
from foretold.sessions.formats.jsonl import JsonlRecord, records_of
from foretold.storage.tree import folders_above, open_regular
from foretold.types import Finding, NamedTuple

#: types of records that this version reads
TYPES = (
    *("session_meta", "response_item", "event_msg", "turn_context", "world_state", "compacted", "token_usage_record"),
    *("inter_agent_communication", "dynamic_tools_updated"),
)
_BOM = b"\xef\xbb\xbf"


class DroppedItem(NamedTuple):
    """A record of the conversation that is not sent."""

    line: int
    reason: str  #: unreadable, unknown, not-for-the-model, compacted, rolled-back, orphan, before-the-start
    item: object


class CodexResumed(NamedTuple):
    """A conversation as Codex sends it when it is resumed."""

    messages: tuple[Item, ...]  #: the `input` of the request, after the base instructions
    dropped: tuple[DroppedItem, ...]
    findings: tuple[Finding, ...]
    instructions: str = ""  #: the base instructions, as stored
    context_again: bool = False  #: whether Codex sends its context once more before the prompt
    refused: str = ""  #: why Codex does not resume it


class _HistoryItem(NamedTuple):
    """An item of the conversation and its line."""

    line: int
    item: Item
    raw: object


class _History:
    """The conversation as far as it has been read."""

    def __init__(self) -> None:
        self.items: list[_HistoryItem] = []
        self.dropped: list[DroppedItem] = []
        #: by type of a context record: the numbers of the turns that such records were written for
        self.baselines: dict[str, list[int]] = {"turn_context": [], "world_state": []}
        self.instructions = ""

    def add(self, line: int, raw: object) -> None:
        item = as_sent(raw)
        if item is not None and is_sent(item):
            self.items.append(_HistoryItem(line, item, raw))
            return
        reason = "unreadable" if item is None else "not-for-the-model" if item.get("role") == "system" else "unknown"
        self.dropped.append(DroppedItem(line, reason, raw))

    def replace(self, reason: str, items: list[_HistoryItem]) -> None:
        """Continue with other items, for which no context was recorded."""
        staying = {id(one) for one in items}
        self.dropped += [DroppedItem(one.line, reason, one.raw) for one in self.items if id(one) not in staying]
        self.items = items
        self.baselines = {name: [] for name in self.baselines}

    def turns(self) -> list[int]:
        """The indexes of the prompts of people, or of other agents."""
        return [place for place, one in enumerate(self.items) if _is_prompt(one.item)]


def resume_codex(path: str, prompt: str | None = None) -> CodexResumed:
    """What Codex sends when this rollout is resumed, followed by the new prompt.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "rollout.jsonl")
    >>> line = '{"timestamp": "2026-11-16T03:26:27Z", "type": "%s", "payload": %s}\\n'
    >>> call = '{"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}'
    >>> with open(path, "w") as file:
    ...     _ = file.write(line % ("session_meta", '{"id": "1"}') + line % ("response_item", call))
    >>> [item.get("output") for item in resume_codex(path).messages]
    [None, 'aborted']
    """
    findings: list[Finding] = []
    history = _History()
    refused = _replay(history, path, None, findings, ())
    items = [one.item for one in history.items]
    lost = find_orphans(items)
    history.dropped += [DroppedItem(history.items[place].line, "orphan", history.items[place].raw) for place in lost]
    sent = add_results([item for place, item in enumerate(items) if place not in set(lost)])
    if prompt is not None:
        sent.append(_prompt(prompt))
    if refused:
        findings.append(Finding(path, 1, "session-refused", f"codex does not resume it: {refused}"))
    again = not all(history.baselines.values())
    return CodexResumed(tuple(sent), tuple(history.dropped), tuple(findings), history.instructions, again, refused)


def _replay(history: _History, path: str, until: int | None, findings: list[Finding], above: tuple[str, ...]) -> str:
    """Read a rollout, up to a byte, into the history; returns why Codex does not resume it, or nothing.

    `above` are the rollouts that are forks of this one.
    """
    with readable(path, findings) as plain:
        every = records_of(plain, 0, findings) if plain else ()
        upto = takewhile(lambda record: until is None or record.end <= until, every)
        records = [record for record in upto if _is_readable(record)]
        refused = _refusal(plain, records, is_base=until is not None)
    for record in records:
        base = _take(history, record, is_newer=_is_newer(records))
        if base is not None:
            refused = _replay_base(history, path, base, findings, above) or refused
    return refused


def _replay_base(history: _History, path: str, base: Item, findings: list[Finding], above: tuple[str, ...]) -> str:
    """Begin with the conversation that this one is a fork of."""
    name, end = text_at(base, "thread_id"), base.get("end_byte_offset")
    found = _find_rollout(path, name)
    if not found or not isinstance(end, int) or found in above:
        return f"the session {name}, of which it is a fork, is missing"
    return _replay(history, found, end, findings, (*above, path))


def _find_rollout(other: str, name: str) -> str:
    """The rollout of a session in the folders of another one; empty if it is missing."""
    kept = ("sessions", "archived_sessions")
    above = folders_above(os.path.abspath(other))
    home = next((os.path.dirname(root) for root in above if os.path.basename(root) in kept), "")
    for folder in kept if home and name else ():
        for here, _, files in os.walk(os.path.join(home, folder)):
            for file in files:
                if file.removesuffix(PACKED).endswith(f"-{name}.jsonl"):
                    return os.path.join(here, file)
    return ""


def _is_readable(record: JsonlRecord) -> bool:
    value = record.value
    known = value.get("type") in TYPES and isinstance(value.get("payload"), dict)
    return (known and isinstance(value.get("timestamp"), str)) or "payload" not in value


def _refusal(path: str, records: list[JsonlRecord], *, is_base: bool) -> str:
    """Why Codex does not resume a rollout; empty if it does."""
    if not path or not records or unwrapped(records[0].value)[0] != "session_meta":
        return "the first record is not a session_meta"
    with open(path, "rb", opener=open_regular) as file:
        if file.read(3) == _BOM:
            return "it begins with a byte order mark"
    try:
        with open(path, encoding="utf-8", opener=open_regular) as text:
            while text.read(1 << 20):
                pass
    except UnicodeDecodeError:
        return "a byte of the file is not UTF-8"
    if not is_base and _is_newer(records) and not isinstance(records[-1].value.get("ordinal"), int):
        return "the last record has no ordinal"
    return ""


def _is_newer(records: list[JsonlRecord]) -> bool:
    return bool(records) and text_at(records[0].value.get("payload"), "history_mode") == "paginated"


def _take(history: _History, record: JsonlRecord, *, is_newer: bool) -> Item | None:
    """Read one record into the history; returns the `history_base` if it has one."""
    kind, payload = unwrapped(record.value)
    if kind == "session_meta":
        stored = text_at(payload.get("base_instructions"), "text") or text_at(payload, "instructions")
        history.instructions = history.instructions or stored
        if is_newer:
            history.replace("before-the-start", [])
            base = payload.get("history_base")
            return base if isinstance(base, dict) else None
    elif kind == "response_item":
        history.add(record.line, payload)
    elif kind == "inter_agent_communication":
        content = [{"type": "input_text", "text": payload.get("content")}]
        history.add(record.line, {"type": "agent_message", **payload, "content": content})
    elif kind in history.baselines:
        history.baselines[kind].append(len(history.turns()) + 1)
    elif kind == "compacted":
        _compact(history, record.line, payload)
    elif kind == "event_msg" and payload.get("type") == "thread_rolled_back":
        turns = payload.get("num_turns")
        _roll_back(history, turns if isinstance(turns, int) else 0)
    return None


def _compact(history: _History, line: int, payload: Item) -> None:
    given = payload.get("replacement_history")
    if isinstance(given, list):
        history.replace("compacted", [])
        for item in given:
            history.add(line, item)
    else:
        message = _prompt(text_at(payload, "message") or "(no summary available)")
        prompts = [history.items[place] for place in history.turns()]
        history.replace("compacted", [*prompts, _HistoryItem(line, message, payload)])


def _prompt(text: str) -> Item:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def _roll_back(history: _History, count: int) -> None:
    """Remove the last turns, and the context before them; never what was before the first prompt."""
    prompts = history.turns()
    if count <= 0 or not prompts:
        return
    cut = prompts[0] if count >= len(prompts) else prompts[-count]
    while cut > prompts[0] and _is_context(history.items[cut - 1].item):
        cut -= 1
    made_for = history.baselines
    history.replace("rolled-back", history.items[:cut])
    left = len(history.turns())
    history.baselines = {name: [turn for turn in turns if turn <= left] for name, turns in made_for.items()}


def _is_context(item: Item) -> bool:
    if item.get("type") != "message" or item.get("role") not in ("user", "developer"):
        return False
    texts = (text_at(piece, "text") for piece in list_at(item, "content"))
    return item["role"] == "developer" or any(text.lstrip().startswith(CONTEXT) for text in texts)


def _is_prompt(item: Item) -> bool:
    is_message = item.get("type") == "message" and item.get("role") == "user"
    return item.get("type") == "agent_message" or (is_message and not _is_context(item))
