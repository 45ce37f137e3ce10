"""Files of records: what a killed process left of its last record is put aside, and costs no other."""

import os

import pytest

from foretold.storage.append_log import RecordLog, encode


@pytest.mark.parametrize("kept", [1, 5, -2])
def test_a_torn_tail_is_put_aside(place, kept):
    path = place.write("log.jsonl", encode({"n": 1}) + encode({"n": 2})[:kept])
    told = []
    assert (RecordLog(path).read(findings=told)[0], len(told)) == ([{"n": 1}], 1)
    RecordLog(path).append([{"n": 3}])
    told = []
    assert (RecordLog(path).read(findings=told)[0], told) == ([{"n": 1}, {"n": 3}], [])
    with open(path + ".torn", "rb") as file:
        assert file.read() == encode({"n": 2})[:kept] + b"\n"


def test_a_record_that_lacks_only_its_end_stays(place):
    path = place.write("log.jsonl", encode({"n": 1})[:-1])
    RecordLog(path).append([{"n": 2}])
    assert RecordLog(path).read()[0] == [{"n": 1}, {"n": 2}]
    assert not os.path.exists(path + ".torn")
