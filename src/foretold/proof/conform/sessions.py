"""State cases about sessions: what answers each kind."""

from __future__ import annotations

import os

from foretold.proof.conform.scene import Answer, Kind, Kinds, Scene
from foretold.sessions.archive.retention import cleanup
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.model import Homes
from foretold.sessions.resumption.claude import resume
from foretold.sessions.resumption.graph import NODE_TYPES
from foretold.sessions.transcript.writer import transcript_path
from foretold.types import Message

CONTEXT = "the context block\n"  #: stands where the agent puts it; cases leave it out


def _resume(scene: Scene, given: Answer) -> Answer:
    path = _put(scene, given)
    version = scene.agent.partition("@")[2]
    found = resume(path, str(given.get("next_prompt") or ""), version=version, context=CONTEXT)
    if found.error:
        return {"error": found.error}
    messages = [{"role": message["role"], "blocks": _blocks(message)} for message in found.messages]
    return {"messages": [message for message in messages if message["role"] != "system"]}


def _with_blocks(answer: Answer) -> Answer:
    """Without messages that have no block: a first one that is nothing but the context block may be there, or not."""
    messages = answer.get("messages")
    if not isinstance(messages, list):
        return answer
    return {**answer, "messages": [message for message in messages if message.get("blocks")]}


def _put(scene: Scene, given: Answer) -> str:
    """Write the transcript of a case where the agent keeps it; `{cwd}` in it stays, as in what is expected."""
    homes = Homes(scene.stage.places["home"], {})
    path = transcript_path(scene.cwd, str(given.get("session_id") or "session"), homes)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(str(given["jsonl"]))
    return path


def _blocks(message: Message) -> list[str]:
    content = message["content"]
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return [_block(block) for block in blocks if not str(block.get("text", "")).startswith(CONTEXT)]


def _block(block: dict[str, object]) -> str:
    named = {"text": "text", "tool_use": "name", "tool_result": "content"}
    kind = str(block.get("type"))
    return f"{kind}:{block.get(named.get(kind, ''), '')}"


def _sample(scene: Scene, given: Answer) -> Answer:
    records = [record.value for record in records_of(_put(scene, given))]
    chained = [record for record in records if record.get("type") in NODE_TYPES]
    parents = [record.get("parentUuid") for record in chained]
    linear = parents == [None, *(record.get("uuid") for record in chained[:-1])]
    return {"types": [record.get("type") for record in records], "chain_linear": linear}


def _cleanup(_: Scene, given: Answer) -> Answer:
    ages = given["transcript_ages_days"]
    assert isinstance(ages, list)
    return {"kept": cleanup(ages, given.get("cleanupPeriodDays")), "memory_files_kept": True}


KINDS: Kinds = {
    "transcript_cleanup": _cleanup,
    "transcript_resume": Kind(_resume, _with_blocks),
    "transcript_sample": _sample,
}
