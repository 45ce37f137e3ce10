"""Stop, SubagentStop, SessionEnd: what another process does when a turn is over.

1. The transcript is archived (`archive`), and memories are extracted from it (`extract`), if the user wants that. Not
   when the agent only continues because of a hook (`stop_hook_active`); and nothing is extracted from a subagent.
2. Once per conversation: instruction files that were expected and not reported by the agent, as one line of the log.
"""

from __future__ import annotations

from foretold.serve.hooks.agent_protocols import NO_OUTPUT, HookOutput
from foretold.serve.hooks.json import text_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.hooks.context import HookContext

MANY = 3  #: names in a line of the log
JOBS = {
    "archive": "the transcript is archived",
    "extract": "memories are extracted from it, by the model of hooks.extract",
}


def handle(context: HookContext) -> HookOutput:
    """Start the jobs of the end of a turn."""
    if context.payload.get("stop_hook_active") is True:
        return context.say_nothing("the agent continues because of a hook: nothing is done")
    if context.event == "SubagentStop" and not text_of(context.payload, "agent_type"):
        return context.say_nothing("it is the end of a compaction, not of a turn")
    _compare(context)
    jobs = ["archive"] if context.settings.archive else []
    if context.settings.extract and context.event == "Stop":
        jobs.append("extract")
    context.why.append(f"afterwards: {' and '.join(map(JOBS.__getitem__, jobs)) or 'there is nothing to do'}")
    if jobs and context.session:
        context.start_jobs(",".join(jobs))
    return NO_OUTPUT


def _compare(context: HookContext) -> None:
    """Log the files that were expected and not reported."""
    notes = context.notes.all
    reported = {note[1] for note in notes if note[0] == "loaded" and len(note) > 1}
    if not reported or any(note[0] == "compared" for note in notes):
        return
    from foretold.serve.hooks.events.rules_here import instructions_here

    expected = [path for path, _ in instructions_here(context).loaded]
    absent = [path for path in expected if path not in reported]
    context.why.append(f"instructions: of {len(expected)} expected, {len(absent) or 'none'} not reported by the agent")
    context.notes.add(("compared",))
    if absent:
        more = f" and {len(absent) - MANY} more" if len(absent) > MANY else ""
        context.log(f"expected, not reported: {', '.join(absent[:MANY])}{more}")
