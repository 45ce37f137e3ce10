"""The language server: the protocol, with pygls, over standard input and output.

1. Nothing but the protocol goes to standard output. Faults go to the log, which is standard error, and to the editor's
   log; a file that is written badly is a finding, never a fault.
2. Texts come whole (`Full`): an editor and we need not agree about what ends a line.
3. Whatever an editor says is handled in one thread, in its order: what it opens and closes, checks, questions. A
   change is checked when no other has followed for a moment; a question is answered for the text that it has now.
4. Only files in the folders of the editor are answered for, by their real paths. Nothing of a repository is run.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from foretold import __version__
from foretold.check.project import CheckOptions
from foretold.findings.registry import find_rule
from foretold.serve.lsp.actions import QuickFix, list_fixes
from foretold.serve.lsp.diagnostics import Diagnostic
from foretold.serve.lsp.hover import HoverPart, describe_place, describe_rule, render_parts
from foretold.serve.lsp.imports import find_import, find_target, list_imports
from foretold.serve.lsp.positions import UTF16, TextSpan, count_units, find_character, split_lines
from foretold.serve.lsp.workspace import EditorWorkspace, OpenFolder
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, TypeVar

    Given = TypeVar("Given")

SOURCE = "foretold"
EXPLAIN = "foretold.explainRule"
MOST_FIXED = 100  #: findings that are fixed at once: each fix is worked out when it is asked for
PAUSE = 0.2  #: seconds without another change, before a text is checked
_log = logging.getLogger("foretold.lsp")


class _Protocol(LanguageServerProtocol):
    """The protocol of pygls, which would leave a request unanswered that it cannot understand."""

    def structure_message(self, data: Any) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise


class ForetoldLanguageServer(LanguageServer):
    """What is answered, and to whom."""

    def __init__(self, options: CheckOptions) -> None:
        super().__init__(SOURCE, __version__, types.TextDocumentSyncKind.Full, protocol_cls=_Protocol)
        self.files = EditorWorkspace(options, self._warn)
        self._thread = ThreadPoolExecutor(1, "foretold-check")
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[Any] = set()
        self.versions: dict[str, int] = {}  #: of open documents, by real path

    # -- checking

    def check_soon(self, pause: float = PAUSE) -> None:
        """Check after a pause; what is asked for meanwhile begins the pause anew."""
        if self._timer:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(pause, self._start_check)

    def _start_check(self) -> None:
        self._timer = None
        self.start(self.check_now())

    def start(self, work: Awaitable[object]) -> None:
        """Let work go on by itself: if the editor dies, it ends in silence, while pygls logs handlers that do not."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)  # else nothing would hold it
        task.add_done_callback(self._tasks.discard)

    async def check_now(self) -> None:
        """Check what has changed, and send the diagnostics that are others now."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        await self.publish(self.files.update)

    async def publish(self, work: Callable[[], dict[str, tuple[Diagnostic, ...]]]) -> None:
        """Do work that changes what is shown, and send that."""
        for params in await self.run(lambda: [self._make_params(*each) for each in work().items()]) or ():
            self.text_document_publish_diagnostics(params)

    def _make_params(self, path: str, found: tuple[Diagnostic, ...]) -> Any:
        lines = self.lines_of(path) if found else []
        shown = [self.make_diagnostic(each, lines) for each in found]
        return types.PublishDiagnosticsParams(self.uri_of(path), shown, self.versions.get(os.path.realpath(path)))

    def run(self, work: Callable[[], Given]) -> Awaitable[Given | None]:
        """Do work in the thread of checks, after what was asked for before; None if it fails, which is logged."""
        return self._report(asyncio.get_running_loop().run_in_executor(self._thread, work))

    async def _report(self, work: Awaitable[Given]) -> Given | None:
        try:
            return await work
        except Exception as error:  # a fault of ours is reported, and the server continues
            _log.exception("a check failed")
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, f"foretold: {error!r}"))
            return None

    def note(self, work: Callable[[], None]) -> None:
        """Do work in the thread of checks, and check soon."""
        self.start(self.run(work))
        self.check_soon()

    async def ask(self, uri: str, work: Callable[[OpenFolder, str], Given]) -> Given | None:
        """Answer a question about a file for the text that the editor has now; None if it is none of ours."""
        path = path_of(uri)
        if not path:
            return None
        await self.check_now()
        return await self.run(lambda: self._answer(path, work))

    def _answer(self, path: str, work: Callable[[OpenFolder, str], Given]) -> Given | None:
        folder = self.files.find_folder(path)
        if folder is None or folder.check is None:
            return None
        return work(folder, self.files.resolve(path, folder))

    def _warn(self, text: str) -> None:
        """Tell the user why a folder is not checked; called in the thread of checks."""
        params = types.ShowMessageParams(types.MessageType.Error, f"foretold: {make_valid(text)}")
        self._loop.call_soon_threadsafe(self.window_show_message, params)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """What is not a request and cannot be understood is logged, not shown."""
        _log.error("%s: %s", getattr(source, "__name__", source), error)

    # -- words of the protocol

    def begin(self, params: Any) -> None:
        """Take the folders of the editor."""
        self._loop = asyncio.get_running_loop()
        roots = [folder.uri for folder in params.workspace_folders or ()]
        for uri in roots or filter(None, [params.root_uri]):
            if path := path_of(uri):
                self.files.add_folder(path)

    def uri_of(self, path: str) -> str:
        return address_of(self.files.spell(path))

    @property
    def encoding(self) -> str:
        agreed = self.server_capabilities.position_encoding
        return str(getattr(agreed, "value", agreed) or UTF16)

    def make_range(self, span: TextSpan, lines: list[str]) -> Any:
        ends = ((span.line, span.start), (span.last_line, span.end))
        return types.Range(*(self._position(line, character, lines) for line, character in ends))

    def _position(self, line: int, character: int, lines: list[str]) -> Any:
        text = lines[line] if line < len(lines) else ""
        return types.Position(line, count_units(text, character, self.encoding))

    def make_diagnostic(self, found: Diagnostic, lines: list[str]) -> Any:
        start = types.Range(types.Position(0, 0), types.Position(0, 0))
        related = [
            types.DiagnosticRelatedInformation(
                types.Location(self.uri_of(path), start), make_valid(os.path.basename(path))
            )
            for path in found.others
        ]
        return types.Diagnostic(
            self.make_range(found.span, lines),
            make_valid(found.message),
            severity=types.DiagnosticSeverity(found.severity),
            code=found.finding.code,
            source=SOURCE,
            related_information=related or None,
        )

    def lines_of(self, path: str) -> list[str]:
        """The lines of a file, as they were checked."""
        folder = self.files.find_folder(path) or next(iter(self.files.folders.values()), None)
        return split_lines((folder.check.project.read(path) if folder and folder.check else None) or "")

    def make_action(self, fix: QuickFix) -> Any:
        """A quick fix; None if the editor cannot make such changes."""
        workspace = self.client_capabilities.workspace
        ability = workspace.workspace_edit if workspace else None
        is_plain = not fix.renames and not any(edit.is_new for edit in fix.edits)
        if not is_plain and not (ability and ability.document_changes and ability.resource_operations):
            return None
        plain, ordered = {}, []
        for edit in fix.edits:
            lines = self.lines_of(edit.path)
            changes = [types.TextEdit(self.make_range(span, lines), text) for span, text in edit.changes]
            plain[self.uri_of(edit.path)] = changes
            version = self.versions.get(os.path.realpath(edit.path))
            document = types.OptionalVersionedTextDocumentIdentifier(self.uri_of(edit.path), version)
            ordered += [types.CreateFile(self.uri_of(edit.path))] if edit.is_new else []
            ordered.append(types.TextDocumentEdit(document, changes))
        ordered += [types.RenameFile(self.uri_of(old), self.uri_of(new)) for old, new in fix.renames]
        is_ordered = bool(ability and ability.document_changes)
        return types.CodeAction(
            make_valid(fix.title),
            types.CodeActionKind.QuickFix,
            is_preferred=fix.is_safe,
            edit=types.WorkspaceEdit(document_changes=ordered) if is_ordered else types.WorkspaceEdit(changes=plain),
        )


def path_of(uri: str) -> str:
    """The path of a `file:` address of this machine; empty for any other.

    >>> path_of("file:///a%20b/%C3%BC"), path_of("file://localhost/a"), path_of("file://other/a"), path_of("untitled:a")
    ('/a b/ü', '/a', '', '')
    """
    try:
        parts = urlsplit(uri, allow_fragments=False)
    except ValueError:
        return ""
    path = os.fsdecode(unquote_to_bytes(parts.path))
    is_ours = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return os.path.abspath(path) if is_ours and path.startswith("/") and path[:2] != "//" and "\0" not in path else ""


def address_of(path: str) -> str:
    """The `file:` address of a path; a name need not be UTF-8.

    >>> address_of("/a b/ü"), path_of(address_of("/\\udcff?#;%41"))
    ('file:///a%20b/%C3%BC', '/\\udcff?#;%41')
    """
    return f"file://{quote_from_bytes(os.fsencode(path))}"


def make_valid(text: str) -> str:
    """A text that every editor can decode: the name of a file need not be UTF-8.

    >>> make_valid("a\\udcff.md") == "a\\ufffd.md"
    True
    """
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def make_server(options: CheckOptions) -> ForetoldLanguageServer:
    """A server with its handlers."""
    server = ForetoldLanguageServer(options)
    _handle_texts(server)
    _handle_files(server)
    _handle_hovers(server)
    _handle_links(server)
    _handle_actions(server)
    return server


def _handle_texts(server: ForetoldLanguageServer) -> None:
    """What an editor does with the texts of files."""
    files = server.files

    @server.feature(types.INITIALIZE)
    def initialize(params: Any) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    async def initialized(_params: Any) -> None:
        await _watch_files(server)
        server.start(server.check_now())

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: Any) -> None:
        take(params.text_document.uri, params.text_document.text, params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: Any) -> None:
        if params.content_changes:
            take(params.text_document.uri, params.content_changes[-1].text, params.text_document.version)

    def take(uri: str, text: str, version: int) -> None:
        if path := path_of(uri):
            server.note(lambda: open_text(path, text, version))

    def open_text(path: str, text: str, version: int) -> None:
        files.open_text(path, text)
        server.versions[os.path.realpath(path)] = version

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: Any) -> None:
        if path := path_of(params.text_document.uri):
            server.note(lambda: close_text(path))

    def close_text(path: str) -> None:
        files.close_text(path)
        server.versions.pop(os.path.realpath(path), None)


def _handle_files(server: ForetoldLanguageServer) -> None:
    """What an editor does with files and folders."""
    files = server.files

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: Any) -> None:
        note_saved([params.text_document.uri])

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_files(params: Any) -> None:
        note_saved(change.uri for change in params.changes)

    def note_saved(changed: Iterable[str]) -> None:
        paths = [*filter(None, map(path_of, changed))]
        server.note(lambda: files.note_saved(*paths))

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_folders(params: Any) -> None:
        removed, added = (
            [path for each in folders if (path := path_of(each.uri))]
            for folders in (params.event.removed, params.event.added)
        )
        server.start(server.publish(lambda: files.change_folders(removed, added)))
        server.check_soon()


async def _watch_files(server: ForetoldLanguageServer) -> None:
    """Ask an editor that can to tell when files change that are not open."""
    workspace = server.client_capabilities.workspace
    ability = workspace.did_change_watched_files if workspace else None
    if ability and ability.dynamic_registration:
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher("**/*")])
        registration = types.Registration("foretold-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        try:
            await server.client_register_capability_async(types.RegistrationParams([registration]))
        except Exception as error:
            _log.warning("the editor does not watch files: %r", error)


def _find_place(server: ForetoldLanguageServer, path: str, position: Any) -> tuple[int, int]:
    """A position as line and character."""
    lines = server.lines_of(path)
    text = lines[position.line] if position.line < len(lines) else ""
    return position.line, find_character(text, position.character, server.encoding)


def _handle_hovers(server: ForetoldLanguageServer) -> None:
    """What an editor asks about a place in a file."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: Any) -> Any:
        uri = params.text_document.uri
        parts: list[HoverPart] | None = await server.ask(uri, lambda folder, path: find_parts(folder, path, params))
        if not parts:
            return None
        document = server.client_capabilities.text_document
        formats = document.hover.content_format if document and document.hover else None
        is_markdown = formats is None or types.MarkupKind.Markdown in formats
        kind = types.MarkupKind.Markdown if is_markdown else types.MarkupKind.PlainText
        return types.Hover(types.MarkupContent(kind, make_valid(render_parts(parts, markdown=is_markdown))))

    def find_parts(folder: OpenFolder, path: str, params: Any) -> list[HoverPart]:
        assert folder.check is not None
        line, character = _find_place(server, path, params.position)
        findings = [each for each in folder.findings if each.path == path]
        return describe_place(path, line, character, folder.check.project, findings)


def _handle_links(server: ForetoldLanguageServer) -> None:
    """Where the imports of a file lead."""

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: Any) -> Any:
        target = await server.ask(params.text_document.uri, lambda folder, path: find(folder, path, params)) or ""
        start = types.Range(types.Position(0, 0), types.Position(0, 0))
        return types.Location(server.uri_of(target), start) if target else None

    def find(folder: OpenFolder, path: str, params: Any) -> str:
        assert folder.check is not None
        project = folder.check.project
        at = _find_place(server, path, params.position)
        found = find_import(path, project.read(path) or "", *at, project)
        return find_target(found, project) if found else ""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    async def document_link(params: Any) -> Any:
        return await server.ask(params.text_document.uri, list_links) or []

    def list_links(folder: OpenFolder, path: str) -> list[Any]:
        assert folder.check is not None
        project = folder.check.project
        if path not in project.instruction_files:
            return []
        lines = server.lines_of(path)
        return [
            types.DocumentLink(server.make_range(each.span, lines), server.uri_of(target))
            for each in list_imports(path, project.read(path) or "", project)
            if (target := find_target(each, project))
        ]


def _handle_actions(server: ForetoldLanguageServer) -> None:
    """What an editor can do about a finding."""
    kinds = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)
    async def code_action(params: Any) -> Any:
        return await server.ask(params.text_document.uri, lambda folder, path: list_actions(folder, path, params)) or []

    def list_actions(folder: OpenFolder, path: str, params: Any) -> list[Any]:
        assert folder.check is not None
        shown = folder.shown.get(path, ((), ()))[1]
        only = params.context.only
        if only is not None and not any(each in ("", types.CodeActionKind.QuickFix) for each in only):
            return []
        first, last = params.range.start.line, params.range.end.line
        here = [each for each in shown if first <= each.span.last_line and each.span.line <= last][:MOST_FIXED]
        actions, lines = [], server.lines_of(path)
        for each in here:
            diagnostic = server.make_diagnostic(each, lines)
            for fix in list_fixes([each.finding], folder.check.project):
                action = server.make_action(fix)
                if action is not None:
                    action.diagnostics = [diagnostic]
                    actions.append(action)
        for code in dict.fromkeys(each.finding.code for each in here if only is None):  # a command has no kind
            actions.append(types.Command(f"What {code} means", EXPLAIN, arguments=[code]))
        return actions

    @server.command(EXPLAIN)
    def explain_rule(code: str) -> str:
        """Show what `foretold rule CODE` says."""
        if find_rule(code) is None:
            return f"no finding has the code {code!r}"
        text = render_parts([describe_rule(code)], markdown=False)
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))
        return text


def serve(options: CheckOptions) -> int:
    """Serve until the editor leaves; the exit status that the protocol asks for."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="foretold lsp: %(message)s")
    logging.getLogger("pygls").setLevel(logging.ERROR)  # it warns of answers that come while it ends
    protocol = os.dup(1)
    os.dup2(2, 1)  # whatever else is printed goes to the log
    server = make_server(options)
    with open(protocol, "wb") as output:
        server.start_io(sys.stdin.buffer, output)
    return 0 if server.protocol._shutdown else 1
