"""The user context, flattened, with and without the sections that leave the system prompt."""

from __future__ import annotations

from pathlib import Path

import foretold
from foretold.context.placement import Sections, context_blocks, user_context

ENVIRONMENT = "# Environment\nYou have been invoked in the following environment: \n - Primary working directory: /p"
MEMORY = "# Memory\n\nYou have a memory."
AFTER = (
    "\n\n      IMPORTANT: this context may or may not be relevant to your tasks. You should not respond to this "
    "context unless it is highly relevant to your task.\n</system-reminder>\n\n"
)
BEFORE = "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n"


def _view(tmp_path: Path, version: str) -> foretold.View:
    (tmp_path / "CLAUDE.md").write_text("Told.\n")
    (tmp_path / "home").mkdir(exist_ok=True)
    agent, home = f"claude-code@{version}", tmp_path / "home"
    return foretold.load(tmp_path, agent=agent, home=home, managed=home, env={}, now="2026-01-02")


def test_the_earlier_version_has_one_block(tmp_path: Path) -> None:
    view = _view(tmp_path, "2.1.197")
    (block,) = context_blocks(view, git="On main.", environment=ENVIRONMENT, memory=MEMORY)
    assert block.text == f"{BEFORE}# claudeMd\n{view.text}\n# currentDate\nToday's date is 2026-01-02.{AFTER}"
    assert view.messages == [{"role": "user", "content": [{"type": "text", "text": block.text}]}]


def test_sections_that_leave_the_system_prompt_of_the_earlier_version(tmp_path: Path) -> None:
    view = _view(tmp_path, "2.1.197")
    given = {"git": "On main.", "environment": ENVIRONMENT, "memory": MEMORY}
    assert list(user_context(view, **given, exclude_dynamic=True)) == [
        "gitStatus",
        "claudeMd",
        "currentDate",
        "Environment",
        "Memory",
    ]
    (block,) = context_blocks(view, **given, exclude_dynamic=True)
    assert block.text == (
        f"{BEFORE}# gitStatus\nOn main.\n# claudeMd\n{view.text}\n# currentDate\nToday's date is 2026-01-02.\n"
        f"{ENVIRONMENT}\n{MEMORY}{AFTER}"
    )


def test_the_later_version_has_a_block_for_each(tmp_path: Path) -> None:
    view = _view(tmp_path, "2.1.325")
    blocks = context_blocks(view, git="On main.", environment=ENVIRONMENT, memory=MEMORY, exclude_dynamic=True)
    assert [block.text for block in blocks] == [
        f"<system-reminder>\n{view.text}\n</system-reminder>",
        (
            f"{BEFORE}# gitStatus\nOn main.\n\nClaude Code attached this context automatically; it isn't part of the "
            "user's message. It describes the user's own account and workspace, so they don't need it reported back.\n"
            "</system-reminder>"
        ),
        (
            f"<system-reminder>\n{MEMORY}\n\nThis is ambient context — do not narrate it to the user unless they "
            "ask or it "
            "is directly relevant to their request.\n</system-reminder>"
        ),
    ]


def test_a_section_is_made_again_only_when_its_inputs_change() -> None:
    made: list[str] = []
    state = {"a": 1, "b": 1}

    def make(name: str) -> str:
        made.append(name)
        return f"{name}{state[name]}" if state[name] else ""

    sections = Sections()
    for name in state:
        sections.add(name, lambda name=name: make(name), lambda name=name: state[name])  # type: ignore[misc]
    assert (sections.text(), sections.text(), made) == ("a1\n\nb1", "a1\n\nb1", ["a", "b"])
    state["b"] = 0
    assert (sections.text(), made) == ("a1", ["a", "b", "b"])
    sections.invalidate("a")
    assert (sections["a"], made) == ("a1", ["a", "b", "b", "a"])
    sections.invalidate()
    assert (sections.text(), made) == ("a1", ["a", "b", "b", "a", "a", "b"])
