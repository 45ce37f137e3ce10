"""What Claude Code puts around a turn, recorded on 2.1.197 and 2.1.325: a value per version.

The texts are those the released programs sent to a model server on the loopback interface (`tests/context/*.jsonl`).
In the earlier version the environment and the git status are sections of the system prompt; in the later one they are
attachments, and so are the model, the date and the attribution. The texts of attachments are in `attachments`; the
others are here. `ranked_skills` is ours: nothing made the programs rank skills.
"""

from __future__ import annotations

from collections.abc import Mapping

from foretold.dialects.claude_code.attachments import AMBIENT, NEWER, TEXTS
from foretold.dialects.registry import choose
from foretold.dialects.releases.history import DatedChange, ReleaseHistory
from foretold.errors import UnknownAgent
from foretold.types import NamedTuple


class Model(NamedTuple):
    """How an agent names a model to itself."""

    part: str  #: of the model's id
    name: str  #: as the environment says it
    cutoff: str = ""
    author: str = ""  #: as a commit's trailer says it; empty = `Claude ` and the name
    wide: str = "named"  #: of an id that ends in [1m]: named (1M context), kept in the id, dropped from it


class TurnContext(NamedTuple):
    """What one version sends around a turn; 2.1.197, if nothing else is said."""

    version: str
    models: tuple[Model, ...]  #: the first whose part is in the id
    aliases: Mapping[str, str]
    retired: tuple[str, ...]  #: ids that the agent replaces by its `opus`
    closing: tuple[str, ...]  #: the last lines of the environment
    context_keys: tuple[str, ...]  #: what is in the block of context; the rest has separate blocks
    context_after: str
    texts: Mapping[str, str]
    unnamed_author: str = "Claude"  #: of a model that has no name
    worktree: tuple[str, ...] = ()  #: lines of the environment
    model_lines: bool = True  #: whether they are in the environment
    shell_form: str = "kept"  #: or program
    status_trim: str = "both"  #: or right
    status_failed: str = "(clean)"
    section_after: str = ""  #: after a section that is sent outside of the system prompt
    user_types: tuple[str, ...] = ()  #: attachments that are blocks of the user's message for every model
    tool_hooks: str = (
        "user"  #: where the contexts of tool hooks are: a separate block of the user, or `with` the others
    )
    date_type: str = "date_change"  #: or date
    decodes_utf16: bool = False
    binary: frozenset[str] = frozenset()  #: extensions that mentions leave out, in addition to those of both versions
    file_fields: Mapping[str, object] = {}  #: that every attached file has
    too_large: bool = False  #: whether a mention of a file that is too large is named
    server_limit: int = 2048  #: characters of the instructions of an MCP server; seen with 100,000


CONTEXT_BEFORE = "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n"
STATUS_LIMIT = 2_000  #: UTF-16 units
STATUS_CUT = (
    '\n... (truncated because it exceeds 2k characters. If you need more information, run "git status" using Bash)'
)
GIT_NOTE = (
    "This is the git status at the start of the conversation. Note that this status is a snapshot in time, "
    "and will not update during the conversation."
)
COMMIT = "Co-Authored-By: {author} <noreply@anthropic.com>"
PULL_REQUEST = "🤖 Generated with [Claude Code](https://claude.com/claude-code)"
_OLDER = (
    Model("claude-opus-4-6", "Opus 4.6", "May 2025"),
    Model("claude-opus-4-5", "Opus 4.5", "May 2025"),
    Model("claude-sonnet-4-6", "Sonnet 4.6", "August 2025"),
    Model("claude-sonnet-4-5", "Sonnet 4.5", "January 2025"),
    Model("claude-sonnet-4", "Sonnet 4", "January 2025"),
    Model("claude-haiku-4-5", "Haiku 4.5", "February 2025"),
    Model("claude-3-7-sonnet", "Claude 3.7 Sonnet", "", "Claude Sonnet 3.7"),
    Model("claude-3-5-sonnet", "Claude 3.5 Sonnet", "", "Claude Sonnet 3.5"),
    Model("claude-3-5-haiku", "Claude 3.5 Haiku", "", "Claude Haiku 3.5"),
)

_TEXTS = {
    **TEXTS,
    "at_mention_reference": "The user @-mentioned {path} ({size}). Its contents were not attached because the file is "
    "too large to read all at once. Read it in portions with the offset and limit parameters, starting with a few "
    "hundred lines, or search for specific content instead of reading the whole file. Only if you genuinely need all "
    "of it, call Read with allow_large: true, which reads it whole when it still fits in your context.",
    "file_pdf": "PDF file read: {filePath} ({size})",
    "file_short": TEXTS["file_empty"],
    "ranked_skills": "Skills relevant to this prompt:\n\n{content}",
    "commit": "- End git commit messages with:\n{commit}",
    "pr": "- End PR bodies with:\n{pr}",
    "remote_session_change": "",
}

BASE = TurnContext(
    version="2.1.197",
    models=(
        Model("claude-opus-4-8", "Opus 4.8", "January 2026"),
        Model("claude-opus-4-7", "Opus 4.7", "January 2026"),
        Model("claude-sonnet-5", "Sonnet 5", "January 2026", wide="kept"),
        Model("claude-fable-5", "Fable 5", "January 2026", wide="kept"),
        *_OLDER,
    ),
    aliases={
        "default": "claude-opus-4-8[1m]",
        "opus": "claude-opus-4-8",
        "best": "claude-opus-4-8",
        "sonnet": "claude-sonnet-5",
        "opusplan": "claude-sonnet-5",
        "haiku": "claude-haiku-4-5-20251001",
        "fable": "claude-fable-5",
    },
    retired=("claude-opus-4-1", "claude-opus-4-0", "claude-opus-4-2025"),
    closing=(
        (
            "The most recent Claude models are the Claude 5 family, Opus 4.8, and Haiku 4.5. Model IDs — Fable 5: "
            "'claude-fable-5', Opus 4.8: 'claude-opus-4-8', Sonnet 5: 'claude-sonnet-5', Haiku 4.5: "
            "'claude-haiku-4-5-20251001'. When building AI applications, default to the latest and most capable Claude "
            "models."
        ),
        (
            "Claude Code is available as a CLI in the terminal, desktop app (Mac/Windows), web app (claude.ai/code),"
            " and IDE extensions (VS Code, JetBrains)."
        ),
        (
            "Fast mode for Claude Code uses Claude Opus with faster output (it does not downgrade to a smaller"
            " model). It can be toggled with /fast and is available on Opus 4.8/4.7."
        ),
    ),
    context_keys=("gitStatus", "claudeMd", "currentDate", "Environment", "Memory", "auto memory"),
    context_after="\n\n      IMPORTANT: this context may or may not be relevant to your tasks. You should not respond "
    "to this context unless it is highly relevant to your task.\n</system-reminder>\n\n",
    texts=_TEXTS,
)

_WORKTREE = (
    (
        "This is a git worktree — an isolated copy of the repository. Run all commands from this directory. Do NOT "
        "`cd` to the original repository root."
    ),
    (
        "The git stash stack is shared with the main checkout and all other worktrees, and other Claude sessions"
        " may push or pop it concurrently. Never use bare `git stash` / `git stash pop` — you could pop another"
        " session's changes. Prefer a temporary WIP commit to set work aside; if you must stash, use `git stash"
        " push -u -m \"<unique-tag>\"`, immediately capture your entry's SHA via `git stash list --format='%H"
        " %gs'`, restore with `git stash apply <sha>` (not pop), and afterwards drop the entry, re-finding its"
        " current `stash@{n}` by tag first."
    ),
)
_UNTRUSTED = (
    (
        "Downloaded files and extracted archives are untrusted data: put each in its own new, empty directory,"
        " keep scripts you write in a different directory, and pass paths as arguments instead of running an"
        " interpreter or build tool from inside it. Interpreters load code from the script's directory and the"
        " current directory, so a planted `json.py` runs on `import json`. Run any Python that reads them with"
        " `-I`. This does not apply to code the user asked you to build or run."
    ),
)
_CONTEXT_AFTER = (
    "\n\nClaude Code attached this context automatically; it isn't part of the user's message. It "
    "describes the user's own account and workspace, so they don't need it reported back.\n</system-reminder>"
)

_ATTRIBUTION = (
    "Attribution for git commits and pull requests you create from here on (this replaces "
    "Claude Code's own earlier attribution guidance, such as a previous copy of this reminder; the user's own "
    "instructions about these lines, such as a CLAUDE.md or memory rule, take precedence over this reminder, but "
    "do not add attribution lines this reminder leaves out):"
)

CHANGES = (
    DatedChange(
        "2.1.325",
        "2.1.197",
        "Environment, git status, date and attribution travel as attachments.",
        {
            "models": (
                Model("claude-opus-5-5", "Opus 5.5", "June 2026", wide="dropped"),
                Model("claude-opus-5", "Opus 5", "May 2026", wide="dropped"),
                Model("claude-sonnet-5-5", "Sonnet 5.5", "June 2026", wide="dropped"),
                Model("claude-haiku-5-5", "Haiku 5.5", "June 2026", wide="dropped"),
                Model("claude-fable-5-2", "Fable 5.2", "June 2026", wide="dropped"),
                *(model._replace(wide="dropped") for model in BASE.models[:4]),
                *_OLDER,
            ),
            "aliases": {
                "default": "claude-opus-5-5",
                "opus": "claude-opus-5-5",
                "best": "claude-opus-5-5",
                "sonnet": "claude-sonnet-5-5",
                "opusplan": "claude-sonnet-5-5",
                "haiku": "claude-haiku-5-5",
                "fable": "claude-fable-5-2",
            },
            "unnamed_author": "Claude Code",
            "worktree": _WORKTREE,
            "closing": _UNTRUSTED,
            "model_lines": False,
            "shell_form": "program",
            "status_trim": "right",
            "status_failed": "(unavailable)",
            "context_keys": ("gitStatus",),
            "context_after": _CONTEXT_AFTER,
            "section_after": AMBIENT,
            "user_types": (
                "context_sections",
                "directory",
                "file",
                "instructions",
                "nested_memory",
                "remote_session_change",
                "session_context",
            ),
            "tool_hooks": "with",
            "date_type": "date",
            "decodes_utf16": True,
            "binary": frozenset("apk avif dmg heic heif npy parquet pickle".split()),
            "file_fields": {"savedCopyFraming": {"enveloped": False}},
            "too_large": True,
            "server_limit": 4096,
            "texts": {
                **_TEXTS,
                **NEWER,
                "pr": "- End pull request descriptions with:\n{pr}",
                "remote_session_change": _ATTRIBUTION,
            },
        },
        topic="context",
    ),
)
HISTORY = ReleaseHistory(BASE, CHANGES)


def turn_context_of(agent: str) -> TurnContext:
    """The table of a release of Claude Code, chosen as its dialect is (`registry`)."""
    dialect = choose(agent).dialect
    if dialect.agent != "claude-code":
        raise UnknownAgent(f"what surrounds a turn of {dialect.agent} was not recorded; it was for: claude-code")
    return HISTORY.at(dialect.version)
