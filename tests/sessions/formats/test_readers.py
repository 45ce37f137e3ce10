"""Whatever stands in a file, no reader raises: what can be read is read."""

import json
import os
import random
import sqlite3

import pytest

from foretold.sessions.formats.codex import reader as codex
from foretold.sessions.formats.gemini import reader as gemini
from foretold.sessions.formats.opencode import reader as opencode
from foretold.sessions.model import Homes, StoredSession
from foretold.sessions.resumption.codex import resume_codex

FIXTURES = os.path.join(os.path.dirname(__file__), "..", "fixtures")
VALUES = (None, 1, 1.5, True, "x", [], {}, [1], {"type": "text"}, [[]], "2026-01-01T00:00:00Z", -1, 10**30)
DEEP = "[" * 900 + "]" * 900


def scrambled(value, chance, dice):
    """A value in which some have been replaced by others."""
    if dice.random() < chance:
        return dice.choice(VALUES)
    if isinstance(value, dict):
        return {name: scrambled(inner, chance, dice) for name, inner in value.items()}
    if isinstance(value, list):
        return [scrambled(inner, chance, dice) for inner in value]
    return value


def flipped(data, dice):
    """Bytes of which some are others, some are gone, and some lines stand elsewhere."""
    lines = data.split(b"\n")
    dice.shuffle(lines)
    data = bytearray(b"\n".join(lines))
    for _ in range(20):
        data[dice.randrange(len(data))] = dice.randrange(256)
        start = dice.randrange(len(data))
        del data[start : start + dice.randrange(50)]
    return bytes(data)


def read_all(reader, stored):
    findings = []
    reader.summarize(stored)
    read = list(reader.read_messages(stored, 0, findings))
    for one in read[:: max(1, len(read) // 4)]:
        list(reader.read_messages(stored, one.end, findings))
    return [one.text for one in read]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(
    ("reader", "name"),
    [(codex, "codex/rollout.jsonl"), (gemini, "gemini/session-2026-11-16T03-46-aaaabbbb.jsonl")],
)
def test_lines(tmp_path, reader, name, seed):
    dice = random.Random(seed)
    with open(os.path.join(FIXTURES, name), "rb") as file:
        data = file.read()
    if seed % 2:
        data = flipped(data, dice)
    else:
        values = [scrambled(json.loads(line), 0.03, dice) for line in data.splitlines()]
        data = "\n".join(map(json.dumps, values)).encode()
    path = tmp_path / os.path.basename(name)
    path.write_bytes(data)
    read_all(reader, StoredSession(reader.AGENT, "x", str(path)))
    if reader is codex:
        resume_codex(str(path), "And now?")


@pytest.mark.parametrize("seed", range(20))
def test_rows(tmp_path, seed):
    dice = random.Random(seed)
    (tmp_path / "opencode").mkdir()
    path = tmp_path / "opencode" / "opencode.db"
    connection = sqlite3.connect(path)
    with open(os.path.join(FIXTURES, "opencode", "sample.sql"), encoding="utf-8") as file:
        connection.executescript(file.read())
    for table in ("message", "part"):
        for name, data in connection.execute(f"SELECT id, data FROM {table}").fetchall():
            changed = json.dumps(scrambled(json.loads(data), 0.1, dice))
            connection.execute(f"UPDATE {table} SET data = ? WHERE id = ?", (changed, name))
    connection.execute("UPDATE session SET title = ?, model = ?", (dice.choice([b"\xff", 1, "t"]), "[]"))
    connection.commit()
    connection.close()
    if seed % 2:
        data = bytearray(path.read_bytes())
        for _ in range(30):
            data[dice.randrange(len(data))] = dice.randrange(256)
        path.write_bytes(data)
    for stored in opencode.find_sessions(Homes("/nowhere", {"XDG_DATA_HOME": str(tmp_path)})):
        read_all(opencode, stored)


def test_deep_values(tmp_path):
    item = {"type": "function_call_output", "call_id": "c", "output": "DEEP"}
    path = tmp_path / "rollout.jsonl"
    path.write_text(json.dumps({"type": "response_item", "payload": item}).replace('"DEEP"', DEEP), encoding="utf-8")
    assert len(read_all(codex, StoredSession("codex", "x", str(path)))) == 1
    resume_codex(str(path))
    answer = {"functionResponse": {"id": "1", "name": "f", "response": {"output": "DEEP"}}}
    path = tmp_path / "session-1-a.jsonl"
    text = json.dumps({"id": "m", "type": "user", "content": [answer]}).replace('"DEEP"', DEEP)
    path.write_text(text, encoding="utf-8")
    assert len(read_all(gemini, StoredSession("gemini-cli", "x", str(path)))) == 1
