"""What an attachment of a transcript says to the model.

1. Where the transcript has the text that was sent (`rendered`), and the version sends it again, that is used.
2. Otherwise its type decides, with the texts of the version (`dialects/claude_code/attachments.py`): each attachment is
   one or more messages, a text or blocks. An image stays a block.
3. An unknown type gives None: whether the agent sends something for it is not known. So does the full text of a mode,
   which is a long prompt that is not recorded.
4. A background task runs, was stopped, or has ended; the path of its output comes last.
5. Diagnostics are listed by file name, and cut after 4,000 UTF-16 code units.
6. A resource is one message of several texts; one without a text says what it is.
7. A message that came while the agent was working says who sent it: its origin, else its mode.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

from foretold.dialects.claude_code.attachments import (
    DIAGNOSTICS_CUT,
    HEARD,
    LONGEST_DIAGNOSTICS,
    NEWER,
    SENDERS,
    SEVERITIES,
    SILENT,
    SILENT_NEWER,
    TEXTS,
)
from foretold.dialects.claude_code.sessions import SessionRules
from foretold.sessions.formats.fields import Json, list_at, object_at, text_at
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    Contents = list[str | list[Json]]
    #: the messages of an attachment; a text is one, an empty one is not sent
    Renderer = Callable[[Json, SessionRules], str | Contents | None]

_OPEN, _CLOSE = "<system-reminder>\n", "\n</system-reminder>"


def contents_of(record: Json, rules: SessionRules) -> Contents | None:
    """The messages of an attachment, without tags; empty = it is not sent, None = unknown."""
    attachment = record.get("attachment")
    rendered = _rendered(record.get("rendered")) if rules.is_rendered else []
    if rendered:
        return rendered
    if not isinstance(attachment, dict):
        return []
    kind = text_at(attachment, "type")
    if kind in SILENT or (rules.is_rendered and kind in SILENT_NEWER):
        return []
    if kind in _LISTS:
        between, pieces_of = _LISTS[kind]
        said: str | Contents | None = _listed(kind, attachment, rules, pieces_of(attachment, rules), between)
    elif kind in _SPECIAL:
        said = _SPECIAL[kind](attachment, rules)
    else:
        said = fill_text(kind, rules, attachment) if kind in TEXTS else None
    return None if said is None else [each for each in ([said] if isinstance(said, str) else said) if each]


def _rendered(value: object) -> Contents:
    """The texts that a transcript has; none if one of them is something else."""
    found: Contents = []
    for one in value if isinstance(value, list) else []:
        text = one.get("content") if isinstance(one, dict) else None
        if not isinstance(text, str):
            return []
        found.append(text.removeprefix(_OPEN).removesuffix(_CLOSE))
    return found


def tagged(text: str) -> str:
    """A text between the tags of a reminder."""
    return f"{_OPEN}{text}{_CLOSE}"


def fill_text(kind: str, rules: SessionRules, fields: Json, **more: str) -> str:
    """The text of a kind, with its fields filled in; a placeholder without a value stays."""
    text = NEWER[kind] if rules.is_rendered and kind in NEWER else TEXTS[kind]
    known = {name: str(value) for name, value in fields.items() if isinstance(value, str | int | float)} | more
    filled, *pieces = text.split("{")
    for piece in pieces:
        name, _, rest = piece.partition("}")
        filled += known[name] + rest if name in known else "{" + piece
    return filled


def _strings(value: Json, name: str) -> list[str]:
    """The strings of a field that is a list."""
    return [item for item in list_at(value, name) if isinstance(item, str)]


def _objects(value: Json, name: str) -> list[Json]:
    """The objects of a field that is a list."""
    return [item for item in list_at(value, name) if isinstance(item, dict)]


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


# Lists


def _listed(kind: str, attachment: Json, rules: SessionRules, pieces: list[str], between: str = "\n") -> str:
    """The text of a kind with a list in it; empty if the list is."""
    return fill_text(kind, rules, attachment, lines=between.join(pieces)) if pieces else ""


def _delta(added: str, removed: str, lines: str, gone: str, between: str = "\n", sign: str = "") -> Renderer:
    """A list that changed: what is new, then what is gone, in one text."""

    def render(attachment: Json, rules: SessionRules) -> str:
        new = _listed(added, {}, rules, _strings(attachment, lines), between)
        old = _listed(removed, {}, rules, [sign + name for name in _strings(attachment, gone)])
        return "\n\n".join(filter(None, (new, old)))

    return render


def _agents(attachment: Json, rules: SessionRules) -> str:
    is_first = attachment.get("isInitial") is True
    added = "agents_first" if is_first else "agents_added"
    text = str(_delta(added, "agents_removed", "addedLines", "removedTypes", sign="- ")(attachment, rules))
    # claude-code: a change has no note, although its record says that it should; 2.1.325 has none without a list either
    is_noted = is_first and attachment.get("showConcurrencyNote") is True
    has_list = _strings(attachment, "addedLines") or not rules.is_rendered
    return text + TEXTS["agents_note"] if text and is_noted and has_list else text


def _tasks(kind: str, line: str) -> Renderer:
    def render(attachment: Json, rules: SessionRules) -> str:
        lines = [
            line.format(number=number, **{name: str(value) for name, value in item.items()})
            for number, item in enumerate(_objects(attachment, "content"), 1)
        ]
        return fill_text(kind, rules, {}) + _listed(f"{kind}_list", {}, rules, lines)

    return render


def _diagnostics(attachment: Json, rules: SessionRules) -> list[str]:
    """What a language server found, file by file."""
    files = []
    for file in _objects(attachment, "files"):
        issues = [_issue(issue) for issue in _objects(file, "diagnostics")]
        if issues or not rules.is_rendered:
            files.append(f"{text_at(file, 'uri').rpartition('/')[2]}:\n" + "\n".join(issues))
    return [_cut("\n\n".join(files))] if files else []


def _issue(issue: Json) -> str:
    start = object_at(object_at(issue, "range"), "start")
    line, column = (int(at) + 1 if isinstance(at := start.get(name), int) else 1 for name in ("line", "character"))
    code = f" [{issue['code']}]" if issue.get("code") else ""
    source = f" ({issue['source']})" if issue.get("source") else ""
    sign = SEVERITIES.get(text_at(issue, "severity"), SEVERITIES[""])
    return f"  {sign} [Line {line}:{column}] {text_at(issue, 'message')}{code}{source}"


def _cut(text: str) -> str:
    """A text up to the limit; the agent counts UTF-16 code units."""
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * LONGEST_DIAGNOSTICS:
        return text
    kept = units[: 2 * (LONGEST_DIAGNOSTICS - len(DIAGNOSTICS_CUT))]
    return kept.decode("utf-16-le", "replace") + DIAGNOSTICS_CUT


#: texts with a list: what is between its pieces, and the pieces. Skills are those in use before a compaction.
_LISTS: dict[str, tuple[str, Callable[[Json, SessionRules], list[str]]]] = {
    "diagnostics": ("", _diagnostics),
    "hook_additional_context": ("\n", lambda given, _: _strings(given, "content")),
    "invoked_skills": (
        "\n\n---\n\n",
        lambda given, _: [
            f"### Skill: {text_at(skill, 'name')}\nPath: {text_at(skill, 'path')}\n\n{text_at(skill, 'content')}"
            for skill in _objects(given, "skills")
        ],
    ),
    "relevant_memories": (
        "\n\n",
        lambda given, _: [
            f"Memory: {text_at(memory, 'path')}:\n\n{text_at(memory, 'content')}"
            for memory in list_at(given, "memories")
        ],
    ),
}


# Files and resources


def _file(attachment: Json, rules: SessionRules) -> Contents | None:
    content = object_at(attachment, "content")
    kind, file = text_at(content, "type"), content.get("file")
    if kind == "file_unchanged":
        return []
    called = fill_text("file", rules, {}, path=_json(text_at(attachment, "filename")))
    if kind == "image" and isinstance(file, dict):
        source = {"type": "base64", "data": file.get("base64"), "media_type": file.get("type")}
        return [called, [{"type": "image", "source": source}]]
    if kind != "text" or not isinstance(file, dict):
        return None
    text, first = text_at(file, "content"), file.get("startLine")
    numbered = enumerate(text.split("\n"), first if isinstance(first, int) else 1)
    lines = (
        "\n".join(f"{number}\t{line}" for number, line in numbered) if text else fill_text("file_empty", rules, file)
    )
    cut = fill_text("file_cut", rules, attachment) if attachment.get("truncated") is True else ""
    return [called, fill_text("file_text", rules, {}, lines=lines), cut]


def _directory(attachment: Json, rules: SessionRules) -> Contents:
    path = text_at(attachment, "path")
    call = {"command": _json(f"ls {shlex.quote(path)}"), "said": _json(f"Lists files in {path}")}
    listing = {"content": "", **attachment}
    return [fill_text("directory", rules, {}, **call), fill_text("directory_listing", rules, listing)]


def _pdf(attachment: Json, rules: SessionRules) -> str | None:
    size = attachment.get("fileSize")
    return fill_text("pdf_reference", rules, attachment, size=_format_size(size)) if isinstance(size, int) else None


def _format_size(size: int) -> str:
    """A size as the agent writes it."""
    for unit, name in ((1024**3, "GB"), (1024**2, "MB"), (1024, "KB")):
        if size >= unit:
            return f"{size / unit:.1f}".removesuffix(".0") + name
    return f"{size} bytes"


def _resource(attachment: Json, rules: SessionRules) -> str | Contents:
    """A resource of an MCP server: one message, a block per text."""
    items = _objects(object_at(attachment, "content"), "contents")
    texts: list[str] = []
    for item in items:
        if isinstance(item.get("text"), str):
            texts += (fill_text("resource", rules, {}), text_at(item, "text"), fill_text("resource_end", rules, {}))
        elif "blob" in item:
            media = text_at(item, "mimeType") or "application/octet-stream"
            texts.append(fill_text("resource_binary", rules, {}, type=media))
    if not texts:
        return fill_text("resource_shown" if items else "resource_empty", rules, attachment)
    return [[{"type": "text", "text": text} for text in texts]]


# What happened meanwhile


def _hook_success(attachment: Json, rules: SessionRules) -> str:
    is_heard = attachment.get("hookEvent") in HEARD and text_at(attachment, "content")
    return fill_text("hook_success", rules, attachment) if is_heard else ""


def _hook_blocking(attachment: Json, rules: SessionRules) -> str:
    error = attachment.get("blockingError")
    command, reason = text_at(error, "command"), text_at(error, "blockingError")
    return fill_text("hook_blocking_error", rules, attachment, command=command, error=reason)


def _async_hook(attachment: Json, _: SessionRules) -> Contents:
    response = object_at(attachment, "response")
    return [text_at(response, "systemMessage"), text_at(response.get("hookSpecificOutput"), "additionalContext")]


def _nested(attachment: Json, rules: SessionRules) -> str:
    content = attachment.get("content")
    return fill_text("nested_memory", rules, {}, path=text_at(content, "path"), content=text_at(content, "content"))


def _task_status(attachment: Json, rules: SessionRules) -> str:
    """The state of a background task."""
    status, output = text_at(attachment, "status"), text_at(attachment, "outputFilePath")
    delta = text_at(attachment, "deltaSummary")
    if status == "killed":
        return fill_text("task_killed", rules, attachment)
    if status == "running" and rules.is_rendered and attachment.get("taskType") == "local_bash":
        where = fill_text("task_shell_output", rules, attachment) if output else ""
        return fill_text("task_shell", rules, attachment) + where
    kind, label = ("task_running", "Progress") if status == "running" else ("task_ended", "Delta")
    more = f" {label}: {delta}" if delta else ""
    where = fill_text(f"{kind}_output" if output else f"{kind}_unread", rules, attachment)
    return fill_text(kind, rules, attachment, delta=more, where=where)


def _plan_mode(attachment: Json, rules: SessionRules) -> str | None:
    """The reminder that plan mode is still on."""
    is_brief = attachment.get("reminderType") == "sparse" and attachment.get("isSubAgent") is not True
    return fill_text("plan_mode_sparse", rules, attachment) if is_brief else None


def _plan_mode_exit(attachment: Json, rules: SessionRules) -> str:
    """That plan mode is over, and where the plan is."""
    where = fill_text("plan_mode_file", rules, attachment) if attachment.get("planExists") is True else ""
    return fill_text("plan_mode_exit", rules, attachment) + where


def _queued(attachment: Json, rules: SessionRules) -> str | Contents | None:
    """A message that came meanwhile. None = the text for its sender is not recorded."""
    origin = attachment.get("origin")
    if isinstance(origin, dict):
        kind = SENDERS.get(text_at(origin, "kind"), "queued_other")
        if kind not in TEXTS and not (rules.is_rendered and kind in NEWER):
            return None
    elif attachment.get("commandMode") == "task-notification":
        kind = "task_notification"
    else:
        kind = "queued_other" if attachment.get("isMeta") is True and rules.is_rendered else "queued_command"
    blocks = _objects(attachment, "prompt")
    texts = [text_at(block, "text") for block in blocks if block.get("type") == "text"]
    said = text_at(attachment, "prompt") or "\n".join(texts)
    filled = fill_text(kind, rules, {}, text=said, server=text_at(origin, "server"))
    images = [block for block in blocks if block.get("type") == "image"]
    return [[{"type": "text", "text": tagged(filled)}, *images]] if images else filled


_SPECIAL: dict[str, Renderer] = {
    "agent_listing_delta": _agents,
    "async_hook_response": _async_hook,
    "deferred_tools_delta": _delta("deferred_added", "deferred_removed", "addedLines", "removedNames"),
    "directory": _directory,
    "file": _file,
    "hook_blocking_error": _hook_blocking,
    "hook_success": _hook_success,
    "mcp_instructions_delta": _delta("mcp_added", "mcp_removed", "addedBlocks", "removedNames", "\n\n"),
    "mcp_resource": _resource,
    "nested_memory": _nested,
    "new_directory": _directory,  # what older transcripts call them
    "new_file": _file,
    "pdf_reference": _pdf,
    "plan_mode": _plan_mode,
    "plan_mode_exit": _plan_mode_exit,
    "queued_command": _queued,
    "task_reminder": _tasks("task_reminder", "#{id}. [{status}] {subject}"),
    "task_status": _task_status,
    "todo_reminder": _tasks("todo_reminder", "{number}. [{status}] {content}"),
}
