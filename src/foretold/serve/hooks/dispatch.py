"""From what an agent writes to what it is answered. Whatever goes wrong: no answer, and one line in the log.

1. Read all of the input, keep MOST bytes of it: an agent whose pipe breaks complains.
2. Find the event, the scene and the settings; an event that is switched off gets no answer.
3. Ask the module of the event. Say it in the agent's form.
4. It takes at most SECONDS, by the clock on the wall: then it is given up, so that an agent never waits for a disk that
   does not answer. That is longer than an index waits for another process that writes it (5), since it can do without;
   and shorter than agents wait for a hook of ours (10), since one that they end leaves no line in the log.
"""

from __future__ import annotations

import os

from foretold.serve.hooks import EVENTS
from foretold.serve.hooks.agent_protocols import SILENCE, Said, speech_of, wire_form
from foretold.serve.hooks.context import Asking, Scene
from foretold.serve.hooks.json import Unreadable, payload_of, text_of, write
from foretold.serve.hooks.log import fault, log
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.hooks.json import Payload

MOST = 16 * 1024 * 1024
CHUNK = 1024 * 1024
SECONDS = 8.0


class Overdue(BaseException):
    """A hook that took too long. It is no `Exception`: whoever goes on after a fault does not go on after this one."""


class Unknown(LookupError):
    """A name that is no event of ours."""


def answer(event: str, data: bytes | None, asking: Asking) -> str:
    """What to print for an event; empty if there is nothing to say, or something went wrong. Never raises."""
    session = ""
    try:
        event = speech_of(asking.agent).events.get(event, event)
        if data is None:
            raise Unreadable(f"the payload is longer than {MOST >> 20} MB")
        payload = payload_of(data)
        session = text_of(payload, "session_id")
        said, scene = heard(event, payload, asking)
        for complaint in scene.complaints:
            log(scene.ours.state, event, session, complaint)
        form = wire_form(
            said._replace(context=harmless(said.context)),
            event,
            text_of(payload, "hook_event_name") or event,
            scene.speech,
        )
        return write(form) if form else ""
    except (Exception, Overdue) as error:
        _tell(event, session, error, asking)
        return ""


def harmless(context: str) -> str:
    """Context in which no tag is left that the agent itself speaks in: it puts all of it between such tags."""
    if "<" not in context and context.isascii():
        return context
    from foretold.instructions.render.escape import escape_reserved

    return escape_reserved(context)


def heard(event: str, payload: Payload, asking: Asking) -> tuple[Said, Scene]:
    """What is to be said, and the scene that knows why."""
    scene = Scene(event, payload, asking)
    if event not in EVENTS:
        raise Unknown
    if event in scene.settings.off:
        scene.why.append(f"{event} is switched off (hooks.off)")
        return SILENCE, scene
    module = __import__(f"foretold.serve.hooks.{EVENTS[event]}", fromlist=["hear"])
    said: Said = module.hear(scene)
    return said, scene


def _tell(event: str, session: str, error: BaseException, asking: Asking) -> None:
    try:
        from foretold.paths import our_folders

        log(our_folders(asking.home, asking.env).state, event, session, f"fault: {told_of(error)}")
    except Exception:
        return


def told_of(error: BaseException) -> str:
    """A fault in the words of the log."""
    if isinstance(error, Unreadable):
        return str(error)
    if isinstance(error, Unknown):
        return "there is no such event"
    if isinstance(error, Overdue):
        return f"it took longer than {SECONDS:.0f} seconds and was given up: {fault(error)}"
    return fault(error)


def read_input(handle: int = 0) -> bytes | None:
    """All that an agent writes; None if it is too much, which is read and thrown away. Nothing from a terminal."""
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


def hurry(seconds: float = SECONDS) -> None:
    """Give up after a while. (The module `signal` makes enumerations first, which takes time.)"""
    from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]

    def overdue(*_: object) -> None:
        raise Overdue

    signal(SIGALRM, overdue)
    setitimer(ITIMER_REAL, seconds)
