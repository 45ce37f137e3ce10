"""What is surely not there: always what the file system itself says."""

import os
import stat

import pytest

from foretold.instructions import engine
from foretold.storage.absence import Absences
from foretold.storage.tree import Disk

LONG = "x" * 300


@pytest.fixture
def tree(place):
    place.write("proj/docs/Style.md")
    place.write("proj/docs/deep/a.md")
    place.link("proj/docs/broken.md", "nowhere.md")
    place.link("proj/linked", "docs")
    place.write("proj/file", "")
    place.folder("proj/empty")
    place.write("proj/übung.md")
    return place


PATHS = (
    *("docs/Style.md", "docs/style.md", "docs/other.md", "docs/deep/a.md", "docs/deep/b.md", "docs/broken.md"),
    *("linked/Style.md", "linked/other.md", "file/a.md", "empty/a.md", "nowhere/a/b/c.md", "übung.md", "ärger.md"),
    *(f"{LONG}.md", f"nowhere/{LONG}.md", f"docs/{LONG}/a.md", "a\0b.md", "docs", "/".join(["d"] * 1000)),
)


@pytest.mark.parametrize("has_root", [True, False])
def test_what_is_missing_is_not_there(tree, has_root):
    absences = Absences(Disk())
    if has_root:
        absences.roots[tree.proj] = None
    for path in PATHS:
        whole = f"{tree.proj}/{path}"
        found = Disk().read(whole, 100)
        if absences.is_missing(whole):
            assert getattr(found, "reason", "") == "missing", path
            assert not getattr(found, "detail", ""), path  # a broken link is there
    assert absences.is_missing(f"{tree.proj}/docs/other.md")
    assert absences.is_missing(f"{tree.proj}/nowhere/a/b/c.md")
    assert not absences.is_missing(f"{tree.proj}/docs/style.md")  # a file system may take it for Style.md


@pytest.mark.skipif(os.geteuid() == 0, reason="root enters every folder")
def test_a_folder_that_cannot_be_entered_tells_nothing(tree):
    folder = tree.folder("proj/closed")
    for mode in (0, stat.S_IRUSR, stat.S_IXUSR):
        os.chmod(folder, mode)
        assert not Absences(Disk()).is_missing(f"{folder}/a.md")
    os.chmod(folder, 0o700)


def test_a_load_with_many_imports_is_the_same_load(tree, monkeypatch):
    names = [path for path in PATHS if "\0" not in path]
    names += ["alice", "include", "docs/Style", "docs/other.md,", "~/x.md"]
    tree.write("proj/CLAUDE.md", "\n".join(f"- see @{name} and `@{name}`, (@{name})" for name in names) + "\n")
    tree.write("home/.claude/CLAUDE.md", "\n".join(f"@{name}" for name in names) + "\n")
    views = []
    for many in (0, 1_000_000):
        monkeypatch.setattr(engine, "MANY", many)
        views.append(tree.load())
        tree.write("proj/again", str(many))  # so that no view is kept
    fast, slow = views
    assert [entry.path for entry in fast.entries] == [entry.path for entry in slow.entries]
    assert (fast.skips, fast.findings, fast.absent) == (slow.skips, slow.findings, slow.absent)


def test_a_view_with_many_imports_is_loaded_again_when_a_file_comes(place):
    place.write("proj/CLAUDE.md", "\n".join(f"@docs/part{number}.md" for number in range(500)) + "\n")
    place.write("proj/docs/other.md")
    assert len(place.load().entries) == 1
    place.write("proj/docs/part7.md", "Seven.\n")
    assert [os.path.basename(entry.path) for entry in place.load().entries] == ["CLAUDE.md", "part7.md"]
