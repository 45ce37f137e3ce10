"""A project that has moved, and its sessions with it: every command knows the folder that they belong to."""

import json
import os

import pytest

from foretold.dialects.claude_code.settings import slug
from foretold.sessions.archive.disk_usage import measure_usage
from foretold.sessions.archive.in_use import RunningProcesses
from foretold.sessions.archive.prune import PruneCriteria, plan_prune
from foretold.sessions.catalog import find_session, list_sessions
from foretold.sessions.fulltext.search import open_index, search
from foretold.sessions.instructions_seen.compare import compare_instructions
from foretold.sessions.model import Homes, StoredSession
from foretold.sessions.relocate.moves import FolderMove, NotedMove as Move, infer_move, moves_file, note_move
from foretold.sessions.relocate.project_folder import find_folders_named, resolve_folder

from ..instructions_seen.test_compare import nested, start
from ..talk import Talk

ONE = "3b7c1d0e-2222-4333-8444-555555555555"


@pytest.fixture
def shop(tmp_path):
    """A project that was `proj`, its session, and a subagent of it."""
    root = os.path.realpath(tmp_path)
    old, new = f"{root}/proj", f"{root}/shop"
    os.makedirs(f"{new}/api")
    for name, text in (("CLAUDE.md", "Root.\n"), ("api/CLAUDE.md", "Api.\n")):
        with open(f"{new}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    talk = Talk(ONE, cwd=old).user("The third try").attaches(**start(old, ("CLAUDE.md", "Root.")))
    talk.attaches(**nested(old, "api/CLAUDE.md", "Api.\n")).says("ok")
    path = talk.write(f"{root}/home", slug(new))
    os.makedirs(f"{path[:-6]}/subagents")
    with open(f"{path[:-6]}/subagents/agent-a1.jsonl", "w", encoding="utf-8") as file:
        file.write(Talk(ONE, cwd=old).user("Look at the third").text)
    return new


def homes_of(folder):
    return Homes(os.path.join(os.path.dirname(folder), "home"), {})


def orphans(homes):
    return [
        each.stored.id
        for each in plan_prune(homes, PruneCriteria(is_orphan=True), 4e9, processes=RunningProcesses("/none"))
    ]


def test_every_command_knows_the_folder_it_belongs_to(shop):
    homes = homes_of(shop)
    assert [stored.cwd for stored in list_sessions(homes, kinds=("main", "subagent"))] == [shop, shop]
    assert [stored.cwd for stored in list_sessions(homes, project=os.path.dirname(shop))] == [shop]
    assert find_session(homes, "3").cwd == shop
    assert orphans(homes) == []
    assert {use.project for use in measure_usage(homes) if use.session == ONE} == {shop}
    for more in ({}, {"use_index": False}):
        found = search("third", homes=homes, project=shop, **more)
        assert {(hit.stored.id, hit.stored.cwd) for hit in found.hits} == {(ONE, shop), ("agent-a1", shop)}


def test_a_search_with_an_index_from_before_the_move_knows_it(shop):
    homes, old = homes_of(shop), f"{os.path.dirname(shop)}/proj"
    os.rename(shop, old)
    with open_index(homes) as index:
        assert {hit.stored.cwd for hit in search("third", homes=homes, index=index).hits} == {old}
    os.rename(old, shop)
    assert {hit.stored.cwd for hit in search("third", homes=homes).hits} == {shop}


def test_the_files_it_was_told_are_those_of_the_new_folder(shop):
    found = compare_instructions(find_session(homes_of(shop), ONE), homes_of(shop))
    assert [(file.path, file.state) for file in found.files] == [
        (f"{shop}/CLAUDE.md", "same"),
        (f"{shop}/api/CLAUDE.md", "same"),
    ]
    assert found.findings == ()


def test_the_folder_it_was_held_in_counts_as_long_as_it_is_there(shop):
    old = f"{os.path.dirname(shop)}/proj"
    os.mkdir(old)
    assert [stored.cwd for stored in list_sessions(homes_of(shop))] == [old]


def test_where_two_folders_have_the_name_none_is_guessed(shop):
    root = os.path.dirname(shop)
    (session,) = list_sessions(homes_of(shop))
    os.makedirs(f"{root}/a/b")
    os.makedirs(f"{root}/a-b")
    path = session.path.replace(slug(shop), slug(f"{root}/a/b"))
    os.renames(session.path, path)
    assert find_folders_named(slug(f"{root}/a/b")) == (f"{root}/a-b", f"{root}/a/b")
    (found,) = list_sessions(homes_of(shop))
    assert found.cwd == f"{root}/proj"
    assert orphans(homes_of(shop)) == [ONE]
    (asked,) = list_sessions(homes_of(shop), project=f"{root}/a/b")
    assert asked.cwd == f"{root}/a/b"
    note_move(moves_file(homes_of(shop)), Move(f"{root}/proj", f"{root}/a/b", 1.0, "claude-code"))
    (noted,) = list_sessions(homes_of(shop))
    assert (noted.cwd, find_session(homes_of(shop), ONE).cwd) == (f"{root}/a/b", f"{root}/a/b")
    os.unlink(moves_file(homes_of(shop)))
    with open(path, "a", encoding="utf-8") as file:  # it went on in one of them
        file.write(json.dumps({"type": "user", "cwd": f"{root}/a-b"}) + "\n")
    (named,) = list_sessions(homes_of(shop))
    assert named.cwd == f"{root}/a-b"


def test_what_was_not_moved_has_no_other_folder(tmp_path):
    root = os.path.realpath(tmp_path)
    os.mkdir(f"{root}/a-b")
    Talk(ONE, cwd=f"{root}/a/b").user("hi").write(root, slug(f"{root}/a/b"))
    assert [stored.cwd for stored in list_sessions(Homes(root, {}))] == [f"{root}/a/b"]
    assert orphans(Homes(root, {})) == [ONE]


def test_the_folder_of_this_process_is_tried(shop, monkeypatch):
    root = os.path.dirname(shop)
    new = f"{root}/{'long/' * 60}end"
    os.makedirs(f"{new}/below")
    card = StoredSession("claude-code", ONE, f"/x/projects/{slug(new)}/{ONE}.jsonl", cwd=f"{root}/proj")
    assert find_folders_named(slug(new)) == (new,)
    assert resolve_folder(card).cwd == new
    alike = card._replace(cwd=f"{root}/sh.op", path=f"/x/projects/{slug(f'{root}/sh-op')}/{ONE}.jsonl")
    os.makedirs(f"{root}/sh-op/below")
    assert resolve_folder(alike).cwd == f"{root}/sh.op"
    monkeypatch.chdir(f"{root}/sh-op/below")
    assert resolve_folder(alike).cwd == f"{root}/sh-op"


def test_a_session_that_codex_went_on_with_elsewhere(tmp_path):
    root, name = os.path.realpath(tmp_path), "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee"
    os.mkdir(f"{root}/new")
    rows = [{"type": "session_meta", "payload": {"id": name, "cwd": f"{root}/old"}}]
    rows += [{"type": "turn_context", "payload": {"cwd": f"{root}/{each}"}} for each in ("old", "new")]
    path = f"{root}/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{name}.jsonl"
    os.makedirs(os.path.dirname(path))
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    assert [stored.cwd for stored in list_sessions(Homes(root, {}), project=f"{root}/new")] == [f"{root}/new"]


def test_what_gemini_keeps_by_a_digest_belongs_to_the_folder_that_is_asked_for(tmp_path):
    from hashlib import sha256

    root = os.path.realpath(tmp_path)
    os.mkdir(f"{root}/new")
    chats = f"{root}/.gemini/tmp/{sha256(f'{root}/new'.encode()).hexdigest()}/chats"
    os.makedirs(chats)
    with open(f"{chats}/session-2026-01-02T03-04-0199aaaa.jsonl", "w", encoding="utf-8") as file:
        file.write('{"sessionId":"0199aaaa"}\n{"id":"1","type":"user","content":"hi"}\n')
    (found,) = list_sessions(Homes(root, {}), project=f"{root}/new")
    assert (found.id, found.cwd) == ("0199aaaa", f"{root}/new")


def test_what_has_moved_is_the_highest_folder_that_is_gone(tmp_path):
    root = os.path.realpath(tmp_path)
    os.mkdir(f"{root}/stays")
    assert infer_move(f"{root}/old/sub", f"{root}/new/sub") == FolderMove(f"{root}/old", f"{root}/new")
    assert infer_move(f"{root}/stays/sub", f"{root}/new/sub") == FolderMove(f"{root}/stays/sub", f"{root}/new/sub")
    assert infer_move(f"{root}/stays", f"{root}/new") == FolderMove("", "")
    assert infer_move("", f"{root}/new") == FolderMove("", "")
