"""What surrounds a turn: environment, git status, user context, attachments, compaction, attribution.

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

_PLACES: dict[str, str] = {
    "Agent": "headnote.context.listings",
    "Attachment": "headnote.context.attachments",
    "Attribution": "headnote.context.attribution",
    "Calendar": "headnote.context.changes",
    "Cleared": "headnote.context.clearing",
    "Compacted": "headnote.context.compactor",
    "Compactor": "headnote.context.compactor",
    "Environment": "headnote.context.environment",
    "GitStatus": "headnote.context.git",
    "Listings": "headnote.context.listings",
    "Mentioned": "headnote.context.mentions",
    "Restored": "headnote.instructions.restore",
    "Sections": "headnote.context.sections",
    "Seen": "headnote.instructions.restore",
    "Skill": "headnote.context.listings",
    "TaskReminder": "headnote.context.changes",
    "attachment_of": "headnote.context.attachments",
    "changed_attachments": "headnote.context.changes",
    "clear_results": "headnote.context.clearing",
    "compaction_records": "headnote.context.compaction",
    "context_blocks": "headnote.context.user_context",
    "edited_file": "headnote.context.changes",
    "environment_of": "headnote.context.environment",
    "environment_section": "headnote.context.environment",
    "git_status": "headnote.context.git",
    "git_text": "headnote.context.git",
    "hook_context": "headnote.context.changes",
    "hook_output": "headnote.context.changes",
    "mentioned": "headnote.context.mentions",
    "named": "headnote.context.models",
    "nested_attachments": "headnote.context.nested",
    "ranked_attachment": "headnote.context.listings",
    "ranked_skills": "headnote.context.listings",
    "restore_files": "headnote.instructions.restore",
    "tool_blocks": "headnote.context.placing",
    "turn_messages": "headnote.context.placing",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headnote.context.attachments import Attachment as Attachment
    from headnote.context.attachments import attachment_of as attachment_of
    from headnote.context.attribution import Attribution as Attribution
    from headnote.context.changes import Calendar as Calendar
    from headnote.context.changes import TaskReminder as TaskReminder
    from headnote.context.changes import changed_attachments as changed_attachments
    from headnote.context.changes import edited_file as edited_file
    from headnote.context.changes import hook_context as hook_context
    from headnote.context.changes import hook_output as hook_output
    from headnote.context.clearing import Cleared as Cleared
    from headnote.context.clearing import clear_results as clear_results
    from headnote.context.compaction import compaction_records as compaction_records
    from headnote.context.compactor import Compacted as Compacted
    from headnote.context.compactor import Compactor as Compactor
    from headnote.context.environment import Environment as Environment
    from headnote.context.environment import environment_of as environment_of
    from headnote.context.environment import environment_section as environment_section
    from headnote.context.git import GitStatus as GitStatus
    from headnote.context.git import git_status as git_status
    from headnote.context.git import git_text as git_text
    from headnote.context.listings import Agent as Agent
    from headnote.context.listings import Listings as Listings
    from headnote.context.listings import Skill as Skill
    from headnote.context.listings import ranked_attachment as ranked_attachment
    from headnote.context.listings import ranked_skills as ranked_skills
    from headnote.context.mentions import Mentioned as Mentioned
    from headnote.context.mentions import mentioned as mentioned
    from headnote.context.models import named as named
    from headnote.context.nested import nested_attachments as nested_attachments
    from headnote.context.placing import tool_blocks as tool_blocks
    from headnote.context.placing import turn_messages as turn_messages
    from headnote.context.sections import Sections as Sections
    from headnote.context.user_context import context_blocks as context_blocks
    from headnote.instructions.restore import Restored as Restored
    from headnote.instructions.restore import Seen as Seen
    from headnote.instructions.restore import restore_files as restore_files


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'headnote.context' has no attribute {name!r}")
    value: object = getattr(__import__(_PLACES[name], fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
