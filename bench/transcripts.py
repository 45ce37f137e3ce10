"""Transcripts as agents write them, made of chance: words distributed as in text, prompts, answers, code, tool calls.

1. Words follow Zipf's law: the n-th most frequent occurs with 1/n. The frequent ones are short. Beside words there is
   what transcripts are full of and no dictionary holds: numbers, paths, identifiers, hashes, ids.
2. Claude Code's records repeat a tool's output in `toolUseResult`; Codex's have one `payload` each.
3. The same seed gives the same bytes.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

VOCABULARY = 60_000
BATCH = 200_000
START = datetime(2026, 1, 1, tzinfo=UTC)
TOOLS = ("Bash", "Read", "Edit", "Grep", "Write")
COMMONEST = "the"


class Speech:
    """Words by Zipf's law, and texts of them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.vocabulary = vocabulary()
        self._weights = list(itertools.accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
        self._batch: list[str] = []
        self._at = 0

    def words(self, count: int) -> list[str]:
        if self._at + count > len(self._batch):
            self._batch = self.chance.choices(self.vocabulary, cum_weights=self._weights, k=max(BATCH, count))
            self._at = 0
        self._at += count
        return self._batch[self._at - count : self._at]

    def prose(self, count: int) -> str:
        """Sentences in paragraphs."""
        said = []
        words = self.words(count)
        for at in range(0, count, 13):
            sentence = " ".join(words[at : at + 13])
            said.append(sentence[:1].upper() + sentence[1:] + (".\n\n" if at % 65 == 52 else ". "))
        return "".join(said).strip()

    def code(self, lines: int) -> str:
        """Definitions and calls with names of several words."""
        made = []
        for at in range(lines):
            a, b, c, d, e = self.words(5)
            if at % 7 == 0:
                made.append(f"def {a}_{b}({c}: str, *, {d}={at}) -> {e.capitalize()}:\n")
            else:
                made.append(f'    {a}.{b}_{c} = {d}["{e}"] + {at * 37 % 1000}\n')
        return "".join(made)

    def log(self, lines: int) -> str:
        """What a tool prints: paths, numbers, hashes."""
        made = []
        for at in range(lines):
            a, b, c, d, e, f, g = self.words(7)
            number = self.chance.getrandbits(40)
            made.append(f"src/{a}/{b}.py:{at + 17}: {c} {d} ({number % 10_000} ms) {e} {f} {g}\n")
            if at % 9 == 0:
                made.append(f"commit {number:010x} {c}-{d}.{number % 97}\n")
        return "".join(made)

    def uuid(self) -> str:
        digits = f"{self.chance.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def vocabulary() -> list[str]:
    """Words from the commonest to the rarest; always the same."""
    chance = random.Random(1)
    heads = "b c d f g h k l m n p r s t v w st tr pl gr".split()
    tails = "a e i o u an en in on ar er or al el it es".split()
    found = dict.fromkeys("the of and to a in is it you that was for on are with as be at this have".split())
    while len(found) < VOCABULARY:
        syllables = 1 + (len(found) > 150) + (len(found) > 6000) + (chance.random() < 0.3)
        found["".join(chance.choice(heads) + chance.choice(tails) for _ in range(syllables))] = None
    return list(found)


def _stamp(number: int) -> str:
    return (START + timedelta(seconds=7 * number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def claude(speech: Speech, session: str, cwd: str, first: int) -> Iterator[bytes]:
    """Claude Code's lines, without end."""
    parent: str | None = None
    for turn in itertools.count():
        number = first + turn * 4
        shared = {"isSidechain": False, "userType": "external", "cwd": cwd, "sessionId": session, "version": "2.1.197"}

        def record(kind: str, at: int, more: dict[str, object], shared: dict[str, object] = shared) -> bytes:
            nonlocal parent
            uuid = speech.uuid()
            head = {"parentUuid": parent, "type": kind, "uuid": uuid, "timestamp": _stamp(at), **shared}
            parent = uuid
            return _dump({**head, "gitBranch": "main", **more})

        prompt = speech.prose(speech.chance.randint(8, 60))
        yield record("user", number, {"message": {"role": "user", "content": prompt}, "promptSource": "typed"})
        for _ in range(speech.chance.randint(1, 5)):
            yield from _exchange(speech, record, number)
        said = [{"type": "text", "text": speech.prose(speech.chance.randint(40, 300))}]
        yield record("assistant", number + 3, {"message": _answer(speech, said)})


def _exchange(speech: Speech, record, number: int) -> Iterator[bytes]:  # type: ignore[no-untyped-def]
    """A tool call and its result."""
    tool = speech.chance.choice(TOOLS)
    name = "toolu_" + speech.uuid().replace("-", "")[:24]
    a, b, c = speech.words(3)
    given: dict[str, object] = {
        "Bash": {"command": f"pytest -q tests/{a}/test_{b}.py -k {c}", "description": speech.prose(8)},
        "Grep": {"pattern": f"{a}_{b}", "path": f"/home/ada/{c}"},
        "Read": {"file_path": f"/home/ada/{a}/{b}.py"},
        "Edit": {"file_path": f"/home/ada/{a}/{b}.py", "old_string": speech.code(4), "new_string": speech.code(6)},
        "Write": {"file_path": f"/home/ada/{a}/{b}.py", "content": speech.code(40)},
    }[tool]
    call = [{"type": "tool_use", "id": name, "name": tool, "input": given}]
    yield record("assistant", number + 1, {"message": _answer(speech, call)})
    lines = speech.chance.randint(5, 90)
    printed = speech.log(lines) if tool in ("Bash", "Grep") else speech.code(lines)
    block = {"tool_use_id": name, "type": "tool_result", "content": printed, "is_error": False}
    result = {"stdout": printed, "stderr": "", "interrupted": False, "isImage": False}
    more = {"message": {"role": "user", "content": [block]}, "toolUseResult": result}
    yield record("user", number + 2, more)


def _answer(speech: Speech, content: list[dict[str, object]]) -> dict[str, object]:
    usage = {"input_tokens": 12, "cache_read_input_tokens": 48211, "output_tokens": speech.chance.randint(20, 900)}
    name = "msg_" + speech.uuid().replace("-", "")[:24]
    return {"id": name, "type": "message", "role": "assistant", "model": "claude-x", "content": content, "usage": usage}


def codex(speech: Speech, session: str, cwd: str, first: int) -> Iterator[bytes]:
    """Codex's lines, without end."""

    def record(kind: str, at: int, payload: dict[str, object]) -> bytes:
        return _dump({"timestamp": _stamp(at), "type": kind, "payload": payload})

    meta = {"id": session, "timestamp": _stamp(first), "cwd": cwd, "originator": "codex_exec", "cli_version": "0.166.0"}
    yield record("session_meta", first, meta)
    for turn in itertools.count():
        number = first + turn * 4
        asked = [{"type": "input_text", "text": speech.prose(speech.chance.randint(8, 60))}]
        yield record("response_item", number, {"type": "message", "role": "user", "content": asked})
        for _ in range(speech.chance.randint(1, 5)):
            name = "call_" + speech.uuid().replace("-", "")[:24]
            given = json.dumps({"cmd": f"rg {speech.words(1)[0]}", "workdir": cwd})
            called = {"type": "function_call", "name": "exec_command", "arguments": given, "call_id": name}
            yield record("response_item", number + 1, called)
            printed = speech.log(speech.chance.randint(5, 90))
            result = {"type": "function_call_output", "call_id": name, "output": printed}
            yield record("response_item", number + 2, result)
        said = [{"type": "output_text", "text": speech.prose(speech.chance.randint(40, 300))}]
        yield record("response_item", number + 3, {"type": "message", "role": "assistant", "content": said})


def write_home(home: str, size: int, *, sessions: int, seed: int = 7, projects: int = 8) -> list[str]:
    """A home folder with transcripts of two agents: the files, from the oldest to the newest."""
    speech = Speech(seed)
    found = []
    for number in range(sessions):
        session = speech.uuid()
        cwd = f"/home/ada/{speech.vocabulary[300 + number % projects]}"
        if number % 4 == 3:
            day = (START + timedelta(days=number)).strftime("%Y/%m/%d")
            path = f"{home}/.codex/sessions/{day}/rollout-{day.replace('/', '-')}T10-00-00-{session}.jsonl"
            lines = codex(speech, session, cwd, number * 4000)
        else:
            path = f"{home}/.claude/projects/{cwd.replace('/', '-')}/{session}.jsonl"
            lines = claude(speech, session, cwd, number * 4000)
        write_file(path, lines, size // sessions)
        stamp = (START + timedelta(seconds=7 * 4000 * (number + 1))).timestamp()
        os.utime(path, (stamp, stamp))
        found.append(path)
    return found


def write_file(path: str, lines: Iterator[bytes], size: int) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    left = size
    with open(path, "wb") as file:
        for line in lines:
            file.write(line)
            left -= len(line)
            if left <= 0:
                return
