"""Plugins and lists of plugins; each fault with a look-alike that is none."""

import pytest
from tests.check.families import codes, findings_of, seen, write_json

MANIFEST = "plug/.claude-plugin/plugin.json"
MARKET = ".claude-plugin/marketplace.json"
GOOD = {
    "name": "plug",
    "version": "1.0.0",
    "author": {"name": "us"},
    "commands": ["./more/deploy.md"],
    "keywords": ["a"],
}
LIST = {"name": "ours", "owner": {"name": "us"}, "plugins": [{"name": "plug", "source": "./plug"}]}


@pytest.fixture
def plugin(place):
    place.write("proj/plug/more/deploy.md", "Deploy.\n")
    write_json(place, MANIFEST, GOOD)
    write_json(place, MARKET, LIST)
    return place


def test_a_plugin_as_it_should_be(plugin):
    sources = [
        {"name": "b", "source": {"source": "github", "repo": "a/b"}},
        {"name": "c", "source": {"source": "npm", "package": "c"}},
    ]
    write_json(plugin, MARKET, {**LIST, "plugins": [*LIST["plugins"], *sources]})
    assert seen(plugin, "schema") == []


@pytest.mark.parametrize(
    ("change", "line", "code"),
    [
        ({"name": None}, None, "plugin-manifest"),
        ({"name": "My Plugin"}, 2, "plugin-manifest"),
        ({"author": "us"}, 4, "plugin-manifest"),
        ({"keywords": "a"}, 10, "plugin-manifest"),
        ({"mcpServer": {}}, 13, "plugin-manifest"),
        ({"commands": ["more/deploy.md"]}, 8, "plugin-path"),
        ({"commands": "./more/gone.md"}, 7, "plugin-path"),
    ],
)
def test_a_fault_of_a_manifest(plugin, change, line, code):
    write_json(plugin, MANIFEST, {key: value for key, value in {**GOOD, **change}.items() if value is not None})
    assert seen(plugin, "schema") == [(MANIFEST, line, code)]


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"name": "gone", "source": "./gone"}, "plugin-source"),
        ({"name": "gone", "source": "plug"}, "plugin-source"),
        ({"name": "gone"}, "plugin-source"),
        ({"name": "gone", "source": {"source": "github"}}, "plugin-source"),
        ({"name": "gone", "source": {"source": "gitub", "repo": "a/b"}}, "plugin-source"),
        ({"source": "./plug"}, "plugin-manifest"),
        ({"name": "plug", "source": "./plug"}, "plugin-manifest"),
        ({"name": "other", "source": "./plug", "tags": "a"}, "plugin-manifest"),
    ],
)
def test_a_fault_of_an_entry(plugin, entry, code):
    write_json(plugin, MARKET, {**LIST, "plugins": [*LIST["plugins"], entry]})
    assert [(each.path, each.code) for each in findings_of(plugin, "schema")] == [(MARKET, code)]


def test_a_list_whose_sources_are_all_gone(plugin):
    write_json(plugin, MARKET, {**LIST, "plugins": [{"name": f"p{n}", "source": f"./p{n}"} for n in range(50)]})
    found = findings_of(plugin, "schema")
    assert [each.code for each in found] == ["plugin-source"] * 4
    assert found[-1].message == "`p3`: ./p3 is not there; others may be wrong, too"


def test_a_list_without_what_it_needs(plugin):
    write_json(plugin, MARKET, {"plugins": []})
    (found,) = findings_of(plugin, "schema")
    assert (found.code, found.message) == ("plugin-manifest", "it has no `name` and no `owner`, so it does not load")


def test_a_manifest_that_does_not_parse(plugin):
    plugin.write(f"proj/{MANIFEST}", '{"name": "plug"')
    assert codes(plugin, "schema") == ["config-invalid"]


def test_parts_in_the_folder_of_the_manifest(plugin):
    plugin.write("proj/plug/.claude-plugin/commands/a.md", "Text.\n")
    plugin.write("proj/plug/.claude-plugin/commands/b.md", "Text.\n")
    assert seen(plugin, "schema") == [("plug/.claude-plugin/commands/a.md", None, "plugin-place")]
    plugin.link("proj/plug/commands", ".claude-plugin/commands")  # then they are found
    assert seen(plugin, "schema") == []


def test_hooks_and_servers_in_the_manifest(plugin):
    inline = {
        **GOOD,
        "hooks": {"Stp": [{"hooks": [{"type": "command", "command": "echo"}]}]},
        "mcpServers": {"db": {"url": "https://db.example"}},
    }
    write_json(plugin, MANIFEST, inline)
    assert [each.code for each in findings_of(plugin, "schema")] == ["hook-event", "server-type"]


def test_names_below_a_root_of_plugins(plugin):
    write_json(
        plugin, MARKET, {**LIST, "metadata": {"pluginRoot": "./"}, "plugins": [{"name": "plug", "source": "plug"}]}
    )
    assert seen(plugin, "schema") == []
