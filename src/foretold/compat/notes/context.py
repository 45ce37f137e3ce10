"""What surrounds a turn, as the notes describe it: parts of the system prompt, the user context, attachments.

1. `fetch_system_prompt_parts` gives the sections of a system prompt by name, and the user context as a dictionary whose
   keys the notes name. `user_context_message` flattens it: the environment in `<env>`, then `# key` and its text.
2. Attachments are texts in `<system-reminder>`, each pushed by a trigger: nested CLAUDE.md files, skills, agents,
   deferred tools, instructions of MCP servers. What was listed once is not listed again; changes are.
3. Two late sections say that old results of tools are cleared, and what to do about it. The clearing itself is
   `foretold.context.clear_results`, on our side, so it does not depend on the model.
4. Attribution comes from settings, and goes into the section about commits. Undercover there is none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, Unpack

from foretold.compat.claude_prompt import TEXTS, env_block, env_values
from foretold.compat.notes.instructions import NestedMemory, ask_notes, in_reminder, load_claude_md
from foretold.compat.notes.memory import load_memory_prompt
from foretold.compat.notes.places import RECORDED, NotesOptions, Surrounding, surrounding_of
from foretold.context.attachments import TurnAttachment, texts
from foretold.context.attribution import Attribution, attribution, attribution_lines, read_attribution
from foretold.context.compaction.clearing import CLEARS, SUMMARISE
from foretold.context.definitions import read_definitions
from foretold.context.environment import Environment, environment_of
from foretold.context.git import git_status
from foretold.context.listings import Agent, Listings, Skill, ranked_attachment
from foretold.dialects.claude_code.agents import BUILT_IN, AgentType
from foretold.dialects.claude_code.context import turn_context_of
from foretold.dialects.registry import DEFAULT_AGENT

SUMMARIZE_TOOL_RESULTS_SECTION = SUMMARISE
SKILL_SEARCH = "EXPERIMENTAL_SKILL_SEARCH"
AGENT_LIST = "tengu_agent_list_attach"
COMMITS = "# Commits and pull requests"


class SystemPromptParts(NamedTuple):
    """The parts from which requests of a conversation begin."""

    system_prompt: dict[str, str]  #: section -> text, in their order; those without text are not there
    user_context: dict[str, str]
    environment: Environment


def fetch_system_prompt_parts(
    query: str = "",
    *,
    system: str = "",
    model: str = "",
    cleared: int | None = None,
    summarize: bool | None = None,
    undercover: bool = False,
    **options: Unpack[NotesOptions],
) -> SystemPromptParts:
    """The sections of the system prompt and the user context of a turn.

    `query` is what the memories of the memory prompt should be about. `cleared` is how many results of tools stay,
    where old ones are cleared. `summarize` is the section about writing down what results say: without it, it is there
    where results are cleared.
    """
    _, request = ask_notes(**options)
    env, where = options.get("env"), surrounding_of(options)
    around = environment_of(request.cwd, agent=DEFAULT_AGENT, env=env, add_dirs=request.add_dirs, model=model)
    git = git_status(request.cwd, env=env) if around.is_git else None
    written = get_attribution(options.get("settings"), model=model, undercover=undercover, **where)
    is_summarizing = cleared is not None if summarize is None else summarize
    sections = {
        "system": system,
        "memory": load_memory_prompt(query, **where),
        "git_commit": get_git_commit_section(written),
        "function_result_clearing": get_function_result_clearing_section(model, keep=cleared),
        "summarize_tool_results": SUMMARIZE_TOOL_RESULTS_SECTION if is_summarizing else "",
    }
    context = env_values(around, git if written.git_status_block else None)
    context |= {"claudeMd": load_claude_md(**options).text or "", "currentDate": f"Today's date is {request.date}."}
    kept = {name: text for name, text in sections.items() if text}
    return SystemPromptParts(kept, {key: text for key, text in context.items() if text}, around)


def user_context_message(user_context: Mapping[str, str]) -> dict[str, object]:
    """The user context as one message of the user, for the start of a conversation.

    >>> print(user_context_message({"Working directory": "/w", "claudeMd": "Use tabs."})["content"])
    <env>
    Working directory: /w
    </env>
    <BLANKLINE>
    # claudeMd
    Use tabs.
    """
    parts = [env_block(user_context)] if any(key not in TEXTS for key in user_context) else []
    parts += [f"# {key}\n{text}" for key, text in user_context.items() if key in TEXTS]
    return {"role": "user", "content": "\n\n".join(parts)}


def get_function_result_clearing_section(
    model: str = "",  # noqa: ARG001 - the signature of the original
    *,
    keep: int | None = 3,
) -> str | None:
    """What the model is told about results that are cleared; None where they are not (`keep=None`).

    The model does not matter: `foretold.context.clear_results` clears them before they are sent to any.
    """
    return None if keep is None else CLEARS.format(keep=keep)


def get_attribution(
    settings: Mapping[str, object] | None = None,
    *,
    model: str = "",
    undercover: bool = False,
    **options: Unpack[Surrounding],
) -> Attribution:
    """What is written at the end of commits and pull requests, by some settings, else by those of the project.

    >>> get_attribution({}, model="claude-sonnet-4-5").commit
    'Co-Authored-By: Claude Sonnet 4.5 <noreply@anthropic.com>'
    >>> get_attribution({}, model="claude-sonnet-4-5", undercover=True).commit is None
    True
    """
    if settings is None:
        found = read_attribution(agent=DEFAULT_AGENT, model=model, **options)
    else:
        found = attribution(settings, agent=DEFAULT_AGENT, model=model, env=options.get("env"))
    return found._replace(commit=None, pr=None) if undercover else found


def get_git_commit_section(found: Attribution) -> str:
    """The section about commits that asks for an attribution; empty if there is none to ask for."""
    lines = attribution_lines(found, turn_context_of(RECORDED))
    return "\n".join([COMMITS, "", *lines]) if lines else ""


class TurnReminders:
    """The attachments of one conversation: what is pushed with a turn, each text in its `<system-reminder>`.

    Agents and skills are those of files (`.claude/agents`, `.claude/skills`), and the agents that are built in, unless
    others are given. Deferred tools and servers are those that were given last.
    """

    def __init__(
        self, *, features: Collection[str] = (), flags: Collection[str] = (), **options: Unpack[NotesOptions]
    ) -> None:
        self.features, self.flags = features, flags
        self.nested, self.listings = NestedMemory(**options), Listings()
        self._tree = options.get("tree")
        self._agents: list[Agent] | None = None  #: those that were given last
        self._skills: list[Skill] | None = None

    def file_read(self, path: str) -> None:
        """The Read tool has read a file: with the next turn its folder's CLAUDE.md comes."""
        self.nested.file_read(path)

    def attach(
        self,
        prompt: str = "",
        *,
        skills: Iterable[Skill] | None = None,
        agents: Iterable[Agent | AgentType] | None = None,
        deferred_tools: Iterable[str] | None = None,
        mcp_instructions: Mapping[str, str] | None = None,
    ) -> list[str]:
        """What is attached to a turn.

        Skills that the prompt is about need the feature `EXPERIMENTAL_SKILL_SEARCH`, the list of agents the flag
        `tengu_agent_list_attach`. A list that is given is that of now: what changed since the last turn is said. One
        that is left out stays as it was.
        """
        self._agents = self._agents if agents is None else [_agent_of(each) for each in agents]
        self._skills = self._skills if skills is None else [_skill_of(each) for each in skills]
        pushed = [
            ranked_attachment(prompt, self._known_skills()) if SKILL_SEARCH in self.features else None,
            self.listings.agents(self._known_agents()) if AGENT_LIST in self.flags else None,
            None if deferred_tools is None else self.listings.tools(_names_of(deferred_tools)),
            None if mcp_instructions is None else self.listings.servers(mcp_instructions),
        ]
        return [*self.nested.next_turn(), *(text for each in pushed if each for text in _reminders(each))]

    def _known_agents(self) -> list[Agent]:
        if self._agents is not None:
            return self._agents
        found = read_definitions(self.nested.surroundings, skills=False, tree=self._tree).agents
        return [_agent_of(each) for each in ({each.name: each for each in BUILT_IN} | dict(found)).values()]

    def _known_skills(self) -> list[Skill]:
        if self._skills is not None:
            return self._skills
        return list(read_definitions(self.nested.surroundings, agents=False, tree=self._tree).skills.values())


def _agent_of(given: Agent | AgentType) -> Agent:
    if isinstance(given, AgentType):
        return Agent(given.name, given.description, (given.tools_text,))
    if not isinstance(given, Agent):
        raise TypeError(f"agents are foretold.context.Agent(name, description), not {given!r}")
    return given


def _skill_of(given: Skill) -> Skill:
    if not isinstance(given, Skill):
        raise TypeError(f"skills are foretold.context.Skill(name, description), not {given!r}")
    return given


def _names_of(given: Iterable[str]) -> list[str]:
    names = [given] if isinstance(given, str) else list(given)
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise TypeError(f"deferred_tools are names of tools, not {wrong[0]!r}")
    return names


def _reminders(attachment: TurnAttachment) -> list[str]:
    return [in_reminder(text) for text in texts(attachment, turn_context_of(RECORDED))]
