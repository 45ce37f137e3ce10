"""Answers that fit: a model's context is small, and a store may be large.

1. An answer has at most `ROOM` bytes of data, and its text about as many: some five thousand tokens.
2. A row that is too large is cut, and says how much is missing; rows that do not fit are on the next page.
3. Nothing is cut silently.
4. A cursor says where an answer ended. The server stores nothing: a cursor survives it.
5. It belongs to a tool and its arguments; with others it is refused, as is one of another version, or a damaged one.
   A forged one gains nothing: a position is checked like any argument.
6. It holds a position after the last row, not a count, if rows may be added and removed meanwhile.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from foretold.errors import BadArgument

VERSION = 1
_CHECK = 8  #: bytes
Position = list[str | int | float]


def cursor_of(tool: str, given: Mapping[str, object], position: Position) -> str:
    """A cursor.

    >>> position_in(cursor_of("recall", {"query": "x"}, ["a.md", 3]), "recall", {"query": "x", "cursor": "y"})
    ['a.md', 3]
    """
    body = json.dumps([VERSION, tool, _question_digest(given), position], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_check(body) + body).decode().rstrip("=")


def position_in(cursor: str, tool: str, given: Mapping[str, object]) -> Position:
    """The position that a cursor holds.

    >>> position_in("abc", "recall", {})
    Traceback (most recent call last):
        ...
    foretold.errors.BadArgument: this is not a cursor, or it is incomplete: give `next` as it was, or omit it
    """
    lost = BadArgument("this is not a cursor, or it is incomplete: give `next` as it was, or omit it")
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        raise lost from None
    if _check(data[_CHECK:]) != data[:_CHECK]:
        raise lost
    version, *rest = json.loads(data[_CHECK:])
    if version != VERSION:
        raise BadArgument("this cursor is from another version of foretold: start again without it")
    name, asked, position = rest
    if name != tool or asked != _question_digest(given):
        raise BadArgument("this cursor belongs to other arguments: give those of the first call, or omit it")
    return list(position)


def _check(body: bytes) -> bytes:
    return hashlib.sha256(b"foretold cursor\0" + body).digest()[:_CHECK]


def _question_digest(given: Mapping[str, object]) -> str:
    """A digest of the arguments without the cursor."""
    return digest_of({name: value for name, value in given.items() if name != "cursor"})


def digest_of(value: object) -> str:
    """A short digest of a JSON value."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


ROOM = 16_000  #: bytes of the rows of one answer; its frame takes some more
ROW = 4_000  #: bytes of one row


def size_of(value: object) -> int:
    """The bytes of a JSON value."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace"))


def clip(text: str, most: int) -> str:
    """A text of at most this many bytes of JSON, with a note of what was cut.

    >>> clip("a" * 20, 100), clip("a" * 200, 100)[-22:]
    ('aaaaaaaaaaaaaaaaaaaa', '… [136 characters cut]')
    """
    if len(text) <= most and size_of(text) - 2 <= most:
        return text
    room = max(most - 36, 0)
    keep = min(len(text), room)
    while keep and size_of(text[:keep]) - 2 > room:
        keep = int(keep * 0.9)
    return f"{text[:keep]}… [{len(text) - keep:,} characters cut]"


def end_of_part(text: str, start: int, most: int = ROOM) -> int:
    """Where a part of a text ends that begins at `start` and has at most this many bytes of JSON."""
    end = min(len(text), start + most)
    while size_of(text[start:end]) > most:
        end = start + (end - start) * 9 // 10
    return end


def take_rows(rows: Iterable[dict[str, object]], most: int, room: int = ROOM) -> list[dict[str, object]]:
    """The first rows, as many as fit, at most `most`; at least one, if there is one.

    >>> take_rows([{"a": "x" * 50}, {"a": "y" * 50}], 9, 100)
    [{'a': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'}]
    """
    found: list[dict[str, object]] = []
    for row in rows:
        room -= size_of(row) + 2
        if found and room < 0:
            break
        found.append(row)
        if len(found) >= most:
            break
    return found


def escape_surrogates(value: object) -> object:
    """A value that can be sent: a lone surrogate, of a file name that is not UTF-8, is escaped.

    >>> escape_surrogates({"a": ["b\\udcff"]})
    {'a': ['b\\\\udcff']}
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {key: escape_surrogates(each) for key, each in value.items()}
    return [escape_surrogates(each) for each in value] if isinstance(value, (list, tuple)) else value


def end_text(lines: Sequence[str], data: Mapping[str, object]) -> str:
    """The lines of an answer, followed by what was cut, and the cursor.

    >>> end_text(["one"], {"cut": ["2 more"], "next": "abc"})
    'one\\n[2 more]\\n[cursor: abc]'
    """
    cut, following = data["cut"], data.get("next")
    notes = [f"[{each}]" for each in cut] if isinstance(cut, list) else []
    return "\n".join([*lines, *notes, *([f"[cursor: {following}]"] if following else [])])


def count_text(count: object, word: str) -> str:
    """A number of things.

    >>> count_text(1, "message"), count_text(1200, "memory"), count_text(0, "file")
    ('1 message', '1,200 memories', '0 files')
    """
    many = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count:,} {word if count == 1 else many}"


def page_of(
    tool: str, given: Mapping[str, object], rows: Sequence[dict[str, object]], most: int, changed: str
) -> tuple[int, list[dict[str, object]], dict[str, object]]:
    """A page of rows that are computed for each call: where it begins, its rows, and the fields `cut` and `next`.

    `changed` says what has changed if the rows are not those of the page before.
    """
    digest, start = digest_of(rows), 0
    if given.get("cursor"):
        before, place = position_in(str(given["cursor"]), tool, given)
        if before != digest or not isinstance(place, int):
            raise BadArgument(f"{changed} since that page: start again without the cursor")
        start = place
    shown = take_rows(rows[start:], most)
    end = start + len(shown)
    left = len(rows) - end
    cut = [f"{left:,} more: continue with the cursor"] if left else []
    return start, shown, {"cut": cut, "next": cursor_of(tool, given, [digest, end]) if left else ""}
