"""State cases about memory, sessions, compaction and the context of a turn: the function that answers each kind."""

from __future__ import annotations

import hashlib
import os
import shlex

from foretold.context.attachments import TurnAttachment
from foretold.context.attribution import attribution
from foretold.context.mentions import resolve_mentions
from foretold.dialects.claude_code.compaction import compaction_rules
from foretold.dialects.claude_code.settings import slug
from foretold.errors import BadCase
from foretold.instructions.compaction.restored_files import loaded_again, restore_files
from foretold.instructions.load import load
from foretold.memory.format.agent import note_days, project_of, style_of, writes_without_asking
from foretold.memory.format.write import normalize_note
from foretold.proof.conform.cases import dict_at, list_at
from foretold.proof.conform.state import Answer, CaseKind, Kinds, StagedAgent
from foretold.sessions.archive.retention import cleanup
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.model import Homes
from foretold.sessions.resumption.claude import resume
from foretold.sessions.resumption.graph import NODE_TYPES
from foretold.sessions.transcript.writer import transcript_path
from foretold.types import Message

TAIL = 24
#: how a step of a layout is made; its last word is the folder, the one before what it is made from
LAYOUT = {
    "dir": "mkdir -p {at}",
    "symlink": "mkdir -p {above} && ln -s {of} {at}",
    "git": "git init -q {at} && git -C {at} commit -q --allow-empty -m x",
    "bare": "git init -q {at}.made && git -C {at}.made commit -q --allow-empty -m x"
    " && git clone -q --bare {at}.made {at} && rm -r {at}.made",
    "worktree": "git -C {of} worktree add -q --detach {at}",
    "submodule": "cd $(git -C {above} rev-parse --show-toplevel)"
    " && git -c protocol.file.allow=always submodule add -q {of} $(realpath -m --relative-to=. {at})",
}


def _project(agent: StagedAgent, given: Answer) -> Answer:
    for step, *words in list_at(given, "layout"):
        at, of = agent.text(words[-1]), agent.text(words[0])
        places = {"at": at, "of": of, "above": os.path.dirname(at)}
        command = LAYOUT[step].format(**{name: shlex.quote(path) for name, path in places.items()})
        if agent.stage.run_shell(command, agent.stage.root):
            raise BadCase(f"the layout cannot be made: {command}")
    memory, transcript = project_of(agent.text(given["cwd"]), agent.tree)
    return {"memory_project": memory, "transcript_project": transcript}


def _index(agent: StagedAgent, given: Answer) -> Answer:
    """What the model sees of an index, through the whole engine."""
    folder = agent.switch({}).directory
    if not given.get("missing"):
        parts = given.get("parts")
        text = "".join(text * count for text, count in parts) if isinstance(parts, list) else None
        agent.stage.change({f"{folder}MEMORY.md": given if text is None else {"text": text}})
    places = agent.stage.places
    view = load(agent.cwd, agent=agent.name, home=places["home"], managed=places["managed"], env={}, tree=agent.tree)
    if view.text is None:
        return {"loaded": False}
    body, warning = view.text.partition("persists across conversations):\n\n")[2], None
    if any(finding.code == "index-cut" for finding in view.findings):
        body, _, warning = body.rpartition("\n\n")
    return {
        "loaded": True,
        "body_utf16_len": len(body.encode("utf-16-le", "surrogatepass")) // 2,
        "body_sha256": hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest(),
        "body_tail": body[-TAIL:],
        "lines": body.count("\n") + 1,
        "warning": warning,
    }


def _store(agent: StagedAgent, given: Answer) -> Answer:
    content = found = str(given["content"])
    if str(given["relative_path"]).endswith(".md"):
        found = normalize_note(content, str(given["session_id"]), style_of(agent.name), str(given.get("now", "")))
    return {"stored": found, "changed": found != content}


def _switch(agent: StagedAgent, given: Answer) -> Answer:
    found = agent.switch(given)
    return {"enabled": found.enabled, "directory": found.directory}


def _permission(agent: StagedAgent, given: Answer) -> Answer:
    folder = agent.switch(given).directory or ""
    agent.places["{memdir}"] = folder.rstrip("/")
    return {"allowed_without_asking": writes_without_asking(agent.text(given["path"]), folder, agent.tree)}


CONTEXT = "the context block\n"  #: is where the agent puts it; cases omit it


def _resume(agent: StagedAgent, given: Answer) -> Answer:
    path = _write_transcript(agent, given)
    version = agent.name.partition("@")[2]
    found = resume(path, str(given.get("next_prompt") or ""), version=version, context=CONTEXT)
    if found.error:
        return {"error": found.error}
    messages = [message for message in found.messages if message["role"] != "system"]
    return {"messages": [{"role": message["role"], "blocks": _blocks(message)} for message in messages]}


def _with_blocks(*answers: Answer) -> tuple[Answer, Answer]:
    """Without messages that have no block: a first one with only the context block may be there or not."""
    found, recorded = (
        answer | {"messages": [each for each in list_at(answer, "messages") if each.get("blocks")]}
        if "messages" in answer
        else answer
        for answer in answers
    )
    return found, recorded


def _write_transcript(agent: StagedAgent, given: Answer) -> str:
    """Write the transcript of a case where the agent keeps it; `{cwd}` in it stays, as in what is expected."""
    homes = Homes(agent.stage.places["home"], {})
    path = transcript_path(agent.cwd, str(given.get("session_id") or "session"), homes)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(str(given["jsonl"]))
    return path


def _blocks(message: Message) -> list[str]:
    content = message["content"]
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    named = {"text": "text", "tool_use": "name", "tool_result": "content"}
    shown = [block for block in blocks if not str(block.get("text", "")).startswith(CONTEXT)]
    return [f"{block.get('type')}:{block.get(named.get(str(block.get('type')), ''), '')}" for block in shown]


def _sample(agent: StagedAgent, given: Answer) -> Answer:
    records = [record.value for record in records_of(_write_transcript(agent, given))]
    chained = [record for record in records if record.get("type") in NODE_TYPES]
    parents = [record.get("parentUuid") for record in chained]
    linear = parents == [None, *(record.get("uuid") for record in chained[:-1])]
    return {"types": [record.get("type") for record in records], "chain_linear": linear}


def _cleanup(_: StagedAgent, given: Answer) -> Answer:
    kept = cleanup(list_at(given, "transcript_ages_days"), given.get("cleanupPeriodDays"))
    return {"kept": kept, "memory_files_kept": True}


FILE = ("content", "numLines", "startLine", "totalLines")


def _mentions(agent: StagedAgent, given: Answer) -> Answer:
    files, home = dict_at(given, "files"), agent.stage.places["home"]
    agent.stage.change({agent.text(path if path[:1] in "/{" else f"{agent.cwd}/{path}"): files[path] for path in files})
    found = resolve_mentions(
        agent.text(given["prompt"]), agent.cwd, agent.tree, agent=agent.name, home=home
    ).attachments
    return {"attachments": [_describe(each) for each in found]}


def _describe(found: TurnAttachment) -> Answer:
    """An attachment with the fields of its file, as the cases write it."""
    fields = dict(found.fields)
    shown: Answer = {"type": found.type, "displayPath": fields.get("displayPath")}
    content = fields.get("content")
    if isinstance(content, str):
        return shown | {"content": content}
    file = content.get("file") if isinstance(content, dict) else None
    return shown | {key: file[key] for key in FILE if isinstance(file, dict) and key in file}


def _attribution(agent: StagedAgent, given: Answer) -> Answer:
    name = str(given.get("model_display_name") or "")
    found = attribution(dict_at(given, "settings"), name, agent=agent.name, env=dict_at(given, "env"))
    return dict(found._asdict())


NOW = 1_800_000_000_000


def _restore(agent: StagedAgent, given: Answer) -> Answer:
    """Which files come back, each read again. The model of the recording counted almost no tokens for any text."""
    folder = agent.switch({}).directory or ""
    agent.places["{memdir}"] = folder.rstrip("/")
    names, files, wholes = {}, [], {}
    for each in list_at(given, "reads_in_order"):
        path = agent.text(each["name"])
        path = path if path.startswith("/") else f"{agent.cwd}/{path}"
        names[path] = str(each["name"])
        wholes[path], part = _read_text(each)
        files.append((path, part, NOW - 1000 * int(each["mtime_age_s"])))
    never = loaded_again(agent.cwd, agent.text("{config}"), agent.stage.places["managed"], folder)
    form = compaction_rules(agent.name.partition("@")[2])
    found = restore_files(reversed(files), form, cwd=agent.cwd, never=never, count=lambda _: 1, text=wholes.get)
    return {"restored_in_order": [names[path] for path in found.paths]}


def _read_text(read: Answer) -> tuple[str, str]:
    """The text of a file, and what was read of it: all its characters, or some of its lines."""
    if "chars" in read:
        whole = "x" * int(str(read["chars"]))
        return whole, whole
    offset, limit, total = (int(str(read[key])) for key in ("offset", "limit", "total_lines"))
    lines = [f"line {number}\n" for number in range(1, total + 1)]
    return "".join(lines), "".join(lines[offset - 1 : offset - 1 + limit])


KINDS: Kinds = {
    "project_slug": lambda _, given: {"slug": slug(str(given["path"]))},
    "memory_project": _project,
    "memory_index": _index,
    "memory_frontmatter_write": _store,
    "memory_staleness": lambda _, given: {"note_days": note_days(float(str(given["age_days"])))},
    "auto_memory_switch": _switch,
    "memory_write_permission": _permission,
    "transcript_cleanup": _cleanup,
    "transcript_resume": CaseKind(_resume, _with_blocks),
    "transcript_sample": _sample,
    "at_mention": _mentions,
    "attribution": _attribution,
    "compaction_restore": _restore,
}
