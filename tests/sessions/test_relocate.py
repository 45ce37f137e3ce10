"""A project moves, and its sessions with it: for every agent what it needs, and every byte stays."""

import errno
import hashlib
import json
import os
import shutil

import pytest

from headnote.dialects.claude_world import slug
from headnote.errors import HeadnoteError, NotAFolder, RestoreRefused
from headnote.sessions.archive import Archive
from headnote.sessions.relocate import plan_relocation, relocate
from headnote.sessions.running import Processes

from ..memory.machines import Faulty, Quick, in_child
from . import house

NOW = house.MOMENT + 86_400.0


def nobody():
    return Processes("/nonexistent")


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
    with pytest.raises(RestoreRefused, match="stays where it is"):
        relocate(Archive(str(tmp_path / "archive")), move)
    assert house.tree(home) == before
    shutil.copy2(session.path, target)  # the same content: half of a move that was stopped
    (move,) = [each for each in planned(home, old, new) if each.stored.path == session.path]
    relocate(Archive(str(tmp_path / "archive"), Quick()), move, kernel=Quick())
    assert not os.path.exists(session.path)


def test_a_session_in_use_stays(tmp_path):
    home, old = tmp_path / "home", tmp_path / "old"
    session = session_at(home, 1, old)
    os.utime(session.path, (NOW - 5, NOW - 5))
    assert [(move.what, move.why) for move in planned(home, old, tmp_path / "new")] == [
        ("busy", "it was written to a moment ago")
    ]


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
            except HeadnoteError as error:
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
