"""Findings of the harness, of hooks and of framework adapters."""

from __future__ import annotations

from foretold.findings.registry import Rule

RULES = (
    Rule(
        "hook-failed",
        "warning",
        what="a hook of claude-agent-sdk failed; the agent went on without it",
        why="What the hook would have injected is missing.",
        example="a store that cannot be read",
        fix="read the message; run `foretold memory doctor`",
    ),
    Rule(
        "instructions-failed",
        "error",
        what="an adapter could not load instructions, or the agent refuses to start there",
        why="The run went on without any instructions.",
        example="a folder that is not trusted",
        fix="run `foretold explain`",
    ),
    Rule(
        "instructions-skipped",
        "warning",
        what="a harness did not send an instruction file that exists",
        why="The message has the reason.",
        example="an import outside the project",
        fix="run `foretold explain`",
    ),
    Rule(
        "not-compacted",
        "warning",
        what="a conversation should have been compacted, and was not",
        why="The next request may exceed the model's window.",
        example="a summary that came back empty",
        fix="nothing for `too_few_groups`; otherwise try again, or start a new conversation",
    ),
    Rule(
        "permission-bypass",
        "error",
        what="settings ask for a mode in which everything is permitted",
        why="Any command runs unasked; in a project's own file the setting is ignored.",
        example='{"permissions": {"defaultMode": "bypassPermissions"}}',
        fix="remove it; use it only where nothing can be damaged",
    ),
    Rule(
        "permission-invalid",
        "error",
        what="a permission rule or mode in the settings is invalid, and ignored",
        why="What it should allow or deny is decided by the other rules.",
        example='{"permissions": {"deny": ["Bash(rm"]}}',
        fix="write the rule as the hint shows",
    ),
    Rule(
        "permission-untrusted",
        "warning",
        what="a project that is not trusted grants permissions or folders; they are ignored",
        why="A cloned repository must not give itself permissions.",
        example="an allow rule in .claude/settings.json of a fresh clone",
        fix="trust the folder, or put the rule into your own settings",
    ),
    Rule(
        "recall-failed",
        "warning",
        what="an adapter could not recall memories, or could not search some of them",
        why="The run went on without those memories.",
        example="a store that cannot be read",
        fix="run `foretold memory doctor`",
    ),
    Rule(
        "reply-empty",
        "warning",
        what="a model replied with neither text nor a tool call",
        why="The turn ends without an answer.",
        example="a reply cut off by a content filter",
        fix="ask again; the message says why it stopped",
    ),
    Rule(
        "session-shared",
        "warning",
        what="another process continued the session that a harness holds",
        why="The session has two branches, and a resume follows the one that spoke last.",
        example="the same session opened in two terminals",
        fix="resume the other branch as the message shows; better: use `fork` for each",
    ),
    Rule(
        "tool-failed",
        "error",
        what="a tool of a harness raised, or returned something other than a `Result`",
        why="The model was given an error instead of a result.",
        example="def run(...): return None",
        fix="correct the tool",
    ),
)
