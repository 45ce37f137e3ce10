"""The tables of skills, agents, commands, hooks, servers, plugins and settings: complete, with their sources."""

import pytest

from foretold.check.schema.values import NAMES
from foretold.dialects.extensions import agent_skills, registry
from foretold.dialects.extensions.redirects import LOCAL_NAMES, LOOPBACK, PRIVATE, REDIRECTS
from foretold.dialects.registry import AGENTS
from foretold.dialects.releases.history import version_key
from foretold.findings.registry import find_rule

DEFINITIONS = (*registry.DEFINITIONS, *registry.PLUGIN_DEFINITIONS, registry.SKILL, agent_skills.STANDARD)
HOOKS = {table.document: table for table, _ in registry.HOOKS.values()} | {
    table.document: table for table in registry.HOOK_FOLDERS.values()
}
TABLES = (*DEFINITIONS, *HOOKS.values(), *registry.SERVERS, *registry.SETTINGS, *registry.PLUGINS)


def kinds_of(table):
    """The kinds of values that a table names."""
    mappings = (
        [table.keys] if hasattr(table, "needed") else [getattr(table, name, {}) for name in ("marketplace", "entry")]
    )
    return {kind for mapping in mappings for kind in mapping.values()}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{type(table).__name__} {table.document}")
def test_a_table_names_known_agents_and_its_document(table):
    assert set(table.agents) <= set(AGENTS)
    assert table.document


@pytest.mark.parametrize("table", DEFINITIONS, ids=lambda table: f"{table.kind} {table.document}")
def test_a_definition_needs_keys_that_it_has(table):
    assert {*table.needed, *table.unneeded} <= set(table.keys)
    for kind in kinds_of(table):
        assert kind.startswith("one of ") or {*kind.split(" or ")} <= {*NAMES, "any"}


@pytest.mark.parametrize("table", HOOKS.values(), ids=lambda table: table.document)
def test_events_have_versions_that_are_versions(table):
    assert table.events
    assert all(version_key(since) for since in table.events.values() if since)
    assert table.tool_events <= set(table.events)
    assert set(table.matched) <= set(table.events)
    assert {field for fields in table.handlers.values() for field in fields} <= set(table.fields)


@pytest.mark.parametrize("table", registry.SERVERS, ids=lambda table: table.path)
def test_servers_need_fields_that_they_have(table):
    assert {*table.urls, table.env, "command"} & set(table.fields)
    assert {field for field in table.types.values() if field} <= {"command", *table.urls}


@pytest.mark.parametrize("row", REDIRECTS, ids=lambda row: ".".join(row.keys))
def test_a_redirect_is_a_rule(row):
    assert find_rule(row.code).severity in ("error", "warning")
    assert row.severity in ("", "warning", "note")
    assert set(row.agents) <= set(AGENTS)


@pytest.mark.parametrize(
    ("path", "is_local"),
    [
        ("CLAUDE.local.md", True),
        ("a/b/AGENTS.local.md", True),
        (".claude/settings.local.json", True),
        ("CLAUDE.md", False),
        ("config/settings.local.json", False),
        ("docs/CLAUDE.local.md.txt", False),
    ],
)
def test_names_of_local_files(path, is_local):
    assert bool(LOCAL_NAMES.search(path)) is is_local


@pytest.mark.parametrize(
    ("url", "is_near"),
    [
        ("http://localhost:1/a", True),
        ("http://127.0.0.1", True),
        ("http://[::1]:8080/", True),
        ("http://10.1.2.3/x", True),
        ("http://db:80/x", True),
        ("http://printer.local/", True),
        ("http://localhost.example.com/", False),
        ("http://127.0.0.1.example.com/", False),
        ("http://a.example.com/localhost", False),
    ],
)
def test_addresses_of_this_machine_and_network(url, is_near):
    assert bool(LOOPBACK.match(url) or PRIVATE.match(url)) is is_near
