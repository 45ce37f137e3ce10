"""What a session was told, beside what the files say now."""

import json
import os

import pytest

from foretold.dialects.registry import choose, history_of
from foretold.sessions.catalog import find_session, list_sessions
from foretold.sessions.instructions_seen.compare import SessionRelease, compare_instructions
from foretold.sessions.instructions_seen.events import ReleaseEvent
from foretold.sessions.model import Homes

from ..talk import Talk

SESSION = "11111111-2222-4333-8444-555555555555"


def place(tmp_path, **files):
    """A project with files, and a home."""
    folder = tmp_path / "project"
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "home").mkdir()
    return str(folder), Homes(str(tmp_path / "home"), {})


def states(folder, homes):
    found = compare_instructions(list_sessions(homes)[0], homes)
    return {os.path.relpath(file.path, folder): (file.state, file.compaction) for file in found.files}


def start(folder, *files):
    rows = [{"path": f"{folder}/{name}", "type": "Project", "content": text} for name, text in files]
    return {"type": "instructions", "files": rows}


def nested(folder, name, text):
    return {
        "type": "nested_memory",
        "path": f"{folder}/{name}",
        "content": {"path": f"{folder}/{name}", "content": text},
    }


def test_a_file_that_was_changed_since_is_an_old_copy(tmp_path):
    folder, homes = place(tmp_path, **{"CLAUDE.md": "New.\n"})
    Talk(cwd=folder).user("hi").attaches(**start(folder, ("CLAUDE.md", "Old."))).says("ok").write(homes.home)
    assert states(folder, homes) == {"CLAUDE.md": ("old-copy", 0)}
    found = compare_instructions(find_session(homes, "1111"), homes)
    assert [finding.code for finding in found.findings] == ["told-old-copy"]
    assert (found.files[0].text, found.files[0].now) == ("Old.", "New.\n")


def test_a_later_record_replaces_an_earlier_one(tmp_path):
    folder, homes = place(tmp_path, **{"CLAUDE.md": "New.\n"})
    talk = Talk(cwd=folder).user("hi").attaches(**start(folder, ("CLAUDE.md", "Old."))).says("ok")
    talk.user("again").attaches(**start(folder, ("CLAUDE.md", "New."))).write(homes.home)
    assert states(folder, homes) == {"CLAUDE.md": ("same", 0)}


def test_what_came_with_a_read_is_lost_at_compaction_until_it_comes_again(tmp_path):
    folder, homes = place(tmp_path, **{"CLAUDE.md": "Root.\n", "api__CLAUDE.md": "Api.\n", "web__CLAUDE.md": "Web.\n"})
    talk = Talk(cwd=folder).user("hi").attaches(**start(folder, ("CLAUDE.md", "Root.")))
    talk.attaches(**nested(folder, "api/CLAUDE.md", "Api.\n")).attaches(**nested(folder, "web/CLAUDE.md", "Web.\n"))
    talk.compacts().says("ok").compacts().attaches(**nested(folder, "web/CLAUDE.md", "Web.\n")).write(homes.home)
    assert states(folder, homes) == {
        "api/CLAUDE.md": ("lost", 1),
        "CLAUDE.md": ("same", 0),
        "web/CLAUDE.md": ("same", 0),
    }


def test_files_that_are_new_or_gone_are_named(tmp_path):
    folder, homes = place(tmp_path, **{"CLAUDE.local.md": "Mine.\n"})
    Talk(cwd=folder).user("hi").attaches(**start(folder, ("CLAUDE.md", "Old."))).write(homes.home)
    assert states(folder, homes) == {"CLAUDE.md": ("gone", 0), "CLAUDE.local.md": ("not-seen", 0)}


def test_a_version_that_records_no_text_is_judged_by_time(tmp_path):
    folder, homes = place(tmp_path, **{"CLAUDE.md": "Root.\n"})
    Talk(cwd=folder, version="2.1.197").user("hi").says("ok").write(homes.home)
    os.utime(f"{folder}/CLAUDE.md", (1_000_000_000, 1_000_000_000))
    assert states(folder, homes) == {"CLAUDE.md": ("same", 0)}
    os.utime(f"{folder}/CLAUDE.md", (2_000_000_000, 2_000_000_000))
    assert states(folder, homes) == {"CLAUDE.md": ("old-copy", 0)}
    found = compare_instructions(list_sessions(homes)[0], homes)
    assert {file.evidence for file in found.files} == {"time"}
    said = "the file was written after the session loaded it, and its text may differ"
    assert [finding.message for finding in found.findings] == [said]


def test_a_folder_that_is_gone_is_no_error(tmp_path):
    _, homes = place(tmp_path)
    Talk(cwd=str(tmp_path / "gone")).user("hi").write(homes.home)
    assert compare_instructions(list_sessions(homes)[0], homes).files == ()


def test_files_that_became_something_else_are_gone(tmp_path):
    folder, homes = place(tmp_path, **{"CLAUDE.md": "Root.\n", "api__CLAUDE.md": "Api.\n"})
    talk = Talk(cwd=folder).user("hi").attaches(**start(folder, ("CLAUDE.md", "Root.")))
    talk.attaches(**nested(folder, "api/CLAUDE.md", "Api.\n")).attaches(**nested("/a\x00b", "c", "x")).write(homes.home)
    for name in ("CLAUDE.md", "api/CLAUDE.md"):
        os.unlink(f"{folder}/{name}")
        os.mkfifo(f"{folder}/{name}")
    assert {state for state, _ in states(folder, homes).values()} == {"gone"}


def test_a_folder_that_is_a_file_now_is_no_error(tmp_path):
    _, homes = place(tmp_path)
    (tmp_path / "file").write_text("x")
    Talk(cwd=str(tmp_path / "file")).user("hi").write(homes.home)
    assert compare_instructions(list_sessions(homes)[0], homes).files == ()


def sent(homes):
    (stored,) = list_sessions(homes)
    return compare_instructions(stored, homes).sent_again


def test_claude_code_is_sent_files_that_differ_and_names_of_those_that_are_gone(tmp_path):
    """As 2.1.325 records it when it resumes a session."""
    folder, homes = place(tmp_path, **{"CLAUDE.md": "New.\n"})
    one, two = (f"{folder}/{name}" for name in ("CLAUDE.md", "CLAUDE.local.md"))
    talk = Talk(cwd=folder).user("hi").attaches(**start(folder, ("CLAUDE.md", "Old."), ("CLAUDE.local.md", "Mine.")))
    later = {**start(folder, ("CLAUDE.md", "New.")), "removed": [two], "changed": True, "reason": "session_start"}
    talk.says("ok").user("again").attaches(**later).says("ok").write(homes.home)
    (found,) = sent(homes)
    assert (found.prompt, found.effect) == (2, "replaced")
    assert found.files == ((one, "New.", "Old."), (two, None, "Mine."))
    assert states(folder, homes) == {"CLAUDE.md": ("same", 0)}
    (tmp_path / "project" / "CLAUDE.local.md").write_text("Mine.")
    assert states(folder, homes)["CLAUDE.local.md"] == ("not-seen", 0)


def test_claude_code_is_sent_its_first_instructions_later(tmp_path):
    folder, homes = place(tmp_path, **{"CLAUDE.md": "New.\n"})
    talk = Talk(cwd=folder).user("hi").says("ok").user("again").attaches(**start(folder, ("CLAUDE.md", "New.")))
    talk.write(homes.home)
    assert [each[1:] for each in sent(homes)] == [(2, "added", ((f"{folder}/CLAUDE.md", "New.", None),))]


HEAD = "# AGENTS.md instructions for {cwd}\n\n<INSTRUCTIONS>\n{text}\n</INSTRUCTIONS>"
REPLACE = "These AGENTS.md instructions replace all previously provided AGENTS.md instructions.\n\n"
GONE = "The previously provided AGENTS.md instructions no longer apply."


def write_rollout(folder, homes, *messages):
    """A session of Codex with these messages of the user, one a second."""
    name = "01a1ecea-6161-72c0-aa4d-6d80e08fadc0"
    meta = {"id": name, "cwd": folder, "cli_version": "0.166.0", "timestamp": "2026-11-18T04:29:00.000Z"}
    rows = [{"timestamp": "2026-11-18T04:29:00.000Z", "type": "session_meta", "payload": meta}]
    for second, text in enumerate(messages, 1):
        content = [{"type": "input_text", "text": text}]
        payload = {"type": "message", "role": "user", "content": content}
        time = f"2026-11-18T04:29:{second:02}.000Z"
        rows.append({"timestamp": time, "type": "response_item", "payload": payload})
    path = os.path.join(homes.home, f".codex/sessions/2026/11/18/rollout-2026-11-18T04-29-00-{name}.jsonl")
    os.makedirs(os.path.dirname(path))
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def test_codex_is_sent_replacements(tmp_path):
    folder, homes = place(tmp_path, **{"AGENTS.md": "Two.\n"})

    def told(text):
        return HEAD.format(cwd=folder, text=text)

    context = "<environment_context>\n</environment_context>"
    write_rollout(folder, homes, told("One."), context, "Hello", told(REPLACE + "Two."), context, "And now?", "Good")
    (found,) = sent(homes)
    assert found[1:] == (2, "replaced", (("", "Two.\n", "One.\n"),))
    assert states(folder, homes) == {"AGENTS.md": ("same", 0)}


def test_codex_is_told_that_nothing_applies_any_more(tmp_path):
    folder, homes = place(tmp_path, **{"AGENTS.md": "One.\n"})
    gone = HEAD.format(cwd="", text=GONE).replace(" for ", "")
    again = HEAD.format(cwd=folder, text="Two.")
    write_rollout(folder, homes, HEAD.format(cwd=folder, text="One."), "Hello", gone, "And now?")
    assert [each[1:] for each in sent(homes)] == [(2, "withdrawn", (("", None, "One.\n"),))]
    assert states(folder, homes) == {"AGENTS.md": ("not-seen", 0)}
    os.remove(list_sessions(homes)[0].path)
    os.removedirs(os.path.join(homes.home, ".codex/sessions/2026/11/18"))
    os.makedirs(homes.home, exist_ok=True)
    write_rollout(folder, homes, "Hello", again, "And now?", again, "Still?")
    assert [each[1:] for each in sent(homes)] == [(2, "added", (("", "Two.\n", None),))]


# -- which release ran


def release(homes):
    (stored,) = list_sessions(homes)
    return compare_instructions(stored, homes).release


def talk_of(folder, *versions):
    """A session with a prompt and an answer of each version."""
    talk = Talk(cwd=folder)
    for version in versions:
        talk.version = version
        talk.user("hi").says("ok")
    return talk


def installed(tmp_path, version):
    """A home whose PATH has a program of this version."""
    program = tmp_path / "versions" / version
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/claude").symlink_to(program)
    return Homes(str(tmp_path / "home"), {"PATH": str(tmp_path / "bin")})


def test_the_release_that_ran_counts_and_not_the_one_that_is_installed(tmp_path):
    """Claude Code reads AGENTS.md since 2.1.281."""
    folder, homes = place(tmp_path, **{"AGENTS.md": "Use tabs.\n"})
    homes = installed(tmp_path, "2.1.325")
    talk_of(folder, "2.1.280").write(homes.home)
    assert states(folder, homes) == {}
    events = (ReleaseEvent("2.1.280", 1772359201.0, 1),)
    evidence = choose("claude-code@2.1.280").dialect.evidence
    assert release(homes) == SessionRelease("2.1.280", "transcript", evidence, "", events)


def test_of_several_releases_the_last_counts(tmp_path):
    folder, homes = place(tmp_path, **{"AGENTS.md": "Use tabs.\n"})
    talk_of(folder, "2.1.197", "2.1.197", "2.1.325").write(homes.home)
    os.utime(f"{folder}/AGENTS.md", (1_000_000_000, 1_000_000_000))
    assert states(folder, homes) == {"AGENTS.md": ("same", 0)}
    found = release(homes)
    assert (found.version, found.evidence) == ("2.1.325", "recorded")
    assert [(event.version, event.line) for event in found.events] == [("2.1.197", 1), ("2.1.325", 5)]


def test_a_release_that_is_not_known_is_assumed(tmp_path):
    folder, homes = place(tmp_path, **{"CLAUDE.md": "Use tabs.\n"})
    talk_of(folder, "99.0.0").write(homes.home)
    found = release(homes)
    assert (found.version, found.source, found.evidence) == ("99.0.0", "transcript", "assumed")
    assert found.note.startswith("99.0.0 was not recorded")


@pytest.mark.parametrize("hostile", ["$(id)", "../../x", "2.1.x", "\x1b[31m", "9" * 5000, "²"])
def test_what_is_no_version_is_reported_and_the_last_version_counts(tmp_path, hostile):
    folder, homes = place(tmp_path, **{"CLAUDE.md": "Use tabs.\n"})
    talk_of(folder, "2.1.197", hostile).write(homes.home)
    found = release(homes)
    assert (found.version, found.evidence, [each.version for each in found.unread]) == (
        "2.1.197",
        "recorded",
        [hostile],
    )
    assert "CLAUDE.md" in states(folder, homes)


def test_a_session_without_a_version_has_the_installed_one_else_the_newest(tmp_path):
    folder, homes = place(tmp_path, **{"CLAUDE.md": "Use tabs.\n"})
    talk_of(folder, "").write(homes.home)
    newest = history_of("claude-code").ends[1]
    assert release(homes) == SessionRelease(newest, "newest", choose().dialect.evidence)
    found = release(installed(tmp_path, "2.1.197"))
    assert (found.version, found.source, found.evidence) == ("2.1.197", "program", "recorded")


def test_records_of_subagents_and_of_other_types_name_no_release(tmp_path):
    folder, homes = place(tmp_path)
    talk = talk_of(folder, "2.1.197")
    talk.add("user", message={"role": "user", "content": "x"}, isSidechain=True, version="2.1.200")
    talk.add("user", message={"role": "user", "content": "x"}, version=["2.1.201"])
    talk.write(homes.home)
    assert [event.version for event in release(homes).events] == ["2.1.197"]


def test_a_fork_of_codex_repeats_what_its_parent_named(tmp_path):
    folder, homes = place(tmp_path, **{"AGENTS.md": "Use tabs.\n"})
    rows = [
        {"type": "session_meta", "payload": {"id": SESSION, "cwd": folder, "cli_version": version}}
        for version in ("0.166.0", "0.150.0")
    ]
    path = tmp_path / f"home/.codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps({"timestamp": "2026-03-01T10:00:00Z", **row}) + "\n" for row in rows))
    found = release(homes)
    assert (found.version, found.source, [event.line for event in found.events]) == ("0.166.0", "transcript", [1])
