"""A project moves, and its sessions with it: for every agent what it needs, and every byte stays."""

import errno
import hashlib
import json
import os
import shutil

import pytest

from foretold.cli.sessions import command
from foretold.dialects.claude_code.settings import slug
from foretold.errors import ForetoldError, NotAFolder, RestoreRefused
from foretold.sessions.archive.archive import Archive, archive_folder
from foretold.sessions.archive.in_use import RunningProcesses
from foretold.sessions.model import Homes
from foretold.sessions.relocate.moves import moves_file, moves_file_next_to
from foretold.sessions.relocate.relocate import moved_to, plan_relocation, relocate

from ...memory.machines import Faulty, Quick, in_child
from .. import house

NOW = house.MOMENT + 86_400.0


def nobody():
    return RunningProcesses("/nonexistent")


def planned(home, old, new, **options):
    return plan_relocation(house.homes(home), str(old), str(new), NOW, processes=nobody(), **options)


def session_at(home, number, folder):
    return house.claude_session(home, number, project=slug(str(folder)), cwd=str(folder))


def rename(files, old, new):
    def renamed(path):
        for end in ("/", "-sub/"):
            path = path.replace(f"/{slug(str(old))}{end}", f"/{slug(str(new))}{end}")
        return path

    return {renamed(path): facts for path, facts in files.items()}


def test_claude_code_finds_its_sessions_in_the_folder_of_the_new_path(tmp_path):
    home, old, new = tmp_path / "home", tmp_path / "old", tmp_path / "new"
    one, below = session_at(home, 1, old), session_at(home, 2, old / "sub")
    session_at(home, 3, tmp_path / "older")  # another folder whose name begins alike
    before = house.files(home)
    tree = house.tree(home)
    plan = planned(home, old, new)
    assert house.tree(home) == tree
    assert sorted((move.stored.id, move.what) for move in plan) == [(one.id, "move"), (below.id, "move")]
    archive = Archive(str(tmp_path / "archive"), Quick())
    for move in plan:
        relocate(archive, move, kernel=Quick())
    assert house.files(home) == rename(before, old, new)  # `-new` and `-new-sub`; bytes, mode and time
    assert not os.path.exists(f"{home}/.claude/projects/{slug(str(old))}")
    assert planned(home, old, new) == []
    back = planned(home, new, old, only={one.id, below.id})
    for move in back:
        relocate(archive, move, kernel=Quick())
    assert house.files(home) == before


def test_a_folder_whose_name_reads_alike_is_left_alone(tmp_path):
    home = tmp_path / "home"
    session = session_at(home, 1, tmp_path / "a-b")
    session_at(home, 2, tmp_path / "a/b")  # Claude Code keeps both in the same folder
    assert [move.stored.id for move in planned(home, tmp_path / "a-b", tmp_path / "new")] == [session.id]


def test_a_session_that_is_there_already_is_not_overwritten(tmp_path):
    home, old, new = tmp_path / "home", tmp_path / "old", tmp_path / "new"
    session = session_at(home, 1, old)
    target = session.path.replace(slug(str(old)), slug(str(new)))
    house.write(target, b'{"type":"user"}\n')
    before = house.tree(home)
    (move,) = [each for each in planned(home, old, new) if each.stored.path == session.path]
    assert (move.what, move.why) == ("there", f"another file is at {target}")
    with pytest.raises(RestoreRefused, match="is not moved"):
        relocate(Archive(str(tmp_path / "archive")), move)
    assert house.tree(home) == before
    shutil.copy2(session.path, target)  # the same content: half of a move that was stopped
    (move,) = [each for each in planned(home, old, new) if each.stored.path == session.path]
    relocate(Archive(str(tmp_path / "archive"), Quick()), move, kernel=Quick())
    assert not os.path.exists(session.path)


def proc(folder, cwd, *words, pid=1, opened=()):
    """A process, as `/proc` tells of it."""
    house.write(f"{folder}/{pid}/cmdline", b"\0".join(word.encode() for word in words))
    os.makedirs(f"{folder}/{pid}/fd", exist_ok=True)
    os.symlink(cwd, f"{folder}/{pid}/cwd")
    for number, path in enumerate(opened):
        os.symlink(path, f"{folder}/{pid}/fd/{number}")
    return RunningProcesses(str(folder))


def test_a_session_in_use_stays_and_is_told_until_when(tmp_path):
    home, old, new = tmp_path / "home", tmp_path / "old", tmp_path / "new"
    session = session_at(home, 1, old)

    def judged(processes, seconds):
        os.utime(session.path, (NOW - seconds, NOW - seconds))
        (move,) = plan_relocation(house.homes(home), str(old), str(new), NOW, processes=processes)
        return move.what, move.why

    lately = "it was written to a moment ago: run this again in "
    assert judged(nobody(), 5) == ("busy", f"{lately}15 minutes")  # nobody could be asked
    other = proc(tmp_path / "p1", tmp_path / "elsewhere", "/usr/bin/node", "/x/bin/claude")
    assert judged(other, 5) == ("busy", f"{lately}56 seconds")
    assert judged(other, 61) == ("move", "")
    editor = proc(tmp_path / "p2", new, "vi", "claude.md")
    assert judged(editor, 61) == ("move", "")
    agent = proc(tmp_path / "p3", new / "src", "/usr/bin/node", "/x/bin/claude")
    assert judged(agent, 9000) == ("busy", f"claude runs in {new}/src: end it, and run this again")
    holder = proc(tmp_path / "p4", "/", "less", opened=[session.path])
    said = f"a process has {session.id}.jsonl open: end it, and run this again"
    assert judged(holder, 9000) == ("busy", said)


def test_what_moved_is_noted_and_followed(tmp_path):
    home, old, new = tmp_path / "home", tmp_path / "old", tmp_path / "new"
    homes = house.homes(home)
    session_at(home, 1, old)
    archive = Archive(archive_folder(homes), Quick())
    assert moved_to(homes, str(old)) == ""
    for move in planned(home, old, new):
        relocate(archive, move, kernel=Quick())
    assert [moved_to(homes, f"{old}{end}") for end in ("", "/", "/src", "er")] == [str(new), str(new), f"{new}/src", ""]
    path = moves_file(homes)
    for env in ({}, {"FORETOLD_HOME": "/srv/h"}, {"XDG_STATE_HOME": "/s"}, {"XDG_STATE_HOME": "relative"}):
        there = Homes(str(home), env)
        assert moves_file(there) == moves_file_next_to(archive_folder(there))
    (noted,) = map(json.loads, house.read(path).splitlines())
    assert {**noted, "time": 0} == {"old": str(old), "new": str(new), "time": 0, "agent": "claude-code"}
    with open(path, "ab") as file:
        file.write(b'null\n{"old": 3}\n\xff\n{"old": "/x", "n')  # the last line is torn
    assert moved_to(homes, str(old)) == str(new)
    for move in planned(home, new, old):
        relocate(archive, move, kernel=Quick())
    assert (moved_to(homes, str(old)), moved_to(homes, str(new))) == ("", str(old))


def gemini_chat(home, name, folder, session):
    root = f"{home}/.gemini/tmp/{name}"
    house.write(f"{root}/.project_root", str(folder).encode())
    first = {"sessionId": session, "projectHash": "x", "startTime": "2026-01-02T03:04:05.000Z", "kind": "main"}
    said = {"id": "1", "timestamp": "2026-01-02T03:04:05.000Z", "type": "user", "content": [{"text": "hello"}]}
    house.write(f"{root}/tool-outputs/session-{session}/a.txt", b"out")
    return house.write(f"{root}/chats/session-2026-01-02T03-04-{session[:8]}.jsonl", house.lines([first, said]))


def test_gemini_cli_gets_them_under_the_name_of_the_new_project_or_its_digest(tmp_path):
    home, old, new = str(tmp_path / "home"), tmp_path / "old", tmp_path / "new"
    path = gemini_chat(home, "old", old, house.name_of(7))
    data = house.read(path)
    digest = hashlib.sha256(str(new).encode()).hexdigest()
    (move,) = planned(home, old, new)
    assert move.files[0] == (path, path.replace("/tmp/old/", f"/tmp/{digest}/"))
    house.write(f"{home}/.gemini/projects.json", json.dumps({"projects": {str(new): "new-1"}}).encode())
    (move,) = planned(home, old, new)
    target = path.replace("/.gemini/tmp/old/", "/.gemini/tmp/new-1/")
    relocate(Archive(str(tmp_path / "archive"), Quick()), move, kernel=Quick())
    assert house.read(target) == data
    assert house.read(f"{home}/.gemini/tmp/new-1/tool-outputs/session-{house.name_of(7)}/a.txt") == b"out"
    assert house.read(f"{home}/.gemini/tmp/old/.project_root") == str(old).encode()


def test_codex_is_told_by_a_command_and_nothing_of_it_is_written(tmp_path):
    home, old, new = str(tmp_path / "home"), tmp_path / "old", tmp_path / "my new"
    name = house.name_of(8)
    meta = {"timestamp": "2026-01-02T03:04:05.000Z", "type": "session_meta", "payload": {"id": name, "cwd": str(old)}}
    house.write(f"{home}/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{name}.jsonl", house.lines([meta]))
    before = house.tree(home)
    (move,) = planned(home, old, new)
    assert (move.what, move.command) == ("typed", f"cd '{new}' && codex resume {name}")
    assert house.tree(home) == before


def test_a_folder_does_not_move_to_itself(tmp_path):
    with pytest.raises(NotAFolder, match="the same folder"):
        planned(tmp_path / "home", tmp_path / "a", f"{tmp_path}/b/../a")


@pytest.mark.parametrize("fault", [errno.EIO, "die", "kill"])
def test_stopped_anywhere_every_file_has_its_old_or_its_new_name(tmp_path, fault):
    template, old, new = tmp_path / "template", tmp_path / "old", tmp_path / "new"
    session_at(template, 1, old)
    data = sorted(facts[0] for facts in house.files(template).values())
    for at in range(1, 44, 3):
        for name in ("home", "archive"):
            shutil.rmtree(tmp_path / name, ignore_errors=True)
        shutil.copytree(template, tmp_path / "home", copy_function=shutil.copy2)
        (move,) = planned(tmp_path / "home", old, new)
        kernel = Faulty(at, fault)

        def attempt(kernel=kernel, move=move):
            try:
                relocate(Archive(str(tmp_path / "archive"), kernel), move, kernel=kernel)
            except ForetoldError as error:
                return str(error)

        attempt() if isinstance(fault, int) else in_child(attempt)
        held = {facts[0] for facts in house.files(tmp_path / "home").values()}
        assert held == set(data)
        for again in planned(tmp_path / "home", old, new):
            relocate(Archive(str(tmp_path / "archive"), Quick()), again, kernel=Quick())
        moved = house.files(tmp_path / "home")
        assert not any(
            f"/{slug(str(old))}/" in path for path in moved if path.endswith(".jsonl") and "agent" not in path
        )
        assert {facts[0] for facts in moved.values()} == set(data)


def test_what_is_left_behind_is_said_and_undoing_takes_whole_paths(tmp_path, capsys, monkeypatch):
    home, old, new = tmp_path / "home", tmp_path / "my old", tmp_path / "new"
    old.mkdir()
    still, fresh = session_at(home, 1, old), session_at(home, 2, old)
    os.utime(fresh.path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    code = command(["relocate", "my old", "new", "--home", "home", "--yes"])
    out = capsys.readouterr().out
    assert (code, os.path.exists(still.path), os.path.exists(fresh.path)) == (1, False, True)
    assert "    it was written to a moment ago: run this again in " in out
    assert out.endswith(
        "not moved: 1 session (see above). Run this again later.\n"
        f"Undo: foretold sessions relocate {new} '{old}' --only {still.id} --yes --home {home}\n"
    )


def test_a_folder_below_one_that_has_moved_twice_goes_along(tmp_path):
    old, new = str(tmp_path / "shop"), str(tmp_path / "store")
    os.makedirs(f"{new}/api")
    stored = house.claude_session(str(tmp_path), cwd=str(tmp_path / "proj" / "api"), project=slug(f"{old}/api"))
    plan = plan_relocation(
        house.homes(str(tmp_path)), old, new, house.MOMENT + 9e6, processes=RunningProcesses("/nonexistent")
    )
    (move,) = plan
    assert (move.stored.id, os.path.basename(os.path.dirname(move.files[0][1]))) == (stored.id, slug(f"{new}/api"))
