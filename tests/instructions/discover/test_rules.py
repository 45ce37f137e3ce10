"""The files of a rules folder."""

import os

from foretold.dialects.schema import Rules
from foretold.instructions.discover.rules import RuleFile, collation_key, find_rules
from foretold.storage.tree import Disk
from foretold.types import Skip

RULES = Rules(".md")


class Sorted(Disk):
    """A disk that lists by name, so that a test can say what comes first."""

    def scan(self, folder):
        items = super().scan(folder)
        return sorted(items) if isinstance(items, list) else items


def found(place, folder="rules", table=RULES):
    return [
        (place.short(each.path), place.short(each.real))
        if isinstance(each, RuleFile)
        else (place.short(each.path), each.reason)
        for each in find_rules(Sorted(), place.path(folder), table)
    ]


def plain(*paths):
    return [(path, path) for path in paths]


def test_every_md_file_at_any_depth(place):
    for name in ("a.md", ".hidden.md", ".h/b.md", "node_modules/c.md", "x.md/d.md", "README.md", "sub/sub/e.md"):
        place.write(f"rules/{name}")
    for name in ("b.MD", "c.mdc", "d.mdx", "e.markdown", "f.txt", "g.md.bak", "md"):
        place.write(f"rules/{name}")
    others = ("b.MD", "c.mdc", "d.mdx", "e.markdown", "f.txt", "g.md.bak", "md")
    assert [each for each in found(place) if each[1] != "wrong-extension"] == plain(
        "rules/.h/b.md",
        "rules/.hidden.md",
        "rules/README.md",
        "rules/a.md",
        "rules/node_modules/c.md",
        "rules/sub/sub/e.md",
        "rules/x.md/d.md",
    )
    assert {path for path, reason in found(place) if reason == "wrong-extension"} == {
        f"rules/{name}" for name in others
    }


def test_names_that_an_agent_leaves_out(place):
    for name in ("a.md", "B.MD", "c.txt", ".h.md", ".d/x.md"):
        place.write(f"rules/{name}")
    place.write("shared/s.md")
    place.link("rules/linked", "../shared")
    table = RULES._replace(any_case=True, hidden=False, linked_folders=False)
    assert found(place, table=table) == [
        ("rules/.d", "hidden"),
        ("rules/.h.md", "hidden"),
        ("rules/B.MD", "rules/B.MD"),
        ("rules/a.md", "rules/a.md"),
        ("rules/c.txt", "wrong-extension"),
        ("rules/linked", "not-walked"),
    ]
    wide = [each.path for each in find_rules(Sorted(), place.path("rules"), table, wide=True) if isinstance(each, Skip)]
    assert [os.path.basename(path) for path in wide] == [".h.md", "linked"]


def test_a_folder_is_expanded_where_it_stands(place):
    for name in ("a.md", "b/1.md", "b/2/x.md", "b/3.md", "c.md"):
        place.write(f"rules/{name}")
    assert found(place) == plain("rules/a.md", "rules/b/1.md", "rules/b/2/x.md", "rules/b/3.md", "rules/c.md")


def test_the_order_is_that_of_the_file_system(place):
    for name in ("z.md", "a.md", "m.md", "b.md"):
        place.write(f"rules/{name}")
    with os.scandir(place.path("rules")) as listing:
        order = [item.path for item in listing]
    assert [rule.path for rule in find_rules(Disk(), place.path("rules"), RULES)] == order


def test_links_are_followed(place):
    place.write("shared/a.md")
    place.write("shared/more/b.md")
    place.link("rules/file.md", "../shared/a.md")
    place.link("rules/folder", "../shared/more")
    assert found(place) == [("rules/file.md", "shared/a.md"), ("rules/folder/b.md", "shared/more/b.md")]


def test_the_folder_itself_may_be_a_link(place):
    place.write("shared/a.md")
    place.link("rules", "shared")
    assert found(place) == [("rules/a.md", "shared/a.md")]


def test_loops_end(place):
    place.write("rules/a.md")
    place.link("rules/back", ".")
    place.link("rules/sub/up", "..")
    place.link("rules/self.md", "self.md")
    assert found(place) == [
        ("rules/a.md", "rules/a.md"),
        ("rules/back", "symlink-loop"),
        ("rules/self.md", "missing"),
        ("rules/sub/up", "symlink-loop"),
    ]


def test_a_folder_reached_twice_is_no_loop(place):
    """Two links to one folder, or a link beside the folder: nothing leads back to itself."""
    place.write("rules/b/x.md")
    place.link("rules/a", "b")
    reasons = [reason for _, reason in found(place) if not reason.startswith("rules/")]
    assert reasons == ["duplicate"]


def test_what_cannot_be_a_rule(place):
    place.fifo("rules/fifo.md")
    place.fifo("rules/fifo")
    place.link("rules/dangling.md", "gone")
    place.link("rules/device.md", "/dev/null")
    assert found(place) == [
        ("rules/dangling.md", "missing"),
        ("rules/device.md", "not-a-file"),
        ("rules/fifo.md", "not-a-file"),
    ]


def test_a_folder_that_is_not_there(place):
    assert list(find_rules(Disk(), place.path("rules"), RULES)) == [Skip(place.path("rules"), "missing")]


def test_deep_folders(place):
    path = "rules/" + "d/" * 500 + "x.md"
    place.write(path)
    assert found(place) == plain(path)


def test_names_in_the_order_of_a_locale():
    names = ["b", "Ab", "aB", "é", "_u", ".x", "9", "10"]
    assert sorted(names, key=collation_key) == ["_u", ".x", "10", "9", "aB", "Ab", "b", "é"]
