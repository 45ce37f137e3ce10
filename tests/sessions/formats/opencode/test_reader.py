"""Sessions of opencode: a database that is never touched, and the files of older versions."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys

import pytest

from foretold.sessions.formats.opencode import reader
from foretold.sessions.formats.readers import resume_command
from foretold.sessions.model import Homes, StoredSession

SAMPLE = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "opencode", "sample.sql")


def made(home, *, name="opencode.db"):
    """A home with the sample, and nobody who writes to it."""
    folder = home / ".local" / "share" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(folder / name)
    with open(SAMPLE, encoding="utf-8") as file:
        connection.executescript(file.read())
    connection.execute("PRAGMA journal_mode=wal")
    connection.close()
    return folder


WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA journal_mode=wal")
connection.executescript(open(sys.argv[2], encoding="utf-8").read())
for line in iter(lambda: (print("ready", flush=True), sys.stdin.readline())[1], ""):
    connection.execute(line)
    connection.commit()
connection.close()
"""


class Writer:
    """Another process that has the database open and writes to it."""

    def __init__(self, home):
        self.folder = home / ".local" / "share" / "opencode"
        self.folder.mkdir(parents=True)
        argv = [sys.executable, "-c", WRITER, str(self.folder / "opencode.db"), SAMPLE]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def execute(self, statement):
        self.process.stdin.write(statement + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "ready\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate()


def traces(folder):
    """What is in a folder, to the byte and the nanosecond."""
    return {
        entry.name: (entry.stat().st_mtime_ns, hashlib.sha256(entry.read_bytes()).hexdigest())
        for entry in sorted(folder.iterdir())
        if entry.is_file()
    }


def shown(message):
    return [
        (part.kind, part.text, part.tool, part.id, part.failed, part.input)
        for part in message.parts
        if part.kind != "other"
    ]


def test_sessions_are_listed_with_all_a_list_needs(tmp_path):
    folder = made(tmp_path)
    path = str(folder / "opencode.db")
    found = list(reader.find_sessions(Homes(str(tmp_path), {})))
    assert found == [
        StoredSession(
            *("opencode", "ses_3", path, "/home/me/project", "Put away", 1794799870.0, 1794799870.1, 0, "", "1.18.33"),
            kind="archived",
        ),
        StoredSession(
            *("opencode", "ses_1", path, "/home/me/project", "Reading a.txt", 1794799879.851, 1794799883.623, 0, ""),
            version="1.18.33",
            model="probe-model",
        ),
        StoredSession(
            *("opencode", "ses_2", path, "/home/me/project", "Explore", 1794799880.0, 1794799880.1, 0, "", "1.18.33"),
            kind="subagent",
            parent="ses_1",
        ),
    ]
    assert [reader.summarize(StoredSession("opencode", one.id, path)) for one in found] == found
    assert [resume_command(one)[-1] for one in found] == ["ses_3", "ses_1", "ses_1"]


def test_what_was_said(tmp_path):
    folder = made(tmp_path)
    findings = []
    read = list(reader.read_messages(StoredSession("opencode", "ses_1", str(folder / "opencode.db")), 0, findings))
    assert [(one.id, one.role, one.kind, one.model, one.parent, one.time) for one in read] == [
        ("msg_1", "user", "", "", "", 1794799880.05),
        ("msg_2", "assistant", "", "probe-model", "msg_1", 1794799881.946),
        ("msg_3", "assistant", "summary", "probe-model", "msg_1", 1794799883.482),
        ("msg_4", "user", "context", "", "", 1794799883.482),
        ("msg_5", "assistant", "", "probe-model", "msg_4", 1794799884.0),
    ]
    assert shown(read[0]) == [
        ("text", "Read a.txt — ünï 日本", "", "", False, None),
        ("image", "a.png", "", "", False, None),
    ]
    assert shown(read[1]) == [
        ("thinking", "Let me look.", "", "", False, None),
        ("call", "", "bash", "call_1", False, {"command": "false"}),
        ("result", "", "bash", "call_1", True, None),
        ("call", "", "read", "call_2", False, {"filePath": "x"}),
        ("result", "File not found: x", "read", "call_2", True, None),
        ("call", "", "read", "call_3", False, {"filePath": "a.txt"}),
    ]
    error = read[4].parts[-1]
    assert (error.kind, error.text, error.failed) == ("other", "overloaded", True)
    assert [part.raw["type"] for part in read[1].parts if part.kind == "other" and "type" in part.raw] == ["step-start"]
    assert findings == []


def test_reading_goes_on_where_it_ended(tmp_path):
    folder = made(tmp_path)
    stored = StoredSession("opencode", "ses_1", str(folder / "opencode.db"))
    read = list(reader.read_messages(stored))
    assert (
        [list(reader.read_messages(stored, one.end))[:1] for one in read]
        == [
            read[1:2],
            read[2:3],
            read[2:3],  # msg_4 was begun in the same millisecond: both are read again
            read[4:5],
            read[4:5],  # msg_5 is not over: it is read again
        ]
    )


def test_an_answer_that_is_over_is_not_read_again(tmp_path):
    folder = made(tmp_path)
    path = folder / "opencode.db"
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM message WHERE id = 'msg_5'")
    connection.commit()
    connection.close()
    stored = StoredSession("opencode", "ses_1", str(path))
    assert list(reader.read_messages(stored, list(reader.read_messages(stored))[-1].end)) == []


def reads_all(home, folder):
    """Whether everything is read, and nothing is touched."""
    before = traces(folder)
    found = list(reader.find_sessions(Homes(str(home), {})))
    read = {one.id: len(list(reader.read_messages(reader.summarize(one)))) for one in found}
    return read == {"ses_3": 0, "ses_1": 5, "ses_2": 0} and traces(folder) == before


def test_nothing_is_touched_when_the_agent_is_closed(tmp_path):
    assert reads_all(tmp_path, made(tmp_path))


def test_nothing_is_touched_while_the_agent_writes(tmp_path):
    with Writer(tmp_path) as writer:
        assert set(traces(writer.folder)) == {"opencode.db", "opencode.db-shm", "opencode.db-wal"}
        assert reads_all(tmp_path, writer.folder)


@pytest.mark.parametrize("lost", [[], ["opencode.db-shm"]])
def test_nothing_is_touched_after_the_agent_was_killed(tmp_path, lost):
    target = tmp_path / "killed" / ".local" / "share" / "opencode"
    target.mkdir(parents=True)
    with Writer(tmp_path) as writer:
        for entry in writer.folder.iterdir():
            if entry.name not in lost:
                (target / entry.name).write_bytes(entry.read_bytes())
    assert reads_all(tmp_path / "killed", target)


def test_a_message_written_meanwhile_is_read(tmp_path):
    with Writer(tmp_path) as writer:
        stored = StoredSession("opencode", "ses_2", str(writer.folder / "opencode.db"))
        assert list(reader.read_messages(stored)) == []
        writer.execute("INSERT INTO message VALUES ('msg_9', 'ses_2', 5, 5, '{\"role\":\"user\"}')")
        assert [one.id for one in reader.read_messages(stored)] == ["msg_9"]


def test_damaged_rows_are_named_and_kept(tmp_path):
    folder = made(tmp_path)
    path = folder / "opencode.db"
    connection = sqlite3.connect(path)
    connection.execute("UPDATE part SET data = '{\"type\":\"te' WHERE id = 'prt_11'")
    connection.execute("UPDATE message SET data = 'null' WHERE id = 'msg_3'")
    connection.commit()
    connection.close()
    findings = []
    read = list(reader.read_messages(StoredSession("opencode", "ses_1", str(path)), 0, findings))
    assert [(finding.code, finding.message.split()[0]) for finding in findings] == [
        ("record-damaged", "prt_11"),
        ("record-damaged", "msg_3"),
    ]
    assert [one.id for one in read] == ["msg_1", "msg_2", "msg_3", "msg_4", "msg_5"]
    assert read[0].parts[0].raw == '{"type":"te'
    assert (read[2].role, read[2].kind, read[2].text) == ("system", "notice", "A summary.")


def test_a_database_that_cannot_be_read_is_not_passed_over(tmp_path):
    folder = made(tmp_path)
    path = folder / "opencode.db"
    path.write_bytes(b"this is no database, it is only called so" * 100)
    (found,) = reader.find_sessions(Homes(str(tmp_path), {}))
    assert (found.id, found.title) == ("opencode.db", "cannot be read: file is not a database")
    findings = []
    assert list(reader.read_messages(found, 0, findings)) == []
    assert [finding.code for finding in findings] == ["database-damaged"]
    assert reader.summarize(found) == found


def test_tables_of_another_version(tmp_path):
    folder = tmp_path / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    connection = sqlite3.connect(folder / "opencode.db")
    connection.execute("CREATE TABLE session (id text, title text, time_created integer)")
    connection.execute("INSERT INTO session VALUES ('ses_1', 'Few columns', 1000)")
    connection.commit()
    connection.close()
    (found,) = reader.find_sessions(Homes(str(tmp_path), {}))
    assert found == StoredSession("opencode", "ses_1", str(folder / "opencode.db"), title="Few columns", started=1.0)


def test_where_databases_are(tmp_path):
    made(tmp_path)
    made(tmp_path, name="opencode-dev.db")
    data = tmp_path / ".local" / "share"
    assert reader.databases(Homes("/nowhere", {"XDG_DATA_HOME": str(data), "OPENCODE_DB": "opencode-dev.db"})) == [
        str(data / "opencode" / "opencode-dev.db"),
        str(data / "opencode" / "opencode.db"),
    ]
    assert reader.databases(Homes("/nowhere", {})) == []


def stored_in_files(home):
    """A session as versions without a database keep it."""
    storage = home / ".local" / "share" / "opencode" / "storage"

    def write(name, value):
        path = storage / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")

    session = {"id": "ses_9", "directory": "/home/me/old", "title": "Old", "version": "0.9.1"}
    write("session/prj/ses_9.json", {**session, "time": {"created": 1000, "updated": 9000}})
    write("message/ses_9/msg_1.json", {"id": "msg_1", "role": "user", "time": {"created": 2000}})
    write("part/msg_1/prt_1.json", {"id": "prt_1", "type": "text", "text": "Hello"})
    answer = {"id": "msg_2", "role": "assistant", "modelID": "m", "time": {"created": 3000, "completed": 4000}}
    write("message/ses_9/msg_2.json", answer)
    write("part/msg_2/prt_2.json", {"id": "prt_2", "type": "text", "text": "Hi"})
    write("part/msg_2/prt_3.json", "{torn")
    return storage


def test_files_of_older_versions(tmp_path):
    storage = stored_in_files(tmp_path)
    (found,) = reader.find_sessions(Homes(str(tmp_path), {}))
    path = str(storage / "session" / "prj" / "ses_9.json")
    size = os.path.getsize(path)
    assert reader.summarize(found) == StoredSession(
        "opencode", "ses_9", path, "/home/me/old", "Old", 1.0, 9.0, size, version="0.9.1"
    )
    findings = []
    read = list(reader.read_messages(found, 0, findings))
    assert [(one.id, one.text, one.start, one.end) for one in read] == [
        ("msg_1", "Hello", 2000, 3000),
        ("msg_2", "Hi", 3000, 3001),
    ]
    assert [(os.path.basename(one.path), one.code) for one in findings] == [("prt_3.json", "record-damaged")]
    assert list(reader.read_messages(found, 3001)) == []


def test_a_session_that_is_in_a_database_too_is_given_once(tmp_path):
    made(tmp_path)
    storage = stored_in_files(tmp_path)
    (storage / "session" / "prj" / "ses_1.json").write_text('{"id": "ses_1"}', encoding="utf-8")
    found = [(one.id, os.path.basename(one.path)) for one in reader.find_sessions(Homes(str(tmp_path), {}))]
    assert found == [
        ("ses_3", "opencode.db"),
        ("ses_1", "opencode.db"),
        ("ses_2", "opencode.db"),
        ("ses_9", "ses_9.json"),
    ]
