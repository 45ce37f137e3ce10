"""One conversation of an agent that somebody else runs: what every adapter needs, whatever its framework calls it.

1. Four calls: `start` is what the agent is told first, `touched` what a file brings along that it read or wrote,
   `asked` the memories that a prompt is about, `compacted` what has to be said again when the history was shortened.
   Each gives a text, empty if there is nothing to say.
2. The start is told once and stays as it is, so that a provider's cache is hit; a compaction reads it anew.
3. Nothing is said twice: neither a file of instructions nor a memory, unless it has changed, or a compaction took it.
4. The same memories for the same prompt are the same bytes: the word in their tags comes from what they say.
5. What cannot be read, recalled or opened is a finding, and the text is empty: a framework's run never breaks on us. An
   agent that nobody knows and a folder that is not there are the caller's mistakes; they raise, at once.
6. All calls block, and may come from several threads: one at a time is served.
"""

from __future__ import annotations

import hashlib
import os
import threading

from foretold.dialects.registry import DEFAULT_AGENT
from foretold.errors import NotAFolder
from foretold.instructions.session import Call, Session
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import date
    from typing import Any, TypeVar

    from foretold.memory.project import Memories
    from foretold.memory.recall.recall import Recall

    Given = TypeVar("Given")

BUDGET = 2000  #: tokens of the memories that one prompt recalls
#: how tools of many agents and frameworks call the file that they touch
NAMES = ("file_path", "path", "notebook_path", "filename", "file", "filePath", "absolute_path", "target_file")
MOST = 1000  #: findings that are kept: a conversation may be long


class Conversation:
    """What an agent in a folder is told in one conversation.

    >>> import foretold, os, tempfile
    >>> folder = os.path.realpath(tempfile.mkdtemp())
    >>> with open(os.path.join(folder, "CLAUDE.md"), "w", encoding="utf-8") as file:
    ...     _ = file.write("Use tabs.\\n")
    >>> memory = foretold.memory.open(folder, home=folder, env={})
    >>> _ = memory.create("Deploys", type="project", description="when we deploy", body="On Tuesdays only.")
    >>> talk = Conversation(folder, home=folder, env={})
    >>> "Use tabs." in talk.start(), "On Tuesdays only." in talk.asked("When do we deploy?")
    (True, True)
    >>> talk.asked("When do we deploy?"), talk.findings
    ('', [])
    """

    def __init__(
        self,
        cwd: str | os.PathLike[str] = ".",
        *,
        agent: str = DEFAULT_AGENT,
        home: str | os.PathLike[str] | None = None,
        managed: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        model: str | None = None,
        now: date | str | None = None,
        trust: bool | None = None,
        memory: Memories | None = None,
        recall: bool = True,
        team: bool = True,
        budget: int = BUDGET,
        findings: list[Finding] | None = None,
    ) -> None:
        """`memory` are other memories than the folder's; without `team`, nothing is said of the team's.

        `findings` is a list that shall hold what is found.
        """
        self.cwd = os.path.realpath(cwd)
        if not os.path.isdir(self.cwd):
            raise NotAFolder(f"{self.cwd} is not a folder; give the folder the agent works in")
        self.findings: list[Finding] = [] if findings is None else findings
        self.session = Session(
            self.cwd, agent=agent, home=home, managed=managed, env=env, model=model, now=now, trust=trust
        )
        self._around = {"agent": agent, "home": home, "managed": managed, "env": env}
        self._memory, self._recalls, self._team, self._budget = memory, recall, team, budget
        self.beside: dict[str, Any] = {}  #: what adapters remember of it
        self._lock = threading.RLock()
        self._start: str | None = None
        self._bringing: list[Call] = []  #: calls that brought instructions, in their order
        self._quoted: dict[tuple[str, str], str] = {}  #: memories that were recalled, by folder and file: their digest

    def start(self) -> str:
        """What the agent is told first: instructions, and the indexes of its memories and of the team's."""
        with self._lock:
            if self._start is None:
                self._start = self._told("its instructions could not be loaded", self._started, "")
            return self._start

    def touched(self, path: str) -> str:
        """A file was read or written: the instructions that it brings along."""
        return self.called({"path": path})

    def called(self, given: Mapping[str, object]) -> str:
        """A tool was called, whatever it is: what the files bring along that its input names, or a command reads."""
        with self._lock:
            what = "instructions for a file could not be loaded"
            return self._told(what, lambda: self._brought_by(self._calls_for(given)), "")

    def noticed(self, tool: str, given: Mapping[str, object]) -> None:
        """A tool of the agent itself was used, and the agent attached by itself what comes with it."""
        with self._lock:
            action = lambda: self._note(self.session.use([Call(tool, given)]).findings)  # noqa: E731
            self._told("instructions for a file could not be followed", action, None)

    def asked(self, prompt: str, *, before: str = "") -> str:
        """The user asked something: memories that it is about, quoted, and none that were quoted before.

        `before` is what was said earlier, for those who do not keep a conversation: quotes in it count.
        """
        with self._lock:
            if not (self._recalls and prompt.strip()):
                return ""
            action = lambda: self._recalled(prompt, before)  # noqa: E731
            return self._told("memories could not be recalled", action, "", "recall-failed")

    def compacted(self) -> str:
        """The history was shortened: all that touched files had brought, read anew; `start` is read anew, too."""
        with self._lock:
            self._start, self._quoted = None, {}
            return self._told("instructions could not be loaded again", self._again, "")

    def forgotten(self) -> None:
        """The agent shortens its history by itself, and tells itself the start again: what files bring comes anew."""
        with self._lock:
            self._start, self._quoted, self._bringing = None, {}, []
            self._told("instructions could not be loaded again", self.session.clear, None)

    def subagent(self, name: str) -> Conversation:
        """The conversation of a subagent: what it is told, which may be nothing, and what its own files bring."""
        with self._lock:
            other = Conversation.__new__(Conversation)
            other.__dict__.update(self.__dict__)
            what = f"what the subagent {name} is told could not be loaded"
            other.session = self._told(what, lambda: self.session.subagent(name), self.session)
            other._team = self._team and name not in self.session.view.dialect.subagents_without
            other._start, other._bringing, other._quoted, other.beside = None, [], {}, {}
            return other

    @property
    def memory(self) -> Memories:
        """The project's memories."""
        with self._lock:
            if self._memory is None:
                from foretold.memory.project import open as open_memories

                self._memory = open_memories(self.cwd, **self._around)  # type: ignore[arg-type]
                self._note(self._memory.place.findings)
            return self._memory

    def team_index(self) -> str:
        """The index of the team's memories under its heading; empty if there is none."""
        with self._lock:
            return self._told("the team's memories could not be read", self._teams, "", "recall-failed")

    # What is behind the calls

    def _teams(self) -> str:
        from foretold.memory.store.team import team_entry, team_text

        team = self.memory.team
        if not self._team or team is None or not os.path.isdir(team.path):
            return ""
        entry = team_entry(team)
        return team_text(entry) if entry else ""

    def _told(
        self, what: str, action: Callable[[], Given], otherwise: Given, code: str = "instructions-failed"
    ) -> Given:
        """What an action gives; if it fails, a finding that says so."""
        try:
            return action()
        except Exception as error:  # whatever it is, the run of the framework goes on
            self.fault(what, error, code)
            return otherwise

    def fault(self, what: str, error: Exception, code: str = "instructions-failed") -> None:
        """Note that something could not be done."""
        said = f"{what}: {error or type(error).__name__}"
        if code == "recall-failed":
            self._note([Finding(self.cwd, None, "recall-failed", said, "see: foretold memory doctor")])
        else:
            self._note([Finding(self.cwd, None, "instructions-failed", said, "see: foretold explain")])

    def _note(self, findings: tuple[Finding, ...] | list[Finding]) -> None:
        new = [finding for finding in findings if finding not in self.findings]
        self.findings += new[: max(0, MOST - len(self.findings))]

    def _started(self) -> str:
        view = self.session.view
        self._note(view.findings)
        if view.refusal:
            said = f"{view.dialect.agent} refuses to start here: the folder is not trusted"
            self._note([Finding(self.cwd, None, "instructions-failed", said, "if you trust it: trust=True")])
        return "\n\n".join(text for text in (view.text or "", self.team_index()) if text)

    def _calls_for(self, given: Mapping[str, object]) -> list[Call]:
        """The same as calls of the tools with which this agent reads; none if reading brings nothing for it."""
        triggers = self.session.view.dialect.triggers
        calls = [Call(triggers[0].tool, {triggers[0].key: path}) for path in files_in(given, self.cwd) if triggers]
        command = given.get("command")
        if isinstance(command, str) and any(each.tool == "Bash" for each in triggers):
            calls.append(Call("Bash", {"command": command}))
        return calls

    def _brought_by(self, calls: list[Call]) -> str:
        """The text that calls bring along; those that bring something are remembered for a compaction."""
        texts = []
        for call in calls:
            self.session.shell_folder = self.cwd  # tools of frameworks start a shell for each command
            attachment = self.session.use([call])
            self._note(attachment.findings)
            if attachment.blocks:
                self._bringing.append(call)
                texts += [block.text.strip("\n") for block in attachment.blocks]
        return "\n\n".join(texts)

    def _again(self) -> str:
        self.session.clear()
        calls, self._bringing = self._bringing, []
        return self._brought_by(calls)

    def _recalled(self, prompt: str, before: str) -> str:
        from foretold.memory.recall.relevance import worth_quoting
        from foretold.memory.recall.render import render_quotes

        asked = _without_quotes(prompt)
        found = self._new(self.memory.recall(asked, budget=self._budget, worth=worth_quoting), before)
        self._note(
            [Finding(skip.path, skip.line, "recall-failed", f"not searched: {skip.reason}") for skip in found.skips]
        )
        return render_quotes(found.quotes, found.named, _word("\n".join(map("\n".join, found.quotes))))

    def _new(self, found: Recall, before: str) -> Recall:
        """Without memories that were quoted before and have not changed."""
        from foretold.memory.recall.render import parse_rendered, recalled_spans

        quotes = [quote for start, end in recalled_spans(before) for quote in parse_rendered(before[start:end])]
        known = {(quote.file, quote.scope, quote.text) for quote in quotes}
        hits = tuple(
            hit
            for hit in found.hits
            if (self._team or hit.memory.scope != "team")
            and self._quoted.get((hit.folder, hit.memory.file)) != hit.memory.digest
            and (hit.quote.file, hit.quote.scope, hit.quote.text) not in known
        )
        self._quoted |= {(hit.folder, hit.memory.file): hit.memory.digest for hit in hits}
        return found._replace(hits=hits, named=found.named if hits else ())


def _without_quotes(prompt: str) -> str:
    """A prompt without the memories that somebody has put into it: they are no question."""
    from foretold.memory.recall.render import recalled_spans

    for start, end in reversed(recalled_spans(prompt)):
        prompt = prompt[:start] + prompt[end:]
    return prompt


def files_in(given: Mapping[str, object], cwd: str) -> list[str]:
    """The files that the input of a tool names, by the names that tools have for them.

    >>> files_in({"path": __file__, "limit": 3}, "/") == [__file__], files_in({"path": "no such file"}, "/")
    (True, [])
    """
    named = [value for key in NAMES if isinstance(value := given.get(key), str) and value and "\0" not in value]
    paths = dict.fromkeys(os.path.join(cwd, name) for name in named)
    return [path for path in paths if os.path.isfile(path)]


def _word(text: str) -> str:
    """A word for tags: the same for the same text, and not in it. No text can hold its own digest."""
    word = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    while word in text:
        word = hashlib.sha256(word.encode()).hexdigest()[:16]
    return word


def conversation_of(where: Conversation | str | os.PathLike[str], **options: object) -> Conversation:
    """A conversation: the one that is given, or a new one in a folder.

    >>> talk = conversation_of(".")
    >>> conversation_of(talk) is talk
    True
    """
    if isinstance(where, Conversation):
        return where
    return Conversation(where, **options)  # type: ignore[arg-type]
