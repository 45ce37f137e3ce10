"""Proposed changes that wait for a person: what agents wrote while the policy is `confirm`.

1. Proposals, and the answers to them, are records of one file, `inbox.jsonl`. No record is ever removed.
2. Accepting makes the change as an agent's change that the user approved. A memory that was changed since it was read
   is not overwritten: the proposal stays, and says so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from foretold.errors import MemoryChanged, MemoryExists, NoSuchMemory, NotSynced, StoreFailed, WriteRefused
from foretold.memory.note import Memory, safe_file
from foretold.memory.store.journal import Change
from foretold.memory.store.store import Store
from foretold.memory.store.team import ignore_index
from foretold.memory.store.transaction import now
from foretold.storage.append_log import RecordLog
from foretold.storage.kernel import token
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.store.journal import ChangeOrigin


class Proposal(NamedTuple):
    """A change that an agent wants to make."""

    id: str
    time: str
    op: str  #: create, edit, rename, delete
    file: str
    text: str = ""  #: of the file, afterwards; of a rename, the new topic
    expect: str = ""  #: digest of the file that was read
    session: str = ""
    why: str = ""
    scope: str = "private"  #: the store that it would change


SHORTEST = 4  #: characters of an id


class Inbox:
    """The proposals of one store, and for the stores that are read with it."""

    def __init__(self, store: Store, others: Mapping[str, Store] | None = None) -> None:
        self.store = store
        self.others = others or {}  #: by scope
        self.lines = RecordLog(os.path.join(store.state, "inbox.jsonl"), store.folder.kernel)

    def propose(
        self,
        op: str,
        file: str,
        text: str = "",
        *,
        expect: str = "",
        session: str = "",
        why: str = "",
        scope: str = "private",
    ) -> Proposal:
        """Put a change into the inbox."""
        if self.store.policy in ("manual", "read-only"):
            raise WriteRefused(f"the write policy is {self.store.policy}: nothing is proposed here")
        safe_file(file)
        proposal = Proposal(token()[-8:], now(), op, file, text, expect, session, why, scope)
        self._append({"kind": "propose", **proposal._asdict()})
        return proposal

    def waiting(self) -> list[Proposal]:
        """The proposals without an answer."""
        found: dict[str, Proposal] = {}
        for record in self.lines.read()[0]:
            key = str(record.get("id"))
            if record.get("kind") == "propose":
                found[key] = Proposal(*(str(record.get(name, "")) for name in Proposal._fields))
            else:
                found.pop(key, None)
        return list(found.values())

    def get(self, name: str) -> Proposal:
        """A proposal by its id, or at least four characters of it, so that a list number is not taken for one."""
        found = [proposal for proposal in self.waiting() if proposal.id.startswith(name) and len(name) >= SHORTEST]
        if len(found) != 1:
            short = f"; give at least {SHORTEST} characters of an id" if len(name) < SHORTEST else ""
            raise NoSuchMemory(f"{len(found)} proposals match {name!r}{short}; see: foretold memory inbox")
        return found[0]

    def accept(self, name: str) -> Memory | Change:
        """Make a proposed change."""
        proposal = self.get(name)
        made = self._apply(proposal)
        if proposal.scope == "team":
            ignore_index(self._store(proposal))
        try:
            self._append({"kind": "accept", "id": proposal.id, "time": now()})
        except StoreFailed as error:
            reason = str(error).removesuffix(". Nothing was changed")
            message = f"{proposal.file} is changed, but the inbox does not record that yet: {reason}. Accept it again"
            raise NotSynced(message) from error
        return made

    def refuse(self, name: str, why: str = "") -> Proposal:
        """Refuse a proposal. It stays in the file, with its text."""
        proposal = self.get(name)
        self._append({"kind": "refuse", "id": proposal.id, "time": now(), "why": why})
        return proposal

    def is_stale(self, proposal: Proposal) -> bool:
        """Whether the memory was changed since: then the proposal can no longer be accepted."""
        there = self._store(proposal).find(proposal.file)
        return (there.digest if there else "") != proposal.expect

    def diff(self, proposal: Proposal) -> str:
        """What a proposal would change."""
        if proposal.op == "rename":
            return f"the new name: {proposal.text}\n"
        from foretold.text.diff import unified  # not where a memory is only written

        before = self._store(proposal).find(proposal.file)
        return unified(before.text if before else "", proposal.text, proposal.file)

    def _apply(self, proposal: Proposal) -> Memory | Change:
        why = ", ".join(filter(None, (proposal.why, f"proposal {proposal.id}, accepted")))
        message: ChangeOrigin = {"by": "agent", "session": proposal.session, "why": why}
        store, expect = self._store(proposal).with_approval(), proposal.expect
        try:
            if proposal.op == "delete":
                return store.delete(proposal.file, expect=expect, **message)
            if proposal.op == "rename":
                return store.rename(proposal.file, proposal.text, expect=expect, **message)
            if proposal.op == "edit":
                return store.edit(proposal.file, text=proposal.text, expect=expect, **message)
            return store.put(proposal.file, proposal.text, **message)
        except (MemoryExists, MemoryChanged, NoSuchMemory):
            made = self._find_result(proposal)
            if made is None:
                raise
            store.folder.confirm(proposal.file)  # the process that accepted it may have died before the sync
            return made

    def _find_result(self, proposal: Proposal) -> Memory | Change | None:
        """The result of a proposal that was accepted before the answer was lost."""
        store = self._store(proposal)
        last = next((change for change in reversed(store.log(proposal.file)) if change.op != "leftover"), None)
        if proposal.op == "delete":
            return last if last is not None and last.after is None and last.by != "other" else None
        there = store.find(proposal.file)
        return there if there and there.text == proposal.text else None

    def _store(self, proposal: Proposal) -> Store:
        """The store that a proposal is for."""
        if proposal.scope in ("", "private"):
            return self.store
        if proposal.scope not in self.others:
            raise NoSuchMemory(f"{proposal.file} belongs to the {proposal.scope} store, which no longer exists")
        return self.others[proposal.scope]

    def _append(self, record: dict[str, object]) -> None:
        with self.store.versioned.locked():
            self.lines.append([record])
