"""Generated transcripts for the tests of search: Claude Code's and Codex's files, a subagent, odd letters, escapes."""

import json
import os
import random
import uuid
from datetime import UTC

from foretold.sessions.model import Homes

WORDS = "the of pool size max build error fix parse http cache naïve Größe привет 制表 使用 tabs_4 K ſo İt".split()
MOMENT = 1_767_000_000


def name_of(number):
    return str(uuid.UUID(int=number << 96 | 0x4000_8000_0000_0000_0000 | number))


def stamp(seconds):
    from datetime import datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def record(number, role, content, seconds, **fields):
    """A record of Claude Code."""
    message = {"role": role, "content": content}
    head = {"type": role, "uuid": name_of(number), "timestamp": stamp(seconds), "cwd": "/home/ada/one"}
    return {**head, "message": message, **fields}


def call(name, tool, **given):
    return [{"type": "tool_use", "id": name, "name": tool, "input": given}]


def result(name, text):
    return [{"type": "tool_result", "tool_use_id": name, "content": text}]


def write(home, number, records, project="one", ascii_only=False):
    """A session of Claude Code, with the age of its last record."""
    return _put(f"{home}/.claude/projects/-home-ada-{project}/{name_of(number)}.jsonl", records, ascii_only=ascii_only)


def _put(path, records, *, ascii_only=False):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(each, ensure_ascii=ascii_only) + "\n" for each in records)
    age(path, records)
    return path


def age(path, records):
    from datetime import datetime

    newest = max(datetime.fromisoformat(each["timestamp"]).timestamp() for each in records)
    os.utime(path, (newest, newest))


def home_of(folder, *, sessions=8, seed=1):
    """A home with generated sessions of two agents and a subagent."""
    chance = random.Random(seed)

    def text(count):
        return " ".join(chance.choice(WORDS[: chance.randint(2, len(WORDS))]) for _ in range(count))

    home = str(folder)
    for number in range(1, sessions + 1):
        begun = MOMENT + number * 5000
        if number % 4 == 0:
            _codex(home, number, begun, text)
            continue
        records = _talk(number, begun, text, chance)
        write(home, number, records, project=f"p{number % 3}", ascii_only=number % 2 == 0)
    helper = f"{home}/.claude/projects/-home-ada-p1/{name_of(1)}/subagents/agent-a1.jsonl"
    _put(helper, [record(900, "assistant", [{"type": "text", "text": "the pool of a helper"}], MOMENT + 7000)])
    return Homes(home, {})


def _talk(number, begun, text, chance):
    records = []
    for turn in range(20):
        at = begun + turn * 60
        key = number * 1000 + turn * 4
        cwd = {"cwd": f"/home/ada/p{number % 3}", "sessionId": name_of(number)}
        tool = chance.choice(("Bash", "Read"))
        records += [
            record(key, "user", text(6), at, **cwd),
            record(key + 1, "assistant", call(f"toolu_{key}", tool, command=text(3)), at + 1, **cwd),
            record(key + 2, "user", result(f"toolu_{key}", text(30)), at + 2, **cwd),
            record(key + 3, "assistant", [{"type": "text", "text": text(12)}], at + 3, **cwd),
        ]
    return records


def _codex(home, number, begun, text):
    def item(at, payload):
        return {"timestamp": stamp(at), "type": "response_item", "payload": payload}

    meta = {"id": name_of(number), "timestamp": stamp(begun), "cwd": "/home/ada/two", "cli_version": "0.166.0"}
    records = [{"timestamp": stamp(begun), "type": "session_meta", "payload": meta}]
    for turn in range(10):
        said = [{"type": "input_text", "text": text(8)}]
        records.append(item(begun + turn * 60, {"type": "message", "role": "user", "content": said}))
    _put(f"{home}/.codex/sessions/2026/01/02/rollout-2026-01-02T10-00-00-{name_of(number)}.jsonl", records)
