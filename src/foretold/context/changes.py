"""Attachments for what has happened since: a file changed, the date changed, tasks were left alone, hooks spoke.

1. A changed file is shown from its first line, numbered and cut (`files.notice`, which also says when a file counts as
   changed). An emptied file is not mentioned.
2. A change of date is said once. The later version also says the date when a conversation starts.
3. Ten content blocks of the model without a task tool, and ten since the last reminder, bring a reminder of the tasks.
4. What hooks add is text: the standard output of a start or a prompt hook, or `additionalContext`.
"""

from __future__ import annotations

from foretold.context.attachments import Attachment, attachment_of
from foretold.dialects.claude_code.context import turn_context_of
from foretold.dialects.claude_code.files import rules_of
from foretold.dialects.registry import DEFAULT_AGENT
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foretold.files.read_state.state import ReadState

PATIENCE = 10
TASK_TOOLS = ("TaskCreate", "TaskUpdate", "TaskGet", "TaskList", "TodoWrite")


def changed_attachments(state: ReadState) -> list[Attachment]:
    """The files that somebody else changed since the agent knew them, each told once."""
    from foretold.files.read_state.notice import changed_files

    return [attachment_of(notice.attachment) for notice in changed_files(state)]


def edited_file(path: str, content: str, *, agent: str = DEFAULT_AGENT) -> Attachment | None:
    """A file that was changed, for those who watch files themselves; None if it is empty.

    >>> edited_file("/repo/a.txt", "one\\ntwo\\n").fields["snippet"]
    '1\\tone\\n2\\ttwo'
    """
    from foretold.files.read_state.notice import snippet_of

    snippet, _ = snippet_of(content, rules_of(turn_context_of(agent).version))
    return Attachment("edited_text_file", {"filename": path, "snippet": snippet}) if content else None


class DateReminder:
    """What a conversation was told about the date.

    >>> calendar = DateReminder(agent="claude-code@2.1.197")
    >>> calendar.at("2026-01-02") is None, calendar.at("2026-01-03").record, calendar.at("2026-01-03") is None
    (True, {'type': 'date_change', 'newDate': '2026-01-03'}, True)
    """

    __slots__ = ("_told", "_type")

    def __init__(self, told: str = "", *, agent: str = DEFAULT_AGENT) -> None:
        self._told, self._type = told, turn_context_of(agent).date_type

    def at(self, date: str) -> Attachment | None:
        """A request is made on a day: what is said about it."""
        before, self._told = self._told, date
        if before == date:
            return None
        if self._type == "date_change":
            return Attachment("date_change", {"newDate": date}) if before else None
        return Attachment("date", {"date": date, "changed": True} if before else {"date": date})


class TaskReminder:
    """How long the tasks have been left alone.

    >>> reminder = TaskReminder()
    >>> for _ in range(10):
    ...     reminder.said()
    >>> reminder.due([]).type, reminder.due([]) is None
    ('task_reminder', True)
    """

    __slots__ = ("_since",)

    def __init__(self) -> None:
        self._since = 0

    def said(self, tool: str = "") -> None:
        """The model produced a content block: a text, or a call of a tool."""
        self._since = 0 if tool in TASK_TOOLS else self._since + 1

    def due(self, tasks: Sequence[Mapping[str, object]]) -> Attachment | None:
        """Before a request: the reminder, if it is time. A task has an id, a status and a subject."""
        if self._since < PATIENCE:
            return None
        self._since = 0
        return Attachment("task_reminder", {"content": list(tasks), "itemCount": len(tasks)})


def hook_output(event: str, text: str, matcher: str = "") -> Attachment:
    """The standard output of a hook of SessionStart (matcher: startup, resume, …) or UserPromptSubmit.

    >>> hook_output("SessionStart", "ready", "startup").fields["hookName"]
    'SessionStart:startup'
    """
    name = f"{event}:{matcher}" if matcher else event
    return Attachment("hook_success", {"hookName": name, "hookEvent": event, "content": text})


def hook_context(event: str, *texts: str, tool: str = "") -> Attachment:
    """The `additionalContext` of hooks; those of tools name the tool.

    >>> hook_context("PostToolUse", "Tests pass.", tool="Edit").fields["hookName"]
    'PostToolUse:Edit'
    """
    name = f"{event}:{tool}" if tool else event
    return Attachment("hook_additional_context", {"content": list(texts), "hookName": name, "hookEvent": event})
