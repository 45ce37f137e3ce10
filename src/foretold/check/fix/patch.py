"""The changes of a plan as a patch that `git apply` takes.

1. Every file has a header of git, so that new files and renames are what they are. A file that is renamed several times
   is renamed once.
2. Bytes are those of the files: other line ends and a missing one at the end included.
3. A name that git would put in quotes is in quotes, with its bytes in octal.
"""

from __future__ import annotations

import os
import re

from foretold.check.fix.plan import FixPlan
from foretold.check.project import MAX_TEXT
from foretold.storage.tree import Fault
from foretold.text.diff import unified

_PLAIN = re.compile(rb"[ !#-\[\]-~]*")  #: what git does not quote: printable ASCII but `"` and `\`
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def render_patch(plan: FixPlan) -> str:
    """All changes of a plan, in the order of their paths; git knows which names become free, whatever comes first."""
    origins = plan.origins
    return "".join(
        _render_file(plan, origins.get(path, path), path, change)
        for path, change in sorted(plan.changes.items(), key=lambda item: item[0])
        if isinstance(change, bytes)
    )


def _render_file(plan: FixPlan, old: str, path: str, change: bytes) -> str:
    data = plan.project.tree.read(old, MAX_TEXT)
    is_new = isinstance(data, Fault)
    before = b"" if isinstance(data, Fault) else data
    names = plan.project.relative(old), plan.project.relative(path)
    lines = [f"diff --git {_quote('a/' + names[0])} {_quote('b/' + names[1])}"]
    if old != path:
        lines += ["similarity index 100%"] if before == change else []
        lines += [f"rename from {_quote(names[0])}", f"rename to {_quote(names[1])}"]
    elif is_new:
        lines.append("new file mode 100644")
    texts = [each.decode("utf-8", "surrogateescape") for each in (before, change)]
    hunks = unified(texts[0], texts[1], "-", "+")
    if hunks:
        lines.append(f"--- {'/dev/null' if is_new else _close(_quote('a/' + names[0]))}")
        lines.append(f"+++ {_close(_quote('b/' + names[1]))}")
        hunks = hunks.split("\n", 2)[2]  # its own two lines of names
    return "\n".join(lines) + f"\n{hunks}"


def _quote(name: str) -> str:
    """A name as git writes it in a patch.

    >>> _quote("a/my notes.md"), _quote('a/"x".md'), _quote("a/é.md")
    ('a/my notes.md', '"a/\\\\"x\\\\".md"', '"a/\\\\303\\\\251.md"')
    """
    data = os.fsencode(name)
    if _PLAIN.fullmatch(data):
        return name
    shown = [f"\\{_ESCAPES[each]}" if each in _ESCAPES else _show_byte(each) for each in data]
    return f'"{"".join(shown)}"'


def _show_byte(byte: int) -> str:
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def _close(name: str) -> str:
    """A name before a line end: a tab says where a name with spaces ends."""
    return f"{name}\t" if " " in name and not name.startswith('"') else name
