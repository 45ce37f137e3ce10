"""Imports that lead nowhere, out, round or too far: never an exception, always an account."""

import pytest

from foretold.storage.tree import Disk
from foretold.types import REASONS

BOTH = pytest.mark.parametrize("version", ["2.1.197", "2.1.325"])

IMPORTS = {
    "a name of 5,000 characters": ("a" * 5000 + ".md", "bad-name"),
    "a path of 5,000 characters": ("a/" * 2500 + "x.md", "bad-name"),
    "a path of 5,000 characters outside": ("/" + "a/" * 2500 + "x.md", None),
    "dots": ("../" * 2000 + "x.md", None),
    "a NUL": ("a\0b.md", None),
    "a NUL far down": ("a/" * 120 + "\0/b.md", None),
    "another home": ("~nobody/x", None),
    "no home": ("~nobody", None),
    "a home that is not there": ("~/x.md", None),
    "a folder": ("docs", "folder"),
    "the root": ("/", None),
    "a device": ("/dev/zero", None),
    "a FIFO": ("fifo.md", "not-a-file"),
    "a file as a folder": ("file.md/x.md", "missing"),
    "a loop": ("loop.md", "symlink-loop"),
    "a folder loop": ("loop.md/x.md", "symlink-loop"),
    "a link out": ("out.md", None),
    "punctuation": ("file.md,", "missing"),
    "control characters": ("\x1b[31m\x07.md", None),
}


@pytest.mark.parametrize("kind", IMPORTS)
@BOTH
def test_imports(place, version, kind):
    mention, reason = IMPORTS[kind]
    place.folder("proj/docs")
    place.write("proj/file.md")
    place.fifo("proj/fifo.md")
    place.link("proj/loop.md", "loop.md")
    place.link("proj/out.md", "/dev/zero")
    path = place.write("proj/CLAUDE.md", f"text\n\n@{mention} more\n")
    view = place.load(version=version)
    assert [entry.path for entry in view.entries] == [path]
    for skip in view.skips:
        assert (skip.parent, skip.line, skip.reason in REASONS) == (path, 3, True)
    if reason:
        assert [skip.reason for skip in view.skips] == [reason]


@pytest.mark.parametrize(
    "kind", ["a path of 5,000 characters", "a name of 5,000 characters", "a NUL", "another home", "a link out"]
)
def test_a_bad_import_is_named(place, kind):
    """By a skip or by a finding, at the line where it stands."""
    mention, _ = IMPORTS[kind]
    place.link("proj/out.md", "/dev/zero")
    place.write("proj/CLAUDE.md", f"text\n\n@{mention} more\n")
    view = place.load()
    start = mention[:10]
    assert any(start in skip.path and skip.line == 3 for skip in view.skips) or any(
        start in finding.message and finding.line == 3 for finding in view.findings
    )


@BOTH
def test_imports_that_go_round_and_round(place, version):
    for number in range(6):
        links = " ".join(f"@{other}.md" for other in range(6))
        place.write(f"proj/{number}.md", links + " @CLAUDE.md")
    place.write("proj/CLAUDE.md", "@0.md @CLAUDE.md")
    view = place.load(version=version)
    told = [entry.path for entry in view.entries]
    assert sorted(place.told(view)) == sorted(["proj/CLAUDE.md", *(f"proj/{number}.md" for number in range(6))])
    assert len(told) == len(set(told))


def test_a_tree_of_imports_is_not_walked_twice(place):
    """Each file imports all the others: as many reads as files, whatever the ways."""

    class Counting(Disk):
        reads = 0

        def read(self, path, limit):
            Counting.reads += path.endswith(".md")
            return super().read(path, limit)

    links = " ".join(f"@{other}.md" for other in range(40))
    for number in range(40):
        place.write(f"proj/{number}.md", links)
    place.write("proj/CLAUDE.md", links)
    view = place.load(tree=Counting())
    assert len(view.entries) == 41
    assert Counting.reads < 100
