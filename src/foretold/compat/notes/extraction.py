"""Extraction and session memory, as the notes describe them: a gate, two prompts, a fork.

1. When the model ends a turn without a tool, the gate compares the tokens and tool calls since the last time with a
   configuration (`should_extract_memory`).
2. The prompt is one of two: for the user's memory alone, or with the team's (`build_extract_…_prompt`).
3. The fork has the request of the conversation to the byte, and the prompt after it (`run_forked_agent`), so a provider
   has cached all but the prompt.
4. `extract_memories` is all of it: the fork reads and writes memories, new ones in `auto/`; what it says is checked
   before it is written; the index follows. It returns the figures: tokens, added, updated.
5. Session memory is a separate track: notes of one conversation, by their own configuration (`open_session_memory`);
   its `update` asks the gate itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple, Unpack

from foretold.compat.notes.memory import AUTO, open_memory
from foretold.compat.notes.places import Surrounding
from foretold.errors import ForetoldError
from foretold.memory.extraction.extractor import Extraction as Extraction, Extractor as Extractor
from foretold.memory.extraction.gate import Gate as Gate, activity_of
from foretold.memory.extraction.request import ROUNDS, extraction_prompt, fork_request, run_calls
from foretold.memory.extraction.session_notes import (
    USUAL,
    NotesUpdate,
    SessionNotes,
    Thresholds as Thresholds,
    are_notes_due,
)
from foretold.memory.extraction.transcript import TranscriptPiece, pieces_of
from foretold.models.protocol import ModelRequest, Usage
from foretold.sessions.formats.jsonl import records_of

if TYPE_CHECKING:
    from foretold.models.protocol import Model

DEFAULT_SESSION_MEMORY_CONFIG = USUAL
DEFAULT_EXTRACTION_CONFIG = Gate()
REFUSED = "No tool can be used here."

Json = Mapping[str, object]
#: a transcript by its path, its pieces, its records, or messages of an API
Conversation = str | Iterable[TranscriptPiece] | Iterable[Json]


def should_extract_memory(
    said: Conversation,
    config: Thresholds | Gate = DEFAULT_SESSION_MEMORY_CONFIG,
    *,
    since: str = "",
    is_end: bool = True,
) -> bool:
    """Whether enough was said to be worth a run.

    `since` is the id of the last message that a former run has seen; `is_end`: the model has just answered without a
    tool. With a `Gate`, the rule is the one for memories: either number is enough, and a person must have said
    something. With `Thresholds`, it is the one for the notes of a session.
    """
    pieces = pieces_in(said)
    if isinstance(config, Thresholds):
        return are_notes_due(pieces, config, covers=since, is_end=is_end)
    known = next((number for number in range(len(pieces), 0, -1) if pieces[number - 1].id == since), 0)
    return is_end and not config.reason_to_wait(activity_of(pieces[known:]))


def pieces_in(said: Conversation) -> list[TranscriptPiece]:
    """A conversation as pieces: messages are numbered from 1, and that is their id."""
    if isinstance(said, str):
        return pieces_of(records_of(said))
    given = list(said)
    if all(isinstance(each, TranscriptPiece) for each in given):
        return given  # type: ignore[return-value]
    records = [
        {"type": each["role"], "uuid": str(number), "message": each} if "role" in each else each
        for number, each in enumerate(given, 1)
        if isinstance(each, dict)
    ]
    return pieces_of(records)


def build_extract_auto_only_prompt(*, today: str = "", **options: Unpack[Surrounding]) -> str:
    """What a fork is asked, for the user's own memory."""
    return _prompt(team=False, today=today, **options)


def build_extract_combined_prompt(*, today: str = "", **options: Unpack[Surrounding]) -> str:
    """What a fork is asked, for the user's memory and the team's; outside of a repository there is no team's."""
    return _prompt(team=True, today=today, **options)


def _prompt(*, team: bool, today: str, **options: Unpack[Surrounding]) -> str:
    memories = open_memory(**options)
    shared = memories.team.path if team and memories.team is not None else ""
    notes = [note for note in memories.memories() if shared or note.scope != "team"]
    day = today or time.strftime("%A, %Y-%m-%d")
    return extraction_prompt(memories.own.path, notes, team=shared, today=day, into=AUTO, flat=True)


class ForkedRun(NamedTuple):
    """What a fork of a conversation came to."""

    text: str  #: of its last answer; empty if it did not end
    requests: int
    usage: Usage
    is_ended: bool  #: whether it ended by itself, within the rounds


class CallRunner:
    """Runs the tool calls of a fork; without a function, every call is refused."""

    def __init__(self, run: Callable[[Json], str] | None = None) -> None:
        self._run = run

    def run(self, call: Json) -> dict[str, object]:
        """The result of a call, as a block."""
        block: dict[str, object] = {"type": "tool_result", "tool_use_id": call.get("id", "")}
        if self._run is None:
            return {**block, "content": REFUSED, "is_error": True}
        try:
            return {**block, "content": self._run(call)}
        except ForetoldError as error:
            return {**block, "content": str(error), "is_error": True}


def run_forked_agent(
    model: Model,
    request: ModelRequest,
    prompt: str,
    *,
    run_tool: Callable[[Json], str] | None = None,
    rounds: int = ROUNDS,
) -> ForkedRun:
    """Ask a fork of a conversation: its last request to the byte, then the prompt.

    `run_tool` takes a `tool_use` block and gives the text of its result; a ForetoldError is told to the model.
    """
    used: list[Usage] = []
    reply = run_calls(model, fork_request(request, prompt), CallRunner(run_tool), rounds, used)
    return ForkedRun(reply.text if reply else "", len(used), reduce(Usage.plus, used, Usage()), reply is not None)


def extract_memories(
    model: Model,
    request: ModelRequest | None,
    said: Conversation,
    *,
    session: str,
    config: Gate = DEFAULT_EXTRACTION_CONFIG,
    instructions: Sequence[str] = (),
    team: bool = False,
    force: bool = False,
    today: str = "",
    **options: Unpack[Surrounding],
) -> Extraction:
    """Extract memories from what was said since the last time, if the gate lets it.

    `request` is the last one of the conversation, with the answer to it; None asks about a digest instead of a fork.
    """
    if not isinstance(config, Gate):
        raise TypeError(f"the config of an extraction is a Gate, like DEFAULT_EXTRACTION_CONFIG, not {config!r}")
    extractor = Extractor(open_memory(**options), gate=config, team=team, today=today, into=AUTO)
    return extractor.run(model, request, pieces_in(said), session=session, instructions=instructions, force=force)


class SessionMemory(SessionNotes):
    """The notes of one conversation, which are written only when the gate lets it."""

    def update(
        self, model: Model, request: ModelRequest, said: Conversation, *, is_end: bool = True, force: bool = False
    ) -> NotesUpdate:
        """Let a model write the notes if `should_extract_memory` says so, or `force` does."""
        pieces = pieces_in(said)
        if not force and not self.due(pieces, is_end=is_end):
            return NotesUpdate(is_written=False, reason="too-early")
        return super().update(model, request, pieces)


def open_session_memory(
    session: str, config: Thresholds = DEFAULT_SESSION_MEMORY_CONFIG, **options: Unpack[Surrounding]
) -> SessionMemory:
    """The notes of one conversation, in our own state folder. `config` is the gate of their `update`."""
    if not isinstance(config, Thresholds):
        raise TypeError(f"the config of session memory is like DEFAULT_SESSION_MEMORY_CONFIG, not {config!r}")
    return SessionMemory(f"{open_memory(**options).own.state}/sessions", session, config)
