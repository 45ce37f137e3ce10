"""In which release a difference came: plays a case to releases between two, and both sides of the boundary twice.

1. What a release sent is reduced to a signature: per request the role, kind and text of what carries instructions.
2. Between two releases with different signatures the one in the middle is played, until two neighbours are left. One
   that is not on npm, or cannot play the case, is passed over.
3. Both sides are played a second time; if either does not repeat itself, the boundary is not believed.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from typing import Any

from atlas_compare import split_requests, why_unplayed

from foretold.dialects.releases.history import version_key
from foretold.proof.conform.cases import Case
from foretold.proof.probe.segments import CUTS, PROSE

PACKAGES = {
    "claude-code": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "copilot-cli": "@github/copilot",
    "gemini-cli": "@google/gemini-cli",
    "opencode": "opencode-ai",
}

Play = Callable[[str], "dict[str, Any] | None"]  #: a version -> its row of the case


def releases_between(agent: str, first: str, last: str) -> list[str]:
    """The releases on npm from one to another, both included, oldest first; none that is only a preview."""
    command = ["npm", "view", PACKAGES[agent], "versions", "--json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL).stdout)
    plain = [version for version in found if re.fullmatch(r"[0-9.]+", version)]
    low, high = version_key(first), version_key(last)
    return sorted((each for each in plain if low <= version_key(each) <= high), key=version_key)


def signature(case: Case, row: dict[str, Any]) -> list[list[list[str]]]:
    """What a release sent that carries instructions, request by request; those of subagents after the others."""
    cut = CUTS[str(case["agent"])]
    said = []
    for requests in split_requests(case, row):
        for parts in requests:
            texts = (row["texts"][each] for each in parts)
            strings = ((role, kind, PROSE.sub("", text)) for role, kind, text in texts if isinstance(text, str))
            said.append([[role, kind, match[0]] for role, kind, text in strings for match in re.finditer(cut, text)])
    return said


def find_boundary(case: Case, releases: list[str], play: Play) -> tuple[str, str] | None:
    """The last release that is like the first, and the next one that is not; None if the ends do not differ."""
    seen = {place: _signature_at(case, releases[place], play) for place in (0, len(releases) - 1)}
    low, high = 0, len(releases) - 1
    if seen[low] is None or seen[high] is None or seen[low] == seen[high]:
        return None
    first = seen[low]
    unknown: set[int] = set()
    while inner := [place for place in range(low + 1, high) if place not in unknown]:
        middle = inner[len(inner) // 2]
        found = _signature_at(case, releases[middle], play)
        if found is None:
            unknown.add(middle)
        elif found == first:
            low = middle
        else:
            high = middle
    return releases[low], releases[high]


def is_repeated(case: Case, boundary: tuple[str, str], play: Play) -> bool:
    """Whether both sides of a boundary say the same when they are asked once more."""
    return all(_signature_at(case, version, play) == _signature_at(case, version, play) for version in boundary)


def _signature_at(case: Case, version: str, play: Play) -> list[list[list[str]]] | None:
    row = play(version)
    return None if row is None or why_unplayed(row) else signature(case, row)
