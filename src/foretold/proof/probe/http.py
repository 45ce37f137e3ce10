"""The HTTP edge of the model server: bodies of requests, and connections on the loopback interface.

Bodies:

1. A body is as long as `Content-Length` says, or comes in chunks; it may hold 64 MB, packed and unpacked.
2. It is unpacked by `Content-Encoding`, the last packing first: gzip, and deflate with or without the header of zlib.
   Python before 3.14 cannot unpack zstd: that and all other packings are refused.
3. A body that cannot be read is a fault with the status to answer; a client that goes away is a `ConnectionError`.

Connections:

1. The system chooses the port, and each connection has a thread. A request of any method is read whole and given to
   `respond`, and its response is sent; the connection stays open for the next one, unless the body was faulty.
2. A client that goes away ends only its connection; any other failure is given to `report`.
3. `stop` ends every connection, and returns when no thread is left and no socket open.
"""

from __future__ import annotations

import contextlib
import re
import socket
import socketserver
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from io import BufferedIOBase
from typing import Any, NamedTuple

LIMIT = 64 * 1024 * 1024
LINE = 65536


class BodyFault(NamedTuple):
    """Why a body cannot be had."""

    status: int
    text: str


TOO_LARGE = BodyFault(413, f"a body has at most {LIMIT} bytes")


def read_body(headers: Mapping[str, str], file: BufferedIOBase) -> bytes | BodyFault:
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
        length = headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,18}", length):
            return BodyFault(400, "the length of the body is not a number")
        packed = TOO_LARGE if int(length) > LIMIT else _read_exactly(file, int(length))
    return packed if isinstance(packed, BodyFault) else unpack(packed, headers.get("content-encoding", ""))


def _read_chunks(file: BufferedIOBase) -> bytes | BodyFault:
    body = bytearray()
    while True:
        size = _read_line(file).partition(b";")[0].strip()
        if not re.fullmatch(b"[0-9a-fA-F]{1,15}", size):
            return BodyFault(400, "the size of a chunk is not a number")
        if len(body) + int(size, 16) > LIMIT:
            return TOO_LARGE
        if not int(size, 16):
            break
        body += _read_exactly(file, int(size, 16))
        if _read_line(file).strip():
            return BodyFault(400, "a chunk is longer than its size")
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


def unpack(body: bytes, encodings: str) -> bytes | BodyFault:
    """The body without its packings.

    >>> unpack(zlib.compress(b"{}"), "deflate"), unpack(b"{}", "br")
    (b'{}', BodyFault(status=415, text='cannot unpack br'))
    """
    for encoding in reversed([name.strip().lower() for name in encodings.split(",")]):
        if encoding in ("", "identity"):
            continue
        window = _find_window(encoding, body)
        if not window:
            return BodyFault(415, f"cannot unpack {encoding}")
        unpacked = _unpack_members(body, window)
        if isinstance(unpacked, BodyFault):
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


def _unpack_members(body: bytes, window: int) -> bytes | BodyFault:
    unpacked = bytearray()
    while body:
        stream = zlib.decompressobj(window)
        try:
            unpacked += stream.decompress(body, LIMIT + 1 - len(unpacked))
        except zlib.error as error:
            return BodyFault(400, f"cannot unpack the body: {error}")
        if len(unpacked) > LIMIT:
            return TOO_LARGE
        if not stream.eof:
            return BodyFault(400, "cannot unpack the body: it is cut off")
        body = stream.unused_data
    return bytes(unpacked)


#: seconds between two looks at whether the listener is to stop, and for the rest of a body that is not wanted
POLL = 0.02
LINGER = 2.0


class HttpRequest(NamedTuple):
    """A request; the names of headers are in lower case, and one that comes twice has both values."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes | BodyFault


class Response(NamedTuple):
    """A response; one whose body is an iterator is streamed."""

    status: int
    media: str
    body: bytes | Iterator[bytes]


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener

    def __getattr__(self, name: str) -> Callable[[], None]:
        if name.startswith("do_"):
            return self._serve_one
        raise AttributeError(name)

    def version_string(self) -> str:
        return "foretold"

    def log_message(self, *_: object) -> None:
        """Say nothing: the requests are recorded."""

    def _serve_one(self) -> None:
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            key = name.lower()
            headers[key] = f"{headers[key]}, {value}" if key in headers else value
        request = HttpRequest(self.command, self.path, headers, read_body(headers, self.rfile))
        faulty = isinstance(request.body, BodyFault)
        self._send(self.server.respond(request), close=faulty or self.command == "CONNECT")
        if faulty:  # let the client send the rest: closing at once would reset the connection before it reads this
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(LINGER)
            while self.connection.recv(1 << 16):
                pass

    def _send(self, response: Response, *, close: bool) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", response.media)
        chunked = not isinstance(response.body, bytes) and self.request_version != "HTTP/1.0"
        if isinstance(response.body, bytes):
            self.send_header("Content-Length", str(len(response.body)))
        elif chunked:
            self.send_header("Transfer-Encoding", "chunked")
        if close or not (chunked or isinstance(response.body, bytes)):
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "HEAD":
            return
        for piece in (response.body,) if isinstance(response.body, bytes) else response.body:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
        if chunked:
            self.wfile.write(b"0\r\n\r\n")


class Listener(socketserver.TCPServer):
    """Listens from its creation to `stop`."""

    request_queue_size = 128

    def __init__(self, respond: Callable[[HttpRequest], Response], report: Callable[[str], None]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.respond = respond
        self.report = report
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._loop = threading.Thread(target=self.serve_forever, args=(POLL,), name="probe-listener", daemon=True)
        self._loop.start()

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection its thread; threads that have ended are forgotten here, so `stop` misses none."""
        self._connections = {each: thread for each, thread in self._connections.items() if thread.is_alive()}
        thread = threading.Thread(target=self._serve, args=(request, client_address), name="probe-client", daemon=True)
        self._connections[request] = thread
        thread.start()

    def _serve(self, request: socket.socket, client_address: object) -> None:
        try:
            self.finish_request(request, client_address)
        except OSError:
            pass  # the client went away
        except Exception as error:
            self.report(f"a request could not be answered: {error!r}")
        finally:
            self.shutdown_request(request)

    def stop(self) -> None:
        """End everything."""
        self.shutdown()
        self._loop.join()
        self.server_close()
        for connection, thread in self._connections.items():
            with contextlib.suppress(OSError):  # it has ended by itself
                connection.shutdown(socket.SHUT_RDWR)
            thread.join()
