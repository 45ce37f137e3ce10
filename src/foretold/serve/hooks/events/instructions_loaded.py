"""InstructionsLoaded: compare what the agent reports with what was expected. The result goes to the log only.

1. An unexpected file at the start is one line of the log; so is one that came with a touched file, if no rule and no
   nested name could have attached it.
2. Every report is noted, so that the end of the turn can name what is missing.
"""

from __future__ import annotations

from foretold.serve.hooks.agent_protocols import NO_OUTPUT, HookOutput
from foretold.serve.hooks.events.rules_here import instructions_here
from foretold.serve.hooks.json import text_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.hooks.context import HookContext
    from foretold.serve.hooks.events.rules_here import LoadedInstructions

LATER = ("nested_traversal", "path_glob_match")


def handle(context: HookContext) -> HookOutput:
    """Compare one report."""
    path, reason = text_of(context.payload, "file_path"), text_of(context.payload, "load_reason")
    if not path:
        return NO_OUTPUT
    here = instructions_here(context)
    is_later = reason in LATER
    context.notes.add(("attached", path, "agent") if is_later else ("loaded", path, reason))
    expected = _is_expected_later(here, path) if is_later else path in {each for each, _ in here.loaded}
    context.why.append(f"instructions: {path} ({reason}) was {'' if expected else 'not '}expected")
    if not expected:
        context.log(f"loaded, not expected: {path} ({reason})")
    return NO_OUTPUT


def _is_expected_later(here: LoadedInstructions, path: str) -> bool:
    names = tuple(f"/{name}" for name in here.names)
    folders = tuple(f"/{name}/" for name in here.names)
    is_below = any(folder in path for folder in folders)
    return any(rule.path == path for rule in here.rules) or path.endswith(names) or is_below
