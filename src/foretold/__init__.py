"""foretold: exactly what a coding agent is told, and why.

    import foretold

    view = foretold.load(".", agent="claude-code")
    print(view.text)
    for skip in view.skips:
        print(skip.path, skip.reason)

Importing foretold does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

__version__ = "0.1.0"

_PLACES = {
    "Attachment": "foretold.instructions.session",
    "Block": "foretold.types",
    "Call": "foretold.instructions.session",
    "Entry": "foretold.types",
    "Extractor": "foretold.memory.extraction.extractor",
    "Finding": "foretold.types",
    "Gate": "foretold.memory.extraction.gate",
    "Harness": "foretold.harness.harness",
    "ForetoldError": "foretold.errors",
    "NotAFolder": "foretold.errors",
    "Session": "foretold.instructions.session",
    "Skip": "foretold.types",
    "Slot": "foretold.types",
    "Survival": "foretold.instructions.compaction.survival",
    "UnknownAgent": "foretold.errors",
    "View": "foretold.instructions.view",
    "Comparison": "foretold.instructions.compare",
    "compare": "foretold.instructions.compare",
    "inject": "foretold.instructions.inject",
    "invalidate": "foretold.instructions.load",
    "is_memory_message": "foretold.instructions.inject",
    "load": "foretold.instructions.load",
    "pinned_prefix": "foretold.instructions.inject",
}

#: rooms that are reached as `foretold.NAME`
_ROOMS = ("context", "files", "memory", "sessions")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold import context as context
    from foretold import files as files
    from foretold import memory as memory
    from foretold import sessions as sessions
    from foretold.errors import ForetoldError as ForetoldError
    from foretold.errors import NotAFolder as NotAFolder
    from foretold.errors import UnknownAgent as UnknownAgent
    from foretold.harness.harness import Harness as Harness
    from foretold.instructions.compaction.survival import Survival as Survival
    from foretold.instructions.compare import Comparison as Comparison
    from foretold.instructions.compare import compare as compare
    from foretold.instructions.inject import inject as inject
    from foretold.instructions.inject import is_memory_message as is_memory_message
    from foretold.instructions.inject import pinned_prefix as pinned_prefix
    from foretold.instructions.load import invalidate as invalidate
    from foretold.instructions.load import load as load
    from foretold.instructions.session import Attachment as Attachment
    from foretold.instructions.session import Call as Call
    from foretold.instructions.session import Session as Session
    from foretold.instructions.view import View as View
    from foretold.memory.extraction.extractor import Extractor as Extractor
    from foretold.memory.extraction.gate import Gate as Gate
    from foretold.types import Block as Block
    from foretold.types import Entry as Entry
    from foretold.types import Finding as Finding
    from foretold.types import Skip as Skip
    from foretold.types import Slot as Slot


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return __import__(f"foretold.{name}", fromlist=[name])
    if name not in _PLACES:
        raise AttributeError(f"module 'foretold' has no attribute {name!r}")
    value: object = getattr(__import__(_PLACES[name], fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES, *_ROOMS})
