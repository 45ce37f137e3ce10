"""What the agent does about its memory folder, beyond the recorded cases."""

import os

import pytest

from foretold.dialects.registry import make_request
from foretold.memory.format.agent import (
    MemoryProject,
    Switch,
    age_note,
    note_days,
    project_of,
    style_of,
    switch,
    writes_without_asking,
)

NOTE = (
    "<system-reminder>This memory is 5 days old. Memories are point-in-time observations, not live state — claims about"
    " code behavior or file:line citations may be outdated. Verify against current code before asserting as"
    " fact.</system-reminder>\n"
)
DAY = 86_400


@pytest.mark.parametrize(
    ("days", "note"),
    [(5.5, NOTE), (2, NOTE.replace("5", "2")), (1.99, ""), (0, ""), (-3, ""), (365.5, NOTE.replace("5", "365"))],
)
def test_the_note_about_age(days, note):
    assert age_note(1_000_000.0, 1_000_000.0 + days * DAY) == note


# What 2.1.197 and 2.1.325 answered, in the default permission mode


@pytest.mark.parametrize(
    "name",
    [
        *(
            "x.md",
            "sub/x.md",
            "sub/../y.md",
            ".md",
            ".hidden.md",
            "MEMORY.md",
            "CLAUDE.md",
            "a b.md",
            "日.md",
            "./d.md",
        ),
        *("//d.md", ".git.md", ".claude.md", ".ssh/x.md", ".github/x.md", ".gitx/x.md", "a..md", "x~1.md", "t.md "),
    ],
)
def test_writes_that_need_no_approval(name):
    assert writes_without_asking(f"/m/memory/{name}", "/m/memory")


@pytest.mark.parametrize(
    "name",
    [
        *("x.txt", "X.MD", "x.Md", "../x.md", "a/../../z.md", "x.sh", "x.json", "noext", "x.md.txt", "x.mdx", ""),
        *("x.markdown", ".claude/x.md", ".git/x.md", "sub/.git/hooks/x.md", ".GIT/x.md", "a/.vscode/b/x.md"),
        *(
            "node_modules/x.md",
            ".husky/x.md",
            ".idea/x.md",
            ".cargo/x.md",
            ".yarn/x.md",
            ".mvn/x.md",
            "../memory2/x.md",
        ),
    ],
)
def test_writes_that_do(name):
    assert not writes_without_asking(f"/m/memory/{name}", "/m/memory")


def test_links_that_lead_out_need_approval(place):
    folder = place.folder("memory")
    place.folder("elsewhere")
    place.folder("memory/inner")
    os.symlink(place.path("elsewhere"), place.path("memory/out"))
    os.symlink(place.path("memory/inner"), place.path("memory/in"))
    os.symlink(folder, place.path("link"))
    assert not writes_without_asking(place.path("memory/out/x.md"), folder)
    assert writes_without_asking(place.path("memory/in/x.md"), folder)
    assert not writes_without_asking(place.path("link/x.md"), folder)
    assert writes_without_asking(place.path("link/x.md"), place.path("link"))


def ask(place, **more):
    around = {"home": place.folder("home"), "managed": place.root, "env": {}, **more}
    return switch(make_request(place.folder("proj"), **around)[1])


def test_memory_is_on(place):
    found = ask(place)
    assert found == Switch(enabled=True, directory=found.directory, reason="")
    assert found.directory.startswith(place.path("home/.claude/projects/"))
    assert found.directory.endswith("-proj/memory/")


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["--system-prompt", "X"], "--system-prompt"),
        (["--system-prompt=X"], "--system-prompt"),
        (["--system-prompt", ""], "--system-prompt"),
        (["--system-prompt-file", "x"], "--system-prompt-file"),
        (["--append-system-prompt", "Y", "--system-prompt", "X"], "--system-prompt"),
    ],
)
def test_a_system_prompt_of_ones_own_says_nothing_of_memory(place, args, reason):
    assert ask(place, args=args) == Switch(enabled=True, directory=None, reason=reason)


def test_a_system_prompt_that_is_added_does_not_matter(place):
    assert ask(place, args=["--append-system-prompt", "Y"]).directory


def test_memory_stays_on_without_instruction_files(place):
    assert ask(place, env={"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1"}).directory


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"args": ["--bare"]}, "--bare"),
        ({"settings": {"autoMemoryEnabled": False}}, "autoMemoryEnabled in --settings"),
        ({"env": {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "true"}}, "CLAUDE_CODE_DISABLE_AUTO_MEMORY"),
    ],
)
def test_memory_is_off(place, more, reason):
    assert ask(place, **more) == Switch(enabled=False, directory=None, reason=reason)


def test_a_folder_without_a_repository_is_its_own_project(place):
    folder = place.folder("a/b")
    os.symlink(folder, place.path("link"))
    assert project_of(place.path("link")) == MemoryProject(folder, folder)


def test_project_of():
    assert project_of("/") == MemoryProject(memory="/", transcript="/")


def test_style_of():
    assert (style_of("claude-code@2.1.197").gap, style_of("claude-code@2.1.325").gap) == (" ", "")


def test_note_days():
    assert (note_days(1.99), note_days(2.01), note_days(365.5), note_days(-3)) == (None, 2, 365, None)


def test_age_note():
    assert (age_note(0, 86_400 * 3)[:49], age_note(0, 86_400)) == (
        "<system-reminder>This memory is 3 days old. Memor",
        "",
    )
