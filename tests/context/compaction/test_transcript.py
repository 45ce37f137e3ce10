"""Compaction as Claude Code writes it down; `fixtures/compaction.json` has what the agent itself wrote."""

import json
import os

import pytest

from foretold.context.compaction.transcript import (
    CompactionFacts,
    chain,
    compaction_records,
    kept_by,
    limit,
    record_groups,
    shown_summary,
    summary_text,
    tools_of,
)
from foretold.dialects.claude_code.compaction import compaction_rules
from foretold.instructions.compaction.restored_files import Seen, restore_files

V2_1_197, V2_1_325 = FORMS = (compaction_rules("2.1.197"), compaction_rules("2.1.325"))

with open(os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "compaction.json"), encoding="utf-8") as file:
    RECORDED = json.load(file)
BOTH = pytest.mark.parametrize("version", ["2.1.197", "2.1.325"])
PATH = "/r/home/.claude/projects/-r-proj/{id}.jsonl"


def numbers():
    """Ids that can be told apart."""
    return iter(f"made-{number}" for number in range(100)).__next__


def facts_of(boundary):
    data = boundary["compactMetadata"]
    gone = data["cumulativeDroppedTokens"] - max(0, data["preTokens"] - data["postTokens"])
    return CompactionFacts(data["trigger"], data["preTokens"], data["postTokens"], gone, data["durationMs"])


@pytest.mark.parametrize("case", RECORDED["compactions"], ids=lambda case: f"{case['version']} {case['case']}")
def test_as_the_agent_wrote_it(case):
    boundary, summary = case["boundary"], case["summary"]
    path = PATH.format(id=boundary["sessionId"])
    written = compaction_records(case["records"], case["answer"], path, facts=facts_of(boundary), make_id=numbers())
    made, said = written.records
    assert said["message"] == summary["message"]
    for ours, theirs in ((made, boundary), (said, summary)):
        same = {name: value for name, value in ours.items() if name not in CHOSEN}
        assert same == {name: theirs[name] for name in same if name in theirs} | extra(theirs, same)
    assert kept_by(made) == kept_by(boundary) == list(written.kept)
    counts = ("trigger", "preTokens", "postTokens", "durationMs", "cumulativeDroppedTokens")
    assert [made["compactMetadata"][name] for name in counts] == [boundary["compactMetadata"][name] for name in counts]
    assert (made["parentUuid"], said["parentUuid"]) == (None, made["uuid"])
    if not written.kept:
        assert "preservedSegment" not in made["compactMetadata"]
        return
    segment, real = made["compactMetadata"]["preservedSegment"], boundary["compactMetadata"]["preservedSegment"]
    assert (segment["headUuid"], segment["tailUuid"]) == (real["headUuid"], real["tailUuid"])
    assert segment["anchorUuid"] == said["uuid"] == "made-1"


#: what differs from one run to the next
CHOSEN = ("uuid", "parentUuid", "timestamp", "compactMetadata", "slug")


def extra(theirs, ours):
    """`isMeta` is left out by later versions when they compact by themselves."""
    return {"isMeta": False} if "isMeta" in ours and "isMeta" not in theirs else {}


def test_the_order_of_the_fields():
    case = RECORDED["compactions"][0]
    path = PATH.format(id=case["boundary"]["sessionId"])
    made = compaction_records(case["records"], case["answer"], path).records[0]
    assert list(made) == [name for name in case["boundary"] if name != "slug"]
    assert list(made["compactMetadata"]) == list(case["boundary"]["compactMetadata"])


@BOTH
@pytest.mark.parametrize("case", RECORDED["summaries"], ids=lambda case: case["name"])
def test_what_of_an_answer_is_shown(case, version):
    assert shown_summary(case["answer"], compaction_rules(version)) == case[version]


@pytest.mark.parametrize(("text", "shown"), [("a $` b", "a P b"), ("a $' b", "a Q b"), ("$1 $a $", "$1 $a $")])
def test_dollars_of_the_earlier_version(text, shown):
    """What JavaScript's `replace` makes of its second argument."""
    answer = f"P<summary>{text}</summary>Q"
    assert shown_summary(answer, V2_1_197) == f"PSummary:\n{shown}Q"
    assert shown_summary(answer, V2_1_325) == f"PSummary:\n{text}Q"


def test_tags_that_are_never_closed_cost_little():
    hostile = "<analysis><summary>" * 200_000
    assert shown_summary(hostile, V2_1_197) == hostile


def test_nothing_kept_is_not_spoken_of():
    for form in FORMS:
        kept, none = (summary_text("S", "/t", form, has_kept=has) for has in (True, False))
        assert kept.startswith(none)
        assert (kept == none) is (form is V2_1_197)


# -- groups and refusals -----------------------------------------------------------------------------------------


def record(name, kind, message=None, version="2.1.325", **fields):
    return {"type": kind, "uuid": name, "message": message, "version": version, "cwd": "/w", **fields}


def prompt(name, **fields):
    return record(name, "user", {"role": "user", "content": name}, **fields)


def answer(name, id, *tools, **fields):  # noqa: A002
    blocks = [{"type": "tool_use", "id": tool, "name": tool} for tool in tools] or [{"type": "text", "text": name}]
    return record(name, "assistant", {"id": id, "content": blocks}, **fields)


def test_a_record_that_was_written_again_counts_once():
    """2.1.197 does so when it compacts for the second time."""
    boundary = record("x", "system", subtype="compact_boundary")
    told = [prompt("a"), answer("b", "1"), boundary, prompt("s", isCompactSummary=True), prompt("a"), answer("c", "2")]
    assert [each["uuid"] for each in chain(told)] == ["s", "c"]


def test_groups_of_records():
    told = [prompt("p"), answer("a", "1"), answer("b", "1", "Read"), prompt("r"), answer("c", "2"), prompt("q")]
    assert [[each["uuid"] for each in group] for group in record_groups(told)] == [["p"], ["a", "b", "r"], ["c", "q"]]
    assert tools_of(told) == ["Read"]


def test_the_chain_begins_at_the_last_boundary():
    boundary = record("x", "system", subtype="compact_boundary")
    boundary["compactMetadata"] = {"preservedMessages": {"uuids": ["b"], "allUuids": ["b", "gone"]}}
    told = [prompt("a"), prompt("b"), {"type": "last-prompt"}, prompt("s", isSidechain=True), boundary, prompt("c")]
    assert [each["uuid"] for each in chain(told)] == ["b", "c"]
    told[-1:] = [prompt("t"), prompt("s", isCompactSummary=True), prompt("c")]
    assert [each["uuid"] for each in chain(told)] == ["t", "s", "b", "c"]
    assert kept_by(record("y", "system")) == kept_by(record("y", "system", compactMetadata={})) == []


@pytest.mark.parametrize(
    ("version", "trigger", "reason", "kept"),
    [
        ("2.1.197", "manual", "too_few_groups", ()),
        ("2.1.197", "auto", "too_few_groups", ()),
        ("2.1.325", "manual", "", ()),
        ("2.1.325", "auto", "too_few_groups", ()),
    ],
)
def test_one_turn(version, trigger, reason, kept):
    told = [prompt("p", version=version), answer("a", "1", version=version)]
    written = compaction_records(told, "S", "/t", facts=CompactionFacts(trigger))
    assert (written.reason, written.kept, bool(written.records)) == (reason, kept, not reason)
    if not reason:
        assert written.dropped == ("p", "a")
        assert "preservedSegment" not in written.records[0]["compactMetadata"]


@BOTH
def test_one_turn_with_a_tool_is_enough(version):
    told = [prompt("p"), answer("a", "1", "Read"), prompt("r"), answer("b", "2")]
    written = compaction_records([{**each, "version": version} for each in told], "S", "/t")
    assert (written.kept, written.dropped) == (("b",), ("p", "a", "r"))


def test_refused():
    told = [prompt("p"), answer("a", "1"), prompt("q"), answer("b", "2")]
    for blank in (" \n", "<analysis>all of it</analysis>", "<summary> \n</summary>"):
        assert compaction_records(told, blank, "/t").reason == "empty-summary"
    assert compaction_records([], "S", "/t", facts=CompactionFacts("auto")) == ([], "too_few_groups", (), ())
    assert compaction_records([], "S", "/t") == ([], "too_few_groups", (), ())


def test_dropped_tokens_add_up():
    told = [prompt("p"), answer("a", "1"), prompt("q"), answer("b", "2")]
    made = compaction_records(
        told, "S", "/t", facts=CompactionFacts("auto", 900, 200, 1000), now=1_800_000_000.25
    ).records[0]
    assert made["compactMetadata"]["cumulativeDroppedTokens"] == 1700
    assert made["timestamp"] == "2027-01-15T08:00:00.250Z"
    grown = compaction_records(told, "S", "/t", facts=CompactionFacts("auto", 200, 900)).records[0]
    assert grown["compactMetadata"]["cumulativeDroppedTokens"] == 0


def test_when_it_happens_by_itself():
    """100,000 with usage of 67,000 was compacted, 66,999 was not."""
    assert [limit(100_000, form) for form in FORMS] == [67_000, 67_000]


# -- files -----------------------------------------------------------------------------------------------------


def test_attached_files_follow_the_summary():
    told = [prompt("p"), answer("a", "1"), prompt("q"), answer("b", "2")]
    read = [Seen("/w/big", "x" * 30_000, 3.0), Seen("/w/a\\b", 'one\n"two"', 2.0)]
    written = compaction_records(
        told, "S", "/t", restored=restore_files(read, V2_1_325, cwd="/w"), make_id=numbers(), now=0.0
    )
    _, summary, file, named = written.records
    assert [each["parentUuid"] for each in (file, named)] == [summary["uuid"], file["uuid"]]
    content = {"filePath": "/w/a\\b", "content": 'one\n"two"', "numLines": 2, "startLine": 1, "totalLines": 2}
    assert file == {
        "parentUuid": "made-1",
        "isSidechain": False,
        "attachment": {
            "type": "file",
            "filename": "/w/a\\b",
            "content": {"type": "text", "file": content},
            "displayPath": "a\\b",
            "savedCopyFraming": {"enveloped": False},
        },
        "type": "attachment",
        "uuid": "made-2",
        "timestamp": "1970-01-01T00:00:00.000Z",
        "rendered": [
            {
                "content": "<system-reminder>\nCalled the Read tool with the following input: "
                '{"file_path":"/w/a\\\\b"}\n</system-reminder>'
            },
            {"content": '<system-reminder>\nResult of calling the Read tool:\n1\tone\n2\t"two"\n</system-reminder>'},
        ],
        "renderedRole": "user",
        "cwd": "/w",
        "version": "2.1.325",
    }
    assert named["attachment"] == {"type": "compact_file_reference", "filename": "/w/big", "displayPath": "big"}
    note = (
        "Note: /w/big was read before the last conversation was summarized, but the contents are too large to include. "
        "Use Read tool if you need to access it."
    )
    assert named["rendered"] == [{"content": f"<system-reminder>\n{note}\n</system-reminder>"}]
    assert named["renderedRole"] == "system"


def test_the_earlier_version_renders_when_it_reads():
    told = [{**each, "version": "2.1.197"} for each in (prompt("p"), answer("a", "1"), prompt("q"), answer("b", "2"))]
    restored = restore_files([Seen("/w/a", "one", 2.0)], V2_1_197, cwd="/w")
    (file,) = compaction_records(told, "S", "/t", restored=restored).records[2:]
    assert ("rendered" in file, "savedCopyFraming" in file["attachment"]) == (False, False)
