"""A home with sessions in it, for the tests of what keeps, mends and moves them: small files of our own making."""

import json
import os
import uuid

from foretold.sessions.model import Homes, StoredSession

MOMENT = 1_700_000_000  #: when everything here was last written


def name_of(number):
    """The id of a session."""
    return str(uuid.UUID(int=number << 96 | 0x4000_8000_0000_0000_0000 | number))


def said(session, number, parent, role="user", text="", **fields):
    """A record of Claude Code."""
    content = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "type": role,
        "message": {"role": role, "content": content},
        "uuid": name_of(number),
        "timestamp": f"2026-01-02T03:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "cwd": "/p",
        "sessionId": session,
        "version": "2.1.325",
        **fields,
    }


def talk(session, turns, start=100, **fields):
    """A conversation: a prompt and an answer a turn, each record following the one before."""
    records, parent = [], None
    for turn in range(turns):
        for at, role in enumerate(("user", "assistant")):
            record = said(session, start + 2 * turn + at, parent, role, f"{role} {turn} {'word ' * 20}", **fields)
            records.append(record)
            parent = record["uuid"]
    return records


def lines(records):
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def write(path, data, mode=0o600, changed=MOMENT):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)
    os.utime(path, ns=(changed * 10**9 + 123, changed * 10**9 + 123))
    return path


def claude_session(home, number=1, turns=3, project="-p", cwd="/p", changed=MOMENT):
    """A session of Claude Code with a subagent, a tool result, two backups of files, a todo and a log."""
    session = name_of(number)
    root = f"{home}/.claude"
    beside = f"{root}/projects/{project}/{session}"
    write(f"{beside}.jsonl", lines(talk(session, turns, cwd=cwd)), changed=changed)
    write(f"{beside}/subagents/agent-a1.jsonl", lines(talk(session, 1, 500, isSidechain=True)), changed=changed)
    write(f"{beside}/subagents/agent-a1.meta.json", b'{"agentType":"Explore"}', changed=changed)
    write(f"{beside}/tool-results/t1.txt", b"result " * 100, changed=changed)
    write(f"{root}/file-history/{session}/0123456789abcdef@v1", b"old text\n", 0o755, changed)
    write(f"{root}/file-history/{session}/0123456789abcdef@v2", b"", 0o644, changed)
    write(f"{root}/todos/{session}-agent-{session}.json", b"[]", changed=changed)
    write(f"{root}/debug/{session}.txt", b"log\n", changed=changed)
    return StoredSession("claude-code", session, f"{beside}.jsonl", cwd=cwd, changed=float(changed))


def small_session(home, number=1, turns=1):
    """A session that is one file."""
    session = name_of(number)
    path = write(f"{home}/.claude/projects/-p/{session}.jsonl", lines(talk(session, turns)))
    return StoredSession("claude-code", session, path, cwd="/p", changed=float(MOMENT))


def homes(home):
    return Homes(str(home), {})


def read(path):
    with open(path, "rb") as file:
        return file.read()


def tree(folder):
    """Every path below a folder: its bytes, mode and time; of a folder its mode and time."""
    found = {}
    for base, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(base, name)
            status = os.lstat(path)
            found[os.path.relpath(path, folder)] = (
                read(path) if name in files else None,
                status.st_mode,
                status.st_mtime_ns,
            )
    return found


def files(folder):
    """Only the files of a tree."""
    return {path: facts for path, facts in tree(folder).items() if facts[0] is not None}
