"""Which files an agent reads its settings from, and what they are now.

1. Below the folder that the agent's own variable names, else below the home; in a project, below its top.
2. A link is followed to the file that it leads to: that one is changed, and the link stays. One that leads nowhere is
   refused.
3. Refused, with the reason, are files that cannot be read, are not text in UTF-8, are no files, are larger than
   settings are, or that nobody may write to.
"""

from __future__ import annotations

import os

from foretold.dialects.install_targets import INSTALLS, Install, SettingsFile
from foretold.errors import SettingsRefused, UnknownAgent
from foretold.files.restore.look import FileState, content, look_at
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

LARGEST = 64 * 1024 * 1024
SCOPES = ("user", "project")


class Here(NamedTuple):
    """Who asks, and where."""

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


class Settings(NamedTuple):
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
        meant = f" Did you mean {near!r}?" if near else ""
        raise UnknownAgent(f"the agent {agent!r} is not known.{meant} There are: {', '.join(INSTALLS)}")
    return INSTALLS[agent]


NEAR = 0.7  #: how alike a name must be to be meant: at the usual 0.6, `foo` would be `roo`


def _near(agent: str) -> str:
    """The agent that somebody may have meant; empty if none is near.

    >>> _near("claud-code"), _near("qwen"), _near("foo")
    ('claude-code', 'qwen-code', '')
    """
    import difflib

    longer = [name for name in INSTALLS if len(agent) > 2 and name.startswith(agent)]
    return next(iter(longer or difflib.get_close_matches(agent, INSTALLS, 1, NEAR)), "")


def path_of(where: SettingsFile, scope: str, here: Here) -> str:
    """The path of a settings file; empty if there is none for this scope.

    >>> here = Here("/home/me", "/proj", {"CODEX_HOME": "/srv/codex"})
    >>> path_of(INSTALLS["codex"].mcp.where, "user", here), path_of(INSTALLS["claude-code"].mcp.where, "user", here)
    ('/srv/codex/config.toml', '/home/me/.claude.json')
    """
    if scope == "project":
        path = os.path.join(here.top, where.project) if where.project else ""
    elif where.variable and here.env.get(where.variable):
        path = os.path.join(here.cwd, here.env[where.variable], where.moved)
    else:
        path = os.path.join(here.home, where.home) if where.home else ""
    if path and where.other and not os.path.lexists(path):
        other = os.path.splitext(path)[0] + where.other
        return other if os.path.lexists(other) else path
    return path


def settings_of(install: Install, scope: str, here: Here, parts: Collection[str]) -> Iterator[Settings]:
    """The settings files of an agent that these parts go into. SettingsRefused: one cannot be changed."""
    found: dict[str, tuple[SettingsFile, tuple[str, ...]]] = {}
    for part, how in (("hooks", install.hooks), ("mcp", install.mcp)):
        path = path_of(how.where, scope, here) if how else ""
        if how and path:
            found[path] = (how.where, (*found.get(path, (how.where, ()))[1], part))
    servers = install.mcp.keys if install.mcp else ()
    for path, (where, of_file) in found.items():
        if set(of_file) & set(parts):
            yield read(path, where, of_file, servers)


def read(path: str, where: SettingsFile, parts: tuple[str, ...], servers: tuple[str, ...]) -> Settings:
    """A settings file as it is. SettingsRefused: it cannot be changed."""
    target = os.path.realpath(path)
    found = look_at(target)
    if found.kind == "missing":
        if os.path.islink(path):
            raise SettingsRefused(f"{path} is a link that leads nowhere: {target}. Nothing was changed")
        return Settings(path, target, where.form, parts, found, b"", servers, where.is_made)
    if found.kind != "file":
        said = found.said or {"folder": "it is a folder", "link": "its links go round"}.get(found.kind, "it is no file")
        raise _refused(path, said)
    data = content(target, LARGEST)
    if data is None:
        raise _refused(path, "it is larger than settings are, or cannot be read")
    if not found.mode & 0o200:
        raise _refused(path, f"it is read-only (mode {found.mode:o})")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        raise _refused(path, "it is not text in UTF-8") from None
    return Settings(path, target, where.form, parts, found, data, servers, where.is_made)


def _refused(path: str, said: str) -> SettingsRefused:
    return SettingsRefused(f"{path} cannot be changed: {said}. Nothing was changed")
