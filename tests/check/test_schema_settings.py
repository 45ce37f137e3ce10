"""Settings files and permission rules; each fault with a look-alike that is none."""

import pytest
from tests.check.families import codes, findings_of, seen, write_json

from foretold.check.baseline import fingerprint_findings
from foretold.check.project import CheckOptions, Project
from foretold.check.run import check_tree
from foretold.check.schema.source import read_json, read_toml

SETTINGS = ".claude/settings.json"


@pytest.mark.parametrize(
    "value",
    [
        {"$schema": "https://json.schemastore.org/claude-code-settings.json", "model": "opus", "env": {"A": "1"}},
        {"permissions": {"allow": ["Bash(npm run *)", "Read(~/a/**)", "mcp__db", "WebFetch(domain:a.example)"]}},
        {
            "permissions": {
                "deny": ["*", "mcp__*", "Agent(model:opus)", "SomeTool_x", "Bash(curl:*)"],
                "defaultMode": "plan",
            }
        },
        {"includeCoAuthoredBy": False, "cleanupPeriodDays": 30, "enabledPlugins": {"a@b": True}},
        {"aSettingOfTomorrow": 1, "_comment": "for people"},
    ],
)
def test_settings_as_they_should_be(place, value):
    write_json(place, SETTINGS, value)
    assert seen(place, "schema") == []


@pytest.mark.parametrize(
    ("value", "line", "code"),
    [
        ({"permision": {}}, 2, "setting-unknown"),
        ({"permissions": {"alow": []}}, 3, "setting-unknown"),
        ({"permissions": {"allow": "Bash"}}, 3, "setting-value"),
        ({"permissions": {"defaultMode": "acceptEdit"}}, 3, "setting-value"),
        ({"disableAllHooks": "true"}, 2, "setting-value"),
        ({"cleanupPeriodDays": "30"}, 2, "setting-value"),
        ({"env": {"PORT": 3000}}, 3, "setting-value"),
        ({"mcpServers": {}}, 2, "setting-unread"),
        ({"allowManagedHooksOnly": True}, 2, "setting-unread"),
        ({"permissions": {"deny": ["Bash(rm"]}}, 4, "permission-rule"),
        ({"permissions": {"deny": ["Bsh(rm *)"]}}, 4, "permission-rule"),
        ({"permissions": {"deny": ["Shell(rm *)"]}}, 4, "permission-rule"),
        ({"permissions": {"deny": ["Write(secrets/**)"]}}, 4, "permission-rule"),
        ({"permissions": {"allow": ["mcp__*"]}}, 4, "permission-rule"),
        ({"permissions": {"allow": ["Bash(git:* push)"]}}, 4, "permission-rule"),
        ({"permissions": {"allow": [1]}}, 3, "permission-rule"),
    ],
)
def test_a_fault_of_the_settings(place, value, line, code):
    write_json(place, SETTINGS, value)
    assert seen(place, "schema") == [(SETTINGS, line, code)]


def test_a_rule_that_another_one_makes_good(place):
    rules = ["Write(secrets/**)", "Edit(secrets/**)", "Write(keys/**)"]
    write_json(place, SETTINGS, {"permissions": {"deny": rules}})
    found = [(each.line, each.code, each.severity) for each in findings_of(place, "schema")]
    assert found == [(4, "permission-rule", "warning"), (6, "permission-rule", "")]


@pytest.mark.parametrize(
    ("edit", "severity"),
    [("Edit(src/**)", "warning"), ("Edit", "warning"), ("Edit(srcs/**)", ""), ("Edit(src/*)", "")],
)
def test_a_rule_that_a_wider_one_makes_good(place, edit, severity):
    write_json(place, SETTINGS, {"permissions": {"allow": ["Write(src/**/*.test.ts)", edit]}})
    assert [each.severity for each in findings_of(place, "schema")] == [severity]


def test_a_mode_that_is_like_none_may_be_new(place):
    write_json(place, SETTINGS, {"permissions": {"defaultMode": "careful"}})
    (found,) = findings_of(place, "schema")
    assert (found.code, found.severity) == ("setting-value", "warning")


def test_settings_that_do_not_parse(place):
    place.write(f"proj/{SETTINGS}", '{\n  "model": "opus",\n}\n')
    assert seen(place, "schema") == [(SETTINGS, 3, "config-invalid")]


def test_what_the_loader_says_is_not_said_twice(place):
    from foretold.check import CheckOptions, Project, check_tree

    place.write(f"proj/{SETTINGS}", '{\n  "model": "opus",\n}\n')
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    report = check_tree(Project(place.proj, CheckOptions(home="")))
    assert [each.code for each in report.findings if each.path.endswith(SETTINGS)] == ["settings-invalid"]


def test_personal_settings(place):
    write_json(place, ".claude/settings.local.json", {"skipDangerousModePermissionPrompt": True})
    assert codes(place, "schema") == []
    write_json(place, SETTINGS, {"skipDangerousModePermissionPrompt": True})
    assert seen(place, "schema") == [(SETTINGS, 2, "setting-unread")]


def test_settings_of_other_agents(place):
    place.write(
        "proj/.gemini/settings.json", '{\n  // ours\n  "context": {"fileName": "GEMINI.md"},\n  "theme": "dark"\n}\n'
    )
    place.write("proj/.codex/config.toml", 'model = "gpt-5"\n[features]\nx = true\n')
    write_json(place, "opencode.json", {"$schema": "https://opencode.ai/config.json", "instructions": ["docs/*.md"]})
    write_json(place, "src/theme/opencode.json", {"$schema": "https://opencode.ai/theme.json", "theme": {"a": "b"}})
    assert seen(place, "schema") == []
    write_json(place, ".gemini/settings.json", {"mcpServer": {}, "context": "GEMINI.md"})
    place.write("proj/.codex/config.toml", 'sandbox_mod = "read-only"\nnotify = ["say"]\n')
    write_json(place, "opencode.json", {"instruction": ["docs/*.md"]})
    assert seen(place, "schema") == [
        (".codex/config.toml", 1, "setting-unknown"),
        (".codex/config.toml", 2, "setting-unread"),
        (".gemini/settings.json", 2, "setting-unknown"),
        (".gemini/settings.json", 3, "setting-value"),
        ("opencode.json", 2, "setting-unknown"),
    ]


def test_half_a_character_is_replaced(place):
    """`\\ud800` alone is valid JSON, and no text can be encoded with it."""
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/.mcp.json", '{"mcpServers": {"a\\ud800": {"type": "http", "url": "http://tools.example"}}}')
    hooks = '{"hooks": {"PreToolUs\\udc00": [{"hooks": [{"type": "command", "command": "./\\ud800.sh"}]}]}}'
    place.write("proj/.claude/settings.json", hooks)
    place.git("init -q")
    project = Project(place.proj, CheckOptions(home=""))
    report = check_tree(project)
    assert len(fingerprint_findings(report.findings, project)) == len(report.findings) > 1
    assert "".join(each.message for each in report.findings).encode()


def test_a_pair_of_surrogates_is_a_character():
    assert read_json("a.json", '{"a": "\\ud83d\\ude00", "b": "\\\\ud800"}').values == {"a": "😀", "b": "\\ud800"}


def test_a_number_of_thousands_of_digits(place):
    place.write("proj/.codex/config.toml", "a = " + "1" * 5_000)
    assert read_toml("config.toml", "a = " + "1" * 5_000).fault
    assert check_tree(Project(place.proj, CheckOptions(home=""))).findings


def test_many_keys_of_which_one_is_there_twice():
    """Counted once: otherwise this takes half a minute."""
    keys = ", ".join(f'"k{number}": 1' for number in range(45_000))
    assert read_json("a.json", f'{{"k7": 0, {keys}}}').twice == ("k7",)
