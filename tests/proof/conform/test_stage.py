"""A case on disk, and a tree that sees nothing else."""

import base64
import os
import subprocess

import pytest

from foretold.errors import BadCase
from foretold.proof.conform.stage import Stage, StagedTree
from foretold.storage.tree import Fault, Item

DATE = "2026-01-02"


@pytest.fixture
def staged():
    """Stage cases; every folder is gone afterwards."""
    stages = []

    def stage(**case):
        stages.append(Stage({"id": "t", "files": {}, **case}, DATE))
        stages[-1].prepare()
        return stages[-1]

    yield stage
    for each in stages:
        each.__exit__()
        assert not os.path.exists(each.root)


def test_the_places_of_a_stage(staged):
    stage = staged()
    root = stage.root
    assert os.path.realpath(root) == root
    assert {key: value for key, value in stage.places.items() if key != "root-slug"} == {
        "root": root,
        "home": f"{root}/home",
        "proj": f"{root}/proj",
        "managed": f"{root}/managed",
        "fsroot": "",
        "base": "http://127.0.0.1:1",
        "url": "http://127.0.0.1:1",
        "date": DATE,
    }
    assert sorted(os.listdir(root)) == ["home", "proj"]
    assert oct(os.stat(root).st_mode & 0o777) == "0o755"


def test_files_of_every_kind(staged):
    stage = staged(
        files={
            "{proj}/text.md": "in {proj}",
            "{proj}/bytes.md": {"b64": base64.b64encode(b"\xff\0").decode()},
            "{proj}/s.json": {"json": {"path": "{home}"}},
            "{proj}/long.md": {"head": "<", "text": "ab", "repeat": 2, "tail": ">"},
            "{proj}/closed.md": {"text": "x", "mode": "000"},
            "{proj}/deep/er/link.md": {"symlink": "../../text.md"},
            "{proj}/fifo": {"fifo": True},
            "{proj}/folder": {"dir": True},
        }
    )
    proj = stage.places["proj"]
    read = {}
    for name in ("text.md", "bytes.md", "s.json", "long.md", "deep/er/link.md"):
        with open(f"{proj}/{name}", "rb") as file:
            read[name] = file.read()
    assert read == {
        "text.md": f"in {proj}".encode(),
        "bytes.md": b"\xff\0",
        "s.json": f'{{"path": "{stage.places["home"]}"}}'.encode(),
        "long.md": b"<abab>",
        "deep/er/link.md": f"in {proj}".encode(),
    }
    assert os.readlink(f"{proj}/deep/er/link.md") == "../../text.md"
    assert (os.stat(f"{proj}/closed.md").st_mode & 0o777, os.stat(f"{proj}/text.md").st_mode & 0o777) == (0, 0o644)
    assert os.path.isdir(f"{proj}/folder")
    assert not os.path.isfile(f"{proj}/fifo")


def test_files_are_old(staged):
    stage = staged(files={"{proj}/a.md": "x"})
    now = os.stat(stage.places["proj"]).st_mtime
    assert 90 < now - os.stat(f"{stage.places['proj']}/a.md").st_mtime < 200


def test_git_comes_before_the_files_and_commands_after_them(staged):
    stage = staged(
        git=["{proj}"],
        commit=["{proj}"],
        files={"{proj}/a.md": "a"},
        setup=["cat proj/a.md > seen", 'printf %s "$HOME" > home.txt', "git -C proj log --format=%an > log"],
    )
    read = {}
    for name in ("seen", "home.txt", "log"):
        with open(f"{stage.root}/{name}", encoding="utf-8") as file:
            read[name] = file.read()
    assert read == {"seen": "a", "home.txt": stage.places["home"], "log": "case\n"}
    shown = subprocess.run(
        ["git", "-C", stage.places["proj"], "status", "--short"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"], "HOME": stage.places["home"]},
    )
    assert shown.stdout == "?? a.md\n"


def test_commands_see_nothing_of_our_environment(staged, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_HOST", "x")
    stage = staged(setup=["env > env.txt"])
    with open(f"{stage.root}/env.txt", encoding="utf-8") as file:
        names = {line.partition("=")[0] for line in file}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {
        "PATH",
        "HOME",
        "GIT_AUTHOR_NAME",
        "GIT_AUTHOR_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_COMMITTER_EMAIL",
    }


def test_the_status_of_a_command(staged):
    stage = staged()
    assert [stage.run_shell(command, stage.root) for command in ("true", "exit 3")] == [0, 3]


@pytest.mark.parametrize(
    "case",
    [{"files": []}, {"files": None}, {"setup": "true"}, {"git": "{proj}"}, {"files": {"{proj}/a": 3}}],
    ids=["list", "none", "setup", "git", "content"],
)
def test_a_case_that_cannot_be_staged(staged, case):
    with pytest.raises(BadCase):
        staged(**case)


# -- the tree ------------------------------------------------------------------------------------------------


def test_the_tree_sees_the_stage_and_hides_the_host(staged, place):
    outside = place.write("CLAUDE.md", "of this machine")
    stage = staged(files={"{proj}/a.md": "a", "{fsroot}/etc/x.md": "over", "{fsroot}/CLAUDE.md": "top"})
    tree = StagedTree(stage, {})
    proj = stage.places["proj"]
    assert tree.read(f"{proj}/a.md", 100) == b"a"
    assert tree.read(outside, 100) == Fault("missing")
    assert [tree.kind(path) for path in (outside, place.root, "/etc", "/etc/passwd", "/", proj)] == [
        "missing",
        "missing",
        "folder",
        "missing",
        "folder",
        "folder",
    ]
    assert (tree.read("/etc/x.md", 100), tree.read("/CLAUDE.md", 100)) == (b"over", b"top")
    assert tree.scan("/etc") == [Item("x.md", "file")]
    assert tree.scan(place.root) == Fault("missing")
    assert (tree.real("/etc/x.md"), tree.real(f"{proj}/a.md")) == ("/etc/x.md", f"{proj}/a.md")


def test_a_link_that_leads_out_of_the_stage_leads_to_the_host(staged, place):
    """Staged links are relative or name the stage; this says what becomes of another one."""
    outside = place.write("x.md", "of this machine")
    stage = staged(files={"{proj}/link.md": {"symlink": outside}})
    assert StagedTree(stage, {}).real(f"{stage.places['proj']}/link.md") == outside


def test_a_recorded_order_is_kept(staged):
    names = ["c.md", "a.md", "d.md", "b.md"]
    stage = staged(files={f"{{proj}}/rules/{name}": "x" for name in sorted(names)})
    folder = stage.places["proj"] + "/rules"
    tree = StagedTree(stage, {folder: names})
    assert tree.scan(folder) == [Item(name, "file") for name in names]
    tree = StagedTree(stage, {folder: ["d.md", "gone.md"]})
    assert next(item.name for item in tree.scan(folder)) == "d.md"
    assert sorted(item.name for item in tree.scan(folder)) == sorted(names)
    assert tree.scan(folder + "/none") == Fault("missing")
