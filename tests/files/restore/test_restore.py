"""Putting files back: as the real agent does, all or nothing, and never without a way back."""

import errno
import os

import pytest

from foretold.errors import ForetoldError, NoCheckpoint, NoSuchSession, NotSynced, RestoreRefused
from foretold.files.history.history import answer_of
from foretold.files.history.recorded import find_session, list_sessions_in, list_sessions_with, read_recorded
from foretold.files.history.versions import find_version, list_versions
from foretold.files.restore.plans import WantedFile, make_plan
from foretold.files.restore.restore import Undo, restore, take_back
from foretold.files.restore.swap import put_back
from foretold.sessions.formats.claude.reader import find_sessions
from foretold.sessions.model import Homes

from ...memory.machines import Faulty, Quick, in_child
from ..recordings import RECORDINGS, put_on_stage, states

# What the real agent did


@pytest.mark.parametrize("number", range(len(RECORDINGS)))
def test_the_tree_is_what_the_agents_own_rewind_made(place, number):
    recording = RECORDINGS[number]
    for message, rewind in recording["rewinds"].items():
        put_on_stage(place, recording)
        recorded = find_session(Homes(place.home, {}), recording["session"])
        assert (recorded.cwd, recorded.version, recorded.findings) == (place.proj, recording["version"], ())
        transcript, backups = states(place.path("home/.claude/projects")), states(recorded.backups.folder)
        plan = make_plan(recorded.wanted(message))
        answer = {
            **rewind["answer"],
            "filesChanged": sorted(place.root + "/" + p for p in rewind["answer"]["filesChanged"]),
        }
        assert {**answer_of(plan), "filesChanged": sorted(answer_of(plan)["filesChanged"])} == answer
        restore(plan, undo_in(place), "rewind")
        assert {**states(place.path("proj"), "proj/"), **states(place.path("out"), "out/")} == rewind["files"]
        assert (states(place.path("home/.claude/projects")), states(recorded.backups.folder)) == (transcript, backups)


def test_sessions_are_found_by_folder_file_and_id(place):
    recording = RECORDINGS[0]
    put_on_stage(place, recording)
    homes, session = Homes(place.home, {}), recording["session"]
    for folder in (place.proj, place.root, place.path("proj/d")):
        assert [each.session for each in list_sessions_in(homes, folder)] == [session]
    assert list_sessions_in(homes, place.folder("elsewhere")) == []
    recorded = find_session(homes, session[:6])
    for path in recorded.tracked:
        everywhere = not path.startswith(place.proj)  # the names of backups are those of other paths
        assert [each.session for each in list_sessions_with(homes, path, everywhere=everywhere)] == [session]
    assert list_sessions_with(homes, place.path("proj/never")) == []
    assert find_session(homes, recorded.transcript).session == session
    with pytest.raises(NoSuchSession, match="'zzz'"):
        find_session(homes, "zzz")
    with pytest.raises(NoCheckpoint, match="foretold files rewind"):
        recorded.snapshot("zzz")


def test_a_damaged_transcript_is_read_as_far_as_it_goes(place):
    put_on_stage(place, RECORDINGS[0])
    homes = Homes(place.home, {})
    whole = find_session(homes, RECORDINGS[0]["session"])
    with open(whole.transcript, "rb") as file:
        lines = file.read().split(b"\n")
    torn = next(at for at, line in enumerate(lines) if b"file-history" in line and at > 4)
    lines[torn] = lines[torn][: len(lines[torn]) // 2]
    with open(whole.transcript, "wb") as file:
        file.write(b"\n".join([b"null", b"[1]", *lines, b'{"type":"file-history-snap']))
    find_sessions = find_session(homes, RECORDINGS[0]["session"])
    assert {each.code for each in find_sessions.findings} == {"history-strange"}
    assert len(find_sessions.snapshots) >= len(whole.snapshots) - 1


def test_a_session_without_a_folder_is_not_guessed_at(place):
    put_on_stage(place, RECORDINGS[0])
    homes = Homes(place.home, {})
    recorded = find_session(homes, RECORDINGS[0]["session"])
    with open(recorded.transcript, encoding="utf-8") as file:
        lines = [line for line in file if '"type":"user"' not in line]
    for more, findings in (("", ["history-strange"]), (f'{{"type":"system","cwd":"{place.proj}"}}\n', [])):
        with open(recorded.transcript, "w", encoding="utf-8") as file:
            file.writelines([*lines, more])
        (stored,) = find_sessions(homes)
        again = read_recorded(stored, homes)
        assert [each.code for each in again.findings] == findings
        assert again.snapshots == (() if findings else recorded.snapshots)


def test_versions_over_two_sessions(place):
    put_on_stage(place, RECORDINGS[0])
    fork = {**RECORDINGS[0], "session": "99999999-0000-4000-8000-000000000000"}
    put_on_stage(place, fork)
    homes = Homes(place.home, {})
    path = find_session(homes, fork["session"]).tracked[0]
    versions = list_versions(list_sessions_with(homes, path), path)
    times = [each.time for each in versions]
    assert times == sorted(times, reverse=True)
    assert len({each.time for each in versions}) == len(versions), "a fork's copies are the same versions"
    sessions = list_sessions_with(homes, path)
    for each in versions:
        assert find_version(sessions, path, each.name, 0.0).source == each.source
        assert find_version(sessions, path, each.message, 0.0).source == each.source
    first = versions[-1]
    with pytest.raises(NoCheckpoint, match=first.name):
        find_version(sessions, path, "1999-01-01", 0.0)
    assert find_version(sessions, path, "1s", first.time + 1.5).source == first.source


# A plan of each kind: a file to write, one to make, one to delete, one whose mode changes


def undo_in(place, kernel=None):
    return Undo(place.path("state"), kernel or Quick())


def four(place, folder="proj"):
    """Files and what they are to be."""
    for name in states(place.path(folder)):
        os.remove(place.path(f"{folder}/{name}"))
    if os.path.isdir(place.path(f"{folder}/sub")):
        os.rmdir(place.path(f"{folder}/sub"))
    for name, text, mode in (("write", "old\n", 0o600), ("delete", "old\n", 0o640), ("mode", "same\n", 0o644)):
        place.write(f"{folder}/{name}", text, mode)
    place.write(f"{folder}/untouched", "mine\n", 0o444)
    for name, text, mode in (("write", "new\n", 0o755), ("create", "new\n", 0o644), ("mode", "same\n", 0o700)):
        place.write(f"backups/{name}", text, mode)
    sources = {"write": "write", "sub/create": "create", "delete": None, "mode": "mode"}
    return [
        WantedFile(place.path(f"{folder}/{name}"), place.path(f"backups/{source}") if source else None)
        for name, source in sources.items()
    ]


BEFORE = {
    "write": ["old\n", "600"],
    "delete": ["old\n", "640"],
    "mode": ["same\n", "644"],
    "untouched": ["mine\n", "444"],
}
AFTER = {
    "write": ["new\n", "755"],
    "sub/create": ["new\n", "644"],
    "mode": ["same\n", "700"],
    "untouched": ["mine\n", "444"],
}


def test_a_restore_and_its_undo(place):
    wanted, undo = four(place), undo_in(place)
    done = restore(make_plan(wanted), undo, "try")
    assert states(place.proj) == AFTER
    assert [each.action for each in done.plan.changes] == ["write", "create", "delete", "mode"]
    assert make_plan(wanted).changes == ()
    last = undo.find(done.undo)
    again = take_back(last, make_plan(undo.wanted(last)), undo)
    assert states(place.proj) == BEFORE
    last = undo.find(again.undo)
    take_back(last, make_plan(undo.wanted(last)), undo)
    assert states(place.proj) == AFTER
    assert [each.is_done for each in undo.restores()] == [True, True, True]
    modes = {os.stat(os.path.join(f, n)).st_mode & 0o777 for f, _, names in os.walk(undo.folder) for n in names}
    assert modes == {0o600}


def test_owner_and_attributes_stay(place):
    wanted = four(place)
    path = place.path("proj/write")
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    restore(make_plan(wanted), undo_in(place), "try")
    assert os.getxattr(path, "user.note") == b"mine"


def test_other_names_of_a_file_keep_what_they_have(place):
    wanted = four(place)
    os.link(place.path("proj/write"), place.path("proj/other"))
    plan = make_plan(wanted)
    assert plan.changes[0].notes == ("it has 2 names; the others keep what they have",)
    restore(plan, undo_in(place), "try")
    assert states(place.proj)["other"] == ["old\n", "600"]


def in_the_way(place, what):
    """Put something in the way of the file to write."""
    path = place.path("proj/write")
    if what == "link":
        os.remove(path)
        place.link("proj/write", place.write("outside/secret", "secret\n"))
    elif what == "folder":
        os.remove(path)
        place.write("proj/write/inside")
    elif what == "fifo":
        os.remove(path)
        place.fifo("proj/write")
    elif what == "backup":
        os.remove(place.path("backups/write"))
    elif what == "backup is a link":
        os.rename(place.path("backups/write"), place.path("backups/other"))
        place.link("backups/write", "other")
    elif what == "parent":
        os.rename(place.proj, place.path("away"))
        place.link("proj", place.folder("outside"))
        place.write("outside/write", "secret\n")


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("link", "restore-link"),
        ("folder", "restore-folder"),
        ("fifo", "restore-other"),
        ("backup", "backup-missing"),
        ("backup is a link", "backup-missing"),
        ("parent", "restore-elsewhere"),
    ],
)
def test_what_stands_in_the_way_is_named_and_nothing_is_changed(place, what, code):
    wanted = [each._replace(since=1.0) for each in four(place)]
    in_the_way(place, what)
    before = states(place.root)
    plan = make_plan(wanted)
    assert code in [each.code for each in plan.problems]
    assert all(each.message and each.hint for each in plan.problems)
    with pytest.raises(RestoreRefused, match="Nothing was changed"):
        restore(plan, undo_in(place), "try")
    assert states(place.root) == before


def test_a_link_that_was_there_before_is_followed(place):
    place.write("real/a", "old\n", 0o644)
    place.link("proj/way", place.path("real"))
    source = place.write("backups/a", "new\n", 0o644)
    later = os.lstat(place.path("proj/way")).st_ctime + 1
    by_time = WantedFile(place.path("proj/way/a"), source, since=later)
    by_record = WantedFile(place.path("proj/way/a"), source, parent=place.path("real"))
    for wanted in (by_time, by_record):
        place.write("real/a", "old\n", 0o644)
        restore(make_plan([wanted]), undo_in(place), "try")
        assert states(place.path("real")) == {"a": ["new\n", "644"]}
    moved = make_plan([by_record._replace(parent=place.path("once"))])
    place.write("real/a", "old\n")
    moved = make_plan([by_record._replace(parent=place.path("once"))])
    assert [each.code for each in moved.problems] == ["restore-elsewhere"]


def test_a_link_that_leads_to_what_is_wanted_is_no_problem(place):
    source = place.write("backups/a", "same\n", 0o644)
    place.write("real", "same\n", 0o644)
    place.link("proj/a", place.path("real"))
    path = place.path("proj/a")
    assert make_plan([WantedFile(path, source)]).same == (path,)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_a_folder_that_cannot_be_written_to(place):
    wanted = four(place)
    os.chmod(place.proj, 0o555)
    try:
        assert {each.code for each in make_plan(wanted).problems} == {"restore-unwritable"}
    finally:
        os.chmod(place.proj, 0o755)


@pytest.mark.parametrize("name", ["write", "delete", "mode", "sub/create"])
def test_somebody_else_is_faster(place, name):
    plan = make_plan(four(place))
    place.write(f"proj/{name}", "somebody else\n", 0o644)
    before = states(place.proj)
    with pytest.raises(RestoreRefused, match="Nothing was changed"):
        put_back(plan.changes, kernel=Quick())
    assert states(place.proj) == before
    with pytest.raises(RestoreRefused, match="Nothing was changed"):
        restore(plan, undo_in(place), "try")
    assert states(place.proj) == before
    assert undo_in(place).restores() == []


@pytest.mark.parametrize("name", ["write", "delete", "mode", "sub/create"])
def test_a_folder_that_takes_the_place_of_a_file_is_not_touched(place, name):
    plan = make_plan(four(place))
    path = place.path(f"proj/{name}")
    if os.path.exists(path):
        os.remove(path)
    place.write(f"proj/{name}/inside", "mine\n", 0o644)
    before = states(place.proj)
    with pytest.raises(RestoreRefused, match="Nothing was changed"):
        put_back(plan.changes, kernel=Quick())
    assert states(place.proj) == before
    with pytest.raises(RestoreRefused, match="Nothing was changed"):
        put_back(plan.changes, kernel=Plain(0, 0))
    assert states(place.proj) == before


class Racing(Quick):
    """A kernel at whose n-th call somebody else writes a file."""

    def __init__(self, at, path):
        super().__init__()
        self.at, self.path, self.count = at, path, 0

    def call(self, name, *args, **options):
        self.count += 1
        if self.count == self.at:
            with open(self.path, "w", encoding="utf-8") as file:
                file.write("somebody else\n")
        return super().call(name, *args, **options)


def calls(place):
    four(place)
    kernel = Faulty(0, 0)
    put_back(make_plan(four(place)).changes, kernel=kernel)
    return kernel.count


def test_whatever_somebody_else_writes_meanwhile_is_not_lost(place):
    for at in range(1, calls(place) + 1):
        for name in ("write", "delete"):
            plan = make_plan(four(place))
            try:
                put_back(plan.changes, kernel=Racing(at, place.path(f"proj/{name}")))
            except RestoreRefused:
                assert states(place.proj) == {**BEFORE, name: ["somebody else\n", BEFORE[name][1]]}, at
            else:
                find_sessions = states(place.proj)
                assert find_sessions[name][0] == "somebody else\n", (at, name)


class Plain(Faulty):
    """A kernel of a system where files cannot change places in one step."""

    def call(self, name, *args, **options):
        return False if name == "exchange" else super().call(name, *args, **options)


def test_without_an_exchange(place):
    four(place)
    kernel = Plain(0, 0)
    put_back(make_plan(four(place)).changes, kernel=kernel)
    assert states(place.proj) == AFTER
    for at in range(1, kernel.count + 1):
        plan = make_plan(four(place))
        try:
            put_back(plan.changes, kernel=Plain(at, errno.EIO))
        except RestoreRefused:
            assert own(place) == BEFORE, at
        except NotSynced:
            assert own(place) == AFTER, at
        else:
            assert own(place) == AFTER, at


# The disk refuses, or the process dies


def attempt(place, kernel):
    try:
        return ["done", restore(make_plan(wanted_of(place)), undo_in(place, kernel), "try").undo]
    except ForetoldError as error:
        return [type(error).__name__, str(error)]


def wanted_of(place):
    sources = {"write": "write", "sub/create": "create", "delete": None, "mode": "mode"}
    return [
        WantedFile(place.path(f"proj/{name}"), place.path(f"backups/{source}") if source else None)
        for name, source in sources.items()
    ]


def fresh(place):
    for folder in ("state/restores", "state/objects"):
        if os.path.isdir(place.path(folder)):
            for name in os.listdir(place.path(folder)):
                os.remove(place.path(f"{folder}/{name}"))
    four(place)


class Listing(Quick):
    """A kernel that writes down what it is asked for."""

    def __init__(self):
        super().__init__()
        self.names = []

    def call(self, name, *args, **options):
        self.names.append(name)
        return super().call(name, *args, **options)


def all_calls(place):
    """The names of all calls that a restore takes."""
    fresh(place)
    restore(make_plan(wanted_of(place)), undo_in(place), "make the folders of the store")
    fresh(place)
    kernel = Listing()
    assert attempt(place, kernel)[0] == "done"
    return kernel.names


def names_beside(place):
    return [name for _, _, names in os.walk(place.proj) for name in names if name.startswith(".foretold")]


def own(place):
    """The files, without what waits beside them under a name of ours."""
    return {name: state for name, state in states(place.proj).items() if ".foretold-" not in name}


@pytest.mark.parametrize(("fault", "lasting"), [(errno.EIO, False), (errno.ENOSPC, True), ("short", False)])
def test_a_disk_that_refuses(place, fault, lasting):
    for at, name in enumerate(all_calls(place), 1):
        if fault == "short" and name != "write":
            continue
        fresh(place)
        kind, said = attempt(place, Faulty(at, fault, lasting=lasting))
        if kind == "done":
            assert own(place) == AFTER, at
        elif kind == "RestoreRefused":
            assert own(place) == BEFORE, at
            assert "Nothing was changed" in said
        else:
            assert kind in ("NotSynced", "RestoreStopped"), (at, said)
            assert "foretold files undo" in said
        if not lasting and kind == "RestoreRefused":
            assert names_beside(place) == [], at
        if undo_in(place).restores():
            back(place)
        assert states(place.proj) == BEFORE, at


def back(place):
    """Take back what was done, or was not finished: the files are what they were, and nothing is left."""
    undo = undo_in(place)
    (given,) = undo.restores()
    take_back(given, make_plan(undo.wanted(given)), undo)
    assert states(place.proj) == BEFORE
    assert all(each.is_done for each in undo.restores())


@pytest.mark.parametrize("fault", ["kill", "torn"])
def test_a_process_that_is_killed(place, fault):
    for at, name in enumerate(all_calls(place), 1):
        if fault == "torn" and name != "write":
            continue
        fresh(place)
        answer = in_child(lambda at=at: attempt(place, Faulty(at, fault)))
        assert answer is None or answer[0] == "done"
        for file, state in own(place).items():
            assert state in (BEFORE.get(file), AFTER.get(file)), (at, file)
        if undo_in(place).restores():
            (back, again)[(at + (fault == "kill")) % 2](place)
        else:
            assert states(place.proj) == BEFORE


def again(place):
    """What was interrupted is asked for again: it is done, and nothing is left."""
    assert attempt(place, Quick())[0] == "done"
    assert states(place.proj) == AFTER
    assert all(each.is_done for each in undo_in(place).restores())
