"""The plugin folder says what an install writes."""

import json
import os
import re

import foretold
from foretold.dialects.install_targets import INSTALLS
from foretold.serve.install.change import add_ours
from foretold.serve.install.ours import PARTS, wanted_pieces
from foretold.serve.install.plugin import main, plugin_files

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def test_its_files_are_those_of_the_tables(tmp_path):
    main(str(tmp_path))
    for path, text in plugin_files().items():
        assert (read(path), (tmp_path / path).read_text()) == (text, text)


def test_its_hooks_and_server_are_those_that_an_install_writes():
    written = json.loads(add_ours("", "json", wanted_pieces(INSTALLS["claude-code"], PARTS, ["foretold"], ())))
    assert json.loads(read("plugin/hooks/hooks.json"))["hooks"] == written["hooks"]
    assert json.loads(read("plugin/.mcp.json"))["mcpServers"] == written["mcpServers"]


def test_its_version_is_ours():
    market = json.loads(read(".claude-plugin/marketplace.json"))
    versions = {json.loads(read("plugin/.claude-plugin/plugin.json"))["version"], market["plugins"][0]["version"]}
    assert versions == {foretold.__version__}


def test_its_commands_call_what_there_is():
    from foretold.cli import COMMANDS

    folder = os.path.join(ROOT, "plugin", "commands")
    for name in sorted(os.listdir(folder)):
        text = read(os.path.join(folder, name))
        assert text.startswith("---\ndescription: ")
        called = set(re.findall(r"foretold ([a-z]+)", text))
        assert called
        assert called <= {*COMMANDS, "says"}
