"""The packages that agents come in, and the texts of a project that ask for a version of one.

1. `read_manifest` and `read_lock` are for `package.json` and the locks of npm, pnpm, yarn and bun; `read_tools` for the
   files of mise and asdf; `read_commands` for whatever has lines that install a package: a Dockerfile, the file of a
   dev container, a workflow.
2. Each gives what is written, whether it is one version or not, with its line. Nothing is resolved but a variable that
   the same texts set: `${VERSION}` and `${{ env.VERSION }}`.
3. Texts are a stranger's. They are searched, never executed, and a text that is not what it should be gives nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from foretold.dialects.settings_files import dig
from foretold.types import NamedTuple


class AgentPackage(NamedTuple):
    """How the program of an agent is installed."""

    agent: str
    package: str  #: on npm
    tools: tuple[str, ...] = ()  #: in files of mise and asdf, without what comes before a colon
    script: str = ""  #: the address of an installer that takes a version as its first argument


#: agents whose releases differ in our tables; of the others, a version would select nothing
PACKAGES = (
    AgentPackage(
        "claude-code",
        "@anthropic-ai/claude-code",
        ("claude", "claude-code", "anthropics/claude-code"),
        "claude.ai/install.sh",
    ),
    AgentPackage("codex", "@openai/codex", ("codex", "openai/codex")),
    AgentPackage("gemini-cli", "@google/gemini-cli", ("gemini", "gemini-cli", "google-gemini/gemini-cli")),
    AgentPackage("opencode", "opencode-ai", ("opencode", "sst/opencode", "anomalyco/opencode")),
    AgentPackage("copilot-cli", "@github/copilot", ("copilot", "copilot-cli", "github/copilot-cli")),
    AgentPackage("qwen-code", "@qwen-code/qwen-code", ("qwen", "qwen-code", "QwenLM/qwen-code")),
    AgentPackage("cline", "cline", ("cline",)),
    AgentPackage("continue", "@continuedev/cli"),
)
_BY_NAME = {each.package: each for each in PACKAGES}
_BY_TOOL = {name.lower(): each for each in PACKAGES for name in (*each.tools, each.package)}
#: the first is for those who use a project, the others for those who work on it
SECTIONS = ("dependencies", "devDependencies", "optionalDependencies")
MOST_LINES = 20_000  #: of a file with commands or tools
MOST_NAMED = 32  #: versions that are taken from one file: each may cost a look at all of it


class NamedVersion(NamedTuple):
    """What a text asks for."""

    package: AgentPackage
    written: str  #: a version, or a range, a tag, a variable
    path: str
    line: int


def _line_at(text: str, place: int) -> int:
    return text.count("\n", 0, max(0, place)) + 1


# Packages of npm


def read_manifest(text: str, path: str) -> list[NamedVersion]:
    """The agents that a `package.json` depends on. ValueError or RecursionError if it names one, and is not JSON."""
    import json

    if not any(f'"{name}"' in text for name in _BY_NAME):
        return []
    value = json.loads(text.removeprefix("\ufeff"))
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    found = []
    for section in SECTIONS:
        named = value.get(section)
        for name, written in named.items() if isinstance(named, dict) else ():
            if name in _BY_NAME and isinstance(written, str):
                place = text.find(f'"{name}"', max(0, text.find(f'"{section}"')))
                found.append(NamedVersion(_BY_NAME[name], written, path, _line_at(text, place)))
    return found


def read_lock(text: str, path: str, package: AgentPackage) -> list[NamedVersion]:
    """The versions of a package that a lock of npm, pnpm, yarn or bun has; the first is that of the project itself."""
    find = _read_yarn if path == "yarn.lock" else _read_pnpm if path == "pnpm-lock.yaml" else _read_json_lock
    found = islice(find(text, package.package), MOST_NAMED) if package.package in text else ()
    return [NamedVersion(package, written, path, line) for written, line in found]


def _read_json_lock(text: str, name: str) -> Iterator[tuple[str, int]]:
    """npm: `"node_modules/NAME": {"version": "1"`, before version 2 `"NAME": {`; bun: `"NAME": ["NAME@1"`."""
    at = re.escape(name)
    npm = rf'"(?:node_modules/)?{at}"\s{{0,9}}:\s{{0,9}}\{{\s{{0,99}}"version"\s{{0,9}}:\s{{0,9}}"([^"\n]{{1,200}})"'
    bun = rf'"{at}"\s{{0,9}}:\s{{0,9}}\[\s{{0,99}}"{at}@([^"\n]{{1,200}})"'
    for found in re.finditer(f"{npm}|{bun}", text):
        yield found[1] or found[2], _line_at(text, found.start())


def _read_yarn(text: str, name: str) -> Iterator[tuple[str, int]]:
    """`"NAME@^1":` and below it `version "1"`, which later is `version: 1`."""
    at = re.escape(name)
    entry = rf'^"?{at}@[^\n]{{0,2000}}\n[ \t]{{1,8}}version:?[ \t]{{1,8}}"?([^"\s]{{1,200}})'
    for found in re.finditer(entry, text, re.MULTILINE):
        yield found[1], _line_at(text, found.start())


def _read_pnpm(text: str, name: str) -> Iterator[tuple[str, int]]:
    """`'NAME':` and below it `version: 1`; in older locks, the version next to it. `1(react@18)` is 1."""
    at = re.escape(name)
    entry = (
        rf"^[ ]{{0,20}}['\"]?{at}['\"]?:[ \t]*"
        r"(?:\r?\n[ ]+specifier:[^\n]{0,500}\n[ ]+version:[ \t]*)?['\"]?([^\s'\"(]{1,200})"
    )
    for found in re.finditer(entry, text, re.MULTILINE):
        yield found[1], _line_at(text, found.start())


# mise and asdf


def read_tools(text: str, path: str) -> list[NamedVersion]:
    """The agents in `.tool-versions`, or in the tools of a `mise.toml`; ValueError if it is not TOML."""
    if path.endswith(".toml"):
        return _read_mise(text, path)
    found = []
    for number, line in enumerate(text.split("\n", MOST_LINES)[:MOST_LINES], 1):
        words = line.partition("#")[0].split()
        package = _find_tool(words[0]) if len(words) > 1 else None
        if package:
            found.append(NamedVersion(package, words[1], path, number))
    return found[:MOST_NAMED]


def _read_mise(text: str, path: str) -> list[NamedVersion]:
    import tomllib

    if not any(name in text.lower() for name in _BY_TOOL):
        return []
    tools = tomllib.loads(text).get("tools")
    named = [name for name in tools if _find_tool(name)] if isinstance(tools, dict) else []
    found = []
    for name in named[:MOST_NAMED]:
        package, value = _find_tool(name), dig(tools, name)
        value = value[0] if isinstance(value, list) and value else value
        value = value.get("version") if isinstance(value, dict) else value
        if package and isinstance(value, str):
            found.append(NamedVersion(package, value, path, _line_at(text, text.find(name))))
    return found


def _find_tool(name: str) -> AgentPackage | None:
    """The package of a tool: `claude`, `npm:@anthropic-ai/claude-code`, `aqua:anthropics/claude-code[exe=claude]`."""
    return _BY_TOOL.get(name.rpartition(":")[2].partition("[")[0].lower())


# Lines that install a package

#: a version on a command line: an expression of a workflow, a variable, what a shell would execute, or plain text
_WRITTEN = r"(\$\{\{[^}\n]{0,200}\}\}|\$\{[^}\n]{0,200}\}|\$\([^)\n]{0,200}\)|[^\s\"'`,;&|<>\\)\]}]{1,200})"
_INSTALLS = re.compile(rf"(?<![\w@/.-])({'|'.join(map(re.escape, _BY_NAME))})@{_WRITTEN}")
_SCRIPTS = {each.script: each for each in PACKAGES if each.script}
_RUNS = re.compile(
    rf"({'|'.join(map(re.escape, _SCRIPTS))})[^\n|]{{0,200}}\|[^\n|]{{0,80}}\b(?:ba|z|da)?sh[ \t]{{1,9}}"
    rf"(?:-s[ \t]{{1,9}})?(?:--[ \t]{{1,9}})?{_WRITTEN}"
)
_VARIABLE = re.compile(r"\$\{\{\s{0,9}env\.(\w{1,99})\s{0,9}\}\}|\$\{?(\w{1,99})(?::?-([^}\n]{0,200}))?\}?")


def read_commands(text: str, path: str, others: Sequence[tuple[str, str]] = ()) -> list[NamedVersion]:
    """The agents that lines of a text install. `others`, pairs of a text and its path, set variables, too, and first.

    >>> [each[1:] for each in read_commands("ARG V=2.1.250\\nRUN npm i -g @openai/codex@${V}", "Dockerfile")]
    [('2.1.250', 'Dockerfile', 1)]
    """
    found = islice(_list_installs(text, path), MOST_NAMED)
    return [_resolve(each, (*others, (text, path))) for each in found]


def _list_installs(text: str, path: str) -> Iterator[NamedVersion]:
    for number, line in enumerate(text.split("\n", MOST_LINES)[:MOST_LINES], 1):
        if ("@" in line or "install.sh" in line) and not line.lstrip().startswith(("#", "//")):
            for match in chain(_INSTALLS.finditer(line), _RUNS.finditer(line)):
                package = _BY_NAME.get(match[1]) or _SCRIPTS[match[1]]
                yield NamedVersion(package, match[2], path, number)


def _resolve(named: NamedVersion, texts: Iterable[tuple[str, str]]) -> NamedVersion:
    """What is asked for, with the value of its variable if one of the texts sets that, and where it does."""
    variable = _VARIABLE.fullmatch(named.written)
    if variable is None:
        return named
    name = variable[1] or variable[2]
    sets = re.compile(rf"(?:^|[\s\"']){name}[\"']?[ \t]{{0,9}}[=:][ \t]{{0,9}}[\"']?{_WRITTEN}", re.MULTILINE)
    for text, path in texts:
        value = sets.search(text)
        if value:
            return named._replace(written=value[1], path=path, line=_line_at(text, value.start(1)))
    return named._replace(written=variable[3]) if variable[3] else named
