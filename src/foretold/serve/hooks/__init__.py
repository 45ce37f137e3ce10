"""Hooks: what `foretold hook EVENT` says to an agent at each moment of a conversation.

1. A hook is a process that an agent starts, gives one JSON object, and waits for. So it is quick: what takes time was
   worked out before (`kept`), or is done afterwards by a process of its own (`detached`).
2. It fails open: on any fault it prints nothing, ends with 0, and leaves one line in the log (`answer`).
3. It says nothing where there is nothing to say, and each thing once a conversation (`notes`).
4. Each event has a module with one function, `hear(scene) -> Said`. What differs between agents is a table (`speech`).
"""

from __future__ import annotations

#: event -> the module that hears it
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
