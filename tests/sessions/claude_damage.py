"""Transcripts of Claude Code, made by chance and then damaged: the same seed gives the same bytes."""

import json
import random
import uuid

from . import house

SESSION = house.name_of(1)


def moment_of(milliseconds):
    seconds, rest = divmod(milliseconds, 1000)
    return f"2026-01-02T{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}Z"


class Talk:
    """Prompts, attachments, answers of several blocks, tools side by side, compactions, sidechains, rewinds."""

    def __init__(self, chance):
        self.chance, self.records, self.clock, self.last = chance, [], 3_000_000, None
        for turn in range(chance.randint(1, 6)):
            self.turn(turn)

    def new_id(self):
        return str(uuid.UUID(int=self.chance.getrandbits(128), version=4))

    def often(self, part):
        return self.chance.random() < part

    def put(self, kind, parent, **fields):
        self.clock += self.chance.choice([0, 1, 300, 900, 2000, 4000, 7000])
        record = {"parentUuid": parent, "isSidechain": False, "type": kind, "uuid": self.new_id()}
        record |= {"timestamp": moment_of(self.clock), "sessionId": SESSION, "version": "2.1.325", **fields}
        self.records.append(record)
        return record["uuid"]

    def say(self, content, parent, **fields):
        return self.put("user", parent, message={"role": "user", "content": content}, **fields)

    def answer(self, name, block):
        message = {"role": "assistant", "model": "claude-opus-4-8", "content": [block]}
        self.last = self.put("assistant", self.last, message={**message, **({"id": name} if name else {})})

    def turn(self, turn):
        if turn and self.often(0.2):
            self.compact()
        self.last = self.say(f"prompt {turn}", self.last)
        if self.often(0.5):
            self.last = self.put("attachment", self.last, attachment={"type": "x"})
        for step in range(self.chance.randint(0, 3)):
            self.use_tools(turn, step)
        if self.often(0.9):
            self.answer(f"msg_{turn}_end", {"type": "text", "text": f"answer {turn}"})
        if self.often(0.2):
            self.last = self.put("system", self.last, subtype="turn_duration")
        if self.often(0.3):
            self.records.append({"type": "last-prompt", "leafUuid": self.last, "sessionId": SESSION})
        if self.often(0.15):
            self.last = self.chance.choice([record["uuid"] for record in self.records if "uuid" in record])

    def use_tools(self, turn, step):
        name = f"msg_{turn}_{step}" if self.often(0.9) else None
        if self.often(0.5):
            self.answer(name, {"type": "thinking", "thinking": "t", "signature": "s"})
        if self.often(0.5):
            self.answer(name, {"type": "text", "text": f"text {turn} {step}"})
        calls = []
        for number in range(self.chance.randint(1, 3)):
            call = f"toolu_{turn}_{step}_{number}"
            self.answer(name, {"type": "tool_use", "id": call, "name": "Read", "input": {}})
            calls.append((call, self.last))
            if self.often(0.2):
                self.last = self.put("attachment", self.last, attachment={"type": "y"})
        self.chance.shuffle(calls)
        for call, owner in calls:
            if self.often(0.95):
                result = {"type": "tool_result", "tool_use_id": call, "content": "r"}
                self.last = self.say([result], owner if self.often(0.8) else self.last)
                if self.often(0.3):
                    self.last = self.put("attachment", self.last, attachment={"type": "z"})
        if self.often(0.15):
            self.say("sub", None, isSidechain=True)

    def compact(self):
        said = [record["uuid"] for record in self.records if record["type"] in ("user", "assistant")]
        boundary = self.put("system", None, subtype="compact_boundary", logicalParentUuid=self.last)
        fields = self.records[-1]
        is_first = not any("compactMetadata" in record for record in self.records)
        self.last = self.say("summary", boundary, isCompactSummary=True)
        kept = said[-self.chance.randint(1, 3) :]
        if is_first and self.often(0.25):
            fields["compactMetadata"] = {"preservedMessages": {"anchorUuid": self.last, "uuids": kept}}
        elif is_first and self.often(0.3):
            ends = {"headUuid": kept[0], "tailUuid": kept[-1]}
            fields["compactMetadata"] = {"preservedSegment": {"anchorUuid": self.last, **ends}}


def changed(chance, records):
    """Records that were dropped, doubled, moved, or have another field."""
    names = [record["uuid"] for record in records if "uuid" in record]
    for _ in range(chance.randint(0, 5)):
        at, some, time = chance.randrange(len(records)), chance.choice(names), chance.randint(2_980_000, 3_069_000)
        record = records[at]
        fields = [
            {"parentUuid": some},
            {"parentUuid": None},
            {"parentUuid": str(uuid.UUID(int=chance.getrandbits(128)))},
            {"timestamp": moment_of(time)},
            {"timestamp": "soon"},
            {"message": None},
            {"uuid": some},
            {"uuid": None},
            {"isSidechain": True},
        ]
        way = chance.randrange(len(fields) + 4)
        if way < len(fields):
            records[at] = {**record, **fields[way]}
        elif way == len(fields) and len(records) > 2:
            del records[at]
        elif way == len(fields) + 1:
            records.insert(chance.randint(0, len(records)), dict(record))
        elif way == len(fields) + 2:
            records.insert(chance.randint(0, len(records) - 1), records.pop(at))
        else:
            records.append({"type": "last-prompt", "leafUuid": some})
    return records


def damaged(seed):
    """The bytes of a transcript: records changed, lines glued, cut, filled with what is no record."""
    chance = random.Random(seed)
    lines = [json.dumps(record).encode() + b"\n" for record in changed(chance, Talk(chance).records)]
    for _ in range(chance.choice([0, 0, 1, 2])):
        at = chance.randrange(len(lines))
        lines[at] = chance.choice(
            [
                lines[at].rstrip(b"\n"),
                lines[at][: chance.randint(1, len(lines[at]))],
                b"\0" * 9 + lines[at],
                lines[at].rstrip(b"\n") + b"\0" * 9 + b"\n",
                chance.choice([b"null\n", b"[1]\n", b"3\n", b"\n", b"xx\n"]) + lines[at],
                lines[at].replace(b"prompt", b"prom\xff"),
                b"\xef\xbb\xbf" + lines[at],
            ]
        )
    data = b"".join(lines)
    return data[: chance.randint(1, len(data))] if chance.random() < 0.15 else data
