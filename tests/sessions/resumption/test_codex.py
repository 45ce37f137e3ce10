"""What `codex resume` sends: ours, beside what the real program was recorded to send."""

import json
import os

import pytest

from foretold.sessions.resumption.codex import CodexResumed, DroppedItem, resume_codex
from foretold.types import Finding

from ..codex_damage import WAYS, dumped, fork_of, items, parsed, put

FIXTURES = os.path.join(os.path.dirname(__file__), "..", "fixtures", "codex")
NAME = "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee"

with open(os.path.join(FIXTURES, "rollout.jsonl"), "rb") as file:
    LINES = file.read().splitlines(keepends=True)
with open(os.path.join(FIXTURES, "resumed.json"), encoding="utf-8") as file:
    RECORDED = json.load(file)
UNCHANGED = RECORDED["as it is"]["sent"]


def resumed(folder, data, prompt=None):
    path = folder / f"rollout-2026-11-16T03-26-27-{NAME}.jsonl"
    path.write_bytes(data)
    return resume_codex(str(path), prompt)


def test_every_way_was_recorded():
    assert list(RECORDED) == list(WAYS)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_sent(tmp_path, way):
    """An item of the recording that is a number is that of the unchanged session."""
    found = resumed(tmp_path, WAYS[way](LINES))
    recorded = RECORDED[way]
    if "refused" in recorded:
        assert found.refused
        assert [finding.code for finding in found.findings if finding.code == "session-refused"] == ["session-refused"]
        return
    sent = [UNCHANGED[item] if isinstance(item, int) else item for item in recorded["sent"]]
    assert list(found.messages) == sent
    assert (found.refused, found.context_again) == ("", recorded["again"] > 0)


def test_the_prompt_comes_last_and_the_instructions_beside(tmp_path):
    found = resumed(tmp_path, b"".join(LINES), "And now?")
    prompt = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And now?"}]}
    assert found == CodexResumed((*UNCHANGED, prompt), (), (), "You are a coding agent.")


@pytest.mark.parametrize(
    ("way", "dropped"),
    [
        ("call missing", ["orphan"]),
        ("item unknown", ["unknown"]),
        ("role system", ["not-for-the-model"]),
        ("field missing", ["unreadable"]),
        ("one turn rolled back", ["rolled-back"] * 4),
        ("turn with context rolled back", ["rolled-back"] * 5),
        ("compacted at the end", ["compacted"] * len(UNCHANGED)),
        ("result missing", []),
    ],
)
def test_what_is_dropped_is_named(tmp_path, way, dropped):
    found = resumed(tmp_path, WAYS[way](LINES))
    assert [one.reason for one in found.dropped] == dropped
    assert all(one.line > 0 for one in found.dropped)


def test_an_orphan_is_told_by_its_line(tmp_path):
    found = resumed(tmp_path, WAYS["call missing"](LINES))
    records = parsed(LINES)
    lost = records[items(records, "function_call_output")[0]]["payload"]
    assert found.dropped == (DroppedItem(items(records, "function_call_output")[0], "orphan", lost),)


def test_damage_is_named(tmp_path):
    found = resumed(tmp_path, WAYS["item damaged"](LINES)[:-20])
    path = str(tmp_path / f"rollout-2026-11-16T03-26-27-{NAME}.jsonl")
    at = items(parsed(LINES))[4] + 1
    assert found.findings == (
        Finding(path, at, "record-damaged", "a record is damaged and is skipped"),
        Finding(path, len(LINES), "record-torn", "the last record is incomplete: it was torn, or is being written"),
    )


def test_truncated_anywhere(tmp_path):
    """At every cut what is left of the items is sent, each call with a result; nothing raises."""
    data = b"".join(LINES)
    ends = [sum(map(len, LINES[: number + 1])) for number in range(len(LINES))]
    records = parsed(LINES)
    for cut in range(0, len(data), 97):
        found = resumed(tmp_path, data[:cut])
        whole = [records[n]["payload"] for n in items(records) if ends[n] <= cut + 1]
        calls = {item["call_id"] for item in whole if item["type"] == "function_call"}
        results = {item["call_id"] for item in whole if item["type"] == "function_call_output"}
        assert len(found.messages) == len(whole) + len(calls - results), cut


@pytest.fixture
def family(tmp_path):
    """A session and its fork, as they lie on disk."""
    folder = tmp_path / "sessions" / "2026" / "11" / "16"
    folder.mkdir(parents=True)
    child = "0199ffff-bbbb-7ccc-8ddd-eeeeeeeeeeee"
    parent = folder / f"rollout-2026-11-16T03-26-27-{NAME}.jsonl"
    parent.write_bytes(b"".join(LINES))
    fork = folder / f"rollout-2026-11-16T04-00-00-{child}.jsonl"
    fork.write_bytes(fork_of(LINES, NAME, child))
    return parent, fork


def test_a_fork_begins_with_what_it_was_made_from(family):
    parent, fork = family
    found = resume_codex(str(fork))
    own = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "In the fork"}]}
    second = next(n for n, item in enumerate(UNCHANGED) if "Second prompt" in json.dumps(item))
    assert found == CodexResumed((*UNCHANGED[:second], own), (), (), "You are a coding agent.")
    archived = parent.parents[4] / "archived_sessions"
    archived.mkdir()
    parent.rename(archived / parent.name)
    assert resume_codex(str(fork)) == found


def test_a_fork_without_its_base_is_refused(family):
    parent, fork = family
    parent.unlink()
    assert resume_codex(str(fork)).refused == f"the session {NAME}, of which it is a fork, is missing"


def test_a_fork_of_itself_ends(family):
    _, fork = family
    text = fork.read_text(encoding="utf-8").replace(f'"thread_id":"{NAME}"', f'"thread_id":"{fork.name[-42:-6]}"')
    fork.write_text(text, encoding="utf-8")
    assert "is missing" in resume_codex(str(fork)).refused


def test_older_rollouts_have_no_wrapper(tmp_path):
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
    old = [
        {"id": NAME, "timestamp": "2025-06-01T10:00:00Z", "instructions": "Be kind."},
        said,
        {"record_type": "state"},
    ]
    found = resumed(tmp_path, dumped(old))
    assert (found.messages, found.instructions, found.context_again) == ((said,), "Be kind.", True)


def test_an_empty_file_is_refused(tmp_path):
    found = resumed(tmp_path, b"")
    assert (found.messages, found.refused) == ((), "the first record is not a session_meta")


def test_a_second_compaction_replaces_the_first(tmp_path):
    twice = put({"message": "b", "replacement_history": []}, kind="compacted")(
        WAYS["compacted at the end"](LINES).splitlines(keepends=True)
    )
    assert resumed(tmp_path, twice).messages == ()
