"""foretold: exactly what a coding agent is told, and why.

    import foretold

    view = foretold.load(".", agent="claude-code")
    print(view.text)
    for skip in view.skips:
        print(skip.path, skip.reason)

Importing foretold does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

from foretold.imports import attach

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold import (
        check as check,
        compat as compat,
        context as context,
        files as files,
        memory as memory,
        sessions as sessions,
    )
    from foretold.errors import ForetoldError as ForetoldError, NotAFolder as NotAFolder, UnknownAgent as UnknownAgent
    from foretold.harness.harness import Harness as Harness
    from foretold.instructions.compaction.survival import Survival as Survival
    from foretold.instructions.compare import Comparison as Comparison, compare as compare
    from foretold.instructions.continuation import StartUpdate as StartUpdate
    from foretold.instructions.inject import (
        inject as inject,
        is_memory_message as is_memory_message,
        pinned_prefix as pinned_prefix,
    )
    from foretold.instructions.load import invalidate as invalidate, load as load
    from foretold.instructions.session import Attachment as Attachment, Call as Call, Session as Session
    from foretold.instructions.upgrade import Upgrade as Upgrade, compare_releases as compare_releases
    from foretold.instructions.view import View as View
    from foretold.memory.extraction.extractor import Extractor as Extractor
    from foretold.memory.extraction.gate import Gate as Gate
    from foretold.types import Block as Block, Entry as Entry, Finding as Finding, Skip as Skip, Slot as Slot

__getattr__, __dir__ = attach(
    __name__,
    {
        "foretold.errors": "ForetoldError NotAFolder UnknownAgent",
        "foretold.harness.harness": "Harness",
        "foretold.instructions.compaction.survival": "Survival",
        "foretold.instructions.compare": "Comparison compare",
        "foretold.instructions.continuation": "StartUpdate",
        "foretold.instructions.inject": "inject is_memory_message pinned_prefix",
        "foretold.instructions.load": "invalidate load",
        "foretold.instructions.session": "Attachment Call Session",
        "foretold.instructions.upgrade": "Upgrade compare_releases",
        "foretold.instructions.view": "View",
        "foretold.memory.extraction.extractor": "Extractor",
        "foretold.memory.extraction.gate": "Gate",
        "foretold.types": "Block Entry Finding Skip Slot",
    },
    rooms="check compat context files memory sessions",
)
