"""The HTTP edge of the model server: connections on the loopback interface, a thread for each.

1. The system chooses the port. A request of any method is read whole, given to `respond`, and what comes back is sent;
   the connection stays open for the next one, unless the body was faulty.
2. A client that goes away ends its connection and nothing else; any other failure is given to `report`.
3. `stop` ends every connection, and returns when no thread is left and no socket open.
"""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple

from foretold.proof.probe.bodies import Fault, read_body

#: seconds between two looks at whether the listener is to stop, and for the rest of a body that is not wanted
POLL = 0.02
LINGER = 2.0


class Request(NamedTuple):
    """A request; the names of headers are in lower case, and one that comes twice has both values."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes | Fault


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
        request = Request(self.command, self.path, headers, read_body(headers, self.rfile))
        faulty = isinstance(request.body, Fault)
        self._send(self.server.respond(request), close=faulty or self.command == "CONNECT")
        if faulty:
            self._linger()

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
        if self.command != "HEAD":
            self._send_body(response.body, chunked=chunked)

    def _send_body(self, body: bytes | Iterator[bytes], *, chunked: bool) -> None:
        for piece in (body,) if isinstance(body, bytes) else body:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
        if chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _linger(self) -> None:
        """Let the client send the rest: closing at once would reset the connection before the response is read."""
        self.connection.shutdown(socket.SHUT_WR)
        self.connection.settimeout(LINGER)
        while self.connection.recv(1 << 16):
            pass


class Listener(socketserver.TCPServer):
    """Listens from its creation to `stop`."""

    request_queue_size = 128

    def __init__(self, respond: Callable[[Request], Response], report: Callable[[str], None]) -> None:
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
