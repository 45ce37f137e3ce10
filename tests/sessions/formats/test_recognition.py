"""Transcripts are recognized by what is in them, wherever they are and whatever they are called."""

import json
import os
import shutil
import sqlite3

import pytest

from foretold.errors import NoSuchSession, SessionFailed
from foretold.sessions.catalog import find_session, messages_of
from foretold.sessions.formats.recognition import HEAD, recognize_transcript
from foretold.sessions.model import Homes

from ..talk import Talk

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures")
SESSION = "11111111-2222-4333-8444-555555555555"
EXPORT = {
    "info": {
        "id": "ses_9",
        "title": "Fix it",
        "directory": "/home/me/shop",
        "time": {"created": 1000, "updated": 2000},
    },
    "messages": [
        {
            "info": {"id": "msg_1", "role": "user", "sessionID": "ses_9", "time": {"created": 1000}},
            "parts": [{"id": "prt_1", "type": "text", "text": "Fix it"}],
        },
        {
            "info": {"id": "msg_2", "role": "assistant", "time": {"created": 2000, "completed": 2500}},
            "parts": [{"id": "prt_2", "type": "text", "text": "Fixed."}],
        },
    ],
}


def talk():
    return Talk(SESSION).user("Why does it fail?").says("The key is wrong.")


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def said(stored):
    return [message.text for message in messages_of(stored) if message.text and not message.kind]


def test_claude_code(place):
    path = place.write("away/talk.txt", lines(talk().records))
    stored = recognize_transcript(path)
    assert (stored.agent, stored.id, stored.path, stored.kind) == ("claude-code", SESSION, path, "main")
    assert said(stored) == ["Why does it fail?", "The key is wrong."]


def test_a_subagent_of_claude_code(place):
    records = [{**record, "isSidechain": True, "agentId": "a1"} for record in talk().records]
    stored = recognize_transcript(place.write("away/x.jsonl", lines(records)))
    assert (stored.id, stored.kind, stored.parent) == ("agent-a1", "subagent", SESSION)


def test_codex(place):
    path = place.path("rollout.log")
    shutil.copy(os.path.join(FIXTURES, "codex", "rollout.jsonl"), path)
    stored = recognize_transcript(path)
    assert (stored.agent, stored.id) == ("codex", "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee")
    assert said(stored)


def test_gemini(place):
    path = place.path("chat")
    shutil.copy(os.path.join(FIXTURES, "gemini", "session-2026-11-16T03-46-aaaabbbb.jsonl"), path)
    stored = recognize_transcript(path)
    assert stored.agent == "gemini-cli"
    assert any("a.txt" in text for text in said(stored))


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_that_opencode_exported(place, indent):
    stored = recognize_transcript(place.write("out.json", json.dumps(EXPORT, indent=indent)))
    assert (stored.agent, stored.id, said(stored)) == ("opencode", "ses_9", ["Fix it", "Fixed."])
    summary = find_session(Homes(place.home, {}), place.path("out.json"), files=True)
    assert (summary.title, summary.cwd) == ("Fix it", "/home/me/shop")
    with pytest.raises(SessionFailed, match=r"a name that ends with \.json"):
        recognize_transcript(place.write("out.txt", json.dumps(EXPORT, indent=indent)))


def test_a_database_of_opencode(place):
    path = place.path("copy.sqlite")
    with (
        open(os.path.join(FIXTURES, "opencode", "sample.sql"), encoding="utf-8") as file,
        sqlite3.connect(path) as base,
    ):
        base.executescript(file.read())
    with pytest.raises(NoSuchSession, match="has 3 sessions; name one as FILE#ID: ses_"):
        recognize_transcript(path)
    assert recognize_transcript(f"{path}#ses_1").id == "ses_1"
    with pytest.raises(NoSuchSession, match="has no session 'ses_none'"):
        recognize_transcript(f"{path}#ses_none")


def test_a_first_record_that_is_longer_than_what_is_read(place):
    path = place.write("big.jsonl", lines(Talk(SESSION).user("x" * (2 * HEAD)).says("Too long.").records))
    stored = recognize_transcript(path)
    assert (stored.agent, stored.id, said(stored)[1]) == ("claude-code", SESSION, "Too long.")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"# Notes\n", "is not a transcript"),
        (b'{"a": 1}\n', "is not a transcript"),
        (b'{"type": "user", "message": "no"}\n' * 9, "is not a transcript"),
        (b"\x00\xff" * 5000, "is not a transcript"),
        (b"[" * 300_000, "is not a transcript"),
        (b'{"a":' * 100_000, "is not a transcript"),
        (b"SQLite format 3\0" + b"x" * 500, "is a database, but not one of opencode"),
        (b"\x28\xb5\x2f\xfd" + b"x" * 500, "is not a transcript"),
    ],
    ids=range(10),
)
def test_what_is_not_a_transcript(place, content, why):
    with pytest.raises((SessionFailed, NoSuchSession), match=why):
        recognize_transcript(place.write("thing", content))


def test_what_is_not_a_file(place):
    for path in (place.fifo("pipe"), "/dev/zero", place.proj):
        with pytest.raises(SessionFailed, match="cannot be read"):
            recognize_transcript(path)


def test_only_a_person_names_a_file_from_elsewhere(place):
    """A model may name sessions, not files of the machine."""
    path = place.write("away/talk.jsonl", lines(talk().records))
    homes = Homes(place.home, {})
    assert find_session(homes, path, files=True).title == "Why does it fail?"
    with pytest.raises(NoSuchSession):
        find_session(homes, path)
    with pytest.raises(NoSuchSession, match="is a transcript of claude-code, not of codex"):
        find_session(homes, path, agents=("codex",), files=True)


def test_a_session_may_be_called_like_a_file(place, monkeypatch):
    monkeypatch.chdir(place.proj)
    place.write("proj/notes.md", "# Notes\n")
    Talk(SESSION, cwd=place.proj).user("notes.md").says("Yes?").write(place.home, "-proj")
    assert find_session(Homes(place.home, {}), "notes.md", files=True).id == SESSION
