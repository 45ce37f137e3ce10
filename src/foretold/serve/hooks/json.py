"""JSON in and out, without the price of `json`: one object is read, and one of plain texts is written.

The scanner and the escaping are those of the standard library, written in C; the package around them compiles regular
expressions that a hook does not need. Where another Python has no such module, `json` is used.
"""

from __future__ import annotations

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SPACE = " \t\n\r"
Payload = dict[str, object]


class Unreadable(ValueError):
    """A payload that is none. The message is our own, and has nothing of what was read."""


class _Asked:
    """What the scanner asks of a decoder."""

    strict = False
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012


def parse(data: bytes) -> object:
    """The value in a JSON text. ValueError if it is none.

    >>> parse(b'{"a": [1, "\\\\u00e9", null]} ')
    {'a': [1, 'é', None]}
    """
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").strip(SPACE)
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return json.loads(text)
    try:
        value, end = make_scanner(_Asked)(text, 0)  # type: ignore[arg-type]
    except (StopIteration, RecursionError, SystemError):  # the last, where `json.decoder` has no error class to give
        raise ValueError("no JSON") from None
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value


def payload_of(data: bytes) -> Payload:
    """The object that an agent wrote. Unreadable if it is anything else."""
    if not data.strip():
        raise Unreadable("the payload is empty")
    try:
        value = parse(data)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Unreadable("the payload is no JSON object")
    return value


def write(value: Mapping[str, object]) -> str:
    """An object of texts and of such objects as JSON, in ASCII: no terminal and no locale can spoil it.

    >>> write({"a": {"b": "é\\n"}, "c": True})
    '{"a":{"b":"\\\\u00e9\\\\n"},"c":true}'
    """
    try:
        from _json import encode_basestring_ascii as quoted
    except ImportError:
        from json import dumps as quoted
    parts = []
    for key, item in value.items():
        if isinstance(item, dict):
            shown = write(item)
        elif isinstance(item, bool):
            shown = "true" if item else "false"
        else:
            shown = quoted(str(item))
        parts.append(f"{quoted(key)}:{shown}")
    return f"{{{','.join(parts)}}}"


def text_of(payload: Mapping[str, object], key: str) -> str:
    """A text of a payload; empty if there is none."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def table_of(payload: Mapping[str, object], key: str) -> Payload:
    """An object of a payload; empty if there is none."""
    value = payload.get(key)
    return value if isinstance(value, dict) else {}
