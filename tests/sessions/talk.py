"""Small conversations in Claude Code's format, written by hand: what each test needs and no more."""

import json
import os
import uuid

CWD = "/home/me/project"


class Talk:
    """Records of one session, chained."""

    def __init__(self, session="11111111-2222-4333-8444-555555555555", cwd=CWD, version="2.1.325"):
        self.session, self.cwd, self.version = session, cwd, version
        self.records, self.last, self.clock = [], None, 0

    def _moment(self):
        self.clock += 1
        return f"2026-03-01T10:{self.clock // 60:02}:{self.clock % 60:02}.000Z"

    def add(self, kind, **fields):
        """A chained record."""
        record = {
            "parentUuid": self.last,
            "isSidechain": False,
            "type": kind,
            "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.session} {len(self.records)}")),
            "timestamp": self._moment(),
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": "main",
            **fields,
        }
        self.last = record["uuid"]
        self.records.append(record)
        return self

    def user(self, text):
        return self.add("user", message={"role": "user", "content": text})

    def says(self, text):
        return self._assistant({"type": "text", "text": text})

    def calls(self, tool, name="toolu_1", **given):
        return self._assistant({"type": "tool_use", "id": name, "name": tool, "input": given})

    def _assistant(self, block):
        message = {
            "role": "assistant",
            "id": f"msg_{len(self.records)}",
            "model": "claude-opus-5-5",
            "content": [block],
        }
        return self.add("assistant", message=message)

    def result(self, text, name="toolu_1", *, failed=False):
        block = {"type": "tool_result", "tool_use_id": name, "content": text}
        if failed:
            block["is_error"] = True
        return self.add("user", message={"role": "user", "content": [block]})

    def attaches(self, **attachment):
        return self.add("attachment", attachment=attachment)

    def compacts(self, summary="A summary."):
        self.last = None
        self.add("system", subtype="compact_boundary", compactMetadata={"trigger": "manual"})
        return self.add("user", message={"role": "user", "content": summary}, isCompactSummary=True)

    def plain(self, **record):
        """A record outside of the chain."""
        self.records.append({**record, "sessionId": self.session})
        return self

    @property
    def text(self):
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in self.records)

    def write(self, home, slug="-home-me-project"):
        """The file in a home folder; its path."""
        path = os.path.join(home, ".claude", "projects", slug, f"{self.session}.jsonl")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)
        return path

    def write_alone(self, home):
        """The file in a folder of its own, as the notes on Claude Code describe it; its path."""
        path = os.path.join(home, ".claude", "sessions", self.session, "transcript.jsonl")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)
        return path
