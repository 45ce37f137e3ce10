"""The Session of openai-agents: its protocol, exact items, several processes, and the way back."""

import asyncio
import json
import subprocess
import sys

import pytest
from agents import Session as Protocol
from agents.memory import SessionSettings
from hypothesis import given, settings, strategies as some

from foretold.adapters.openai_agents import ItemSession, Replay
from foretold.errors import NoSuchSession

ADD = """\
import asyncio, sys
from foretold.adapters.openai_agents import ItemSession
async def main():
    session = ItemSession("shared", folder=sys.argv[1])
    for number in range(25):
        await session.add_items([{"id": f"{sys.argv[2]}-{number}-a"}, {"id": f"{sys.argv[2]}-{number}-b"}])
    print(*[(await session.pop_item())["id"] for _ in range(10)])
asyncio.run(main())
"""


def item(text):
    return {"role": "user", "content": text}


def done(*steps):
    """Several calls, one after the other; what the last one gave."""

    async def run():
        for step in steps:
            given = await step
        return given

    return asyncio.run(run())


def test_it_is_a_session(place):
    session = ItemSession("a", home=place.home, env={})
    assert isinstance(session, Protocol)
    assert session.path.startswith(place.path("home/.local/state/foretold/sessions/openai-agents/a-"))


def test_items_come_back_exactly(place):
    items = [
        item("ü \ud800"),
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1.50}'},
        {"type": "reasoning", "summary": [], "encrypted_content": None, "n": 1e300},
    ]
    done(ItemSession("a", folder=place.root).add_items(items))
    assert done(ItemSession("a", folder=place.root).get_items()) == items
    assert done(ItemSession("b", folder=place.root).get_items()) == []


@pytest.mark.parametrize(("limit", "wanted"), [(None, "abc"), (2, "bc"), (9, "abc"), (0, ""), (-1, "")])
def test_limits(place, limit, wanted):
    session = ItemSession("a", folder=place.root)
    done(session.add_items([item(text) for text in "abc"]))
    assert [each["content"] for each in done(session.get_items(limit))] == list(wanted)
    other = ItemSession("a", folder=place.root, session_settings=SessionSettings(limit=limit))
    assert [each["content"] for each in done(other.get_items())] == list(wanted)


def test_taking_and_clearing(place):
    session = ItemSession("a", folder=place.root)
    assert done(session.pop_item()) is None
    assert done(session.add_items([item("a"), item("b")]), session.add_items([]), session.pop_item()) == item("b")
    assert done(session.clear_session(), session.get_items()) == []
    assert done(session.add_items([item("c")]), session.restore_session(), session.get_items()) == [
        item("a"),
        item("c"),
    ]
    with pytest.raises(NoSuchSession, match="'a' was not cleared"):
        done(session.restore_session())


def test_several_processes_add_and_take(place):
    command = [sys.executable, "-c", ADD, place.root]
    crew = [subprocess.Popen([*command, str(who)], env=place.environment(), stdout=-1) for who in range(2)]
    taken = [name for process in crew for name in process.communicate()[0].decode().split()]
    left = [each["id"] for each in done(ItemSession("shared", folder=place.root).get_items())]
    assert len(taken) == len(set(taken)) == 20
    everything = {f"{who}-{number}-{part}" for who in range(2) for number in range(25) for part in "ab"}
    assert (set(taken) | set(left), len(left)) == (everything, 80)


def test_a_damaged_line_costs_no_other(place):
    session = ItemSession("a", folder=place.root)
    done(session.add_items([item("a")]))
    with open(session.path, "ab") as file:
        file.write(b"\0\0\0 damage\n")
    done(session.add_items([item("b")]))
    assert done(session.get_items()) == [item("a"), item("b")]
    assert [finding.code for finding in session.findings] == ["record-damaged"]


STEPS = some.lists(
    some.one_of(
        some.builds(lambda items: {"add": items}, some.lists(some.integers(), max_size=3)),
        some.builds(lambda name: {"pop": name}, some.uuids().map(str)),
        some.just({"clear": "c"}),
        some.just({"restore": "r"}),
    ),
    max_size=30,
)


@given(STEPS)
@settings(max_examples=60)
def test_nothing_is_ever_lost(steps):
    made = Replay(steps)
    given_items = sorted(each for step in steps for each in step.get("add", []))
    there = [*made.items, *made.popped.values(), *(each for items in made.cleared for each in items)]
    assert sorted(there) == given_items


@pytest.mark.parametrize("name", ["", "..", "../../etc/passwd", "a/b", "ü" * 500, "\0", "CON"])
def test_any_name_has_a_file_of_its_own(place, name):
    done(ItemSession(name, folder=place.path("store")).add_items([item(name)]))
    done(ItemSession(name + "x", folder=place.path("store")).add_items([item("other")]))
    assert done(ItemSession(name, folder=place.path("store")).get_items()) == [item(name)]


def test_a_line_is_a_step(place):
    session = ItemSession("a", folder=place.root)
    done(session.add_items([item("a")]), session.clear_session())
    with open(session.path, encoding="utf-8") as file:
        assert [sorted(json.loads(line)) for line in file] == [["add"], ["clear"]]
