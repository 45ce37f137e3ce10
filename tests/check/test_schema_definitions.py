"""Agents, commands and prompts of several coding agents; each fault with a look-alike that is none."""

import pytest
from tests.check.families import codes, findings_of, seen

AGENT = ".claude/agents/reviewer.md"
GOOD = """\
---
name: reviewer
description: Reviews. Use before a commit.
tools: Read, Grep, Bash(git diff)
model: sonnet
---

Review.
"""


def test_agents_as_they_should_be(place):
    place.write(f"proj/{AGENT}", GOOD)
    place.write("proj/.claude/agents/deep/tester.md", GOOD.replace("reviewer", "tester"))
    place.write("proj/.claude/agents/README.md", "What these agents are for.\n")
    place.write("proj/.claude/agents/AUTONOMOUS-AGENT-README.md", "# How the agents work together\n")
    place.write("proj/.claude/agents/how-to.md", "---\ntitle: How to write an agent\n---\nA page.\n")
    place.write(
        "proj/.github/agents/planner.agent.md", "---\ndescription: Plans.\ntools: ['read', 'unheard/of']\n---\nPlan.\n"
    )
    place.write("proj/.opencode/agent/triage.md", "---\nmode: primary\ntools:\n  write: false\n---\nSort.\n")
    place.write("proj/.gemini/agents/finder.md", "---\nname: finder\ndescription: Finds.\n---\nFind.\n")
    place.write("proj/.cursor/agents/any.md", "Just a text.\n")
    assert seen(place, "schema") == []


@pytest.mark.parametrize(
    ("old", "new", "line", "code"),
    [
        ("name: reviewer\n", "", 1, "definition-incomplete"),
        ("description: Reviews. Use before a commit.\n", "", 1, "definition-incomplete"),
        ("tools: Read", "tool: Read", 4, "definition-key"),
        ("tools: Read, Grep", "tools: Read, Grpe", 4, "definition-tools"),
        ("tools: Read, Grep", "tools: read, Grep", 4, "definition-tools"),
        ("model: sonnet", "model: sonet", 5, "definition-model"),
        ("model: sonnet", "model: gpt-5.1", 5, "definition-model"),
        ("model: sonnet", "permissionMode: acceptEdit", 5, "definition-value"),
        ("model: sonnet", "maxTurns: many", 5, "definition-value"),
        ("model: sonnet", "skills: [gone]", 5, "agent-skill-missing"),
        ("tools: Read, Grep, Bash(git diff)", "tools:\n  write: false", 4, "definition-value"),
    ],
)
def test_a_fault_of_an_agent(place, old, new, line, code):
    place.write(f"proj/{AGENT}", GOOD.replace(old, new))
    assert seen(place, "schema") == [(AGENT, line, code)]


@pytest.mark.parametrize(
    "change",
    [
        ("model: sonnet", "model: claude-opus-5"),
        ("model: sonnet", "model: us.anthropic.claude-sonnet-5-v1:0"),
        ("model: sonnet", "model: Sonnet"),
        ("model: sonnet", "model: opusplan"),
        ("tools: Read, Grep", "tools: mcp__github__get_issue, Read"),
        ("tools: Read, Grep", "tools: SomethingNew, Read"),
        ("model: sonnet", "color: pink\nmemory: project\nisolation: worktree"),
        ("model: sonnet", "mode: subagent\ntemperature: 0.1"),  # keys of opencode
        ("model: sonnet", "skills: [plugin:style]"),
    ],
)
def test_what_is_not_a_fault_of_an_agent(place, change):
    place.write(f"proj/{AGENT}", GOOD.replace(*change))
    assert seen(place, "schema") == []


def test_an_agent_without_frontmatter_or_with_broken_one(place):
    place.write(f"proj/{AGENT}", "You review changes.\n")
    place.write("proj/.claude/agents/tester.md", "---\nname: tester\ndescription: a\n<example>\n---\nTest.\n")
    assert seen(place, "schema") == [
        (AGENT, 1, "definition-incomplete"),
        (".claude/agents/tester.md", 4, "definition-invalid"),
    ]


def test_two_agents_with_one_name(place):
    place.write(f"proj/{AGENT}", GOOD)
    place.write("proj/.claude/agents/second.md", GOOD)
    place.write("proj/packages/api/.claude/agents/reviewer.md", GOOD)  # another project
    assert seen(place, "schema") == [(".claude/agents/second.md", 2, "agent-duplicate")]


def test_an_agent_of_a_plugin_needs_no_name(place):
    place.write("proj/plug/.claude-plugin/plugin.json", '{"name": "plug"}')
    place.write("proj/plug/agents/reviewer.md", GOOD.replace("name: reviewer\n", ""))
    place.write("proj/plug/agents/broken.md", "---\ndescription: a\n<example>\n---\nTest.\n")
    (found,) = findings_of(place, "schema")
    assert (found.path, found.code, found.severity) == ("plug/agents/broken.md", "definition-invalid", "warning")


def test_commands(place):
    place.write("proj/.claude/commands/plain.md", "Summarise the changes.\n")
    place.write("proj/.claude/commands/fix.md", "---\nargument-hint: [number]\nallowed-tools: Read\n---\nFix $1.\n")
    assert seen(place, "schema") == []
    place.write("proj/.claude/commands/fix.md", "---\nargument_hint: '[number]'\n---\nFix $1.\n")
    assert seen(place, "schema") == [(".claude/commands/fix.md", 2, "definition-key")]


def test_commands_of_gemini(place):
    place.write("proj/.gemini/commands/git/fix.toml", 'description = "a"\nprompt = "Fix {{args}}"\n')
    place.write("proj/.gemini/commands/shared-rules.md", "A text that commands name with @{…}.\n")
    assert seen(place, "schema") == []
    place.write("proj/.gemini/commands/git/fix.toml", 'description = "a"\npromt = "Fix"\n')
    place.write("proj/.gemini/commands/broken.toml", "prompt = \n")
    place.write("proj/.gemini/commands/old.md", "---\ndescription: a\n---\nFix.\n")
    assert seen(place, "schema") == [
        (".gemini/commands/broken.toml", 1, "definition-invalid"),
        (".gemini/commands/git/fix.toml", 2, "definition-key"),
        (".gemini/commands/old.md", None, "definition-extension"),
    ]


def test_prompts_of_copilot(place):
    place.write("proj/.github/prompts/review.prompt.md", "---\nagent: plan\ndescription: a\n---\nReview.\n")
    place.write("proj/.github/prompts/README.md", "---\ndescription: a\n---\nPrompts.\n")
    assert seen(place, "schema") == []
    place.write("proj/.github/prompts/audit.md", "---\ndescription: a\n---\nAudit.\n")
    assert seen(place, "schema") == [(".github/prompts/audit.md", None, "definition-extension")]


def test_an_agent_of_opencode(place):
    place.write("proj/.opencode/agents/a.md", "---\ndescription: a\nmode: subagnt\ntools: Read, Write\n---\nText.\n")
    assert seen(place, "schema") == [
        (".opencode/agents/a.md", 3, "definition-value"),
        (".opencode/agents/a.md", 4, "definition-value"),
    ]


def test_fixtures_and_copies_are_left_out(place):
    for folder in ("tests/fixtures/repo/", "backups/2024/", ".claude/worktrees/a/"):
        place.write(f"proj/{folder}{AGENT}", "No frontmatter.\n")
    assert codes(place, "schema") == []


def test_a_slip_in_the_key_of_a_rule(place):
    place.write("proj/.claude/rules/a.md", "---\npahts: ['src/**']\n---\nRule.\n")
    place.write("proj/.cursor/rules/a.mdc", "---\ndescription: a\nalwaysapply: true\n---\nRule.\n")
    place.write("proj/.github/instructions/a.instructions.md", "---\napplyto: '**'\n---\nRule.\n")
    assert seen(place, "schema") == [
        (".claude/rules/a.md", 2, "definition-key"),
        (".cursor/rules/a.mdc", 3, "definition-key"),
        (".github/instructions/a.instructions.md", 2, "definition-key"),
    ]


def test_keys_of_rules_that_are_right_or_of_others(place):
    place.write("proj/.claude/rules/a.md", "---\npaths: ['src/**']\nglobs: '*.ts'\ntitle: A\n---\nRule.\n")
    place.write("proj/.cursor/rules/a.mdc", "---\ndescription: a\nglobs:\nalwaysApply: true\n---\nRule.\n")
    place.write("proj/.claude/rules/b.md", "---\npaths: [unclosed\n---\nRule.\n")  # told with the instructions
    assert seen(place, "schema") == []
