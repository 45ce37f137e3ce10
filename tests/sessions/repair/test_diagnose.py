"""What is wrong with a session is found, and a mended copy has all of it."""

import contextlib
import json
import os

import pytest

from foretold.cli.sessions import command
from foretold.dialects.claude_code.sessions import NEWEST, OLDEST, rules_of
from foretold.errors import RestoreRefused, SessionFailed, StoreFailed
from foretold.sessions.formats.jsonl import records_of
from foretold.sessions.model import StoredSession
from foretold.sessions.repair.copy import write_repaired_copy
from foretold.sessions.repair.diagnose import diagnose
from foretold.sessions.repair.reachability import REACHED, Reach, count_reach, find_reachability
from foretold.sessions.repair.salvage import Salvaged, salvage, salvage_lines
from foretold.sessions.resumption.chain import find_chain
from foretold.sessions.resumption.claude import resume
from foretold.sessions.resumption.graph import Graph, RecordNode

from ...memory.machines import Faulty, Quick, in_child
from .. import house
from ..claude_damage import damaged

SESSION = house.name_of(1)
NEW = house.name_of(2)


def stored_in(folder, data):
    return StoredSession("claude-code", SESSION, house.write(f"{folder}/{SESSION}.jsonl", data), cwd="/p")


def strictly(path):
    """The records of a file as the agent reads it: a line that is no JSON is passed over."""
    for number, line in enumerate(house.read(path).decode("utf-8-sig", "replace").split("\n"), 1):
        with contextlib.suppress(ValueError):
            value = json.loads(line)
            if isinstance(value, dict):
                yield RecordNode(value, number)


def texts(path, rules=NEWEST):
    """The messages that resuming would find, by the rules of the agent."""
    chain = find_chain(strictly(path), rules)
    said = [link.value["message"]["content"] for link in chain.nodes if link.type in ("user", "assistant")]
    return [each if isinstance(each, str) else each[0]["text"] for each in said]


def spoken(records):
    return [
        each if isinstance(each, str) else each[0]["text"]
        for each in (record["message"]["content"] for record in records)
    ]


TALK = house.talk(SESSION, 6)


def without_parent(*turns):
    return house.lines({**record, "parentUuid": None} if at in turns else record for at, record in enumerate(TALK))


def changed(at, **fields):
    return house.lines({**record, **fields} if number == at else record for number, record in enumerate(TALK))


LINES = [house.lines([record]) for record in TALK]


def with_line(at, data):
    return b"".join([*LINES[:at], data, *LINES[at:]])


DAMAGE = {
    "sound": (house.lines(TALK), [], 12),
    "a root in the middle": (without_parent(4), ["chain-broken"], 8),
    "five per cent": (without_parent(2, 4, 6, 8, 10), ["chain-broken"], 2),
    "a parent that is not there": (changed(4, parentUuid=house.name_of(99)), ["parent-missing"], 12),
    "a circle": (changed(0, parentUuid=TALK[-1]["uuid"]), ["chain-cycle"], 12),
    "its own parent": (changed(4, parentUuid=TALK[4]["uuid"]), ["chain-cycle"], 12),
    "null": (with_line(4, b"null\n"), ["record-strange"], 12),
    "a list": (with_line(4, b"[1]\n"), ["record-strange"], 12),
    "nul bytes": (with_line(4, b"\0" * 300), ["record-nul", "chain-broken", "parent-missing"], 11),
    "glued": (
        b"".join([*LINES[:4], LINES[4][:-1], *LINES[5:]]),
        ["record-glued", "chain-broken", "parent-missing"],
        11,
    ),
    "torn and glued": (
        with_line(4, LINES[3][:70]),
        ["record-torn", "chain-broken", "parent-missing"],
        11,
    ),
    "the same uuid, without a parent": (
        house.lines([*TALK, {**TALK[4], "parentUuid": None}]),
        ["chain-broken", "record-double"],
        8,
    ),
    "not utf-8": (house.lines(TALK).replace(b"user 2", b"user 2\xff"), ["not-utf8"], 12),
    "windows": (house.lines(TALK).replace(b"\n", b"\r\n"), [], 12),
    "a mark at the start": (b"\xef\xbb\xbf" + house.lines(TALK), [], 12),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_named_and_the_mended_copy_reaches_everything(tmp_path, name):
    data, codes, reached = DAMAGE[name]
    stored = stored_in(tmp_path, data)
    before = house.tree(tmp_path)
    found = diagnose(stored)
    assert house.tree(tmp_path) == before
    assert ([finding.code for finding in found.findings], found.reach.reached) == (codes, reached)
    assert (found.reach.reached + found.reach.lost, found.after_repair.reached, found.after_repair.lost) == (12, 12, 0)
    assert found.is_sound == (not codes)
    made = write_repaired_copy(stored, name=NEW, kernel=Quick())
    assert house.read(stored.path) == data
    expected = [text.replace("user 2", "user 2\ufffd") if name == "not utf-8" else text for text in spoken(TALK)]
    assert [texts(made.path, rules) for rules in (OLDEST, NEWEST)] == [expected, expected]
    assert diagnose(made).is_sound
    assert {record.value["sessionId"] for record in records_of(made.path)} == {NEW}
    assert os.stat(made.path).st_mode & 0o777 == 0o600


def test_a_sound_copy_differs_only_in_its_id(tmp_path):
    records = [
        *TALK,
        {"type": "future-thing", "x": [1, 2.5, None]},
        {"type": "last-prompt", "leafUuid": TALK[-1]["uuid"]},
    ]
    stored = stored_in(tmp_path, house.lines(records))
    made = write_repaired_copy(stored, name=NEW, kernel=Quick())
    back = [
        {**record.value, **({"sessionId": SESSION} if "sessionId" in record.value else {})}
        for record in records_of(made.path)
    ]
    assert back == records


VERSIONS = ("2.1.197", "2.1.325")
SETTLED = ("call-without-result", "thinking-alone", "blank-answer")  #: reached, and then left out


def sent(path, version):
    """What resuming finds: why it is refused, and the records of the conversation."""
    found = resume(path, version=version)
    chain = {link.value.get("uuid") for link in found.chain if link.line}
    return found.error, chain | {
        each.id if "-" in each.id else None for each in found.dropped if each.reason in SETTLED
    }


def reached(path, version):
    """The same, as a diagnosis finds it."""
    graph, names = Graph(rules_of(version)), {}
    for found in salvage_lines(path):
        graph.has_null = graph.has_null or found.saved.damage == "null"
        for record in found.saved.records[: found.saved.read]:
            graph.add(record)
            names[graph.uuids.find(record.get("uuid"))] = record.get("uuid")
    judged = find_reachability(graph.close())
    return judged.route.refused, {names[number] for number, state in enumerate(judged.state) if state == REACHED}


ODD = (380, 458, 459, 693, 722, 1232, 1321, 2293, 2682, 2819, 2992)  #: once a copy was not as it was foretold


@pytest.mark.parametrize("seeds", [*(range(seed, seed + 20) for seed in range(0, 120, 20)), ODD])
def test_what_is_reached_is_what_resuming_finds_and_a_mended_copy_loses_nothing(tmp_path, seeds):
    for number in seeds:
        data = damaged(number)
        stored = stored_in(tmp_path, data)
        for version in VERSIONS:
            assert (number, reached(stored.path, version)) == (number, sent(stored.path, version))
        then = [diagnose(stored, version=version).after_repair for version in VERSIONS]
        made = write_repaired_copy(stored, name=NEW, kernel=Quick())
        assert house.read(stored.path) == data
        for version, expected in zip(VERSIONS, then, strict=True):
            found = diagnose(made, version=version)
            assert (number, reached(made.path, version)) == (number, sent(made.path, version))
            if expected.messages:
                assert (number, found.reach, found.findings) == (number, expected, ())
                assert (number, expected.lost, expected.refused) == (number, 0, "")
        os.remove(made.path)


def test_a_lost_parent_costs_all_that_is_more_than_five_seconds_older(tmp_path):
    records = [dict(record) for record in TALK]
    records[6]["parentUuid"] = house.name_of(99)
    for record in records[6:]:
        record["timestamp"] = record["timestamp"].replace("T03:", "T04:")
    found = diagnose(stored_in(tmp_path, house.lines(records)))
    assert found.reach == Reach(messages=12, reached=6, summarised=0, aside=0, lost=6, broken=1)
    assert found.after_repair == Reach(messages=12, reached=12, summarised=0, aside=0, lost=0)


def test_damage_that_older_versions_refuse_is_said(tmp_path):
    stored = stored_in(tmp_path, with_line(4, b"null\n"))
    older, newer = (diagnose(stored, version=version) for version in VERSIONS)
    assert (older.reach.reached, older.reach.lost, older.after_repair.reached) == (0, 12, 12)
    assert older.version == "2.1.197"
    assert older.refused == "a line is `null`, which this version cannot resume"
    assert [finding.code for finding in older.findings] == ["session-refused", "record-strange"]
    assert (newer.reach.reached, newer.refused) == (12, "")


def test_a_record_costs_few_bytes():
    graph = Graph()
    for record in house.talk(SESSION, 5000):
        record["message"]["id"] = record["uuid"]
        graph.add(record)
    arrays = (graph.parent, graph.times, graph.flags, graph.group, graph.caller)
    arrays += tuple(part for numbers in (graph.uuids, graph.message_ids) for part in (numbers.hashes, numbers.slots))
    assert sum(len(each) * each.itemsize for each in arrays) / 10_000 < 40


def test_what_a_compaction_summarised_and_a_rewind_left_is_not_lost():
    boundary = house.said(SESSION, 900, None, "system", subtype="compact_boundary", logicalParentUuid=TALK[7]["uuid"])
    summary = house.said(SESSION, 901, boundary["uuid"], "user", "summary", isCompactSummary=True)
    after = house.said(SESSION, 902, summary["uuid"], "assistant", "on we go")
    aside = house.said(SESSION, 903, TALK[3]["uuid"], "user", "another way")
    side = house.said(SESSION, 904, None, "user", "subagent", isSidechain=True)
    graph = Graph()
    for record in (*TALK[:6], aside, *TALK[6:8], side, boundary, summary, after):
        graph.add(record)
    graph.close()
    assert count_reach(graph) == Reach(messages=11, reached=2, summarised=8, aside=1, lost=0)
    assert count_reach(graph).share == 1.0


def test_a_call_is_not_parted_from_its_result(tmp_path):
    call = house.said(SESSION, 300, TALK[3]["uuid"], "assistant")
    call["message"]["content"] = [{"type": "tool_use", "id": "t", "name": "Read", "input": {}}]
    result = house.said(SESSION, 301, call["uuid"], "user")
    result["message"]["content"] = [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]
    prompt = house.said(SESSION, 302, result["uuid"], "user", "next")
    lost = house.said(SESSION, 303, None, "user", "lost")
    stored = stored_in(tmp_path, house.lines([*TALK[:4], call, lost, result, prompt]))
    assert diagnose(stored).reach == Reach(messages=8, reached=7, summarised=0, aside=0, lost=1)
    made = write_repaired_copy(stored, name=NEW, kernel=Quick())
    parents = {record.value["uuid"]: record.value["parentUuid"] for record in records_of(made.path)}
    assert parents[result["uuid"]] == call["uuid"]
    assert (parents[lost["uuid"]], parents[prompt["uuid"]]) == (result["uuid"], lost["uuid"])


def test_a_message_without_content_is_taken_out(tmp_path):
    stored = stored_in(tmp_path, changed(4, message=None))
    found = diagnose(stored)
    assert [finding.code for finding in found.findings] == ["message-hollow"]
    made = write_repaired_copy(stored, name=NEW, kernel=Quick())
    assert texts(made.path) == spoken(TALK[:4] + TALK[5:])
    assert diagnose(made).is_sound


def test_cut_anywhere_what_was_whole_is_saved(tmp_path):
    data = house.lines(TALK[:3])
    whole = [sum(map(len, LINES[: count + 1])) for count in range(3)]
    for cut in range(1, len(data)):
        stored = stored_in(tmp_path, data[:cut])
        found = diagnose(stored)
        ready = sum(cut + 1 >= end for end in whole)
        assert (cut, found.after_repair.reached, found.damaged) == (
            cut,
            ready,
            int(cut not in whole and cut + 1 not in whole),
        )


def test_rollouts_and_chats_keep_what_can_be_read(tmp_path):
    first = {"type": "session_meta", "payload": {"id": SESSION, "session_id": SESSION, "cwd": "/p"}}
    items = [{"type": "response_item", "payload": {"id": f"m{number}"}} for number in range(4)]
    data = house.lines([first, items[0]]) + house.lines(items[1:3])[:-1] + house.lines(items[3:]) + b'{"type":'
    name = f"rollout-2026-01-02T03-04-05-{SESSION}.jsonl"
    stored = StoredSession("codex", SESSION, house.write(f"{tmp_path}/{name}", data))
    found = diagnose(stored)
    assert [finding.code for finding in found.findings] == ["record-glued", "record-torn"]
    made = write_repaired_copy(stored, name=NEW, kernel=Quick())
    assert os.path.basename(made.path) == f"rollout-2026-01-02T03-04-05-{NEW}.jsonl"
    renamed = {**first, "payload": {**first["payload"], "id": NEW, "session_id": NEW}}
    assert [record.value for record in records_of(made.path)] == [renamed, *items]
    chat = StoredSession("gemini-cli", SESSION, f"{tmp_path}/session-2026-01-02T03-04-{SESSION[:8]}.jsonl")
    house.write(chat.path, house.lines([{"sessionId": SESSION}, {"$set": {"sessionId": SESSION}}, {"id": "1"}]))
    made = write_repaired_copy(chat, name=NEW, kernel=Quick())
    assert os.path.basename(made.path) == f"session-2026-01-02T03-04-{NEW[:8]}.jsonl"
    back = [record.value for record in records_of(made.path)]
    assert back == [{"sessionId": NEW}, {"$set": {"sessionId": NEW}}, {"id": "1"}]


META = {"timestamp": "t", "type": "session_meta", "payload": {"id": SESSION, "cwd": "/p"}}
ITEMS = [{"timestamp": "t", "type": "response_item", "payload": {"text": f"ü {number}"}} for number in range(3)]
PAGES = {**META, "ordinal": 0, "payload": {**META["payload"], "history_mode": "paginated"}}
NO_META = "the first record is not a session_meta"


def pages(numbers):
    return [PAGES, *({**item, "ordinal": number} for item, number in zip(ITEMS, numbers, strict=False))]


ROLLOUTS = {
    "sound": (house.lines([META, *ITEMS]), "", [META, *ITEMS]),
    "no utf-8": (
        house.lines([META, *ITEMS]) + b'{"type": "\xff"}\n',
        "a byte of line 5 is not UTF-8, so Codex reads nothing of the file",
        [META, *ITEMS, {"type": "\ufffd"}],
    ),
    "torn within a character": (
        house.lines([META, *ITEMS]) + b'{"type": "\xc3',
        "a byte of line 5 is not UTF-8, so Codex reads nothing of the file",
        [META, *ITEMS],
    ),
    "a mark": (
        b"\xef\xbb\xbf" + house.lines([META, *ITEMS]),
        "it begins with a byte order mark",
        [META, *ITEMS],
    ),
    "the first line is another": (house.lines([ITEMS[0], META, *ITEMS[1:]]), NO_META, [META, *ITEMS]),
    "the first line is glued": (house.lines([META])[:-1] + house.lines(ITEMS), NO_META, [META, *ITEMS]),
    "no number": (
        house.lines([*pages([1, 2]), ITEMS[2]]),
        "the last record has no ordinal",
        pages([1, 2, 3]),
    ),
}


@pytest.mark.parametrize("name", ROLLOUTS)
def test_what_makes_codex_refuse_a_rollout_is_said_and_mended(tmp_path, name):
    data, refused, records = ROLLOUTS[name]
    stored = StoredSession("codex", SESSION, house.write(f"{tmp_path}/rollout-{SESSION}.jsonl", data))
    found = diagnose(stored)
    assert (found.refused, found.is_sound) == (refused, not refused)
    assert [each.code for each in found.findings][:1] == (["session-refused"] if refused else [])
    made = write_repaired_copy(stored, name=NEW, kernel=Quick())
    assert house.read(stored.path) == data
    assert diagnose(made).is_sound
    back = [json.loads(line.replace(NEW, SESSION)) for line in house.read(made.path).decode().splitlines()]
    assert back == records


def test_a_rollout_without_its_beginning_gets_one(tmp_path):
    path = house.write(f"{tmp_path}/rollout-{SESSION}.jsonl", house.lines(ITEMS))
    made = write_repaired_copy(StoredSession("codex", SESSION, path, cwd="/p"), name=NEW, kernel=Quick())
    first, *rest = (json.loads(line) for line in house.read(made.path).splitlines())
    assert (first["type"], first["payload"]["id"], first["payload"]["cwd"], rest) == ("session_meta", NEW, "/p", ITEMS)
    assert diagnose(made).is_sound


def test_a_session_that_its_agent_is_about_to_delete_is_to_be_archived(tmp_path):
    said = {"id": "1", "type": "user", "content": "hello"}
    path = f"{tmp_path}/chats/session-2026-01-02T03-04-{SESSION[:8]}.jsonl"
    house.write(path, house.lines([{"sessionId": SESSION}, said]))
    house.write(path.replace("03-04", "03-09"), house.lines([{"sessionId": SESSION}]))
    (finding,) = diagnose(StoredSession("gemini-cli", SESSION, path)).findings
    assert (finding.code, finding.hint) == ("session-doomed", f"foretold sessions archive {SESSION}")


USES = {
    "sound": (house.lines(TALK), "nothing is wrong with it"),
    "empty": (b"", "nothing can be saved: there is no message in it"),
    "garbage": (b"\x89garbage\n" * 3, "nothing can be saved: there is no message in it"),
    "a torn end": (house.lines(TALK) + LINES[0][:50], "a copy would not have more"),
    "a list": (with_line(4, b"[1]\n"), "a copy would not have more"),
    "a parent that is not there": (changed(4, parentUuid=house.name_of(99)), "a copy would not have more"),
    "null": (with_line(4, b"null\n"), ""),
    "without content": (changed(4, message=None), ""),
    "a root in the middle": (without_parent(4), ""),
    "glued": (b"".join([*LINES[:4], LINES[4][:-1], *LINES[5:]]), ""),
}


@pytest.mark.parametrize("name", USES)
def test_a_copy_is_written_only_if_it_is_of_use(tmp_path, name, capsys):
    data, useless = USES[name]
    stored = stored_in(f"{tmp_path}/.claude/projects/-p", data)
    found = diagnose(stored)
    assert found.useless == useless
    hints = {finding.hint for finding in found.findings} - {""}
    assert hints <= (set() if useless else {f"foretold sessions repair {stored.path} --write"})
    before = house.tree(tmp_path)
    code = command(["repair", SESSION, "--write", "--home", str(tmp_path), "-C", str(tmp_path)])
    out = capsys.readouterr().out
    assert code == int(not found.is_sound)
    if useless:
        assert house.tree(tmp_path) == before
        assert out.endswith(f"\n{useless[0].upper()}{useless[1:]}. Nothing was written.\n")
    else:
        (made,) = house.tree(tmp_path).keys() - before.keys()
        (written,) = (line for line in out.splitlines() if line.startswith("Written: "))
        assert written.endswith(f"/{os.path.basename(made)}")


def test_a_rollout_is_copied_only_if_codex_reads_more_of_it(tmp_path):
    def useless(data):
        return diagnose(
            StoredSession("codex", SESSION, house.write(f"{tmp_path}/rollout-{SESSION}.jsonl", data))
        ).useless

    whole = house.lines([META, *ITEMS])
    assert useless(whole) == "nothing is wrong with it"
    assert useless(whole + b'{"type":') == "a copy would not have more"
    assert useless(whole.replace(b"}\n{", b"}{", 1)) == ""
    assert useless(whole + b"\xff") == ""
    assert useless(b"") == "nothing can be saved"


def test_findings_about_links_say_the_first_line(tmp_path):
    data = house.lines(
        {**record, "parentUuid": {4: None, 7: house.name_of(98), 9: house.name_of(99)}.get(at, record["parentUuid"])}
        for at, record in enumerate(TALK)
    )
    found = diagnose(stored_in(tmp_path, b"\n" + data))
    assert [(each.line, each.code, each.message) for each in found.findings] == [
        (
            2,
            "chain-broken",
            "4 of 12 messages are not reached on resume; this is the first. What is reached begins in line 6",
        ),
        (9, "parent-missing", "2 records have a parent that is not in the file; this is the first"),
    ]
    glued = diagnose(stored_in(tmp_path, b"".join([*LINES[:-2], LINES[-2][:-1], LINES[-1]])))
    assert [(each.line, each.code) for each in glued.findings] == [(11, "record-glued"), (11, "chain-broken")]


def test_what_is_told_adds_up_and_is_told_once(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    boundary = house.said(SESSION, 900, None, "system", subtype="compact_boundary", logicalParentUuid=TALK[3]["uuid"])
    summary = house.said(SESSION, 901, boundary["uuid"], "user", "summary", isCompactSummary=True)
    after = {**TALK[4], "parentUuid": summary["uuid"]}
    aside = house.said(SESSION, 903, TALK[3]["uuid"], "user", "another way")
    talk = house.lines([*TALK[:4], aside, boundary, summary, after, *TALK[5:10], {**TALK[10], "parentUuid": None}])
    last = house.lines([{**TALK[11], "parentUuid": summary["uuid"]}])
    stored_in(f"{tmp_path}/.claude/projects/-p", talk + b"[]\n3\n" + last)
    command(["repair", SESSION, "--home", str(tmp_path), "-C", str(tmp_path)])
    assert capsys.readouterr().out.splitlines()[3:] == [
        "  17 lines, 15 records, 2 damaged lines; 3 bytes are lost",
        "  2 of 14 messages are reached when it is resumed",
        "  with claude-code 2.1.325, which wrote it last",
        "    4 before a compaction, which summarised them",
        "    7 aside: a rewind left them, or tools ran in parallel",
        "    1 not reached",
        "",
        "  2 times, first at line 15: warning record-strange: JSON that is not a record; it is skipped",
        "  line 14: error chain-broken: 1 of 14 messages are not reached on resume; this is the first",
        "",
        "Of a repaired copy 3 of 14 messages are reached; 4 before a compaction, 7 aside.",
        "Write one, as a new session next to this one, which is not changed:",
        f"  foretold sessions repair {SESSION} --write --home {tmp_path}",
    ]


def test_nothing_is_overwritten_and_a_failure_leaves_nothing(tmp_path):
    stored = stored_in(tmp_path, without_parent(4))
    write_repaired_copy(stored, name=NEW, kernel=Quick())
    before = house.files(tmp_path)
    with pytest.raises(RestoreRefused, match="not overwritten"):
        write_repaired_copy(stored, name=NEW, kernel=Quick())
    with pytest.raises(SessionFailed, match="not files"):
        write_repaired_copy(StoredSession("opencode", "s", "/x/opencode.db"))
    for fault in (28, "short"):
        for at in range(1, 8):
            folder = f"{tmp_path}/{fault}-{at}"
            with contextlib.suppress(StoreFailed):
                write_repaired_copy(stored, folder, name=NEW, kernel=Faulty(at, fault))
            made = [name for name in os.listdir(folder) if name.endswith(".jsonl")]
            assert all(len(texts(f"{folder}/{name}")) == 12 for name in made)
    for at in range(1, 8):
        in_child(
            lambda at=at: write_repaired_copy(stored, f"{tmp_path}/die-{at}", name=NEW, kernel=Faulty(at, "torn")).id
        )
        made = [name for name in os.listdir(f"{tmp_path}/die-{at}") if name.endswith(".jsonl")]
        assert all(len(texts(f"{tmp_path}/die-{at}/{name}")) == 12 for name in made)
    assert {path: facts for path, facts in house.files(tmp_path).items() if "/" not in path} == before


def test_lines_that_try_hard_end_soon():
    hostile = b'{"a":' * 50_000
    assert salvage(hostile) == Salvaged((), len(hostile), "damaged")
    assert salvage(b"\0\0").records == ()
    assert salvage(b'{"type": 1} trailing {"type": 2}').records == ({"type": 1}, {"type": 2})
    assert salvage(json.dumps({"text": '{"x": 1}'}).encode()[:-2]).records == ()
