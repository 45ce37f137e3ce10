"""Which files of a tree are skills, agents, commands, hooks, servers, plugins and settings: one look at every path.

1. A file counts wherever in the tree it is, if it is in the folder, or has the name, that a table gives. The folder
   above it is the place that its agent starts in.
2. The top of a plugin is the folder with its manifest, and every folder of the tree that a list of plugins names.
3. Asked for certain agents, only the tables of those count; else all, whether the agent has left other signs or not.
4. Worktrees that an agent keeps in the repository, backups and archives are copies, and left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from foretold.check.project import Project
from foretold.check.schema.source import SourceFile, read_settings
from foretold.dialects.extensions import agent_skills, registry
from foretold.dialects.extensions.tables import DefinitionTable, HookTable, PluginTable, ServerTable, SettingsTable
from foretold.dialects.registry import choose
from foretold.types import NamedTuple

ENDINGS = (".md", ".json", ".jsonc", ".toml", ".txt", ".tml", ".mdc")
_CANDIDATE = re.compile(
    r"(?:^|/)(?:\.(?:claude|agents|codex|gemini|opencode|github|cursor|vscode|kiro|roo|junie|qwen|claude-plugin)/"
    r"|(?:agents|commands)/|(?:[Ss][Kk][Ii][Ll][Ll]\.md|\.mcp\.json|opencode\.jsonc?|hooks\.json)$)"
)
_COPIES = re.compile(r"(?:^|/)(?:\.claude/worktrees|\.?backups?|\.?archived?)/")
_DOCUMENTS = re.compile(r"(?:^|/)(?:docs?|documentation|website)/")
#: texts that people put next to definitions
PROSE = re.compile(
    r"(?:(?:[\w-]+[-_])?readme|index|changelog|contributing|license|todo|notes?|_\w*|claude|agents|overview)"
    r"\.(?:\w+\.)?md",
    re.IGNORECASE,
)
MOST_FILES = 20_000


class FoundDefinition(NamedTuple):
    """A file that defines something."""

    path: str
    table: DefinitionTable
    base: str  #: the folder that its agent starts in, or the top of its plugin


class FoundSkill(NamedTuple):
    """A SKILL.md, in whatever capitals."""

    path: str
    folder: agent_skills.SkillFolder | None  #: that it is in; None: somewhere else
    below: tuple[str, ...]  #: folders between that folder and the file
    plugin: str = ""  #: the top of the plugin that it is in
    base: str = ""


class FoundSettings(NamedTuple):
    """A settings file that tables are about, read."""

    source: SourceFile
    base: str
    form: str
    settings: SettingsTable | None = None
    servers: ServerTable | None = None
    hooks: HookTable | None = None
    plugin: str = ""  #: the top of the plugin that it is in


class FoundManifest(NamedTuple):
    """A manifest of a plugin, or of a list of plugins."""

    source: SourceFile
    table: PluginTable
    base: str  #: the top of the plugin
    is_list: bool


class Catalog:
    """The files of a project that tables are about."""

    def __init__(self, project: Project) -> None:
        self.definitions: list[FoundDefinition] = []
        self.skills: list[FoundSkill] = []
        self.settings: list[FoundSettings] = []
        self.manifests: list[FoundManifest] = []
        #: texts that lie in a folder of skills without one of their own
        self.flat_skills: list[tuple[str, agent_skills.SkillFolder]] = []
        self.misplaced_parts: list[tuple[str, PluginTable]] = []
        self.plugins: dict[str, PluginTable] = {}  #: by the top of each
        self._labels = {choice.dialect.agent: choice.dialect.name for choice in project.choices}
        self._is_limited = bool(project.options.agents)

    def agents_of(self, agents: tuple[str, ...]) -> tuple[str, ...]:
        """Those of some agents that are asked about, with their versions."""
        if not self._is_limited:
            for agent in agents:
                if agent not in self._labels:
                    self._labels[agent] = choose(agent).dialect.name
        return tuple(self._labels[agent] for agent in agents if agent in self._labels)


class _Sorter:
    """Fills a catalog."""

    def __init__(self, project: Project) -> None:
        self.project, self.catalog = project, Catalog(project)
        paths = [path for path in project.files if path.endswith(ENDINGS) and _CANDIDATE.search(path)]
        paths = [path for path in paths[:MOST_FILES] if not _COPIES.search(path)]
        self._candidates = [path for path in paths if project.is_checked(project.absolute(path))]
        self._find_manifests()
        self.catalog.plugins.update(self._find_plugins())
        for path in self._candidates:
            self._sort(path)

    # -- plugins

    def _find_manifests(self) -> None:
        for path in self._candidates:
            for table in registry.PLUGINS:
                name = path.rpartition("/")[2]
                if f"/{path}".endswith(f"/{table.folder}/{name}") and name in ("plugin.json", "marketplace.json"):
                    source = self._read(self.project.absolute(path), "json")
                    if source and self.catalog.agents_of(table.agents):
                        base = os.path.dirname(os.path.dirname(source.path))
                        self.catalog.manifests.append(FoundManifest(source, table, base, name == "marketplace.json"))

    def _find_plugins(self) -> dict[str, PluginTable]:
        """The tops of plugins."""
        found = {each.base: each.table for each in self.catalog.manifests if not each.is_list}
        for manifest in self.catalog.manifests:
            for folder in local_sources(manifest) if manifest.is_list else ():
                found.setdefault(folder, manifest.table)
        return found

    # -- sorting

    def _sort(self, path: str) -> None:
        whole = self.project.absolute(path)
        name = path.rpartition("/")[2]
        for table in registry.PLUGINS:
            top, mark, rest = whole.partition(f"/{table.folder}/")
            if mark and top in self.catalog.plugins and "/" in rest and rest.partition("/")[0] in table.parts:
                self.catalog.misplaced_parts.append((whole, table))
        if name.lower() == agent_skills.FILE.lower():
            self._sort_skill(path, whole)
        elif name.endswith((".json", ".jsonc")) or f"/{path}".endswith("/.codex/config.toml"):
            self._sort_settings(path, whole)
        elif not PROSE.fullmatch(name):
            self._sort_definition(path, whole)

    def _sort_skill(self, path: str, whole: str) -> None:
        plugin = self._plugin_of(whole)
        for folder in agent_skills.FOLDERS:
            before, mark, rest = f"/{path}".rpartition(f"/{folder.folder}/")
            if mark:
                if not self.project.options.agents or self.catalog.agents_of(folder.agents):
                    base = self.project.absolute(before[1:]).rstrip("/")
                    self.catalog.skills.append(FoundSkill(whole, folder, tuple(rest.split("/")[:-1]), plugin, base))
                return
        if path.endswith(f"/{agent_skills.FILE}") and not _DOCUMENTS.search(path):
            below = tuple(path.split("/")[:-1])
            self.catalog.skills.append(FoundSkill(whole, None, below, plugin, plugin or self.project.top))

    def _sort_definition(self, path: str, whole: str) -> None:
        for table in registry.DEFINITIONS:
            for folder in table.folders:
                before, mark, rest = f"/{path}".partition(f"/{folder}/")
                if mark and self._is_one(rest, table) and self.catalog.agents_of(table.agents):
                    base = self.project.absolute(before[1:]).rstrip("/")
                    self.catalog.definitions.append(FoundDefinition(whole, table, base))
                    return
        self._sort_plugin_part(whole)
        self._sort_flat_skill(path, whole)

    def _is_one(self, rest: str, table: DefinitionTable) -> bool:
        if table.is_flat and "/" in rest:
            return False
        return rest.endswith(table.suffix) or (bool(table.wrong_suffixes) and rest.endswith(table.wrong_suffixes))

    def _sort_plugin_part(self, whole: str) -> None:
        plugin = self._plugin_of(whole)
        if not plugin:
            return
        parts = whole[len(plugin) + 1 :].split("/")
        for definition in registry.PLUGIN_DEFINITIONS:
            if parts[0] in definition.folders and len(parts) > 1 and whole.endswith(definition.suffix):
                self.catalog.definitions.append(FoundDefinition(whole, definition, plugin))

    def _sort_flat_skill(self, path: str, whole: str) -> None:
        for folder in agent_skills.FOLDERS:
            rest = f"/{path}".rpartition(f"/{folder.folder}/")[2]
            if (
                rest != f"/{path}"
                and "/" not in rest
                and rest.endswith(".md")
                and self.catalog.agents_of(folder.one_level)
            ):
                self.catalog.flat_skills.append((whole, folder))

    def _sort_settings(self, path: str, whole: str) -> None:
        rooted, plugin = f"/{path}", self._plugin_of(whole)
        if whole not in (f"{plugin}/hooks/hooks.json", f"{plugin}/.mcp.json"):
            plugin = ""  # a file of the project, in which the plugin is
        settings = next((table for table in registry.SETTINGS if rooted.endswith(_ends(table.paths))), None)
        servers = next((table for table in registry.SERVERS if rooted.endswith(f"/{table.path}")), None)
        hooks = next((found for end, found in registry.HOOKS.items() if rooted.endswith(f"/{end}")), None)
        table = hooks[0] if hooks else None
        for folder, found in registry.HOOK_FOLDERS.items():
            if f"/{folder}/" in rooted and "/" not in rooted.rpartition(f"/{folder}/")[2]:
                table = found
        if plugin and rooted.endswith("/hooks/hooks.json"):
            table = registry.PLUGIN_HOOKS
        settings = settings if settings and self.catalog.agents_of(settings.agents) else None
        servers = servers if servers and self.catalog.agents_of(servers.agents) else None
        table = table if table and self.catalog.agents_of(table.agents) else None
        if not (settings or servers or table):
            return
        form = settings.form if settings else servers.form if servers else hooks[1] if hooks else "json"
        source = self._read(whole, form)
        if source is not None and not _is_other(source, settings):
            base = plugin or self._base_of(path)
            self.catalog.settings.append(FoundSettings(source, base, form, settings, servers, table, plugin))

    def _base_of(self, path: str) -> str:
        """The folder that an agent starts in which reads this settings file."""
        parts = path.split("/")[:-1]
        at = next((at for at, part in enumerate(parts) if part.startswith(".") and part != ".."), len(parts))
        return self.project.absolute("/".join(parts[:at])).rstrip("/")

    def _plugin_of(self, whole: str) -> str:
        """The innermost plugin that a path is in."""
        inner = [top for top in self.catalog.plugins if whole.startswith(f"{top}/")]
        return max(inner, key=len, default="")

    def _read(self, path: str, form: str) -> SourceFile | None:
        text = self.project.read(path)
        return None if text is None else read_settings(path, text, form)


def _is_other(source: SourceFile, settings: SettingsTable | None) -> bool:
    """Whether a file with the name of a settings file says that it is something else, as a theme."""
    schema = source.values.get("$schema")
    return settings is not None and isinstance(schema, str) and "/theme" in schema


def _ends(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"/{path}" for path in paths)


def local_sources(manifest: FoundManifest) -> Iterator[str]:
    """The folders of the tree that a list of plugins names."""
    plugins = manifest.source.values.get("plugins")
    for entry in plugins if isinstance(plugins, list) else ():
        source = entry.get("source") if isinstance(entry, dict) else None
        if isinstance(source, str) and source.startswith("./"):
            yield os.path.normpath(os.path.join(manifest.base, source))


def catalog_of(project: Project) -> Catalog:
    """The catalog of a project, made once."""
    return project.remember("catalog", lambda: _Sorter(project).catalog)
