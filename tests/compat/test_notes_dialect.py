"""The dialect `notes`: the layers of Claude Code, with `@include`."""

import json

import pytest


def test_the_order_of_the_layers(place):
    """The organisation, the user, the project with its rules, the private file; a folder nearer to cwd comes later."""
    place.write("managed/CLAUDE.md", "organisation")
    place.write("home/.claude/CLAUDE.md", "user")
    for folder in ("proj", "proj/web"):
        for name in ("CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/b.md", ".claude/rules/a.md", "CLAUDE.local.md"):
            place.write(f"{folder}/{name}", f"{folder} {name}")
    view = place.load("proj/web", agent="notes")
    assert place.told(view) == [
        "managed/CLAUDE.md",
        "home/.claude/CLAUDE.md",
        "proj/CLAUDE.md",
        "proj/.claude/CLAUDE.md",
        *[path for path in place.told(view) if path.startswith("proj/.claude/rules/")],
        "proj/CLAUDE.local.md",
        "proj/web/CLAUDE.md",
        "proj/web/.claude/CLAUDE.md",
        *[path for path in place.told(view) if path.startswith("proj/web/.claude/rules/")],
        "proj/web/CLAUDE.local.md",
    ]
    assert [entry.layer for entry in view.entries][:2] == ["managed", "user"]
    assert sum("/rules/" in path for path in place.told(view)) == 4


def test_include_brings_a_file(place):
    """After the file that names it, as an entry of its own, seen from the folder of that file; `@path` works too."""
    place.write("proj/CLAUDE.md", "Style: @include docs/style.md please.\n\n- @include ./more.md\n- @docs/plain.md\n")
    place.write("proj/docs/style.md", "Names are nouns. @include deeper.md\n")
    for name in ("docs/deeper.md", "more.md", "docs/plain.md"):
        place.write(f"proj/{name}", name)
    view = place.load(agent="notes")
    names = ["CLAUDE.md", "docs/style.md", "docs/deeper.md", "more.md", "docs/plain.md"]
    assert place.told(view) == [f"proj/{name}" for name in names]
    assert [entry.parent and place.short(entry.parent) for entry in view.entries] == [
        None,
        "proj/CLAUDE.md",
        "proj/docs/style.md",
        "proj/CLAUDE.md",
        "proj/CLAUDE.md",
    ]
    assert view.findings == ()
    assert view.entries[0].text == "Style: @include docs/style.md please.\n\n- @include ./more.md\n- @docs/plain.md\n"


def test_include_in_code_or_a_comment_is_named(place):
    place.write("proj/CLAUDE.md", "`@include a.md`\n\n```\n@include b.md\n```\n\n<!-- @include c.md -->\n")
    for name in "abc":
        place.write(f"proj/{name}.md", name)
    view = place.load(agent="notes")
    assert place.told(view) == ["proj/CLAUDE.md"]
    assert sorted(place.skipped(view)) == [("proj/a.md", "in-code"), ("proj/b.md", "in-code"), ("proj/c.md", "in-code")]
    assert "c.md" not in view.text


@pytest.mark.parametrize(
    ("text", "reason"),
    [("@include gone.md", "missing"), ("@include /etc/hostname", "outside-project"), ("@include x.pdf", "missing")],
)
def test_what_include_does_not_bring(place, text, reason):
    place.write("proj/CLAUDE.md", text)
    assert [skip.reason for skip in place.load(agent="notes").skips] == [reason]


def test_a_word_that_only_begins_like_it_is_not_the_directive(place):
    place.write("proj/CLAUDE.md", "@includes docs.md\n@include\nme@include x.md\n")
    place.write("proj/includes", "a file of that name")
    place.write("proj/x.md", "x")
    assert place.told(place.load(agent="notes")) == ["proj/CLAUDE.md", "proj/includes"]


@pytest.mark.parametrize("agent", ["claude-code@2.1.197", "claude-code@2.1.325"])
def test_the_recorded_agent_does_not_follow_it_and_a_finding_says_so(place, agent):
    place.write("proj/CLAUDE.md", "One\n@include docs/a.md\n")
    place.write("proj/docs/a.md", "A")
    assert place.told(place.load(agent=agent)) == ["proj/CLAUDE.md"]
    assert place.found(place.load(agent=agent)) == [("proj/CLAUDE.md", 2, "import-directive")]
    assert place.told(place.load(agent="notes")) == ["proj/CLAUDE.md", "proj/docs/a.md"]
    said = place.run("rule", "import-directive").stdout.decode()
    assert "--agent notes" in said


def test_the_command_shows_and_explains_it(place):
    place.write("proj/CLAUDE.md", "@include docs/a.md\n")
    place.write("proj/docs/a.md", "Names are nouns.")
    shown = place.run("show", "--agent", "notes")
    assert shown.stdout.decode() == place.load(agent="notes").text
    assert "Names are nouns." in shown.stdout.decode()
    said = json.loads(place.run("explain", "--agent", "notes", "--json").stdout)
    assert [place.short(entry["path"]) for entry in said["entries"]] == ["proj/CLAUDE.md", "proj/docs/a.md"]


def test_a_read_brings_the_file_of_its_folder_once(place):
    place.write("proj/CLAUDE.md", "top")
    place.write("proj/api/CLAUDE.md", "Handlers return JSON. @include rules.md")
    place.write("proj/api/rules.md", "No globals.")
    place.write("proj/api/users.py", "")
    session = place.session(agent="notes")
    session.start()
    assert place.told(session.read("api/users.py")) == ["proj/api/CLAUDE.md", "proj/api/rules.md"]
    assert place.told(session.read("api/users.py")) == []


@pytest.mark.parametrize(("name", "has_instructions"), [("Explore", False), ("Plan", False), ("reviewer", True)])
def test_agents_that_only_read_get_none(place, name, has_instructions):
    place.write("proj/CLAUDE.md", "Use tabs.")
    session = place.session(agent="notes")
    session.start()
    assert bool(session.subagent(name).view.entries) is has_instructions


def test_after_a_compaction_or_clear_the_files_are_read_again(place):
    path = place.write("proj/CLAUDE.md", "before")
    session = place.session(agent="notes")
    session.start()
    place.write("proj/CLAUDE.md", "after")
    assert session.view.entries[0].text == "before"
    session.compact()
    assert [entry.text for entry in session.view.entries if entry.path == path] == ["after"]
    place.write("proj/CLAUDE.md", "cleared")
    session.clear()
    assert session.view.entries[0].text == "cleared"
