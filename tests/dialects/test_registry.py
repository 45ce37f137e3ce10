"""Which dialect a name means."""

import json
import os

import pytest

from foretold.dialects.claude_code import files, instructions, sessions
from foretold.dialects.claude_code.compaction import compaction_rules
from foretold.dialects.claude_code.context import turn_context_of
from foretold.dialects.claude_code.file_history import form_of
from foretold.dialects.compaction import effect_of
from foretold.dialects.registry import (
    AGENTS,
    DialectChoice,
    choose,
    dialects_of,
    installed_version,
    pick_version,
    version_key,
)
from foretold.errors import UnknownAgent

OLD, NEW = instructions.V2_1_197, instructions.V2_1_325


@pytest.mark.parametrize(
    ("name", "choice"),
    [
        ("claude-code", DialectChoice(NEW, "", assumed=False)),
        ("claude-code@", DialectChoice(NEW, "", assumed=False)),
        ("claude-code@2.1.197", DialectChoice(OLD, "2.1.197", assumed=False)),
        ("claude-code@2.1.325", DialectChoice(NEW, "2.1.325", assumed=False)),
        ("claude-code@2.1.198", DialectChoice(OLD, "2.1.198", assumed=True)),
        ("claude-code@2.1.324", DialectChoice(OLD, "2.1.324", assumed=True)),
        ("claude-code@2.1.326", DialectChoice(NEW, "2.1.326", assumed=True)),
        ("claude-code@3", DialectChoice(NEW, "3", assumed=True)),
        ("claude-code@1.0.0", DialectChoice(OLD, "1.0.0", assumed=True)),
    ],
)
def test_a_name_with_or_without_version(name, choice):
    assert choose(name) == choice


def test_the_system_of_a_loader_suggests_the_loader():
    with pytest.raises(UnknownAgent, match="unknown agent 'chimera', did you mean 'mink'"):
        choose("chimera")


@pytest.mark.parametrize("name", ["", "claude", "claude_code", "../x", "@2.1.197"])
def test_an_unknown_agent_names_those_there_are(name):
    with pytest.raises(UnknownAgent, match="nown agents: aider, amp, claude-code, ") as error:
        choose(name)
    assert (error.value.exit_code, repr(name.partition("@")[0]) in str(error.value)) == (2, True)
    assert ("did you mean 'claude-code'?" in str(error.value)) == ("laude" in name)


def test_a_name_may_be_in_any_case():
    assert choose("Claude-Code@2.1.197") == choose("claude-code@2.1.197")


@pytest.mark.parametrize("version", ["latest", "v2.1.197", "2.1.", "2..1", "²", "2.1.x", "1" * 5000])
def test_what_is_no_version_names_those_recorded(version):
    with pytest.raises(UnknownAgent, match=r"recorded for claude-code: 2\.1\.197, 2\.1\.325"):
        choose(f"claude-code@{version}")


def test_dialects_are_oldest_first():
    for agent in AGENTS:
        versions = [version_key(dialect.version) for dialect in dialects_of(agent)]
        assert versions == sorted(versions)
        assert () not in versions


def program(place, path, version=None, name="@anthropic-ai/claude-code"):
    """A program as an installer leaves it; `version` goes to the package.json beside it."""
    target = place.write(path, "#!/bin/sh\n", mode=0o755)
    if version is not None:
        manifest = os.path.join(os.path.dirname(target), "package.json")
        with open(manifest, "w", encoding="utf-8") as file:
            json.dump({"name": name, "version": version}, file)
    return target


def on_path(place, target):
    place.link("bin/claude", target)
    return {"PATH": f"/nowhere:{place.path('bin')}"}


def test_an_npm_install_is_read_from_its_manifest(place):
    env = on_path(place, program(place, "lib/node_modules/@anthropic-ai/claude-code/cli.js", "2.1.200"))
    assert installed_version(("claude",), env) == "2.1.200"
    assert choose("claude-code", env) == DialectChoice(OLD, "2.1.200", assumed=True)


def test_a_native_install_is_named_in_its_path(place):
    env = on_path(place, program(place, "share/claude/versions/2.1.325"))
    assert installed_version(("claude",), env) == "2.1.325"
    assert choose("claude-code", env) == DialectChoice(NEW, "2.1.325", assumed=False)


@pytest.mark.parametrize(
    "runtime", [".asdf/installs/nodejs/20.11.1", "mise/installs/node/22.1.0", "Cellar/node/21.6.1"]
)
def test_the_version_of_a_runtime_is_not_the_agents(place, runtime):
    path = f"{runtime}/lib/node_modules/@anthropic-ai/claude-code/cli.js"
    assert installed_version(("claude",), on_path(place, program(place, path, "2.1.200"))) == "2.1.200"


def test_a_manifest_two_folders_up_is_found(place):
    place.write("pkg/package.json", '{"version": "2.1.300"}')
    env = on_path(place, program(place, "pkg/bin/claude.exe"))
    assert installed_version(("claude",), env) == "2.1.300"


@pytest.mark.parametrize(
    "manifest", ["{", "[]", '{"version": 3}', '{"version": "next"}', "{}", b"\xff\xfe", '"text"', "null"]
)
def test_a_broken_manifest_means_no_version(place, manifest):
    target = program(place, "pkg/cli.js")
    place.write("pkg/package.json", manifest)
    env = on_path(place, target)
    assert installed_version(("claude",), env) == ""
    assert choose("claude-code", env) == DialectChoice(NEW, "", assumed=False)


def test_no_program_means_the_newest(place):
    place.write("bin/claude", "no right to run", mode=0o644)
    os.makedirs(place.path("bin2/claude"))
    for env in ({}, {"PATH": ""}, {"PATH": ":"}, {"PATH": f"{place.path('bin')}:{place.path('bin2')}"}):
        assert choose("claude-code", env) == DialectChoice(NEW, "", assumed=False)


def test_a_version_asked_for_wins_over_the_installed_one(place):
    env = on_path(place, program(place, "versions/2.1.325"))
    assert choose("claude-code@2.1.197", env) == DialectChoice(OLD, "2.1.197", assumed=False)


def test_the_newest_version_that_is_not_newer():
    known = {"2.1.197": 1, "2.1.325": 2}
    assert [pick_version(known, version, 0) for version in ("1.0", "2.1.200", "2.1.400", "")] == [1, 1, 2, 0]


def test_versions_of_claude_code_that_were_not_recorded():
    assert [compaction_rules(version).version for version in ("2.1.200", "")] == ["2.1.197", "2.1.325"]
    assert [turn_context_of(name).version for name in ("claude-code@2.1.200", "claude-code")] == ["2.1.197", "2.1.325"]
    assert [form_of(version).is_delta for version in ("2.1.200", "2.1.325", "3.0.0", "")] == [False, True, True, True]
    assert [sessions.rules_of(version).leaf for version in ("2.1.200", "2.1.400", "1.0")] == ["last", "tip", "last"]
    versions = ("2.1.197", "2.1.300", "9.0", "1.0", "")
    found = [files.rules_of(version).version for version in versions]
    assert found == ["2.1.197", "2.1.197", "2.1.325", "2.1.197", "2.1.325"]


def test_what_becomes_of_a_conversation():
    assert (effect_of("compact", "claude-code").reason, effect_of("clear", "goose").recorded) == ("compact", False)


def test_a_version_as_numbers():
    assert (version_key("2.1.325"), choose("claude-code@2.1.200").dialect.version) == ((2, 1, 325), "2.1.197")
