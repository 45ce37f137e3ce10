"""Sessions go only into the archive, never while they are in use, and come back as they were."""

import errno
import os
import shutil
import subprocess
import sys

import pytest

from foretold.errors import ForetoldError
from foretold.sessions.archive.archive import Archive
from foretold.sessions.archive.in_use import RunningProcesses
from foretold.sessions.archive.prune import PruneCriteria, plan_prune, prune
from foretold.sessions.archive.restore import plan_restore, restore

from ...memory.machines import Faulty, Quick, in_child
from .. import house

NOW = house.MOMENT + 100 * 86_400.0


def nobody():
    """No process has anything open."""
    return RunningProcesses("/nonexistent")


def planned(home, wanted, processes=None):
    plan = plan_prune(house.homes(home), wanted, NOW, processes=processes or nobody())
    return [(each.stored.id, each.why, each.obstacle) for each in plan]


def test_reasons_are_those_that_were_asked_for_and_all_must_hold(tmp_path):
    home = tmp_path / "home"
    old = house.claude_session(home, 1, cwd=str(tmp_path))
    orphan = house.claude_session(home, 2, turns=60, cwd="/nowhere/at/all", changed=house.MOMENT + 95 * 86_400)
    empty = house.small_session(home, 3, turns=0)
    os.utime(empty.path, (NOW, NOW))
    assert planned(home, PruneCriteria(older=50)) == [(old.id, "100 days old", "")]
    assert planned(home, PruneCriteria(is_orphan=True)) == [(orphan.id, "its folder is gone", "")]
    assert planned(home, PruneCriteria(larger=10_000)) == [(orphan.id, "large", "")]
    assert planned(home, PruneCriteria(is_empty=True)) == [
        (empty.id, "nothing was said", "it was written to a moment ago")
    ]
    assert planned(home, PruneCriteria(older=50, is_orphan=True)) == []
    assert planned(home, PruneCriteria(older=4, is_orphan=True)) == [(orphan.id, "5 days old, its folder is gone", "")]


def test_what_goes_comes_back_byte_for_byte(tmp_path):
    home = tmp_path / "home"
    session = house.claude_session(home, 1)
    other = house.claude_session(home, 2, changed=int(NOW))
    before = house.files(home)
    archive = Archive(str(tmp_path / "archive"), Quick())
    (candidate,) = plan_prune(house.homes(home), PruneCriteria(older=50), NOW, processes=nobody())
    assert prune(archive, candidate).files == 8
    left = house.files(home)
    assert left == {path: facts for path, facts in before.items() if session.id not in path}
    assert any(other.id in path for path in left)
    assert not os.path.exists(f"{home}/.claude/file-history/{session.id}")
    contents = archive.find(session.id)
    restore(contents, plan_restore(contents))
    assert house.files(home) == before


def test_a_session_that_a_process_has_open_or_names_stays(tmp_path):
    session = house.claude_session(tmp_path / "home")
    words = "import sys; file = open(sys.argv[1], 'rb'); print(flush=True); sys.stdin.read()"
    for arguments, why in (([session.path], "open"), ([os.devnull, session.id], "command line")):
        process = subprocess.Popen(
            [sys.executable, "-c", words, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        process.stdout.readline()
        try:
            ((_, _, kept),) = planned(tmp_path / "home", PruneCriteria(older=1), RunningProcesses())
        finally:
            process.communicate(b"")
        assert why in kept
    assert planned(tmp_path / "home", PruneCriteria(older=1), RunningProcesses()) == [(session.id, "100 days old", "")]


def test_what_changes_between_archiving_and_deleting_stays(tmp_path):
    session = house.claude_session(tmp_path / "home")
    (candidate,) = plan_prune(house.homes(tmp_path / "home"), PruneCriteria(older=1), NOW, processes=nobody())
    archive = Archive(str(tmp_path / "archive"), Quick())

    def write(done, total):
        if done == total:
            with open(session.path, "ab") as file:
                file.write(b"{}\n")

    result = prune(archive, candidate, progress=write)
    assert (result.files, "meanwhile" in result.problem) == (0, True)
    assert house.read(session.path).endswith(b"{}\n")


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EACCES, "die", "kill"])
def test_whatever_fails_every_byte_is_on_disk_or_in_the_archive(tmp_path, fault):
    template = tmp_path / "template"
    house.claude_session(template, turns=1)
    before = house.files(template / ".claude")
    for at in range(1, 60, 4):
        for name in ("home", "archive", "out"):
            shutil.rmtree(tmp_path / name, ignore_errors=True)
        shutil.copytree(template, tmp_path / "home", copy_function=shutil.copy2)
        (candidate,) = plan_prune(house.homes(tmp_path / "home"), PruneCriteria(older=1), NOW, processes=nobody())
        kernel = Faulty(at, fault)

        def attempt(kernel=kernel, candidate=candidate):
            try:
                return prune(Archive(str(tmp_path / "archive"), kernel), candidate, kernel=kernel).problem
            except ForetoldError as error:
                return str(error)

        attempt() if isinstance(fault, int) else in_child(attempt)
        left = house.files(tmp_path / "home/.claude")
        kept = {}
        if len(left) < len(before):
            contents = Archive(str(tmp_path / "archive"), Quick()).find(candidate.stored.id)
            restore(contents, plan_restore(contents, str(tmp_path / "out")), kernel=Quick())
            kept = house.files(tmp_path / "out")
        assert {**kept, **left}.keys() == before.keys()
        assert {path: facts[0] for path, facts in {**kept, **left}.items()} == {
            path: facts[0] for path, facts in before.items()
        }


def rollout(home, number, day, base=None):
    """A session of Codex; a fork begins with another one."""
    name = house.name_of(number)
    meta = {"id": name, "cwd": "/p", **({"forked_from_id": house.name_of(base)} if base else {})}
    record = {"timestamp": "2026-01-02T03:04:05.000Z", "type": "session_meta", "payload": meta}
    path = f"{home}/.codex/sessions/2026/01/{day:02}/rollout-2026-01-{day:02}T03-04-05-{name}.jsonl"
    house.write(path, house.lines([record]), changed=house.MOMENT + day)
    return name


def test_a_session_that_a_fork_begins_with_stays_with_it(tmp_path):
    home = str(tmp_path)
    first, second = rollout(home, 1, 1), rollout(home, 2, 2, base=1)
    third, alone = rollout(home, 3, 20, base=2), rollout(home, 4, 1)
    homes = house.homes(home)
    days = NOW - house.MOMENT
    found = plan_prune(homes, PruneCriteria(older=(days - 10) / 86_400), NOW, processes=nobody())
    assert {each.stored.id: bool(each.obstacle) for each in found} == {first: True, second: True, alone: False}
    found = plan_prune(homes, PruneCriteria(older=1), NOW, processes=nobody())
    assert {each.stored.id: each.obstacle for each in found} == dict.fromkeys((first, second, third, alone), "")


@pytest.mark.parametrize(
    ("data", "is_empty"),
    [
        (b"", True),
        (b'{"type":"summary","summary":"x"}\n', True),
        (bytes(range(256)) * 4, False),
        (b"\n\n", False),
        (b"\0" * 100, False),
        (b'{"type":"summary","summary":"x"}\n{"type":"user","mess', False),
        (b'{"type":"summary","summary":"x"}\n[1]\n', False),
        (b'{"type":"user","message":{"role":"user","content":"hi"}}\n', False),
    ],
)
def test_what_is_damaged_is_not_empty(tmp_path, data, is_empty):
    house.write(f"{tmp_path}/.claude/projects/-p/{house.name_of(1)}.jsonl", data)
    expected = [(house.name_of(1), "nothing was said", "")] if is_empty else []
    assert planned(tmp_path, PruneCriteria(is_empty=True)) == expected


def test_a_document_without_messages_is_empty(tmp_path):
    path = f"{tmp_path}/.gemini/tmp/p/chats/session-2026-01-02T03-04-0199aaaa.json"
    house.write(path, b'{"sessionId":"0199aaaa","messages":[]}')
    assert planned(tmp_path, PruneCriteria(is_empty=True)) == [("0199aaaa", "nothing was said", "")]
    house.write(path, b'{"sessionId":"0199aaaa","messages":[')
    assert planned(tmp_path, PruneCriteria(is_empty=True)) == []
