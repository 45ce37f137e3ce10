"""Cursors: where an answer ended, so that the next one goes on from there.

1. The server keeps nothing: all that is needed stands in the cursor, so one outlives the server.
2. It belongs to a tool and its arguments; with others it is refused, as is one of another version, or one in which a
   letter was changed or lost. Whoever makes one by hand gains nothing: a position is checked like any argument.
3. What stands in it is a position after the last row given, not a count, where rows may come and go meanwhile.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping

from foretold.errors import BadArgument

VERSION = 1
_CHECK = 8  #: bytes
Position = list[str | int | float]


def cursor_of(tool: str, given: Mapping[str, object], position: Position) -> str:
    """A cursor.

    >>> position_in(cursor_of("recall", {"query": "x"}, ["a.md", 3]), "recall", {"query": "x", "cursor": "y"})
    ['a.md', 3]
    """
    body = json.dumps([VERSION, tool, _asked(given), position], ensure_ascii=True, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_check(body) + body).decode().rstrip("=")


def position_in(cursor: str, tool: str, given: Mapping[str, object]) -> Position:
    """The position that a cursor holds.

    >>> position_in("abc", "recall", {})
    Traceback (most recent call last):
        ...
    foretold.errors.BadArgument: this is no cursor, or part of it is lost: give `next` as it was, or leave it out
    """
    lost = BadArgument("this is no cursor, or part of it is lost: give `next` as it was, or leave it out")
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        raise lost from None
    if _check(data[_CHECK:]) != data[:_CHECK]:
        raise lost
    version, *rest = json.loads(data[_CHECK:])
    if version != VERSION:
        raise BadArgument("this cursor is of another version of foretold: begin again without it")
    name, asked, position = rest
    if name != tool or asked != _asked(given):
        raise BadArgument("this cursor belongs to other arguments: give those of the first call, or leave it out")
    return list(position)


def _check(body: bytes) -> bytes:
    return hashlib.sha256(b"foretold cursor\0" + body).digest()[:_CHECK]


def _asked(given: Mapping[str, object]) -> str:
    """What was asked, but for the cursor."""
    return digest_of({name: value for name, value in given.items() if name != "cursor"})


def digest_of(value: object) -> str:
    """A short name for a value of JSON."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
