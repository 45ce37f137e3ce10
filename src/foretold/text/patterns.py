"""Regular expressions that are compiled when they are first used.

Compiling a pattern takes longer than importing a small module, and a short command uses few of them.
"""

from __future__ import annotations

import re

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:

    def lazy(source: str, flags: int = 0) -> re.Pattern[str]: ...

else:

    class lazy:  # noqa: N801  used as a function
        """Stands for a compiled pattern and takes over its methods at the first use."""

        def __init__(self, source, flags=0):
            self._source, self._flags = source, flags

        def __getattr__(self, name):
            compiled = re.compile(self._source, self._flags)
            for method in ("match", "fullmatch", "search", "finditer", "findall", "sub", "split"):
                setattr(self, method, getattr(compiled, method))
            return getattr(compiled, name)
