"""`foretold.Session`: instructions through one conversation.

1. The start is a view.
2. A tool call that touches a file attaches, for that file: rules of the organisation and the user that match it, the
   files of each folder between the working directory and it, and rules of the walk that match it.
3. Each path is attached once. In later versions, what the model has from the start is not attached again, and a file
   that was itself touched is not attached either.
4. A subagent gets the text of the start, or none, and has its own conversation.
5. After a compaction the start is loaded again; what touched files had brought is lost, or comes back as a file
   (`survival.py`). After a clearing everything begins again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from foretold.dialects.compaction import effect_of
from foretold.dialects.registry import DialectChoice, make_request
from foretold.dialects.surroundings import LoadRequest, join
from foretold.instructions.advice import advise, list_roots
from foretold.instructions.compaction.survival import (
    Survival,
    assumption_of,
    changed_paths,
    find_restored,
    lost_of,
    with_reason,
)
from foretold.instructions.continuation import StartUpdate, update_request, update_resumed
from foretold.instructions.discover.fallback import take_nested_fallback
from foretold.instructions.discover.locate import folders_below, steps
from foretold.instructions.discover.nested import WaitingRules, follow_nested
from foretold.instructions.discover.shell_reads import ShellRead, files_read, folder_after
from foretold.instructions.engine import Loader
from foretold.instructions.load import invalidate, load_view, require_folder
from foretold.instructions.render.blocks import NestedEntries, mention_blocks, turn_blocks
from foretold.instructions.render.parts import nested_blocks
from foretold.instructions.text.prompt_mentions import mentions_in
from foretold.instructions.view import View
from foretold.storage.tree import Disk, Fault, Tree, is_inside
from foretold.text.frontmatter import trim
from foretold.types import TYPE_CHECKING, Block, Entry, Finding, NamedTuple, Skip

if TYPE_CHECKING:
    import os
    from typing import Unpack

    from foretold.instructions.compaction.restored_files import Read
    from foretold.instructions.load import LoadOptions


Touched = tuple[Loader, NestedEntries]  #: what a touched file brings, and the pass that found it
#: endings of files of which Read gives parts, not a text: seen with .ipynb and .png in Claude Code 2.1.131 and 2.1.325
RICH = (".ipynb", ".pdf", ".png", ".jpg", ".jpeg", ".gif", ".webp")
MAX_SHELL_READ = 64 * 1024 * 1024


class Call(NamedTuple):
    """One tool call: its tool, its input, and how it failed (missing, is-a-folder, denied, …; empty = it did not)."""

    tool: str
    input: Mapping[str, object]
    error: str = ""


class Attachment(NamedTuple):
    """What a turn attaches: entries, and the blocks that carry them to the model."""

    entries: tuple[Entry, ...]
    blocks: tuple[Block, ...]
    skips: tuple[Skip, ...] = ()
    findings: tuple[Finding, ...] = ()


class Session:
    """A conversation of an agent in a folder.

    >>> import foretold, os, tempfile
    >>> folder = os.path.realpath(tempfile.mkdtemp())
    >>> os.mkdir(os.path.join(folder, "api"))
    >>> with open(os.path.join(folder, "api", "CLAUDE.md"), "w", encoding="utf-8") as file:
    ...     _ = file.write("Handlers return JSON.\\n")
    >>> session = foretold.Session(folder, agent="claude-code@2.1.325", home=folder, env={})
    >>> session.start().text is None
    True
    >>> [entry.text for entry in session.read("api/users.py").entries]
    ['Handlers return JSON.\\n']
    >>> session.read("api/orders.py").entries
    ()
    """

    def __init__(
        self, cwd: str | os.PathLike[str] = ".", *, tree: Tree | None = None, **options: Unpack[LoadOptions]
    ) -> None:
        """`options` are those of `foretold.load`."""
        self._open(make_request(cwd, **options), tree)

    @classmethod
    def of(cls, choice: DialectChoice, request: LoadRequest, tree: Tree | None = None, name: str = "") -> Session:
        """The session of a question that was put together elsewhere."""
        session = cls.__new__(cls)
        session._open((choice, request), tree, name)
        return session

    def _open(self, question: tuple[DialectChoice, LoadRequest], tree: Tree | None, name: str = "") -> None:
        self._ask, self._tree = question, tree
        self._name = name  #: of the subagent, if it is one's conversation
        self._is_instructed: bool | None = None  #: whether it gets instructions, if its name does not decide
        self._view: View | None = None
        self._rules = WaitingRules(())
        self._attached: set[str] = set()  #: paths that are not attached again
        self._given: set[str] = set()  #: those of them that are of the start
        self._held: dict[str, str] = {}  #: texts of an earlier run that are attached again only if they have changed
        self._is_begun = False  #: whether the conversation ever had instructions at its start
        self._sent: list[Block] = []  #: the texts of touched files that this run has sent
        self.shell_folder = question[1].cwd
        self._known: frozenset[str] = frozenset()
        self.attached: list[Entry] = []
        self._loaded: dict[str, int] = {}  #: when each of them was

    def start(self) -> View:
        """Begin, or begin again: what the model gets first."""
        self._begin(self._load())
        self._is_begun = bool(self.view.entries)
        return self.view

    def _load(self) -> View:
        tree = self._disk()
        require_folder(tree, self._ask[1])
        view = load_view(tree, *self._ask)
        return view if self._gets_instructions(view) else view.without_entries()

    def _begin(self, view: View, *, keeps: bool = False) -> None:
        """Take a view as the start; with `keeps`, what touched files have brought is still there."""
        brought = self._attached - self._given if keeps else set()
        self._view = view
        nested = view.dialect.nested
        waiting = view.waiting if nested is None or nested.from_start else ()
        self._rules = WaitingRules(waiting, view.dialect.rules.patterns)
        self._given = set()
        if view.dialect.again == "new":
            self._given = {entry.path for entry in (*view.entries, *view.withheld) if not entry.is_listed}
        self._attached = self._given | brought
        self._known = frozenset(trim(entry.text) for entry in view.entries if not entry.announced and not entry.depth)
        if not keeps:
            self.attached, self._loaded, self._sent, self._held = [], {}, [], {}

    @property
    def view(self) -> View:
        """The view at the start of the conversation."""
        return self._view if self._view is not None else self.start()

    def resume(self, before: View | None = None, *, args: Iterable[str] | None = None) -> StartUpdate:
        """The conversation is resumed by another process: what the agent sends about its instructions.

        `before` is the start that the model was given last, if not by this session; `args` is the command line of the
        new process, if it is another. A fork is the same.

        >>> import foretold, os, tempfile
        >>> folder = os.path.realpath(tempfile.mkdtemp())
        >>> def write(text):
        ...     with open(os.path.join(folder, "AGENTS.md"), "w", encoding="utf-8") as file:
        ...         _ = file.write(text)
        >>> write("Use tabs.")
        >>> told, silent = (foretold.Session(folder, agent=name, home=folder, env={}) for name in ("codex", "opencode"))
        >>> _ = told.start(), silent.start()
        >>> told.resume().effect
        'same'
        >>> write("Use spaces.")
        >>> update = told.resume()
        >>> update.effect, [os.path.basename(path) for path in update.changed]
        ('replaced', ['AGENTS.md'])
        >>> print(update.blocks[0].text.split("<INSTRUCTIONS>")[1].strip())
        These AGENTS.md instructions replace all previously provided AGENTS.md instructions.
        <BLANKLINE>
        Use spaces.
        </INSTRUCTIONS>
        >>> silent.resume().effect
        'rebuilt'
        """
        before, sent, kept = self.view if before is None else before, self._sent, (self.attached, self._loaded)
        if args is not None:
            self._ask = self._ask[0], self._ask[1]._replace(args=tuple(args))
        invalidate()
        now = self._load()
        plan = now.dialect.continuation
        self._begin(now, keeps=plan.nested == "session")
        if plan.nested == "changed":
            self.attached, self._loaded = kept
            self._held = {entry.path: trim(entry.text) for entry in self.attached}
        self._sent, self.shell_folder = [], now.surroundings.cwd
        update = update_resumed(before, now, tuple(sent) if plan.repeats else (), begun=self._is_begun)
        self._view = update.view  # of some agents that is still the old one
        self._is_begun = self._is_begun or bool(before.entries or now.entries)
        return update

    def turn(self) -> StartUpdate:
        """The next request of the same run: what it says about the instructions of the start.

        Most agents keep the text that they sent first, so a file that has changed is only named, and `view` stays the
        old one.

        >>> import foretold, os, tempfile
        >>> folder = os.path.realpath(tempfile.mkdtemp())
        >>> kept, again = (foretold.Session(folder, agent=name, home=folder, env={}) for name in ("codex", "opencode"))
        >>> _ = kept.start(), again.start()
        >>> with open(os.path.join(folder, "AGENTS.md"), "w", encoding="utf-8") as file:
        ...     _ = file.write("Use tabs.")
        >>> kept.turn().effect, kept.view.text is None
        ('kept', True)
        >>> again.turn().effect, again.view.text.endswith("Use tabs.")
        ('rebuilt', True)
        """
        update = update_request(self.view, self._load())
        if update.view is not self.view:
            self._begin(update.view, keeps=True)
        return update

    def compact(self, read: Iterable[Read] = (), *, count: Callable[[str], int] | None = None) -> Survival:
        """The conversation was compacted: what is loaded again, what survived and what did not.

        `read` are the files that the agent knows, the last first, as `foretold.files.ReadState.recent` gives them:
        path, text, time of change in milliseconds. `count` asks the model for the tokens of a text.
        """
        before, attached, loaded = self.view, list(self.attached), dict(self._loaded)
        plan = effect_of("compact", before.dialect.agent)
        view = before if plan.start == "kept" else with_reason(self._begun_again(), plan.reason)
        self._begin(view)
        files = find_restored(self._disk(), view, attached, loaded, read, count) if plan.restores else None
        paths = set(files.paths) if files else set()
        survived = tuple(entry for entry in attached if entry.path in paths)
        self._attached |= paths
        self.attached += survived
        self._loaded = {entry.path: loaded.get(entry.path, 0) for entry in survived}
        lost = lost_of(attached, survived, "compaction", view)
        return Survival(view, survived, lost, changed_paths(before, view), files, assumption_of(plan, view))

    def clear(self) -> Survival:
        """The conversation was cleared: a new one begins in the same folder."""
        before, attached = self.view, list(self.attached)
        view = self._begun_again()
        assumed = assumption_of(effect_of("clear", before.dialect.agent), view)
        return Survival(view, (), lost_of(attached, (), "clearing", view), changed_paths(before, view), None, assumed)

    def _begun_again(self) -> View:
        invalidate()
        return self.start()

    def read(self, path: str) -> Attachment:
        """The agent read a file, with the tool that it has for that: what is attached to the result."""
        triggers = self.view.dialect.triggers
        tool, key = (triggers[0].tool, triggers[0].key) if triggers else ("Read", "file_path")
        return self.use([Call(tool, {key: path})])

    def use(self, calls: Iterable[Call]) -> Attachment:
        """The agent made the tool calls of one turn: what is attached to the next request."""
        view = self.view
        nested = view.dialect.nested
        by_call = self._touch_each(calls, parallel=nested is not None and nested.parallel)
        turn = [each for touched in by_call for each in touched]
        if nested is not None:
            blocks = [block for each in turn for block in nested_blocks(each[1].files, nested, view.surroundings)]
        else:
            blocks = turn_blocks([attached for _, attached in turn], view.dialect, view.surroundings.model)
        masked: list[Finding] = []
        if nested is not None and nested.masks:
            from foretold.instructions.render.masks import find_masked  # most agents have no need of this

            masked += (finding for _, attached in turn for finding in find_masked(attached.files, nested))
        return self._attachment(turn, blocks, [*self._find_race(by_call), *masked])

    def _touch_each(self, calls: Iterable[Call], *, parallel: bool) -> list[list[Touched]]:
        """What the calls of a turn bring, one after the other; `parallel` ones know only what was there before."""
        found, before = [], set(self._attached)
        for call in calls:
            others = self._attached
            if parallel:
                self._attached = set(before)
            paths = self._touched_by(call)
            if any(each.tool == call.tool for each in self.view.dialect.silent):
                self._attached.update(() if call.error else paths)
                paths = []
            found.append([self._touch(path, call.tool, reached=not call.error) for path in paths])
            self._attached |= others
        return found

    def _find_race(self, by_call: list[list[Touched]]) -> list[Finding]:
        """A finding if several calls of a turn attach something, and the agent gives it as each of them ends."""
        first = [next((entry.path for _, new in call for entry in (*new.files, *new.fallback)), "") for call in by_call]
        paths = [path for path in first if path]
        if len(paths) < 2 or not self.view.dialect.races:
            return []
        said = f"{len(paths)} calls of one turn attach files: the order depends on which of them ends first"
        return [Finding(paths[0], None, "order-unspecified", said, "do not let one of these files rely on another")]

    def prompt(self, text: str) -> Attachment:
        """The user sent a prompt: what its `@file` mentions attach to the request."""
        return self.mention(*mentions_in(text))

    def mention(self, *paths: str) -> Attachment:
        """The user mentioned files in a prompt."""
        view = self.view
        tree, wanted = self._disk(), ("file", "missing") if view.dialect.mention_missing else ("file",)
        kinds = [(path, tree.kind(path)) for path in (join(view.surroundings.cwd, path) for path in paths)]
        self._attached.update(path for path, kind in kinds if kind == "file")
        turn = [self._touch(path, "mention", reached=kind == "file") for path, kind in kinds if kind in wanted]
        blocks = mention_blocks([attached for _, attached in turn], view.dialect, view.surroundings.model)
        return self._attachment(turn, blocks)

    def subagent(self, name: str, *, instructions: bool | None = None) -> Session:
        """The conversation of a subagent; its `view` is what it gets.

        Whether it gets any instructions depends on its name, unless `instructions` says so.
        """
        session = Session.of(*self._ask, self._tree, name)
        session._is_instructed = instructions
        session._begin(self.view if session._gets_instructions(self.view) else self.view.without_entries())
        return session

    def _gets_instructions(self, view: View) -> bool:
        if self._is_instructed is not None:
            return self._is_instructed
        return self._name not in view.dialect.subagents_without

    def clone(self) -> Session:
        """A separate conversation that has what this one was given: a fork."""
        other = Session.of(*self._ask, self._tree, self._name)
        other._is_instructed = self._is_instructed
        other._begin(self.view)
        other._rules = self._rules.copy()
        other._attached, other._loaded, other._sent = set(self._attached), dict(self._loaded), list(self._sent)
        other.attached, other.shell_folder = list(self.attached), self.shell_folder
        return other

    def _attachment(self, turn: list[Touched], blocks: list[Block], more: Iterable[Finding] = ()) -> Attachment:
        entries = tuple(entry for _, attached in turn for entry in (*attached.files, *attached.fallback))
        self.attached += entries
        self._loaded |= dict.fromkeys((entry.path for entry in entries), time.time_ns() // 1_000_000)
        awake = {entry.path for entry in entries}
        skips = [skip for loader, _ in turn for skip in loader.skips]
        skips = [skip for skip in skips if skip.reason != "not-yet-read" or skip.path not in awake]
        findings = [*more, *(finding for loader, _ in turn for finding in loader.findings)]
        findings += advise(skips, (), self._disk(), list_roots(self.view.surroundings))
        self._sent += blocks
        return Attachment(entries, tuple(blocks), tuple(skips), tuple(findings))

    def _disk(self) -> Tree:
        return self._tree if self._tree is not None else Disk()

    def _touched_by(self, call: Call) -> list[str]:
        """The files that a call touches in a way that the agent notices; a folder ends in a slash."""
        view, tree = self.view, self._disk()
        is_other = view.dialect.nested is not None  #: another agent than Claude Code: it may name several, or folders
        tools = (*view.dialect.triggers, *view.dialect.silent)
        triggers = [each for each in tools if each.tool == call.tool]
        if call.tool == "Bash" and not is_other:
            command, folder = str(call.input.get("command", "")), self.shell_folder
            if not call.error:
                self.shell_folder = folder_after(command, folder)
            readings = files_read(command) if triggers and not call.error else []
            return [path for reading in readings if (path := self._shell_path(reading, folder))]
        found = []
        for trigger in triggers:
            named = call.input.get(trigger.key) if not call.error or call.error in trigger.despite else None
            names = [named] if isinstance(named, str) else named if isinstance(named, list) and is_other else []
            for path in (join(view.surroundings.cwd, str(name)) for name in names):
                kind = tree.kind(path) if is_other else ""
                if not trigger.on or kind == trigger.on:
                    found.append(path + "/" if kind == "folder" else path)
        return found

    def _shell_path(self, reading: ShellRead, folder: str) -> str:
        """The file of the working directory that a shell command reads; empty if it reads none of its lines."""
        surroundings = self.view.surroundings
        home = reading.path.startswith("~/")
        path = join(surroundings.home, reading.path[2:]) if home else join(folder, reading.path)
        if not is_inside(path, surroundings.cwd):
            return ""
        data = self._disk().read(path, MAX_SHELL_READ)
        if isinstance(data, Fault) or reading.first > data.count(b"\n") + 1:
            return ""
        return path

    def _touch(self, touched: str, tool: str, *, reached: bool) -> Touched:
        view = self.view
        nested = view.dialect.nested
        is_itself = view.dialect.touch_itself if nested is None else nested.itself
        if reached and not is_itself:
            self._attached.add(touched)
        loader = Loader(self._disk(), view.dialect, view.surroundings, touched)
        if nested is not None:
            follow_nested(loader, touched, nested, self._rules)
        else:
            self._follow_touch(loader, touched)
        files = self._new(loader.entries, loader)
        fallback: tuple[Entry, ...] = ()
        table = view.dialect.fallback
        if table is not None and view.nested_fallback and tool in table.tools and (reached or tool == "mention"):
            other = Loader(loader.tree, view.dialect, view.surroundings, touched)
            folders = self._folders(loader, touched, through_links=table.through_links)
            take_nested_fallback(other, table, folders, self._known)
            fallback = self._new(other.entries, loader)
            loader.skips += other.skips
            loader.findings += other.findings
        is_rich = tool == "Read" and reached and touched.lower().endswith(RICH)
        return loader, NestedEntries(files, fallback, is_rich)

    def _folders(self, loader: Loader, touched: str, *, through_links: bool) -> list[str]:
        """The folders between the working directory and a file that may hold instructions."""
        cwd = loader.surroundings.cwd
        folders = folders_below(cwd, touched)
        return folders if through_links else [path for path in folders if is_inside(loader.tree.real(path), cwd)]

    def _is_working(self, loader: Loader, touched: str) -> bool:
        """Whether a file is in a folder that the agent works in, as its path is spelled and as it is real."""
        working, real = loader.surroundings.working, loader.tree.real
        folders = (*working, *map(real, working))
        paths = (touched, real(touched))
        return not working or all(any(is_inside(path, folder) for folder in folders) for path in paths)

    def _follow_touch(self, loader: Loader, touched: str) -> None:
        matching = self._rules.matching(touched)
        if not self._is_working(loader, touched):
            said = f"{touched} is outside the working directory and every added one (--add-dir, additionalDirectories)"
            loader.skips += [Skip(rule.entry.path, "touched-outside", said, rule.entry.layer) for rule in matching]
            return
        inside = set(self._folders(loader, touched, through_links=False))
        for source, folder in steps(loader.dialect.touch, loader.surroundings, touched):
            if source.base == "below":
                if folder not in inside:
                    continue
                if source.when == "matching":
                    nested = WaitingRules(
                        (rule for rule in loader.waiting if rule.base == folder), self._rules.patterns
                    )
                    loader.entries += [rule.entry for rule in nested.matching(touched)]
                else:
                    loader.take(source, folder)
            else:
                loader.entries += [
                    rule.entry._replace(trigger=touched)
                    for rule in matching
                    if rule.source.base == source.base
                    and (source.base != "walk" or rule.base == folder)
                    and rule.entry.path not in {nested.entry.path for nested in loader.waiting}  # looked at just now
                ]

    def _new(self, entries: list[Entry], loader: Loader) -> tuple[Entry, ...]:
        """Those entries that were not attached before."""
        found = []
        for entry in entries:
            if entry.path in self._attached or self._held.get(entry.path) == trim(entry.text):
                reason = "read-itself" if entry.path == loader.trigger else "already-attached"
                loader.skips.append(Skip(entry.path, reason, "", entry.layer, entry.parent))
            else:
                self._attached.add(entry.path)
                found.append(entry)
        return tuple(found)
