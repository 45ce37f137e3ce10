"""headnote: exactly what a coding agent is told, and why.

    import headnote

    view = headnote.load(".", agent="claude-code")
    print(view.text)
    for skip in view.skips:
        print(skip.path, skip.reason)

Importing headnote does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

__version__ = "0.1.0"

_PLACES = {
    "Attachment": "headnote.instructions.session",
    "Block": "headnote.types",
    "Call": "headnote.instructions.session",
    "Entry": "headnote.types",
    "Extractor": "headnote.extract.extractor",
    "Finding": "headnote.types",
    "Gate": "headnote.extract.gate",
    "Harness": "headnote.harness.harness",
    "HeadnoteError": "headnote.errors",
    "NotAFolder": "headnote.errors",
    "Session": "headnote.instructions.session",
    "Skip": "headnote.types",
    "Slot": "headnote.types",
    "Survival": "headnote.instructions.survival",
    "UnknownAgent": "headnote.errors",
    "View": "headnote.instructions.view",
    "Comparison": "headnote.instructions.compare",
    "compare": "headnote.instructions.compare",
    "inject": "headnote.instructions.inject",
    "invalidate": "headnote.instructions.load",
    "is_memory_message": "headnote.instructions.inject",
    "load": "headnote.instructions.load",
    "pinned_prefix": "headnote.instructions.inject",
}

#: rooms that are reached as `headnote.NAME`
_ROOMS = ("context", "files", "memory", "sessions")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headnote import context as context
    from headnote import files as files
    from headnote import memory as memory
    from headnote import sessions as sessions
    from headnote.errors import HeadnoteError as HeadnoteError
    from headnote.errors import NotAFolder as NotAFolder
    from headnote.errors import UnknownAgent as UnknownAgent
    from headnote.extract.extractor import Extractor as Extractor
    from headnote.extract.gate import Gate as Gate
    from headnote.harness.harness import Harness as Harness
    from headnote.instructions.compare import Comparison as Comparison
    from headnote.instructions.compare import compare as compare
    from headnote.instructions.inject import inject as inject
    from headnote.instructions.inject import is_memory_message as is_memory_message
    from headnote.instructions.inject import pinned_prefix as pinned_prefix
    from headnote.instructions.load import invalidate as invalidate
    from headnote.instructions.load import load as load
    from headnote.instructions.session import Attachment as Attachment
    from headnote.instructions.session import Call as Call
    from headnote.instructions.session import Session as Session
    from headnote.instructions.survival import Survival as Survival
    from headnote.instructions.view import View as View
    from headnote.types import Block as Block
    from headnote.types import Entry as Entry
    from headnote.types import Finding as Finding
    from headnote.types import Skip as Skip
    from headnote.types import Slot as Slot


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return __import__(f"headnote.{name}", fromlist=[name])
    if name not in _PLACES:
        raise AttributeError(f"module 'headnote' has no attribute {name!r}")
    value: object = getattr(__import__(_PLACES[name], fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES, *_ROOMS})
