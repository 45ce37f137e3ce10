"""What hooks keep: answers with what they depend on, notes, the book, JSON."""

import json
import os
import threading

import pytest
from hypothesis import given, strategies as st

from foretold.serve.hooks import background
from foretold.serve.hooks.agent_protocols import PROTOCOLS, HookOutput, encode_output
from foretold.serve.hooks.cache import load_answer, path_of, stamp_of, store_answer
from foretold.serve.hooks.json import parse, write
from foretold.serve.hooks.path_index import PathIndex
from foretold.serve.hooks.said_before import Notes, notes_name, sweep

KEY = ("claude-code", "/r")


def test_an_answer_is_believed_until_something_changes(tmp_path):
    cache, file = str(tmp_path / "cache"), tmp_path / "a"
    file.write_text("one")
    absent = str(tmp_path / "absent")
    stamps = {str(file): stamp_of(str(file)), absent: None}
    store_answer(cache, "x", KEY, ("a", [1, None]), env={"A": "1"}, variables=("A", "B"), stamps=stamps)
    assert load_answer(cache, "x", KEY, {"A": "1", "C": "2"}) == ("a", [1, None])
    assert load_answer(cache, "x", KEY, {"A": "2"}) is None
    assert load_answer(cache, "x", KEY, {"A": "1", "B": ""}) is None
    assert load_answer(cache, "x", ("codex", "/r"), {"A": "1"}) is None
    file.write_text("another")
    assert load_answer(cache, "x", KEY, {"A": "1"}) is None
    assert load_answer(cache, "x", KEY, {}, anyway=True) == ("a", [1, None])


def test_something_that_appears_changes_an_answer(tmp_path):
    cache = str(tmp_path / "cache")
    store_answer(cache, "x", KEY, 1, stamps={str(tmp_path / "absent"): None})
    assert load_answer(cache, "x", KEY, {}) == 1
    (tmp_path / "absent").write_text("here")
    assert load_answer(cache, "x", KEY, {}) is None


def test_every_torn_answer_is_none(tmp_path):
    cache = str(tmp_path)
    store_answer(cache, "x", KEY, "value")
    path = path_of(cache, "x", KEY)
    with open(path, "rb") as file:
        data = file.read()
    for length in range(len(data)):
        with open(path, "wb") as file:
            file.write(data[:length])
        assert load_answer(cache, "x", KEY, {}) is None


def test_where_nothing_can_be_kept_nothing_happens(tmp_path):
    (tmp_path / "hooks").write_text("a file")
    store_answer(str(tmp_path), "x", KEY, "value")
    assert load_answer(str(tmp_path), "x", KEY, {}) is None
    assert os.listdir(tmp_path) == ["hooks"]


@given(st.lists(st.lists(st.text(), min_size=1, max_size=3), max_size=5))
def test_notes_are_read_as_they_were_written(tmp_path_factory, written):
    state = str(tmp_path_factory.mktemp("state"))
    wanted = [("note", *note) for note in written]
    Notes(state, "s").add(*wanted)
    assert Notes(state, "s").all == wanted


def test_notes_begin_anew_after_a_compaction(tmp_path):
    Notes(str(tmp_path), "s").add(("told", "a"), ("compacted",), ("told", "b"), ("other", "c"))
    notes = Notes(str(tmp_path), "s")
    assert (notes.since("told"), len(notes.all)) == ([("told", "b")], 4)


def test_dry_notes_are_not_written(tmp_path):
    notes = Notes(str(tmp_path), "s", dry=True)
    notes.add(("told", "a"))
    assert (notes.since("told"), os.listdir(tmp_path)) == ([("told", "a")], [])


def test_hooks_of_one_conversation_write_at_the_same_time(tmp_path):
    def add(number):
        for at in range(50):
            Notes(str(tmp_path), "s").add(("told", f"{number}-{at}", "x" * 200))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({note[1] for note in Notes(str(tmp_path), "s").since("told")}) == 200


def test_what_is_said_at_the_same_time_is_said_by_one(tmp_path):
    claimed = []

    def claim():
        notes = Notes(str(tmp_path), "s")
        notes.all  # noqa: B018 - it was read before the others wrote
        claimed.extend(notes.claim(("attached", "a.md", "hook"), ("drift", "x.py")))

    threads = [threading.Thread(target=claim) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claimed) == [("attached", "a.md", "hook"), ("drift", "x.py")]


def test_long_notes_are_read_from_the_end(tmp_path):
    notes = Notes(str(tmp_path), "s")
    for number in range(700):
        notes.add(("told", str(number), "x" * 1000))
    found = Notes(str(tmp_path), "s").all
    assert 400 < len(found) < 700
    assert found == notes.all[-len(found) :]


@pytest.mark.parametrize("session", ["", "..", "../../x", "a/b", "a\0b", "\ud800", "é" * 500])
def test_a_session_is_never_a_path(session):
    name = notes_name(session)
    assert name
    assert not {"/", "\0", "."} & set(name)
    assert len(name) < 100


def test_old_notes_are_swept(tmp_path):
    for name, age in (("old", 40 * 86400), ("young", 5)):
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    sweep(str(tmp_path), now=1e9)
    assert os.listdir(tmp_path) == ["young"]


def test_a_book_is_looked_up_page_by_page(tmp_path):
    entries = {f"p{number}.py": [(f"/m/{number}.md", "x")] for number in range(2000)}
    PathIndex(str(tmp_path), KEY).write(entries)
    book = PathIndex(str(tmp_path), KEY)
    assert [book.memories_naming(f"{number}.py") for number in (0, 1999)] == [[("/m/0.md", "x")], [("/m/1999.md", "x")]]
    assert (book.memories_naming("2000.py"), book.find("d1"), len(book._pages)) == ([], None, 4)


def test_a_book_says_whether_a_memory_holds(tmp_path):
    (tmp_path / "a.py").write_text("")
    verdict = ("missing", "f(): not found", 0.0, [("a.py", "a.py")])
    entries = {
        "dverdict": verdict,
        "dthere": ("", "", 0.0, [("a.py:3", "a.py"), ("/etc", "")]),
        "dabsent": ("", "", 0.0, [("b.py", "b.py")]),
        "dnothing": ("", "", 0.0, []),
    }
    book = PathIndex(str(tmp_path), KEY)
    book.write(entries)
    said = [
        book.holds(digest, str(tmp_path), now=86400.0 * 3) for digest in ("verdict", "there", "absent", "nothing", "x")
    ]
    assert said == [
        "missing, verified 3 days ago: f(): not found",
        "the paths it names exist",
        "not found here: b.py (run foretold memory verify)",
        "",
        None,
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(JSON)
def test_json_is_read_as_by_the_standard_library(value):
    assert parse(json.dumps(value).encode()) == value


@given(st.dictionaries(st.text(), st.text() | st.booleans() | st.dictionaries(st.text(), st.text())))
def test_json_is_written_as_by_the_standard_library(value):
    assert json.loads(write(value)) == value
    assert write(value).isascii()


@pytest.mark.parametrize("agent", sorted(PROTOCOLS))
def test_an_answer_has_only_the_fields_that_agents_take(agent):
    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse"):
        form = encode_output(HookOutput("x"), event, event, PROTOCOLS[agent])
        assert form == {"hookSpecificOutput": {"hookEventName": event, "additionalContext": "x"}}
    refused = encode_output(HookOutput(verdict="deny", reason="no"), "PreToolUse", "PreToolUse", PROTOCOLS[agent])
    assert list(refused) in (["hookSpecificOutput"], ["decision", "reason"])
    assert encode_output(HookOutput("x"), "PreCompact", "PreCompact", PROTOCOLS[agent]) == {}


def test_a_job_is_done_by_one_and_again_if_somebody_came_meanwhile(tmp_path):
    state, done = str(tmp_path), []

    def work():
        done.append("first")
        if len(done) == 1:
            assert not background.run_alone(state, "archive", "s", lambda: done.append("second"))
            assert background.run_alone(state, "archive", "other", lambda: done.append("other"))

    assert not background.was_started(state, "archive", "s")
    assert background.run_alone(state, "archive", "s", work)
    assert done == ["first", "other", "first"]
    assert background.was_started(state, "archive", "s")


def test_the_settings_of_the_page_are_the_defaults():
    import re
    import tomllib

    from foretold.serve.hooks.settings import HookSettings, merge_settings

    page = os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "hooks.md")
    with open(page, encoding="utf-8") as file:
        (block,) = re.findall(r"```toml\n(.*?)```", file.read(), re.DOTALL)
    values, problems = tomllib.loads(block)["hooks"], []
    assert merge_settings(values, {}, problems) == HookSettings()
    assert (problems, tuple(values)) == ([], HookSettings._fields)
