"""What surrounds a turn: environment, git status, user context, attachments, compaction, attribution.

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

from foretold.imports import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.context.attachments import Attachment as Attachment, attachment_of as attachment_of
    from foretold.context.attribution import Attribution as Attribution
    from foretold.context.changes import (
        DateReminder as DateReminder,
        TaskReminder as TaskReminder,
        changed_attachments as changed_attachments,
        edited_file as edited_file,
        hook_context as hook_context,
        hook_output as hook_output,
    )
    from foretold.context.compaction.clearing import Cleared as Cleared, clear_results as clear_results
    from foretold.context.compaction.compactor import Compacted as Compacted, Compactor as Compactor
    from foretold.context.compaction.transcript import compaction_records as compaction_records
    from foretold.context.environment import (
        Environment as Environment,
        environment_of as environment_of,
        environment_section as environment_section,
    )
    from foretold.context.git import GitStatus as GitStatus, git_status as git_status, git_text as git_text
    from foretold.context.listings import (
        Agent as Agent,
        Listings as Listings,
        Skill as Skill,
        ranked_attachment as ranked_attachment,
        ranked_skills as ranked_skills,
    )
    from foretold.context.mentions import ResolvedMentions as ResolvedMentions, resolve_mentions as resolve_mentions
    from foretold.context.models import identify_model as identify_model
    from foretold.context.nested import nested_attachments as nested_attachments
    from foretold.context.placing import tool_blocks as tool_blocks, turn_messages as turn_messages
    from foretold.context.sections import Sections as Sections
    from foretold.context.user_context import context_blocks as context_blocks
    from foretold.instructions.compaction.restored_files import (
        Restored as Restored,
        Seen as Seen,
        restore_files as restore_files,
    )

__getattr__, __dir__ = attach(
    __name__,
    {
        "foretold.context.attachments": "Attachment attachment_of",
        "foretold.context.attribution": "Attribution",
        "foretold.context.changes": "DateReminder TaskReminder changed_attachments edited_file hook_context"
        " hook_output",
        "foretold.context.compaction.clearing": "Cleared clear_results",
        "foretold.context.compaction.compactor": "Compacted Compactor",
        "foretold.context.compaction.transcript": "compaction_records",
        "foretold.context.environment": "Environment environment_of environment_section",
        "foretold.context.git": "GitStatus git_status git_text",
        "foretold.context.listings": "Agent Listings Skill ranked_attachment ranked_skills",
        "foretold.context.mentions": "ResolvedMentions resolve_mentions",
        "foretold.context.models": "identify_model",
        "foretold.context.nested": "nested_attachments",
        "foretold.context.placing": "tool_blocks turn_messages",
        "foretold.context.sections": "Sections",
        "foretold.context.user_context": "context_blocks",
        "foretold.instructions.compaction.restored_files": "Restored Seen restore_files",
    },
)
