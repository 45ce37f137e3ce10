"""`Transcript`: a harness stores its conversations as Claude Code does, so that the agent itself can resume them.

1. A record is a line, written completely (`storage/append_log.py`), mode 0600 in a folder of mode 0755.
2. Chained records (user, assistant, attachment, system) name the one before in `parentUuid`. An answer is one record
   per block, all with the same message id. The result of a tool follows the record of its call: parallel calls fork
   the chain, as the agent's own do, and what comes next follows the last result.
3. `compact` breaks the chain: the boundary has no parent, the summary follows it. `records` accepts finished records,
   such as a compaction that preserves the last messages.
4. Titles, snapshots and the last prompt are not part of the chain.
5. An existing file is continued: the chain from its leaf, and calls that still wait for their result.
6. Two processes may write to one file: both branches stay in it. A resume follows the one that wrote last: a process
   that writes after another names its branch in a `last-prompt`, one that closes after another does not. It is reported
   as a finding.
7. The conversation of a subagent has a separate file (`subagent_path`); its records are a sidechain of its session.

Each method returns the id of the record it wrote (of several, a list). When it returns, the record is in the file.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from foretold.dialects.claude_code.settings import slug
from foretold.sessions.formats.claude.reader import check_session_id, config_folder, session_id, session_stem
from foretold.sessions.formats.claude.records import CHAINED
from foretold.sessions.formats.fields import object_at, text_at
from foretold.sessions.formats.jsonl import encode_record, records_of
from foretold.sessions.model import Homes
from foretold.storage.append_log import AppendFile
from foretold.types import Finding

Json = Mapping[str, object]

WRITES_AS = "2.1.197"  #: the version of the agent whose records these are
SHARED = (
    "another process has resumed this session; both branches stay in it, and a resume follows the one that wrote last."
    " For the other one: Harness.resume({session!r}, branch={branch!r})"
)


def transcript_path(cwd: str, session: str, homes: Homes) -> str:
    """The file in which the agent looks for a session of a folder.

    >>> transcript_path("/home/me/app", "4d1f", Homes("/home/me", {}))
    '/home/me/.claude/projects/-home-me-app/4d1f.jsonl'
    """
    folder = os.path.join(config_folder(homes), "projects", slug(os.path.realpath(cwd)))
    return os.path.join(folder, f"{check_session_id(session)}.jsonl")


def subagent_path(transcript: str, agent_id: str) -> str:
    """The file of a subagent of a session."""
    return os.path.join(session_stem(transcript), "subagents", f"agent-{check_session_id(agent_id)}.jsonl")


def new_session() -> str:
    """A new session id."""
    return str(uuid.uuid4())


class Transcript:
    """A conversation that is being written.

    >>> import tempfile
    >>> path = transcript_path("/home/me/app", new_session(), Homes(tempfile.mkdtemp(), {}))
    >>> with Transcript(path, cwd="/home/me/app", sync=False) as transcript:
    ...     _ = transcript.user("What is in a.txt?")
    ...     call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.txt"}}
    ...     _ = transcript.assistant({"model": "m", "content": [call]})
    ...     _ = transcript.tool_result("t1", "nothing")
    ...     _ = transcript.assistant({"model": "m", "content": [{"type": "text", "text": "Nothing."}]})
    >>> [record.value["type"] for record in records_of(path)]
    ['user', 'assistant', 'user', 'assistant', 'last-prompt']
    """

    def __init__(
        self,
        path: str,
        *,
        cwd: str,
        version: str = WRITES_AS,
        branch: str = "HEAD",
        sync: bool = True,
        clock: Callable[[], float] = time.time,
        session: str = "",
        agent_id: str = "",
    ) -> None:
        """`agent_id` makes it the conversation of a subagent; `session` is then the one that it belongs to."""
        self.path, self.session = path, session or session_id(path)
        self.leaf: str | None = None
        self._is_sidechain = bool(agent_id)
        self._fields = {"userType": "external", "entrypoint": "sdk-cli", "cwd": cwd, "sessionId": self.session}
        self._fields |= {"version": version, "gitBranch": branch}
        self._fields |= {"agentId": agent_id} if agent_id else {}
        self._clock, self._calls, self._prompt, self._last_prompt = clock, dict[str, str](), new_session(), ""
        self._earlier_prompt = ""  #: the last prompt in the existing file
        self._is_led = False  #: whether the file names a leaf
        self._root = ""  #: a record that all further ones descend from
        self._file = AppendFile(path, sync=sync)
        self._others = OtherWriters(path, is_sidechain=self._is_sidechain)
        self._continue()

    @property
    def findings(self) -> list[Finding]:
        """Torn records, found when opening and since, and other writers."""
        return [*self._file.findings, *self._others.findings]

    def __enter__(self) -> Transcript:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it: write the last prompt and the leaf for the agent's list, unless another process wrote since."""
        if not self._file.is_closed:
            self._others.check()
        if self._last_prompt and not self._is_sidechain and not self._others.have_written:
            self._lead(self.leaf)
            self._last_prompt = ""
        self._file.close()

    def abandon(self) -> None:
        """Close it without a `last-prompt`: it is continued at once."""
        self.claim()
        self._file.close()

    def claim(self) -> None:
        """If another process wrote since, name our branch again."""
        self._others.check()
        if self._others.have_written and self.leaf and not self._is_sidechain:
            self._lead(self.leaf)

    def user(self, prompt: str | Sequence[Json], *, is_meta: bool = False) -> str:
        """A prompt: a text, or blocks of the API."""
        content = prompt if isinstance(prompt, str) else list(prompt)
        if is_meta:
            return self._chained({"type": "user", "message": {"role": "user", "content": content}, "isMeta": True})
        self._prompt = new_session()
        if isinstance(prompt, str):
            self._last_prompt = prompt
        message = {"role": "user", "content": content}
        mode = {"permissionMode": "default", "promptSource": "sdk"}
        return self._chained({"promptId": self._prompt, "type": "user", "message": message, **mode}, is_root=True)

    def assistant(self, message: Json) -> list[str]:
        """An answer as the API gives it; one record per block."""
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        whole = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", **message}
        whole = {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 0, "output_tokens": 0}} | whole
        written = []
        for block in blocks if isinstance(blocks, list) else []:
            written.append(self._chained({"message": {**whole, "content": [block]}, "type": "assistant"}))
            if isinstance(block, dict) and block.get("type") == "tool_use":
                self._calls[text_at(block, "id")] = written[-1]
        return written

    def tool_result(
        self, call: str, content: str | Sequence[Json], *, is_error: bool = False, result: object = None
    ) -> str:
        """The result of a tool; `result` is the same in the structure of the tool."""
        source = self._calls.pop(call, None)
        block: dict[str, object] = {"tool_use_id": call, "type": "tool_result"}
        block["content"] = content if isinstance(content, str) else list(content)
        if is_error:
            block["is_error"] = True
        record = {"promptId": self._prompt, "type": "user", "message": {"role": "user", "content": [block]}}
        structured = f"Error: {content}" if is_error and result is None else result
        after = {} if structured is None else {"toolUseResult": structured}
        if source is not None:
            after["sourceToolAssistantUUID"] = source
        return self._chained({**record, **after}, source or self.leaf)

    def attachment(self, value: Json, **fields: object) -> str:
        """An attachment of a prompt or a result; newer versions also store the text in `rendered`."""
        return self._chained({"attachment": dict(value), "type": "attachment", **fields})

    def system(self, subtype: str, content: str = "", **fields: object) -> str:
        """A note about the session that is not sent to the model."""
        return self._chained({"type": "system", "subtype": subtype, "content": content, "isMeta": False, **fields})

    def compact(self, summary: str, *, trigger: str = "manual", tokens: int = 0) -> list[str]:
        """Continue from a summary alone: what came before is not sent any more.

        To preserve the last messages as the agent does, write the result of `foretold.context.compaction_records`.
        """
        before, self.leaf = self.leaf, None
        data = {"trigger": trigger, "preTokens": tokens}
        boundary = self.system(
            "compact_boundary", "Conversation compacted", level="info", compactMetadata=data, logicalParentUuid=before
        )
        message = {"type": "user", "message": {"role": "user", "content": summary}}
        flags = {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
        return [boundary, self._chained({"promptId": self._prompt, **message, **flags})]

    def records(self, records: Iterable[Json]) -> list[str]:
        """Write finished records unchanged, in order; the chain continues from the last that belongs to it.

        A chained record has a `uuid` and `parentUuid`; fields that all records of a session share are added if missing.
        """
        ready = [dict(record) for record in records]
        for value in ready:
            if value.get("type") in CHAINED and not (text_at(value, "uuid") and "parentUuid" in value):
                raise ValueError(f"a record of the type {value['type']} needs its uuid and its parentUuid")
        written = []
        for value in ready:
            is_chained = value.get("type") in CHAINED
            self._append({**self._fields, **value} if is_chained else value)
            if is_chained:
                self._note(value)
                written.append(text_at(value, "uuid"))
                self._note_written(written[-1], value["parentUuid"])
        self._keep_lead()
        return written

    def snapshot(self, value: Json, *, message: str = "", is_update: bool = False) -> None:
        """The state of tracked files at a prompt: `messageId`, `trackedFileBackups`, `timestamp`."""
        noted = message or text_at(dict(value), "messageId")
        about = {"messageId": noted, "snapshot": dict(value), "isSnapshotUpdate": is_update}
        self._append({"type": "file-history-snapshot", **about})

    def title(self, text: str) -> None:
        """A name, by which the agent can resume it."""
        self._line({"type": "custom-title", "customTitle": text})

    def _chained(self, record: Json, parent: str | None = None, *, is_root: bool = False) -> str:
        name, parent = str(uuid.uuid4()), parent or self.leaf
        head = {"parentUuid": parent, "isSidechain": self._is_sidechain}
        value = {**head, **record, "uuid": name, "timestamp": _stamp(self._clock()), **self._fields}
        self._append(value)
        self.leaf = name
        self._note_written(name, parent, is_root=is_root)
        if record.get("subtype") != "compact_boundary":  # a summary follows, and without it there is no conversation
            self._keep_lead()
        return name

    def _note_written(self, name: str, parent: object, *, is_root: bool = False) -> None:
        """Note that we wrote a message. Without a parent it does not descend from the leaf that the file names."""
        self._others.have_written = False
        self._others.have_led |= parent is None and self._is_led
        self._root = name if is_root or parent is None else self._root

    def _keep_lead(self) -> None:
        """After another writer, or a compaction, name our branch as the last."""
        if self._others.have_led and self._root and not self._is_sidechain:
            self._lead(self._root)

    def _lead(self, leaf: str | None) -> None:
        self._others.have_led, self._is_led = False, True
        self._line({"type": "last-prompt", "lastPrompt": self._last_prompt or self._earlier_prompt, "leafUuid": leaf})

    def _line(self, value: Json) -> None:
        self._append({**value, "sessionId": self.session})

    def _append(self, value: Json) -> None:
        line, before = encode_record(value), self._file.end
        self._others.writing = text_at(dict(value), "uuid")
        try:
            self._file.append(line)
        finally:  # a line that was not synced is in the file too
            if self._file.end != before:
                self._others.note_own(self._file.end - len(line) - 1, self._file.end)

    def _continue(self) -> None:
        """Find the leaf of an existing file, and the calls without a result."""
        for record in records_of(self.path):
            if record.value.get("type") in CHAINED:
                self._note(record.value)
            self._is_led |= record.value.get("type") == "last-prompt"

    def _note(self, value: Json) -> None:
        """Remember of a chained record what the next ones need."""
        if (value.get("isSidechain") is True) != self._is_sidechain or not text_at(value, "uuid"):
            return
        self.leaf = text_at(value, "uuid")
        content = object_at(value, "message").get("content")
        if isinstance(content, str) and value.get("promptId") and not value.get("isCompactSummary"):
            self._earlier_prompt = content
        for block in content if isinstance(content, list) else []:
            if text_at(block, "type") == "tool_use":
                self._calls[text_at(block, "id")] = self.leaf
            elif text_at(block, "type") == "tool_result":
                self._calls.pop(text_at(block, "tool_use_id"), None)


def _stamp(now: float) -> str:
    """A time as the agent writes it."""
    whole, part = divmod(round(now * 1000), 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{part:03}Z"


class OtherWriters:
    """What other processes appended to a file whose first bytes are known.

    What is between the lines that we wrote, or after the last, another process wrote. Records of the chain are messages
    of it; a `last-prompt` decides which branch the next resume follows. A branch is reported once, by the first of its
    records that we saw. Records of subagents in the file of a conversation are not a branch.
    """

    def __init__(self, path: str, *, is_sidechain: bool = False) -> None:
        self.path, self._is_sidechain = path, is_sidechain
        self.known = os.path.getsize(path)  #: bytes whose writer is known
        self.have_written = False  #: messages, since our last one
        self.have_led = False  #: they wrote messages, or named a leaf, since we last named one
        self.writing = ""  #: the id of our record that may be in the file before we know: an interrupt came between
        self.findings: list[Finding] = []
        self._theirs: set[str] = set()

    def note_own(self, start: int, end: int) -> None:
        """Our line is from `start` to `end`: what comes before it, and is not known, is theirs."""
        if self.known < start:
            self._read(start)
        self.known = end

    def check(self) -> None:
        """Read what is after our last line."""
        with suppress(OSError):  # the file may have been removed
            self._read(os.path.getsize(self.path))

    def _read(self, end: int) -> None:
        if self.known >= end:
            return
        for record in records_of(self.path, self.known):
            if record.start >= end:
                break
            self.known = record.end
            self._note(record.value)

    def _note(self, value: Json) -> None:
        if value.get("type") == "last-prompt":
            self.have_led = True
        name = text_at(value, "uuid")
        if value.get("type") not in CHAINED or name in ("", self.writing):
            return
        if (value.get("isSidechain") is True) != self._is_sidechain:
            return
        self.have_written = self.have_led = True
        if text_at(value, "parentUuid") not in self._theirs:
            message = SHARED.format(session=session_id(self.path), branch=name)
            self.findings.append(Finding(self.path, None, "session-shared", message))
        self._theirs.add(name)
