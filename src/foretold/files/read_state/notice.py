"""Telling the model that another program has changed a file that it knows.

1. It is told about files that it edited or wrote, saw through a shell, or was given as instructions; not about files it
   only read.
2. A file whose time is newer and whose text differs is reported. From then on, and if its text is the same, it counts
   as only read: a second change is not reported.
3. The snippet is the file from its first line on, numbered, cut after the last line that fits into 8,192 UTF-16 units,
   and says how many lines are missing.
4. After 16,384 units of snippets the others have none; their message says so.
5. A deleted file is forgotten. One that is empty, or too large to be read, is not reported.
"""

from __future__ import annotations

from foretold.dialects.claude_code.files import IMAGES, FileRules
from foretold.files.read_state.encoded import decode_for_reading
from foretold.files.read_state.reading import numbered
from foretold.files.read_state.values import KnownFile
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.files.read_state.state import ReadState


class Notice(NamedTuple):
    """A file that another program has changed."""

    path: str
    snippet: str  #: empty where the budget was used up
    text: str  #: as the model receives it, without its envelope

    @property
    def attachment(self) -> dict[str, str]:
        """As a transcript has it."""
        return {"type": "edited_text_file", "filename": self.path, "snippet": self.snippet}


def changed_files(state: ReadState) -> list[Notice]:
    """The notices for the model now."""
    notices: list[Notice] = []
    used = 0
    for path, known in list(state.entries.items()):
        text = _newer(state, path, known)
        if text is None:
            continue
        rules, snippet, is_shown, is_same = state.rules, "", known.shown, text == known.content
        if not is_same:
            snippet, is_shown = snippet_of(text, rules) if used < rules.snippets else ("", False)
        mtime = state.disk.see(path).mtime
        partial = known.partial and rules.partial_stays
        state.know(path, KnownFile(text, mtime, state.clock(), 1, shown=is_shown and not partial, partial=partial))
        if is_same or not text:
            continue
        used += units_in(snippet)
        form = rules.notice.format(path=path) + snippet if snippet else rules.omitted.format(path=path)
        notices.append(Notice(path, snippet, form))
    return notices


def _newer(state: ReadState, path: str, known: KnownFile) -> str | None:
    """The text of a file that has a newer time; None if it need not be compared."""
    if not known.noticed:
        return None
    seen = state.disk.see(path)
    if seen.kind == "missing":
        state.forget(path)
    if seen.kind != "file" or seen.mtime <= known.mtime or seen.size > state.rules.most_bytes:
        return None
    if path.lower().endswith((".ipynb", ".pdf", *IMAGES)):
        return None
    try:
        return decode_for_reading(state.disk.read(path), wide=state.rules.reads_wide)
    except OSError:
        return None


def snippet_of(text: str, rules: FileRules) -> tuple[str, bool]:
    """The numbered head of a text, and whether that is all of it."""
    lines = text.split("\n")
    whole = numbered(lines[:-1] if len(lines) > 1 and not lines[-1] else lines, 1)
    if units_in(whole) <= rules.snippet:
        return whole, True
    data = whole.encode("utf-16-le", "surrogatepass")
    at = data[: 2 * rules.snippet + 2].decode("utf-16-le", "replace").rfind("\n")
    if at >= 0:
        head, rest = whole[:at], whole[at + 1 :]
    else:
        head = data[: 2 * rules.snippet].decode("utf-16-le", "replace")
        rest = whole[len(head) :]
    return f"{head}\n\n... [{rest.count(chr(10)) + 1} lines truncated] ...", False


def units_in(text: str) -> int:
    """The UTF-16 units of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
