"""One conversation of an agent that another program runs: what every adapter needs, whatever its framework calls it.

1. `start` is the text that the agent gets first, `touch` and `use_tool` the instructions that come with a file that it
   reads or writes, `recall` the memories that a prompt is about, `compact` what has to be repeated after the history
   was shortened. Each gives a text, empty if there is nothing to add.
2. The start is read once and stays as it is, so that a provider's cache is hit; a compaction reads it again.
3. Nothing is repeated, neither instructions nor a memory, unless it has changed or a compaction removed it.
4. The same memories for the same prompt are the same bytes: the word in their tags comes from their text.
5. What cannot be read, recalled or opened is a finding, and the text is empty: a framework's run never fails because of
   us. An unknown agent and a missing folder are the caller's mistakes; they raise at once.
6. All calls block, and may come from several threads; they run one at a time.
7. `Conversations` has those of one adapter, by the names that the framework gives them. What was put into messages is
   remembered: when one of these texts is no longer there, the framework has shortened its history.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from foretold.dialects.registry import DEFAULT_AGENT
from foretold.errors import NotAFolder
from foretold.instructions.session import Call, Session
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from typing import Any, Unpack

    from foretold.instructions.load import LoadOptions
    from foretold.memory.project import Memories
    from foretold.memory.recall.recall import Recall

BUDGET = 2000  #: tokens of the memories that one prompt recalls
#: what tools of many agents and frameworks call the file that they touch
NAMES = ("file_path", "path", "notebook_path", "filename", "file", "filePath", "absolute_path", "target_file")
MOST_FINDINGS = 1000  #: a conversation may be long
MOST_CONVERSATIONS = 100  #: of one adapter; the least recently used is dropped first


class Conversation:
    """What an agent in a folder receives in one conversation.

    >>> import foretold, os, tempfile
    >>> folder = os.path.realpath(tempfile.mkdtemp())
    >>> with open(os.path.join(folder, "CLAUDE.md"), "w", encoding="utf-8") as file:
    ...     _ = file.write("Use tabs.\\n")
    >>> memory = foretold.memory.open(folder, home=folder, env={})
    >>> _ = memory.create("Deploys", type="project", description="when we deploy", body="On Tuesdays only.")
    >>> talk = Conversation(folder, home=folder, env={})
    >>> "Use tabs." in talk.start(), "On Tuesdays only." in talk.recall("When do we deploy?")
    (True, True)
    >>> talk.recall("When do we deploy?"), talk.findings
    ('', [])
    """

    def __init__(
        self,
        cwd: str | os.PathLike[str] = ".",
        *,
        memory: Memories | None = None,
        recall: bool = True,
        team: bool = True,
        budget: int = BUDGET,
        findings: list[Finding] | None = None,
        **surroundings: Unpack[LoadOptions],
    ) -> None:
        """`memory` replaces the folder's memories; without `team`, those of the team are left out.

        Findings are added to `findings`.
        """
        self.cwd = os.path.realpath(cwd)
        if not os.path.isdir(self.cwd):
            raise NotAFolder(f"{self.cwd} is not a folder; give the folder the agent works in")
        self.findings: list[Finding] = [] if findings is None else findings
        self.session = Session(self.cwd, **surroundings)
        self._surroundings = surroundings
        self._memory, self._recalls, self._team, self._budget = memory, recall, team, budget
        self.notes: dict[str, Any] = {}  #: what an adapter remembers about it
        self._lock = threading.RLock()
        self._start: str | None = None
        self._calls: list[Call] = []  #: that brought instructions, in their order
        self._quoted: dict[tuple[str, str], str] = {}  #: recalled memories, by folder and file: their digest

    def start(self) -> str:
        """What the agent gets first: instructions, and the indexes of its memories and of the team's."""
        with self._lock:
            if self._start is None:
                self._start = ""
                with self._attempt("its instructions could not be loaded"):
                    view = self.session.view
                    self._note(view.findings)
                    if view.refusal:
                        said = f"{view.dialect.agent} refuses to start here: the folder is not trusted"
                        hint = "if you trust it: trust=True"
                        self._note([Finding(self.cwd, None, "instructions-failed", said, hint)])
                    self._start = "\n\n".join(text for text in (view.text or "", self.team_index()) if text)
            return self._start

    def touch(self, path: str) -> str:
        """The agent reads or writes a file: the instructions that come with it."""
        return self.use_tool({"path": path})

    def use_tool(self, given: Mapping[str, object]) -> str:
        """The agent calls some tool: what comes with the files that its input names, or that a command reads."""
        text = ""
        with self._attempt("instructions for a file could not be loaded"):
            text += self._attach(self._calls_for(given))
        return text

    def note_tool(self, tool: str, given: Mapping[str, object]) -> None:
        """The agent called one of its own tools, and attached what comes with it by itself."""
        with self._attempt("instructions for a file could not be followed"):
            self._note(self.session.use([Call(tool, given)]).findings)

    def recall(self, prompt: str, *, before: str = "") -> str:
        """Memories that a prompt is about, quoted; none that were quoted already.

        `before` is the earlier text, for callers that do not keep a conversation: quotes in it count.
        """
        text = ""
        if not (self._recalls and prompt.strip()):
            return text
        with self._attempt("memories could not be recalled", "recall-failed"):
            from foretold.memory.recall.recall import show_unseen
            from foretold.memory.recall.relevance import worth_quoting
            from foretold.memory.recall.render import recalled_spans, render_quotes

            for start, end in reversed(recalled_spans(prompt)):
                prompt = prompt[:start] + prompt[end:]  # memories that were put into it are not part of the question
            found = self._without_quoted(self.memory.recall(prompt, budget=self._budget, worth=worth_quoting), before)
            skips = [(skip.path, skip.line, "recall-failed", f"not searched: {skip.reason}") for skip in found.skips]
            self._note([Finding(*skip) for skip in skips])
            named = [show_unseen(file) for file in found.named]
            text += render_quotes(found.quotes, named, _word("\n".join(map("\n".join, found.quotes))))
        return text

    def compact(self) -> str:
        """The history was shortened: all that touched files had brought, read again; so is the next `start`."""
        text = ""
        with self._attempt("instructions could not be loaded again"):
            self._start, self._quoted = None, {}
            self.session.clear()
            calls, self._calls = self._calls, []
            text += self._attach(calls)
        return text

    def forget(self) -> None:
        """The agent shortens its history and loads its start by itself: what comes with files is attached again."""
        with self._attempt("instructions could not be loaded again"):
            self._start, self._quoted, self._calls = None, {}, []
            self.session.clear()

    def subagent(self, name: str) -> Conversation:
        """The conversation of a subagent: its start, which may be empty, and what its own files bring."""
        with self._lock:
            other = Conversation.__new__(Conversation)
            other.__dict__.update(self.__dict__)
            with self._attempt(f"the instructions of the subagent {name} could not be loaded"):
                other.session = self.session.subagent(name)
            other._team = self._team and name not in self.session.view.dialect.subagents_without
            other._start, other._calls, other._quoted, other.notes = None, [], {}, {}
            return other

    @property
    def memory(self) -> Memories:
        """The project's memories."""
        with self._lock:
            if self._memory is None:
                from foretold.memory.project import open as open_memories

                around = {key: self._surroundings.get(key) for key in ("home", "managed", "env")}
                around["agent"] = self._surroundings.get("agent", DEFAULT_AGENT)
                self._memory = open_memories(self.cwd, **around).for_models()  # type: ignore[arg-type]
                self._note(self._memory.place.findings)
            return self._memory

    def team_index(self) -> str:
        """The index of the team's memories under its heading; empty if there is none."""
        text = ""
        with self._attempt("the team's memories could not be read", "recall-failed"):
            from foretold.memory.recall.recall import show_unseen
            from foretold.memory.store.team import FROM_REPOSITORY, team_entry, team_text

            team = self.memory.team
            if self._team and team is not None and os.path.isdir(team.path) and (entry := team_entry(team)):
                text = show_unseen(team_text(entry, FROM_REPOSITORY))
        return text

    def report(self, what: str, error: Exception, code: str = "instructions-failed") -> None:
        """Add a finding: something could not be done."""
        hint = "see: foretold memory doctor" if code == "recall-failed" else "see: foretold explain"
        self._note([Finding(self.cwd, None, code, f"{what}: {error or type(error).__name__}", hint)])

    @contextmanager
    def _attempt(self, what: str, code: str = "instructions-failed") -> Iterator[None]:
        """Whatever fails is a finding: the run of the framework continues."""
        try:
            with self._lock:
                yield
        except Exception as error:
            self.report(what, error, code)

    def _note(self, findings: tuple[Finding, ...] | list[Finding]) -> None:
        new = [finding for finding in findings if finding not in self.findings]
        self.findings += new[: max(0, MOST_FINDINGS - len(self.findings))]

    def _calls_for(self, given: Mapping[str, object]) -> list[Call]:
        """The input as calls of the tools with which this agent reads; none if reading brings nothing for it."""
        triggers = self.session.view.dialect.triggers
        calls = [Call(triggers[0].tool, {triggers[0].key: path}) for path in files_in(given, self.cwd) if triggers]
        command = given.get("command")
        if isinstance(command, str) and any(each.tool == "Bash" for each in triggers):
            calls.append(Call("Bash", {"command": command}))
        return calls

    def _attach(self, calls: list[Call]) -> str:
        """The text that comes with calls; those that bring something are remembered for a compaction."""
        texts = []
        for call in calls:
            self.session.shell_folder = self.cwd  # tools of frameworks start a shell for each command
            attachment = self.session.use([call])
            self._note(attachment.findings)
            if attachment.blocks:
                self._calls.append(call)
                texts += [block.text.strip("\n") for block in attachment.blocks]
        return "\n\n".join(texts)

    def _without_quoted(self, found: Recall, before: str) -> Recall:
        """Leave out memories that were quoted before and have not changed."""
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


def files_in(given: Mapping[str, object], cwd: str) -> list[str]:
    """The existing files that the input of a tool names, under any of the keys that tools use for them."""
    named = [value for key in NAMES if isinstance(value := given.get(key), str) and value and "\0" not in value]
    paths = dict.fromkeys(os.path.join(cwd, name) for name in named)
    return [path for path in paths if os.path.isfile(path)]


def _word(text: str) -> str:
    """A word for tags: the same for the same text, and not in it. No text can hold its own digest."""
    word = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    while word in text:
        word = hashlib.sha256(word.encode()).hexdigest()[:16]
    return word


class Conversations:
    """Conversations in a folder, by name; each is made when it is first asked for."""

    def __init__(self, cwd: str | os.PathLike[str], options: dict[str, Any], *, most: int = MOST_CONVERSATIONS) -> None:
        """`options` are those of `Conversation`. A caller's mistake raises now, not in a run."""
        given = options.get("findings")
        self.findings: list[Finding] = [] if given is None else given
        self._make = partial(Conversation, cwd, **{**options, "findings": self.findings})
        self._most, self._lock = most, threading.RLock()
        self._by_name: dict[str, Conversation] = {}
        self._make()

    def get(self, name: object, make: Callable[[], Conversation] | None = None) -> Conversation:
        """The conversation of this name."""
        with self._lock:  # two threads that ask for one conversation get the same
            known = self._by_name.pop(str(name), None)
            found = self._by_name[str(name)] = known if known is not None else (make or self._make)()
            for old in list(self._by_name)[: -self._most]:
                del self._by_name[old]
        return found


def note_added(talk: Conversation, text: str) -> None:
    """Remember that a text was put into the messages of a conversation."""
    if text:
        talk.notes.setdefault("added", []).append(text)


def restore_added(talk: Conversation, messages: str) -> str:
    """What has to be added again, if a text that was added is missing in the messages."""
    if all(text in messages for text in talk.notes.get("added", ())):
        return ""
    talk.notes["added"] = []
    text = talk.compact()
    note_added(talk, text)
    return text


def conversation_of(where: Conversation | str | os.PathLike[str], **options: Any) -> Conversation:
    """The conversation that is given, or a new one in a folder."""
    return where if isinstance(where, Conversation) else Conversation(where, **options)
