"""Options of the agents' own command lines: known ones are not reported, mistyped ones are, with what was meant."""

import json
import os

import pytest

import foretold
from foretold.dialects.registry import AGENTS, command_line_of, dialects_of
from foretold.dialects.settings_files import find_unknown_options

CASES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "conformance")


LINES = [
    (dialect.name, line)
    for agent in AGENTS
    for dialect in dialects_of(agent)
    if (line := command_line_of(dialect)) is not None
]


def test_every_recorded_agent_has_its_command_line():
    named = {name.partition("@")[0] for name, _ in LINES}
    recorded = {agent for agent in AGENTS for dialect in dialects_of(agent) if dialect.evidence == "recorded"}
    assert recorded - named == set()


@pytest.mark.parametrize(("name", "line"), LINES, ids=[name for name, _ in LINES])
def test_no_option_is_listed_twice(name, line):
    listed = " ".join((line.flags, line.one, line.maybe, line.many)).split()
    assert sorted(set(listed)) == sorted(listed)
    assert all(option.startswith("-") for option in listed)


def recorded_words():
    for name in sorted(os.listdir(CASES)):
        if not name.endswith(".jsonl"):
            continue
        with open(os.path.join(CASES, name), encoding="utf-8") as file:
            for case in map(json.loads, file):
                if case.get("args") and case.get("agent") in AGENTS:
                    yield case["agent"], tuple(map(str, case["args"]))


def test_no_option_of_a_recording_is_called_unknown():
    """The real programs ran with these."""
    found = {}
    for agent, args in set(recorded_words()):
        line = command_line_of(dialects_of(agent)[-1])
        unknown = find_unknown_options(args, line) if line else []
        if unknown:
            found[agent, args] = unknown
    assert found == {}


def unknown(place, agent, *args):
    view = foretold.load(place.proj, agent=agent, home=place.home, env={}, args=args)
    return [(each.message, each.hint) for each in view.findings if each.code == "option-unknown"]


@pytest.mark.parametrize(
    ("agent", "typed", "meant"),
    [
        ("claude-code", "--setting-source", "--setting-sources"),
        ("claude-code@2.1.197", "--add-dirs", "--add-dir"),
        ("codex", "--modle", "--model"),
        ("gemini-cli", "--include-directory", "--include-directories"),
        ("qwen-code", "--safe-mod", "--safe-mode"),
        ("opencode", "--sesion", "--session"),
        ("copilot-cli", "--no-custom-instruction", "--no-custom-instructions"),
        ("cline", "--systm", "--system"),
        ("continue", "--rules", "--rule"),
    ],
)
def test_a_mistyped_option(place, agent, typed, meant):
    said = (f"{typed} means nothing to {agent.partition('@')[0]}", f"did you mean {meant}?")
    assert unknown(place, agent, typed, "x") == unknown(place, agent, f"{typed}=x") == [said]
    assert unknown(place, agent, meant, "x") == []
    assert unknown(place, agent, "--", typed) == []


def test_what_is_like_no_option(place):
    assert unknown(place, "claude-code", "--frobnicate") == [
        ("--frobnicate means nothing to claude-code", "see: claude --help")
    ]
    (said,) = unknown(place, "mink", "--frobnicate")
    assert said[1].startswith("known are: ")


def test_values_and_prompts_are_not_options(place):
    assert unknown(place, "claude-code", "-p", "--append-system-prompt", "--x", "do it", "-dapi", "--model=a=--b") == []
    assert unknown(place, "gemini-cli", "--includeDirectories", "x", "--no-debug") == []
    assert unknown(place, "codex", "exec", "--json", "-c", "a=b", "-") == []


def test_an_option_of_a_later_version(place):
    assert unknown(place, "claude-code@2.1.325", "--desktop") == []
    assert [said for said, _ in unknown(place, "claude-code@2.1.197", "--desktop")] == [
        "--desktop means nothing to claude-code"
    ]


@pytest.mark.parametrize(
    ("agent", "known", "unknown_there"),
    [
        ("mink", ["--boundary", "cwd", "--managed"], ["--user-dir", "/u"]),
        ("code-assist", ["--no-user", "--additional-dir", "/x"], ["--no-external"]),
        ("ex-athena", ["--user-dir", "/u", "--filename", "X.md"], ["--boundary", "cwd"]),
    ],
)
def test_each_system_has_options_of_its_own(place, agent, known, unknown_there):
    assert unknown(place, agent, *known) == []
    ((said, _),) = unknown(place, agent, *unknown_there)
    assert said == f"{unknown_there[0]} means nothing to {agent}"


def test_options_of_code_assist(place):
    place.write("home/.claude/CLAUDE.md", "U")
    place.write("extra/CLAUDE.md", "X")
    args = ["--no-user", "--additional-dir", place.path("extra")]
    view = foretold.load(place.proj, agent="code-assist", home=place.home, args=args)
    assert [entry.text for entry in view.entries] == ["X"]
