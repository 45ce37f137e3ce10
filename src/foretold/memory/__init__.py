"""What an agent remembers: one Markdown file per memory, an index, a history of every change, recall and drift.

    memory = foretold.memory.open(".")

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

_PLACES = {
    "Budget": "foretold.memory.store.index_budget",
    "Change": "foretold.memory.store.journal",
    "Inbox": "foretold.memory.store.inbox",
    "Memories": "foretold.memory.project",
    "Memory": "foretold.memory.note",
    "Proposal": "foretold.memory.store.inbox",
    "Store": "foretold.memory.store.store",
    "open": "foretold.memory.project",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.memory.note import Memory as Memory
    from foretold.memory.project import Memories as Memories
    from foretold.memory.project import open as open  # noqa: A004
    from foretold.memory.store.inbox import Inbox as Inbox
    from foretold.memory.store.inbox import Proposal as Proposal
    from foretold.memory.store.index_budget import Budget as Budget
    from foretold.memory.store.journal import Change as Change
    from foretold.memory.store.store import Store as Store


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'foretold.memory' has no attribute {name!r}")
    value: object = getattr(__import__(_PLACES[name], fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
