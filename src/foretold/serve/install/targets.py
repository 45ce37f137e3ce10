"""Which files an agent reads its settings from, what they contain now, and what of ours is in them.

1. Below the folder that the agent's own variable names, else below the home; in a project, below its top.
2. A link is followed to its file: that one is changed, and the link stays. A broken link is refused.
3. Refused, with the reason, are files that cannot be read or written, are not UTF-8, are not regular files, or are too
   large.
4. `find_installations` reads the settings files of every agent, for the user and for this project.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping

from foretold.dialects.install_targets import INSTALLS, NAME, Install, SettingsFile
from foretold.errors import SettingsRefused, UnknownAgent
from foretold.extras import how_to_install
from foretold.files.restore.look import FileState, content, look_at
from foretold.serve.install.change import handlers_in, server_entries, server_words, value_of
from foretold.serve.install.formats import Unsafe
from foretold.serve.install.isolation import LooseCommand, find_loose
from foretold.serve.install.ours import PARTS, is_our_handler
from foretold.serve.install.program import PACKAGE, is_there, without_package
from foretold.types import Finding, NamedTuple

LARGEST = 64 * 1024 * 1024
SCOPES = ("user", "project")


class InstallPlace(NamedTuple):
    """The user's home, the folder, and the environment."""

    home: str
    cwd: str
    env: Mapping[str, str]

    @property
    def top(self) -> str:
        """The top of the project."""
        folder = self.cwd
        while not os.path.lexists(os.path.join(folder, ".git")):
            if os.path.dirname(folder) == folder:
                return self.cwd
            folder = os.path.dirname(folder)
        return folder


class CurrentSettings(NamedTuple):
    """A settings file as it is."""

    path: str  #: as the agent names it
    target: str  #: the real file
    form: str
    parts: tuple[str, ...]  #: what of ours goes into it
    found: FileState
    data: bytes  #: empty if there is no file
    servers: tuple[str, ...] = ()  #: the keys below which it has servers
    is_made: bool = True

    @property
    def text(self) -> str:
        return self.data.decode("utf-8")


def install_of(agent: str) -> Install:
    """What can be installed in an agent.

    >>> install_of("cursor").hooks is None
    True
    """
    if agent not in INSTALLS:
        near = _near(agent)
        hint = f" Did you mean {near!r}?" if near else ""
        raise UnknownAgent(f"the agent {agent!r} is not known.{hint} Known agents: {', '.join(INSTALLS)}")
    return INSTALLS[agent]


NEAR = 0.7  #: how similar a name must be: at the usual 0.6, `foo` would be `roo`


def _near(agent: str) -> str:
    """The agent that may have been meant; empty if none is similar.

    >>> _near("claud-code"), _near("qwen"), _near("foo")
    ('claude-code', 'qwen-code', '')
    """
    import difflib

    longer = [name for name in INSTALLS if len(agent) > 2 and name.startswith(agent)]
    return next(iter(longer or difflib.get_close_matches(agent, INSTALLS, 1, NEAR)), "")


def path_of(where: SettingsFile, scope: str, place: InstallPlace) -> str:
    """The path of a settings file; empty if there is none for this scope.

    >>> place = InstallPlace("/home/me", "/proj", {"CODEX_HOME": "/srv/codex"})
    >>> path_of(INSTALLS["codex"].mcp.where, "user", place), path_of(INSTALLS["claude-code"].mcp.where, "user", place)
    ('/srv/codex/config.toml', '/home/me/.claude.json')
    """
    if scope == "project":
        path = os.path.join(place.top, where.project) if where.project else ""
    elif where.variable and place.env.get(where.variable):
        path = os.path.join(place.cwd, place.env[where.variable], where.moved)
    else:
        path = os.path.join(place.home, where.home) if where.home else ""
    if path and where.other and not os.path.lexists(path):
        other = os.path.splitext(path)[0] + where.other
        return other if os.path.lexists(other) else path
    return path


def settings_of(install: Install, scope: str, place: InstallPlace, parts: Collection[str]) -> Iterator[CurrentSettings]:
    """The settings files of an agent that these parts go into. SettingsRefused: one cannot be changed."""
    found: dict[str, tuple[SettingsFile, tuple[str, ...]]] = {}
    for part, how in (("hooks", install.hooks), ("mcp", install.mcp)):
        path = path_of(how.where, scope, place) if how else ""
        if how and path:
            found[path] = (how.where, (*found.get(path, (how.where, ()))[1], part))
    servers = install.mcp.keys if install.mcp else ()
    for path, (where, of_file) in found.items():
        if set(of_file) & set(parts):
            yield read(path, where, of_file, servers)


def read(path: str, where: SettingsFile, parts: tuple[str, ...], servers: tuple[str, ...]) -> CurrentSettings:
    """A settings file as it is. SettingsRefused: it cannot be changed."""
    target = os.path.realpath(path)
    found = look_at(target)
    if found.kind == "missing" and os.path.islink(path):
        raise SettingsRefused(f"{path} is a broken link to {target}. Nothing was changed")
    data = b"" if found.kind == "missing" else content(target, LARGEST) if found.kind == "file" else None
    said = ""
    if found.kind not in ("missing", "file"):
        kinds = {"folder": "it is a folder", "link": "its links form a cycle"}
        said = found.said or kinds.get(found.kind, "it is not a file")
    elif data is None:
        said = "it is too large for a settings file, or cannot be read"
    elif found.kind == "file" and not found.mode & 0o200:
        said = f"it is read-only (mode {found.mode:o})"
    elif data.decode("utf-8", "replace").encode() != data:
        said = "it is not UTF-8"
    if said or data is None:
        raise SettingsRefused(f"{path} cannot be changed: {said}. Nothing was changed")
    return CurrentSettings(path, target, where.form, parts, found, data, servers, where.is_made)


GONE = "the program does not exist"


class Installation(NamedTuple):
    """A part of ours in a settings file, or why that could not be read."""

    agent: str
    scope: str
    path: str
    part: str  #: hooks, mcp; empty: the file could not be read
    events: tuple[str, ...] = ()  #: of hooks: the events that are there
    missing: tuple[str, ...] = ()  #: and those that an install would add
    command: tuple[str, ...] = ()  #: what the agent runs
    is_valid: bool = True  #: whether that can still be started
    problem: str = ""  #: why not; or why the file could not be read
    remedy: str = ""  #: a command that fixes it


def find_installations(place: InstallPlace) -> list[Installation]:
    """What of ours is installed where."""
    found: list[Installation] = []
    for agent, install in INSTALLS.items():
        for scope in SCOPES:
            if scope == "project" and place.top == place.home:
                continue  # the same files
            try:
                for settings in settings_of(install, scope, place, PARTS):
                    found += _in_file(agent, scope, install, settings, place)
            except SettingsRefused as error:
                found.append(Installation(agent, scope, "", "", is_valid=False, problem=str(error)))
    return found


def _in_file(
    agent: str, scope: str, install: Install, settings: CurrentSettings, place: InstallPlace
) -> Iterator[Installation]:
    try:
        value = value_of(settings.text, settings.form)
    except Unsafe as error:
        yield Installation(agent, scope, settings.path, "", is_valid=False, problem=f"it cannot be read: {error}")
        return
    calls = _calls(value.get("hooks")) if "hooks" in settings.parts else {}
    if calls and install.hooks:
        missing = tuple(hook.event for hook in install.hooks.events if hook.event not in calls)
        command = next((call.words for call in calls.values() if call.problem), next(iter(calls.values())).words)
        gone = "" if all(call.problem or is_there(call.words, place.env) for call in calls.values()) else GONE
        said = next((call.problem for call in calls.values() if call.problem), gone)
        yield Installation(agent, scope, settings.path, "hooks", tuple(calls), missing, command, not said, said)
    for name, entry in server_entries(value, settings.servers).items() if "mcp" in settings.parts else ():
        argv, loose = server_words(entry), find_loose(server_words(entry), entry.get("env"))
        if name != NAME and not loose:
            continue
        problem, remedy = "" if is_there(argv, place.env) else GONE, ""
        if loose:
            problem = _not_isolated(loose)
        elif not problem and (python := without_package(argv, place.env)):
            problem = f"{python} does not have the package {PACKAGE}, which the server needs"
            remedy = how_to_install(PACKAGE, python)
        yield Installation(agent, scope, settings.path, "mcp", (), (), argv, not problem, problem, remedy)


LOOSE = "it is not isolated: "
ISOLATE = "in that line, start foretold by the path of its program, or with python -I"
BY_HAND = "; it is part of a longer command line, so change it by hand"


def _not_isolated(loose: LooseCommand) -> str:
    return LOOSE + loose.why + ("" if loose.is_alone else BY_HAND)


def findings_of(found: Iterable[Installation]) -> list[Finding]:
    """What is wrong with what is installed."""
    findings = []
    for each in found:
        flag = " --project" if each.scope == "project" else ""
        hint = each.remedy or f"foretold install {each.agent}{flag}"
        what = "hooks" if each.part == "hooks" else "the MCP server"
        message = f"{each.agent}: {what} run `{shlex.join(each.command)}`: {each.problem}"
        if not each.part:
            message = f"{each.agent}: {each.problem}"
            findings.append(
                Finding(each.path, None, "settings-unreadable", message, "fix the file, or its permissions")
            )
        elif each.problem.startswith(LOOSE):
            hint = ISOLATE if each.problem.endswith(BY_HAND) else "foretold doctor --fix"
            findings.append(Finding(each.path, None, "command-not-isolated", message, hint))
        elif each.problem == GONE:
            findings.append(Finding(each.path, None, "command-gone", message, hint))
        elif each.problem:
            findings.append(Finding(each.path, None, "server-package-missing", message, hint))
    return findings


class _HookCall(NamedTuple):
    words: tuple[str, ...]
    problem: str = ""


def _calls(hooks: object) -> dict[str, _HookCall]:
    """Event -> our command there, and why it is not isolated; one that is not comes first."""
    found: dict[str, _HookCall] = {}
    for (event, *_), handler in handlers_in(hooks):
        line = handler.get("command")
        loose = find_loose(line) if isinstance(line, str) else None
        if loose or is_our_handler(handler):
            call = _HookCall(_words(str(line)), _not_isolated(loose) if loose else "")
            if loose or event not in found or not found[str(event)].problem:
                found[str(event)] = call
    return found


def _words(line: str) -> tuple[str, ...]:
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    return tuple(words[: words.index("hook")] if "hook" in words else words)
