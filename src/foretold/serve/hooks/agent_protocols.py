"""How agents talk to hooks: their names for events and tools, and the form of a refusal. One table.

1. All of them send `session_id`, `transcript_path`, `cwd` and `hook_event_name`, and accept
   `hookSpecificOutput.additionalContext` where they accept context at all.
2. `events` are their names for ours; our names are always understood. The answer repeats the agent's own name.
3. `tools` are their names for the tools of Claude Code, with the field that names the file.
4. A refusal is a `permissionDecision` (Claude Code; Codex accepts `deny`, but not `ask`), or a `decision` at the top
   level (Gemini CLI and Qwen Code, which cannot ask either). If an agent cannot ask, the call is refused instead.
5. `silent` are events for which an agent ignores context: nothing is sent.

Read in the sources of Codex (`codex-rs/hooks`) and in the documentation of Gemini CLI and Claude Code.
"""

from __future__ import annotations

from collections.abc import Mapping

from foretold.types import NamedTuple


class AgentTool(NamedTuple):
    """A tool as Claude Code calls it, and the input field with the path or the command."""

    name: str
    key: str


class AgentProtocol(NamedTuple):
    """How one agent talks to its hooks."""

    events: Mapping[str, str] = {}
    tools: Mapping[str, AgentTool] = {}
    refusal: str = "permissionDecision"  #: or decision
    can_ask: bool = False
    start_folder: str = ""  #: the variable with the folder in which the conversation began
    silent: tuple[str, ...] = ()


OBSERVED = ("PreCompact", "Stop", "SubagentStop", "SessionEnd", "InstructionsLoaded")

CLAUDE_TOOLS = {
    "Read": AgentTool("Read", "file_path"),
    "Write": AgentTool("Write", "file_path"),
    "Edit": AgentTool("Edit", "file_path"),
    "MultiEdit": AgentTool("MultiEdit", "file_path"),
    "NotebookEdit": AgentTool("NotebookEdit", "notebook_path"),
    "Bash": AgentTool("Bash", "command"),
    "Grep": AgentTool("Grep", "path"),
}
#: a patch names its files in its lines, so it is parsed like a command
CODEX_TOOLS = {
    **CLAUDE_TOOLS,
    **dict.fromkeys(("shell", "apply_patch"), AgentTool("Bash", "command")),
    "exec_command": AgentTool("Bash", "cmd"),
}
GEMINI_TOOLS = {
    "read_file": AgentTool("Read", "file_path"),
    "write_file": AgentTool("Write", "file_path"),
    "replace": AgentTool("Edit", "file_path"),
    "run_shell_command": AgentTool("Bash", "command"),
    "search_file_content": AgentTool("Grep", "path"),
}
GEMINI_EVENTS = {
    "BeforeAgent": "UserPromptSubmit",
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "PreCompress": "PreCompact",
    "AfterAgent": "Stop",
}

PROTOCOLS: dict[str, AgentProtocol] = {
    "claude-code": AgentProtocol({}, CLAUDE_TOOLS, can_ask=True, start_folder="CLAUDE_PROJECT_DIR", silent=OBSERVED),
    "codex": AgentProtocol({}, CODEX_TOOLS, silent=OBSERVED),
    "gemini-cli": AgentProtocol(
        GEMINI_EVENTS,
        GEMINI_TOOLS,
        "decision",
        start_folder="GEMINI_PROJECT_DIR",
        silent=(*OBSERVED, "PreToolUse"),
    ),
    "qwen-code": AgentProtocol(
        GEMINI_EVENTS, {**CLAUDE_TOOLS, **GEMINI_TOOLS}, "decision", silent=(*OBSERVED, "PreToolUse")
    ),
}
#: fields in which other tools name a file
NAMING = ("file_path", "notebook_path", "path", "absolute_path", "filename")


class HookOutput(NamedTuple):
    """What a hook tells the agent: context for the model, or a verdict on a tool call with its reason."""

    context: str = ""
    verdict: str = ""  #: deny, ask, or empty
    reason: str = ""


NO_OUTPUT = HookOutput()


def protocol_of(agent: str) -> AgentProtocol:
    """The protocol of an agent; one that is not in the table is treated like Claude Code."""
    return PROTOCOLS.get(agent.partition("@")[0], PROTOCOLS["claude-code"])


def encode_output(output: HookOutput, event: str, own: str, protocol: AgentProtocol) -> dict[str, object]:
    """The object that is sent for an event; `own` is the agent's name for it. Empty if there is nothing to say.

    >>> encode_output(HookOutput("Hello"), "SessionStart", "SessionStart", PROTOCOLS["codex"])
    {'hookSpecificOutput': {'hookEventName': 'SessionStart', 'additionalContext': 'Hello'}}
    >>> encode_output(HookOutput(verdict="ask", reason="sure?"), "PreToolUse", "BeforeTool", PROTOCOLS["gemini-cli"])
    {'decision': 'deny', 'reason': 'sure?'}
    """
    if output.verdict:
        verdict = output.verdict if protocol.can_ask else "deny"
        if protocol.refusal == "decision":
            return {"decision": verdict, "reason": output.reason}
        inside: dict[str, object] = {"hookEventName": own, "permissionDecision": verdict}
        inside["permissionDecisionReason"] = output.reason
        return {"hookSpecificOutput": inside}
    if output.context and event not in protocol.silent:
        return {"hookSpecificOutput": {"hookEventName": own, "additionalContext": output.context}}
    return {}
