"""Settings of a check: where they are found, what they mean, and what is an error."""

import json
import os
import tomllib

import fastjsonschema
import pytest

from foretold.check.report.settings import render_settings
from foretold.check.run import check_tree, open_project
from foretold.check.settings import CheckSettings, load_settings, parse_settings
from foretold.errors import BadSettings
from foretold.storage.tree import Disk

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WHOLE = """\
select = ["delivery", "safety"]
ignore = ["order-unspecified"]
agents = ["claude-code@2.1.325", "Codex"]
exclude = ["examples/**"]
include-fixtures = true
budget = {claude-code = 4000}

[per-file-ignores]
"docs/**" = ["import-missing"]

[severity]
import-missing = "warning"
cost = "note"

[memory]
policy = "confirm"

[hooks]
recall = false
"""


def load(place, folder="proj"):
    return load_settings(Disk(), place.path(folder), place.proj)


def test_every_setting_is_read(place):
    place.write("proj/.foretold.toml", WHOLE)
    assert load(place) == (
        CheckSettings(
            select=("delivery", "safety"),
            ignore=("order-unspecified",),
            per_file_ignores={"docs/**": ("import-missing",)},
            severity={"import-missing": "warning", "cost": "note"},
            agents=("claude-code@2.1.325", "codex"),
            exclude=("examples/**",),
            budgets={"claude-code": 4000},
            include_fixtures=True,
        ),
        place.path("proj/.foretold.toml"),
        (),
    )


def test_the_same_in_pyproject(place):
    place.write("proj/pyproject.toml", '[project]\nname = "x"\n[tool.foretold]\nignore = ["truth"]\n')
    assert load(place)[:2] == (CheckSettings(ignore=("truth",)), place.path("proj/pyproject.toml"))


def test_the_nearest_file_counts_alone(place):
    place.write("proj/.foretold.toml", 'ignore = ["cost"]\n')
    place.write("proj/web/pyproject.toml", '[tool.foretold]\nselect = ["truth"]\n')
    place.folder("proj/web/src")
    found = load(place, "proj/web/src")
    assert found.settings == CheckSettings(select=("truth",))
    assert found.path == place.path("proj/web/pyproject.toml")
    assert found.unused == (place.path("proj/.foretold.toml"),)


def test_of_two_in_one_folder_ours_counts_if_it_says_something_about_checks(place):
    place.write("proj/pyproject.toml", '[tool.foretold]\nselect = ["truth"]\n')
    place.write("proj/.foretold.toml", '[memory]\npolicy = "confirm"\n')
    assert load(place).settings == CheckSettings(select=("truth",))
    place.write("proj/.foretold.toml", 'select = ["cost"]\n')
    assert load(place).settings == CheckSettings(select=("cost",))


def test_nothing_above_the_project_counts(place):
    place.write(".foretold.toml", 'ignore = ["truth"]\n')
    assert load(place) == (CheckSettings(), "", ())


def test_a_pyproject_that_is_not_ours_may_be_anything(place):
    place.write("proj/pyproject.toml", "[tool.other\nbroken")
    assert load(place) == (CheckSettings(), "", ())


WRONG = {
    "ignore = [": "is not TOML: ",
    'selct = ["truth"]': "'selct' is not a setting, did you mean 'select'?",
    "zzz = 1": "'zzz' is not a setting; the settings are select, ignore, per-file-ignores, severity, agents, exclude, ",
    "yyy = 1": ", budget, [memory], [hooks]",
    '[tool.foretold]\nselect = ["truth"]': "here; write the keys at the top, without [tool.foretold]",
    "[tool.ruff]\nx = 1": "'tool' is not a setting; the settings are select, ",
    '[check]\nselect = ["truth"]': "'check' is not a setting; write its keys without [check]",
    'select = ["import-mising"]': "select: 'import-mising' is not a rule or a family, did you mean 'import-missing'?",
    'select = ["session-broken"]': "select: 'session-broken' is not a rule or a family",
    'select = "truth"': 'select is "truth", not a list of texts; write: ["truth"]',
    "ignore = [1]": "ignore is [1], not a list of texts",
    'agents = ["claud-code"]': "agents: unknown agent 'claud-code', did you mean 'claude-code'?",
    'agents = ["codex@new"]': "agents: 'new' is not a version; known for codex: ",
    'severity = {truth = "warn"}': "severity.truth is \"warn\", not error, warning or note, did you mean 'warning'?",
    'severity = {trut = "note"}': "severity: 'trut' is not a rule or a family, did you mean 'truth'?",
    'severity = "note"': 'severity is "note", not a table',
    'per-file-ignores = {"a/*" = "truth"}': "per-file-ignores.'a/*' is \"truth\", not a list of texts",
    'per-file-ignores = {"a/*" = ["x-y"]}': "per-file-ignores.'a/*': 'x-y' is not a rule or a family",
    "budget = {codx = 3}": "budget: unknown agent 'codx', did you mean 'codex'?",
    "budget = {codex = true}": "budget.codex is true, not a number of tokens",
    "budget = 0": "is 0, not a number of tokens",
    'budget = "many"': 'budget is "many", not a table',
    "baseline = 1": "baseline is 1, not the path of a file",
    'baseline = "../b.json"': 'baseline is "../b.json", which is outside of the project',
    'baseline = "/etc/passwd"': 'baseline is "/etc/passwd", which is outside of the project',
    "include-fixtures = 1": "include-fixtures is 1, not true or false",
    f"exclude = {json.dumps(['x'] * 1001)}": "exclude has 1,001 patterns; at most 1,000 are tried",
    f"exclude = {json.dumps(['x' * 257])}": "exclude has a pattern of 257 characters; at most 256 are tried",
    f"a = {'[' * 5000}{']' * 5000}": "is not TOML: ",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_not_understood_is_an_error_that_names_the_file(place, text):
    path = place.write("proj/.foretold.toml", text)
    with pytest.raises(BadSettings) as raised:
        load(place)
    assert str(raised.value).startswith(path)
    assert WRONG[text] in str(raised.value)
    assert raised.value.exit_code == 2


def test_a_baseline_is_named_from_the_folder_of_the_settings(place):
    place.write("proj/web/.foretold.toml", 'baseline = "../known.json"\n')
    settings = load_settings(Disk(), place.path("proj/web"), place.proj).settings
    assert settings.baseline == place.path("proj/known.json")
    place.link("proj/known.json", "../elsewhere.json")
    with pytest.raises(BadSettings, match="outside of the project"):
        load_settings(Disk(), place.path("proj/web"), place.proj)


def test_the_table_of_pyproject_is_named(place):
    place.write("proj/pyproject.toml", "[tool.foretold]\nselct = []\n")
    with pytest.raises(BadSettings, match=r"'tool\.foretold\.selct' is not a setting, did you mean 'select'\?"):
        load(place)
    place.write("proj/pyproject.toml", "[tool]\nforetold = 3\n")
    with pytest.raises(BadSettings, match=r"tool\.foretold is 3, not a table"):
        load(place)
    place.write("proj/pyproject.toml", '[tool.foretold.memory]\npolicy = "auto"\n')
    with pytest.raises(BadSettings, match=r"not a setting here; write it as \[memory\] in \.foretold\.toml"):
        load(place)


def test_a_link_out_of_the_project_is_not_read(place):
    place.write("secret.toml", 'password = "x"\n')
    place.link("proj/.foretold.toml", "../secret.toml")
    with pytest.raises(BadSettings, match=r"a link that leads out of the project") as raised:
        load(place)
    assert "password" not in str(raised.value)


def test_a_pipe_does_not_wait(place):
    place.fifo("proj/.foretold.toml")
    with pytest.raises(BadSettings, match="cannot be read"):
        load(place)


def test_the_command_line_replaces_what_is_selected_and_adds_to_what_is_ignored():
    settings = CheckSettings(select=("truth",), ignore=("cost", "import-missing"))
    assert settings.override(["import-missing"], ["sense"])[:2] == (("import-missing",), ("cost", "sense"))
    assert settings.override()[:2] == (("truth",), ("cost", "import-missing"))


def test_a_project_gets_what_its_settings_say(place):
    place.write("proj/.foretold.toml", 'agents = ["codex"]\nexclude = ["old/"]\n')
    place.write("proj/CLAUDE.md", "See @docs/missing.md\n")
    opened = open_project(place.proj)
    assert [choice.dialect.agent for choice in opened.project.choices] == ["codex"]
    assert not opened.project.is_checked(place.path("proj/old/CLAUDE.md"))
    assert check_tree(opened.project, opened.settings).findings == ()


def test_a_severity_of_the_settings_is_the_one_that_is_reported(place):
    place.write("proj/CLAUDE.md", "See @docs/missing.md\n")
    for table, severity in (("delivery", "note"), ("import-missing", "warning")):
        place.write("proj/.foretold.toml", f'severity = {{{table} = "{severity}"}}\n')
        opened = open_project(place.proj)
        assert [each.severity for each in check_tree(opened.project, opened.settings).findings] == [severity]


def test_a_budget_for_all_agents():
    assert parse_settings({"budget": 3000}, "x").budgets["gemini-cli"] == 3000


def schema():
    with open(os.path.join(ROOT, "docs", "schemas", "settings.1.json"), encoding="utf-8") as file:
        return json.load(file)


def test_the_schema_takes_what_the_command_takes():
    validate = fastjsonschema.compile(schema())
    validate(tomllib.loads(WHOLE))
    validate({"budget": 4000})


@pytest.mark.parametrize("text", ['selct = ["truth"]', 'select = "truth"', "budget = 0", 'severity = {truth = "warn"}'])
def test_the_schema_refuses_what_the_command_refuses(text):
    with pytest.raises(fastjsonschema.JsonSchemaException):
        fastjsonschema.validate(schema(), tomllib.loads(text))


def test_shown_settings_can_be_read_again(place):
    place.write("proj/.foretold.toml", WHOLE)
    opened = open_project(place.proj, ignore=["sense"])
    shown = render_settings(opened, ["ignore"])
    assert parse_settings(tomllib.loads(shown), "x") == opened.settings
    assert 'ignore = ["order-unspecified", "sense"]  # the command line\n' in shown
    assert 'select = ["delivery", "safety"]  # .foretold.toml\n' in shown
    assert shown.startswith("# settings of .foretold.toml\n# checked for: claude-code 2.1.325 and codex 0.166.0\n\n")


def test_shown_settings_without_a_file(place):
    place.write("proj/CLAUDE.md")
    shown = render_settings(open_project(place.proj))
    assert shown.startswith(
        "# no settings file: these are the defaults\n# checked for: claude-code 2.1.325 (in use here)\n"
    )
    assert "select = []  # the default\n" in shown
