"""Hooks of several agents: events, nesting, matchers, handlers, scripts; each fault with a look-alike that is none."""

import pytest
from tests.check.families import codes, findings_of, seen, write_json

from foretold.check.project import CheckOptions, Project
from foretold.check.run import check_tree
from foretold.check.schema.hooks import find_pattern_fault
from foretold.git.runner import keep_answers

SETTINGS = ".claude/settings.json"
HANDLER = {"type": "command", "command": "echo done"}


def hooks(place, event, *groups, path=SETTINGS):
    write_json(place, path, {"hooks": {event: [*groups]}})


def run(place, command, **more):
    hooks(place, "PostToolUse", {"matcher": "Edit", "hooks": [{"type": "command", "command": command, **more}]})


@pytest.mark.parametrize(
    ("event", "group"),
    [
        ("PreToolUse", {"matcher": "Bash", "hooks": [HANDLER]}),
        ("PreToolUse", {"matcher": "Edit|Write, NotebookEdit", "hooks": [HANDLER]}),
        ("PreToolUse", {"matcher": "mcp__memory__.*", "hooks": [HANDLER]}),
        ("PreToolUse", {"matcher": "mcp__memory__save", "hooks": [HANDLER]}),
        ("PreToolUse", {"matcher": "^(Read|Write)$", "hooks": [{**HANDLER, "if": "Edit(*.ts)", "timeout": 600}]}),
        ("PreToolUse", {"matcher": "", "hooks": [HANDLER]}),
        ("PreToolUse", {"matcher": "SomeNewTool", "hooks": [HANDLER]}),
        ("Stop", {"hooks": [HANDLER]}),
        ("SessionStart", {"matcher": "startup|resume", "hooks": [{"type": "http", "url": "http://localhost:1"}]}),
        ("SubagentStop", {"matcher": "code-reviewer", "hooks": [{"type": "prompt", "prompt": "Is it done?"}]}),
        ("PostToolUse", {"hooks": [{"type": "mcp_tool", "server": "a", "tool": "b"}]}),
        ("FileChanged", {"matcher": ".envrc|.env", "hooks": [HANDLER]}),
    ],
)
def test_hooks_as_they_should_be(place, event, group):
    hooks(place, event, group)
    assert seen(place, "schema") == []


@pytest.mark.parametrize(
    ("event", "hint"),
    [
        ("PostToolUsee", "write PostToolUse"),
        ("preToolUse", "write PreToolUse"),
        ("user-prompt-submit", "write UserPromptSubmit"),
    ],
)
def test_a_slip_of_an_event(place, event, hint):
    hooks(place, event, {"hooks": [HANDLER]})
    (found,) = findings_of(place, "schema")
    assert (found.path, found.line, found.code, found.severity, found.hint) == (SETTINGS, 3, "hook-event", "", hint)


def test_an_event_that_is_like_none_may_be_new(place):
    hooks(place, "GoalReached", {"hooks": [HANDLER]})
    (found,) = findings_of(place, "schema")
    assert (found.code, found.severity) == ("hook-event", "warning")


def test_an_event_that_the_version_does_not_have(place):
    hooks(place, "DirectoryAdded", {"hooks": [HANDLER]})
    assert codes(place, "schema") == []
    assert codes(place, "schema", "claude-code@2.1.197") == ["hook-event"]
    assert codes(place, "schema", "claude-code@2.1.240") == []


@pytest.mark.parametrize(
    ("group", "code"),
    [
        (HANDLER, "hook-shape"),
        ({"matcher": "Edit"}, "hook-shape"),
        ({"hook": [HANDLER]}, "hook-shape"),
        ("echo", "hook-shape"),
        ({"hooks": HANDLER}, "hook-shape"),
        ({"hooks": ["echo"]}, "hook-shape"),
        ({"hooks": [{"command": "echo"}]}, "hook-handler"),
        ({"hooks": [{"type": "shell", "command": "echo"}]}, "hook-handler"),
        ({"hooks": [{"type": "command"}]}, "hook-handler"),
        ({"hooks": [{"type": "command", "comand": "echo"}]}, "hook-handler"),
        ({"hooks": [{**HANDLER, "timeout": 30000}]}, "hook-timeout"),
        ({"hooks": [{**HANDLER, "if": "Bash(git"}]}, "hook-handler"),
        ({"matcher": ["Edit", "Write"], "hooks": [HANDLER]}, "hook-matcher"),
        ({"matcher": "bash", "hooks": [HANDLER]}, "hook-matcher"),
        ({"matcher": "Edit|Wrte", "hooks": [HANDLER]}, "hook-matcher"),
        ({"matcher": "Edit|(Write", "hooks": [HANDLER]}, "hook-matcher"),
        ({"matcher": "(?i)bash", "hooks": [HANDLER]}, "hook-matcher"),
        ({"matcher": "Bash(git push *)", "hooks": [HANDLER]}, "hook-matcher"),
        ({"matcher": "mcp__memory", "hooks": [HANDLER]}, "hook-matcher"),
    ],
)
def test_a_fault_of_a_group_or_a_handler(place, group, code):
    hooks(place, "PreToolUse", group)
    assert codes(place, "schema") == [code]


def test_a_condition_where_it_never_holds(place):
    hooks(place, "Stop", {"hooks": [{**HANDLER, "if": "Bash(git *)"}]})
    assert codes(place, "schema") == ["hook-handler"]


def test_hooks_that_are_no_object(place):
    write_json(place, SETTINGS, {"hooks": [HANDLER]})
    assert seen(place, "schema") == [(SETTINGS, 2, "hook-shape")]


def test_a_timeout_is_told_once(place):
    hooks(place, "Stop", {"hooks": [{**HANDLER, "timeout": 5000}]}, {"hooks": [{**HANDLER, "timeout": 6000}]})
    assert codes(place, "schema") == ["hook-timeout"]


@pytest.mark.parametrize(
    "command",
    [
        '"$CLAUDE_PROJECT_DIR"/.claude/hooks/gone.sh --fix',
        "${CLAUDE_PROJECT_DIR}/.claude/hooks/gone.sh",
        "./scripts/gone.sh",
        "bash .claude/hooks/gone.sh",
        "timeout 10 python3 -u tools/gone.py x",
        "cd $CLAUDE_PROJECT_DIR && node tools/gone.mjs",
        "uv run tools/gone.py",
    ],
)
def test_a_script_that_is_not_there(place, command):
    run(place, command)
    (found,) = findings_of(place, "schema")
    assert found.code == "hook-script-missing"
    assert "gone." in found.message


@pytest.mark.parametrize(
    "command",
    [
        "./scripts/there.sh --fix",
        '"$CLAUDE_PROJECT_DIR"/scripts/there.sh',
        "sh scripts/plain.sh",  # not executable, and need not be
        "npx prettier --write .",
        "python3 -m gone.tool",
        "python3 -c 'import gone'",
        'node "$HOOKS/gone.js"',
        "[ -f scripts/gone.sh ] && sh scripts/gone.sh",
        "./scripts/gone.sh || true",
        "/usr/local/bin/gone --fix",
        "~/bin/gone.sh",
        "cd packages/api && ./gone.sh",
        "dist/gone.js",
        "node_modules/.bin/gone",
        "./build/made.sh",
        "jq -r .tool_input.file_path | xargs ./scripts/there.sh",
    ],
)
def test_a_script_that_is_there_or_that_cannot_be_known(place, command):
    place.git("init")
    place.write("proj/.gitignore", "/build/\n")
    place.write("proj/scripts/there.sh", "#!/bin/sh\n", mode=0o755)
    place.write("proj/scripts/plain.sh", "#!/bin/sh\n")
    run(place, command)
    assert seen(place, "schema") == []


def test_a_script_that_is_not_executable(place):
    place.write("proj/.claude/hooks/guard.sh", "#!/bin/sh\n", mode=0o644)
    run(place, "$CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh")
    assert seen(place, "schema") == [(SETTINGS, 9, "hook-not-executable")]
    run(place, "sh $CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh")
    assert seen(place, "schema") == []


def test_a_program_with_arguments(place):
    run(place, "node", args=["${CLAUDE_PROJECT_DIR}/tools/gone.js", "--fix"])
    assert codes(place, "schema") == ["hook-script-missing"]
    place.write("proj/tools/gone.js", "")
    assert codes(place, "schema") == []


def test_hooks_of_a_plugin(place):
    place.write("proj/plug/.claude-plugin/plugin.json", '{"name": "plug"}')
    group = {"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/scripts/a.sh"}]}
    hooks(place, "Stop", group, path="plug/hooks/hooks.json")
    assert seen(place, "schema") == [("plug/hooks/hooks.json", 8, "hook-script-missing")]
    place.write("proj/plug/scripts/a.sh", "", mode=0o755)
    assert seen(place, "schema") == []
    write_json(place, "plug/hooks/hooks.json", {"Stop": [group]})
    assert seen(place, "schema") == [("plug/hooks/hooks.json", 2, "hook-shape")]


def test_hooks_in_the_frontmatter_of_an_agent(place):
    head = "name: a\ndescription: b\nhooks:\n  PreToolUsed:\n"
    head += "    - hooks:\n        - type: command\n          command: echo\n"
    place.write("proj/.claude/agents/a.md", f"---\n{head}---\nText.\n")
    assert seen(place, "schema") == [(".claude/agents/a.md", 5, "hook-event")]
    place.write("proj/.claude/agents/a.md", f"---\n{head}---\nText.\n".replace("Used", "Use"))
    assert seen(place, "schema") == []


def test_hooks_of_other_agents(place):
    place.write("proj/.cursor/hooks/fmt.sh", "", mode=0o755)
    write_json(place, ".cursor/hooks.json", {"version": 1, "hooks": {"afterFileEdit": [{"command": "./hooks/fmt.sh"}]}})
    write_json(place, ".github/hooks/a.json", {"version": 1, "hooks": {"preToolUse": [{"bash": "echo"}], "Stop": []}})
    hooks(
        place,
        "BeforeTool",
        {"matcher": "write_file", "hooks": [{**HANDLER, "timeout": 5000}]},
        path=".gemini/settings.json",
    )
    hooks(place, "PermissionRequest", {"hooks": [HANDLER]}, path=".codex/hooks.json")
    assert seen(place, "schema") == []
    write_json(place, ".cursor/hooks.json", {"version": 1, "hooks": {"afterFileEdits": [{"comand": "echo"}]}})
    write_json(place, ".github/hooks/a.json", {"version": 1, "hooks": {"preTooluse": [{"type": "command"}]}})
    hooks(place, "PreToolUse", {"hooks": [{**HANDLER, "timeout": 30}]}, path=".gemini/settings.json")
    assert seen(place, "schema") == [
        (".cursor/hooks.json", 4, "hook-event"),
        (".cursor/hooks.json", 6, "hook-handler"),
        (".gemini/settings.json", 3, "hook-event"),
        (".gemini/settings.json", 9, "hook-timeout"),
        (".github/hooks/a.json", 4, "hook-event"),
        (".github/hooks/a.json", 6, "hook-handler"),
    ]


@pytest.mark.parametrize("handler", [{"type": []}, {"type": {}}, {"type": "command", "timeout": 10**400}])
def test_values_that_nobody_means_do_not_stop_the_check(place, handler):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    hooks(place, "Stop", {"hooks": [handler]})
    report = check_tree(Project(place.proj, CheckOptions(home="")))
    assert {each.code for each in report.findings} <= {"hook-handler"}


@pytest.mark.parametrize("pattern", ["[^]*", "[]", "[[B]ash"])
def test_patterns_that_javascript_knows(pattern):
    assert find_pattern_fault(pattern) == ""


def test_one_question_to_git_about_all_scripts(place):
    """Scripts that git ignores are made by something else; git is asked once, however many there are."""
    place.git("init -q")
    place.write("proj/.gitignore", "made/\n*.gen.sh\n")
    place.folder("proj/real")
    place.link("proj/linked", "real")
    commands = [f"made/{number}.sh" for number in range(40)]
    commands += ["linked/gone.sh", "scripts/gone.sh", "linked/a.gen.sh", "./b.gen.sh"]
    handlers = [{"type": "command", "command": command} for command in commands]
    hooks(place, "Stop", {"hooks": handlers[:20]})
    hooks(place, "Stop", {"hooks": handlers[20:]}, path="web/.claude/settings.json")
    servers = {"made": {"command": "node", "args": ["made/x.js"]}, "gone": {"command": "node", "args": ["gone.js"]}}
    write_json(place, ".mcp.json", {"mcpServers": servers})
    questions = {}
    with keep_answers(questions):
        found = findings_of(place, "schema")
    assert [each.message.partition(":")[0] for each in found] == [
        "gone.js",
        "web/linked/gone.sh",
        "web/scripts/gone.sh",
    ]
    assert len([words for _, words, *_ in questions if "check-ignore" in words]) <= 2


def test_findings_after_many_scripts_that_are_made_are_reported(place):
    place.git("init -q")
    place.write("proj/.gitignore", "made/\n")
    handlers = [{"type": "command", "command": f"made/{number}.sh"} for number in range(150)]
    hooks(place, "Stop", {"hooks": [*handlers, {"type": "command", "command": "./gone.sh"}]})
    assert codes(place, "schema") == ["hook-script-missing"]


def test_a_script_of_one_machine_is_not_looked_for(place):
    hooks(place, "Stop", {"hooks": [{"type": "command", "command": "bash C:/Users/me/hooks/notify.sh"}]})
    assert seen(place, "schema") == []


def test_an_event_that_is_also_there_as_it_should_be(place):
    value = {"sessionStart": [{"command": "echo"}], "SessionStart": [{"hooks": [HANDLER]}], "stop": [HANDLER]}
    write_json(place, ".claude/settings.json", {"hooks": value})
    found = [(each.code, each.hint, each.severity) for each in findings_of(place, "schema")]
    assert found == [("hook-event", "write SessionStart", "warning"), ("hook-event", "write Stop", "")]
