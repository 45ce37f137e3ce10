"""Attribution, as two versions of the agent were seen to take it from settings."""

from __future__ import annotations

import pytest

from foretold.context.attachments import TurnAttachment, texts
from foretold.context.attribution import Attribution, attribution, attribution_lines
from foretold.dialects.claude_code.context import turn_context_of

V2_1_197, V2_1_325 = turn_context_of("claude-code@2.1.197"), turn_context_of("claude-code@2.1.325")

COMMIT = "Co-Authored-By: Claude Sonnet 4.5 <noreply@anthropic.com>"
PR = "🤖 Generated with [Claude Code](https://claude.com/claude-code)"
NONE = Attribution(None, None)
SETTINGS: list[tuple[dict[str, object], Attribution]] = [
    ({}, Attribution(COMMIT, PR)),
    ({"includeCoAuthoredBy": True}, Attribution(COMMIT, PR)),
    ({"includeCoAuthoredBy": False}, NONE),
    ({"attribution": {"commit": "Made-by: ME"}}, Attribution("Made-by: ME", PR)),
    ({"attribution": {"pr": "PRTEXT"}}, Attribution(COMMIT, "PRTEXT")),
    ({"attribution": {"commit": ""}}, Attribution(None, PR)),
    ({"attribution": {"pr": ""}}, Attribution(COMMIT, None)),
    ({"attribution": {"commit": "   ", "pr": "\n"}}, Attribution("   ", "\n")),
    ({"attribution": {}}, Attribution(COMMIT, PR)),
    ({"attribution": {"commit": None}}, Attribution(COMMIT, PR)),
    ({"includeCoAuthoredBy": False, "attribution": {}}, NONE),
    ({"includeCoAuthoredBy": False, "attribution": {"commit": "Made-by: ME"}}, Attribution("Made-by: ME", PR)),
    (
        {"includeGitInstructions": False, "attribution": {"commit": "x"}},
        Attribution(None, None, git_status_block=False),
    ),
]


@pytest.mark.parametrize(("settings", "expected"), SETTINGS)
def test_settings(settings: dict[str, object], expected: Attribution) -> None:
    assert attribution(settings, "Claude Sonnet 4.5") == expected


@pytest.mark.parametrize(("switch", "is_shown"), [("1", False), ("0", True), (None, False)])
def test_the_variable_beats_the_setting(switch: str | None, is_shown: bool) -> None:
    env = {"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": switch} if switch else {}
    assert attribution({"includeGitInstructions": False}, env=env).git_status_block == is_shown


def test_a_remote_session_is_not_shown_the_status() -> None:
    found = attribution({}, "Claude Sonnet 4.5", env={"CLAUDE_CODE_REMOTE": "1"})
    assert found == Attribution(COMMIT, PR, git_status_block=False)


def test_how_it_is_asked_for() -> None:
    found = Attribution("A: {pr}", "B")
    assert attribution_lines(found, V2_1_197) == [
        "- End git commit messages with:\nA: {pr}",
        "- End PR bodies with:\nB",
    ]
    said = texts(TurnAttachment("remote_session_change", {"commit": "A", "pr": ""}), V2_1_325)[0]
    assert said.endswith("leaves out):\n- End git commit messages with:\nA")
