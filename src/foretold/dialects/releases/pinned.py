"""Which version of an agent is it? Where a version is found, and which one counts.

1. The version that is asked for (`--agent NAME@VERSION`) counts before everything; nothing is looked for then.
2. Of a session that was recorded, what its last record names counts (kind *transcript*; `sessions.instructions_seen`).
3. In a repository, what it pins counts, in this order: its `package.json` (*manifest*: `npm install` follows it where
   a lock says otherwise), the lock of npm, pnpm, yarn or bun (*lock*), the files of mise and asdf (*tools*), those of
   containers (*container*), those of workflows (*workflow*). The first by kind, path and line decides. A lock is only
   asked about what the manifest names.
4. One that pins another version than the one that counts is a conflict: it is reported, and decides nothing.
5. Only a whole version pins: not a range (`^2.1.0`), a tag (`latest`), a variable that nothing sets. What is neither
   of these (`$(id)`) is reported as unread, as is a file that is a link out of the repository, too large, or not what
   its name says. A version that we do not know gets what the nearest release does, as everywhere.
6. On a machine, the package in `node_modules` of the repository (*package*) counts before the program on PATH
   (*program*): that is what `npx` and scripts start. Nothing is executed.
7. Without all of these, the newest known release is assumed.
8. Settings of agents decide nothing. Claude Code has `autoUpdatesChannel` and `minimumVersion`, which bound what its
   updater installs, and an organisation's `requiredMinimumVersion` and `requiredMaximumVersion`, outside of which it
   refuses to start: none of them says which release runs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from foretold.dialects.registry import installed_version, programs_of
from foretold.dialects.releases.packages import (
    PACKAGES,
    NamedVersion,
    read_commands,
    read_lock,
    read_manifest,
    read_tools,
)
from foretold.storage.tree import Fault, Tree, is_inside
from foretold.types import NamedTuple

PINNING = ("manifest", "lock", "tools", "container", "workflow")  #: kinds of files that pin, the one that counts first
LOCKS = ("npm-shrinkwrap.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock")
#: as mise reads them, the nearest first
TOOLS = (
    *("mise.local.toml", "mise.toml", ".mise.toml", "mise/config.toml", ".mise/config.toml", ".config/mise.toml"),
    *(".config/mise/config.toml", ".tool-versions"),
)
DEV_CONTAINERS = (".devcontainer/devcontainer.json", ".devcontainer.json")
CONTAINERS = (".devcontainer/Dockerfile", "Dockerfile", "Containerfile")
WORKFLOWS = (".github/workflows", ".forgejo/workflows", ".gitea/workflows")  #: folders
PIPELINES = (".gitlab-ci.yml", ".circleci/config.yml")
MOST_FILES = 100  #: of one folder that are read
MAX_FILE = 1024 * 1024  #: bytes
MAX_TOOLS = 64 * 1024  #: bytes of a file of mise or asdf
MAX_LOCK = 32 * 1024 * 1024  #: bytes; the largest lock that was seen has 4
MAX_WRITTEN = 60  #: characters of what is no version that are shown

#: a whole version, as npm takes it
_WHOLE = re.compile(
    r"[=v\s]{0,4}([0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}(?:-[0-9A-Za-z.-]{1,40})?)(?:\+[0-9A-Za-z.-]{1,40})?\s*"
)
#: a range, a tag, a path, an address, a variable
_LOOSE = re.compile(r"[\w.^~<>=*|+\s-]*|[\w.+-]+:.*|[\w.-]+/[\w.#-]+|\$\w+|\$\{[^}]*\}|\$\{\{[^}]*\}\}", re.ASCII)
#: kind -> the same for people, with the path in place of {}
WORDS = {
    **dict.fromkeys(PINNING, "pinned in {}"),
    "package": "installed in {}",
    "program": "the program on PATH",
    "transcript": "recorded in the session",
}


class VersionSource(NamedTuple):
    """A version of an agent, and where it was found."""

    agent: str
    version: str
    kind: str  #: one of `PINNING`; package, program or transcript
    path: str = ""  #: of a file that pins, from the top of the repository
    line: int | None = None

    @property
    def place(self) -> str:
        """Where it was found, with the line."""
        return f"{self.path}:{self.line}" if self.line else self.path

    def __str__(self) -> str:
        return WORDS[self.kind].format(self.path)


class UnreadPin(NamedTuple):
    """What may pin a version and could not be read, or does not name one."""

    path: str
    line: int | None
    reason: str  #: as the rest of a sentence about the path


class PinnedVersions(NamedTuple):
    """What a repository pins, in the order in which it counts."""

    sources: tuple[VersionSource, ...] = ()
    unread: tuple[UnreadPin, ...] = ()

    def list_sources(self, agent: str) -> tuple[VersionSource, ...]:
        return tuple(each for each in self.sources if each.agent == agent)

    def find(self, agent: str) -> VersionSource | None:
        """The one that counts for an agent."""
        return next(iter(self.list_sources(agent)), None)

    def list_conflicts(self, agent: str) -> tuple[VersionSource, ...]:
        """Those that pin another version than the one that counts."""
        first, *others = self.list_sources(agent) or (None,)
        return tuple(each for each in others if first and each and each.version != first.version)


def find_pins(tree: Tree, top: str) -> PinnedVersions:
    """The versions of agents that the files of a repository pin."""
    search = _Search(tree, top)
    sources = [
        VersionSource(named.package.agent, version, kind, named.path, named.line)
        for kind, named in search.list_named()
        if (version := search.judge(named))
    ]
    return PinnedVersions(tuple(dict.fromkeys(sources)), tuple(dict.fromkeys(search.unread)))


def may_pin(path: str) -> bool:
    """Whether a path, from the top of a repository, is one that `find_pins` reads.

    >>> may_pin(".github/workflows/ci.yml"), may_pin("docs/Dockerfile")
    (True, False)
    """
    if path in ("package.json", *LOCKS, *TOOLS, *DEV_CONTAINERS, *PIPELINES):
        return True
    folder, _, name = path.rpartition("/")
    return (folder in ("", ".devcontainer") and _is_container(name)) or (folder in WORKFLOWS and _is_workflow(name))


def _is_container(name: str) -> bool:
    return name in ("Dockerfile", "Containerfile") or name.startswith("Dockerfile.") or name.endswith(".Dockerfile")


def _is_workflow(name: str) -> bool:
    return name.endswith((".yml", ".yaml"))


class _Search:
    """A look at the files of a repository that may pin a version."""

    def __init__(self, tree: Tree, top: str) -> None:
        self.tree, self.top = tree, tree.real(top).rstrip("/")
        self.unread: list[UnreadPin] = []

    def list_named(self) -> Iterator[tuple[str, NamedVersion]]:
        """What is written about versions, with the kind of the file, in the order in which it counts."""
        manifest = self._parse("package.json", read_manifest)
        yield from (("manifest", each) for each in manifest)
        for package in dict.fromkeys(each.package for each in manifest):
            for path in LOCKS:
                locked = self._parse(path, partial(read_lock, package=package), MAX_LOCK)
                whole = [each for each in locked if _WHOLE.fullmatch(each.written)]
                yield from (("lock", each) for each in (whole or locked)[:1])
        for path in TOOLS:
            yield from (("tools", each) for each in self._parse(path, read_tools, MAX_TOOLS))
        yield from (("container", each) for each in self._list_containers())
        for path in (*(path for folder in WORKFLOWS for path in self._list_names(folder, _is_workflow)), *PIPELINES):
            yield from (("workflow", each) for each in self._parse(path, read_commands))

    def _list_containers(self) -> Iterator[NamedVersion]:
        texts = [(text, path) for path in DEV_CONTAINERS if (text := self._read(path, MAX_FILE))]
        for text, path in texts:
            yield from read_commands(text, path)
        more = [path for folder in (".devcontainer", "") for path in self._list_names(folder, _is_container)]
        for path in dict.fromkeys((*CONTAINERS, *more)):
            yield from self._parse(path, partial(read_commands, others=texts))

    def judge(self, named: NamedVersion) -> str:
        """The version that is asked for; empty if it is not a single one. What is not a range either is noted."""
        whole = _WHOLE.fullmatch(named.written)
        if whole:
            return whole[1]
        if not _LOOSE.fullmatch(named.written):
            shown = named.written if len(named.written) <= MAX_WRITTEN else f"{named.written[:MAX_WRITTEN]}…"
            said = f"asks for {named.package.agent} {shown!r}, which is not a version"
            self.unread.append(UnreadPin(named.path, named.line, said))
        return ""

    # -- files

    def _parse(
        self, path: str, parse: Callable[[str, str], list[NamedVersion]], limit: int = MAX_FILE
    ) -> list[NamedVersion]:
        """What is written about versions in a file; that it has another form is noted."""
        text = self._read(path, limit)
        try:
            return parse(text, path) if text else []
        except (ValueError, RecursionError):
            form = "TOML" if path.endswith(".toml") else "a JSON object"
            self.unread.append(UnreadPin(path, None, f"is not {form}, so what it pins is not known"))
            return []

    def _read(self, path: str, limit: int) -> str:
        """The text of a file of the repository; empty if there is none, or it cannot be read, which is noted."""
        whole = f"{self.top}/{path}"
        if self.tree.kind(whole) == "missing":
            return ""
        if not is_inside(self.tree.real(whole), self.top or "/"):
            self.unread.append(UnreadPin(path, None, "is a link out of the repository, so it pins nothing"))
            return ""
        data = self.tree.read(whole, limit)
        if isinstance(data, Fault):
            if data.reason not in ("missing", "folder"):
                reason = data.reason.replace("-", " ")
                self.unread.append(UnreadPin(path, None, f"cannot be read ({reason}), so what it pins is not known"))
            return ""
        return data.decode("utf-8", "replace")

    def _list_names(self, folder: str, is_wanted: Callable[[str], bool]) -> list[str]:
        """Files of a folder, as paths from the top, in the order of their names."""
        listed = self.tree.names(f"{self.top}/{folder}".rstrip("/") or "/")
        names = sorted(filter(is_wanted, listed[0])) if not isinstance(listed, Fault) else []
        return [f"{folder}/{name}".lstrip("/") for name in names[:MOST_FILES]]


# This machine

_MISSING = Fault("missing")


def find_installed(tree: Tree, top: str, agent: str, env: Mapping[str, str]) -> VersionSource | None:
    """The version that would run in a repository on this machine; None if none is found. Nothing is executed."""
    for package in PACKAGES:
        path = f"node_modules/{package.package}/package.json"
        version = _read_version(tree, top, path) if package.agent == agent else ""
        if version:
            return VersionSource(agent, version, "package", path)
    links = f"{top.rstrip('/')}/node_modules/.bin"
    for kind, path, place in (("package", links, "node_modules/.bin"), ("program", env.get("PATH", ""), "")):
        version = installed_version(programs_of(agent), {"PATH": _list_absolute(path)})
        if version:
            return VersionSource(agent, version, kind, place)
    return None


def _list_absolute(path: str) -> str:
    """PATH without folders that depend on where a process is: a repository may have such ones."""
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if os.path.isabs(folder))


def _read_version(tree: Tree, top: str, path: str) -> str:
    """The version of a package that is installed below a folder."""
    import json

    whole = f"{top.rstrip('/')}/{path}"
    data = _MISSING if tree.kind(whole) != "file" else tree.read(whole, MAX_FILE)
    if isinstance(data, Fault):
        return ""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    version = value.get("version") if isinstance(value, dict) else None
    whole_version = _WHOLE.fullmatch(version) if isinstance(version, str) else None
    return whole_version[1] if whole_version else ""
