"""Settings of the repository that redirect an agent or take its questions away (`dialects.extensions.redirects`), and
MCP servers that are asked in plain text.

A file that git ignores is one person's own, and not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.safety.tracking import is_shared
from foretold.check.schema.catalog import FoundSettings, catalog_of
from foretold.check.schema.servers import servers_in
from foretold.check.schema.source import read_head
from foretold.dialects.extensions.redirects import LOOPBACK, PRIVATE, REDIRECTS, RedirectRow

BYPASS = "bypassPermissions"
MOST = 50  #: findings of one file


def find_redirects(project: Project) -> Iterator[CheckFinding]:
    """Settings that decide for everyone where an agent sends what it has, or what it does without asking."""
    catalog = catalog_of(project)
    for found in catalog.settings:
        rooted = f"/{project.relative(found.source.path)}"
        rows = [row for row in REDIRECTS if rooted.endswith(tuple(f"/{path}" for path in row.paths))]
        hits = [
            (row, keys, value)
            for row in rows
            for keys, value in _find(found.source.values, row.keys)
            if _counts(row, value)
        ]
        if not hits or not is_shared(project, found.source.path):
            continue
        for row, keys, value in hits[:MOST]:
            agents = catalog.agents_of(row.agents)
            if agents:
                yield _finding(found, row, keys, value, agents)


def _find(values: object, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    """The values below keys, with the keys that lead to them."""
    if not keys:
        yield from (((), value) for value in values) if isinstance(values, list) else [((), values)]
        return
    if not isinstance(values, Mapping):
        return
    wanted = keys[0].split("|")
    for name in values if keys[0] == "*" else (name for name in wanted if name in values):
        for rest, value in _find(values[name], keys[1:]):
            yield (str(name), *rest), value


def _counts(row: RedirectRow, value: object) -> bool:
    text = str(value).lower() if isinstance(value, bool) else value
    if not isinstance(text, str) or not text.strip():
        return False
    return re.fullmatch(row.values, text) is not None if row.values else True


def _finding(
    found: FoundSettings, row: RedirectRow, keys: tuple[str, ...], value: object, agents: tuple[str, ...]
) -> CheckFinding:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    severity = row.severity
    if row.is_address and (LOOPBACK.match(text) or re.match(r"[$<{]", text)):
        severity = "note"
    shown = f" is {_shorten(text)}" if row.is_address or row.values else ""
    said = f"`{'.'.join(keys)}`{shown}: {row.effect}"
    line = found.source.line_of(*keys)
    return CheckFinding(found.source.path, line, row.code, said, "", agents, severity)


def _shorten(text: str) -> str:
    """An address without a login in it."""
    return re.sub(r"(?<=://)[^/@\s]+@", "", text)[:120]


def find_bold_agents(project: Project) -> Iterator[CheckFinding]:
    """Agents that ask for nothing; those of plugins cannot."""
    catalog = catalog_of(project)
    for found in catalog.definitions:
        text = project.read(found.path) if found.table.kind == "agent" and found.table.is_skipped else None
        if (
            text
            and BYPASS in text
            and (source := read_head(found.path, text).source).values.get("permissionMode") == BYPASS
        ):
            said = f"`permissionMode` is {BYPASS}: this agent asks for nothing"
            line = source.line_of("permissionMode")
            agents = catalog.agents_of(found.table.agents)
            yield CheckFinding(
                found.path, line, "settings-bypass", said, "remove it, or name the tools that it needs", agents
            )


def find_plain_addresses(project: Project) -> Iterator[CheckFinding]:
    """MCP servers on other machines that are asked without encryption."""
    catalog = catalog_of(project)
    for found in catalog.settings:
        table, servers = found.servers, servers_in(found) if found.servers is not None else None
        for name, server in (servers or {}).items():
            for field in table.urls if table is not None and isinstance(server, dict) else ():
                url = server.get(field) if isinstance(server, dict) else None
                if table is not None and isinstance(url, str) and _is_plain(url):
                    said = f"`{name}` is asked without encryption: {_shorten(url)}"
                    line = found.source.line_of(*table.keys, name, field)
                    agents = catalog.agents_of(table.agents)
                    yield CheckFinding(found.source.path, line, "mcp-plain-http", said, "write https://", agents)


def _is_plain(url: str) -> bool:
    """Whether an address leads to another network without encryption."""
    if not url.lower().startswith(("http://", "ws://")) or re.search(r"[${<]", url):
        return False
    return not LOOPBACK.match(url) and not PRIVATE.match(url)
