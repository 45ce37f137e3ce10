"""What surrounds a turn: environment, git status, user context, attachments, compaction, attribution.

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

from foretold.imports import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.context.attachments import (
        DateReminder as DateReminder,
        TaskReminder as TaskReminder,
        TurnAttachment as TurnAttachment,
        attachment_of as attachment_of,
        changed_attachments as changed_attachments,
        edited_file as edited_file,
        hook_context as hook_context,
        hook_output as hook_output,
        nested_attachments as nested_attachments,
    )
    from foretold.context.attribution import Attribution as Attribution, read_attribution as read_attribution
    from foretold.context.compaction.clearing import Cleared as Cleared, clear_results as clear_results
    from foretold.context.compaction.compactor import Compacted as Compacted, Compactor as Compactor
    from foretold.context.compaction.transcript import compaction_records as compaction_records
    from foretold.context.environment import (
        Environment as Environment,
        environment_of as environment_of,
        environment_section as environment_section,
        identify_model as identify_model,
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
    from foretold.context.placement import (
        Sections as Sections,
        context_blocks as context_blocks,
        tool_blocks as tool_blocks,
        turn_messages as turn_messages,
    )
    from foretold.instructions.compaction.restored_files import (
        Restored as Restored,
        Seen as Seen,
        restore_files as restore_files,
    )

__getattr__, __dir__ = attach(
    __name__,
    {
        "foretold.context.attachments": "TurnAttachment DateReminder TaskReminder attachment_of changed_attachments"
        " edited_file hook_context hook_output nested_attachments",
        "foretold.context.attribution": "Attribution read_attribution",
        "foretold.context.compaction.clearing": "Cleared clear_results",
        "foretold.context.compaction.compactor": "Compacted Compactor",
        "foretold.context.compaction.transcript": "compaction_records",
        "foretold.context.environment": "Environment environment_of environment_section identify_model",
        "foretold.context.git": "GitStatus git_status git_text",
        "foretold.context.listings": "Agent Listings Skill ranked_attachment ranked_skills",
        "foretold.context.mentions": "ResolvedMentions resolve_mentions",
        "foretold.context.placement": "Sections context_blocks tool_blocks turn_messages",
        "foretold.instructions.compaction.restored_files": "Restored Seen restore_files",
    },
)
