"""MCP servers: whether an agent can start or reach them.

1. A server has a program or an address, and its `type` says which.
2. `.mcp.json` of a plugin may have the servers at its top.
3. A value with a variable in it is taken as it is, and a program by its whole path is not looked for: it is of one
   machine.
4. A slip in the name of a field that a server needs is an error, in that of another one a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.schema.catalog import FoundSettings
from foretold.check.schema.scripts import ScriptDoubt, check_scripts, find_in_arguments
from foretold.check.schema.source import SourceFile
from foretold.check.schema.spelling import find_near
from foretold.check.schema.values import find_slips, fits, is_windows_path
from foretold.dialects.extensions.tables import ServerTable
from foretold.dialects.registry import SIGNS
from foretold.types import NamedTuple

#: keys under which some agent has its servers
WRAPPERS = ("mcpServers", "servers", "mcp_servers", "mcp", "context_servers")
MOST_SERVERS = 500  #: of one file that are looked at
SWITCHES = ("enabled", "disabled", "timeout", "description", "trust", "tools", "alwaysAllow", "autoApprove")
PROGRAMS = frozenset(
    "npx node uvx uv python python3 docker bunx bun deno pnpm pipx java dotnet go cargo sh bash".split()
)
#: fields without which a server is not started or reached, or is another one
NEEDED = ("command", "args", "env", "environment", "url", "httpUrl", "serverUrl", "headers", "http_headers", "type")
_VARIABLE = re.compile(r"[$%{<]")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


class ServerPlace(NamedTuple):
    """Where servers were found."""

    source: SourceFile
    table: ServerTable
    agents: tuple[str, ...]
    base: str
    plugin: str = ""
    keys: tuple[str, ...] = ()  #: above them


def servers_in(found: FoundSettings) -> Mapping[str, object] | None:
    """The servers of a settings file; None if it has none where they belong."""
    assert found.servers is not None
    value = found.source.values.get(found.servers.keys[0])
    is_own = (
        bool(found.plugin) and found.settings is None and found.source.path == f"{found.plugin}/{found.servers.path}"
    )
    if value is None and is_own and not any(key in found.source.values for key in WRAPPERS):
        value = {name: each for name, each in found.source.values.items() if isinstance(each, dict)}
    return value if isinstance(value, dict) else None


def check_server_file(
    project: Project, found: FoundSettings, agents: tuple[str, ...]
) -> Iterator[CheckFinding | ScriptDoubt]:
    """What is wrong with the servers of a file."""
    table = found.servers
    if table is None:
        return
    key = table.keys[0]
    if not _is_started_in(project, found):
        table = table._replace(url_needs_type=False)  # another agent's file, perhaps
    place = ServerPlace(found.source, table, agents, found.base, found.plugin, (key,))
    servers = servers_in(found)
    if servers is not None:
        yield from check_servers(project, place, servers)
    elif key in found.source.values:
        yield _finding(place, "server-invalid", f"`{key}` is not an object with a server under each name", (key,))
    elif found.settings is None:
        others = [each for each in found.source.values if each in WRAPPERS or find_near(each, (key,))]
        if others:
            said = f"`{others[0]}` is not read here, so none of its servers is known to the agent"
            yield _finding(place, "server-key", said, (others[0],), f"call it {key}")


def _is_started_in(project: Project, found: FoundSettings) -> bool:
    """Whether the agents of a table start in the folder of a file: the top, a plugin, or where their files are."""
    if found.plugin or found.base == project.top or found.servers is None:
        return True
    signs = [sign for agent in found.servers.agents for sign in SIGNS.get(agent, ())]
    return any(project.tree.kind(f"{found.base}/{sign}") != "missing" for sign in signs)


def check_servers(
    project: Project, place: ServerPlace, servers: Mapping[str, object]
) -> Iterator[CheckFinding | ScriptDoubt]:
    """What is wrong with servers, given by their names."""
    for name, server in islice(servers.items(), MOST_SERVERS):
        if not isinstance(server, dict):
            if name[:1] not in "_$#/" and not isinstance(server, str):
                yield _finding(place, "server-invalid", f"`{name}` is not an object", (name,))
            continue
        if server and server.keys() <= {*SWITCHES}:
            continue  # it only switches a server that is known elsewhere
        yield from _check_shape(place, name, server)
        yield from _check_fields(place, name, server)
        yield from _check_program(project, place, name, server)


def _check_shape(place: ServerPlace, name: str, server: Mapping[str, object]) -> Iterator[CheckFinding]:
    table, kind = place.table, server.get("type")
    url = next((field for field in table.urls if field in server), "")
    has_program = "command" in server
    if isinstance(kind, str) and table.types and kind not in table.types:
        near = find_near(kind, table.types)
        hint = (
            f"write {near}" if near else f"write one of {', '.join(each for each in table.types if table.types[each])}"
        )
        yield _finding(place, "server-type", f"`{name}`: `{kind}` is not a type of a server here", (name, "type"), hint)
        return
    if kind is None and table.type_needed:
        meant = next((each for each, field in table.types.items() if field in server), "")
        hint = f'add "type": "{meant}"' if meant else "add a `type`"
        yield _finding(place, "server-type", f"`{name}` has no `type`, so the agent refuses it", (name,), hint)
    elif isinstance(kind, str) and _lacks(table, kind, server, url):
        said = f"`{name}` is of type {kind} and has no `{table.types[kind]}`"
        yield _finding(place, "server-type", said, (name, "type"))
    elif not has_program and not url:
        if not any(find_slips(server, ("command", *table.urls))):  # else the slip is reported
            yield _finding(place, "server-invalid", f"`{name}` has neither `command` nor `url`", (name,))
    elif has_program and url:
        said = f"`{name}` has a program and an address: only one of them is used"
        yield _finding(place, "server-both", said, (name, url), "keep one of them")
    elif url and not kind and table.url_needs_type:
        said = f"`{name}` has an address and no `type`, so the agent takes it for a program and skips it"
        yield _finding(place, "server-type", said, (name, url), 'add "type": "http"')


def _lacks(table: ServerTable, kind: str, server: Mapping[str, object], url: str) -> bool:
    """Whether a server has nothing of what its type needs."""
    needed = table.types.get(kind, "")
    return bool(needed) and needed not in server and not (needed in table.urls and url)


def _check_fields(place: ServerPlace, name: str, server: Mapping[str, object]) -> Iterator[CheckFinding]:
    table = place.table
    for key, right in table.foreign.items():
        if key in server and right not in server and key not in table.fields:
            yield _finding(place, "server-key", f"`{name}`: `{key}` is not read here", (name, key), f"call it {right}")
    for key, near in find_slips(server, table.fields, table.foreign):
        slip = _finding(place, "server-key", f"`{name}`: `{key}` is not read", (name, key), f"write {near}")
        yield slip if near in NEEDED else slip._replace(severity="warning")
    for field in table.urls:
        url = server.get(field)
        if isinstance(url, str) and not _VARIABLE.search(url) and not _SCHEME.match(url) and field != "tcp":
            said = f"`{name}`: {url} has no scheme" if url else f"`{name}`: the address is empty"
            yield _finding(place, "server-invalid", said, (name, field), "write https:// before it")
    env = server.get(table.env)
    if env is not None and not isinstance(env, dict):
        yield _finding(place, "server-invalid", f"`{name}`: `{table.env}` is not an object", (name, table.env))
    for variable, value in env.items() if isinstance(env, dict) else ():
        if not fits(value, table.env_values, is_strict=True):
            said = f"`{name}`: the variable {variable} is not a text"
            yield _finding(place, "server-invalid", said, (name, table.env, str(variable)), "put it into quotes")


def _check_program(
    project: Project, place: ServerPlace, name: str, server: Mapping[str, object]
) -> Iterator[CheckFinding | ScriptDoubt]:
    table, command, args = place.table, server.get("command"), server.get("args", [])
    if command is None:
        return
    if not fits(command, table.command, is_strict=True):
        wanted = "a list of the program and its words" if table.command == "list" else "a text"
        yield _finding(place, "server-invalid", f"`{name}`: `command` is not {wanted}", (name, "command"))
        return
    if not isinstance(args, list):
        yield _finding(place, "server-invalid", f"`{name}`: `args` is not a list", (name, "args"))
        return
    words = command if isinstance(command, list) else [command, *args]
    if not words or not isinstance(words[0], str):
        return
    first = words[0].split(" ")[0]
    if " " in words[0].strip() and not args and first in PROGRAMS:
        said = f"`{name}`: `command` is a program with its words, and no program has that name"
        yield _finding(
            place, "server-invalid", said, (name, "command"), f'write "command": "{first}", and the rest in `args`'
        )
        return
    if server.get("cwd"):
        return
    uses = [use for use in find_in_arguments(words[0], words[1:]) if not is_windows_path(use.path)]
    for script in check_scripts(project, uses, place.base, place.plugin):
        if not script.is_there:
            said = f"{project.relative(script.path)}: there is no such script, so the server `{name}` does not start"
            finding = CheckFinding(place.source.path, None, "server-script-missing", said, "", place.agents)
            yield ScriptDoubt(script.places, finding, place.source, (*place.keys, name, "command"))


def _finding(place: ServerPlace, code: str, message: str, keys: tuple[str, ...], hint: str = "") -> CheckFinding:
    line = place.source.line_of(*place.keys, *keys)
    return CheckFinding(place.source.path, line, code, message, hint, place.agents)
