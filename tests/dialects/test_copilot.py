"""Copilot CLI: what was seen by asking 1.0.102 beyond the recorded cases, and what is said of what it leaves out."""

import os

import pytest

import foretold

AGENT = "copilot-cli@1.0.102"
HEAD = "\n| Pattern | File Path | Description |\n| ------- | --------- | ----------- |\n"
VIEW = "Apply these to any code you write here:"


@pytest.fixture
def repo(place):
    place.git("init -q .")
    return place


def rule(text, **front):
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in front.items()) + f"---\n{text}\n"


def viewed(session, *paths):
    """What each view of a file attaches, by name."""
    return [[entry.name for entry in session.use([foretold.Call("view", {"path": path})]).entries] for path in paths]


def reasons(view, place):
    return {(place.short(skip.path), skip.reason) for skip in view.skips}


def test_names_in_any_case(repo):
    repo.write("proj/claude.md", "C\n")
    repo.write("proj/Gemini.md", "G\n")
    repo.write("proj/AGENTS.md", "A\n")
    repo.write("proj/agents.md", "a\n")
    repo.write("proj/.github/Copilot-Instructions.md", "P\n")
    repo.write("proj/.Claude/rules/x.md", "no\n")
    view = repo.load(agent=AGENT)
    names = [os.path.basename(entry.path) for entry in view.entries]
    assert names == ["Copilot-Instructions.md", "AGENTS.md", "claude.md", "Gemini.md"]
    assert reasons(view, repo) == {("proj/agents.md", "shadowed")}


def test_what_is_left_out_is_named(repo):
    for name in ("a.md", "b.mdc", "c.txt", ".h.md"):
        repo.write(f"proj/.claude/rules/{name}", "R\n")
    repo.write("proj/.claude/CLAUDE.md", "no\n")
    repo.write("proj/.github/instructions/README.md", "no\n")
    repo.write("proj/.github/instructions/x.instructions.md", rule("X", excludeAgent="coding-agent"))
    repo.write("proj/docs/z.md", "Z\n")
    repo.link("proj/.claude/rules/linked", "../../docs")
    view = repo.load(agent=AGENT)
    assert [repo.short(entry.path) for entry in view.entries] == ["proj/.claude/rules/a.md"]
    assert reasons(view, repo) == {
        ("proj/.claude/CLAUDE.md", "not-here"),
        ("proj/.claude/rules/b.mdc", "wrong-extension"),
        ("proj/.claude/rules/c.txt", "wrong-extension"),
        ("proj/.claude/rules/.h.md", "hidden"),
        ("proj/.claude/rules/linked", "not-walked"),
        ("proj/.github/instructions/README.md", "wrong-extension"),
        ("proj/.github/instructions/x.instructions.md", "disabled"),
    }


def test_patterns_that_all_mean_always(repo):
    repo.write("proj/.claude/rules/a.md", rule("A", paths='["**", "*"]'))
    repo.write("proj/.claude/rules/b.md", rule("B", paths='"**,**/*"'))
    assert [entry.kind for entry in repo.load(agent=AGENT).entries] == ["rule", "rule"]


def test_a_key_that_is_there_hides_the_other(repo):
    repo.write("proj/.claude/rules/a.md", rule("A", applyTo="", paths="x/**"))
    repo.write("proj/.claude/rules/b.md", rule("B", x="*y", applyTo="", paths="x/**"))  # not valid: by line
    assert [entry.kind for entry in repo.load(agent=AGENT).entries] == ["rule", "row"]


def test_cells_of_the_table(repo):
    repo.write("proj/.claude/rules/a.md", rule("A", paths="'a\\|b'", description='" x\\n\\ny "'))
    assert repo.load(agent=AGENT).text == HEAD + "| a\\\\\\|b | '.claude/rules/a.md' | x  y |"


def test_a_list_keeps_its_strings_only(repo):
    repo.write("proj/.claude/rules/a.md", rule("A", paths='[7, "", "x/**", [y]]'))
    assert repo.load(agent=AGENT).text == HEAD + "| , x/** | '.claude/rules/a.md' |  |"


def test_listed_folders_are_seen_from_the_top(repo):
    repo.write("proj/AGENTS.md", "R\n")
    for folder in ("s", "s/t", "d"):
        repo.write(f"proj/{folder}/AGENTS.md", f"{folder}\n")
    env = {"COPILOT_CUSTOM_INSTRUCTIONS_DIRS": "../../d,.,../.."}
    view = foretold.load(repo.path("proj/s/t"), agent=AGENT, home=repo.home, env=env)
    rows = [entry.text for entry in view.entries if entry.kind == "folder-row"]
    assert rows == [
        "| d/ | 'd/AGENTS.md' | Agent instructions for d/**/* |",
        "| s/t/ | 's/t/AGENTS.md' | Agent instructions for s/t/**/* |",
    ]


def test_rules_of_a_folder_wait_after_it_was_looked_at(repo):
    repo.write("proj/a/.claude/rules/js.md", rule("OLD", paths='"*.js"'))
    repo.write("proj/a/.claude/rules/ts.md", rule("TS", paths='"*.ts"'))
    repo.write("proj/a/x.ts")
    repo.write("proj/a/y.js")
    session = foretold.Session(repo.proj, agent=AGENT, home=repo.home, env={})
    assert viewed(session, "a/x.ts") == [["a/.claude/rules/ts.md"]]
    repo.write("proj/a/.claude/rules/js.md", rule("NEW", paths='"*.js"'))
    other = session.clone()
    found = session.use([foretold.Call("view", {"path": "a/y.js"})])
    assert [entry.raw for entry in found.entries] == [rule("OLD", paths='"*.js"')]
    assert viewed(other, "a/y.js", "a/y.js") == [["a/.claude/rules/js.md"], []]


def test_patterns_see_the_spelled_path_and_folders_the_real_one(repo):
    repo.write("proj/.claude/rules/lnk.md", rule("L", paths="lnk/**"))
    repo.write("proj/.claude/rules/real.md", rule("R", paths="real/**"))
    repo.write("proj/real/AGENTS.md", "A\n")
    repo.write("proj/real/x.ts")
    repo.link("proj/lnk", "real")
    repo.write("ext/AGENTS.md", "E\n")
    repo.write("ext/x.ts")
    repo.link("proj/out", "../ext")
    session = foretold.Session(repo.proj, agent=AGENT, home=repo.home, env={})
    assert viewed(session, "lnk/x.ts", "out/x.ts") == [[".claude/rules/lnk.md", "real/AGENTS.md"], []]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[@b.md] '@b.md' <@b.md>: @b.md;", ["b.md"] * 4),
        ("@alice @b @b.md/ a@b.md -@b.md @b.md#x @b.md,x", []),
        ("@d/b é@b.md @@b.md @b.md?!", ["d/b", "b.md", "b.md", "b.md"]),
    ],
)
def test_what_is_an_import(repo, text, names):
    for name in ("b.md", "d/b", "alice", "b"):
        repo.write(f"proj/{name}", "X\n")
    repo.write("proj/AGENTS.md", text)
    sources = repo.load(agent=AGENT).text.split(' source="')[1:]
    assert [os.path.relpath(each.partition('"')[0], repo.proj) for each in sources] == names


def test_patterns_that_match_nothing(repo):
    repo.write("proj/.claude/rules/a.md", rule("A", paths='["/src/**", "src/{a,b", "./src/**"]'))
    said = [finding[3:] for finding in repo.load(agent=AGENT).findings if finding.code == "glob-never-matches"]
    assert said == [
        ("`/src/**`: it starts with `/`, as no path does", "write it as seen from the top of the repository"),
        ("`src/{a,b`: its `{` is not closed", ""),
    ]


def test_a_broken_header_says_what_still_counts(repo):
    repo.write("proj/.claude/rules/a.md", "---\npaths: **/*.ts\n---\nA\n")
    (finding,) = repo.load(agent=AGENT).findings
    assert finding.code == "frontmatter-invalid"
    assert "so only its line `paths: **/*.ts` counts" in finding.message


def test_removed_characters_are_reported(repo):
    repo.write("proj/AGENTS.md", "\ufeffone\ntwo\u200b e\u0301 soft\u00ad\u00adhyphen \u26a0\ufe0f\n")
    repo.write("proj/CLAUDE.md", "\ufeffplain\n")
    view = repo.load(agent=AGENT)
    assert [entry.text for entry in view.entries] == ["one\ntwo \u00e9 softhyphen \u26a0\ufe0f\n", "plain\n"]
    said = "the agent removes 3 invisible characters (U+00AD, U+200B): the model does not see what the file has"
    assert [(repo.short(each.path), each.line, each.code, each.message) for each in view.findings] == [
        ("proj/AGENTS.md", 2, "characters-removed", said)
    ]
