"""Two that go on with one session: no turn is lost, the last to speak leads, and both are told."""

import os

import pytest

from foretold.errors import SessionFailed
from foretold.harness.harness import Harness
from foretold.models.scripted import Scripted

from .scene import codes, harness, live, options, resumed, stored, types

VERSIONS = ("2.1.197", "2.1.325")


def pair(place, version="2.1.325", a=("a1", "a2", "a3", "a4"), b=("b1", "b2")):
    """Two harnesses on one session."""
    one = harness(place, list(a), version, memory=False)
    one.prompt("first")
    return one, resumed(place, one, list(b), version, memory=False)


def said_in(place, old, version="2.1.325"):
    """What of both a later resume knows."""
    agent = resumed(place, old, [], version, memory=False)
    return [text for text in ("first", "said by b", "said by a") if text in str(live(agent))]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("order", ["ab", "ba", "a", "b", ""])
def test_the_last_to_speak_leads_whoever_closes_last_or_never(place, version, order):
    a, b = pair(place, version)
    b.prompt("said by b")
    turn = a.prompt("said by a")
    assert [finding.code for finding in turn.findings] == ["session-shared"]
    for name in order:
        (a if name == "a" else b).close()
    assert said_in(place, a, version) == ["first", "said by a"]
    assert live(a) == stored(a)


@pytest.mark.parametrize("version", VERSIONS)
def test_who_closed_long_before_does_not_lead(place, version):
    a, b = pair(place, version)
    b.prompt("said by b")
    b.close()
    a.prompt("said by a")  # and is killed
    assert said_in(place, a, version) == ["first", "said by a"]


@pytest.mark.parametrize("version", VERSIONS)
def test_who_closes_in_the_middle_of_a_turn_does_not_lead(place, version):
    a, b = pair(place, version, ["a1", [("Bash", {"command": "echo 1"}), ("Bash", {"command": "echo 2"})], "a2"])
    events = a.run("said by a")
    while type(next(events)).__name__ != "ToolResultEvent":
        pass
    b.prompt("said by b")
    b.close()
    list(events)
    assert said_in(place, a, version) == ["first", "said by a"]
    assert live(a) == stored(a)
    assert resumed(place, a, [], version, memory=False).dialogue.messages == live(a)


def test_who_has_said_nothing_changes_nothing(place):
    a, b = pair(place)
    a.prompt("said by a")
    a.close()
    b.close()
    assert said_in(place, a) == ["first", "said by a"]
    assert (codes(a), codes(b)) == ([], ["session-shared"])


def test_it_is_said_at_the_close(place):
    a, b = pair(place)
    b.prompt("said by b")
    a.close()
    b.close()
    assert (codes(a), codes(b)) == (["session-shared"], [])
    assert types(a).count("last-prompt") == 1
    assert said_in(place, a) == ["first", "said by b"]


def test_one_branch_is_named_once(place):
    a, b = pair(place)
    for number in (1, 2):
        b.prompt(f"from b {number}")
        a.prompt(f"from a {number}")
    assert (codes(a), codes(b)) == (["session-shared"], ["session-shared"])


def test_the_other_branch_is_gone_on_with_by_its_name(place):
    a, _ = pair(place)
    a.prompt("second")
    b = resumed(place, a, ["b1", "b2"], memory=False)
    b.prompt("said by b")
    a.prompt("said by a")
    b.prompt("and more from b")
    a.prompt("and more from a")
    (finding,) = [each for each in a.findings if each.code == "session-shared"]
    name = finding.message.rpartition("branch='")[2].partition("'")[0]
    assert finding.message.endswith(f"For the other one: Harness.resume('{a.session}', branch='{name}')")
    a.close()
    b.close()
    given = options(place, memory=False)
    theirs = Harness.resume(a.session, place.proj, branch=name, model=Scripted(["c1"], a.model.name), **given)
    assert theirs.dialogue.messages == live(b)
    theirs.prompt("Go on.")
    assert resumed(place, theirs, [], memory=False).dialogue.messages == live(theirs)


def test_a_branch_that_is_none_is_refused_and_nothing_is_written(place):
    a, b = pair(place)
    first = a.prompts[0].id
    b.close()
    a.prompt("said by a")
    a.close()
    size = os.path.getsize(a.path)
    for name, said in (("none", "no record"), (first, "rewind")):
        with pytest.raises(SessionFailed, match=said):
            Harness.resume(a.session, place.proj, branch=name, model=Scripted([]), **options(place))
    assert os.path.getsize(a.path) == size


def test_an_interrupt_does_not_change_the_branch(place):
    a, b = pair(place, a=["a1", ("Bash", {"command": "echo"}), "a2"])
    events = a.run("said by a")
    next(events)
    b.prompt("said by b")
    events.close()
    assert "said by b" not in str(live(a))
    assert "said by a" in str(live(a))
    a.prompt("Go on.")
    assert live(a) == stored(a)


def test_a_compaction_is_of_our_branch(place):
    a, b = pair(place, a=["a1", "a2", "a3", "<summary>What a knows.</summary>", "a4"])
    a.prompt("said by a")
    a.prompt("from a again")
    b.prompt("said by b")
    assert a.compact().is_done
    a.prompt("Go on.")
    assert ["said by b" in str(live(a)), "What a knows." in str(live(a))] == [False, True]
    assert live(a) == stored(a)
    assert resumed(place, a, [], memory=False).dialogue.messages == live(a)


def test_so_is_that_of_who_has_only_listened(place):
    a, _ = pair(place, a=["a1", "a2", "a3", "a4"])
    a.prompt("second")
    a.prompt("third")
    b = resumed(place, a, ["<summary>What b knows.</summary>", "b1"], memory=False)
    a.prompt("said by a")
    assert b.compact().is_done
    assert ["said by a" in str(live(b)), "What b knows." in str(live(b))] == [False, True]
    assert live(b) == stored(b)


@pytest.mark.parametrize("version", VERSIONS)
def test_going_back_stays_on_our_branch(place, version):
    a, b = pair(place, version)
    b.prompt("said by b")
    turn = a.prompt("said by a")
    a.rewind(turn.id, dry_run=False)
    assert "said by b" not in str(live(a))
    a.prompt("otherwise")
    assert live(a) == stored(a)
    assert [each.text for each in a.prompts] == ["first", "otherwise"]
