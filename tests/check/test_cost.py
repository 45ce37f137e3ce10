"""The family cost: sizes, budgets and repeated text."""

from foretold.check import CheckOptions, Project, check_tree
from foretold.check.delivery.reach import is_in_skill
from foretold.check.settings import CheckSettings

LONG = "The handlers of the service log each request with its identifier and the time that it took.\n"


def check(place, **settings):
    project = Project(place.proj, CheckOptions(home=""))
    report = check_tree(project, CheckSettings(select=("cost",), **settings))
    return [(project.relative(each.path), each.line, each.code, each.message) for each in report.findings]


def test_a_file_above_the_advised_number_of_lines(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n" * 201)
    said = "it has 201 lines; the documentation of Claude Code asks for at most 200 (about 503 tokens)"
    assert check(place) == [("CLAUDE.md", None, "file-long", said)]


def test_a_file_that_the_program_warns_of(place):
    place.write("proj/.claude/rules/all.md", "x" * 40_001)
    said = "it has 40,001 characters; Claude Code warns of more than 40,000 (about 10,001 tokens)"
    assert check(place) == [(".claude/rules/all.md", None, "instructions-long", said)]


def test_the_budget_of_the_repository(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n" * 100)
    [(path, line, code, said)] = check(place, budgets={"claude-code": 200})
    assert (path, line, code) == ("CLAUDE.md", None, "tokens-over-budget")
    assert said.endswith("more than the budget of 200; the largest file is this one with 250")
    assert check(place, budgets={"claude-code": 1000}) == []


def test_paragraphs_that_are_delivered_together(place):
    place.write("proj/CLAUDE.md", f"# Top\n\n{LONG * 6}\nUse tabs.\n")
    place.write("proj/api/CLAUDE.md", f"# API\n\nOnly here.\n\n{LONG * 6}\n{'Other words. ' * 30}\n")
    said = "6 lines of about 137 tokens are also in CLAUDE.md:3, and both files are delivered together"
    assert check(place) == [("api/CLAUDE.md", 5, "text-repeated", said)]


def test_a_skill_above_the_size_of_the_specification(place):
    place.write("proj/.claude/skills/a/SKILL.md", "---\nname: a\ndescription: b\n---\n" + "x\n" * 500)
    said = "it has 505 lines; the specification of Agent Skills asks for at most 500"
    assert check(place) == [(".claude/skills/a/SKILL.md", None, "file-long", said)]


def test_paragraphs_of_folders_that_never_meet_are_no_repetition(place):
    place.write("proj/a/CLAUDE.md", f"# A\n\n{LONG * 6}\n{'Other words. ' * 30}\n")
    place.write("proj/b/CLAUDE.md", f"# B\n\n{LONG * 6}\n{'Some words. ' * 30}\n")
    assert check(place) == []


def test_a_file_outside_of_the_tree_is_in_no_skill_of_it(place):
    """The walk upwards from its folder never meets the top."""
    place.write("proj/.claude/skills/a/SKILL.md", "---\nname: a\ndescription: b\n---\n")
    project = Project(place.proj, CheckOptions(home=""))
    inside = place.path("proj/.claude/skills/a/references")
    folders = (place.path("home"), "/", place.proj, inside)
    assert [is_in_skill(project, folder) for folder in folders] == [False, False, False, True]
