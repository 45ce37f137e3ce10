"""What belongs at the end of commits: where the recorded version says it, and only if the settings want it."""

import json

import pytest

from foretold.context.attribution import Attribution

from .scene import harness, is_prefix, live, resumed, stored, types

TRAILER = {
    "2.1.197": "Co-Authored-By: Claude Sonnet 4.5 <noreply@anthropic.com>",
    "2.1.325": "Co-Authored-By: Claude Opus 5.5 <noreply@anthropic.com>",
}
MODELS = {"2.1.197": "claude-sonnet-4-5", "2.1.325": "claude-opus-5-5"}
PR = "Generated with [Claude Code]"


def settings(place, values, name="proj/.claude/settings.json"):
    place.write(name, json.dumps(values))


def asked(place, version="2.1.325", **more):
    """A conversation of one prompt, and its request."""
    agent = harness(place, ["Hi."], version, more.pop("model", MODELS[version]), memory=False, **more)
    agent.prompt("Hello.")
    return agent, agent.model.requests[0]


def bash(request):
    return next(tool["description"] for tool in request.tools if tool["name"] == "Bash")


def test_the_earlier_version_says_it_in_the_description_of_bash(place):
    agent, request = asked(place, "2.1.197")
    lines = bash(request).split("\n\n# Git\n")[1].split("\n")
    assert lines[1:3] == ["- End git commit messages with:", TRAILER["2.1.197"]]
    assert (lines[3], PR in lines[4]) == ("- End PR bodies with:", True)
    assert "Co-Authored-By" not in str(request.messages)
    assert "remote_session_change" not in types(agent)


def test_the_later_version_says_it_in_a_reminder_and_once(place):
    agent, request = asked(place)
    assert TRAILER["2.1.325"] in str(request.messages)
    assert "Co-Authored-By" not in bash(request)
    assert "# Git" in bash(request)
    again = resumed(place, agent, ["Again."], memory=False)
    again.prompt("Go on.")
    assert is_prefix(request, again.model.requests[0])
    assert types(again).count("remote_session_change") == 1
    assert live(again) == stored(again)


@pytest.mark.parametrize("version", TRAILER)
@pytest.mark.parametrize(
    ("values", "commit", "pr"),
    [
        ({"includeCoAuthoredBy": False}, "", ""),
        ({"attribution": {"commit": "", "pr": ""}}, "", ""),
        ({"attribution": {"commit": "Signed-off-by: us"}}, "Signed-off-by: us", PR),
        ({"includeCoAuthoredBy": False, "attribution": {"pr": "By us."}}, "Co-Authored-By", "By us."),
        ({"includeGitInstructions": False}, "", ""),
        ({"env": {"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "1"}}, "", ""),
    ],
)
def test_settings_decide(place, version, values, commit, pr):
    settings(place, values)
    _, request = asked(place, version)
    said = bash(request) + str(request.messages)
    found = [text for text in ("Co-Authored-By", "Signed-off-by: us", PR, "By us.") if text in said]
    assert found == [text for text in (commit, pr) if text]
    assert ("# Git" in said) is bool(commit or pr)


def test_scopes_are_merged_value_by_value(place):
    settings(place, {"attribution": {"commit": "Of the user", "pr": "PR of the user"}}, "home/.claude/settings.json")
    settings(place, {"attribution": {"commit": "Of the project"}})
    agent, _ = asked(place)
    assert agent.attribution == Attribution("Of the project", "PR of the user")


@pytest.mark.parametrize("version", TRAILER)
def test_git_instructions_switched_off_take_the_git_status_with_them(place, version):
    place.write("proj/.git/HEAD", "ref: refs/heads/topic\n")
    for name in ("objects", "refs"):
        place.write(f"proj/.git/{name}/.keep", "")
    shown = asked(place, version)[1]
    settings(place, {"includeGitInstructions": False})
    agent, hidden = asked(place, version)
    assert ["git status at the start" in str(each.system + each.messages) for each in (shown, hidden)] == [True, False]
    assert agent.recorder.records()[0].get("gitBranch", "topic") == "topic"


def test_a_caller_decides(place):
    assert "Co-Authored-By" not in str(asked(place, attribution=False)[1])
    own = asked(place, attribution=Attribution("Built-by: bakery", None))[1]
    assert "- End git commit messages with:\\nBuilt-by: bakery" in str(own.messages)


@pytest.mark.parametrize("version", TRAILER)
def test_no_one_signs_as_claude_for_another_model(place, version):
    assert "Co-Authored-By" not in str(asked(place, version, model="gpt-6")[1])
    settings(place, {"attribution": {"commit": "Co-Authored-By: GPT-6"}})
    request = asked(place, version, model="gpt-6")[1]
    assert ("Co-Authored-By: GPT-6" in str(request), PR in str(request)) == (True, False)


def test_without_a_shell_nothing_is_said(place):
    agent, request = asked(place, tools=[])
    assert ("Co-Authored-By" in str(request), "remote_session_change" in types(agent)) == (False, False)
