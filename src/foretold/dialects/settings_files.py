"""Reading an agent's configuration: command line, environment, settings files. It gives plain values.

Nothing here knows an agent. A file that cannot be understood is a finding and counts as empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from foretold.dialects.schema import ProgramOptions
from foretold.storage.tree import Fault, Tree
from foretold.types import Finding, NamedTuple

MAX_SETTINGS = 64 * 1024 * 1024


class SettingsScope(NamedTuple):
    """One settings file, or one value given on the command line."""

    name: str
    path: str
    values: dict[str, object]


class LayeredSettings:
    """Scopes in order of precedence, the strongest first."""

    __slots__ = ("findings", "scopes")

    def __init__(self, scopes: Iterable[SettingsScope], findings: list[Finding]) -> None:
        self.scopes = tuple(scopes)
        self.findings = findings

    def defined(self, *keys: str, within: Sequence[str] = ()) -> Iterator[tuple[SettingsScope, object]]:
        """Each scope (of those named) that has a value below these keys, the strongest first."""
        for scope in self.scopes:
            if not within or scope.name in within:
                value = dig(scope.values, *keys)
                if value is not None:
                    yield scope, value

    def first(self, *keys: str, within: Sequence[str] = ()) -> object:
        """The strongest value below these keys, or None."""
        for _, value in self.defined(*keys, within=within):
            return value
        return None

    def joined(self, key: str) -> tuple[str, ...]:
        """The texts of a list that all scopes add to."""
        lists = (value for _, value in self.defined(key))
        return tuple(item for value in lists if isinstance(value, list) for item in value if isinstance(item, str))


def dig(values: object, *keys: str) -> object:
    """The value below nested keys, or None."""
    for key in keys:
        if not isinstance(values, dict):
            return None
        values = values.get(key)
    return values


def _read_settings(tree: Tree, path: str, findings: list[Finding]) -> str | None:
    """The text of a settings file; None if there is none, with a finding if it cannot be read."""
    data = tree.read(path, MAX_SETTINGS)
    if not isinstance(data, Fault):
        return data.decode("utf-8", "replace")
    if data.reason != "missing":
        findings.append(Finding(path, None, "settings-unreadable", f"settings cannot be read: {data.reason}"))
    return None


def read_json(tree: Tree, path: str, findings: list[Finding], *, comments: bool = False) -> dict[str, object]:
    """The object in a JSON file, which may have `comments`; empty if there is none."""
    text = _read_settings(tree, path, findings)
    return {} if text is None else parse_json(text, path, findings, comments=comments)


def parse_json(text: str, path: str, findings: list[Finding], *, comments: bool = False) -> dict[str, object]:
    """The object in a JSON text; empty, with a finding, if it is something else."""
    import json  # only where there is a settings file

    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        if comments:
            return parse_json(without_json_comments(text), path, findings)
        line = getattr(error, "lineno", None)
        findings.append(
            Finding(path, line, "settings-invalid", f"not JSON, so the agent ignores it: {error}", "fix the JSON")
        )
        return {}
    if isinstance(value, dict):
        return value
    findings.append(Finding(path, None, "settings-invalid", "not a JSON object, so the agent ignores it"))
    return {}


def read_toml(
    tree: Tree, path: str, findings: list[Finding], *, effect: str = "the agent does not start"
) -> dict[str, object]:
    """The table in a TOML file; empty if there is none, and if it is something else, with a finding that says so."""
    text = _read_settings(tree, path, findings)
    if text is None:
        return {}
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        said = f"not TOML, so {effect}: {error}"
        findings.append(Finding(path, None, "settings-invalid", said, "fix the TOML"))
        return {}


def without_json_comments(text: str) -> str:
    """A JSON text without `//` and `/* */` comments and commas before a closing bracket."""
    import re

    strings = r'"(?:[^"\\]|\\.)*"'
    text = re.sub(rf"({strings})|//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)", lambda found: found[1] or "", text)
    return re.sub(rf"({strings})|,(?=\s*[\]}}])", lambda found: found[1] or "", text)


def texts_of(value: object) -> list[str]:
    """The texts of a value that is one, or a list of them."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def parse_args(args: Sequence[str], options: Mapping[str, str]) -> dict[str, list[str]]:
    """The options of a command line that a table names, with their values.

    The table says `flag`, `one` or `many`; a `many` option takes every word up to the next option.
    """
    found: dict[str, list[str]] = {}
    position = 0
    while position < len(args):
        name, equals, value = args[position].partition("=")
        position += 1
        takes = options.get(name)
        if takes is None:
            continue
        values = found.setdefault(name, [])
        if equals:
            values.append(value)
        elif takes == "one" and position < len(args):
            values.append(args[position])
            position += 1
        elif takes == "many":
            while position < len(args) and not args[position].startswith("-"):
                values.append(args[position])
                position += 1
    return found


def find_unknown_options(args: Sequence[str], line: ProgramOptions) -> list[str]:
    """The options of a command line that the agent does not have. Words after `--`, and values, are not options.

    >>> line = ProgramOptions("claude", flags="-p --bare", one="--model", many="--add-dir")
    >>> find_unknown_options(["-p", "--model", "--x", "--modl=a", "--add-dir", "b", "hello", "-pz", "--", "--y"], line)
    ['--modl']
    """
    kinds = {name: kind for kind in ("flags", "one", "maybe", "many") for name in getattr(line, kind).split()}
    found: list[str] = []
    words = iter(args)
    for word in words:
        if word == "--":
            break
        if not word.startswith("-") or word == "-":
            continue
        name, equals, _ = word.partition("=")
        kind = kinds.get(_spelled(name, kinds, line.spelling))
        if kind is None:
            found.append(name)
        elif kind == "one" and not equals and name in kinds:
            next(words, "")
    return found


def _spelled(name: str, known: Mapping[str, str], spelling: str) -> str:
    """An option as the agent's help spells it. One letter with its value, or several letters, count as the first."""
    if name in known or not name.startswith("--"):
        return name if name in known else name[:2]
    if spelling == "yargs":
        dashed = "".join(f"-{char.lower()}" if char.isupper() else char for char in name)
        return dashed if dashed in known else f"--{dashed.removeprefix('--no-')}"
    return name


def guess_option(name: str, line: ProgramOptions) -> str:
    """What to do about an unknown option."""
    from difflib import get_close_matches

    known = " ".join((line.flags, line.one, line.maybe, line.many)).split()
    close = get_close_matches(name.lstrip("-"), [option[2:] for option in known if option.startswith("--")], 1, 0.7)
    if close:
        return f"did you mean --{close[0]}?"
    return f"see: {line.program} --help" if line.program else f"known are: {' '.join(known)}"


def is_on(value: str | None) -> bool:
    """Whether an environment variable switches something on."""
    return value is not None and value.strip().lower() in ("1", "true", "yes", "on")


def is_off(value: str | None) -> bool:
    """Whether an environment variable switches something off by saying so."""
    return value is not None and value.strip().lower() in ("0", "false", "no", "off")
