"""Records of Claude Code as snapshots and back, whatever is wrong with them."""

import json

import pytest

from foretold.dialects.claude_code.file_history import form_of
from foretold.files.history.snapshots import (
    Backup,
    FileSnapshot,
    backups_at,
    delta_record,
    first_backups,
    key_of,
    path_of,
    snapshot_record,
    snapshots_of,
)

OLD, NEW = form_of("2.1.197"), form_of("2.1.325")
A1 = Backup("f2033b0c8f12cca5@v1", 1, "2026-01-02T00:00:01.000Z", "/w/proj")
A2 = A1._replace(name="f2033b0c8f12cca5@v2", version=2, time="2026-01-02T00:00:03.000Z")
NONE = Backup(None, 1, "2026-01-02T00:00:02.000Z", "/w/proj/sub")
FIRST = FileSnapshot("U1", "2026-01-02T00:00:00.000Z", {"a.txt": A1, "sub/new": NONE})
SECOND = FileSnapshot("U2", "2026-01-02T00:00:03.000Z", {"a.txt": A2, "sub/new": NONE._replace(version=2)})


def entry(name="f2033b0c8f12cca5@v1", version=1):
    return {"backupFileName": name, "version": version, "backupTime": A1.time}


def whole(files, message="U1"):
    inner = {"messageId": message, "trackedFileBackups": files, "timestamp": FIRST.time}
    return {"type": "file-history-snapshot", "messageId": message, "snapshot": inner, "isSnapshotUpdate": False}


def test_the_old_form_says_all_files_again():
    record = snapshot_record(FIRST, OLD, "A1")
    assert record == {
        "type": "file-history-snapshot",
        "messageId": "A1",
        "snapshot": {
            "messageId": "U1",
            "trackedFileBackups": {
                "a.txt": {"backupFileName": A1.name, "version": 1, "backupTime": A1.time},
                "sub/new": {"backupFileName": None, "version": 1, "backupTime": NONE.time},
            },
            "timestamp": FIRST.time,
        },
        "isSnapshotUpdate": True,
    }
    assert list(record) == ["type", "messageId", "snapshot", "isSnapshotUpdate"]


def test_the_new_form_says_one_file_and_its_folder():
    record = delta_record(FIRST, "a.txt", NEW, "A1")
    assert record == {
        "type": "file-history-delta",
        "messageId": "A1",
        "snapshotMessageId": "U1",
        "trackingPath": "a.txt",
        "backup": {"backupFileName": A1.name, "version": 1, "backupTime": A1.time, "realParentDir": "/w/proj"},
        "timestamp": A1.time,
    }


@pytest.mark.parametrize("form", [OLD, NEW])
def test_what_is_written_is_read(form):
    empty = FIRST._replace(files={})
    records = [snapshot_record(empty, form)]
    if form.is_delta:
        records += [delta_record(FIRST, key, form, "A") for key in FIRST.files]
    else:
        records += [snapshot_record(FIRST, form, "A")]
    records += [{"type": "user"}, snapshot_record(SECOND, form)]
    found = []
    taken = snapshots_of(json.loads(json.dumps(records)), "/t", found)

    def expected(snapshot):
        files = snapshot.files if form.has_parent else {k: b._replace(parent="") for k, b in snapshot.files.items()}
        return snapshot._replace(files=files)

    assert (taken, found) == ([expected(FIRST), expected(SECOND)], [])


def test_a_fork_writes_the_newest_first_and_is_read_in_order():
    records = [snapshot_record(SECOND, NEW), snapshot_record(FIRST, NEW)]
    assert snapshots_of(records) == [FIRST, SECOND]


def test_going_back_takes_later_files_to_what_they_were_first():
    taken = [FIRST._replace(files={"a.txt": A1}), SECOND]
    assert backups_at(taken, "U1") == {"a.txt": A1, "sub/new": NONE._replace(version=2)}
    assert backups_at(taken, "U2") == dict(SECOND.files)
    assert backups_at(taken, "U9") is None
    assert first_backups([SECOND, FIRST]) == dict(FIRST.files)


@pytest.mark.parametrize(
    "record",
    [
        {"type": "file-history-snapshot"},
        {"type": "file-history-snapshot", "snapshot": []},
        whole([]),
        whole({"a": None}),
        whole({"a": {}}),
        whole({"a": {"version": 1, "backupTime": "x"}}),
        whole({"a": entry("../../etc/passwd")}),
        whole({"a": entry("f2033b0c8f12cca5@v1/x")}),
        whole({"a": entry(7)}),
        whole({"a": entry(version="1")}),
        whole({"../a": entry()}),
        whole({"/w/../a": entry()}),
        whole({"a//b": entry()}),
        whole({"": entry()}),
        whole({"a\0b": entry()}),
        {"type": "file-history-delta"},
        {"type": "file-history-delta", "snapshotMessageId": "U1", "trackingPath": "a", "backup": 3},
        {"type": "file-history-delta", "snapshotMessageId": "U1", "trackingPath": "../a", "backup": entry()},
    ],
)
def test_damage_is_told_and_passed_over(record):
    found = []
    taken = snapshots_of([whole({"good": entry()}, "U0"), record], "/t", found)
    assert [finding.code for finding in found] == ["history-strange"]
    assert taken[0].files == {"good": A1._replace(parent="")}
    assert all(not each.files for each in taken[1:])


def test_a_file_whose_snapshot_is_lost_is_known_alone():
    found = []
    taken = snapshots_of([delta_record(FIRST, "a.txt", NEW, "A")], "/t", found)
    assert taken == [FileSnapshot("U1", A1.time, {"a.txt": A1})]
    assert [finding.code for finding in found] == ["history-strange"]


@pytest.mark.parametrize("path", ["/w/proj/a", "/w/proj/sub/a", "/w/project/a", "/a"])
def test_keys_and_paths(path):
    assert path_of(key_of(path, "/w/proj"), "/w/proj") == path
    assert key_of(path, "/").startswith("/") is False
