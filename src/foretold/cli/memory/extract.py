"""`foretold memory extract`: extract memories from a stored session, as the hook at the end of a turn does."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from foretold.cli.json import emit
from foretold.cli.memory.options import paint_of, parser_of
from foretold.cli.output import plural, printable
from foretold.cli.sessions.options import session_called
from foretold.errors import NoSuchSession
from foretold.instructions.load import load
from foretold.memory.extraction.extractor import Extractor
from foretold.memory.extraction.gate import Gate
from foretold.memory.extraction.progress import Extraction
from foretold.memory.extraction.transcript import extract_stored
from foretold.memory.project import Memories, open as open_memories
from foretold.models import from_name
from foretold.sessions.catalog import find_homes, list_sessions
from foretold.sessions.model import StoredSession

#: why nothing was asked -> what to say
SKIPPED = {
    "never": "extraction is switched off",
    "not-due": "too little was said since the last time; --force overrides this",
    "nothing-new": "nothing was said since the last time",
    "nothing-typed": "the user typed nothing since the last time",
    "policy": "the write policy does not allow agents to write here",
    "running": "another process is extracting from this session right now",
}

#: why it ended early -> what to say
STOPPED = {
    "rounds": "the model did not finish; what it wrote so far is kept",
    "model-failed": "what was written before is kept, and the next run begins at the same place",
    "store-failed": "the next run begins at the same place",
}


def command_extract(words: Sequence[str]) -> int:
    about = (
        "Let a model find memories in the new part of a session of Claude Code. Every memory is checked before it is "
        "written: credentials, duplicates, text of instructions, and what only a tool or a file said are refused."
    )
    examples = (
        "  foretold memory extract --model anthropic:claude-haiku-4-5\n"
        "  foretold memory extract 3f2a91c0 --model openai:gpt-5-mini --propose"
    )
    parser = parser_of("extract", about, examples)
    parser.add_argument("session", nargs="?", metavar="SESSION", help="id, name or path; default: the newest here")
    parser.add_argument(
        "--model", required=True, metavar="VENDOR:NAME", help="the model, e.g. anthropic:claude-haiku-4-5"
    )
    parser.add_argument("--propose", action="store_true", help="write nothing: put everything into the inbox")
    parser.add_argument("--force", action="store_true", help="even if little is new")
    parser.add_argument("--whole", action="store_true", help="the whole session, not only what is new")
    options = parser.parse_args(words)
    homes = find_homes(options.home)
    stored = session_called(homes, options.session, ("claude-code",)) if options.session else _newest(options)
    memories = open_memories(
        options.cwd,
        agent=options.agent,
        home=options.home,
        folder=options.folder,
        policy="confirm" if options.propose else "",
    )
    done = extract_stored(
        stored,
        from_name(options.model),
        Extractor(memories, gate=Gate.always() if options.whole else Gate(), team=options.team),
        instructions=load(options.cwd, agent=options.agent, home=options.home).entries,
        force=options.force or options.whole,
        since=0 if options.whole else None,
    )
    if options.json:
        emit("extraction", done.to_json())
    else:
        _print(done, stored, memories)
    return 3 if done.stopped not in ("", "rounds") else 0


def _newest(options: argparse.Namespace) -> StoredSession:
    """The session of this folder that was written to last."""
    here = os.path.realpath(options.cwd)
    found = list_sessions(find_homes(options.home), project=here, agents=("claude-code",), kinds=("main",), limit=1)
    if not found:
        raise NoSuchSession(f"there is no session of Claude Code in {here}; see: foretold sessions")
    return found[0]


def _print(done: Extraction, stored: StoredSession, memories: Memories) -> None:
    paint = paint_of(memories)
    if done.skipped:
        print(f"Nothing was asked: {SKIPPED.get(done.skipped, done.skipped)}.")
        return
    for verb, files in (("added", done.added), ("updated", done.updated), ("proposed", done.proposed)):
        for file in files:
            print(f"{verb}: {printable(file)}")
    for refusal in done.refused:
        print(paint.wrap(f"refused: {printable(refusal.file)} ({refusal.reason}): {printable(refusal.detail)}", 0))
    for warning in done.warned:
        print(paint.wrap(f"look at: {printable(warning.file)} ({warning.reason}): {printable(warning.detail)}", 0))
    if done.stopped:
        kind, _, why = done.stopped.partition(": ")
        print(paint.wrap(f"It ended early{f' ({why})' if why else ''}: {STOPPED.get(kind, kind)}.", 0))
    elif not (done.added or done.updated or done.proposed or done.refused):
        print(f"Nothing in {stored.id[:8]} is worth remembering.")
    if done.proposed:
        print("Answer: foretold memory inbox")
    elif done.added or done.updated:
        print("To see or undo what was written: foretold memory log")
    tokens = done.usage.input + done.usage.cache_read + done.usage.cache_write
    print(f"{plural(done.requests, 'request')}, {tokens:,} tokens in, {done.usage.output:,} out.")
