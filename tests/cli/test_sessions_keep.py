"""`foretold sessions archive, restore, repair, du, prune, relocate`: what they print, and what they leave alone."""

import json
import os
import shutil
import sqlite3
import time

import pytest

from foretold.cli.sessions import command
from foretold.dialects.claude_code.settings import slug
from foretold.errors import ForetoldError
from foretold.sessions.archive.archive import find_unarchived
from foretold.sessions.archive.retention import find_expiring_sessions
from foretold.sessions.model import Homes

from ..sessions import house
from .documents import read_document

DAY = 86_400


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with sessions of four agents: one old, one new, one broken, one whose folder is gone."""
    monkeypatch.setenv("COLUMNS", "80")
    root = tmp_path / "home"
    here = tmp_path / "here"
    here.mkdir()
    now = int(time.time())
    for number, folder, age in ((1, here, 40), (2, here, 2), (3, tmp_path / "gone", 3)):
        house.claude_session(root, number, project=slug(str(folder)), cwd=str(folder), changed=now - age * DAY)
    broken = [
        {**record, "parentUuid": None} if at == 4 else record
        for at, record in enumerate(house.talk(house.name_of(4), 5, cwd=str(here)))
    ]
    house.write(
        f"{root}/.claude/projects/{slug(str(here))}/{house.name_of(4)}.jsonl", house.lines(broken), changed=now - DAY
    )
    meta = {
        "timestamp": "2026-01-02T03:04:05.000Z",
        "type": "session_meta",
        "payload": {"id": house.name_of(5), "cwd": str(here)},
    }
    house.write(
        f"{root}/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{house.name_of(5)}.jsonl",
        house.lines([meta]),
        changed=now - 5 * DAY,
    )
    os.makedirs(f"{root}/.local/share/opencode")
    base = sqlite3.connect(f"{root}/.local/share/opencode/opencode.db")
    times = "time_created INTEGER, time_updated INTEGER"
    base.executescript(
        f"CREATE TABLE session (id TEXT, project_id TEXT, directory TEXT, title TEXT, version TEXT, {times});"
        f"CREATE TABLE message (id TEXT, session_id TEXT, {times}, data TEXT);"
        f"CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, {times}, data TEXT);"
    )
    base.execute("INSERT INTO session VALUES ('ses_1', 'global', ?, 'Opened', '1.18.33', 1000, 2000)", (str(here),))
    base.execute("INSERT INTO message VALUES ('msg_1', 'ses_1', 1000, 1000, '{\"role\": \"user\"}')")
    text = json.dumps({"type": "text", "text": "hi"})
    base.execute("INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 1000, 1000, ?)", (text,))
    base.commit()
    base.close()
    return root


def run(home, *words, capsys=None):
    code = command([words[0], "-C", str(home.parent / "here"), "--home", str(home), *map(str, words[1:])])
    said = capsys.readouterr()
    assert all(len(line) <= 80 for line in said.out.splitlines() if "/" not in line and '"' not in line), said.out
    return code, said.out, said.err


def ours(home):
    return house.tree(home / ".local/state") if (home / ".local/state").exists() else {}


READ_ONLY = [
    ("archive", "--verify"),
    ("restore",),
    ("restore", "--json"),
    ("repair",),
    ("repair", "--all", "--json"),
    ("repair", house.name_of(4)),
    ("du",),
    ("du", "--forks", "--json"),
    ("du", "--by", "session"),
    ("prune", "--older-than", "1", "--all"),
    ("prune", "--larger-than", "1K", "--all", "--json"),
    ("prune", "--empty", "--all"),
    ("prune", "--orphans"),
]


def test_what_only_reads_leaves_a_whole_home_as_it_was(home, capsys):
    before = house.tree(home)
    for words in (
        *READ_ONLY,
        ("relocate", home.parent / "here", home.parent / "there"),
        ("relocate", home.parent / "here", home.parent / "there", "--json"),
    ):
        run(home, *words, capsys=capsys)
        assert (words, house.tree(home) == before) == (words, True)


def theirs(home):
    """What agents have written."""
    return {
        path: facts
        for path, facts in house.tree(home).items()
        if not path.startswith(".local/state") and path != ".local"
    }


def test_archiving_touches_nothing_of_the_agents_and_says_what_will_be_deleted(home, capsys):
    before = theirs(home)
    code, out, _ = run(home, "archive", "--all", capsys=capsys)
    assert (code, theirs(home) == before) == (0, True)
    assert out.startswith("Checked 6 sessions of every folder: 6 new.\n")
    assert "Claude Code deletes a session 30 days after it was last written (the default)." in out
    assert f"  {house.name_of(1)}  at its next start  archived" in out
    code, out, _ = run(home, "archive", capsys=capsys)
    assert out.startswith("Checked 5 sessions of this folder: nothing new, the archive already has them.\n")
    assert "other folders" not in out
    code, out, _ = run(home, "archive", "--verify", capsys=capsys)
    assert (code, out) == (0, "6 sessions in the archive: everything can be restored.\n")


def test_a_deleted_session_is_listed_as_gone_and_comes_back(home, capsys):
    run(home, "archive", "--all", capsys=capsys)
    before = house.files(home / ".claude")
    shutil.rmtree(home / ".claude")
    _, out, _ = run(home, "restore", capsys=capsys)
    assert out.count("gone  ") == 4
    for number in (1, 2, 3, 4):
        code, out, _ = run(home, "restore", house.name_of(number), capsys=capsys)
        assert (code, "Claude Code deletes it again at its next start" in out) == (0, number == 1)
    assert house.files(home / ".claude") == before
    code, out, _ = run(home, "restore", house.name_of(2), "--json", capsys=capsys)
    assert {row["what"] for row in read_document(out)["files"]} == {"same"}


def test_archiving_one_folder_says_what_is_left_in_others(home, capsys):
    _, out, _ = run(home, "archive", capsys=capsys)
    assert out.startswith("Checked 5 sessions of this folder: 5 new.\n")
    assert "1 session of other folders is not in it: foretold sessions archive --all\n" in out
    _, out, _ = run(home, "archive", "--json", capsys=capsys)
    told = read_document(out)
    assert (told["others"], [(each["id"], each["kept"]) for each in told["leaving"]][:1]) == (
        1,
        [(house.name_of(1), True)],
    )
    with open(f"{home}/.claude/projects/{slug(str(home.parent / 'here'))}/{house.name_of(1)}.jsonl", "ab") as file:
        file.write(b"{}\n")
    os.utime(file.name, (time.time() - 40 * DAY,) * 2)
    _, out, _ = run(home, "archive", house.name_of(2), capsys=capsys)
    assert out.startswith("Checked 1 session: nothing new, the archive already has it.\n")
    assert f"  {house.name_of(1)}  at its next start  NOT archived" in out


def test_a_subagent_whose_session_is_gone_is_kept_by_itself(home, capsys):
    folder = f"{home}/.claude/projects/{slug(str(home.parent / 'here'))}/{house.name_of(1)}"
    os.unlink(f"{folder}.jsonl")
    before = house.files(f"{folder}/subagents")
    _, out, _ = run(home, "archive", "--all", capsys=capsys)
    assert out.startswith("Checked 6 sessions of every folder: 6 new.\n")
    homes = Homes(str(home), {})
    assert find_unarchived(homes, find_expiring_sessions(homes, time.time(), within=7)) == []
    os.unlink(f"{folder}/subagents/agent-a1.jsonl")
    run(home, "restore", "agent-a1", capsys=capsys)
    assert house.files(f"{folder}/subagents") == before


def test_restoring_ends_with_what_to_type_next(home, capsys):
    run(home, "archive", "--all", capsys=capsys)
    shutil.rmtree(home / ".claude")
    for words, command_line in (
        ((house.name_of(2),), f"cd {home.parent / 'here'} && claude --resume {house.name_of(2)}"),
        ((house.name_of(5),), f"cd {home.parent / 'here'} && codex resume {house.name_of(5)}"),
    ):
        _, out, _ = run(home, "restore", *words, capsys=capsys)
        assert out.splitlines()[-1] == f"Resume it: {command_line}"
        _, out, _ = run(home, "restore", *words, "--json", capsys=capsys)
        assert read_document(out)["command"] == command_line
    _, out, _ = run(home, "restore", house.name_of(2), "--to", home.parent / "out", capsys=capsys)
    assert "Resume it" not in out


def test_the_redacted_copy_comes_back_when_it_is_asked_for(home, capsys):
    run(home, "archive", capsys=capsys)
    run(home, "archive", "--redact", capsys=capsys)
    for words, is_redacted in (((), False), (("--redacted",), True)):
        to = home.parent / f"out{is_redacted}"
        _, out, _ = run(home, "restore", house.name_of(2), "--to", to, *words, capsys=capsys)
        assert ("Credentials were removed" in out) == is_redacted
    with pytest.raises(ForetoldError, match=r"it was archived once: --at takes 1$"):
        run(home, "restore", house.name_of(2), "--at", "2", capsys=capsys)


def test_a_database_comes_back_only_as_a_file(home, capsys):
    run(home, "archive", "ses_1", capsys=capsys)
    with pytest.raises(Exception, match="--to DIR"):
        run(home, "restore", "ses_1", capsys=capsys)
    _, out, _ = run(home, "restore", "ses_1", "--to", home.parent / "out", capsys=capsys)
    document = json.loads((home.parent / "out/ses_1.json").read_text())
    assert document["info"]["time"] == {"created": 1000, "updated": 2000}
    assert [(one["info"]["id"], one["parts"]) for one in document["messages"]] == [
        ("msg_1", [{"type": "text", "text": "hi", "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1"}])
    ]
    assert out.endswith(f"opencode import {home.parent}/out/ses_1.json\n")
    rows = (home.parent / "out/ses_1.rows.jsonl").read_text().splitlines()
    assert [json.loads(row)["table"] for row in rows] == ["message", "part", "session"]


def test_repair_says_how_much_is_reached_and_writes_beside(home, capsys):
    before = theirs(home)
    code, out, _ = run(home, "repair", house.name_of(4), capsys=capsys)
    assert code == 1
    assert "  6 of 10 messages (60 %) are reached when it is resumed\n" in out
    assert "Of a repaired copy 10 of 10 messages (100 %) are reached.\n" in out
    code, out, _ = run(home, "repair", house.name_of(4), "--write", "--json", capsys=capsys)
    made = read_document(out)
    after = theirs(home)
    new = os.path.relpath(made["written"], home)
    assert {path for path in after if path not in before} == {new}
    assert {path: facts for path, facts in before.items() if facts[0] is not None}.items() <= after.items()
    code, out, _ = run(home, "repair", made["written"], capsys=capsys)
    assert (code, out.endswith("Nothing is wrong with it.\n")) == (0, True)
    code, out, _ = run(home, "repair", capsys=capsys)
    assert out.endswith("1 with problems.\nMore about one: foretold sessions repair ID\n")


def test_prune_shows_first_and_then_archives_and_deletes(home, capsys):
    before = theirs(home)
    code, out, err = run(home, "prune", "--older-than", "30", "--all", capsys=capsys)
    assert (code, err) == (1, "Nothing was changed: add --yes to do it.\n")
    assert "1 session could be deleted" in out
    assert theirs(home) == before
    code, out, _ = run(home, "prune", "--older-than", "30", "--all", "--yes", capsys=capsys)
    assert code == 0
    assert "1 session archived and deleted" in out
    assert not any(house.name_of(1) in path for path in theirs(home))
    run(home, "restore", house.name_of(1), capsys=capsys)
    assert {path: facts for path, facts in theirs(home).items() if facts[0] is not None} == {
        path: facts for path, facts in before.items() if facts[0] is not None
    }
    with pytest.raises(SystemExit) as error:
        run(home, "prune", capsys=capsys)
    assert error.value.code == 2


def test_relocate_moves_what_it_may_and_says_what_to_type(home, capsys):
    before = house.files(home / ".claude")
    here, there = home.parent / "here", home.parent / "there"
    code, out, _ = run(home, "relocate", here, there, "--yes", capsys=capsys)
    assert code == 0
    assert f"  cd {there} && codex resume {house.name_of(5)}\n" in out
    assert "opencode import ses_1.json\n" in out
    undo = out.splitlines()[-1]
    assert undo.startswith("Undo: foretold sessions relocate ")
    folder = f"projects/{slug(str(here))}/"
    expected = {path.replace(folder, f"projects/{slug(str(there))}/"): facts for path, facts in before.items()}
    assert house.files(home / ".claude") == expected
    words = undo.removeprefix("Undo: foretold sessions relocate ").split(" ")
    command(["relocate", *words])
    assert house.files(home / ".claude") == before


def test_du_counts_by_kind_and_agent(home, capsys):
    code, out, _ = run(home, "du", "--json", capsys=capsys)
    told = read_document(out)
    assert (code, told["schema"], told["bytes"]) == (
        0,
        "foretold.sessions-du/1",
        sum(use["size"] for use in told["uses"]),
    )
    _, out, _ = run(home, "du", capsys=capsys)
    assert out.startswith("by agent and kind:\n")
    assert "claude-code  file history" in out
