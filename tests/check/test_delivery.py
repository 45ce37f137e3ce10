"""The family delivery: what is not given, given by accident, or given twice. Each fault, and what looks like it."""

import pytest

from foretold.check import CheckOptions, Project, check_tree
from foretold.check.settings import CheckSettings


def check(place, *families, **options):
    """The findings of some families about the project, as path, line, code and agents."""
    project = Project(place.proj, CheckOptions(**{"home": "", **options}))
    report = check_tree(project, CheckSettings(select=families or ("delivery",)))
    return [(project.relative(each.path), each.line, each.code) for each in report.findings]


def messages(place, code, **options):
    project = Project(place.proj, CheckOptions(**{"home": "", **options}))
    found = check_tree(project, CheckSettings(select=(code,))).findings
    return [(each.message, each.hint) for each in found]


def test_a_tree_without_instructions_is_clean(place):
    place.write("proj/src/app.py", "print(1)\n")
    assert check(place) == []


def test_an_agents_file_below_a_claude_file_is_never_read(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/services/api/AGENTS.md", "Use the API's own logger.\n")
    assert check(place, agents=("claude-code",)) == [("services/api/AGENTS.md", None, "file-shadowed")]
    [(said, hint)] = messages(place, "file-shadowed", agents=("claude-code",))
    assert said == "claude-code never loads it: where a CLAUDE.md is loaded (CLAUDE.md), no AGENTS.md below it is read"
    assert hint == "create services/api/CLAUDE.md with the line @AGENTS.md"


@pytest.mark.parametrize(
    "file",
    [
        ("services/api/CLAUDE.md", "@AGENTS.md\n"),  # it is imported
        ("services/api/CLAUDE.md", "Something else.\n"),  # the author chose
        ("services/api/SKILL.md", "---\nname: api\ndescription: The API.\n---\n"),  # it belongs to a skill
    ],
)
def test_an_agents_file_that_arrives_or_is_not_meant_is_not_reported(place, file):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/services/api/AGENTS.md", "Use the API's own logger.\n")
    place.write(f"proj/{file[0]}", file[1])
    assert check(place, agents=("claude-code",)) == []


def test_a_copy_of_what_is_given_is_not_lost(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/services/AGENTS.md", "Use tabs.\n")
    assert check(place, agents=("claude-code",)) == []


def test_both_files_next_to_each_other_are_a_choice(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/AGENTS.md", "Use spaces, Codex.\n")
    assert check(place) == []


def test_an_empty_file_takes_the_place_of_another(place):
    place.write("proj/AGENTS.md", "Use tabs.\n")
    place.write("proj/AGENTS.override.md", "")
    assert check(place) == [("AGENTS.override.md", None, "empty-shadows")]


def test_an_empty_file_alone_is_worth_a_note(place):
    place.write("proj/CLAUDE.md", "<!-- later -->\n")
    assert check(place) == [("CLAUDE.md", None, "file-empty")]


def test_a_file_that_a_setting_excludes(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/pkg/CLAUDE.md", "Use the logger.\n")
    place.write("proj/.claude/settings.json", '{"claudeMdExcludes": ["**/pkg/CLAUDE.md"]}')
    assert check(place) == [("pkg/CLAUDE.md", None, "file-excluded")]


def test_text_that_the_budget_cuts_is_named_with_its_heading(place):
    place.write("proj/AGENTS.md", "x" * 32_000 + "\n## Kept\n" + "y" * 2_000 + "\n## Deployment\nPush.\n")
    assert check(place) == [("AGENTS.md", 3, "budget-cut")]
    [(said, _)] = messages(place, "budget-cut")
    assert said == (
        "its last 1,262 bytes are lost: the agent stops after 32,768 bytes, "
        "the first heading that is lost is “Deployment”"
    )


def test_a_file_for_which_nothing_is_left(place):
    place.git("init -q .")
    place.write("proj/AGENTS.md", "x" * 40_000)
    place.write("proj/api/AGENTS.md", "Use the logger.\n")
    assert check(place) == [("AGENTS.md", 1, "budget-cut"), ("api/AGENTS.md", None, "budget-cut")]
    assert messages(place, "budget-cut")[1][0] == (
        "all its 16 bytes are lost when the agent starts in api: "
        "the files above it use up the 32,768 bytes that the agent reads"
    )


def test_a_space_in_an_import(place):
    place.write("proj/CLAUDE.md", "Style: @docs/my notes.md, please. Ask @alice first.\n")
    place.write("proj/docs/my notes.md", "Use tabs.\n")
    assert check(place) == [("CLAUDE.md", 1, "import-space")]
    assert messages(place, "import-space")[0][1] == "write @docs/my\\ notes.md, or rename the file"


def test_an_escaped_space_is_fine(place):
    place.write("proj/CLAUDE.md", "Style: @docs/my\\ notes.md\n")
    place.write("proj/docs/my notes.md", "Use tabs.\n")
    assert check(place) == []


def test_a_circle_of_imports_and_a_file_that_two_import(place):
    place.write("proj/CLAUDE.md", "@a.md\n@b.md\n")
    place.write("proj/a.md", "A. @c.md\n")
    place.write("proj/b.md", "B. @c.md\n")
    place.write("proj/c.md", "C. @a.md\n")
    assert check(place) == [("c.md", 1, "import-cycle")]


def test_an_agent_without_imports(place):
    place.write("proj/AGENTS.md", "See @docs/style.md and ask @alice, not `@docs/style.md`.\n")
    place.write("proj/docs/style.md", "Use tabs.\n")
    assert check(place) == [("AGENTS.md", 1, "import-not-followed")]


def test_a_rule_that_no_file_wakes(place):
    place.write("proj/src/app.ts", "")
    place.write("proj/.claude/rules/api.md", '---\npaths: ["source/**/*.ts", "lib/**"]\n---\nRule.\n')
    place.write("proj/.claude/rules/app.md", '---\npaths: ["none/**", "**/*.ts"]\n---\nRule.\n')
    assert check(place) == [(".claude/rules/api.md", None, "glob-matches-nothing")]
    assert messages(place, "glob-matches-nothing")[0][0] == (
        "it is never loaded: no file of the tree matches `source/**/*.ts`, `lib/**`"
    )


@pytest.mark.parametrize("glob", ["src", "src/", "/src/**", "*.ts", "src/*.{ts,js}", "**/app.*", "src/**/*.ts", "!x"])
def test_patterns_that_match_are_silent(place, glob):
    place.write("proj/src/app.ts", "")
    place.write("proj/.claude/rules/a.md", f'---\npaths: ["{glob}"]\n---\nRule.\n')
    assert [code for _, _, code in check(place) if code == "glob-matches-nothing"] == []


def test_patterns_about_what_git_ignores_are_not_judged(place):
    place.git("init -q .")
    place.write("proj/.gitignore", "dist/\n")
    place.write("proj/.claude/rules/a.md", '---\npaths: ["dist/**"]\n---\nRule.\n')
    place.write("proj/.claude/rules/b.md", '---\npaths: ["node_modules/**"]\n---\nRule.\n')
    assert check(place) == []


@pytest.mark.parametrize(
    "front", ['globs: "*.ts"', 'applyTo: "**"', 'path: "src"', "description: x\nalwaysApply: false"]
)
def test_keys_of_other_agents_make_a_rule_unconditional(place, front):
    place.write("proj/.claude/rules/a.md", f"---\n{front}\n---\nRule.\n")
    line = 3 if "\n" in front else 2
    assert check(place) == [(".claude/rules/a.md", line, "rule-key-unread")]


def test_both_keys_are_fine(place):
    place.write("proj/src/a.ts", "")
    place.write("proj/.claude/rules/a.md", '---\nglobs: "*.ts"\nalwaysApply: false\npaths: "**/*.ts"\n---\nRule.\n')
    assert check(place) == []


def test_a_rule_of_cursor_with_the_key_of_claude_code(place):
    place.write("proj/src/a.ts", "")
    place.write("proj/.cursor/rules/a.mdc", '---\npaths: "**/*.ts"\n---\nRule.\n')
    place.write("proj/.cursor/rules/b.mdc", "---\nglobs: **/*.ts\nalwaysApply: false\n---\nRule.\n")
    assert check(place) == [(".cursor/rules/a.mdc", 2, "rule-key-unread")]


def test_a_text_that_is_given_twice(place):
    text = "Use the logger of the API in every handler.\n" * 10
    place.write("proj/CLAUDE.md", "@AGENTS.md\n")
    place.write("proj/AGENTS.md", text)
    place.write("proj/.github/copilot-instructions.md", "Be brief.\n")
    assert check(place) == [("AGENTS.md", None, "delivered-twice")]


@pytest.mark.parametrize(
    ("path", "right"),
    [
        (".claude/rule/api.md", ".claude/rules/"),
        (".claude/CLAUDE.local.md", "CLAUDE.local.md"),
        (".github/copilot-instruction.md", ".github/copilot-instructions.md"),
        ("CLAUDE.txt", "CLAUDE.md"),
    ],
)
def test_a_file_in_the_wrong_place(place, path, right):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write(f"proj/{path}", "Use the logger.\n")
    assert check(place) == [(path, None, "wrong-place")]
    assert messages(place, "wrong-place")[0][1] == f"move it to {right}"


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ('{"servers": {}}', []),
        ("{}", []),
        ("", []),
        ('{"mcpServers": {"db": {"command": "db"}}}', ["wrong-place"]),
        ("{,", ["wrong-place"]),
    ],
)
def test_a_file_for_servers_in_the_wrong_place_that_has_none_is_fine(place, text, codes):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/.claude/mcp.json", text)
    assert [code for _, _, code in check(place)] == codes


def test_a_file_in_the_wrong_place_that_is_imported_is_fine(place):
    place.write("proj/CLAUDE.md", "@.claude/rule/api.md\n")
    place.write("proj/.claude/rule/api.md", "Use the logger.\n")
    assert check(place) == []


def test_fixtures_and_excluded_files_are_left_out(place):
    for path in ("tests/fixtures/a/CLAUDE.md", "templates/CLAUDE.md", "vendor/x/CLAUDE.md", "old/CLAUDE.md"):
        place.write(f"proj/{path}", "See @missing.md\n")
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    assert check(place) == [("old/CLAUDE.md", 1, "import-missing")]
    assert check(place, exclude=("old/",)) == []
    assert len(check(place, include_fixtures=True)) == 4


def test_one_finding_for_all_agents_that_it_holds_for(place):
    place.write("proj/GEMINI.md", "See @docs/missing.md\n")
    place.write("proj/QWEN.md", "Use tabs.\n")
    place.link("proj/CLAUDE.md", "GEMINI.md")
    project = Project(place.proj, CheckOptions(home=""))
    found = [each for each in check_tree(project).findings if each.path.endswith("GEMINI.md")]
    assert [(each.code, each.agents) for each in found] == [("import-missing", ("gemini-cli@0.61.0",))]


def test_a_folder_is_not_imported(place):
    place.write("proj/CLAUDE.md", "Read all of @docs/ first. Ask @docs for help.\n")
    place.write("proj/docs/a.md", "A.\n")
    assert check(place) == [("CLAUDE.md", 1, "import-folder")]


def test_what_a_waiting_rule_imports_does_not_wait(place):
    place.write("proj/src/a.py", "")
    place.write("proj/.claude/rules/a.md", '---\npaths: "src/**"\n---\n@../../docs/a.md\n')
    place.write("proj/docs/a.md", "A.\n")
    assert check(place) == [(".claude/rules/a.md", None, "import-unconditional")]


def test_a_folder_with_the_name_of_an_instruction_file(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/tools/CLAUDE.md/a.md", "A.\n")
    assert check(place) == [("tools/CLAUDE.md", None, "not-a-file")]


def test_links_that_lead_to_each_other(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.folder("proj/web")
    place.link("proj/web/CLAUDE.md", "AGENTS.md")
    place.link("proj/web/AGENTS.md", "CLAUDE.md")
    found = check(place, agents=("claude-code",))
    assert found == [("web/AGENTS.md", None, "dangling-link"), ("web/CLAUDE.md", None, "dangling-link")]


def test_an_override_takes_the_place_of_its_file(place):
    place.write("proj/AGENTS.md", "Use tabs.\n")
    place.write("proj/AGENTS.override.md", "Use spaces.\n")
    assert check(place) == [("AGENTS.md", None, "file-overridden")]


def test_a_folder_that_one_of_two_agents_is_given(place):
    for folder in ("", "web/", "api/"):
        place.write(f"proj/{folder}CLAUDE.md", f"Use tabs in {folder}.\n")
        place.link(f"proj/{folder}AGENTS.md", "CLAUDE.md")
    place.write("proj/tools/CLAUDE.md", "Every tool has a dry run.\n")
    assert check(place) == [("tools/CLAUDE.md", None, "file-unshared")]


def test_settings_that_name_files_which_are_not_there(place):
    place.write("proj/AGENTS.md", "Use tabs.\n")
    place.write("proj/.gemini/settings.json", '{\n"context": {"fileName": ["AGENT.md", "AGENTS.md"]}}\n')
    place.write("proj/opencode.json", '{"instructions": ["AGENTS.md", "docs/*.md"]}')
    assert check(place) == [
        (".gemini/settings.json", 2, "setting-names-nothing"),
        ("opencode.json", None, "setting-names-nothing"),
    ]


def test_a_rule_of_cursor_without_frontmatter(place):
    place.write("proj/.cursor/rules/a.mdc", "Round prices.\n")
    place.write("proj/.cursor/rules/b.mdc", "---\ndescription:\nglobs:\nalwaysApply: false\n---\nBy hand.\n")
    assert check(place) == [(".cursor/rules/a.mdc", None, "rule-manual")]


def test_rules_that_count_on_their_order(place):
    place.write("proj/.claude/rules/a.md", "This comes after b.md and overrides it.\n")
    place.write("proj/.claude/rules/b.md", "See a.md as well.\n")
    assert check(place) == [(".claude/rules/a.md", 1, "order-unspecified")]


def test_an_import_in_a_comment_is_not_missed(place):
    text = "Use tabs.\n\n<!-- maintainers:\n@docs/old.md was folded -->\n\n@docs/new.md <!-- soon -->\n"
    place.write("proj/CLAUDE.md", text)
    found = check(place, agents=("copilot-cli", "claude-code", "gemini-cli"))
    assert found == [("CLAUDE.md", 6, "import-missing")]


def test_files_that_git_tracks_in_ignored_folders_are_seen(place):
    place.git("init -q .")
    place.write("proj/.gitignore", "build/\n")
    place.write("proj/build/CLAUDE.md", "See @missing.md\n")
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    assert check(place) == []
    place.git("add -f build/CLAUDE.md")
    assert check(place) == [("build/CLAUDE.md", 1, "import-missing")]


@pytest.mark.parametrize(
    "text",
    [
        "Use tabs.\n\n+ @import 'tailwindcss';\n",
        'Start the style sheet with @import "tailwindcss" and nothing else.\n',
        "First, check @docs/override.md if it exists.\n",
        "Notes of your own, optional: @docs/own.md\n",
    ],
)
def test_an_import_of_a_style_sheet_or_one_that_need_not_be_there(place, text):
    place.write("proj/CLAUDE.md", text)
    place.write("proj/GEMINI.md", text)
    assert check(place, agents=("claude-code", "gemini-cli")) == []


def test_an_import_that_an_optional_one_stands_next_to(place):
    place.write("proj/CLAUDE.md", "Check @docs/a.md if it exists.\nThen follow @docs/b.md.\n@import docs/c.md\n")
    assert check(place, agents=("claude-code",)) == [
        ("CLAUDE.md", 2, "import-missing"),
        ("CLAUDE.md", 3, "import-directive"),
    ]


def test_a_name_without_folder_and_ending_may_be_a_mention(place):
    place.write("proj/CLAUDE.md", "Ask @payments about this.\n\n@docs/setup\n")
    place.write("proj/payments.md", "Pay.\n")
    place.write("proj/docs/setup.md", "Set up.\n")
    project = Project(place.proj, CheckOptions(home="", agents=("claude-code",)))
    found = check_tree(project, CheckSettings(select=("import-missing",))).findings
    assert [(each.line, each.severity) for each in found] == [(1, "warning"), (3, "error")]


def test_a_folder_of_rules_below_the_top_that_has_the_name_of_a_file(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/shared/.clinerules/a.md", "A.\n")
    assert check(place, agents=("cline",)) == []


def severities(place, code, agent="claude-code"):
    project = Project(place.proj, CheckOptions(home="", agents=(agent,)))
    found = check_tree(project, CheckSettings(select=(code,))).findings
    return [(project.relative(each.path), each.line, each.severity) for each in found]


def test_an_import_of_what_git_ignores_is_there_for_its_author(place):
    place.git("init -q .")
    place.write("proj/.gitignore", "notes/\n")
    place.write("proj/CLAUDE.md", "@notes/own.md\n@docs/gone.md\n")
    assert severities(place, "import-missing") == [("CLAUDE.md", 1, "warning"), ("CLAUDE.md", 2, "error")]


def test_an_import_of_a_file_that_is_installed_elsewhere(place):
    place.write("proj/CLAUDE.md", "@docs/a.md\n")
    place.write("proj/docs/a.md", "A.\n")
    place.write("proj/config/CLAUDE.md", "@docs/a.md\n")
    place.write("proj/tools/CLAUDE.md", "@docs/a.md\n")
    place.write("proj/install.sh", 'cp config/CLAUDE.md "$HOME/.claude/CLAUDE.md"\n')
    found = severities(place, "import-missing")
    assert found == [("config/CLAUDE.md", 1, "warning"), ("tools/CLAUDE.md", 1, "error")]


def test_an_import_in_code_that_a_sentence_says_to_read(place):
    text = "Rule: read `@docs/a.md` before writing tests.\n\nSee `@docs/b.md`\n"
    place.write("proj/CLAUDE.md", text)
    place.write("proj/docs/a.md", "A.\n")
    place.write("proj/docs/b.md", "B.\n")
    assert severities(place, "import-in-code") == [("CLAUDE.md", 1, "warning"), ("CLAUDE.md", 3, "error")]


def test_an_import_of_what_is_given_anyway(place):
    place.write("proj/.claude/rules/a.md", "See @b.md.\n")
    place.write("proj/.claude/rules/b.md", "B, and see @../../docs/c.md.\n")
    place.write("proj/docs/c.md", "C.\n")
    found = severities(place, "import-punctuation")
    assert found == [(".claude/rules/a.md", 1, "warning"), (".claude/rules/b.md", 1, "error")]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("assets/AGENTS.md", "Use tabs.\n"),
        ("packages/codex/AGENTS.md", "Use tabs.\n"),
        ("kit/AGENTS.md", "# YOUR_PROJECT_NAME\n\nTODO.\n"),
    ],
)
def test_an_agents_file_for_another_project_or_agent(place, path, text):
    place.write("proj/CLAUDE.md", "Use spaces.\n")
    place.write(f"proj/{path}", text)
    assert check(place, agents=("claude-code",)) == []


def test_a_page_of_the_documentation_that_is_cut(place):
    place.write("proj/AGENTS.md", "Use tabs.\n")
    place.write("proj/docs/ko/AGENTS.md", "x" * 40_000)
    place.write("proj/api/AGENTS.md", "x" * 40_000)
    found = severities(place, "budget-cut", "codex")
    assert found == [("api/AGENTS.md", 1, "error"), ("docs/ko/AGENTS.md", 1, "warning")]
