"""What Codex, opencode, Gemini CLI and Copilot CLI did on both sides of each dated change of theirs."""

import os

import pytest

from foretold.dialects.registry import dialect_at, history_of
from foretold.dialects.releases.history import version_key

AGENTS = ("codex", "copilot-cli", "gemini-cli", "opencode")


@pytest.fixture
def repo(place):
    place.git("init -q .")
    return place


def sent(place, agent, cwd="proj", **options):
    """The blocks of a session's start, with paths that begin at the test's folder."""
    return [place.short(slot.block.text) for slot in place.load(cwd, agent=agent, **options).slots]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_history_begins_and_ends_with_a_played_release(agent):
    history = history_of(agent)
    keys = [version_key(change.version) for change in history.changes]
    assert keys == sorted(keys)
    assert all(version_key(change.after) < version_key(change.version) for change in history.changes)
    assert history.ends == (history.played[0], history.played[-1]) == (history.base.version, history.played[-1])
    assert len(history.played) >= 3
    assert {dialect_at(agent, version).evidence for version in history.played} == {"recorded"}


# Codex


def codex(*texts, where=" for proj"):
    """The one block of Codex: texts between its marks."""
    return [f"# AGENTS.md instructions{where}\n\n<INSTRUCTIONS>\n{''.join(texts)}\n</INSTRUCTIONS>"]


@pytest.mark.parametrize(("version", "expected"), [("0.118.0", []), ("0.120.0", codex("Use tabs.\n"))])
def test_codex_link_that_leads_nowhere(repo, version, expected):
    repo.write("home/.codex/config.toml", 'project_doc_fallback_filenames = ["CLAUDE.md"]\n')
    repo.write("proj/CLAUDE.md", "Use tabs.\n")
    repo.link("proj/AGENTS.md", "gone.md")
    assert sent(repo, f"codex@{version}") == expected


@pytest.mark.parametrize(("version", "half", "left_out"), [("0.131.0", 10_000, 2_500), ("0.132.0", 5_000, 5_000)])
def test_codex_memory_summary(repo, version, half, left_out):
    repo.write("home/.codex/config.toml", "[features]\nmemories = true\n")
    repo.write("home/.codex/memories/memory_summary.md", "a" * 15_000 + "b" * 15_000)
    text = f"{'a' * half}…{left_out} tokens truncated…{'b' * half}"
    expected = f"========= MEMORY_SUMMARY BEGINS =========\n{text}\n========= MEMORY_SUMMARY ENDS ========="
    assert sent(repo, f"codex@{version}") == [expected]


@pytest.mark.parametrize(
    ("version", "expected", "skipped"),
    [("0.132.0", [], [("home/.codex/AGENTS.md", "bad-encoding")]), ("0.133.0", codex("caf\ufffd"), [])],
)
def test_codex_file_of_the_user_that_is_not_utf8(repo, version, expected, skipped):
    repo.write("home/.codex/AGENTS.md", b"caf\xe9\n")
    view = repo.load(agent=f"codex@{version}")
    found = [repo.short(slot.block.text).replace(" for proj", "") for slot in view.slots]
    assert found == [text.replace(" for proj", "") for text in expected]
    assert [(repo.short(skip.path), skip.reason) for skip in view.skips] == skipped


@pytest.mark.parametrize(("version", "where"), [("0.139.0", " for proj"), ("0.140.0", "")])
def test_codex_names_the_folder(repo, version, where):
    repo.write("home/.codex/AGENTS.md", "Use tabs.\n")
    assert sent(repo, f"codex@{version}") == codex("Use tabs.", where=where)
    repo.write("proj/AGENTS.md", "Be kind.\n")
    expected = codex("Use tabs.\n\n--- project-doc ---\n\nBe kind.\n")
    assert sent(repo, f"codex@{version}") == expected


@pytest.mark.parametrize(("version", "has_note"), [("0.141.0", True), ("0.142.0", False)])
def test_codex_note_about_files_of_folders_below(repo, version, has_note):
    from foretold.dialects.codex import CHILD_NOTE

    repo.write("home/.codex/config.toml", "[features]\nchild_agents_md = true\n")
    assert sent(repo, f"codex@{version}") == (codex(CHILD_NOTE, where="") if has_note else [])
    repo.write("proj/AGENTS.md", "Use tabs.\n")
    expected = codex("Use tabs.\n", *(["\n\n", CHILD_NOTE] if has_note else []))
    assert sent(repo, f"codex@{version}") == expected
    repo.write("home/.codex/config.toml", "")
    assert sent(repo, f"codex@{version}") == codex("Use tabs.\n")


@pytest.mark.parametrize(
    ("version", "effects"), [("0.142.5", ["kept", "kept", "same"]), ("0.143.0", ["added", "replaced", "withdrawn"])]
)
def test_codex_resumed(repo, version, effects):
    session = repo.session(agent=f"codex@{version}")
    session.start()
    found = []
    for text in ("Use tabs.\n", "Use spaces.\n", None):
        path = repo.write("proj/AGENTS.md", text or "")
        if text is None:
            os.remove(path)
        found.append(session.resume())
    assert [update.effect for update in found] == effects
    if effects[0] == "kept":
        assert [update.blocks for update in found] == [(), (), ()]
        assert session.view.text is None
    else:
        said = "These AGENTS.md instructions replace all previously provided AGENTS.md instructions.\n\n"
        gone = "The previously provided AGENTS.md instructions no longer apply."
        assert [[repo.short(block.text) for block in update.blocks] for update in found] == [
            codex("Use tabs.\n"),
            codex(said, "Use spaces.\n"),
            codex(gone, where=""),
        ]


@pytest.mark.parametrize(("version", "expected"), [("0.149.1", codex("Use tabs.\n")), ("0.150.0", [])])
def test_codex_project_that_is_not_trusted(repo, version, expected):
    repo.write("home/.codex/config.toml", f'[projects."{repo.proj}"]\ntrust_level = "untrusted"\n')
    repo.write("proj/AGENTS.md", "Use tabs.\n")
    assert sent(repo, f"codex@{version}") == expected


@pytest.mark.parametrize(
    ("version", "texts"), [("0.155.1", ["A.\n", "\n\nDocs.\n", "\n\nNotes.\n"]), ("0.156.0", ["A.\n"])]
)
def test_codex_fallback_names_with_a_slash(repo, version, texts):
    repo.write("proj/AGENTS.md", "A.\n")
    repo.write("proj/a/docs/R.md", "Docs.\n")
    notes = repo.write("notes.md", "Notes.\n")
    repo.folder("proj/a/b")
    repo.write("home/.codex/config.toml", f'project_doc_fallback_filenames = ["docs/R.md", "{notes}"]\n')
    assert sent(repo, f"codex@{version}", "proj/a/b") == codex(*texts, where=" for proj/a/b")


# opencode


def opencode(*files):
    return ["\n".join(f"Instructions from: {path}\n{text}" for path, text in files)]


USER, PROJECT = ("home/.config/opencode/AGENTS.md", "Use tabs.\n"), ("proj/AGENTS.md", "Be kind.\n")


@pytest.mark.parametrize(("version", "files"), [("1.3.2", (PROJECT, USER)), ("1.14.34", (USER, PROJECT))])
def test_opencode_order_of_the_files(repo, version, files):
    for path, text in (USER, PROJECT):
        repo.write(path, text)
    assert sent(repo, f"opencode@{version}") == opencode(*files)


@pytest.mark.parametrize(("version", "files"), [("1.3.2", [("proj/CLAUDE.md", "Be kind.\n")]), ("1.14.34", [])])
@pytest.mark.parametrize("variable", ["OPENCODE_DISABLE_CLAUDE_CODE", "OPENCODE_DISABLE_CLAUDE_CODE_PROMPT"])
def test_opencode_without_files_of_claude(repo, version, files, variable):
    repo.write("home/.claude/CLAUDE.md", "Use tabs.\n")
    repo.write("proj/CLAUDE.md", "Be kind.\n")
    expected = opencode(*files) if files else []
    assert sent(repo, f"opencode@{version}", env={variable: "1"}) == expected


@pytest.mark.parametrize(
    ("version", "mark"), [("1.2.6", ""), ("1.2.11", "\ufeff"), ("1.3.2", "\ufeff"), ("1.14.34", "")]
)
def test_opencode_byte_order_mark(repo, version, mark):
    repo.write("proj/AGENTS.md", b"\xef\xbb\xbfBe kind.\n")
    assert sent(repo, f"opencode@{version}") == opencode(("proj/AGENTS.md", f"{mark}Be kind.\n"))


@pytest.mark.parametrize(("version", "files"), [("1.1.16", [("proj/AGENTS.md", "")]), ("1.1.53", [])])
def test_opencode_empty_file(repo, version, files):
    repo.write("proj/AGENTS.md", "")
    assert sent(repo, f"opencode@{version}") == (opencode(*files) if files else [])


@pytest.mark.parametrize(("version", "names"), [("1.1.16", []), ("1.1.53", ["proj/sub/AGENTS.md"])])
def test_opencode_file_that_is_read_brings_its_folders(repo, version, names):
    repo.write("proj/sub/AGENTS.md", "Here, too.\n")
    path = repo.write("proj/sub/f.txt")
    session = repo.session(agent=f"opencode@{version}")
    session.start()
    assert [repo.short(entry.path) for entry in session.read(path).entries] == names


# Gemini CLI


def gemini(*files):
    """The block of the project's files."""
    parts = [f"--- Context from: {path} ---\n{text}\n--- End of Context from: {path} ---" for path, text in files]
    joined = "\n\n".join(parts)
    return [f"<loaded_context>\n<project_context>\n{joined}\n</project_context>\n</loaded_context>"]


@pytest.mark.parametrize(("version", "name"), [("0.42.0", "AGENTS.md"), ("0.43.0", "GEMINI.md")])
def test_gemini_file_with_two_names(repo, version, name):
    repo.write("home/.gemini/settings.json", '{"context": {"fileName": ["GEMINI.md", "AGENTS.md"]}}')
    repo.write("proj/AGENTS.md", "Be kind.\n")
    repo.link("proj/GEMINI.md", "AGENTS.md")
    options = {"agent": f"gemini-cli@{version}", "trust": True}
    assert sent(repo, **options) == gemini((f"proj/{name}", "Be kind."))


@pytest.mark.parametrize(("version", "names"), [("0.43.0", ["R.md"]), ("0.44.0", ["GEMINI.md", "R.md"])])
def test_gemini_other_names(repo, version, names):
    repo.write("proj/.gemini/settings.json", '{"context": {"fileName": "R.md"}}')
    repo.write("proj/GEMINI.md", "Be kind.\n")
    repo.write("proj/R.md", "Be kind.\n")
    expected = gemini(*((f"proj/{name}", "Be kind.") for name in names))
    assert sent(repo, agent=f"gemini-cli@{version}", trust=True) == expected


OUTSIDE = "<!-- Import failed: link.md - Path traversal attempt -->"
INSIDE = "<!-- Imported from: link.md -->\nFar.\n\n<!-- End of import from: link.md -->"


@pytest.mark.parametrize(("version", "text"), [("0.47.0", INSIDE), ("0.51.0", OUTSIDE)])
def test_gemini_import_through_a_link(repo, version, text):
    repo.write("far.md", "Far.\n")
    repo.link("proj/link.md", "../far.md")
    repo.write("proj/GEMINI.md", "@link.md\n")
    assert sent(repo, agent=f"gemini-cli@{version}", trust=True) == gemini(("proj/GEMINI.md", text))


# Copilot CLI


@pytest.mark.parametrize(("version", "names"), [("1.0.92", []), ("1.0.102", ["proj/.claude/rules/a.md"])])
def test_copilot_rule_of_the_start_that_matches(repo, version, names):
    repo.write("proj/.claude/rules/a.md", '---\npaths: "src/**"\n---\nBe kind.\n')
    session = repo.session(agent=f"copilot-cli@{version}")
    session.start()
    found = session.read(repo.write("proj/src/x.ts")).entries
    assert [repo.short(entry.path) for entry in found] == names


@pytest.mark.parametrize(("version", "names"), [("1.0.92", ["a.md"]), ("1.0.102", ["a.md", "s/.claude/rules/a.md"])])
def test_copilot_rules_that_are_called_the_same(repo, version, names):
    repo.write("proj/.claude/rules/a.md", "Be kind.\n")
    repo.write("proj/s/.claude/rules/a.md", "Use tabs.\n")
    view = repo.load("proj/s", agent=f"copilot-cli@{version}")
    assert repo.told(view) == ["proj/.claude/rules/a.md", *(f"proj/{name}" for name in names[1:])]
    assert [(repo.short(skip.path), skip.reason) for skip in view.skips if skip.reason == "duplicate"] == (
        [] if names[1:] else [("proj/s/.claude/rules/a.md", "duplicate")]
    )
