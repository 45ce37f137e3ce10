"""Files of records: what a killed process left of its last record is put aside, and costs no other."""

import errno
import os

import pytest

from foretold.errors import StoreFailed
from foretold.storage.append_log import AppendFile, RecordLog, encode
from foretold.storage.kernel import Kernel


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


LONG = b'{"text":"' + b"0123456789abcdef" * (9 * 1024 * 1024 // 16)  # more than was once looked at


@pytest.mark.parametrize("before", [b"", encode({"n": 1})])
def test_no_byte_of_a_long_torn_tail_is_lost(place, before):
    path = place.write("log.jsonl", before + LONG)
    RecordLog(path).append([{"n": 2}])
    assert (content(path), content(path + ".torn")) == (before + encode({"n": 2}), LONG + b"\n")
    path = place.write("shared.jsonl", before + LONG)
    AppendFile(path).append(b'{"n":2}')
    assert (content(path), content(path + ".torn")) == (before + b'{"n":2}\n', LONG + b"\n")


class Recorder(Kernel):
    """The calls that change something, in order; `write` takes at most a megabyte, and fails after `room` of them."""

    def __init__(self, room=100):
        self.calls, self.room = [], room

    def write(self, descriptor, data):
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= 1
        self.calls.append("write")
        return os.write(descriptor, data[: 1024 * 1024])

    def fsync(self, descriptor):
        self.calls.append(f"sync {os.path.basename(os.readlink(f'/proc/self/fd/{descriptor}'))}")
        os.fsync(descriptor)

    def ftruncate(self, descriptor, size):
        self.calls.append("cut")
        os.ftruncate(descriptor, size)


def test_a_torn_tail_is_cut_off_only_when_the_disk_has_its_copy(place):
    kernel = Recorder()
    path = place.write("log.jsonl", encode({"n": 1}) + LONG)
    RecordLog(path, kernel).append([{"n": 2}])
    folder = os.path.basename(os.path.dirname(path))
    moved = ["write"] * 11 + ["sync log.jsonl.torn", f"sync {folder}", "cut"]
    assert kernel.calls == [*moved, "write", "sync log.jsonl"]


def test_a_torn_tail_stays_if_the_disk_is_full(place):
    path = place.write("log.jsonl", encode({"n": 1}) + LONG)
    with pytest.raises(StoreFailed, match="the disk is full"):
        RecordLog(path, Recorder(room=3)).append([{"n": 2}])
    assert content(path) == encode({"n": 1}) + LONG


def content(path):
    with open(path, "rb") as file:
        return file.read()
