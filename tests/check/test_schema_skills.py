"""Skills: place, name, frontmatter; each fault with a look-alike that is none."""

import pytest
from tests.check.families import codes, findings_of, seen

GOOD = "---\nname: deploy\ndescription: Deploys the site. Use when asked to publish.\n---\n\nRun it.\n"
PATH = ".claude/skills/deploy/SKILL.md"


def test_a_skill_as_it_should_be(place):
    place.write(f"proj/{PATH}", GOOD)
    place.write("proj/.agents/skills/review/SKILL.md", GOOD.replace("deploy", "review"))
    assert seen(place, "schema") == []


def test_all_documented_keys(place):
    head = (
        "license: MIT\ncompatibility: needs git\nmetadata:\n  author: us\nallowed-tools: Read, Bash(git log:*)\n"
        "argument-hint: [issue number]\ndisable-model-invocation: yes\nuser-invocable: false\nmodel: opus\n"
        "context: fork\n"
        "agent: Explore\npaths: ['src/**']\nwhen_to_use: at the end\neffort: high\nversion: 1.2.0\ntags: [a]\n"
    )
    place.write(f"proj/{PATH}", GOOD.replace("---\n\n", f"{head}---\n\n"))
    assert seen(place, "schema") == []


def test_a_frontmatter_without_its_end_is_named_as_such(place):
    place.write(f"proj/{PATH}", "---\nname: deploy\ndescription: Deploys.\n\nRun it.\n")
    (found,) = findings_of(place, "schema")
    assert (found.code, found.hint) == ("skill-incomplete", "write --- in a line of its own after the keys")
    assert found.message.startswith("the closing --- of its frontmatter is missing: agents know the skill neither")


def test_a_key_without_its_colon_is_named(place):
    place.write(f"proj/{PATH}", GOOD.replace("name: deploy", "name deploy"))
    (found,) = findings_of(place, "schema")
    assert (found.code, found.hint) == ("definition-invalid", "write a colon after the key: name: deploy")


@pytest.mark.parametrize(
    ("old", "new", "line", "code"),
    [
        ("name: deploy", "name: Deploy It", 2, "skill-name"),
        ("name: deploy", "name: de--ploy", 2, "skill-name"),
        ("name: deploy", "name: release", 2, "skill-folder"),
        ("name: deploy\n", "", 1, "skill-incomplete"),
        ("description: Deploys the site. Use when asked to publish.\n", "", 1, "skill-incomplete"),
        ("description: Deploys", "discription: Deploys", 3, "definition-key"),
        ("Deploys the site.", "Deploys the site. " * 80, 3, "skill-description-long"),
        ("description: Deploys", "description: Use when: it deploys", 3, "definition-repaired"),
        ("description: Deploys the site.", "allowed_tools: Read\ndescription: Deploys the site.", 3, "definition-key"),
        (
            "description: Deploys the site.",
            "allowed-tools: Raed\ndescription: Deploys the site.",
            3,
            "definition-tools",
        ),
        (
            "description: Deploys the site.",
            "allowed-tools: Bash(ls\ndescription: Deploys the site.",
            3,
            "definition-tools",
        ),
        ("description: Deploys the site.", "context: frok\ndescription: Deploys the site.", 3, "definition-value"),
        (
            "description: Deploys the site.",
            "user-invocable: maybe\ndescription: Deploys the site.",
            3,
            "definition-value",
        ),
        ("description: Deploys the site.", "model: opuss\ndescription: Deploys the site.", 3, "definition-model"),
    ],
)
def test_a_fault_of_the_frontmatter(place, old, new, line, code):
    place.write(f"proj/{PATH}", GOOD.replace(old, new))
    assert seen(place, "schema") == [(PATH, line, code)]


def test_a_name_that_is_too_long(place):
    place.write(f"proj/.claude/skills/{'d' * 65}/SKILL.md", GOOD.replace("name: deploy", f"name: {'d' * 65}"))
    assert codes(place, "schema") == ["skill-name"]


def test_frontmatter_that_does_not_parse(place):
    place.write(f"proj/{PATH}", "---\nname: deploy\ndescription: a\nUse it.\n---\nText.\n")
    assert codes(place, "schema") == ["definition-invalid"]


def test_no_frontmatter(place):
    place.write(f"proj/{PATH}", "# Deploy\n\nRun it.\n")
    assert seen(place, "schema") == [(PATH, 1, "skill-incomplete")]


def test_a_key_that_one_agent_reads(place):
    text = GOOD.replace("description:", "allowedTools: [read_file]\ndescription:")
    place.write("proj/.qwen/skills/deploy/SKILL.md", text)
    place.write("proj/packages/core/skills/deploy/SKILL.md", text)
    place.write("proj/packages/core/skills/SKILL.md", GOOD)
    assert seen(place, "schema") == []
    place.write(f"proj/{PATH}", text)
    assert seen(place, "schema") == [(PATH, 3, "definition-key")]


def test_a_placeholder_is_not_a_name(place):
    place.write("proj/.claude/skills/skill-template/SKILL.md", GOOD.replace("name: deploy", "name: '{{name}}'"))
    place.write("proj/.claude/skills/my-template/SKILL.md", GOOD)
    assert seen(place, "schema") == []


@pytest.mark.parametrize(
    "path",
    [
        ".claude/skills/SKILL.md",
        ".claude/skills/deploy.md",
        ".claude/skills/web/deploy/SKILL.md",
        ".claude/skills/deploy/skill.md",
    ],
)
def test_a_skill_in_a_place_where_nobody_looks(place, path):
    place.write(f"proj/{path}", GOOD)
    (found,) = findings_of(place, "schema")
    assert (found.path, found.code) == (path, "skill-place")
    assert (
        ".claude/skills/deploy/SKILL.md" in found.hint
        or "folder with its name" in found.hint
        or "SKILL.md" in found.hint
    )


def test_a_folder_that_is_called_skill_is_what_is_installed_elsewhere(place):
    place.write("proj/src/extension/skill/SKILL.md", GOOD)
    assert seen(place, "schema") == []
    place.write("proj/.claude/skills/skill/SKILL.md", GOOD)
    assert codes(place, "schema") == ["skill-folder"]


def test_what_is_not_a_misplaced_skill(place):
    place.write(f"proj/{PATH}", GOOD)
    place.write("proj/.claude/skills/README.md", "---\ndescription: about\n---\nSkills.\n")
    place.write("proj/.claude/skills/notes-of-us.md", "No frontmatter: a text.\n")
    place.write("proj/.claude/skills/deploy/parts/undo/SKILL.md", GOOD.replace("name: deploy", "name: undo"))  # a part
    place.write("proj/.agents/skills/web/audit/SKILL.md", GOOD.replace("name: deploy", "name: audit"))  # found by Codex
    place.write("proj/til/skill.md", "Today I learned.\n")
    place.write("proj/docs/skills/a/SKILL.md", "A page about skills.\n")
    assert seen(place, "schema") == []


def test_a_link_makes_a_skill_further_down_found(place):
    place.write("proj/.claude/skills/web/deploy/SKILL.md", GOOD)
    place.link("proj/.claude/skills/deploy", "web/deploy")
    assert seen(place, "schema") == []


def test_only_the_agents_that_are_asked_about(place):
    place.write("proj/.claude/skills/SKILL.md", GOOD)
    assert codes(place, "schema", "claude-code") == ["skill-place"]
    assert codes(place, "schema", "codex") == []
