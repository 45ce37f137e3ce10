"""Which memories an agent may write with its own tools."""

import pytest

import foretold
from foretold.adapters.claude_agent import judge_call

from .bakery import make_team

KEY = "AKIA" + "IOSFODNN7ABCDEFG"


def memories(place, policy=""):
    return foretold.memory.open(place.proj, home=place.home, managed=place.managed, env={}, policy=policy)


@pytest.mark.parametrize(
    ("policy", "own", "team"),
    [("auto", "", "ask"), ("confirm", "ask", "ask"), ("manual", "deny", "deny"), ("read-only", "deny", "deny")],
)
def test_the_policy_decides(place, policy, own, team):
    make_team(place)
    known = memories(place, policy)
    for folder, decision in ((known.place.store, own), (known.place.team, team), (place.proj, "")):
        given = {"file_path": f"{folder}/a.md", "content": "Use tabs."}
        assert judge_call(known, "Write", given, place.proj).decision == decision
        assert judge_call(known, "Read", given, place.proj).decision == ""


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Write", {"content": KEY}),
        ("Edit", {"old_string": "a", "new_string": KEY}),
        ("MultiEdit", {"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": KEY}]}),
    ],
)
def test_no_memory_holds_credentials(place, tool, given):
    known = memories(place)
    path = f"{known.place.store}/a.md"
    found = judge_call(known, tool, {"file_path": path, **given}, place.proj)
    assert found[0] == "deny"
    assert found.reason.startswith("This looks like a credential (AWS access key), and memories are sent to models")
    assert judge_call(known, tool, {"file_path": place.path("proj/a.md"), **given}, place.proj).decision == ""


def test_a_credential_may_be_taken_out(place):
    known = memories(place)
    given = {"file_path": f"{known.place.store}/a.md", "old_string": KEY, "new_string": "in the vault"}
    assert judge_call(known, "Edit", given, place.proj).decision == ""
    assert judge_call(known, "Write", {"file_path": "a\0b", "content": KEY}, place.proj).decision == ""


def test_a_link_into_the_folder_is_seen_through(place):
    known = memories(place, "read-only")
    place.folder("home/.claude/projects")
    place.link("proj/here", known.place.store)
    assert judge_call(known, "Write", {"file_path": "here/a.md", "content": "x"}, place.proj).decision == "deny"
