"""The mink interface: the promises of its documents, the faults of its program that ours has not, the four options."""

import copy
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import foretold
from foretold.compat import mink
from foretold.errors import NotAFolder
from foretold.instructions.explain import find_nested
from foretold.storage.tree import Disk


class Reading(Disk):
    """A disk that counts what is read and listed."""

    def __init__(self):
        super().__init__()
        self.read_paths, self.listed = [], []

    def read(self, path, limit):
        self.read_paths.append(path)
        return super().read(path, limit)

    def names(self, folder):
        self.listed.append(folder)
        return super().names(folder)


@pytest.fixture
def ask(place):
    """The functions of the interface, in the test's own folders."""

    def options(given):
        return {"home": place.home, "boundary": "repository", **given}

    place.git("init -q .", "")
    return SimpleNamespace(
        discover=lambda cwd="proj", **given: [
            place.short(str(path)) for path in mink.discover_memory_files(place.path(cwd), **options(given))
        ],
        load=lambda cwd="proj", hops=5, **given: place.short(mink.load_memory(place.path(cwd), hops, **options(given))),
        inject=lambda messages, cwd="proj", **given: mink.inject_memory(messages, place.path(cwd), **options(given)),
        view=lambda cwd="proj", hops=5, **given: mink.view(place.path(cwd), hops, **options(given)),
    )


def test_the_five_functions_of_the_document():
    """M-02, M-03: what a program imports, in a process of its own; only the name of the module is another."""
    names = "discover_memory_files, load_memory, inject_memory, resolve_imports, parse_frontmatter"
    subprocess.run([sys.executable, "-c", f"from foretold.compat.mink import {names}"], check=True)
    assert set(names.split(", ")) <= set(mink.__all__)


def test_the_examples_of_the_document(place, ask, monkeypatch):
    """M-44, M-45"""
    place.write("proj/CLAUDE.md", "Use tabs.")
    monkeypatch.chdir(place.proj)
    monkeypatch.setenv("HOME", place.home)
    md = mink.load_memory(Path.cwd())
    assert md.endswith(f"<!-- source: {place.proj}/CLAUDE.md -->\nUse tabs.\n")
    msgs = [{"role": "system", "content": "You are a coding agent."}]
    msgs = mink.inject_memory(msgs, Path.cwd())
    assert msgs[1] == {"role": "user", "content": f'<memory source="CLAUDE.md">\n{md}</memory>'}


def test_it_is_not_the_loader_of_claude_code(place, ask):
    """M-01: mink's document says that it is; the order of layers and the form of imports are not."""
    place.write("home/.claude/CLAUDE.md", "USER")
    place.write("proj/CLAUDE.md", "PROJECT @x.md")
    place.write("proj/x.md", "X")
    ours, real = ask.load(), place.load().text
    assert ours.index("PROJECT X") < ours.index("USER")
    assert real.index("USER") < real.index("PROJECT @x.md")


# -- what is found, and in which order ------------------------------------------------------------------------


def test_paths_are_resolved_and_absolute(place, ask):
    place.write("proj/CLAUDE.md")
    place.link("other", place.proj)
    (found,) = mink.discover_memory_files(place.path("other"), home=place.home, boundary="repository")
    assert found == Path(place.proj, "CLAUDE.md")


def test_without_a_folder_it_is_the_current_one(place, ask, monkeypatch):
    place.write("proj/CLAUDE.md", "HERE")
    monkeypatch.chdir(place.proj)
    assert "HERE" in mink.load_memory(home=place.home)
    assert mink.discover_memory_files(home=place.home)[-1] == Path(place.proj, "CLAUDE.md")


def test_the_walk_starts_at_the_top(place):
    """M-05: the top of the file system is in it; `boundary` ends it at the repository or at cwd."""
    looked = set(mink.view(place.proj, home=place.home).absent)
    assert {"/CLAUDE.md", "/.claude/rules", f"{place.root}/CLAUDE.md", f"{place.proj}/.claude/rules"} <= looked
    assert "/CLAUDE.md" not in mink.view(place.proj, home=place.home, boundary="cwd").absent


def test_the_boundary_is_the_repository(place):
    place.write("CLAUDE.md", "SOMEBODY'S")
    place.write("proj/CLAUDE.md", "P")
    place.write("proj/a/CLAUDE.md", "A")
    place.git("init -q .")
    found = mink.discover_memory_files(place.path("proj/a"), home=place.home, boundary="repository")
    assert [place.short(str(path)) for path in found] == ["proj/CLAUDE.md", "proj/a/CLAUDE.md"]


def test_names_of_a_level_and_levels(place, ask):
    for folder in ("", "proj/"):
        for name in (".claude/CLAUDE.md", "CLAUDE.local.md", "CLAUDE.md"):
            place.write(folder + name)
    assert ask.discover() == [
        *("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"),
        *("proj/CLAUDE.md", "proj/CLAUDE.local.md", "proj/.claude/CLAUDE.md"),
    ]


def test_user_global_then_rules_of_the_closest_folder(place, ask):
    place.write("home/.claude/CLAUDE.md")
    place.write("home/.claude/rules/mine.md")
    place.write(".claude/rules/far.md")
    place.write("proj/.claude/rules/b.md")
    place.write("proj/.claude/rules/a.md")
    place.write("proj/CLAUDE.md")
    assert ask.discover() == [
        *("proj/CLAUDE.md", "home/.claude/CLAUDE.md"),
        *("proj/.claude/rules/a.md", "proj/.claude/rules/b.md"),
    ]
    assert place.skipped(ask.view()) == [(".claude/rules", "shadowed")]


def test_an_empty_rules_folder_does_not_hide_others(place, ask):
    """M-11: in the original it did."""
    place.write(".claude/rules/far.md", "FAR")
    place.folder("proj/.claude/rules")
    place.write("proj/.claude/rules/notes.txt")
    assert ask.discover() == [".claude/rules/far.md"]


def test_rules_in_folders_are_named_as_not_loaded(place, ask):
    place.write("proj/.claude/rules/sub/r.md")
    assert place.skipped(ask.view()) == [("proj/.claude/rules/sub", "not-walked")]


def test_a_link_is_shown_by_the_name_its_author_knows(place, ask):
    """M-07: the header of the original showed where the link leads; a file is still loaded once."""
    place.write("shared.md", "TEXT")
    place.link("proj/CLAUDE.md", place.path("shared.md"))
    place.link("proj/CLAUDE.local.md", place.path("shared.md"))
    assert ask.load() == "<!-- source: proj/CLAUDE.md -->\nTEXT\n"
    assert ask.discover() == ["shared.md"]
    assert place.skipped(ask.view()) == [("proj/CLAUDE.local.md", "duplicate")]


def test_a_blank_file_is_discovered_and_not_injected(place, ask):
    """M-16: the original wrote a header with nothing below it, and so a message with nothing in it."""
    place.write("proj/CLAUDE.md", "<!-- nothing yet -->\n")
    place.write("proj/CLAUDE.local.md", "")
    assert ask.discover() == ["proj/CLAUDE.md", "proj/CLAUDE.local.md"]
    assert ask.load() == ""
    assert ask.inject([{"role": "user", "content": "q"}]) == [{"role": "user", "content": "q"}]
    assert place.skipped(ask.view()) == [("proj/CLAUDE.md", "empty"), ("proj/CLAUDE.local.md", "empty")]


@pytest.mark.parametrize("given", [{}, {"touched": ["x"]}])
def test_a_folder_that_is_not_there(place, ask, given):
    """Nobody starts there: the name is mistyped."""
    place.write("CLAUDE.md", "ABOVE")
    for function in (ask.load, ask.discover, ask.view):
        with pytest.raises(NotAFolder, match="proj/none is not a folder"):
            function("proj/none", **given)


# -- rules with paths -----------------------------------------------------------------------------------------


def rule(place, paths, text="RULE\n", name="r"):
    return place.write(f"proj/.claude/rules/{name}.md", f"---\npaths: {paths}\n---\n{text}")


def test_a_rule_is_loaded_where_a_file_matches_and_says_which(place, ask):
    rule(place, "['*.ts', '*.py']")
    assert place.skipped(ask.view()) == [("proj/.claude/rules/r.md", "no-match")]
    place.write("proj/a/b.py")
    (entry,) = ask.view().entries
    assert (entry.globs, entry.trigger, entry.reason) == (
        ("*.ts", "*.py"),
        place.path("proj/a/b.py"),
        "path_glob_match",
    )


def test_the_frontmatter_of_a_rule_is_cut(place, ask):
    """M-29: the original left it in the text."""
    place.write("proj/x.ts")
    rule(place, "'*.ts'")
    assert ask.load() == "<!-- source: proj/.claude/rules/r.md -->\nRULE\n"


def test_only_rules_have_frontmatter(place, ask):
    place.write("proj/CLAUDE.md", "---\npaths: '*.nothing'\n---\nBODY\n")
    assert ask.load() == "<!-- source: proj/CLAUDE.md -->\n---\npaths: '*.nothing'\n---\nBODY\n"


@pytest.mark.parametrize("paths", ["", "[]", "''", "'**'"])
def test_no_pattern_always_matches(place, ask, paths):
    rule(place, paths)
    assert ask.discover() == ["proj/.claude/rules/r.md"]


@pytest.mark.parametrize("paths", ["'*.{ts,tsx}'", "['*.{ts,tsx}']", "'*.py, *.tsx'", "\n  - '*.{ts,tsx}'", "**/*.tsx"])
def test_braces_and_commas(place, ask, paths):
    """M-33, M-35: the original tore braces apart and took commas for part of a name."""
    rule(place, paths)
    place.write("proj/x.tsx")
    assert ask.discover() == ["proj/.claude/rules/r.md"]


def test_a_byte_order_mark_before_frontmatter(place, ask):
    """M-32."""
    place.write("proj/.claude/rules/r.md", "\ufeff---\npaths: '*.none'\n---\nRULE\n")
    assert ask.discover() == []


@pytest.mark.parametrize(
    ("paths", "code"), [("5", "paths-ignored"), ("'{a,b}{}z'".replace("{}", "{a,b}" * 11), "paths-ignored")]
)
def test_paths_that_are_not_what_they_seem(place, ask, paths, code):
    rule(place, paths)
    assert [found[2] for found in place.found(ask.view())][:1] in ([code], [])
    place.write("proj/az")
    place.write("proj/" + "a" * 12 + "z")
    assert [found[2] for found in place.found(ask.view())] == [code]


@pytest.mark.parametrize("glob", ["/etc/*.conf", "/home/x/**", "~/a", "*a" * 70])
def test_an_absolute_glob_is_a_finding(place, ask, glob):
    """M-30: in the original it raised, and no memory was loaded at all."""
    rule(place, f"'{glob}'")
    place.write("proj/CLAUDE.md", "KEPT")
    assert ask.load() == "<!-- source: proj/CLAUDE.md -->\nKEPT\n"
    assert place.found(ask.view()) == [("proj/.claude/rules/r.md", None, "glob-never-matches")]


def test_one_walk_for_all_rules_and_one_reading_of_each(place, ask):
    """M-30: the original walked the whole tree for each glob, and read each rule twice."""
    for number in range(20):
        rule(place, f"['*.x{number}', '**/*.y{number}']", name=f"r{number}")
    for folder in ("src/a", "src/b", ".git/objects", "node_modules/lib"):
        place.write(f"proj/{folder}/x.py")
    tree = Reading()
    ask.view(tree=tree)
    assert len(tree.read_paths) == len(set(tree.read_paths))
    assert [place.short(path) for path in sorted(tree.listed)] == [
        *("proj", "proj/.claude", "proj/.claude/rules", "proj/src", "proj/src/a", "proj/src/b")
    ]


API = "src/api"


@pytest.mark.parametrize(
    ("glob", "hit"),
    [
        ("src/api/**", ""),  # the example of the document
        ("src/api", ""),
        ("src/**", ""),
        ("src/*", ""),
        ("./src/api/**", ""),
        ("src/api/v1/*.ts", "/v1/users.ts"),
        ("src/**/users.ts", "/v1/users.ts"),
        ("src/api/*.ts", "/v1/users.ts"),  # a star crosses folders
        ("**/api/*.ts", "/v1/users.ts"),
        ("v1/**", "/v1"),  # as before: seen from cwd
        ("*.ts", "/v1/users.ts"),
        ("src/web/**", None),  # it is there, but not below cwd
        ("src/ap", None),
        ("api/**", None),
        ("src/api/v2/**", None),
        ("src/api/*.py", None),
    ],
)
def test_globs_of_a_rule_count_from_the_project_root_as_well(place, ask, glob, hit):
    """M-30: the rule is of the project, and cwd is a folder in it; what matches still has to be below cwd."""
    rule(place, f"['{glob}']")
    place.write(f"proj/{API}/v1/users.ts")
    place.write("proj/src/web/page.ts")
    entries = ask.view(f"proj/{API}").entries
    assert [entry.trigger for entry in entries] == ([] if hit is None else [place.path(f"proj/{API}") + hit])


def test_inline_comments_stay_and_block_level_ones_go(place, ask):
    """M-17"""
    text = "<!-- top -->\nUse tabs. <!-- since May -->\n\n- <!-- item -->a\n> <!-- q --> <!-- r --> b <!-- c -->\n"
    place.write("proj/CLAUDE.md", text)
    assert ask.load() == ("<!-- source: proj/CLAUDE.md -->\n\nUse tabs. <!-- since May -->\n\n- a\n>   b <!-- c -->\n")


# -- faults of the original that raised, or lost everything ----------------------------------------------------


def test_bytes_that_are_not_utf8_are_a_finding(place, ask):
    """M-26, M-51: one bad byte anywhere removed all instructions."""
    place.write("proj/bad.md", b"B\xff")
    place.write("proj/CLAUDE.md", b"caf\xe9 @bad.md\n")
    assert ask.load() == "<!-- source: proj/CLAUDE.md -->\ncaf\ufffd B\ufffd\n"
    assert [code for _, _, code in place.found(ask.view())] == ["not-utf8", "not-utf8"]


def test_an_unknown_user_is_a_finding(place, ask):
    """M-22."""
    place.write("proj/CLAUDE.md", "a @~nobody-is-called-this/x.md b")
    assert ask.load() == "<!-- source: proj/CLAUDE.md -->\na @~nobody-is-called-this/x.md b\n"
    assert place.found(ask.view()) == [("proj/CLAUDE.md", 1, "unknown-user")]


@pytest.mark.parametrize("name", ["n" * 300 + ".md", "n" * 5000, "a\0b.md"])
def test_a_name_that_no_file_can_have_is_a_finding(place, ask, name):
    """M-26."""
    place.write("proj/CLAUDE.md", f"a @{name} b")
    assert ask.load() == f"<!-- source: proj/CLAUDE.md -->\na @{name} b\n"
    assert "bad-name" in [code for _, _, code in place.found(ask.view())]


def test_what_is_no_file_is_named(place, ask):
    place.fifo("proj/CLAUDE.md")
    place.folder("proj/CLAUDE.local.md")
    place.link("proj/.claude/CLAUDE.md", "CLAUDE.md")
    assert ask.load() == ""
    assert {reason for _, reason in place.skipped(ask.view())} == {"not-a-file", "folder", "symlink-loop"}


def test_many_unclosed_comments(place, ask):
    """M-17: the original took seconds for 20,000 of them."""
    place.write("proj/CLAUDE.md", "<!-- " * 200_000)
    assert len(ask.load()) > 900_000


# -- hops ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("hops", "last"), [(5, 5), (1, 1), (0, 0), (-1, 0), (20, 7)])
def test_hops(place, ask, hops, last):
    for number in range(7):
        place.write(f"proj/f{number}.md", f"L{number} @./f{number + 1}.md")
    place.write("proj/CLAUDE.md", "@./f0.md")
    said = " ".join([*(f"L{number}" for number in range(last)), f"@./f{last}.md"])
    assert ask.load(hops=hops) == f"<!-- source: proj/CLAUDE.md -->\n{said}\n"
    capped = [skip.path for skip in ask.view(hops=hops).skips if skip.reason == "depth-cap"]
    assert [place.short(path) for path in capped] == ([f"proj/f{last}.md"] if last < 7 else [])


def test_resolve_imports(place):
    place.write("proj/a.md", "A @b.md")
    place.write("proj/b.md", "B")
    place.write("home/n.md", "N")
    assert mink.resolve_imports("1 @a.md, @a.md <!-- x -->2 @~/n.md", place.proj, home=place.home) == (
        "1 A B,  <!-- x -->2 N"
    )
    for limit in ({"max_hops": 1}, {"hops": 1}):
        assert mink.resolve_imports("@a.md", Path(place.proj), **limit) == "A @b.md"
    assert mink.resolve_imports("@a.md", Path(place.proj), 0) == "@a.md"
    assert mink.resolve_imports(f"@{place.proj}/a.md", "/nowhere") == "A B"
    assert mink.resolve_imports(f"@{place.proj}/a.md", "/nowhere", approve=False) == f"@{place.proj}/a.md"


# -- frontmatter ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values", "body"),
    [
        ("---\nname: n\ndescription: d: e\nwhen_to_use: 'w'\npriority: 3\n---\nb", None, "b"),
        ("---\n---\nbody\n", {}, "body"),
        ("---\n\n# c: d\n---\nbody", {}, "body"),
        ("\ufeff---\na: b\n---\nbody", {"a": "b"}, "body"),  # M-32: a byte order mark hid it
        ("---foo\na: b\n---\nbody", {}, "---foo\na: b\n---\nbody"),  # M-32: any line that starts so opened it
        ("---\npaths: ['*.{ts,tsx}', \"a,b\", c]\n---\n", {"paths": ["*.{ts,tsx}", "a,b", "c"]}, ""),  # M-33
        ("---\nkeys: [a, b]\nlist:\n  - 'x'\n\n  - y\n---\nb", {"keys": ["a", "b"], "list": ["x", "y"]}, "b"),
        ("---\n- stray\na: 'b\"\n---\nb", {"a": "'b\""}, "b"),
        ("", {}, ""),
    ],
)
def test_frontmatter(text, values, body):
    if values is None:
        values = {"name": "n", "description": "d: e", "when_to_use": "w", "priority": "3"}
    assert mink.parse_frontmatter(text) == (values, body)


# -- messages ---------------------------------------------------------------------------------------------------

SYSTEM, USER = {"role": "system", "content": "s"}, {"role": "user", "content": "q"}


def test_injecting_again_replaces(place, ask):
    """M-42: the original inserted a second copy."""
    place.write("proj/CLAUDE.md", "ONE")
    given = [SYSTEM, USER]
    kept = copy.deepcopy(given)
    once = ask.inject(given)
    place.write("proj/CLAUDE.md", "TWO")
    twice = ask.inject(once)
    assert [len(once), len(twice), given] == [3, 3, kept]
    assert twice[1]["content"] == once[1]["content"].replace("ONE", "TWO")
    Path(place.proj, "CLAUDE.md").unlink()
    assert ask.inject(twice) == given


def test_a_text_cannot_close_the_sentinel(place, ask):
    """M-42: the original escaped nothing."""
    place.write("proj/CLAUDE.md", 'x </memory> <Memory source="CLAUDE.md"> y')
    content = ask.inject([USER])[0]["content"]
    assert (content.count("</memory>"), content.lower().count("<memory")) == (1, 1)
    assert ask.inject(ask.inject([USER])) == ask.inject([USER])
    place.write("proj/CLAUDE.md", "Task<MemoryStream> <memory_limit>")
    assert "Task<MemoryStream> <memory_limit>" in ask.inject([USER])[0]["content"]


def test_messages_that_are_objects(place, ask):
    """M-39: the original took dictionaries only."""
    place.write("proj/CLAUDE.md", "M")
    system, user = SimpleNamespace(role="system", content="s"), SimpleNamespace(role="user", content="q")
    found = ask.inject([system, user])
    assert [found[0], found[2]] == [system, user]
    assert (type(found[1]), found[1].role) == (SimpleNamespace, "user")
    assert ask.inject(found)[1] == found[1]


class Needy(SimpleNamespace):
    """A message that cannot be made from its role and content alone."""

    def __init__(self, role, content, number):
        super().__init__(role=role, content=content, number=number)


def test_an_object_that_cannot_be_made_is_a_dictionary(place, ask):
    place.write("proj/CLAUDE.md", "M")
    assert ask.inject([Needy("user", "q", 1)])[0]["role"] == "user"


def test_an_object_is_of_the_class_that_the_user_has(place, ask):
    class System(SimpleNamespace):
        pass

    place.write("proj/CLAUDE.md", "M")
    found = ask.inject([System(role="system", content="s"), SimpleNamespace(role="user", content="q")])
    assert type(found[1]) is SimpleNamespace


def test_the_message_is_pinned(place, ask):
    place.write("proj/CLAUDE.md", "M")
    messages = [*ask.inject([SYSTEM, USER]), USER]
    assert foretold.pinned_prefix(messages) == 2
    assert [foretold.is_memory_message(message) for message in messages] == [False, True, False, False]
    assert foretold.inject(messages, "Ours.")[1:3] == [
        {"role": "user", "content": "<foretold>\nOurs.\n</foretold>"},
        messages[1],
    ]


# -- the four things that it says it lacks ---------------------------------------------------------------------


def test_the_managed_file(place, ask):
    place.write("managed/CLAUDE.md", "ORDERS")
    place.write("proj/CLAUDE.md", "P")
    assert ask.discover() == ["proj/CLAUDE.md"]
    assert ask.discover(managed=place.managed) == ["managed/CLAUDE.md", "proj/CLAUDE.md"]


def test_excludes(place, ask):
    for name in ("CLAUDE.md", "CLAUDE.local.md", ".claude/rules/r.md", "x.md"):
        place.write(f"proj/{name}", "T @x.md")
    assert ask.discover(excludes=["**/*.local.md", "**/rules/**"]) == ["proj/CLAUDE.md"]
    assert ask.load(excludes=["**/proj/x.md", "**/rules/**", "**/CLAUDE.local.md"]).endswith("T @x.md\n")
    assert ("proj/CLAUDE.local.md", "excluded") in place.skipped(ask.view(excludes=["**/*.local.md"]))


def test_excludes_of_the_settings(place, ask):
    place.write("proj/CLAUDE.md", "P")
    place.write("proj/CLAUDE.local.md", "L")
    place.write("home/.claude/settings.json", '{"claudeMdExcludes": ["**/CLAUDE.local.md"]}')
    assert ask.discover() == ["proj/CLAUDE.md", "proj/CLAUDE.local.md"]
    assert ask.discover(excludes="settings") == ["proj/CLAUDE.md"]


def test_folders_below_once_a_file_there_is_read(place, ask):
    place.write("proj/CLAUDE.md", "P")
    place.write("proj/api/CLAUDE.md", "API @x.md")
    place.write("proj/api/x.md", "X")
    place.write("proj/web/CLAUDE.md", "WEB")
    assert ask.discover(touched=["api/v1/users.py"]) == ["proj/CLAUDE.md", "proj/api/CLAUDE.md"]
    text = ask.load(touched=["api/v1/users.py", place.path("proj/api/b.py")])
    assert text.endswith("\n\n<!-- source: proj/api/CLAUDE.md -->\nAPI X\n")
    assert text.count("API") == 1


def test_folders_below_in_a_session(place):
    place.write("proj/api/CLAUDE.md", "API </memory>")
    session = foretold.Session(place.proj, agent="mink", home=place.home)
    session.start()
    (block,) = session.read("api/users.py").blocks
    said = f"<!-- source: {place.proj}/api/CLAUDE.md -->\nAPI &lt;/memory>"
    assert block == ("user", "text", f'<memory source="CLAUDE.md">\n{said}</memory>')


def test_approval_of_imports_from_outside(place, ask):
    place.write("outside.md", "OUT")
    place.write("proj/in.md", "IN")
    place.link("proj/hole.md", place.path("outside.md"))
    place.write("proj/CLAUDE.md", "@in.md @../outside.md @hole.md")
    head = "<!-- source: proj/CLAUDE.md -->\n"
    assert ask.load() == head + "IN OUT\n"
    assert ask.load(approve=False) == head + "IN @../outside.md @hole.md\n"
    assert ask.load(approve=True) == head + "IN OUT\n"
    asked = []
    assert ask.load(approve=lambda path: not asked.append(path)) == head + "IN OUT\n"
    assert [place.short(path) for path in asked] == ["outside.md", "proj/hole.md"]
    pending = [place.short(skip.path) for skip in ask.view(approve=False).skips if skip.reason == "outside-project"]
    assert pending == ["outside.md", "proj/hole.md"]


def test_approval_is_asked_afresh_and_only_for_what_is_there(place, ask):
    place.write("outside.md", "SECRET")
    place.write("proj/CLAUDE.md", "@../outside.md @../none.md")
    allowed, asked = {place.path("outside.md")}, []

    def approve(path):
        asked.append(place.short(path))
        return path in allowed

    assert "SECRET" in ask.load(approve=approve)
    allowed.clear()
    assert "SECRET" not in ask.load(approve=approve)
    assert asked == ["outside.md", "outside.md"]


def test_touched_by_another_spelling(place, ask):
    place.write("proj/api/CLAUDE.md", "API")
    place.link("link", place.proj)
    assert "API" in ask.load("link", touched=[place.path("link/api/x.py")])
    assert "API" in ask.load("link", touched="api/x.py")


def test_a_memory_file_that_is_touched_itself(place, ask):
    """The page: the memory files of the folders down to it follow, and it is one of them."""
    place.write("proj/api/CLAUDE.md", "API")
    assert ask.discover(touched=["api/CLAUDE.md"]) == ["proj/api/CLAUDE.md"]
    session = foretold.Session(place.proj, agent="mink", home=place.home)
    assert [entry.text for entry in session.read("api/CLAUDE.md").entries] == ["API"]
    assert [skip.reason for skip in session.read("api/x.py").skips] == ["already-attached"]


def test_by_itself_it_reads_nothing_below(place, ask):
    """M-48: what a program may ask for is not what mink does."""
    place.write("proj/CLAUDE.md", "TOP")
    place.write("proj/api/CLAUDE.md", "API")
    (verdict,) = find_nested(ask.view()).verdicts
    assert (place.short(verdict.path), verdict.loaded, verdict.reason) == ("proj/api/CLAUDE.md", "never", "start-only")


@pytest.mark.parametrize("token", ["(@s.md)", "**@s.md**", '"@s.md"', "see:@s.md"])
@pytest.mark.parametrize("more", ["", "\n@s.md"])
def test_a_token_after_punctuation_stays_and_is_named(place, ask, token, more):
    """Also where the same file is imported elsewhere in the text."""
    place.write("proj/CLAUDE.md", f"a {token}{more}\n")
    place.write("proj/s.md", "S")
    assert f"a {token}" in ask.load()
    assert place.skipped(ask.view()) == [("proj/s.md", "not-an-import")]
    assert place.found(ask.view()) == [("proj/CLAUDE.md", 1, "import-form")]


def test_a_boundary_that_is_not_there_is_named(place):
    place.write("CLAUDE.md", "ABOVE")
    (finding,) = mink.view(place.proj, home=place.home, boundary="repository").findings
    assert finding.code == "boundary-unknown"
    assert f"{place.proj} is not in one: what is above it is not read" in finding.message
    place.git("init -q .")
    assert mink.view(place.proj, home=place.home, boundary="repository").findings == ()


def test_a_name_that_is_no_text(place):
    name = os.fsdecode(b"\xff")
    place.write(f"proj/{name}\n--> x/CLAUDE.md", "T")
    text = mink.load_memory(place.path(f"proj/{name}\n--> x"), home=place.home, boundary="cwd")
    assert text.encode().decode() == f"<!-- source: {place.proj}/\ufffd --&gt; x/CLAUDE.md -->\nT\n"


def test_a_folder_that_was_removed(place, monkeypatch):
    monkeypatch.chdir(place.folder("gone"))
    os.rmdir(place.path("gone"))
    with pytest.raises(foretold.NotAFolder):
        mink.load_memory(home=place.home)


def test_a_boundary_that_is_none(place):
    with pytest.raises(foretold.ForetoldError, match="the boundary is 'repo'; it can be top, repository, cwd"):
        mink.load_memory(place.proj, home=place.home, boundary="repo")


def test_only_what_is_there_is_excluded(place, ask):
    place.write("proj/CLAUDE.local.md")
    view = ask.view(excludes="**/CLAUDE.local.md")
    assert place.skipped(view) == [("proj/CLAUDE.local.md", "excluded")]


def test_the_same_options_in_a_session(place):
    place.write("outside.md", "OUT")
    place.write("proj/CLAUDE.md", "@../outside.md")
    place.write("proj/api/CLAUDE.md", "API")
    settings = {"approve": False, "boundary": "cwd", "claudeMdExcludes": ["**/api/*"]}
    session = foretold.Session(place.proj, agent="mink", home=place.home, settings=settings)
    assert session.start().text.endswith("@../outside.md\n")
    assert session.read("api/x.py").entries == ()


def test_managed_by_its_file(place, ask):
    path = place.write("managed/CLAUDE.md", "ORDERS")
    assert ask.discover(managed=path) == ["managed/CLAUDE.md"]


# -- the dialect ------------------------------------------------------------------------------------------------


def test_the_same_text_by_the_engine(place):
    place.write("proj/CLAUDE.md", "P @x.md")
    place.write("proj/x.md", "X")
    view = foretold.load(place.proj, agent="mink", home=place.home)
    assert view.text == mink.load_memory(place.proj, home=place.home)
    (slot,) = view.slots
    assert (slot.place, slot.block.text) == (
        "after-system",
        mink.inject_memory([], place.proj, home=place.home)[0]["content"],
    )


def test_the_command_shows_it(place):
    place.write("proj/CLAUDE.md", "P")
    done = place.run("show", "--agent", "mink")
    assert done.stdout.decode() == mink.load_memory(place.proj, home=place.home)
