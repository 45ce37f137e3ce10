"""The patch of a plan: `git apply` makes the same files of the same tree, whatever their names and line ends are."""

import json
import os
import subprocess

import pytest

from foretold.check import CheckOptions, Project
from foretold.check.finding import CheckFinding, Fix, Rename
from foretold.check.fix.patch import render_patch
from foretold.check.fix.plan import FixPlan, ProvenFix

from .fixing import plan, run, snapshot, store

RULE = "---\nglobs: docs/**\n---\nValidate.\n"


def apply(place, patch, *options):
    """Let `git apply` take a patch, without a warning."""
    command = ["git", "apply", "--whitespace=nowarn", *options, "-"]
    env = {"PATH": os.environ["PATH"], "HOME": place.home, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        command,
        cwd=place.proj,
        env=env,
        input=patch.encode("utf-8", "surrogateescape"),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def contents(place):
    found = snapshot(place.proj)
    return {path: about[0] for path, about in found.items() if "/.git/" not in path and about[0] is not None}


def make_plan(place, changes, renames=()):
    """A plan with these changes, without any proof."""
    project = Project(place.proj, CheckOptions(home=""))
    moves = tuple(Rename(project.absolute(old), project.absolute(new)) for old, new in renames)
    fixed = ProvenFix(CheckFinding(place.proj, 1, "rule-extension", ""), Fix("", renames=moves), ())
    return FixPlan(project, (fixed,), (), {project.absolute(path): text for path, text in changes.items()}, ())


def expect(place, changes):
    """What the files are with some changes."""
    found = contents(place) | {place.path(f"proj/{path}"): text for path, text in changes.items()}
    return {path: text for path, text in found.items() if text is not None}


TEXTS = [
    (b"One.\r\nTwo.\r\n", b"One.\r\nThree.\r\n"),
    (b"One.\r\nTwo.\n", b"One.\nTwo.\n"),
    (b"One.\rTwo.\n", b"One.\rThree.\n"),
    (b"No end", b"No end, still"),
    (b"End.\n", b"End."),
    (b"None", b"None\n"),
    (b"\tTab \x0c\x0b\x85 \xe2\x80\xa8 x\n", b"\tTab \x0c\x0b\x85 \xe2\x80\xa8 y\n"),
    (b"\x1b[31mred\n", b"\x1b[31mblue\n"),
    (b"", b"Something.\n"),
    (b"Something.\n", b""),
    (None, b"New.\n"),
    (None, b"New, without an end"),
    ("é\n".encode() * 30, "é\n".encode() * 14 + b"e\n" + "é\n".encode() * 15),
]


@pytest.mark.parametrize(("before", "after"), TEXTS)
def test_git_applies_every_text(place, before, after):
    place.git("init -q")
    if before is not None:
        place.write("proj/CLAUDE.md", before)
    changes = {"CLAUDE.md": after}
    patch, wanted = render_patch(make_plan(place, changes)), expect(place, changes)
    apply(place, patch)
    assert contents(place) == wanted


NAMES = [
    "a b.md",
    " a.md",
    "b/c d/e.md",
    "é.md",
    'q"uote.md',
    "back\\slash.md",
    "tab\there.md",
    "new\nline.md",
    "b/a.md b/a.md",
    os.fsdecode(b"caf\xe9/CLAUDE.md"),
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_git_applies_every_name(place, name):
    place.git("init -q")
    place.write(f"proj/{name}", "One.\n")
    place.write("proj/old.md", "Old.\nText.\n")
    place.write("proj/pure.md", "Pure.\n")
    changes = {name: b"Two.\n", f"{name}.new": b"New.\n", "old.md": None, f"{name}.to": b"Old.\nText!\n"}
    changes |= {"pure.md": None, f"{name}.pure": b"Pure.\n"}
    renames = [("old.md", f"{name}.to"), ("pure.md", f"{name}.pure")]
    patch, wanted = render_patch(make_plan(place, changes, renames)), expect(place, changes)
    apply(place, patch)
    assert contents(place) == wanted


def test_a_file_that_is_renamed_twice_has_one_rename(place):
    place.git("init -q")
    place.write("proj/a.md", "Text.\n", mode=0o755)
    found = make_plan(place, {"a.md": None, "b.md": None, "c.md": b"Text.\n"}, [("a.md", "b.md"), ("b.md", "c.md")])
    assert render_patch(found) == "diff --git a/a.md b/c.md\nsimilarity index 100%\nrename from a.md\nrename to c.md\n"
    apply(place, render_patch(found))
    assert os.stat(place.path("proj/c.md")).st_mode & 0o777 == 0o755
    assert sorted(os.listdir(place.proj)) == [".git", "c.md"]


@pytest.fixture
def faults(place):
    """A project with fixes of all kinds: an edit with other line ends, a rename, a rename with an edit, a new file."""
    place.git("init -q")
    place.write("proj/docs/style.md", "Short names.\n")
    place.write("proj/CLAUDE.md", "One.\r\nSee @docs/style.md, please.\r\nThe end")
    place.write("proj/src/claude.md", "Sources.\n")
    place.write("proj/.claude/rules/api.mdc", RULE)
    place.write("proj/my api/AGENTS.md", "Api.\n")
    place.git("add -A")
    place.git("commit -q -m start")
    return place


def test_git_applies_what_the_document_has(faults):
    before = contents(faults)
    agent = ("--agent", "claude-code@2.1.325")
    status, printed = run(faults, "--fix", "--unsafe", "--dry-run", "--json", *agent)
    assert (status, contents(faults)) == (1, before)
    document = json.loads(printed)
    codes = {each["finding"]["code"] for each in document["fixes"]}
    assert codes == {"import-punctuation", "name-case", "rule-extension", "file-shadowed"}
    apply(faults, document["diff"])
    applied = contents(faults)
    faults.git("checkout -q -f")
    faults.git("clean -q -f -d")
    assert contents(faults) == before
    run(faults, "--fix", "--unsafe", *agent)
    assert contents(faults) == applied


def test_git_applies_it_in_a_project_below_the_top_of_its_repository(place):
    place.git("init -q", "")
    place.write("proj/docs/style.md", "Short names.\n")
    place.write("proj/CLAUDE.md", "See @docs/style.md, please.\n")
    found = plan(place)
    apply(place, render_patch(found), "--directory=proj")  # git counts from the top of the repository
    assert contents(place)[place.path("proj/CLAUDE.md")] == b"See @docs/style.md , please.\n"
    assert not os.path.exists(store(place).folder)


def test_a_dry_run_shows_the_patch_without_control_characters(faults):
    faults.write("proj/CLAUDE.md", "\x1b[2J\tSee @docs/style.md, please.\r\n")
    _, printed = run(faults, "--fix", "--dry-run")
    assert "diff --git a/CLAUDE.md b/CLAUDE.md\n--- a/CLAUDE.md\n+++ b/CLAUDE.md\n" in printed
    assert "+\\x1b[2J\tSee @docs/style.md , please.\\x0d\n" in printed
    assert "\x1b" not in printed


def test_files_come_in_the_order_of_their_paths(place):
    """Whatever order sets have in a process."""
    place.git("init -q")
    names = ["CLAUDE.md", "api/CLAUDE.md", "docs/CLAUDE.md", "web/CLAUDE.md"]
    for name in names:
        place.write(f"proj/{name}", "See @a.md, please.\n")
        place.write(f"proj/{name.replace('CLAUDE', 'a')}", "Use tabs.\n")
    for seed in ("1", "2", "3"):
        words = ["check", "--no-home", "--select", "import-punctuation", "--fix", "--dry-run", "--json"]
        document = json.loads(place.run(*words, env={"PYTHONHASHSEED": seed}).stdout)
        lines = [line for line in document["diff"].split("\n") if line.startswith("diff --git ")]
        assert lines == [f"diff --git a/{name} b/{name}" for name in names]
        assert document["files"] == names
