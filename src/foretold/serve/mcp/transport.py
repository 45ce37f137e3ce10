"""Lines of the client, made readable for the SDK: every request gets an answer or an error.

The SDK drops what it cannot read, and the client waits for ever. So each line is looked at first:

1. Bytes that are not UTF-8, and half a surrogate pair in a string or a key, become U+FFFD.
2. A batch is its messages, one by one.
3. A request is answered here, with an error that has its id as it was sent, if the SDK cannot read it; also one whose
   id is not a number or a text, or holds half a pair, since the answer of the SDK would have another id.
4. Of a line that is not JSON, is nested too deeply or is too long, the id is what looks like one. If nothing does, the
   id of the error is null.
5. An answer of the client to us, and a notification, are passed on or dropped: nobody waits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress

from foretold.types import NamedTuple

LONGEST = 64 * 1024 * 1024  #: bytes of a line; answers have 22,000, and the largest that was tried has 30 MB
PARSE_ERROR, INVALID_REQUEST = -32700, -32600  #: of JSON-RPC
_HALF = re.compile("[\ud800-\udfff]")
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_ID = re.compile(r'"id"\s*:\s*(-?(?:0|[1-9]\d*)(?![\d.eE])|"(?:[^"\\\x00-\x1f]|\\.){0,200}")')


class ClientLine(NamedTuple):
    """What becomes of a message: a line for the SDK, or an answer for the client. One of them is empty."""

    line: str = ""
    answer: str = ""


def read_line(data: bytes, is_readable: Callable[[str], bool], *, is_cut: bool = False) -> Iterator[ClientLine]:
    """What becomes of a line of the client. `is_readable` says whether the SDK can read a message.

    >>> [*read_line(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}', lambda _: True)][0].answer
    ''
    >>> [*read_line(b'{"id": 7, "method": ', lambda _: True)][0].answer[:39]
    '{"jsonrpc": "2.0", "id": 7, "error": {"'
    """
    text = data.decode("utf-8", "replace")
    if not text.strip():
        return
    if is_cut:
        yield _refuse(_guess_id(text), PARSE_ERROR, f"the message has more than {LONGEST >> 20} MB")
        return
    try:
        value = json.loads(text)
    except RecursionError:
        yield _refuse(_guess_id(text), PARSE_ERROR, "the message is nested too deeply")
        return
    except ValueError as error:
        yield _refuse(_guess_id(text), PARSE_ERROR, f"the message is not JSON: {str(error)[:200]}")
        return
    is_changed = bool(_ESCAPED_HALF.search(text)) or isinstance(value, list)
    for message in value if isinstance(value, list) and value else [value]:
        try:
            yield _read_message(message, "" if is_changed else text.strip("\r\n"), is_readable)
        except RecursionError:
            yield _refuse(_guess_id(text), PARSE_ERROR, "the message is nested too deeply")


def _read_message(message: object, text: str, is_readable: Callable[[str], bool]) -> ClientLine:
    """What becomes of one message; `text` is what it was, if that can be passed on."""
    if not isinstance(message, dict):
        return _refuse("null", INVALID_REQUEST, "a message is an object")
    is_request = "method" in message and "id" in message
    number = json.dumps(message.get("id"))
    if is_request and not _is_id(message["id"]):
        return _refuse(number, INVALID_REQUEST, "the id of a request is a whole number or a text of whole characters")
    line = text or json.dumps(replace_halves(message))
    if is_readable(line):
        return ClientLine(line) if is_request or "id" not in message or _is_answer(message) else _no_method(number)
    if is_request:
        return _refuse(number, INVALID_REQUEST, "this is not a request of JSON-RPC 2.0: check jsonrpc, method, params")
    return _no_method(number) if "id" in message and not _is_answer(message) else ClientLine()


def _is_id(value: object) -> bool:
    if isinstance(value, str):
        return not _HALF.search(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_answer(message: dict[str, object]) -> bool:
    """Whether a message answers a request of ours."""
    return "method" not in message and ("result" in message or "error" in message)


def _no_method(number: str) -> ClientLine:
    return _refuse(number, INVALID_REQUEST, "the message has an id, but no method")


def _refuse(number: str, code: int, said: str) -> ClientLine:
    """An error for the client, with the id as it was sent: half a pair is escaped again."""
    error = json.dumps({"code": code, "message": said})
    return ClientLine(answer=f'{{"jsonrpc": "2.0", "id": {number}, "error": {error}}}')


def _guess_id(text: str) -> str:
    """What looks like the id of a message that cannot be parsed, as JSON."""
    for part in (text[:100_000], text[-100_000:]):
        found = _ID.search(part)
        if found and found[1][0] != '"':
            return found[1]  # any number of digits, which Python would not parse
        with suppress(ValueError):
            if found:
                return json.dumps(json.loads(found[1]))
    return "null"


def replace_halves(value: object) -> object:
    """A value in which half a surrogate pair is U+FFFD, in keys too.

    >>> replace_halves({"a\\ud83d": ["b\\ude00", "\\U0001f600"]})
    {'a�': ['b�', '😀']}
    """
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, dict):
        return {replace_halves(key): replace_halves(each) for key, each in value.items()}
    return [replace_halves(each) for each in value] if isinstance(value, list) else value
