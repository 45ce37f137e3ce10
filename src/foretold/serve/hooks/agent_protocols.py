"""How agents that have hooks speak: names of events and tools, and the form of a refusal. One table.

1. All of them send `session_id`, `transcript_path`, `cwd` and `hook_event_name`, and take
   `hookSpecificOutput.additionalContext` where they take context at all.
2. `events` are their names for ours; ours are understood by everybody. The answer repeats the agent's own name.
3. `tools` are their names for the tools of Claude Code, with the field that names the file.
4. A refusal is a `permissionDecision` (Claude Code; Codex takes `deny`, and no `ask`), or a `decision` at the top
   (Gemini CLI and Qwen Code; they cannot ask either). Where an agent cannot ask, what would be asked is refused.
5. `silent` are events whose context an agent does not take: there nothing is said.

Read in the sources of Codex (`codex-rs/hooks`) and Gemini CLI (`docs/hooks`), and in the documentation of Claude Code.
"""

from __future__ import annotations

from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Tool(NamedTuple):
    """A tool as Claude Code calls it, and the field of the input that names the file, or the command."""

    name: str
    key: str


class Speech(NamedTuple):
    """How one agent speaks with its hooks."""

    events: Mapping[str, str] = {}
    tools: Mapping[str, Tool] = {}
    refusal: str = "permissionDecision"  #: or decision
    asks: bool = False
    started_in: str = ""  #: the variable that has the folder in which the conversation began
    silent: tuple[str, ...] = ()


OBSERVED = ("PreCompact", "Stop", "SubagentStop", "SessionEnd", "InstructionsLoaded")

CLAUDE_TOOLS = {
    "Read": Tool("Read", "file_path"),
    "Write": Tool("Write", "file_path"),
    "Edit": Tool("Edit", "file_path"),
    "MultiEdit": Tool("MultiEdit", "file_path"),
    "NotebookEdit": Tool("NotebookEdit", "notebook_path"),
    "Bash": Tool("Bash", "command"),
    "Grep": Tool("Grep", "path"),
}
#: a patch names its files in lines of its own, so it is read like a command
CODEX_TOOLS = {
    **CLAUDE_TOOLS,
    **dict.fromkeys(("shell", "apply_patch"), Tool("Bash", "command")),
    "exec_command": Tool("Bash", "cmd"),
}
GEMINI_TOOLS = {
    "read_file": Tool("Read", "file_path"),
    "write_file": Tool("Write", "file_path"),
    "replace": Tool("Edit", "file_path"),
    "run_shell_command": Tool("Bash", "command"),
    "search_file_content": Tool("Grep", "path"),
}
GEMINI_EVENTS = {
    "BeforeAgent": "UserPromptSubmit",
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "PreCompress": "PreCompact",
    "AfterAgent": "Stop",
}

SPEECHES: dict[str, Speech] = {
    "claude-code": Speech({}, CLAUDE_TOOLS, asks=True, started_in="CLAUDE_PROJECT_DIR", silent=OBSERVED),
    "codex": Speech({}, CODEX_TOOLS, silent=OBSERVED),
    "gemini-cli": Speech(
        GEMINI_EVENTS, GEMINI_TOOLS, "decision", started_in="GEMINI_PROJECT_DIR", silent=(*OBSERVED, "PreToolUse")
    ),
    "qwen-code": Speech(GEMINI_EVENTS, {**CLAUDE_TOOLS, **GEMINI_TOOLS}, "decision", silent=(*OBSERVED, "PreToolUse")),
}
#: fields by which other tools name a file
NAMING = ("file_path", "notebook_path", "path", "absolute_path", "filename")


class Said(NamedTuple):
    """What a hook says: context for the model, or a verdict on a tool call with its reason."""

    context: str = ""
    verdict: str = ""  #: deny, ask, or nothing
    reason: str = ""


SILENCE = Said()


def speech_of(agent: str) -> Speech:
    """How an agent speaks; one that is not in the table, like Claude Code."""
    return SPEECHES.get(agent.partition("@")[0], SPEECHES["claude-code"])


def wire_form(said: Said, event: str, own: str, speech: Speech) -> dict[str, object]:
    """What goes to the agent for an event; `own` is its name for it. Empty if there is nothing to say.

    >>> wire_form(Said("Hello"), "SessionStart", "SessionStart", SPEECHES["codex"])
    {'hookSpecificOutput': {'hookEventName': 'SessionStart', 'additionalContext': 'Hello'}}
    >>> wire_form(Said(verdict="ask", reason="sure?"), "PreToolUse", "BeforeTool", SPEECHES["gemini-cli"])
    {'decision': 'deny', 'reason': 'sure?'}
    """
    if said.verdict:
        verdict = said.verdict if speech.asks else "deny"
        if speech.refusal == "decision":
            return {"decision": verdict, "reason": said.reason}
        inside: dict[str, object] = {"hookEventName": own, "permissionDecision": verdict}
        inside["permissionDecisionReason"] = said.reason
        return {"hookSpecificOutput": inside}
    if said.context and event not in speech.silent:
        return {"hookSpecificOutput": {"hookEventName": own, "additionalContext": said.context}}
    return {}
