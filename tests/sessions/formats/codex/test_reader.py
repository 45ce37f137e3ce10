"""Sessions of Codex, as the real program wrote them (0.166.0), and as older versions did."""

import itertools
import json
import os
import shutil
import subprocess

import pytest

from foretold.sessions.formats.codex import reader
from foretold.sessions.formats.codex.records import item_of
from foretold.sessions.formats.readers import resume_command
from foretold.sessions.model import Homes, Message, Part, StoredSession
from foretold.types import Finding

from ...codex_damage import dumped, said

FIXTURE = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "codex", "rollout.jsonl")
NAME = "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee"
FILE = f"rollout-2026-11-16T03-55-34-{NAME}.jsonl"


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / ".codex" / "sessions" / "2026" / "11" / "16"
    folder.mkdir(parents=True)
    shutil.copyfile(FIXTURE, folder / FILE)
    return tmp_path


def only(home, env=None):
    (found,) = reader.find_sessions(Homes(str(home), env or {}))
    return found


def written(tmp_path, records):
    path = tmp_path / FILE
    path.write_bytes(dumped(records))
    return StoredSession("codex", NAME, str(path))


def test_a_session_is_found_by_its_name_and_known_by_its_ends(home):
    found = only(home)
    path = str(home / ".codex" / "sessions" / "2026" / "11" / "16" / FILE)
    size = os.path.getsize(path)
    assert found == StoredSession("codex", NAME, path, changed=os.stat(path).st_mtime, size=size)
    with open(path, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    summary = reader.summarize(found)
    assert summary._replace(started=None, changed=0.0) == StoredSession(
        *("codex", NAME, path, "/home/me/project", "Read a.txt — ünï 日本", None, 0.0, size, "", "0.166.0", "gpt-5")
    )
    assert summary.started < summary.changed
    assert (summary.started, summary.changed) == tuple(
        reader.parse_time(text) for text in (records[0]["payload"]["timestamp"], records[-1]["timestamp"])
    )
    assert resume_command(summary) == ("codex", "resume", NAME)


def test_a_name_that_was_given_is_the_title(home):
    index = home / ".codex" / "session_index.jsonl"
    names = [{"id": NAME, "thread_name": "First"}, {"id": "other", "thread_name": "x"}]
    index.write_bytes(dumped(names))
    assert reader.summarize(only(home)).title == "First"
    index.write_bytes(dumped([*names, {"id": NAME, "thread_name": "Second name"}]) + b"{torn")
    assert reader.summarize(only(home)).title == "Second name"


def test_other_places(tmp_path):
    for folder in ("sessions", "archived_sessions", "sessions/2025/06/01"):
        (tmp_path / "mine" / folder).mkdir(parents=True, exist_ok=True)
    (tmp_path / "mine" / "sessions" / FILE).touch()
    (tmp_path / "mine" / "sessions" / "2025" / "06" / "01" / f"{FILE}.zst").touch()
    (tmp_path / "mine" / "sessions" / "notes.jsonl").touch()
    (tmp_path / "mine" / "archived_sessions" / FILE).touch()
    found = reader.find_sessions(Homes("/nowhere", {"CODEX_HOME": str(tmp_path / "mine")}))
    assert [(os.path.relpath(one.path, tmp_path / "mine"), one.id, one.kind) for one in found] == [
        (f"sessions/2025/06/01/{FILE}.zst", NAME, "main"),
        (f"sessions/{FILE}", NAME, "main"),
        (f"archived_sessions/{FILE}", NAME, "archived"),
    ]
    assert list(reader.find_sessions(Homes("/nowhere", {}))) == []


def shown(message):
    """A message in short: of a result what the command printed."""
    parts = [(part.kind, part.text.rpartition("Output:\n")[2][:12], part.tool, part.failed) for part in message.parts]
    return (message.role, message.kind, message.model, *parts)


def test_what_was_said(home):
    findings = []
    read = [one for one in reader.read_messages(only(home), 0, findings) if one.kind != "meta"]
    assert findings == []
    call = ("assistant", "", "gpt-5", ("call", "", "exec_command", False))
    assert [shown(one) for one in read] == [
        ("system", "context", "", ("text", "You are a co", "", False), ("other", "", "", False)),
        ("system", "context", "", ("text", "<skills_inst", "", False), ("text", "<permissions", "", False)),
        ("user", "context", "", ("text", "# AGENTS.md ", "", False), ("text", "<environment", "", False)),
        ("user", "", "", ("text", "Read a.txt —", "", False)),
        call,
        ("user", "", "", ("result", "alpha\n", "exec_command", False)),
        call,
        call,
        ("user", "", "", ("result", "one\n", "exec_command", False)),
        ("user", "", "", ("result", "two\n", "exec_command", True)),
        ("assistant", "", "gpt-5", ("text", "Done.", "", False)),
        ("user", "", "", ("text", "Second promp", "", False)),
        call,
        ("user", "", "", ("result", "1\n2\n3\n4\n5\n6\n", "exec_command", False)),
        ("assistant", "", "gpt-5", ("text", "Done.", "", False)),
    ]
    assert read[4].parts[0].input == {"cmd": "echo alpha", "command": "echo alpha"}
    assert read[4].parts[0].id == read[5].parts[0].id


def test_reading_goes_on_where_it_ended(home):
    stored = only(home)
    read = list(reader.read_messages(stored))
    places = [(one.start, one.end) for one in read]
    assert places[0][0] == 0
    assert places[-1][1] == os.path.getsize(stored.path)
    assert all(before[1] == after[0] for before, after in itertools.pairwise(places))
    for number, one in enumerate(read):
        rest = list(reader.read_messages(stored, one.end))
        assert [(each.id, each.start, each.end) for each in rest] == [
            (each.id, each.start, each.end) for each in read[number + 1 :]
        ]


def test_damage_costs_only_what_is_damaged(tmp_path):
    stored = written(tmp_path, [{"timestamp": "t", "type": "response_item", "payload": said("Hi", id="m")}] * 2)
    with open(stored.path, "ab") as file:
        file.write(b'nonsense\n\n[1]\n{"type": "response_item", "payload": {"type": "message", "ro')
    findings = []
    assert [one.text for one in reader.read_messages(stored, 0, findings)] == ["Hi", "Hi"]
    assert findings == [
        Finding(stored.path, 3, "record-damaged", "a record is damaged and is skipped"),
        Finding(stored.path, 5, "record-strange", "a record is not an object but list"),
        Finding(stored.path, 6, "record-torn", "the last record is incomplete: it was torn, or is being written"),
    ]


def test_strange_records_are_kept_as_they_are(tmp_path):
    records = [
        {"timestamp": "2026-11-16T03:26:27Z", "type": "brand_new", "payload": {"a": 1}},
        {"type": "response_item", "payload": {"type": "surprise", "x": [1]}},
        {"type": "response_item", "payload": None},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": "a text"}},
        {"whatever": True},
    ]
    found = [
        (one.role, one.kind, one.time, [(part.kind, part.raw) for part in one.parts])
        for one in reader.read_messages(written(tmp_path, records))
    ]
    assert found == [
        ("system", "notice", 1794799587.0, [("other", records[0])]),
        ("system", "notice", None, [("other", {"type": "surprise", "x": [1]})]),
        ("system", "notice", None, [("other", {"type": "response_item", "payload": None})]),
        ("user", "", None, [("other", "a text")]),
        ("system", "notice", None, [("other", {"whatever": True})]),
    ]


@pytest.mark.parametrize(
    ("item", "role", "part"),
    [
        (
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "a"}], "content": None},
            *("assistant", Part("thinking", "a")),
        ),
        (
            {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c", "input": "+a"},
            *("assistant", Part("call", tool="apply_patch", id="c", input={"input": "+a"})),
        ),
        (
            {"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["ls"]}},
            *("assistant", Part("call", tool="local_shell", id="c", input={"type": "exec", "command": ["ls"]})),
        ),
        (
            {"type": "function_call", "name": "f", "call_id": "c", "arguments": "{torn"},
            *("assistant", Part("call", tool="f", id="c", input={"arguments": "{torn"})),
        ),
        (
            {"type": "web_search_call", "id": "w", "action": None},
            *("assistant", Part("call", tool="web_search", id="w")),
        ),
        (
            {"type": "function_call_output", "call_id": "c", "output": '{"output":"x","metadata":{"exit_code":2}}'},
            *("user", Part("result", "x", id="c", failed=True)),
        ),
        (
            {"type": "function_call_output", "call_id": "c", "output": {"content": "x", "success": False}},
            *("user", Part("result", "x", id="c", failed=True)),
        ),
        (
            {"type": "function_call_output", "call_id": "c", "output": "Exit code: 1\nOutput:\nx"},
            *("user", Part("result", "Exit code: 1\nOutput:\nx", id="c", failed=True)),
        ),
        (
            {"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "x"}]},
            *("user", Part("result", "x", id="c")),
        ),
    ],
)
def test_items(item, role, part):
    assert item_of(item, {}) == (role, (part._replace(raw=item),), "")


def test_what_else_is_told(tmp_path):
    records = [
        {"type": "compacted", "payload": {"message": "A summary."}},
        {"type": "event_msg", "payload": {"type": "error", "message": "overloaded"}},
        {"type": "event_msg", "payload": {"type": "agent_message", "message": "said elsewhere"}},
        {"type": "turn_context", "payload": {"model": "m"}},
        {"type": "inter_agent_communication", "payload": {"content": "hello"}},
        {"type": "response_item", "payload": said("<turn_aborted>\nx")},
        {"type": "response_item", "payload": {**said("x"), "role": "assistant"}},
    ]
    assert [
        (one.role, one.kind, one.model, one.parts[0].kind, one.parts[0].text)
        for one in reader.read_messages(written(tmp_path, records))
    ] == [
        ("system", "summary", "", "text", "A summary."),
        ("system", "notice", "", "other", "overloaded"),
        ("system", "meta", "", "other", ""),
        ("system", "meta", "", "other", ""),
        ("user", "meta", "", "text", "hello"),
        ("user", "context", "", "text", "<turn_aborted>\nx"),
        ("assistant", "", "m", "text", "x"),
    ]


def test_rollouts_without_a_wrapper(tmp_path):
    stored = written(
        tmp_path,
        [
            {
                "id": NAME,
                "timestamp": "2025-06-01T10:00:00.000Z",
                "instructions": "Be kind.",
                "git": {"branch": "main"},
            },
            {"record_type": "state"},
            said("<environment_context>\n</environment_context>"),
            said("Hello"),
        ],
    )
    assert [(one.role, one.kind, one.text) for one in reader.read_messages(stored)] == [
        ("system", "context", "Be kind."),
        ("system", "meta", ""),
        ("user", "context", "<environment_context>\n</environment_context>"),
        ("user", "", "Hello"),
    ]
    summary = reader.summarize(stored)
    assert (summary.title, summary.started, summary.branch) == ("Hello", 1748772000.0, "main")


def test_a_name_is_the_title_and_a_fork_knows_its_parent(tmp_path):
    meta = {"id": NAME, "cwd": "/a", "forked_from_id": "p"}
    records = [{"type": "session_meta", "payload": meta}, {"type": "response_item", "payload": said("Hi")}]
    summary = reader.summarize(written(tmp_path, records))
    assert (summary.kind, summary.parent, summary.title) == ("fork", "p", "Hi")
    records.append({"type": "event_msg", "payload": {"type": "thread_name_updated", "thread_name": "My name"}})
    assert reader.summarize(written(tmp_path, records)).title == "My name"
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "q", "depth": 1}}}
    summary = reader.summarize(
        written(tmp_path, [{"type": "session_meta", "payload": {"id": NAME, "source": spawned}}])
    )
    assert (summary.kind, summary.parent, resume_command(summary)) == ("subagent", "q", ("codex", "resume", "q"))


def test_a_card_reads_the_ends_only(tmp_path):
    meta = {"id": NAME, "cwd": "/a/b", "cli_version": "1", "base_instructions": {"text": "x" * 100_000}}
    tail = {"timestamp": "2026-01-01T00:00:00Z", "type": "turn_context", "payload": {"model": "m"}}
    stored = written(
        tmp_path, [{"type": "session_meta", "payload": meta}, *[{"type": "x", "payload": {}}] * 9000, tail]
    )
    assert reader.summarize(stored) == stored._replace(cwd="/a/b", version="1", model="m", changed=1767225600.0)


def test_a_file_that_is_gone(tmp_path):
    stored = StoredSession("codex", NAME, str(tmp_path / FILE))
    assert reader.summarize(stored) == stored


@pytest.mark.skipif(not shutil.which("zstd"), reason="zstd is not here")
def test_compressed_rollouts(tmp_path):
    stored = written(tmp_path, [{"type": "response_item", "payload": said("Hi", id="m")}])
    plain = list(reader.read_messages(stored))
    subprocess.run(["zstd", "-q", "--rm", stored.path], check=True)
    packed = stored._replace(path=stored.path + ".zst")
    assert list(reader.read_messages(packed)) == plain
    assert reader.summarize(packed).started == 1794801334.0
    with open(packed.path, "r+b") as file:
        file.truncate(8)
    findings = []
    assert list(reader.read_messages(packed, 0, findings)) == []
    assert [finding.code for finding in findings] == ["record-packed"]


def test_a_message_is_a_whole_value(tmp_path):
    item = said("Hi", id="msg_1")
    stored = written(tmp_path, [{"timestamp": "2026-11-16T03:26:27Z", "type": "response_item", "payload": item}])
    part = Part("text", "Hi", raw=item["content"][0])
    size = os.path.getsize(stored.path)
    assert list(reader.read_messages(stored)) == [
        Message("msg_1", "user", (part,), 1794799587.0, "", "", "", 1, 0, size)
    ]
