"""Which folders are looked in, and in which order."""

import pytest

from foretold.dialects.claude_code.instructions import START, TOUCH
from foretold.dialects.schema import FileSource
from foretold.dialects.surroundings import Repository, walk_of
from foretold.instructions.discover.locate import BASES, find_foreign_folders, folders_below, steps


class Surroundings:
    """What a plan needs to know of the surroundings."""

    user, managed, memory, added, git = "/u", "/m", "/mem", ("/x", "/y"), None

    def __init__(self, cwd="/r/p", **values):
        self.cwd, self.walk = cwd, tuple(walk_of(cwd))
        for name, value in values.items():
            setattr(self, name, value)


@pytest.mark.parametrize(
    ("cwd", "folders"),
    [("/", []), ("/a", ["/a"]), ("/a/b/c", ["/a", "/a/b", "/a/b/c"]), ("/a b/ü", ["/a b", "/a b/ü"])],
)
def test_the_walk_leaves_out_the_top(cwd, folders):
    assert walk_of(cwd) == folders


@pytest.mark.parametrize(
    ("cwd", "touched", "folders"),
    [
        ("/a", "/a/x", []),
        ("/a", "/a/b/x", ["/a/b"]),
        ("/a", "/a/b/c/x", ["/a/b", "/a/b/c"]),
        ("/a", "/ab/c/x", []),
        ("/a", "/x", []),
        ("/a/b", "/a/x", []),
        ("/a", "/a", []),
        ("/", "/x", []),
        ("/", "/a/b/x", ["/a", "/a/b"]),
        ("/a", "x", []),
    ],
)
def test_folders_below(cwd, touched, folders):
    assert folders_below(cwd, touched) == folders


@pytest.mark.parametrize(
    ("base", "folders"),
    [
        ("managed", ["/m"]),
        ("user", ["/u"]),
        ("walk", ["/r", "/r/p"]),
        ("closest", ["/r/p", "/r"]),
        ("cwd", ["/r/p"]),
        ("below", ["/r/p/a"]),
        ("added", ["/x", "/y"]),
        ("memory", ["/mem"]),
        ("settings", [""]),
    ],
)
def test_what_a_base_stands_for(base, folders):
    assert list(BASES[base](Surroundings(), "/r/p/a/x.ts")) == folders


def test_no_memory_no_folder():
    assert list(BASES["memory"](Surroundings(memory=""), "")) == []


def test_neighbours_with_many_folders_go_folder_by_folder():
    plan = (
        FileSource("user", "user", "U"),
        FileSource("project", "walk", "A"),
        FileSource("project", "walk", "B"),
        FileSource("project", "added", "C"),
        FileSource("project", "walk", "D"),
    )
    assert [(folder, source.name) for source, folder in steps(plan, Surroundings())] == [
        ("/u", "U"),
        ("/r", "A"),
        ("/r", "B"),
        ("/r/p", "A"),
        ("/r/p", "B"),
        ("/x", "C"),
        ("/y", "C"),
        ("/r", "D"),
        ("/r/p", "D"),
    ]


def test_the_plan_of_a_start():
    found = [f"{folder}/{source.name}" for source, folder in steps(START, Surroundings(added=("/x",)))]
    assert found == [
        "/m/CLAUDE.md",
        "/claudeMd",
        "/m/.claude/rules",
        "/u/CLAUDE.md",
        "/u/rules",
        "/r/CLAUDE.md",
        "/r/.claude/CLAUDE.md",
        "/r/.claude/rules",
        "/r/CLAUDE.local.md",
        "/r/p/CLAUDE.md",
        "/r/p/.claude/CLAUDE.md",
        "/r/p/.claude/rules",
        "/r/p/CLAUDE.local.md",
        "/x/CLAUDE.md",
        "/x/.claude/CLAUDE.md",
        "/x/.claude/rules",
        "/x/CLAUDE.local.md",
        "/mem/MEMORY.md",
    ]


def test_the_plan_of_a_touched_file():
    found = [f"{folder}/{source.name} {source.when}" for source, folder in steps(TOUCH, Surroundings(), "/r/p/a/x")]
    assert found == [
        "/m/.claude/rules matching",
        "/u/rules matching",
        "/r/p/a/CLAUDE.md always",
        "/r/p/a/.claude/CLAUDE.md always",
        "/r/p/a/CLAUDE.local.md always",
        "/r/p/a/.claude/rules always",
        "/r/p/a/.claude/rules matching",
        "/r/.claude/rules matching",
        "/r/p/.claude/rules matching",
    ]


@pytest.mark.parametrize(
    ("git", "foreign"),
    [
        (None, set()),
        (Repository("/r/p", "/r/p", "/r/p/.git", bare=False), set()),  # an ordinary repository
        (Repository("/r/p/w", "/r/p", "/r/p/.git", bare=False), {"/r/p", "/r/p/trees"}),  # a worktree inside
        (Repository("/r/p/w", "/other", "/other/.git", bare=False), set()),  # a worktree outside
        (Repository("/r/p/w", "/r/p", "/r/p", bare=True), set()),  # of a bare repository
    ],
    ids=["none", "plain", "nested", "outside", "bare"],
)
def test_folders_of_the_main_repository_are_foreign(git, foreign):
    git = git and git._replace(top=git.top.replace("/w", "/trees/w"))
    assert find_foreign_folders(Surroundings("/r/p/trees/w/sub", git=git)) == foreign


def test_a_nested_worktree_on_disk(place):
    place.git("init -q")
    place.git("commit -q --allow-empty -m x")
    place.git(f"worktree add -q {place.path('proj/trees/w')}")
    for folder in ("", "proj", "proj/trees", "proj/trees/w"):
        place.write(f"{folder}/CLAUDE.md".lstrip("/"), "x")
        place.write(f"{folder}/CLAUDE.local.md".lstrip("/"), "x")
    view = place.load("proj/trees/w")
    assert place.told(view) == [
        "CLAUDE.md",
        "CLAUDE.local.md",
        "proj/CLAUDE.local.md",
        "proj/trees/CLAUDE.local.md",
        "proj/trees/w/CLAUDE.md",
        "proj/trees/w/CLAUDE.local.md",
    ]
    assert place.skipped(view) == [("proj/CLAUDE.md", "worktree"), ("proj/trees/CLAUDE.md", "worktree")]


def test_folders_one_by_one():
    assert (walk_of("/a/b"), folders_below("/a", "/a/b/c/x.ts")) == (["/a", "/a/b"], ["/a/b", "/a/b/c"])
