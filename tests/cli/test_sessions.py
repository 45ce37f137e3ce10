"""`foretold sessions` as a person sees it: list, show, export, and `explain --session`."""

import importlib.util
import json
import os

import pytest

from foretold.cli import main
from foretold.cli.output import fold
from foretold.sessions.exporters.formatting import format_time

from ..sessions.talk import Talk
from .documents import read_document

HERE = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location("talk", os.path.join(HERE, "..", "sessions", "talk.py"))
talk = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(talk)

AWS = "AKIA" + "IOSFODNN7ABCDEFG"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TZ", "UTC")
    folder = tmp_path / "project"
    folder.mkdir()
    made = talk.Talk(cwd=str(folder)).user("Why does the deploy fail?").says("I look.")
    made.calls("Bash", command="cat .env").result(f"KEY={AWS}").says("It is the \x1b[31mkey\x1b[0m.")
    made.write(str(tmp_path))
    return tmp_path


def run(home, *words):
    return main(["sessions", *words, "--home", str(home)])


def test_the_list_says_how_to_resume(home, capsys):
    assert run(home, "-C", str(home / "project")) == 0
    row, command = capsys.readouterr().out.rstrip("\n").split("\n")
    assert row.endswith("Why does the deploy fail?")
    assert command == f"  cd {home}/project && claude --resume 11111111-2222-4333-8444-555555555555"


def test_another_folder_has_none_and_says_where_they_are(home, capsys):
    assert run(home, "-C", str(home)) == 0
    assert "Why does" in capsys.readouterr().out  # a folder has those of the folders below
    (home / "empty").mkdir()
    assert run(home, "-C", str(home / "empty")) == 0
    said = "There are no sessions of this folder. In others: 1; see foretold sessions --all\n"
    assert capsys.readouterr().out == said


def test_rows_fit_80_columns(home, capsys):
    talk.Talk("22222222-2222-4333-8444-555555555555", cwd="/home/me").user("日本語の長い題名 " * 20).write(str(home))
    run(home, "--all")
    rows = [line for line in capsys.readouterr().out.split("\n") if not line.startswith("  ")]
    assert all(sum(2 if ord(char) > 0x2E80 else 1 for char in row) <= 80 for row in rows)


@pytest.mark.parametrize(
    "line",
    ["-C {0} sessions du", "sessions -C {0} du", "sessions --agent codex du", "sessions -C {0} -n 5", "sessions"],
)
def test_options_may_come_before_the_command(home, capsys, line):
    assert main([*line.format(home).split(), "--home", str(home)]) == 0
    assert ("no sessions here" in capsys.readouterr().out) == ("codex" in line)


def test_a_list_is_data_too(home, capsys):
    run(home, "--all", "--json")
    document = read_document(capsys.readouterr().out)
    assert document["schema"] == "foretold.sessions/1"
    assert [(row["agent"], row["resume"][:2], row["title"]) for row in document["sessions"]] == [
        ("claude-code", ["claude", "--resume"], "Why does the deploy fail?")
    ]


def test_show_is_what_was_said_with_calls_in_a_line(home, capsys):
    assert run(home, "show", "1111") == 0
    out = capsys.readouterr().out
    assert "You  2026-03-01 10:00\nWhy does the deploy fail?" in out
    assert "  → Bash cat .env" in out
    assert AWS not in out
    assert run(home, "show", "1111", "--full") == 0
    assert f"  │ KEY={AWS}" in capsys.readouterr().out


def test_damage_is_named_and_the_exit_status_says_so(home, capsys):
    path = next(home.glob(".claude/projects/*/*.jsonl"))
    path.write_text("not json\n" + path.read_text())
    assert run(home, "show", "1111") == 1
    assert "  warning record-damaged\n" in capsys.readouterr().out


def test_an_export_has_no_credentials_and_replaces_no_file(home, capsys):
    target = home / "talk.html"
    assert run(home, "export", "1111", "-o", str(target)) == 0
    assert AWS not in target.read_text()
    assert "removed: AWS access key" in capsys.readouterr().err
    assert oct(target.stat().st_mode & 0o777) == "0o600"
    before = target.read_text()
    assert run(home, "export", "1111", "-o", str(target)) == 3
    assert "--force" in capsys.readouterr().err
    assert target.read_text() == before
    assert run(home, "export", "1111", "--with-secrets") == 0
    assert AWS in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["show", "9999"], 2, "no session is called '9999'"),
        (["serch", "x"], 2, "did you mean 'search'?"),
        (["list", "--agent", "nobody"], 2, "unknown agent 'nobody'; known agents: claude-code, codex"),
        (["list", "--agent", "cline"], 2, "readers for: claude-code, codex"),
        (["list", "-C", "/nonexistent"], 2, "/nonexistent is not a folder, and has no sessions"),
    ],
)
def test_mistakes_say_what_to_do(home, capsys, words, code, said):
    assert run(home, *words) == code
    assert said in capsys.readouterr().err.replace("\n", " ")


def test_explain_says_what_a_session_was_told(home, capsys):
    folder = home / "project"
    (folder / "CLAUDE.md").write_text("Deploy by hand.\nNew.\n")
    made = talk.Talk(cwd=str(folder)).user("hi")
    rows = [{"path": f"{folder}/CLAUDE.md", "type": "Project", "content": "Deploy by hand.\nOld."}]
    made.attaches(type="instructions", files=rows).write(str(home))
    assert main(["explain", "--session", "1111", "--home", str(home)]) == 1
    out = capsys.readouterr().out
    assert "differs  CLAUDE.md" in out
    assert "           -Old.\n           +New.\n" in out


def test_explain_says_which_release_ran(home, capsys):
    made = talk.Talk(cwd=str(home / "project"), version="2.1.197").user("hi").says("ok")
    made.version = "2.1.100;id"
    made.user("and?")
    made.version = "2.1.325"
    made.says("ok").write(str(home))
    words = ["explain", "--session", "1111", "--home", str(home)]
    main(words)
    assert capsys.readouterr().out.splitlines()[2:7] == [
        "compared as claude-code 2.1.325 loads files, the release of its last record",
        "the release changed: 2.1.197 from 2026-03-01 10:00, then 2.1.325 from 2026-03-01",
        "10:00",
        "line 3 of the transcript names '2.1.100;id', which is not a version",
        "",
    ]
    main([*words, "--json"])
    found = read_document(capsys.readouterr().out)["release"]
    assert (found["version"], found["source"], found["evidence"]) == ("2.1.325", "transcript", "recorded")
    assert [each["line"] for each in (*found["events"], *found["unread"])] == [1, 4, 3]


def test_explain_says_that_a_release_is_assumed(home, capsys):
    talk.Talk(cwd=str(home / "project"), version="").user("hi").write(str(home))
    main(["explain", "--session", "1111", "--home", str(home)])
    said = "no record names a release: compared as claude-code "
    assert said in capsys.readouterr().out


def test_explain_says_what_a_session_was_sent_again(home, capsys):
    folder = home / "project"
    (folder / "CLAUDE.md").write_text("Deploy by hand.\nNew.\n")
    made = talk.Talk(cwd=str(folder)).user("hi")
    paths = [f"{folder}/CLAUDE.md", f"{folder}/CLAUDE.local.md"]
    texts = ["Deploy by hand.\nOld.", "Mine."]
    rows = [{"path": path, "type": "Project", "content": text} for path, text in zip(paths, texts, strict=True)]
    again = [{**rows[0], "content": "Deploy by hand.\nNew."}]
    made.attaches(type="instructions", files=rows).says("ok").user("and?")
    made.attaches(type="instructions", files=again, removed=paths[1:], changed=True).write(str(home))
    words = ["explain", "--session", "1111", "--home", str(home)]
    assert main(words) == 0
    shown = capsys.readouterr().out.partition("Sent again")[2]
    assert shown.startswith(" with prompt 2, ")
    assert shown.replace("\n", " ", 1).partition(": ")[2] == (
        "the model was sent a text that replaces the one before.\n  CLAUDE.md: replaced\n"
        "           -Old.\n           +New.\n  CLAUDE.local.md: no longer applies\n"
    )
    assert main([*words, "--json"]) == 0
    (sent,) = read_document(capsys.readouterr().out)["sent_again"]
    assert (sent["prompt"], sent["effect"]) == (2, "replaced")
    assert [list(file.values()) for file in sent["files"]] == [
        [paths[0], again[0]["content"], texts[0]],
        [paths[1], None, "Mine."],
    ]


@pytest.mark.parametrize("words", [["show", "1111", "--last", "-1"], ["list", "-n", "-5"], ["list", "-n", "x"]])
def test_less_than_nothing_is_no_number(home, capsys, words):
    with pytest.raises(SystemExit, match="2"):
        run(home, *words)
    assert "is not a number; give 0 or more" in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize("line", ["sessions --all", "sessions show 2222", "explain --session 2222"])
def test_nothing_in_a_session_plays_tricks_on_a_terminal(home, capsys, line):
    bad = "\x1b]0;x\x07\u202e\n"
    made = talk.Talk("22222222-2222-4333-8444-555555555555", cwd=f"/a{bad}", version=bad)
    made.add("user", message={"role": "user", "content": "hi"}, gitBranch=bad)
    made.plain(type="custom-title", customTitle=bad)
    made.add("system", subtype="compact_boundary", compactMetadata={"trigger": bad})
    made.attaches(type="instructions", files=[{"path": f"/b{bad}", "content": "x"}]).write(str(home))
    main([*line.split(), "--home", str(home)])
    out = capsys.readouterr().out
    assert all(char == "\n" or char.isprintable() for char in out)


def test_any_transcript_file(home, tmp_path, capsys):
    """A copy, under another name and in no folder of an agent."""
    records = (
        Talk("99999999-2222-4333-8444-555555555555", cwd=str(tmp_path)).user("Is it a copy?").says("It is.").records
    )
    path = tmp_path / "from a colleague.txt"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    assert run(home, "show", str(path)) == 0
    assert "Is it a copy?" in capsys.readouterr().out
    assert run(home, "export", str(path)) == 0
    assert "It is." in capsys.readouterr().out
    assert run(home, "resume", str(path)) == 0
    shown = capsys.readouterr().out
    assert "2 messages would be loaded\n\ngo on with it:\n  mkdir -p " in shown
    assert shown.endswith(f"cd {tmp_path} &&\n  claude --resume 99999999-2222-4333-8444-555555555555\n")
    assert run(home, "resume", str(path), "--command") == 0
    assert capsys.readouterr().out.count(" && ") == 3
    assert run(home, "resume", str(path), "--json") == 0
    document = read_document(capsys.readouterr().out)
    assert [message["role"] for message in document["messages"]] == ["user", "assistant"]
    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\n", encoding="utf-8")
    assert run(home, "show", str(notes)) == 3
    assert "is not a transcript of an agent that can be read" in capsys.readouterr().err


def test_a_torn_file_is_repaired_by_its_path(home, tmp_path, monkeypatch, capsys):
    """A session of the same id is stored: the file is meant, and the hint names it, once."""
    stored = next(home.glob(".claude/projects/*/*.jsonl"))
    lines = stored.read_text().splitlines(keepends=True)
    (tmp_path / "sent.jsonl").write_text("".join([*lines[:2], lines[2].rstrip("\n"), *lines[3:], "torn\n"]))
    monkeypatch.chdir(tmp_path)
    before = stored.read_bytes()
    assert run(home, "show", "sent.jsonl") == 1
    shown = capsys.readouterr().out
    assert shown.count("foretold sessions repair") == 1
    assert f"      try: foretold sessions repair sent.jsonl --home {home}\n" in shown
    assert run(home, "repair", "sent.jsonl") == 1
    assert f"  foretold sessions repair sent.jsonl --write --home {home}\n" in capsys.readouterr().out
    assert run(home, "repair", "sent.jsonl", "--write") == 1
    said = capsys.readouterr().out.splitlines()
    [made] = [path for path in tmp_path.glob("*.jsonl") if path.name != "sent.jsonl"]
    assert said[-1] == f"Resume it: foretold sessions resume {made} --home {home}"
    assert run(home, "repair", str(made)) == 0
    assert stored.read_bytes() == before


def test_a_moment_that_no_calendar_has_is_left_out():
    assert [format_time(moment) for moment in (None, 1e308, float("nan"), -1e300)] == ["", "", "", ""]


def test_an_export_into_a_folder_that_is_not_there_says_so(home, capsys):
    assert run(home, "export", "1111", "-o", str(home / "no" / "talk.md")) == 3
    assert "cannot write" in capsys.readouterr().err
    assert run(home, "export", "1111", "-o", str(home / "project"), "--force") == 3
    assert os.listdir(home / "project") == []


def test_show_names_what_is_nested_too_deeply_and_what_has_no_text(home, capsys):
    deep = "leaf"
    for _ in range(300):
        deep = {"a": [deep]}
    made = talk.Talk("22222222-2222-4333-8444-555555555555").user("hi").calls("Bash", command="ls", more=deep)
    made.attaches(type="strange", n=1).write(str(home))
    assert run(home, "show", "2222", "--json") == 0
    messages = read_document(capsys.readouterr().out)["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert run(home, "show", "2222", "--full") == 0
    assert '  {"type": "strange", "n": 1}\n' in capsys.readouterr().out


COMMANDS = [
    ("<command-message>compact</command-message>\n<command-name>/compact</command-name>", "You", "/compact"),
    ("<command-name>/model</command-name>\n  <command-args>opus</command-args>", "You", "/model opus"),
    ("<local-command-stdout>\x1b[2mCompacted.\x1b[22m</local-command-stdout>", "Output", "  │ Compacted."),
    ("<bash-input>ls</bash-input>", "You", "! ls"),
    ("<bash-stdout>a\nb</bash-stdout><bash-stderr></bash-stderr>", "Output", "  │ a\n  │ b"),
    ("<command-name>/compact", "You", "<command-name>/compact"),
    ("<command-name>/x</command-name> is a tag", "You", "<command-name>/x</command-name> is a tag"),
]


@pytest.mark.parametrize(("text", "who", "shown"), COMMANDS)
def test_a_command_is_shown_as_it_was_typed(home, capsys, text, who, shown):
    made = talk.Talk("22222222-2222-4333-8444-555555555555").user("hi").user(text)
    made.user("<local-command-caveat>Caveat: no prompt</local-command-caveat>").write(str(home))
    for more in ((), ("--full",)):
        assert run(home, "show", "2222", *more) == 0
        out = capsys.readouterr().out
        assert out.endswith(f"\n{who}  2026-03-01 10:00\n{shown}\n")
        assert "Caveat" not in out


def test_what_an_agent_says_is_left_as_it_is(home, capsys):
    talk.Talk("22222222-2222-4333-8444-555555555555").says(COMMANDS[0][0]).write(str(home))
    assert run(home, "show", "2222") == 0
    assert capsys.readouterr().out.endswith(f"{COMMANDS[0][0]}\n")


def test_prose_is_folded_and_code_is_not():
    code = "```python\none = two + three + four\n```"
    table = "| one | two | three | four |"
    kept = f"{code}\n{table}\n    four spaces are code"
    text = f"one two three four five\n\n1. one two three four\n{kept}\n日本語 日本語 日本語"
    assert fold(text, 16) == (f"one two three\nfour five\n\n1. one two three\n   four\n{kept}\n日本語 日本語\n日本語")
    assert fold("see https://example.org/a/long/address", 16) == "see\nhttps://example.org/a/long/address"


def test_what_will_be_deleted_is_named_until_it_is_archived(home, capsys):
    assert run(home, "--all") == 0
    assert "will delete" not in capsys.readouterr().out
    path = next(home.glob(".claude/projects/*/*.jsonl"))
    os.utime(path, (1_600_000_000, 1_600_000_000))
    run(home, "-C", str(home / "project"))
    assert capsys.readouterr().out.endswith(
        "\nClaude Code keeps sessions for 30 days. Within 7 days it will delete 1 file of\n"
        "all folders that is not archived.\nArchive them: foretold sessions archive --all\n"
    )
    run(home, "archive", "--all")
    capsys.readouterr()
    run(home, "--all")
    assert "will delete" not in capsys.readouterr().out


def test_a_session_that_is_only_in_the_archive_is_named(home, capsys):
    run(home, "archive", "--all")
    next(home.glob(".claude/projects/*/*.jsonl")).unlink()
    capsys.readouterr()
    assert run(home, "show", "1111") == 2
    said = "it is in the archive: foretold sessions restore 11111111-2222-4333-8444-555555555555\n"
    assert capsys.readouterr().err.endswith(said)


@pytest.mark.parametrize(("word", "count"), [("90", 1), ("90d", 1), ("12w", 1), ("36h", 1), ("99999d", 0), ("1.5d", 1)])
def test_ages_are_written_as_people_write_them(home, capsys, word, count):
    os.utime(next(home.glob(".claude/projects/*/*.jsonl")), (1_600_000_000, 1_600_000_000))
    assert run(home, "prune", "--all", "--older-than", word, "--json") == 0
    assert len(read_document(capsys.readouterr().out)["candidates"]) == count


@pytest.mark.parametrize("word", ["", "d", "nan", "-1", "3y", "1e9", "1..2"])
def test_what_is_no_age_is_refused(home, capsys, word):
    with pytest.raises(SystemExit, match="2"):
        run(home, "prune", f"--older-than={word}")
    assert f"{word!r} is not an age; write e.g. 30d, 2w or 12h" in capsys.readouterr().err.replace("\n", " ")


def test_room_is_of_all_in_any_case(home, capsys):
    assert run(home, "du", "--by", "agent") == 0
    assert run(home, "du", "--by", "agent", "--all") == 0
    printed = capsys.readouterr().out
    assert printed[: len(printed) // 2] * 2 == printed
