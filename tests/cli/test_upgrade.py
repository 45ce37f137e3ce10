"""`foretold upgrade`: what will be different here, which releases are meant, and nothing else."""

import os

import pytest

from foretold.dialects.claude_code.settings import slug
from foretold.dialects.registry import history_of

from ..sessions.talk import Talk
from .documents import read_document

NEWEST = history_of("claude-code").ends[1]


def text(done):
    return done.stdout.decode()


def upgrade(place, *words, **options):
    return place.run("upgrade", "--managed", place.managed, *words, **options)


def test_what_changes_here(place):
    place.write("proj/AGENTS.md", "Use tabs.\n")
    place.write("proj/api/AGENTS.md", "JSON.\n")
    done = upgrade(place, "--from", "2.1.280", "--to", "2.1.281", "--file", "api/x.py")
    assert (done.returncode, done.stderr) == (1, b"")
    head, _, rest = text(done).partition(" tokens in every session (+")
    assert head.split("\n")[0] == "Claude Code 2.1.280 → 2.1.281"
    assert rest.partition(")\n")[2].startswith(
        """\

2 files treated otherwise

  new        api/AGENTS.md
             not looked at → comes with a file in its folder, 2 tokens
  new        AGENTS.md
             not looked at → loaded at the start, 3 tokens

Reading api/x.py: 0 files, 0 tokens → 1 file, 2 tokens

  new        api/AGENTS.md

1 change with an effect here

2.1.281  AGENTS.md is loaded where there is no CLAUDE.md.
"""
    ), rest
    assert [line for line in text(done).split("\n") if len(line) > 80] == []


def test_where_nothing_changes(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    done = upgrade(place, "--from", "2.1.280", "--to", "2.1.281")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "\nNothing changes here.\n" in text(done)
    assert "foretold releases claude-code 2.1.280..2.1.281\n" in text(done)


def test_the_installed_release_is_the_first_and_the_newest_known_the_last(place):
    place.write("pkg/package.json", '{"version": "2.1.280"}')
    place.write("pkg/cli.js", "#!/bin/sh\n", mode=0o755)
    place.link("bin/claude", "../pkg/cli.js")
    lines = text(upgrade(place, env={"PATH": place.path("bin")})).split("\n")
    assert lines[:3] == [
        f"Claude Code 2.1.280 → {NEWEST}",
        "from 2.1.280, installed here",
        f"to {NEWEST}, the newest that is known",
    ]


def test_without_a_program_the_newest_session_says_which_release(place):
    Talk(cwd=place.proj, version="2.1.250").user("Hello").says("Hi.").write(place.home, slug(place.proj))
    lines = text(upgrade(place)).split("\n")
    assert lines[1] == "from 2.1.250, of the newest session on this machine: no program was found"


def test_without_either_it_asks(place):
    done = upgrade(place)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"name it: foretold upgrade --from VERSION" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--from", NEWEST), f"{NEWEST} is the newest release that is known, so there is nothing to compare."),
        (("--agent", f"claude-code@{NEWEST}"), f"{NEWEST} is the newest release that is known"),
        (("--from", "99.0.0"), f"99.0.0 is newer than {NEWEST}, the newest release that is known, and is assumed to"),
        (("--from", "2.1.200", "--to", "2.1.200"), "Both releases are 2.1.200, so there is nothing to compare."),
        (("--from", "2.1.300", "--to", "2.1.200"), "2.1.300 is newer than 2.1.200, so this is no upgrade."),
    ],
)
def test_where_there_is_nothing_to_compare(place, words, said):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    done = upgrade(place, *words)
    assert (done.returncode, done.stderr) == (0, b"")
    assert said in " ".join(text(done).split())
    document = read_document(text(upgrade(place, *words, "--json")))
    assert (document["changed"], document["files"], document["effects"]) == (False, [], [])
    assert document["note"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--agent", "cline", "--from", "1.0.0"), "one release of cline is known"),
        (("--from", "new"), "'new' is not a version"),
        (("--from", "2.1.250", "-C", "nowhere"), "is not a folder"),
        (("--from", "2.1.250", "extra"), "unrecognized arguments: extra"),
    ],
)
def test_wrong_questions(place, words, said):
    done = upgrade(place, *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode()


def test_as_data(place):
    place.write("proj/AGENTS.md", "Use tabs.\n")
    done = upgrade(place, "--from", "2.1.280", "--to", "2.1.281", "--file", "x.py", "--json")
    document = read_document(text(done))
    assert done.returncode == 1
    assert (document["agent"], document["cwd"], document["changed"], document["note"]) == (
        "claude-code",
        place.proj,
        True,
        "",
    )
    assert document["files"] == [
        {
            "kind": "new",
            "path": f"{place.proj}/AGENTS.md",
            "before": {"state": "", "order": 0, "tokens": 0, "lost": 0, "reason": ""},
            "after": {"state": "always", "order": 1, "tokens": 3, "lost": 0, "reason": ""},
            "lines": {"added": 0, "removed": 0},
        }
    ]
    assert (document["from"]["version"], document["from"]["chosen"], document["from"]["tokens"]) == (
        "2.1.280",
        "given",
        0,
    )
    assert [(each["path"], each["changed"]) for each in document["reads"]] == [("x.py", False)]


def test_names_of_files_cannot_command_a_terminal(place):
    place.write("proj/.claude/rules/\x1b]0;x\x07.md", "Rule.\n")
    done = upgrade(place, "--from", "2.0.60", "--to", "2.0.64", "--file", "\x1b[31m.py")
    assert done.returncode == 1
    assert b"\x1b" not in done.stdout
    assert "\\x1b]0;x\\x07.md" in text(done)


def test_nothing_is_written(place):
    place.write("proj/AGENTS.md", "Use tabs.\n")

    def listed():
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(place.root) for name in names)

    before = listed()
    upgrade(place, "--from", "1.0.0")
    assert listed() == before


def test_long_lists_are_cut_unless_all_is_asked_for(place):
    for number in range(25):
        place.write(f"proj/.claude/rules/r{number:02}.md", "Rule.\n")
    assert "\n  … and 5 more (--all)\n" in text(upgrade(place, "--from", "2.0.60", "--to", "2.0.64"))
    assert "(--all)" not in text(upgrade(place, "--from", "2.0.60", "--to", "2.0.64", "--all"))
