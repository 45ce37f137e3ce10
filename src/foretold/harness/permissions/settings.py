"""Permissions from the settings files of Claude Code.

1. Managed, local, project and user settings; rules of all of them count together. If the managed ones say
   `allowManagedPermissionRulesOnly`, only theirs.
2. `defaultMode` is the strongest one's. A project or local file cannot set `bypassPermissions`, and
   `disableBypassPermissionsMode` in any file takes that mode away. A mode that is not known here is as `default`.
3. What loosens (`allow`, `additionalDirectories`) counts in a project's own file, and in a local one that git keeps,
   only if the project is trusted; what tightens counts always.
4. Whatever is not as it should be is a finding, and is left out alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from foretold.dialects.settings_files import dig, read_json
from foretold.harness.permissions.rules import MODES, PermissionRule, parse_rule
from foretold.storage.tree import Disk, Fault
from foretold.types import Finding, NamedTuple

KINDS = ("allow", "deny", "ask")
UNMATCHED = {"Write": "Edit", "NotebookEdit": "Edit", "MultiEdit": "Edit", "Glob": "Read", "Grep": "Read"}


class RuleSource(NamedTuple):
    """One settings file: whose it is, and where `/x` in its rules begins."""

    name: str  #: managed, local, project, user
    path: str
    base: str


class LoadedPermissions(NamedTuple):
    """What all settings say together."""

    mode: str
    allow: tuple[PermissionRule, ...]
    deny: tuple[PermissionRule, ...]
    ask: tuple[PermissionRule, ...]
    add_dirs: tuple[str, ...]
    home: str
    findings: tuple[Finding, ...]


def read_settings(
    cwd: str, home: str, env: Mapping[str, str] | None, managed: str, *, trusted: bool | None
) -> LoadedPermissions:
    """Read them."""
    env = os.environ if env is None else env
    home = home or env.get("HOME", "") or os.path.expanduser("~")
    config = os.path.join(cwd, env["CLAUDE_CONFIG_DIR"]) if "CLAUDE_CONFIG_DIR" in env else home + "/.claude"
    findings: list[Finding] = []
    tree = Disk()
    scopes = _scopes(cwd, config, managed or "/etc/claude-code", tree)
    values = [(scope, _permissions(tree, scope, findings)) for scope in scopes]
    if trusted is None:
        trusted = _is_trusted(tree, cwd, home, config, own="CLAUDE_CONFIG_DIR" in env)
    if any(
        scope.name == "managed" and dig(found, "allowManagedPermissionRulesOnly") is True for scope, found in values
    ):
        kept = [(scope, found) for scope, found in values if scope.name == "managed"]
    else:
        kept = values
    rules: dict[str, list[PermissionRule]] = {kind: [] for kind in KINDS}
    folders: list[str] = []
    for scope, found in kept:
        loosens = trusted or not _is_of_project(scope, cwd)
        for kind in KINDS:
            texts = _texts(scope, found, kind, findings)
            if kind == "allow" and not loosens:
                _report_untrusted(scope, texts, "rules that permit something", findings)
                continue
            rules[kind] += _rules(scope, texts, kind, cwd, home, findings)
        added = _texts(scope, found, "additionalDirectories", findings)
        if loosens:
            folders += [_expand(folder, cwd, home) for folder in added]
        else:
            _report_untrusted(scope, added, "additional directories", findings)
    mode = _mode(values, findings)
    return LoadedPermissions(
        mode, tuple(rules["allow"]), tuple(rules["deny"]), tuple(rules["ask"]), tuple(folders), home, tuple(findings)
    )


def check_rule(
    rule: PermissionRule | None, text: str, kind: str, path: str, findings: list[Finding]
) -> PermissionRule | None:
    """A rule that can be used, or None; what is wrong with it becomes a finding."""
    if rule is None:
        findings.append(_invalid(path, f"not a valid {kind} rule: {text}", "write Tool or Tool(…)"))
        return None
    if kind == "allow" and "*" in rule.tool and not re.match(r"mcp__[^*]+?__", rule.tool):
        said = f"an allow rule must name its tool: {text}"
        findings.append(_invalid(path, said, "name the tool"))
        return None
    other = UNMATCHED.get(rule.tool)
    if other and rule.about:
        said = f"{kind} rule {text}: rules about files must use {other}"
        findings.append(_invalid(path, said, f"write {other}({rule.about})"))
        return None if kind == "allow" else rule._replace(tool=other)
    return rule


def _invalid(path: str, message: str, hint: str = "fix the value") -> Finding:
    return Finding(path, None, "permission-invalid", message, hint)


def _scopes(cwd: str, config: str, managed: str, tree: Disk) -> list[RuleSource]:
    folder = managed + "/managed-settings.d"
    items = tree.scan(folder)
    names = [] if isinstance(items, Fault) else sorted(item.name for item in items if item.name.endswith(".json"))
    scopes = [RuleSource("managed", f"{folder}/{name}", managed) for name in reversed(names)]
    scopes.append(RuleSource("managed", managed + "/managed-settings.json", managed))
    here = cwd.rstrip("/") + "/.claude/"
    scopes.append(RuleSource("local", here + "settings.local.json", cwd))
    if here.rstrip("/") != config.rstrip("/"):  # at home, the user's own settings are not those of a project
        scopes.append(RuleSource("project", here + "settings.json", cwd))
    return [*scopes, RuleSource("user", config + "/settings.json", config)]


def _permissions(tree: Disk, scope: RuleSource, findings: list[Finding]) -> dict[str, object]:
    found = read_json(tree, scope.path, findings)
    value = found.get("permissions", {})
    if not isinstance(value, dict):
        findings.append(_invalid(scope.path, "permissions must be an object"))
        return {}
    only = found.get("allowManagedPermissionRulesOnly")
    return {**value, "allowManagedPermissionRulesOnly": only} if only is not None else value


def _texts(scope: RuleSource, found: dict[str, object], key: str, findings: list[Finding]) -> list[str]:
    value = found.get(key, [])
    if not isinstance(value, list):
        findings.append(_invalid(scope.path, f"permissions.{key} must be a list of texts"))
        return []
    wrong = [item for item in value if not isinstance(item, str)]
    if wrong:
        said = f"permissions.{key} has an item that is not a text: {wrong[0]!r}"
        findings.append(_invalid(scope.path, said))
    return [item for item in value if isinstance(item, str)]


def _rules(
    scope: RuleSource, texts: list[str], kind: str, cwd: str, home: str, findings: list[Finding]
) -> list[PermissionRule]:
    made = (
        check_rule(parse_rule(text, base=scope.base, cwd=cwd, home=home), text, kind, scope.path, findings)
        for text in texts
    )
    return [rule for rule in made if rule is not None]


def _report_untrusted(scope: RuleSource, texts: list[str], what: str, findings: list[Finding]) -> None:
    if texts:
        said = f"{len(texts)} {what} are left out, as this project is not trusted: {', '.join(texts[:5])}"
        findings.append(
            Finding(
                scope.path, None, "permission-untrusted", said, "trust the folder, or put them into your own settings"
            )
        )


def _expand(folder: str, cwd: str, home: str) -> str:
    return home + folder[1:] if folder == "~" or folder.startswith("~/") else os.path.join(cwd, folder)


def _mode(values: list[tuple[RuleSource, dict[str, object]]], findings: list[Finding]) -> str:
    disabled = any(found.get("disableBypassPermissionsMode") == "disable" for _, found in values)
    for scope, found in values:
        asked = found.get("defaultMode")
        if asked is None:
            continue
        mode = MODES.get(str(asked))
        if mode == "bypassPermissions" and (scope.name in ("project", "local") or disabled):
            why = "settings disable it" if disabled else "a project cannot set it"
            said = f"defaultMode {asked} is ignored: {why}"
            findings.append(Finding(scope.path, None, "permission-bypass", said, "take it out of this file"))
            return "default"
        if mode == "bypassPermissions":
            said = "defaultMode bypassPermissions: everything is permitted that no rule refuses"
            findings.append(
                Finding(scope.path, None, "permission-bypass", said, "use it only where nothing can be damaged")
            )
        if mode is None:
            said = f"there is no mode {asked!r}; default is used"
            findings.append(_invalid(scope.path, said, f"write one of {', '.join(dict.fromkeys(MODES.values()))}"))
        return mode or "default"
    return "default"


def _is_of_project(scope: RuleSource, cwd: str) -> bool:
    """Whether a file may have come with the project: its own, a local one that git tracks, or a link."""
    if scope.name == "project":
        return True
    return scope.name == "local" and (
        os.path.islink(cwd + "/.claude") or os.path.islink(scope.path) or _is_tracked(scope.path)
    )


def _is_tracked(path: str) -> bool:
    """Whether git has a file in its index, by its name; where that is not known, it may have."""
    folder = os.path.dirname(os.path.dirname(path))
    above = folder
    while not os.path.lexists(above + "/.git"):
        if os.path.dirname(above) == above:
            return False
        above = os.path.dirname(above)
    git = above + "/.git"
    if not os.path.isdir(git):
        return True
    try:
        with open(git + "/index", "rb") as file:
            return os.fsencode(os.path.relpath(path, above)) in file.read()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _is_trusted(tree: Disk, cwd: str, home: str, config: str, *, own: bool) -> bool:
    """Whether the user has accepted the project, as Claude Code notes it."""
    from foretold.dialects.surroundings import find_git

    git = find_git(tree, cwd)
    notes = read_json(tree, f"{config}/.claude.json" if own else f"{home}/.claude.json", [])
    return dig(notes, "projects", git.main if git else cwd, "hasTrustDialogAccepted") is True
