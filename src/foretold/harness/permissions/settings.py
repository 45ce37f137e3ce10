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
from foretold.storage.tree import Disk, Fault, folders_above, read_regular
from foretold.types import Finding, NamedTuple

KINDS = ("allow", "deny", "ask")
LOOSENING = {"allow": "rules that permit something", "additionalDirectories": "additional directories"}
UNMATCHED = {"Write": "Edit", "NotebookEdit": "Edit", "MultiEdit": "Edit", "Glob": "Read", "Grep": "Read"}


class RuleSource(NamedTuple):
    """One settings file: whose it is, and where `/x` in its rules begins."""

    name: str  #: managed, local, project, user
    path: str
    base: str


class LoadedPermissions(NamedTuple):
    """What all settings say together."""

    mode: str
    rules: dict[str, list[PermissionRule]]
    add_dirs: list[str]
    home: str
    findings: list[Finding]


def read_settings(
    cwd: str, home: str, env: Mapping[str, str] | None, managed: str, *, trusted: bool | None
) -> LoadedPermissions:
    """Read them."""
    env = os.environ if env is None else env
    home = home or env.get("HOME", "") or os.path.expanduser("~")
    config = os.path.join(cwd, env["CLAUDE_CONFIG_DIR"]) if "CLAUDE_CONFIG_DIR" in env else home + "/.claude"
    findings: list[Finding] = []
    tree = Disk()
    sources = _sources(cwd, config, managed or "/etc/claude-code", tree)
    values = [(source, _permissions(tree, source, findings)) for source in sources]
    if trusted is None:
        trusted = _is_trusted(tree, cwd, home, config, own="CLAUDE_CONFIG_DIR" in env)
    of_managed = [(source, found) for source, found in values if source.name == "managed"]
    is_managed_only = any(dig(found, "allowManagedPermissionRulesOnly") is True for _, found in of_managed)
    rules: dict[str, list[PermissionRule]] = {kind: [] for kind in KINDS}
    folders: list[str] = []
    for source, found in of_managed if is_managed_only else values:
        loosens = trusted or not _is_of_project(source, cwd)
        for key in (*KINDS, "additionalDirectories"):
            texts = _texts(source, found, key, findings)
            if key in LOOSENING and not loosens:
                findings += _untrusted(source, texts, LOOSENING[key])
            elif key in KINDS:
                parsed = [(parse_rule(text, base=source.base, cwd=cwd, home=home), text) for text in texts]
                rules[key] += filter(None, (check_rule(*each, key, source.path, findings) for each in parsed))
            else:
                folders += [_expand(folder, cwd, home) for folder in texts]
    return LoadedPermissions(_mode(values, findings), rules, folders, home, findings)


def check_rule(
    rule: PermissionRule | None, text: str, kind: str, path: str, findings: list[Finding]
) -> PermissionRule | None:
    """A rule that can be used, or None; what is wrong with it becomes a finding."""
    if rule is None:
        findings.append(_invalid(path, f"not a valid {kind} rule: {text}", "write Tool or Tool(…)"))
        return None
    if kind == "allow" and "*" in rule.tool and not re.match(r"mcp__[^*]+?__", rule.tool):
        findings.append(_invalid(path, f"an allow rule must name its tool: {text}", "name the tool"))
        return None
    other = UNMATCHED.get(rule.tool)
    if other and rule.about:
        said = f"{kind} rule {text}: rules about files must use {other}"
        findings.append(_invalid(path, said, f"write {other}({rule.about})"))
        return None if kind == "allow" else rule._replace(tool=other)
    return rule


def _invalid(path: str, message: str, hint: str = "fix the value") -> Finding:
    return Finding(path, None, "permission-invalid", message, hint)


def _sources(cwd: str, config: str, managed: str, tree: Disk) -> list[RuleSource]:
    folder = managed + "/managed-settings.d"
    items = tree.scan(folder)
    names = [] if isinstance(items, Fault) else sorted(item.name for item in items if item.name.endswith(".json"))
    sources = [RuleSource("managed", f"{folder}/{name}", managed) for name in reversed(names)]
    sources.append(RuleSource("managed", managed + "/managed-settings.json", managed))
    here = cwd.rstrip("/") + "/.claude/"
    sources.append(RuleSource("local", here + "settings.local.json", cwd))
    if here.rstrip("/") != config.rstrip("/"):  # at home, the user's own settings are not those of a project
        sources.append(RuleSource("project", here + "settings.json", cwd))
    return [*sources, RuleSource("user", config + "/settings.json", config)]


def _permissions(tree: Disk, source: RuleSource, findings: list[Finding]) -> dict[str, object]:
    found = read_json(tree, source.path, findings)
    value = found.get("permissions", {})
    if not isinstance(value, dict):
        findings.append(_invalid(source.path, "permissions must be an object"))
        return {}
    only = found.get("allowManagedPermissionRulesOnly")
    return {**value, "allowManagedPermissionRulesOnly": only} if only is not None else value


def _texts(source: RuleSource, found: dict[str, object], key: str, findings: list[Finding]) -> list[str]:
    value = found.get(key, [])
    if not isinstance(value, list):
        findings.append(_invalid(source.path, f"permissions.{key} must be a list of texts"))
        return []
    wrong = [item for item in value if not isinstance(item, str)]
    if wrong:
        findings.append(_invalid(source.path, f"permissions.{key} has an item that is not a text: {wrong[0]!r}"))
    return [item for item in value if isinstance(item, str)]


def _untrusted(source: RuleSource, texts: list[str], what: str) -> list[Finding]:
    said = f"{len(texts)} {what} are left out, as this project is not trusted: {', '.join(texts[:5])}"
    hint = "trust the folder, or put them into your own settings"
    return [Finding(source.path, None, "permission-untrusted", said, hint)] if texts else []


def _expand(folder: str, cwd: str, home: str) -> str:
    return home + folder[1:] if folder == "~" or folder.startswith("~/") else os.path.join(cwd, folder)


def _mode(values: list[tuple[RuleSource, dict[str, object]]], findings: list[Finding]) -> str:
    disabled = any(found.get("disableBypassPermissionsMode") == "disable" for _, found in values)
    for source, found in values:
        asked = found.get("defaultMode")
        if asked is None:
            continue
        mode = MODES.get(str(asked))
        if mode == "bypassPermissions" and (source.name in ("project", "local") or disabled):
            why = "settings disable it" if disabled else "a project cannot set it"
            said = f"defaultMode {asked} is ignored: {why}"
            findings.append(Finding(source.path, None, "permission-bypass", said, "take it out of this file"))
            return "default"
        if mode == "bypassPermissions":
            said = "defaultMode bypassPermissions: everything is permitted that no rule refuses"
            hint = "use it only where nothing can be damaged"
            findings.append(Finding(source.path, None, "permission-bypass", said, hint))
        if mode is None:
            said = f"there is no mode {asked!r}; default is used"
            findings.append(_invalid(source.path, said, f"write one of {', '.join(dict.fromkeys(MODES.values()))}"))
        return mode or "default"
    return "default"


def _is_of_project(source: RuleSource, cwd: str) -> bool:
    """Whether a file may have come with the project: its own, a local one that git tracks, or a link."""
    if source.name == "project":
        return True
    return source.name == "local" and (
        os.path.islink(cwd + "/.claude") or os.path.islink(source.path) or _is_tracked(source.path)
    )


def _is_tracked(path: str) -> bool:
    """Whether git has a file in its index, by its name; where that is not known, it may have."""
    above = next((each for each in folders_above(os.path.dirname(path)) if os.path.lexists(each + "/.git")), "")
    git = above + "/.git"
    if not above:
        return False
    if not os.path.isdir(git):
        return True
    try:
        return os.fsencode(os.path.relpath(path, above)) in read_regular(git + "/index", 1 << 28)
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _is_trusted(tree: Disk, cwd: str, home: str, config: str, *, own: bool) -> bool:
    """Whether the user has accepted the project, as Claude Code notes it; a forged worktree of one is not that."""
    from foretold.dialects.surroundings import find_linked_git

    git = find_linked_git(tree, cwd)
    notes = read_json(tree, f"{config}/.claude.json" if own else f"{home}/.claude.json", [])
    return dig(notes, "projects", git.main if git else cwd, "hasTrustDialogAccepted") is True
