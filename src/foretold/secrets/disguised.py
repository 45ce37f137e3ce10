"""Secrets in what a model wants to write: whole, split, disguised, or part of one that occurred in the conversation.

1. What looks like a credential is found in the text as it is and in the text without what joins pieces: quotes with a
   plus between them, line ends, code marks, single characters with a separator between them.
2. A known prefix (`sk-ant-`) that continues in pieces with spaces between them counts, as long as each piece looks
   random.
3. A disguised credential counts too: in base64 or hexadecimal, reversed, or with letters that look like others. So does
   a long run of letters and digits that contains no words.
4. No ten characters of a credential of the conversation may be written, not even in two memories. Of a private key, all
   its lines count, not only the first.
5. A finding names the kind; the value is never repeated.
"""

from __future__ import annotations

import binascii
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import takewhile

from foretold.secrets.forms import credentials_in
from foretold.secrets.tokens import FORMS

PART = 10  #: characters
LONGEST_KEY = 20_000  #: characters
_PREFIX = 8  #: characters of a token that its issuer gives to all
_JOINTS = re.compile(r"""["'`]\s*[+.&,]?\s*["'`]|\\?\n\s*|[`*]""")
_LETTERS = re.compile(r"(?<![^\W_])[^\W_](?:[-_. ,|/][^\W_]){15,}(?![^\W_])")
_STARTS = tuple((kind, letters, re.compile(form)) for kind, letters, form in FORMS if letters[0] not in ".:/_")
_CODED = re.compile(r"[A-Za-z0-9+/_-]{24,4096}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){12,2048}")
_PIECES = 12  #: of a token that is split
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]{0,15}={1,2}")
_RUN = re.compile(r"(?<![\w+/.-])[A-Za-z0-9+/_-]{30,}={0,2}(?![\w+/.])")
_WORDS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
#: letters of other alphabets that look like those of ours
_LOOKALIKES = str.maketrans(
    "АВЕКМНОРСТУХЅІЈаеорсухѕіјһԁΑΒΕΖΗΙΚΜΝΟΡΤΥΧοα", "ABEKMHOPCTYXSIJaeopcyxsijhdABEZHIKMNOPTYXoa"
)


def secret_in(text: str, seen: Iterable[str] = ()) -> str:
    """The kind of secret in a text; empty if there is none. `seen` are credentials of the conversation.

    >>> key = "AKIA" + "IOSFODNN7ABCDEFG"
    >>> secret_in(f"key {key}"), secret_in('"AKIA" + "IOSFODNN" +\\n"7ABCDEFG"'), secret_in("AKIA IOSF ODNN7 ABCDEFG")
    ('AWS access key', 'AWS access key', 'AWS access key')
    >>> secret_in(key[::-1]), secret_in(key.encode().hex()), secret_in("-".join(key))
    ('AWS access key', 'AWS access key', 'AWS access key')
    >>> secret_in("it ends in DNN7ABCDEFG", [key]), secret_in("the key is in the vault", [key])
    ('a part of a credential of this conversation', '')
    """
    seen = list(seen)
    for variant in dict.fromkeys(_variants(text)):
        found = credentials_in(variant)
        if found:
            return found[0].kind
        if part := _find_known_part(variant, seen):
            return part
    return _find_split_token(text) or (
        "random letters" if any(_is_random(run[0]) for run in _RUN.finditer(text)) else ""
    )


def secrets_of(texts: Iterable[str]) -> list[str]:
    """The credentials in texts."""
    found: dict[str, None] = {}
    for text in texts:
        for each in credentials_in(text):
            value = text[each.start : each.end]
            if each.kind == "private key":  # it is found by its first line
                value += _key_lines(text[each.end : each.end + LONGEST_KEY])
            found[value] = None
    return list(found)


def _key_lines(text: str) -> str:
    """The lines of a private key, joined, up to the first that is not one."""
    lines = (line for line in re.split(r"(?:\\[rn]|\s)+", text) if line)
    return "".join(takewhile(_KEY_LINE.fullmatch, lines))


def _variants(text: str) -> Iterator[str]:
    """A text as it is, and undisguised in several ways."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_LOOKALIKES)
    yield text
    yield plain
    yield _JOINTS.sub("", plain)
    yield plain[::-1]
    yield _LETTERS.sub(lambda run: re.sub(r"[-_. ,|/]", "", run[0]), plain)
    for run in _CODED.finditer(plain):
        yield from _decode_base64(run[0])
    for run in _HEX.finditer(plain):
        yield binascii.unhexlify(run[0]).decode("latin-1")


def _decode_base64(run: str) -> Iterator[str]:
    """A run decoded from base64, if that is text."""
    coded = run.replace("-", "+").replace("_", "/")
    try:
        text = binascii.a2b_base64(coded[: len(coded) // 4 * 4]).decode("ascii")
    except (ValueError, binascii.Error):
        return
    yield text


def _is_random(run: str) -> bool:
    """Whether a person would not have written a run of letters and digits."""
    digits = sum(map(str.isdigit, run))
    if digits < 2 or not any(map(str.islower, run)) or not any(map(str.isupper, run)):
        return False
    return sum(map(len, _WORDS.findall(run))) < 0.6 * len(run) and len(set(run)) >= 16


def _find_split_token(text: str) -> str:
    for kind, letters, form in _STARTS:
        at = text.find(letters)
        while at >= 0:
            if form.match(_join_pieces(text[at : at + 400])):
                return kind
            at = text.find(letters, at + 1)
    return ""


def _join_pieces(text: str) -> str:
    """A prefix and the pieces after it that look random."""
    pieces = text.split()[:_PIECES]
    found = pieces[0]
    for piece in pieces[1:]:
        if not (any(map(str.isdigit, piece)) or any(map(str.isupper, piece[1:]))) or not piece.isascii():
            break
        found += piece.strip("`'\"+,.;()")
    return found


def _find_known_part(text: str, seen: Iterable[str]) -> str:
    bare = re.sub(r"\s", "", text)
    parts = {bare[at : at + PART] for at in range(len(bare) - PART + 1)}
    for value in seen:
        own = value[_PREFIX:] if len(value) >= _PREFIX + PART else value
        if any(own[at : at + PART] in parts for at in range(len(own) - PART + 1)) or (len(own) < PART and own in bare):
            return "a part of a credential of this conversation"
    return ""
