"""Every instruction file of a tree, within bounds."""

import os

import pytest

from foretold.instructions.discover import inventory
from foretold.instructions.discover.inventory import NameTable, RulesFolder, WalkLimits, take_inventory
from foretold.storage.tree import Disk

NAMES = NameTable(("CLAUDE.md", ".claude/CLAUDE.md"), (RulesFolder(".claude/rules", ".md"),))


def found(place, limits=None, cwd="proj", names=NAMES):
    taken = take_inventory(Disk(), place.path(cwd), [names], limits)
    return [place.short(path) for path in taken.paths], taken.cut


def test_names_in_any_capitals_and_every_file_of_a_rules_folder(place):
    for path in ("CLAUDE.md", "a/claude.md", "a/.claude/CLAUDE.md", "a/.claude/rules/x/y.txt", "a/AGENTS.md", "b/x.md"):
        place.write(f"proj/{path}")
    place.folder("proj/c/CLAUDE.md")
    place.link("proj/linked", "a")
    paths = ["proj/CLAUDE.md", "proj/a/claude.md", "proj/a/.claude/CLAUDE.md", "proj/a/.claude/rules/x/y.txt"]
    assert found(place) == (paths, "")


def test_a_name_with_a_folder_needs_that_folder(place):
    place.write("proj/a/copilot-instructions.md")
    place.write("proj/b/.github/copilot-instructions.md")
    names = NameTable((".github/copilot-instructions.md",))
    assert found(place, names=names) == (["proj/b/.github/copilot-instructions.md"], "")


def test_ignored_folders_are_not_entered_and_ignored_files_are_listed(place):
    place.git("init -q .")
    place.write("proj/.gitignore", "# comment\ndist/\n/out\nCLAUDE.md\n*.egg-info\na/gen/*\n!a/gen/kept\n")
    for folder in ("dist", "out", "src/out", "src/dist", "x.egg-info", "a/gen/b", "a/gen/kept", "src"):
        place.write(f"proj/{folder}/CLAUDE.md")
    place.write("proj/src/.gitignore", "own/\n")
    place.write("proj/src/own/CLAUDE.md")
    place.write("proj/own/CLAUDE.md")
    expected = ["proj/own/CLAUDE.md", "proj/src/CLAUDE.md", "proj/src/out/CLAUDE.md", "proj/a/gen/kept/CLAUDE.md"]
    assert sorted(found(place)[0]) == sorted(expected)


def test_patterns_above_the_folder_count(place):
    place.git("init -q .")
    place.write("proj/.gitignore", "/app/cache\n")
    place.write("proj/.git/info/exclude", "mine\n")
    for folder in ("cache", "mine", "src"):
        place.write(f"proj/app/{folder}/CLAUDE.md")
    assert found(place, cwd="proj/app") == (["proj/app/src/CLAUDE.md"], "")


def test_a_folder_of_packages_is_not_entered(place):
    place.write("proj/node_modules/x/CLAUDE.md")
    assert found(place) == ([], "")


@pytest.mark.parametrize(
    ("limit", "most", "said"),
    [
        ("folders", 3, "only the 3 nearest folders were looked at"),
        ("names", 5, "only 2 folders were looked at, which have 7 names"),
        ("found", 2, "only the first 2 files are listed"),
    ],
)
def test_the_walk_ends_and_says_so(place, limit, most, said):
    write_eight(place)
    paths, cut = found(place, WalkLimits(**{limit: most}))
    assert cut == said
    assert len(paths) < 8


def test_the_walk_ends_at_a_depth(place, monkeypatch):
    write_eight(place)
    monkeypatch.setattr(inventory, "MAX_DEPTH", 1)
    assert found(place)[1] == "only 1 levels of folders were looked at"


def write_eight(place):
    for number in range(4):
        place.write(f"proj/d{number}/CLAUDE.md")
        place.write(f"proj/d{number}/e/CLAUDE.md")
        place.write(f"proj/d{number}/f/x")


def test_what_is_nearest_is_found_first(place):
    place.write("proj/a/b/c/CLAUDE.md")
    place.write("proj/z/CLAUDE.md")
    assert found(place, WalkLimits(folders=3))[0] == ["proj/z/CLAUDE.md"]


def test_every_file_is_listed_if_that_is_asked_for(place):
    place.write("proj/a.py")
    place.write("proj/src/b.py")
    place.write("proj/node_modules/x/c.js")
    assert take_inventory(Disk(), place.proj, [NAMES], every=True).files == ("a.py", "src/b.py")
    assert take_inventory(Disk(), place.proj, [NAMES]).files == ()


def test_hostile_patterns_end_the_walk(place, monkeypatch):
    place.git("init -q .")
    place.write("proj/.gitignore", "\n".join(f"x/*a*b*c*d*{number}" for number in range(200)) + "\n" + "*" * 40_000)
    for number in range(50):
        place.folder(f"proj/{'abcd' * 20}{number}")
    assert found(place)[1] == ""
    monkeypatch.setattr(inventory, "MAX_TRIED", 20_000)
    assert "too many patterns" in found(place)[1]


def test_pipes_and_loops_do_no_harm(place):
    place.git("init -q .")
    place.fifo("proj/.gitignore")
    place.fifo("proj/a/CLAUDE.md")
    place.link("proj/b/loop", "..")
    place.write("proj/b/CLAUDE.md")
    os.chmod(place.folder("proj/closed"), 0)
    assert found(place) == (["proj/a/CLAUDE.md", "proj/b/CLAUDE.md"], "")


def test_many_patterns_with_plain_names_cost_nothing(place, monkeypatch):
    place.git("init -q .")
    lines = [f"/packages/p{number}/out" for number in range(500)] + ["!/packages/p7/out"]
    place.write("proj/.gitignore", "\n".join(lines) + "\n")
    for number in range(50):
        place.write(f"proj/packages/p{number}/out/CLAUDE.md")
        place.write(f"proj/packages/p{number}/src{number}/CLAUDE.md")
    monkeypatch.setattr(inventory, "MAX_TRIED", 500_000)
    names, cut = found(place)
    assert (len(names), cut) == (51, "")
    assert [name for name in names if "/out/" in name] == ["proj/packages/p7/out/CLAUDE.md"]
