"""One turn: model → tools → model, until a reply that wants no tool.

1. Everything is written down before it is sent or shown: what happened survives whatever happens next.
2. The results of all calls of a reply, with what they bring along, are the next message.
3. Before each request the conversation is compacted, if the last reply filled the window; and once if the provider
   says that the request is too long, which is then made again.
4. A turn that is interrupted (Ctrl-C, a model that fails, a tool that raises) leaves a whole conversation: calls that
   have no result get one that says so. Then the exception goes on its way.
5. A call that ends an answer which was cut off (`max_tokens`) is not run: what it would do is not known whole. The
   model is told so.
6. At the end, if enough was said, memories are extracted. What fails there is a finding; the turn stands.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from foretold.context.placement import tool_blocks, turn_messages
from foretold.dialects.claude_code.sessions import rules_of
from foretold.errors import ModelFailed
from foretold.harness import compaction
from foretold.harness.events import (
    AttachmentEvent,
    CompactEvent,
    ReplyEvent,
    ToolCallEvent,
    ToolResultEvent,
    Turn,
    TurnEndEvent,
)
from foretold.harness.interrupts import repair_conversation
from foretold.harness.messages import result_messages
from foretold.models.protocol import Usage
from foretold.sessions.formats.fields import object_at
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from foretold.context.attachments import TurnAttachment
    from foretold.harness.events import Event
    from foretold.harness.harness import Harness
    from foretold.harness.tools.base import Result
    from foretold.models.protocol import ModelRequest, Reply


class TurnRunner:
    """Runs one turn."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness
        self.usage, self.requests = Usage(), 0
        self.compactions: list[CompactEvent] = []
        self._before = len(harness.dialogue.messages)

    def events(self, prompt: str) -> Generator[Event, None, None]:
        """What happens, from the prompt to the end."""
        attachments = self.harness.attachments.for_prompt(prompt)
        try:
            name = self._say(prompt, attachments)
            if attachments:
                yield AttachmentEvent(tuple(attachments))
            stop = yield from self._replies()
        except BaseException:
            repair_conversation(self.harness)
            raise
        harness, extracted = self.harness, None
        if stop == "end_turn" and (harness.extractor is not None or harness.notes is not None):
            from foretold.harness.memory import update_memories

            if extracted := update_memories(harness):
                yield extracted
        turn = Turn(
            name,
            harness.last[1].text if harness.last else "",
            stop,
            messages=tuple(harness.dialogue.messages[self._before :]),
            usage=self.usage,
            requests=self.requests,
            findings=harness.new_findings(),
            compactions=tuple(self.compactions),
            extraction=extracted.extraction if extracted else None,
        )
        yield TurnEndEvent(turn)

    def _say(self, prompt: str, attachments: list[TurnAttachment]) -> str:
        """Write a prompt down, and put it into the conversation; its id."""
        harness, dialogue = self.harness, self.harness.dialogue
        name = harness.recorder.prompt(prompt)
        if harness.history is not None:
            harness.recorder.append([harness.history.prompt(name)])
        harness.recorder.attach(attachments)
        if dialogue.is_open:
            harness.reload_messages()
            self._before = max(at for at, message in enumerate(dialogue.messages) if message["role"] == "user")
            return name
        context = harness.system_prompt.context() if not dialogue.messages else ()
        model = harness.model.name
        dialogue.add(turn_messages(prompt, attachments, agent=harness.agent, model=model, context=context))
        return name

    def _replies(self) -> Generator[Event, None, str]:
        """Ask and answer until the model is done: why it ended."""
        harness = self.harness
        while True:
            if harness.used.context >= compaction.due_at(harness.window, harness.version):
                yield from self._compact()
            request, reply = yield from self._ask()
            self.requests += 1
            self.usage, harness.used = self.usage.plus(reply.usage), reply.usage
            blocks = harness.recorder.reply(reply)
            if blocks:
                harness.dialogue.add([{"role": "assistant", "content": list(blocks)}])
            harness.last = (request, reply)
            calls = [block for block in blocks if block.get("type") == "tool_use"]
            if not calls and not reply.text.strip():
                harness.add_finding(
                    Finding(harness.path, None, "reply-empty", f"the model said nothing ({reply.stop})")
                )
            yield ReplyEvent(reply.text, reply)
            if not calls:
                return reply.stop
            yield from self._answer(calls, cut=reply.stop == "max_tokens" and calls[-1] is blocks[-1])
            if harness.max_turns and self.requests >= harness.max_turns:
                return "max_turns"

    def _answer(self, calls: list[dict[str, object]], *, cut: bool = False) -> Iterator[Event]:
        """Run the tools, and say what they gave."""
        harness, answered = self.harness, list[tuple[dict[str, object], "Result"]]()
        for call in calls:
            name = str(call["name"])
            yield ToolCallEvent(str(call["id"]), name, object_at(call, "input"))
            result = _cut_off(harness.options.max_tokens) if cut and call is calls[-1] else harness.use(call)
            harness.recorder.result(str(call["id"]), result)
            answered.append((call, result))
            yield ToolResultEvent(str(call["id"]), name, result)
        attachments = harness.attachments.for_results(answered)
        harness.recorder.attach(attachments)
        results = [result.block(str(call["id"])) for call, result in answered]
        blocks = tool_blocks(attachments, agent=harness.agent, model=harness.model.name)
        harness.dialogue.add(result_messages(results, blocks, folds_lists=rules_of(harness.version).folds_lists))
        if attachments:
            yield AttachmentEvent(tuple(attachments))

    def _ask(self) -> Generator[Event, None, tuple[ModelRequest, Reply]]:
        """Let the model reply. A request that is too long for it is made again, shorter."""
        for is_again in (False, True):
            request = self.harness.request()
            try:
                return request, self.harness.model.reply(request)
            except ModelFailed as error:
                if not compaction.is_too_long(error):
                    raise
                if is_again or not (yield from self._compact()):
                    raise ModelFailed(f"{error}; {compaction.STILL}") from error
        raise AssertionError("it is asked or it fails")

    def _compact(self) -> Generator[Event, None, bool]:
        harness = self.harness
        done = compaction.compact(harness, "auto", is_pending=True)
        self.usage, harness.used = self.usage.plus(done.usage), Usage()
        self.compactions.append(done)
        if done.is_done:
            self._before = 0
        yield done
        return done.is_done


def _cut_off(limit: int) -> Result:
    """The result of a call that is incomplete."""
    from foretold.harness.tools.base import Result

    said = f"This call was cut off: an answer has {limit:,} tokens at most. It was not run."
    said += " Make it again, in smaller pieces."
    return Result(f"<tool_use_error>{said}</tool_use_error>", is_error=True, value=said)
