"""Clearing old results of tools."""

import pytest
from hypothesis import given, strategies as st

from foretold.context import clear_results
from foretold.context.compaction.clearing import NOTE, sections

LONG = "line\n" * 50
DONE = {"role": "assistant", "content": "done"}


def result(*names, text=LONG, **more):
    blocks = [{"type": "tool_result", "tool_use_id": name, "content": text, **more} for name in names]
    return {"role": "user", "content": blocks}


def tool(name, text=LONG):
    return {"role": "tool", "tool_call_id": name, "content": text}


def test_the_newest_stay():
    talk = [tool("a"), result("b", "c"), result("d"), tool("e"), DONE]
    cleared = clear_results(talk, keep=2)
    assert cleared.messages == [tool("a", NOTE), result("b", "c", text=NOTE), *talk[2:]]
    assert (cleared.ids, cleared.characters) == (("a", "b", "c"), 3 * (250 - len(NOTE)))
    assert talk == [tool("a"), result("b", "c"), result("d"), tool("e"), DONE]


def test_a_message_may_be_cleared_in_part():
    mixed = {"role": "user", "content": [*result("a", "b")["content"], {"type": "text", "text": LONG}]}
    cleared = clear_results([mixed, DONE], keep=1)
    assert cleared.messages[0]["content"] == [result("a", text=NOTE)["content"][0], *mixed["content"][1:]]


@pytest.mark.parametrize(
    "message",
    [
        tool("a", "short"),
        result("a", text=NOTE),
        result("a", is_error=True),
        {**tool("a"), "pin": True},
        {"role": "user", "content": LONG},
    ],
)
def test_what_stays(message):
    talk = [message, tool("b"), DONE]
    assert clear_results(talk, keep=1) == (talk, (), 0)


def test_what_the_model_has_not_seen_stays():
    talk = [{"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]}, tool("a"), tool("b")]
    assert clear_results(talk, keep=0).ids == ()
    assert clear_results([*talk, DONE], keep=0).ids == ("a", "b")


def test_not_for_little():
    talk = [tool("a"), tool("b"), DONE]
    assert clear_results(talk, keep=1, least=250).ids == ()
    assert clear_results(talk, keep=1, least=150).ids == ("a",)


def test_images_go_too():
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 4000}}
    cleared = clear_results([result("a", text=[image]), tool("b"), DONE], keep=1)
    assert (cleared.messages[0], cleared.characters > 3900) == (result("a", text=NOTE), True)


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(0, 4))
def test_the_front_stays_as_it_is(turns, keep):
    """What was cleared once is never changed again, whether the old or the cleared messages are given."""
    talk, before = [], []
    for number, count in enumerate(turns):
        names = [f"{number}.{each}" for each in range(count)]
        talk += [
            {"role": "assistant", "content": None, "tool_calls": [{"id": name} for name in names]},
            *map(tool, names),
            DONE,
        ]
        now = clear_results(talk, keep=keep).messages
        notes = [at for at, message in enumerate(before) if message["content"] == NOTE]
        assert all(now[at]["content"] == NOTE for at in notes)
        assert clear_results(now, keep=keep) == (now, (), 0)
        assert clear_results([*before, *talk[len(before) :]], keep=keep).messages == now
        left = [message for message in now if message["role"] == "tool" and message["content"] != NOTE]
        assert len(left) == min(keep, sum(message["role"] == "tool" for message in talk))
        before = now


def test_what_a_prompt_says():
    clears, advice = sections(keep=3)
    assert "Only the 3 newest results" in clears
    assert "say it in your answer" in advice
