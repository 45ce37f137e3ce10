"""Globs that ask whether something exists: one walk for all, nothing that a pattern can break."""

import fnmatch
import os

import pytest
from hypothesis import given, strategies as st

from foretold.storage.tree import MISSING, Disk
from foretold.text.globs.fnmatch_walk import first_hits


class Counting(Disk):
    """A disk that counts the folders it lists."""

    def __init__(self):
        super().__init__()
        self.listed = []

    def names(self, folder):
        self.listed.append(folder)
        return super().names(folder)


@pytest.mark.parametrize(
    ("files", "glob", "hit"),
    [
        (["main.ts"], "**/*.ts", "main.ts"),
        (["a/b/main.ts"], "**/*.ts", "a/b/main.ts"),
        (["a/b/main.ts"], "*.ts", "a/b/main.ts"),  # the bare name
        (["a/b/main.ts"], "a/*.ts", "a/b/main.ts"),  # a star crosses folders
        (["a/b/main.ts"], "b/*.ts", None),
        (["a/b/main.ts"], "main.ts", "a/b/main.ts"),
        (["a/b/main.ts"], "a/**/main.ts", "a/b/main.ts"),
        (["a/main.ts"], "a/**/main.ts", "a/main.ts"),
        (["a/b/c/d.ts"], "a/**/c/**/d.ts", "a/b/c/d.ts"),
        (["src/x"], "src/**", "src"),
        (["a"], "a**/**", "a"),
        (["ab"], "ab/**/", "ab"),  # a file counts as well as a folder
        (["ab"], "ab/**", "ab"),
        (["ab"], "ab**/**/**/", "ab"),
        (["lib/src/x"], "src/**", None),
        (["docs/x"], "docs", "docs"),  # a folder counts
        (["x.py"], "*.ts", None),
        (["x.ts"], "?.ts", "x.ts"),
        (["xy.ts"], "?.ts", None),
        (["a1.ts"], "a[0-9].ts", "a1.ts"),
        (["ab.ts"], "a[!0-9].ts", "ab.ts"),
        (["a].ts"], "a[]].ts", "a].ts"),
        (["a[.ts"], "a[.ts", "a[.ts"),
        (["x.ts"], "./x.ts", "x.ts"),
        ([".env"], ".env", ".env"),
        (["X.TS"], "*.ts", None),
        (["a b/ü.ts"], "a b/*.ts", "a b/ü.ts"),
        ([".git/config.ts"], "**/*.ts", None),  # nobody's work
        (["node_modules/a/b.ts"], "**/*.ts", None),
        (["node_modules/a/b.ts"], "node_modules/**/*.ts", "node_modules/a/b.ts"),
        (["x.ts"], "[z-a].ts", None),
        (["x.ts"], "[z-ax].ts", "x.ts"),
        (["x.ts"], "[!z-a].ts", "x.ts"),
        (["-.ts"], "[a--z&&~~||[].ts", None),
        (["[.ts"], "[&&~~||[].ts", "[.ts"),
        (["src/x"], "src/", "src"),
        (["s/y.py"], "./y.py", None),
        (["y.py"], "./y.py", "y.py"),
        (["x.ts"], "", None),
        (["x.ts"], "/etc/*.ts", None),
        (["x.ts"], "*" * 100 + "y", None),
    ],
)
def test_a_glob(place, files, glob, hit):
    for name in files:
        place.write(f"proj/{name}")
    assert first_hits(Disk(), place.proj, [(glob,)]) == [hit]


def test_an_absolute_glob_of_the_working_directory(place):
    place.write("proj/src/a.ts")
    assert first_hits(Disk(), place.proj, [(f"{place.proj}/src/*.ts",), (place.proj,)]) == ["src/a.ts", place.proj]


def test_the_working_directory_itself(place):
    assert first_hits(Disk(), place.proj, [("*/proj",), ("*/other",)]) == [place.proj, None]


def test_every_rule_has_its_own_hit(place):
    place.write("proj/a.ts")
    place.write("proj/b/c.py")
    assert first_hits(Disk(), place.proj, [("*.py", "*.ts"), ("*.go",), (), ("*.py",)]) == [
        "a.ts",
        None,
        None,
        "b/c.py",
    ]


def test_one_walk_for_all_that_ends_at_the_last_hit(place):
    for folder in "abcdefgh":
        place.write(f"proj/{folder}/deep/x.py")
    place.write("proj/main.ts")
    disk = Counting()
    assert first_hits(disk, place.proj, [("*.ts",), ("**/*.ts",), ("main.*",)]) == ["main.ts"] * 3
    assert disk.listed == [place.proj]
    disk = Counting()
    first_hits(disk, place.proj, [(f"*.x{number}",) for number in range(50)])
    assert len(disk.listed) == len(set(disk.listed)) == 17


def test_a_glob_whose_folder_is_not_there_needs_no_walk(place):
    place.write("proj/a/x.py")
    disk = Counting()
    assert first_hits(disk, place.proj, [("lib/m1/**/*.kt",), ("lib/*",)]) == [None, None]
    assert disk.listed == []


def test_links_are_not_followed(place):
    place.link("proj/loop", place.proj)
    place.write("elsewhere/x.ts")
    place.link("proj/other", place.path("elsewhere"))
    assert first_hits(Disk(), place.proj, [("*.ts",), ("loop",)]) == [None, "loop"]


def test_a_link_that_a_glob_names_is_followed(place):
    place.write("proj/real/deep/x.py")
    place.link("proj/src", "real")
    assert first_hits(Disk(), place.proj, [("src/*.py",)]) == ["src/deep/x.py"]


def test_a_folder_that_cannot_be_listed(place):
    class Closed(Disk):
        def names(self, folder):
            return MISSING if folder.endswith("/closed") else super().names(folder)

    place.write("proj/closed/x.ts")
    place.write("proj/open/y/z.ts")
    assert first_hits(Closed(), place.proj, [("*.ts",)]) == ["open/y/z.ts"]
    assert first_hits(Disk(), place.path("nowhere"), [("*.ts",)]) == [None]


def test_a_hostile_pattern_is_linear(place):
    place.write("proj/" + "a" * 200)
    globs = ["*a" * 30 + "b", "**/" * 30 + "b", "a*" * 30 + "?" * 200, "[" * 500, "{" * 500]
    assert first_hits(Disk(), place.proj, [(glob,) for glob in globs]) == [None] * 5


NAMES = st.sampled_from(["a", "b", "a.ts", "b.ts", "ab"])
TREES = st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), max_size=5)
GLOBS = st.lists(st.sampled_from(["a", "b", "*", "?", "**/", "/", ".ts", "[ab]"]), min_size=1, max_size=5).map("".join)


def places(form):
    """Where a `**/` stands for folders: at the start, or behind a slash."""
    return [at for at in range(len(form)) if form.startswith("**/", at) and (at == 0 or form[at - 1] == "/")]


def expected(paths, glob, cwd):
    """By the rule, slowly: every way to read `**/` as nothing or as folders, and the standard library's matcher."""
    forms = {glob.rstrip("/")}
    while True:
        more = {form[:at] + form[at + 3 :] for form in forms for at in places(form)}
        if more <= forms:
            break
        forms |= more
    whole = forms | {form.removesuffix("/**") for form in forms}
    return any(fnmatch.fnmatchcase(path, form) for form in whole for path in (*paths, cwd)) or any(
        fnmatch.fnmatchcase(path.rpartition("/")[2], form) for form in forms for path in paths
    )


@given(tree=TREES, glob=GLOBS)
def test_as_the_rule_says(tmp_path_factory, tree, glob):
    root = os.path.realpath(tmp_path_factory.mktemp("tree"))
    for path in tree:
        folder = os.path.join(root, os.path.dirname(path))
        try:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8"):
                pass
        except OSError:  # a file stands where a folder should
            continue
    paths = [
        os.path.relpath(os.path.join(folder, name), root)
        for folder, folders, names in os.walk(root)
        for name in (*folders, *names)
    ]
    (hit,) = first_hits(Disk(), root, [(glob,)])
    if glob.startswith(("/", "./")):
        return  # an absolute path, or none
    assert (hit is not None) == expected(paths, glob, root), (paths, glob, hit)
    assert hit is None or hit == root or hit in paths


@given(tree=TREES, glob=GLOBS)
def test_from_the_root_it_is_the_same_rule_with_longer_paths(tmp_path_factory, tree, glob):
    root = os.path.realpath(tmp_path_factory.mktemp("root"))
    cwd = os.path.join(root, "a", "b")
    os.makedirs(cwd)
    for path in tree:
        os.makedirs(os.path.join(cwd, path), exist_ok=True)
    paths = [
        os.path.relpath(os.path.join(folder, name), cwd) for folder, folders, _ in os.walk(cwd) for name in folders
    ]
    (hit,) = first_hits(Disk(), cwd, [(glob,)], root=root)
    if glob.startswith(("/", "./")):
        return
    from_root = [f"a/b/{path}" for path in paths]
    assert (hit is not None) == (expected(paths, glob, cwd) or expected(from_root, glob, "a/b")), (paths, glob, hit)
    assert hit is None or hit == cwd or hit in paths


def test_a_root_that_is_elsewhere_or_the_same_changes_nothing(place):
    place.write("proj/x.ts")
    for root in ("", place.proj, place.home, f"{place.proj}/below"):
        assert first_hits(Disk(), place.proj, [("proj/*.ts",), ("*.ts",)], root=root) == [None, "x.ts"]
    assert first_hits(Disk(), place.proj, [("proj/*.ts",)], root=place.root) == ["x.ts"]
    assert first_hits(Disk(), place.proj, [("nowhere/*.ts",)], root="/") == [None]
