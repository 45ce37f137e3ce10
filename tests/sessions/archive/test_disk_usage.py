"""Every byte is counted once, and where it belongs."""

import os

from foretold.sessions.archive.disk_usage import DiskUse, find_repeated, measure_usage, sum_usage
from foretold.sessions.model import Homes

from .. import house


def test_every_file_is_counted_once_by_kind_session_and_project(tmp_path):
    home = str(tmp_path / "home")
    session = house.claude_session(home, 1, cwd="/p")
    house.write(f"{home}/.claude/shell-snapshots/snapshot-1.sh", b"x" * 10)
    house.write(f"{home}/.claude/file-history/{house.name_of(9)}/gone@v1", b"y" * 20)
    house.write(f"{home}/.claude/projects/-p/memory/MEMORY.md", b"z" * 30)
    house.write(f"{home}/.codex/state_5.sqlite", b"s" * 40)
    house.write(f"{home}/.local/state/foretold/archive/codex/1.frames", b"a" * 50)
    before = house.tree(home)
    uses = measure_usage(house.homes(home))
    assert house.tree(home) == before
    whole = sum(len(data) for data, _, _ in house.files(home).values())
    assert sum(use.size for use in uses) == whole
    assert {use for use in uses if not use.session} == {
        DiskUse("claude-code", "", "", "shell snapshots", 10),
        DiskUse("claude-code", "", "", "file history", 20),
        DiskUse("claude-code", "", "", "memories and rest", 30),
        DiskUse("codex", "", "", "databases", 40),
        DiskUse("foretold", "", "", "archive", 50),
    }
    kinds = {use.kind: use.files for use in uses if use.session == session.id}
    assert kinds == {
        "transcripts": 1,
        "subagents": 2,
        "tool results": 1,
        "file history": 2,
        "todos": 1,
        "debug logs": 1,
    }
    assert sum_usage(uses, "project")[0][0] == ("/p",)
    assert {use.agent for use in measure_usage(house.homes(home), agents=("codex",))} == {"codex"}


def test_the_environment_moves_what_is_counted(tmp_path):
    house.write(f"{tmp_path}/mine/archive/x.frames", b"a" * 5)
    house.write(f"{tmp_path}/mine/cache/index", b"b" * 7)
    homes = Homes(str(tmp_path / "home"), {"FORETOLD_HOME": str(tmp_path / "mine")})
    assert measure_usage(homes) == [DiskUse("foretold", "", "", "archive", 5), DiskUse("foretold", "", "", "index", 7)]


def test_forks_are_told_by_what_they_repeat(tmp_path):
    home = str(tmp_path / "home")
    first = house.small_session(home, 1, turns=4)
    records = house.talk(house.name_of(2), 4) + house.talk(house.name_of(2), 1, start=800)
    path = house.write(f"{home}/.claude/projects/-p/{house.name_of(2)}.jsonl", house.lines(records))
    fork = first._replace(id=house.name_of(2), path=path, started=2.0, size=os.path.getsize(path))
    assert find_repeated([fork, first._replace(started=1.0)]) == {path: len(house.lines(records[:8]))}


def test_a_session_in_a_folder_of_its_own(tmp_path):
    """With all that lies in that folder; what else is in the folder above belongs to no session."""
    home = str(tmp_path / "home")
    talk = house.lines(house.talk("mine", 1))
    house.write(f"{home}/.claude/sessions/mine/transcript.jsonl", talk)
    house.write(f"{home}/.claude/sessions/mine/tool-results/1.txt", b"x" * 10)
    house.write(f"{home}/.claude/sessions/4711.json", b"y" * 20)
    assert {(use.session, use.kind, use.size) for use in measure_usage(house.homes(home))} == {
        ("mine", "transcripts", len(talk)),
        ("mine", "tool results", 10),
        ("", "other", 20),
    }
