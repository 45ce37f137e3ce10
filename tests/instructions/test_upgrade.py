"""What two releases of one agent do differently in one folder."""

import pytest

import foretold
from foretold.dialects.registry import history_of
from foretold.instructions.compare import Cell
from foretold.instructions.upgrade import UpgradedFile, _find_moved
from foretold.text.diff import LineCount
from foretold.types import Entry


def upgraded(place, before, after, cwd="proj", **options):
    options = {"home": place.home, "managed": place.managed, "env": {}, "now": "2026-01-02", **options}
    return foretold.compare_releases(place.path(cwd), before, after, **options)


def rows(place, found):
    return [(each.kind, place.short(each.path), each.before.state, each.after.state) for each in found.files]


def says(changes):
    return [change.says for change in changes]


def test_a_file_that_comes(place):
    place.write("proj/AGENTS.md", "Use tabs.\n")
    found = upgraded(place, "2.1.280", "2.1.281")
    assert found.files == (UpgradedFile("new", f"{place.proj}/AGENTS.md", Cell(), Cell("always", 1, 3)),)
    assert (found.before.tokens, found.is_changed) == (0, True)
    assert "AGENTS.md is loaded where there is no CLAUDE.md." in says(found.effects)
    assert "What was loaded at the start is not attached again." in says(found.idle)


def test_the_other_way_it_goes(place):
    """`before` may be the newer one: nothing is played then, but the ends are compared."""
    place.write("proj/AGENTS.md", "Use tabs.\n")
    found = upgraded(place, "2.1.281", "2.1.280")
    assert rows(place, found) == [("gone", "proj/AGENTS.md", "always", "")]


def test_a_text_that_changes_and_one_that_comes_later(place):
    place.write("proj/CLAUDE.md", "<!--\nnote\n-->\nUse tabs.\n")
    place.write("proj/.claude/rules/ts.md", "---\npaths: '*.ts'\n---\nTS\n")
    place.write("proj/.claude/rules/all.md", "All\n")
    found = upgraded(place, "2.0.60", "2.1.72")
    assert rows(place, found) == [
        ("changed", "proj/CLAUDE.md", "always", "always"),
        ("new", "proj/.claude/rules/all.md", "", "always"),
        ("new", "proj/.claude/rules/ts.md", "", "waits"),
    ]
    assert found.files[0].lines == LineCount(added=0, removed=3)
    assert {"2.0.64", "2.1.64", "2.1.72"} <= {change.version for change in found.effects}


def test_nested_files_and_what_touching_attaches(place):
    place.write("proj/api/CLAUDE.md", "JSON.\n")
    path = place.write("proj/api/x.py")
    found = upgraded(place, "2.1.63", "2.1.64", files=[path])
    assert rows(place, found) == [("new", "proj/api/CLAUDE.md", "never", "nested")]
    (read,) = found.reads
    assert read.is_changed
    assert (place.told(read.before), place.told(read.after)) == ([], ["proj/api/CLAUDE.md"])


def test_tools_count_only_where_something_waits_for_them(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    said = "Write and Edit attach nested instruction files and rules, too."
    found = upgraded(place, "2.1.287", "2.1.288")
    assert (found.is_changed, said in says(found.idle)) == (False, True)
    place.write("proj/.claude/rules/ts.md", "---\npaths: '*.ts'\n---\nTS\n")
    found = upgraded(place, "2.1.287", "2.1.288")
    assert (found.is_changed, found.files, said in says(found.effects)) == (True, (), True)


def test_findings_and_skips_that_come(place):
    place.write("proj/.claude/rules/bad.md", "---\npaths: [a\n---\nBad\n")
    found = upgraded(place, "2.0.60", "2.1.100")
    assert place.codes(found.after, f"{place.proj}/.claude/rules/bad.md") == [finding.code for finding in found.new]
    assert found.new
    assert (found.fixed, found.unskipped) == ((), ())


def test_the_same_release_twice(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    found = upgraded(place, "2.1.200", "2.1.200")
    assert (found.is_changed, found.effects, found.idle) == (False, (), ())


def test_without_versions_all_that_is_known_is_compared(place):
    found = upgraded(place, "", "", agent="claude-code")
    assert (found.before.dialect.version, found.after.dialect.version) == history_of("claude-code").ends
    found = upgraded(place, "", "2.1.300", agent="claude-code@2.1.250")
    assert (found.before.choice.asked, found.after.choice.asked) == ("2.1.250", "2.1.300")


def test_moved_files_are_the_fewest():
    def entries(names):
        return [Entry(name, "project", "", "") for name in names]

    assert _find_moved(entries("abcde"), entries("bcdea")) == {"a"}
    assert _find_moved(entries("abcde"), entries("abcde")) == set()
    assert _find_moved(entries("abc"), entries("xcyb")) in ({"b"}, {"c"})


def test_variables_count_as_they_do_for_each_release(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    found = upgraded(place, "1.0.67", "1.0.128", env={"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1"})
    assert rows(place, found) == [("gone", "proj/CLAUDE.md", "always", "")]


def test_other_agents_with_one_release_have_nothing_to_compare(place):
    place.write("proj/AGENTS.md", "Use tabs.\n")
    found = upgraded(place, "", "", agent="cline")
    assert (found.is_changed, found.effects, found.idle, found.unseen) == (False, (), (), ())


@pytest.mark.parametrize("count", [60])
def test_many_nested_files_are_all_compared(place, count):
    for number in range(count):
        place.write(f"proj/a{number:02}/CLAUDE.md", "JSON.\n")
    found = upgraded(place, "2.1.63", "2.1.64")
    assert [each.kind for each in found.files] == ["new"] * count
