"""The archive: what went in comes out, byte for byte, whatever happened meanwhile."""

import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys

import pytest

import foretold
from foretold.errors import ForetoldError, NoSuchSession, RestoreRefused, SessionFailed
from foretold.secrets.redactor import Redactor, fingerprint
from foretold.sessions.archive.archive import Archive, archive_folder, archive_hint, find_unarchived
from foretold.sessions.archive.restore import plan_restore, restore, verify_archive
from foretold.sessions.archive.retention import DAY, find_expiring_sessions
from foretold.sessions.archive.snapshot import ArchiveContents
from foretold.sessions.model import Homes, StoredSession
from foretold.storage.frames import Frames

from ...memory.machines import Faulty, Quick, in_child
from .. import house

SOURCES = os.path.dirname(os.path.dirname(os.path.abspath(foretold.__file__)))


def archive_in(path, kernel=None):
    return Archive(str(path), kernel or Quick())


def back(archive, session, to, number=-1):
    """What a snapshot gives back: files with bytes, mode and time."""
    contents = archive.find(session.id)
    restore(contents, plan_restore(contents, str(to), contents.snapshots[number]))
    return house.files(to)


def test_a_session_comes_back_with_everything_that_belongs_to_it(tmp_path):
    session = house.claude_session(tmp_path / "home")
    before = house.tree(tmp_path / "home")
    archive = archive_in(tmp_path / "archive")
    done = archive.archive(session)
    assert (done.what, archive.archive(session).what) == ("new", "same")
    assert house.tree(tmp_path / "home") == before
    assert back(archive, session, tmp_path / "out") == house.files(tmp_path / "home/.claude")
    (snapshot,) = archive.sessions()
    assert {kept.kind for kept in snapshot.files} == {
        *("transcripts", "subagents", "tool results", "file history", "todos", "debug logs")
    }
    assert verify_archive(archive.find(session.id)) == []


def test_a_deleted_session_returns_to_its_place_and_never_over_another_file(tmp_path):
    session = house.claude_session(tmp_path / "home")
    before = house.files(tmp_path / "home")
    archive = archive_in(tmp_path / "archive")
    archive.archive(session)
    contents = archive.find(session.id[:8])
    assert {each.what for each in plan_restore(contents)} == {"same"}
    house.write(session.path, b"another\n")
    changed = house.tree(tmp_path / "home")
    with pytest.raises(RestoreRefused, match="nothing was written"):
        restore(contents, plan_restore(contents))
    assert house.tree(tmp_path / "home") == changed
    shutil.rmtree(tmp_path / "home")
    restore(contents, plan_restore(contents))
    assert house.files(tmp_path / "home") == before


def test_growing_adds_only_the_new_bytes_and_every_state_stays(tmp_path):
    session = house.claude_session(tmp_path / "home", turns=400)
    archive = archive_in(tmp_path / "archive")
    first = archive.archive(session)
    states = [house.files(tmp_path / "home/.claude")]
    for turn in range(3):
        with open(session.path, "ab") as file:
            file.write(house.lines(house.talk(session.id, 1, 2000 + 2 * turn)))
        done = archive.archive(session)
        assert (done.what, done.added < first.added / 4) == ("grown", True)
        states.append(house.files(tmp_path / "home/.claude"))
    contents = archive.find(session.id)
    assert len(contents.streams[1]) == 4
    for number, state in enumerate(states):
        assert back(archive, session, tmp_path / f"out{number}", number) == state


def test_a_rewritten_session_is_kept_beside_what_it_was(tmp_path):
    session = house.claude_session(tmp_path / "home")
    archive = archive_in(tmp_path / "archive")
    archive.archive(session)
    states = [house.files(tmp_path / "home/.claude")]
    for data in (house.lines(house.talk(session.id, 9, 3000)), house.lines(house.talk(session.id, 1))):
        house.write(session.path, data, changed=house.MOMENT + len(data))
        assert archive.archive(session).what == "rewritten"
        states.append(house.files(tmp_path / "home/.claude"))
    for number, state in enumerate(states):
        assert back(archive, session, tmp_path / f"out{number}", number) == state


def test_a_moved_transcript_adds_no_bytes(tmp_path):
    session = house.claude_session(tmp_path / "home", turns=50)
    archive = archive_in(tmp_path / "archive")
    archive.archive(session)
    moved = session._replace(path=session.path.replace("/-p/", "/-q/"))
    os.makedirs(os.path.dirname(moved.path))
    os.rename(session.path, moved.path)
    done = archive.archive(moved)
    contents = archive.find(session.id)
    assert (done.what, contents.last.path) == ("grown", moved.path)
    assert contents.last.files[0].stream == contents.snapshots[0].files[0].stream


def test_a_change_that_leaves_size_and_time_is_found_by_a_thorough_reading(tmp_path):
    session = house.claude_session(tmp_path / "home")
    archive = archive_in(tmp_path / "archive")
    archive.archive(session)
    data = house.read(session.path)
    house.write(session.path, data.replace(b"word", b"WORD"))
    assert archive.archive(session).what == "same"
    assert archive.archive(session, is_thorough=True).what == "rewritten"


def test_large_files_go_through_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("foretold.sessions.archive.store_session.PIECE", 1000)
    session = house.claude_session(tmp_path / "home", turns=40)
    archive = archive_in(tmp_path / "archive")
    told = []
    archive.archive(session, progress=lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1]
    assert len(told) > 10
    assert back(archive, session, tmp_path / "out") == house.files(tmp_path / "home/.claude")


def test_an_archive_cut_at_any_byte_gives_back_what_was_whole(tmp_path):
    session = house.small_session(tmp_path / "home")
    archive = archive_in(tmp_path / "archive")
    path = archive.frames_of("claude-code", session.id).path
    archive.archive(session)
    sizes = [0, os.path.getsize(path)]
    for turn in (1,):
        with open(session.path, "ab") as file:
            file.write(house.lines(house.talk(session.id, 1, 200 * turn)))
        archive.archive(session)
        sizes.append(os.path.getsize(path))
    whole = house.read(path)
    expected = [snapshot.files for snapshot in archive.find(session.id).snapshots]
    frames = {frame.end for frame in Frames(path).scan()}
    for cut in range(len(whole)):
        with open(path, "wb") as file:
            file.write(whole[:cut])
        findings = []
        contents = ArchiveContents(Frames(path), findings)
        ready = sum(cut >= size for size in sizes[1:])
        assert [snapshot.files for snapshot in contents.snapshots] == expected[:ready]
        assert [finding.code for finding in findings] == ["archive-torn"] * (cut not in frames and cut > 0)
        if cut % 97 == 0 or cut in frames or cut + 1 in frames:
            assert verify_archive(contents) == []
            assert archive.archive(session).what in ("new", "grown", "same")
            assert verify_archive(ArchiveContents(Frames(path), findings)) == []
            assert back(archive, session, tmp_path / "out") == house.files(tmp_path / "home/.claude")
            shutil.rmtree(tmp_path / "out")


def test_what_is_torn_is_put_aside_not_thrown_away(tmp_path):
    session = house.claude_session(tmp_path / "home")
    archive = archive_in(tmp_path / "archive")
    path = archive.frames_of("claude-code", session.id).path
    archive.archive(session)
    with open(path, "ab") as file:
        file.write(b'{"frame":1,"ki')
    archive.archive(session)
    assert house.read(path + ".torn") == b'{"frame":1,"ki'
    findings = []
    ArchiveContents(Frames(path), findings)
    assert findings == []


def test_a_flipped_byte_is_named_and_costs_only_its_frame(tmp_path):
    session = house.small_session(tmp_path / "home", turns=2)
    archive = archive_in(tmp_path / "archive")
    path = archive.frames_of("claude-code", session.id).path
    archive.archive(session)
    whole = house.read(path)
    unnoticed = []
    for at in range(0, len(whole), 7):
        with open(path, "wb") as file:
            file.write(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        findings = []
        contents = ArchiveContents(Frames(path), findings)
        findings += verify_archive(contents)
        if not findings and whole[at : at + 1] != b"\n":  # the newline behind a frame carries nothing
            unnoticed.append(at)
    assert unnoticed == []


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EIO, "short", "die", "kill", "torn"])
def test_whatever_fails_nothing_archived_is_lost(tmp_path, fault):
    session = house.small_session(tmp_path / "home")
    template = tmp_path / "template"
    archive_in(template).archive(session)
    before = archive_in(template).find(session.id).snapshots
    with open(session.path, "ab") as file:
        file.write(house.lines(house.talk(session.id, 2, 300)))
    at = 0
    while True:
        at += 1
        shutil.rmtree(tmp_path / "archive", ignore_errors=True)
        shutil.copytree(template, tmp_path / "archive")
        kernel = Faulty(at, fault)

        def attempt(kernel=kernel):
            try:
                return ["ok", archive_in(tmp_path / "archive", kernel).archive(session).what]
            except ForetoldError as error:
                return ["refused", str(error)]

        answer = attempt() if isinstance(fault, int) or fault == "short" else in_child(attempt)
        archive = archive_in(tmp_path / "archive")
        contents = archive.find(session.id)
        assert contents.snapshots[:1] == before
        assert verify_archive(contents) == []
        if answer and answer[0] == "refused" and "Nothing was changed" in answer[1]:
            assert contents.snapshots == before
        if answer and answer[0] == "ok":
            assert len(contents.snapshots) == 2
        archive.archive(session)
        assert back(archive, session, tmp_path / f"out-{at}") == house.files(tmp_path / "home/.claude")
        if kernel.count < at and answer:
            break
        if not isinstance(fault, int) and fault != "short" and answer:
            break
    assert at > 3


WORKER = """
import sys
from foretold.sessions.archive.archive import Archive, archive_folder, archive_hint, find_unarchived
from foretold.sessions.model import StoredSession
folder, path, name, count = sys.argv[1:]
for number in range(int(count)):
    Archive(folder).archive(StoredSession("claude-code", name, path))
    print(number, flush=True)
"""


def worker(folder, session, count):
    words = [sys.executable, "-c", WORKER, str(folder), session.path, session.id, str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, env={"PYTHONPATH": SOURCES, "PATH": os.environ["PATH"]})


def test_eight_processes_at_once_archive_a_growing_session(tmp_path):
    session = house.claude_session(tmp_path / "home", turns=2)
    workers = [worker(tmp_path / "archive", session, 6) for _ in range(8)]
    for turn in range(20):
        with open(session.path, "ab") as file:
            file.write(house.lines(house.talk(session.id, 1, 1000 + 2 * turn)))
    for each in workers:
        each.communicate()
    assert [each.returncode for each in workers] == [0] * 8
    archive = archive_in(tmp_path / "archive")
    archive.archive(session)
    contents = archive.find(session.id)
    assert verify_archive(contents) == []
    assert len({snapshot.files for snapshot in contents.snapshots}) == len(contents.snapshots)
    assert {kept.stream for snapshot in contents.snapshots for kept in snapshot.files[:1]} == {1}
    assert back(archive, session, tmp_path / "out") == house.files(tmp_path / "home/.claude")


def test_killed_processes_lose_nothing_that_was_acknowledged(tmp_path):
    session = house.claude_session(tmp_path / "home", turns=2)
    archive = archive_in(tmp_path / "archive")
    for number in range(4):
        process = worker(tmp_path / "archive", session, 1000)
        for _ in range(1 + number):
            process.stdout.readline()
            with open(session.path, "ab") as file:
                file.write(house.lines(house.talk(session.id, 300, 1000)))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        contents = archive.find(session.id)
        assert verify_archive(contents) == []
    archive.archive(session)
    assert back(archive, session, tmp_path / "out") == house.files(tmp_path / "home/.claude")


def test_rows_of_a_database_are_kept_without_touching_it(tmp_path):
    path = str(tmp_path / "opencode.db")
    base = sqlite3.connect(path)
    base.executescript(
        "CREATE TABLE session (id TEXT, title TEXT); CREATE TABLE message (id TEXT, session_id TEXT, data TEXT);"
        "CREATE TABLE part (id TEXT, session_id TEXT, data BLOB); CREATE TABLE other (id TEXT);"
        "INSERT INTO session VALUES ('ses_1', 'One'), ('ses_2', 'Two'); INSERT INTO other VALUES ('x');"
        "INSERT INTO message VALUES ('m2', 'ses_1', '{}'), ('m1', 'ses_1', '{}'), ('m3', 'ses_2', '{}');"
        "INSERT INTO part VALUES ('p1', 'ses_1', x'00ff');"
    )
    base.close()
    before = house.tree(tmp_path)
    archive = archive_in(tmp_path / "archive")
    session = StoredSession("opencode", "ses_1", path, changed=5.0)
    archive.archive(session)
    shutil.move(tmp_path / "archive", tmp_path.parent / f"{tmp_path.name}-archive")
    assert house.tree(tmp_path) == before
    archive = archive_in(tmp_path.parent / f"{tmp_path.name}-archive")
    ((data, _, _),) = back(archive, session, tmp_path / "out").values()
    assert data.decode().splitlines() == [
        '{"table": "message", "row": {"id": "m1", "session_id": "ses_1", "data": "{}"}}',
        '{"table": "message", "row": {"id": "m2", "session_id": "ses_1", "data": "{}"}}',
        '{"table": "part", "row": {"id": "p1", "session_id": "ses_1", "data": {"base64": "AP8="}}}',
        '{"table": "session", "row": {"id": "ses_1", "title": "One"}}',
    ]


def test_a_redacted_archive_has_no_credentials_in_it_and_is_its_own_file(tmp_path):
    session = house.claude_session(tmp_path / "home")
    key = "AKIA" + "IOSFODNN7ABCDEFG"
    with open(session.path, "ab") as file:
        file.write(house.lines([house.said(session.id, 900, None, text=f"my key is {key}")]))
    archive = archive_in(tmp_path / "archive")
    archive.archive(session, redactor=Redactor())
    clean = back(archive, session, tmp_path / "out")
    assert not any(key.encode() in data for data, _, _ in clean.values())
    assert archive.archive(session, redactor=Redactor()).what == "same"
    archive.archive(session)
    assert back(archive, session, tmp_path / "plain") == house.files(tmp_path / "home/.claude")
    assert sorted(snapshot.redacted for snapshot in archive.sessions()) == [False, True]


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    session = house.claude_session(tmp_path / "home")
    shutil.rmtree(tmp_path / "home/.claude/debug")
    os.makedirs(tmp_path / "home/.claude/debug")
    os.mkfifo(tmp_path / f"home/.claude/debug/{session.id}.txt")
    archive = archive_in(tmp_path / "archive")
    assert archive.archive(session).left == ()  # a FIFO is no file of a session
    os.remove(session.path)
    os.symlink("/proc/self/mem", session.path)
    with pytest.raises(SessionFailed, match="cannot read"):
        archive.archive(session)


def test_what_cannot_be_archived_or_found_is_said(tmp_path):
    archive = archive_in(tmp_path / "archive")
    with pytest.raises(SessionFailed, match="does not exist any more"):
        archive.archive(StoredSession("claude-code", "gone", str(tmp_path / "projects/p/gone.jsonl")))
    with pytest.raises(NoSuchSession, match="no session 'gone-too'"):
        archive.find("gone-too")
    session = house.claude_session(tmp_path / "home", 1)
    archive.archive(session)
    other = house.claude_session(tmp_path / "home", 1 + (1 << 16))
    archive.archive(other._replace(id=session.id[:-1] + "f"))
    with pytest.raises(NoSuchSession, match="matches 2 sessions"):
        archive.find(session.id[:10])


def test_a_redacted_archive_has_no_credentials_in_its_card_either(tmp_path):
    key = "AKIA" + "IOSFODNN7ABCDEFG"
    session = house.claude_session(tmp_path / "home")._replace(title=f"use {key}", cwd=f"/p/{key}")
    archive = archive_in(tmp_path / "archive")
    archive.archive(session, redactor=Redactor())
    (snapshot,) = archive.sessions()
    marked = f"[redacted: AWS access key {fingerprint(key)}]"
    assert (snapshot.title, snapshot.cwd) == (f"use {marked}", f"/p/{marked}")
    assert archive.archive(session, redactor=Redactor()).added == 0


def test_both_copies_of_a_session_can_be_asked_for(tmp_path):
    session = house.claude_session(tmp_path / "home")
    archive = archive_in(tmp_path / "archive")
    archive.archive(session, redactor=Redactor())
    assert archive.find(session.id).last.redacted
    archive.archive(session)
    found = [archive.find(name, redacted=only) for name in (session.id, session.id[:6]) for only in (False, True)]
    assert [contents.last.redacted for contents in found] == [False, True, False, True]
    other = house.claude_session(tmp_path / "home", 2)
    archive.archive(other)
    with pytest.raises(NoSuchSession, match="no redacted copy of a session"):
        archive.find(other.id, redacted=True)


def test_what_is_about_to_be_deleted_and_not_kept_as_it_is_now(tmp_path):
    homes = Homes(str(tmp_path / "home"), {})
    first, second = (house.claude_session(tmp_path / "home", number) for number in (1, 2))
    soon = find_expiring_sessions(homes, house.MOMENT + 29 * DAY, within=7)
    assert {each.stored.kind for each in soon} == {"main", "subagent"}
    assert find_unarchived(homes, soon) == soon
    archive = archive_in(archive_folder(homes))
    archive.archive(first)
    assert find_unarchived(homes, soon) == [each for each in soon if second.id in each.stored.path]
    archive.archive(second, redactor=Redactor())
    assert find_unarchived(homes, soon) == []
    house.write(first.path, b"{}\n")
    assert [each.stored.id for each in find_unarchived(homes, soon)] == [first.id]
    os.unlink(archive.frames_of("claude-code", first.id).path)
    os.mkdir(archive.frames_of("claude-code", first.id).path)
    assert {each.stored.id for each in find_unarchived(homes, soon)} >= {first.id}


def test_a_name_that_only_the_archive_knows_is_told_how_to_come_back(tmp_path):
    homes = Homes(str(tmp_path / "home"), {})
    session = house.claude_session(tmp_path / "home")
    assert archive_hint(homes, session.id) == ""
    archive_in(archive_folder(homes)).archive(session)
    archive_in(archive_folder(homes)).archive(session, redactor=Redactor())
    said = f"it is in the archive: foretold sessions restore {session.id}"
    asked = {name: archive_hint(homes, name) for name in (session.id, session.id[:8], "00", "nope", "", "a/b", "\0")}
    assert asked == {session.id: said, session.id[:8]: said, "00": said, "nope": "", "": "", "a/b": "", "\0": ""}
    archive_in(archive_folder(homes)).archive(house.claude_session(tmp_path / "home", 2))
    assert archive_hint(homes, "0000") == "2 such sessions are in the archive: foretold sessions restore"
