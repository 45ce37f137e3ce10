"""Settings files: form, keys, values, permission rules."""

from __future__ import annotations

from collections.abc import Iterator

from foretold.check.finding import CheckFinding
from foretold.check.schema.catalog import FoundSettings
from foretold.check.schema.source import SourceFile, report_slip
from foretold.check.schema.spelling import find_near
from foretold.check.schema.values import find_slips, find_wrong
from foretold.dialects.extensions.tables import SettingsTable
from foretold.harness.permissions.rules import PermissionRule, parse_rule
from foretold.harness.permissions.settings import KINDS, check_rule
from foretold.types import Facts, Finding


def check_form(source: SourceFile, agents: tuple[str, ...], what: str) -> Iterator[CheckFinding]:
    """Whether a file can be read at all, and whether an object in it has a key twice."""
    if source.fault:
        form = "TOML" if source.form == "toml" else "JSON"
        said = f"not valid {form}, so the agent does not read {what}: {source.fault}"
        yield CheckFinding(source.path, source.line, "config-invalid", said, "", agents)
    for key in source.twice:
        line = source.line_of(key)
        said = f"`{key}` is there twice in one object: the first one is lost"
        yield CheckFinding(source.path, line, "config-duplicate", said, "", agents)


def check_settings(found: FoundSettings, agents: tuple[str, ...]) -> Iterator[CheckFinding]:
    """What is wrong with the keys and values of a settings file."""
    table = found.settings
    if table is None:
        return
    source, values = found.source, found.source.values
    tops = {key.partition(".")[0] for key in table.keys}
    for key, near in find_slips(values, tops, table.unread):
        said = f"`{key}` is not a setting of this agent"
        yield report_slip(source, key, "setting-unknown", said, Facts(key, near), agents)
    yield from _check_inner(found, table, agents)
    for key, instead in table.unread.items():
        if key in values:
            said = f"`{key}` is not read in this file"
            yield CheckFinding(source.path, source.line_of(key), "setting-unread", said, instead, agents)
    for wrong in find_wrong(values, table.keys, is_strict=True):
        if wrong.key == "hooks":
            continue  # reported with the hooks
        said = f"`{wrong.key}` is not {wrong.wanted}, so the agent refuses the file"
        hint = f"write {wrong.near}" if wrong.near else ""
        line = source.line_of(*wrong.key.split("."))
        # a newer release may know more choices
        severity = "warning" if wrong.is_choice and not wrong.near else ""
        yield CheckFinding(source.path, line, "setting-value", said, hint, agents, severity)
    if "env" in table.keys:
        yield from _check_env(source, agents)
    if table.tools:
        yield from _check_permissions(source, table, agents)


def _check_inner(found: FoundSettings, table: SettingsTable, agents: tuple[str, ...]) -> Iterator[CheckFinding]:
    """Slips one level down, as far as the table knows the keys there."""
    inner: dict[str, list[str]] = {}
    for key in table.keys:
        first, dot, rest = key.partition(".")
        if dot:
            inner.setdefault(first, []).append(rest)
    for first, known in inner.items():
        value = found.source.values.get(first)
        for key, near in find_slips(value, known) if isinstance(value, dict) else ():
            said = f"`{first}.{key}` is not a setting of this agent"
            line = found.source.line_of(first, key)
            facts = Facts(key, near)
            yield CheckFinding(found.source.path, line, "setting-unknown", said, f"write {near}", agents, facts=facts)


def _check_env(source: SourceFile, agents: tuple[str, ...]) -> Iterator[CheckFinding]:
    env = source.values.get("env")
    for name, value in env.items() if isinstance(env, dict) else ():
        if not isinstance(value, str):
            said = f"the variable {name} is not a text, so the agent refuses the file"
            yield CheckFinding(
                source.path, source.line_of("env", str(name)), "setting-value", said, "put it into quotes", agents
            )


def _check_permissions(source: SourceFile, table: SettingsTable, agents: tuple[str, ...]) -> Iterator[CheckFinding]:
    permissions = source.values.get("permissions")
    if not isinstance(permissions, dict):
        return
    for kind in KINDS:
        found = permissions.get(kind)
        rules: list[object] = found if isinstance(found, list) else []
        for text in rules:
            if not isinstance(text, str):
                said = f"permissions.{kind} has an item that is not a text"
                yield CheckFinding(
                    source.path, source.line_of("permissions", kind), "permission-rule", said, "", agents
                )
                continue
            for message, hint in _rule_faults(text, kind, table):
                line = source.line_of("permissions", kind, text)
                severity = "warning" if _is_made_good(hint.removeprefix("write "), rules) else ""
                yield CheckFinding(source.path, line, "permission-rule", message, hint, agents, severity)


def _is_made_good(right: str, rules: list[object]) -> bool:
    """Whether the rule as it should be is there, too, or a wider one: then nothing is lost."""
    tool, _, about = right.partition("(")
    texts = [text for text in rules if isinstance(text, str)]
    wider = [text[len(tool) + 1 : -3] for text in texts if text.startswith(f"{tool}(") and text.endswith("/**)")]
    return right in texts or tool in texts or any(about.startswith(folder) for folder in wider)


def _rule_faults(text: str, kind: str, table: SettingsTable) -> Iterator[tuple[str, str]]:
    rule, faults = parse_rule(text), list[Finding]()
    check_rule(rule, text, kind, "", faults)
    yield from ((each.message, each.hint) for each in faults)
    if rule is not None and not faults:
        yield from _odd_rule(rule, text, kind, table.tools)


def _odd_rule(rule: PermissionRule, text: str, kind: str, tools: frozenset[str]) -> Iterator[tuple[str, str]]:
    """A rule that parses and means something else."""
    near = "" if rule.tool in tools or "_" in rule.tool or "*" in rule.tool else find_near(rule.tool, tools)
    if near:
        yield f"{kind} rule {text}: there is no tool `{rule.tool}`", f"write {text.replace(rule.tool, near, 1)}"
    elif kind != "allow" and rule.tool.isalpha() and rule.tool not in tools:
        yield (
            f"{kind} rule {text}: there is no tool `{rule.tool}`, so it keeps nothing away",
            "name a tool of the agent",
        )
    elif rule.tool == "Bash" and ":* " in rule.about:
        yield f"{kind} rule {text}: `:*` counts at the end only, here it is a colon", "write a space and a star instead"
