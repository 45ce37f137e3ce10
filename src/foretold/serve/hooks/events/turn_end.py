"""Stop, SubagentStop, SessionEnd: what is done when a turn is over, by a process of its own.

1. The transcript is archived (`archive`), and memories are learned from it (`extract`), if the user wants that. Not
   when the agent only goes on because of a hook (`stop_hook_active`); and nothing is learned from a subagent's turn.
2. Once a conversation: instruction files that were expected and that the agent did not report, as one line of the log.
"""

from __future__ import annotations

from foretold.serve.hooks.agent_protocols import SILENCE, Said
from foretold.serve.hooks.json import text_of
from foretold.serve.hooks.log import log
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.hooks.context import Scene

MANY = 3  #: names in a line of the log
JOBS = {
    "archive": "the transcript is archived",
    "extract": "memories are learned from it, by the model of hooks.extract",
}


def hear(scene: Scene) -> Said:
    """Do what is to be done."""
    if scene.payload.get("stop_hook_active") is True:
        scene.why.append("the agent goes on because of a hook: nothing is done")
        return SILENCE
    if scene.event == "SubagentStop" and not text_of(scene.payload, "agent_type"):
        scene.why.append("it is the end of a compaction, not of a turn")
        return SILENCE
    _compare(scene)
    jobs = ["archive"] if scene.settings.archive else []
    if scene.settings.extract and scene.event == "Stop":
        jobs.append("extract")
    scene.why.append(f"afterwards: {' and '.join(map(JOBS.__getitem__, jobs)) or 'there is nothing to do'}")
    if jobs and scene.session:
        scene.leave(",".join(jobs))
    return SILENCE


def _compare(scene: Scene) -> None:
    """Tell of files that were expected and not reported."""
    notes = scene.notes.all
    reported = {note[1] for note in notes if note[0] == "loaded" and len(note) > 1}
    if not reported or any(note[0] == "compared" for note in notes):
        return
    from foretold.serve.hooks.events.rules_here import told_here

    expected = [path for path, _ in told_here(scene).loaded]
    absent = [path for path in expected if path not in reported]
    scene.why.append(f"instructions: of {len(expected)} expected, {len(absent) or 'none'} not reported by the agent")
    scene.notes.add(("compared",))
    if absent and not scene.asking.is_dry:
        more = f" and {len(absent) - MANY} more" if len(absent) > MANY else ""
        log(scene.ours.state, scene.event, scene.session, f"expected, not reported: {', '.join(absent[:MANY])}{more}")
