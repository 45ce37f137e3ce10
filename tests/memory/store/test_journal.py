"""The history of a store, the cache of what it says, and what other programs did meanwhile."""

import json
import os
import stat
import time

import pytest

from foretold.errors import NotSynced, StoreFailed
from foretold.memory.note import INDEX
from foretold.memory.store.journal import Change, Head, Journal, change_of, record_of
from foretold.storage.append_log import RecordLog
from foretold.storage.digest import digest_of

from ..machines import Quick, in_child, store_in


@pytest.fixture
def store(tmp_path):
    return store_in(str(tmp_path / "store"))


def save(store, file, text):
    """What an editor does: write beside, rename."""
    path = os.path.join(store.path, file)
    with open(f"{path}~", "wb") as opened:
        opened.write(text)
    os.replace(f"{path}~", path)


def told(changes):
    return [(change.number, change.op, change.file, change.old, change.by) for change in changes]


# Records


def test_a_change_reads_as_it_was_written():
    changes = [
        Change(1, "2026-01-02T03:04:05Z", "create", "user_a.md", None, digest_of(b"A"), data=b"A", listing="ab"),
        Change(2, "2026-01-02T03:04:05Z", "rename", "b.md", "12", "34", "agent", "a.md", "s", "why", b"\xff\xfe", "cd"),
        Change(3, "2026-01-02T03:04:05Z", "delete", "b.md", "34", None),
        Change(4, "2026-01-02T03:04:05Z", "create", "empty.md", None, digest_of(b""), data=b""),
    ]
    assert [change_of(record_of(change)) for change in changes] == changes
    assert record_of(changes[1])["base64"] == "//4="
    assert change_of({**record_of(changes[0]), "later": "versions say more"}) == changes[0]


def test_every_process_learns_what_the_others_wrote(tmp_path):
    one, other = (Journal(str(tmp_path), str(tmp_path / "cache"), Quick()) for _ in range(2))
    change = Change(1, "2026-01-02T03:04:05Z", "create", "a.md", None, "12", data=b"A")
    one.append([change])
    other.refresh()
    other.append([Change(2, "2026-01-02T03:04:04Z", "rename", "b.md", "12", "34", old="a.md", data=b"B")])
    one.refresh()
    assert dict(one.heads.items()) == dict(other.heads.items()) == {"a.md": Head(None, "12"), "b.md": Head("34", None)}
    assert (one.number, [each.file for each in one.changes()]) == (2, ["a.md", "b.md"])


def test_a_cache_of_another_log_is_not_believed(store, tmp_path):
    store.put("user_a.md", "A.")
    store.journal.save(always=True)
    cache = store.journal.cache
    fresh = store_in(str(tmp_path / "store"))
    fresh.journal.refresh()
    assert dict(fresh.journal.heads.items()) == dict(store.journal.heads.items())
    for damage in (b"", b"{", b"[]", b'{"log": [9, "x"]}', b"\xff", json.dumps({"log": [4, "x"], "heads": 3}).encode()):
        with open(cache, "wb") as file:
            file.write(damage)
        fresh = store_in(str(tmp_path / "store"))
        fresh.journal.refresh()
        assert fresh.journal.heads["user_a.md"] == Head(digest_of(b"A."), None)
    os.unlink(store.journal.lines.path)
    fresh.put("user_b.md", "B.")
    changes = told(store_in(str(tmp_path / "store")).log())
    assert changes == [(2, "create", "user_b.md", "", "user"), (3, "create", "user_a.md", "", "other")]


def test_a_write_that_the_disk_took_in_part_is_taken_back(tmp_path):
    class Short(Quick):
        def call(self, name, *args, **options):
            if name == "write":
                args = (args[0], args[1][:10])
            return super().call(name, *args, **options)

    path = str(tmp_path / "log.jsonl")
    RecordLog(path, Quick()).append([{"a": 1}])
    with pytest.raises(StoreFailed, match=r"the disk accepted 10 of \d+ bytes of .*\. Nothing was changed"):
        RecordLog(path, Short()).append([{"b": 2}])
    assert RecordLog(path).read()[0] == [{"a": 1}]


def test_a_record_that_can_be_neither_confirmed_nor_taken_back_is_named(tmp_path):
    class Stuck(Quick):
        def call(self, name, *args, **options):
            if name in ("fsync", "ftruncate"):
                raise OSError(5, "Input/output error")
            return super().call(name, *args, **options)

    path = str(tmp_path / "log.jsonl")
    RecordLog(path, Quick()).append([{"a": 1}])
    with pytest.raises(NotSynced, match=r"log.jsonl is written, but the disk did not confirm it"):
        RecordLog(path, Stuck()).append([{"b": 2}])
    assert RecordLog(path).read()[0] == [{"a": 1}, {"b": 2}]


def test_a_clock_that_jumps_back_does_not_change_the_order(store, monkeypatch):
    for number, moment in enumerate((2_000_000_000, 1_000_000_000, 1_500_000_000)):
        monkeypatch.setattr(
            time, "gmtime", lambda _=None, at=moment: time.struct_time((at // 10**6, 1, 1, 0, 0, 0, 0, 1, 0))
        )
        store.put(f"user_{number}.md", f"{number}")
    changes = store.log()
    assert [change.number for change in changes] == [1, 2, 3]
    assert [change.time[:4] for change in changes] == ["2000", "1000", "1500"]
    assert [change.file for change in changes] == ["user_0.md", "user_1.md", "user_2.md"]


# What other programs did


def test_what_other_programs_did_is_noticed(store):
    for name in "abcd":
        store.put(f"user_{name}.md", f"Text of {name}.")
    save(store, "user_a.md", b"saved by an editor")
    with open(os.path.join(store.path, "user_b.md"), "ab") as file:
        file.write(b" And more, in place.")
    os.rename(os.path.join(store.path, "user_c.md"), os.path.join(store.path, "user_moved.md"))
    os.unlink(os.path.join(store.path, "user_d.md"))
    save(store, "agent.md", b"\xff not UTF-8")
    assert told(store.notice()) == [
        (5, "create", "agent.md", "", "other"),
        (6, "edit", "user_a.md", "", "other"),
        (7, "edit", "user_b.md", "", "other"),
        (8, "rename", "user_moved.md", "user_c.md", "other"),
        (9, "delete", "user_d.md", "", "other"),
    ]
    assert [change.data for change in store.log()[4:7]] == [
        b"\xff not UTF-8",
        b"saved by an editor",
        b"Text of b. And more, in place.",
    ]
    assert store.notice() == []


def test_what_was_noticed_gets_into_the_index_with_the_next_change(store):
    store.put("user_a.md", "A.")
    save(store, "agent.md", b"---\nname: agent\ndescription: wrote this\n---\n")
    os.unlink(os.path.join(store.path, "user_a.md"))
    store.notice()
    store.put("user_b.md", "B.")
    assert store.index() == "- [User b](user_b.md)\n- [Agent](agent.md) — wrote this\n"


def test_what_is_again_as_it_was_is_a_revert(store):
    store.put("user_a.md", "one")
    store.edit("user_a.md", text="two")
    save(store, "user_a.md", b"one")
    assert told(store.notice()) == [(3, "revert", "user_a.md", "", "other")]
    store.delete("user_a.md")
    save(store, "user_a.md", b"one")
    assert told(store.notice()) == [(5, "revert", "user_a.md", "", "other")]


def test_a_change_in_place_that_leaves_size_and_time_as_they_were_is_noticed(store):
    store.put("user_a.md", "one")
    store.notice()
    path = os.path.join(store.path, "user_a.md")
    with open(path, "r+b") as file:
        file.write(b"two")
    about = os.stat(path)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert [change.data for change in store.notice()] == [b"two"]


def test_a_stamp_of_this_very_moment_is_not_kept(store, monkeypatch):
    store.put("user_a.md", "one")
    made = os.stat(os.path.join(store.path, "user_a.md")).st_ctime_ns
    for later, kept in ((1_000_000, False), (-1_000_000, False), (1_000_000_000, True)):
        monkeypatch.setattr(time, "time_ns", lambda later=later: made + later)
        store.notice()
        assert (store.journal.heads["user_a.md"].stamp is not None) is kept


def test_a_folder_that_cannot_be_looked_into_is_not_empty(store, monkeypatch):
    store.put("deep/user_a.md", "A.")
    real = os.open

    def refuse(path, *words, **options):
        if path == "deep":
            raise PermissionError(13, "Permission denied")  # root may read anything, so the system is asked to say no
        return real(path, *words, **options)

    monkeypatch.setattr(os, "open", refuse)
    assert store.notice() == []
    monkeypatch.undo()
    assert store.notice() == []
    assert list(store.folder.files()) == ["deep/user_a.md"]


def test_an_index_that_somebody_wrote_is_in_the_history(store):
    store.put("user_a.md", "A.")
    save(store, INDEX, b"Mine.\n- [Role](user_a.md): my words\n")
    store.put("user_b.md", "B.")
    save(store, INDEX, b"Gone.\n")
    store.put("user_c.md", "C.")
    kept = [change.data for change in store.log() if change.file == INDEX]
    assert kept == [b"Mine.\n- [Role](user_a.md): my words\n", b"Gone.\n"]


def test_nobody_else_may_read_history_and_cache_under_any_mask(tmp_path):
    root = str(tmp_path / "above" / "store")

    def make():
        os.umask(0)
        store = store_in(root)
        store.put("user_a.md", "A.")
        store.journal.save(always=True)
        Journal(store.state, str(tmp_path / "far" / "cache")).save(always=True)
        return "made"

    assert in_child(make) == "made"
    modes = {
        os.path.relpath(os.path.join(base, name), root): oct(stat.S_IMODE(os.stat(os.path.join(base, name)).st_mode))
        for base, folders, files in os.walk(root)
        for name in (*folders, *files)
    }
    assert modes == {
        "memory": "0o700",
        "memory/MEMORY.md": "0o600",
        "memory/user_a.md": "0o600",
        "state": "0o700",
        "state/log.jsonl": "0o600",
        "state/format": "0o600",
        "cache": "0o700",
        "cache/heads": "0o600",
    }
    above = [oct(stat.S_IMODE(os.stat(tmp_path / path).st_mode)) for path in ("above", "far", "far/cache")]
    assert above == ["0o700"] * 3
