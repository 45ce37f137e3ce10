"""Whether a memory still holds, in a few words, where there is no time to search the repository.

1. The verdicts of the last `verify` are cached by the digest of the memory's file: one of another text does not count.
2. Without one, the paths that a memory names are looked for where it says, and nowhere else: so a missing path is a
   reason to look closer, with `verify`, and not a verdict.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress

from foretold.memory.note import Memory
from foretold.storage.atomic import replace_file
from foretold.storage.tree import read_regular
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.drift.verify import MemoryVerdict

NAME = "verdicts.json"
SCHEMA = 1
MOST = 1 << 28  #: bytes of the cache that are read


class CachedVerdict(NamedTuple):
    """A verdict in the cache."""

    state: str
    evidence: str
    time: float


def save_verdicts(
    cache: str, memories: Iterable[Memory], verdicts: Iterable[MemoryVerdict], now: float | None = None
) -> None:
    """Cache verdicts for later. A failure to do so is ignored."""
    kept = {digest: list(held) for digest, held in load_verdicts(cache).items()}
    by_file = {verdict.file: verdict for verdict in verdicts}
    for memory in memories:
        verdict = by_file.get(memory.file)
        if verdict is not None:
            kept[memory.digest] = [verdict.state, _evidence(verdict), time.time() if now is None else now]
    data = json.dumps({"schema": SCHEMA, "verdicts": kept}).encode()
    with suppress(OSError):
        os.makedirs(cache, 0o700, exist_ok=True)
        replace_file(os.path.join(cache, NAME), data, sync=False)


def _evidence(verdict: MemoryVerdict) -> str:
    """The evidence against a memory, in one sentence."""
    worst = [
        each
        for each in verdict.claims
        if each.state == verdict.state and verdict.state in ("missing", "moved", "changed")
    ]
    more = f", and {len(worst) - 1} more" if len(worst) > 1 else ""
    return f"{worst[0].claim.text}: {worst[0].evidence}{more}" if worst else ""


def load_verdicts(cache: str) -> dict[str, CachedVerdict]:
    """The cached verdicts, by digest."""
    try:
        data = json.loads(read_regular(os.path.join(cache, NAME), MOST))
        if data["schema"] != SCHEMA:
            return {}
        return {digest: CachedVerdict(*values) for digest, values in data["verdicts"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


class QuickCheck:
    """Says whether a memory holds."""

    def __init__(self, root: str, cache: str, now: float | None = None) -> None:
        self.root = root
        self.now = time.time() if now is None else now
        self.verdicts = load_verdicts(cache)

    def __call__(self, memory: Memory) -> str:
        """A few words; empty if the memory claims nothing that could be looked up."""
        held = self.verdicts.get(memory.digest)
        if held is not None and held.state != "unknown":
            days = int((self.now - held.time) // 86400)
            when = "today" if days < 1 else f"{days} days ago" if days > 1 else "yesterday"
            return f"{held.state}, verified {when}" + (f": {held.evidence}" if held.evidence else "")
        return self._check_paths(memory)

    def _check_paths(self, memory: Memory) -> str:
        if "/" not in memory.text and "." not in memory.text:
            return ""
        from foretold.memory.drift.claims import find_claims

        paths = [claim.text for claim in find_claims(memory) if claim.kind == "path" and not claim.hedge]
        absent = [path for path in paths if not self._exists(path)]
        if absent:
            return f"not found here: {absent[0]} (run foretold memory verify)"
        return "the paths it names exist" if paths else ""

    def _exists(self, path: str) -> bool:
        plain = path.partition(":")[0].rstrip("/")
        if any(char in plain for char in "*?[{") or plain.startswith(("/", "~")) or ".." in plain.split("/"):
            return True  # not checked here
        return os.path.lexists(os.path.join(self.root, plain))
