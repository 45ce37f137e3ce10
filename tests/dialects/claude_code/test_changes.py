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
        ("2.1.64", ["tab", "twice"], ["joined", "repaired", "single"]),
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


@pytest.mark.parametrize(
    ("version", "names"),
    [
        ("2.1.1", ["a.md", "picture.png"]),
        ("2.1.2", ["a.md"]),
        ("2.1.40", ["a.md"]),
        ("2.1.41", ["a.md", "b.md"]),
    ],
)
def test_what_is_imported(place, start, version, names):
    for name in ("a.md", "b.md", "picture.png"):
        place.write(f"proj/{name}")
    place.write("proj/CLAUDE.md", "@a.md @b.md#part @picture.png\n")
    view = start(version).view
    assert place.told(view) == ["proj/CLAUDE.md", *(f"proj/{name}" for name in names)]
    reasons = {place.short(skip.path): skip.reason for skip in view.skips}
    assert ("b.md" in names) != (reasons.get("proj/b.md") == "not-an-import")


@pytest.mark.parametrize(("version", "count"), [("2.1.63", 1), ("2.1.64", 0)])
def test_frontmatter_with_two_colons_in_a_line(place, start, version, count):
    place.write("proj/.claude/rules/a.md", "---\ndescription: a: b\npaths: src/**\n---\ntext\n")
    assert len(start(version).view.entries) == count


@pytest.mark.parametrize(
    ("version", "end"),
    [
        ("1.0.1", "no longer needed.\n      \n      IMPORTANT: {early}\n</system-reminder>"),
        ("1.0.3", "by the User.\n\n      \n      IMPORTANT: {early}\n</system-reminder>"),
        ("1.0.4", "by the User.\n\n      \n      IMPORTANT: {early}\n</system-reminder>\n"),
        ("1.0.59", "by the User.\n\n      \n      IMPORTANT: {late}\n</system-reminder>\n"),
        ("2.0.2", "in a\n\n\n      IMPORTANT: {late}\n</system-reminder>\n"),
        (
            "2.1.42",
            "in a\n\n# currentDate\nToday's date is 2026-01-02.\n\n      IMPORTANT: {late}\n</system-reminder>\n",
        ),
        (
            "2.1.78",
            "in a\n\n# currentDate\nToday's date is 2026-01-02.\n\n      IMPORTANT: {late}\n</system-reminder>\n\n",
        ),
        (
            "2.1.79",
            "in a\n# currentDate\nToday's date is 2026-01-02.\n\n      IMPORTANT: {late}\n</system-reminder>\n\n",
        ),
        ("2.1.268", "in a\n</system-reminder>"),
    ],
)
def test_end_of_the_block(place, start, version, end):
    place.write("proj/CLAUDE.md", "in a\n")
    said = "this context may or may not be relevant to your tasks. You should not respond to this context "
    late = said + "unless it is highly relevant to your task."
    early = said + "or otherwise consider it in your response unless it is highly relevant to your task. Most of the "
    expected = end.format(early=early + "time, it is not relevant.", late=late)
    (slot,) = start(version).view.slots
    assert slot.block.text.endswith(expected)


@pytest.mark.parametrize(("version", "paths"), [("1.0.27", ["a.md"]), ("1.0.30", ["a.md", "far.md"])])
def test_import_of_a_file_of_the_user(place, start, version, paths):
    place.write("far.md")
    place.write("home/.claude/CLAUDE.md", "@../../far.md\n")
    place.write("proj/a.md")
    place.write("proj/CLAUDE.md", "@a.md @../far.md\n")
    found = [path for path in place.told(start(version).view) if not path.endswith("CLAUDE.md")]
    assert found == [path if path == "far.md" else f"proj/{path}" for path in reversed(paths)]


@pytest.mark.parametrize(("version", "path"), [("1.0.117", "proj/b.md"), ("1.0.119", "proj/docs/b.md")])
def test_import_of_a_linked_file(place, start, version, path):
    for name in ("proj/b.md", "proj/docs/b.md"):
        place.write(name)
    place.write("proj/docs/a.md", "@b.md\n")
    place.link("proj/CLAUDE.md", "docs/a.md")
    assert place.told(start(version).view) == ["proj/CLAUDE.md", path]


@pytest.mark.parametrize(("version", "names"), [("2.0.76", ["list", "tab"]), ("2.0.77", ["tab", "twice"])])
def test_rules_before_frontmatter_was_yaml(place, start, version, names):
    for name, front in RULES.items():
        place.write(f"proj/.claude/rules/{name}.md", f"---\n{front}\n---\n{name}\n")
    assert sorted(entry.text.strip() for entry in start(version).view.entries) == names
