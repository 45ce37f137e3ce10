"""Resumes a stored conversation, one of ours or of Claude Code itself, and goes back to before a prompt of it.

1. It is found by its file, or by its id: in the folder, else among all sessions of this user.
2. A torn end is put aside and named. Calls of the last answer that have no result get one that says so. A turn that was
   broken off is closed as the agent closes it. All this is written down before anything else is said.
3. Messages, what is known of files, the history of files and what was said of the surroundings come from the records.
4. A session that two processes continued has two branches. The last one to write is followed, or the one asked for.
5. A file that the agent would refuse is refused, with the reason.

Going back, of the conversation, the files, or both:

6. By default, it only says what it would do.
7. Files go back to what they were at the prompt, all or none; what they are is kept, and `foretold files undo`
   brings it back. Obstacles are named, and then nothing is changed, not even the conversation.
8. The conversation goes on from the record before the prompt. Nothing is deleted: what was said since stays in the
   transcript, as a branch. As with the agent itself, the file shows it from the next prompt on.
9. What a compaction has replaced cannot be restored in the same transcript; `foretold.sessions.fork` can.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from foretold.errors import NoCheckpoint, NoSuchSession, SessionFailed
from foretold.harness.interrupts import answer_open_calls, chain_of, descendants_of, own_records
from foretold.harness.options import open_history, resolve_options
from foretold.models.protocol import COUNTS, Usage
from foretold.sessions.formats.claude.reader import is_session_id
from foretold.sessions.formats.fields import object_at, text_at
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.resumption.claude import ERRORS, resume as resumed
from foretold.sessions.transcript.writer import transcript_path
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.files.restore.plans import RestorePlan
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
    if cwd is not None and is_session_id(session):
        path = transcript_path(cwd, session, options.homes)
        if os.path.isfile(path):
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
    harness.listings.resume(chain, everything)
    harness.used = usage_of(chain)
    return harness.reload_messages(said)


def usage_of(records: Sequence[Json]) -> Usage:
    """The tokens of the last answer."""
    for record in reversed(records):
        used = object_at(record, "message").get("usage") if record.get("type") == "assistant" else None
        if isinstance(used, dict):
            return Usage(*(int(used.get(name) or 0) for name in COUNTS))
    return Usage()


class Prompt(NamedTuple):
    """A prompt of the user."""

    id: str  #: for `Harness.rewind`
    text: str


class Rewound(NamedTuple):
    """What going back does, or did."""

    id: str  #: of the prompt
    prompt: str  #: what was typed, to be typed again
    dropped: tuple[str, ...] = ()  #: ids of the records that the conversation has no more
    files: RestorePlan | None = None  #: changes of files, and what prevents them
    undo: str = ""  #: brings the files back: `foretold files undo ID`
    is_done: bool = False

    @property
    def text(self) -> str:
        """What was done, or would be, in a few lines for a person.

        >>> print(Rewound("4d1f", "Raise the limit.", ("4d1f", "5e20")).text)
        would go back to before: Raise the limit.
        2 records would no longer be part of it
        nothing was changed; pass dry_run=False to do it
        """
        is_done, count = self.is_done, len(self.dropped)
        lines = [f"{'went' if is_done else 'would go'} back to before: {self.prompt}"]
        if count:
            lines.append(
                f"{count} records {'are' if is_done else 'would'} no longer {'' if is_done else 'be '}part of it"
            )
        plan = self.files
        lines += [f"{change.action}: {change.path}" for change in (plan.changes if plan else ())]
        lines += [f"problem: {each.path}: {each.message}" for each in (plan.problems if plan else ())]
        if not is_done:
            lines.append("nothing was changed; pass dry_run=False to do it")
        elif self.undo:
            lines.append(f"foretold files undo {self.undo} brings the files back")
        return "\n".join(lines)


def rewind(harness: Harness, message_id: str, *, dry_run: bool, files: bool, conversation: bool) -> Rewound:
    """Go back to before a prompt, or say what that would do."""
    from foretold.files.restore.restore import Undo, refuse_problems, restore, state_folder

    records = harness.recorder.records()
    at = next((number for number, record in enumerate(records) if record.get("uuid") == message_id), -1)
    if at < 0 or not _is_prompt(records[at]):
        raise NoCheckpoint(f"no prompt of this conversation has the id {message_id}; Turn.id is one")
    if conversation and any(record.get("subtype") == "compact_boundary" for record in records[at:]):
        raise NoCheckpoint(
            f"{message_id} was compacted since: go back with conversation=False, or fork the session there with"
            " foretold.sessions.fork"
        )
    plan = harness.history.rewind(message_id, dry_run=True) if files and harness.history is not None else None
    said = Rewound(message_id, _text_of(records[at]), descendants_of(records, message_id) if conversation else (), plan)
    if dry_run:
        return said
    undo = ""
    if plan is not None:
        refuse_problems(plan)
        kept = Undo(state_folder(harness.options.home_folder, harness.options.environ))
        undo = restore(plan, kept, f"rewind to {message_id}").undo
    if conversation:
        # from the records before the prompt, of the branch that it is on
        unled = [record for record in records[: at + 1] if record.get("type") != "last-prompt"]
        harness.instructions.start()
        harness.recorder.branch(load_conversation(harness, own_records(unled, harness.version)[:-1]))
        harness.last = None
    return said._replace(undo=undo, is_done=True)


def prompts(harness: Harness) -> tuple[Prompt, ...]:
    """The prompts that can be rewound to: all since the last compaction."""
    records = {text_at(each, "uuid"): each for each in harness.recorder.records() if text_at(each, "uuid")}
    at, found = harness.recorder.leaf, list[Prompt]()
    if not at and (links := chain_of(list(records.values()), harness.version)):
        at = links[-1].id
    while record := records.pop(at, None):
        if _is_prompt(record):
            found.append(Prompt(at, _text_of(record)))
        at = text_at(record, "parentUuid")
    return tuple(reversed(found))


def _is_prompt(record: Json) -> bool:
    is_typed = not record.get("isMeta") and not record.get("isCompactSummary") and not record.get("isSidechain")
    return (
        record.get("type") == "user" and isinstance(record.get("promptId"), str) and is_typed and bool(_text_of(record))
    )


def _text_of(record: Json) -> str:
    return text_at(record.get("message"), "content")
