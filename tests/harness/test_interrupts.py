"""Eight harness processes on one project, killed at random and gone on with: nothing acknowledged is lost."""

import json
import os
import random
import selectors
import signal
import subprocess
import sys
import time
import uuid

import pytest

from foretold import memory
from foretold.files.history.recorded import find_session
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.model import Homes
from foretold.sessions.resumption.claude import resume
from foretold.sessions.transcript.writer import transcript_path

from . import worker

WORKERS = 8
TURNS = 3
PATIENCE = 90  # seconds; a machine that takes longer is not slow, something hangs


class Crew:
    """The processes of a run, and what they acknowledged."""

    def __init__(self, place, seed):
        self.place, self.mark = place, uuid.uuid4().hex
        self.sessions = [str(uuid.UUID(int=seed * 100 + number)) for number in range(WORKERS)]
        self.acknowledged = {number: {} for number in range(WORKERS)}
        self.chooser, self.running = random.Random(seed), {}
        self.choosing = selectors.DefaultSelector()
        os.mkfifo(place.path("proj/fifo"))
        self.fifo = os.open(place.path("proj/fifo"), os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self.choosing.register(self.fifo, selectors.EVENT_READ)

    def start(self, number, hang=-1):
        """Let a worker do all turns that it has not acknowledged."""
        first = max(self.acknowledged[number], default=-1) + 1
        words = [self.place.proj, self.place.home, self.sessions[number], number, first, TURNS - 1, hang]
        source = os.path.dirname(os.path.dirname(os.path.abspath(sys.modules["foretold"].__file__)))
        env = {"PATH": os.environ["PATH"], "HOME": self.place.home, "PYTHONPATH": source, "MARK": self.mark}
        argv = [sys.executable, worker.__file__, *map(str, words)]
        process = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.running[number] = process
        self.choosing.register(process.stdout, selectors.EVENT_READ, number)

    def events(self):
        """Acknowledgements of workers, and signs of commands that hang, until all have ended."""
        until = time.monotonic() + PATIENCE
        while self.running:
            assert time.monotonic() < until, "the workers hang"
            for key, _ in self.choosing.select(1):
                if key.fileobj == self.fifo:
                    yield from (("hangs", int(word)) for word in os.read(self.fifo, 4096).split())
                elif line := key.fileobj.readline():
                    self._note(json.loads(line))
                    yield "acknowledged", key.data
                elif key.data in self.running:
                    self._ended(key.data)
                    yield "ended", key.data

    def _note(self, said):
        self.acknowledged[said["worker"]][said["turn"]] = said

    def _ended(self, number):
        process = self.running.pop(number)
        self.choosing.unregister(process.stdout)
        wrong = process.stderr.read().decode()
        process.stdout.close()
        process.stderr.close()
        assert (process.wait(), wrong) == (0, "")

    def kill(self, number):
        """Kill a worker where it is; what it had acknowledged before counts."""
        process = self.running.pop(number)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.choosing.unregister(process.stdout)
        for line in process.stdout.read().splitlines():
            self._note(json.loads(line))
        process.stdout.close()
        process.stderr.close()

    def close(self):
        for number in list(self.running):
            self.kill(number)
        os.close(self.fifo)
        self.choosing.close()

    def left_over(self):
        """Processes that have our mark in their environment, after a little patience."""
        for _ in range(100):
            found = [pid for pid in os.listdir("/proc") if pid.isdigit() and self._is_ours(pid)]
            if not found:
                break
            time.sleep(0.05)
        return found

    def _is_ours(self, pid):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return self.mark.encode() in file.read()
        except OSError:
            return False


def run(crew):
    """Kill half of the workers after so many acknowledgements, the others while a command of theirs runs."""
    plans = {number: crew.chooser.randrange(TURNS) for number in range(WORKERS)}
    killed = set()
    for number in range(WORKERS):
        crew.start(number, hang=plans[number] if number % 2 else -1)
        if number % 2 == 0 and plans[number] == 0:
            killed.add(number)  # before it has said anything
            crew.kill(number)
            crew.start(number)
    for kind, number in crew.events():
        is_time = kind == "hangs" or (
            kind == "acknowledged" and number % 2 == 0 and len(crew.acknowledged[number]) == plans[number]
        )
        if is_time and number not in killed and number in crew.running:
            killed.add(number)
            crew.kill(number)
            if len(crew.acknowledged[number]) < TURNS:
                crew.start(number)
    return killed


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are found by /proc")
@pytest.mark.parametrize("seed", [7])
def test_nothing_acknowledged_is_lost(place, seed):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.git("init -q -b main")
    crew = Crew(place, seed)
    try:
        killed = run(crew)
    finally:
        crew.close()
    assert len(killed) == WORKERS
    assert crew.left_over() == []
    assert {number: sorted(said) for number, said in crew.acknowledged.items()} == {
        number: list(range(TURNS)) for number in range(WORKERS)
    }
    homes = Homes(place.home, {})
    for number, session in enumerate(crew.sessions):
        whole_transcript(crew, number, transcript_path(place.proj, session, homes))
        assert find_session(homes, session).snapshots
        with open(place.path(f"proj/w{number}.txt"), encoding="utf-8") as file:
            assert file.read() == f"{TURNS - 1}\n"
    whole_memories(place, crew)


def whole_transcript(crew, number, path):
    """Every acknowledged turn is in it, from the prompt to the answer, and the agent would resume it."""
    findings = []
    records = [record.value for record in records_of(path, findings=findings)]
    assert findings == []
    assert not os.path.exists(path + ".torn") or os.path.getsize(path + ".torn")
    prompts = {record["uuid"]: record["message"]["content"] for record in records if "promptSource" in record}
    spoken = [record["message"]["content"][0].get("text") for record in records if record["type"] == "assistant"]
    for turn, said in crew.acknowledged[number].items():
        assert prompts[said["id"]] == f"Turn {turn} of worker {number}: go on."
        assert said["text"] in spoken
    found = resume(path, version="2.1.325")
    assert (found.error, found.findings, found.dropped) == ("", (), ())
    calls = {block["id"] for message in found.messages for block in blocks(message, "tool_use")}
    results = {block["tool_use_id"] for message in found.messages for block in blocks(message, "tool_result")}
    assert calls == results


def blocks(message, kind):
    content = message["content"]
    return [block for block in content if block.get("type") == kind] if isinstance(content, list) else []


def whole_memories(place, crew):
    """Every memory of an acknowledged turn is whole, and the store takes another one."""
    store = memory.open(place.proj, agent="claude-code@2.1.325", home=place.home, env={})
    names = {f"w{number}-t{turn}" for number, said in crew.acknowledged.items() for turn in said}
    found = {each.name: each.body for each in store.memories()}
    assert {name: found.get(name) for name in names} == {name: f"Fact of {name}." for name in names}
    assert store.create("After", type="project", description="after all", body="Still here.").name == "after"
    assert len(store.recall("What did w3-t2 learn?").hits) > 0
