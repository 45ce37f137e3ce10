"""Secrets in what a model wants to write: whole, in pieces, or a part of one that was seen in the conversation.

1. What looks like a credential is refused, in the text as it is and in the text without what joins pieces: quotes with
   a plus between them, line ends, marks of code.
2. A known beginning (`sk-ant-`) that goes on in pieces with spaces between them counts, as long as each piece looks
   random.
3. Of a credential that was seen in the conversation no ten characters may be written, not even in two memories.
4. What is found is named by its kind; the value is never repeated.
"""

from __future__ import annotations

import re

from headnote.credentials import FORMS, credentials_in
from headnote.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PART = 10  #: characters
_PREFIX = 8  #: characters of a token that its issuer gives to all
_JOINTS = re.compile(r"""["'`]\s*[+.&,]?\s*["'`]|\\?\n\s*|[`*]""")
_PIECES = 12
_STARTS = tuple((kind, letters, re.compile(form)) for kind, letters, form in FORMS if letters[0] not in ".:/_")


def secret_in(text: str, seen: Iterable[str] = ()) -> str:
    """What kind of secret a text has; empty if it has none. `seen` are credentials of the conversation.

    >>> key = "AKIA" + "IOSFODNN7ABCDEFG"
    >>> secret_in(f"key {key}"), secret_in('"AKIA" + "IOSFODNN" +\\n"7ABCDEFG"'), secret_in("AKIA IOSF ODNN7 ABCDEFG")
    ('AWS access key', 'AWS access key', 'AWS access key')
    >>> secret_in("it ends in DNN7ABCDEFG", [key]), secret_in("the key is in the vault", [key])
    ('a part of a credential of this conversation', '')
    """
    for variant in dict.fromkeys((text, _JOINTS.sub("", text))):
        found = credentials_in(variant)
        if found:
            return found[0].kind
    return _pieced(text) or _part(text, seen)


def secrets_of(texts: Iterable[str]) -> list[str]:
    """The credentials that stand in texts."""
    found: dict[str, None] = {}
    for text in texts:
        found.update(dict.fromkeys(text[each.start : each.end] for each in credentials_in(text)))
    return list(found)


def _pieced(text: str) -> str:
    for kind, letters, form in _STARTS:
        at = text.find(letters)
        while at >= 0:
            if form.match(_joined(text[at : at + 400])):
                return kind
            at = text.find(letters, at + 1)
    return ""


def _joined(text: str) -> str:
    """A beginning and the pieces behind it that look random."""
    pieces = text.split()[:_PIECES]
    found = pieces[0]
    for piece in pieces[1:]:
        if not (any(map(str.isdigit, piece)) or any(map(str.isupper, piece[1:]))) or not piece.isascii():
            break
        found += piece.strip("`'\"+,.;()")
    return found


def _part(text: str, seen: Iterable[str]) -> str:
    bare = re.sub(r"\s", "", text)
    for value in seen:
        own = value[_PREFIX:] if len(value) >= _PREFIX + PART else value
        if own in bare or any(own[at : at + PART] in bare for at in range(max(0, len(own) - PART + 1))):
            return "a part of a credential of this conversation"
    return ""
