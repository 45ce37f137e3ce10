"""A disk that is full, or a process that is killed at any moment: nothing is lost, and what was erased is gone."""

import errno
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys

import pytest

from foretold.errors import ForetoldError
from foretold.memory.store.erasure import MemoryEraser, TextEraser, erase_in_store
from foretold.memory.store.inbox import Inbox
from foretold.memory.store.retention import compact_history, plan_compaction
from foretold.secrets.erasure.spellings import Spellings

from ...memory import machines

# Erasing and compacting

SECRET = "hunter2-hunter2"
WHEN = "2026-01-02T03:04:05Z"


def leaky(root):
    """A store with a secret in a memory, its line of the index, its history (packed) and a proposal."""
    store = machines.seeded(root)
    lines = [f"line {number} {random.Random(number).random()}" for number in range(500)]
    for number in range(4):
        lines[7] = f"the password is {SECRET} ({number})"
        text = machines.text_of("leak", "\n".join(lines)).replace("about leak", f"with {SECRET}")
        store.put("user_leak.md", text) if not number else store.edit("user_leak.md", text=text)
    Inbox(store).propose("create", "user_more.md", machines.text_of("more", SECRET))
    store.notice()
    return store


def erase_secret(store):
    return erase_in_store(store, TextEraser(Spellings(SECRET)), WHEN, apply=True).total


def erase_whole(store):
    return erase_in_store(store, MemoryEraser(store, "user_leak"), WHEN, apply=True).total


def compact(store):
    with store.versioned.locked():
        plan = plan_compaction(store.journal, days=0, bound=12_000)
        return compact_history(store.journal, plan, by="user", when=WHEN, why="compacted")


STEPS = {"erase text": erase_secret, "erase memory": erase_whole, "compact": compact}


def attempt(step, store):
    try:
        STEPS[step](store)
    except ForetoldError as error:
        return [type(error).__name__, str(error)]
    return ["ack", ""]


def numbers(store):
    return [change.number for change in store.log()]


def check(step, root, before, log):
    """What is wrong with a store after a step that went wrong: sentences."""
    store = machines.store_in(root)
    store.put("user_next.md", machines.text_of("next", "The next change brings the index in step."))
    said = machines.problems(store, leftovers=True)  # half of a clean file may come into the history
    changes = store.log()
    if [change.number for change in changes][: len(log)] != log:
        said.append(f"the history begins with other numbers: {[change.number for change in changes]}")
    for file, data in before.items():
        if file != "user_leak.md" and machines.files_of(store).get(file) != data:
            said.append(f"LOST: {file}")
    answer = attempt(step, store)  # the second run completes it
    if answer != ["ack", ""]:
        said.append(f"the second run: {answer}")
    if step == "erase text":
        left = [path for path, data in machines.tree(root).items() if SECRET.encode() in (data or b"")]
        said += [f"LEFT: {path}" for path in left]
        found = erase_in_store(machines.store_in(root), TextEraser(Spellings(SECRET)), WHEN, apply=False)
        said += [f"LEFT: {found}"] * bool(found.total)
    said += machines.problems(machines.store_in(root), leftovers=True)
    return said


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    root = str(tmp_path_factory.mktemp("leaky") / "store")
    leaky(root)
    return root


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EIO, "die", "kill", "torn"], ids=str)
@pytest.mark.parametrize("step", STEPS)
def test_whichever_call_of_erasing_goes_wrong_the_history_is_whole(tmp_path, template, step, fault):
    root = str(tmp_path / "run")
    shutil.copytree(template, root)
    kernel = machines.Faulty(0, 0)
    before, log = machines.files_of(machines.store_in(root)), numbers(machines.store_in(root))
    assert attempt(step, machines.store_in(root, kernel)) == ["ack", ""]
    shutil.rmtree(root)
    said = {}
    for at in range(1, kernel.count + 1):
        shutil.copytree(template, root)
        faulty = machines.Faulty(at, fault)
        if isinstance(fault, int):
            answer = attempt(step, machines.store_in(root, faulty))
        else:
            answer = machines.in_child(lambda faulty=faulty: attempt(step, machines.store_in(root, faulty)))
        said[at] = check(step, root, before, log)
        if answer and "Nothing was changed" in answer[1] and step == "compact":
            said[at] += ["LIE: it was changed"] * (numbers(machines.store_in(root))[: len(log)] != log)
        shutil.rmtree(root)
    assert {at: each for at, each in said.items() if each} == {}
    assert kernel.count > 5


def test_no_write_of_another_process_is_lost_while_secrets_are_erased(tmp_path, template):
    root = str(tmp_path / "run")
    shutil.copytree(template, root)
    workers = [machines.Worker(root, f"w{number}", 40) for number in range(3)]
    for _ in range(6):
        store = machines.store_in(root)
        store.put(f"user_{os.urandom(4).hex()}.md", machines.text_of("again", f"again {SECRET}"))
        erase_secret(store)
    acknowledged = {}
    for worker in workers:
        assert worker.end() == ""
        acknowledged |= worker.acknowledged()
    store = machines.store_in(root)
    # a worker may have renamed a file while it had the secret: that change is there, with another text on purpose
    erased = {change.session: change.file for change in store.journal.changes() if change.erased}
    whole = {name: ack for name, ack in acknowledged.items() if erased.get(name) != ack["file"]}
    assert machines.lost(store, whole) == []
    assert machines.problems(store) == []
    assert len(acknowledged) > 30


def test_a_process_that_knew_the_old_log_reads_the_new_one(tmp_path, template):
    root = str(tmp_path / "run")
    shutil.copytree(template, root)
    old = machines.store_in(root)
    known = old.log("user_leak.md")
    erase_secret(machines.store_in(root))
    assert SECRET.encode() not in known[0].data  # its offset is another one now
    old.put("user_more.md", machines.text_of("more", "More."))
    assert machines.problems(machines.store_in(root)) == []


def test_damaged_and_torn_lines_are_erased_too(tmp_path, template):
    root = str(tmp_path / "run")
    shutil.copytree(template, root)
    log = machines.store_in(root).journal.lines.path
    with open(log, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    packed = next(line for line in lines if b'"zlib":"' in line).replace(b'"sum":"', b'"sum":"x')
    plain = f'{{"text":"{SECRET}","sum":"0"}}\n'.encode()
    with open(log, "wb") as file:
        file.write(b"".join([*lines[:3], plain, packed, *lines[3:], b'{"half":"' + SECRET.encode()]))
    assert erase_secret(machines.store_in(root)) > 0
    left = [path for path, data in machines.tree(root).items() if SECRET.encode() in (data or b"")]
    assert left == []
    with open(log, "rb") as file:
        assert packed not in file.read()


def test_erasing_and_compacting_on_a_full_disk_change_nothing_and_say_so(tmp_path, template):
    root = str(tmp_path / "run")
    for step in STEPS:
        shutil.copytree(template, root)
        before = machines.tree(root)
        kind, said = machines.in_child(lambda step=step: _limited(step, root))
        assert kind == "StoreFailed", said
        assert said.endswith("Nothing was changed")
        after = machines.tree(root)
        assert {path: data for path, data in after.items() if "cache" not in path} == {
            path: data for path, data in before.items() if "cache" not in path
        }
        shutil.rmtree(root)


def _limited(step, root):
    """A step under a limit of the size of a file: the new log does not fit."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = machines.store_in(root)
    if step == "erase text":
        inbox = os.path.getsize(Inbox(store).lines.path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (inbox // 2, inbox // 2))
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))
    return attempt(step, store)


# A history that is large

CHILD = """
import json, sys
from foretold.memory.store.store import Store
root = sys.argv[1]
store = Store(f"{root}/memory", f"{root}/state", f"{root}/cache")
count = len([change.number for change in store.log()])
# not getrusage: its maximum includes the process that started this one
with open("/proc/self/status") as file:
    peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
print(json.dumps([count, peak]))
"""


def edits(root, count):
    """Edits of 0.9 MB: a line here, a line there."""
    dice = random.Random(7)
    lines = [f"{number} {dice.random()} {dice.random()}" for number in range(21_000)]
    store = machines.store_in(root)
    store.put("user_large.md", "\n".join(lines))
    for number in range(count):
        lines[dice.randrange(len(lines))] = f"edit {number}"
        lines.insert(0, f"top {number}")
        store.edit("user_large.md", text="\n".join(lines))
    assert len("\n".join(lines)) > 850_000
    return store, "\n".join(lines)


def test_three_hundred_edits_of_a_large_memory_stay_small_on_disk_and_in_memory(tmp_path):
    root = str(tmp_path)
    store, last = edits(root, 300)
    size = os.path.getsize(store.journal.lines.path)
    assert size < 16 * 1024 * 1024  # 270 MB before versions were packed
    done = subprocess.run([sys.executable, "-c", CHILD, root], capture_output=True, check=True, timeout=120)
    count, kilobytes = json.loads(done.stdout)
    assert count == 301
    assert kilobytes < 120 * 1024  # 795 MB before texts were read one at a time
    life = store.log("user_large.md")
    assert life[-1].data.decode() == last
    assert life[150].data.decode().startswith("top 149\n")


def test_what_cannot_be_packed_is_bounded_and_said(tmp_path):
    store = machines.store_in(str(tmp_path))
    store.versioned.bound = 2_000_000
    store.put("user_quiet.md", "first")
    store.edit("user_quiet.md", text="second")
    store.put("user_gone.md", "the text before it was deleted" * 200)
    store.delete("user_gone.md")
    for _ in range(30):
        store.edit("user_quiet.md", text="third") if _ == 20 else None
        name = "user_loud.md"
        text = os.urandom(100_000).hex()
        store.edit(name, text=text) if store.find(name) else store.put(name, text)
    assert os.path.getsize(store.journal.lines.path) < 2_300_000
    fresh = machines.store_in(str(tmp_path))
    log = fresh.log()
    assert [change.number for change in log] == list(range(1, len(log) + 1))
    assert any((change.op, change.by) == ("compact", "auto") for change in log)
    dropped = {change.file for change in log if change.dropped}
    assert dropped == {"user_loud.md"}  # it does not push out the versions of others
    assert [change.data for change in fresh.log("user_quiet.md")] == [b"first", b"second", b"third"]
    assert fresh.restore("user_gone.md").text.startswith("the text before")
    assert fresh.log("user_loud.md")[-1].data.decode() == text
    assert machines.problems(fresh, ()) == []


def test_a_full_disk_is_freed_by_compacting(place, installed):
    """What the command says and does, with the history of a year ago."""
    words = ("memory", "add", "Notes", "-t", "user", "-d", "notes", "-b")
    assert installed.run(*words, "text")[0] == 0
    for number in range(12):
        body = os.urandom(20_000).hex()
        assert installed.run("memory", "edit", "notes", "-b", f"{number} {body}")[0] == 0
    (log,) = [
        os.path.join(above, name) for above, _, names in os.walk(place.home) for name in names if name == "log.jsonl"
    ]
    before = os.path.getsize(log)
    code, out, _ = installed.run("memory", "compact", "--history")
    assert (code, b"Nothing is to be dropped" in out) == (0, True)
    code, out, _ = installed.run("memory", "compact", "--history", "--days", "0", "--json")
    assert (code, json.loads(out)["done"], os.path.getsize(log)) == (0, False, before)
    assert json.loads(out)["drop"] > 8
    assert installed.run("memory", "compact", "--history", "--days", "0", "--yes")[0] == 0
    assert os.path.getsize(log) < before / 4
    code, out, err = installed.run("memory", "restore", "notes", "--at", "3")
    assert (code, b"was dropped on" in err) == (2, True)
    code, out, _ = installed.run("memory", "log")
    assert (code, b"compact" in out, b"was dropped on" in out) == (0, True, True)
