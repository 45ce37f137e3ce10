"""Listings: agents, skills, deferred tools and instructions of MCP servers, and what changes in them.

1. The first turn lists all; later turns say what was added and what is gone, so that the beginning of a conversation
   stays the same to the byte and a provider's cache of it stays valid. Without a change nothing is attached.
2. An agent is `- name: description (Tools: …)`, sorted by name without regard to case. A skill is
   `- name: description - when to use it`, cut at 1,536 characters; a skill that is gone is not mentioned.
3. A server whose instructions have changed is listed again (ours).
4. After a compaction the skills are listed again (`forget("skills")`).
5. What a stored conversation has listed is taken from its records (`resume`), so that nothing is listed twice.

Recorded, except for when tools and servers that go away are mentioned: a server that ended was not (ours).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from foretold.context.attachments import TurnAttachment
from foretold.sessions.formats.fields import list_at
from foretold.types import NamedTuple

LONGEST_DESCRIPTION = 1_536
#: type of a record -> what it lists, and its fields for what is new and what is gone
RECORDED = {
    "agent_listing_delta": ("agents", "addedTypes", "removedTypes"),
    "deferred_tools_delta": ("tools", "addedNames", "removedNames"),
    "mcp_instructions_delta": ("servers", "addedNames", "removedNames"),
    "skill_listing": ("skills", "names", ""),
}


class Agent(NamedTuple):
    """A kind of subagent. No tools named = all tools."""

    name: str
    description: str
    tools: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """
        >>> Agent("rev", "Reviews code", ("Read", "Grep")).line
        '- rev: Reviews code (Tools: Read, Grep)'
        """
        return f"- {self.name}: {self.description} (Tools: {', '.join(self.tools) or 'All tools'})"


class Skill(NamedTuple):
    """A skill: its name, what it is for, and when it is of use."""

    name: str
    description: str
    when: str = ""
    text: str = ""  #: what it teaches, for a harness whose model may ask for it
    folder: str = ""  #: where its files are

    @property
    def line(self) -> str:
        """
        >>> Skill("deploy", "How to deploy the app", "When asked to ship").line
        '- deploy: How to deploy the app - When asked to ship'
        """
        said = f"{self.description} - {self.when}" if self.when else self.description
        cut = said if len(said) <= LONGEST_DESCRIPTION else said[: LONGEST_DESCRIPTION - 1] + "…"
        return f"- {self.name}: {cut}"


class Listings:
    """What was listed in one conversation.

    >>> listings = Listings()
    >>> listings.agents([Agent("rev", "Reviews code")]).fields["isInitial"]
    True
    >>> listings.agents([Agent("rev", "Reviews code")]) is None
    True
    >>> listings.agents([Agent("fix", "Fixes code")]).fields["removedTypes"]
    ['rev']
    """

    __slots__ = ("_blocks", "_listed")

    def __init__(self) -> None:
        self._listed: dict[str, list[str]] = {}
        self._blocks: dict[str, str] = {}  #: what was said of each server

    def resume(self, attachments: Iterable[Mapping[str, object]]) -> None:
        """Take what was listed from the attachments of a conversation, in their order.

        >>> listings = Listings()
        >>> listings.resume([{"type": "deferred_tools_delta", "addedNames": ["Paint"], "removedNames": []}])
        >>> listings.tools(["Paint", "Draw"]).fields["addedNames"]
        ['Draw']
        """
        for given in attachments:
            if (keys := RECORDED.get(str(given.get("type")))) is None:
                continue
            kind, added, removed = keys
            gone, new = ([str(name) for name in list_at(given, key)] for key in (removed, added))
            known = [name for name in self._listed.get(kind, []) if name not in gone and name not in new]
            self._listed[kind] = [*known, *new]
            if kind == "servers":
                blocks = map(str, list_at(given, "addedBlocks"))
                self._blocks |= dict(zip(new, blocks, strict=False))

    def names(self, kind: str) -> tuple[str, ...]:
        """What was listed of agents, skills, tools or servers."""
        return tuple(self._listed.get(kind, ()))

    def copy(self) -> Listings:
        """The listings of a fork."""
        other = Listings()
        other._listed = {kind: list(names) for kind, names in self._listed.items()}
        other._blocks = dict(self._blocks)
        return other

    def forget(self, kind: str | None = None) -> None:
        """Start over with agents, skills, tools or servers; with all of them if none is named."""
        for each in [kind] if kind else list(self._listed):
            self._listed.pop(each, None)
        if kind in (None, "servers"):
            self._blocks.clear()

    def _find_changes(self, kind: str, names: list[str]) -> tuple[list[str], list[str], bool]:
        before = self._listed.get(kind)
        self._listed[kind] = names
        known = before or []
        return [name for name in names if name not in known], [name for name in known if name not in names], not before

    def agents(self, agents: Iterable[Agent]) -> TurnAttachment | None:
        """The kinds of subagents that there are now."""
        by_name = {agent.name: agent for agent in sorted(agents, key=lambda agent: agent.name.lower())}
        added, gone, first = self._find_changes("agents", list(by_name))
        fields = {
            "addedTypes": added,
            "addedLines": [by_name[name].line for name in added],
            "removedTypes": gone,
            "isInitial": first,
            "showConcurrencyNote": True,
        }
        return TurnAttachment("agent_listing_delta", fields) if added or gone else None

    def skills(self, skills: Iterable[Skill]) -> TurnAttachment | None:
        """The skills that there are now, in the order given."""
        by_name = {skill.name: skill for skill in skills}
        known = self._listed.get("skills", [])
        added, _, first = self._find_changes("skills", [*known, *(name for name in by_name if name not in known)])
        content = "\n".join(by_name[name].line for name in added)
        fields = {"content": content, "skillCount": len(added), "isInitial": first, "names": added}
        return TurnAttachment("skill_listing", fields) if added else None

    def tools(self, names: Iterable[str]) -> TurnAttachment | None:
        """The tools whose schemas are loaded when they are asked for."""
        added, gone, _ = self._find_changes("tools", list(dict.fromkeys(names)))
        fields = {"addedNames": added, "addedLines": added, "removedNames": gone}
        return TurnAttachment("deferred_tools_delta", fields) if added or gone else None

    def servers(self, instructions: Mapping[str, str]) -> TurnAttachment | None:
        """The MCP servers that are connected now, with their instructions; those without any do not count."""
        said = {name: text for name, text in instructions.items() if text}
        blocks = {name: f"## {name}\n{text}" for name, text in said.items()}
        added, gone, _ = self._find_changes("servers", list(said))
        added = [name for name in said if name in added or self._blocks.get(name) != blocks[name]]
        self._blocks = blocks
        fields = {"addedNames": added, "addedBlocks": [blocks[name] for name in added], "removedNames": gone}
        return TurnAttachment("mcp_instructions_delta", fields) if added or gone else None


def ranked_skills(prompt: str, skills: Iterable[Skill], limit: int = 5) -> list[Skill]:
    """The skills that a prompt is about, the best first, ranked as recall does (`memory.recall.ranking`).

    >>> skills = [Skill("deploy", "How to ship the app"), Skill("pdf", "Reading and filling PDF forms")]
    >>> [skill.name for skill in ranked_skills("please fill in this form", skills)]
    ['pdf']
    """
    import json

    from foretold.memory.note import read_note
    from foretold.memory.recall.index import find_among, make_query
    from foretold.memory.recall.query import word_groups
    from foretold.memory.recall.ranking import rank

    given = list(skills)
    notes = []
    for number, skill in enumerate(given):
        head = f"---\nname: {json.dumps(skill.name)}\ndescription: {json.dumps(skill.description)}\n---\n"
        notes.append(read_note(f"{number}.md", f"{head}{skill.when}\n".encode()))
    query = make_query(word_groups(prompt))
    marks = rank(query, [find_among(notes, query)])
    return [given[int(mark.candidate.file.removesuffix(".md"))] for mark in marks[:limit]]


def ranked_attachment(prompt: str, skills: Iterable[Skill], limit: int = 5) -> TurnAttachment | None:
    """The skills that a prompt is about, as an attachment of ours; None if it is about none."""
    best = ranked_skills(prompt, skills, limit)
    fields = {"content": "\n".join(skill.line for skill in best), "names": [skill.name for skill in best]}
    return TurnAttachment("ranked_skills", fields) if best else None
