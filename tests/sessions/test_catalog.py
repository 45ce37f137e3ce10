"""Sessions are found on disk, and by the names that people use."""

import os
import time

import pytest

from foretold.dialects.claude_code.settings import slug
from foretold.errors import NoSuchSession, SessionFailed
from foretold.sessions.archive.retention import find_expiring_sessions
from foretold.sessions.archive.session_files import list_session_files
from foretold.sessions.catalog import find_homes, find_session, is_held_in, list_sessions, sort_by_time
from foretold.sessions.formats.readers import read, resume_command
from foretold.sessions.model import Homes, StoredSession
from foretold.sessions.repair.copy import write_repaired_copy
from foretold.sessions.resumption.claude import resume
from foretold.sessions.transcript.fork import fork
from foretold.sessions.transcript.writer import Transcript, subagent_path

from .talk import Talk

ONE, TWO = "11111111-2222-4333-8444-555555555555", "11112222-2222-4333-8444-555555555555"


@pytest.fixture
def homes(tmp_path):
    older = Talk(ONE, cwd="/home/me/a").user("The first one").write(str(tmp_path), "-home-me-a")
    newer = Talk(TWO, cwd="/home/me/ab").user("Another\none").says("ok").write(str(tmp_path), "-home-me-ab")
    os.utime(older, (1_000, 1_000))
    os.utime(newer, (2_000, 2_000))
    return Homes(str(tmp_path), {})


def test_the_newest_is_first(homes):
    assert [(stored.id, stored.title) for stored in list_sessions(homes)] == [
        (TWO, "Another one"),
        (ONE, "The first one"),
    ]
    assert [stored.id for stored in list_sessions(homes, limit=1)] == [TWO]


def test_a_folder_has_its_own_and_those_below(homes):
    assert [stored.id for stored in list_sessions(homes, project="/home/me/a")] == [ONE]
    assert len(list_sessions(homes, project="/home/me")) == 2
    assert is_held_in(StoredSession("codex", "1", "", cwd="/"), "/")


@pytest.mark.parametrize("name", [ONE, "111111", "The first one", "the FIRST", "t"])
def test_a_session_is_found_by_what_people_type(homes, name):
    assert find_session(homes, name).id == ONE


def test_a_session_is_found_by_its_file(homes):
    assert find_session(homes, list_sessions(homes)[0].path).id == TWO


def told(homes, name):
    with pytest.raises(NoSuchSession) as caught:
        find_session(homes, name)
    return str(caught.value).split("\n")


def test_a_name_that_fits_several_says_which(homes):
    first, *rows = told(homes, "1111")
    assert first == "'1111' matches 2 sessions; write more of the id:"
    assert [row[20:] for row in rows] == ["claude-code  11112222  Another one", "claude-code  11111111  The first one"]
    assert all(time.strptime(row[2:18], "%Y-%m-%d %H:%M") for row in rows)


def test_not_more_than_eight_are_told_each_in_eighty_columns(tmp_path):
    for number in range(10):
        talk = Talk(f"aaaaaaaa-{number:04x}-4333-8444-555555555555", cwd="/p")
        talk.user("\x1b[31m" + "語" * 100).write(str(tmp_path), "-p")
    first, *rows = told(Homes(str(tmp_path), {}), "a")
    assert (first, len(rows), rows[-1]) == ("'a' matches 10 sessions; write more of the id:", 9, "  and 2 more")
    widths = {len(row) + row.count("語") for row in rows[:-1]}
    assert max(widths) <= 80
    assert not any("\x1b" in row for row in rows)
    assert len({row[33:47] for row in rows[:-1]}) == 8  # so much of the id that they are told apart


def test_a_subagent_is_not_what_is_meant_by_a_letter(homes):
    folder = os.path.splitext(list_sessions(homes)[0].path)[0] + "/subagents"
    os.makedirs(folder)
    with open(f"{folder}/agent-a1.jsonl", "w", encoding="utf-8") as file:
        file.write(Talk(TWO, cwd="/home/me/ab").user("Look").text)
    Talk(f"a{ONE[1:]}", cwd="/p").user("Mine").write(str(homes.home), "-p")
    assert find_session(homes, "a").title == "Mine"
    assert find_session(homes, "agent").kind == "subagent"


def test_rows_stand_in_the_order_of_the_time_they_show(homes):
    late = Talk(f"3{ONE[1:]}", cwd="/p").user("a").user("The last word").write(homes.home, "-p")
    os.utime(late, (500, 500))
    assert [stored.id[0] for stored in list_sessions(homes, limit=2)] == ["1", "1"]  # of the newest files
    shown = list_sessions(homes)
    assert [stored.changed for stored in shown] == sorted((stored.changed for stored in shown), reverse=True)
    assert sort_by_time(reversed(shown))[0].changed == shown[0].changed


@pytest.mark.parametrize("name", ["9999", "", "  ", "first"])
def test_a_name_that_fits_none_is_an_error(homes, name):
    with pytest.raises(NoSuchSession):
        find_session(homes, name)


def test_another_home_has_none_of_our_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/elsewhere")
    assert find_homes(str(tmp_path)).env == {}
    assert find_homes().env["CLAUDE_CONFIG_DIR"] == "/elsewhere"


def test_no_session_is_written_to_and_none_is_read_whole(homes):
    def seen():
        return {stored.path: (os.stat(stored.path).st_mtime_ns, stored.size) for stored in list_sessions(homes)}

    before = seen()
    assert seen() == before


def test_what_is_no_file_is_passed_over(homes):
    folder = os.path.dirname(list_sessions(homes)[0].path)
    os.mkfifo(os.path.join(folder, f"{ONE[:-1]}0.jsonl"))
    os.mkdir(os.path.join(folder, f"{ONE[:-1]}1.jsonl"))
    os.symlink("/nowhere", os.path.join(folder, f"{ONE[:-1]}2.jsonl"))
    assert [stored.id for stored in list_sessions(homes)] == [TWO, ONE]
    assert [stored.id for stored in list_sessions(homes, project="/home/me/a")] == [ONE]
    with pytest.raises(SessionFailed, match="not a file"):
        find_session(homes, f"{ONE[:-1]}0")


def test_a_folder_is_found_however_its_name_is_written(tmp_path):
    for number, cwd in enumerate(('/home/me/"q"', "/home/me/ü", "/home/me/a b")):
        Talk(f"{number}{ONE[1:]}", cwd=cwd).user("hi").write(str(tmp_path), f"-{number}")
        assert [stored.cwd for stored in list_sessions(Homes(str(tmp_path), {}), project=cwd)] == [cwd]


@pytest.mark.parametrize("name", ["../../x", "a\x00b", "$(rm)", "\ud800", "x" * 5_000])
def test_names_that_are_none_are_mistakes(homes, name):
    with pytest.raises(NoSuchSession):
        find_session(homes, name)


def test_a_project_that_has_moved_has_its_sessions(tmp_path):
    folder = tmp_path / "new"
    folder.mkdir()
    Talk(ONE, cwd=str(tmp_path / "old")).user("Before it moved").write(str(tmp_path), slug(str(folder)))
    (found,) = list_sessions(Homes(str(tmp_path), {}), project=str(folder))
    assert (found.id, found.cwd) == (ONE, str(folder))
    (tmp_path / "old").mkdir()  # it is held elsewhere, and only kept in a folder of the same name
    assert list_sessions(Homes(str(tmp_path), {}), project=str(folder)) == []


THREE = "33333333-2222-4333-8444-555555555555"


def test_a_session_in_a_folder_of_its_own_is_found_like_any_other(homes):
    """`~/.claude/sessions/<id>/transcript.jsonl`: what else lies in that folder is not a session."""
    path = Talk(THREE, cwd="/home/me/a").user("By the notes").says("ok").write_alone(homes.home)
    os.utime(path, (3_000, 3_000))
    with open(os.path.join(homes.home, ".claude", "sessions", "4711.json"), "w", encoding="utf-8") as file:
        file.write("{}")
    os.makedirs(os.path.join(homes.home, ".claude", "sessions", "empty"))
    found = list_sessions(homes)
    assert [(stored.id, stored.title, stored.path == path) for stored in found if stored.cwd == "/home/me/a"] == [
        (THREE, "By the notes", True),
        (ONE, "The first one", False),
    ]
    assert [stored.id for stored in list_sessions(homes, project="/home/me/a")] == [THREE, ONE]
    assert [find_session(homes, name).path for name in (THREE, THREE[:6], path, "by the notes")] == [path] * 4


def test_a_session_in_a_folder_of_its_own_is_resumed_by_its_file(homes):
    """The agent looks for ids below `projects` only, and takes a file wherever it lies."""
    path = Talk(THREE, cwd="/home/me/a").user("By the notes").write_alone(homes.home)
    assert resume_command(find_session(homes, THREE)) == ("claude", "--resume", path)
    assert resume_command(find_session(homes, ONE)) == ("claude", "--resume", ONE)
    assert resume(path).messages[0]["content"] == "By the notes"


def test_the_subagents_and_the_fork_of_such_a_session(homes):
    path = Talk(THREE, cwd="/home/me/a").user("By the notes").says("ok").write_alone(homes.home)
    inside = subagent_path(path, "a1")
    os.makedirs(os.path.dirname(inside))
    with open(inside, "w", encoding="utf-8") as file:
        file.write(Talk(THREE, cwd="/home/me/a").user("Look").text)
    found = [stored for stored in list_sessions(homes, kinds=("subagent",)) if stored.kind == "subagent"]
    assert [(stored.id, stored.parent, stored.path) for stored in found] == [("agent-a1", THREE, inside)]
    forked = fork(path, session=TWO.replace("1", "2"))
    assert forked.path == path.replace(THREE, forked.session)
    assert find_session(homes, forked.session).parent == THREE
    files = [(file.kind, file.name) for file in list_session_files(find_session(homes, THREE))]
    assert files == [
        ("transcripts", f"sessions/{THREE}/transcript.jsonl"),
        ("subagents", f"sessions/{THREE}/subagents/agent-a1.jsonl"),
    ]


def test_the_agent_does_not_delete_what_it_does_not_keep(homes):
    path = Talk(THREE, cwd="/home/me/a").user("By the notes").write_alone(homes.home)
    os.utime(path, (1_000, 1_000))
    assert [one.stored.id for one in find_expiring_sessions(homes, time.time())] == [ONE, TWO]


def test_a_repaired_copy_of_such_a_session_has_a_folder_too(homes):
    path = Talk(THREE, cwd="/home/me/a").user("By the notes").says("ok").write_alone(homes.home)
    made = write_repaired_copy(find_session(homes, path))
    assert made.path == path.replace(THREE, made.id)
    assert find_session(homes, made.id).title == "By the notes"


def test_what_is_written_in_a_folder_of_its_own_has_its_id(tmp_path):
    path = str(tmp_path / ".claude" / "sessions" / "mine" / "transcript.jsonl")
    with Transcript(path, cwd="/home/me/a", sync=False) as transcript:
        transcript.user("Hello")
    assert transcript.session == "mine"
    stored = find_session(Homes(str(tmp_path), {}), "mine")
    assert [message.text for message in read(stored) if message.role == "user"] == ["Hello"]
