"""Ignored findings: comments that no agent is sent, settings for files, comments that do nothing."""

import foretold
from foretold.check.finding import CheckFinding
from foretold.check.project import CheckOptions, Project
from foretold.check.run import check_tree
from foretold.check.settings import CheckSettings
from foretold.check.suppression import find_comments, suppress_findings

IGNORE = "<!-- foretold: ignore import-missing -->"


def check(place, settings=None, **options):
    return check_tree(Project(place.proj, CheckOptions(home="", **options)), settings or CheckSettings(select=RULES))


RULES = (
    "import-missing",
    "import-in-code",
    "rule-key-unread",
    "ignore-unused",
    "ignore-delivered",
    "glob-never-matches",
)


def found(place, report):
    return [(place.short(each.path).removeprefix("proj/"), each.line, each.code) for each in report.findings]


def told(place, agent="claude-code", **options):
    return foretold.load(place.proj, agent=agent, home=place.home, managed=place.managed, env={}, **options).text or ""


# What a comment is


def test_a_comment_is_about_the_next_line_with_text():
    comments = find_comments("a.md", f"one\n\n{IGNORE}\n\n\ntwo\n")
    assert [(each.line, each.target, each.rules) for each in comments] == [(3, 6, ("import-missing",))]


def test_comments_in_a_row_are_about_the_same_line():
    comments = find_comments("a.md", f"{IGNORE}\n<!-- foretold: ignore truth -->\ntext\n")
    assert [(each.target, each.rules) for each in comments] == [(3, ("import-missing",)), (3, ("truth",))]


def test_several_rules_and_a_reason():
    comment = find_comments("a.md", "<!-- foretold: ignore truth, import-missing: made by the build -->\nx\n")[0]
    assert comment.rules == ("truth", "import-missing")


def test_a_comment_for_the_file():
    assert find_comments("a.md", "x\n<!-- foretold: ignore-file truth -->\n")[0].target is None


def test_a_comment_in_a_line_is_about_that_line():
    comment = find_comments("a.toml", "x = 1  # foretold: ignore truth\n")[0]
    assert (comment.line, comment.target, comment.is_alone, comment.text) == (1, 1, False, "# foretold: ignore truth")


def test_examples_are_not_comments():
    fenced = f"```\n{IGNORE}\n```\n\n    {IGNORE}\n\nWrite `{IGNORE}` before it.\n~~~md\n{IGNORE}\n~~~\n"
    assert find_comments("a.md", fenced) == []
    assert find_comments("a.md", "# foretold: ignore truth\n\nnot frontmatter\n") == []
    assert find_comments("a.json", '{"x": 1} // foretold: ignore truth\n') == []
    assert find_comments("a.md", "The word foretold: ignore it.\n") == []


def test_each_kind_of_file_has_its_own_comments():
    assert find_comments("a.md", "---\n# foretold: ignore truth\nx: 1\n---\nbody\n")[0].target == 3
    assert find_comments("a.yaml", "# foretold: ignore truth\nx: 1\n")[0].target == 2
    assert find_comments("a.jsonc", "// foretold: ignore truth\n{}\n")[0].target == 2


def test_a_slip_is_a_comment_without_rules():
    for word in ("ignor", "ignored", "Ignore", "disable"):
        (comment,) = find_comments("a.md", f"<!-- foretold: {word} import-missing -->\nx\n")
        assert (comment.slip, comment.rules, comment.target) == (word, (), 2)
    assert find_comments("a.md", "<!-- foretold: see the guide -->\n") == []
    assert find_comments("a.md", "The word foretold: ignor it. `<!-- foretold: ignor truth -->`\n") == []
    (comment,) = find_comments("a.md", "foretold: it <!-- foretold: ignore truth -->\n")
    assert (comment.slip, comment.rules) == ("", ("truth",))


def test_a_large_file_with_many_slips_takes_no_time():
    assert len(find_comments("a.md", "<!-- foretold: ignor truth\n" * 100_000)) == 1000


def test_a_large_file_with_many_marks_takes_no_time():
    text = "<!-- foretold: ignore truth\n" * 100_000
    assert len(find_comments("a.md", text)) == 1000


# What it does


def test_a_comment_keeps_a_finding_back_and_is_not_sent(place):
    place.write("proj/CLAUDE.md", f"Intro.\n\n{IGNORE}\nSee @docs/missing.md\n\nAnd @docs/other.md\n")
    report = check(place)
    assert found(place, report) == [("CLAUDE.md", 6, "import-missing")]
    assert report.ignored == 1
    assert "foretold: ignore" not in told(place)
    assert "See @docs/missing.md" in told(place)


def test_a_misspelt_comment_is_reported_and_not_removed(place):
    place.write("proj/CLAUDE.md", "<!-- foretold: ignor import-missing -->\nSee @docs/missing.md\n")
    report = check(place)
    assert found(place, report) == [("CLAUDE.md", 1, "ignore-unused"), ("CLAUDE.md", 2, "import-missing")]
    slip = report.findings[0]
    assert slip.message == "`ignor` is not `ignore` or `ignore-file`, so this comment ignores nothing"
    assert (slip.hint, slip.fix) == ("write: foretold: ignore CODE", None)


def test_the_frontmatter_of_a_rule_is_not_sent(place):
    place.write("proj/CLAUDE.md", "x\n")
    place.write(
        "proj/.claude/rules/a.md",
        "---\n# foretold: ignore rule-key-unread: it is for another agent\nglobs: '*.ts'\n---\nRule.\n",
    )
    report = check(place)
    assert (found(place, report), report.ignored) == ([], 1)
    assert "Rule." in told(place)
    assert "foretold:" not in told(place)


def test_a_whole_file(place):
    place.write("proj/CLAUDE.md", "<!-- foretold: ignore-file delivery -->\nSee @docs/a.md\n\n@docs/b.md\n")
    report = check(place)
    assert (found(place, report), report.ignored) == ([], 2)


def test_nested_files_are_known_too(place):
    place.write("proj/CLAUDE.md", "x\n")
    place.write("proj/web/CLAUDE.md", f"{IGNORE}\n@docs/a.md\n")
    report = check(place)
    assert (found(place, report), report.ignored) == ([], 1)


def test_a_link_to_the_file_has_the_same_comments(place):
    place.write("proj/docs/CLAUDE.real.md", f"{IGNORE}\n@docs/a.md\n")
    place.link("proj/CLAUDE.md", "docs/CLAUDE.real.md")
    report = check(place)
    assert (found(place, report), report.ignored) == ([], 1)


# What an agent is sent does not count


def test_a_comment_that_an_agent_is_sent_does_not_count(place):
    place.write("proj/CLAUDE.md", "@AGENTS.md\n")
    place.write("proj/AGENTS.md", f"{IGNORE}\nSee @docs/missing.md\n")
    report = check(place)
    assert found(place, report) == [("AGENTS.md", 1, "ignore-delivered"), ("AGENTS.md", 2, "import-missing")]
    first = report.findings[0]
    assert first.message == "this comment is sent to codex@0.166.0 with the file, so it ignores nothing"
    assert first.hint.endswith('write in .foretold.toml: per-file-ignores = {"AGENTS.md" = ["import-missing"]}')
    assert IGNORE in told(place, "codex")
    assert report.ignored == 0


def test_a_comment_within_a_paragraph_is_sent_by_claude_code(place):
    place.write("proj/CLAUDE.md", f"See @docs/missing.md {IGNORE}\n")
    assert ("CLAUDE.md", 1, "ignore-delivered") in found(place, check(place))
    assert IGNORE in told(place)


def test_a_comment_in_a_list_is_sent_by_claude_code(place):
    place.write("proj/CLAUDE.md", f"- one\n  {IGNORE}\n- See @docs/missing.md\n")
    assert ("CLAUDE.md", 2, "ignore-delivered") in found(place, check(place))
    assert IGNORE in told(place)


def test_the_body_of_a_skill_may_be_sent(place):
    place.write("proj/CLAUDE.md", "x\n")
    text = "---\nname: a\ndescription: b\n---\n<!-- foretold: ignore truth -->\nx\n"
    path = place.write("proj/.claude/skills/a/SKILL.md", text)
    project = Project(place.proj, CheckOptions(home=""))
    given = [CheckFinding(path, 6, "import-missing", "x")]
    left = suppress_findings(given, project, CheckSettings())
    assert [each.code for each in left.findings] == ["import-missing", "ignore-delivered"]
    assert left.findings[1].message.startswith("whether agents are sent this comment is not known")


# Comments that do nothing


def test_a_comment_that_ignores_nothing_is_named_and_can_be_removed(place):
    path = place.write("proj/CLAUDE.md", f"One.\n\n{IGNORE}\nTwo.\n")
    (finding,) = check(place).findings
    assert (finding.line, finding.code, finding.severity) == (3, "ignore-unused", "note")
    assert finding.message == "there is no import-missing in line 4 to ignore"
    assert apply(finding.fix, path) == "One.\n\nTwo.\n"


def test_what_is_left_of_a_comment(place):
    text = "<!-- foretold: ignore import-missing, glob-never-matches: why -->\n@docs/a.md\n"
    path = place.write("proj/CLAUDE.md", text)
    (finding,) = check(place).findings
    assert finding.message == "there is no glob-never-matches in line 2 to ignore"
    assert apply(finding.fix, path) == "<!-- foretold: ignore import-missing: why -->\n@docs/a.md\n"


def test_a_comment_after_a_value_is_removed_alone(place):
    place.write("proj/CLAUDE.md", "x\n")
    text = "---\npaths: '*.ts' # foretold: ignore import-missing\n---\nRule.\n"
    path = place.write("proj/.claude/rules/a.md", text)
    (finding,) = check(place).findings
    assert apply(finding.fix, path) == "---\npaths: '*.ts'\n---\nRule.\n"


def test_a_rule_that_does_not_exist(place):
    place.write("proj/CLAUDE.md", "<!-- foretold: ignore import-mising -->\n@docs/a.md\n")
    assert [each.message for each in check(place).findings] == [
        "'import-mising' is not a rule or a family, did you mean 'import-missing'?",
        place.short(check(place).findings[1].message),
    ]


def test_a_comment_without_a_rule(place):
    place.write("proj/CLAUDE.md", "<!-- foretold: ignore -->\n@docs/a.md\n")
    assert check(place).findings[0].message == "this comment names no rule, so it ignores nothing"


def test_nothing_is_said_where_it_is_not_known(place):
    """Rules that did not run, and agents that were not asked about, may need the comment."""
    place.write("proj/CLAUDE.md", f"{IGNORE}\nx\n")
    assert check(place, CheckSettings(select=("glob-never-matches", "ignore-unused"))).findings == ()
    assert check(place, agents=("gemini-cli",)).findings == ()
    both = CheckSettings(select=RULES, agents=("claude-code",))
    assert [each.code for each in check(place, both, agents=("claude-code",)).findings] == ["ignore-unused"]


# Settings for files


def test_per_file_ignores(place):
    place.write("proj/CLAUDE.md", "@docs/a.md\n")
    place.write("proj/web/CLAUDE.md", "@docs/b.md\n")
    settings = CheckSettings(select=RULES, per_file_ignores={"web/**": ("delivery",), "*.txt": ("import-missing",)})
    report = check(place, settings)
    assert (found(place, report), report.ignored) == ([("CLAUDE.md", 1, "import-missing")], 1)


def test_per_file_ignores_take_comments_too(place):
    place.write("proj/AGENTS.md", f"{IGNORE}\nx\n")
    settings = CheckSettings(select=RULES, per_file_ignores={"AGENTS.md": ("ignore-delivered",)})
    assert check(place, settings).findings == ()


def apply(fix, path):
    with open(path, "rb") as file:
        data = file.read()
    for edit in sorted(fix.edits, reverse=True):
        assert edit.path == path
        data = data[: edit.start] + edit.text.encode() + data[edit.end :]
    return data.decode()


def test_a_comment_that_goes_on_in_the_next_line_is_not_removed(place):
    """The rest of it would be sent to the agent."""
    place.write("proj/CLAUDE.md", "# T\n\n<!-- foretold: ignore import-missing\nINTERNAL NOTE -->\n\nText.\n")
    report = check_tree(Project(place.proj, CheckOptions(home="")))
    assert [(each.code, each.fix) for each in report.findings] == [("ignore-unused", None)]


def test_many_comments_before_many_blank_lines():
    """Each line is looked at once: otherwise this takes minutes."""
    text = "<!-- foretold: ignore import-missing -->\n" * 1_000 + "\n" * 1_000_000 + "See @a.md\n"
    assert {comment.target for comment in find_comments("a.md", text)} == {1_001_001}
