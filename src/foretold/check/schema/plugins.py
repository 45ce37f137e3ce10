"""Plugins and lists of plugins: their manifests, and what those name.

1. A manifest needs a name. A value of the wrong kind keeps the whole plugin from loading.
2. Paths in it start with `./`, count from the top of the plugin, and lead to something.
3. An entry of a list needs a name and a source; a source that is a path counts from the top of the list.
4. Commands, agents, skills and hooks lie next to the folder of the manifest, not in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.schema.catalog import Catalog, FoundManifest
from foretold.check.schema.source import SourceFile
from foretold.check.schema.spelling import find_near
from foretold.check.schema.values import find_slips, find_wrong, fits

MOST_SOURCES = 3  #: of one list that are reported one by one: mostly all are wrong for one reason
_SPACES = re.compile(r"\s")
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://|git@", re.IGNORECASE)


def check_manifest(project: Project, found: FoundManifest, agents: tuple[str, ...]) -> Iterator[CheckFinding]:
    """What is wrong with a manifest."""
    values, source = found.source.values, found.source
    if source.fault:
        return
    kinds = found.table.marketplace if found.is_list else found.table.keys
    for key, near in find_slips(values, kinds, found.table.keys):
        said = f"`{key}` is not a key of this file"
        yield _finding(source, "plugin-manifest", said, (key,), agents, f"write {near}")._replace(severity="warning")
    for wrong in find_wrong(values, kinds, is_strict=True):
        said = f"`{wrong.key}` is not {wrong.wanted}, so it does not load"
        yield _finding(source, "plugin-manifest", said, (wrong.key,), agents)
    yield from _check_needed(found, agents)
    if found.is_list:
        yield from _check_list(project, found, agents)
    else:
        yield from check_paths(project, found, values, found.base, agents)


def _check_needed(found: FoundManifest, agents: tuple[str, ...]) -> Iterator[CheckFinding]:
    values, source = found.source.values, found.source
    needed = ("name", "owner", "plugins") if found.is_list else ("name",)
    missing = [key for key in needed if values.get(key) in (None, "")]
    if missing:
        said = f"it has no `{'` and no `'.join(missing)}`, so it does not load"
        yield _finding(source, "plugin-manifest", said, (), agents, f"add {missing[0]}")
    yield from _check_name(source, values, (), agents)


def _check_name(
    source: SourceFile, values: Mapping[str, object], keys: tuple[str, ...], agents: tuple[str, ...]
) -> Iterator[CheckFinding]:
    name = values.get("name")
    if isinstance(name, str) and _SPACES.search(name):
        said = f"the name `{name}` has a space in it, so it does not load"
        yield _finding(source, "plugin-manifest", said, (*keys, "name"), agents, "write it with dashes")


def check_paths(
    project: Project, found: FoundManifest, values: Mapping[str, object], base: str, agents: tuple[str, ...]
) -> Iterator[CheckFinding]:
    """Paths in a manifest that lead nowhere."""
    for key in found.table.paths:
        value = values.get(key)
        texts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        paths = [each for each in texts if isinstance(each, str) and "${" not in each and not _REMOTE.match(each)]
        bare = [path for path in paths if not path.startswith("./") and path != "."]
        if bare:
            more = f" (and {len(bare) - 1} more)" if len(bare) > 1 else ""
            said = f"`{key}`: {bare[0]}{more} does not start with ./, so it does not load"
            yield _finding(found.source, "plugin-path", said, (key, bare[0]), agents, f"write ./{bare[0].lstrip('/')}")
        for path in paths:
            if (
                path not in bare
                and "*" not in path
                and project.tree.kind(os.path.normpath(os.path.join(base, path))) == "missing"
            ):
                said = f"`{key}`: {path} is not there"
                yield _finding(found.source, "plugin-path", said, (key, path), agents)


def _check_list(project: Project, found: FoundManifest, agents: tuple[str, ...]) -> Iterator[CheckFinding]:
    source, values = found.source, found.source.values
    owner, plugins = values.get("owner"), values.get("plugins")
    if isinstance(owner, dict) and not owner.get("name"):
        said = "`owner` has no `name`, so it does not load"
        yield _finding(source, "plugin-manifest", said, ("owner",), agents)
    seen: set[str] = set()
    gone: list[CheckFinding] = []
    for entry in plugins if isinstance(plugins, list) else ():
        if not isinstance(entry, dict):
            yield _finding(source, "plugin-manifest", "an item of `plugins` is not an object", ("plugins",), agents)
            continue
        name = str(entry.get("name") or "")
        found_here = list(_check_entry(project, found, entry, name, agents))
        gone += [each for each in found_here if each.code == "plugin-source"]
        yield from (each for each in found_here if each.code != "plugin-source")
        if name and name in seen:
            said = f"`{name}` is there twice: only one of them can be installed"
            yield _finding(source, "plugin-manifest", said, ("plugins", name), agents)
        seen.add(name)
        if len(gone) > MOST_SOURCES:
            gone[-1] = gone[-1]._replace(message=f"{gone[-1].message}; others may be wrong, too")
            break
    yield from gone


def _check_entry(
    project: Project, found: FoundManifest, entry: Mapping[str, object], name: str, agents: tuple[str, ...]
) -> Iterator[CheckFinding]:
    source, keys = found.source, ("plugins", name)
    if not name:
        yield _finding(
            source, "plugin-manifest", "an item of `plugins` has no `name`", ("plugins",), agents, "add a name"
        )
    yield from _check_name(source, entry, ("plugins",), agents)
    for wrong in find_wrong(entry, {**found.table.keys, **found.table.entry}, is_strict=True):
        said = f"`{wrong.key}` of `{name}` is not {wrong.wanted}, so it does not load"
        yield _finding(source, "plugin-manifest", said, (*keys, wrong.key), agents)
    where = entry.get("source")
    if where is None:
        yield _finding(source, "plugin-source", f"`{name}` has no `source`", keys, agents, "add one: ./plugins/NAME")
    elif isinstance(where, str):
        yield from _check_local(project, found, where, name, agents)
    elif isinstance(where, dict):
        yield from _check_remote(found, where, name, agents)


def _check_local(
    project: Project, found: FoundManifest, where: str, name: str, agents: tuple[str, ...]
) -> Iterator[CheckFinding]:
    keys = ("plugins", name, where)
    metadata = found.source.values.get("metadata")
    root = metadata.get("pluginRoot") if isinstance(metadata, dict) else None
    base = os.path.join(found.base, root) if isinstance(root, str) and "/" not in where else found.base
    if where.startswith("./") or where == "." or isinstance(root, str):
        if project.tree.kind(os.path.normpath(os.path.join(base, where))) == "missing":
            said = f"`{name}`: {where} is not there"
            yield _finding(found.source, "plugin-source", said, keys, agents)
    elif not _REMOTE.match(where):
        said = f"`{name}`: {where} does not start with ./, so it is not found"
        yield _finding(found.source, "plugin-source", said, keys, agents, f"write ./{where.lstrip('/')}")


def _check_remote(
    found: FoundManifest, where: Mapping[str, object], name: str, agents: tuple[str, ...]
) -> Iterator[CheckFinding]:
    kind, keys = where.get("source"), ("plugins", name, "source")
    if not isinstance(kind, str) or kind not in found.table.sources:
        near = find_near(str(kind), found.table.sources)
        hint = f"write {near}" if near else f"write one of {', '.join(found.table.sources)}"
        said = f"`{name}`: `{kind}` is not a kind of a source"
        finding = _finding(found.source, "plugin-source", said, keys, agents, hint)
        yield finding if near or kind is None else finding._replace(severity="warning")
    elif not fits(where.get(found.table.sources[kind]), "text", is_strict=True):
        needed = found.table.sources[kind]
        yield _finding(found.source, "plugin-source", f"`{name}`: its source has no `{needed}`", keys, agents)


def check_parts(project: Project, catalog: Catalog) -> Iterator[CheckFinding]:
    """Parts of a plugin that lie in the folder of its manifest and not at its top as well: once for each folder."""
    seen: set[str] = set()
    for path, table in sorted(catalog.misplaced_parts, key=lambda each: each[0]):
        before, _, rest = path.rpartition(f"/{table.folder}/")
        part = rest.partition("/")[0]
        folder = f"{before}/{table.folder}/{part}"
        if folder not in seen:
            seen.add(folder)
            right = project.relative(f"{before}/{part}")
            if any(each == right or each.startswith(f"{right}/") for each in project.files):
                continue
            said = f"{part}/ lies in {table.folder}/, where the agent does not look"
            yield CheckFinding(
                path, None, "plugin-place", said, f"move it next to {table.folder}/", catalog.agents_of(table.agents)
            )


def _finding(
    source: SourceFile, code: str, message: str, keys: tuple[str, ...], agents: tuple[str, ...], hint: str = ""
) -> CheckFinding:
    return CheckFinding(source.path, source.line_of(*keys) if keys else None, code, message, hint, agents)
