"""What real agents made of damaged and undamaged transcripts, and ours.

`resume_more.jsonl` has transcripts that Claude Code 2.1.197 and 2.1.325 were given to resume with the prompt `next`,
and the messages that they sent then, without what they add to the new turn. Fields that play no part were taken out of
the records, ids and times are shortened, and the context block is `C`. Messages are brief: [first letter of the role,
content], and a block that is only a text is that text.
"""

from __future__ import annotations

import json
import os
import tracemalloc

import pytest

from foretold.dialects.claude_code.sessions import rules_of
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.resumption.chain import find_chain
from foretold.sessions.resumption.claude import DroppedRecord, resume
from foretold.sessions.resumption.graph import RecordNode

HERE = os.path.dirname(os.path.abspath(__file__))
VERSIONS = ("2.1.197", "2.1.325")


def _cases():
    with open(os.path.join(HERE, "resume_more.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


CASES = _cases()


def _line(record):
    """A record as it was in the file, as far as it matters."""
    if not isinstance(record, dict):
        return record if isinstance(record, str) else json.dumps(record)
    value = dict(record)
    message = value.get("message")
    if isinstance(message, dict):
        kept = {"role": value.get("type"), **message}
        value["message"] = {"model": "claude-opus-4-8", **kept} if value.get("type") == "assistant" else kept
    time = value.get("timestamp")
    if isinstance(time, str) and len(time) == len("6:47.000Z"):
        value["timestamp"] = "2026-11-15T08:3" + time
    return json.dumps(value)


def _brief(messages):
    found = []
    for message in messages:
        content = message["content"]
        if isinstance(content, list):
            content = [block["text"] if set(block) == {"type", "text"} else block for block in content]
        found.append([message["role"][0], content])
    return found


@pytest.mark.parametrize(
    "attachment",
    [
        {"type": "new"},
        {"type": "plan_mode", "reminderType": "full", "isSubAgent": False, "planFilePath": "/p"},
        {"type": "plan_mode", "reminderType": "sparse", "isSubAgent": True, "planFilePath": "/p"},
        {"type": "plan_mode_reentry", "planFilePath": "/p"},
        {"type": "auto_mode", "reminderType": "full"},
        {"type": "queued_command", "prompt": "x", "commandMode": "prompt", "origin": {"kind": "peer"}},
        {"type": "queued_command", "prompt": "x", "commandMode": "prompt", "origin": {"kind": "coordinator"}},
    ],
)
def test_an_attachment_whose_text_is_not_known_is_named(tmp_path, attachment):
    records = [record("1", None, "user", "first", 1)]
    records.append({**records[0], "uuid": "2", "parentUuid": "1", "type": "attachment", "attachment": attachment})
    records.append(record("3", "2", "assistant", [{"type": "text", "text": "answer"}], 3))
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in records))
    found = resume(str(path))
    assert [(finding.line, finding.code) for finding in found.findings] == [(2, "attachment-unknown")]
    assert [message["content"] for message in found.messages] == ["first", [{"type": "text", "text": "answer"}]]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("part", range(6))
def test_messages_are_those_of_the_agent(part, version, tmp_path):
    wrong = {}
    for case in CASES[part::6]:
        path = tmp_path / "s.jsonl"
        path.write_text("".join(_line(record) + "\n" for record in case["records"]), encoding="utf-8", newline="")
        expected = case["expected"]
        if isinstance(expected, dict) and version not in expected:
            continue
        wanted = expected[version] if isinstance(expected, dict) else expected
        model = case.get("model", "claude-opus-4-8")
        found = resume(str(path), "next", at=case.get("at"), version=version, model=model, context="C\n")
        answer = found.error or _brief(found.messages)
        if answer != wanted:
            wrong[case["id"]] = (wanted, answer)
    assert wrong == {}


def test_there_are_cases_enough_and_each_has_its_name_once():
    assert len({case["id"] for case in CASES}) == len(CASES) > 200


def record(uuid, parent, role, content, second, **more):
    value = {"type": role, "uuid": uuid, "parentUuid": parent, "timestamp": f"2026-11-15T08:00:{second:02}.000Z"}
    return {**value, "message": {"role": role, "id": f"m{uuid}", "content": content}, **more}


def test_what_is_left_out_is_named():
    call = [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]
    records = [
        record("1", None, "user", "first", 1),
        record("2", "1", "user", "given up", 2),
        record("3", "1", "assistant", call, 3),
        record("4", "3", "assistant", [{"type": "text", "text": " "}], 4),
        record("5", "4", "assistant", [{"type": "text", "text": "aside"}], 5, isSidechain=True),
        record("6", "4", "user", "second", 6),
        record("7", "6", "assistant", [{"type": "text", "text": "answer"}], 7),
    ]
    found = resume(records, at="6")
    assert found.leaf == "6"
    assert set(found.dropped) == {
        DroppedRecord("2", "branch"),
        DroppedRecord("5", "sidechain"),
        DroppedRecord("3", "call-without-result"),
        DroppedRecord("4", "blank-answer"),
        DroppedRecord("7", "cut"),
    }
    assert found.messages == (
        {"role": "user", "content": [{"type": "text", "text": "first\n"}, {"type": "text", "text": "second"}]},
    )


def test_what_a_compaction_left_behind_is_named():
    boundary = {**record("3", None, "system", "", 3), "subtype": "compact_boundary"}
    records = [
        record("1", None, "user", "first", 1),
        record("2", "1", "assistant", [{"type": "text", "text": "answer"}], 2),
        boundary,
        record("4", "3", "user", "what was said", 4, isCompactSummary=True),
        record("5", "4", "assistant", [{"type": "text", "text": "on"}], 5),
    ]
    assert resume(records).dropped == (DroppedRecord("1", "compacted"), DroppedRecord("2", "compacted"))
    boundary["compactMetadata"] = {"preservedMessages": {"anchorUuid": "4", "uuids": ["2"]}}
    assert resume(records).dropped == (DroppedRecord("1", "compacted"),)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_long_broken_file_takes_no_time(version):
    """Every parent is lost, many tools ran side by side: a quadratic search would not come back."""
    records = []
    for turn in range(1000):
        calls = [{"type": "tool_use", "id": f"t{turn}-{n}", "name": "Bash", "input": {}} for n in range(3)]
        for number, call in enumerate(calls):
            answer = record(f"a{turn}-{number}", f"lost{turn}", "assistant", [call], 0)
            answer["message"]["id"] = f"m{turn}"
            result = [{"type": "tool_result", "tool_use_id": call["id"], "content": "x"}]
            records += (answer, record(f"r{turn}-{number}", f"a{turn}-{number}", "user", result, 0))
    messages = resume(records, version=version).messages
    calls = [block for message in messages for block in message["content"] if block["type"] == "tool_use"]
    assert len(calls) == 3000


def test_a_file_and_its_records_give_the_same(tmp_path):
    """A file is read twice, and held without what it says in between; records are all there."""
    wrong = []
    for case in CASES:
        path = tmp_path / "s.jsonl"
        path.write_text("".join(_line(record) + "\n" for record in case["records"]), encoding="utf-8", newline="")
        given = [json.loads(_line(record)) for record in case["records"] if isinstance(record, dict)]
        if len(given) < len(case["records"]):
            continue  # a line that is no record
        for version in VERSIONS:
            read, held = (resume(source, "next", at=case.get("at"), version=version) for source in (str(path), given))
            if (read.messages, read.leaf, read.error) != (held.messages, held.leaf, held.error):
                wrong.append((case["id"], version))
    assert wrong == []


def test_what_is_not_sent_is_not_held(tmp_path):
    """Ten megabytes stand before a compaction, and on a branch that was left."""
    boundary = {**record("3", None, "system", "", 3), "subtype": "compact_boundary"}
    records = [
        record("1", None, "user", "x" * 5_000_000, 1),
        record("2", "1", "assistant", [{"type": "text", "text": "x" * 5_000_000}], 2),
        boundary,
        record("4", "3", "user", "what was said", 4, isCompactSummary=True),
        record("b", "4", "user", "x" * 5_000_000, 4),
        record("5", "4", "assistant", [{"type": "text", "text": "on"}], 5),
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in records))
    del records
    tracemalloc.start()
    try:
        read = (RecordNode(record.value, record.line, record.start) for record in records_of(str(path)))
        chain = find_chain(read, rules_of("2.1.197"))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(chain.nodes), len(chain.lost)) == (3, 3)
    assert kept < 100_000
    found = resume(str(path))
    assert [message["content"] for message in found.messages] == ["what was said", [{"type": "text", "text": "on"}]]
    assert found.dropped == (
        DroppedRecord("1", "compacted"),
        DroppedRecord("2", "compacted"),
        DroppedRecord("b", "branch"),
    )


def test_records_without_an_id_are_named_by_their_place(tmp_path):
    first, second = record("1", None, "user", "first", 1), record("", "1", "user", "aside", 2, isSidechain=True)
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in (first, second)))
    assert resume(str(path)).dropped == (DroppedRecord(f"byte {len(json.dumps(first)) + 1}", "sidechain"),)
    assert resume([first, second]).dropped == (DroppedRecord("line 2", "sidechain"),)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_summary_that_nothing_follows_ends_with_what_it_keeps(version):
    """Both versions were asked to go on from such a file."""
    kept = {"preservedMessages": {"anchorUuid": "4", "uuids": ["2"]}}
    records = [
        record("1", None, "user", "first", 1),
        record("2", "1", "assistant", [{"type": "text", "text": "answer"}], 2),
        {**record("3", None, "system", "", 3), "subtype": "compact_boundary", "compactMetadata": kept},
        record("4", "3", "user", "what was said", 4, isCompactSummary=True),
    ]
    for more in ([], [{"type": "last-prompt", "leafUuid": "4"}]):
        found = resume([*records, *more], "next", version=version)
        assert [message["content"] for message in found.messages] == [
            "what was said",
            [{"type": "text", "text": "answer"}],
            "next",
        ]
        assert found.leaf == "2"


def test_a_file_that_is_not_there_raises(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        resume(str(tmp_path / "none.jsonl"))


def test_two_compactions_that_keep_messages():
    """The second one must not reach behind itself: what is dropped is counted by the place in the file."""
    records, before = [], None

    def add(name, kind="user", parent=None, **more):
        moment = f"2026-01-02T03:04:{len(records):02}.000Z"
        said = {"role": kind, "id": name, "content": name if kind == "user" else [{"type": "text", "text": name}]}
        record = {"type": kind, "uuid": name, "parentUuid": parent, "timestamp": moment, "message": said}
        records.append({**record, "sessionId": "s", "isSidechain": False, **more})
        return name

    def compact(number, kept):
        metadata = {"trigger": "manual", "preservedMessages": {"anchorUuid": f"s{number}", "uuids": [kept]}}
        add(f"b{number}", "system", None, subtype="compact_boundary", compactMetadata=metadata)
        return add(f"s{number}", parent=f"b{number}", isCompactSummary=True)

    for turn in range(6):
        before = add(f"a{turn}", "assistant", add(f"u{turn}", parent=before))
    before = compact(1, before)
    for turn in (6, 7):
        before = add(f"a{turn}", "assistant", add(f"u{turn}", parent=before))
    before = compact(2, before)
    for turn in (8, 9):
        before = add(f"a{turn}", "assistant", add(f"u{turn}", parent=before))
    found = resume(records, version="2.1.197")
    said = [message["content"] for message in found.messages]
    texts = [each if isinstance(each, str) else each[0]["text"] for each in said]
    assert texts == ["s2", "a7", "u8", "a8", "u9", "a9"]
