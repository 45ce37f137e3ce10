"""Attachments: what an agent adds to a turn by itself, as values, and the text that a model reads of each.

1. An attachment is a type and its fields, as the `attachment` records of a transcript hold them; `record` and
   `attachment_of` are inverse, and an unknown type passes through.
2. `texts` has what a model reads of it: one text, two for a mention (the call and its result), none for a type that is
   only recorded. An image is a block that is not text (`image_of`). Where a text goes in a request: `placement`.
3. Nested instructions: `contentDiffersFromDisk` is set when the text was changed on loading (frontmatter, comments);
   then `rawContent` is what is on disk. A state of read files keeps that text as a partial view: it shows changes to
   the file, but an edit still needs a read.
4. A changed file is shown from its first line, numbered and cut (`files.read_state.notice`, which also says when a file
   counts as changed). An emptied file is not mentioned.
5. A change of date is attached once. The later version also attaches the date when a conversation starts.
6. Ten content blocks of the model without a task tool, and ten since the last reminder, bring a reminder of the tasks.
7. What hooks add is text: the standard output of a start or a prompt hook, or `additionalContext`.

Other attachments are made by `mentions` and `listings`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from foretold.context.attribution import Attribution, attribution_lines
from foretold.context.environment import section_of
from foretold.dialects.claude_code.context import CONTEXT_BEFORE, TurnContext, turn_context_of
from foretold.dialects.claude_code.files import rules_of
from foretold.dialects.claude_code.sessions import rules_of as session_rules
from foretold.dialects.registry import DEFAULT_AGENT, choose
from foretold.files.read_state.reading import numbered, size_of
from foretold.instructions.render.blocks import CLOSE, OPEN
from foretold.sessions.formats.claude.attachments import contents_of
from foretold.sessions.formats.fields import list_at, object_at
from foretold.types import TYPE_CHECKING, Entry, NamedTuple

if TYPE_CHECKING:
    from foretold.files.read_state.state import ReadState
    from foretold.instructions.view import View

    Fields = Mapping[str, object]

PATIENCE = 10
TASK_TOOLS = ("TaskCreate", "TaskUpdate", "TaskGet", "TaskList", "TodoWrite")
_PLACE = re.compile(r"\{(\w+)\}")


class TurnAttachment(NamedTuple):
    """What is added to a turn: its type, and its fields by name."""

    type: str
    fields: Fields

    @property
    def record(self) -> dict[str, object]:
        """As a transcript holds it.

        >>> TurnAttachment("date_change", {"newDate": "2026-01-03"}).record
        {'type': 'date_change', 'newDate': '2026-01-03'}
        """
        return {"type": self.type, **self.fields}


def attachment_of(record: Mapping[str, object]) -> TurnAttachment:
    """An attachment of a transcript.

    >>> attachment_of({"type": "date", "date": "2026-01-02"})
    TurnAttachment(type='date', fields={'date': '2026-01-02'})
    """
    return TurnAttachment(str(record.get("type", "")), {key: value for key, value in record.items() if key != "type"})


def texts(attachment: TurnAttachment, around: TurnContext) -> tuple[str, ...]:
    """What a model reads of an attachment."""
    kind, fields = attachment
    if kind == "date" and fields.get("changed"):
        kind, fields = "date_change", {"newDate": fields.get("date", "")}
    if kind in _AS_STORED:
        made = contents_of({"attachment": {"type": kind, **fields}}, session_rules(around.version)) or []
        return tuple(text for text in made if isinstance(text, str))
    return tuple(text for text in _MAKERS[kind](fields, around) if text) if kind in _MAKERS else ()


def image_of(attachment: TurnAttachment) -> dict[str, object] | None:
    """The image block of a mention of an image; None for anything else."""
    content = object_at(attachment.fields, "content")
    if attachment.type != "file" or content.get("type") != "image":
        return None
    file = object_at(content, "file")
    source = {"type": "base64", "data": file.get("base64"), "media_type": file.get("type")}
    return {"type": "image", "source": source}


def _strings(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


def fill_fields(text: str, fields: Fields) -> str:
    """A text with fields in their places; other braces stay."""
    return _PLACE.sub(lambda found: str(fields[found[1]]) if found[1] in fields else found[0], text)


def _fill(around: TurnContext, kind: str, fields: Fields) -> str:
    return fill_fields(around.texts[kind], fields)


def _file(given: Fields, around: TurnContext) -> list[str]:
    """The call that read a file, and its result: a text, the cells of a notebook, or that it is a PDF."""
    content = object_at(given, "content")
    kind, file = content.get("type"), object_at(content, "file")
    called = _fill(around, "file", {"path": _json(given.get("filename", ""))})
    if kind == "image":
        return [called]
    if kind == "pdf":
        size = size_of(int(str(file.get("originalSize", 0))))
        lines = _fill(around, "file_pdf", {**file, "size": size})
    elif kind == "notebook":
        lines = _json([{"text": "\n".join(_cells(file)), "type": "text"}])
    else:
        text, start = str(file.get("content", "")), int(str(file.get("startLine", 1)))
        is_empty = (start, file.get("totalLines")) == (1, 1)
        lines = (
            numbered(text.split("\n"), start or 1)
            if text
            else _fill(around, "file_empty" if is_empty else "file_short", file)
        )
    return [called, _fill(around, "file_text", {"lines": lines})]


def _cells(file: dict[str, object]) -> Iterator[str]:
    cells = file.get("cells")
    for cell in cells if isinstance(cells, list) else []:
        mark, kind = f'cell id="{cell.get("cell_id", "")}"', cell.get("cellType", "code")
        told = "" if kind == "code" else f"<cell_type>{kind}</cell_type>"
        yield f"<{mark}>{told}{cell.get('source', '')}</{mark}>"
        yield from (f"\n{output.get('text', '')}" for output in cell.get("outputs", ()))


def _too_large(given: Fields, around: TurnContext) -> list[str]:
    size = size_of(int(str(given.get("fileSize", 0))))
    paths = _strings(given.get("mentions"))
    return [_fill(around, "at_mention_reference", {"path": path, "size": size}) for path in paths]


def _tasks(given: Fields, around: TurnContext) -> list[str]:
    tasks = [task if isinstance(task, dict) else {} for task in list_at(given, "content")]
    lines = "\n".join(f"#{task.get('id')}. [{task.get('status')}] {task.get('subject')}" for task in tasks)
    return [around.texts["task_reminder"] + (_fill(around, "task_reminder_list", {"lines": lines}) if lines else "")]


def _attribution(given: Fields, around: TurnContext) -> list[str]:
    found = Attribution(str(given.get("commit") or "") or None, str(given.get("pr") or "") or None)
    return ["\n".join((around.texts["remote_session_change"], *attribution_lines(found, around)))]


def _edited_file(given: Fields, around: TurnContext) -> list[str]:
    if given.get("snippet"):
        return [_fill(around, "edited_text_file", given)]
    return [fill_fields(rules_of(around.version).omitted, {"path": given.get("filename", "")})]


def _instructions(given: Fields, around: TurnContext) -> list[str]:
    """The files of the start, under the headings that the dialect has for them."""
    template = choose(f"claude-code@{around.version}").dialect.template
    said = []
    for each in list_at(given, "files"):
        file = each if isinstance(each, dict) else {}
        layer = str(file.get("type", "")).lower().replace("automem", "memory")
        description = dict(template.descriptions).get(layer, "")
        fields = {"path": file.get("path", ""), "description": description, "text": file.get("content", "")}
        said.append(fill_fields(template.entry, fields))
    return [template.join.join([template.header, *said])] if said else []


def _context(given: Fields, around: TurnContext) -> list[str]:
    return [flatten_context(object_at(given, "context"), around).removeprefix(OPEN).removesuffix(CLOSE)]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


#: types whose texts are those of a resumed transcript
_AS_STORED = frozenset(
    "agent_listing_delta agent_mention critical_system_reminder date date_change deferred_tools_delta directory"
    " hook_additional_context hook_success mcp_instructions_delta model nested_memory skill_listing"
    " total_tokens_reminder".split()
)
_MAKERS: dict[str, Callable[[Fields, TurnContext], list[str]]] = {
    "at_mention_reference": _too_large,
    "edited_text_file": _edited_file,
    "environment": lambda given, around: [section_of(object_at(given, "snapshot"), around, around.closing)],
    "file": _file,
    "instructions": _instructions,
    "ranked_skills": lambda given, around: [_fill(around, "ranked_skills", given)],
    "remote_session_change": _attribution,
    "session_context": _context,
    "task_reminder": _tasks,
}


def flatten_context(context: Mapping[str, object], around: TurnContext) -> str:
    """The block of a user context; empty if there is none."""
    if not context:
        return ""
    return CONTEXT_BEFORE + "\n".join(f"# {key}\n{text}" for key, text in context.items()) + around.context_after


def nested_attachments(entries: Iterable[Entry], view: View) -> list[TurnAttachment]:
    """Entries that a touched file brought, as the agent's transcript records them.

    >>> import foretold, tempfile
    >>> folder = os.path.realpath(tempfile.mkdtemp())
    >>> os.mkdir(os.path.join(folder, "api"))
    >>> with open(os.path.join(folder, "api", "CLAUDE.md"), "w", encoding="utf-8") as file:
    ...     _ = file.write("Handlers return JSON.\\n")
    >>> session = foretold.Session(folder, agent="claude-code@2.1.325", home=folder, env={})
    >>> nested_attachments(session.read("api/users.py").entries, session.view)[0].fields["displayPath"]
    'api/CLAUDE.md'
    """
    return [nested_attachment(entry, view, entry.text) for entry in entries]


def nested_attachment(entry: Entry, view: View, text: str) -> TurnAttachment:
    """An entry, with the text that the model reads of it."""
    kind, path = dict(view.dialect.types).get(entry.layer, entry.layer), entry.path
    content = {
        "path": path,
        "type": kind,
        "content": text,
        **({"globs": list(entry.globs)} if entry.globs else {}),
        "contentDiffersFromDisk": entry.differs_from_disk,
        **({"rawContent": entry.raw} if entry.differs_from_disk else {}),
    }
    shown = os.path.relpath(path, view.surroundings.cwd)
    return TurnAttachment("nested_memory", {"path": path, "content": content, "displayPath": shown})


def changed_attachments(state: ReadState) -> list[TurnAttachment]:
    """The files that another process changed since the agent knew them, each once."""
    from foretold.files.read_state.notice import changed_files

    return [attachment_of(notice.attachment) for notice in changed_files(state)]


def edited_file(path: str, content: str, *, agent: str = DEFAULT_AGENT) -> TurnAttachment | None:
    """A file that was changed, for callers that watch files themselves; None if it is empty.

    >>> edited_file("/repo/a.txt", "one\\ntwo\\n").fields["snippet"]
    '1\\tone\\n2\\ttwo'
    """
    from foretold.files.read_state.notice import snippet_of

    snippet, _ = snippet_of(content, rules_of(turn_context_of(agent).version))
    return TurnAttachment("edited_text_file", {"filename": path, "snippet": snippet}) if content else None


class DateReminder:
    """Attaches the date of a conversation when it changes.

    >>> reminder = DateReminder(agent="claude-code@2.1.197")
    >>> reminder.check("2026-01-02") is None, reminder.check("2026-01-03").record, reminder.check("2026-01-03") is None
    (True, {'type': 'date_change', 'newDate': '2026-01-03'}, True)
    """

    __slots__ = ("_known", "_type")

    def __init__(self, known: str = "", *, agent: str = DEFAULT_AGENT) -> None:
        self._known, self._type = known, turn_context_of(agent).date_type

    def check(self, date: str) -> TurnAttachment | None:
        """Before a request: what to attach on this day."""
        before, self._known = self._known, date
        if before == date:
            return None
        if self._type == "date_change":
            return TurnAttachment("date_change", {"newDate": date}) if before else None
        return TurnAttachment("date", {"date": date, "changed": True} if before else {"date": date})


class TaskReminder:
    """Counts how long no task tool was used.

    >>> reminder = TaskReminder()
    >>> for _ in range(10):
    ...     reminder.count()
    >>> reminder.due([]).type, reminder.due([]) is None
    ('task_reminder', True)
    """

    __slots__ = ("_since",)

    def __init__(self) -> None:
        self._since = 0

    def count(self, tool: str = "") -> None:
        """The model produced a content block: a text, or a call of a tool."""
        self._since = 0 if tool in TASK_TOOLS else self._since + 1

    def due(self, tasks: Sequence[Mapping[str, object]]) -> TurnAttachment | None:
        """Before a request: the reminder, if it is time. A task has an id, a status and a subject."""
        if self._since < PATIENCE:
            return None
        self._since = 0
        return TurnAttachment("task_reminder", {"content": list(tasks), "itemCount": len(tasks)})


def hook_output(event: str, text: str, matcher: str = "") -> TurnAttachment:
    """The standard output of a hook of SessionStart (matcher: startup, resume, …) or UserPromptSubmit.

    >>> hook_output("SessionStart", "ready", "startup").fields["hookName"]
    'SessionStart:startup'
    """
    name = f"{event}:{matcher}" if matcher else event
    return TurnAttachment("hook_success", {"hookName": name, "hookEvent": event, "content": text})


def hook_context(event: str, *texts: str, tool: str = "") -> TurnAttachment:
    """The `additionalContext` of hooks; those of tools name the tool.

    >>> hook_context("PostToolUse", "Tests pass.", tool="Edit").fields["hookName"]
    'PostToolUse:Edit'
    """
    name = f"{event}:{tool}" if tool else event
    return TurnAttachment("hook_additional_context", {"content": list(texts), "hookName": name, "hookEvent": event})
