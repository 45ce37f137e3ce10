"""The words of a version, with the fields of an attachment in their places."""

from __future__ import annotations

from foretold.dialects.claude_code.attachments import NEWER, TEXTS
from foretold.dialects.claude_code.sessions import SessionRules

Json = dict[str, object]


def phrase(kind: str, rules: SessionRules, fields: Json, **more: str) -> str:
    """The text of a kind, filled; a place for which there is nothing stays as it is.

    >>> from foretold.dialects.claude_code.sessions import OLDER
    >>> phrase("date", OLDER, {"date": "2026-01-02"})
    "Today's date is 2026-01-02."
    """
    text = NEWER[kind] if rules.is_rendered and kind in NEWER else TEXTS[kind]
    known = {name: str(value) for name, value in fields.items() if isinstance(value, str | int | float)} | more
    first, *pieces = text.split("{")
    said = first
    for piece in pieces:
        name, _, rest = piece.partition("}")
        said += known[name] + rest if name in known else "{" + piece
    return said


def is_kept(kind: str, rules: SessionRules) -> bool:
    """Whether the words of a kind are known here."""
    return kind in TEXTS or (rules.is_rendered and kind in NEWER)


def strings(value: Json, name: str) -> list[str]:
    """The texts of a field that is a list."""
    found = value.get(name)
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def objects(value: Json, name: str) -> list[Json]:
    """The objects of a field that is a list."""
    found = value.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
