"""What is wrong with a session is found, and a mended copy has all of it."""

import contextlib
import json
import os

import pytest

from headnote.dialects.claude_sessions import NEWER, OLDER
from headnote.errors import RestoreRefused, SessionFailed, StoreFailed
from headnote.sessions.chain import Link, find_chain
from headnote.sessions.lines import records_of
from headnote.sessions.model import Stored
from headnote.sessions.reach import Links, Reach, reach_of
from headnote.sessions.repair import examine, mend
from headnote.sessions.salvage import Saved, saved_of

from ..memory.machines import Faulty, Quick, in_child
from . import house

SESSION = house.name_of(1)
NEW = house.name_of(2)


def stored_in(folder, data):
    return Stored("claude-code", SESSION, house.write(f"{folder}/{SESSION}.jsonl", data), cwd="/p")


def strictly(path):
    """The records of a file as the agent reads it: a line that is no JSON is passed over."""
    for number, line in enumerate(house.read(path).decode("utf-8-sig", "replace").split("\n"), 1):
        with contextlib.suppress(ValueError):
            value = json.loads(line)
            if isinstance(value, dict):
                yield Link(value, number)


def texts(path, rules=NEWER):
    """The messages that resuming would find, by the rules of the agent."""
    chain = find_chain(strictly(path), rules)
    said = [link.value["message"]["content"] for link in chain.links if link.type in ("user", "assistant")]
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
        10,
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
    found = examine(stored)
    assert house.tree(tmp_path) == before
    assert ([finding.code for finding in found.findings], found.reach.reached) == (codes, reached)
    assert (found.reach.reached + found.reach.lost, found.then.reached, found.then.lost) == (12, 12, 0)
    assert found.is_sound == (not codes)
    made = mend(stored, name=NEW, kernel=Quick())
    assert house.read(stored.path) == data
    expected = [text.replace("user 2", "user 2\ufffd") if name == "not utf-8" else text for text in spoken(TALK)]
    assert [texts(made.path, rules) for rules in (OLDER, NEWER)] == [expected, expected]
    assert examine(made).is_sound
    assert {record.value["sessionId"] for record in records_of(made.path)} == {NEW}
    assert os.stat(made.path).st_mode & 0o777 == 0o600


def test_a_sound_copy_differs_only_in_its_id(tmp_path):
    records = [
        *TALK,
        {"type": "future-thing", "x": [1, 2.5, None]},
        {"type": "last-prompt", "leafUuid": TALK[-1]["uuid"]},
    ]
    stored = stored_in(tmp_path, house.lines(records))
    made = mend(stored, name=NEW, kernel=Quick())
    back = [
        {**record.value, **({"sessionId": SESSION} if "sessionId" in record.value else {})}
        for record in records_of(made.path)
    ]
    assert back == records


def test_our_count_agrees_with_the_rules_of_the_agent(tmp_path):
    for name, (data, _, reached) in DAMAGE.items():
        stored = stored_in(tmp_path, data)
        assert (name, len(texts(stored.path))) == (name, reached)


def test_what_a_compaction_summarised_and_a_rewind_left_is_not_lost():
    boundary = house.said(SESSION, 900, None, "system", subtype="compact_boundary", logicalParentUuid=TALK[7]["uuid"])
    summary = house.said(SESSION, 901, boundary["uuid"], "user", "summary", isCompactSummary=True)
    after = house.said(SESSION, 902, summary["uuid"], "assistant", "on we go")
    aside = house.said(SESSION, 903, TALK[3]["uuid"], "user", "another way")
    side = house.said(SESSION, 904, None, "user", "subagent", isSidechain=True)
    links = Links()
    for record in (*TALK[:6], aside, *TALK[6:8], side, boundary, summary, after):
        links.add(record)
    assert reach_of(links) == Reach(messages=11, reached=2, summarised=8, aside=1, lost=0)
    assert reach_of(links).share == 1.0


def test_a_call_is_not_parted_from_its_result(tmp_path):
    call = house.said(SESSION, 300, TALK[3]["uuid"], "assistant")
    call["message"]["content"] = [{"type": "tool_use", "id": "t", "name": "Read", "input": {}}]
    result = house.said(SESSION, 301, call["uuid"], "user")
    result["message"]["content"] = [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]
    prompt = house.said(SESSION, 302, result["uuid"], "user", "next")
    lost = house.said(SESSION, 303, None, "user", "lost")
    stored = stored_in(tmp_path, house.lines([*TALK[:4], call, lost, result, prompt]))
    assert examine(stored).reach == Reach(messages=8, reached=7, summarised=0, aside=0, lost=1)
    made = mend(stored, name=NEW, kernel=Quick())
    parents = {record.value["uuid"]: record.value["parentUuid"] for record in records_of(made.path)}
    assert parents[result["uuid"]] == call["uuid"]
    assert (parents[lost["uuid"]], parents[prompt["uuid"]]) == (result["uuid"], lost["uuid"])


def test_a_message_without_content_is_taken_out(tmp_path):
    stored = stored_in(tmp_path, changed(4, message=None))
    found = examine(stored)
    assert [finding.code for finding in found.findings] == ["message-hollow"]
    made = mend(stored, name=NEW, kernel=Quick())
    assert texts(made.path) == spoken(TALK[:4] + TALK[5:])
    assert examine(made).is_sound


def test_cut_anywhere_what_was_whole_is_saved(tmp_path):
    data = house.lines(TALK[:3])
    whole = [sum(map(len, LINES[: count + 1])) for count in range(3)]
    for cut in range(1, len(data)):
        stored = stored_in(tmp_path, data[:cut])
        found = examine(stored)
        ready = sum(cut + 1 >= end for end in whole)
        assert (cut, found.then.reached, found.damaged) == (cut, ready, int(cut not in whole and cut + 1 not in whole))


def test_rollouts_and_chats_keep_what_can_be_read(tmp_path):
    first = {"type": "session_meta", "payload": {"id": SESSION, "session_id": SESSION, "cwd": "/p"}}
    items = [{"type": "response_item", "payload": {"id": f"m{number}"}} for number in range(4)]
    data = house.lines([first, items[0]]) + house.lines(items[1:3])[:-1] + house.lines(items[3:]) + b'{"type":'
    name = f"rollout-2026-01-02T03-04-05-{SESSION}.jsonl"
    stored = Stored("codex", SESSION, house.write(f"{tmp_path}/{name}", data))
    found = examine(stored)
    assert [finding.code for finding in found.findings] == ["record-glued", "record-torn"]
    made = mend(stored, name=NEW, kernel=Quick())
    assert os.path.basename(made.path) == f"rollout-2026-01-02T03-04-05-{NEW}.jsonl"
    renamed = {**first, "payload": {**first["payload"], "id": NEW, "session_id": NEW}}
    assert [record.value for record in records_of(made.path)] == [renamed, *items]
    chat = Stored("gemini-cli", SESSION, f"{tmp_path}/session-2026-01-02T03-04-{SESSION[:8]}.jsonl")
    house.write(chat.path, house.lines([{"sessionId": SESSION}, {"$set": {"sessionId": SESSION}}, {"id": "1"}]))
    made = mend(chat, name=NEW, kernel=Quick())
    assert os.path.basename(made.path) == f"session-2026-01-02T03-04-{NEW[:8]}.jsonl"
    back = [record.value for record in records_of(made.path)]
    assert back == [{"sessionId": NEW}, {"$set": {"sessionId": NEW}}, {"id": "1"}]


def test_nothing_is_overwritten_and_a_failure_leaves_nothing(tmp_path):
    stored = stored_in(tmp_path, without_parent(4))
    mend(stored, name=NEW, kernel=Quick())
    before = house.files(tmp_path)
    with pytest.raises(RestoreRefused, match="not overwritten"):
        mend(stored, name=NEW, kernel=Quick())
    with pytest.raises(SessionFailed, match="no files"):
        mend(Stored("opencode", "s", "/x/opencode.db"))
    for fault in (28, "short"):
        for at in range(1, 8):
            folder = f"{tmp_path}/{fault}-{at}"
            with contextlib.suppress(StoreFailed):
                mend(stored, folder, name=NEW, kernel=Faulty(at, fault))
            made = [name for name in os.listdir(folder) if name.endswith(".jsonl")]
            assert all(len(texts(f"{folder}/{name}")) == 12 for name in made)
    for at in range(1, 8):
        in_child(lambda at=at: mend(stored, f"{tmp_path}/die-{at}", name=NEW, kernel=Faulty(at, "torn")).id)
        made = [name for name in os.listdir(f"{tmp_path}/die-{at}") if name.endswith(".jsonl")]
        assert all(len(texts(f"{tmp_path}/die-{at}/{name}")) == 12 for name in made)
    assert {path: facts for path, facts in house.files(tmp_path).items() if "/" not in path} == before


def test_lines_that_try_hard_end_soon():
    hostile = b'{"a":' * 50_000
    assert saved_of(hostile) == Saved((), len(hostile), "damaged")
    assert saved_of(b"\0\0").records == ()
    assert saved_of(b'{"a": 1} trailing {"b": 2}').records == ({"a": 1}, {"b": 2})
    assert saved_of(json.dumps({"text": '{"x": 1}'}).encode()[:-2]).records == ()
