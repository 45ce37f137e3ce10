"""PreToolUse: who may write memories.

1. A call that would change a file in a folder of memories is judged by the write policy (`memory.write_policy`). A
   shell command that only reads is let through.
2. Nothing is ever allowed here that the agent itself would refuse or ask about.
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

#: commands that change nothing, whatever follows them; one that writes into a file does so by a redirection
READING = frozenset(
    "[ basename cat cd cksum cmp column comm cut diff dirname du echo egrep false fgrep file find fold getfattr grep "
    "head jq less ls md5sum more nl od printf pwd readlink realpath rg sha256sum stat strings tail test tr true uniq "
    "wc which xxd zcat".split()
)
GIT = frozenset("add blame commit diff log ls-files push show status".split())  #: these leave the files as they are
TEXTS = frozenset("content new_string text edits".split())  #: fields with which an unknown tool writes a file
WRITING_FLAGS = ("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls")


def handle(context: HookContext) -> HookOutput:
    """The verdict on a tool call."""
    if not context.settings.guard:
        return context.say_nothing("memory policy: switched off (hooks.guard)")
    touch = touch_of(context)
    inside = [(path, scope) for path in touch.paths if (scope := scope_of(path, context))]
    if touch.tool == "Bash" and touch.command:
        inside = inside or _named_folders(touch.command, context)
        if inside and only_reads(touch.command):
            return context.say_nothing("memory policy: the command only reads")
    elif touch.tool not in WRITES and not TEXTS & table_of(context.payload, "tool_input").keys():
        inside = []
    if not inside:
        return context.say_nothing("memory policy: the call writes no memory")
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


def _judge(context: HookContext, touch: Touch, inside: list[tuple[str, str]]) -> HookOutput:
    from foretold.memory.write_policy import decide_write, written_text

    text = written_text({**table_of(context.payload, "tool_input"), "command": touch.command})
    policy = context.place.policy
    found = decide_write(policy, text, is_team=any(scope == "team" for _, scope in inside))
    context.why.append(f"memory policy: {found.note or f'{policy}, for {inside[0][0]}'}")
    return HookOutput(verdict=found.decision, reason=found.reason) if found.decision else NO_OUTPUT
