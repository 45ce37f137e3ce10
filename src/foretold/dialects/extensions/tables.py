"""The words of the tables of this folder: what each agent reads besides instructions, and in which form.

1. A *definition* is a text with frontmatter that defines a skill, an agent or a command. A *settings* file, a file of
   *hooks*, of *servers* or of a *plugin* is JSON or TOML.
2. A table lists the keys that the public documentation of the agent names, each with the kind of its value: `text`,
   `flag`, `number`, `list`, `table`, `texts` (one or a list), `any`, several of them with ` or ` between, or
   `one of a b c`.
3. New releases bring new keys. So a key that is not in a table is no fault; only one that is nearly that of a table is.
4. Each table names the document that it was written from.
"""

from __future__ import annotations

from collections.abc import Mapping

from foretold.types import NamedTuple


class DefinitionTable(NamedTuple):
    """One kind of definition of an agent: where it is, and which keys its frontmatter has."""

    kind: str  #: skill, agent, command, prompt, rule
    agents: tuple[str, ...]  #: who reads it
    folders: tuple[str, ...]  #: that it is in, at the top of a project or further down
    keys: Mapping[str, str]  #: key -> the kind of its value
    document: str  #: the public page that says so
    suffix: str = ".md"
    form: str = "yaml"  #: of its head: yaml frontmatter, or toml: then the whole file
    needed: tuple[str, ...] = ()  #: keys that must be there
    unneeded: Mapping[str, str] = {}  #: a value of a key with which nothing is needed
    is_skipped: bool = False  #: without them, the agent does not load the file at all
    needs_head: bool = False  #: without any frontmatter the file defines nothing
    is_flat: bool = False  #: files in folders below are not read
    tools: frozenset[str] = frozenset()  #: names that `tools` and `allowed-tools` can have; empty: not known
    models: frozenset[str] = frozenset()  #: short names of models; empty: not known
    is_rule: bool = False  #: an instruction file: the loader says the rest about it
    wrong_suffixes: tuple[str, ...] = ()  #: endings with which the agent takes the file for something else


class HookTable(NamedTuple):
    """How an agent configures hooks."""

    agents: tuple[str, ...]
    events: Mapping[str, str]  #: name -> the version from which on it exists; empty: not known, or from the first
    handlers: Mapping[str, tuple[str, ...]]  #: type -> fields of which a handler of it needs one
    document: str
    has_groups: bool = True  #: below an event are groups with a matcher and a list `hooks`; else handlers themselves
    needs_type: bool = True  #: a handler without `type` is not valid
    tool_events: frozenset[str] = frozenset()  #: events whose matcher is about the name of a tool
    conditional: bool = False  #: a handler may have `if`, on events about tools only
    tools: frozenset[str] = frozenset()  #: names of tools for matchers; empty: not known
    matched: Mapping[str, tuple[str, ...]] = {}  #: event -> values that its matcher can have
    fields: tuple[str, ...] = ()  #: of handlers
    unit: str = "seconds"  #: of `timeout`
    commands: tuple[str, ...] = ("command",)  #: fields with a line for a shell


class ServerTable(NamedTuple):
    """How an agent configures MCP servers."""

    agents: tuple[str, ...]
    path: str  #: how the path of the file ends
    keys: tuple[str, ...]  #: under which the servers are
    types: Mapping[str, str]  #: value of `type` -> the field that such a server needs
    document: str
    form: str = "json"  #: json, jsonc, toml
    urls: tuple[str, ...] = ("url",)  #: fields with an address
    url_needs_type: bool = False  #: an address without `type` is taken for a program
    type_needed: bool = False  #: every server needs a `type`
    command: str = "text"  #: the kind of `command`
    env: str = "env"  #: the field with variables
    env_values: str = "text"  #: the kind of their values
    foreign: Mapping[str, str] = {}  #: a key of another agent -> what it is called here
    fields: tuple[str, ...] = ()  #: of a server


class SettingsTable(NamedTuple):
    """The keys of an agent's settings file of a project."""

    agents: tuple[str, ...]
    paths: tuple[str, ...]  #: how the path of the file ends
    keys: Mapping[str, str]  #: key, perhaps with a dot in it -> the kind of its value
    document: str
    form: str = "json"
    unread: Mapping[str, str] = {}  #: keys that the agent does not read in these files -> what to do instead
    tools: frozenset[str] = frozenset()  #: that permission rules in it can name; empty: it has no such rules


class PluginTable(NamedTuple):
    """The manifest of a plugin, and of a list of plugins."""

    agents: tuple[str, ...]
    folder: str  #: of the manifest, at the top of the plugin
    keys: Mapping[str, str]
    paths: tuple[str, ...]  #: keys whose texts are paths from the top of the plugin
    parts: tuple[str, ...]  #: folders that belong next to the folder of the manifest
    marketplace: Mapping[str, str]  #: keys of the list
    entry: Mapping[str, str]  #: keys of an entry in it
    sources: Mapping[str, str]  #: kind of a source -> the field that it needs
    document: str


def spell(kind: str, words: str) -> dict[str, str]:
    """Rows of a table whose values are all of one kind.

    >>> spell("flag", "fastMode verbose")
    {'fastMode': 'flag', 'verbose': 'flag'}
    """
    return dict.fromkeys(words.split(), kind)
