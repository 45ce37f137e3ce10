"""Hooks: what `foretold hook EVENT` tells an agent at each event of a conversation.

1. A hook is a process that an agent starts, sends one JSON object, and waits for. So it is fast: what takes time was
   computed before (`cache`), or is done afterwards by another process (`background`).
2. It fails open: on any fault it prints nothing, exits with 0, and adds one line to the log (`dispatch`).
3. It prints nothing when there is nothing to say, and says each thing once per conversation (`said_before`).
4. Each event has a module with one function, `handle(context) -> HookOutput`. What differs between agents is a table
   (`agent_protocols`).
"""

from __future__ import annotations

#: event -> the module that handles it
EVENTS = {
    "SessionStart": "events.session_start",
    "UserPromptSubmit": "events.prompt_submit",
    "PreToolUse": "events.pre_tool",
    "PostToolUse": "events.post_tool",
    "PreCompact": "events.pre_compact",
    "Stop": "events.turn_end",
    "SubagentStop": "events.turn_end",
    "SessionEnd": "events.turn_end",
    "InstructionsLoaded": "events.instructions_loaded",
}
