"""The family schema of `foretold check`: skills, agents, commands, hooks, MCP servers, plugins and settings.

1. What each agent reads, and in which form, is in the tables of `dialects.extensions`. What no table knows is not a
   fault.
2. Of one file at most `MOST` findings are reported: to find the line of each takes a look at the whole file.
3. Scripts that are missing are doubts until git was asked, once, which of all of them it ignores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.schema.catalog import Catalog, FoundManifest, FoundSettings, catalog_of
from foretold.check.schema.definitions import check_agents, check_definition
from foretold.check.schema.hooks import HookPlace, check_hooks
from foretold.check.schema.plugins import check_manifest, check_parts
from foretold.check.schema.scripts import ScriptDoubt, find_made, settle_doubts
from foretold.check.schema.servers import ServerPlace, check_server_file, check_servers
from foretold.check.schema.settings import check_form, check_settings
from foretold.check.schema.skills import check_flat, check_skill
from foretold.check.schema.source import SourceFile, read_head
from foretold.check.settings import CheckSettings
from foretold.dialects.extensions.registry import PLUGIN_HOOKS, PLUGIN_SERVERS, SKILL, WITH_HOOKS
from foretold.dialects.extensions.tables import HookTable

MOST = 100  #: findings of one settings file


def find_problems(project: Project, settings: CheckSettings) -> Iterator[CheckFinding]:
    """Findings of this family."""
    catalog = catalog_of(project)
    known = (
        project.remember("reported elsewhere", lambda: _list_reported(project))
        if settings.runs("delivery")
        else frozenset()
    )
    for skill in catalog.skills:
        yield from project.remember_list(("skill", skill.path), check_skill, project, catalog, skill)
    for definition in catalog.definitions:
        key, agents = ("definition", definition.path, definition.table.kind), catalog.agents_of(definition.table.agents)
        yield from project.remember_list(key, check_definition, project, definition, agents)
    for part in (check_flat, check_agents, check_parts):
        yield from project.remember_list(("schema", part.__name__), part, project, catalog)
    heads = project.remember_list(("schema", "heads"), _check_head_hooks, project, catalog)
    files = [
        [*_bound(_check_settings_file(project, catalog, found, is_reported=found.source.path in known))]
        for found in catalog.settings
    ]
    files += [[*_bound(_check_plugin(project, catalog, manifest))] for manifest in catalog.manifests]
    made = find_made(project, chain(heads, *files))
    yield from settle_doubts(heads, made)
    for findings in files:
        yield from islice(settle_doubts(findings, made), MOST)


def _bound(findings: Iterable[CheckFinding | ScriptDoubt]) -> Iterator[CheckFinding | ScriptDoubt]:
    """At most `MOST` findings, with the doubts among them: those may all turn out to be none."""
    certain = 0
    for each in findings:
        yield each
        certain += isinstance(each, CheckFinding)
        if certain == MOST:
            return


def _check_plugin(project: Project, catalog: Catalog, manifest: FoundManifest) -> Iterator[CheckFinding | ScriptDoubt]:
    agents = catalog.agents_of(manifest.table.agents)
    yield from check_form(manifest.source, agents, "the list of plugins" if manifest.is_list else "the plugin")
    yield from check_manifest(project, manifest, agents)
    if not manifest.is_list:
        yield from _check_inline(project, catalog, manifest.source, manifest.base)


def _list_reported(project: Project) -> frozenset[str]:
    """Settings files of which the loader of instructions says that they are not valid."""
    views = (project.view(choice) for choice in project.choices)
    return frozenset(each.path for view in views for each in view.findings if each.code == "settings-invalid")


def _check_settings_file(
    project: Project, catalog: Catalog, found: FoundSettings, *, is_reported: bool
) -> Iterator[CheckFinding | ScriptDoubt]:
    tables = (found.settings, found.servers, found.hooks)
    names = dict.fromkeys(agent for table in tables if table is not None for agent in table.agents)
    agents = catalog.agents_of(tuple(names))
    if not (is_reported and found.source.fault):
        yield from check_form(found.source, agents, "it")
    if found.source.fault:
        return
    if found.settings is not None:
        yield from check_settings(found, catalog.agents_of(found.settings.agents))
    if found.servers is not None:
        yield from check_server_file(project, found, catalog.agents_of(found.servers.agents))
    if found.hooks is not None:
        place = _place(project, catalog, found.hooks, found.source, found.base, found.plugin)
        hooks = found.source.values.get("hooks")
        if hooks is None and found.settings is None:
            events = [key for key in found.source.values if key in found.hooks.events]
            if events:
                said = f"`{events[0]}` is at the top of the file: events belong under `hooks`"
                yield CheckFinding(
                    found.source.path, found.source.line_of(events[0]), "hook-shape", said, "", place.agents
                )
        yield from check_hooks(project, place, hooks)


def _place(
    project: Project, catalog: Catalog, table: HookTable, source: SourceFile, base: str, plugin: str
) -> HookPlace:
    asked = next((choice.asked for choice in project.choices if choice.dialect.agent in table.agents), "")
    return HookPlace(source, table, catalog.agents_of(table.agents), base, plugin, asked)


def _check_head_hooks(project: Project, catalog: Catalog) -> Iterator[CheckFinding | ScriptDoubt]:
    """Hooks in the frontmatter of skills and agents."""
    agents = catalog.agents_of(SKILL.agents)
    heads = [
        (each.path, each.base, each.plugin)
        for each in catalog.skills
        if each.plugin or (each.folder and each.folder.one_level)
    ]
    heads += [(each.path, each.base, "") for each in catalog.definitions if each.table in WITH_HOOKS]
    for path, base, plugin in heads if agents else ():
        text = project.read(path)
        if text is not None and "\nhooks:" in text[:20_000]:
            source = read_head(path, text).source
            place = _place(project, catalog, PLUGIN_HOOKS, source, base, plugin)
            yield from check_hooks(project, place, source.values.get("hooks"))


def _check_inline(
    project: Project, catalog: Catalog, source: SourceFile, base: str
) -> Iterator[CheckFinding | ScriptDoubt]:
    """Hooks and servers that are in the manifest of a plugin itself."""
    hooks, servers = source.values.get("hooks"), source.values.get("mcpServers")
    if isinstance(hooks, dict):
        inner = hooks.get("hooks")
        place = _place(project, catalog, PLUGIN_HOOKS, source, base, base)
        yield from check_hooks(project, place, inner if isinstance(inner, dict) else hooks)
    if isinstance(servers, dict):
        agents = catalog.agents_of(PLUGIN_SERVERS.agents)
        yield from check_servers(
            project, ServerPlace(source, PLUGIN_SERVERS, agents, base, base, ("mcpServers",)), servers
        )
