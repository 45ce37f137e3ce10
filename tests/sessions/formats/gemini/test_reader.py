"""Sessions of Gemini CLI, as the real program wrote them (0.61.0), and as older versions did."""

import hashlib
import json
import os
import shutil

import pytest

from foretold.sessions.formats.gemini import reader
from foretold.sessions.formats.readers import resume_command
from foretold.sessions.model import Homes, StoredSession

from ...codex_damage import dumped

FIXTURES = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "gemini")
FILE = "session-2026-11-16T03-46-aaaabbbb.jsonl"
STUB = "session-2026-11-16T03-47-aaaabbbb.jsonl"
ID = "aaaabbbb-1111-4222-8333-444455556666"


@pytest.fixture
def chats(tmp_path):
    folder = tmp_path / ".gemini" / "tmp" / "project" / "chats"
    folder.mkdir(parents=True)
    (folder.parent / ".project_root").write_text("/home/me/project", encoding="utf-8")
    shutil.copyfile(os.path.join(FIXTURES, FILE), folder / FILE)
    return folder


def only(home, env=None):
    (found,) = reader.find_sessions(Homes(str(home), env or {}))
    return found


def shown(message):
    """A message in short; of ids the end."""
    parts = [(part.kind, part.text[:20], part.tool, part.id[-4:], part.failed) for part in message.parts]
    return (message.role, message.kind, *parts)


def written(tmp_path, records, name=FILE):
    path = tmp_path / name
    path.write_bytes(dumped(records))
    return StoredSession("gemini-cli", "aaaabbbb", str(path))


def test_a_session_is_found_by_its_name_and_known_by_its_ends(tmp_path, chats):
    found = only(tmp_path)
    path = str(chats / FILE)
    size = os.path.getsize(path)
    assert found == StoredSession("gemini-cli", ID, path, changed=os.stat(path).st_mtime, size=size)
    summary = reader.summarize(found)
    assert summary == StoredSession(
        *("gemini-cli", ID, path, "/home/me/project", "Done.", 1794800771.966, 1794800865.562, size),
        model="gemini-2.5-flash",
    )
    assert resume_command(summary) == ("gemini", "--resume", ID)


def test_what_was_said_is_given_once(tmp_path, chats):
    """The agent writes a message again with its calls, results twice, and when it is resumed everything once more."""
    findings = []
    read = [one for one in reader.read_messages(only(tmp_path), 0, findings) if one.kind != "meta"]
    assert findings == []
    assert [shown(one) for one in read] == [
        ("user", "context", ("text", "<session_context>\nTh", "", "", False)),
        ("user", "", ("text", "Read a.txt — ünïcode", "", "", False)),
        (
            *("assistant", ""),
            ("call", "", "read_file", "0100", False),
            ("result", "alpha ünï 日本\n", "read_file", "0100", False),
        ),
        (
            *("assistant", ""),
            ("call", "", "run_shell_command", "0200", False),
            ("result", "<untrusted_context>\n", "run_shell_command", "0200", False),
            ("call", "", "read_file", "0201", False),
            ("result", "File not found: /hom", "read_file", "0201", True),
        ),
        ("assistant", "", ("text", "Done.", "", "", False)),
        ("user", "", ("text", "And now?", "", "", False)),
        (
            *("assistant", ""),
            ("call", "", "read_file", "0100", False),
            ("result", "alpha ünï 日本\n", "read_file", "0100", False),
        ),
        ("assistant", "", ("text", "Done.", "", "", False)),
    ]
    assert read[2].parts[0].input == {"file_path": "a.txt"}
    assert {one.model for one in read if one.role == "assistant"} == {"gemini-2.5-flash"}


def test_reading_goes_on_at_any_line(tmp_path, chats):
    """Wherever reading goes on, only what was not said before that is given."""
    stored = only(tmp_path)
    read = [one._replace(line=0) for one in reader.read_messages(stored)]
    with open(stored.path, "rb") as file:
        starts = [0]
        for line in file:
            starts.append(starts[-1] + len(line))
    for start in starts:
        rest = [one._replace(line=0) for one in reader.read_messages(stored, start)]
        assert rest == [one for one in read if one.start >= start], start


def test_a_session_that_the_agent_is_about_to_delete(tmp_path, chats):
    shutil.copyfile(os.path.join(FIXTURES, STUB), chats / STUB)
    first, stub = reader.find_sessions(Homes(str(tmp_path), {}))
    findings, none = [], []
    list(reader.read_messages(first, 0, findings))
    list(reader.read_messages(stub, 0, none))
    assert [(one.path, one.code) for one in findings] == [(first.path, "session-doomed")]
    assert none == []
    assert (reader.summarize(stub).id, reader.summarize(stub).title) == (ID, "")


def test_damage_costs_only_what_is_damaged(tmp_path, chats):
    path = chats / FILE
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b"{broken\n", *lines[3:-1], lines[-1][:20]]))
    findings = []
    read = [one for one in reader.read_messages(only(tmp_path), 0, findings) if not one.kind]
    assert [(one.line, one.code) for one in findings] == [(3, "record-damaged"), (len(lines), "record-torn")]
    # the prompt of the broken line stands once more where the session was resumed
    assert [one.text for one in read if one.role == "user"] == ["Read a.txt — ünïcode 日本語 🎉", "And now?"]


def test_strange_records_are_kept_as_they_are(tmp_path):
    records = [
        {"$rewindTo": "m1"},
        {"$set": {"surprise": 1}},
        {"whatever": True},
        {"id": "m2", "type": "error", "content": "quota"},
        {"id": "m3", "type": "brand_new", "content": [{"text": "x"}]},
        {"id": "m4", "type": "user", "content": [{"videoMetadata": {}}, 7]},
    ]
    assert [
        (one.id, one.role, one.kind, [(part.kind, part.text, part.raw) for part in one.parts])
        for one in reader.read_messages(written(tmp_path, records))
    ] == [
        ("byte 0", "system", "notice", [("other", "", records[0])]),
        ("byte 19", "system", "notice", [("other", "", records[1])]),
        ("byte 43", "system", "notice", [("other", "", records[2])]),
        ("m2", "system", "notice", [("other", "quota", records[3])]),
        ("m3", "system", "notice", [("other", "x", records[4])]),
        ("m4", "user", "", [("other", "", {"videoMetadata": {}}), ("other", "", 7)]),
    ]


def test_pieces_of_a_message(tmp_path):
    thought = {"subject": "Plan", "description": "look first"}
    records = [
        {"id": "a", "type": "gemini", "thoughts": [thought], "content": "Hello"},
        {"id": "b", "type": "gemini", "content": [{"text": "hm", "thought": True}, "plain", {"text": "more"}]},
        {"id": "c", "type": "user", "content": [{"inlineData": {"mimeType": "image/png", "data": ""}}]},
        {"id": "d", "type": "gemini", "content": [{"functionCall": {"id": "1", "name": "f", "args": {"x": 1}}}]},
        {"id": "e", "type": "user", "content": [{"functionResponse": {"id": "1", "name": "f", "response": {"a": 1}}}]},
        {"id": "f", "type": "user", "content": {"text": "<hook_context>x</hook_context>"}},
    ]
    assert [shown(one) for one in reader.read_messages(written(tmp_path, records))] == [
        ("assistant", "", ("thinking", "Plan: look first", "", "", False), ("text", "Hello", "", "", False)),
        (
            *("assistant", ""),
            *(("thinking", "hm", "", "", False), ("text", "plain", "", "", False), ("text", "more", "", "", False)),
        ),
        ("user", "", ("image", "image/png", "", "", False)),
        ("assistant", "", ("call", "", "f", "1", False)),
        ("user", "", ("result", '{"a": 1}', "f", "1", False)),
        ("user", "context", ("text", "<hook_context>x</hoo", "", "", False)),
    ]


def test_subagents_and_other_homes(tmp_path):
    folder = tmp_path / "mine" / ".gemini" / "tmp" / "p" / "chats" / ID
    folder.mkdir(parents=True)
    (folder.parent.parent / ".project_root").write_text("/home/me/p\n", encoding="utf-8")
    about = {"sessionId": "sub-1", "projectHash": "0", "kind": "subagent"}
    (folder / "sub-1.jsonl").write_bytes(dumped([about, {"id": "m", "type": "user", "content": "Go"}]))
    found = only("/nowhere", {"GEMINI_CLI_HOME": str(tmp_path / "mine")})
    summary = reader.summarize(found)
    assert (summary.id, summary.kind, summary.parent, summary.cwd, summary.title) == (
        "sub-1",
        "subagent",
        ID,
        "/home/me/p",
        "Go",
    )
    assert resume_command(summary) == ("gemini", "--resume", ID)


DOCUMENT = {
    "sessionId": "cccc1111-2222",
    "projectHash": "0",
    "startTime": "2025-10-01T10:00:00.000Z",
    "lastUpdated": "2025-10-01T10:05:00.000Z",
    "messages": [
        {"id": "m1", "timestamp": "2025-10-01T10:00:01.000Z", "type": "user", "content": "Read ünï"},
        {
            "id": "m2",
            "type": "gemini",
            "content": "Done.",
            "model": "gemini-2.5-pro",
            "toolCalls": [
                {"id": "c1", "name": "read_file", "args": {}, "status": "cancelled", "result": [{"text": "no"}]},
                {"id": "c2", "name": "glob", "args": {}, "result": None},
                "nonsense",
            ],
        },
        {"id": "m3", "type": "user", "content": "More"},
    ],
}


def document(tmp_path, text):
    project = tmp_path / ".gemini" / "tmp" / hashlib.sha256(b"/home/me/old").hexdigest()
    (project / "chats").mkdir(parents=True)
    known = {"projects": {"/home/me/project": "project", "/home/me/old": "old"}}
    (tmp_path / ".gemini" / "projects.json").write_text(json.dumps(known), encoding="utf-8")
    (project / "chats" / "session-2025-10-01T10-00-cccc1111.json").write_text(text, encoding="utf-8")
    return only(tmp_path)


@pytest.mark.parametrize("indent", [None, 2])
def test_documents_of_older_versions(tmp_path, indent):
    found = document(tmp_path, json.dumps(DOCUMENT, indent=indent, ensure_ascii=False))
    summary = reader.summarize(found)
    assert found.id == "cccc1111-2222"
    assert summary == found._replace(
        cwd="/home/me/old",
        title="Read ünï",
        started=1759312800.0,
        changed=1759313100.0,
        model="gemini-2.5-pro",
    )
    read = list(reader.read_messages(summary))
    assert [shown(one) for one in read] == [
        ("user", "", ("text", "Read ünï", "", "", False)),
        (
            *("assistant", ""),
            ("call", "", "read_file", "c1", False),
            ("result", "no", "read_file", "c1", True),
            ("call", "", "glob", "c2", False),
            ("text", "Done.", "", "", False),
        ),
        ("user", "", ("text", "More", "", "", False)),
    ]
    assert [(one.start, one.end) for one in read] == [(0, 1), (1, 2), (2, 3)]
    assert list(reader.read_messages(summary, 1)) == read[1:]


def test_a_document_torn_anywhere(tmp_path):
    """Every message that is whole is read; the tear is named."""
    text = json.dumps(DOCUMENT, ensure_ascii=False)
    found = document(tmp_path, text)
    ends = [text.index(mark) + len(mark) for mark in ('"Read ünï"}', '"nonsense"]}', '"More"}')]
    for cut in range(1, len(text), 7):
        with open(found.path, "w", encoding="utf-8") as file:
            file.write(text[:cut])
        findings = []
        read = [one.id for one in reader.read_messages(found, 0, findings)]
        assert read == [f"m{n}" for n, end in enumerate(ends, 1) if end <= cut], cut
        assert [one.code for one in findings] == ["record-torn"]


def test_nothing_is_there(tmp_path):
    assert list(reader.find_sessions(Homes(str(tmp_path), {}))) == []
    gone = StoredSession("gemini-cli", "x", str(tmp_path / "tmp" / "p" / "chats" / FILE))
    assert reader.summarize(gone) == gone
