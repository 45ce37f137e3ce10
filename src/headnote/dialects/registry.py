"""Finding a dialect by name: `claude-code`, or `claude-code@2.1.300`.

1. A version that was recorded gives that dialect.
2. Another version gives the newest recorded one that is not newer, or the oldest if all are newer; the answer
   says that it was assumed.
3. Without a version, the version of the program on PATH decides, else the newest recorded.
"""

from __future__ import annotations

import os

from headnote.dialects.table import Dialect
from headnote.errors import UnknownAgent
from headnote.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

#: agent -> the module of this package that has its tables
AGENTS = {
    "claude-code": "claude_code",
    "cline": "cline",
    "code-assist": "code_assist",
    "codex": "codex",
    "continue": "continue_cli",
    "copilot-cli": "copilot",
    "ex-athena": "ex_athena",
    "gemini-cli": "gemini",
    "mink": "mink",
    "opencode": "opencode",
    "qwen-code": "qwen",
}
DEFAULT_AGENT = "claude-code"


class Choice(NamedTuple):
    """A dialect, and how it was chosen."""

    dialect: Dialect
    asked: str  #: the version that was wanted, or empty
    assumed: bool  #: that version was not recorded


def dialects_of(agent: str) -> tuple[Dialect, ...]:
    """All dialects of an agent, oldest first."""
    if agent not in AGENTS:
        raise UnknownAgent(f"no agent is called {agent!r}; there are: {', '.join(sorted(AGENTS))}")
    module = __import__(f"headnote.dialects.{AGENTS[agent]}", fromlist=["DIALECTS"])
    found: tuple[Dialect, ...] = module.DIALECTS
    return found


def choose(name: str = DEFAULT_AGENT, env: Mapping[str, str] | None = None) -> Choice:
    """The dialect for a name with or without a version.

    >>> choose("claude-code@2.1.200").dialect.version
    '2.1.197'
    """
    agent, _, version = name.partition("@")
    known = dialects_of(agent)
    if not version:
        version = installed_version(known[-1].programs, env) if env is not None else ""
    if not version:
        return Choice(known[-1], "", assumed=False)
    wanted = version_key(version)
    if not wanted:
        recorded = ", ".join(dialect.version for dialect in known)
        raise UnknownAgent(f"{version!r} is not a version; recorded for {agent}: {recorded}")
    older = [dialect for dialect in known if version_key(dialect.version) <= wanted]
    dialect = older[-1] if older else known[0]
    return Choice(dialect, version, assumed=version_key(dialect.version) != wanted)


def version_key(version: str) -> tuple[int, ...]:
    """A version as numbers; empty if it is none.

    >>> version_key("2.1.325")
    (2, 1, 325)
    """
    parts = version.partition("-")[0].split(".")
    plain = all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts)
    return tuple(int(part) for part in parts) if plain else ()


def installed_version(programs: tuple[str, ...], env: Mapping[str, str]) -> str:
    """The version of an agent's program on PATH, read from what its installer left beside it; runs nothing.

    An npm package has a `package.json` above the program; a native install names the version in its path.
    """
    for program in programs:
        for folder in env.get("PATH", "").split(os.pathsep):
            path = os.path.join(folder, program)
            if folder and os.path.isfile(path) and os.access(path, os.X_OK):
                return _version_beside(os.path.realpath(path))
    return ""


def _version_beside(path: str) -> str:
    folder = path
    for _ in range(3):
        folder = os.path.dirname(folder)
        manifest = os.path.join(folder, "package.json")
        if os.path.isfile(manifest):
            return _manifest_version(manifest)
    for name in reversed(path.split("/")):
        if version_key(name) and name.count(".") >= 2:
            return name
    return ""


def _manifest_version(path: str) -> str:
    import json

    try:
        with open(path, encoding="utf-8") as file:
            version = json.load(file).get("version", "")
    except (OSError, ValueError, AttributeError):
        return ""
    return version if isinstance(version, str) and version_key(version) else ""
