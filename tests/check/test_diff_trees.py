"""Odd trees with `--diff` and `--fix`: submodules that take the place of files, names that are not UTF-8."""

import json
import os
import shutil

import pytest

from foretold.check import CheckOptions, Project
from foretold.check.delivered import map_deliveries
from foretold.check.diff.base import find_base, open_base
from foretold.check.diff.change import compare_with
from foretold.check.diff.report import render_json, render_markdown, render_text
from foretold.check.fix import plan_fixes
from foretold.check.run import check_tree
from foretold.check.settings import CheckSettings
from foretold.cli.output import Paint

from .fixing import fix, plan, read, run, snapshot, store

OPTIONS = CheckOptions(agents=("claude-code@2.1.325", "codex"), home="")
ODD = os.fsdecode(b"caf\xe9")


def commit(place, message, folder="proj"):
    place.git("add -A", folder)
    place.git(f"commit -q -m {message}", folder)


def changes(place, base="HEAD"):
    report = compare_with(Project(place.proj, OPTIONS), base)
    return {(each.kind, each.path) for each in report.deliveries if each.agent.startswith("claude-code")}


@pytest.fixture
def library(place):
    """A repository that others have as a submodule, and one that has files where it will be."""
    place.folder("library")
    place.git("init -q -b main", "library")
    place.write("library/CLAUDE.md", "The library.\n")
    place.write("library/sub/CLAUDE.md", "Of the library.\n")
    commit(place, "library", "library")
    place.git("init -q -b main")
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    return place


def old_side(place, base="HEAD"):
    project = Project(place.proj, OPTIONS)
    return map_deliveries(open_base(project, find_base(project, base)))


def add_submodule(place):
    place.git(f"submodule --quiet add {place.path('library')} lib")


def test_files_that_a_submodule_replaces(library):
    library.write("proj/lib/CLAUDE.md", "Ours.\n")
    library.write("proj/lib/docs/CLAUDE.md", "Our documents.\n")
    commit(library, "files")
    expected = map_deliveries(Project(library.proj, OPTIONS))
    library.git("rm -r -q lib")
    add_submodule(library)
    assert old_side(library) == expected
    assert changes(library) == {
        ("changed", "lib/CLAUDE.md"),
        ("removed", "lib/docs/CLAUDE.md"),
        ("delivered", "lib/sub/CLAUDE.md"),
    }
    commit(library, "submodule")
    assert old_side(library, "HEAD~1..") == expected


def test_a_file_that_a_submodule_replaces(library):
    library.write("proj/lib", "A file.\n")
    commit(library, "file")
    expected = map_deliveries(Project(library.proj, OPTIONS))
    library.git("rm -q lib")
    add_submodule(library)
    assert old_side(library) == expected


def test_a_new_submodule_is_part_of_the_change(library):
    commit(library, "nothing")
    expected = map_deliveries(Project(library.proj, OPTIONS))
    add_submodule(library)
    assert old_side(library) == expected
    assert changes(library) == {("delivered", "lib/CLAUDE.md"), ("delivered", "lib/sub/CLAUDE.md")}


def test_a_submodule_that_files_replace(library):
    add_submodule(library)
    commit(library, "submodule")
    library.git("rm -q lib")
    shutil.rmtree(library.path("proj/lib"), ignore_errors=True)
    library.write("proj/lib/CLAUDE.md", "Ours.\n")
    assert changes(library) == {("delivered", "lib/CLAUDE.md")}


def test_a_submodule_that_stays_is_the_same_on_both_sides(library):
    add_submodule(library)
    commit(library, "submodule")
    library.write("proj/lib/CLAUDE.md", "Edited in the submodule.\n")
    assert changes(library) == set()


# -- names that are not UTF-8


@pytest.fixture
def odd(place):
    """A project with a folder whose name is not UTF-8."""
    place.git("init -q")
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/docs/style.md", "Short names.\n")
    place.write(f"proj/{ODD}/CLAUDE.md", "See @../docs/style.md, please.\n")
    return place


def test_a_folder_that_is_not_utf_8_is_compared_and_shown(odd):
    commit(odd, "start")
    odd.write(f"proj/{ODD}/CLAUDE.md", "Changed, see @../docs/gone.md\n")
    odd.write(f"proj/{ODD}/more/CLAUDE.md", "New.\n")
    assert changes(odd) == {("changed", f"{ODD}/CLAUDE.md"), ("delivered", f"{ODD}/more/CLAUDE.md")}
    report = compare_with(Project(odd.proj, OPTIONS), "HEAD")
    for text in (render_json(report), render_markdown(report), render_text(report, Paint(odd.proj, odd.home))):
        text.encode()
    done = odd.run("check", "--diff", "HEAD", ODD, env={"PATH": os.environ["PATH"], "LANG": "C"})
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_folder_that_is_not_utf_8_is_fixed_and_taken_back(odd):
    before = snapshot(odd.proj)
    assert fix(odd) == ["import-punctuation"]
    assert read(odd, f"{ODD}/CLAUDE.md") == "See @../docs/style.md , please.\n"
    assert run(odd, "--undo")[0] == 0
    assert snapshot(odd.proj) == before


def test_a_local_file_in_a_folder_that_is_not_utf_8(odd):
    """Its line for .gitignore cannot be written as text; others are."""
    odd.write(f"proj/{ODD}/.claude/settings.local.json", "{}\n")
    odd.write(f"proj/{ODD}/CLAUDE.local.md", "Mine.\n")
    odd.write("proj/api/.claude/settings.local.json", "{}\n")
    assert sorted(fix(odd)) == ["import-punctuation", "local-not-ignored", "local-not-ignored"]
    assert sorted(read(odd, ".gitignore").split()) == ["/api/.claude/settings.local.json", "CLAUDE.local.md"]
    (refused,) = plan(odd).refused
    assert (refused.finding.path, refused.reason) == (
        odd.path(f"proj/{ODD}/.claude/settings.local.json"),
        "the name that would be written is not UTF-8",
    )


def test_no_edit_has_a_name_that_is_not_utf_8(odd):
    odd.write(f"proj/{ODD}/Style.md", "Short.\n")
    odd.write(f"proj/.claude/rules/{ODD}.mdc", "---\nglobs: docs/**\n---\nRule.\n")
    odd.write("proj/api/CLAUDE.md", f"See @../{ODD}/style.md\n".encode("utf-8", "surrogateescape"))
    project = Project(odd.proj, OPTIONS)
    found = plan_fixes(check_tree(project), CheckSettings(), unsafe=True)
    assert all(isinstance(change, bytes) for change in found.changes.values() if change is not None)
    before = snapshot(odd.proj)
    status, printed = run(odd, "--fix", "--unsafe", "--json")
    assert json.loads(printed)["done"]
    assert status in (0, 1)
    run(odd, "--undo")
    assert snapshot(odd.proj) == before
    assert os.path.isdir(store(odd).folder)
