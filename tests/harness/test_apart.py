"""Instructions and permissions: neither needs the other to start, and what breaks one leaves the other alone."""

import subprocess
import sys

from foretold.harness.harness import Harness
from foretold.harness.permissions.check import Permission
from foretold.models.scripted import Scripted

from .scene import codes, harness, options


def imported(code):
    """The modules that a process has after some code."""
    listing = f"{code}\nimport sys\nprint(*sorted(name for name in sys.modules if name.startswith('foretold.')))"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    return done.stdout.split()


def settings_of(place, text):
    place.write("proj/.claude/settings.json", text)
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    given = {**options(place), "permission": None}
    return Harness(place.proj, model=Scripted([("Bash", {"command": "rm -r x"}), "Done."], "claude-opus-5-5"), **given)


def test_broken_permissions_do_not_keep_instructions_away(place):
    agent = settings_of(place, '{"permissions": {"allow": [')
    turn = agent.prompt("Hello.")
    assert "Use tabs." in str(agent.model.requests[0].messages)
    assert turn.text == "Done."
    broken = place.path("proj/.claude/settings.json")
    assert [finding.code for finding in agent.findings if finding.path == broken]
    assert "tool_result" in str(agent.model.requests[1].messages)


def test_a_broken_rule_is_named_and_refuses_nothing_else(place):
    agent = settings_of(place, '{"permissions": {"allow": ["Bash(echo *"], "deny": ["Bash(rm *)"]}}')
    turn = agent.prompt("Hello.")
    assert turn.text == "Done."
    (result,) = agent.dialogue.messages[-2]["content"]
    assert (result["is_error"], "denied" in result["content"]) == (True, True)


def test_unreadable_instructions_do_not_keep_permissions_away(place):
    place.fifo("proj/CLAUDE.md")
    place.folder("proj/CLAUDE.local.md")
    place.write("proj/.claude/rules/bad.md", b"---\npaths: [\n---\n\xff\xfe")
    denied = Permission(deny=["Bash(rm *)"], cwd=place.proj, home=place.home)
    agent = harness(place, [("Bash", {"command": "rm -r x"}), "Done."], permission=denied)
    agent.prompt("Remove it.")
    (result,) = agent.dialogue.messages[-2]["content"]
    assert result["is_error"] is True
    assert "not-a-file" in codes(agent)


def test_permissions_are_read_when_the_first_tool_is_used(place):
    agent = settings_of(place, "{}")
    agent.model._lines[:] = ["Hello."]
    agent.prompt("Hi.")
    assert agent._tool_context is None


def test_permissions_import_no_instructions(place):
    code = f"""
from foretold.harness.permissions.check import Permission
Permission.load({place.proj!r}, home={place.home!r}, env={{}}).check('Bash', {{'command': 'ls'}})
"""
    found = imported(code)
    rooms = ("foretold.instructions.load", "foretold.instructions.session", "foretold.memory", "foretold.context")
    assert [name for name in found if name.startswith(rooms)] == []


def test_instructions_import_no_permissions(place):
    code = f"""
from foretold.harness.harness import Harness
from foretold.models.scripted import Scripted
agent = Harness({place.proj!r}, model=Scripted(['Hi.']), home={place.home!r}, env={{}}, tools=())
agent.prompt('Hello.')
"""
    assert [name for name in imported(code) if "permission" in name or "harness.tools" in name] == []
