"""foretold in claude-agent-sdk: `ClaudeAgentOptions(**claude_options("."))`.

The SDK runs Claude Code, which loads instructions and its own memory index itself. This adds what it does not do:

1. The index of the team's memories, at the end of the system prompt.
2. With each prompt, the memories that it is about (hook UserPromptSubmit).
3. When a tool that is not one of the agent's own touches a file, the instructions of its folders and the rules for it,
   which the agent does not attach then (PostToolUse). After a compaction they are attached again (PreCompact).
4. What the agent writes into a folder of memories is subject to the user's policy (PreToolUse, `memory.write_policy`).
5. With a model, memories are extracted at the end of a turn (Stop).
6. Sessions are kept in files of ours, from which any process resumes them (`ClaudeSessionStore`). The SDK resumes in a
   temporary configuration folder, where the agent finds neither the user's instructions nor its memory index and tells
   the model that they are gone (seen with 2.1.325); so the first prompt carries them.

A hook never fails: what went wrong is a finding. Hooks that are given stay, and come first. The options may serve many
sessions, one after the other or at once, each with its own conversation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from foretold.adapters.claude_store import ClaudeSessionStore, in_thread, sdk_of
from foretold.adapters.conversation import Conversation, Conversations
from foretold.instructions.view import View
from foretold.memory.write_policy import WriteDecision, decide_write, written_text
from foretold.storage.tree import is_inside
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from typing import Any

    from foretold.memory.extraction.gate import Gate
    from foretold.memory.project import Memories
    from foretold.models.protocol import Model

    Said = Mapping[str, Any]

__all__ = ["ClaudeSessionStore", "claude_options"]

PRESET = {"type": "preset", "preset": "claude_code"}
SOURCES = ("user", "project", "local")  #: what the SDK loads by default
HOME = ("user", "memory")  #: layers that lie in the configuration folder
PATIENCE = {"Stop": 600.0}  #: seconds; a model is asked there
MOST = 256  #: sessions that are followed at once
#: tools that write a file, with the input that names it
WRITERS = {"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}


def claude_options(
    cwd: str | os.PathLike[str] = ".",
    *,
    system_prompt: str | None = None,
    hooks: Mapping[str, list[Any]] | None = None,
    session_store: Any = None,
    setting_sources: list[str] | None = None,
    extract: Model | None = None,
    gate: Gate | None = None,
    **options: Any,
) -> dict[str, Any]:
    """What `ClaudeAgentOptions` takes: `cwd`, `system_prompt`, `hooks` and `session_store`.

    Without a `system_prompt` of your own it is Claude Code's. `session_store` is another store, or False for none.
    `setting_sources` is the SDK's: what it bars, the user's files or the project's, is not added here either.
    `extract` is a model that extracts memories at the end of turns, as often as `gate` says. `options` are those of
    `Conversation`: `recall`, `team`, `budget`, `findings`, `home`, …

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> sorted(claude_options(folder, home=folder, env={}))
    ['cwd', 'hooks', 'session_store', 'system_prompt']
    """
    sdk = sdk_of()
    findings = options["findings"] = [] if options.get("findings") is None else options["findings"]
    sources = SOURCES if setting_sources is None else tuple(setting_sources)
    options["team"] = options.get("team", True) and "project" in sources
    talk = Conversation(cwd, **options)
    made: dict[str, Any] = {"cwd": talk.cwd, "system_prompt": _prompt(system_prompt, talk.team_index())}
    if setting_sources is not None:
        made["setting_sources"] = setting_sources
    ours = ConversationHooks(talk.cwd, options, sources, extract, gate)
    made["hooks"] = {event: list((hooks or {}).get(event, ())) for event in {**(hooks or {}), **ours.events}}
    for event, hook in ours.events.items():
        made["hooks"][event].append(sdk.HookMatcher(hooks=[hook], timeout=PATIENCE.get(event)))
    if session_store is None:
        home = options.get("home")
        where = {"home": None if home is None else os.fspath(home), "env": options.get("env")}
        session_store = ClaudeSessionStore(**where, findings=findings)
    return {**made, "session_store": session_store} if session_store else made


def _prompt(own: str | None, team: str) -> Any:
    if own is not None:
        return "\n\n".join(text for text in (own, team) if text)
    return {**PRESET, "append": team} if team else dict(PRESET)


class ConversationHooks:
    """The hooks, and the conversations that they follow: by session, and within it by subagent."""

    def __init__(
        self, cwd: str, options: dict[str, Any], sources: tuple[str, ...], model: Model | None, gate: Gate | None
    ) -> None:
        self._cwd, self._options, self._sources, self._model, self._gate = cwd, options, sources, model, gate
        self._talks = Conversations(cwd, options, most=MOST)
        actions: dict[str, Callable[[Conversation, Said], dict[str, Any]]] = {
            "UserPromptSubmit": self._add_context,
            "PreToolUse": _judge,
            "PreCompact": _forget,
        }
        if "project" in sources:
            actions["PostToolUse"] = _attach
        if model is not None:
            actions["Stop"] = self._extract
        self.events = {event: self._hook(action) for event, action in actions.items()}

    def _hook(self, action: Callable[[Conversation, Said], dict[str, Any]]) -> Callable[..., Any]:
        def run(said: Said) -> dict[str, Any]:
            try:
                return action(self._talk(said), said)
            except Exception as error:  # the agent continues, whatever failed
                event = said.get("hook_event_name", "a hook")
                hint = "see: foretold memory doctor"
                self._options["findings"].append(Finding(self._cwd, None, "hook-failed", f"{event}: {error!r}", hint))
                return {}

        async def hook(said: Said, call: str | None, context: Any) -> dict[str, Any]:  # noqa: ARG001
            return await in_thread(lambda: run(said))

        return hook

    def _talk(self, said: Said) -> Conversation:
        """The conversation that an event belongs to."""
        session, agent = str(said.get("session_id", "")), str(said.get("agent_id") or "")
        if not agent:
            return self._talks.get(session)
        name = str(said.get("agent_type", ""))
        return self._talks.get((session, agent), lambda: self._talks.get(session).subagent(name))

    def _add_context(self, talk: Conversation, said: Said) -> dict[str, Any]:
        is_known = talk.notes.get("begun") or "user" not in self._sources
        unseen = "" if is_known else _unseen(talk, str(said.get("transcript_path", "")))
        talk.notes["begun"] = True
        recalled = talk.recall(str(said.get("prompt", "")))
        return _context("UserPromptSubmit", "\n\n".join(text for text in (unseen, recalled) if text))

    def _extract(self, talk: Conversation, said: Said) -> dict[str, Any]:
        from foretold.memory.extraction.extractor import Extractor
        from foretold.memory.extraction.transcript import extract_stored

        assert self._model is not None
        if said.get("stop_hook_active"):
            return {}
        extractor = Extractor(talk.memory, gate=self._gate)
        path, session = str(said["transcript_path"]), str(said["session_id"])
        done = extract_stored(path, self._model, extractor, session=session, instructions=talk.session.view.entries)
        self._options["findings"].extend(done.findings(path))
        return {}


def _unseen(talk: Conversation, transcript: str) -> str:
    """What the agent does not find because it runs in another configuration folder than the user's."""
    view = talk.session.view
    folder = os.path.dirname(os.path.dirname(os.path.dirname(transcript)))
    if not folder or os.path.realpath(folder) == os.path.realpath(view.surroundings.user):
        return ""
    entries = tuple(entry for entry in view.entries if entry.layer in HOME)
    return View(view.choice, view.surroundings, entries).text or ""


def _judge(talk: Conversation, said: Said) -> dict[str, Any]:
    given = said.get("tool_input")
    if not isinstance(given, dict):
        return {}
    found = judge_call(talk.memory, str(said["tool_name"]), given, str(said["cwd"]))
    answer = {"hookEventName": "PreToolUse", "permissionDecision": found.decision}
    return {"hookSpecificOutput": {**answer, "permissionDecisionReason": found.reason}} if found.decision else {}


def judge_call(memories: Memories, tool: str, given: Mapping[str, object], cwd: str) -> WriteDecision:
    """Decide about a call that would write a file in a folder of memories; nothing is decided about others."""
    place, command = memories.place, given.get("command")
    if tool == "Bash" and isinstance(command, str):
        from foretold.memory.command_policy import GuardedPlaces, judge_command

        pairs = ((place.store, "private"), (place.under, "private"), (place.team, "team"))
        stores = tuple((folder, scope) for folder, scope in pairs if folder)
        return judge_command(command, GuardedPlaces(stores, (place.state, place.cache), cwd, place.home), place.policy)
    named = given.get(WRITERS.get(tool, ""))
    if not isinstance(named, str) or "\0" in named:
        return WriteDecision("")
    path = os.path.realpath(os.path.join(cwd, named))
    is_team, *is_own = (
        bool(folder) and is_inside(path, os.path.realpath(folder)) for folder in (place.team, place.store, place.under)
    )
    if not is_team and not any(is_own):
        return WriteDecision("")
    return decide_write(place.policy, written_text(given), is_team=is_team)


def _attach(talk: Conversation, said: Said) -> dict[str, Any]:
    """What comes with a file, unless the agent attaches it itself: it does for some of its tools."""
    tool, given = str(said["tool_name"]), said.get("tool_input")
    if not isinstance(given, dict):
        return {}
    if any(trigger.tool == tool for trigger in talk.session.view.dialect.triggers):
        talk.note_tool(tool, given)
        return {}
    return _context("PostToolUse", talk.use_tool({key: value for key, value in given.items() if key != "command"}))


def _forget(talk: Conversation, said: Said) -> dict[str, Any]:  # noqa: ARG001
    talk.forget()
    return {}


def _context(event: str, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}} if text else {}
