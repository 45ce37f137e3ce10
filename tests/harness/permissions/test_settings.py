"""Permissions from settings files."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from foretold.harness.permissions.check import Permission

FILES = {
    "managed": "managed/managed-settings.json",
    "dropped": "managed/managed-settings.d/10.json",
    "local": "proj/.claude/settings.local.json",
    "project": "proj/.claude/settings.json",
    "user": "home/.claude/settings.json",
}


def load(root: Path, *, trusted: bool | None = None, mode: str = "", **settings: object) -> Permission:
    for name, values in settings.items():
        path = root / FILES[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(values if isinstance(values, str) else json.dumps(values), encoding="utf-8")
    (root / "proj").mkdir(exist_ok=True)
    home, managed = root / "home", str(root / "managed")
    return Permission.load(root / "proj", home=home, env={}, managed=managed, trusted=trusted, mode=mode)


def rules(**lists: object) -> dict[str, object]:
    return {"permissions": lists}


def codes(permission: Permission) -> list[tuple[str, str]]:
    return [(os.path.basename(finding.path), finding.code) for finding in permission.findings]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


def test_nothing_is_asked_of_nothing(root: Path) -> None:
    permission = load(root)
    assert (permission.mode, permission.allow, permission.deny, permission.ask, permission.findings) == (
        "default",
        (),
        (),
        (),
        (),
    )


def test_rules_of_all_files_count_together(root: Path) -> None:
    permission = load(
        root,
        trusted=True,
        managed=rules(deny=["Bash(curl *)"]),
        dropped=rules(ask=["Bash(npm *)"]),
        local=rules(allow=["Bash(a)"]),
        project=rules(allow=["Bash(b)"], deny=["Read(/x/**)"]),
        user=rules(allow=["Bash(c)", "Edit(/y/**)"], additionalDirectories=["~/z", "../w"]),
    )
    texts = [[rule.text for rule in found] for found in (permission.allow, permission.deny, permission.ask)]
    assert texts == [
        ["Bash(a)", "Bash(b)", "Bash(c)", "Edit(/y/**)"],
        ["Bash(curl *)", "Read(/x/**)"],
        ["Bash(npm *)"],
    ]
    assert permission.add_dirs == (f"{root}/home/z", f"{root}/proj/../w")
    assert permission.check("Read", {"file_path": "x/a"}).decision == "deny"
    assert permission.check("Read", {"file_path": f"{root}/w/a"}).decision == "allow"
    edits = [permission.check("Write", {"file_path": path}).decision for path in ("y/a", f"{root}/home/.claude/y/a")]
    assert edits == ["ask", "ask"]  # `/y` is in the folder of the user's settings, which is never changed freely
    assert permission.findings == ()


def test_a_project_that_is_not_trusted_can_only_tighten(root: Path) -> None:
    permission = load(root, project=rules(allow=["Bash"], deny=["Bash(x)"], additionalDirectories=["/"]))
    assert ([rule.text for rule in permission.allow], [rule.text for rule in permission.deny]) == ([], ["Bash(x)"])
    assert permission.add_dirs == ()
    assert codes(permission) == [("settings.json", "permission-untrusted")] * 2


def test_trust_is_what_the_agent_has_noted(root: Path) -> None:
    (root / "home").mkdir()
    noted = {"projects": {f"{root}/proj": {"hasTrustDialogAccepted": True}}}
    (root / "home/.claude.json").write_text(json.dumps(noted), encoding="utf-8")
    assert [rule.text for rule in load(root, project=rules(allow=["Bash(a)"])).allow] == ["Bash(a)"]


def test_a_local_file_that_came_with_the_repository_is_the_projects(root: Path) -> None:
    assert [rule.text for rule in load(root, local=rules(allow=["Bash(a)"])).allow] == ["Bash(a)"]
    env = {"PATH": os.environ["PATH"], "HOME": str(root)}
    subprocess.run(["git", "init", "-q", "."], cwd=root / "proj", check=True, env=env)
    assert [rule.text for rule in load(root).allow] == ["Bash(a)"]
    subprocess.run(["git", "add", "-f", ".claude"], cwd=root / "proj", check=True, env=env)
    permission = load(root)
    assert (permission.allow, codes(permission)) == ((), [("settings.local.json", "permission-untrusted")])


@pytest.mark.parametrize(
    ("settings", "mode", "found"),
    [
        ({"user": rules(defaultMode="acceptEdits")}, "acceptEdits", []),
        ({"user": rules(defaultMode="acceptEdits"), "project": rules(defaultMode="plan")}, "plan", []),
        ({"project": rules(defaultMode="bypassPermissions")}, "default", [("settings.json", "permission-bypass")]),
        ({"local": rules(defaultMode="bypassPermissions")}, "default", [("settings.local.json", "permission-bypass")]),
        (
            {"user": rules(defaultMode="bypassPermissions")},
            "bypassPermissions",
            [("settings.json", "permission-bypass")],
        ),
        (
            {"user": rules(defaultMode="bypassPermissions"), "managed": rules(disableBypassPermissionsMode="disable")},
            "default",
            [("settings.json", "permission-bypass")],
        ),
        ({"user": rules(defaultMode="auto")}, "default", [("settings.json", "permission-invalid")]),
        ({"user": rules(defaultMode=7)}, "default", [("settings.json", "permission-invalid")]),
    ],
)
def test_modes(root: Path, settings: dict[str, object], mode: str, found: list[tuple[str, str]]) -> None:
    permission = load(root, trusted=True, **settings)
    assert (permission.mode, codes(permission)) == (mode, found)


def test_a_mode_that_is_given_wins(root: Path) -> None:
    assert load(root, mode="dont-ask", user=rules(defaultMode="plan")).mode == "dontAsk"


def test_an_organisation_may_want_only_its_own_rules(root: Path) -> None:
    managed = {**rules(allow=["Bash(m)"]), "allowManagedPermissionRulesOnly": True}
    permission = load(root, trusted=True, managed=managed, user=rules(allow=["Bash(u)"], deny=["Bash(v)"]))
    assert ([rule.text for rule in permission.allow], permission.deny) == (["Bash(m)"], ())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "settings-invalid"),
        ("[]", "settings-invalid"),
        ('{"permissions": []}', "permission-invalid"),
        ('{"permissions": {"allow": "Bash"}}', "permission-invalid"),
        ('{"permissions": {"deny": [1, "Bash(x)"]}}', "permission-invalid"),
        ('{"permissions": {"allow": ["Bash(x"]}}', "permission-invalid"),
        ('{"permissions": {"allow": ["Write(x)"]}}', "permission-invalid"),
        ('{"permissions": {"allow": ["*"]}}', "permission-invalid"),
    ],
)
def test_what_is_wrong_is_named(root: Path, text: str, code: str) -> None:
    permission = load(root, user=text)
    assert (codes(permission), permission.allow) == ([("settings.json", code)], ())
