"""The map of what each agent is given: when, by what, and where it is cut."""

import os
import shutil
import tempfile

import pytest
from hypothesis import given, settings, strategies as st

from foretold.check import CheckOptions, Project
from foretold.check.delivered import CutText, describe_deliveries, describe_when, find_heading, map_deliveries
from foretold.instructions.discover.nested import WaitingRules
from foretold.instructions.session import Session

AGENTS = ("claude-code@2.1.325",)


def project(place, *agents):
    return Project(place.proj, CheckOptions(agents=agents or AGENTS, home=""))


def rows(found):
    """What is given in all places, without digests."""
    return [
        (place.agent.partition("@")[0], place.folder, each.path, each.when, each.scope)
        for place in found.places
        for each in place.deliveries
    ]


def test_everything_that_claude_code_may_be_given_is_there_with_its_time(place):
    place.write("proj/CLAUDE.md", "Use tabs. @docs/style.md\n")
    place.write("proj/docs/style.md", "Style.\n")
    place.write("proj/.claude/rules/api.md", '---\npaths: "api/**/*.ts"\n---\nValidate.\n')
    place.write("proj/api/CLAUDE.md", "Handlers.\n")
    place.write("proj/api/.claude/rules/sql.md", '---\npaths: "*.sql"\n---\nNo locks.\n')
    assert rows(map_deliveries(project(place))) == [
        ("claude-code", "", ".claude/rules/api.md", "match", ("", "api/**/*.ts")),
        ("claude-code", "", "CLAUDE.md", "always", ()),
        ("claude-code", "", "api/.claude/rules/sql.md", "match", ("api", "*.sql")),
        ("claude-code", "", "api/CLAUDE.md", "touch", ("api",)),
        ("claude-code", "", "docs/style.md", "always", ()),
    ]


def test_an_agent_that_looks_only_at_its_start_has_a_place_for_every_folder_with_its_files(place):
    place.git("init -q")
    place.write("proj/AGENTS.md", "Top.\n")
    place.write("proj/api/AGENTS.md", "Api.\n")
    assert rows(map_deliveries(project(place, "codex"))) == [
        ("codex", "", "AGENTS.md", "always", ()),
        ("codex", "api", "AGENTS.md", "always", ()),
        ("codex", "api", "api/AGENTS.md", "always", ()),
    ]


def test_what_the_start_has_is_not_given_again(place):
    place.write("proj/CLAUDE.md", "@docs/style.md\n")
    place.write("proj/docs/style.md", "Style.\n")
    place.write("proj/api/CLAUDE.md", "@../docs/style.md\n")
    found = [row for row in rows(map_deliveries(project(place))) if row[2] == "docs/style.md"]
    assert found == [("claude-code", "", "docs/style.md", "always", ())]


def test_the_text_counts_not_the_file(place):
    place.write("proj/CLAUDE.md", "<!-- a note -->\n\nUse tabs.\n")
    before = map_deliveries(project(place))
    place.write("proj/CLAUDE.md", "<!-- another note -->\n\nUse tabs.\n")
    assert map_deliveries(project(place)) == before
    place.write("proj/CLAUDE.md", "Use spaces.\n")
    assert map_deliveries(project(place)) != before


def test_a_cut_has_its_bytes_its_line_and_its_heading(place):
    place.git("init -q")
    place.write("proj/AGENTS.md", "x" * 32_760 + "\n")
    place.write("proj/api/AGENTS.md", "# Api\n\n## Routes\n\nValidate.\n")
    (top, api) = map_deliveries(project(place, "codex")).places
    assert [each.cut for each in (*top.deliveries, *api.deliveries)] == [None, None, CutText(21, 3, "Routes")]


def test_a_link_is_found_by_both_names(place):
    place.write("proj/AGENTS.md", "Top.\n")
    place.link("proj/CLAUDE.md", "AGENTS.md")
    found = map_deliveries(project(place))
    assert [each.path for _, each in found.find("AGENTS.md")] == ["CLAUDE.md"]
    assert [each.path for _, each in found.find("CLAUDE.md")] == ["CLAUDE.md"]


def test_a_file_whose_text_is_put_into_another_is_found(place):
    place.write("proj/GEMINI.md", "See @./docs/style.md\n")
    place.write("proj/docs/style.md", "Style.\n")
    found = map_deliveries(project(place, "gemini-cli")).find("docs/style.md")
    assert [(each.path, each.includes) for _, each in found] == [("GEMINI.md", ("docs/style.md",))]


def test_an_agent_that_refuses_to_start_is_given_nothing(place):
    found = map_deliveries(project(place, "claude-code@2.1.325", "codex"))
    assert [(each.folder, each.tokens, each.deliveries) for each in found.places] == [("", 0, ()), ("", 0, ())]


def test_a_line_for_each_agent(place):
    place.write("proj/AGENTS.md", "y" * 40_000 + "\n")
    place.write("proj/CLAUDE.md", "@AGENTS.md\n")
    place.write("proj/api/CLAUDE.md", "Api.\n")
    place.write("proj/.claude/rules/a.md", '---\npaths: ["a/**", "b/**"]\n---\nA.\n')
    found = project(place, "claude-code@2.1.325", "codex")
    described = {
        path: describe_deliveries(found, place.path(f"proj/{path}")) for path in ("AGENTS.md", "api/CLAUDE.md")
    }
    assert described == {
        "AGENTS.md": ["Claude Code: always, 10,001 tokens", "Codex: always, 8,192 tokens; cut in line 1"],
        "api/CLAUDE.md": ["Claude Code: when a file in api is touched, 2 tokens", "Codex: not delivered"],
    }
    (rule,) = [each for _, each in map_deliveries(found).find(".claude/rules/a.md")]
    assert describe_when(rule) == "when a file that matches a/**, b/** is touched"


@pytest.mark.parametrize(
    ("line", "heading"), [(1, "One"), (2, "Two"), (3, "Two"), (7, ""), (99, "")], ids=["1", "2", "3", "7", "99"]
)
def test_the_first_heading_from_a_line_on(line, heading):
    assert find_heading("# One\n```\n# not one\n```\n## Two ##\n", line) == heading


# -- against a session


FOLDERS = ("", "a/", "a/b/", "c/")
FILES = [f"{folder}{name}" for folder in FOLDERS for name in ("CLAUDE.md", "AGENTS.md", ".claude/rules/r.md")]
TEXTS = (
    "One.\n",
    "Two. @docs/x.md\n",
    '---\npaths: "**/*.ts"\n---\nTypes.\n',
    "---\npaths: b/*.py\n---\nPython.\n",
    "",
)


@settings(max_examples=60)
@given(
    st.dictionaries(st.sampled_from(FILES), st.sampled_from(TEXTS)),
    st.sampled_from(FOLDERS),
    st.sampled_from(("f.ts", "f.py")),
)
def test_a_touched_file_brings_what_the_map_says(files, folder, name):
    root = os.path.realpath(tempfile.mkdtemp())
    try:
        for path, text in {**files, "docs/x.md": "X.\n", f"{folder}{name}": ""}.items():
            whole = os.path.join(root, path)
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            with open(whole, "w", encoding="utf-8") as file:
                file.write(text)
        found = Project(root, CheckOptions(agents=AGENTS, home=""))
        (place,) = map_deliveries(found).places
        session = Session(root, agent=AGENTS[0], home="/dev/null/home", managed="/dev/null/home", env={}, trust=True)
        start = {os.path.relpath(entry.path, root) for entry in session.start().entries}
        assert {each.path for each in place.deliveries if each.when == "always"} == start
        brought = {os.path.relpath(entry.path, root) for entry in session.read(f"{folder}{name}").entries}
        assert expected(found, place, f"{folder}{name}") == brought
    finally:
        shutil.rmtree(root)


def expected(found, place, touched):
    """What the map says of a touched file: the texts of folders above it, and rules that match."""
    whole = found.absolute(touched)
    (choice,) = found.choices
    rules = WaitingRules((*found.view(choice).waiting, *found.nested(choice).waiting), choice.dialect.rules.patterns)
    awake = {found.relative(rule.entry.path) for rule in rules.matching(whole)}
    above = {folder for folder in place_folders(touched) if folder}
    touch = {each.path for each in place.deliveries if each.when == "touch" and each.scope[0] in above}
    return touch | {each.path for each in place.deliveries if each.when == "match" and each.path in awake}


def place_folders(path):
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
