"""The memory prompt under the names of Claude Code: which one, where, and what it is given."""

import os
import stat

import pytest

from foretold.compat import claude_code
from foretold.errors import ForetoldError
from foretold.memory.prompt.prompt import memory_prompt

KAIROS = {"features": {"KAIROS"}, "kairos_active": True}
TEAM = {"features": {"TEAMMEM"}, "team_memory_enabled": True}


def around(place, env=None, **options):
    return {"cwd": place.proj, "home": place.home, "managed": place.managed, "env": env or {}, **options}


def memory_of(place, folder="proj"):
    slug = "".join(char if char.isalnum() else "-" for char in place.path(folder))
    return f"{place.home}/.claude/projects/{slug}/memory/"


def team_of(place):
    return place.proj + "/.foretold/memory"


# -- whether and where ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "settings", "args", "is_on"),
    [
        ({}, {}, (), True),
        ({"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}, {}, (), False),
        ({}, {"autoMemoryEnabled": False}, (), False),
        ({"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "0"}, {"autoMemoryEnabled": False}, (), True),
        ({}, {}, ("--bare",), False),
        ({"CLAUDE_CODE_SIMPLE": "1"}, {}, (), False),
    ],
)
def test_the_gate(place, env, settings, args, is_on):
    """A-34"""
    given = around(place, env, settings=settings, args=args)
    assert claude_code.is_auto_memory_enabled(**given) is is_on
    assert (claude_code.load_memory_prompt(**given) is not None) is is_on
    # where memory is does not depend on whether it is used
    assert claude_code.get_auto_mem_path(**given) == memory_of(place)


def test_the_directories(place):
    """A-43, N-02"""
    assert claude_code.get_auto_mem_path(**around(place)) == memory_of(place)
    assert claude_code.get_team_mem_path(**around(place)) == team_of(place) + "/"
    moved = around(place, settings={"autoMemoryDirectory": "~/notes"})
    assert claude_code.get_auto_mem_path(**moved) == f"{place.home}/notes/"
    elsewhere = around(place, {"CLAUDE_CONFIG_DIR": place.path("conf")})
    assert claude_code.get_auto_mem_path(**elsewhere).startswith(place.path("conf/projects/"))
    place.folder("proj/sub")
    place.git("init -q .")
    assert claude_code.get_auto_mem_path(**around(place, cwd=place.path("proj/sub"))) == memory_of(place)


def test_other_agents_have_other_functions(place):
    with pytest.raises(ForetoldError, match="these are the functions of claude-code; for codex"):
        claude_code.get_auto_mem_path(agent="codex", **around(place))


def test_the_directory_is_made_for_its_owner_alone(place):
    """A-41, N-12"""
    claude_code.load_memory_prompt(**around(place))
    for folder in (memory_of(place), place.path("home/.claude/projects")):
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert claude_code.ensure_memory_dir_exists(memory_of(place)) is True


def test_what_prevents_a_directory_prevents_no_prompt(place):
    folder = memory_of(place)
    expected = claude_code.load_memory_prompt(**around(place))
    os.rmdir(folder)
    place.write(folder.rstrip("/"), "a file")
    assert claude_code.load_memory_prompt(**around(place)) == expected
    assert claude_code.ensure_memory_dir_exists(folder + "below") is False
    assert claude_code.ensure_memory_dir_exists("/nul\0") is False
    assert claude_code.ensure_memory_dir_exists("/proc/none/of/this") is False


def test_a_tree_of_the_caller_is_only_read(place):
    from foretold.storage.tree import Disk

    assert claude_code.load_memory_prompt(**around(place, tree=Disk())) is not None
    assert not os.path.exists(memory_of(place))


# -- which prompt --------------------------------------------------------------------------------------------


def test_private_memory(place):
    """A-33, A-39"""
    assert claude_code.load_memory_prompt(**around(place)) == memory_prompt(memory_of(place))
    short = claude_code.load_memory_prompt(wording="short", **around(place))
    assert short == memory_prompt(memory_of(place), wording="short")


def test_the_daily_log_comes_first(place):
    """A-36, A-40"""
    both = {**KAIROS, **TEAM, "features": {"KAIROS", "TEAMMEM"}}
    log = memory_prompt(memory_of(place), daily_log=True)
    assert claude_code.load_memory_prompt(**both, **around(place)) == log
    for asleep in ({"features": {"KAIROS"}}, {"kairos_active": True}):
        assert claude_code.load_memory_prompt(**asleep, **around(place)) == memory_prompt(memory_of(place))


def test_the_combined_prompt(place):
    """A-38: both directories are made; private memory may be off."""
    combined = memory_prompt(memory_of(place), team=team_of(place))
    assert claude_code.load_memory_prompt(**TEAM, **around(place)) == combined
    assert os.path.isdir(team_of(place))
    off = around(place, {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"})
    assert claude_code.load_memory_prompt(**TEAM, **off) == combined
    assert claude_code.load_memory_prompt(**KAIROS, **off) is None
    for asleep in ({"features": {"TEAMMEM"}}, {"team_memory_enabled": True}):
        assert claude_code.load_memory_prompt(**asleep, **around(place)) == memory_prompt(memory_of(place))


def test_another_directory_for_the_team(place):
    text = claude_code.load_memory_prompt(**TEAM, team_dir=place.path("shared"), **around(place))
    assert text == memory_prompt(memory_of(place), team=place.path("shared"))
    assert os.path.isdir(place.path("shared"))


@pytest.mark.parametrize("flags", [{"tengu_moth_copse": True}, ["tengu_moth_copse"]])
def test_the_index_is_skipped(place, flags):
    """A-35"""
    text = claude_code.load_memory_prompt(flags=flags, include_index=True, **around(place))
    assert text == memory_prompt(memory_of(place), skip_index=True)
    assert claude_code.load_memory_prompt(flags={"tengu_moth_copse": False}, **around(place)) != text


def test_extra_guidelines(place):
    """A-37"""
    env = {"CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES": "  Save in French. "}
    text = claude_code.load_memory_prompt(**around(place, env))
    assert text == memory_prompt(memory_of(place), extra_guidelines=["  Save in French. "])
    assert claude_code.extra_guidelines({"CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES": "\ufeff\u00a0"}) is None


def test_guidelines_of_this_process(monkeypatch):
    monkeypatch.setenv("CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES", "x")
    assert claude_code.extra_guidelines() == ["x"]


# -- searching -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["embedded", "repl"])
def test_searching_past_context(place, how):
    """A-44 to A-48: transcripts are those of the working directory, not of the repository."""
    place.git("init -q .")
    options = around(place, cwd=place.folder("proj/sub"))
    flags = {"tengu_coral_fern": True}
    projects = memory_of(place, "proj/sub").removesuffix("memory/")
    tools = claude_code.load_memory_prompt(flags=flags, **options)
    assert f'Grep with pattern="<search term>" path="{memory_of(place)}" glob="*.md"' in tools
    assert f'Grep with pattern="<search term>" path="{projects}" glob="*.jsonl"' in tools
    shell = claude_code.load_memory_prompt(flags=flags, **{how: True}, **options)
    assert f'grep -rn "<search term>" {projects} --include="*.jsonl"' in shell
    section = claude_code.build_searching_past_context_section(memory_of(place), flags=flags, **options)
    assert "\n".join(section).rstrip() in tools


def test_no_search_by_default(place):
    assert claude_code.build_searching_past_context_section("/mem", **around(place)) == []
    assert "Searching past context" not in claude_code.load_memory_prompt(**around(place))


# -- what may be added ---------------------------------------------------------------------------------------


def test_the_index_and_relevant_memories_if_asked_for(place):
    """N-48, N-49"""
    folder = memory_of(place)
    place.write(folder + "MEMORY.md", "- [Tabs](feedback_tabs.md) — tabs\n\n<!-- note -->\n")
    place.write(folder + "feedback_tabs.md", "---\nname: tabs\nmetadata:\n  type: feedback\n---\nTabs in Python.\n")
    place.write(folder + "auto/other.md", "Nothing of the kind.")
    place.write(folder + ".hidden/x.md", "tabs")
    place.write(team_of(place) + "/MEMORY.md", "---\nx: y\n---\n- [Python](python.md)\n")
    place.write(team_of(place) + "/python.md", "python python tabs wanted")
    plain = claude_code.load_memory_prompt(**around(place))
    assert plain == memory_prompt(folder)
    text = claude_code.load_memory_prompt(include_index=True, relevant_to="Tabs in python", **around(place))
    assert text.startswith(plain)
    assert text[len(plain) :] == (
        "\n\n## MEMORY.md\n\n- [Tabs](feedback_tabs.md) — tabs"
        '\n\n## Recalled memories\n\n<memory file="feedback_tabs.md" type="feedback">\nTabs in Python.\n</memory>'
        '\n\n<memory file="auto/other.md">\nNothing of the kind.\n</memory>'
    )
    both = claude_code.load_memory_prompt(**TEAM, include_index=True, relevant_to="python", **around(place))
    assert both.endswith(
        '\n\n## MEMORY.md of the team\n\n<team-memory-content source="shared">\n'
        "- [Python](python.md)\n</team-memory-content>"
        '\n\n## Recalled memories\n\n<memory file="feedback_tabs.md" type="feedback">\nTabs in Python.\n</memory>'
        '\n\n<memory file="python.md" scope="team">\npython python tabs wanted\n</memory>'
    )


def test_relevant_memories_are_five_at_most(place):
    for number in range(7):
        place.write(f"mem/{number}.md", "deploy" + " fast" * (number == 6))
    found = claude_code.find_relevant_memories(place.path("mem"), "deploy fast")
    assert [note.file for note in found] == ["6.md", "0.md", "1.md", "2.md", "3.md"]
    assert claude_code.find_relevant_memories(place.path("mem"), "") == []
    assert claude_code.find_relevant_memories(place.path("nowhere"), "x") == []


def test_counts_are_one_debug_record(place, caplog):
    """A-42: the original sends them; here they are a record of the standard logging, without the path."""
    place.write("mem/a.md")
    place.write("mem/auto/b.md")
    caplog.set_level("DEBUG")
    counts = claude_code.log_memory_dir_counts(place.path("mem"), {"memory_type": "team"})
    assert counts == {"memory_type": "team", "total_file_count": 1, "total_subdir_count": 1}
    assert counts == claude_code.log_memory_dir_counts(place.path("mem"), "team")
    (record, _) = caplog.records
    assert (record.name, record.levelname) == ("foretold.compat.claude_code", "DEBUG")
    assert record.getMessage() == "memory_dir_counts: team, 1 files, 1 folders"


@pytest.mark.parametrize(
    ("options", "counted"),
    [({}, ["auto"]), (KAIROS, ["auto"]), (TEAM, ["auto", "team"])],
)
def test_a_prompt_counts_its_directories(place, caplog, options, counted):
    """A-41, A-42: in every branch, after the directories are there."""
    caplog.set_level("DEBUG")
    claude_code.load_memory_prompt(**options, **around(place))
    assert [record.getMessage() for record in caplog.records] == [
        f"memory_dir_counts: {kind}, 0 files, 0 folders" for kind in counted
    ]


def test_without_memory_nothing_is_counted(place, caplog):
    caplog.set_level("DEBUG")
    claude_code.load_memory_prompt(**around(place, {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}))
    assert caplog.records == []


def test_an_event_is_one_debug_record(caplog):
    """A-20"""
    caplog.set_level("DEBUG")
    claude_code.log_for_diagnostics_no_pii("info", "memory_files_started")
    claude_code.log_for_diagnostics_no_pii("error", "memory_files_failed", {"duration_ms": 5})
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("DEBUG", "memory_files_started: info"),
        ("DEBUG", "memory_files_failed: error, duration_ms 5"),
    ]


def test_the_builders_that_a_branch_calls(place):
    """A-36, A-38, A-39: under their own names."""
    given = around(place)
    lines = claude_code.build_memory_lines("auto memory", memory_of(place), ["Be brief."], True)
    assert "\n".join(lines) == memory_prompt(memory_of(place), extra_guidelines=["Be brief."], skip_index=True)
    assert claude_code.build_memory_lines("notes", "/m")[0] == "# notes"
    combined = claude_code.build_combined_memory_prompt(["Be brief."], **given)
    assert combined == memory_prompt(memory_of(place), team=team_of(place), extra_guidelines=["Be brief."])
    log = claude_code.build_assistant_daily_log_prompt(True, **given)
    assert log == memory_prompt(memory_of(place), daily_log=True, skip_index=True)


# -- the index -----------------------------------------------------------------------------------------------


def test_the_index_is_cut_by_bytes():
    """N-10, N-11: the seed counts bytes."""
    text = "ü" * 99 + "\n" + "é" * 99 + "\n"
    assert claude_code.truncate_index(text, max_bytes=397) == text
    cut = claude_code.truncate_index(text, max_bytes=396)
    assert cut.startswith("ü" * 99 + "\n\n> WARNING: MEMORY.md is 0.4KB (limit: 0.4KB) — index entries are too long.")
    assert claude_code.truncate_index("ü" * 9, max_bytes=5).startswith("üü\n\n> WARNING")


def test_lines_come_before_bytes():
    text = "\n".join(["x" * 10] * 4)
    cut = claude_code.truncate_index(text, max_lines=3, max_bytes=25)
    assert cut.startswith(("x" * 10 + "\n") * 2 + "\n> WARNING: MEMORY.md is 4 lines and ")
    assert claude_code.truncate_index("a\n" * 200) == "a\n" * 200
    assert claude_code.truncate_index("") == ""


def test_the_builders_take_the_flags_and_folders_of_the_prompt(place):
    """What `load_memory_prompt` adds for a flag, or takes as the team's folder, its builders do, too."""
    on, folder = {"flags": {"tengu_coral_fern": True}}, memory_of(place)
    whole = claude_code.load_memory_prompt(**on, **around(place))
    assert "\n".join(claude_code.build_memory_lines("auto memory", folder, **on, **around(place))) == whole
    section = claude_code.build_searching_past_context_section(folder, **on, **around(place))
    assert section[0] in whole.splitlines()
    assert section[0] not in claude_code.build_memory_lines("auto memory", folder)
    shared = place.path("shared")
    assert claude_code.get_team_mem_path(team_dir=shared, **around(place)) == f"{shared}/"
    combined = claude_code.build_combined_memory_prompt(team_dir=shared, **around(place))
    assert combined == claude_code.load_memory_prompt(**TEAM, team_dir=shared, **around(place))
    assert section[0] in claude_code.build_combined_memory_prompt(**on, **around(place)).splitlines()


def test_the_folder_of_transcripts(place):
    found = claude_code.get_project_dir(place.proj, home=place.home, env={})
    assert claude_code.get_auto_mem_path(**around(place)) == f"{found}/memory/"
    section = claude_code.build_searching_past_context_section("/m", flags=["tengu_coral_fern"], **around(place))
    assert any(f'path="{found}/"' in line for line in section)
    assert claude_code.GREP_TOOL_NAME == "Grep"
