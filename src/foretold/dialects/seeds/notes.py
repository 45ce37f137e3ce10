"""The notes on Claude Code's memory and context, as `foretold.compat.notes` offers them (`docs/compat/notes.md`).

The notes describe Claude Code, so this is its release 2.1.197 with what they say differently:

1. A file is imported with `@include path` as well as with `@path`. The recorded agent takes the word after `@` for the
   name of a file (finding `import-directive`).
2. A file below the working directory that the Read tool reads brings the instructions of its folder, once.
3. Explore and Plan get no instructions.
"""

from __future__ import annotations

from foretold.dialects.registry import dialect_at
from foretold.dialects.schema import Dialect

RELEASE = dialect_at("claude-code", "2.1.197")

V1: Dialect = RELEASE._replace(
    agent="notes",
    version="1",
    evidence="documented",
    imports=RELEASE.imports._replace(directives=("include",)),
)

DIALECTS = (V1,)
