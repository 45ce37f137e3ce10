"""Versions as the history stores them: packed, or as differences. What comes out is what went in."""

import os

from hypothesis import given, strategies as st

from foretold.memory.store.journal import SMALL, Change, record_of, text_of
from foretold.memory.store.version_text import pack_text, unpack_text

from ..machines import store_in

LINES = st.lists(
    st.sampled_from([b"", b"a", b"the quick brown fox jumps", b"over the lazy dog, twice", b"\xff\xfe", b"\r"])
)


@given(LINES, LINES, LINES)
def test_a_difference_gives_the_text_back(one, two, three):
    base = b"\n".join([*one, *two, b"x" * SMALL, *three])
    data = b"\n".join([*two, *one, b"x" * SMALL, *two, *three])
    packed = pack_text(data, base, 7)
    assert packed.get("base", 7) == 7
    whole = pack_text(base)
    assert unpack_text(packed, base) == data
    assert unpack_text(whole) == base


def test_small_texts_and_those_that_cannot_be_packed_are_stored_as_they_are():
    for data in (b"small", os.urandom(SMALL), b"\xff" * 10):
        record = record_of(Change(1, "t", "create", "a.md", None, "d", data=data))
        assert "zlib" not in record
        assert text_of(record) == data


def test_damage_is_no_text():
    for record in ({"zlib": "!"}, {"zlib": "AAAA"}, {"delta": "AAAA", "base": 1}, {"zlib": 3}, {"delta": None}):
        assert unpack_text(record, b"base") is None


def test_a_restored_version_costs_almost_nothing(tmp_path):
    store = store_in(str(tmp_path))
    store.put("user_a.md", "".join(f"{number} is a line\n" for number in range(2000)))
    first = os.path.getsize(store.journal.lines.path)
    for _ in range(10):
        store.delete("user_a.md")
        store.restore("user_a.md")
    assert os.path.getsize(store.journal.lines.path) - first < 20 * 600
    assert len({change.data for change in store.log() if change.has_text}) == 1


def test_a_rename_is_based_on_the_former_file(tmp_path):
    store = store_in(str(tmp_path))
    store.put("user_a.md", "".join(f"{number} is a line\n" for number in range(2000)))
    first = os.path.getsize(store.journal.lines.path)
    store.move("user_a.md", "user_b.md")
    assert os.path.getsize(store.journal.lines.path) - first < 1000
