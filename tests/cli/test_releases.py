"""`foretold releases`: agents, changes, a span of them, one release; and what is wrong with a question."""

import re

import pytest

from .documents import read_document


def text(done):
    return done.stdout.decode()


def install(place, version):
    """A program as npm leaves it; the environment that has it on PATH."""
    place.write("pkg/package.json", f'{{"version": "{version}"}}')
    place.write("pkg/cli.js", "#!/bin/sh\n", mode=0o755)
    place.link("bin/claude", "../pkg/cli.js")
    return {"PATH": place.path("bin")}


def test_the_agents_with_a_history(place):
    done = place.run("releases")
    assert (done.returncode, done.stderr) == (0, b"")
    assert re.search(r"\n  claude-code +\d+ changes from 1\.0\.0 to [\d.]+, not installed here\n", text(done))
    env = install(place, "2.1.250")
    assert ", 2.1.250 is installed here\n" in text(place.run("releases", env=env))
    document = read_document(text(place.run("releases", "--json", env=env)))
    agents = {each["agent"]: each for each in document["agents"]}
    assert agents["claude-code"]["installed"] == "2.1.250"
    assert agents["claude-code"]["topics"][0] == "instructions"


def test_one_change_with_its_proof(place):
    done = place.run("releases", "2.1.287..2.1.288", "-v")
    assert done.returncode == 0
    assert text(done).startswith(
        """\
Claude Code, 1 change from 2.1.287 to 2.1.288

2.1.288  instructions  Write and Edit attach nested instruction files and rules,
                       too.
"""
    )
    assert "cases: nest-write, nest-edit, rule-write," in text(done)


def test_changes_are_newest_first_and_the_installed_release_is_marked(place):
    lines = text(place.run("releases", "claude-code", env=install(place, "2.1.250"))).split("\n")
    versions = [line.split()[0] for line in lines if re.match(r"\d+\.\d+\.\d+  ", line)]
    assert versions == sorted(versions, key=lambda each: [int(part) for part in each.split(".")], reverse=True)
    at = lines.index("-- 2.1.250 is installed here; what is above came later --")
    assert lines[at + 1].startswith("2.1.239  instructions  Frontmatter may follow a byte order mark")
    assert lines[-2] == "2.1.250 is installed here. What an update will do in a folder: foretold upgrade"
    assert [line for line in lines if len(line) > 80] == []


def test_a_release_that_did_not_have_it_is_named_if_it_is_not_the_neighbour(place):
    assert "Frontmatter is cut from instruction files. Not yet in\n" in text(place.run("releases", "2.0.30..2.0.50"))


def test_what_may_have_come_elsewhere_is_apart(place):
    sure, _, unsure = text(place.run("releases", "claude-code", "2.0.40..2.0.50")).partition("\nMay have come there")
    assert sure.startswith("Claude Code, 0 changes from 2.0.40 to 2.0.50\n")
    assert unsure.startswith(", before 2.0.40 or after 2.0.50\n\n2.0.42  instructions  Frontmatter is cut")


def test_a_history_as_data(place):
    document = read_document(text(place.run("releases", "2.1.280..2.1.281", "--json")))
    assert {key: document[key] for key in ("agent", "from", "to", "installed")} == {
        "agent": "claude-code",
        "from": "2.1.280",
        "to": "2.1.281",
        "installed": None,
    }
    found = {change["says"]: change for change in document["changes"] if change["sure"]}
    change = found["AGENTS.md is loaded where there is no CLAUDE.md."]
    assert {**change, "evidence": "", "cases": change["cases"][:2]} == {
        "version": "2.1.281",
        "after": "2.1.280",
        "topic": "instructions",
        "says": "AGENTS.md is loaded where there is no CLAUDE.md.",
        "cases": ["ag-only", "ag-dot"],
        "evidence": "",
        "sure": True,
    }


def test_one_release(place):
    said = text(place.run("releases", "claude-code@2.1.288"))
    assert said.startswith("Claude Code 2.1.288\n")
    assert "\nNew in it\n\n2.1.288  instructions  Write and Edit attach" in said
    assert "\nThe last before it\n\n2.1.286  " in said
    assert (
        said
        == text(place.run("releases", "2.1.288"))
        == text(place.run("releases", "--agent", "claude-code", "2.1.288"))
    )
    document = read_document(text(place.run("releases", "2.1.288", "--json")))
    assert (document["version"], [change["version"] for change in document["changes"]]) == ("2.1.288", ["2.1.288"])


def test_releases_that_are_not_known(place):
    said = text(place.run("releases", "claude-code@99.0.0"))
    assert "99.0.0 is newer than " in said
    assert "No change is dated to this release." in said
    assert "0.5.0 is older than 1.0.0, the oldest that is known." in text(place.run("releases", "0.5.0..1.0.98"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("cline", "one release of cline is known"),
        ("clade-code", "did you mean 'claude-code'?"),
        ("2.1.300..2.1.200", "the older comes first: foretold releases 2.1.200..2.1.300"),
        ("claude-code codex", "give one agent, not 'claude-code' and 'codex'"),
        ("--agent codex claude-code", "give one agent, not 'codex' and 'claude-code'"),
        ("2.1.x..", "'2.1.x' is not a version"),
        ("claude-code@new", "'new' is not a version"),
        ("claude-code \x1b[31m..", "'\\x1b[31m' is not a version"),
    ],
)
def test_what_is_wrong_with_a_question(place, line, said):
    done = place.run("releases", *line.split())
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode()
