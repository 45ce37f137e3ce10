"""An editor: the real server as a process of its own, driven by the client of pygls."""

import asyncio
import os
import sys
from contextlib import asynccontextmanager

from lsprotocol import types
from pygls.lsp.client import LanguageClient

COMMAND = "from foretold import cli; cli.run()"
PATIENCE = 30


class Editor:
    """What an editor knows: diagnostics by path, messages, and the folder that is open."""

    def __init__(self, client, folder):
        self.client, self.folder = client, folder
        self.diagnostics, self.messages, self.logged, self.watched = {}, [], [], []
        self._news = asyncio.Event()

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def take(params):
            self.diagnostics[self.name(params.uri)] = params.diagnostics
            self._news.set()

        @client.feature(types.WINDOW_SHOW_MESSAGE)
        def show(params):
            self.messages.append(params.message)
            self._news.set()

        @client.feature(types.WINDOW_LOG_MESSAGE)
        def log(params):
            self.logged.append(params.message)

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params):
            self.watched += [each.method for each in params.registrations]

    def uri(self, name):
        return name if "://" in name else f"file://{os.path.join(self.folder, name)}"

    def name(self, uri):
        return uri.removeprefix(f"file://{self.folder}/")

    def document(self, name):
        return types.TextDocumentIdentifier(self.uri(name))

    def open(self, name, text):
        item = types.TextDocumentItem(self.uri(name), "markdown", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, name, text, version=2):
        document = types.VersionedTextDocumentIdentifier(version, self.uri(name))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def close(self, name):
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.document(name)))

    def save(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(self.document(name)))

    def codes(self, name):
        return [each.code for each in self.diagnostics.get(name, ())]

    async def wait_for(self, holds):
        """Wait until the server has sent what makes something true."""
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self._news.clear()
                await self._news.wait()

    async def hover(self, name, line, character):
        position = types.Position(line, character)
        found = await self.client.text_document_hover_async(types.HoverParams(self.document(name), position))
        return found.contents.value if found else None

    async def definition(self, name, line, character):
        position = types.Position(line, character)
        found = await self.client.text_document_definition_async(types.DefinitionParams(self.document(name), position))
        return self.name(found.uri) if found else None

    async def links(self, name):
        found = await self.client.text_document_document_link_async(types.DocumentLinkParams(self.document(name)))
        return [(each.range.start.character, each.range.end.character, self.name(each.target)) for each in found]

    async def actions(self, name, line, only=None):
        place = types.Range(types.Position(line, 0), types.Position(line, 0))
        return await self.client.text_document_code_action_async(
            types.CodeActionParams(self.document(name), place, types.CodeActionContext([], only=only))
        )


@asynccontextmanager
async def editing(place, *words, folder="", able=None, env=None, cwd=""):
    """A server that knows a folder, with an editor that is through the handshake; its exit status is checked."""
    client = LanguageClient("test-editor", "1.0")
    opened = folder or place.proj
    await client.start_io(
        sys.executable, "-c", COMMAND, "lsp", "--home", place.home, "--managed", place.managed, *words,
        env=place.environment(PATH=os.environ["PATH"], **(env or {})), cwd=cwd or place.root,
    )  # fmt: skip
    editor = Editor(client, opened)
    async with asyncio.timeout(PATIENCE):
        editor.answer = await client.initialize_async(
            types.InitializeParams(
                able or capabilities(),
                process_id=os.getpid(),
                root_uri=f"file://{opened}",
                workspace_folders=[types.WorkspaceFolder(f"file://{opened}", "proj")],
            )
        )
    client.initialized(types.InitializedParams())
    yield editor
    async with asyncio.timeout(PATIENCE):
        await client.shutdown_async(None)
        client.exit(None)
        editor.status = await client._server.wait()
    editor.log = (await client._server.stderr.read()).decode()
    await client.stop()
    assert not editor.log, editor.log
    assert editor.status == 0


def capabilities(**general):
    """What most editors can do."""
    edit = types.WorkspaceEditClientCapabilities(
        document_changes=True, resource_operations=[types.ResourceOperationKind.Create]
    )
    watching = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    hover = types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown])
    return types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(workspace_edit=edit, did_change_watched_files=watching),
        text_document=types.TextDocumentClientCapabilities(hover=hover),
        general=types.GeneralClientCapabilities(**general) if general else None,
    )


def drive(place, talk, *words, **more):
    """Run a conversation with a server of its own; what it gives."""

    async def run():
        async with editing(place, *words, **more) as editor:
            return await talk(editor)

    return asyncio.run(run())
