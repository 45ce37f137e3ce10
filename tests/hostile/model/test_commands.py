"""A model that is told to do harm: its tool calls."""

import json
import os
import subprocess
import sys

import pytest

from foretold.harness.harness import Harness
from foretold.harness.permissions.check import Permission
from foretold.models.scripted import Scripted
from foretold.text.shell.dynamic_names import find_dynamic_name
from foretold.text.shell.parse import read_command

from .rm_spellings import ELSEWHERE, ORDINARY, SPELLINGS, UNSEEN, spellings

# Names of commands

HANG = 60
WAYS = spellings(SPELLINGS)


def decide(place, command, mode="bypassPermissions", deny=("Bash(rm:*)",), **rules):
    permission = Permission(mode, deny=deny, cwd=place.proj, home=place.home, **rules)
    return permission.check("Bash", {"command": command})


def removes(place, command):
    """Whether a shell that runs a command removes the file `x`, as the Bash tool runs it."""
    place.write("proj/x")
    place.write("proj/job", "#!/bin/sh\nrm x\n", mode=0o755)
    subprocess.run(
        ["/bin/bash", "-c", 'eval "$1"', "bash", command],
        cwd=place.proj,
        env={"PATH": "/usr/bin:/bin", "HOME": place.home},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=HANG,
    )
    return not os.path.exists(place.path("proj/x"))


def test_the_table_is_long_enough():
    assert len(WAYS) == len(set(WAYS)) >= 150


@pytest.mark.parametrize("command", WAYS)
def test_a_refused_name_is_refused_or_asked_about_however_it_is_spelled(place, command):
    for mode in ("bypassPermissions", "default"):
        assert decide(place, command, mode, allow=["Bash"]).decision in ("deny", "ask")


@pytest.mark.parametrize("command", [*WAYS, *spellings(UNSEEN)])
def test_every_spelling_does_remove_the_file(needs_bits, place, command):
    """Else the table is wrong. Never as root: a slip in a spelling must not reach a file of the system."""
    if command.startswith("/lib64/") and not os.path.exists(command.split()[0]):
        pytest.skip(f"there is no {command.split()[0]} on this machine")
    assert removes(place, command) or command.startswith("git")


@pytest.mark.parametrize("command", spellings(ELSEWHERE))
def test_so_it_is_with_programs_that_run_others(place, command):
    assert decide(place, command).decision in ("deny", "ask")


def test_what_is_not_known_is_asked_about_also_for_rules_that_ask(place):
    for rules in ({"deny": ["Bash(git push:*)"]}, {"deny": [], "ask": ["Bash(git push:*)"]}):
        assert decide(place, "git $X origin", **rules).decision == "ask"
        assert decide(place, "git -C a $X origin", **rules).decision == "ask"
        assert decide(place, "git commit -m $X", **rules).decision == "allow"
        assert decide(place, "$X", **rules).reason == (
            "This command requires approval: the name of a command is not known: $X"
        )


def test_without_a_rule_about_commands_nothing_changes(place):
    for deny in ([], ["Read(./x)"]):
        assert decide(place, "${R}m x", deny=deny).decision == "allow"
    assert decide(place, "${R}m x", allow=["Bash(${R}m x)"]).decision == "allow"


@pytest.mark.parametrize("command", spellings(UNSEEN))
def test_what_a_rule_about_a_name_does_not_see_is_documented(place, command):
    """docs/formats/permissions.md and SECURITY.md say so; one that is seen some day leaves this list."""
    assert decide(place, command).decision == "allow"


@pytest.mark.parametrize("command", spellings(ORDINARY))
def test_an_ordinary_command_is_not_asked_about(place, command):
    verdict = decide(place, command)
    assert (verdict.decision, verdict.reason) == ("allow", "")


# Patterns that take forever

PATTERNS = ["(a+)+$", "(a|aa)+$", "^(\\w+\\s?)*$", "(a?){40}a{61}", "(?=(a+)+$)b"]


@pytest.mark.parametrize(("pattern", "multiline"), [*((pattern, False) for pattern in PATTERNS), (PATTERNS[0], True)])
def test_a_pattern_that_backtracks_is_given_up(place, pattern, multiline):
    place.write("proj/sub/b.txt", "fine\n" + "a" * 60 + "!\n")
    said = searched(place, {"pattern": pattern, "multiline": multiline, "output_mode": "content"})
    where = "sub/b.txt" if multiline else "sub/b.txt, line 2"
    assert said.startswith(f"the pattern {pattern} takes too long on {where}: it tries too many ways to match. Avoid")


def test_a_pattern_that_takes_long_to_compile_or_is_long_is_refused(place):
    place.write("proj/b.txt")
    said = searched(place, {"pattern": "a" * 60_000, "multiline": False, "output_mode": "content"})
    assert said == "the pattern has more than 50,000 characters"
    said = searched(place, {"pattern": "(" * 5_000 + ")" * 5_000, "multiline": False, "output_mode": "content"})
    assert said.startswith("the pattern is not a regular expression: ")


def searched(place, given):
    """What Grep says without ripgrep, in a process that is given up if it takes as long as the tool's own limit."""
    boot = (
        "import json, sys; from foretold.harness.tools.search import *; asked = SearchRequest(*json.loads(sys.argv[1]))"
    )
    boot += "; print(json.dumps(run_search(asked, {'PATH': ''})))"
    asked = [place.proj, given["pattern"], given["output_mode"], [], False, given["multiline"]]
    words = [sys.executable, "-I", "-c", boot, json.dumps(asked)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=HANG, check=True)
    found, problem, _ = json.loads(done.stdout)
    return problem or f"{len(found)} files"


def test_one_of_them_in_a_conversation(place):
    place.write("proj/b.txt", "a" * 60 + "!\n")
    permission = Permission(cwd=place.proj, home=place.home)
    around = {"home": place.home, "managed": place.managed, "env": {"PATH": ""}, "sync": False, "recall": False}
    model = Scripted([("Grep", {"pattern": "(a+)+$"}), "Done."], "claude-opus-5-5")
    with Harness(place.proj, model=model, permission=permission, **around) as agent:
        said = agent.prompt("Search.").messages[-2]["content"][0]["content"]
    assert said.startswith("Search failed: the pattern (a+)+$ takes too long on b.txt, line 1: ")


@pytest.mark.parametrize(
    "text",
    [
        "sudo " * 20_000,
        "sudo -a " * 20_000,
        "test " + "[" * 100_000,
        "env {" + "," * 100_000,
        "BASH_FUNC_" + "a" * 100_000,
    ],
)
def test_a_long_line_is_judged_at_once(text):
    find_dynamic_name(read_command(text + " x"))
