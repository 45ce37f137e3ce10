"""What the doctor finds, and that looking changes nothing."""

import json
import os
import shutil

import pytest

import foretold
from foretold.dialects.claude_code.settings import slug
from foretold.memory.doctor import find_problems, project_of_folder

GOOD = "---\nname: {name}\ndescription: d\nmetadata:\n  type: project\n---\n{body}\n"
SECRET = "gh" + "p_" + "a1B2" * 9


def opened(place, cwd="proj", **options):
    given = {"home": place.home, "managed": place.managed, "env": {}, **options}
    return foretold.memory.open(place.path(cwd), **given)


@pytest.fixture
def memories(place):
    place.git("init -q")
    found = opened(place)
    found.create("Good", type="project", description="d", body="good")
    return found


def put(memories, file, text):
    path = f"{memories.place.store}/{file}"
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    with open(path, "wb") as out:
        out.write(text if isinstance(text, bytes) else text.encode())
    return path


def found(memories):
    return [(each.path, each.line, each.code) for each in find_problems(memories)]


def transcript(place, project, cwd=None):
    """A transcript of the agent, as its folder of projects has it."""
    folder = f"{place.home}/.claude/projects/{slug(place.path(project))}"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/s.jsonl", "w", encoding="utf-8") as file:
        file.write('not json\n{"type": "summary"}\n' + json.dumps({"cwd": place.path(cwd or project)}) + "\n")
    return folder


def test_nothing_is_wrong_with_nothing(place):
    assert find_problems(opened(place)) == []
    assert os.listdir(place.home) == []


def test_nothing_is_wrong(memories):
    assert find_problems(memories) == []


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("plain.md", "just text\n", [("plain.md", 1, "memory-plain")]),
        ("a.md", "---\nname: a\n---\nx\n", [("a.md", None, "memory-type")]),
        ("a.md", "---\nname: a\ntype: secret\n---\nx\n", [("a.md", None, "memory-type")]),
        ("a.md", GOOD.format(name="a", body=f"x\n{SECRET}"), [("a.md", 8, "credential")]),
        ("a.md", GOOD.format(name="a", body="x\u200by"), [("a.md", 7, "hidden-character")]),
        ("a.md", GOOD.format(name="a", body="caf\u00e9").encode("latin-1"), [("a.md", None, "not-utf8")]),
        ("a.md", "---\nname: [a\n---\nx\n", [("a.md", 2, "frontmatter-invalid"), ("a.md", None, "memory-type")]),
        ("b.md", GOOD.format(name="b", body="good"), [("b.md", None, "memory-twice")]),
        ("b.md", GOOD.format(name="good", body="other"), [("b.md", None, "memory-twice")]),
        ("a (1).md", GOOD.format(name="a", body="x"), [("a (1).md", None, "memory-copy")]),
        (
            "a (conflicted copy 2026).md",
            GOOD.format(name="a", body="x"),
            [("a (conflicted copy 2026).md", None, "memory-copy")],
        ),
        (
            "a.sync-conflict-20260101.md",
            GOOD.format(name="a", body="x"),
            [("a.sync-conflict-20260101.md", None, "memory-copy")],
        ),
        ("a copy.md", GOOD.format(name="a", body="x"), [("a copy.md", None, "memory-copy")]),
        ("auto/a.md", GOOD.format(name="a", body="x"), []),
        ("photocopy.md", GOOD.format(name="a", body="x"), []),
        ("conflict_rules.md", GOOD.format(name="a", body="x"), []),
    ],
    ids=lambda value: None,
)
def test_files(memories, file, text, expected):
    put(memories, file, text)
    memories.own.reindex()
    assert found(memories) == expected
    assert SECRET not in repr(find_problems(memories))


def test_files_that_cannot_be_read(memories, place):
    store = memories.place.store
    os.symlink(place.write("out.md"), f"{store}/link.md")
    put(memories, "large.md", b"x" * (4 * 1024 * 1024 + 1))
    put(memories, "a/b/c/d/e/f/g/h/deep.md", "x")
    assert sorted(found(memories)) == [
        ("a/b/c/d/e/f/g/h", None, "memory-too-deep"),
        ("large.md", None, "memory-too-large"),
        ("link.md", None, "memory-link"),
    ]


def test_a_folder_that_others_may_write_to(memories):
    os.chmod(memories.place.store, 0o777)
    [finding] = find_problems(memories)
    assert (finding.code, finding.hint) == ("memory-open", f"chmod 700 {memories.place.store}")


def test_the_index(memories):
    put(memories, "MEMORY.md", "- [Gone](gone.md) — was\n")
    assert found(memories) == [("MEMORY.md", 1, "index-dangling"), ("project_good.md", None, "index-unlisted")]
    put(memories, "MEMORY.md", "- [Good](project_good.md)\n" + "line\n" * 200)
    assert found(memories) == [("MEMORY.md", 201, "index-cut")]
    os.unlink(f"{memories.place.store}/MEMORY.md")
    os.symlink("project_good.md", f"{memories.place.store}/MEMORY.md")
    assert found(memories) == [("MEMORY.md", None, "memory-link"), ("MEMORY.md", None, "unreadable")]


def test_a_damaged_history(memories):
    with open(f"{memories.own.state}/log.jsonl", "a", encoding="utf-8") as file:
        file.write('{"torn": ')
    assert [code for _, _, code in found(memories)] == ["history-damaged"]


def test_settings_and_switches(place):
    place.write("home/.config/foretold/config.toml", "[memory]\nx = 1\n")
    memories = opened(place, env={"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"})
    assert [code for _, _, code in found(memories)] == ["settings-invalid", "memory-off"]


def test_findings_of_the_team_say_where(memories, place):
    path = place.write("proj/.foretold/memory/plain.md", "text")
    assert found(memories) == [(os.path.dirname(path), None, "team-not-accepted"), (path, 1, "memory-plain")]


def test_a_repository_that_was_moved(memories, place):
    os.rename(place.proj, place.path("my new"))
    [finding] = find_problems(opened(place, "my new"))
    assert (finding.path, finding.code) == (memories.place.store, "memory-moved")
    assert finding.hint == f"foretold memory relocate {place.proj} '{place.path('my new')}'"
    transcript(place, "proj")
    assert [each.code for each in find_problems(opened(place, "my new"))] == ["memory-moved"]


def test_a_clone_of_one_that_is_gone(memories, place):
    place.git("remote add origin https://example.org/app.git")
    memories.create("More", type="project", description="d", body="more")
    shutil.rmtree(place.proj)
    place.folder("again")
    place.git("init -q", "again")
    assert find_problems(opened(place, "again")) == []
    place.git("remote add origin https://example.org/app.git", "again")
    assert [each.code for each in find_problems(opened(place, "again"))] == ["memory-moved"]


def test_another_repository_is_none_of_ours(memories, place):
    place.folder("other")
    place.git("init -q", "other")
    assert find_problems(opened(place, "other")) == []


def test_orphans_and_splits(memories, place):
    place.write("proj/a", "a")
    place.git("add -A")
    place.git("commit -qm a")
    place.git("worktree add -q ../tree")
    for project in ("gone", "tree", "other/app"):
        os.makedirs(f"{transcript(place, project)}/memory")
        name = slug(place.path(project))
        place.write(f"home/.claude/projects/{name}/memory/x.md", "x")
    place.folder("other/app")
    place.write("home/.claude/projects/-no-transcript/memory/x.md", "x")
    base = f"{place.home}/.claude/projects"
    assert [(each.path, each.code) for each in find_problems(memories)] == [
        (f"{base}/{slug(place.path('gone'))}/memory", "memory-orphan"),
        (f"{base}/{slug(place.path('tree'))}/memory", "memory-split"),
    ]


def test_the_project_of_a_folder(place):
    assert project_of_folder(transcript(place, "a.b")) == place.path("a.b")
    assert project_of_folder(transcript(place, "a-b", cwd="a-b/deep/er")) == place.path("a-b")
    assert project_of_folder(transcript(place, "x", cwd="y")) == ""
    assert project_of_folder(place.path("nowhere")) == ""


def test_looking_changes_no_file(memories, place):
    put(memories, "plain.md", "x")
    put(memories, "MEMORY.md", "- [Gone](gone.md)\n")

    def everything():
        return sorted(
            (path, os.lstat(path).st_mtime_ns)
            for folder, folders, names in os.walk(memories.place.store)
            for path in (os.path.join(folder, name) for name in (*folders, *names))
        )

    before = everything()
    find_problems(memories)
    assert everything() == before
