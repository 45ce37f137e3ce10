"""`foretold memory`: what a person reads, what a program reads, what a script gets."""

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import unicodedata
from typing import NamedTuple

import pytest

from foretold.cli import main
from foretold.cli.memory import COMMANDS
from foretold.dialects.claude_code.settings import slug

from .documents import read_document

SECRET = "gh" + "p_" + "a1B2" * 9
TABS = ("add", "Tabs", "-t", "feedback", "-d", "indent with tabs", "-b", "Use tabs.")


@pytest.fixture
def repo(place):
    place.git("init -q -b main")
    place.write("home/.gitconfig", "[user]\nname = Ada\n")
    return place


class Done(NamedTuple):
    returncode: int
    stdout: bytes
    stderr: bytes


def run(place, *words, given=b"", cwd="proj", env=None):
    """A command without a terminal, in this process: a hundred of them are not worth a hundred starts."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place.path(cwd))
        for name in list(os.environ):
            patch.delenv(name)
        for name, value in place.environment(**(env or {})).items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), "utf-8"))
        patch.setattr(sys, "stdout", streams[0])
        patch.setattr(sys, "stderr", streams[1])
        try:
            code = main(["memory", *words])
        except SystemExit as left:
            code = left.code
    for stream in streams:
        stream.flush()
    return Done(code, *(stream.buffer.getvalue() for stream in streams))


def text(done):
    return done.stdout.decode()


def errors(done):
    return done.stderr.decode()


def data(done):
    return read_document(done.stdout)


def store(place, project="proj"):
    return f"{place.home}/.claude/projects/{slug(place.path(project))}/memory"


def write(place, file, content):
    return place.write(os.path.relpath(f"{store(place)}/{file}", place.root), content)


def note(name, description="d", body="x"):
    return f"---\nname: {name}\ndescription: {json.dumps(description)}\nmetadata:\n  type: project\n---\n{body}\n"


def files(place):
    return sorted(os.listdir(store(place))) if os.path.isdir(store(place)) else []


def terminal(place, *words, typed=b"", env=None):
    """A command on a terminal: what it shows, and its exit status."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "foretold", "memory", *words],
        cwd=place.proj,
        env=place.environment(TERM="xterm", **(env or {})),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    if typed:
        os.write(ours, typed)
    shown = b""
    while True:
        ready, _, _ = select.select([ours], [], [], 30)
        try:
            more = os.read(ours, 65536) if ready else b""
        except OSError:
            break
        if not more:
            break
        shown += more
    os.close(ours)
    return shown.decode().replace("\r\n", "\n"), process.wait(30)


def width_of(line):
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


# -- looking ---------------------------------------------------------------------------------------------------


def flat(shown):
    """What a terminal shows, in one line: messages are wrapped there."""
    return " ".join(shown.split())


def test_nothing_yet(repo):
    done = run(repo)
    assert text(done) == (
        f"There are no memories here yet:\n  ~/.claude/projects/{slug(repo.proj)}/memory\n\n"
        'Write a memory:\n  foretold memory add "Topic" --type project -d "one line" -b "what to know"\n'
    )
    assert (done.returncode, errors(done), files(repo)) == (0, "", [])


def test_the_list(repo):
    run(repo, *TABS)
    write(repo, "plain.md", "First line.\nSecond.\n")
    done = run(repo)
    assert text(done) == (
        f"2 memories\nin ~/.claude/projects/{slug(repo.proj)}/memory\n\n"
        "  feedback  feedback_tabs  indent with tabs                                  new\n"
        "  ?         plain          First line.                                       new\n\n"
        "MEMORY.md: 1 of 200 lines, 45 of 25,000 characters; the agent sees all of it.\n"
    )
    assert (done.returncode, errors(done)) == (0, "")
    assert text(run(repo, "list", "--type", "feedback")).startswith("1 memory\n")


def test_the_list_fits_80_columns(repo):
    write(repo, "project_" + "very_long_name_" * 6 + ".md", note("a", "word " * 60))
    write(repo, "project_日本.md", note("b", "日本語の説明" * 20))
    lines = text(run(repo)).split("\n")
    rows = [line for line in lines if line.startswith("  project")]
    assert [width_of(row) for row in rows] == [80, 80]
    assert all("…" in row for row in rows)


def test_the_list_of_two_stores(repo):
    run(repo, *TABS)
    run(repo, "share", "tabs", "--yes")
    lines = text(run(repo)).split("\n")
    assert lines[0] == "2 memories, 1 of the team"
    assert lines[2] == "and .foretold/memory *"
    assert [line.split()[0] for line in lines if line.startswith("  ")] == ["feedback", "feedback*"]
    assert text(run(repo, "--team")).split("\n")[:2] == ["1 memory", "in .foretold/memory"]


@pytest.mark.parametrize(
    ("options", "env", "said"),
    [
        (["--agent", "codex"], {}, "codex does not load this index by itself"),
        (["--folder", "{root}/mine"], {}, "claude-code does not load this index by itself"),
        ([], {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}, "claude-code does not read its memories here: "),
    ],
)
def test_the_list_is_honest_about_who_reads_it(repo, options, env, said):
    options = [word.format(root=repo.root) for word in options]
    run(repo, *TABS, *options, env=env)
    shown = " ".join(text(run(repo, *options, env=env)).split())
    assert said in shown
    assert "the agent sees all" not in shown


def test_the_list_as_data(repo):
    run(repo, *TABS)
    found = data(run(repo, "--json"))
    assert set(found) == {*"schema project folder team policy memories index inbox findings".split()}
    assert (found["schema"], found["project"], found["folder"]) == ("foretold.memories/1", repo.proj, store(repo))
    assert [(each["file"], each["body"]) for each in found["memories"]] == [("feedback_tabs.md", "Use tabs.")]


def test_bad_settings_are_told(repo):
    repo.write("home/.config/foretold/config.toml", '[memory]\npolicy = "reado"\n')
    done = run(repo)
    assert "  error settings-invalid\n" in text(done)
    assert "it counts as 'confirm'" in text(done)
    assert done.returncode == 1


def test_show(repo):
    run(repo, *TABS)
    with open(f"{store(repo)}/feedback_tabs.md", "rb") as file:
        assert run(repo, "show", "tabs").stdout == file.read()
    assert data(run(repo, "show", "tabs", "--json"))["schema"] == "foretold.memory/1"
    index = "- [Tabs](feedback_tabs.md) — indent with tabs\n"
    assert {text(run(repo, "show", *words)) for words in ([], ["--index"], ["MEMORY.md"])} == {index}
    assert data(run(repo, "show", "--index", "--json"))["text"] == index.strip()


def test_show_of_no_index(repo):
    done = run(repo, "show")
    assert (text(done), errors(done)) == ("", "foretold: there is no MEMORY.md, or it is empty\n")


def test_log_and_diff(repo):
    run(repo, *TABS, "--why", "it was said")
    write(repo, "other.md", note("other"))
    run(repo, "edit", "tabs", "-b", "Use spaces.")
    shown = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", text(run(repo, "log")))
    assert shown == (
        "    3  TIME  you   edit     feedback_tabs.md\n"
        "    2  TIME  other create   other.md\n"
        "    1  TIME  you   create   feedback_tabs.md\n"
        + " " * 43 + "it was said\n\n"
        "other: a program that is not foretold; the time is when it was noticed\n"
    )  # fmt: skip
    assert len(text(run(repo, "log", "-n", "1")).split("\n")) == 2
    assert [each["number"] for each in data(run(repo, "log", "tabs", "--json"))["changes"]] == [3, 1]
    assert text(run(repo, "diff", "tabs")).endswith("-Use tabs.\n+Use spaces.\n")
    assert "+Use tabs." in text(run(repo, "diff", "--at", "1"))
    assert data(run(repo, "diff", "tabs", "--json"))["number"] == 3


def test_budget(repo):
    rows = "".join(f"- [M{number}](m{number}.md) — {'x' * 160}\n" for number in range(210))
    write(repo, "MEMORY.md", rows)
    write(repo, "new.md", note("new"))
    done = run(repo, "budget")
    lines = text(done).split("\n")
    assert lines[0].startswith("MEMORY.md: 210 of 200 lines, 3")
    assert "The agent does not see the last " in lines[0]
    assert sum(line.startswith("  not seen: M") for line in lines) == 10
    assert sum(line.startswith("  … and ") for line in lines) == 3
    assert "  no entry: new.md" in lines
    assert "To shorten it: foretold memory compact" in lines
    assert (done.returncode, data(run(repo, "budget", "--json"))["over"]) == (1, True)


# -- writing ---------------------------------------------------------------------------------------------------


def test_the_life_of_a_memory(repo):
    assert text(run(repo, *TABS)) == "written: feedback_tabs.md\n"
    assert text(run(repo, "edit", "tabs", "-d", "with tabs")) == "changed: feedback_tabs.md\n"
    assert text(run(repo, "edit", "tabs", "-d", "with tabs")) == "unchanged: feedback_tabs.md\n"
    assert text(run(repo, "rename", "tabs", "Indent")) == "renamed: feedback_indent.md\n"
    assert text(run(repo, "rm", "indent")) == (
        "deleted: feedback_indent.md\n  restore it: foretold memory restore feedback_indent.md\n"
    )
    assert files(repo) == ["MEMORY.md"]
    assert text(run(repo, "restore", "indent")) == "restored: feedback_indent.md\n"
    assert files(repo) == ["MEMORY.md", "feedback_indent.md"]


def test_texts_from_standard_input(repo):
    body = "Notes, é.\r\n\r\n- two\n"
    assert run(repo, "add", "Notes", "-t", "project", "-d", "d", given=body.encode()).returncode == 0
    assert data(run(repo, "show", "notes", "--json"))["body"] == body.strip()
    whole = note("notes", body="Other.").replace("\n", "\r\n").encode()
    assert run(repo, "edit", "notes", "--stdin", given=whole).returncode == 0
    assert run(repo, "show", "notes").stdout == whole


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        (["add", "New", "-t", "user", "-d", "d"], b"", "the memory has no text; nothing was written"),
        (["add", "New", "-t", "user", "-d", "d", "-b", "  "], b"", "the memory has no text; nothing was written"),
        (["add", "New", "-t", "user", "-d", "d"], b"\xff", "the text is not UTF-8 (byte 0); nothing was changed"),
        (["edit", "tabs", "--stdin"], b"", "there is no text; feedback_tabs.md was not changed"),
        (
            ["edit", "tabs"],
            b"",
            "$EDITOR is not set, or there is no terminal; give the text with -b, or on standard input (edit: --stdin)",
        ),
        (["edit", "tabs", "-b", "x", "--expect", "0" * 64], b"", "feedback_tabs.md was changed by another program"),
    ],
    ids=range(6),
)
def test_nothing_is_written_by_mistake(repo, words, given, said):
    run(repo, *TABS)
    before = run(repo, "show", "tabs").stdout
    done = run(repo, *words, given=given)
    assert (done.returncode, text(done)) == (3, "")
    assert said in errors(done)
    assert (run(repo, "show", "tabs").stdout, files(repo)) == (before, ["MEMORY.md", "feedback_tabs.md"])


def test_deleting_several_as_data(repo):
    run(repo, *TABS)
    run(repo, "add", "Two", "-t", "user", "-d", "d", "-b", "b")
    assert run(repo, "rm", "tabs", "nope").returncode == 2
    assert len(files(repo)) == 3
    found = data(run(repo, "rm", "tabs", "two", "tabs", "--json"))
    assert [(each["file"], each["op"]) for each in found["changes"]] == [
        ("feedback_tabs.md", "delete"),
        ("user_two.md", "delete"),
    ]


def test_an_entry_that_is_not_seen_is_told(repo):
    write(repo, "MEMORY.md", "line\n" * 200)
    assert text(run(repo, *TABS)) == (
        "written: feedback_tabs.md\n"
        "The agent does not see it: its entry is after the part of MEMORY.md that is loaded.\n"
        "Make room: foretold memory compact\n"
    )


def test_the_inbox(repo):
    repo.write("home/.config/foretold/config.toml", '[memory]\npolicy = "confirm"\n')
    assert text(run(repo, "inbox")) == "Nothing is waiting. The write policy is confirm.\n"
    proposed = [data(run(repo, *TABS, "--by", "agent", "--why", "a\x1b[31m", "--json"))["id"]]
    shown = text(run(repo, "add", "Two", "-t", "user", "-d", "d", "-b", "b", "--by", "agent"))
    proposed += re.findall(r"^proposed as (\w+): create user_two.md; ", shown)
    assert "2 proposed changes in the inbox: foretold memory inbox" in text(run(repo))
    shown = text(run(repo, "inbox"))
    assert "    +Use tabs.\n" in shown
    assert "a\\x1b[31m" in shown
    assert shown.endswith(f"To answer: foretold memory inbox accept {proposed[0]}   (or refuse; or all)\n")
    assert [each["id"] for each in data(run(repo, "inbox", "--json"))["proposals"]] == proposed
    assert text(run(repo, "inbox", "accept", proposed[0])) == "accepted: feedback_tabs.md\n"
    assert data(run(repo, "inbox", "refuse", proposed[1], "--json"))["file"] == "user_two.md"
    assert files(repo) == ["MEMORY.md", "feedback_tabs.md"]
    assert run(repo, "inbox", "accept", "nope").returncode == 2
    assert (run(repo, "inbox", "accept", "all").returncode, run(repo, "inbox", "accept").returncode) == (0, 2)


def test_a_proposal_that_cannot_be_made_stops_no_other(repo):
    repo.write("home/.config/foretold/config.toml", '[memory]\npolicy = "confirm"\n')
    run(repo, *TABS, "--by", "agent")
    run(repo, "add", "Two", "-t", "user", "-d", "d", "-b", "b", "--by", "agent")
    run(repo, *TABS[:-1], "Mine.")
    done = run(repo, "inbox", "accept", "all")
    assert (text(done), done.returncode) == ("accepted: user_two.md\n", 2)
    assert "still waits: feedback_tabs.md is there already" in errors(done)


def test_the_policy_forbids(repo):
    run(repo, *TABS)
    repo.write("proj/.foretold.toml", '[memory]\npolicy = "read-only"\n')
    for words in (TABS, ("edit", "tabs", "-b", "x"), ("rm", "tabs"), ("rename", "tabs", "x"), ("doctor", "--fix")):
        done = run(repo, *words)
        assert (done.returncode, errors(done)) == (3, "foretold: the write policy is read-only: nothing is written\n")


# -- sharing ---------------------------------------------------------------------------------------------------


def test_share_asks_first(repo):
    run(repo, *TABS)
    done = run(repo, "share", "tabs")
    assert (done.returncode, errors(done)) == (1, "Nothing was changed: add --yes to do it.\n")
    assert "    Use tabs.\n" in text(done)
    assert not os.path.exists(f"{repo.proj}/.foretold")
    planned = data(run(repo, "share", "tabs", "--json"))
    assert (planned["file"], planned["refusals"], planned["done"]) == ("feedback_tabs.md", [], False)
    assert not os.path.exists(f"{repo.proj}/.foretold")
    done = run(repo, "share", "tabs", "--yes")
    assert text(done).endswith("shared: feedback_tabs.md\n  for the others: git add .foretold/memory, and commit\n")
    run(repo, "edit", "tabs", "-b", "Use spaces.")
    again = text(run(repo, "share", "tabs"))
    assert "which Ada" in " ".join(again.split())
    assert "    -Use tabs.\n    +Use spaces.\n" in again


def test_share_refuses(repo):
    run(repo, "add", "Me", "-t", "user", "-d", "d", "-b", "b")
    refused = run(repo, "add", "Key", "-t", "project", "-d", "d", "-b", SECRET)
    assert (refused.returncode, "add --anyway" in errors(refused), SECRET in errors(refused)) == (3, True, False)
    run(repo, "add", "Key", "-t", "project", "-d", "d", "-b", SECRET, "--anyway")
    done = run(repo, "share", "me", "--yes")
    assert text(done) == (
        "user_me.md is not shared:\n  user_me.md  warning personal\n"
        "      a memory of type user is about a person, and stays private\n"
        "      → share it with --personal if you mean to\n"
    )
    done = run(repo, "share", "key", "--yes", "--personal")
    assert (done.returncode, "  error credential\n" in text(done), SECRET in text(done)) == (1, True, False)
    assert [each["code"] for each in data(run(repo, "share", "key", "--json"))["refusals"]] == ["credential"]
    assert not os.path.exists(f"{repo.proj}/.foretold")


def test_the_team_has_commands(repo):
    run(repo, *TABS)
    run(repo, "share", "tabs", "--yes")
    run(repo, "edit", "--team", "tabs", "-b", "Ours.")
    assert b"Ours." in run(repo, "show", "--team", "tabs").stdout
    assert b"Use tabs." in run(repo, "show", "tabs").stdout
    assert text(run(repo, "rm", "--team", "tabs")).endswith("restore --team feedback_tabs.md\n")
    assert text(run(repo, "restore", "--team", "tabs")) == "restored: feedback_tabs.md\n"
    assert len(data(run(repo, "log", "--team", "--json"))["changes"]) == 4
    done = run(repo, "list", "--team", cwd="home")
    assert (done.returncode, "there is no team folder here" in errors(done)) == (2, True)


# -- care ------------------------------------------------------------------------------------------------------


def test_compact_proposes(repo):
    run(repo, *TABS)
    index = "# Mine\n\n- [Gone](gone.md)\n- [Tabs](feedback_tabs.md) — " + "word " * 50 + "\n"
    write(repo, "MEMORY.md", index)
    done = run(repo, "compact")
    assert (done.returncode, errors(done)) == (1, "Nothing was changed: add --yes to do it.\n")
    assert "-- [Gone](gone.md)" in text(done)
    assert "4 lines, 304 characters now; 3 and 157 then." in text(done)
    assert run(repo, "compact", "--json").returncode == 0
    assert text(run(repo, "show", "MEMORY.md")).startswith("# Mine\n\n- [Gone]")
    assert text(run(repo, "compact", "--yes")).endswith("written. The old one: foretold memory restore MEMORY.md\n")
    assert text(run(repo, "compact")) == "MEMORY.md cannot be made shorter without changing what it says.\n"
    run(repo, "restore", "MEMORY.md")
    with open(f"{store(repo)}/MEMORY.md", encoding="utf-8") as file:
        assert file.read() == index


def test_compact_says_if_that_is_not_enough(repo):
    for number in range(202):
        write(repo, f"m{number}.md", "x")
    write(repo, "MEMORY.md", "".join(f"- [M](m{number}.md) — {'y ' * 90}\n" for number in range(202)))
    lines = text(run(repo, "compact")).split("\n")
    assert any(line.startswith("The agent would still not see ") for line in lines)


def test_the_doctor(repo):
    assert text(run(repo, "doctor")) == "0 memories, nothing is wrong.\n"
    run(repo, *TABS)
    assert text(run(repo, "doctor")) == "1 memory, nothing is wrong.\n"
    write(repo, "new.md", note("new"))
    done = run(repo, "doctor")
    assert text(done) == (
        f"1 finding in ~/.claude/projects/{slug(repo.proj)}/memory:\n  new.md  warning index-unlisted\n"
        "      the index has no entry for it, so the agent does not know of it\n"
        "      try: foretold memory doctor --fix\n"
    )
    assert done.returncode == 1
    assert [each["code"] for each in data(run(repo, "doctor", "--json"))["findings"]] == ["index-unlisted"]
    done = run(repo, "doctor", "--fix")
    assert "+- [New](new.md) — d\n" in text(done)
    assert (done.returncode, text(done).endswith("2 memories, nothing is wrong.\n")) == (0, True)


def test_relocate(repo):
    run(repo, *TABS)
    os.rename(repo.proj, repo.path("moved"))
    [finding] = data(run(repo, "doctor", "--json", cwd="moved"))["findings"]
    words = finding["hint"].split()[2:]
    assert (finding["code"], words) == ("memory-moved", ["relocate", repo.proj, repo.path("moved")])
    done = run(repo, *words, cwd="moved")
    assert (done.returncode, errors(done)) == (1, "Nothing was changed: add --yes to do it.\n")
    assert "\n  copy    feedback_tabs.md\n" in text(done)
    planned = data(run(repo, *words, "--json", cwd="moved"))
    assert (planned["done"], [each["what"] for each in planned["moves"]]) == (False, ["copy"])
    assert files(repo) == ["MEMORY.md", "feedback_tabs.md"]
    done = run(repo, *words, "--yes", cwd="moved")
    assert (done.returncode, "done. The archive of both: " in text(done)) == (0, True)
    assert (files(repo), sorted(os.listdir(store(repo, "moved")))) == (["MEMORY.md"], ["MEMORY.md", "feedback_tabs.md"])
    assert text(run(repo, "doctor", cwd="moved")) == "1 memory, nothing is wrong.\n"
    done = run(repo, *words, "--yes", cwd="moved")
    assert (done.returncode, "there are no memories to move" in errors(done)) == (2, True)


def test_export_and_import(repo):
    run(repo, *TABS)
    done = run(repo, "export", "out.json")
    assert (done.returncode, text(done), errors(done)) == (0, "", "written: out.json\n")
    assert os.stat(f"{repo.proj}/out.json").st_mode & 0o777 == 0o600
    done = run(repo, "export", "out.json")
    assert errors(done) == "foretold: cannot write out.json: File exists; give another name, or delete it first\n"
    exported = run(repo, "export", "-").stdout
    repo.folder("other")
    done = run(repo, "import", "-", given=exported, cwd="other")
    assert (done.returncode, text(done)) == (1, "  new      feedback_tabs.md\n")
    assert not os.path.exists(store(repo, "other"))
    planned = data(run(repo, "import", "../proj/out.json", "--json", cwd="other"))
    assert (planned["done"], planned["files"][0]["what"]) == (False, "new")
    done = run(repo, "import", "../proj/out.json", "--yes", cwd="other")
    assert (done.returncode, text(done)) == (0, "  new      feedback_tabs.md\ndone: 1 file\n")
    assert text(run(repo, "import", "../proj/out.json", cwd="other")).endswith("Everything is already here.\n")
    run(repo, "edit", "tabs", "-b", "x", cwd="other")
    done = run(repo, "import", "../proj/out.json", cwd="other")
    assert text(done).endswith("What differs stays as it is here, unless you add --replace.\n")
    run(repo, "import", "../proj/out.json", "--replace", "--yes", cwd="other")
    assert b"Use tabs." in run(repo, "show", "tabs", cwd="other").stdout


def test_export_leaves_credentials_out(repo):
    run(repo, *TABS[:-1], SECRET, "--anyway")
    done = run(repo, "export", "-")
    assert (done.returncode, SECRET in text(done) + errors(done), "credential" in errors(done)) == (1, False, True)


@pytest.mark.parametrize("given", [b"", b"{}", b"[]", b"\xff", b"null"])
def test_import_of_something_else(repo, given):
    done = run(repo, "import", "-", "--yes", given=given)
    assert (done.returncode, text(done)) == (3, "")


def test_import_of_hostile_names(repo):
    rows = [{"file": name, "text": "x"} for name in ("../../out.md", "a\x1b[31m.md", "good.md")]
    given = json.dumps({"schema": "foretold.export/1", "memories": rows}).encode()
    done = run(repo, "import", "-", "--yes", given=given)
    assert text(done) == (
        "  refused  ../../out.md: it leads out of the folder\n"
        "  refused  a\\x1b[31m.md: it has a character that is not safe everywhere\n"
        "  new      good.md\ndone: 1 file\n"
    )
    assert (done.returncode, files(repo)) == (1, ["MEMORY.md", "good.md"])


def test_prompt(repo):
    assert text(run(repo, "prompt")).startswith("# auto memory")
    assert data(run(repo, "prompt", "--json", "--wording", "short"))["text"]
    assert f"{repo.proj}/.foretold/memory" in text(run(repo, "prompt", "--team"))
    assert run(repo, "prompt", "--team", cwd="home").returncode == 2


# -- usage -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"]])
def test_help(place, words):
    done = run(place, *words)
    assert (done.returncode, errors(done)) == (0, "")
    assert [name for name in COMMANDS if f"\n  {name} " not in text(done)] == []
    assert max(map(len, text(done).split("\n"))) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(place, name):
    done = run(place, name, "--help")
    assert done.returncode == 0
    assert text(done).startswith(f"usage: foretold memory {name}")
    assert f"\nexamples:\n  foretold memory {name}" in text(done)
    assert max(map(len, text(done).split("\n"))) <= 80


def test_a_number_is_a_change(repo):
    """`memory log` lists changes by number, so people give it to `diff`; a memory of that name comes first."""
    run(repo, *TABS)
    run(repo, "edit", "feedback_tabs", "-b", "Use spaces.")
    by_number = run(repo, "diff", "2")
    assert (by_number.returncode, text(by_number)) == (0, text(run(repo, "diff", "--at", "2")))
    assert "+Use spaces." in text(by_number)
    run(repo, "add", "1", "-t", "user", "-d", "one", "-b", "A memory called 1.")
    assert "A memory called 1." in text(run(repo, "diff", "user_1"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lst"], "foretold memory: there is no command 'lst', did you mean 'list'?   try: foretold memory --help"),
        (["show", "tab"], "foretold: no memory is named 'tab'; see: foretold memory list"),
        (["show", "feedback_tab"], "did you mean 'feedback_tabs'?"),
        (["show", "../../../etc/passwd"], "no memory is named '../../../etc/passwd'"),
        (["rm"], "the following arguments are required: NAME"),
        (["rm", "nope"], "no memory is named 'nope'"),
        (["log", "nope"], "no memory is named 'nope'"),
        (["restore", "nope"], "the history has no earlier version of 'nope'; see: foretold memory log"),
        (["restore", "tabs", "--at", "99"], "the history has no change 99 of 'tabs'"),
        (["diff"], "give a memory, or the number of a change"),
        (["diff", "--at", "99"], "there is no such change; see: foretold memory log"),
        (["add", "!!!", "-t", "user", "-d", "d", "-b", "b"], "'!!!' has no letter or digit to make a name from"),
        (["add", "Tabs", "-t", "feedback", "-d", "d", "-b", "b"], "feedback_tabs.md is there already"),
        (["add", "X", "-t", "secret", "-d", "d"], "invalid choice: 'secret'"),
        (["add", "X"], "the following arguments are required: -t/--type, -d/--description"),
        (["rename", "tabs", "..."], "'...' has no letter or digit to make a name from"),
        (["list", "--frob"], "unrecognized arguments: --frob"),
        (["list", "--tpe", "user"], "unrecognized arguments: --tpe user; did you mean --type?"),
        (["diff", "99"], "there is no such change; see: foretold memory log"),
        (["tabs"], "there is no command 'tabs'   try: foretold memory --help, foretold memory show tabs"),
        (["-C", "/nowhere/at/all"], "/nowhere/at/all is not a folder; give a folder of the project"),
        (["--agent", "emacs"], "unknown agent 'emacs'"),
        (["relocate", "/nowhere/a", "/nowhere/b"], "there are no memories to move"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage(repo, words, said):
    run(repo, *TABS)
    done = run(repo, *words)
    assert (done.returncode, text(done)) == (2, "")
    assert said in errors(done).replace("\n", " ")


def test_a_real_process(repo):
    for words, code in (([*TABS], 0), ([], 0), (["doctor"], 0), (["show", "nope"], 2), (["frob"], 2)):
        done = repo.run("memory", *words)
        here = run(repo, *words) if words != [*TABS] else None
        assert done.returncode == code
        assert here is None or (done.stdout, done.stderr) == (here.stdout, here.stderr)


# -- terminals -------------------------------------------------------------------------------------------------


EVIL = "\x1b]0;owned\x07\x1b[31mred\r\x08\u202e"


def test_no_text_plays_tricks_on_a_terminal(repo):
    write(repo, "evil.md", note("evil", EVIL, body=EVIL))
    write(repo, "MEMORY.md", f"- [{EVIL}](gone.md) — {EVIL}\n")
    run(repo, *TABS, "--why", EVIL)
    for words in ([], ["log"], ["budget"], ["doctor"], ["show", "evil"], ["show"], ["compact"], ["diff", "evil"]):
        shown, _ = terminal(repo, *words, typed=b"n\n", env={"NO_COLOR": "1"})
        assert [char for char in shown if not (char.isprintable() or char in "\n")] == [], words
        shown = run(repo, *words[:2]).stdout.decode()
        if words[:1] not in (["show"], ["compact"], ["diff"]):  # those are for programs, too
            assert [char for char in shown if not (char.isprintable() or char == "\n")] == [], words


def test_colour(repo):
    run(repo, *TABS)
    assert "\x1b[1m1 memory\x1b[0m" in terminal(repo)[0]
    assert "\x1b" not in terminal(repo, env={"NO_COLOR": "1"})[0]
    assert b"\x1b" not in run(repo).stdout


@pytest.mark.parametrize(("typed", "shared"), [(b"y\n", True), (b"n\n", False), (b"\n", False), (b"\x04", False)])
def test_a_question_is_answered(repo, typed, shared):
    run(repo, *TABS)
    shown, code = terminal(repo, "share", "tabs", typed=typed)
    assert "Share it? [y/N] " in shown
    assert (code, os.path.exists(f"{repo.proj}/.foretold")) == (0 if shared else 1, shared)


def editor(place, script):
    """An editor that does what a Python script says with the file `path`."""
    path = place.write("bin/my editor.py", f"import os, sys\npath = sys.argv[-1]\n{script}\n")
    return {"EDITOR": f"'{sys.executable}' '{path}' --wait"}


def test_a_memory_is_written_in_an_editor(repo):
    env = editor(
        repo, "text = open(path).read().replace('**Why:** ', '**Why:** so.')\nopen(path, 'w').write('Do.' + text)"
    )
    shown, code = terminal(repo, "add", "Edited", "-t", "feedback", "-d", "d", env=env)
    assert (shown, code) == ("written: feedback_edited.md\n", 0)
    assert data(run(repo, "show", "edited", "--json"))["body"] == "Do.\n\n**Why:** so.\n\n**How to apply:**"


@pytest.mark.parametrize(
    ("script", "said", "code"),
    [
        ("", "unchanged: feedback_tabs.md\n", 0),
        ("sys.exit(3)", "ended with 3; feedback_tabs.md was not changed\n", 3),
        (
            "open(path, 'w')",
            "there is no text; feedback_tabs.md was not changed. To delete it: foretold memory rm\n",
            3,
        ),
    ],
)
def test_an_editor_that_changes_nothing(repo, script, said, code):
    run(repo, *TABS)
    before = run(repo, "show", "tabs").stdout
    shown, found = terminal(repo, "edit", "tabs", env=editor(repo, script))
    assert (flat(shown).endswith(flat(said)), found, run(repo, "show", "tabs").stdout) == (True, code, before)


def test_an_editor_that_is_not_there(repo):
    run(repo, *TABS)
    shown, code = terminal(repo, "edit", "tabs", env={"EDITOR": "/nowhere/vi"})
    assert (code, "cannot start the editor '/nowhere/vi'" in shown) == (3, True)
    shown, code = terminal(repo, "add", "X", "-t", "feedback", "-d", "d", env=editor(repo, ""))
    assert (code, "the memory has no text; nothing was written" in shown) == (3, True)


def test_what_was_written_in_an_editor_is_not_lost(repo):
    run(repo, *TABS)
    file = f"{store(repo)}/feedback_tabs.md"
    env = editor(repo, f"open({file!r}, 'a').write('theirs')\nopen(path, 'a').write('mine')")
    shown, code = terminal(repo, "edit", "tabs", env={**env, "TMPDIR": repo.folder("tmp")})
    kept = re.search(r"what you wrote is in (\S+)", flat(shown))[1]
    assert (code, "was changed by another program" in shown) == (3, True)
    with open(kept, encoding="utf-8") as text_kept, open(file, encoding="utf-8") as theirs:
        assert (text_kept.read().endswith("mine"), theirs.read().endswith("theirs")) == (True, True)


def test_a_broken_pipe(repo):
    for number in range(40):
        write(repo, f"m{number}.md", note(f"m{number}", body="x" * 4000))
    process = subprocess.Popen(
        [sys.executable, "-m", "foretold", "memory", "export", "-"],
        cwd=repo.proj,
        env=repo.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.read(10)
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait(30) == 3
