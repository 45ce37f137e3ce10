"""Every way in which a text is written by what writes files: each is found, and nothing else."""

import base64
import html
import json
import time
import urllib.parse

import pytest
from hypothesis import given, strategies as st

from foretold.secrets.erasure.spellings import MARK, Spellings, blank

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=4, max_size=40).filter(
    lambda text: len(text.strip()) >= 4
)


@given(TEXTS, st.lists(st.booleans(), max_size=3))
def test_json_in_json_is_found(text, ways):
    spelled = text
    for ascii_only in ways:
        spelled = json.dumps(spelled, ensure_ascii=ascii_only)[1:-1]
    found, count = Spellings(text).replace(f"before {spelled} after".encode())
    assert count >= 1
    assert text.encode() not in found.replace(MARK, b"") or text in "before  after"


@given(TEXTS)
def test_pages_and_addresses_are_found(text):
    for spelled in (html.escape(text), urllib.parse.quote(text, safe=""), urllib.parse.quote_plus(text)):
        assert Spellings(text).find(spelled.encode()), spelled


@given(
    st.binary(max_size=5), st.text(st.characters(codec="ascii", exclude_characters="\r\n"), min_size=12, max_size=40)
)
def test_base64_is_found_at_any_offset(before, text):
    if len(text.strip()) >= 4:
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            assert Spellings(text).find(encode(before + text.encode() + b"after"))


def test_a_key_of_several_lines_is_found_with_either_line_break():
    key = "-----BEGIN KEY-----\nabcd\nefgh\n-----END KEY-----"
    for spelled in (
        key,
        key.replace("\n", "\r\n"),
        json.dumps(key),
        json.dumps(json.dumps(key)),
        json.dumps(key.replace("\n", "\r\n")),
    ):
        assert len(Spellings(key).find(spelled.encode())) == 1


def test_other_texts_are_left():
    data = b"hunter3 hunter hunter22-hunter unter2-hunter2"
    assert Spellings("hunter2-hunter2").replace(data) == (data, 0)


def test_as_many_bytes_take_the_place_where_nothing_may_move():
    data = b'{"a":"p\\u00e4ss w\xc3\xb6rd"}'
    clean, count = Spellings("päss wörd").replace(data, blank)
    assert (count, len(clean), json.loads(clean)) == (1, len(data), {"a": "x" * 15})


@pytest.mark.parametrize("data", [b"\\" * 400_000, b"\\u00" * 100_000, b"hunter2-" * 50_000, b"%" * 400_000])
def test_the_time_is_linear(data):
    start = time.process_time()
    assert Spellings("hunter2-hunter2-\\x").find(data) == []
    assert time.process_time() - start < 20  # it takes a fraction of a second; a quadratic one takes hours


@pytest.mark.parametrize("text", ["", "abc", "   \n  ", "x" * 70_000])
def test_what_is_too_short_or_too_long_is_refused(text):
    with pytest.raises(ValueError, match="4 to 65,536 characters"):
        Spellings(text)
