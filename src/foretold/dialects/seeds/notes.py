"""The notes on Claude Code's memory and context, as `foretold.compat.notes` offers them (`docs/compat/notes.md`).

The notes describe Claude Code, so this is its earlier recorded version with what they say differently:

1. A file is imported with `@include path` as well as with `@path`. The recorded agent takes the word after `@` for the
   name of a file (finding `import-directive`).
2. A file below the working directory that the Read tool reads brings the instructions of its folder, once.
3. Explore and Plan get no instructions.
"""

from __future__ import annotations

from foretold.dialects.claude_code.instructions import V2_1_197
from foretold.dialects.schema import Dialect

V1: Dialect = V2_1_197._replace(
    agent="notes",
    version="1",
    evidence="documented",
    imports=V2_1_197.imports._replace(directives=("include",)),
)

DIALECTS = (V1,)
