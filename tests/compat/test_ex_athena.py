"""ExAthena's project memory."""

from pathlib import Path
from types import SimpleNamespace

import pytest

import foretold
from foretold.compat import ex_athena
from foretold.errors import ForetoldError, NotAFolder

USER = {"role": "user", "content": "hi"}
SYSTEM = {"role": "system", "content": "s"}
MEMORY = {"role": "user", "name": "memory", "content": "m"}


def found(place, **options):
    messages = ex_athena.discover(place.proj, home=place.home, **options)
    assert all(set(message) == {"role", "name", "content"} for message in messages)
    return [place.short(message["content"]) for message in messages]


def test_three_levels(place):
    place.write("home/.config/ex_athena/AGENTS.md", "\n U \n")
    place.write("proj/AGENTS.md", "P")
    place.write("proj/AGENTS.local.md", "L")
    assert found(place) == [
        "<!-- memory: user home/.config/ex_athena/AGENTS.md -->\nU",
        "<!-- memory: project proj/AGENTS.md -->\nP",
        "<!-- memory: local proj/AGENTS.local.md -->\nL",
    ]


def test_the_users_folder_is_that_of_the_one_who_runs_it(place, monkeypatch):
    """E-02: the original had the home of the machine that compiled it."""
    place.write("home/.config/ex_athena/AGENTS.md", "U")
    monkeypatch.setenv("HOME", place.home)
    assert len(ex_athena.discover(place.proj)) == 1
    assert ex_athena.discover(place.proj, user_dir=Path(place.root, "none")) == []


def test_agents_wins_and_the_other_is_named(place):
    place.write("proj/AGENTS.md", "A")
    place.write("proj/CLAUDE.md", "C")
    assert found(place) == ["<!-- memory: project proj/AGENTS.md -->\nA"]
    assert place.skipped(ex_athena.view(place.proj, home=place.home)) == [("proj/CLAUDE.md", "shadowed")]


@pytest.mark.parametrize(
    "make", [lambda place: place.write("proj/AGENTS.md", " \n"), lambda place: place.folder("proj/AGENTS.md")]
)
def test_what_has_no_text_hides_nothing(place, make):
    """E-06: in the original an empty AGENTS.md won, and nothing was loaded."""
    make(place)
    place.write("proj/CLAUDE.md", "C")
    assert found(place) == ["<!-- memory: project proj/CLAUDE.md -->\nC"]
    assert len(ex_athena.view(place.proj, home=place.home).skips) == 1


def test_other_names(place):
    place.write("proj/RULES.md", "R")
    place.write("proj/CLAUDE.md", "C")
    place.write("proj/AGENTS.local.md", "L")
    place.write("user/TEAM.md", "T")
    said = found(place, user_dir=place.path("user"), filenames=["RULES.md", "TEAM.md"])
    assert [text.rpartition("\n")[2] for text in said] == ["T", "R", "L"]
    assert [text.rpartition("\n")[2] for text in found(place, filenames=[])] == ["L"]
    assert [text.rpartition("\n")[2] for text in found(place, filenames="RULES.md")] == ["R", "L"]
    assert [text.rpartition("\n")[2] for text in found(place, filenames=[Path("RULES.md")])] == ["R", "L"]


def test_a_folder_that_is_not_there(place):
    for function in (ex_athena.discover, ex_athena.view, lambda cwd: ex_athena.run_messages([], cwd)):
        with pytest.raises(NotAFolder, match="nowhere is not a folder"):
            function(place.path("nowhere"))


def test_the_same_options_on_a_command_line(place):
    place.write("proj/RULES.md", "R")
    place.write("user/TEAM.md", "T")
    args = ["--user-dir", place.path("user"), "--filename", "RULES.md", "--filename", "TEAM.md"]
    view = foretold.load(place.proj, agent="ex-athena", home=place.home, args=args)
    assert [entry.text.strip() for entry in view.entries] == ["T", "R"]


def test_text_is_not_touched(place):
    """E-21: no imports, comments or frontmatter."""
    text = "---\na: b\n---\n@x.md <!-- c -->"
    place.write("proj/AGENTS.md", text)
    place.write("proj/x.md", "X")
    assert found(place) == [f"<!-- memory: project proj/AGENTS.md -->\n{text}"]


def test_what_cannot_be_read_is_named(place):
    """E-12: the original skipped it in silence; X-39: bytes were not checked."""
    place.write("proj/AGENTS.md", b"caf\xe9")
    place.fifo("proj/AGENTS.local.md")
    view = ex_athena.view(place.proj, home=place.home)
    assert place.skipped(view) == [("proj/AGENTS.local.md", "not-a-file")]
    assert {code for _, _, code in place.found(view)} == {"not-utf8", "not-a-file"}
    assert found(place) == ["<!-- memory: project proj/AGENTS.md -->\ncaf\ufffd"]


@pytest.mark.parametrize(
    ("message", "is_memory"),
    [
        (MEMORY, True),
        (SimpleNamespace(role="user", name="memory"), True),
        (USER, False),
        ({**MEMORY, "role": "assistant"}, False),
        ({**MEMORY, "name": "Memory"}, False),
        ("memory", False),
        (None, False),
        ({}, False),
    ],
)
def test_is_it_memory(message, is_memory):
    assert ex_athena.is_memory_message(message) is is_memory
    assert ex_athena.memory_message(message) is is_memory


def test_counts():
    """E-16: all of them are counted, as in the original; E-17: the prefix is what a compactor keeps."""
    messages = [SYSTEM, MEMORY, USER, MEMORY]
    assert ex_athena.pinned_count(messages) == 2
    assert ex_athena.pinned_prefix(messages) == foretold.pinned_prefix(messages) == 2


@pytest.mark.parametrize("memory", ["auto", True, None])
def test_a_run_with_what_is_found(place, memory):
    place.write("proj/AGENTS.md", "A")
    given = [SYSTEM, MEMORY, USER]
    run = ex_athena.run_messages(given, place.proj, memory=memory, home=place.home)
    assert run == [SYSTEM, *ex_athena.discover(place.proj, home=place.home), USER]
    assert ex_athena.run_messages(run, place.proj, memory=memory, home=place.home) == run


@pytest.mark.parametrize("memory", ["off", False])
def test_a_run_without(place, memory):
    place.write("proj/AGENTS.md", "A")
    given = [USER]
    run = ex_athena.run_messages(given, place.proj, memory=memory, home=place.home)
    assert (run == given, run is given) == (True, False)


def test_a_run_with_a_list():
    """E-18: what was given was not looked at, and counted as pinned all the same."""
    run = ex_athena.run_messages([USER], memory=["one", {"role": "user", "content": "two"}, MEMORY])
    assert run == [{**MEMORY, "content": "one"}, {**MEMORY, "content": "two"}, MEMORY, USER]
    assert ex_athena.pinned_prefix(run) == 3
    assert ex_athena.run_messages([USER], memory=[]) == [USER]
    with pytest.raises(ForetoldError, match="a memory message is of the user, not of 'system'"):
        ex_athena.run_messages([USER], memory=[SYSTEM])
    assert ex_athena.run_messages([], memory=[SimpleNamespace(role="user", content="o")]) == [
        {**MEMORY, "content": "o"}
    ]
    for wrong in ([None], [SimpleNamespace(role="user")], {"role": "user", "content": "x"}, "on"):
        with pytest.raises(ForetoldError):
            ex_athena.run_messages([USER], memory=wrong)
    with pytest.raises(ForetoldError, match="memory is 'on'; it can be 'auto', 'off' or a list of messages"):
        ex_athena.run_messages([USER], memory="on")


def test_the_engine_says_the_same(place):
    place.write("proj/AGENTS.md", "A")
    view = foretold.load(place.proj, agent="ex-athena", home=place.home)
    (message,) = ex_athena.discover(place.proj, home=place.home)
    assert view.messages == [
        {"role": "user", "name": "memory", "content": [{"type": "text", "text": message["content"]}]}
    ]
    assert [slot.place for slot in view.slots] == ["first"]


# -- the compactor ---------------------------------------------------------------------------------------------

LONG = {"role": "assistant", "content": "word " * 60}


def compactor(**options):
    return ex_athena.SummaryCompactor(lambda _: "Talk.", **{"context_window": 1000, **options})


def test_the_compactor_keeps_the_prefix_and_the_last_six():
    """E-19: 0.6 of the window, six at the end, at least three in the middle."""
    talk = [SYSTEM, MEMORY, *[LONG] * 10]
    done = compactor().compact(talk)
    assert (done.pinned, done.dropped, done.kept) == ((0, 1), (2, 3, 4, 5), (6, 7, 8, 9, 10, 11))
    assert compactor().compact(talk[:8]).reason == "below-limit"
    assert compactor(context_window=100).compact(talk[:10]).reason == "too_few_groups"


@pytest.mark.parametrize(
    ("options", "front", "pinned"),
    [
        ({}, [USER], 1),
        ({}, [SYSTEM, USER], 1),
        ({}, [SYSTEM, MEMORY, MEMORY, USER], 3),
        ({}, [MEMORY, USER], 2),
        ({"pinned_prefix_count": 0}, [USER, MEMORY], 0),
        ({"preloaded_skill_count": 2}, [SYSTEM, MEMORY, USER, USER], 4),
        ({"memory_count": 3}, [USER], 4),
        ({"memory_count": 0, "pinned_prefix_count": 0}, [SYSTEM, MEMORY], 2),
    ],
)
def test_what_the_compactor_pins(options, front, pinned):
    """E-17: memory, skills and a prefix are counted, and never fewer than stand there."""
    assert compactor(**options).pinned([*front, *[LONG] * 9]) == pinned


def test_the_compactor_and_memory_elsewhere():
    """E-16: `pinned_count` counts it anywhere; here it stays where it is, and pins nothing else."""
    talk = [SYSTEM, LONG, LONG, LONG, MEMORY, {**LONG, "pin": True}, LONG, *[LONG] * 6]
    done = compactor().compact(talk)
    assert (done.pinned, done.dropped) == ((0, 4, 5), (1, 2, 3, 6))
    assert done.messages[2:4] == talk[4:6]


def test_the_compactor_does_not_begin_with_a_tool():
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}, {"id": "b"}]}
    results = [{"role": "tool", "tool_call_id": name, "content": "x"} for name in "ab"]
    done = compactor().compact([SYSTEM, *[LONG] * 8, call, *results, *[LONG] * 5])
    assert done.kept[0] == 9
