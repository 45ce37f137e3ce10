"""The plugin folder says what an install writes."""

import json
import os
import re
import subprocess

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
    hooks = json.loads(read("plugin/hooks/hooks.json"))["hooks"]
    for hook in commands_in(hooks):
        before, _, hook["command"] = hook["command"].rpartition("; ")
        assert before.startswith("command -v foretold >/dev/null 2>&1 || ")
    assert hooks == written["hooks"]
    assert json.loads(read("plugin/.mcp.json"))["mcpServers"] == written["mcpServers"]


def commands_in(hooks):
    return [hook for groups in hooks.values() for group in groups for hook in group["hooks"]]


def test_without_the_program_one_line_says_what_to_do(tmp_path):
    """Nothing fails, and only the start of a session speaks."""
    said = {}
    for hook in commands_in(json.loads(read("plugin/hooks/hooks.json"))["hooks"]):
        done = subprocess.run(
            ["/bin/sh", "-c", hook["command"]], env={"PATH": str(tmp_path)}, input="{}", text=True, capture_output=True
        )
        assert (done.returncode, done.stderr) == (0, "")
        said[hook["command"].split()[-1]] = done.stdout
    start = json.loads(said.pop("SessionStart"))["systemMessage"]
    assert start.startswith("foretold is not on PATH, so its plugin does nothing: install ")
    assert set(said.values()) == {""}


def test_with_the_program_it_is_run(tmp_path):
    program = tmp_path / "foretold"
    program.write_text('#!/bin/sh\necho "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    for hook in commands_in(json.loads(read("plugin/hooks/hooks.json"))["hooks"]):
        done = subprocess.run(
            ["/bin/sh", "-c", hook["command"]], env={"PATH": str(tmp_path)}, text=True, capture_output=True, check=True
        )
        assert done.stdout == f"hook {hook['command'].split()[-1]}\n"


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
