"""What an agent remembers: one Markdown file per memory, an index, a history of every change, recall and drift.

    memory = foretold.memory.open(".")

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

from foretold.imports import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.memory.note import Memory as Memory
    from foretold.memory.project import Memories as Memories, open as open  # noqa: A004
    from foretold.memory.store.inbox import Inbox as Inbox, Proposal as Proposal
    from foretold.memory.store.index_file import Budget as Budget
    from foretold.memory.store.journal import Change as Change
    from foretold.memory.store.store import Store as Store

__getattr__, __dir__ = attach(
    __name__,
    {
        "foretold.memory.note": "Memory",
        "foretold.memory.project": "Memories open",
        "foretold.memory.store.inbox": "Inbox Proposal",
        "foretold.memory.store.index_file": "Budget",
        "foretold.memory.store.journal": "Change",
        "foretold.memory.store.store": "Store",
    },
)
