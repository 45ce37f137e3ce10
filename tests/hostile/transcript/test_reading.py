"""A transcript as the attacker: whatever stands where agents keep what was said, no command hangs or runs it."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time

import pytest

# Things that are not files

ID = "11111111-2222-4333-8444-{:012}"
PROJECT = "home/.claude/projects/-proj"
SESSION = ID.format(0)
CODEX = "home/.codex/sessions/2026/11/16/rollout-2026-11-16T10-00-00-{}.jsonl"
GEMINI = "home/.gemini/tmp/proj/chats/session-2026-11-16T10-00-{}.jsonl"
OPENCODE = "home/.local/share/opencode"
GONE = 30  #: seconds in which a worker has to notice that its starter is gone; it takes milliseconds


def record(cwd, text="hello pool", number=0):
    said = {"role": "user", "content": text}
    about = {"uuid": ID.format(900 + number), "sessionId": SESSION, "cwd": cwd, "timestamp": "2026-11-16T10:00:00.000Z"}
    return json.dumps({"type": "user", **about, "message": said}) + "\n"


def fifo(place, path):
    place.fifo(path)


def endless(place, path):
    place.link(path, "/dev/zero")


def of_the_process(place, path):
    place.link(path, "/proc/self/pagemap")


def loop(place, path):
    place.link(path, os.path.basename(path))


def folder(place, path):
    place.folder(path)


def bound_socket(place, path):
    place.folder(os.path.dirname(path))
    where = os.getcwd()
    os.chdir(os.path.dirname(place.path(path)))  # the address of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(os.path.basename(path))
    finally:
        os.chdir(where)


def sparse(place, path):
    place.write(path, record(place.proj))
    os.truncate(place.path(path), 1 << 40)


def unreadable(place, path):
    place.write(path, record(place.proj), 0)


STRANGE = (fifo, endless, of_the_process, loop, folder, bound_socket, sparse, unreadable)


def strange_home(place):
    """A home with one honest session, and every strange thing among the sessions of every agent."""
    place.write(f"{PROJECT}/{SESSION}.jsonl", record(place.proj))
    for number, make in enumerate(STRANGE, 1):
        name = ID.format(number)
        make(place, f"{PROJECT}/{name}.jsonl")
        make(place, f"{PROJECT}/{SESSION}/subagents/agent-{number}.jsonl")
        make(place, CODEX.format(name))
        make(place, CODEX.format(ID.format(number + 100)) + ".zst")
        make(place, GEMINI.format(f"0000000{number}"))
        make(place, GEMINI.format(f"1000000{number}").removesuffix("l"))
        make(place, f"{OPENCODE}/opencode-{number}.db")
        make(place, f"{OPENCODE}/storage/session/global/ses_{number}.json")
    make_database(place.path(f"{OPENCODE}/opencode.db"))
    place.fifo(f"{OPENCODE}/opencode.db-wal")
    fifo(place, "home/.codex/session_index.jsonl")
    fifo(place, "home/.gemini/projects.json")
    fifo(place, "home/.gemini/tmp/proj/.project_root")


def make_database(path):
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE session (id TEXT, directory TEXT, title TEXT, time_created INTEGER)")
    base.commit()
    base.close()


COMMANDS = {
    "list": ("list", "--all", "-n", "0", "--subagents"),
    "search": ("search", "pool"),
    "scan": ("search", "pool", "--no-index"),
    "du": ("du",),
    "prune": ("prune", "--empty"),
    "archive": ("archive", "--all"),
    "show": ("show", SESSION),
    "export": ("export", SESSION),
    "repair": ("repair", SESSION),
    "relocate": ("relocate",),
    **{f"show {make.__name__}": ("show", ID.format(at)) for at, make in enumerate(STRANGE, 1)},
    **{f"export {make.__name__}": ("export", ID.format(at)) for at, make in enumerate(STRANGE, 1)},
    **{f"repair {make.__name__}": ("repair", ID.format(at)) for at, make in enumerate(STRANGE, 1)},
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_hangs_on_what_is_not_a_file(place, installed, name):
    strange_home(place)
    code, out, err = installed.run("sessions", *COMMANDS[name])
    assert b"Traceback" not in out + err
    assert code in (0, 1, 2, 3)


@pytest.mark.parametrize("how", [(), ("--no-index",)])
def test_a_search_finds_the_rest_and_names_what_it_left_out(place, installed, how):
    place.write(f"{PROJECT}/{SESSION}.jsonl", record(place.proj))
    left = []
    for number, make in enumerate((fifo, endless, folder, bound_socket, sparse), 1):
        left.append(f"{PROJECT}/{ID.format(number)}.jsonl")
        make(place, left[-1])
    code, out, _ = installed.run("sessions", "search", "pool", "--json", *how)
    found = json.loads(out)
    assert [hit["session"]["id"] for hit in found["hits"]] == [SESSION]
    assert {(each["path"], each["code"]) for each in found["findings"]} == {
        (place.path(path), "unreadable") for path in left
    }
    assert code == 1


def test_a_list_names_what_it_left_out(place, installed):
    place.write(f"{PROJECT}/{SESSION}.jsonl", record(place.proj))
    fifo(place, f"{PROJECT}/{ID.format(1)}.jsonl")
    _, out, err = installed.run("sessions", "list", "--all")
    assert SESSION.encode() in out
    assert b"-000000000001.jsonl" in err
    assert b"not a regular file" in err


def test_one_that_may_not_be_read_costs_no_other_its_index(place, installed, needs_bits):
    place.write(f"{PROJECT}/{SESSION}.jsonl", record(place.proj))
    unreadable(place, f"{PROJECT}/{ID.format(1)}.jsonl")
    _, out, _ = installed.run("sessions", "search", "pool", "--json")
    found = json.loads(out)
    assert len(found["hits"]) == 1
    assert [each["code"] for each in found["findings"]] == ["unreadable"]
    assert os.path.exists(place.path("home/.cache/foretold/sessions-0.db"))


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("make", [fifo, endless, bound_socket])
def test_an_index_that_was_replaced_is_built_again(place, installed, make, ending):
    place.write(f"{PROJECT}/{SESSION}.jsonl", record(place.proj))
    assert installed.run("sessions", "search", "pool")[0] == 0
    for number in range(2):
        path = f"home/.cache/foretold/sessions-{number}.db{ending}"
        if os.path.lexists(place.path(path)):
            os.unlink(place.path(path))
        make(place, path)
    code, out, err = installed.run("sessions", "search", "pool")
    assert (code, b"pool" in out, err) == (0, True, b"")


@pytest.mark.parametrize("make", [fifo, endless, bound_socket, folder])
@pytest.mark.parametrize("name", ["sessions.lock", "sessions-0.busy"])
def test_a_lock_that_is_not_a_file_means_no_index(place, installed, make, name):
    place.write(f"{PROJECT}/{SESSION}.jsonl", record(place.proj))
    make(place, f"home/.cache/foretold/{name}")
    code, out, _ = installed.run("sessions", "search", "pool", "--json")
    found = json.loads(out)
    assert len(found["hits"]) == 1
    assert code == len(found["findings"]) <= 1


def test_a_line_without_end_is_read_by_its_ends(place, installed):
    """300 MB without a newline."""
    path = place.write(f"{PROJECT}/{SESSION}.jsonl", record(place.proj))
    with open(path, "ab") as file:
        file.write(b'{"type": "user", "uuid": "u", "message": {"role": "user", "content": "pool ')
        for _ in range(300):
            file.write(b"x" * (1 << 20))
    code, out, _ = installed.run("sessions", "search", "pool", "--json")
    found = json.loads(out)
    assert len(found["hits"]) == 2
    assert code == 1
    assert installed.run("sessions", "list")[0] == 0


def test_what_grows_while_it_is_read_is_read_as_far_as_it_was(place):
    """A writer that is faster than the reader: the reader ends."""
    from foretold.sessions.formats.jsonl import lines_of

    path = place.write(f"{PROJECT}/{SESSION}.jsonl", record(place.proj) * 3)
    seen = 0
    with open(path, "a", encoding="utf-8") as file:
        for _ in lines_of(path):
            file.write(record(place.proj) * 100)
            file.flush()
            seen += 1
    assert seen == 3


def test_a_bomb_is_not_unpacked_to_its_end(place, installed, monkeypatch):
    from foretold.sessions.formats.codex import zstd

    monkeypatch.setattr(zstd, "MOST", 1 << 20)
    plain = place.write("plain", "x" * (8 << 20))
    packed = place.path("a.jsonl.zst")
    try:
        subprocess.run(["zstd", "-q", plain, "-o", packed], check=True)
    except FileNotFoundError:
        pytest.skip("the program zstd is not installed")
    findings = []
    with zstd.readable(packed, findings) as path:
        assert os.path.getsize(path) <= 1 << 20
    assert [each.code for each in findings] == ["record-packed"]


# A second process

WORK = """\
import json, sys
from foretold.sessions.fulltext.worker import start_worker
process = start_worker(sys.argv[1], sys.argv[2], json.loads(sys.stdin.readline()))
print(process.pid, flush=True)
print(process.stdout.read())
"""


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("function", ["scan_backwards", "fill_shard"])
def test_a_worker_ends_with_the_process_that_was_killed(place, function):
    """There is far more to read than a machine reads in that time."""
    path = place.write(f"{PROJECT}/{SESSION}.jsonl", record(place.proj))
    with open(path, "ab") as file:
        for number in range(60_000):
            file.write(record(place.proj, "pool " + "word " * 100 + str(number), number).encode())
        size = file.tell()
    paths = [path] * 20_000
    rows = [["claude-code", f"{number}", path, "", "", None, 1.0, size] for number in range(200)]
    task = [["absent"], paths] if function == "scan_backwards" else [place.folder("cache"), 0, rows]
    module = f"foretold.sessions.fulltext.{'scan' if function == 'scan_backwards' else 'index'}"
    words, pipe = [sys.executable, "-I", "-c", WORK, module, function], subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe) as starter:
        starter.stdin.write(json.dumps(task).encode() + b"\n")
        starter.stdin.flush()
        worker = int(starter.stdout.readline())
        assert is_running(worker)
        starter.send_signal(signal.SIGKILL)
    until = time.monotonic() + GONE
    while is_running(worker) and time.monotonic() < until:
        time.sleep(0.01)
    still = is_running(worker)
    if still:
        os.kill(worker, signal.SIGKILL)
    assert not still


def test_a_worker_imports_nothing_of_the_folder_it_is_started_in(place, canary):
    for name in ("json", "threading", "sqlite3", "foretold", "zlib", "subprocess", "types"):
        place.write(f"proj/{name}.py", canary.python)
    words = [sys.executable, "-I", "-c", WORK, "foretold.sessions.fulltext.scan", "scan_backwards"]
    task = json.dumps([["absent"], [place.write("home/a.jsonl", record(place.proj))]])
    done = subprocess.run(words, cwd=place.proj, input=task.encode() + b"\n", capture_output=True, check=True)
    assert done.stdout.splitlines()[1].startswith(b"b'0 ")
    assert not canary.ran


def test_a_list_that_leaves_something_out_says_so_in_its_status(place, installed):
    place.write(f"{PROJECT}/{SESSION}.jsonl", record(place.proj))
    assert installed.run("sessions", "list", "--all")[0] == 0
    fifo(place, f"{PROJECT}/{ID.format(1)}.jsonl")
    for words in (["list", "--all"], ["list", "--all", "--json"]):
        code, _, err = installed.run("sessions", *words)
        assert (code, b"remove it" in err, b"permissions" in err) == (1, True, False)
