"""Resumes a stored conversation: one of ours, or of Claude Code itself.

1. It is found by its file, or by its id: in the folder, else among all sessions of this user.
2. A torn end is put aside and named. Calls of the last answer that have no result get one that says so. A turn that was
   broken off is closed as the agent closes it. All this is written down before anything else is said.
3. Messages, what is known of files, the history of files and what was said of the surroundings come from the records.
4. A session that two processes continued has two branches. The last one to write is followed, or the one asked for.
5. A file that the agent would refuse is refused, with the reason.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from foretold.errors import NoSuchSession, SessionFailed
from foretold.harness.interrupts import answer_open_calls, chain_of, descendants_of
from foretold.harness.options import open_history, resolve_options
from foretold.models.protocol import COUNTS, Usage
from foretold.sessions.formats.fields import object_at, text_at
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.resumption.claude import ERRORS, resume as resumed
from foretold.sessions.transcript.writer import transcript_path
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.harness.harness import Harness
    from foretold.harness.options import Options, ResolvedOptions
    from foretold.models.protocol import Model

    Json = Mapping[str, object]


def resume(
    kind: type[Harness], session: str, cwd: str | None, *, model: Model | str, options: Options, branch: str = ""
) -> Harness:
    """The harness of a stored conversation."""
    resolved = resolve_options(cwd or ".", model, options)
    path = find_transcript(session, cwd, resolved)
    harness = kind.of(resolved._replace(cwd=os.path.abspath(cwd or _folder_of(path))), path)
    if branch:
        switch_branch(harness, branch)
    close_open_turn(harness)
    load_conversation(harness)
    return harness


def switch_branch(harness: Harness, branch: str) -> None:
    """Make another branch the current one of the file, given one of its records."""
    records = harness.recorder.records()
    by_id = {text_at(record, "uuid"): record for record in records}
    if branch not in by_id:
        raise SessionFailed(f"no record of {harness.path} has the id {branch}; leave branch out for the last one")
    if branch in {link.id for link in chain_of(records, harness.version)}:
        raise SessionFailed(f"{branch} is on the current branch; leave it out, or rewind")
    names = descendants_of(records, branch)
    prompts = [text_at(by_id[name].get("message"), "content") for name in names if by_id[name].get("promptId")]
    last = next(filter(None, reversed(prompts)), "")
    named = {"type": "last-prompt", "lastPrompt": last, "leafUuid": names[-1], "sessionId": harness.session}
    harness.recorder.append([named])


def find_transcript(session: str, cwd: str | None, options: ResolvedOptions) -> str:
    """The file of a session."""
    if os.path.isfile(session):
        return os.path.abspath(session)
    if cwd is not None and os.path.isfile(path := transcript_path(cwd, session, options.homes)):
        return path
    from foretold.sessions.catalog import find_session

    stored = find_session(options.homes, session, agents=[options.agent.partition("@")[0]])
    if not os.path.isfile(stored.path):
        raise NoSuchSession(f"no session is called {session}")
    return stored.path


def _folder_of(path: str) -> str:
    """The folder that a conversation was held in."""
    for record in records_of(path):
        if folder := text_at(record.value, "cwd"):
            return folder
    raise SessionFailed(f"{path} does not say in which folder it was held; give cwd=")


def close_open_turn(harness: Harness) -> None:
    """Write down what closes a conversation that was broken off."""
    transcript = harness.recorder.transcript
    answer_open_calls(harness)
    found = resumed(harness.path, version=harness.version, model=harness.model.name)
    if found.error:
        raise SessionFailed(f"{harness.path} cannot be resumed: {ERRORS[found.error]}")
    for finding in found.findings:
        harness.add_finding(finding)
    for link in found.chain:
        said = link.value.get("message")
        if link.line == 0 and isinstance(said, dict):
            if link.type == "assistant":
                transcript.assistant({"model": "<synthetic>", "content": said["content"]})
            else:
                transcript.user(said["content"], is_meta=True)


def load_conversation(harness: Harness, records: Sequence[Json] | None = None) -> str:
    """Load a conversation from all its records or from the first of them; the id of its last record."""
    everything = harness.recorder.records()
    said = everything if records is None else records
    chain = [link.value for link in chain_of(said, harness.version)]
    harness.recorder.reserve_ids(everything)
    harness.state.resume(chain)
    harness.history = open_history(harness, everything)
    harness.system_prompt.forget()
    harness.system_prompt.resume(chain)
    harness.used = usage_of(chain)
    return harness.reload_messages(said)


def usage_of(records: Sequence[Json]) -> Usage:
    """The tokens of the last answer."""
    for record in reversed(records):
        used = object_at(record, "message").get("usage") if record.get("type") == "assistant" else None
        if isinstance(used, dict):
            return Usage(*(int(used.get(name) or 0) for name in COUNTS))
    return Usage()
