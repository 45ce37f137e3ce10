"""Agents and skills that files define, as two versions of the agent were seen to read them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import foretold
from foretold.context.definitions import MAX_FILE, Definitions, call_skill, read_definitions
from foretold.context.listings import Skill


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _found(folder: Path, cwd: str = "up/repo/pkg") -> Definitions:
    (folder / cwd).mkdir(parents=True, exist_ok=True)
    view = foretold.load(folder / cwd, agent="claude-code@2.1.325", home=folder / "home", env={})
    return read_definitions(view.surroundings)


def _agent(name: str, description: str = "Does it", **more: str) -> str:
    lines = [f"{key}: {value}" for key, value in {"name": name, "description": description, **more}.items() if value]
    return "\n".join(("---", *lines, "---", "Body.", ""))


def test_the_nearest_agent_of_a_name_counts_up_to_the_top_of_the_repository(tmp_path: Path) -> None:
    files = {
        "up/.claude/agents/above.md": _agent("above"),
        "up/repo/.git/HEAD": "ref: refs/heads/main\n",
        "up/repo/.git/objects/.keep": "",
        "up/repo/.git/refs/.keep": "",
        "up/repo/.claude/agents/root.md": _agent("root"),
        "up/repo/.claude/agents/both.md": _agent("both", "far"),
        "up/repo/pkg/.claude/agents/in/side.md": _agent("both", "near"),
        "home/.claude/agents/both.md": _agent("both", "of the user"),
        "home/.claude/agents/user.md": _agent("user"),
    }
    _write(tmp_path, files)
    found = _found(tmp_path).agents
    assert {name: each.description for name, each in found.items()} == {
        "both": "near",
        "root": "Does it",
        "user": "Does it",
    }
    assert found["root"].prompt == "Body."


def test_without_a_repository_every_folder_above_counts(tmp_path: Path) -> None:
    _write(tmp_path, {"up/.claude/agents/above.md": _agent("above")})
    assert list(_found(tmp_path).agents) == ["above"]


@pytest.mark.parametrize(
    ("more", "tools", "without"),
    [
        ({}, None, ()),
        ({"tools": "Read, Grep"}, ("Read", "Grep"), ()),
        ({"tools": "[Read, Grep]"}, ("Read", "Grep"), ()),
        ({"tools": "'*'", "disallowedTools": "Bash, Read"}, None, ("Bash", "Read")),
        ({"tools": "Agent(a, b), Bash(git *)"}, ("Agent", "Bash"), ()),
    ],
)
def test_tools(tmp_path: Path, more: dict[str, str], tools: tuple[str, ...] | None, without: tuple[str, ...]) -> None:
    _write(tmp_path, {"home/.claude/agents/a.md": _agent("a", **more, model="inherit", maxTurns="3")})
    found = _found(tmp_path).agents["a"]
    assert (found.tools, found.without, found.model, found.max_turns) == (tools, without, "", 3)


def test_what_is_not_used_is_named(tmp_path: Path) -> None:
    files = {
        "home/.claude/agents/bare.md": "no frontmatter\n",
        "home/.claude/agents/mute.md": _agent("mute", ""),
        "home/.claude/agents/vast.md": _agent("vast") + "x" * MAX_FILE,
        "home/.claude/skills/empty/SKILL.md": "\n",
        "home/.claude/skills/flat.md": "not a folder\n",
    }
    _write(tmp_path, files)
    os.mkfifo(tmp_path / "home/.claude/agents/pipe.md")
    found = _found(tmp_path)
    assert (dict(found.agents), dict(found.skills)) == ({}, {})
    assert [os.path.basename(finding.path) for finding in found.findings] == [
        *("bare.md", "mute.md", "pipe.md", "vast.md"),
        "SKILL.md",
    ]
    assert {finding.code for finding in found.findings} == {"definition-ignored"}


def test_skills_of_the_user_come_first(tmp_path: Path) -> None:
    files = {
        "home/.claude/skills/near/SKILL.md": "---\ndescription: of the user\n---\nU\n",
        "up/repo/pkg/.claude/skills/near/SKILL.md": "---\ndescription: of the project\n---\nP\n",
        "up/repo/pkg/.claude/skills/bare/SKILL.md": "# Title here\n\nText.\n",
        "up/repo/pkg/.claude/skills/when/SKILL.md": "---\ndescription: It\nwhen_to_use: now\n---\nW\n",
        "up/repo/pkg/.claude/skills/hidden/SKILL.md": "---\ndescription: x\ndisable-model-invocation: true\n---\nH\n",
    }
    _write(tmp_path, files)
    assert [skill.line for skill in _found(tmp_path).skills.values()] == [
        "- near: of the user",
        "- bare: Title here",
        "- when: It - now",
    ]


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("Body root $1 and $2\n", "x y", "Body root y and $2\n"),
        ("Deploy $ARGUMENTS with care.\n", "now", "Deploy now with care.\n"),
        ("U\n", "more words", "U\n\n\nARGUMENTS: more words"),
        ("U\n", "", "U\n"),
        ("Say $0.", "it's open", "Say it's."),
    ],
)
def test_what_a_skill_is_called_with(text: str, arguments: str, expected: str) -> None:
    assert call_skill(Skill("a", "", text=text), arguments) == expected
