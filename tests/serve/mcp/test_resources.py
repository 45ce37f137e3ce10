"""Resources of `foretold mcp`: what is listed, and what an address gives."""

import os
import subprocess

import pytest

from foretold.errors import BadArgument, ForetoldError
from foretold.memory.location import give_consent
from foretold.serve.mcp.resources import PAGE, PART, listed, read

from .client import stage_of


@pytest.fixture
def stage(tmp_path):
    return stage_of(tmp_path)


def walk(context):
    found, cursor = [], ""
    while True:
        page, cursor = listed(context, cursor)
        assert len(page) <= PAGE
        found += page
        if not cursor:
            return found


def note(folder, name, body="Text.\n"):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(f"---\nname: {name[:-3]}\ndescription: about it\n---\n{body}")


def test_memories_and_views_are_listed(stage):
    assert [(each.uri, each.title) for each in walk(stage.here)] == [
        ("foretold://told/claude-code", "What claude-code is told"),
        ("foretold://memory/project_deploys.md", "Deploys"),
        ("foretold://memory/project_pools.md", "Pools"),
        ("foretold://memory/user_role.md", "Role"),
    ]


def test_the_teams_are_listed_too(stage):
    subprocess.run(["git", "init", "-q", stage.project], check=True, env=stage.env)
    note(os.path.join(stage.project, ".foretold", "memory"), "project_team.md", "Ours.\n")
    assert walk(stage.here)[-1].uri == "foretold://memory/user_role.md"
    with pytest.raises(BadArgument, match="the user has not accepted it"):
        read(stage.here, "foretold://team/project_team.md")
    place = stage.here.all_memories().place
    give_consent(place.consent, place.root)
    assert walk(stage.here)[-1].uri == "foretold://team/project_team.md"
    assert read(stage.here, "foretold://team/project_team.md")[0].text.endswith("Ours.\n")


def test_a_long_list_is_walked_once(stage):
    for number in range(320):
        note(stage.memories().place.store, f"project_note{number:03}.md")
    addresses = [each.uri for each in walk(stage.here)]
    assert len(addresses) == len(set(addresses)) == 324


def test_a_list_goes_on_where_its_last_entry_is_gone(stage):
    for number in range(150):
        note(stage.memories().place.store, f"project_note{number:03}.md")
    first, cursor = listed(stage.here)
    os.unlink(os.path.join(stage.memories().place.store, first[-1].uri.rpartition("/")[2]))
    second, _ = listed(stage.here, cursor)
    assert first[-1].uri < second[0].uri
    assert len(first) + len(second) == 154


def test_every_listed_address_can_be_read(stage):
    note(stage.memories().place.store, "a b%20ü#?.md")
    note(os.path.join(stage.memories().place.store, "deep"), "er.md")
    assert [part.uri for each in walk(stage.here) for part in read(stage.here, each.uri)] == [
        each.uri for each in walk(stage.here)
    ]


def test_a_view_is_the_exact_text(stage):
    import foretold

    view = foretold.load(stage.project, agent="claude-code@2.1.197", home=stage.home, env=stage.env)
    assert "".join(part.text for part in read(stage.here, "foretold://told/claude-code@2.1.197")) == view.text
    assert read(stage.here, "foretold://told/aider")[0].text == "aider is told nothing here."


def test_a_long_memory_comes_in_parts(stage):
    body = "größer \0 \x1b\n" * 30_000
    note(stage.memories().place.store, "project_long.md", body)
    uri, parts = "foretold://memory/project_long.md", []
    while uri:
        found = read(stage.here, uri)
        parts.append(found[0].text)
        assert len(found[0].text.encode()) <= PART
        uri = found[1].uri if found[1:] else ""
    assert "".join(parts) == stage.memories().get("project_long").text
    assert len(parts) > 8


@pytest.mark.parametrize(
    "uri",
    [
        *(
            "",
            "x",
            "foretold://",
            "foretold://memory",
            "foretold://memory/",
            "foretold://other/x.md",
            "file:///etc/passwd",
        ),
        *("foretold://memory/../../../etc/passwd", "foretold://memory/%2e%2e/x.md", "foretold://memory//etc/passwd"),
        *("foretold://memory/x%00.md", "foretold://memory/nothing.md", "foretold://memory/user_role.md?from=-1"),
        *("foretold://memory/user_role.md?from=x", "foretold://memory/user_role.md?other=1", "foretold://told/nobody"),
        *(
            "foretold://team/x.md",
            "foretold://memory/MEMORY",
            "foretold://memory/" + "a" * 5_000,
            "foretold://told/" + "a" * 5_000,
        ),
    ],
)
def test_other_addresses_are_refused(stage, uri):
    with pytest.raises(ForetoldError):
        read(stage.here, uri)


def test_a_cursor_of_something_else_is_refused(stage):
    from foretold.serve.mcp.paging import cursor_of

    for cursor in ("x", cursor_of("recall", {}, [1]), cursor_of("resources", {}, ["nowhere", "x"])):
        with pytest.raises(BadArgument):
            listed(stage.here, cursor)
