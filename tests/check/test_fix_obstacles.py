"""Files that cannot be written safely: their fixes are refused with the reason, and all others are made."""

import os

import pytest

from foretold.check.fix import write_fixes
from foretold.errors import RestoreRefused

from .fixing import fix, plan, read, run, store

COMMA = "See @{}docs/style.md, please.\n"


@pytest.fixture
def two(place):
    """A project with one file that can be fixed, and room for one that cannot."""
    place.git("init -q")
    place.write("proj/docs/style.md", "Short names.\n")
    place.write("proj/CLAUDE.md", COMMA.format(""))
    place.write("proj/api/CLAUDE.md", COMMA.format("../"))
    return place


def refusals(place, *, unsafe=False):
    """What is fixed, and path, code and reason of what is refused; everything else is written."""
    found = plan(place, unsafe=unsafe)
    kept = [(found.project.relative(each.finding.path), each.finding.code, each.reason) for each in found.refused]
    return fix(place, unsafe=unsafe), kept


def test_a_file_with_two_names_is_refused_and_the_others_are_fixed(two):
    os.link(two.path("proj/api/CLAUDE.md"), two.path("proj/api/copy.md"))
    reason = "api/CLAUDE.md has 2 names (hard links), and only one of them would get the new text"
    assert refusals(two) == (["import-punctuation"], [("api/CLAUDE.md", "import-punctuation", reason)])
    assert read(two, "CLAUDE.md") == "See @docs/style.md , please.\n"
    assert read(two, "api/copy.md") == read(two, "api/CLAUDE.md") == COMMA.format("../")


def test_a_file_with_two_names_is_not_renamed(place):
    place.git("init -q")
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/src/claude.md", "Sources.\n")
    os.link(place.path("proj/src/claude.md"), place.path("copy.md"))
    fixed, kept = refusals(place)
    assert (fixed, [each[:2] for each in kept]) == ([], [("src/claude.md", "name-case")])


def test_a_local_file_that_a_nested_gitignore_brings_back_is_refused_and_the_others_are_fixed(two):
    two.write("proj/.gitignore", "!CLAUDE.local.md\n")  # the line that is added comes after it, and counts
    two.write("proj/CLAUDE.local.md", "Mine.\n")
    two.write("proj/sub/.gitignore", "# ours\n!CLAUDE.local.md\n")
    two.write("proj/sub/CLAUDE.local.md", "Mine.\n")
    fixed, kept = refusals(two)
    assert sorted(fixed) == ["import-punctuation", "import-punctuation", "local-not-ignored"]
    reason = "sub/.gitignore:2 says !CLAUDE.local.md, and counts more than the .gitignore at the top"
    assert kept == [("sub/CLAUDE.local.md", "local-not-ignored", reason)]
    assert read(two, ".gitignore") == "!CLAUDE.local.md\nCLAUDE.local.md\n"


@pytest.mark.parametrize("place_of_rule", ["info/exclude", "home"])
def test_rules_that_count_less_than_gitignore_do_not_stop_a_fix(two, place_of_rule, monkeypatch):
    monkeypatch.setenv("HOME", two.home)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    path = "home/.config/git/ignore" if place_of_rule == "home" else "proj/.git/info/exclude"
    two.write(path, "!CLAUDE.local.md\n")
    two.write("proj/CLAUDE.local.md", "Mine.\n")
    fixed, kept = refusals(two)
    assert (sorted(fixed)[-1], kept) == ("local-not-ignored", [])


def test_a_gitignore_that_is_a_broken_link_is_refused_and_the_others_are_fixed(two):
    two.write("proj/CLAUDE.local.md", "Mine.\n")
    two.link("proj/.gitignore", "nowhere")
    reason = ".gitignore is a link that leads nowhere"
    assert refusals(two) == (["import-punctuation"] * 2, [("CLAUDE.local.md", "local-not-ignored", reason)])
    assert os.readlink(two.path("proj/.gitignore")) == "nowhere"


def test_a_broken_link_in_the_place_of_a_new_file_is_refused(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/api/AGENTS.md", "Api.\n")
    place.link("proj/api/CLAUDE.md", "gone.md")
    fixed, kept = refusals(place, unsafe=True)
    assert fixed == []
    assert all("is a link that leads nowhere" in reason for _, _, reason in kept)
    assert os.readlink(place.path("proj/api/CLAUDE.md")) == "gone.md"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_refused_and_the_others_are_fixed(two):
    os.chmod(two.path("proj/api"), 0o555)
    try:
        fixed, kept = refusals(two)
    finally:
        os.chmod(two.path("proj/api"), 0o755)
    assert (fixed, kept) == (
        ["import-punctuation"],
        [("api/CLAUDE.md", "import-punctuation", "api/CLAUDE.md: api is not writable; check its mode and owner")],
    )


def test_several_findings_of_a_file_that_cannot_be_written_are_all_named(two):
    for name in "abc":
        two.write(f"proj/docs/{name}.md", f"{name}\n")
    two.write("proj/api/CLAUDE.md", "".join(f"See @../docs/{name}.md, please.\n" for name in "abc"))
    os.link(two.path("proj/api/CLAUDE.md"), two.path("copy.md"))
    found = plan(two)
    assert [(each.finding.line, each.reason.partition(" (")[0]) for each in found.refused] == [
        (number, "api/CLAUDE.md has 2 names") for number in (1, 2, 3)
    ]


def test_the_command_says_what_is_not_fixed_and_why(two):
    os.link(two.path("proj/api/CLAUDE.md"), two.path("proj/api/copy.md"))
    status, printed = run(two, "--fix")
    assert status == 1
    assert printed.split("api/CLAUDE.md:1  import-punctuation\n")[1].split("\n\n")[0] == (
        "  not fixed (put white space after @../docs/style.md): api/CLAUDE.md has 2 names\n"
        "  (hard links), and only one of them would get the new text"
    )
    assert "fixed 1 finding in 1 file\n" in printed
    assert "not fixed: 1 finding, see above\n" in printed


def test_a_link_that_appears_meanwhile_is_not_followed(two):
    two.write("proj/CLAUDE.local.md", "Mine.\n")
    found = plan(two)
    two.link("proj/.gitignore", "../outside")
    with pytest.raises(RestoreRefused):
        write_fixes(found, store(two))
    assert not os.path.exists(two.path("outside"))
    assert read(two, "CLAUDE.md") == COMMA.format("")
