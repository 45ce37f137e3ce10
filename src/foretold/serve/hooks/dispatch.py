"""From the payload of an agent to the answer. Whatever goes wrong: no answer, and one line in the log.

The guard (PreToolUse) is the exception: a call that it has no time to judge, or that is too long to be read, is
refused, because whoever wants to get past it could make it so.

1. Read all of the input, but keep at most MOST bytes: an agent reports an error if its pipe breaks.
2. Find the event, the context and the settings; an event that is switched off gets no answer.
3. Call the module of the event, and encode its output for the agent.
4. It takes at most SECONDS of wall-clock time, so that an agent never waits for a disk that does not answer. That is
   longer than an index waits for another process that writes it (5), which it can do without; and shorter than agents
   wait for our hooks (10), because a hook that they kill leaves no line in the log.
"""

from __future__ import annotations

import os

from foretold.serve.hooks import EVENTS
from foretold.serve.hooks.agent_protocols import NO_OUTPUT, HookOutput, encode_output, protocol_of
from foretold.serve.hooks.context import Caller, HookContext
from foretold.serve.hooks.json import BadPayload, payload_of, text_of, write
from foretold.serve.hooks.log import fault_of, log
from foretold.types import TYPE_CHECKING, may_hide

if TYPE_CHECKING:
    from foretold.serve.hooks.json import Payload

MOST = 16 * 1024 * 1024
CHUNK = 1024 * 1024
SECONDS = 8.0
GUARD = "PreToolUse"


class TooLong(BadPayload):
    """A payload that is longer than MOST."""


class HookTimeout(BaseException):
    """A hook took too long. Not an `Exception`, so that code which recovers from faults does not catch it."""


class UnknownEvent(LookupError):
    """The name of an event that does not exist."""


def answer(event: str, data: bytes | None, caller: Caller) -> str:
    """What to print for an event; empty if there is nothing to say, or something went wrong. Never raises."""
    session, own = "", event
    try:
        event = protocol_of(caller.agent).events.get(event, event)
        if data is None:
            raise TooLong(f"the payload is longer than {MOST >> 20} MB")
        payload = payload_of(data)
        session = text_of(payload, "session_id")
        output, context = handle_event(event, payload, caller)
        for problem in context.problems:
            log(context.ours.state, event, session, problem)
        output = output._replace(context=escape_tags(output.context), reason=show_unseen(output.reason))
        form = encode_output(output, event, text_of(payload, "hook_event_name") or event, context.protocol)
        return write(form) if form else ""
    except (Exception, HookTimeout) as error:
        log_error(event, session, error, caller)
        return refuse_unjudged(own, error, caller)


def refuse_unjudged(event: str, error: BaseException, caller: Caller) -> str:
    """What to print for an event that ended with an error: a refusal by the guard, if it could not read or judge."""
    protocol = protocol_of(caller.agent)
    if protocol.events.get(event, event) != GUARD or not isinstance(error, HookTimeout | TooLong):
        return ""
    why = "is too long" if isinstance(error, TooLong) else "takes too long"
    reason = f"It {why} to check that this call writes no credential into memories. Make it smaller, in several calls."
    return write(encode_output(HookOutput(verdict="deny", reason=reason), GUARD, event, protocol))


def escape_tags(text: str) -> str:
    """Context without the tags that the agent itself uses: it wraps all of it in such tags. Nothing in it is hidden."""
    text = show_unseen(text)
    if "<" not in text and text.isascii():
        return text
    from foretold.instructions.render.escape import escape_reserved

    return escape_reserved(text)


def show_unseen(text: str) -> str:
    """A text in which characters that a person does not see are visible."""
    if not may_hide(text):
        return text
    from foretold.secrets.invisible import show_hidden

    return show_hidden(text)


def handle_event(event: str, payload: Payload, caller: Caller) -> tuple[HookOutput, HookContext]:
    """What to tell the agent, and the context with the reasons."""
    context = HookContext(event, payload, caller)
    if event not in EVENTS:
        raise UnknownEvent
    if event in context.settings.off:
        context.why.append(f"{event} is switched off (hooks.off)")
        return NO_OUTPUT, context
    module = __import__(f"foretold.serve.hooks.{EVENTS[event]}", fromlist=["handle"])
    output: HookOutput = module.handle(context)
    return output, context


def log_error(event: str, session: str, error: BaseException, caller: Caller) -> None:
    try:
        from foretold.paths import foretold_folders

        log(foretold_folders(caller.home, caller.env).state, event, session, f"fault: {_describe_error(error)}")
    except Exception:
        return


def _describe_error(error: BaseException) -> str:
    """A fault as the log describes it."""
    if isinstance(error, BadPayload):
        return str(error)
    if isinstance(error, UnknownEvent):
        return "there is no such event"
    if isinstance(error, HookTimeout):
        return f"it took longer than {SECONDS:.0f} seconds and was stopped: {fault_of(error)}"
    return fault_of(error)


def read_input(handle: int = 0) -> bytes | None:
    """All that an agent writes; None if it is too long, and is then discarded. Nothing from a terminal."""
    parts: list[bytes] | None = []
    size = 0
    if os.isatty(handle):
        return b""
    while part := os.read(handle, CHUNK):
        size += len(part)
        if size > MOST:
            parts = None
        if parts is not None:
            parts.append(part)
    return b"".join(parts) if parts is not None else None


def set_timeout(seconds: float = SECONDS) -> None:
    """Give up after a while. (`_signal`, because the module `signal` first builds enumerations, which takes time.)"""
    from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]

    def raise_timeout(*_: object) -> None:
        raise HookTimeout

    signal(SIGALRM, raise_timeout)
    setitimer(ITIMER_REAL, seconds)
