"""The memories of a project: its own store, the one below it in a worktree, the team's, and the inbox.

import foretold

memory = foretold.memory.open(".")
memory.create("Deploys", type="project", description="...", body="...")
for hit in memory.recall("how do we deploy?", budget=2000).hits:
    print(hit.memory.name, hit.why)
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from foretold.dialects.registry import DEFAULT_AGENT
from foretold.errors import ConsentNeeded, MemoryChanged, NoSuchMemory, StoreFailed, WriteRefused
from foretold.memory.location import (
    MemoryLocation,
    author_of,
    folder_name,
    follow_move,
    give_consent,
    identity_of,
    locate_memories,
    save_identity,
)
from foretold.memory.note import Memory, new_file
from foretold.memory.store.inbox import Inbox, Proposal
from foretold.memory.store.index_file import Budget
from foretold.memory.store.journal import Change
from foretold.memory.store.store import Store, known_type, title_metadata, write_text
from foretold.memory.store.team import (
    Share,
    ignore_index,
    plan_share,
    refuse_credentials,
    refuse_personal,
    share,
    team_index,
)
from foretold.memory.write_policy import refuse_new_credentials
from foretold.storage.kernel import KERNEL, Kernel
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from typing import TypeVar, Unpack

    from foretold.memory.drift.verify import MemoryVerdict, Progress
    from foretold.memory.recall.ranking import RankFilter
    from foretold.memory.recall.recall import Recall
    from foretold.memory.recall.vectors import Embed, Vectors
    from foretold.memory.store.journal import ChangeOrigin

    Made = TypeVar("Made")


NOT_ACCEPTED = "the team's memories of this repository are not accepted: foretold memory trust"
ALLOW = "pass allow_credentials=True"
MOST_COMPARED = 10_000  #: names among which a similar one is looked for: a second or so
#: what the prompt adds where a model may not write freely
POLICY = {
    "confirm": "Do not write these files yourself: propose a memory to the user, who confirms it.",
    "manual": "Do not write these files: memories are written by the user alone.",
    "read-only": "Do not write these files: this memory is read-only.",
}


def open(  # noqa: A001 - reads as foretold.memory.open
    cwd: str | os.PathLike[str] = ".",
    *,
    agent: str = DEFAULT_AGENT,
    home: str | os.PathLike[str] | None = None,
    managed: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    policy: str = "",
    kernel: Kernel = KERNEL,
) -> Memories:
    """The memories of the project that a folder belongs to, where the agent keeps them, or in `folder`.

    >>> import foretold, tempfile
    >>> place = tempfile.mkdtemp()
    >>> memory = foretold.memory.open(place, home=place, env={})
    >>> memory.create("Tabs", type="feedback", description="indent with tabs", body="Use tabs.").file
    'feedback_tabs.md'
    >>> memory.delete("tabs").op, memory.restore("tabs").body
    ('delete', 'Use tabs.')
    """
    place = locate_memories(cwd, agent=agent, home=home, managed=managed, env=env, folder=folder)
    return Memories(place._replace(policy=policy) if policy else place, kernel)


class Memories:
    """What is remembered for one project."""

    def __init__(
        self, place: MemoryLocation, kernel: Kernel = KERNEL, *, scope: str = "private", reads_team: bool = True
    ) -> None:
        self.place = place
        self.own = self._store(place.store, kernel, scope)
        self.under = self._store(place.under, kernel) if place.under else None
        self.team = self._store(place.team, kernel, scope="team") if place.team and reads_team else None
        if self.team is not None and os.path.isdir(place.team):
            follow_move(place.state, self.team.state, identity_of(place.root, place.team))
        others = {"team": self.team, "under": self.under}
        self.inbox = Inbox(self.own, {scope: store for scope, store in others.items() if store is not None})

    def team_memories(self) -> Memories:
        """The team's memories alone, to be read and changed like private ones."""
        self._need_team()
        place = self.place._replace(store=self.place.team, under="", team="", off="", is_read=False)
        return Memories(place, self.own.folder.kernel, scope="team")

    def for_models(self) -> Memories:
        """The same memories without those of a team that the user has not accepted; an error for the team's."""
        if self.own.scope == "team" and not self.place.is_accepted:
            raise NoSuchMemory(NOT_ACCEPTED)
        if self.place.is_accepted or not self.place.team or not os.path.lexists(self.place.team):
            return self
        return Memories(self.place, self.own.folder.kernel, scope=self.own.scope, reads_team=False)

    def count_unaccepted(self) -> int:
        """How many memories the team's folder has, if the user has not accepted it."""
        store = self.own if self.own.scope == "team" else self.team
        return len(store.folder.files()) if store is not None and not self.place.is_accepted else 0

    def require_consent(self) -> None:
        """Raise if the team's folder has texts that the user has not accepted: writing there would accept them."""
        store = self.own if self.own.scope == "team" else self.team
        if self.place.is_accepted or store is None or not self.place.consent or os.path.exists(self.place.consent):
            return
        count = self.count_unaccepted()
        if count or team_index(store):
            has = f"{count} {'memory' if count == 1 else 'memories'}" if count else "a text"
            said = f"the team's folder has {has} that you have not accepted, and writing there would accept it all"
            raise ConsentNeeded(f"{said}; look and decide first: foretold memory trust")

    def _need_team(self) -> Store:
        if self.team is None and not self.place.is_accepted:
            raise NoSuchMemory(NOT_ACCEPTED)
        if self.team is None:
            why = "this is not a git repository, or its settings lead out of it"
            raise NoSuchMemory(f"there is no team folder here: {why}; see: foretold memory doctor")
        return self.team

    def _store(self, folder: str, kernel: Kernel, scope: str = "private") -> Store:
        name = folder_name(folder)
        state, cache = f"{self.place.state}/{name}", f"{self.place.cache}/{name}"
        author = author_of(self.place.root, self.place.home) if scope == "team" else ""
        made = Store(folder, state, cache, scope=scope, policy=self.place.policy, author=author, kernel=kernel)
        made.versioned.bound = self.place.history or made.versioned.bound
        return made

    @property
    def stores(self) -> list[Store]:
        """The stores that are read, the nearest first."""
        return [store for store in (self.own, self.under, self.team) if store is not None]

    # Reading

    def memories(self, findings: list[Finding] | None = None) -> list[Memory]:
        """Every memory; one of a worktree hides the one of the same file below it."""
        found = self.own.memories(findings)
        if self.under is not None:
            files = {memory.file for memory in found}
            found += [memory for memory in self.under.memories(findings) if memory.file not in files]
        return found + (self.team.memories(findings) if self.team else [])

    def get(self, name: str) -> Memory:
        """A memory by file or name, from the nearest store that has it."""
        for store in self.stores:
            if found := store.find_named(name):
                return store.choose_named(name, found)
        raise self._unknown(name)

    def find_store(self, name: str) -> Store:
        """The nearest store that has a memory."""
        for store in self.stores:
            if store.has(name):
                return store
        raise self._unknown(name)

    def _unknown(self, name: str) -> NoSuchMemory:
        return NoSuchMemory(f"no memory is named {name!r}{self._suggest(name)}; see: foretold memory list")

    def _find_writable(self, name: str) -> Store:
        """The store that has a memory; not the one below a worktree's, which all worktrees share."""
        store = self.find_store(name)
        if store is self.under:
            message = f"{name!r} belongs to the repository, not to this worktree"
            raise WriteRefused(f"{message}; run this with -C {self.place.project}")
        return store

    def _suggest(self, name: str) -> str:
        from difflib import get_close_matches

        names = [each for store in self.stores for file in store.folder.files() for each in (file, file[:-3])]
        if len(names) > MOST_COMPARED:
            return ""
        close = get_close_matches(name, names, 1, 0.6)
        return f", did you mean {close[0]!r}?" if close else ""

    def index(self) -> str:
        """The text of the index; empty if there is none, or it cannot be read."""
        if self.own.scope == "team":
            return team_index(self.own)
        try:
            return self.own.index()
        except StoreFailed:
            return ""  # the doctor says why

    def budget(self, *, compare: bool = True) -> Budget:
        """How much of the index the agent sees; with `compare`, also what it has no file or no entry for."""
        files = frozenset(self.own.folder.files()) if compare else None
        return Budget(self.index(), self.place.dialect, files)

    def log(self, name: str = "") -> list[Change]:
        """Every change of the private store, or of one memory in the store that has, or had, it."""
        if not name:
            return self.own.log()
        return next((found for store in self.stores if (found := store.log(name))), [])

    # Writing

    def create(
        self,
        topic: str,
        *,
        type: str,  # noqa: A002
        description: str,
        body: str,
        file: str = "",
        metadata: Mapping[str, object] | None = None,
        allow_credentials: bool = False,
        **origin: Unpack[ChangeOrigin],
    ) -> Memory | Proposal:
        """A new memory; a proposal if the policy puts what agents write into the inbox.

        What looks like a credential is refused, unless it is allowed; for the team it never is.
        """
        if self.own.scope == "team":
            refuse_credentials(topic, f"{description}\n{body}")
        elif not allow_credentials:
            refuse_new_credentials(f"{topic}\n{description}\n{body}", otherwise=ALLOW)
        values = {"type": known_type(type), **title_metadata(topic), **(metadata or {})}
        if self._is_proposed(origin, self.own):
            text = write_text(self.own.name_of(topic), description, values, body, flat=self.own.flat)
            return self._propose("create", self.own, file or new_file(type, topic), text, "", origin)
        if self.own.scope == "team":
            refuse_personal(type)
            if origin.get("by") != "agent":
                self.require_consent()
        made = self.own.create(
            topic, type=type, description=description, body=body, file=file, metadata=metadata, **origin
        )
        save_identity(self.own.state, identity_of(self.place.project, self.place.store))
        if self.own.scope == "team" and origin.get("by") != "agent":
            give_consent(self.place.consent, self.place.root)
        return self._finish(self.own, made)

    def edit(
        self,
        name: str,
        *,
        description: str | None = None,
        body: str | None = None,
        type: str | None = None,  # noqa: A002
        text: str | None = None,
        expect: str = "",
        allow_credentials: bool = False,
        **origin: Unpack[ChangeOrigin],
    ) -> Memory | Proposal:
        """Change a memory in its store; one from below a worktree's store is copied into that first.

        A new text that looks like a credential is refused, unless it is allowed; for the team it never is.
        """
        store = self.find_store(name)
        before = store.get(name)
        if expect and expect != before.digest:
            raise MemoryChanged(f"{before.file} was changed by another program meanwhile; read it again")
        whole = text if text is not None else store.rewrite(before, description, body, type)
        if store.scope == "team":
            refuse_credentials(before.file, whole)
        elif not allow_credentials:
            refuse_new_credentials(whole, before.text, otherwise=ALLOW)
        if self._is_proposed(origin, store):
            into, op = (self.own, "create") if store is self.under else (store, "edit")
            return self._propose(op, into, before.file, whole, before.digest, origin)
        if store is self.under:
            return self.own.put(before.file, whole, **origin)
        return self._finish(store, store.edit(before.file, text=whole, expect=before.digest, **origin))

    def rename(self, name: str, topic: str, **origin: Unpack[ChangeOrigin]) -> Memory | Proposal:
        """Give a memory another name, and its file too."""
        store = self._find_writable(name)
        if self._is_proposed(origin, store):
            memory = store.get(name)
            return self._propose("rename", store, memory.file, topic, memory.digest, origin)
        return self._finish(store, store.rename(name, topic, **origin))

    def delete(self, name: str, *, expect: str = "", **origin: Unpack[ChangeOrigin]) -> Change | Proposal:
        """Delete a memory from the nearest store that has it; one below a worktree's store is visible again then.

        It stays in the history.
        """
        store = self._find_writable(name)
        if self._is_proposed(origin, store):
            memory = store.get(name)
            return self._propose("delete", store, memory.file, "", expect or memory.digest, origin)
        return self._finish(store, store.delete(name, expect=expect, **origin))

    def restore(self, name: str, *, at: int = 0, **origin: Unpack[ChangeOrigin]) -> Memory:
        """A deleted memory, or an earlier version, from the nearest store whose history has it."""
        *others, last = self.stores
        return next((store for store in others if store.log(name)), last).restore(name, at=at, **origin)

    def plan_share(self, name: str, *, personal: bool = False) -> Share:
        """What sharing a memory with the team would do. Changes nothing."""
        team, store = self._need_team(), self.find_store(name)
        if store is team:
            raise NoSuchMemory(f"{name!r} is the team's memory already")
        return plan_share(store.get(name), team, personal=personal)

    def share(self, plan: Share) -> Memory:
        """Copy a memory into the team's store: who does so accepts what is in it, and has seen it."""
        self.require_consent()
        made = self._finish(self._need_team(), share(plan, self._need_team()))
        give_consent(self.place.consent, self.place.root)
        return made

    def _finish(self, store: Store, made: Made) -> Made:
        """What follows a change of the team's store: git ignores its index, and its project is recorded."""
        if store.scope == "team":
            ignore_index(store)
            save_identity(store.state, identity_of(self.place.root, store.path))
        return made

    def _is_proposed(self, origin: ChangeOrigin, store: Store) -> bool:
        """Whether a change is only proposed: what agents write if the policy says so, or for the team."""
        asked = ("auto", "confirm") if store.scope == "team" else ("confirm",)
        return origin.get("by") == "agent" and self.place.policy in asked

    def _propose(self, op: str, store: Store, file: str, text: str, expect: str, origin: ChangeOrigin) -> Proposal:
        scope = "private" if store is self.own else "under" if store is self.under else "team"
        session, why = origin.get("session", ""), origin.get("why", "")
        return self.inbox.propose(op, file, text, expect=expect, session=session, why=why, scope=scope)

    # Recall, drift, prompt

    def recall(
        self,
        query: str,
        *,
        budget: int = 2000,
        limit: int = 8,
        types: Sequence[str] = (),
        vectors: Vectors | None = None,
        embed: Embed | None = None,
        check: bool = True,
        worth: RankFilter | None = None,
    ) -> Recall:
        """The memories that a question is about, within a budget of tokens; with `check`, whether each still holds.

        `embed` turns texts into vectors (`foretold.memory.recall.vectors`), in place of the table of word vectors.
        `worth` chooses what is worth quoting, as `foretold.memory.recall.relevance.worth_quoting` does.
        """
        from foretold.memory.drift.quick_check import QuickCheck
        from foretold.memory.recall.recall import recall

        return recall(
            [(store.path, store.scope) for store in self.stores],
            query,
            budget=budget,
            limit=limit,
            types=types,
            cache=self.place.cache,
            vectors=vectors,
            embed=embed,
            check=QuickCheck(self.place.root, self.own.cache) if check else None,
            worth=worth,
        )

    def prompt(
        self,
        *,
        wording: str = "long",
        team: bool = False,
        skip_index: bool = False,
        daily_log: bool = False,
        search: str | None = None,
        extra_guidelines: Sequence[str] = (),
    ) -> str:
        """The text that teaches a model to use this memory; with `team`, private and shared memory together."""
        from foretold.memory.prompt.prompt import memory_prompt

        shared = self._need_team().path if team else None
        if self.place.policy == "auto":
            self.own.folder.make()  # the prompt says that it exists
        return memory_prompt(
            self.place.store,
            wording=wording,
            team=shared,
            skip_index=skip_index,
            daily_log=daily_log,
            search=search,
            project_dir=os.path.dirname(self.place.store),
            extra_guidelines=[*extra_guidelines, POLICY.get(self.place.policy, "")],
        )

    def verify(
        self,
        names: Sequence[str] = (),
        *,
        progress: Progress | None = None,
        findings: list[Finding] | None = None,
    ) -> tuple[MemoryVerdict, ...]:
        """Whether what memories claim is still so; all of them, unless some are named. `recall` reports it later.

        What cannot be read is added to `findings`.
        """
        from foretold.memory.drift.quick_check import save_verdicts
        from foretold.memory.drift.verify import verify

        notes = [self.get(name) for name in names] if names else self.memories(findings)
        verdicts = verify(notes, self.place.root, progress=progress)
        save_verdicts(self.own.cache, notes, verdicts)
        return verdicts
