"""What surrounds a turn: environment, git status, user context, attachments, compaction, attribution.

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

_PLACES: dict[str, str] = {
    "Agent": "foretold.context.listings",
    "Attachment": "foretold.context.attachments",
    "Attribution": "foretold.context.attribution",
    "Calendar": "foretold.context.changes",
    "Cleared": "foretold.context.compaction.clearing",
    "Compacted": "foretold.context.compaction.compactor",
    "Compactor": "foretold.context.compaction.compactor",
    "Environment": "foretold.context.environment",
    "GitStatus": "foretold.context.git",
    "Listings": "foretold.context.listings",
    "Mentioned": "foretold.context.mentions",
    "Restored": "foretold.instructions.compaction.restored_files",
    "Sections": "foretold.context.sections",
    "Seen": "foretold.instructions.compaction.restored_files",
    "Skill": "foretold.context.listings",
    "TaskReminder": "foretold.context.changes",
    "attachment_of": "foretold.context.attachments",
    "changed_attachments": "foretold.context.changes",
    "clear_results": "foretold.context.compaction.clearing",
    "compaction_records": "foretold.context.compaction.transcript",
    "context_blocks": "foretold.context.user_context",
    "edited_file": "foretold.context.changes",
    "environment_of": "foretold.context.environment",
    "environment_section": "foretold.context.environment",
    "git_status": "foretold.context.git",
    "git_text": "foretold.context.git",
    "hook_context": "foretold.context.changes",
    "hook_output": "foretold.context.changes",
    "mentioned": "foretold.context.mentions",
    "named": "foretold.context.models",
    "nested_attachments": "foretold.context.nested",
    "ranked_attachment": "foretold.context.listings",
    "ranked_skills": "foretold.context.listings",
    "restore_files": "foretold.instructions.compaction.restored_files",
    "tool_blocks": "foretold.context.placing",
    "turn_messages": "foretold.context.placing",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.context.attachments import Attachment as Attachment
    from foretold.context.attachments import attachment_of as attachment_of
    from foretold.context.attribution import Attribution as Attribution
    from foretold.context.changes import Calendar as Calendar
    from foretold.context.changes import TaskReminder as TaskReminder
    from foretold.context.changes import changed_attachments as changed_attachments
    from foretold.context.changes import edited_file as edited_file
    from foretold.context.changes import hook_context as hook_context
    from foretold.context.changes import hook_output as hook_output
    from foretold.context.compaction.clearing import Cleared as Cleared
    from foretold.context.compaction.clearing import clear_results as clear_results
    from foretold.context.compaction.compactor import Compacted as Compacted
    from foretold.context.compaction.compactor import Compactor as Compactor
    from foretold.context.compaction.transcript import compaction_records as compaction_records
    from foretold.context.environment import Environment as Environment
    from foretold.context.environment import environment_of as environment_of
    from foretold.context.environment import environment_section as environment_section
    from foretold.context.git import GitStatus as GitStatus
    from foretold.context.git import git_status as git_status
    from foretold.context.git import git_text as git_text
    from foretold.context.listings import Agent as Agent
    from foretold.context.listings import Listings as Listings
    from foretold.context.listings import Skill as Skill
    from foretold.context.listings import ranked_attachment as ranked_attachment
    from foretold.context.listings import ranked_skills as ranked_skills
    from foretold.context.mentions import Mentioned as Mentioned
    from foretold.context.mentions import mentioned as mentioned
    from foretold.context.models import named as named
    from foretold.context.nested import nested_attachments as nested_attachments
    from foretold.context.placing import tool_blocks as tool_blocks
    from foretold.context.placing import turn_messages as turn_messages
    from foretold.context.sections import Sections as Sections
    from foretold.context.user_context import context_blocks as context_blocks
    from foretold.instructions.compaction.restored_files import Restored as Restored
    from foretold.instructions.compaction.restored_files import Seen as Seen
    from foretold.instructions.compaction.restored_files import restore_files as restore_files


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'foretold.context' has no attribute {name!r}")
    value: object = getattr(__import__(_PLACES[name], fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
