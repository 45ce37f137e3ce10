"""The family sense: contradictions, and sentences that only look like one."""

import pytest

from foretold.check import CheckOptions, Project, check_tree
from foretold.check.settings import CheckSettings


def check(place):
    project = Project(place.proj, CheckOptions(home=""))
    report = check_tree(project, CheckSettings(select=("sense",)))
    return [(project.relative(each.path), each.line) for each in report.findings]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use pnpm.", "- Always use `npm` to install packages."),
        ("Use npm for dependencies.", "We use yarn."),
        ("- Use tabs for indentation.", "Indent with 2 spaces."),
        ("Use uv.", "Use poetry for dependencies."),
        ("- Always commit the lock file.", "- Never commit the lock file."),
        ("**Always** run the linter before a commit.", "Do not run the linter before a commit."),
        ("Use single quotes.", "Prefer double quotes for strings."),
    ],
)
def test_contradictions(place, one, other):
    place.write("proj/CLAUDE.md", f"# Style\n\n{one}\n")
    place.write("proj/.claude/rules/more.md", f"{other}\n")
    assert check(place) == [(".claude/rules/more.md", 1)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use pnpm.", "Use pnpm, not npm."),
        ("Use pnpm.", "Never use npm."),
        ("Use pnpm.", "Run `npm publish` to release."),
        ("Use pnpm.", "Use npm in examples/legacy."),
        ("Use tabs.", "Use 2 spaces for YAML files."),
        ("Use tabs.", "Use spaces in Makefile.am"),
        ("Use pnpm.", "```\nUse npm.\n```"),
        ("Use pnpm.", "    Use npm."),
        ("Always use types.", "Never use globals."),
        ("Use npm scripts.", "Use pnpm."),
    ],
)
def test_sentences_that_agree(place, one, other):
    place.write("proj/CLAUDE.md", f"# Style\n\n{one}\n")
    place.write("proj/.claude/rules/more.md", f"{other}\n")
    assert check(place) == []


def test_folders_that_never_meet_may_differ(place):
    place.write("proj/web/CLAUDE.md", "Use pnpm.\n")
    place.write("proj/api/CLAUDE.md", "Use npm.\n")
    assert check(place) == []
    place.write("proj/web/old/CLAUDE.md", "Use yarn.\n")
    assert check(place) == [("web/old/CLAUDE.md", 1)]


def test_a_rule_for_some_files_may_differ(place):
    place.write("proj/src/a.yml", "")
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/.claude/rules/yaml.md", '---\npaths: "**/*.yml"\n---\nUse 2 spaces.\n')
    assert check(place) == []


def test_a_rule_about_the_readme_says_what_users_run(place):
    place.write("proj/pnpm-lock.yaml", "")
    place.write("proj/CLAUDE.md", "Be kind.\n")
    place.write("proj/.claude/rules/readme-conventions.md", "- Install command first (npm install)\n")
    assert check(place) == []
    place.write("proj/.claude/rules/setup.md", "- Install first (npm install)\n")
    assert check(place) == [(".claude/rules/setup.md", 1)]
