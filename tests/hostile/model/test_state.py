"""What a command of a model leaves in our own folders: nothing waits for it, and no newer store is overwritten."""

import glob
import os

import pytest

ADD = ("memory", "add", "Tabs", "-t", "project", "-d", "tabs", "-b", "Use tabs.")
MORE = ("memory", "add", "Spaces", "-t", "project", "-d", "spaces", "-b", "No spaces.")


@pytest.fixture
def store(place, installed):
    """The state folder of a store that has a memory."""
    assert installed.run(*ADD)[0] == 0
    (found,) = (path for path in glob.glob(f"{place.home}/.local/state/foretold/*") if os.path.exists(f"{path}/format"))
    return found


def replace_by_pipe(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.unlink(path)
    os.mkfifo(path)


@pytest.mark.parametrize("mark", ['{"store": 99}', '{"store": 99}\n', '{"store": 99, "written_by": "9"}'])
def test_a_newer_store_is_never_written_as_an_older_one(installed, store, mark):
    with open(f"{store}/format", "w", encoding="utf-8") as file:
        file.write(mark)
    code, _, err = installed.run(*MORE)
    assert (code != 0, b"newer foretold" in err) == (True, True)
    with open(f"{store}/format", encoding="utf-8") as file:
        assert file.read() == mark


def test_a_pipe_in_place_of_the_mark_is_refused(installed, store):
    replace_by_pipe(f"{store}/format")
    code, _, err = installed.run(*MORE)
    assert (code != 0, b"not a regular file" in err) == (True, True)


def test_pipes_in_place_of_temporary_files_are_replaced(place, installed, store):
    os.unlink(f"{store}/format")
    replace_by_pipe(f"{store}/format.new")
    replace_by_pipe(f"{place.home}/.cache/foretold/{os.path.basename(store)}/heads.new")
    assert installed.run(*MORE)[0] == 0
    assert os.path.isfile(f"{store}/format")


def test_erasing_waits_for_no_pipe_in_the_cache(place, installed, store):
    cache = f"{place.home}/.cache/foretold"
    for name in ("recall-0.db", "sessions.lock", f"{os.path.basename(store)}/pipe"):
        replace_by_pipe(f"{cache}/{name}")
    for path in glob.glob(f"{cache}/recall-*.db"):
        replace_by_pipe(path)
    code, out, err = installed.run("memory", "erase", "--text-from", "-", "--yes", given=b"Use tabs.")
    assert code == 0, out + err
    assert not os.path.lexists(f"{cache}/recall-0.db")
