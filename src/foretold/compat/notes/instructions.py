"""CLAUDE.md, as the notes describe it: layers, `@include`, nested files, agents without it.

1. The dialect is `notes`: the layers of Claude Code in their order, with `@include path`.
2. What was loaded is cached until `clear_claude_md_cache`, which `/clear` and `/compact` call. The cached text is there
   for whoever must not load it, such as a permission check that runs while it is loaded.
3. A Read of a file in a folder with a CLAUDE.md is a trigger. With the next turn that CLAUDE.md is attached, once, in a
   `<system-reminder>`.
4. The index of memories is not part of this text: `load_memory_prompt` has it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, Unpack

from foretold.compat.notes.places import NotesOptions
from foretold.dialects.registry import DialectChoice, make_request
from foretold.dialects.seeds.notes import V1
from foretold.dialects.surroundings import LoadRequest
from foretold.instructions.load import load_view, request_key, require_folder
from foretold.instructions.render.blocks import CLOSE, OPEN
from foretold.instructions.render.escape import escape_tag
from foretold.instructions.session import Session
from foretold.instructions.view import View
from foretold.storage.tree import Disk

DIALECT = V1._replace(start=tuple(source for source in V1.start if source.kind != "index"))


class BuiltInAgentDefinition(NamedTuple):
    """A kind of subagent that an agent brings along."""

    agent_type: str
    omit_claude_md: bool = False


BUILT_IN_AGENTS = (
    *(BuiltInAgentDefinition(name, omit_claude_md=True) for name in DIALECT.subagents_without),
    BuiltInAgentDefinition("general-purpose"),
)

_cached: dict[Hashable, View] = {}


def ask_notes(**options: Unpack[NotesOptions]) -> tuple[DialectChoice, LoadRequest]:
    """A question to the engine, in the dialect of the notes."""
    cwd = options.pop("cwd", ".")
    options.pop("tree", None)  # the question does not depend on it
    choice, request = make_request(cwd, DIALECT.agent, **options)  # type: ignore[arg-type,misc]
    return choice._replace(dialect=DIALECT), request._replace(dialect=DIALECT)


def load_claude_md(**options: Unpack[NotesOptions]) -> View:
    """The CLAUDE.md files of a session, in the order of their layers, and all that was not taken, with reasons.

    `.text` is what the model receives. NotAFolder if `cwd` is not there. The answer to the same question is cached.
    """
    choice, request = ask_notes(**options)
    tree = options.get("tree")
    require_folder(Disk() if tree is None else tree, request)
    if tree is not None:
        return load_view(tree, choice, request)
    key = request_key(choice, request._replace(date=""))
    if key not in _cached:
        _cached[key] = load_view(Disk(), choice, request)
    return _cached[key]


def cached_claude_md_content(**options: Unpack[NotesOptions]) -> str | None:
    """The text that was loaded last for these options; None if none was. It reads no file.

    >>> cached_claude_md_content(cwd="/", home="/nowhere", managed="/nowhere", env={"A": "never loaded"}) is None
    True
    """
    choice, request = ask_notes(**options)
    view = _cached.get(request_key(choice, request._replace(date="")))
    return None if view is None else view.text or ""


def clear_claude_md_cache() -> int:
    """Forget what was loaded, as `/clear` and `/compact` do; how many texts that were."""
    count = len(_cached)
    _cached.clear()
    return count


def omit_claude_md(agent_type: str | BuiltInAgentDefinition) -> bool:
    """Whether a kind of subagent, by its name or its definition, gets no CLAUDE.md: it only reads.

    >>> omit_claude_md("Explore"), omit_claude_md("Plan"), omit_claude_md("general-purpose")
    (True, True, False)
    """
    if isinstance(agent_type, BuiltInAgentDefinition):
        return agent_type.omit_claude_md
    return agent_type in DIALECT.subagents_without


def claude_md_of_agent(agent_type: str | BuiltInAgentDefinition, **options: Unpack[NotesOptions]) -> str:
    """The CLAUDE.md text that a kind of subagent gets; empty if it gets none."""
    return "" if omit_claude_md(agent_type) else load_claude_md(**options).text or ""


def nested_memory_attachment_triggers(path: str, **options: Unpack[NotesOptions]) -> list[str]:
    """The files that a Read of a path would bring with the next turn, in a conversation that has read nothing yet."""
    session = Session.of(*ask_notes(**options), options.get("tree"))
    session.start()
    return [entry.path for entry in session.read(path).entries]


class NestedMemory:
    """The nested CLAUDE.md files of one conversation: a Read is a trigger, the next turn attaches."""

    def __init__(self, **options: Unpack[NotesOptions]) -> None:
        choice, request = ask_notes(**options)
        tree = options.get("tree")
        require_folder(Disk() if tree is None else tree, request)
        self.session = Session.of(choice, request, tree)
        self.surroundings = self.session.start().surroundings
        self.nested_memory_attachment_triggers: list[str] = []  #: files that were read since the last turn

    def file_read(self, path: str) -> None:
        """The Read tool has read a file."""
        self.nested_memory_attachment_triggers.append(path)

    def next_turn(self) -> list[str]:
        """What is attached now, each in its `<system-reminder>`; the triggers are spent."""
        triggers, self.nested_memory_attachment_triggers = self.nested_memory_attachment_triggers, []
        entries = [entry for path in triggers for entry in self.session.read(path).entries]
        return [in_reminder(DIALECT.template.nested.format(path=entry.path, text=entry.text)) for entry in entries]


def in_reminder(text: str) -> str:
    """A text in its `<system-reminder>`, which it cannot close."""
    return f"{OPEN}{escape_tag(text, 'system-reminder')}{CLOSE}"
