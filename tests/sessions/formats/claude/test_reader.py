from __future__ import annotations

import json
import os

from foretold.sessions.formats.claude import reader
from foretold.sessions.formats.jsonl import ENDS
from foretold.sessions.formats.readers import resume_command
from foretold.sessions.model import Homes, Message, Part, StoredSession

SESSION = "0a0a0a0a-1111-4111-8111-0123456789ab"
OTHER = "0b0b0b0b-1111-4111-8111-0123456789ab"


def value(uuid, parent, kind, said, second, **more):
    record = {"parentUuid": parent, "isSidechain": False, "type": kind}
    if kind in ("user", "assistant"):
        record["message"] = {"role": kind, "content": said}
        record["message"] |= {"id": f"m{uuid}", "model": "claude-opus-4-8"} if kind == "assistant" else {}
    record |= {"uuid": uuid, "timestamp": f"2026-11-15T08:00:{second:02}.000Z", "cwd": "/home/me/app"}
    return record | {"sessionId": SESSION, "version": "2.1.197", "gitBranch": "main"} | more


def put(path, *records):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records)
    return path


def stored(path, kind="main", parent=""):
    name = os.path.splitext(os.path.basename(path))[0]
    return StoredSession("claude-code", name, path, size=os.path.getsize(path), kind=kind, parent=parent)


def test_sessions_and_subagents_are_found_by_their_names_alone(tmp_path):
    home = str(tmp_path)
    folder = os.path.join(home, ".claude", "projects", "-home-me-app")
    main = put(f"{folder}/{SESSION}.jsonl", "not even json")
    helper = put(f"{folder}/{SESSION}/subagents/agent-a1.jsonl", "{}")
    deeper = put(f"{folder}/{OTHER}/subagents/flow/agent-b2.jsonl", "{}")
    put(f"{folder}/notes.jsonl", "{}")
    put(f"{folder}/{SESSION}/subagents/agent-a1.meta.json", "{}")
    put(f"{folder}/memory/MEMORY.md", "- one")
    os.symlink("nowhere", f"{folder}/{OTHER}.jsonl")
    found = [(one.id, one.path, one.kind, one.parent) for one in reader.find_sessions(Homes(home, {}))]
    assert found == [
        ("agent-a1", helper, "subagent", SESSION),
        (SESSION, main, "main", ""),
        ("agent-b2", deeper, "subagent", OTHER),
    ]


def test_the_environment_moves_the_folder(tmp_path):
    put(f"{tmp_path}/else/projects/-p/{SESSION}.jsonl", "{}")
    assert [one.id for one in reader.find_sessions(Homes("/nowhere", {"CLAUDE_CONFIG_DIR": f"{tmp_path}/else"}))] == [
        SESSION
    ]
    assert list(reader.find_sessions(Homes(str(tmp_path), {}))) == []


def test_a_card_tells_what_head_and_tail_say(tmp_path):
    path = put(
        f"{tmp_path}/{SESSION}.jsonl",
        {"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-11-15T07:59:59.000Z"},
        value("1", None, "user", "<command-name>/clear</command-name>", 1),
        value("2", "1", "user", "Caution", 2, isMeta=True),
        value("3", "2", "user", "Fix the\n  build ", 3),
        value("4", "3", "assistant", [{"type": "text", "text": "Done."}], 4, gitBranch="fix", version="2.1.325"),
    )
    summary = reader.summarize(stored(path))
    assert (summary.cwd, summary.title, summary.branch, summary.version) == (
        "/home/me/app",
        "Fix the build",
        "fix",
        "2.1.325",
    )
    assert (summary.model, summary.kind, summary.started, summary.changed) == (
        "claude-opus-4-8",
        "main",
        1794729599.0,
        1794729604.0,
    )


def test_titles_by_strength(tmp_path):
    first = value("1", None, "user", "x" * 300, 1)
    summary, made = {"type": "summary", "summary": "A summary"}, {"type": "ai-title", "aiTitle": "A made one"}
    given = [{"type": "custom-title", "customTitle": name} for name in ("Old", "New")]
    path = f"{tmp_path}/{SESSION}.jsonl"
    found = [
        reader.summarize(stored(put(path, first, *more))).title for more in ((), [summary], [made, summary], given)
    ]
    assert found == ["x" * 119 + "…", "A summary", "A made one", "New"]


def test_a_fork_is_told_by_what_it_was_copied_from(tmp_path):
    copied = value("1", None, "user", "hello", 1, forkedFrom={"sessionId": OTHER, "messageUuid": "1"})
    summary = reader.summarize(stored(put(f"{tmp_path}/{SESSION}.jsonl", copied)))
    assert (summary.kind, summary.parent) == ("fork", OTHER)


def test_a_card_reads_two_ends_however_long_a_line_is(tmp_path):
    big = value("1", None, "user", "y" * (3 * ENDS), 1)
    last = value("2", "1", "assistant", [{"type": "text", "text": "z" * (2 * ENDS)}], 9, gitBranch="late")
    path = put(f"{tmp_path}/{SESSION}.jsonl", big, last)
    summary = reader.summarize(stored(path))
    # of the first line only its beginning is read, of the last only its end
    assert (summary.cwd, summary.branch, summary.started, summary.changed) == (
        "/home/me/app",
        "late",
        1794729609.0,
        1794729609.0,
    )


def test_a_card_of_a_file_that_is_gone_is_what_was_known():
    gone = StoredSession("claude-code", SESSION, "/nowhere/x.jsonl", changed=5.0)
    assert reader.summarize(gone) == gone


def test_records_become_messages(tmp_path):
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a"}}
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "is_error": True,
        "content": [{"type": "text", "text": "no"}, image],
    }
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    records = [
        value("1", None, "user", "hello", 1),
        value("2", "1", "attachment", None, 2, attachment={"type": "skill_listing", "content": "- demo"}),
        value("3", "2", "assistant", [thought, {"type": "text", "text": "I read"}, call], 3),
        value("4", "3", "user", [result], 4),
        value("5", "4", "user", "note", 5, isMeta=True),
        value("6", "5", "user", "what was said", 6, isCompactSummary=True),
        value("7", "6", "assistant", [{"type": "text", "text": "aside"}], 7, isSidechain=True),
        value("8", "7", "system", None, 8, subtype="informational", content="FYI"),
        {"type": "brand-new", "x": 1},
    ]
    path = put(f"{tmp_path}/{SESSION}.jsonl", *records)
    found = list(reader.read_messages(stored(path)))
    assert [(one.id, one.role, one.kind, one.line) for one in found] == [
        ("1", "user", "", 1),
        ("2", "system", "attachment", 2),
        ("3", "assistant", "", 3),
        ("4", "user", "", 4),
        ("5", "user", "meta", 5),
        ("6", "user", "summary", 6),
        ("7", "assistant", "sidechain", 7),
        ("8", "system", "notice", 8),
        (f"byte {found[8].start}", "system", "notice", 9),
    ]
    assert found[0] == Message(
        "1", "user", (Part("text", "hello", raw="hello"),), 1794729601.0, "", "", "", 1, 0, found[1].start
    )
    assert found[1].parts == (Part("other", "- demo", raw=records[1]["attachment"]),)
    assert found[2].parts == (
        Part("thinking", "hm", raw=thought),
        Part("text", "I read", raw={"type": "text", "text": "I read"}),
        Part("call", tool="Read", id="t1", input={"file_path": "a"}, raw=call),
    )
    assert found[3].parts == (
        Part("result", "no", "Read", "t1", failed=True, raw=result),
        Part("image", "image/png", raw=image),
    )
    assert found[8].parts == (Part("other", raw=records[8]),)
    assert "aGVsbG8" not in "".join(part.text for one in found for part in one.parts)


def test_reading_goes_on_where_it_ended(tmp_path):
    path = put(f"{tmp_path}/{SESSION}.jsonl", value("1", None, "user", "one", 1), value("2", "1", "user", "two", 2))
    first, second = reader.read_messages(stored(path))
    assert [one.id for one in reader.read_messages(stored(path), since=first.end)] == ["2"]
    put(path, *(value(str(n), None, "user", "more", n) for n in (1, 2, 3)))
    assert list(reader.read_messages(stored(path), since=os.path.getsize(path))) == []
    assert second.start == first.end


def test_records_without_an_id_have_the_same_name_wherever_reading_begins(tmp_path):
    path = put(f"{tmp_path}/{SESSION}.jsonl", *({"type": "brand-new", "x": number} for number in range(3)))
    every = list(reader.read_messages(stored(path)))
    assert [one.id for one in every] == ["byte 0", f"byte {every[0].end}", f"byte {every[1].end}"]
    since = list(reader.read_messages(stored(path), since=every[0].end))
    assert [one.id for one in since] == [one.id for one in every[1:]]


def test_in_the_file_of_a_subagent_nothing_is_aside(tmp_path):
    path = put(f"{tmp_path}/agent-a1.jsonl", value("1", None, "user", "task", 1, isSidechain=True))
    (message,) = reader.read_messages(stored(path, "subagent", SESSION))
    assert message.kind == ""
    assert resume_command(stored(path, "subagent", SESSION)) == ("claude", "--resume", SESSION)


def test_strange_records_are_passed_through(tmp_path):
    strange = [
        {"type": "user", "message": {"content": 5}},
        {"type": "assistant", "message": {"content": ["text", {"type": "new"}, {"type": "tool_use", "input": "x"}]}},
        {"type": "attachment", "attachment": []},
        {"type": "user", "timestamp": "never", "message": None},
        {"type": ["list"], "uuid": 7},
    ]
    path = put(f"{tmp_path}/{SESSION}.jsonl", *strange)
    found = list(reader.read_messages(stored(path)))
    assert [[part.kind for part in one.parts] for one in found] == [
        ["other"],
        ["other", "other", "call"],
        ["other"],
        ["other"],
        ["other"],
    ]
    assert reader.summarize(stored(path)).title == ""
