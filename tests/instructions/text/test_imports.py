"""Where an `@path` leads, and whether the agent follows it."""

import pytest

from foretold.dialects.claude_code.instructions import EXTENSIONS
from foretold.dialects.registry import dialect_at
from foretold.instructions.text.imports import extension_of, is_contained, is_text, target_of
from foretold.storage.tree import Disk

V2_1_197, V2_1_325 = (dialect_at("claude-code", version) for version in ("2.1.197", "2.1.325"))


@pytest.mark.parametrize(
    ("mention", "target"),
    [
        ("a.md", "/p/d/a.md"),
        ("./a.md", "/p/d/a.md"),
        ("../a.md", "/p/a.md"),
        ("../../../../a.md", "/a.md"),
        ("/x/a.md", "/x/a.md"),
        ("~/a.md", "/h/a.md"),
        ("~nobody/a.md", "/p/d/~nobody/a.md"),
        ("a.md#part", "/p/d/a.md"),
        ("a#b.md", "/p/d/a"),
        ("#a", ""),
        ("", ""),
        ("a//b/./c.md", "/p/d/a/b/c.md"),
        ("a b.md", "/p/d/a b.md"),
        ("a.md?x", "/p/d/a.md?x"),
        ("a.md:10", "/p/d/a.md:10"),
    ],
)
def test_targets(mention, target):
    assert target_of(mention, "/p/d", "/h") == target


@pytest.mark.parametrize(
    ("name", "extension"),
    [
        ("a.md", "md"),
        ("A.MD", "md"),
        ("a.tar.gz", "gz"),
        ("Makefile", ""),
        (".env", ""),
        (".env.local", "local"),
        ("a.", "."),
        ("a.md,", "md,"),
        ("x.y/Makefile", ""),
    ],
)
def test_extensions(name, extension):
    assert extension_of("/p/" + name) == extension


def test_the_list_of_extensions():
    assert len(EXTENSIONS) == 106
    assert [
        name for name in ("mdx", "markdown", "mdc", "jsonl", "svg", "zig", "tsv", "md,") if name in EXTENSIONS
    ] == []


@pytest.mark.parametrize(
    ("path", "text"), [("/a.md", True), ("/a.MD", True), ("/a", True), ("/.x", True), ("/a.mdx", False), ("/a.", False)]
)
def test_what_counts_as_text(path, text):
    assert is_text(path, V2_1_325.imports) is text


class Surroundings:
    """What containment depends on."""

    def __init__(self, cwd, *, approved):
        self.cwd, self.approved = cwd, lambda _: approved


@pytest.mark.parametrize(
    ("path", "layer", "old", "new"),
    [
        ("proj/a.md", "project", True, True),
        ("proj", "project", True, True),
        ("project/a.md", "project", False, False),
        ("out.md", "project", False, False),
        ("out.md", "local", False, False),
        ("out.md", "managed", False, False),
        ("out.md", "user", True, True),
        ("proj/link.md", "project", True, False),
        ("proj/folder/out.md", "project", True, False),
        ("back/a.md", "project", False, False),
        ("proj/gone/x.md", "project", True, True),
    ],
)
def test_containment(place, path, layer, old, new):
    place.write("out.md")
    place.write("proj/a.md")
    place.link("proj/link.md", "../out.md")
    place.link("proj/folder", "..")
    place.link("back", "proj")
    surroundings = Surroundings(place.proj, approved=False)
    found = [
        is_contained(place.path(path), layer, dialect.imports, surroundings, Disk()) for dialect in (V2_1_197, V2_1_325)
    ]
    assert found == [old, new]
    assert is_contained(place.path(path), layer, V2_1_325.imports, Surroundings(place.proj, approved=True), Disk())


def test_four_levels_of_imports(place):
    place.write("proj/CLAUDE.md", "@1.md")
    for level in range(1, 7):
        place.write(f"proj/{level}.md", f"level {level} @{level + 1}.md")
    view = place.load()
    assert [(place.short(entry.path), entry.depth) for entry in view.entries] == [
        ("proj/CLAUDE.md", 0),
        ("proj/1.md", 1),
        ("proj/2.md", 2),
        ("proj/3.md", 3),
        ("proj/4.md", 4),
    ]
    assert place.skipped(view) == [("proj/5.md", "depth-cap")]
    assert place.found(view) == [("proj/4.md", 1, "import-too-deep")]


def test_imports_in_a_circle(place):
    place.write("proj/CLAUDE.md", "@a.md @CLAUDE.md")
    place.write("proj/a.md", "@b.md @a.md")
    place.write("proj/b.md", "@a.md @CLAUDE.md @./docs/../b.md")
    view = place.load()
    assert place.told(view) == ["proj/CLAUDE.md", "proj/a.md", "proj/b.md"]
    assert {reason for _, reason in place.skipped(view)} == {"duplicate"}


def test_the_same_file_by_three_names(place):
    place.write("proj/CLAUDE.md", "@a.md @./a.md @link.md @docs/../a.md")
    place.write("proj/a.md", "once")
    place.link("proj/link.md", "a.md")
    view = place.load()
    assert place.told(view) == ["proj/CLAUDE.md", "proj/a.md"]
    assert place.skipped(view) == [("proj/link.md", "duplicate")]


def test_relative_to_the_target_of_a_link(place):
    place.write("proj/docs/real.md", "@near.md")
    place.write("proj/docs/near.md", "near")
    place.write("proj/near.md", "wrong")
    place.link("proj/CLAUDE.md", "docs/real.md")
    assert place.told(place.load()) == ["proj/CLAUDE.md", "proj/docs/near.md"]


def test_targets_and_endings():
    assert target_of("docs/../a.md#part", "/repo", "/home/me") == "/repo/a.md"
    assert [extension_of(path) for path in ("/a/B.Md", "/a/.env", "/a/b.")] == ["md", "", "."]
