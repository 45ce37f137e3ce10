"""The body of a request as the client meant it.

1. It is as long as `Content-Length` says, or comes in chunks; it may hold 64 MB, packed and unpacked.
2. It is unpacked by what `Content-Encoding` says, the last packing first: gzip, and deflate with or without the header
   of zlib. Python before 3.14 cannot unpack zstd: that and all other packings are refused.
3. A body that cannot be had is a fault with the status to answer; a client that goes away is a `ConnectionError`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from io import BufferedIOBase
from typing import NamedTuple

LIMIT = 64 * 1024 * 1024
LINE = 65536


class Fault(NamedTuple):
    """Why a body cannot be had."""

    status: int
    text: str


TOO_LARGE = Fault(413, f"a body has at most {LIMIT} bytes")


def read_body(headers: Mapping[str, str], file: BufferedIOBase) -> bytes | Fault:
    """Read the body that headers, their names in lower case, announce.

    >>> import io
    >>> read_body({"content-length": "2"}, io.BytesIO(b"{}")), read_body({}, io.BytesIO(b"not the body"))
    (b'{}', b'')
    >>> read_body({"transfer-encoding": "chunked"}, io.BytesIO(b"1\\r\\n{\\r\\n1;x=y\\r\\n}\\r\\n0\\r\\n\\r\\n"))
    b'{}'
    """
    if headers.get("transfer-encoding", "identity").lower() != "identity":
        packed = _read_chunks(file)
    else:
        packed = _read_length(headers.get("content-length", "0"), file)
    return packed if isinstance(packed, Fault) else unpack(packed, headers.get("content-encoding", ""))


def _read_length(length: str, file: BufferedIOBase) -> bytes | Fault:
    if not re.fullmatch("[0-9]{1,18}", length):
        return Fault(400, "the length of the body is not a number")
    return TOO_LARGE if int(length) > LIMIT else _read_exactly(file, int(length))


def _read_chunks(file: BufferedIOBase) -> bytes | Fault:
    body = bytearray()
    while True:
        size = _read_line(file).partition(b";")[0].strip()
        if not re.fullmatch(b"[0-9a-fA-F]{1,15}", size):
            return Fault(400, "the size of a chunk is not a number")
        if len(body) + int(size, 16) > LIMIT:
            return TOO_LARGE
        if not int(size, 16):
            break
        body += _read_exactly(file, int(size, 16))
        if _read_line(file).strip():
            return Fault(400, "a chunk is longer than its size")
    while _read_line(file).strip():  # trailers
        pass
    return bytes(body)


def _read_line(file: BufferedIOBase) -> bytes:
    line = file.readline(LINE)
    if not line.endswith(b"\n"):
        raise ConnectionError("the body ends within a line")
    return line


def _read_exactly(file: BufferedIOBase, size: int) -> bytes:
    read = file.read(size)
    if len(read) < size:
        raise ConnectionError("the body is shorter than announced")
    return read


def unpack(body: bytes, encodings: str) -> bytes | Fault:
    """The body without its packings.

    >>> unpack(zlib.compress(b"{}"), "deflate"), unpack(b"{}", "br")
    (b'{}', Fault(status=415, text='cannot unpack br'))
    """
    for encoding in reversed([name.strip().lower() for name in encodings.split(",")]):
        if encoding in ("", "identity"):
            continue
        window = _find_window(encoding, body)
        if not window:
            return Fault(415, f"cannot unpack {encoding}")
        unpacked = _unpack_members(body, window)
        if isinstance(unpacked, Fault):
            return unpacked
        body = unpacked
    return body


def _find_window(encoding: str, body: bytes) -> int:
    """What zlib calls `wbits`: besides the size of the window it says which header there is. 0 if it cannot unpack."""
    if encoding in ("gzip", "x-gzip"):
        return 16 + zlib.MAX_WBITS
    if encoding == "deflate":
        # a header of zlib says "deflate" in four bits, and is a multiple of 31
        headed = body[:1] and body[0] & 15 == 8 and int.from_bytes(body[:2], "big") % 31 == 0
        return zlib.MAX_WBITS if headed else -zlib.MAX_WBITS
    return 0


def _unpack_members(body: bytes, window: int) -> bytes | Fault:
    unpacked = bytearray()
    while body:
        stream = zlib.decompressobj(window)
        try:
            unpacked += stream.decompress(body, LIMIT + 1 - len(unpacked))
        except zlib.error as error:
            return Fault(400, f"cannot unpack the body: {error}")
        if len(unpacked) > LIMIT:
            return TOO_LARGE
        if not stream.eof:
            return Fault(400, "cannot unpack the body: it is cut off")
        body = stream.unused_data
    return bytes(unpacked)
