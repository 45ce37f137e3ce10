"""What a read attaches, as Claude Code 2.1.197 and 2.1.325 were asked: where files must be, and in which order."""

import json

import pytest

from foretold import Call

VERSIONS = ["claude-code@2.1.197", "claude-code@2.1.325"]
RULE = '---\npaths: ["ex/**", "sub/**"]\n---\nRULE\n'


@pytest.fixture
def outside(place):
    """A rule for two folders; the agent works in one of them."""
    place.git("init -q .")
    place.write("proj/.claude/rules/r.md", RULE)
    place.write("proj/ex/a.txt")
    place.write("proj/sub/b.txt")
    return place


def attach(place, path, agent, **options):
    return place.session("proj/sub", agent=agent, **options).read(path)


def texts(attachment):
    return [entry.text for entry in attachment.entries]


@pytest.mark.parametrize("agent", VERSIONS)
def test_a_read_outside_the_working_directory_attaches_nothing(outside, agent):
    attachment = attach(outside, "../ex/a.txt", agent)
    assert (attachment.entries, attachment.blocks) == ((), ())
    (skip,) = [skip for skip in attachment.skips if skip.reason == "touched-outside"]
    assert skip.path == outside.path("proj/.claude/rules/r.md")
    assert skip.detail == (
        f"{outside.proj}/ex/a.txt is outside the working directory and every added one "
        "(--add-dir, additionalDirectories)"
    )
    assert texts(attach(outside, "b.txt", agent)) == ["RULE\n"]


@pytest.mark.parametrize("agent", VERSIONS)
def test_an_added_directory_is_not_outside(outside, agent):
    given = {"permissions": {"additionalDirectories": ["../ex"]}}
    for options in (
        {"args": ["--add-dir", "../ex"]},
        {"args": ["--add-dir", outside.proj]},
        {"add_dirs": [outside.path("proj/ex")]},
        {"args": ["--settings", json.dumps(given)]},
        {"settings": given},
    ):
        assert texts(attach(outside, "../ex/a.txt", agent, **options)) == ["RULE\n"]
    assert texts(attach(outside, "../ex/a.txt", agent, args=["--add-dir", "../other"])) == []


@pytest.mark.parametrize("agent", VERSIONS)
@pytest.mark.parametrize(
    ("path", "trusted", "counts"),
    [
        ("home/.claude/settings.json", False, True),
        ("proj/sub/.claude/settings.local.json", False, True),
        ("proj/sub/.claude/settings.json", False, False),
        ("proj/sub/.claude/settings.json", True, True),
    ],
)
def test_directories_of_settings(outside, agent, path, trusted, counts):
    outside.write(path, json.dumps({"permissions": {"additionalDirectories": ["~/../proj/ex", 7]}}))
    if trusted:
        projects = {outside.proj: {"hasTrustDialogAccepted": True}}
        outside.write("home/.claude.json", json.dumps({"projects": projects}))
    assert bool(texts(attach(outside, "../ex/a.txt", agent))) == counts


@pytest.mark.parametrize("agent", VERSIONS)
def test_links_count_at_both_ends(outside, agent):
    outside.link("proj/sub/link", "../ex")
    outside.link("proj/ex/link", "../sub")
    for path in ("link/a.txt", "../ex/link/b.txt"):
        assert attach(outside, path, agent).entries == ()
    assert texts(attach(outside, "link/a.txt", agent, args=["--add-dir", "../ex"])) == ["RULE\n"]


@pytest.mark.parametrize("agent", VERSIONS)
def test_a_mention_outside_attaches_nothing(outside, agent):
    session = outside.session("proj/sub", agent=agent)
    assert session.prompt("see @../ex/a.txt").entries == ()


def found(attachment):
    return [finding.code for finding in attachment.findings if finding.code == "order-unspecified"]


def two_rules(place):
    for name in "ab":
        place.write(f"proj/.claude/rules/{name}.md", f'---\npaths: "{name}/**"\n---\n{name}\n')
        place.write(f"proj/{name}/f")
        place.write(f"proj/{name}/g")


@pytest.mark.parametrize("agent", VERSIONS)
def test_the_order_of_two_reads_in_one_turn_is_open(place, agent):
    two_rules(place)
    session = place.session(agent=agent)
    session.start()
    attachment = session.use([Call("Read", {"file_path": path}) for path in ("a/f", "b/f")])
    assert (texts(attachment), found(attachment)) == (["a\n", "b\n"], ["order-unspecified"])
    (finding,) = attachment.findings
    assert (finding.path, finding.message) == (
        place.path("proj/.claude/rules/a.md"),
        "2 calls of one turn attach files: the order depends on which of them ends first",
    )


def test_it_is_not_open_where_one_call_attaches(place):
    two_rules(place)
    session = place.session(agent=VERSIONS[1])
    session.start()
    for paths, count in ((("a/f", "a/g"), 1), (("a/f", "b/f"), 1), (("a/g", "b/g"), 0)):
        attachment = session.use([Call("Read", {"file_path": path}) for path in paths])
        assert (len(attachment.entries), found(attachment)) == (count, [])


def test_nor_in_turns_of_one_call_each(place):
    two_rules(place)
    session = place.session(agent=VERSIONS[1])
    assert [found(session.read(path)) for path in ("a/f", "b/f")] == [[], []]


def test_other_agents_give_each_result_its_own_file(place):
    for name in "ab":
        place.write(f"proj/{name}/AGENTS.md", name)
        place.write(f"proj/{name}/f")
    for agent, tool, key, races in (("opencode", "read", "filePath", 0), ("copilot-cli", "view", "path", 1)):
        session = place.session(agent=agent)
        attachment = session.use([Call(tool, {key: f"{name}/f"}) for name in "ab"])
        assert (len(attachment.blocks), len(found(attachment))) == (2, races)
