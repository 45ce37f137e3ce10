"""What an agent remembers: one Markdown file per memory, an index, a history of every change, recall and drift.

    memory = headnote.memory.open(".")

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

_PLACES = {
    "Budget": "headnote.memory.budget",
    "Change": "headnote.memory.journal",
    "Inbox": "headnote.memory.inbox",
    "Memories": "headnote.memory.memories",
    "Memory": "headnote.memory.note",
    "Proposal": "headnote.memory.inbox",
    "Store": "headnote.memory.store",
    "open": "headnote.memory.memories",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headnote.memory.budget import Budget as Budget
    from headnote.memory.inbox import Inbox as Inbox
    from headnote.memory.inbox import Proposal as Proposal
    from headnote.memory.journal import Change as Change
    from headnote.memory.memories import Memories as Memories
    from headnote.memory.memories import open as open  # noqa: A004
    from headnote.memory.note import Memory as Memory
    from headnote.memory.store import Store as Store


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'headnote.memory' has no attribute {name!r}")
    value: object = getattr(__import__(_PLACES[name], fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
