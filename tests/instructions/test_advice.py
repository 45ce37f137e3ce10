"""What the agent drops in silence, said aloud."""

import pytest

from foretold.dialects.registry import AGENTS, dialects_of
from foretold.findings.registry import severity_of
from foretold.instructions.advice import ADVICE, advise
from foretold.instructions.discover.rule_conditions import CONDITION_KEYS
from foretold.storage.tree import Disk
from foretold.types import REASONS, Finding, Skip


def advice(*skips):
    return list(advise(skips, (), Disk()))


def test_every_piece_of_advice_is_for_a_reason():
    assert set(ADVICE) <= set(REASONS)


@pytest.mark.parametrize("reason", sorted(set(ADVICE) - {"folder"}))
def test_advice_names_the_importer_the_line_and_the_file(reason):
    code, _, hint = ADVICE[reason]
    (finding,) = advice(Skip("/p/x.md", reason, "the detail", "project", "/p/CLAUDE.md", 3))
    assert finding[:3] + finding[4:] == ("/p/CLAUDE.md", 3, code, hint)
    assert finding.message.startswith("/p/x.md: ")


@pytest.mark.parametrize("reason", sorted(ADVICE))
def test_advice_without_importer_names_the_file(reason):
    code, _, hint = ADVICE[reason]
    (finding,) = advice(Skip("/p/x.md", reason))
    assert finding[:3] + finding[4:] == ("/p/x.md", None, code, hint)
    assert "{" not in finding.message


@pytest.mark.parametrize("reason", sorted(set(REASONS) - set(ADVICE) - {"missing"}))
def test_reasons_that_are_nobodys_mistake(reason):
    assert advice(Skip("/p/x.md", reason, "", "project", "/p/CLAUDE.md", 3)) == []


def test_details_are_in_the_message():
    (large,) = advice(Skip("/p/x.md", "too-large", "9 bytes, the limit is 4"))
    (code,) = advice(Skip("/p/x.md", "in-code", "a code span", parent="/p/C.md", line=1))
    assert large.message == "/p/x.md: it is not loaded: 9 bytes, the limit is 4"
    assert code.message == "/p/x.md: the import is not followed: it is in a code span"


def test_braces_in_names_are_no_templates():
    (finding,) = advice(Skip("/p/{detail}{0}.md", "too-large", "{x}"))
    assert finding.message == "/p/{detail}{0}.md: it is not loaded: {x}"


def test_a_dangling_link():
    assert advice(Skip("/p/CLAUDE.md", "missing")) == [
        Finding("/p/CLAUDE.md", None, "dangling-link", "/p/CLAUDE.md: the link is broken", "fix the link")
    ]


def test_a_missing_import():
    assert advice(Skip("/p/docs/a.md", "missing", parent="/p/CLAUDE.md", line=4)) == [
        Finding(
            "/p/CLAUDE.md",
            4,
            "import-missing",
            "/p/docs/a.md: not imported, there is no such file",
            "fix the path, or write it without @",
        )
    ]


@pytest.mark.parametrize("name", ["alice", "types/node", "team", "...", "..", "a@b.c"])
def test_a_name_that_merely_looks_like_an_import(name):
    assert advice(Skip(f"/p/{name}", "missing", parent="/p/CLAUDE.md", line=4)) == []


@pytest.mark.parametrize("extra", [",", ".", ";", ":", "!", "?", ")", "]", "}", ">", '"', "'", "...", ")."])
def test_punctuation_behind_a_path(place, extra):
    path = place.write("proj/docs/a.md")
    assert advice(Skip(path + extra, "missing", parent="/p/CLAUDE.md", line=4)) == [
        Finding(
            "/p/CLAUDE.md",
            4,
            "import-punctuation",
            f"{path}{extra}: not imported, because {extra!r} is taken as part of the name",
            "put white space after the path",
        )
    ]


def test_globs_that_never_match(place):
    path = place.write("proj/.claude/rules/r.md", "---\npaths: ['./src/**', lib/**]\n---\nrule")
    assert [finding[:3] for finding in place.load().findings] == [(path, None, "glob-never-matches")]


@pytest.mark.parametrize(
    ("glob", "hint"),
    [
        ("./src/**", "write it without"),
        ("!src/x.ts", "add one that matches"),
        ("\\src/**", "write it without the backslash"),
        ("s\\rc/**", "write `/`"),
        ("/", "to apply the rule always, leave `paths` out"),
        ("!(lib)/**", "add one that matches"),
        ("src/[x.ts", "write `\\[` for a name that has one"),
        ("src/[a--].ts", "close it, or turn the range round"),
    ],
)
def test_the_hint_is_about_the_cause_and_the_match_agrees(place, glob, hint):
    place.write("proj/.claude/rules/r.md", f"---\npaths: ['{glob}']\n---\nrule")
    place.write("proj/src/x.ts")
    assert [(finding.code, finding.hint) for finding in place.load().findings] == [("glob-never-matches", hint)]
    session = place.session()
    session.start()
    assert session.read("src/x.ts").entries == ()


def test_a_tidy_project_has_no_findings(place):
    place.write("proj/CLAUDE.md", "Ask @alice, mail x@y.com or see @docs/a.md .\n\nnpm i @types/node\n")
    place.write("proj/docs/a.md", "fine")
    place.write("proj/.claude/rules/r.md", "---\npaths: [src/**]\n---\nrule")
    assert place.load().findings == ()


@pytest.mark.parametrize("agent", ["claude-code@2.1.325", "mink"])
@pytest.mark.parametrize("word", ["include", "import"])
def test_include_is_no_directive(place, agent, word):
    place.write("proj/CLAUDE.md", f"One\n@{word} docs/a.md\n")
    place.write("proj/docs/a.md", "A")
    view = place.load(agent=agent)
    assert ("proj/CLAUDE.md", 2, "import-directive") in place.found(view)
    assert "docs/a.md" in view.text


def test_a_key_that_another_agent_reads(place):
    """Quotes would change nothing: Claude Code does not read `globs`."""
    path = place.write("proj/.claude/rules/a.md", "---\ndescription: x\nglobs: **/src/*.ts\n---\nrule")
    other = place.write("proj/.claude/rules/b.md", '---\napplyTo: "**/*.ts"\n---\nrule')
    place.write("proj/.claude/rules/c.md", "---\nglobs: x\npaths: src/**\n---\nrule")
    said = "is not a key that the agent reads, so the rule is always loaded"
    hint = "write `paths`, with the patterns in quotes"
    assert sorted(place.load().findings) == [
        Finding(path, 3, "rule-key-unread", f"`globs` {said}", hint),
        Finding(other, 2, "rule-key-unread", f"`applyTo` {said}", hint),
    ]


def test_a_key_of_another_agent_says_nothing_outside_of_rules(place):
    place.write("proj/CLAUDE.md", "---\nglobs: x\n---\ntext")
    assert place.load().findings == ()


def test_yaml_that_does_not_parse_has_one_line_number(place):
    path = place.write("proj/.claude/rules/a.md", "---\ndescription: x\npaths: [src/**\n---\nrule")
    finding, *_ = place.load().findings
    assert finding[:3] == (path, 3, "frontmatter-repaired")
    assert "line" not in finding.message


def test_the_keys_of_conditions_are_those_of_the_agents():
    known = {dialect.rules.key for agent in AGENTS for dialect in dialects_of(agent)} - {""}
    assert known == set(CONDITION_KEYS)


# -- rules that are always loaded, and were not meant to be ---------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("---\npaths: src/**\n\nbody\n", 1, "it is not closed"),
        ("---\npaths: src/**\n...\nbody\n", 3, "`...` does not close it"),
        ("\n---\npaths: src/**\n---\nbody\n", 2, "there is a blank line before its first `---`"),
        ("# Rule\n---\ndescription: x\npaths: src/**\n---\nbody\n", 2, "there is text before its first `---`"),
    ],
)
def test_frontmatter_that_is_sent_as_text(place, text, line, why):
    path = place.write("proj/.claude/rules/a.md", text)
    view = place.load()
    [finding] = view.findings
    said = f"its frontmatter is sent as text, and its `paths` does not count: {why}"
    assert finding[:4] == (path, line, "frontmatter-unread", said)
    assert [entry.path for entry in view.entries] == [path]


@pytest.mark.parametrize(
    "text",
    [
        "# Rule\n\n---\n\nText\n",
        "---\n\nText: more\n",
        "Text\n\n```\n---\npaths: src/**\n---\n```\n",
        "Text\n\n---\n# Title\npaths: are good\n",
    ],
)
def test_a_line_across_the_text_is_not_frontmatter(place, text):
    place.write("proj/.claude/rules/a.md", text)
    assert place.load().findings == ()


@pytest.mark.parametrize("key", ["path", "Paths", "glob", "ApplyTo"])
def test_a_key_that_is_nearly_right(place, key):
    path = place.write("proj/.claude/rules/a.md", f'---\n{key}: "src/**"\n---\nrule')
    [finding] = place.load().findings
    assert finding[:3] == (path, 2, "rule-key-unread")


def test_a_quote_that_is_not_closed(place):
    path = place.write("proj/.claude/rules/a.md", '---\npaths:\n - "src/**\ndesc: x\n---\nrule')
    [finding] = place.load().findings
    assert (*finding[:3], finding.hint) == (path, 3, "frontmatter-invalid", "close the quote")


def test_yaml_that_is_repaired_is_a_warning(place):
    place.write("proj/.claude/rules/a.md", "---\npaths: *.ts\n---\nrule")
    [finding] = place.load().findings
    assert (finding.code, severity_of(finding)) == ("frontmatter-repaired", "warning")


@pytest.mark.parametrize(
    ("written", "there", "hint"),
    [
        ("See @README for more", "README.md", "did you mean @README.md?"),
        ("- @docs/m", "docs/m.md", "did you mean @docs/m.md?"),
        ("- @docs/J.md", "docs/j.md", "did you mean @docs/j.md?"),
    ],
)
def test_an_import_that_nearly_names_a_file(place, written, there, hint):
    place.write("proj/CLAUDE.md", written)
    place.write(f"proj/{there}", "text")
    assert [(each.code, each.hint) for each in place.load().findings] == [("import-missing", hint)]


@pytest.mark.parametrize("written", ["Ask @claude", "@alice", "@types/node"])
def test_a_name_that_is_not_nearly_a_file(place, written):
    place.write("proj/CLAUDE.md", written)
    place.write("proj/README.md", "text")
    assert place.load().findings == ()


def test_bytes_that_are_odd_in_two_ways_are_one_finding(place):
    place.write("proj/.claude/rules/bin.md", b"\xff\xfe\0bad")
    [finding] = place.load().findings
    assert finding.message == "bytes that are not UTF-8 are sent as U+FFFD, and it has NUL characters in it"


def test_a_rule_of_copilot_that_always_applies_is_not_a_problem(place):
    for agent, key in (("copilot-cli", "applyTo"), ("vscode-copilot", "applyTo")):
        place.write("proj/.github/instructions/all.instructions.md", f'---\n{key}: "**"\n---\nrule')
        assert place.load(agent=agent).findings == ()
