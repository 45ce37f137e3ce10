from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from foretold.sessions.catalog import newest_first
from foretold.sessions.fulltext import index_writer
from foretold.sessions.fulltext.index import SEALED, SessionIndex
from foretold.sessions.fulltext.search import search
from foretold.sessions.model import Homes

from ..corpus import MOMENT, call, home_of, name_of, record, result, write


def cache_of(homes):
    return f"{homes.home}/.cache/foretold"


def hits(query, homes, **more):
    return [(hit.stored.id, hit.message) for hit in search(query, homes=homes, limit=10_000, **more).hits]


def append(path, records, seconds):
    with open(path, "a", encoding="utf-8") as file:
        file.writelines(json.dumps(each) + "\n" for each in records)
    os.utime(path, (seconds, seconds))


def counted(homes):
    """What an update reads of the sessions: their names and how many bytes it says there are."""
    reported = []
    with SessionIndex(cache_of(homes)) as index:
        index.update(newest_first(homes), lambda done, total: reported.append((done, total)))
    return reported


def test_the_index_may_be_deleted_at_any_moment(tmp_path):
    homes = home_of(tmp_path, sessions=3)
    before = hits("pool", homes)
    for name in os.listdir(cache_of(homes)):
        os.unlink(f"{cache_of(homes)}/{name}")
        assert hits("pool", homes) == before
    assert before == hits("pool", homes, use_index=False) != []


def test_an_update_reads_only_what_is_new(tmp_path):
    path = write(str(tmp_path), 7, [record(1, "user", "the pool " * 2000, MOMENT)])
    homes = Homes(str(tmp_path), {})
    assert counted(homes) == [(os.path.getsize(path), os.path.getsize(path))]
    assert counted(homes) == []
    size = os.path.getsize(path)
    append(path, [record(2, "user", "a second pool", MOMENT + 9)], MOMENT + 9)
    new = os.path.getsize(path) - size
    assert counted(homes) == [(new, new)]
    assert hits("pool", homes) == [(name_of(7), name_of(2)), (name_of(7), name_of(1))]


@pytest.mark.parametrize("how", ["shorter", "other", "same size", "longer and other"])
def test_a_file_that_was_rewritten_is_read_again(tmp_path, how):
    first = [record(1, "user", "alpha", MOMENT), record(2, "user", "beta", MOMENT + 1)]
    write(str(tmp_path), 7, first)
    homes = Homes(str(tmp_path), {})
    assert hits("alpha", homes) == [(name_of(7), name_of(1))]
    records = {
        "shorter": [record(3, "user", "gamma", MOMENT + 5)],
        "other": [record(3, "user", "gamma", MOMENT), record(4, "user", "other words", MOMENT + 5)],
        "same size": [record(3, "user", "gamma", MOMENT), record(2, "user", "beta", MOMENT + 5)],
        "longer and other": [record(3, "user", "gamma and more", MOMENT), *first[1:] * 5],
    }[how]
    path = write(str(tmp_path), 7, records)
    os.utime(path, (MOMENT + 50, MOMENT + 50))
    assert hits("alpha", homes) == []
    assert hits("gamma", homes) == [(name_of(7), name_of(3))]
    assert hits("beta", homes) == hits("beta", homes, use_index=False)


def test_a_record_that_is_being_written_is_read_when_it_is_whole(tmp_path):
    path = write(str(tmp_path), 7, [record(1, "user", "alpha", MOMENT)])
    homes = Homes(str(tmp_path), {})
    line = json.dumps(record(2, "user", "the torn word", MOMENT + 3)) + "\n"
    for at in (0, 20, len(line) - 10, len(line) - 1):
        with open(path, "a+", encoding="utf-8") as file:
            file.write(line[:at])
        found = search("torn", homes=homes)
        assert (found.findings, len(found.hits)) == ((), int(at == len(line) - 1))
        with open(path, "r+", encoding="utf-8") as file:
            file.truncate(os.path.getsize(path) - at)
    with open(path, "a", encoding="utf-8") as file:
        file.write(line)
    assert hits("torn", homes) == [(name_of(7), name_of(2))]


def test_the_tool_of_a_result_is_known_when_its_call_was_read_before(tmp_path):
    path = write(str(tmp_path), 7, [record(1, "assistant", call("toolu_9", "Grep", pattern="x"), MOMENT)])
    homes = Homes(str(tmp_path), {})
    assert hits("pool", homes) == []
    append(path, [record(2, "user", result("toolu_9", "the pool"), MOMENT + 1)], MOMENT + 2)
    assert hits("pool", homes, tools=["Grep"]) == [(name_of(7), name_of(2))]
    assert hits("pool", homes, tools=["Grep"], use_index=False) == [(name_of(7), name_of(2))]


@pytest.mark.parametrize("how", ["version", "garbage", "empty", "cut", "flipped"])
def test_a_database_that_cannot_be_trusted_is_rebuilt(tmp_path, how):
    homes = home_of(tmp_path, sessions=3)
    before = hits("the", homes)
    paths = [f"{cache_of(homes)}/sessions-{number}.db" for number in range(2)]
    for path in paths:
        with open(path, "rb") as file:
            data = bytearray(file.read())
        if how == "version":
            data[60:64] = b"\0\0\0\1"  # PRAGMA user_version
        elif how == "flipped":
            data[len(data) // 2 : len(data) // 2 + 300] = b"\xa5" * 300
        data = {"garbage": b"no database " * 999, "empty": b"", "cut": data[: len(data) // 2]}.get(how, data)
        with open(path, "wb") as file:
            file.write(data)
    assert hits("the", homes) == before
    assert [os.stat(path).st_mtime_ns for path in paths] == [SEALED] * 2


def test_dead_rows_are_cleared_away(tmp_path, monkeypatch):
    monkeypatch.setattr("foretold.sessions.fulltext.index.DEAD", 3)
    homes = Homes(str(tmp_path), {})
    for number in range(6):
        path = write(str(tmp_path), 7, [record(1 + at, "user", f"pool {number}", MOMENT + at) for at in range(3)])
        os.utime(path, (MOMENT + 50 + number, MOMENT + 50 + number))
        assert len(hits("pool", homes)) == 3
    with SessionIndex(cache_of(homes)) as index:
        index.update(newest_first(homes))
        assert sum(shard.count_dead() for shard in index.shards) <= 6


def test_a_long_record_is_found_by_its_two_ends_and_named(tmp_path):
    path = write(str(tmp_path), 7, [record(1, "user", "alpha", MOMENT)])
    text = "first words " + "filler\n" * 2_500_000 + "deep " + "filler\n" * 100_000 + " last words"
    append(path, [record(2, "user", text, MOMENT + 1), record(3, "user", "omega", MOMENT + 2)], MOMENT + 3)
    homes = Homes(str(tmp_path), {})
    found = search("first", homes=homes)
    assert [(finding.code, finding.line) for finding in found.findings] == [("record-long", 2)]
    assert [(hit.message, hit.time, hit.role) for hit in found.hits] == [(name_of(2), float(MOMENT + 1), "user")]
    for query, count in (("first", 1), ("last", 1), ("deep", 0), ("omega", 1), ("alpha", 1)):
        assert len(hits(query, homes)) == len(hits(query, homes, use_index=False)) == count, query


def test_base64_is_not_indexed(tmp_path):
    data = "iVBORw0KGgo/" * 200
    records = [record(1, "user", f"picture {data} end", MOMENT), record(2, "user", "iVBORw0KGgo short", MOMENT + 1)]
    write(str(tmp_path), 7, records)
    homes = Homes(str(tmp_path), {})
    for use_index in (True, False):
        assert hits("iVBORw0KGgo", homes, use_index=use_index) == [(name_of(7), name_of(2))]
        assert hits("picture end", homes, use_index=use_index) == [(name_of(7), name_of(1))]


def test_groups_of_any_size_say_the_same(tmp_path, monkeypatch):
    homes = home_of(tmp_path, sessions=5)
    monkeypatch.setattr(index_writer, "BULK", 0)
    monkeypatch.setattr(index_writer, "GROUP", 1000)
    reported = counted(homes)
    assert reported[-1][0] == reported[-1][1] == sum(stored.size for stored in newest_first(homes))
    assert hits("the", homes) == hits("the", homes, use_index=False)


def rows_of(homes):
    """What the databases of an index hold, apart from numbers."""
    asked = """SELECT session.name, message.start, message.size, time, voices, tools FROM message
        JOIN session ON session.id = message.session ORDER BY 1, 2"""
    with SessionIndex(cache_of(homes)) as index:
        index.update(newest_first(homes))
        return [shard.base.execute(asked).fetchall() for shard in index.shards]


@pytest.mark.parametrize("how", ["helped", "no program", "fails"])
def test_a_second_process_fills_what_one_would(tmp_path, monkeypatch, how):
    homes = home_of(tmp_path, sessions=12)
    alone = rows_of(homes)
    assert all(alone)
    shutil.rmtree(cache_of(homes))
    started = []
    monkeypatch.setattr("foretold.sessions.fulltext.index.HELPED", 0)
    monkeypatch.setattr("foretold.sessions.fulltext.index.REPORTED", 1)
    if how != "helped":
        monkeypatch.setattr(sys, "executable", "/bin/false" if how == "fails" else "/nowhere/python")
    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **more: [started.append(given), start(*given, **more)][1])
    reported = counted(homes)
    assert len(started) == 1
    assert reported[-1][0] == reported[-1][1] == sum(stored.size for stored in newest_first(homes))
    assert rows_of(homes) == alone
    assert hits("the", homes) == hits("the", homes, use_index=False)


def test_findings_of_the_second_process_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("foretold.sessions.fulltext.index.HELPED", 0)
    for number in range(8):
        path = write(str(tmp_path), number, [record(1, "user", "alpha", MOMENT)])
        append(path, [record(2, "user", "filler\n" * 2_500_000, MOMENT + 1)], MOMENT + 3)
    found = search("alpha", homes=Homes(str(tmp_path), {}))
    assert (len(found.hits), [finding.code for finding in found.findings]) == (8, ["record-long"] * 8)


def test_an_error_while_writing_is_raised_and_nothing_of_its_group_stays(tmp_path, monkeypatch):
    homes = home_of(tmp_path, sessions=5)
    monkeypatch.setattr(index_writer, "GROUP", 1000)
    full = "CREATE TRIGGER full BEFORE INSERT ON batch WHEN new.first > 20 BEGIN SELECT raise(ABORT, 'full'); END"
    with SessionIndex(cache_of(homes)) as index:
        index.update([])
        shard = index.shards[0]
        shard.base.execute(full)
        tasks = [index_writer.ReadTask(stored, 0) for stored in newest_first(homes)]
        with pytest.raises(sqlite3.Error, match="full"):
            index_writer.read_into(shard.base, tasks, [], lambda _: None, [])
        assert not shard.base.in_transaction
        assert [first for first, *_ in shard.batches()] == [1]
    assert hits("the", homes) == hits("the", homes, use_index=False)


UPDATE = """
import sys
from foretold.sessions.fulltext import index, index_writer
from foretold.sessions.fulltext.index import SessionIndex
from foretold.sessions.catalog import newest_first
from foretold.sessions.model import Homes
index.HELPED = index_writer.BULK = int(sys.argv[2]); index_writer.GROUP = 2000
homes = Homes(sys.argv[1], {})
with SessionIndex(sys.argv[1] + "/.cache/foretold") as made:
    made.update(newest_first(homes), lambda done, total: print(done, flush=True))
"""


def updating(homes, bulk=10**9):
    words = [sys.executable, "-c", UPDATE, homes.home, str(bulk)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize(("how", "bulk"), [(signal.SIGKILL, 10**9), (signal.SIGKILL, 0), (signal.SIGINT, 10**9)])
def test_a_killed_update_loses_nothing_and_the_next_continues(tmp_path, how, bulk):
    homes = home_of(tmp_path, sessions=6)
    process = updating(homes, bulk)
    process.stdout.readline()
    process.send_signal(how)
    process.communicate()
    assert hits("the", homes) == hits("the", homes, use_index=False)


def test_several_processes_at_once(tmp_path):
    homes = home_of(tmp_path, sessions=5)
    processes = [updating(homes) for _ in range(3)]
    assert hits("the", homes) == hits("the", homes, use_index=False)
    assert [process.communicate()[1] for process in processes] == [b""] * 3


def test_an_interrupt_between_two_batches_keeps_what_was_committed(tmp_path, monkeypatch):
    monkeypatch.setattr(index_writer, "GROUP", 100)
    homes = home_of(tmp_path, sessions=5)

    def interrupt(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search("the", homes=homes, progress=interrupt)
    reported = counted(homes)
    assert 0 < reported[-1][1] < sum(stored.size for stored in newest_first(homes))
    assert hits("the", homes) == hits("the", homes, use_index=False)


def test_a_question_waits_for_the_lock(tmp_path):
    import fcntl

    homes = home_of(tmp_path, sessions=1)
    os.makedirs(cache_of(homes))
    with open(f"{cache_of(homes)}/sessions.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        process = updating(homes)
        time.sleep(0.3)
        assert process.poll() is None
    assert process.communicate()[1] == b""
