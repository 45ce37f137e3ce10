import os

import pytest
from hypothesis import given, settings, strategies as st

from foretold.files import Outcome, ReadState, Recent
from foretold.files.read_state.state import LocalDisk, PathState
from foretold.proof.conform.files import AgedDisk

OLD = 1_000_000_000


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "a.txt", "alpha\nbeta\n")
    return tmp_path


def write(folder, name, text, when=OLD):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    os.utime(path, (when, when))
    return path


def test_an_edit_needs_a_read_and_none_after(folder):
    state = ReadState(folder)
    assert state.edit("a.txt", "beta", "B") == Outcome(
        "error",
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
        f"{folder}/a.txt",
        "not_read",
    )
    assert state.read("a.txt") == Outcome(
        "content", "1\talpha\n2\tbeta\n3\t", f"{folder}/a.txt", lines=3, content="alpha\nbeta\n"
    )
    said = "has been updated successfully. (file state is current in your context — no need to Read it back)"
    assert state.edit("a.txt", "beta", "B") == Outcome("updated", f"The file a.txt {said}", f"{folder}/a.txt")
    assert state.edit("a.txt", "B", "C").kind == "updated"
    assert (folder / "a.txt").read_text() == "alpha\nC\n"


def test_newer_agents_and_models_need_no_read(folder):
    state = ReadState(folder, version="2.1.325")
    assert state.edit("a.txt", "beta", "B").text == "The file a.txt has been updated successfully."
    assert ReadState(folder, version="2.1.325", model="claude-sonnet-4-5").edit("a.txt", "B", "b").code == "not_read"


def test_a_clone_does_not_disturb_where_it_comes_from(folder):
    parent = ReadState(folder, disk=AgedDisk(OLD + 100))
    parent.read("a.txt")
    fork = parent.clone()
    assert fork.edit("a.txt", "beta", "B").kind == "updated"
    assert parent.edit("a.txt", "alpha", "A").code == "modified_since_read"
    assert fork.edit("a.txt", "alpha", "A").kind == "updated"
    write(folder, "b.txt", "b\n")
    fork.read("b.txt")
    assert ("b.txt" in parent, "b.txt" in fork) == (False, True)


def test_a_change_in_a_clone_is_told_to_its_parent(folder):
    parent = ReadState(folder, disk=AgedDisk(OLD + 100))
    parent.read("a.txt")
    parent.edit("a.txt", "beta", "B")
    fork = parent.clone()
    fork.edit("a.txt", "B", "C")
    assert [notice.snippet for notice in parent.changed()] == ["1\talpha\n2\tC"]
    assert (fork.changed(), parent.changed()) == ([], [])


def test_compaction_forgets_what_is_not_attached_again(folder):
    write(folder, "b.txt", "b\n", OLD + 5)
    state = ReadState(folder, clock=iter([1.0, 2.0, 3.0]).__next__)
    state.read("a.txt", limit=1)
    state.read("b.txt")
    assert state.recent() == [
        Recent(f"{folder}/b.txt", "b\n", (OLD + 5) * 1000, 2.0),
        Recent(f"{folder}/a.txt", "alpha", OLD * 1000, 1.0, partial=True),
    ]
    state.clear()
    assert state.attached("b.txt").content == "b\n"
    assert state.read("b.txt").kind == "unchanged_stub"
    assert state.edit("a.txt", "beta", "B").code == "not_read"


def test_an_injected_file_counts_for_changes_and_not_as_a_read(folder):
    raw = "Use tabs.\n<!-- for people -->\n"
    path = write(folder, "CLAUDE.md", raw)
    state = ReadState(folder, version="2.1.325", model="claude-sonnet-4-5")
    state.inject("CLAUDE.md", raw, shown="Use tabs.\n")
    assert ("CLAUDE.md" in state, state.is_read("CLAUDE.md")) == (True, False)
    assert (state.edit("CLAUDE.md", "tabs", "x").code, state.write("CLAUDE.md", "x").code) == ("not_read", "not_read")
    assert state.changed() == []
    write(folder, "CLAUDE.md", "Use spaces.\n", OLD + 5)
    assert [(notice.path, notice.snippet) for notice in state.changed()] == [(path, "1\tUse spaces.")]
    assert state.edit("CLAUDE.md", "spaces", "x").code == "not_read"
    assert state.read("CLAUDE.md").kind == "content"
    assert state.edit("CLAUDE.md", "spaces", "x").kind == "updated"


def test_an_injected_file_that_was_shown_as_it_is_counts_as_read(folder):
    write(folder, "CLAUDE.md", "Use tabs.\n")
    state = ReadState(folder)
    state.inject("CLAUDE.md", "Use tabs.\n", shown="Use tabs.\n")
    assert state.edit("CLAUDE.md", "tabs", "spaces").kind == "updated"


def record(kind, block, time="2001-09-09T01:46:45Z", **more):
    return {"type": kind, "timestamp": time, "message": {"role": kind, "content": [block]}, **more}


def call(number, name, text="", *, error=False, **given):
    use = {"type": "tool_use", "id": str(number), "name": name, "input": given}
    result = {"type": "tool_result", "tool_use_id": str(number), "content": text, "is_error": error}
    return [record("assistant", use), record("user", result)]


def test_resume_passes_over_what_it_does_not_know(folder):
    state = ReadState(folder)
    records = [
        {},
        {"type": "user", "message": "no object"},
        {"type": "user", "message": {"content": "a prompt"}},
        {"type": "user", "message": {"content": [None, 3, {"type": "tool_result", "tool_use_id": "never"}]}},
        *call(1, "Read", "1\talpha\n2\tbeta\n3\t", file_path="a.txt"),
        *call(2, "Read", [{"type": "image"}], file_path="p.png"),
        *call(3, "Write", "", file_path=7, content="x"),
        *call(4, "Write", "", file_path="w.txt", content=None),
        *call(5, "Edit", "", file_path="gone.txt", old_string="a", new_string="b"),
        *call(6, "Write", "refused", file_path="e.txt", content="e", error=True),
        *[{**one, "isSidechain": True} for one in call(7, "Write", file_path="s.txt", content="s")],
        {**call(8, "Write", file_path="t.txt", content="t")[0], "timestamp": "when?"},
    ]
    state.resume(records)
    assert [(os.path.basename(file.path), file.content, file.mtime) for file in state.recent()] == [
        ("a.txt", "alpha\nbeta", (OLD + 5) * 1000)
    ]


class Failing(LocalDisk):
    def read(self, path):
        raise OSError(5, "Input/output error", path)


class Unreadable(LocalDisk):
    def see(self, path):
        return PathState("unreadable", said="Permission denied")


def test_a_disk_that_fails_is_told(folder):
    state = ReadState(folder, disk=Failing())
    assert [state.read("a.txt").code, state.edit("a.txt", "a", "b").code, state.write("a.txt", "a").code] == [
        "unreadable"
    ] * 3
    assert state.shell("cat a.txt") == []
    state = ReadState(folder, disk=Unreadable())
    assert (state.read("a.txt").code, state.write("a.txt", "x").code) == ("unreadable", "unreadable")


def test_a_fifo_does_not_hang(folder):
    os.mkfifo(folder / "pipe")
    state = ReadState(folder)
    assert state.read("pipe").code == "not_a_file"
    assert state.edit("pipe", "a", "b").code == "not_a_file"
    assert state.write("pipe", "a").code == "not_a_file"


NAMES = st.sampled_from(["f", "g"])
TEXTS = st.sampled_from(["a\n", "b\n", "a\nb\n", "b\nb\n", ""])
WORDS = st.sampled_from(["a", "b", "c"])
WHO = st.integers(0, 1)
STEPS = st.one_of(
    st.tuples(st.just("read"), WHO, NAMES, st.sampled_from([None, 1])),
    st.tuples(st.just("edit"), WHO, NAMES, WORDS, WORDS, st.booleans()),
    st.tuples(st.just("write"), WHO, NAMES, TEXTS),
    st.tuples(st.just("change"), NAMES, TEXTS, st.sampled_from([-7, 0, 7])),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("fork")),
    st.tuples(st.just("told"), WHO),
)


class Model:
    """The rules of 2.1.197 in the fewest words: a file is its text and its time, a view what was known of both."""

    def __init__(self):
        self.disk, self.views = {"f": ("a\nb\n", 0)}, [{}, {}]

    def stale(self, who, name):
        text, time = self.disk[name]
        known, then, how = self.views[who][name]
        return time > then and not (how != "part" and known == text)

    def read(self, who, name, limit):
        if name not in self.disk:
            return "error:not_found"
        text, time = self.disk[name]
        how, shown = ("part", text.split("\n")[0]) if limit else ("read", text)
        if self.views[who].get(name, ("", None, ""))[1:] == (time, how):
            return "unchanged_stub"
        self.views[who][name] = (shown, time, how)
        return "content" if shown else f"warning:shorter_than_offset(1),lines={text.count(chr(10)) + 1}"

    def edit(self, who, name, old, new, every):
        if old == new:
            return "error:no_change"
        if name not in self.disk:
            return "error:not_found"
        if name not in self.views[who]:
            return "error:not_read"
        if self.stale(who, name):
            return "error:modified_since_read"
        text = self.disk[name][0]
        if old not in text:
            return "error:string_not_found"
        if text.count(old) > 1 and not every:
            return f"error:multiple_matches({text.count(old)})"
        self.own(who, name, text.replace(old, new))
        return "updated_all" if every else "updated"

    def write(self, who, name, text):
        before = self.disk.get(name, ("", 0))[0]
        if name in self.disk:
            if name not in self.views[who]:
                return "error:not_read"
            if self.stale(who, name):
                return "error:modified_since_read"
        self.own(who, name, text)
        return "updated" if before else "created"

    def own(self, who, name, text):
        self.disk[name] = (text, None)  # its time is set when the real one is known
        self.views[who][name] = (text, None, "own")

    def timed(self, name, time):
        self.disk[name] = (self.disk[name][0], time)
        for view in self.views:
            if name in view and view[name][1] is None:
                view[name] = (view[name][0], time, "own")

    def told(self, who):
        found = []
        for name, (known, then, how) in list(self.views[who].items()):
            if how == "own" and name not in self.disk:
                del self.views[who][name]
            elif how == "own" and self.disk[name][1] > then:
                self.views[who][name] = (*self.disk[name], "read")
                found += [name] if self.disk[name][0] not in ("", known) else []
        return sorted(found)


@given(st.lists(STEPS, max_size=25))
@settings(max_examples=150)
def test_any_sequence_is_as_the_model_says(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("model")
    disk = AgedDisk(OLD + 10_000_000)
    model, states = Model(), [ReadState(folder, disk=disk), ReadState(folder, disk=disk)]
    write(folder, "f", "a\nb\n", OLD)
    model.disk["f"] = ("a\nb\n", OLD * 1000)
    for op, *rest in steps:
        if op == "change":
            name, text, delta = rest
            when = os.stat(folder / name).st_mtime + delta if (folder / name).exists() else OLD
            write(folder, name, text, when)
            model.disk[name] = (text, os.stat(folder / name).st_mtime_ns // 1_000_000)
        elif op == "delete":
            model.disk.pop(rest[0], None)
            (folder / rest[0]).unlink(missing_ok=True)
        elif op == "fork":
            states[1], model.views[1] = states[0].clone(), dict(model.views[0])
        elif op == "told":
            found = sorted(os.path.basename(notice.path) for notice in states[rest[0]].changed())
            assert found == model.told(rest[0])
        else:
            who, name, *more = rest
            given = {"read": {}, "edit": {}, "write": {}}[op]
            if op == "edit":
                *more, every = more
                given = {"replace_all": every}
            if op == "read":
                outcome = states[who].read(name, None, more[0])
            else:
                outcome = getattr(states[who], op)(name, *more, **given)
            assert outcome.label == getattr(model, op)(who, name, *more, *given.values())
            if outcome.kind in ("created", "updated", "updated_all"):
                model.timed(name, os.stat(folder / name).st_mtime_ns // 1_000_000)
        assert {path.name: path.read_text() for path in folder.iterdir()} == {
            name: text for name, (text, _) in model.disk.items()
        }


def test_a_shell_changes_nothing_that_is_known(folder):
    state = ReadState(folder)
    state.read("a.txt")
    assert (state.shell("head -1 a.txt"), state.read("a.txt").kind) == ([], "unchanged_stub")


def test_a_shell_that_shows_nothing_counts_for_nothing(folder):
    write(folder, "b.txt", "\n\nb\n")
    state = ReadState(folder, version="2.1.325")
    assert state.shell("cat a.txt", succeeded=False) == []
    assert state.shell("grep -n none a.txt", output="") == []
    assert state.shell("head -1 b.txt") == []
    assert state.shell("cat a.txt; tail -1 b.txt") == [f"{folder}/a.txt", f"{folder}/b.txt"]
    assert (state.is_read("a.txt"), state.is_read("b.txt")) == (True, True)
