"""Finding the repository around a folder, and paths by spelling."""

import os

import pytest
from hypothesis import given, strategies as st

from foretold.dialects.surroundings import Repository, find_git, join, user_home, walk_between
from foretold.storage.tree import Disk, is_inside


def git_of(place, folder):
    return find_git(Disk(), place.path(folder))


def plain(place, folder):
    path = place.path(folder)
    return Repository(path, path, path + "/.git", bare=False)


def test_no_repository(place):
    assert git_of(place, "proj") is None


def test_a_repository_from_its_top_and_below(place):
    place.git("init -q")
    place.folder("proj/a/b")
    assert git_of(place, "proj") == git_of(place, "proj/a/b") == plain(place, "proj")


def test_a_repository_inside_another(place):
    place.git("init -q")
    place.folder("proj/inner/a")
    place.git("init -q", "proj/inner")
    assert git_of(place, "proj/inner/a") == plain(place, "proj/inner")


@pytest.mark.parametrize("where", ["proj/trees/one", "beside"])
def test_a_linked_worktree(place, where):
    place.git("init -q")
    place.git("commit -q --allow-empty -m x")
    place.git(f"worktree add -q {place.path(where)}")
    place.folder(where + "/sub")
    tree = Repository(place.path(where), place.proj, place.proj + "/.git", bare=False)
    assert git_of(place, where) == git_of(place, where + "/sub") == tree


def test_a_worktree_of_a_bare_repository(place):
    place.git("init -q --bare store.git", "")
    place.git("init -q seed", "")
    place.git("commit -q --allow-empty -m x", "seed")
    place.git(f"push -q {place.path('store.git')} HEAD:refs/heads/main", "seed")
    place.git(f"worktree add -q {place.path('tree')} main", "store.git")
    bare = place.path("store.git")
    assert git_of(place, "tree") == Repository(place.path("tree"), bare, bare, bare=True)


def test_a_submodule_is_its_own_project(place):
    place.git("init -q inner", "")
    place.git("commit -q --allow-empty -m x", "inner")
    place.git("init -q")
    place.git(f"submodule add -q {place.path('inner')} sub")
    assert os.path.isfile(place.path("proj/sub/.git"))
    assert git_of(place, "proj/sub") == plain(place, "proj/sub")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\n",
        "garbage",
        "gitdir:",
        "gitdir: ",
        "gitdir: /nowhere/at/all\n",
        "gitdir: ../../../../../../../../..\n",
        b"\xff\xfe\x00\x00",
        "gitdir: nul\0\n",
        "gitdir: " + "x" * 5000,
        "gitdir: " + "x/" * 5000,
        "gitdir: .git\n",
        "x" * (65 * 1024),
    ],
    ids=lambda content: repr(content[:20]),
)
def test_a_broken_git_file_is_a_plain_repository(place, content):
    place.write("proj/.git", content)
    assert git_of(place, "proj") == plain(place, "proj")


@pytest.mark.parametrize(
    "content", ["", "\n", b"\xff\0", "x" * 5000, "\0"], ids=["empty", "blank", "bytes", "long", "nul"]
)
def test_a_broken_commondir(place, content):
    place.write("proj/.git", "gitdir: ../private\n")
    place.write("private/commondir", content)
    assert isinstance(git_of(place, "proj"), Repository)


@pytest.mark.parametrize("make", ["fifo", "dangling", "loop"])
def test_a_git_that_is_neither_file_nor_folder(place, make):
    if make == "fifo":
        place.fifo("proj/.git")
    else:
        place.link("proj/.git", "nothing" if make == "dangling" else ".git")
    assert git_of(place, "proj") is None


def test_a_worktree_whose_pointers_are_relative(place):
    place.write("proj/.git/worktrees/one/commondir", "../..\n")
    place.write("proj/one/.git", "gitdir: ../.git/worktrees/one\n")
    tree = Repository(place.path("proj/one"), place.proj, place.proj + "/.git", bare=False)
    assert git_of(place, "proj/one") == tree


@pytest.mark.parametrize(
    ("folder", "path", "joined"),
    [
        ("/a/b", "c", "/a/b/c"),
        ("/a/b", "./c", "/a/b/c"),
        ("/a/b", "../c", "/a/c"),
        ("/a/b", "../../../../c", "/c"),
        ("/a/b", "/c/./d/..//e/", "/c/e"),
        ("/a/b", "", "/a/b"),
        ("/a/b", ".", "/a/b"),
        ("/a/b", "..", "/a"),
        ("/", "c", "/c"),
        ("/", "..", "/"),
        ("/a", ".c", "/a/.c"),
        ("/a", "...", "/a/..."),
        ("/a", "c/", "/a/c"),
        ("/a", "//srv/x", "/srv/x"),
        ("/a", "c\n", "/a/c\n"),
    ],
)
def test_joining(folder, path, joined):
    assert join(folder, path) == joined


PARTS = st.lists(st.sampled_from(["a", "b", ".", "..", "", "...", ".a", " "]), max_size=8).map("/".join)


@given(PARTS, PARTS)
def test_joining_is_what_the_standard_library_does(folder, path):
    folder = join("/", folder)
    expected = os.path.normpath(os.path.join(folder, path))
    assert join(folder, path) == "/" + expected.lstrip("/")


@pytest.mark.parametrize(
    ("path", "folder", "inside"),
    [
        ("/a", "/a", True),
        ("/a/b", "/a", True),
        ("/ab", "/a", False),
        ("/a", "/a/b", False),
        ("/a", "/", True),
        ("/", "/", True),
        ("/a/b", "/a/", True),
    ],
)
def test_being_inside(path, folder, inside):
    assert is_inside(path, folder) is inside


def test_the_folders_between_two():
    assert walk_between("/a", "/a/b/c") == ("/a", "/a/b", "/a/b/c")
    assert (walk_between("", "/a/b"), walk_between("/", "/a")) == (("/a/b",), ("/", "/a"))


def test_the_home_of_nobody():
    assert user_home("nobody-is-called-this") == ""


def test_a_path_is_joined_and_made_plain():
    assert join("/a/b", "../c//d/./e") == "/a/c/d/e"
