from __future__ import annotations

import json
import os
import random

import pytest

from foretold.sessions.fulltext import scan
from foretold.sessions.fulltext.query import ascii_words, parse_query
from foretold.sessions.fulltext.scan import find_lines, has_disguised, read_regions
from foretold.sessions.fulltext.search import search
from foretold.sessions.model import Homes

from ..corpus import MOMENT, name_of, record


@pytest.mark.parametrize("size", [1, 3, 7, 64, 1000])
def test_regions_are_the_file_backwards_in_whole_lines(tmp_path, monkeypatch, size):
    monkeypatch.setattr(scan, "REGION", size)
    chance = random.Random(size)
    data = b"\n".join(b"x" * chance.choice((0, 1, 5, 30)) for _ in range(60)) + chance.choice((b"", b"\n"))
    path = str(tmp_path / "s.jsonl")
    with open(path, "wb") as file:
        file.write(data)
    found = list(read_regions(path))
    assert b"".join(region.data for region in reversed(found)) == data
    assert all(region.start == 0 or data[region.start - 1 : region.start] == b"\n" for region in found)
    assert [region.end for region in found] == [len(data), *(region.start for region in found[:-1])]


def test_a_line_that_is_too_long_is_a_region_by_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(scan, "REGION", 8)
    path = str(tmp_path / "s.jsonl")
    for data, long in ((b"ab\n" + b"x" * 99 + b"\ncd\n", [(3, 103)]), (b"x" * 99 + b"\ncd\n", [(0, 100)])):
        with open(path, "wb") as file:
            file.write(data)
        assert [(region.start, region.end) for region in read_regions(path, 50) if not region.data] == long


@pytest.mark.parametrize(
    ("query", "count"), [("pool", 4), ("POOL the", 2), ("größe", 3), ("pool größe", 1), ('"pool the"', 2)]
)
def test_the_line_filter_keeps_every_line_that_may_match(query, count):
    lines = [
        rb'{"a": "the pool"}',
        b'{"a": "PooL"}',
        rb'{"a": "\nthe\npool", "b": "\u00e9"}',
        rb'{"a": "\u0070ool and gr\u00f6\u00dfe"}',
        '{"a": "Größe"}'.encode(),
        b'{"a": "nothing"}',
    ]
    data = b"\n".join(lines) + b"\n"
    assert len(find_lines(ascii_words(parse_query(query)), data)) >= count


def test_disguised_letters():
    assert has_disguised(rb'"\u0050ool"')
    assert has_disguised("İ".encode())
    assert not has_disguised(rb'"\u001b[0m \n \u00e9 \u2014"' + "é—".encode())


@pytest.mark.parametrize("query", ["pool", "größe", "İstanbul", "istanbul", "kelvin"])
def test_escapes_are_seen_through(tmp_path, query):
    texts = ["the pool", "Größe", "İstanbul", "\u212aelvin", "else"]
    lines = []
    for number, text in enumerate(texts):
        made = record(number + 1, "user", "TEXT", MOMENT + number)
        for form in (text, "".join(f"\\u{ord(char):04x}" for char in text)):
            lines.append(json.dumps(made).replace("TEXT", form))
    path = f"{tmp_path}/.claude/projects/-p/{name_of(3)}.jsonl"
    os.makedirs(os.path.dirname(path))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    homes = Homes(str(tmp_path), {})
    without = search(query, homes=homes, use_index=False)
    assert without == search(query, homes=homes)
    assert len(without.hits) == 2


def test_reading_stops_where_nothing_newer_can_come(tmp_path):
    reported = []
    for number in range(1, 6):
        path = f"{tmp_path}/.claude/projects/-p/{name_of(number)}.jsonl"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(record(number, "user", "the pool", MOMENT + number * 100)) + "\n")
        os.utime(path, (MOMENT + number * 100,) * 2)
    homes = Homes(str(tmp_path), {})
    size = os.path.getsize(path)
    found = search("pool", homes=homes, use_index=False, limit=2, progress=lambda done, total: reported.append(done))
    assert [hit.message for hit in found.hits] == [name_of(5), name_of(4)]
    assert reported == [size, 2 * size, 3 * size]
