"""The text of a version as the history stores it: plain (journal.py), packed, or as the difference from an earlier one.

1. A text below 4 KiB is stored as it is: `text`, or `base64` if it is not UTF-8. Most memories are that small, and a
   log of them can be read with any tool.
2. A larger one is packed: `zlib`, in base64. If an earlier version of the same memory is stored whole, and the
   difference is small, only that is: `delta`, with `base`, the number of the earlier change.
3. A base is always whole: no version needs more than one other, so one that is removed costs one rewriting of those
   that were based on it.
4. A difference is a list of pieces: `[start, end]` is a range of the base, a number is how many new bytes follow. Its
   time is linear: equal beginnings and ends are compared as blocks, what is between them line by line.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping

LEVEL = 6  #: of zlib: 0.9 MB of prose take 35 ms, and level 9 makes it 1 % smaller
SHORTEST = 16  #: bytes of a line that is worth naming a range for
LARGEST = 64 * 1024 * 1024  #: bytes that a stored text may have: a record that claims more is damaged


def pack_text(data: bytes, base: bytes | None = None, number: int = 0) -> dict[str, object]:
    """A text as fields of a record, if they are shorter; `base` is the whole text of change `number`, if given."""
    whole = None
    if base is not None:
        program, added = _differ(base, data)
        packed = zlib.compress(json.dumps(program, separators=(",", ":")).encode() + b"\n" + added, LEVEL)
        if len(packed) > len(data) // 16:
            whole = zlib.compress(data, LEVEL)
        if whole is None or len(packed) * 2 < len(whole):
            return {"delta": base64.b64encode(packed).decode(), "base": number}
    packed = whole or zlib.compress(data, LEVEL)
    if len(packed) * 3 < len(data) * 2:  # base64 adds a third
        return {"zlib": base64.b64encode(packed).decode()}
    return {}


def unpack_text(record: Mapping[str, object], base: bytes | None = None) -> bytes | None:
    """The text of a packed record, with that of its base if it has one; None if it is damaged."""
    try:
        coded = base64.b64decode(str(record["zlib" if "zlib" in record else "delta"]), validate=True)
        unpacker = zlib.decompressobj()
        packed = unpacker.decompress(coded, LARGEST)
        if not unpacker.eof:
            return None
        return packed if "zlib" in record else None if base is None else _apply(base, packed)
    except (ValueError, TypeError, KeyError, zlib.error):
        return None


def _differ(base: bytes, data: bytes) -> tuple[list[list[int] | int], bytes]:
    """A text as ranges of another one and new bytes."""
    start = _common(base, data)
    end = _common(base[start:], data[start:], at_end=True)
    program: list[list[int] | int] = [[0, start]]
    added = bytearray()
    _differ_lines(base, data[start : len(data) - end], program, added)
    program.append([len(base) - end, len(base)])
    return program, bytes(added)


def _differ_lines(base: bytes, middle: bytes, program: list[list[int] | int], added: bytearray) -> None:
    """Lines that another text has, as ranges of it; the others as new bytes."""
    places: dict[bytes, int] = {}
    at = 0
    for line in base.splitlines(keepends=True) if middle.count(b"\n") > 1 else ():
        places.setdefault(line, at)
        at += len(line)
    for line in middle.splitlines(keepends=True):
        last = program[-1]
        if isinstance(last, list) and base.startswith(line, last[1]):
            last[1] += len(line)
        elif len(line) >= SHORTEST and line in places:
            program.append([places[line], places[line] + len(line)])
        else:
            if isinstance(last, int):
                program[-1] = last + len(line)
            else:
                program.append(len(line))
            added += line


def _common(one: bytes, other: bytes, *, at_end: bool = False) -> int:
    """How many bytes two texts share at their beginning, or at their end."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        is_same = one[-middle:] == other[-middle:] if at_end else one[:middle] == other[:middle]
        low, high = (middle, high) if is_same else (low, middle - 1)
    return low


def _apply(base: bytes, packed: bytes) -> bytes:
    """The text that a difference makes of its base. ValueError if it does not fit."""
    head, _, added = packed.partition(b"\n")
    pieces, at = [], 0
    for piece in json.loads(head):
        if isinstance(piece, int):
            pieces.append(added[at : at + piece])
            at += piece
        else:
            start, end = piece
            pieces.append(base[start:end])
    return b"".join(pieces)
