"""`foretold files`: what a person reads, what a program reads, what a script gets."""

import io
import json
import os
import pty
import re
import sys
import time
from typing import NamedTuple

import pytest

from foretold.cli.files import COMMANDS, command
from foretold.dialects.claude_code.settings import slug
from foretold.errors import ForetoldError
from foretold.files.history.history import FileHistory

from ..files.recordings import RECORDINGS, put_on_stage, states
from .documents import read_document

SESSION = "08bac3dc-675e-46ff-b1ff-9eec51e3de16"
PROMPTS = (
    "f92d4975-3189-4f5d-b63e-8fde28a08654",
    "02669451-b871-446d-b83c-050b454cc9fa",
    "14457dec-ac5c-42f2-86a1-5d85b4086b03",
)
BEGAN = 1_800_000_000


class Done(NamedTuple):
    code: int
    text: str
    error: str

    @property
    def data(self):
        return read_document(self.text)


def run(place, *words, cwd="proj", env=None, stdin=None):
    """A command in this process; without a terminal, unless one is given."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place.path(cwd))
        for name in list(os.environ):
            patch.delenv(name)
        for name, value in place.environment(TZ="UTC", **(env or {})).items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", stdin or io.StringIO(""))
        patch.setattr(sys, "stdout", streams[0])
        patch.setattr(sys, "stderr", streams[1])
        time.tzset()
        try:
            code = command(words)
        except SystemExit as left:
            code = left.code
        except ForetoldError as error:
            print(f"foretold: {error}", file=sys.stderr)
            code = error.exit_code
    time.tzset()
    for stream in streams:
        stream.flush()
    return Done(code, *(stream.buffer.getvalue().decode() for stream in streams))


@pytest.fixture
def session(place):
    """A session of three prompts: a.txt changed in two of them, sub/new.txt made in the first."""
    clock = iter(range(BEGAN, BEGAN + 10_000, 60))
    history = FileHistory(place.path("home/.claude/file-history"), SESSION, place.proj, clock=lambda: next(clock))
    records = []
    place.write("proj/a.txt", "one\n", 0o644)
    turns = (
        ("Write a test", {"a.txt": "two\n", "sub/new.txt": "new\n"}),
        ("Now make it pass", {"a.txt": "two\nthree\n"}),
        ("Thanks", {}),
    )
    for prompt, (text, edits) in zip(PROMPTS, turns, strict=True):
        said = {"role": "user", "content": text}
        records.append({"type": "user", "uuid": prompt, "message": said, "cwd": place.proj, "version": "2.1.325"})
        records.append(history.prompt(prompt))
        for name, content in edits.items():
            records += filter(None, [history.before_edit(name, "edit")])
            place.write(f"proj/{name}", content)
    lines = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    place.write(f"home/.claude/projects/{slug(place.proj)}/{SESSION}.jsonl", lines)
    return place


LAST = {"a.txt": ["two\nthree\n", "644"], "sub/new.txt": ["new\n", "644"]}


def agents_own(place):
    return states(place.path("home/.claude"))


def test_the_list_is_what_comes_first(session):
    done = run(session)
    assert (done.code, done.error) == (0, "")
    assert done.text == (
        f"1 session with checkpoints in {session.proj}\n"
        """
  08bac3dc  2027-01-15 08:07  3 prompts    2 files  “Write a test”

Go back to a prompt:   foretold files rewind 08bac3dc
What a file was:       foretold files history a.txt
"""
    )
    assert run(session, "list").text == done.text
    found = run(session, "list", "--json").data
    assert found["schema"] == "foretold.file-sessions/1"
    assert [each["message"] for each in found["sessions"][0]["checkpoints"]] == list(PROMPTS)
    assert found["sessions"][0]["files"] == [session.path("proj/a.txt"), session.path("proj/sub/new.txt")]


def test_a_folder_without_sessions_says_why(place):
    done = run(place)
    assert done.code == 0
    assert "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1" in done.text


def test_history(session):
    os.utime(session.path("proj/a.txt"), (1_800_091_800, 1_800_091_800))
    done = run(session, "history", "a.txt")
    assert (done.code, done.error) == (0, "")
    assert done.text.split("\n") == [
        "a.txt: 3 versions in 1 session",
        "",
        "  now          2027-01-16 09:30             on disk",
        "  08bac3dc@v3  2027-01-15 08:06      +1 -0  before “Thanks”",
        "  08bac3dc@v2  2027-01-15 08:03      +1 -1  before “Now make it pass”",
        "  08bac3dc@v1  2027-01-15 08:01             before “Write a test”",
        "",
        "What changed since:   foretold files diff a.txt --at 08bac3dc@v2",
        "Restore it:           foretold files restore a.txt --at 08bac3dc@v2",
        "",
    ]
    found = run(session, "history", "a.txt", "--json").data
    assert [(each["version"], each["insertions"], each["deletions"]) for each in found["versions"]] == [
        ("08bac3dc@v3", 1, 0),
        ("08bac3dc@v2", 1, 1),
        ("08bac3dc@v1", None, None),
    ]
    assert found["versions"][1]["prompt"] == "Now make it pass"


def test_history_of_a_file_that_was_made_and_is_gone(session):
    os.remove(session.path("proj/sub/new.txt"))
    done = run(session, "history", "sub/new.txt")
    assert "there is no file" in done.text
    assert "no file before “Write a test”" in done.text


def test_a_backup_that_is_gone_is_named(session):
    folder = session.path(f"home/.claude/file-history/{SESSION}")
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    done = run(session, "history", "a.txt")
    assert done.code == 1
    assert done.text.count("its backup is missing") == 3
    refused = run(session, "rewind", "08ba", "f92d", "--yes")
    assert refused.code == 1
    assert "  error backup-missing\n" in refused.text
    assert "foretold files history a.txt" in " ".join(refused.text.split())
    assert "Or skip them: foretold files rewind 08bac3dc f92d4975 --skip a.txt" in refused.text
    assert states(session.proj) == LAST
    assert run(session, "rewind", "08ba", "f92d", "--yes", "--skip", "a.txt").code == 0
    assert states(session.proj) == {"a.txt": LAST["a.txt"]}


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ((), ["-two", "+two", "+three"]),
        (("--at", "08bac3dc@v1"), ["-one", "+two", "+three"]),
        (("--at", "v2"), ["+three"]),
        (("--at", "f92d"), ["-one", "+two", "+three"]),
        (("--at", "2027-01-15T08:05Z"), ["+three"]),
        (("--at", "v1", "--to", "v2"), ["-one", "+two"]),
    ],
)
def test_diff(session, words, rows):
    done = run(session, "diff", "a.txt", *words)
    assert done.code == 0
    changed = [line for line in done.text.split("\n")[2:] if line[:1] in ("+", "-")]
    assert changed == [row for row in rows if words or row == "+three"]


def test_restore_and_undo(session):
    before = agents_own(session)
    done = run(session, "restore", "a.txt", "--at", "08bac3dc@v1", "--yes")
    assert done.code == 0
    assert states(session.proj) == {**LAST, "a.txt": ["one\n", "644"]}
    (undo,) = re.findall(r"Undo it:   foretold files undo (\S+)", done.text)
    assert run(session, "undo", undo, "--yes").code == 0
    assert states(session.proj) == LAST
    assert agents_own(session) == before
    assert "Nothing to do" in run(session, "undo", undo).text
    assert [each["done"] for each in run(session, "undo", "--json").data["restores"]] == [True, True]


@pytest.mark.parametrize(
    ("words", "code", "said", "error"),
    [
        (("restore", "sub/new.txt", "--at", "v1"), 1, "", "Nothing was changed: add --yes to do it.\n"),
        (("restore", "a.txt", "--at", "v1"), 1, "", "Nothing was changed: add --yes to do it.\n"),
        (("restore", "a.txt", "--at", "v1", "--dry-run"), 0, "Nothing was changed (--dry-run).\n", ""),
        (("rewind", "08ba", "f92d", "--dry-run", "--yes"), 0, "Nothing was changed (--dry-run).\n", ""),
    ],
)
def test_without_a_terminal_nothing_is_changed_unless_it_is_agreed(session, words, code, said, error):
    done = run(session, *words)
    assert (done.code, states(session.proj), done.error) == (code, LAST, error)
    assert done.text.startswith("This would re")
    assert done.text.endswith(" lines\n" + said)


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("", 1)])
def test_on_a_terminal_it_asks(session, answer, code):
    leader, follower = pty.openpty()
    os.write(leader, f"{answer}\n".encode())
    with open(follower, encoding="utf-8") as terminal:
        done = run(session, "restore", "a.txt", "--at", "v1", stdin=terminal)
    os.close(leader)
    assert done.code == code
    assert "\n1 file, +1 -2 lines\nRestore it? [y/N] " in done.text
    assert states(session.proj)["a.txt"] == (["one\n", "644"] if answer == "y" else LAST["a.txt"])
    assert ("Undo it:   foretold files undo " in done.text) == (answer == "y")


def test_a_restore_can_delete(session):
    assert run(session, "restore", "sub/new.txt", "--at", "v1", "--yes").code == 0
    assert "sub/new.txt" not in states(session.proj)


def test_undo_names_what_was_changed_since(session):
    done = run(session, "restore", "a.txt", "--at", "v1", "--yes", "--json").data
    session.write("proj/a.txt", "mine\n")
    asked = run(session, "undo", done["undo"])
    assert asked.code == 1
    assert "Changed since then: a.txt" in asked.text
    assert states(session.proj)["a.txt"] == ["mine\n", "644"]
    taken = run(session, "undo", done["undo"], "--yes", "--json").data
    assert states(session.proj) == LAST
    run(session, "undo", taken["undo"], "--yes")
    assert states(session.proj)["a.txt"] == ["mine\n", "644"]


def test_rewind_shows_first_and_does_it_with_yes(session):
    before = agents_own(session)
    listed = run(session, "rewind", "08ba")
    assert listed.code == 0
    assert [line.split()[0] for line in listed.text.split("\n")[2:5]] == [each[:8] for each in reversed(PROMPTS)]
    shown = run(session, "rewind", "08ba", "f92d")
    assert (shown.code, states(session.proj)) == (1, LAST)
    assert (
        shown.text
        == """\
This would rewind 08bac3dc to f92d4975

  change     a.txt        +1 -2
  delete     sub/new.txt  +0 -1

2 files, +1 -3 lines
"""
    )
    done = run(session, "rewind", "08ba", "f92d", "--yes", "--json").data
    assert (done["insertions"], done["deletions"], done["done"], done["problems"]) == (1, 3, True, [])
    assert states(session.proj) == {"a.txt": ["one\n", "644"]}
    run(session, "undo", done["undo"], "--yes")
    assert states(session.proj) == LAST
    assert agents_own(session) == before


def test_nothing_to_do(session):
    done = run(session, "rewind", SESSION, "last", "--yes")
    assert (done.code, done.text) == (0, "Nothing to do; 2 files are unchanged.\n")


def test_a_link_in_the_way_stops_everything(session):
    os.remove(session.path("proj/a.txt"))
    session.link("proj/a.txt", session.write("outside", "secret\n"))
    done = run(session, "rewind", "08ba", "f92d", "--yes")
    assert done.code == 1
    assert "there is a symbolic link in its place" in done.text
    assert states(session.root)["outside"] == ["secret\n", "644"]
    assert os.path.exists(session.path("proj/sub/new.txt"))


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("history", "nothing.txt"), 1, "foretold files list"),
        (("restore", "a.txt", "--at", "soon"), 2, "foretold files history"),
        (("restore", "a.txt", "--at", "1999-01-01"), 2, "08bac3dc@v1"),
        (("restore", "a.txt"), 2, "--at"),
        (("rewind", "zzz"), 2, "foretold files list shows them"),
        (("rewind", "08ba", "zzz"), 2, "foretold files rewind 08bac3dc"),
        (("rewind", "08ba", "f92d", "--skip", "other"), 2, "did not change"),
        (("undo", "zzz"), 2, "foretold files undo"),
        (("hstory",), 2, "did you mean 'history'"),
    ],
)
def test_errors_say_what_to_do_next(session, words, code, said):
    done = run(session, *words)
    assert (done.code, done.text) == (code, "")
    assert said in done.error


def test_other_homes_and_folders(session):
    for name in ("FORETOLD_HOME", "XDG_STATE_HOME"):
        run(session, "restore", "a.txt", "--at", "v1", "--yes", env={name: session.path(name)})
        assert os.path.isdir(session.path(name)), name
        run(session, "restore", "a.txt", "--at", "v3", "--yes")
    there = ("-C", session.proj, "--home", session.home)
    assert run(session, "list", *there, cwd="home").text == run(session).text.replace(
        "08bac3dc\n", f"08bac3dc -C {session.proj} --home {session.home}\n", 1
    ).replace("a.txt\n", f"a.txt -C {session.proj} --home {session.home}\n")
    os.rename(session.path("home/.claude"), session.path("moved"))
    assert run(session, env={"CLAUDE_CONFIG_DIR": session.path("moved")}).text.startswith("1 session")


def test_help(place):
    done = run(place, "--help")
    assert (done.code, done.error) == (0, "")
    assert all(re.search(rf"^  {name} ", done.text, re.M) for name in COMMANDS)
    for name in COMMANDS:
        text = run(place, name, "--help").text
        assert "examples:" in text
        assert max(map(len, (text + done.text).split("\n"))) <= 80


def test_lines_fit(session):
    for words in ((), ("history", "a.txt"), ("rewind", "08ba"), ("rewind", "08ba", "f92d"), ("undo",)):
        rows = run(session, *words).text.split("\n")
        assert max(len(row) for row in rows if session.root not in row) <= 80, words


def test_a_real_session(place):
    put_on_stage(place, RECORDINGS[-1])
    done = run(place, "rewind", RECORDINGS[-1]["session"][:8])
    assert done.code == 0
    assert done.text.count("“prompt") == 7
