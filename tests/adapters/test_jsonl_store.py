"""Files of JSON lines that frameworks fill: exact, whole after a kill, several processes at once."""

import os
import signal
import subprocess
import sys

import pytest

from foretold.adapters import jsonl_store
from foretold.errors import StoreFailed

APPEND = """\
import sys
from foretold.adapters import jsonl_store as kept
for number in range(int(sys.argv[3])):
    kept.append(sys.argv[1], [{"who": sys.argv[2], "n": number, "pad": "x" * 3000}], [])
    print(number, flush=True)
"""


def test_what_is_given_comes_back_exactly(place):
    path = place.path("store/a.jsonl")
    values = [{"text": "\ud800 half", "n": 1.5, "none": None, "deep": {"list": [[], {}]}}, {"long": "x" * 17_000_000}]
    jsonl_store.append(path, values, [])
    assert jsonl_store.values_of(path, []) == (values, os.path.getsize(path))
    assert oct(os.stat(path).st_mode & 0o777) == "0o600"
    assert oct(os.stat(place.path("store")).st_mode & 0o777) == "0o700"


def test_nothing_makes_no_file(place):
    jsonl_store.append(place.path("store/a.jsonl"), [], [])
    assert jsonl_store.values_of(place.path("store/a.jsonl"), []) is None
    assert not os.path.exists(place.path("store"))


def test_a_damaged_line_is_named_and_costs_no_other(place):
    path = place.write("a.jsonl", b'{"a": 1}\nnot json\n[1]\n{"b": 2}\n{"torn": ')
    found = []
    values, end = jsonl_store.values_of(path, found)
    assert (values, end) == ([{"a": 1}, {"b": 2}], 31)
    assert [(finding.line, finding.code) for finding in found] == [(2, "record-damaged"), (3, "record-damaged")]


def test_a_torn_end_is_put_aside_by_the_next_writer(place):
    path = place.write("a.jsonl", b'{"a": 1}\n{"torn": ')
    found = []
    jsonl_store.append(path, [{"b": 2}], found)
    assert jsonl_store.values_of(path, [])[0] == [{"a": 1}, {"b": 2}]
    assert [finding.code for finding in found] == ["record-torn"]


def test_several_processes_that_are_killed_lose_nothing_that_was_acknowledged(place):
    path = place.path("store/a.jsonl")
    crew = [
        subprocess.Popen([sys.executable, "-c", APPEND, path, str(who), "1000"], env=place.environment(), stdout=-1)
        for who in range(3)
    ]
    acknowledged = []
    for who, process in enumerate(crew):
        lines = [process.stdout.readline() for _ in range(8)]
        process.send_signal(signal.SIGKILL)
        rest = process.communicate()[0]
        acknowledged += [(str(who), int(line)) for line in [*lines, *rest.splitlines()]]
    values, _ = jsonl_store.values_of(path, [])
    there = {(value["who"], value["n"]) for value in values}
    assert set(acknowledged) <= there
    assert len(values) == len(there) <= len(acknowledged) + 3


def test_what_is_put_aside_can_be_brought_back(place):
    path, aside = place.write("store/a.jsonl", "first\n"), place.path("aside")
    jsonl_store.set_aside(path, aside)
    place.write("store/a.jsonl", "second\n")
    with pytest.raises(StoreFailed, match="exists again"):
        jsonl_store.restore_last(path, aside)
    jsonl_store.set_aside(path, aside)
    assert (jsonl_store.set_aside(path, aside), len(os.listdir(aside))) == ("", 2)
    assert jsonl_store.restore_last(path, aside)
    with open(path, encoding="utf-8") as file:
        assert file.read() == "second\n"
    os.remove(path)
    assert jsonl_store.restore_last(path, aside)
    os.remove(path)
    assert not jsonl_store.restore_last(path, aside)
