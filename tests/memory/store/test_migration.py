"""The format of a history: migrated by a newer program, refused by an older one, and brought back."""

import errno
import os
import shutil
import subprocess
import sys

import pytest

from foretold.errors import StoreFailed
from foretold.memory.store import migration
from foretold.memory.store.transaction import FORMAT
from foretold.storage.append_log import decode, encode

from ..machines import Faulty, in_child, problems, store_in, text_of, tree

FIRST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "format1")  #: as the program before formats left it


@pytest.fixture
def root(tmp_path):
    return shutil.copytree(FIRST, tmp_path / "store")


def state_of(root):
    return tree(os.path.join(root, "state"))


def migrated(root, kernel=None):
    store = store_in(root, kernel)
    with store.versioned.locked_history():
        pass
    return store


def test_a_store_of_the_first_format_migrates_and_goes_back_byte_for_byte(root):
    before = state_of(root)
    store = migrated(root)
    after = state_of(root)
    assert after.pop("format") == b'{"store": 2, "written_by": "0.1.0"}\n'
    assert after == before
    assert migration.go_back(store.versioned, 1) == FORMAT
    assert state_of(root) == before


def test_a_migrated_store_goes_on(root):
    store = store_in(root)
    known = store.journal.changes()
    store.put("user_new.md", text_of("new", "New."))
    assert store.log()[: len(known)] == known
    assert store.restore("user_b.md").body == "Body of b."
    assert problems(store) == []


def test_what_was_written_since_is_there_for_the_older_program(root):
    store = store_in(root)
    store.put("user_new.md", text_of("new", "New."))
    changes = store.log()
    migration.go_back(store.versioned, 1)
    assert "format" not in state_of(root)
    lines = state_of(root)["log.jsonl"].splitlines()
    assert all(decode(line).keys() <= migration.FIRST_KEYS for line in lines)
    assert store_in(root).journal.changes() == changes


def test_a_record_that_the_first_format_does_not_know_is_written_in_its_words(root):
    store = migrated(root)
    path = os.path.join(root, "state", "log.jsonl")
    with open(path, "rb") as file:
        *lines, last = file.read().splitlines(keepends=True)
    with open(path, "wb") as file:
        file.write(b"".join(lines) + b"damaged\n" + encode({**decode(last.rstrip(b"\n")), "later": 1}))
    migration.go_back(store.versioned, 1)
    with open(path, "rb") as file:
        assert file.read() == b"".join([*lines, b"damaged\n", last])


@pytest.mark.parametrize("fault", ["die", "kill", "torn", errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("back", [False, True])
def test_a_migration_can_stop_at_any_call(root, tmp_path, fault, back):
    known = store_in(root).journal.changes()

    def change(where, kernel):
        if not back:
            return migrated(where, kernel) and None
        return migration.go_back(store_in(where, kernel).versioned, 1)

    if back:
        migrated(root)
    count = Faulty(0, 0)
    change(shutil.copytree(root, tmp_path / "count"), count)
    assert count.count > 1
    for at in range(1, count.count + 1):
        where = shutil.copytree(root, tmp_path / f"{at}")
        in_child(lambda where=where, at=at: change(where, Faulty(at, fault)))
        store = store_in(where)
        store.put("user_new.md", text_of("new", "New."))
        assert store.log()[: len(known)] == known
        assert problems(store) == []
        assert store.versioned.read_format() == FORMAT


def test_a_mark_that_says_nothing_is_refused_and_a_torn_one_is_written_again(root):
    store = migrated(root)
    path = os.path.join(root, "state", "format")
    for torn in (b"", b'{"store": 2, "wri', bytes(20)):
        with open(path, "wb") as file:
            file.write(torn)
        assert store.versioned.read_format() == 1
    for whole in (b'{"store": 2}', b'{"store": 2}\0\0'):
        with open(path, "wb") as file:
            file.write(whole)
        assert store.versioned.read_format() == 2
    for newer in (b'{"store": 99}', b'{"store":99} ', b'{"written_by": "9", "store": 99}'):
        with open(path, "wb") as file:
            file.write(newer)
        with pytest.raises(StoreFailed, match="written by a newer foretold"):
            store.put("user_new.md", "New.")
        with open(path, "rb") as file:
            assert file.read() == newer
    for wrong in (
        b"no",
        b"{}",
        b"99",
        b'{"version": 99',
        b'{"store": true}',
        b"{}\n",
        b"[]\n",
        b'{"store": "2"}\n',
        b'{"store": 0}\n',
        b"no\n",
    ):
        with open(path, "wb") as file:
            file.write(wrong)
        with pytest.raises(StoreFailed, match="it does not name a format"):
            store.put("user_new.md", "New.")


def test_there_is_no_way_to_a_format_that_does_not_exist(root):
    for number in (0, 3, -1):
        with pytest.raises(StoreFailed, match=f"there is no format {number}"):
            migration.go_back(store_in(root).versioned, number)


def test_an_older_program_refuses_a_newer_store(root, place):
    """The older program is this one, with the number that it would have had."""
    migrated(root)
    before = tree(root)
    code = (
        "import sys, foretold.memory.store.transaction as t; t.FORMAT = 1\n"
        "from foretold.memory.store.store import Store\n"
        "from foretold.errors import StoreFailed\n"
        "store = Store(*sys.argv[1:])\n"
        "acts = lambda: store.put('user_x.md', 'X.'), lambda: store.delete('user_a.md'), store.reindex, store.log\n"
        "for act in acts:\n"
        "    try:\n        act()\n    except StoreFailed as error:\n        print(error.exit_code, error)\n"
    )
    paths = [os.path.join(root, name) for name in ("memory", "state", "cache")]
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], env=place.environment(), capture_output=True, text=True, check=True
    )
    said = f"3 {paths[1]} was written by a newer foretold (format 2; this one knows 1). Nothing was changed; "
    assert done.stdout.splitlines() == [said + "install the newer one: pip install -U foretold"] * 4
    assert tree(root) == before


def test_the_command_goes_back(root, place):
    words = [sys.executable, "-m", "foretold", "memory", "--folder", os.path.join(root, "memory")]
    env = place.environment()

    def run(command, *more):
        line = [*words[:4], command, *words[4:], *more]
        return subprocess.run(line, env=env, cwd=place.proj, capture_output=True, text=True, check=False)

    assert run("add", "New", "-t", "user", "-d", "d", "-b", "b").returncode == 0
    done = run("doctor", "--format", "1")
    said = " ".join(done.stdout.split())
    assert (done.returncode, "is in format 1 now, for an older foretold" in said) == (0, True)
    assert "is in format 1 already." in " ".join(run("doctor", "--format", "1").stdout.split())
    assert run("doctor", "--format", "7").returncode == 3
