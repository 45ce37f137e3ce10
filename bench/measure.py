"""CPU time, as little disturbed by neighbours as it can be.

1. CPU time of the process, not wall time: a busy machine does not count.
2. Actions that are compared take turns (ours, floor, ours, floor, …), so that noise hits all of them.
3. The fastest run of many counts: noise only ever adds.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import NamedTuple

Action = Callable[[], object]


class Effort(NamedTuple):
    """How long to repeat a comparison: CPU seconds, and how many rounds at least and at most."""

    seconds: float
    least: int
    most: int = 3000


FULL = Effort(0.7, 5)
QUICK = Effort(0.2, 3)


def fastest(effort: Effort, *actions: Action, before: Action | None = None) -> list[float]:
    """The CPU seconds of the fastest run of each action; each is run once before. `before` each run is not counted."""
    for action in actions:
        action()
    return [min(column) for column in zip(*rounds(effort, *actions, before=before), strict=True)]


def rounds(effort: Effort, *actions: Action, before: Action | None = None) -> list[list[float]]:
    """The CPU seconds of each action, round by round."""
    found: list[list[float]] = []
    gc.collect()
    start = time.process_time()
    while len(found) < effort.least or (len(found) < effort.most and time.process_time() - start < effort.seconds):
        found.append([cpu_seconds(action, before) for action in actions])
    return found


def cpu_seconds(action: Action, before: Action | None = None) -> float:
    """The CPU seconds of one run. What it returns is freed outside of the time."""
    if before is not None:
        before()
    start = time.process_time()
    result = action()
    spent = time.process_time() - start
    del result
    return spent
