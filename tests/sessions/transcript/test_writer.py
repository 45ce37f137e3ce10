from __future__ import annotations

import errno
import json
import os
import random
import signal
import stat
import subprocess
import sys

import pytest

from foretold.context.compaction.transcript import compaction_records
from foretold.errors import SessionFailed, StoreFailed
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.model import Homes
from foretold.sessions.resumption.claude import resume
from foretold.sessions.transcript.fork import fork
from foretold.sessions.transcript.writer import Transcript, new_session, transcript_path
from foretold.storage.append_log import AppendFile

FIELDS = ("userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch")
SAID = {"model": "claude-opus-4-8", "stop_reason": "end_turn"}


def text(words):
    return {"type": "text", "text": words}


def call(name):
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": name}}


def opened(tmp_path, name=None, **more):
    return Transcript(f"{tmp_path}/p/{name or new_session()}.jsonl", cwd="/home/me/app", sync=False, **more)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def values(path):
    findings = []
    found = [record.value for record in records_of(str(path), findings=findings)]
    assert findings == []
    return found


def test_records_are_chained_as_the_agent_chains_them(tmp_path):
    with opened(tmp_path, clock=lambda: 1794731806.184) as said:
        first = said.user("Run both")
        listing = said.attachment({"type": "skill_listing", "content": "- demo"})
        spoken, a, b = said.assistant({**SAID, "id": "m1", "content": [text("I will."), call("a"), call("b")]})
        after_b = said.tool_result("b", "b done", result={"stdout": "b done"})
        after_a = said.tool_result("a", "no", is_error=True)
        (end,) = said.assistant({**SAID, "id": "m2", "content": "Half of it."})
        said.title("both")
    found = values(said.path)
    assert [(one["uuid"], one["parentUuid"]) for one in found if "uuid" in one] == [
        (first, None),
        (listing, first),
        (spoken, listing),
        (a, spoken),
        (b, a),
        (after_b, b),
        (after_a, a),
        (end, after_a),
    ]
    assert [one["type"] for one in found][-2:] == ["custom-title", "last-prompt"]
    assert found[-1] == {"type": "last-prompt", "lastPrompt": "Run both", "leafUuid": end, "sessionId": said.session}
    assert found[2]["message"]["id"] == found[4]["message"]["id"] == "m1"
    common = {key: found[0][key] for key in ("timestamp", "cwd", "sessionId", "version", "gitBranch", "isSidechain")}
    assert common == {
        "timestamp": "2026-11-15T08:36:46.184Z",
        "cwd": "/home/me/app",
        "sessionId": said.session,
        "version": "2.1.197",
        "gitBranch": "HEAD",
        "isSidechain": False,
    }
    assert [message["role"] for message in resume(said.path).messages] == [
        "user",
        "system",
        "assistant",
        "user",
        "assistant",
    ]


def test_the_file_is_the_users_alone(tmp_path):
    umask = os.umask(0o022)
    try:
        with opened(tmp_path) as said:
            said.user("x")
    finally:
        os.umask(umask)
    assert stat.S_IMODE(os.stat(said.path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(said.path)).st_mode) == 0o755


def test_a_session_is_gone_on_with(tmp_path):
    with opened(tmp_path) as said:
        said.user("one")
        (waiting,) = said.assistant({**SAID, "content": [call("a")]})
    with opened(tmp_path, said.session) as again:
        assert again.leaf == waiting
        result = again.tool_result("a", "done")
        again.system("turn_duration", durationMs=5)
        again.snapshot({"messageId": result, "trackedFileBackups": {}, "timestamp": "2026-11-15T08:36:46.184Z"})
    found = {one.get("uuid"): one for one in values(again.path)}
    assert (found[result]["parentUuid"], found[result]["sourceToolAssistantUUID"]) == (waiting, waiting)
    assert [one["type"] for one in values(again.path)] == [
        "user",
        "assistant",
        "last-prompt",
        "user",
        "system",
        "file-history-snapshot",
    ]


def test_a_compaction_breaks_the_chain(tmp_path):
    with opened(tmp_path) as said:
        said.user("one")
        said.assistant({**SAID, "content": "two"})
        said.compact("It was said that one and two.", tokens=9)
        said.user("three")
    assert [message["content"] for message in resume(said.path).messages] == [
        [text("It was said that one and two.\n"), text("three")],
        [text("No response requested.")],
    ]


def test_a_torn_tail_is_put_aside_and_named_and_nothing_else(tmp_path):
    with opened(tmp_path) as said:
        said.user("one")
    whole = content(said.path)
    for torn in (b'{"type":"user","mess', b"\0" * 50, b"x" * 200_000):
        with open(said.path, "wb") as file:
            file.write(whole + torn)
        with opened(tmp_path, said.session) as again:
            assert [finding.code for finding in again.findings] == ["record-torn"]
            assert content(said.path) == whole
        assert content(said.path + ".torn") == torn + b"\n"
        os.unlink(said.path + ".torn")


def test_a_whole_record_without_its_end_is_no_damage(tmp_path):
    with opened(tmp_path) as said:
        said.user("one")
    with open(said.path, "ab") as file:
        file.write(b'{"type":"mode"}')
    with opened(tmp_path, said.session) as again:
        again.title("two")
    assert [one["type"] for one in values(said.path)] == ["user", "last-prompt", "mode", "custom-title"]
    assert not os.path.exists(said.path + ".torn")


def test_what_the_disk_did_not_take_whole_is_taken_back(tmp_path):
    path, sizes = f"{tmp_path}/f.jsonl", []

    def full(descriptor, data):
        sizes.append(len(data))
        if len(sizes) == 2:
            return os.write(descriptor, data[: len(data) // 2])
        if len(sizes) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.write(descriptor, data)

    file = AppendFile(path, sync=False, write=full)
    file.append(b'{"a":1}')
    for _ in range(2):
        with pytest.raises(StoreFailed, match="nothing was written"):
            file.append(b'{"b":"' + b"x" * 5000 + b'"}')
    file.append(b'{"c":3}')
    file.close()
    assert values(path) == [{"a": 1}, {"c": 3}]
    with pytest.raises(StoreFailed, match="is closed"):
        file.append(b"{}")


def test_a_record_is_one_write(tmp_path):
    calls = []

    def counted(descriptor, data):
        calls.append(bytes(data))
        return os.write(descriptor, data)

    file = AppendFile(f"{tmp_path}/f.jsonl", sync=False, write=counted)
    file.append(b'{"a":"' + b"x" * 300_000 + b'"}')
    file.close()
    assert len(calls) == 1


WRITER = """
import json, sys
from foretold.storage.append_log import AppendFile
path, name, count, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
file = AppendFile(path, sync=False)
for number in range(count):
    file.append(json.dumps({"type": "user", "from": name, "number": number, "text": name * size}).encode())
    print(number, flush=True)
"""


def writer(path, name, count, size):
    source = os.path.join(os.path.dirname(__file__), "..", "..", "..", "src")
    return subprocess.Popen(
        [sys.executable, "-S", "-c", WRITER, path, name, str(count), str(size)],
        env={"PYTHONPATH": os.path.abspath(source), "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
    )


def test_eight_writers_lose_and_mix_nothing(tmp_path):
    path, size = f"{tmp_path}/f.jsonl", 20_000
    writers = [writer(path, name, 25, size) for name in "abcdefgh"]
    for process in writers:
        process.communicate()
    found = values(path)
    assert sorted((one["from"], one["number"]) for one in found) == [
        (name, n) for name in "abcdefgh" for n in range(25)
    ]
    assert all(one["text"] == one["from"] * size for one in found)
    for name in "abcdefgh":  # each one's own in the order it wrote them
        assert [one["number"] for one in found if one["from"] == name] == list(range(25))


def test_killed_writers_lose_nothing_that_was_acknowledged(tmp_path):
    path, choose, told = f"{tmp_path}/f.jsonl", random.Random(7), set()
    for round_ in range(4):
        writers = {f"{name}{round_}": writer(path, f"{name}{round_}", 100_000, 30_000) for name in "ab"}
        for name, process in writers.items():
            lines = [process.stdout.readline() for _ in range(choose.randrange(1, 12))]
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.read().splitlines()
            process.wait()
            process.stdout.close()
            told |= {(name, int(line)) for line in lines if line.strip()}
    AppendFile(path, sync=False).close()  # the next writer mends what was torn
    found = values(path)
    assert told <= {(one["from"], one["number"]) for one in found}
    assert all(one["text"] == one["from"] * 30_000 for one in found)


def test_a_fork_is_a_file_of_its_own(tmp_path):
    with opened(tmp_path) as said:
        said.title("Mine")
        said.user("one")
        said.assistant({**SAID, "content": [text("I will."), call("a"), call("b")]})
        said.tool_result("b", "b")
        cut = said.tool_result("a", "a")
        said.assistant({**SAID, "content": "Done."})
    before = content(said.path)
    forked = fork(said.path, at=cut)
    assert content(said.path) == before
    assert stat.S_IMODE(os.stat(forked.path).st_mode) == 0o600
    title, *copies = values(forked.path)
    assert title == {"type": "custom-title", "customTitle": "Mine", "sessionId": forked.session}
    assert [one["parentUuid"] for one in copies] == [None, *(one["uuid"] for one in copies[:-1])]
    assert {one["sessionId"] for one in copies} == {forked.session}
    now, then = (resume(one, at=at, version="2.1.325").messages for one, at in ((forked.path, None), (said.path, cut)))
    assert now[:-1] == then  # and an answer that says nothing, because the fork ends with a result
    with pytest.raises(SessionFailed, match="no message with this id"):
        fork(said.path, at="unknown")
    with pytest.raises(StoreFailed, match="File exists"):
        fork(said.path, session=forked.session)


def test_the_place_is_where_the_agent_looks(tmp_path):
    folder = tmp_path / "my app"
    folder.mkdir()
    os.symlink(folder, tmp_path / "link")
    path = transcript_path(f"{tmp_path}/link", "x", Homes("/h", {"CLAUDE_CONFIG_DIR": "/c"}))
    plain = "".join(letter if letter.isalnum() else "-" for letter in str(folder))
    assert path == f"/c/projects/{plain}/x.jsonl"


def test_half_a_surrogate_pair_survives(tmp_path):
    with opened(tmp_path) as said:
        said.user("half \ud83d")
    assert json.loads(content(said.path).splitlines()[0])["message"]["content"] == "half \ud83d"


def test_ready_records_are_written_as_they_are(tmp_path):
    with opened(tmp_path, clock=lambda: 1794731806.184) as said:
        first = said.user("one")
        answer = {"type": "assistant", "uuid": "a", "parentUuid": first, "timestamp": "2026-11-15T08:36:47.184Z"}
        answer["message"] = {"role": "assistant", "id": "m", "content": [call("c")]}
        title = {"type": "custom-title", "customTitle": "t", "sessionId": said.session}
        aside = {**answer, "uuid": "aside", "isSidechain": True, "sessionId": "other"}
        assert said.records([answer, title, aside]) == ["a", "aside"]
        assert said.leaf == "a"
        result = said.tool_result("c", "done")
    found = {one["uuid"]: one for one in values(said.path) if "uuid" in one}
    assert (found[result]["parentUuid"], found[result]["sourceToolAssistantUUID"]) == ("a", "a")
    assert found["a"] == {**answer, **{key: found[first][key] for key in FIELDS}}
    assert found["aside"]["sessionId"] == "other"
    assert values(said.path)[2] == title


@pytest.mark.parametrize("missing", ["uuid", "parentUuid"])
def test_records_that_cannot_be_chained_are_refused_before_any_is_written(tmp_path, missing):
    record = {"type": "user", "uuid": "1", "parentUuid": None, "message": {"role": "user", "content": "x"}}
    with opened(tmp_path) as said:
        with pytest.raises(ValueError, match="a record of the type user needs"):
            said.records([record, {key: value for key, value in record.items() if key != missing}])
        assert (values(said.path), said.leaf) == ([], None)


def test_a_compaction_that_keeps_the_last_messages(tmp_path):
    with opened(tmp_path) as said:
        for words in ("one", "two", "three"):
            said.user(words)
            said.assistant({**SAID, "content": [text(words.upper())]})
        written = compaction_records(values(said.path), "<summary>S</summary>", said.path)
        said.records(written.records)
        said.user("four")
        said.assistant({**SAID, "content": [text("FOUR")]})
    messages = resume(said.path).messages
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant"]
    assert "S" in str(messages[0]["content"])
    assert [message["content"] for message in messages[1:]] == [[text("THREE")], "four", [text("FOUR")]]


def test_of_two_on_one_file_the_last_to_speak_leads(tmp_path):
    one = opened(tmp_path)
    one.user("first")
    two = Transcript(one.path, cwd="/home/me/app", sync=False)
    theirs = two.user("from two")
    ours = one.user("from one")
    (finding,) = one.findings
    assert (finding.code, finding.path, theirs in finding.message) == ("session-shared", one.path, True)
    one.close()
    two.close()
    assert [each.code for each in two.findings] == ["session-shared"]
    noted = [value["leafUuid"] for value in values(one.path) if value["type"] == "last-prompt"]
    assert noted == [ours, ours]
    assert [link.value["message"]["content"] for link in resume(one.path).chain if link.line] == ["first", "from one"]


def test_what_is_no_speech_is_no_branch(tmp_path):
    """Titles, snapshots, and what the agent keeps of subagents."""
    said = opened(tmp_path)
    said.user("first")
    with open(said.path, "a", encoding="utf-8") as file:
        file.write('{"type":"custom-title","customTitle":"x"}\n{"type":"user","uuid":"s","isSidechain":true}\n')
    last = said.user("second")
    said.close()
    assert said.findings == []
    assert [value["leafUuid"] for value in values(said.path) if value["type"] == "last-prompt"] == [last]


def test_a_leaf_that_others_named_is_named_again(tmp_path):
    said = opened(tmp_path)
    first = said.user("first")
    with open(said.path, "a", encoding="utf-8") as file:
        file.write(f'{{"type":"last-prompt","leafUuid":"{first}"}}\n')
    last = said.user("second")
    said.abandon()  # and is killed
    assert said.findings == []
    assert values(said.path)[-1]["leafUuid"] == last
