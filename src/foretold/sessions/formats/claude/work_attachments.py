"""What attachments say of the work around a conversation: tasks, diagnostics, skills, resources, modes, messages.

1. A task in the background runs, was stopped, or has ended; where its output is comes last.
2. Diagnostics are told file by file, by the name of the file, and cut after 4,000 units of UTF-16.
3. A resource is one message of several texts; one without a text says what it is.
4. A message that came while the agent was at work says who sent it: its origin, else its mode.
5. The full text of a mode is a long prompt: of those we know only that they are sent (None).
"""

from __future__ import annotations

from foretold.dialects.claude_code.attachments import DIAGNOSTICS_CUT, LONGEST_DIAGNOSTICS, SENDERS, SEVERITIES
from foretold.dialects.claude_code.sessions import SessionRules
from foretold.sessions.formats.claude.records import text_at
from foretold.sessions.formats.claude.templates import Json, is_kept, objects, phrase

Texts = list[str | list[Json]]


def task_status(attachment: Json, rules: SessionRules) -> Texts:
    """What became of a task in the background."""
    status, output = text_at(attachment, "status"), text_at(attachment, "outputFilePath")
    delta = text_at(attachment, "deltaSummary")
    if status == "killed":
        return [phrase("task_killed", rules, attachment)]
    if status == "running" and rules.is_rendered and attachment.get("taskType") == "local_bash":
        where = phrase("task_shell_output", rules, attachment) if output else ""
        return [phrase("task_shell", rules, attachment) + where]
    kind, told = ("task_running", "Progress") if status == "running" else ("task_ended", "Delta")
    more = f" {told}: {delta}" if delta else ""
    where = phrase(f"{kind}_output" if output else f"{kind}_unread", rules, attachment)
    return [phrase(kind, rules, attachment, delta=more, where=where)]


def diagnostics(attachment: Json, rules: SessionRules) -> Texts:
    """What a language server found, file by file."""
    files = []
    for file in objects(attachment, "files"):
        issues = [_issue(issue) for issue in objects(file, "diagnostics")]
        if issues or not rules.is_rendered:
            files.append(f"{text_at(file, 'uri').rpartition('/')[2]}:\n" + "\n".join(issues))
    return [phrase("diagnostics", rules, {}, lines=_cut("\n\n".join(files)))] if files else []


def _issue(issue: Json) -> str:
    span = issue.get("range")
    start = span.get("start") if isinstance(span, dict) else None
    line, column = (_number(start, name) + 1 for name in ("line", "character"))
    code = f" [{issue['code']}]" if issue.get("code") else ""
    source = f" ({issue['source']})" if issue.get("source") else ""
    sign = SEVERITIES.get(text_at(issue, "severity"), SEVERITIES[""])
    return f"  {sign} [Line {line}:{column}] {text_at(issue, 'message')}{code}{source}"


def _number(value: object, name: str) -> int:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, int) else 0


def _cut(text: str) -> str:
    """A text up to the limit; the agent counts units of UTF-16."""
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * LONGEST_DIAGNOSTICS:
        return text
    kept = units[: 2 * (LONGEST_DIAGNOSTICS - len(DIAGNOSTICS_CUT))]
    return kept.decode("utf-16-le", "replace") + DIAGNOSTICS_CUT


def invoked_skills(attachment: Json, rules: SessionRules) -> Texts:
    """Skills that were at work before a compaction."""
    skills = [
        f"### Skill: {text_at(skill, 'name')}\nPath: {text_at(skill, 'path')}\n\n{text_at(skill, 'content')}"
        for skill in objects(attachment, "skills")
    ]
    return [phrase("invoked_skills", rules, {}, lines="\n\n---\n\n".join(skills))] if skills else []


def resource(attachment: Json, rules: SessionRules) -> Texts:
    """A resource of an MCP server: one message, a block per text."""
    content = attachment.get("content")
    items = objects(content, "contents") if isinstance(content, dict) else []
    if not items:
        return [phrase("resource_empty", rules, attachment)]
    said: list[str] = []
    for item in items:
        if isinstance(item.get("text"), str):
            said += (phrase("resource", rules, {}), text_at(item, "text"), phrase("resource_end", rules, {}))
        elif "blob" in item:
            said.append(
                phrase("resource_binary", rules, {}, type=text_at(item, "mimeType") or "application/octet-stream")
            )
    return (
        [[{"type": "text", "text": text} for text in said]] if said else [phrase("resource_shown", rules, attachment)]
    )


def plan_mode(attachment: Json, rules: SessionRules) -> Texts | None:
    """The reminder that plan mode goes on."""
    is_brief = attachment.get("reminderType") == "sparse" and attachment.get("isSubAgent") is not True
    return [phrase("plan_mode_sparse", rules, attachment)] if is_brief else None


def plan_mode_exit(attachment: Json, rules: SessionRules) -> Texts:
    """That plan mode is over, and where the plan is."""
    where = phrase("plan_mode_file", rules, attachment) if attachment.get("planExists") is True else ""
    return [phrase("plan_mode_exit", rules, attachment) + where]


def sender_of(attachment: Json, rules: SessionRules) -> str | None:
    """The kind of text for a message that came meanwhile, by its sender; None = its text is not kept here."""
    origin = attachment.get("origin")
    if isinstance(origin, dict):
        kind = SENDERS.get(text_at(origin, "kind"), "queued_other")
        return kind if is_kept(kind, rules) else None
    if attachment.get("commandMode") == "task-notification":
        return "task_notification"
    return "queued_other" if attachment.get("isMeta") is True and rules.is_rendered else "queued_command"
