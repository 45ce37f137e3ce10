"""Cursors: they say what was put in, and nothing that was tampered with."""

import pytest
from hypothesis import given, settings, strategies as st

from foretold.errors import BadArgument
from foretold.serve.mcp.paging import cursor_of, position_in

POSITIONS = st.lists(st.text(max_size=30) | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False), max_size=4)


@settings(max_examples=40)
@given(POSITIONS, st.dictionaries(st.text(max_size=9), st.text(max_size=9) | st.integers(), max_size=3))
def test_what_was_put_in_comes_out(position, asked):
    cursor = cursor_of("recall", asked, position)
    assert position_in(cursor, "recall", {**asked, "cursor": cursor}) == position
    assert cursor.replace("-", "").replace("_", "").isalnum()


@settings(max_examples=40)
@given(POSITIONS, st.data())
def test_a_letter_more_less_or_other_is_seen(position, data):
    cursor = cursor_of("recall", {}, position)
    at = data.draw(st.integers(0, len(cursor) - 2))  # the last letter has bits that say nothing
    letter = data.draw(st.sampled_from("AZaz09-_."))
    for other in (cursor[:at] + letter + cursor[at + 1 :], cursor[:at] + cursor[at + 1 :], cursor + letter + letter):
        if other != cursor:
            with pytest.raises(BadArgument, match="it is incomplete"):
                position_in(other, "recall", {})


@settings(max_examples=40)
@given(st.text(max_size=80))
def test_no_text_is_taken_for_one(text):
    with pytest.raises(BadArgument, match="it is incomplete"):
        position_in(text, "recall", {})


def test_one_belongs_to_its_question():
    cursor = cursor_of("recall", {"query": "a"}, [1])
    for tool, asked in (("recall", {"query": "b"}), ("recall", {}), ("explain", {"query": "a"})):
        with pytest.raises(BadArgument, match="other arguments"):
            position_in(cursor, tool, asked)


def test_one_of_another_version_is_refused(monkeypatch):
    monkeypatch.setattr("foretold.serve.mcp.paging.VERSION", 2)
    later = cursor_of("recall", {}, [1])
    monkeypatch.undo()
    with pytest.raises(BadArgument, match="another version"):
        position_in(later, "recall", {})
