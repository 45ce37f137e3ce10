"""Extraction: at the end of a turn, memories of what was said in it.

    extractor = Extractor(foretold.memory.open("."), gate=Gate(tokens=2000, tool_calls=5))
    if extractor.due(said):
        done = extractor.run(model, request, said, session=session, instructions=[entry.text for entry in view.entries])

1. Only what was said since the last extraction of the session is examined (`progress`), and only if there is enough of
   it (`gate`). Where the write policy lets no agent write or propose, nothing is asked.
2. The model is asked in a fork of the conversation, or about a digest of it (`request`).
3. What it wants to write is judged first (`judge`), and written through the store (`writer`).
4. Then the index is made to name every file of the store, also those that another program put there, and the mark is
   moved. If the model or the disk failed, it stays, and the next run does it again; existing memories are not written
   twice.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import reduce

from foretold.errors import ModelFailed, StoreFailed
from foretold.memory.extraction.gate import Gate, activity_of
from foretold.memory.extraction.judge.evidence import evidence_of
from foretold.memory.extraction.judge.judge import LARGEST
from foretold.memory.extraction.progress import Extraction, ProgressLog, ProgressMark, Refusal
from foretold.memory.extraction.request import (
    LISTED,
    ROUNDS,
    can_fork,
    digest_conversation,
    extraction_prompt,
    fork_request,
    own_request,
    run_calls,
)
from foretold.memory.extraction.tools import MemoryTools
from foretold.memory.extraction.writer import MemoryWriter
from foretold.memory.note import safe_file
from foretold.models.protocol import Usage
from foretold.secrets.disguised import secrets_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.memory.extraction.transcript import TranscriptPiece
    from foretold.memory.note import Memory
    from foretold.memory.project import Memories
    from foretold.models.protocol import Model, ModelRequest
    from foretold.types import Entry

__all__ = ["Extraction", "Extractor", "Gate", "Refusal"]


def _folder_named(into: str) -> str:
    """A folder of the store, by its name; BadName if it is not a safe one."""
    folder = into.rstrip("/")
    if into:
        safe_file(f"{folder}/x.md")
    return folder


class Extractor:
    """Extracts memories from conversations, for one project.

    `team` offers the team's directory too; what is meant for it is proposed. `discoveries` proposes what the assistant
    found with tools; otherwise that is refused. `today` is the date that relative ones are made absolute by. `into` is
    a folder of the store, such as `auto`, that new private memories go into.
    """

    def __init__(
        self,
        memories: Memories,
        *,
        gate: Gate | None = None,
        team: bool = False,
        discoveries: bool = False,
        rounds: int = ROUNDS,
        largest: int = LARGEST,
        today: str = "",
        into: str = "",
    ) -> None:
        self.memories = memories
        self.into = _folder_named(into)
        self.gate = gate or Gate()
        self.team = team and memories.team is not None
        self.discoveries, self.rounds, self.largest, self.today = discoveries, rounds, largest, today
        self.marks = ProgressLog(memories.own.state)

    def due(self, said: Sequence[TranscriptPiece], *, session: str = "") -> bool:
        """Whether enough was said since the last time. The session is that of the last piece, unless it is given."""
        name = session or (said[-1].session if said else "")
        new = self.marks.of(name).new_in(said) if name else 0
        return not (self._refuse() or self.gate.reason_to_wait(activity_of(said[new:])))

    def _refuse(self) -> str:
        return "policy" if self.memories.place.policy in ("manual", "read-only") else ""

    def run(
        self,
        model: Model,
        request: ModelRequest | None,
        said: Sequence[TranscriptPiece],
        *,
        session: str,
        instructions: Iterable[str | Entry] = (),
        force: bool = False,
        since: ProgressMark | None = None,
    ) -> Extraction:
        """Extract memories from what was said since the last time.

        `request` is the conversation's last one with the answer to it; None asks about a digest. `instructions` are
        those in force. `force` passes the gate, not the policy. `since` replaces where the last run ended.
        """
        if self._refuse() or (self.gate.when == "never" and not force):
            return Extraction(session=session, skipped=self._refuse() or "never")
        with self.marks.held(session) as is_ours:
            if not is_ours:
                return Extraction(session=session, skipped="running")
            new = (self.marks.of(session) if since is None else since).new_in(said)
            closed = self.gate.reason_to_wait(activity_of(said[new:])) if new < len(said) else "nothing-new"
            if closed and not (force and closed == "not-due"):
                return Extraction(session=session, skipped=closed)
            known = [each for each in instructions if isinstance(each, str) or each.layer not in ("memory", "team")]
            texts = [each if isinstance(each, str) else each.text for each in known]  # without indexes of memories
            done = self._extract(model, request, said, new, session, texts)
            if done.stopped in ("", "rounds"):
                self.marks.put(session, ProgressMark(said[-1].id, max(piece.end for piece in said)), done)
            return done

    def _extract(
        self,
        model: Model,
        request: ModelRequest | None,
        said: Sequence[TranscriptPiece],
        new: int,
        session: str,
        instructions: list[str],
    ) -> Extraction:
        evidence = evidence_of(said, new, instructions)
        writer = MemoryWriter(
            self.memories,
            evidence,
            session=session,
            secrets=secrets_of(piece.text for piece in said),
            largest=self.largest,
            discoveries=self.discoveries,
        )
        tools = MemoryTools(self.memories, writer, team=self.team, into=self.into)
        first = self._first_request(request, said, new, writer)
        used: list[Usage] = []
        try:
            stopped = "" if run_calls(model, first, tools, self.rounds, used) else "rounds"
            writer.follow_index()
        except (ModelFailed, StoreFailed) as error:
            stopped = f"{'model' if isinstance(error, ModelFailed) else 'store'}-failed: {error}"
        return Extraction(
            **{kind: tuple(names) for kind, names in writer.done.items()},  # type: ignore[arg-type]
            refused=tuple(writer.refused),
            usage=reduce(Usage.plus, used, Usage()),
            requests=len(used),
            warned=tuple(writer.warned),
            masked=evidence.masked,
            mode="fork" if can_fork(request) else "digest",
            session=session,
            stopped=stopped,
            last=said[-1].id,
        )

    def _first_request(
        self, request: ModelRequest | None, said: Sequence[TranscriptPiece], new: int, writer: MemoryWriter
    ) -> ModelRequest:
        """The first request. What it lists counts as seen."""
        notes = [note for note in self.memories.memories() if self.team or note.scope != "team"]
        writer.known.update(((note.scope, note.file), note.digest) for note in notes)
        today = self.today or time.strftime("%A, %Y-%m-%d")
        prompts = [piece.text for piece in said[new:] if piece.origin == "user"]
        begins = prompts[0] if can_fork(request) and new and prompts else ""
        listed = self._select_notes(notes, prompts)
        team = self.memories.team.path if self.team and self.memories.team is not None else ""
        more = len(notes) - len(listed)
        own = self.memories.own
        prompt = extraction_prompt(
            own.path, listed, team=team, today=today, begins=begins, more=more, into=self.into, flat=own.flat
        )
        if can_fork(request):
            return fork_request(request, prompt)
        return own_request(digest_conversation(said, new), prompt)

    def _select_notes(self, notes: list[Memory], prompts: list[str]) -> list[Memory]:
        """The memories to list: all, or those that the prompts are about and then the newest."""
        if len(notes) <= LISTED:
            return notes
        found = self.memories.recall("\n".join(prompts), budget=100_000, limit=LISTED // 2, check=False)
        near = {(hit.memory.scope, hit.memory.file): at for at, hit in enumerate(found.hits)}
        order = sorted(notes, key=lambda note: (near.get((note.scope, note.file), LISTED), -note.changed, note.file))
        return order[:LISTED]
