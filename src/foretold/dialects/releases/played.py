"""The releases to which all recorded cases were played that they can play: what `tests/system/atlas.py` writes.

How many of them were equal, and which were not, is in the page about releases.
"""

from __future__ import annotations

PLAYED: dict[str, tuple[str, ...]] = {
    agent: tuple(versions.split())
    for agent, versions in {
        "claude-code": (
            "1.0.0 2.0.64 2.1.0 2.1.64 2.1.79 2.1.92 2.1.104 2.1.128 2.1.139 2.1.154 2.1.165 2.1.197 2.1.198 "
            "2.1.207 2.1.208 2.1.211 2.1.219 2.1.227 2.1.231 2.1.232 2.1.239 2.1.245 2.1.250 2.1.259 2.1.267 "
            "2.1.268 2.1.278 2.1.281 2.1.284 2.1.285 2.1.287 2.1.288 2.1.292 2.1.293 2.1.306 2.1.307 2.1.312 "
            "2.1.318 2.1.322 2.1.325"
        ),
        "codex": "0.115.0 0.120.0 0.132.0 0.149.0 0.166.0",
        "copilot-cli": "1.0.81 1.0.87 1.0.92 1.0.102",
        "gemini-cli": "0.40.1 0.45.2 0.51.0 0.61.0",
        "opencode": "1.1.11 1.3.0 1.17.0 1.18.33",
    }.items()
}
