"""Edits of texts: how a fixer makes them, whether several fit together, and what a file is with them.

1. A fixer works with the text of a file and gives back another one; the edit is what differs, in bytes. So fixes of one
   file can be made together as long as they touch different bytes.
2. The file that a link leads to is edited, never the link. A file that is not UTF-8 is not edited at all.
3. Line ends stay as they are: a line that is put in ends like the first one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from weakref import WeakKeyDictionary

from foretold.check.finding import Fix, TextEdit
from foretold.check.project import MAX_TEXT, Project
from foretold.storage.tree import Fault, is_inside
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.storage.layers import FileChange


LONGEST_LINE = 20_000  #: characters of a line that is looked at for every finding in it


class EditedText:
    """A file that is to be edited: where it really is, and its text."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text

    @cached_property
    def newline(self) -> str:
        first, end, _ = self.text.partition("\n")
        return "\r\n" if end and first.endswith("\r") else "\n"

    @property
    def folder(self) -> str:
        return os.path.dirname(self.path)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line begins; the last one ends at the end of the text."""
        return [0, *accumulate(len(row) + 1 for row in self.text.split("\n"))]

    def line(self, number: int | None) -> tuple[int, str]:
        """Where a line begins, and the line without its end; an empty one if there is none, or it is far too long."""
        if number is None or not 0 < number < len(self._starts):
            return 0, ""
        start, end = self._starts[number - 1], self._starts[number] - 1
        return (start, self.text[start:end]) if end - start <= LONGEST_LINE else (0, "")

    def replace(self, text: str) -> tuple[TextEdit, ...]:
        """The edit that makes this text another one; nothing if they are equal."""
        start = _count_common(self.text, text)
        end = _count_common(self.text[start:][::-1], text[start:][::-1])
        return self.splice(start, len(self.text) - end, text[start : len(text) - end]) if self.text != text else ()

    def splice(self, start: int, end: int, text: str) -> tuple[TextEdit, ...]:
        """The edit that replaces characters."""
        first = len(self.text[:start].encode())
        return (TextEdit(self.path, first, first + len(self.text[start:end].encode()), text),)


def _count_common(one: str, other: str) -> int:
    """How many characters two texts begin with.

    >>> _count_common("@docs/a.md, b", "@docs/a.md , b"), _count_common("a", "a")
    (10, 1)
    """
    at, most = 0, min(len(one), len(other))
    while at < most and one[at : at + 4096] == other[at : at + 4096]:
        at += 4096
    while at < most and one[at] == other[at]:
        at += 1
    return min(at, most)


_OPENED: WeakKeyDictionary[Project, dict[str, tuple[bytes, EditedText | None]]] = WeakKeyDictionary()


def open_text(project: Project, path: str) -> EditedText | None:
    """The text of a file of the project; None if it cannot be edited."""
    real = project.tree.real(path)
    data = project.tree.read(real, MAX_TEXT) if is_inside(real, project.top) else Fault("outside-project")
    if isinstance(data, Fault):
        return None
    known = _OPENED.setdefault(project, {}).get(real)
    if known is None or known[0] is not data:  # a project that is checked again may have another text now
        known = _OPENED[project][real] = data, _decode(real, data)
    return known[1]


def _decode(path: str, data: bytes) -> EditedText | None:
    try:
        return EditedText(path, data.decode("utf-8"))
    except UnicodeDecodeError:
        return None


# Several fixes


def may_combine(fix: Fix, others: Iterable[Fix]) -> bool:
    """Whether a fix can be made together with others: it touches no byte and no name that they touch.

    Nor are two made that change when one file comes: what one of them does, the other may do again.
    """
    return all(not _collide(fix, other) for other in others)


def _collide(one: Fix, other: Fix) -> bool:
    names = [{path for rename in fix.renames for path in rename} for fix in (one, other)]
    edited = [{edit.path for edit in fix.edits} for fix in (one, other)]
    if one.renames != other.renames and (names[0] & (names[1] | edited[1]) or names[1] & edited[0]):
        return True
    if one.edits != other.edits and {*one.effect.rescopes} & {*other.effect.rescopes}:
        return True
    return any(_overlap(a, b) for a in one.edits for b in other.edits if a != b)


def _overlap(one: TextEdit, other: TextEdit) -> bool:
    return one.path == other.path and one.start <= other.end and other.start <= one.end


def make_changes(project: Project, fixes: Iterable[Fix]) -> dict[str, FileChange]:
    """What the files are with some fixes. Equal edits are made once."""
    fixes = list(fixes)
    edits = dict.fromkeys(edit for fix in fixes for edit in fix.edits)
    changes: dict[str, FileChange] = {}
    for path in sorted({edit.path for edit in edits}):
        data = project.tree.read(path, MAX_TEXT)
        own = [edit for edit in edits if edit.path == path]
        changes[path] = apply_edits(b"" if isinstance(data, Fault) else data, own)
    for rename in dict.fromkeys(rename for fix in fixes for rename in fix.renames):
        edited = changes.get(rename.path)
        content = project.tree.read(rename.path, MAX_TEXT) if edited is None else edited
        if not isinstance(content, bytes):
            raise ValueError(f"{rename.path} cannot be read")
        changes[rename.path], changes[rename.to] = None, content
    return changes


def apply_edits(data: bytes, edits: Iterable[TextEdit]) -> bytes:
    """The bytes of a file with edits that do not overlap.

    >>> apply_edits(b"see @a, and @b", [TextEdit("x", 6, 6, " "), TextEdit("x", 0, 3, "read")])
    b'read @a , and @b'
    """
    for edit in sorted(edits, key=lambda each: each.start, reverse=True):
        data = data[: edit.start] + edit.text.encode() + data[edit.end :]
    return data
