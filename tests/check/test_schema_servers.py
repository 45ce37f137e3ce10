"""MCP servers of several agents; each fault with a look-alike that is none."""

import pytest
from tests.check.families import codes, findings_of, seen, write_json


def server(place, path=".mcp.json", key="mcpServers", **fields):
    write_json(place, path, {key: {"db": fields}})


@pytest.mark.parametrize(
    "fields",
    [
        {"command": "npx", "args": ["-y", "db-server"], "env": {"URL": "${URL}"}},
        {"command": "/opt/my tools/db-server"},
        {"type": "http", "url": "https://db.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        {"type": "sse", "url": "${DB_URL}"},
        {"type": "streamable-http", "url": "http://localhost:8000/mcp"},
        {"command": "node", "args": ["tools/server.js"]},
        {"command": "node", "args": ["dist/server.js"]},
        {"command": "uv", "args": ["run", "--directory", "server", "server.py"]},
        {"command": "db", "somethingNew": True},
    ],
)
def test_servers_as_they_should_be(place, fields):
    place.write("proj/tools/server.js", "")
    server(place, **fields)
    assert seen(place, "schema") == []


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "server-invalid"),
        ({"args": ["-y"]}, "server-invalid"),
        ({"comand": "db"}, "server-key"),
        ({"command": "db", "environment": {"A": "b"}}, "server-key"),
        ({"command": "db", "argss": ["x"]}, "server-key"),
        ({"url": "https://db.example/mcp"}, "server-type"),
        ({"type": "socket", "url": "https://db.example/mcp"}, "server-type"),
        ({"type": "http"}, "server-type"),
        ({"type": "stdio", "url": "https://db.example/mcp"}, "server-type"),
        ({"command": "db", "url": "https://db.example/mcp"}, "server-both"),
        ({"type": "http", "url": "db.example/mcp"}, "server-invalid"),
        ({"command": "db", "env": ["A=b"]}, "server-invalid"),
        ({"command": "db", "env": {"PORT": 3000}}, "server-invalid"),
        ({"command": ["npx", "db"]}, "server-invalid"),
        ({"command": "db", "args": "--port 1"}, "server-invalid"),
        ({"command": "npx -y db-server"}, "server-invalid"),
        ({"command": "node", "args": ["tools/gone.js"]}, "server-script-missing"),
        ({"command": "./tools/gone.sh"}, "server-script-missing"),
    ],
)
def test_a_fault_of_a_server(place, fields, code):
    server(place, **fields)
    (found,) = findings_of(place, "schema")
    assert (found.code, found.line, found.agents[0].partition("@")[0]) == (code, found.line, "claude-code")


@pytest.mark.parametrize("key", ["servers", "mcpServer", "mcp_servers"])
def test_servers_under_the_key_of_another_agent(place, key):
    server(place, key=key, command="db")
    assert seen(place, "schema") == [(".mcp.json", 2, "server-key")]


def test_a_file_that_does_not_parse(place):
    place.write("proj/.mcp.json", '{\n  "mcpServers": {\n    "a": {"command": "a",}\n  }\n}\n')
    assert seen(place, "schema") == [(".mcp.json", 3, "config-invalid")]


def test_a_server_that_is_there_twice(place):
    place.write("proj/.mcp.json", '{"mcpServers": {\n"a": {"command": "a"},\n"a": {"command": "b"}}}\n')
    assert seen(place, "schema") == [(".mcp.json", 2, "config-duplicate")]


def test_servers_of_a_plugin_may_lie_at_the_top(place):
    place.write("proj/plug/.claude-plugin/plugin.json", '{"name": "plug"}')
    write_json(place, "plug/.mcp.json", {"db": {"command": "${CLAUDE_PLUGIN_ROOT}/bin/db"}})
    place.write("proj/plug/bin/db", "", mode=0o755)
    assert seen(place, "schema") == []
    write_json(place, "plug/.mcp.json", {"db": {"url": "https://db.example/mcp"}})
    assert codes(place, "schema") == ["server-type"]


def test_a_file_further_down_may_be_for_another_agent(place):
    server(place, "plugins/a/.mcp.json", url="https://db.example/mcp")
    assert seen(place, "schema") == []
    place.write("proj/plugins/a/CLAUDE.md", "Use tabs.\n")
    assert seen(place, "schema") == [("plugins/a/.mcp.json", 4, "server-type")]


def test_other_agents_read_other_keys(place):
    server(place, ".cursor/mcp.json", url="https://db.example/mcp")  # needs no type
    place.write(
        "proj/.vscode/mcp.json", '{\n  // ours\n  "servers": {"db": {"command": "db", "env": {"PORT": 1}}},\n}\n'
    )
    server(place, ".gemini/settings.json", httpUrl="https://db.example/mcp")
    server(place, "opencode.json", "mcp", type="local", command=["db"], environment={"A": "b"})
    place.write("proj/.codex/config.toml", '[mcp_servers.db]\ncommand = "db"\nargs = ["-x"]\n')
    assert seen(place, "schema") == []
    server(place, ".vscode/mcp.json", command="db")
    server(place, "opencode.json", "mcp", command="db", env={"A": "b"})
    place.write("proj/.codex/config.toml", '[mcp_servers.db]\nargs = ["-x"]\n')
    assert seen(place, "schema") == [
        (".codex/config.toml", 1, "server-invalid"),
        (".vscode/mcp.json", 2, "server-key"),
        ("opencode.json", 3, "server-type"),
        ("opencode.json", 4, "server-invalid"),
        ("opencode.json", 5, "server-key"),
    ]


def test_a_switch_is_not_a_server(place):
    write_json(place, "opencode.json", {"mcp": {"known-elsewhere": {"enabled": False}}})
    assert seen(place, "schema") == []


def test_a_slip_that_costs_only_a_detail(place):
    server(place, type="http", url="https://db.example/mcp", timeout_ms=5000, header={"A": "b"})
    found = [(each.code, each.severity, each.hint) for each in findings_of(place, "schema")]
    assert found == [("server-key", "warning", "write timeout"), ("server-key", "", "write headers")]


@pytest.mark.parametrize("path", ["C:/Users/me/servers/db.exe", "d:\\tools\\db.cmd", "/opt/db/server.py"])
def test_a_program_of_one_machine_is_not_looked_for(place, path):
    server(place, command=path)
    assert seen(place, "schema") == []
    server(place, command="node", args=["C:/Users/me/servers/db.js"])
    assert seen(place, "schema") == []
