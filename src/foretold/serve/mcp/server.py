"""The MCP server: our tools and resources over standard input and output, with the official SDK.

1. Nothing but the protocol goes to standard output: while it serves, the SDK points that at standard error for
   everything else in the process.
2. Work is done in threads, several requests at once; each opens what it needs. Progress is reported to clients that ask
   for it, and a request that is cancelled stops at its next step.
3. A fault of a tool is an answer that says so, never the end of the server, and never a traceback. A client that
   disconnects in the middle of a request is not a fault.
4. The client is asked for its folders once, and again when it says that they changed.
5. What the SDK cannot read is answered all the same (`transport`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from threading import Event
from urllib.parse import unquote, urlsplit

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from foretold import __version__
from foretold.dialects.registry import DEFAULT_AGENT
from foretold.errors import ForetoldError, NotAFolder
from foretold.secrets.invisible import show_hidden
from foretold.serve.mcp import resources
from foretold.serve.mcp.catalogue import INSTRUCTIONS, tools_for
from foretold.serve.mcp.context import CallContext, Cancelled, agent_of, session_of
from foretold.serve.mcp.paging import escape_surrogates
from foretold.serve.mcp.schema import check_arguments
from foretold.serve.mcp.tool import describe_error
from foretold.serve.mcp.transport import LONGEST, read_line
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, TypeVar

    from foretold.serve.mcp.tool import McpTool

    Given = TypeVar("Given")
    Context = Any  # of the SDK

THREADS = 8
ROOTS = 5.0  #: seconds in which a client says where it works
OFTEN = 0.25  #: seconds between two reports of progress


class ForetoldServer:
    """What is served, and to whom."""

    def __init__(self, folder: str = "", *, home: str | None = None, agent: str = "", read_only: bool = False) -> None:
        self.folder, self.home, self.agent = folder, home, agent
        self.tools = tools_for(read_only=read_only)
        self._roots: str | None = None  #: None: not asked yet
        self._threads: Any = None

    def server(self) -> Any:
        """The SDK's server with our handlers. Its telemetry spans are left out."""
        server = Server(
            "foretold",
            version=__version__,
            title="foretold",
            instructions=INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read_resource,
        )
        server.middleware.clear()
        server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, self.forget_roots)
        return server

    async def run(self) -> None:
        """Serve until standard input ends."""
        server = self.server()
        self._threads = anyio.CapacityLimiter(THREADS)
        lines = _ClientLines()
        async with stdio_server(stdin=lines) as (incoming, outgoing):
            lines.outgoing = outgoing
            await server.run(incoming, outgoing, server.create_initialization_options())

    # Tools

    async def list_tools(self, _context: Context, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(tool) for tool in self.tools.values()])

    async def call_tool(self, context: Context, params: Any) -> types.CallToolResult:
        tool = self.tools.get(params.name)
        if tool is None:
            known = ", ".join(self.tools)
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:80]!r}; there are: {known}")
        try:
            given = check_arguments(params.arguments or {}, tool.takes)
            answer = await self._in_thread(context, lambda context: tool.run(context, given))
        except ForetoldError as error:
            return _error_result(describe_error(error))
        except OSError as error:
            return _error_result(f"the machine refused: {error.strerror or error}: {error.filename or ''}".rstrip(": "))
        except Exception as error:  # a fault of ours is reported, and the server continues
            _log(f"{tool.name} failed: {_fault(error)}")
            return _error_result(f"foretold itself failed in {tool.name} ({_fault(error)}); other tools may still work")
        content = [types.TextContent(type="text", text=_text(answer.text))]
        return types.CallToolResult(content=content, structured_content=_visible(escape_surrogates(answer.data)))

    # Resources

    async def list_resources(self, context: Context, params: Any) -> types.ListResourcesResult:
        cursor = (params.cursor if params else "") or ""
        found, following = await self._or_error(context, lambda context: resources.listed(context, cursor))
        shown = [types.Resource(uri=each.uri, size=each.size, **_about(each)) for each in found]
        return types.ListResourcesResult(resources=shown, next_cursor=following or None)

    async def list_templates(self, _context: Context, _params: Any) -> types.ListResourceTemplatesResult:
        shown = [types.ResourceTemplate(uri_template=each.uri, **_about(each)) for each in resources.TEMPLATES]
        return types.ListResourceTemplatesResult(resource_templates=shown)

    async def read_resource(self, context: Context, params: Any) -> types.ReadResourceResult:
        uri = str(params.uri)
        parts = await self._or_error(context, lambda context: resources.read(context, uri))
        shown = [types.TextResourceContents(uri=uri, text=_text(text), mime_type=form) for uri, text, form in parts]
        return types.ReadResourceResult(contents=shown)

    async def _or_error(self, context: Context, work: Callable[[CallContext], Given]) -> Given:
        """What resources have no other form for: an error of the protocol."""
        try:
            return await self._in_thread(context, work)
        except ForetoldError as error:
            raise MCPError(types.INVALID_PARAMS, describe_error(error)) from None
        except Exception as error:
            raise MCPError(types.INTERNAL_ERROR, f"foretold itself failed ({_fault(error)})") from None

    # Where, and how

    async def _in_thread(self, context: Context, work: Callable[[CallContext], Given]) -> Given:
        """Do work in a thread, which stops when the client no longer waits."""
        folder = self.folder or await self._root(context) or _start_folder()
        stopped = Event()
        params = context.session.client_params
        name = params.client_info.name if params else ""
        context = CallContext(
            folder,
            self.home,
            f"{name} {params.client_info.version}"[:100] if params else "",
            self.agent or agent_of(name),
            self.agent or DEFAULT_AGENT,
            session_of((context.params or {}).get("_meta"), os.environ),
            progress=_Progress(context, stopped),
        )
        try:
            done: Given = await anyio.to_thread.run_sync(work, context, abandon_on_cancel=True, limiter=self._threads)
            return done
        finally:
            stopped.set()

    async def _root(self, context: Context) -> str:
        """The first folder that the client says it works in; empty if it says none."""
        if self._roots is None:
            capabilities = context.session.client_capabilities
            can = capabilities is not None and capabilities.roots is not None and context.session.can_send_request
            self._roots = await _ask_for_root(context) if can else ""
        return self._roots

    async def forget_roots(self, _context: Context, _params: Any) -> None:
        self._roots = None


async def _ask_for_root(context: Context) -> str:
    try:
        found = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult, ROOTS)
        return next((path for root in found.roots if (path := path_of(str(root.uri)))), "")
    except Exception as error:  # whatever a client answers, there is the folder we were started in
        _log(f"the client does not say where it works ({_fault(error)})")
        return ""


def path_of(uri: str) -> str:
    """The folder that an address of a file names; empty if it is none that is there.

    >>> path_of("file:///"), path_of("https://example.com/")
    ('/', '')
    """
    parts = urlsplit(uri)
    path = unquote(parts.path, errors="surrogateescape")
    return path if parts.scheme == "file" and "\0" not in path and os.path.isdir(path) else ""


class _Progress:
    """Reports the progress of work from its thread, and ends it when the client no longer waits."""

    def __init__(self, context: Context, stopped: Event) -> None:
        self._context, self._stopped = context, stopped
        self._wanted = bool(context.meta and context.meta.get("progress_token") is not None)
        self._last, self._most = 0.0, -1.0

    def __call__(self, done: float, total: float, doing: str) -> None:
        if self._stopped.is_set():
            raise Cancelled
        now = time.monotonic()
        if not self._wanted or done <= self._most or now - self._last < OFTEN:
            return
        self._last, self._most = now, done
        finite = total if total < float("inf") else None
        anyio.from_thread.run(self._context.session.report_progress, done, finite, doing)


# What the client sends


class _ClientLines:
    """The lines of standard input that the SDK can read; the others are answered.

    As the SDK does with the input that it takes itself, 0 is pointed at nothing, for what we start.
    """

    def __init__(self) -> None:
        self.outgoing: Any = None
        self._input = os.fdopen(os.dup(0), "rb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)

    async def __aiter__(self) -> AsyncIterator[str]:
        while data := await anyio.to_thread.run_sync(self._read, abandon_on_cancel=True):
            line, is_cut = data
            for each in read_line(line, _is_readable, is_cut=is_cut):
                if each.line:
                    yield each.line
                elif each.answer:
                    try:
                        await self.outgoing.send(SessionMessage(_Answer(each.answer)))
                    except (anyio.BrokenResourceError, anyio.ClosedResourceError):  # nobody reads answers any more
                        return

    def _read(self) -> tuple[bytes, bool] | None:
        """The next line, and whether it was cut; None at the end."""
        line = self._input.readline(LONGEST)
        is_cut, rest = len(line) == LONGEST and not line.endswith(b"\n"), line
        while is_cut and rest and not rest.endswith(b"\n"):
            rest = self._input.readline(LONGEST)
            line = line[: LONGEST // 2] + rest[-LONGEST // 2 :]
        return (line, is_cut) if line else None


class _Answer:
    """An answer that is text already, for the SDK's writer."""

    def __init__(self, text: str) -> None:
        self._text = text

    def model_dump_json(self, **_options: object) -> str:
        return self._text


def _is_readable(line: str) -> bool:
    try:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except Exception:  # whatever it is, the SDK would drop the message
        return False
    return True


# Values of ours as values of the protocol


def _tool(tool: McpTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=tool.takes,
        output_schema=tool.gives,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.repeats,
            open_world_hint=False,
        ),
    )


def _about(resource: resources.ListedResource) -> dict[str, str]:
    name, title, about = map(_text, (resource.name, resource.title, resource.about))
    return {"name": name, "title": title, "description": about, "mime_type": resource.form}


def _error_result(said: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=_text(said))], is_error=True)


def _text(text: str) -> str:
    return show_hidden(str(escape_surrogates(text)))


def _visible(value: object) -> Any:
    """Data in which characters that a person does not see are visible."""
    if isinstance(value, dict):
        return {key: _visible(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_visible(each) for each in value]
    return show_hidden(value) if isinstance(value, str) else value


def _start_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        raise NotAFolder("the folder that the server was started in is gone") from None


def _log(said: str) -> None:
    """One line on standard error, which clients keep in their logs."""
    print(f"foretold mcp: {said}", file=sys.stderr, flush=True)  # noqa: T201


def _fault(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]


def serve(folder: str = "", *, home: str | None = None, agent: str = "", read_only: bool = False) -> None:
    """Serve on standard input and output until the input ends."""
    try:
        anyio.run(ForetoldServer(folder, home=home, agent=agent, read_only=read_only).run)
    except* (BrokenPipeError, ConnectionError):
        _log("the client is gone")
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  what is still to be flushed
