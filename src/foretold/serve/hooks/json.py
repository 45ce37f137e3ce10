"""JSON in and out, without the cost of `json`: one object is read, and one object of strings is written.

The scanner and the escaping are those of the standard library, written in C; the package around them compiles regular
expressions that a hook does not need. If another Python does not have this module, `json` is used.
"""

from __future__ import annotations

from collections.abc import Mapping

SPACE = " \t\n\r"
Payload = dict[str, object]


class BadPayload(ValueError):
    """A payload that cannot be used. The message is our own, and quotes nothing of it."""


class _Decoder:
    """The attributes of a decoder that the scanner reads."""

    strict = False
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012


def parse(data: bytes) -> object:
    """The value of a JSON text. ValueError if it is not JSON.

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
        value, end = make_scanner(_Decoder)(text, 0)  # type: ignore[arg-type]
    except (StopIteration, RecursionError, SystemError):  # the last, where `json.decoder` has no error class to give
        raise ValueError("not JSON") from None
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value


def payload_of(data: bytes) -> Payload:
    """The object that an agent wrote. Unreadable if it is anything else."""
    if not data.strip():
        raise BadPayload("the payload is empty")
    try:
        value = parse(data)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise BadPayload("the payload is not a JSON object")
    return value


def write(value: Mapping[str, object]) -> str:
    """An object of strings, booleans and such objects as JSON, in ASCII: no terminal and no locale can break it.

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
    """A string of a payload; empty if there is none."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def table_of(payload: Mapping[str, object], key: str) -> Payload:
    """An object of a payload; empty if there is none."""
    value = payload.get(key)
    return value if isinstance(value, dict) else {}
