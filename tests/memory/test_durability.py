"""The store loses nothing: many processes, kill -9, failing calls, power cuts, damage. `make torture` does more."""

import errno
import os
import pathlib
import random
import select
import shutil
import tempfile

import pytest

from foretold.memory.note import INDEX
from foretold.memory.store.journal import change_of
from foretold.storage.append_log import decode, encode

from . import machines, powercut
from .machines import OPERATIONS, Worker, files_of, in_child, lost, problems, seeded, store_in, text_of, waiting

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # thousands of small files: no disk is needed for them


@pytest.fixture
def tmp_path():
    with tempfile.TemporaryDirectory(dir=MEMORY) as root:
        yield pathlib.Path(root)


@pytest.fixture(scope="module")
def template():
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        root = os.path.join(folder, "store")
        seeded(root)
        yield root


@pytest.mark.parametrize("count", [2, 8])
def test_no_process_undoes_what_another_one_did(tmp_path, count):
    root = str(tmp_path / "store")
    seeded(root)
    workers = [Worker(root, f"p{number}", 64 // count) for number in range(count)]
    editor = Worker(root, "editor", 12, editor=True)
    complaints = [worker.end() for worker in (*workers, editor)]
    store = store_in(root)
    store.put("user_last.md", text_of("last", "The index catches up with a hasty editor here."))
    acknowledged = {key: ack for worker in workers for key, ack in worker.acknowledged().items()}
    own = ["# Mine", "Keep this line.", *(said["text"] for said in editor.said)]
    assert complaints == [""] * (count + 1)
    assert lost(store, acknowledged) == []
    assert problems(store, own, leftovers=True, displaced=True) == []
    assert len(acknowledged) > 25
    assert len(own) == 14


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_process_costs_at_most_what_it_had_not_acknowledged(tmp_path, seed):
    root, dice, acknowledged = str(tmp_path / "store"), random.Random(seed), {}
    seeded(root)
    for run in range(5):
        worker = Worker(root, f"k{seed}-{run}", 1_000)
        for _ in range(dice.randrange(1, 30)):
            worker.line()
        select.select([], [], [], dice.random() / 200)  # any moment will do: this waits for nothing
        assert worker.kill() == ""
        acknowledged |= worker.acknowledged()
        store = store_in(root)
        store.put(f"user_after_{run}.md", text_of("after", f"Run {run}."), session=f"after-{seed}-{run}")
        assert lost(store, acknowledged, killed=True) == []
        assert problems(store, ["# Mine", "Keep this line."]) == []
        acknowledged[f"after-{seed}-{run}"] = {
            "file": f"user_after_{run}.md",
            "digest": store.read(f"user_after_{run}.md").digest,
        }


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EIO, "short", "die"], ids=str)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_whichever_call_fails_nothing_is_lost_and_the_truth_is_told(tmp_path, template, operation, fault):
    root = str(tmp_path / "run")
    store = store_in(template)
    before = files_of(store), waiting(store)
    count, after = machines.calls_of(operation, template, root)
    said = {}
    # all calls, or every fifth one: `make torture` does them all
    step = 1 if fault == errno.ENOSPC else 5
    for at in range(1 + list(OPERATIONS).index(operation) % step, count + 1, step):
        answer = machines.faulted(operation, at, fault, template, root)
        said[at] = machines.judged(answer, root, before, after, fault=fault)
        shutil.rmtree(root)
    assert {at: each for at, each in said.items() if each} == {}


def test_a_disk_that_stays_full_is_said_to_be_full(tmp_path, template):
    store = store_in(template)
    before = files_of(store), waiting(store)
    for operation in OPERATIONS:
        root = str(tmp_path / operation)
        answer = machines.faulted(operation, 1, errno.ENOSPC, template, root, lasting=True)
        assert answer[0] == "StoreFailed"
        assert answer[1].endswith(": the disk is full; free some space and try again. Nothing was changed")
        assert machines.judged(answer, root, before, before) == []


def test_a_failing_sync_of_the_folder_is_not_reported_as_not_written(tmp_path):
    class Unsynced(machines.Quick):
        def call(self, name, *args, **options):
            if name == "fsync" and linked:
                raise OSError(errno.EIO, "Input/output error")
            if name == "link":
                linked.append(args)
            return super().call(name, *args, **options)

    linked = []
    root = str(tmp_path / "store")
    with pytest.raises(machines.ForetoldError) as raised:
        store_in(root, Unsynced()).put("user_a.md", "A.")
    said = "user_a.md is written, but the disk did not confirm it (Input/output error): a power cut may undo it"
    assert (type(raised.value).__name__, str(raised.value)) == ("NotSynced", said)
    assert files_of(store_in(root)) == {"user_a.md": b"A."}


@pytest.mark.parametrize("part", range(3))
def test_a_power_cut_at_any_moment_loses_nothing_acknowledged(tmp_path, part):
    recorder = powercut.recorded(str(tmp_path / "work"), list(powercut.STEPS))
    said = []
    for number, (marks, tree) in enumerate(powercut.states(recorder, each=8)):
        if number % 3 == part:
            said += powercut.judged(marks, tree, str(tmp_path / f"state-{number}"))
    assert said == []
    assert number > 200


@pytest.mark.parametrize("at", range(2, 26, 4))
def test_a_power_cut_after_a_kill_loses_nothing_acknowledged(tmp_path, at):
    recorder = powercut.recorded(str(tmp_path / "work"), ["create", "edit"], dying="create", die_at=at)
    said = []
    for number, (marks, tree) in enumerate(powercut.states(recorder, each=6, seed=at)):
        said += powercut.judged(marks, tree, str(tmp_path / f"state-{number}"))
    assert said == []


def test_the_model_of_a_power_cut_finds_a_folder_that_was_not_synced(tmp_path, monkeypatch):
    monkeypatch.setattr(powercut.Recorder, "_fsync", lambda *_: None)
    recorder = powercut.recorded(str(tmp_path / "work"), ["create"])
    found = [powercut.judged(marks, tree, str(tmp_path / f"{number}")) for number, (marks, tree) in
             enumerate(powercut.states(recorder, each=4))]  # fmt: skip
    assert any("LOST" in said for each in found for said in each)
    assert any("TORN" in said for each in found for said in each)


def test_a_log_cut_at_any_byte_gives_every_whole_record_and_names_the_torn_one(tmp_path):
    store = store_in(str(tmp_path / "store"))
    for name in ("a", "b", "c"):
        store.put(f"user_{name}.md", f"Text of {name}: é 日本.\n")
    path = store.journal.lines.path
    with open(path, "rb") as file:
        data = file.read()
    lines = data.splitlines(keepends=True)
    ends = [sum(map(len, lines[:count])) for count in range(len(lines) + 1)]
    for size in range(len(data) + 1):
        with open(path, "wb") as file:
            file.write(data[:size])
        findings = []
        whole = sum(size >= end - 1 for end in ends[1:])  # the end of its line is no part of a record
        changes = store.journal.changes(findings)
        assert changes == [change_of(decode(line[:-1])) for line in lines[:whole]]
        torn = size not in ends and size + 1 not in ends
        assert [(each.path, each.line, each.code) for each in findings] == [(path, whole + 1, "history-damaged")] * torn


def test_after_any_cut_of_the_log_the_files_stay_and_the_history_goes_on(tmp_path, template):
    root = str(tmp_path / "run")
    with open(store_in(template).journal.lines.path, "rb") as file:
        data = file.read()
    files = files_of(store_in(template))
    for size in range(0, len(data), 97):
        shutil.copytree(template, root)
        store = store_in(root)
        with open(store.journal.lines.path, "wb") as file:
            file.write(data[:size])
        store.put("user_next.md", "Next.")
        told = problems(store)
        assert files_of(store) == {**files, "user_next.md": b"Next."}
        assert [each for each in told if not each.startswith("damage")] == []
        shutil.rmtree(root)


def test_half_a_record_on_its_way_is_not_taken_for_damage(tmp_path):
    root = str(tmp_path / "store")
    store_in(root).put("user_a.md", "A.")
    worker, findings = Worker(root, "large", 12, large=True), []
    while worker.line() is not None:
        store_in(root).log(findings=findings)
    assert (worker.end(), findings) == ("", [])
    assert len(worker.acknowledged()) == 12


def test_garbage_between_records_costs_no_record(tmp_path):
    root = str(tmp_path / "store")
    store = store_in(root)
    made = [store.put(f"user_{name}.md", f"{name}\n") for name in "abc"]
    path = store.journal.lines.path
    with open(path, "rb") as file:
        first, second, third = file.read().splitlines(keepends=True)
    bad = (b"garbage\n", b"\0" * 100 + b"\n", b"\xff\xfe\n", b"{}\n", b"[1]\n", second.replace(b"user_b", b"user_x"))
    with open(path, "wb") as file:
        file.write(bad[0] + first + b"".join(bad[1:5]) + second + bad[5] + b"\n" + third)
    findings = []
    assert [change.file for change in store_in(root).log(findings=findings)] == [memory.file for memory in made]
    assert [(each.line, each.code) for each in findings] == [
        (line, "history-damaged") for line in (1, 3, 4, 5, 6, 8)
    ]  # fmt: skip
    assert store_in(root).put("user_d.md", "d\n").file == "user_d.md"
    assert [change.number for change in store_in(root).log()] == [1, 2, 3, 4]


def test_a_record_reads_as_it_was_written():
    for text in ("", "\n", "\r\n\u2028\x85", '",}"sum":"00000000"}', "\ud800", "\0", "é" * 70_000):
        record = {"text": text, "number": 7, "before": None}
        line = encode(record)
        assert (line.count(b"\n"), line[-1:], decode(line[:-1])) == (1, b"\n", record)


def test_what_a_dead_process_left_of_somebody_elses_text_comes_into_the_history(tmp_path):
    root = str(tmp_path / "store")
    store = store_in(root)
    store.put("user_a.md", "A.\n")
    for name, text in (("1-x", b"no end of line"), ("2-x", b"lines\nof mine\n"), ("3-x", b"A."), ("4-x", b"")):
        with open(os.path.join(store.path, f".foretold-{name}"), "wb") as file:
            file.write(text)
    store.put("user_b.md", "B.\n")
    kept = {change.data for change in store.log() if change.op == "leftover"}
    assert kept == {b"no end of line", b"lines\nof mine\n"}
    assert sorted(os.listdir(store.path)) == [INDEX, "user_a.md", "user_b.md"]
    assert problems(store, (), leftovers=True) == []


def test_what_looks_like_a_leftover_and_is_no_file_stops_nobody(tmp_path):
    store = store_in(str(tmp_path / "store"))
    store.put("user_a.md", "A.\n")
    os.mkdir(os.path.join(store.path, ".foretold-folder"))
    os.symlink("/etc/passwd", os.path.join(store.path, ".foretold-link"))
    os.mkfifo(os.path.join(store.path, ".foretold-pipe"))
    store.put("user_b.md", "B.\n")
    assert sorted(store.folder.files()) == ["user_a.md", "user_b.md"]
    assert sorted(os.listdir(store.path))[:3] == [".foretold-folder", ".foretold-link", ".foretold-pipe"]


def test_the_lock_of_a_process_that_died_holds_nobody_up(tmp_path, template):
    root = str(tmp_path / "run")
    shutil.copytree(template, root)

    def die():
        with store_in(root).versioned.locked():
            os._exit(9)

    assert in_child(die) is None
    assert store_in(root).put("user_next.md", "Next.").body == "Next."
