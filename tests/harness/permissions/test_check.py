"""Whether a tool may be used: rules, modes, folders."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from foretold.harness.permissions.check import Permission, PermissionVerdict
from foretold.harness.permissions.paths import are_below, spellings, with_real_paths

MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")


def decided(permission: Permission, tool: str, **given: object) -> str:
    return permission.check(tool, given).decision


def file(permission: Permission, tool: str, path: str) -> str:
    return decided(permission, tool, file_path=path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = Path(os.path.realpath(tmp_path))
    for name in ("proj/src", "proj/secrets", "proj/.git", "project", "home", "more"):
        (root / name).mkdir(parents=True)
    return root


@pytest.mark.parametrize(
    ("tool", "path", "decisions"),
    [
        ("Read", "a.py", "allow allow allow allow allow"),
        ("Read", "../project/a", "ask ask ask deny allow"),
        ("Read", "/etc/passwd", "ask ask ask deny allow"),
        ("Edit", "a.py", "ask allow deny deny allow"),
        ("Write", "src/new/a.py", "ask allow deny deny allow"),
        ("Write", "../more/a", "ask ask deny deny allow"),
        ("Edit", ".git/config", "ask ask deny deny allow"),
        ("Write", ".claude/settings.json", "ask ask deny deny allow"),
        ("Write", ".bashrc", "ask ask deny deny allow"),
    ],
)
def test_modes(folder: Path, tool: str, path: str, decisions: str) -> None:
    found = [file(Permission(mode, cwd=folder / "proj", home=folder / "home"), tool, path) for mode in MODES]
    assert " ".join(found) == decisions


def test_other_names_of_modes_and_none() -> None:
    names = ("manual", "accept-edits", "read-only", "dont-ask", "bypass")
    assert tuple(Permission(name, cwd="/", home="/").mode for name in names) == MODES
    with pytest.raises(ValueError, match="there is no mode 'yolo'"):
        Permission("yolo", cwd="/", home="/")


@pytest.mark.parametrize("mode", MODES)
def test_what_is_refused_is_refused_in_every_mode(folder: Path, mode: str) -> None:
    permission = Permission(
        mode,
        ["Read", "Edit", "Bash"],
        ["Read(./secrets/**)", "Bash(curl *)", "mcp__bad"],
        cwd=folder / "proj",
        home="/h",
    )
    assert file(permission, "Read", "secrets/key") == "deny"
    assert file(permission, "Edit", "secrets/key") == "deny"
    for command in ("curl x", "true; sudo curl x", "cat secrets/key", "echo < secrets/key", "cd secrets; cat key"):
        assert decided(permission, "Bash", command=command) == "deny", command
    assert decided(permission, "mcp__bad__tool", x=1) == "deny"
    assert decided(permission, "Grep", pattern="x", path="secrets/key") == "deny"


@pytest.mark.parametrize("mode", MODES)
def test_what_is_to_be_asked_is_asked_in_every_mode(folder: Path, mode: str) -> None:
    permission = Permission(
        mode, ["Edit", "Bash"], ask=["Edit(/src/**)", "Bash(git push:*)"], cwd=folder / "proj", home=folder / "home"
    )
    wanted = "deny" if mode == "dontAsk" else "ask"
    assert file(permission, "Edit", "src/a") == wanted
    assert decided(permission, "Bash", command="git status && git push --force") == wanted


@pytest.mark.parametrize(
    ("rule", "path", "fits"),
    [
        ("Edit", "/any/where", True),
        ("Edit(src/**)", "src/a/b", True),
        ("Edit(./src/**)", "src/a", True),
        ("Edit(/src/**)", "src/a", True),
        ("Edit(src/**)", "other/src/a", False),
        ("Edit(*.py)", "deep/down/a.py", True),
        ("Edit(./*.py)", "deep/a.py", False),
        ("Edit(~/notes/**)", "{home}/notes/a", True),
        ("Edit(~/notes/**)", "notes/a", False),
        ("Edit(//opt/x/**)", "/opt/x/y", True),
        ("Edit(/opt/x/**)", "/opt/x/y", False),
        ("Edit(//**/a.env)", "/very/far/a.env", True),
        ("Read(src/**)", "src/a", False),
        ("Write(src/**)", "src/a", False),
        ("Write", "src/a", True),
        ("Bash", "src/a", False),
    ],
)
def test_rules_about_files(folder: Path, rule: str, path: str, fits: bool) -> None:
    permission = Permission(allow=[rule], cwd=folder / "proj", home=folder / "home")
    path = path.replace("{home}", str(folder / "home"))
    assert file(permission, "Write", path) == ("allow" if fits else "ask")


def test_rules_that_refuse_may_have_stars_and_fields(folder: Path) -> None:
    permission = Permission("bypass", deny=["mcp__*", "Agent(model:opus*)"], cwd=folder, home=folder)
    assert decided(permission, "mcp__a__b") == "deny"
    assert decided(permission, "Agent", model="opus-5") == "deny"
    assert decided(permission, "Agent", model="haiku") == "allow"
    loose = Permission(allow=["mcp__*", "*", "mcp__ours__get_*"], cwd=folder, home=folder)
    assert [decided(loose, name) for name in ("mcp__a__b", "mcp__ours__get_x", "mcp__ours__set_x")] == [
        "ask",
        "allow",
        "ask",
    ]
    assert [finding.code for finding in loose.findings] == ["permission-invalid"] * 2


def test_rules_that_are_none_are_named(folder: Path) -> None:
    permission = Permission(deny=["Bash(rm", "Write(src/**)"], allow=["Glob(x)"], cwd=folder / "proj", home=folder)
    assert [(finding.code, finding.message) for finding in permission.findings] == [
        ("permission-invalid", "allow rule Glob(x): rules about files must use Read"),
        ("permission-invalid", "not a valid deny rule: Bash(rm"),
        ("permission-invalid", "deny rule Write(src/**): rules about files must use Edit"),
    ]
    assert file(permission, "Write", "src/a") == "deny"


def test_links_are_followed(folder: Path) -> None:
    project = folder / "proj"
    (project / "out").symlink_to(folder / "more")
    (project / "key").symlink_to(project / "secrets/key")
    (project / "hop").symlink_to(project / "key")
    (folder / "in").symlink_to(project)
    permission = Permission("acceptEdits", deny=["Read(./secrets/**)"], cwd=project, home=folder / "home")
    assert file(permission, "Read", "out/a") == "ask"
    assert file(permission, "Write", "out/a") == "ask"
    assert file(permission, "Read", "key") == "deny"
    assert file(permission, "Read", "hop") == "deny"
    assert decided(permission, "Bash", command="cat hop") == "deny"
    assert decided(permission, "Bash", command="cat out/a") == "ask"
    linked = Permission("acceptEdits", deny=["Read(./secrets/**)"], cwd=folder / "in", home=folder / "home")
    assert file(linked, "Write", "a") == "allow"
    assert file(linked, "Read", str(project / "secrets/key")) == "deny"


def test_paths_that_seem_inside_are_not(folder: Path) -> None:
    """Random paths: one is in the folders exactly if the kernel says so."""
    project = folder / "proj"
    (project / "up").symlink_to("..")
    (project / "src/far").symlink_to("/usr")
    (project / "src/near").symlink_to(project / "secrets")
    permission = Permission(cwd=project, home=folder / "home", add_dirs=[folder / "more"])
    rnd = random.Random(5)
    parts = ["..", ".", "src", "up", "far", "near", "proj", "project", "more", "secrets", "", "x", str(folder / "proj")]
    inside = 0
    for _ in range(800):
        path = "/".join(rnd.choice(parts) for _ in range(rnd.randint(1, 5)))
        real = os.path.realpath(os.path.normpath(os.path.join(project, path)))
        is_in = any(os.path.commonpath([real, one]) == str(one) for one in (str(project), str(folder / "more")))
        if file(permission, "Read", path) == "allow":
            inside += 1
            assert is_in, path
        elif is_in:  # only where the way there, as it is written, leads outside
            assert not are_below(
                spellings(os.path.join(project, path)), with_real_paths([str(project), str(folder / "more")])
            )
        kernel = os.path.realpath(os.path.join(project, path))
        if decided(permission, "Bash", command=f"cat {path}") == "allow":
            assert any(os.path.commonpath([kernel, one]) == str(one) for one in (project, folder / "more")), path
    assert inside > 120


def test_the_memory_folder_is_free_for_notes(folder: Path) -> None:
    memory = folder / "home/.claude/projects/x/memory"
    memory.mkdir(parents=True)
    permission = Permission(cwd=folder / "proj", home=folder / "home", memory=memory)
    assert [file(permission, "Write", f"{memory}/{name}") for name in ("a.md", "b/a.md", "a.sh", "../a.md")] == [
        "allow",
        "allow",
        "ask",
        "ask",
    ]
    assert file(permission, "Read", f"{memory}/a.md") == "allow"
    assert file(Permission("plan", cwd=folder, home=folder, memory=memory), "Write", f"{memory}/a.md") == "deny"
    denied = Permission(deny=["Edit(~/.claude/**)"], cwd=folder / "proj", home=folder / "home", memory=memory)
    assert file(denied, "Write", f"{memory}/a.md") == "deny"


def test_where_nobody_is_asked_that_is_said() -> None:
    permission = Permission("dontAsk", ask=["Bake"], cwd="/repo", home="/home/ann")
    nobody = "No one can be asked here, so it was not done."
    nobody += " Do without it, or tell the user which permission is missing."
    asked = ("Write", {"file_path": "a"}), ("Bash", {"command": "make"}), ("Bake", {}), ("Fry", {})
    assert [permission.check(*each) for each in asked] == [
        PermissionVerdict("deny", f"Writing to /repo/a needs the user's permission. {nobody}"),
        PermissionVerdict("deny", f"This command requires approval. {nobody}"),
        PermissionVerdict("deny", f"Using Bake needs the user's permission. {nobody}", "Bake"),
        PermissionVerdict("deny", f"Using Fry needs the user's permission. {nobody}"),
    ]


def test_what_is_said_to_a_person_and_to_the_model(folder: Path) -> None:
    permission = Permission(allow=["Bash(npm run *)"], deny=["Bash(curl *)"], cwd="/repo", home="/home/ann")
    assert permission.check("Read", {"file_path": "/out"}) == PermissionVerdict(
        "ask", "Reading from /out needs the user's permission."
    )
    assert permission.check("Bash", {"command": "curl x"}) == PermissionVerdict(
        "deny", "Permission to use Bash with command curl x has been denied.", "Bash(curl *)"
    )
    said = "This Bash command contains multiple operations. The following parts require approval: a, b"
    assert permission.check("Bash", {"command": "a; npm run x; b"}) == PermissionVerdict("ask", said)
    assert permission.check("Bash", {"command": "a"}) == PermissionVerdict("ask", "This command requires approval")


def test_it_needs_nothing_of_the_instructions(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from foretold.harness.permissions.check import Permission\n"
        f"it = Permission.load({str(tmp_path)!r}, home={str(tmp_path)!r}, env={{}}, managed='/none', memory='/m')\n"
        "it.check('Write', {'file_path': '/m/a.md'}); it.check('Bash', {'command': 'ls'})\n"
        "unwanted = ['foretold.instructions.' + name for name in ('load', 'session', 'view')]\n"
        "print([name for name in unwanted if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"


def test_a_letter_may_be_composed_in_two_ways(folder: Path) -> None:
    composed, apart = "caf\u00e9/x", "cafe\u0301/x"
    for rule, path in ((composed, apart), (apart, composed)):
        refusing = Permission("bypass", deny=[f"Read({rule})"], cwd=folder, home=folder)
        assert refusing.check("Read", {"file_path": path}).decision == "deny"
        permitting = Permission(allow=[f"Edit({rule})"], cwd=folder, home=folder)
        assert permitting.check("Write", {"file_path": path}).decision == "ask"
