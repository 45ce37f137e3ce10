"""Notes on the memory and context of Claude Code, under the names that they use (`docs/compat/notes.md`).

from foretold.compat import notes

print(notes.load_claude_md().text)                        # CLAUDE.md: organisation, user, project, private
print(notes.load_memory_prompt("how do we deploy?"))      # rules, MEMORY.md, relevant topics
parts = notes.fetch_system_prompt_parts()                 # sections of the system prompt, user context
messages = notes.resume_session("4d1f").messages          # ~/.claude/sessions/<id>/transcript.jsonl
"""

from __future__ import annotations

from foretold.compat.claude_prompt import env_block as env_block
from foretold.compat.notes.context import (
    SUMMARIZE_TOOL_RESULTS_SECTION as SUMMARIZE_TOOL_RESULTS_SECTION,
    SystemPromptParts as SystemPromptParts,
    TurnReminders as TurnReminders,
    fetch_system_prompt_parts as fetch_system_prompt_parts,
    get_attribution as get_attribution,
    get_function_result_clearing_section as get_function_result_clearing_section,
    get_git_commit_section as get_git_commit_section,
    user_context_message as user_context_message,
)
from foretold.compat.notes.extraction import (
    DEFAULT_EXTRACTION_CONFIG as DEFAULT_EXTRACTION_CONFIG,
    DEFAULT_SESSION_MEMORY_CONFIG as DEFAULT_SESSION_MEMORY_CONFIG,
    Extraction as Extraction,
    Extractor as Extractor,
    ForkedRun as ForkedRun,
    Gate as Gate,
    SessionMemory as SessionMemory,
    Thresholds as Thresholds,
    build_extract_auto_only_prompt as build_extract_auto_only_prompt,
    build_extract_combined_prompt as build_extract_combined_prompt,
    extract_memories as extract_memories,
    open_session_memory as open_session_memory,
    run_forked_agent as run_forked_agent,
    should_extract_memory as should_extract_memory,
)
from foretold.compat.notes.files import (
    FileHistory as FileHistory,
    FileHistoryState as FileHistoryState,
    FileStateCache as FileStateCache,
    file_history_state as file_history_state,
)
from foretold.compat.notes.instructions import (
    BUILT_IN_AGENTS as BUILT_IN_AGENTS,
    BuiltInAgentDefinition as BuiltInAgentDefinition,
    NestedMemory as NestedMemory,
    cached_claude_md_content as cached_claude_md_content,
    claude_md_of_agent as claude_md_of_agent,
    clear_claude_md_cache as clear_claude_md_cache,
    load_claude_md as load_claude_md,
    nested_memory_attachment_triggers as nested_memory_attachment_triggers,
    omit_claude_md as omit_claude_md,
)
from foretold.compat.notes.memory import (
    MEMORY_TYPES as MEMORY_TYPES,
    ensure_memory_dir_exists as ensure_memory_dir_exists,
    find_relevant_memories as find_relevant_memories,
    get_memory_dir as get_memory_dir,
    load_memory_prompt as load_memory_prompt,
    open_memory as open_memory,
    truncate_index as truncate_index,
    write_memory as write_memory,
)
from foretold.compat.notes.sessions import (
    find_transcript as find_transcript,
    get_transcript_path as get_transcript_path,
    open_transcript as open_transcript,
    resume_session as resume_session,
)

__all__ = [
    "BUILT_IN_AGENTS",
    "DEFAULT_EXTRACTION_CONFIG",
    "DEFAULT_SESSION_MEMORY_CONFIG",
    "MEMORY_TYPES",
    "SUMMARIZE_TOOL_RESULTS_SECTION",
    "BuiltInAgentDefinition",
    "Extraction",
    "Extractor",
    "FileHistory",
    "FileHistoryState",
    "FileStateCache",
    "ForkedRun",
    "Gate",
    "NestedMemory",
    "SessionMemory",
    "SystemPromptParts",
    "Thresholds",
    "TurnReminders",
    "build_extract_auto_only_prompt",
    "build_extract_combined_prompt",
    "cached_claude_md_content",
    "claude_md_of_agent",
    "clear_claude_md_cache",
    "ensure_memory_dir_exists",
    "env_block",
    "extract_memories",
    "fetch_system_prompt_parts",
    "file_history_state",
    "find_relevant_memories",
    "find_transcript",
    "get_attribution",
    "get_function_result_clearing_section",
    "get_git_commit_section",
    "get_memory_dir",
    "get_transcript_path",
    "load_claude_md",
    "load_memory_prompt",
    "nested_memory_attachment_triggers",
    "omit_claude_md",
    "open_memory",
    "open_session_memory",
    "open_transcript",
    "resume_session",
    "run_forked_agent",
    "should_extract_memory",
    "truncate_index",
    "user_context_message",
    "write_memory",
]
