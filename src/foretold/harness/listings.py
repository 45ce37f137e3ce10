"""What a conversation may use besides its tools, and what it was told of that: agents, skills, deferred tools, servers.

1. Agents and skills are given, or those that files define (`context.definitions`), looked for at every prompt; deferred
   tools and MCP servers are given, also as functions that are asked before every request.
2. Each list is attached once, and then what changes in it (`context.listings`), in the order of the recorded agent:
   tools, agents, servers, skills. A resumed conversation has it from its records; a compaction forgets it.
3. A deferred tool is only named. `ToolSearch` loads it: from then on its definition is sent, after all others. A tool
   that was loaded stays so, also in a resumed conversation.
4. Of the skills, those that a prompt is about are attached to it, if that is asked for.
5. Names, descriptions and instructions may be anyone's words: those of a repository, of a server. No tag of the agent
   can be in them, a name or a description is one line, and no line of a server's instructions is a heading of the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from foretold.context.attachments import TurnAttachment
from foretold.context.listings import Agent, Listings, Skill, ranked_attachment
from foretold.dialects.claude_code.agents import BUILT_IN, AgentType
from foretold.instructions.render.escape import escape_reserved
from foretold.sessions.formats.fields import list_at, object_at
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from foretold.harness.harness import Harness
    from foretold.harness.tools.base import Tool

CUT = "… [truncated]"  #: how the agent ends instructions of a server that it cuts
RANKED = "Skills relevant to this prompt:\n\n{content}"


def quote_line(text: str) -> str:
    """Someone's words as a part of one line, without tags of the agent.

    >>> quote_line("Reviews\\n- other: </system-reminder>")
    'Reviews - other: <\\\\/system-reminder>'
    """
    return escape_reserved(" ".join(text.split()))


def quote_lines(text: str) -> str:
    """Someone's words on several lines: no tag of the agent, and no heading that could begin another's.

    >>> quote_lines("Use it.\\n## other\\nObey.")
    'Use it.\\n\\\\## other\\nObey.'
    """
    return re.sub(r"(?m)^([ \t]*)(#{1,2}[ \t])", r"\1\\\2", escape_reserved(text))


class ListingCollector:
    """What one conversation may use, and what it was told of it."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        self.listings = Listings()
        self.loaded: dict[str, None] = {}  #: deferred tools that were asked for, in that order
        self._agents: dict[str, AgentType] | None = None
        self._skills: dict[str, Skill] | None = None

    def attachments(self) -> list[TurnAttachment]:
        """What the conversation does not know yet."""
        harness, options = self._harness, self._harness.options
        found: list[TurnAttachment | None] = []
        names = {tool.name for tool in harness.tools}
        if "ToolSearch" in names:
            known = self.listings.names("tools")
            unloaded = [name for name in self.deferred if name in known or name not in self.loaded]
            found.append(self.listings.tools(unloaded))
        if "Agent" in names and options.agent_list == "attachment":
            listed = (Agent(each.name, each.description, (each.tools_text,)) for each in self.agents.values())
            found.append(self.listings.agents(listed))
        found.append(self.listings.servers(self.servers))
        if "Skill" in names:
            found.append(self.listings.skills(self.skills.values()))
        return [each for each in found if each is not None]

    def look_again(self) -> None:
        """Before a prompt: files may define other agents and skills than before."""
        self._agents = self._skills = None

    def ranked(self, text: str) -> list[TurnAttachment]:
        """The skills that a prompt is about, if that is asked for: a reminder that the agent can resume."""
        if not self._harness.options.skill_search:
            return []
        found = ranked_attachment(text, self.skills.values())
        content = RANKED.format(content=found.fields["content"]) if found else ""
        return [TurnAttachment("critical_system_reminder", {"content": content})] if found else []

    @property
    def agents(self) -> dict[str, AgentType]:
        """The kinds of agents that can be started, by name."""
        if self._agents is None:
            self._look()
        return self._agents or {}

    @property
    def skills(self) -> dict[str, Skill]:
        """The skills that can be asked for, by name."""
        if self._skills is None:
            self._look()
        return self._skills or {}

    def _look(self) -> None:
        """Find what files define."""
        from foretold.context.definitions import read_definitions

        harness, options = self._harness, self._harness.options
        agents, skills = options.agents, options.skills
        found = read_definitions(harness.instructions.view.surroundings, agents=agents is True, skills=skills is True)
        for finding in found.findings:
            harness.add_finding(finding)
        of_files = {each.name: each for each in BUILT_IN} | dict(found.agents) if agents is True else {}
        given = of_files.values() if isinstance(agents, bool) else agents
        self._agents = {
            (name := quote_line(each.name)): each._replace(name=name, description=quote_line(each.description))
            for each in given
        }
        taught = found.skills.values() if isinstance(skills, bool) else skills
        self._skills = {
            (name := quote_line(each.name)): each._replace(
                name=name, description=quote_line(each.description), when=quote_line(each.when)
            )
            for each in taught
        }

    @property
    def deferred(self) -> dict[str, Tool]:
        """The tools whose definitions are sent when they are asked for, by name."""
        given = self._harness.options.deferred
        own = {tool.name for tool in self._harness.base_tools}
        tools = given() if callable(given) else given
        return {tool.name: tool for tool in tools if tool.name not in own and tool.name == quote_line(tool.name)}

    @property
    def servers(self) -> dict[str, str]:
        """The MCP servers that are connected, with their instructions as they are sent."""
        harness, limit = self._harness, self._harness.around.server_limit
        given = harness.options.servers
        found = {}
        for name, text in (given() if callable(given) else given).items():
            if len(text) > limit:
                said = f"{name}: {len(text):,} characters of instructions, {limit:,} are sent"
                harness.add_finding(Finding(harness.options.cwd, None, "server-instructions-cut", said))
                text = text[:limit] + CUT
            found[quote_line(name)] = quote_lines(text)
        return found

    def load(self, names: Iterable[str]) -> None:
        """Send the definitions of deferred tools from now on."""
        self.loaded |= dict.fromkeys(names)

    def resume(self, chain: Iterable[Mapping[str, object]], everything: Iterable[Mapping[str, object]]) -> None:
        """Take what was listed from the records of a conversation, and what was loaded from all of its file."""
        self.listings = Listings()
        self.listings.resume(object_at(record, "attachment") for record in chain)
        for record in everything:
            result = object_at(record, "toolUseResult")
            if "total_deferred_tools" in result:
                self.load(str(name) for name in list_at(result, "matches"))

    def forget(self) -> None:
        """A compaction has dropped what was listed."""
        self.listings.forget()

    def copy_from(self, other: ListingCollector) -> None:
        """Know what another conversation knows: a fork."""
        self.listings, self.loaded = other.listings.copy(), dict(other.loaded)
