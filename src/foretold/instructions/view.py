"""A view: everything an agent is told at the start of a session, and everything it is not, with the reasons.

`Origin`, `Wait` and `Waiting` are the values that a loader and its rules share.
"""

from __future__ import annotations

from functools import cached_property

from foretold.dialects.registry import DialectChoice
from foretold.dialects.schema import Dialect, FileSource
from foretold.dialects.surroundings import Surroundings
from foretold.instructions.render.blocks import start_blocks, start_text
from foretold.types import Entry, Finding, Message, NamedTuple, Skip, Slot, estimate_tokens


class View:
    """The result of loading. Entries, skips and findings are in the agent's order; the rest follows from them.

    `entries`   what the model receives
    `skips`     what is there, or was asked for, and is not delivered
    `absent`    where the agent looked and found nothing
    `waiting`   rules that wait for a path
    `withheld`  what the agent loads, and reports, but does not send
    `hidden`    why fallback files of nested folders (AGENTS.md) are not read: reason and detail; empty if they are
    """

    def __init__(
        self,
        choice: DialectChoice,
        surroundings: Surroundings,
        entries: tuple[Entry, ...],
        *,
        skips: tuple[Skip, ...] = (),
        findings: tuple[Finding, ...] = (),
        absent: tuple[str, ...] = (),
        waiting: tuple[Waiting, ...] = (),
        withheld: tuple[Entry, ...] = (),
        hidden: tuple[str, str] = ("disabled", ""),
    ) -> None:
        self.choice, self.surroundings = choice, surroundings
        self.entries, self.skips, self.findings = entries, skips, findings
        self.absent, self.waiting, self.withheld = absent, waiting, withheld
        self.hidden = hidden

    def __repr__(self) -> str:
        cwd = self.surroundings.cwd
        return f"<View {self.dialect.name} of {cwd}: {len(self.entries)} entries, {len(self.skips)} skips>"

    @property
    def dialect(self) -> Dialect:
        return self.choice.dialect

    @property
    def assumed(self) -> bool:
        """Whether the version asked for was not recorded, so that another one's behaviour is assumed."""
        return self.choice.assumed

    @property
    def nested_fallback(self) -> bool:
        """Whether fallback files of nested folders are read."""
        return not self.hidden[0]

    @property
    def refusal(self) -> int:
        """The exit status with which the agent refuses to start here; 0 when it starts."""
        return self.surroundings.refusal

    @cached_property
    def text(self) -> str | None:
        """The instruction text the model receives, without its envelope; None when there is none."""
        if self.entries and self.dialect.parts:
            return "\n\n".join(slot.block.text for slot in self.slots) or None
        return start_text(self.entries, self.dialect.template)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The blocks of the first request that carry instructions, by place."""
        if self.refusal:
            return ()
        if self.dialect.parts:
            from foretold.instructions.render.parts import part_blocks

            return tuple(
                Slot(place, block) for place, block in part_blocks(self.entries, self.dialect, self.surroundings)
            )
        blocks = start_blocks(self.entries, self.text, self.dialect, self.surroundings)
        return tuple(Slot(self.dialect.envelope.place, block) for block in blocks)

    @property
    def messages(self) -> list[Message]:
        """The same as message dicts: role and content blocks."""
        name: Message = {"name": self.dialect.envelope.message} if self.dialect.envelope.message else {}
        return [
            {"role": block.role, **name, "content": [{"type": block.type, "text": block.text}]}
            for _, block in self.slots
        ]

    @property
    def tokens(self) -> int:
        """An estimate of what the instructions cost at the start of every session."""
        return estimate_tokens(self.text or "") if not self.refusal else 0

    def without_entries(self) -> View:
        """The view of a subagent that gets no instructions; rules still wait for what it touches."""
        return View(self.choice, self.surroundings, (), waiting=self.waiting, hidden=self.hidden)

    @property
    def loaded(self) -> list[dict[str, object]]:
        """What the agent's own InstructionsLoaded hook reports, in the agent's words."""
        return [report(entry, self.dialect) for entry in (*self.entries, *self.withheld) if entry.announced]


def report(entry: Entry, dialect: Dialect) -> dict[str, object]:
    """One call of the InstructionsLoaded hook."""
    said: dict[str, object] = {
        "file_path": entry.path,
        "memory_type": dict(dialect.types).get(entry.layer, entry.layer),
        "load_reason": entry.reason,
    }
    if entry.globs:
        said["globs"] = list(entry.globs)
    if entry.parent:
        said["parent_file_path"] = entry.parent
    if entry.trigger:
        said["trigger_file_path"] = entry.trigger
    return said


class Waiting(NamedTuple):
    """A rule that waits for a path."""

    entry: Entry
    base: str  #: the folder that its globs are seen from
    source: FileSource


class Wait(NamedTuple):
    """How the rules of a folder wait: for paths seen from `base`; `only` when those without `paths` are left out."""

    base: str
    source: FileSource
    only: bool = False


class Origin(NamedTuple):
    """Where a file comes from: what its imports inherit."""

    layer: str
    folder: str
    kind: str = "file"
    wait: Wait | None = None
    parent: str | None = None
    line: int | None = None
    depth: int = 0
    announced: bool = True
    fallback: bool = False
    unlike: frozenset[str] = frozenset()  #: texts that must not be repeated
    name: str = ""
    literal: bool = False  #: whether imports in it are left alone
