"""File history of a harness: what is recorded at prompts and edits, and that going back gives exactly that."""

import json
import os
import stat

import pytest
from hypothesis import HealthCheck, given, settings, strategies as some

from foretold.dialects.claude_code.file_history import form_of
from foretold.errors import NoCheckpoint, StoreFailed
from foretold.files.history.history import FileHistory, answer_of
from foretold.files.restore.plans import make_plan
from foretold.files.restore.restore import Undo, restore

from ...memory.machines import Quick

OLD, NEW = form_of("2.1.197"), form_of("2.1.325")
FILES = ("a", "b", "sub/c", "sub/deep/d", "../outside")


class Clock:
    """A second passes at each look."""

    def __init__(self):
        self.now = 1_800_000_000.0

    def __call__(self):
        self.now += 1
        return self.now


def history_in(place, form=NEW, **options):
    return FileHistory(place.path("home/.claude/file-history"), "s1", place.proj, form=form, clock=Clock(), **options)


def states(root):
    """Every file below a folder: content and mode."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, root)] = (file.read(), stat.S_IMODE(os.lstat(path).st_mode))
    return found


def entries(record):
    """What a record says of each file: the backup's version, and whether there is one."""
    files = record["snapshot"]["trackedFileBackups"]
    return {key: (each["version"], each["backupFileName"] is not None) for key, each in files.items()}


def test_a_session_in_the_new_form(place):
    history = history_in(place)
    place.write("proj/a", "one\n", 0o644)
    assert entries(history.prompt("U1")) == {}
    record = history.before_edit("a", "A1")
    name = record["backup"]["backupFileName"]
    assert record == {
        "type": "file-history-delta",
        "messageId": "A1",
        "snapshotMessageId": "U1",
        "trackingPath": "a",
        "backup": {
            "backupFileName": name,
            "version": 1,
            "backupTime": "2027-01-15T08:00:02.000Z",
            "realParentDir": place.proj,
        },
        "timestamp": "2027-01-15T08:00:02.000Z",
    }
    assert states(place.path("home/.claude/file-history/s1")) == {name: (b"one\n", 0o644)}
    assert history.before_edit(place.path("proj/a"), "A2") is None
    place.write("proj/a", "two\n")
    assert entries(history.prompt("U2")) == {"a": (2, True)}
    assert entries(history.prompt("U3")) == {"a": (2, True)}


def test_only_content_and_mode_count(place):
    history = history_in(place, OLD)
    place.write("proj/a", "one\n", 0o644)
    history.prompt("U1")
    history.before_edit("a")
    assert entries(history.prompt("U2")) == {"a": (1, True)}
    os.utime(place.path("proj/a"))
    assert entries(history.prompt("U3")) == {"a": (1, True)}
    os.chmod(place.path("proj/a"), 0o755)
    assert entries(history.prompt("U4")) == {"a": (2, True)}
    os.remove(place.path("proj/a"))
    assert [entries(history.prompt(f"U{n}")) for n in (5, 6)] == [{"a": (3, False)}, {"a": (4, False)}]
    place.write("proj/a", "one\n", 0o755)
    assert entries(history.prompt("U7")) == {"a": (5, True)}


def test_a_folder_in_a_files_place_keeps_its_entry(place):
    history = history_in(place)
    history.prompt("U1")
    history.before_edit("a")
    place.folder("proj/a")
    assert entries(history.prompt("U2")) == {"a": (1, False)}


def test_a_backup_that_cannot_be_made_forbids_the_edit(place):
    history = history_in(place)
    history.prompt("U1")
    place.folder("proj/a")
    with pytest.raises(StoreFailed, match="is not a file"):
        history.before_edit("a")
    place.write("home/.claude/file-history/s1", "a file in the way")
    place.write("proj/b")
    with pytest.raises(StoreFailed, match="cannot keep a backup"):
        history.before_edit("b")
    assert history.tracked == ()


def test_there_is_no_edit_before_a_prompt(place):
    with pytest.raises(NoCheckpoint, match=r"prompt\(\) first"):
        history_in(place).before_edit("a")


def test_the_last_prompts_can_be_gone_back_to(place):
    history = history_in(place, OLD._replace(kept=3))
    for number in range(5):
        history.prompt(f"U{number}")
        history.before_edit("a")
        place.write("proj/a", f"{number}\n")
    assert [each.message for each in history.snapshots] == ["U2", "U3", "U4"]
    with pytest.raises(NoCheckpoint, match="U1"):
        history.rewind("U1")
    history.rewind("U2")
    assert states(place.proj)["a"][0] == b"1\n"


def test_a_file_tracked_before_the_oldest_kept_prompt_is_not_forgotten(place):
    history = history_in(place, OLD._replace(kept=1))
    history.prompt("U1")
    history.before_edit("a")
    place.write("proj/a", "made\n")
    history.prompt("U2")
    place.write("proj/a", "again\n")
    history.rewind("U2")
    assert states(place.proj)["a"][0] == b"made\n"


def test_the_answer_to_a_dry_run_is_the_agents(place):
    history = history_in(place)
    place.write("proj/a", "one\ntwo\n", 0o644)
    place.write("proj/b", "one\n", 0o644)
    history.prompt("U1")
    for name in ("a", "b", "new"):
        history.before_edit(name)
    place.write("proj/a", "two\n")
    place.write("proj/new", "1\n2\n")
    os.chmod(place.path("proj/b"), 0o600)
    plan = history.rewind("U1", dry_run=True)
    assert answer_of(plan) == {
        "canRewind": True,
        "filesChanged": [place.path("proj/a"), place.path("proj/new")],
        "insertions": 1,
        "deletions": 2,
    }
    assert [(place.short(each.path), each.action) for each in plan.changes] == [
        ("proj/a", "write"),
        ("proj/b", "mode"),
        ("proj/new", "delete"),
    ]
    assert states(place.proj)["a"][0] == b"two\n"


# After any sequence of edits, writes, deletions, chmods and rewinds, the tree equals the recorded state

NAMES = some.sampled_from(FILES)
TEXTS = some.sampled_from(["", "x\n", "y\n", "x\ny\n", "tail", "\0\xff"])
STEPS = some.lists(
    some.one_of(
        some.tuples(some.just("prompt")),
        some.tuples(some.just("edit"), NAMES, TEXTS),
        some.tuples(some.just("write"), NAMES, TEXTS),
        some.tuples(some.just("delete"), NAMES),
        some.tuples(some.just("chmod"), NAMES, some.sampled_from([0o644, 0o755, 0o600, 0o444])),
        some.tuples(some.just("rewind"), some.integers(0, 9)),
        some.tuples(some.just("resume")),
    ),
    min_size=3,
    max_size=30,
)


class World:
    """A tree, a history of it, and what the tree should be."""

    def __init__(self, root, form):
        self.root, self.cwd, self.form = root, os.path.join(root, "work/proj"), form
        os.makedirs(self.cwd)
        self.folder = os.path.join(root, "config")
        self.records = []
        self.tracked = {}  # name -> what it was when that began
        self.taken = []  # at each prompt: what every tracked file was
        self.undo = Undo(os.path.join(root, "state"), Quick())
        for name in ("a", "untracked", "sub/c"):
            self.write(name, name)
        self.resume()

    def resume(self):
        self.history = FileHistory(self.folder, "s", self.cwd, form=self.form, records=self.records)

    def path(self, name):
        return os.path.normpath(os.path.join(self.cwd, name))

    def state(self, name):
        return states(os.path.join(self.root, "work")).get(os.path.relpath(self.path(name), f"{self.root}/work"))

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        if os.path.exists(self.path(name)):
            os.chmod(self.path(name), os.stat(self.path(name)).st_mode | 0o200)
        with open(self.path(name), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def prompt(self):
        self.keep(self.history.prompt(f"U{len(self.taken)}"))
        self.taken.append({name: self.state(name) for name in self.tracked})

    def edit(self, name, text):
        record = self.history.before_edit(self.path(name), "A")
        assert (record is None) == (name in self.tracked)
        if record:
            self.keep(record)
            self.tracked[name] = self.taken[-1][name] = self.state(name)
        self.write(name, text)

    def keep(self, record):
        self.records.append(json.loads(json.dumps(record)))

    def delete(self, name):
        if self.state(name):
            os.remove(self.path(name))

    def chmod(self, name, mode):
        if self.state(name):
            os.chmod(self.path(name), mode)

    def rewind(self, number):
        number %= len(self.taken)
        before = states(f"{self.root}/work")
        expected = dict(before)
        for name, first in self.tracked.items():
            key = os.path.relpath(self.path(name), f"{self.root}/work")
            expected.pop(key, None)
            wanted = self.taken[number].get(name, first)
            expected |= {key: wanted} if wanted else {}
        plan = self.history.rewind(f"U{number}", undo=self.undo)
        assert states(f"{self.root}/work") == expected
        assert {each.path for each in plan.changes} | set(plan.same) == {self.path(name) for name in self.tracked}
        assert all(before.get(self.key(each)) != expected.get(self.key(each)) for each in plan.changes)
        if plan.changes:
            self.take_back(before, expected)

    def key(self, change):
        return os.path.relpath(change.path, f"{self.root}/work")

    def take_back(self, before, expected):
        """The undo gives back what was there; and the undo of that what the rewind made."""
        for wanted in (before, expected):
            last = self.undo.restores()[0]
            assert last.is_done
            restore(make_plan(self.undo.wanted(last)), self.undo, "undo")
            assert states(f"{self.root}/work") == wanted


@pytest.mark.parametrize("form", [OLD, NEW])
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=STEPS)
def test_rewind_gives_what_was_recorded_and_touches_nothing_else(form, steps, tmp_path_factory):
    world = World(os.path.realpath(tmp_path_factory.mktemp("world")), form)
    world.prompt()
    for step, *words in steps:
        getattr(world, step)(*words)
    for number in range(len(world.taken)):
        world.rewind(number)
    assert [name for folder, _, names in os.walk(world.root) for name in names if name.startswith(".foretold")] == []
