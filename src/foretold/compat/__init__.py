"""The interfaces of the systems that foretold implements, name for name, on the one engine.

Each module is thin: it asks the engine with the dialect of that system and gives the answer the form that programs
written for it expect. Where the original has a bug, the answer is the correct one (`docs/compat/`).
"""

from __future__ import annotations

from foretold.imports import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.compat import (
        claude_code as claude_code,
        code_assist as code_assist,
        ex_athena as ex_athena,
        mink as mink,
        notes as notes,
    )

__getattr__, __dir__ = attach(__name__, {}, rooms="claude_code code_assist ex_athena mink notes")
