"""What is checked, and how: rules that are selected or ignored, severities, agents, excluded paths.

1. Settings are the table `[tool.foretold]` of `pyproject.toml`, or the keys at the top of `.foretold.toml`, which has
   `[memory]` and `[hooks]` as well. The nearest file that has some counts, from the checked folder up to the top of the
   project; of two in one folder, `.foretold.toml`. Nothing is merged: what counts is in one place.
2. The file is the repository's, and may be a stranger's. It chooses what is checked and reported; nothing in it runs a
   program, writes a file, or reads one outside the project.
3. An unknown key, rule, agent or value is an error that names the file and the key: a typo must not switch a check off.
4. Of the command line, `--select`, `--agent` and `--baseline` replace what the file says, `--ignore` and `--exclude`
   add to it. What `--select` names is reported though the file ignores it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping

from foretold.dialects.registry import AGENTS, choose
from foretold.dialects.surroundings import upward
from foretold.errors import BadSettings, UnknownAgent
from foretold.findings.registry import CHECKED, SEVERITIES, family_of, find_rule, load_families
from foretold.storage.tree import Fault, Tree, is_inside
from foretold.types import NamedTuple

FILES = (".foretold.toml", "pyproject.toml")
ELSEWHERE = ("memory", "hooks")  #: tables of `.foretold.toml` that other commands read
MAX_FILE = 1024 * 1024  #: bytes of a settings file
MOST, LONGEST = 1000, 256  #: patterns of a setting, and characters of one: each is tried on every file
BUDGETS = range(1, 10_000_001)  #: tokens


class CheckSettings(NamedTuple):
    """The settings of a check. Rules are named by their code or by their family."""

    select: tuple[str, ...] = ()  #: empty: all
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = {}  #: pattern, as in .gitignore -> rules
    severity: Mapping[str, str] = {}  #: rule -> error, warning or note
    agents: tuple[str, ...] = ()  #: perhaps with versions; empty: those in use
    exclude: tuple[str, ...] = ()  #: patterns, as in .gitignore, of what is not checked
    budgets: Mapping[str, int] = {}  #: agent -> tokens that its instructions may cost in every session
    include_fixtures: bool = False
    baseline: str = ""  #: the whole path of a file of known findings; empty: none

    def is_selected(self, code: str) -> bool:
        """Whether a rule is to be reported. A code says more than a family, and `ignore` more than `select`."""
        family = family_of(code)
        if code in self.ignore:
            return False
        if code in self.select:
            return True
        return family not in self.ignore and (not self.select or family in self.select)

    def runs(self, family: str) -> bool:
        """Whether a family can report anything."""
        if family in self.ignore and not any(family_of(code) == family for code in self.select):
            return False
        return not self.select or family in self.select or any(family_of(code) == family for code in self.select)

    def severity_of(self, code: str, own: str = "") -> str:
        """How serious a finding is here: as the settings say, else as it says itself, else as its rule does."""
        rule = find_rule(code)
        usual = own or (rule.severity if rule else "warning")
        return self.severity.get(code) or self.severity.get(family_of(code)) or usual

    def override(
        self, select: Iterable[str] = (), ignore: Iterable[str] = (), agents: Iterable[str] = ()
    ) -> CheckSettings:
        """These settings with what a command line says.

        >>> CheckSettings(ignore=("cost", "truth")).override(select=["cost"], ignore=["sense"])[:2]
        (('cost',), ('truth', 'sense'))
        """
        wanted, dropped = tuple(select), tuple(ignore)
        kept = tuple(rule for rule in self.ignore if rule not in wanted)
        return self._replace(
            select=wanted or self.select,
            ignore=tuple(dict.fromkeys((*kept, *dropped))),
            agents=tuple(agents) or self.agents,
        )


class SettingsSource(NamedTuple):
    """Settings, and where they come from."""

    settings: CheckSettings
    path: str = ""  #: the file; empty if there is none
    unused: tuple[str, ...] = ()  #: files with settings that do not count, because another one is nearer


def load_settings(tree: Tree, folder: str, top: str) -> SettingsSource:
    """The settings that count in a folder of a project."""
    found = list(_find_tables(tree, folder, top))
    if not found:
        return SettingsSource(CheckSettings())
    path, prefix, table = found[0]
    settings = parse_settings(table, path, prefix)
    if settings.baseline:
        settings = settings._replace(baseline=_locate_baseline(settings.baseline, tree, path, top))
    return SettingsSource(settings, path, tuple(each[0] for each in found[1:]))


def _locate_baseline(name: str, tree: Tree, path: str, top: str) -> str:
    """The whole path of a baseline, which is named from the folder of the settings and is in the project."""
    place = os.path.normpath(os.path.join(os.path.dirname(path), name))
    if not is_inside(place, top) or not is_inside(tree.real(place), top):
        raise BadSettings(f"{path}: baseline is {_write(name)}, which is outside of the project; name a file in it")
    return place


def _find_tables(tree: Tree, folder: str, top: str) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Files with settings, the one that counts first: path, what comes before a key there, keys."""
    for each in upward(folder):
        if not is_inside(each, top):
            return
        for name in FILES:
            path = f"{each.rstrip('/')}/{name}"
            data = _read_file(tree, path, top, is_ours=name == FILES[0])
            prefix, table = _find_table(_parse_toml(data, path), path) if data else ("", {})
            if table:
                yield path, prefix, table


def _read_file(tree: Tree, path: str, top: str, *, is_ours: bool) -> bytes:
    """The bytes of a file that may have settings; empty if it has none. What is wrong with one of ours is an error."""
    data = tree.read(path, MAX_FILE)
    if isinstance(data, Fault):
        if is_ours and data.reason != "missing":
            raise BadSettings(f"{path} cannot be read: {data.detail or data.reason}")
        return b""
    if not is_ours and b"foretold" not in data:
        return b""
    if not is_inside(tree.real(path), top):  # an error would say what is in it
        raise BadSettings(f"{path} is a link that leads out of the project; put the settings there as a file")
    return data


def _parse_toml(data: bytes, path: str) -> dict[str, object]:
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8").removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a plain ValueError
        raise BadSettings(f"{path} is not TOML: {error}") from None


def _find_table(values: dict[str, object], path: str) -> tuple[str, dict[str, object]]:
    """The keys of a settings file that are for a check, and what comes before them."""
    if not path.endswith(FILES[1]):
        return "", {key: value for key, value in values.items() if key not in ELSEWHERE}
    tool = values.get("tool")
    table = tool.get("foretold") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise BadSettings(f"{path}: tool.foretold is {_write(table)}, not a table; write: [tool.foretold]")
    return "tool.foretold.", table or {}


# What a file may say


def parse_settings(table: Mapping[str, object], path: str, prefix: str = "") -> CheckSettings:
    """Settings from a table. Whatever is not understood is an error that names the file and the key.

    >>> parse_settings({"ignore": ["cost"], "budget": {"codex": 4000}}, ".foretold.toml").budgets
    {'codex': 4000}
    >>> parse_settings({"ignroe": []}, ".foretold.toml")
    Traceback (most recent call last):
    ...
    foretold.errors.BadSettings: .foretold.toml: 'ignroe' is not a setting, did you mean 'ignore'?
    """
    found = CheckSettings()
    for key, value in table.items():
        if key not in PARSERS:
            raise BadSettings(f"{path}: '{prefix}{key}' is not a setting{_explain_key(key, value, prefix)}")
        field, parse = PARSERS[key]
        try:
            found = found._replace(**{field: parse(value)})  # type: ignore[arg-type]  # as the parser of the field gives
        except ValueError as error:
            raise BadSettings(f"{path}: {prefix}{key}{error}") from None
    return found


def _explain_key(key: str, value: object, prefix: str) -> str:
    if key in ELSEWHERE:
        return f" here; write it as [{key}] in .foretold.toml"
    if key == "check":
        return "; write its keys without [check]"
    if key == "tool" and not prefix and isinstance(value, dict) and "foretold" in value:
        return " here; write the keys at the top, without [tool.foretold]"
    known = [*PARSERS, *(f"[{name}]" for name in ELSEWHERE if not prefix)]
    return _guess(key, PARSERS) or f"; the settings are {', '.join(known)}"


def check_rules(names: Iterable[str], *, is_guessed: bool = True) -> tuple[str, ...]:
    """Names of rules or families; a ValueError says which is neither, and what may have been meant."""
    names = tuple(dict.fromkeys(names))
    for name in names:
        if name not in CHECKED and family_of(name) not in CHECKED:
            codes = [rule.code for family, rules in load_families().items() if family in CHECKED for rule in rules]
            meant = (_guess(name, [*CHECKED, *codes]) if is_guessed else "") or f"; families: {', '.join(CHECKED)}"
            raise ValueError(f"{name!r} is not a rule or a family{meant}")
    return names


def check_agents(names: Iterable[str]) -> tuple[str, ...]:
    """Names of agents, perhaps with versions; a ValueError says which is not known."""
    names = tuple(dict.fromkeys(name.lower() for name in names))
    for name in names:
        try:
            choose(name)
        except UnknownAgent as error:
            raise ValueError(str(error)) from None
    return names


def _parse_texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        example = _write([value]) if isinstance(value, str) else '["…"]'
        raise ValueError(f" is {_write(value)}, not a list of texts; write: {example}")
    return tuple(value)


def _parse_rules(value: object) -> tuple[str, ...]:
    try:
        return check_rules(_parse_texts(value))
    except ValueError as error:
        raise ValueError(error if str(error).startswith(" ") else f": {error}") from None


def _parse_agents(value: object) -> tuple[str, ...]:
    try:
        return check_agents(_parse_texts(value))
    except ValueError as error:
        raise ValueError(error if str(error).startswith(" ") else f": {error}") from None


def _parse_patterns(value: object) -> tuple[str, ...]:
    patterns = _parse_texts(value)
    _check_patterns(patterns)
    return patterns


def _check_patterns(patterns: Iterable[str]) -> None:
    patterns = list(patterns)
    if len(patterns) > MOST:
        raise ValueError(f" has {len(patterns):,} patterns; at most {MOST:,} are tried")
    long = next((pattern for pattern in patterns if len(pattern) > LONGEST), "")
    if long:
        raise ValueError(f" has a pattern of {len(long):,} characters; at most {LONGEST} are tried")


def _parse_ignores(value: object) -> dict[str, tuple[str, ...]]:
    table = _parse_table(value, '{"docs/**" = ["truth"]}')
    _check_patterns(table)
    return {pattern: _at_key(pattern, _parse_rules, rules) for pattern, rules in table.items()}


def _parse_severities(value: object) -> dict[str, str]:
    table = _parse_table(value, '{import-missing = "warning"}')
    _parse_rules(list(table))
    for rule, severity in table.items():
        if severity not in SEVERITIES:
            meant = _guess(severity, SEVERITIES) if isinstance(severity, str) else ""
            raise ValueError(f".{rule} is {_write(severity)}, not error, warning or note{meant}")
    return {rule: str(severity) for rule, severity in table.items()}


def _parse_budgets(value: object) -> dict[str, int]:
    if isinstance(value, int) and not isinstance(value, bool):
        value = dict.fromkeys(AGENTS, value)
    table = _parse_table(value, "{claude-code = 4000}")
    for agent, tokens in table.items():
        if agent not in AGENTS:
            raise ValueError(f": unknown agent {agent!r}{_guess(agent, AGENTS)}")
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens not in BUDGETS:
            raise ValueError(f".{agent} is {_write(tokens)}, not a number of tokens")
    return {agent: int(str(tokens)) for agent, tokens in table.items()}


def _parse_switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f" is {_write(value)}, not true or false")
    return value


def _parse_path(value: object) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise ValueError(f" is {_write(value)}, not the path of a file")
    return value


def _parse_table(value: object, example: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f" is {_write(value)}, not a table; write: {example}")
    return value


def _at_key(key: str, parse: Callable[[object], tuple[str, ...]], value: object) -> tuple[str, ...]:
    try:
        return parse(value)
    except ValueError as error:
        raise ValueError(f".{key!r}{error}") from None


#: key of a settings file -> field of `CheckSettings`, and how its value is read
PARSERS: dict[str, tuple[str, Callable[[object], object]]] = {
    "select": ("select", _parse_rules),
    "ignore": ("ignore", _parse_rules),
    "per-file-ignores": ("per_file_ignores", _parse_ignores),
    "severity": ("severity", _parse_severities),
    "agents": ("agents", _parse_agents),
    "exclude": ("exclude", _parse_patterns),
    "include-fixtures": ("include_fixtures", _parse_switch),
    "baseline": ("baseline", _parse_path),
    "budget": ("budgets", _parse_budgets),
}


def _write(value: object) -> str:
    """A value as TOML has it; a long one is cut.

    >>> _write(True), _write("x"), _write(["x"])
    ('true', '"x"', '["x"]')
    """
    import json

    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _guess(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), 1) if len(name) <= LONGEST else []
    return f", did you mean {close[0]!r}?" if close else ""
