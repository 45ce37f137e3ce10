"""What a session was told, beside what the files say now."""

import os

from foretold.sessions.catalog import find_session, list_sessions
from foretold.sessions.instructions_seen.compare import compare_instructions
from foretold.sessions.model import Homes

from ..talk import Talk


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
    assert {file.evidence for file in compare_instructions(list_sessions(homes)[0], homes).files} == {"time"}


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
