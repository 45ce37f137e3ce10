"""InstructionsLoaded: compare what the agent reports with what was expected. Nothing is said; the log has it.

1. A file of the start that was not expected is one line of the log; so is one that came with a touched file, if no rule
   and no nested name could have brought it.
2. Every report is written down, so that the end of the turn can tell what is missing.
"""

from __future__ import annotations

from foretold.serve.hooks.agent_protocols import SILENCE, Said
from foretold.serve.hooks.events.rules_here import told_here
from foretold.serve.hooks.json import text_of
from foretold.serve.hooks.log import log
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.hooks.context import Scene
    from foretold.serve.hooks.events.rules_here import Told

LATER = ("nested_traversal", "path_glob_match")


def hear(scene: Scene) -> Said:
    """Compare one report."""
    path, reason = text_of(scene.payload, "file_path"), text_of(scene.payload, "load_reason")
    if not path:
        return SILENCE
    told = told_here(scene)
    is_later = reason in LATER
    scene.notes.add(("attached", path, "agent") if is_later else ("loaded", path, reason))
    expected = _is_expected_later(told, path) if is_later else path in {each for each, _ in told.loaded}
    scene.why.append(f"instructions: {path} ({reason}) was {'' if expected else 'not '}expected")
    if not expected and not scene.asking.is_dry:
        log(scene.ours.state, scene.event, scene.session, f"loaded, not expected: {path} ({reason})")
    return SILENCE


def _is_expected_later(told: Told, path: str) -> bool:
    names = tuple(f"/{name}" for name in told.names)
    folders = tuple(f"/{name}/" for name in told.names)
    is_below = any(folder in path for folder in folders)
    return any(rule.path == path for rule in told.rules) or path.endswith(names) or is_below
