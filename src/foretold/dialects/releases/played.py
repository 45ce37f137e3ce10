"""The releases to which all recorded cases were played that they can play: what `tests/system/atlas.py` writes.

How many of them were equal, and which were not, is in the page about releases.
"""

from __future__ import annotations

PLAYED: dict[str, tuple[str, ...]] = {
    "claude-code": ("2.1.197", "2.1.325"),
    "codex": ("0.115.0", "0.120.0", "0.132.0", "0.149.0", "0.166.0"),
    "copilot-cli": ("1.0.92", "1.0.102"),
    "gemini-cli": ("0.40.1", "0.45.2", "0.51.0", "0.61.0"),
    "opencode": ("1.1.11", "1.3.0", "1.17.0", "1.18.33"),
}
