"""Which dialect a name means."""

import json
import os

import pytest

from foretold.dialects.claude_code import files, sessions
from foretold.dialects.claude_code.compaction import compaction_rules
from foretold.dialects.claude_code.context import turn_context_of
from foretold.dialects.claude_code.file_history import form_of
from foretold.dialects.compaction import effect_of
from foretold.dialects.registry import (
    AGENTS,
    DialectChoice,
    choose,
    dialect_at,
    dialects_of,
    installed_version,
)
from foretold.dialects.releases.history import version_key
from foretold.errors import UnknownAgent

OLD, NEW, FIRST = (dialect_at("claude-code", version) for version in ("2.1.197", "2.1.325", "1.0.0"))


@pytest.mark.parametrize(
    ("name", "choice"),
    [
        ("claude-code", DialectChoice(NEW, "", assumed=False)),
        ("claude-code@", DialectChoice(NEW, "", assumed=False)),
        ("claude-code@2.1.197", DialectChoice(OLD, "2.1.197", assumed=False)),
        ("claude-code@2.1.325", DialectChoice(NEW, "2.1.325", assumed=False)),
        ("claude-code@2.1.326", DialectChoice(NEW, "2.1.326", assumed=True)),
        ("claude-code@3", DialectChoice(NEW, "3", assumed=True)),
        ("claude-code@0.2.126", DialectChoice(FIRST, "0.2.126", assumed=True)),
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
    with pytest.raises(UnknownAgent, match=r"known for claude-code: 1\.0\.0 to 2\.1\.325"):
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
    assert choose("claude-code", env) == DialectChoice(dialect_at("claude-code", "2.1.200"), "2.1.200", assumed=False)


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


def test_a_release_between_two_that_were_played_is_their_sum():
    choice = choose("claude-code@2.1.270")
    assert (choice.assumed, choice.note, choice.dialect.evidence) == (False, "", "between")
    assert (choice.dialect.version, choice.dialect.model) == ("2.1.270", "claude-opus-5")
    assert (choice.dialect.fallback, choice.dialect.envelope) == (None, NEW.envelope)


def test_a_release_in_a_gap_where_something_changed_is_assumed():
    choice = choose("claude-code@2.1.279")
    assert (choice.assumed, choice.dialect.evidence) == (True, "assumed")
    assert choice.note == "2.1.279 was not recorded, and what it does changed between the releases next to it that were"


def test_the_tables_of_a_release():
    assert turn_context_of("claude-code@2.1.200") == turn_context_of("claude-code@2.1.197")._replace(version="2.1.200")
    assert [turn_context_of(name).version for name in ("claude-code@9.0", "claude-code")] == ["2.1.325", "2.1.325"]
    assert [form_of(version).is_delta for version in ("2.1.200", "2.1.325", "3.0.0", "")] == [False, True, True, True]
    assert [sessions.rules_of(version).leaf for version in ("2.1.200", "2.1.400", "1.0")] == ["last", "tip", "last"]
    assert [compaction_rules(version).few for version in ("2.1.197", "")] == ["refuses", "summarises"]
    found = [files.rules_of(version).stub for version in ("2.1.197", "9.0", "1.0", "")]
    assert found == [found[0], "", found[0], ""]


def test_what_becomes_of_a_conversation():
    assert (effect_of("compact", "claude-code").reason, effect_of("clear", "goose").recorded) == ("compact", False)


def test_the_old_agents_have_one_table():
    assert dialects_of("cline") == (dialect_at("cline", "1.0"),)
