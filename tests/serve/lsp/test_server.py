"""`foretold lsp` as a real process: driven by the client of pygls, and by bytes on its pipe."""

import json
import os
import subprocess
import sys
from urllib.parse import quote

import pytest
from lsprotocol import types

from foretold import __version__

from .editor import COMMAND, capabilities, drive


@pytest.fixture
def project(place):
    """A project of Claude Code with an import that is there."""
    place.write("proj/CLAUDE.md", "# Shop\n\nSee @docs/style.md\n")
    place.write("proj/docs/style.md", "Use tabs.\n")
    return place


def test_a_client_is_greeted(project):
    async def talk(editor):
        return editor.answer

    told = drive(project, talk)
    able = told.capabilities
    assert (told.server_info.name, told.server_info.version) == ("foretold", __version__)
    assert able.text_document_sync.change == types.TextDocumentSyncKind.Full
    assert able.position_encoding == types.PositionEncodingKind.Utf16
    assert [*able.execute_command_provider.commands] == ["foretold.explainRule"]
    assert [able.hover_provider, able.definition_provider] == [True, True]
    assert [*able.code_action_provider.code_action_kinds] == [types.CodeActionKind.QuickFix]


def test_a_broken_import_is_shown_and_goes_away_when_it_is_fixed(project):
    async def talk(editor):
        editor.open("CLAUDE.md", "# Shop\n\nSee @docs/stile.md\n")
        await editor.wait_for(lambda: editor.codes("CLAUDE.md"))
        broken = editor.diagnostics["CLAUDE.md"]
        editor.change("CLAUDE.md", "# Shop\n\nSee @docs/style.md\n")
        await editor.wait_for(lambda: not editor.codes("CLAUDE.md"))
        return broken

    (found,) = drive(project, talk)
    assert (found.code, found.source, found.severity) == ("import-missing", "foretold", types.DiagnosticSeverity.Error)
    assert (found.range.start.line, found.range.start.character, found.range.end.character) == (2, 4, 18)
    assert found.code_description is None
    assert found.message.startswith("docs/stile.md: not imported, there is no such file\n")


def test_the_whole_folder_is_checked_at_the_start(project):
    project.write("proj/CLAUDE.md", "See @docs/gone.md\n")
    project.write("proj/.claude/rules/api.md", '---\npaths: ["src/**\n---\nValidate.\n')

    async def talk(editor):
        await editor.wait_for(lambda: {"CLAUDE.md", ".claude/rules/api.md"} <= editor.diagnostics.keys())
        return {name: editor.codes(name) for name in editor.diagnostics}

    found = drive(project, talk)
    assert found["CLAUDE.md"] == ["import-missing"]
    assert "frontmatter-repaired" in found[".claude/rules/api.md"]


def test_a_saved_file_and_a_new_file_count(project):
    project.write("proj/CLAUDE.md", "See @docs/gone.md\n")

    async def talk(editor):
        await editor.wait_for(lambda: editor.codes("CLAUDE.md"))
        editor.save("docs/gone.md", "Here.\n")
        await editor.wait_for(lambda: not editor.codes("CLAUDE.md"))
        editor.save("CLAUDE.md", "See @docs/lost.md\n")
        await editor.wait_for(lambda: editor.codes("CLAUDE.md"))
        os.rename(project.path("proj/docs/gone.md"), project.path("proj/docs/lost.md"))
        changes = [types.FileEvent(editor.uri("docs/lost.md"), types.FileChangeType.Created)]
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))
        await editor.wait_for(lambda: not editor.codes("CLAUDE.md"))
        return editor.watched

    assert drive(project, talk) == ["workspace/didChangeWatchedFiles"]


def test_a_text_that_is_closed_unsaved_does_not_count(project):
    async def talk(editor):
        editor.open("CLAUDE.md", "See @docs/gone.md\n")
        await editor.wait_for(lambda: editor.codes("CLAUDE.md"))
        editor.close("CLAUDE.md")
        await editor.wait_for(lambda: not editor.codes("CLAUDE.md"))

    drive(project, talk)


def test_a_file_that_is_not_on_the_disk_yet(project):
    async def talk(editor):
        editor.open("CLAUDE.md", "See @docs/new.md\n")
        await editor.wait_for(lambda: editor.codes("CLAUDE.md"))
        editor.open("docs/new.md", "New.\n")
        await editor.wait_for(lambda: not editor.codes("CLAUDE.md"))

    drive(project, talk)


def test_hovering(project):
    project.write("proj/AGENTS.md", "# Shop\n\nUse tabs.\n")

    async def talk(editor):
        editor.open("CLAUDE.md", "# Shop\n\nSee @docs/style.md and @docs/gone.md\n")
        return [
            await editor.hover("CLAUDE.md", 2, 8),
            await editor.hover("CLAUDE.md", 2, 30),
            await editor.hover("CLAUDE.md", 0, 0),
            await editor.hover("AGENTS.md", 0, 0),
            await editor.hover("docs/other.md", 0, 0),
        ]

    there, gone, line, agents, none = drive(project, talk)
    assert there.startswith("**@docs/style.md**\n\nClaude Code: imports it, 3 tokens\n\n---\n\n")
    assert gone.startswith("**@docs/gone.md**\n\nClaude Code: does not import it\\: there is no such file\n\n---\n\n")
    assert "**import\\-missing \\(error\\)**\n\n" in gone
    assert line.startswith("**CLAUDE.md**\n\nClaude Code: always, 12 tokens\n\nCodex: never\\: ")
    assert agents.endswith("\n\nCodex: always, 5 tokens")
    assert none is None


def test_a_line_that_a_budget_cuts_off(place):
    text = "".join(f"{number} {'x' * 80}\n" for number in range(1, 600))
    place.write("proj/AGENTS.md", text)

    async def talk(editor):
        return await editor.hover("AGENTS.md", 10, 0), await editor.hover("AGENTS.md", 500, 0)

    given, lost = drive(place, talk)
    last = text.encode()[:32_768].count(b"\n")
    assert f"cut after line {last}" in given
    assert "this line is not given" not in given
    assert f"cut after line {last}; this line is not given" in lost


def test_going_to_an_imported_file(project):
    project.write("elsewhere.md", "Outside.\n")

    async def talk(editor):
        editor.open("CLAUDE.md", "𝒳 @docs/style.md, @docs/gone.md, @../elsewhere.md and @docs/style.md.\n")
        at = [await editor.definition("CLAUDE.md", 0, character) for character in (0, 3, 10, 25, 42, 65)]
        return at, await editor.links("CLAUDE.md")

    at, links = drive(project, talk)
    assert at == [None, "docs/style.md", "docs/style.md", None, None, "docs/style.md"]
    assert links == []  # each has punctuation after it, or is not there: the agent follows none of them


def test_links_of_imports(project):
    async def talk(editor):
        editor.open("CLAUDE.md", "---\na: @docs/style.md\n---\n𝒳 @docs/style.md and `@docs/style.md`\n")
        return await editor.links("CLAUDE.md")

    assert drive(project, talk) == [(3, 17, "docs/style.md")]


@pytest.mark.parametrize(("encoding", "start"), [("utf-8", 5), ("utf-32", 2)])
def test_another_encoding_of_positions(project, encoding, start):
    async def talk(editor):
        editor.open("CLAUDE.md", "𝒳 @docs/gone.md\n")
        await editor.wait_for(lambda: editor.codes("CLAUDE.md"))
        return editor.diagnostics["CLAUDE.md"][0].range.start.character

    able = capabilities(position_encodings=[encoding])
    assert drive(project, talk, able=able) == start


def test_actions(project):
    async def talk(editor):
        editor.open("CLAUDE.md", "# Shop\n\nSee @docs/style.md.\n")
        await editor.wait_for(lambda: editor.codes("CLAUDE.md"))
        actions = await editor.actions("CLAUDE.md", 2)
        none = await editor.actions("CLAUDE.md", 0)
        explain = actions[-1]
        command = types.ExecuteCommandParams(explain.command, explain.arguments)
        said = await editor.client.workspace_execute_command_async(command)
        await editor.wait_for(lambda: editor.messages)
        return actions, none, said, editor.messages

    actions, none, said, messages = drive(project, talk)
    assert [*none] == []
    assert [each.title for each in actions][-1] == "What import-punctuation means"
    assert messages == [said]
    assert said.startswith("import-punctuation (error)\n")


def test_a_fix_is_an_edit_of_the_document(project):
    async def talk(editor):
        editor.open("CLAUDE.md", "# Shop\n\n𝒳 See @docs/style.md.\n")
        await editor.wait_for(lambda: editor.codes("CLAUDE.md"))
        return await editor.actions("CLAUDE.md", 2)

    fix = drive(project, talk)[0]
    assert (fix.kind, fix.is_preferred, [each.code for each in fix.diagnostics]) == (
        types.CodeActionKind.QuickFix,
        True,
        ["import-punctuation"],
    )
    (change,) = fix.edit.document_changes
    (edit,) = change.edits
    row = "𝒳 See @docs/style.md.".encode("utf-16-le")
    start, end = (2 * place.character for place in (edit.range.start, edit.range.end))
    fixed = row[:start].decode("utf-16-le") + edit.new_text + row[end:].decode("utf-16-le")
    assert (change.text_document.version, edit.range.start.line, edit.range.end.line) == (1, 2, 2)
    assert fixed == "𝒳 See @docs/style.md ."


def test_actions_of_other_kinds_are_not_given(project):
    async def talk(editor):
        editor.open("CLAUDE.md", "See @docs/style.md.\n")
        await editor.wait_for(lambda: editor.codes("CLAUDE.md"))
        kinds = (types.CodeActionKind.Refactor, types.CodeActionKind.QuickFix, "", "quick", "quickfix.other")
        return [[each.title for each in await editor.actions("CLAUDE.md", 0, only=[kind])] for kind in kinds]

    fix = ["Put white space after @docs/style.md"]
    assert drive(project, talk) == [[], fix, fix, [], []]


def test_settings_that_cannot_be_read_are_said(project):
    project.write("proj/.foretold.toml", "selct = 1\n")

    async def talk(editor):
        await editor.wait_for(lambda: editor.messages)
        editor.save(".foretold.toml", "")
        editor.open("CLAUDE.md", "See @docs/gone.md\n")
        await editor.wait_for(lambda: editor.codes("CLAUDE.md"))
        return editor.messages

    (message,) = drive(project, talk)
    assert "selct" in message


def test_what_is_not_a_file_of_the_folder(project):
    """Another scheme, another machine, a file outside, a link that leads outside: nothing is read, nothing answered."""
    outside = project.write("outside/CLAUDE.md", "See @gone.md\n")
    project.link("proj/linked", project.path("outside"))

    async def talk(editor):
        await editor.hover("CLAUDE.md", 0, 0)
        addresses = [
            "untitled:Untitled-1",
            f"file://{outside}",
            "file://other/CLAUDE.md",
            "file:///%00",
            "linked/CLAUDE.md",
        ]
        answers = []
        for address in addresses:
            uri = address if ":" in address else editor.uri(address)
            item = types.TextDocumentItem(uri, "markdown", 1, "See @gone.md\n")
            editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
            place = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(0, 6))
            answers.append(await editor.client.text_document_hover_async(place))
        return answers, editor.diagnostics

    answers, diagnostics = drive(project, talk)
    assert answers == [None] * 5
    assert [name for name, found in diagnostics.items() if found] == []


def test_a_folder_that_is_opened_through_a_link(project):
    project.write("proj/CLAUDE.md", "See @docs/gone.md\n")
    link = project.link("link", project.proj)

    async def talk(editor):
        await editor.wait_for(lambda: editor.codes("CLAUDE.md"))
        return await editor.definition("CLAUDE.md", 0, 6), await editor.hover("CLAUDE.md", 0, 0)

    gone, hover = drive(project, talk, folder=link)
    assert gone is None
    assert "**CLAUDE.md**" in hover


def test_marks_of_a_repository_make_no_link(project):
    """A name of a stranger's file is shown as it is written, in a hover, too."""
    name = "![x](http://attacker.example/p.png).md"
    project.write(f"proj/docs/{name.replace('/', '_')}", "x\n")
    project.write("proj/CLAUDE.md", "See @docs/![x](http:__attacker.example_p.png).md\n")

    async def talk(editor):
        return await editor.hover("CLAUDE.md", 0, 8)

    shown = drive(project, talk)
    assert "![" not in shown
    assert "](" not in shown


def change_folders(editor, added=(), removed=()):
    event = types.WorkspaceFoldersChangeEvent(
        added=[types.WorkspaceFolder(uri, "x") for uri in added],
        removed=[types.WorkspaceFolder(uri, "x") for uri in removed],
    )
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))


def test_folders_that_are_not_on_this_disk_come_and_go(project):
    """The server runs in the project's folder: a folder without a path is not that one."""
    project.write("proj/CLAUDE.md", "See @docs/gone.md\n")

    async def talk(editor):
        await editor.wait_for(lambda: editor.codes("CLAUDE.md"))
        strange = ["vscode-remote://host/x", "untitled:x", "file://other/x", ""]
        change_folders(editor, added=strange)
        change_folders(editor, removed=strange)
        change_folders(editor, removed=[f"file://{project.root}/other"])
        return await editor.hover("CLAUDE.md", 0, 0), editor.codes("CLAUDE.md")

    hover, codes = drive(project, talk, cwd=project.proj)
    assert hover is not None
    assert codes == ["import-missing"]


def test_a_text_that_is_opened_before_its_folder(project):
    other = project.write("other/CLAUDE.md", "Use tabs.\n")

    async def talk(editor):
        uri = f"file://{other}"
        item = types.TextDocumentItem(uri, "markdown", 1, "See @docs/gone.md\n")
        editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        change_folders(editor, added=[f"file://{os.path.dirname(other)}"])
        await editor.wait_for(lambda: editor.codes(uri))
        change_folders(editor, removed=[f"file://{os.path.dirname(other)}"])
        await editor.wait_for(lambda: not editor.codes(uri))

    drive(project, talk)


def test_a_name_that_is_not_utf_8(project):
    """It has an address like any other, and what is found elsewhere is shown, too."""
    names = [b"\xff", "ü %41#?;x".encode()]
    for name in names:
        folder = os.path.join(os.fsencode(project.proj), name)
        os.mkdir(folder)
        with open(os.path.join(folder, b"CLAUDE.md"), "w", encoding="utf-8") as file:
            file.write("See @gone.md\n")
    project.write("proj/CLAUDE.md", "See @docs/gone.md\n")
    addresses = [f"{quote(name)}/CLAUDE.md" for name in names]

    async def talk(editor):
        await editor.wait_for(lambda: {"CLAUDE.md", *addresses} <= editor.diagnostics.keys())
        found = [editor.codes(name) for name in ("CLAUDE.md", *addresses)]
        return found, [await editor.hover(name, 0, 6) for name in addresses]

    found, hovers = drive(project, talk)
    assert found == [["import-missing"]] * 3
    for hover in hovers:
        assert hover.startswith("**@gone.md**")
        hover.encode()  # no half of a character is sent


# By bytes on its pipe


class Pipe:
    """A server, and the bytes that go to it and come from it."""

    def __init__(self, place, before=""):
        self.process = subprocess.Popen(
            [sys.executable, "-c", before + COMMAND, "lsp", "--no-home", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=place.environment(),
            cwd=place.proj,
        )
        self.notices = []

    def send(self, message):
        body = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def ask(self, method, params=None, number=1):
        """The answer to a request; nothing comes that is not a message."""
        self.send({"id": number, "method": method, "params": params})
        while True:
            head = self.process.stdout.readline()
            assert head.startswith(b"Content-Length: "), head
            while self.process.stdout.readline() != b"\r\n":
                pass
            message = json.loads(self.process.stdout.read(int(head.split()[1])))
            if message.get("id") == number and "method" not in message:
                return message
            self.notices.append(message)

    def begin(self, place):
        self.ask("initialize", {"processId": None, "rootUri": f"file://{place.proj}", "capabilities": {}})
        self.send({"method": "initialized", "params": {}})

    def leave(self):
        """The exit status, and the log."""
        self.ask("shutdown")
        self.send({"method": "exit"})
        out, log = self.process.communicate(timeout=60)
        assert out == b""
        return self.process.returncode, log.decode()


def test_malformed_input_does_not_end_it(place):
    place.write("proj/CLAUDE.md", "x\n")
    document = {"uri": f"file://{place.proj}/CLAUDE.md"}
    pipe = Pipe(place)
    pipe.begin(place)
    pipe.send(b"{not json")
    pipe.send(b"\xff\xfe")
    pipe.send(b"[]")
    pipe.send({"method": "textDocument/didOpen", "params": {"textDocument": 5}})
    pipe.process.stdin.write(b"Nonsense: 1\r\n\r\n\r\n")
    far = {"line": 99, "character": 99}
    explain = {"command": "foretold.explainRule", "arguments": ["nope"]}
    answers = [
        pipe.ask("textDocument/hover", {"textDocument": document, "position": far}),
        pipe.ask("textDocument/hover", {"textDocument": document}),
        pipe.ask("no/suchMethod", {}),
        pipe.ask("workspace/executeCommand", {"command": "rm", "arguments": ["-rf"]}),
        pipe.ask("workspace/executeCommand", explain),
    ]
    assert ["error" in answer for answer in answers] == [False, True, True, True, False]
    assert answers[-1]["result"] == "no finding has the code 'nope'"
    assert [each["method"] for each in pipe.notices] == []
    status, log = pipe.leave()
    assert status == 0
    assert "Unable to handle message" in log


def test_a_fault_is_logged_and_the_server_goes_on(place):
    place.write("proj/CLAUDE.md", "x\n")
    broken = (
        "import foretold.check.recheck as recheck\n"
        "real = recheck.check_tree\n"
        "def check_tree(*words):\n"
        "    recheck.check_tree = real\n"
        "    raise ValueError('a fault')\n"
        "recheck.check_tree = check_tree\n"
    )
    document = {"uri": f"file://{place.proj}/CLAUDE.md"}
    where = {"textDocument": document, "position": {"line": 0, "character": 0}}
    pipe = Pipe(place, broken)
    pipe.begin(place)
    answers = [pipe.ask("textDocument/hover", where), pipe.ask("textDocument/hover", where)]
    assert "always" in answers[-1]["result"]["contents"]["value"]
    assert [each["params"]["message"] for each in pipe.notices] == ["foretold: ValueError('a fault')"]
    status, log = pipe.leave()
    assert status == 0
    assert "ValueError: a fault" in log


def test_leaving_without_a_goodbye(place):
    pipe = Pipe(place)
    pipe.send({"method": "exit"})
    out, _ = pipe.process.communicate(timeout=60)
    assert (pipe.process.returncode, out) == (1, b"")


@pytest.mark.parametrize("is_busy", [False, True])
def test_an_editor_that_dies(place, is_busy):
    """The end of its input ends it, also while it checks, and the log says nothing."""
    place.write("proj/CLAUDE.md", "x\n")
    pipe = Pipe(place)
    pipe.begin(place)
    if not is_busy:
        document = {"uri": f"file://{place.proj}/CLAUDE.md"}
        pipe.ask("textDocument/hover", {"textDocument": document, "position": {"line": 0, "character": 0}})
    pipe.process.stdin.close()
    assert pipe.process.wait(60) == 1
    assert pipe.process.stderr.read().decode() == ""
    pipe.process.stdout.close()
    pipe.process.stderr.close()


def test_nothing_but_the_protocol_is_on_standard_output(place):
    """What prints while it serves goes to the log."""
    place.write("proj/CLAUDE.md", "x\n")
    loud = (
        "import os, sys\n"
        "import foretold.check.recheck as recheck\n"
        "real = recheck.check_tree\n"
        "def check_tree(*words):\n"
        "    print('printed'); os.write(1, b'written\\n'); sys.stdout.flush()\n"
        "    return real(*words)\n"
        "recheck.check_tree = check_tree\n"
    )
    pipe = Pipe(place, loud)
    pipe.begin(place)
    document = {"uri": f"file://{place.proj}/CLAUDE.md"}
    pipe.ask("textDocument/hover", {"textDocument": document, "position": {"line": 0, "character": 0}})
    status, log = pipe.leave()
    assert status == 0
    assert {"printed", "written"} <= set(log.split())


def test_without_its_package_it_says_what_to_install(place):
    hidden = "import sys; sys.modules['pygls'] = None\n"
    words = [sys.executable, "-c", hidden + COMMAND, "lsp"]
    done = subprocess.run(words, env=place.environment(), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (2, "")
    assert "foretold lsp needs a package that is not installed: " in done.stderr
    assert "'pygls>=2.1,<3'" in done.stderr
