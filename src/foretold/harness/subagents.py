"""Other conversations that begin from one: subagents, which begin with nothing, and forks, which begin with all of it.

1. A subagent has its own messages, read state and surroundings; it gets the instructions unless its name or the
   caller says otherwise. It neither recalls nor extracts. Its transcript lies where the agent keeps those of subagents.
2. What a subagent changes is in the file history of the conversation that it works for, so a rewind brings it back.
   (Claude Code does not record that.)
3. A fork has the same messages, the same objects, and a clone of what is known of files and was attached. It is a
   separate session, in a separate file (`sessions.fork`).
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Sequence
from functools import partial

from foretold.harness.events import Turn
from foretold.harness.options import check_prompt
from foretold.harness.transcript import TranscriptRecorder
from foretold.sessions.transcript.fork import fork as fork_file
from foretold.sessions.transcript.writer import new_session, subagent_path
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.harness.harness import Harness
    from foretold.harness.tools.base import Tool


def subagent(
    harness: Harness, prompt: str, name: str, *, instructions: bool | None, tools: Sequence[Tool] | None
) -> Turn:
    """Let a subagent work on a prompt."""
    check_prompt(prompt)
    agent_id = uuid.uuid4().hex[:17]
    given = harness.options._replace(
        tools=harness.options.tools if tools is None else tuple(tools),
        permission=harness.tool_context.permission,
        extractor=None,
        notes=None,
        recall=False,
        memory=harness.memory or False,
    )
    path = subagent_path(harness.path, agent_id)
    told = harness.instructions.subagent(name, instructions=instructions)
    other = type(harness).of(given, path, told)
    other.recorder = TranscriptRecorder(other, path, session=harness.session, agent_id=agent_id)
    other.history, other.session = None, harness.session
    other.before_edit = partial(harness.before_edit, is_ours=False)  # type: ignore[method-assign]
    _write_about(path, {"agentType": name or "general-purpose", "description": prompt[:80], "spawnDepth": 1})
    with other:
        turn = other.prompt(prompt)
    for finding in turn.findings:
        harness.add_finding(finding)
    return turn


def _write_about(path: str, about: dict[str, object]) -> None:
    """What the agent stores about a subagent, next to its transcript."""
    os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
    descriptor = os.open(path.removesuffix("jsonl") + "meta.json", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(about, file, ensure_ascii=False)


def fork(harness: Harness) -> Harness:
    """A conversation that goes on from here by itself."""
    instructions, state = harness.instructions.clone(), harness.state.clone()
    given = harness.options._replace(memory=harness.memory or False)
    if harness.dialogue.messages:
        path = fork_file(harness.path, version=harness.version).path
    else:
        path = os.path.join(os.path.dirname(harness.path), f"{new_session()}.jsonl")
    other = type(harness).of(given, path, instructions, state)
    other.system_prompt.copy_from(harness.system_prompt)
    other.dialogue, other.used, other.last = harness.dialogue.copy(), harness.used, harness.last
    if harness.dialogue.messages:
        other.recorder.reserve_ids(other.recorder.records())
    return other
