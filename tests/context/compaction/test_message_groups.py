"""Which messages belong together."""

import pytest

from foretold.context.compaction.compactor import calls_in, group_messages, is_result, results_in

USER = {"role": "user", "content": "hi"}
SAID = {"role": "assistant", "content": "ok"}


def use(*names):
    blocks = [{"type": "tool_use", "id": name, "name": "Read", "input": {}} for name in names]
    return {"role": "assistant", "content": [{"type": "text", "text": "look"}, *blocks]}


def result(*names):
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": "x"} for name in names]}


def call(*names):
    return {"role": "assistant", "content": None, "tool_calls": [{"id": name, "type": "function"} for name in names]}


def tool(name):
    return {"role": "tool", "tool_call_id": name, "content": "x"}


@pytest.mark.parametrize(
    ("messages", "ranges", "pending"),
    [
        ([], [], []),
        ([USER, SAID], [(0, 1), (1, 2)], []),
        ([USER, use("a"), result("a"), SAID], [(0, 1), (1, 3), (3, 4)], []),
        ([use("a", "b"), result("b"), result("a"), USER], [(0, 3), (3, 4)], [0]),  # nobody has seen the results
        ([call("a", "b"), tool("b"), tool("a"), SAID], [(0, 3), (3, 4)], []),
        ([call("a"), USER, tool("a"), SAID], [(0, 3), (3, 4)], []),
        ([call("a"), call("b"), tool("a"), tool("b"), SAID], [(0, 4), (4, 5)], []),
        ([USER, use("a")], [(0, 1), (1, 2)], [1]),
        ([use("a", "b"), result("a")], [(0, 2)], [0]),
        ([use("a"), USER, SAID], [(0, 1), (1, 2), (2, 3)], []),  # nobody waits for it any more
        ([tool("x"), USER], [(0, 1), (1, 2)], []),
        ([call("a"), tool("a"), call("a"), tool("a")], [(0, 2), (2, 4)], [1]),  # an id that is used again
    ],
)
def test_groups(messages, ranges, pending):
    found = group_messages(messages)
    assert [(group.start, group.end) for group in found] == ranges
    assert [at for at, group in enumerate(found) if group.is_pending] == pending


def test_what_is_no_call():
    assert calls_in({"role": "user", "content": [{"type": "tool_use", "id": "a"}]}) == []
    assert calls_in({"role": "assistant", "content": ["tool_use", None, {"type": "tool_use"}], "tool_calls": "x"}) == []
    assert results_in({"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "a"}]}) == []
    assert (is_result(result("a")), is_result(tool("a")), is_result(USER), is_result({})) == (True, True, False, False)
