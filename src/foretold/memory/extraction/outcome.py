"""What an extraction did: memories added and changed, what was refused and why, and what it cost."""

from __future__ import annotations

from foretold.models.protocol import Usage
from foretold.types import Finding, NamedTuple


class Refusal(NamedTuple):
    """Something that was not written, and why."""

    file: str
    reason: str  #: see `foretold.memory.extraction.judge.judge.REASONS`
    detail: str = ""


class Extraction(NamedTuple):
    """What an extraction did."""

    added: tuple[str, ...] = ()  #: files; of the team, with `team:` before them
    updated: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()
    usage: Usage = Usage()
    requests: int = 0
    unchanged: tuple[str, ...] = ()  #: written as they already were
    proposed: tuple[str, ...] = ()  #: put into the inbox
    warned: tuple[Refusal, ...] = ()  #: written, with something that should be known
    masked: int = 0  #: pieces of recalled and instruction text that count as nobody's word
    mode: str = ""  #: fork, or digest
    session: str = ""
    skipped: str = ""  #: why nothing was asked: never, not-due, nothing-new, nothing-typed, policy, running
    stopped: str = ""  #: why it ended early: rounds, model-failed, store-failed; only the first counts as done
    last: str = ""  #: the message up to which it has looked

    def findings(self, path: str) -> list[Finding]:
        """What was refused, and why it ended early; `path` is where that happened."""
        found = [Finding(each.file, None, "memory-refused", f"{each.reason}: {each.detail}") for each in self.refused]
        if self.stopped:
            said = f"memories could not be extracted: {self.stopped}"
            found.append(Finding(path, None, "extraction-failed", said))
        return found

    def to_json(self) -> dict[str, object]:
        """As plain values.

        >>> Extraction(skipped="not-due").to_json()["skipped"]
        'not-due'
        """
        values: dict[str, object] = {**self._asdict(), "usage": self.usage._asdict()}
        for name in ("refused", "warned"):
            values[name] = [each._asdict() for each in getattr(self, name)]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
