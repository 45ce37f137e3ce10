"""Files that vanish, fail, or belong to somebody else."""

import os
import pickle
import shutil
import tempfile
import warnings

import pytest

import foretold
from foretold.storage.tree import Disk, Fault

BOTH = pytest.mark.parametrize("version", ["2.1.197", "2.1.325"])

PLACES = {
    "project": "proj/CLAUDE.md",
    "local": "proj/CLAUDE.local.md",
    "above": "CLAUDE.md",
    "user": "home/.claude/CLAUDE.md",
    "managed": "managed/CLAUDE.md",
    "rule": "proj/.claude/rules/sub/r.md",
    "user-rule": "home/.claude/rules/r.md",
    "agents": "proj/AGENTS.md",
    "import": "proj/docs/a.md",
    "memory": "memory/MEMORY.md",
}


# -- files that change while they are read -------------------------------------------------------------------


class Vanishing(Disk):
    """A disk on which a file is listed, and is gone when it is opened."""

    def __init__(self, path):
        super().__init__()
        self.path = path

    def read(self, path, limit):
        if path == self.path and os.path.exists(path):
            os.remove(path)
        return super().read(path, limit)


@BOTH
@pytest.mark.parametrize("where", ["project", "rule", "user-rule", "import", "memory", "agents"])
def test_a_file_that_vanishes(place, version, where):
    if where == "agents" and version == "2.1.197":
        return
    path = place.write(PLACES[where], "here")
    place.write("CLAUDE.md" if where != "agents" else "x.md", "@proj/none.md")
    if where == "import":
        place.write("proj/CLAUDE.md", "@docs/a.md")
    options = {"version": version, "settings": {"autoMemoryDirectory": place.path("memory")}}
    view = place.load(tree=Vanishing(path), **options)
    assert path not in {entry.path for entry in view.entries}
    assert path in place.accounted(view) | set(view.absent)


@pytest.mark.parametrize("where", ["rule", "user-rule", "import"])
def test_a_file_that_was_listed_and_vanished_is_named(place, where):
    path = place.write(PLACES[where], "here")
    place.write("proj/CLAUDE.md", "@docs/a.md" if where == "import" else "text")
    assert place.reasons(place.load(tree=Vanishing(path)), path) == ["missing"]


class Faulty(Disk):
    """A disk that answers some paths with a fault."""

    def __init__(self, faults):
        super().__init__()
        self.faults = faults

    def read(self, path, limit):
        return self.faults.get(path) or super().read(path, limit)

    def scan(self, folder):
        return self.faults.get(folder) or super().scan(folder)


@BOTH
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("reason", ["unreadable", "too-large", "bad-name", "symlink-loop", "not-a-file", "folder"])
def test_any_fault_anywhere(place, version, where, reason):
    if where == "agents" and version == "2.1.197":
        return
    path = place.write(PLACES[where], "here")
    if where == "import":
        place.write("proj/CLAUDE.md", "@docs/a.md")
    options = {"version": version, "settings": {"autoMemoryDirectory": place.path("memory")}}
    view = place.load(tree=Faulty({path: Fault(reason, "the disk is on fire")}), **options)
    assert place.reasons(view, path) == [reason]


@BOTH
@pytest.mark.parametrize("folder", ["proj/.claude/rules", "proj/.claude/rules/sub", "home/.claude/rules"])
def test_a_folder_that_cannot_be_listed(place, version, folder):
    place.write(f"{folder}/r.md", "rule")
    path = place.path(folder)
    view = place.load(version=version, tree=Faulty({path: Fault("unreadable", "the disk is on fire")}))
    assert (view.entries, place.reasons(view, path)) == ((), ["unreadable"])
    assert place.codes(view, path) == ["unreadable"]


# -- files of somebody else ----------------------------------------------------------------------------------


def as_nobody(function):
    """The answer of a function in a process without rights; an ordinary user has none anyway."""
    if os.geteuid() != 0:
        return function()
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a test runner has threads; the child only computes
        child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            answer = pickle.dumps(function())
        except BaseException as error:
            answer = pickle.dumps(f"{type(error).__name__}: {error}")
        with os.fdopen(writer, "wb") as file:
            file.write(answer)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        answer = file.read()
    os.waitpid(child, 0)
    return pickle.loads(answer)


@pytest.fixture
def open_place(place):
    """A place that everybody may enter: pytest's own folders are closed to others."""
    root = tempfile.mkdtemp(prefix="foretold-test-")
    os.chmod(root, 0o755)
    yield type(place)(root)
    for folder, names_, _ in os.walk(root):
        for name in names_:
            if not os.path.islink(os.path.join(folder, name)):
                os.chmod(os.path.join(folder, name), 0o755)
    shutil.rmtree(root)


def account(place, **options):
    """What a view says, as plain values."""
    view = place.load(**options)
    return place.told(view), place.skipped(view), place.found(view)


@BOTH
@pytest.mark.parametrize("where", ["project", "local", "above", "user", "managed", "rule", "agents", "import"])
def test_a_file_without_the_right_to_read(open_place, version, where):
    place = open_place
    if where == "agents" and version == "2.1.197":
        return
    if where == "import":
        place.write("proj/CLAUDE.md", "@docs/a.md")
    path = PLACES[where]
    place.write(path, "closed", mode=0o000)
    place.load(version=version)  # whatever is imported lazily is imported now
    foretold.invalidate()
    told, skips, findings = as_nobody(lambda: account(place, version=version))
    importer = "proj/CLAUDE.md" if where == "import" else path
    assert path not in told
    assert skips == [(path, "unreadable")]
    assert findings == [(importer, 1 if where == "import" else None, "unreadable")]


@BOTH
@pytest.mark.parametrize("folder", ["proj/.claude/rules", "proj/.claude/rules/sub"])
@pytest.mark.parametrize("mode", [0o000, 0o111])
def test_a_rules_folder_without_the_right_to_list(open_place, version, folder, mode):
    place = open_place
    place.write(f"{folder}/r.md", "rule")
    place.load(version=version)
    foretold.invalidate()
    os.chmod(place.path(folder), mode)
    told, skips, findings = as_nobody(lambda: account(place, version=version))
    assert (told, skips, findings) == ([], [(folder, "unreadable")], [(folder, None, "unreadable")])


@BOTH
@pytest.mark.parametrize("folder", ["proj/.claude", "home/.claude", "managed"])
def test_a_folder_without_the_right_to_enter(open_place, version, folder):
    place = open_place
    name = ".claude/CLAUDE.md" if folder == "proj" else "CLAUDE.md"
    place.write(f"{folder}/{name}", "closed")
    place.load(version=version)
    foretold.invalidate()
    os.chmod(place.path(folder), 0o000)
    told, skips, _ = as_nobody(lambda: account(place, version=version))
    assert told == []
    assert (f"{folder}/{name}", "unreadable") in skips


def test_a_rules_folder_behind_a_closed_folder_is_named(open_place):
    place = open_place
    place.write("managed/.claude/rules/r.md", "rule")
    os.chmod(place.path("managed"), 0o000)
    _, skips, _ = as_nobody(lambda: account(place))
    assert ("managed/.claude/rules", "unreadable") in skips


def test_a_nested_file_without_the_right_to_read(open_place):
    place = open_place
    path = place.write("proj/a/CLAUDE.md", "closed", mode=0o000)
    place.session().read("a/x.ts")
    attached = as_nobody(lambda: place.session().read("a/x.ts"))
    assert (attached.entries, [(skip.path, skip.reason) for skip in attached.skips]) == ((), [(path, "unreadable")])
