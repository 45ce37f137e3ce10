"""PreToolUse: who may write memories.

1. A call that would change a file in a memory folder is judged by the policy: `read-only` and `manual` refuse it,
   `confirm` asks the user, `auto` allows it, but asks for the team's. A shell command that only reads is allowed.
2. A credential is refused in every memory; the message has its kind, never its text.
3. The team's folder accepts no memory of type `user`: that is about a person.
4. Nothing is ever allowed here that the agent itself would refuse or ask about.
"""

from __future__ import annotations

import os

from foretold.serve.hooks.agent_protocols import NO_OUTPUT, HookOutput
from foretold.serve.hooks.events.touched_files import WRITES, touch_of
from foretold.serve.hooks.json import table_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.serve.hooks.context import HookContext
    from foretold.serve.hooks.events.touched_files import Touch

REFUSALS = {
    "read-only": "The memories of this project are read-only (memory.policy). Do not write them.",
    "manual": "The memories of this project are written by the user alone (memory.policy). Tell the user what you "
    "would remember, and why: they can add it with `foretold memory add`.",
}
ASKS = "The memories of this project are changed with the user's consent (memory.policy)."
TEAM = "What is written here is shared with everyone who works on this repository."
#: commands that change nothing, whatever follows them; one that writes into a file does so by a redirection
READING = frozenset(
    "[ basename cat cd cksum cmp column comm cut diff dirname du echo egrep false fgrep file find fold getfattr grep "
    "head jq less ls md5sum more nl od printf pwd readlink realpath rg sha256sum stat strings tail test tr true uniq "
    "wc which xxd zcat".split()
)
GIT = frozenset("add blame commit diff log ls-files push show status".split())  #: these leave the files as they are
WRITING_FLAGS = ("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls")


def handle(context: HookContext) -> HookOutput:
    """The verdict on a tool call."""
    if not context.settings.guard:
        context.why.append("memory policy: switched off (hooks.guard)")
        return NO_OUTPUT
    touch = touch_of(context)
    inside = [(path, scope) for path in touch.paths if (scope := scope_of(path, context))]
    if touch.tool == "Bash" and touch.command:
        inside = inside or _named_folders(touch.command, context)
        if inside and only_reads(touch.command):
            context.why.append("memory policy: the command only reads")
            return NO_OUTPUT
    elif touch.tool not in WRITES and not _has_text(context):
        inside = []
    if not inside:
        context.why.append("memory policy: the call writes no memory")
        return NO_OUTPUT
    return _judge(context, touch, inside)


def scope_of(path: str, context: HookContext) -> str:
    """The scope of the store that a path is in; empty if it is in none."""
    for folder, scope in context.place.stores:
        for spelling in {folder, os.path.realpath(folder)}:
            if path == spelling or path.startswith(spelling.rstrip("/") + "/"):
                return scope
    real = os.path.realpath(path)
    for folder, scope in context.place.stores:
        if real.startswith(os.path.realpath(folder).rstrip("/") + "/"):
            return scope
    return ""


def _named_folders(command: str, context: HookContext) -> list[tuple[str, str]]:
    """Memory folders that a command names, but not as a word that is a path."""
    home = context.caller.home.rstrip("/")
    plain = command.replace("${HOME}", home).replace("$HOME", home).replace("~/", f"{home}/").replace("\\", "")
    return [(folder, scope) for folder, scope in context.place.stores if folder in plain]


def only_reads(command: str) -> bool:
    """Whether a shell command plainly changes nothing.

    >>> only_reads("cat a.md | grep -n x 2>/dev/null && ls"), only_reads("cat a > b"), only_reads("find . -delete")
    (True, False, False)
    """
    quiet = command
    for harmless in ("2>&1", "2>/dev/null", "2> /dev/null", ">/dev/null", "> /dev/null"):
        quiet = quiet.replace(harmless, " ")
    if any(mark in quiet for mark in (">", "`", "$(", "<(")):
        return False
    for mark in ("&&", "||", ";", "|", "&", "\n"):
        quiet = quiet.replace(mark, "\n")
    for line in quiet.split("\n"):
        words = line.replace("(", " ").replace(")", " ").split()
        is_quiet = not words or words[0] in READING or (words[0] == "git" and words[1:2] != [] and words[1] in GIT)
        if not is_quiet or any(word in WRITING_FLAGS for word in words):
            return False
    return True


def _has_text(context: HookContext) -> bool:
    """Whether a call of an unknown tool has text for a file."""
    return any(key in table_of(context.payload, "tool_input") for key in ("content", "new_string", "text", "edits"))


def _judge(context: HookContext, touch: Touch, inside: list[tuple[str, str]]) -> HookOutput:
    text = _text_of(context, touch)
    kinds = _credentials(text)
    if kinds:
        reason = f"This looks like a credential ({', '.join(kinds)}), and memories are sent to models: leave it out."
        context.why.append(f"memory policy: a credential, {', '.join(kinds)}")
        return HookOutput(verdict="deny", reason=reason)
    is_team = any(scope == "team" for _, scope in inside)
    if is_team and _is_personal(text):
        reason = "A memory of type user is about a person, and is not shared with the team. Keep it private."
        return HookOutput(verdict="deny", reason=reason)
    policy = context.place.policy
    context.why.append(f"memory policy: {policy}, for {inside[0][0]}")
    if policy in REFUSALS:
        return HookOutput(verdict="deny", reason=REFUSALS[policy])
    if is_team or policy == "confirm":
        return HookOutput(verdict="ask", reason=TEAM if is_team else ASKS)
    return NO_OUTPUT


def _text_of(context: HookContext, touch: Touch) -> str:
    """All the text that a call would write, as far as the call contains it."""
    given = table_of(context.payload, "tool_input")
    parts = [touch.command, *(str(given.get(key) or "") for key in ("content", "new_string", "new_source", "text"))]
    edits = given.get("edits")
    if isinstance(edits, list):
        parts += [str(edit.get("new_string") or "") for edit in edits if isinstance(edit, dict)]
    return "\n".join(part for part in parts if part)


def _credentials(text: str) -> list[str]:
    if not text:
        return []
    from foretold.secrets.forms import credentials_in

    return list(dict.fromkeys(found.kind for found in credentials_in(text)))


def _is_personal(text: str) -> bool:
    from foretold.memory.note import read_note

    return read_note("note.md", text.encode("utf-8", "replace")).type == "user"
