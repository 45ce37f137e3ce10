"""Imports behind the text instead of in it: each file once, in a block that bears its path. # gemini-cli: gemini-031

The first block bears the folder of the file that imports; imports are visited from the last to the first, depth first.
"""

from __future__ import annotations

from foretold.instructions.text.inline import Inlining
from foretold.instructions.text.marks import marks_of
from foretold.instructions.text.read import Text, read_text
from foretold.storage.tree import Fault
from foretold.text.frontmatter import trim
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.instructions.engine import Run
    from foretold.instructions.origin import Origin

BLOCK = "--- File: {path} ---\n{text}\n--- End of File: {path} ---"


def expand_flat(run: Run, real: str, text: Text, origin: Origin) -> tuple[str, tuple[str, ...]]:
    """A text with the files that it imports behind it, and their paths."""
    inline = run.dialect.imports.inline
    whole = Inlining(run, real, inline)
    folder = real.rpartition("/")[0] or "/"
    waiting: list[tuple[str, str, Text, int]] = [(folder, folder, text, 0)]
    seen: set[str] = set()
    blocks: list[str] = []
    while waiting:
        path, base, found, depth = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        blocks.append(BLOCK.format(path=path, text=trim(found.shown)))
        if depth >= run.dialect.imports.depth:
            continue
        for mark in marks_of(found.shown, inline)[0]:  # the last is taken from the stack first
            target = whole.target(mark.path, base)
            below = origin._replace(kind="import", parent=path, depth=depth + 1)
            if whole.refusal(target, mark.path, below) is None:
                more = read_text(run.tree, target, run.dialect, "import")
                if isinstance(more, Fault):
                    run.skip(target, more.reason, below, more.detail)
                else:
                    waiting.append((target, target.rpartition("/")[0] or "/", more, depth + 1))
    return "\n\n".join(blocks), tuple(path for path in seen if path != folder)
