"""Instruction files that change in the middle of a conversation: between requests, and before it is resumed."""

import os

import pytest

REPLACE = "These AGENTS.md instructions replace all previously provided AGENTS.md instructions.\n\n"
GONE = "The previously provided AGENTS.md instructions no longer apply."


def remove(place, *paths):
    for path in paths:
        os.remove(place.path(path))


def names(place, paths):
    return [os.path.relpath(path, place.root) for path in paths]


def body(update):
    """The text of the one message of Codex, without its frame."""
    (block,) = update.blocks
    return block.text.partition("<INSTRUCTIONS>\n")[2].removesuffix("\n</INSTRUCTIONS>")


def test_codex_is_compared_with_what_was_told_last(place):
    session = place.session(agent="codex")
    assert (session.start().text, session.resume().effect) == (None, "same")
    place.write("proj/AGENTS.md", "ONE")
    update = session.resume()
    assert (update.effect, body(update), names(place, update.changed)) == ("added", "ONE", ["proj/AGENTS.md"])
    assert session.resume() == ("same", session.view, (), (), (), "")
    for text in ("TWO", "ONE", "ONE\n"):
        place.write("proj/AGENTS.md", text)
        update = session.resume()
        assert (update.effect, body(update)) == ("replaced", REPLACE + text)
    place.write("proj/AGENTS.md", " \n")
    update = session.resume()
    assert (update.effect, body(update)) == ("withdrawn", GONE)
    assert session.resume().effect == "same"
    place.write("proj/AGENTS.md", "ONE")
    assert body(session.resume()) == "ONE"


def test_codex_compares_texts_and_the_folder_that_they_are_for(place):
    """The second as 0.166.0 does: the same text from the home has another head."""
    place.git("init -q .")
    place.write("proj/AGENTS.md", "ONE")
    place.folder("proj/a")
    session = place.session("proj/a", agent="codex")
    session.start()
    place.write("proj/a/AGENTS.md", "ONE")
    remove(place, "proj/AGENTS.md")
    update = session.resume()
    assert (update.effect, names(place, update.changed)) == ("same", ["proj/a/AGENTS.md", "proj/AGENTS.md"])
    place.write("home/.codex/AGENTS.md", "ONE")
    remove(place, "proj/a/AGENTS.md")
    update = session.resume()
    assert update.effect == "replaced"
    assert update.blocks[0].text.startswith("# AGENTS.md instructions\n")


def test_codex_does_not_send_a_memory_summary_again(place):
    place.write("home/.codex/config.toml", "features.memories = true\n")
    place.write("home/.codex/memories/memory_summary.md", "OLD")
    session = place.session(agent="codex")
    session.start()
    place.write("home/.codex/memories/memory_summary.md", "NEW")
    update = session.resume()
    assert (update.effect, update.blocks) == ("kept", ())


@pytest.mark.parametrize(
    ("agent", "name"),
    [("opencode", "AGENTS.md"), ("gemini-cli", "GEMINI.md"), ("qwen-code", "QWEN.md"), ("copilot-cli", "AGENTS.md")],
)
def test_others_make_the_text_anew(place, agent, name):
    place.write(f"proj/{name}", "ONE")
    session = place.session(agent=agent, trust=True)
    session.start()
    assert session.resume().effect == "same"
    place.write(f"proj/{name}", "TWO")
    update = session.resume()
    (block,) = update.blocks
    assert (update.effect, "TWO" in block.text, update.assumed) == ("rebuilt", True, "")
    remove(place, f"proj/{name}")
    update = session.resume()
    assert (update.effect, update.blocks, names(place, update.changed)) == ("rebuilt", (), [f"proj/{name}"])


def test_only_parts_that_differ_are_new(place):
    place.write("proj/GEMINI.md", "ONE")
    place.write("home/.gemini/GEMINI.md", "HOME")
    session = place.session(agent="gemini-cli", trust=True)
    session.start()
    place.write("home/.gemini/GEMINI.md", "HOME, TOO")
    assert [block.role for block in session.resume().blocks] == ["system"]


@pytest.mark.parametrize(("agent", "effect"), [("opencode", "rebuilt"), ("codex", "kept"), ("claude-code", "kept")])
def test_a_change_within_a_run(place, agent, effect):
    for name in ("AGENTS.md", "CLAUDE.md"):
        place.write(f"proj/{name}", "ONE")
    session = place.session(agent=agent)
    before = session.start()
    assert (session.turn().effect, session.view) == ("same", session.view)
    for name in ("AGENTS.md", "CLAUDE.md"):
        place.write(f"proj/{name}", "TWO")
    update = session.turn()
    assert (update.effect, len(update.blocks), len(update.changed)) == (effect, effect == "rebuilt", 1)
    assert (session.view.text == before.text) == (effect == "kept")


def read(session, path, tool="read", key="filePath"):
    from foretold import Call

    return [entry.text for entry in session.use([Call(tool, {key: path})]).entries]


def test_opencode_attaches_a_nested_file_once_per_session(place):
    place.write("proj/AGENTS.md", "ROOT")
    place.write("proj/sub/AGENTS.md", "SUB")
    for name in ("sub/f", "sub/g", "b/f"):
        place.write(f"proj/{name}")
    session = place.session(agent="opencode")
    session.start()
    assert read(session, "sub/f") == ["SUB"]
    place.write("proj/AGENTS.md", "NEW ROOT")
    assert session.turn().effect == "rebuilt"
    place.write("proj/sub/AGENTS.md", "NEW SUB")
    assert session.resume().repeated == ()
    assert (read(session, "sub/g"), read(session, "b/f")) == ([], [])
    place.write("proj/b/AGENTS.md", "B")
    assert read(session, "b/f") == ["B"]


def test_gemini_attaches_again_after_a_resume_and_repeats_old_results_once(place):
    place.write("proj/GEMINI.md", "ROOT")
    for folder in ("sub", "b"):
        place.write(f"proj/{folder}/GEMINI.md", folder)
        place.write(f"proj/{folder}/f")
    session = place.session(agent="gemini-cli", trust=True)
    session.start()
    assert [read(session, path, "read_file", "file_path") for path in ("sub/f", "sub/f")] == [["sub"], []]
    place.write("proj/sub/GEMINI.md", "sub, new")
    (block,) = session.resume().repeated
    assert "\nsub\n" in block.text
    assert session.resume().repeated == ()  # 0.61.0 sends them twice, however often it is resumed
    assert read(session, "sub/f", "read_file", "file_path") == ["sub, new"]


def test_calls_of_one_turn(place):
    """Gemini CLI runs them at once, so that each brings the file of its folder; opencode brings it once."""
    from foretold import Call

    for name in ("AGENTS.md", "GEMINI.md"):
        place.write(f"proj/sub/{name}", "SUB")
    for name in ("f", "g"):
        place.write(f"proj/sub/{name}")
    for agent, tool, key, count in (("opencode", "read", "filePath", 1), ("gemini-cli", "read_file", "file_path", 2)):
        session = place.session(agent=agent, trust=True)
        calls = [Call(tool, {key: f"sub/{name}"}) for name in ("f", "g")]
        assert len(session.use(calls).blocks) == count
        assert session.use(calls).blocks == ()


def test_a_session_knows_which_command_line_resumes_it(place):
    place.write("proj/AGENTS.md", "ONE TWO")
    session = place.session(agent="codex")
    session.start()
    assert body(session.resume(args=["resume", "-c", "project_doc_max_bytes=3"])) == REPLACE + "ONE"


def test_claude_code_before_it_spoke_of_changes(place):
    """Seen by resuming 2.1.197."""
    place.write("proj/CLAUDE.md", "ONE")
    place.write("proj/sub/CLAUDE.md", "SUB")
    session = place.session(agent="claude-code@2.1.197")
    session.start()
    assert read(session, "sub/f", "Read", "file_path") == ["SUB"]
    place.write("proj/CLAUDE.md", "TWO")
    update = session.resume()
    assert (update.effect, "TWO" in update.blocks[0].text, update.assumed) == ("rebuilt", True, "")
    assert read(session, "sub/f", "Read", "file_path") == ["SUB"]


AGAIN = "Instruction files were re-read when this session started"
DIFFER = (
    f"{AGAIN}; these differ from their earlier copies — each replaces its earlier copy, and the instructions preamble "
    "above still applies:\n\n"
)
OF_PROJECT = "Contents of {}/{} (project instructions, checked into the codebase):\n\n{}"


def test_claude_code_names_the_files_that_differ(place):
    """Seen by resuming 2.1.325: changed and new files, then those that are gone; white space does not count."""
    place.write("proj/.claude/rules/a.md", "A\n")
    place.write("proj/CLAUDE.md", "ONE\n")
    session = place.session(agent="claude-code@2.1.325")
    session.start()
    place.write("proj/CLAUDE.md", "ONE\n\n")
    assert session.resume().effect == "same"
    place.write("proj/.claude/rules/a.md", "A2\n")
    place.write("home/.claude/CLAUDE.md", "HOME\n")
    remove(place, "proj/CLAUDE.md")
    update = session.resume()
    (block,) = update.blocks
    home = f"Contents of {place.home}/.claude/CLAUDE.md (user's private global instructions for all projects):\n\nHOME"
    rule = OF_PROJECT.format(place.proj, ".claude/rules/a.md", "A2")
    assert (update.effect, block.role, block.text) == (
        "replaced",
        "user",
        (
            f"<system-reminder>\n{DIFFER}{home}\n\n{rule}\n\nInstructions no longer present: {place.proj}/CLAUDE.md\n"
            "</system-reminder>\n"
        ),
    )
    remove(place, "proj/.claude/rules/a.md", "home/.claude/CLAUDE.md")
    update = session.resume()
    assert (update.effect, update.blocks[0].text) == (
        "withdrawn",
        (
            f"<system-reminder>\n{AGAIN}.\n\nInstructions no longer present: {place.home}/.claude/CLAUDE.md\n\n"
            f"Instructions no longer present: {place.proj}/.claude/rules/a.md\n</system-reminder>\n"
        ),
    )
    place.write("proj/CLAUDE.md", "ONE\n")
    update = session.resume()
    text = f"<system-reminder>\n{DIFFER}{OF_PROJECT.format(place.proj, 'CLAUDE.md', 'ONE')}\n</system-reminder>\n"
    assert (update.effect, update.blocks[0].text) == ("replaced", text)


def test_claude_code_gets_its_first_instructions(place):
    """Seen by resuming 2.1.325: the whole text of a start, before the prompt."""
    session = place.session(agent="claude-code@2.1.325")
    session.start()
    place.write("proj/CLAUDE.md", "ONE\n")
    update = session.resume()
    (slot,) = session.view.slots
    assert (update.effect, update.blocks[0].text.rstrip()) == ("added", slot.block.text.rstrip())


def test_claude_code_attaches_a_nested_file_again_if_it_has_changed(place):
    """Seen by resuming 2.1.325: the rule is not attached again, the changed file is."""
    place.write("proj/sub/CLAUDE.md", "SUB\n")
    place.write("proj/.claude/rules/r.md", '---\npaths: "sub/**"\n---\nRULE\n')
    session = place.session(agent="claude-code@2.1.325")
    session.start()
    assert read(session, "sub/f", "Read", "file_path") == ["SUB\n", "RULE\n"]
    place.write("proj/sub/CLAUDE.md", "NEW\n")
    session.resume()
    assert read(session, "sub/g", "Read", "file_path") == ["NEW\n"]
    session.resume()
    assert read(session, "sub/f", "Read", "file_path") == []


@pytest.mark.parametrize("agent", ["cline", "continue", "amp"])
def test_what_was_not_recorded_is_assumed(place, agent):
    session = place.session(agent=agent)
    session.start()
    assert "not recorded" in session.resume().assumed
    assert "not recorded" in session.turn().assumed
