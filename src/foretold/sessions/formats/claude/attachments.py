"""What an attachment of a transcript says to the model.

1. Where the transcript keeps the text that was sent (`rendered`), and the version sends it again, that is it.
2. Else its type decides, with the words of the version (`dialects/claude_attached.py`): each attachment is one or more
   messages, a text or blocks. An image stays a block.
3. A type that we do not know gives None: whether the agent sends something for it cannot be told.
"""

from __future__ import annotations

import json
import shlex

from foretold.dialects.claude_code.attachments import HEARD, SILENT, SILENT_NEWER, TEXTS
from foretold.dialects.claude_code.sessions import SessionRules
from foretold.sessions.formats.claude.records import text_at
from foretold.sessions.formats.claude.templates import objects, phrase, strings
from foretold.sessions.formats.claude.work_attachments import (
    diagnostics,
    invoked_skills,
    plan_mode,
    plan_mode_exit,
    resource,
    sender_of,
    task_status,
)
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Contents = list[str | list["Json"]]

Json = dict[str, object]


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
    if kind in _SPECIAL:
        return _SPECIAL[kind](attachment, rules)
    return _filled(kind, rules, attachment) if kind in TEXTS else None


def _rendered(value: object) -> Contents:
    """The texts that a transcript keeps; none, if any of them is something else."""
    contents = [
        one.get("content") if isinstance(one, dict) else None for one in (value if isinstance(value, list) else [])
    ]
    return [bare(str(text)) for text in contents] if all(isinstance(text, str) for text in contents) else []


def bare(text: str) -> str:
    """A text without the tags of a reminder around it.

    >>> bare("<system-reminder>\\nSo it is.\\n</system-reminder>")
    'So it is.'
    """
    return text.removeprefix("<system-reminder>\n").removesuffix("\n</system-reminder>")


def _filled(kind: str, rules: SessionRules, attachment: Json, **more: str) -> Contents:
    """The text of a kind as a message; an empty one is not sent."""
    said = phrase(kind, rules, attachment, **more)
    return [said] if said else []


def _delta(
    added: str, removed: str, lines: str, gone: str, between: str = "\n"
) -> Callable[[Json, SessionRules], Contents]:
    """A list that changed: what is new, then what is gone, in one text."""

    def render(attachment: Json, rules: SessionRules) -> Contents:
        texts: list[object] = []
        if strings(attachment, lines):
            texts += _filled(added, rules, {}, lines=between.join(strings(attachment, lines)))
        if strings(attachment, gone):
            texts += _filled(removed, rules, {}, lines="\n".join(strings(attachment, gone)))
        return ["\n\n".join(str(text) for text in texts)] if texts else []

    return render


def _agents(attachment: Json, rules: SessionRules) -> Contents:
    added, gone = strings(attachment, "addedLines"), strings(attachment, "removedTypes")
    texts: list[object] = []
    if added:
        kind = "agents_first" if attachment.get("isInitial") is True else "agents_added"
        texts += _filled(kind, rules, {}, lines="\n".join(added))
    if gone:
        texts += _filled("agents_removed", rules, {}, lines="\n".join(f"- {name}" for name in gone))
    if not texts:
        return []
    # claude-code: a change has no note, although its record says that it should; 2.1.325 has none without a list either
    is_noted = attachment.get("isInitial") is True and attachment.get("showConcurrencyNote") is True
    note = TEXTS["agents_note"] if is_noted and (added or not rules.is_rendered) else ""
    return ["\n\n".join(str(text) for text in texts) + note]


def _file(attachment: Json, rules: SessionRules) -> Contents | None:
    content = attachment.get("content")
    kind = text_at(content, "type")
    file = content.get("file") if isinstance(content, dict) else None
    if kind == "file_unchanged":
        return []
    called = _filled("file", rules, {}, path=_json(text_at(attachment, "filename")))
    if kind == "image" and isinstance(file, dict):
        source = {"type": "base64", "data": file.get("base64"), "media_type": file.get("type")}
        return [*called, [{"type": "image", "source": source}]]
    if kind != "text" or not isinstance(file, dict):
        return None
    first = file.get("startLine")
    lines = numbered(text_at(file, "content"), first if isinstance(first, int) else 1)
    if not text_at(file, "content"):
        (lines,) = (str(text) for text in _filled("file_empty", rules, file))
    cut = _filled("file_cut", rules, attachment) if attachment.get("truncated") is True else []
    return [*called, *_filled("file_text", rules, {}, lines=lines), *cut]


def numbered(text: str, first: int = 1) -> str:
    """A text as the Read tool shows it.

    >>> numbered("a\\nb\\n", 5)
    '5\\ta\\n6\\tb\\n7\\t'
    """
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(text.split("\n"), first))


def _directory(attachment: Json, rules: SessionRules) -> Contents:
    path = text_at(attachment, "path")
    said = {"command": _json(f"ls {shlex.quote(path)}"), "said": _json(f"Lists files in {path}")}
    listing = {"content": "", **attachment}
    return [*_filled("directory", rules, {}, **said), *_filled("directory_listing", rules, listing)]


def _queued(attachment: Json, rules: SessionRules) -> Contents | None:
    prompt = attachment.get("prompt")
    blocks = [block for block in prompt if isinstance(block, dict)] if isinstance(prompt, list) else []
    texts = [text_at(block, "text") for block in blocks if block.get("type") == "text"]
    told = sender_of(attachment, rules)
    if told is None:
        return None
    server = text_at(attachment.get("origin"), "server")
    said = _filled(told, rules, {}, text=prompt if isinstance(prompt, str) else "\n".join(texts), server=server)
    images = [block for block in blocks if block.get("type") == "image"]
    return [[{"type": "text", "text": tagged(str(said[0]))}, *images]] if images else said


def tagged(text: str) -> str:
    """A text between the tags of a reminder."""
    return f"<system-reminder>\n{text}\n</system-reminder>"


def _hook_success(attachment: Json, rules: SessionRules) -> Contents:
    if attachment.get("hookEvent") not in HEARD or not text_at(attachment, "content"):
        return []
    return _filled("hook_success", rules, attachment)


def _hook_context(attachment: Json, rules: SessionRules) -> Contents:
    lines = strings(attachment, "content")
    return _filled("hook_additional_context", rules, attachment, lines="\n".join(lines)) if lines else []


def _hook_blocking(attachment: Json, rules: SessionRules) -> Contents:
    error = attachment.get("blockingError")
    said = {"command": text_at(error, "command"), "error": text_at(error, "blockingError")}
    return _filled("hook_blocking_error", rules, attachment, **said)


def _nested(attachment: Json, rules: SessionRules) -> Contents:
    content = attachment.get("content")
    said = {"path": text_at(content, "path"), "content": text_at(content, "content")}
    return _filled("nested_memory", rules, {}, **said)


def _tasks(kind: str, line: str) -> Callable[[Json, SessionRules], Contents]:
    def render(attachment: Json, rules: SessionRules) -> Contents:
        items = objects(attachment, "content")
        lines = "\n".join(
            line.format(number=number, **{name: str(value) for name, value in item.items()})
            for number, item in enumerate(items, 1)
        )
        said = _filled(kind, rules, {})
        listed = _filled(f"{kind}_list", rules, {}, lines=lines) if lines else []
        return ["".join(str(text) for text in (*said, *listed))] if said else []

    return render


def _memories(attachment: Json, rules: SessionRules) -> Contents:
    found = attachment.get("memories")
    texts = [
        f"Memory: {text_at(memory, 'path')}:\n\n{text_at(memory, 'content')}"
        for memory in (found if isinstance(found, list) else [])
    ]
    return _filled("relevant_memories", rules, {}, lines="\n\n".join(texts)) if texts else []


def _pdf(attachment: Json, rules: SessionRules) -> Contents | None:
    size = attachment.get("fileSize")
    return _filled("pdf_reference", rules, attachment, size=shown_size(size)) if isinstance(size, int) else None


def shown_size(size: int) -> str:
    """A size as the agent writes it.

    >>> shown_size(1023), shown_size(1536), shown_size(1048575), shown_size(3_400_000_000)
    ('1023 bytes', '1.5KB', '1024KB', '3.2GB')
    """
    for unit, name in ((1024**3, "GB"), (1024**2, "MB"), (1024, "KB")):
        if size >= unit:
            return f"{size / unit:.1f}".removesuffix(".0") + name
    return f"{size} bytes"


def _async_hook(attachment: Json, _: SessionRules) -> Contents:
    response = attachment.get("response")
    more = response.get("hookSpecificOutput") if isinstance(response, dict) else None
    return [text for text in (text_at(response, "systemMessage"), text_at(more, "additionalContext")) if text]


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_SPECIAL: dict[str, Callable[[Json, SessionRules], Contents | None]] = {
    "agent_listing_delta": _agents,
    "async_hook_response": _async_hook,
    "deferred_tools_delta": _delta("deferred_added", "deferred_removed", "addedLines", "removedNames"),
    "diagnostics": diagnostics,
    "directory": _directory,
    "file": _file,
    "hook_additional_context": _hook_context,
    "hook_blocking_error": _hook_blocking,
    "hook_success": _hook_success,
    "invoked_skills": invoked_skills,
    "mcp_instructions_delta": _delta("mcp_added", "mcp_removed", "addedBlocks", "removedNames", "\n\n"),
    "mcp_resource": resource,
    "nested_memory": _nested,
    "new_directory": _directory,  # what older transcripts call them
    "new_file": _file,
    "pdf_reference": _pdf,
    "plan_mode": plan_mode,
    "plan_mode_exit": plan_mode_exit,
    "queued_command": _queued,
    "relevant_memories": _memories,
    "task_reminder": _tasks("task_reminder", "#{id}. [{status}] {subject}"),
    "task_status": task_status,
    "todo_reminder": _tasks("todo_reminder", "{number}. [{status}] {content}"),
}
