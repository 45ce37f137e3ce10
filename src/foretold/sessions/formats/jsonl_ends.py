"""The two ends of a file of JSON lines: all that a list of sessions reads of one.

1. At most `ENDS` bytes of the head and as many of the tail are read, whatever the length of a line.
2. A line that is cut there, or is no JSON object, is passed over; `made_out` finds single fields in its bytes.
"""

from __future__ import annotations

import json
import os
import re

from foretold.types import NamedTuple

ENDS = 64 * 1024  #: bytes of the head, and of the tail
Json = dict[str, object]


class Ends(NamedTuple):
    """The records of both ends; `cut` are the first bytes of the line that the head ends in the middle of."""

    head: tuple[Json, ...]
    tail: tuple[Json, ...]
    cut: bytes = b""


def ends_of(path: str, most: int = ENDS) -> Ends:
    """The records at both ends of a file; none if it cannot be read.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "s.jsonl")
    >>> with open(path, "wb") as file:
    ...     _ = file.write(b'{"a": 1}\\n{"b": 2}\\n{"c": 3}\\n')
    >>> ends_of(path, 12)
    Ends(head=({'a': 1},), tail=({'c': 3},), cut=b'{"b')
    """
    head, tail, is_whole = bytes_of(path, most)
    if is_whole:
        return Ends(_records(head + tail), ())
    whole, _, cut = head.rpartition(b"\n")
    return Ends(_records(whole), _records(tail.partition(b"\n")[2]), cut)


def bytes_of(path: str, most: int = ENDS) -> tuple[bytes, bytes, bool]:
    """Head and tail of a file, and whether they are all of it."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            head = file.read(most)
            start = max(len(head), size - most)
            file.seek(start)
            tail = file.read(most) if start < size else b""
    except OSError:
        return b"", b"", True
    return head, tail, start == len(head)


def _records(data: bytes) -> tuple[Json, ...]:
    found = []
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return tuple(found)


def made_out(data: bytes, name: str) -> str:
    """The first text of a field in the bytes of a line that is not whole.

    >>> made_out(b'{"payload":{"id":"1","cwd":"/home/me","instruc', "cwd")
    '/home/me'
    """
    found = re.search(rb'(?<!\\)"%s":\s?("(?:[^"\\]|\\.)*")' % name.encode(), data)
    try:
        value = json.loads(found[1]) if found else ""
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""
