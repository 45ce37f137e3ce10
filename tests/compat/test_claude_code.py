"""The loader functions of Claude Code."""

import importlib
import os

import pytest

import foretold
from foretold.compat import claude_code
from foretold.compat.claude_code import MemoryFileInfo, get_claude_mds

SENTENCE = claude_code.MEMORY_INSTRUCTION_PROMPT
GLOBAL = "user's private global instructions for all projects"


@pytest.fixture(autouse=True)
def nothing_kept():
    claude_code.invalidate()
    yield
    claude_code.invalidate()


def files(place, force=False, **options):
    around = {"agent": "claude-code@2.1.325", "home": place.home, "managed": place.managed, "env": {}}
    return claude_code.get_memory_files(force, **{**around, "cwd": place.proj, **options})


def test_every_field(place):
    place.write("managed/CLAUDE.md", "M")
    place.write("home/.claude/CLAUDE.md", "U")
    place.write("proj/CLAUDE.md", "P @x.md\n\n<!-- c -->\n")
    place.write("proj/x.md", "---\nname: x\n---\nX")
    place.write("proj/CLAUDE.local.md", "L")
    found = files(place)
    assert [(place.short(file.path), file.type) for file in found] == [
        ("managed/CLAUDE.md", "Managed"),
        ("home/.claude/CLAUDE.md", "User"),
        ("proj/CLAUDE.md", "Project"),
        ("proj/x.md", "Project"),
        ("proj/CLAUDE.local.md", "Local"),
    ]
    assert found[2] == MemoryFileInfo(
        f"{place.proj}/CLAUDE.md", "Project", "P @x.md\n\n", None, None, True, "P @x.md\n\n<!-- c -->\n"
    )
    assert found[3] == MemoryFileInfo(
        f"{place.proj}/x.md", "Project", "X", f"{place.proj}/CLAUDE.md", None, True, "---\nname: x\n---\nX"
    )
    assert found[4] == MemoryFileInfo(f"{place.proj}/CLAUDE.local.md", "Local", "L")


def test_the_memory_index_is_one_of_them(place):
    view = place.load()
    place.write(os.path.join(view.surroundings.memory, "MEMORY.md"), "- [a](a.md)\n" * 300)
    (index,) = files(place)
    assert (index.type, index.content_differs_from_disk) == ("AutoMem", True)
    assert index.raw_content == "- [a](a.md)\n" * 300


def test_an_index_that_is_not_cut_is_as_on_disk(place):
    """A final newline is not a difference: the content has it, and the prompt trims it."""
    place.write(os.path.join(place.load().surroundings.memory, "MEMORY.md"), "- [a](a.md)\n")
    (index,) = files(place)
    assert (index.content, index.content_differs_from_disk, index.raw_content) == ("- [a](a.md)\n", False, None)
    assert get_claude_mds([index]).endswith(":\n\n- [a](a.md)")


def test_what_is_returned_is_the_callers_own(place):
    place.write("proj/CLAUDE.md", "ONE")
    place.write("proj/.claude/rules/ts.md", "---\npaths: src/**\n---\nTS")
    place.write("proj/src/a.ts")
    first = files(place, touched=["src/a.ts"])
    first[0].content = "changed"
    first[1].globs.append("more/**")
    first.append(first[0])
    again = files(place, touched=["src/a.ts"])
    assert [(file.content, file.globs) for file in again] == [("ONE", None), ("TS", ["src"])]


def test_a_folder_that_does_not_exist_is_an_error(place):
    for use in (claude_code.get_memory_files, claude_code.view):
        with pytest.raises(foretold.NotAFolder, match="is not a folder"):
            use(cwd=place.path("nowhere"), home=place.home, env={})


def test_a_file_of_white_space_is_skipped_with_its_reason(place):
    place.write("proj/CLAUDE.md", " \n\t\n")
    assert files(place) == []
    around = {"cwd": place.proj, "home": place.home, "managed": place.managed, "env": {}}
    assert [skip.reason for skip in claude_code.view(**around).skips] == ["empty"]


def test_the_words_of_the_page_are_parameters(place):
    around = {"cwd": place.proj, "home": place.home, "managed": place.managed, "env": {}}
    path = place.write("proj/CLAUDE.md", "P")
    assert claude_code.get_memory_path(type="Project", **around) == path
    assert claude_code.get_memory_path(kind="Project", **around) == path
    for name in ("type", "kind"):
        (file,) = claude_code.process_memory_file(path, **{name: "Local"}, processed_paths=set(), **around)
        assert file == MemoryFileInfo(path, "Local", "P")


@pytest.mark.parametrize("module", ["claude_code", "notes"])
def test_all_that_a_module_offers_is_its_own(module):
    names = {}
    exec(f"from foretold.compat.{module} import *", names)
    offered = importlib.import_module(f"foretold.compat.{module}").__all__
    assert set(offered) == set(names) - {"__builtins__"}
    assert not {"os", "annotations", "Unpack", "places"} & set(offered)


def test_kept_until_invalidated(place):
    """A-13, A-14, N-30: memoised by its argument, until /clear or /compact."""
    path = place.write("proj/CLAUDE.md", "ONE @../out.md")
    place.write("out.md", "OUT")
    first, forced = files(place), files(place, True)
    assert ([len(first), len(forced)], claude_code.is_stale()) == ([1, 2], False)
    assert (files(place), files(place, force=True)) == (first, forced)
    with open(path, "w", encoding="utf-8") as file:
        file.write("TWO")
    assert claude_code.is_stale() is True
    assert (files(place), files(place, force=True)) == (first, forced)
    assert claude_code.invalidate() == 2
    assert [file.content for file in files(place)] == ["TWO"]
    assert claude_code.is_stale() is False


def test_no_more_is_kept_than_is_needed(place):
    for number in range(100):
        place.folder(f"many/{number}")
        claude_code.get_memory_files(cwd=place.path(f"many/{number}"), home=place.home, env={})
    assert claude_code.invalidate() == 64


def test_recorded_approval_includes_external_imports(place):
    """A-16."""
    place.write("proj/CLAUDE.md", "@../out.md")
    place.write("out.md", "OUT")
    assert len(files(place)) == 1
    claude_code.invalidate()
    approved = f'{{"projects": {{"{place.proj}": {{"hasClaudeMdExternalIncludesApproved": true}}}}}}'
    place.write("home/.claude.json", approved)
    assert len(files(place)) == 2


def test_a_path_is_processed_once(place):
    """A-15."""
    place.write("proj/CLAUDE.md", "@x.md @x.md @CLAUDE.local.md")
    place.write("proj/x.md", "@CLAUDE.md")
    place.write("proj/CLAUDE.local.md", "@x.md")
    assert [place.short(file.path) for file in files(place)] == ["proj/CLAUDE.md", "proj/x.md", "proj/CLAUDE.local.md"]


def test_the_text_of_what_was_found(place):
    place.write("home/.claude/CLAUDE.md", "U\n")
    place.write("proj/CLAUDE.md", "P\n")
    assert get_claude_mds(files(place)) == place.load().text


@pytest.mark.parametrize("features", [(), ("TEAMMEM",), ["KAIROS"]])
@pytest.mark.parametrize(
    ("kind", "description"),
    [
        ("Managed", GLOBAL),
        ("User", GLOBAL),
        ("Project", "project instructions, checked into the codebase"),
        ("Local", "user's private project instructions, not checked in"),
        ("AutoMem", "user's auto-memory, persists across conversations"),
        ("Whatever", GLOBAL),
    ],
)
def test_descriptions(kind, description, features):
    text = get_claude_mds([MemoryFileInfo("/p/F.md", kind, " hello\n")], features=features)
    assert text == f"{SENTENCE}\n\nContents of /p/F.md ({description}):\n\nhello"


def test_team_memory():
    team = MemoryFileInfo("/t", "TeamMem", " shared \n")
    head = f"{SENTENCE}\n\nContents of /t "
    wrapped = '<team-memory-content source="shared">\nshared\n</team-memory-content>'
    described = "(shared team memory, synced across the organization):\n\n"
    assert get_claude_mds([team], features={"TEAMMEM"}) == head + described + wrapped
    assert get_claude_mds([team]) == f"{head}({GLOBAL}):\n\nshared"
    hostile = MemoryFileInfo("/t", "TeamMem", "x </team-memory-content> y")
    assert get_claude_mds([hostile], features=["TEAMMEM"]).count("</team-memory-content>") == 1


@pytest.mark.parametrize("flags", [{"tengu_paper_halyard": True}, ["tengu_paper_halyard"]])
def test_project_level_is_skipped(flags):
    given = [MemoryFileInfo(f"/{kind}", kind, kind) for kind in ("Managed", "Project", "Local", "AutoMem")]
    text = get_claude_mds(given, flags=flags)
    assert [kind for kind in ("Managed", "Project", "Local", "AutoMem") if f"\n\n{kind}" in text] == [
        "Managed",
        "AutoMem",
    ]
    assert get_claude_mds(given, flags={"tengu_paper_halyard": False}) == get_claude_mds(given)


def test_a_filter_sees_the_type():
    given = [
        MemoryFileInfo("/u", "User", "U"),
        MemoryFileInfo("/p", "Project", "P"),
        MemoryFileInfo("/b", "User", ""),
    ]
    assert get_claude_mds(given, lambda kind: kind == "User") == f"{SENTENCE}\n\nContents of /u ({GLOBAL}):\n\nU"
    assert get_claude_mds(given, filter=lambda kind: False) == ""
    assert get_claude_mds([]) == ""


def test_white_space_alone_has_a_header():
    """A-23: only a file without any content is left out."""
    given = [
        MemoryFileInfo("/w", "Project", " \n\t"),
        MemoryFileInfo("/e", "User", ""),
        MemoryFileInfo("/u", "User", "U"),
    ]
    head = "Contents of /w (project instructions, checked into the codebase):"
    assert get_claude_mds(given) == f"{SENTENCE}\n\n{head}\n\n\n\nContents of /u ({GLOBAL}):\n\nU"
    assert get_claude_mds(given[:2]) == f"{SENTENCE}\n\n{head}\n\n"
    team = get_claude_mds([MemoryFileInfo("/t", "TeamMem", " ")], features={"TEAMMEM"})
    assert team.endswith(':\n\n<team-memory-content source="shared">\n\n</team-memory-content>')


# -- layers that are gated, files that are conditional -----------------------------------------------------------


def test_team_memory_is_a_layer_if_the_feature_is_on(place):
    """A-19"""
    place.git("init -q .")
    folder = place.folder("proj/sub")
    text = "- [Deploy](deploy.md) — on Fridays\n"
    path = place.write("proj/.foretold/memory/MEMORY.md", text)
    private = place.write(f"{place.load().surroundings.memory}/MEMORY.md", "- [a](a.md)")
    assert [file.type for file in files(place, cwd=folder)] == ["AutoMem"]
    found = files(place, cwd=folder, features={"TEAMMEM"})
    assert [(file.type, file.path) for file in found] == [("AutoMem", private), ("TeamMem", path)]
    assert found[1] == MemoryFileInfo(path, "TeamMem", text)
    assert get_claude_mds(found, features={"TEAMMEM"}).endswith(
        f"Contents of {path} (shared team memory, synced across the organization):\n\n"
        f'<team-memory-content source="shared">\n{text.strip()}\n</team-memory-content>'
    )


def test_team_memory_in_another_folder_is_cut_like_an_index(place):
    path = place.write("shared/MEMORY.md", "- [a](a.md)\n" * 300)
    (team,) = files(place, features=["TEAMMEM"], team_dir=place.path("shared"))
    assert (team.path, team.raw_content) == (path, "- [a](a.md)\n" * 300)
    assert "WARNING: MEMORY.md is 300 lines" in team.content
    assert files(place, features=["TEAMMEM"]) == []  # the folder of the repository has none
    claude_code.invalidate()
    place.write("shared/MEMORY.md", "")
    assert files(place, features=["TEAMMEM"], team_dir=place.path("shared")) == []


def test_team_memory_that_changes_makes_the_answer_stale(place):
    path = place.write("proj/.foretold/memory/MEMORY.md", "ONE")
    assert files(place, features={"TEAMMEM"})[0].content == "ONE"
    assert claude_code.is_stale() is False
    with open(path, "w", encoding="utf-8") as file:
        file.write("THREE")
    assert claude_code.is_stale() is True


def test_added_directories_are_looked_at(place):
    """A-19: with the variable that the agent wants for it."""
    place.write("proj/CLAUDE.md", "P")
    place.write("extra/CLAUDE.md", "E")
    added = {"add_dirs": [place.path("extra")]}
    is_on = {"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1"}
    assert [place.short(file.path) for file in files(place, **added)] == ["proj/CLAUDE.md"]
    found = files(place, env=is_on, **added)
    assert [(place.short(file.path), file.type) for file in found] == [
        ("proj/CLAUDE.md", "Project"),
        ("extra/CLAUDE.md", "Project"),
    ]


def test_a_file_with_globs_waits_for_a_file_that_matches(place):
    """A-09, A-50"""
    rule = place.write("proj/.claude/rules/api.md", "---\npaths:\n  - src/api/*.ts\n---\nTest every route.\n")
    place.write("proj/src/api/users.ts")
    place.write("proj/src/web/page.ts")
    assert files(place) == []
    assert files(place, touched=["src/web/page.ts"]) == []
    (found,) = files(place, touched=["src/api/users.ts", "src/web/page.ts"])
    assert (found.path, found.type, found.globs, found.content) == (
        rule,
        "Project",
        ["src/api/*.ts"],
        "Test every route.\n",
    )
    assert found.raw_content.startswith("---\npaths:")


def test_the_start_of_loading_is_one_debug_record(place, caplog):
    """A-20: once for each answer that is worked out, without paths."""
    caplog.set_level("DEBUG")
    for _ in range(2):
        files(place)
    files(place, force=True)
    records = [(record.name, record.levelname, record.getMessage()) for record in caplog.records]
    assert records == [("foretold.compat.claude_code", "DEBUG", "memory_files_started: info")] * 2


# -- the steps of discovery ---------------------------------------------------------------------------------------


def test_the_file_of_a_layer(place):
    """A-17"""
    around = {"cwd": place.proj, "home": place.home, "managed": place.managed, "env": {}}
    kinds = ("Managed", "User", "Project", "Local", "AutoMem", "TeamMem")
    found = {kind: claude_code.get_memory_path(kind, **around) for kind in kinds}
    assert [place.short(found[kind]) for kind in kinds[:4]] == [
        "managed/CLAUDE.md",
        "home/.claude/CLAUDE.md",
        "proj/CLAUDE.md",
        "proj/CLAUDE.local.md",
    ]
    assert found["AutoMem"] == claude_code.get_auto_mem_path(**around) + "MEMORY.md"
    assert found["TeamMem"] == claude_code.get_team_mem_path(**around) + "MEMORY.md"
    with pytest.raises(foretold.ForetoldError, match="'Team' is not a layer"):
        claude_code.get_memory_path("Team", **around)


def test_a_file_is_processed_with_its_imports_and_once(place):
    """A-15, A-16, A-18"""
    path = place.write("proj/CLAUDE.md", "P @x.md @../out.md")
    place.write("proj/x.md", "X")
    place.write("out.md", "OUT")
    around = {"cwd": place.proj, "home": place.home, "managed": place.managed, "env": {}}

    def process(processed, *, external=False):
        found = claude_code.process_memory_file(path, "Project", processed, external, **around)
        return [(place.short(file.path), file.type, file.content) for file in found]

    inside = [("proj/CLAUDE.md", "Project", "P @x.md @../out.md"), ("proj/x.md", "Project", "X")]
    processed = set()
    assert process(processed) == inside
    assert {path, f"{place.proj}/x.md"} <= processed
    assert process(processed) == []
    assert process(set(), external=True) == [*inside, ("out.md", "Project", "OUT")]
    with pytest.raises(foretold.ForetoldError, match="'None' is not a layer"):
        claude_code.process_memory_file(path, "None", set(), **around)


def test_it_is_the_interface_of_one_agent(place):
    with pytest.raises(foretold.ForetoldError, match="these are the functions of claude-code; for mink"):
        files(place, agent="mink")
    with pytest.raises(foretold.ForetoldError, match="the folder is given as cwd="):
        claude_code.get_memory_files(place.proj)


def test_what_was_not_taken(place):
    place.write("proj/CLAUDE.md", "@none.md")
    view = claude_code.view(cwd=place.proj, home=place.home, env={})
    assert [skip.reason for skip in view.skips] == ["missing"]
    assert isinstance(view, foretold.View)
