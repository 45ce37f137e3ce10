"""The transcript of a conversation, as Claude Code writes it.

1. The file is made with the first record, so a conversation in which nothing was said leaves none.
2. When a method returns, its record is in the file and survives the end of the process (`sessions.write`).
3. Ids are unique in a conversation: an answer or a call whose id was there before gets another one. (Some servers
   number their calls again for every answer.) A call without a name, or whose input is not an object, gets one: no
   server takes back what has none, and the conversation would end there.
4. Versions that keep the text of attachments get it in `rendered`.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence

from foretold.context.attachments import TurnAttachment, image_of, texts
from foretold.context.placement import is_older
from foretold.dialects.claude_code.context import turn_context_of
from foretold.dialects.claude_code.sessions import rules_of
from foretold.dialects.registry import choose
from foretold.errors import StoreFailed
from foretold.instructions.render.blocks import CLOSE, OPEN, placement_of
from foretold.models.protocol import COUNTS
from foretold.sessions.formats.fields import list_at, object_at
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.transcript.writer import Transcript
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from foretold.harness.harness import Harness
    from foretold.harness.tools.base import Result
    from foretold.models.protocol import Reply

    Json = Mapping[str, object]


class TranscriptRecorder:
    """What is written down of a conversation."""

    def __init__(self, harness: Harness, path: str, *, session: str = "", agent_id: str = "") -> None:
        """`session` and `agent_id` are given for the conversation of a subagent."""
        options, self._agent = harness.options, harness.agent
        self._is_sidechain = bool(agent_id)
        self.path, self.model, self.version = path, options.model.name, harness.version
        self._open: Callable[[], Transcript] = lambda: Transcript(
            path,
            cwd=options.cwd,
            version=self.version,
            branch=harness.system_prompt.branch,
            sync=options.sync,
            clock=options.clock,
            session=session,
            agent_id=agent_id,
        )
        self._is_closed = False
        self._transcript: Transcript | None = None
        self._findings: list[Finding] = []
        self._ids: set[str] = set()
        self.has_branched = False
        self.written: dict[str, str] = {}  #: call -> the record that makes it

    @property
    def transcript(self) -> Transcript:
        """The open file; made when it is first used."""
        if self._is_closed:
            raise StoreFailed(f"{self.path} is closed; resume it with Harness.resume")
        if self._transcript is None:
            self._transcript = self._open()
        return self._transcript

    @property
    def leaf(self) -> str:
        """The record that the next one follows; empty if the file is not open."""
        return (self._transcript.leaf or "") if self._transcript else ""

    @property
    def is_begun(self) -> bool:
        return self._transcript is not None

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (*self._findings, *(self._transcript.findings if self._transcript else ()))

    def records(self) -> list[dict[str, object]]:
        """Everything that is in the file; to a subagent, its own conversation is not a sidechain."""
        found = [record.value for record in records_of(self.path)] if os.path.isfile(self.path) else []
        return [{**record, "isSidechain": False} for record in found] if self._is_sidechain else found

    def prompt(self, text: str) -> str:
        """What the user typed: the id of its record."""
        name = self.transcript.user(text)
        if self.has_branched:
            # a resume follows the leaf that was named last, if what was said since is not below it
            noted = {"type": "last-prompt", "lastPrompt": text, "leafUuid": name, "sessionId": self.transcript.session}
            self.append([noted])
            self.has_branched = False
        return name

    def claim(self) -> None:
        """If another process continued this session, make our branch the current one again."""
        self.transcript.claim()

    def branch(self, leaf: str) -> None:
        """Continue after an earlier record; at the start if it is empty."""
        self.transcript.leaf, self.has_branched = leaf or None, True

    def reply(self, reply: Reply) -> tuple[dict[str, object], ...]:
        """What the model said: its blocks, with ids that are new."""
        blocks = tuple(self._call(block) if block.get("type") == "tool_use" else block for block in reply.content)
        usage = dict(zip(COUNTS, reply.usage, strict=True))
        said = {"id": self._new(reply.id, "msg_"), "model": reply.model or self.model, "content": list(blocks)}
        written = self.transcript.assistant({**said, "stop_reason": reply.stop, "usage": usage})
        for block, record in zip(blocks, written, strict=True):
            if block.get("type") == "tool_use":
                self.written[str(block["id"])] = record
        return blocks

    def _call(self, block: dict[str, object]) -> dict[str, object]:
        given = block.get("input")
        given = given if isinstance(given, dict) else {} if given is None else {"invalid_input": given}
        name = self._new(str(block.get("id") or ""), "toolu_")
        return {**block, "id": name, "name": str(block.get("name") or "unnamed"), "input": given}

    def result(self, call: str, result: Result) -> str:
        """What a tool gave back."""
        return self.transcript.tool_result(call, result.content, is_error=result.is_error, result=result.value)

    def reopen(self) -> None:
        """Take the end of the chain from the file: an interrupt may have come before we knew of a record."""
        if self._transcript is not None:
            self._transcript.abandon()
            self._findings += self._transcript.findings
            self._transcript = self._open()

    def attach(self, attachments: Iterable[TurnAttachment]) -> None:
        """Write what was attached to a prompt or a result."""
        for attachment in attachments:
            self.transcript.attachment(attachment.record, **self._rendered(attachment))

    def _rendered(self, attachment: TurnAttachment) -> dict[str, object]:
        if not rules_of(self.version).is_rendered or image_of(attachment) is not None:
            return {}
        around, placement = turn_context_of(self._agent), placement_of(self.model, choose(self._agent).dialect)
        said = [{"content": OPEN + text + CLOSE} for text in texts(attachment, around)]
        is_user = is_older(placement) or attachment.type in around.user_types
        return {"rendered": said, "renderedRole": "user" if is_user else "system"} if said else {}

    def append(self, records: Sequence[Json | None]) -> None:
        """Write records that are made already: snapshots of files, a compaction. None is skipped."""
        given = [record for record in records if record is not None]
        if self._is_sidechain:
            given = [{**record, "isSidechain": True} if "isSidechain" in record else record for record in given]
        self.transcript.records(given)

    def reserve_ids(self, records: Iterable[Json]) -> None:
        """Treat the ids of a resumed conversation as used."""
        for record in records:
            said = object_at(record, "message")
            self._ids |= {
                str(each["id"])
                for each in (said, *list_at(said, "content"))
                if isinstance(each, dict) and each.get("id")
            }

    def _new(self, name: str, prefix: str) -> str:
        while not name or name in self._ids:
            name = prefix + uuid.uuid4().hex[:24]
        self._ids.add(name)
        return name

    def close(self) -> None:
        """Close the file."""
        if self._transcript is not None:
            self._transcript.close()
            self._findings += self._transcript.findings
        self._transcript, self._is_closed = None, True
