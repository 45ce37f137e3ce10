"""`foretold sessions search` as a person sees it."""

import importlib.util
import os

import pytest

from foretold.cli import main

from .documents import read_document

HERE = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location("talk", os.path.join(HERE, "..", "sessions", "talk.py"))
talk = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(talk)

SESSION = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TZ", "UTC")
    import time

    time.tzset()
    made = talk.Talk(cwd="/home/me/shop").user("Why does the deploy fail?").says("I look at the pool of connections.")
    made.calls("Bash", command="cat pool.conf").result("pool_size = 5\n\x1b[31mred\x1b[0m " + "word " * 60 + "pool")
    made.write(str(tmp_path))
    yield tmp_path
    monkeypatch.undo()
    time.tzset()


def run(home, *words):
    return main(["sessions", "search", *words, "--home", str(home)])


def test_hits_with_their_place_and_the_command_that_resumes(home, capsys):
    assert run(home, "pool", "-deploy") == 0
    printed = capsys.readouterr().out
    assert printed == (
        "claude-code, Why does the deploy fail?\n"
        f"  cd /home/me/shop && claude --resume {SESSION}\n"
        "  2026-03-01 10:00  tool Bash\n"
        "    pool_size = 5 ·[31mred·[0m word word word word word word word word word word\n"
        "    word word word word word word word word word word word word word word word\n"
        "    word wo…\n"
        "\n"
        "  2026-03-01 10:00  assistant Bash\n"
        "    Bash cat pool.conf\n"
        "\n"
        "  2026-03-01 10:00  assistant\n"
        "    I look at the pool of connections.\n"
        "\n"
    )
    assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.parametrize("more", [(), ("--no-index",), ("--ranked",)])
def test_data_for_programs(home, capsys, more):
    assert run(home, "fail", "--json", *more) == 0
    data = read_document(capsys.readouterr().out)
    assert (data["schema"], data["query"], data["more"], data["sessions"]) == ("foretold.search/1", "fail", False, 1)
    [hit] = data["hits"]
    assert hit["session"]["command"] == f"cd /home/me/shop && claude --resume {SESSION}"
    del hit["session"], hit["message"], hit["start"], hit["score"]
    assert hit == {
        "role": "user",
        "tool": None,
        "time": 1772359201.0,
        "snippet": "Why does the deploy fail?",
        "marks": [[20, 24]],
    }


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("pool",), 3),
        (("pool", "--role", "tool"), 1),
        (("pool", "--role", "tool", "--role", "assistant"), 3),
        (("pool", "--tool", "Bash"), 2),
        (("pool", "--tool", "bASH"), 2),
        (("pool", "--tool", "bash", "--no-index"), 2),
        (("pool", "--agent", "Claude-Code"), 3),
        (("pool", "--all"), 3),
        (("pool", "-n", "2"), 2),
        (("pool", "--limit=2"), 2),
        (("pool", "--after", "2w"), 0),
        (("pool", "--after", "99999999999w"), 3),
        (("pool", "--project", "shop", "-C", "/home/me"), 3),
        (("pool", "--after", "2026-03-02"), 0),
        (("pool", "--before", "2026-03-02"), 3),
        (("pool", "--after", "1d"), 0),
        (("pool", "--project", "/home/me/shop"), 3),
        (("pool", "--project", "/home/you"), 0),
        (("pool", "--agent", "codex"), 0),
        (("pool", "--limit", "2"), 2),
    ],
)
def test_filters(home, capsys, words, count):
    assert run(home, *words, "--json") == 0
    assert len(read_document(capsys.readouterr().out)["hits"]) == count


def test_nothing_found_and_more_than_shown(home, capsys):
    assert run(home, "absent") == 0
    assert capsys.readouterr().out == "Nothing was found in 1 session.\n"
    assert run(home, "pool", "--limit", "1") == 0
    assert capsys.readouterr().out.endswith("More: --limit 20, or more words.\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--", "-x"), "there is no word to search for: -word only says what must not occur"),
        (("--", "-", "*"), "there is no word to search for"),
        (("x", "--projct", "."), "there is no --projct; did you mean --project? To search for it, write: -- --projct"),
        (("x", "--all", "--project", "."), "not allowed with argument"),
        (("x", "--limit"), "expected one argument"),
        (("x", "--after", "someday"), "'someday' is not a date; write 2026-10-31, or 7d for a week ago"),
        (("x", "--limit", "0"), "'0' is not a number; give 1 or more"),
    ],
)
def test_wrong_usage(home, capsys, words, said):
    with pytest.raises(SystemExit) as error:
        main(["sessions", "search", "--home", str(home), *words])
    assert error.value.code == 2
    assert said in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("po*", "-hello"), 3),
        (("po*", "-connections"), 2),
        (("-connections", "pool"), 2),
        (("pool", "-Cat"), 2),
        (("pool", "--pool_size"), 1),
        (("--", "pool", "--json"), 0),
        (("-n5", "pool"), 3),
    ],
)
def test_a_word_is_no_option(home, capsys, words, count):
    assert main(["sessions", "search", "--home", str(home), "--json", *words]) == 0
    assert len(read_document(capsys.readouterr().out)["hits"]) == count


def test_every_option_is_known_as_one():
    """Else it would be searched for."""
    from foretold.cli.sessions.search import FLAGS, VALUED, _parser

    takes_value = {name: action.nargs != 0 for action in _parser()._actions for name in action.option_strings}
    assert takes_value == {**dict.fromkeys(VALUED, True), **dict.fromkeys(FLAGS, False)}


@pytest.mark.parametrize("more", [(), ("--no-index",)])
def test_a_prompt_that_waited_is_found_once_and_one_that_was_never_sent_too(home, capsys, more):
    made = talk.Talk("22222222-2222-4333-8444-555555555555").user("hi")
    for text in ("raise the limit", "raise the limit twice"):
        made.plain(type="queue-operation", operation="enqueue", timestamp="2026-03-01T10:00:01.500Z", content=text)
    made.plain(type="queue-operation", operation="dequeue", timestamp="2026-03-01T10:00:01.600Z")
    made.user("raise the limit").write(str(home))
    assert run(home, "raise", "--json", *more) == 0
    hits = read_document(capsys.readouterr().out)["hits"]
    assert [(hit["role"], hit["snippet"]) for hit in hits] == [
        ("user", "raise the limit"),
        ("system", "raise the limit twice"),
    ]


def test_an_interrupt_says_that_the_next_search_goes_on(home, capsys, monkeypatch):
    monkeypatch.setattr("foretold.cli.output.ProgressLine.__call__", _interrupt)
    assert run(home, "pool") == 130
    assert "the next search continues" in capsys.readouterr().err


def _interrupt(*_):
    raise KeyboardInterrupt
