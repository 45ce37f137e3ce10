"""What changed in Claude Code, asked on both sides of the release in which it did."""

import pytest

from foretold.dialects.registry import dialect_at
from foretold.instructions.session import Call
from foretold.instructions.text.memory_index import cut_index

RULES = {
    "list": "paths:\n  - docs/**\n  - src/**",
    "joined": 'paths: ["{src,x", "lib}/**"]',
    "number": "paths: [5, src/**]",
    "single": "paths: [src/**]",
    "twice": "paths: docs/**\npaths: src/**",
    "tab": "paths:\n\t- src/**",
    "repaired": "paths: {src,docs}/**",
}


@pytest.fixture
def start(place):
    """A function that starts a conversation of a release in the project."""
    place.git("init -q .")

    def begin(version, cwd="proj", **options):
        session = place.session(cwd, agent=f"claude-code@{version}", **options)
        session.start()
        return session

    return begin


@pytest.mark.parametrize(
    ("version", "always", "matching"),
    [
        ("2.1.83", ["tab", "twice"], ["joined", "repaired", "single"]),
        ("2.1.84", ["tab", "twice"], ["list", "number", "repaired", "single"]),
        ("2.1.112", ["tab", "twice"], ["list", "number", "repaired", "single"]),
        ("2.1.113", [], ["list", "number", "repaired", "single", "tab", "twice"]),
    ],
)
def test_rules_with_odd_paths(place, start, version, always, matching):
    for name, front in RULES.items():
        place.write(f"proj/.claude/rules/{name}.md", f"---\n{front}\n---\n{name}\n")
    session = start(version)
    assert sorted(entry.text.strip() for entry in session.view.entries) == always
    found = session.read(place.write("proj/src/x.ts")).entries
    assert sorted(entry.text.strip() for entry in found) == matching


@pytest.mark.parametrize(("version", "is_main_loaded"), [("2.1.68", True), ("2.1.69", False), ("2.1.325", False)])
def test_worktree_in_its_repository(place, start, version, is_main_loaded):
    place.write("proj/CLAUDE.md", "main\n")
    for words in ("add -A", "commit -qm x", "worktree add -q w HEAD"):
        place.git(words)
    paths = ["proj/CLAUDE.md"] * is_main_loaded + ["proj/w/CLAUDE.md"]
    assert place.told(start(version, "proj/w").view) == paths


@pytest.mark.parametrize(("version", "paths"), [("2.1.83", ["proj/CLAUDE.md"]), ("2.1.84", [])])
def test_subagent_that_explores(place, start, version, paths):
    place.write("proj/CLAUDE.md", "text\n")
    assert place.told(start(version).subagent("Explore").view) == paths


@pytest.mark.parametrize(
    ("version", "kind", "text"),
    [
        ("2.1.131", "text", "<system-reminder>\nContents of {}:\n\nin a\n\n</system-reminder>"),
        ("2.1.325", "tool_result", "<system-reminder>\nContents of {}:\n\nin a\n\n</system-reminder>\n"),
    ],
)
def test_files_after_a_result_that_is_not_a_text(place, start, version, kind, text):
    nested = place.write("proj/a/CLAUDE.md", "in a\n")
    session = start(version, model="claude-haiku-4-5")
    blocks = session.use([Call("Read", {"file_path": place.write("proj/a/n.ipynb", "{}")})]).blocks
    assert [(block.type, block.text) for block in blocks] == [(kind, text.format(nested))]


SMALL = """\
> WARNING: MEMORY.md is 300 lines (limit: 200). Only the first 200 lines were loaded. Move detailed content into \
separate topic files and keep MEMORY.md as a concise index."""
LARGE = """\
> WARNING: MEMORY.md is 300 lines (limit: 200). Only part of it was loaded. Keep index entries to one line under \
~200 chars; move detail into topic files."""


@pytest.mark.parametrize(("version", "warning"), [("2.1.59", SMALL), ("2.1.81", SMALL), ("2.1.83", LARGE)])
def test_index_of_the_memory_with_many_lines(version, warning):
    index = dialect_at("claude-code", version).memory_index
    lines = [str(number) for number in range(1, 301)]
    assert cut_index("\n".join(lines), index).text == "\n".join([*lines[:200], "", warning])


@pytest.mark.parametrize(("version", "units"), [("2.1.81", 150 * 300), ("2.1.83", 83 * 300 - 1)])
def test_index_of_the_memory_with_long_lines(version, units):
    index = dialect_at("claude-code", version).memory_index
    cut = cut_index("\n".join(["x" * 299] * 150) + "\n", index)
    assert len(cut.text.partition("\n\n> WARNING")[0]) == units


@pytest.mark.parametrize(("version", "end"), [("2.1.78", "- a\n"), ("2.1.79", "- a")])
def test_index_of_the_memory_with_a_line_end(place, start, version, end):
    slug = "".join(char if char.isalnum() else "-" for char in place.proj)
    place.write(f"home/.claude/projects/{slug}/memory/MEMORY.md", "- a\n")
    assert [entry.text for entry in start(version).view.entries] == [end]
