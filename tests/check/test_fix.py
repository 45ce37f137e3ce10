"""`foretold check --fix`: fixes that are proven before they are written, and can be taken back."""

import os
import stat
import time

import pytest
from tests.check.fixture import FAULTS, build, copy, plant
from tests.check.test_fixture import count

from foretold.check import CheckOptions, Project, check_tree
from foretold.check.delivered import map_deliveries
from foretold.check.diff.change import compare_projects
from foretold.check.finding import CheckFinding, Effect, Fix, Rename, TextEdit
from foretold.check.fix import find_fix, plan_fixes, undo_fixes, write_fixes
from foretold.check.fix.edits import EditedText, apply_edits, may_combine
from foretold.check.fix.fixers import FIXERS, SAFE, UNSAFE, attach_fixes
from foretold.check.fix.proof import FixAttempt, examine, prove
from foretold.check.fix.write import MOST_KEPT, open_undo
from foretold.check.settings import CheckSettings
from foretold.cli import main
from foretold.errors import NoCheckpoint, RestoreRefused
from foretold.findings.registry import CHECKED, load_families

from ..cli.documents import read_document
from .fixing import CLAUDE, fix, open_project, plan, read, run, snapshot, store

# -- imports


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("See @docs/style.md, please.\n", "See @docs/style.md , please.\n", "import-punctuation"),
        ("See @docs/style.md.\r\n", "See @docs/style.md .\r\n", "import-punctuation"),
        ("See @docs/Style.md\n", "See @docs/style.md\n", "import-missing"),
        ("See @Docs/style.md now\n", "See @docs/style.md now\n", "import-missing"),
        ("See @docs/style\n", "See @docs/style.md\n", "import-missing"),
        ("See @./docs/STYLE.md\n", "See @./docs/style.md\n", "import-missing"),
        ("@include docs/style.md\n", "@docs/style.md\n", "import-directive"),
        ("@import docs/style.md\n", "@docs/style.md\n", "import-directive"),
        ("Style (@docs/style.md).\n", "Style ( @docs/style.md ).\n", "import-form"),
        ("Tables: @docs/my tables.md\n", "Tables: @docs/my\\ tables.md\n", "import-space"),
    ],
)
def test_an_import_is_written_as_it_was_meant(place, before, after, code):
    place.write("proj/docs/style.md", "Short names.\n")
    place.write("proj/docs/my tables.md", "Tides.\n")
    place.write("proj/CLAUDE.md", before)
    assert fix(place) == [code]
    assert read(place, "CLAUDE.md") == after


def test_a_path_from_the_top_is_written_as_seen_from_its_file(place):
    place.write("proj/docs/style.md", "Short names.\n")
    place.write("proj/.claude/rules/shared.md", "@docs/style.md\n")
    assert fix(place) == ["import-missing"]
    assert read(place, ".claude/rules/shared.md") == "@../../docs/style.md\n"


@pytest.mark.parametrize(
    "text",
    [
        "See @docs/stile.md\n",  # nearly: a guess
        "See @docs/notes\n",  # notes.md or notes.txt
        "See @docs/your-page.md\n",
        "See @style.md\n",
        "@include docs/gone.md\n",
        "```\n@docs/style.md\n```\n",
    ],
)
def test_what_is_not_certain_is_left_alone(place, text):
    for path in ("docs/style.md", "docs/notes.md", "docs/notes.txt", "docs/STILE.txt"):
        place.write(f"proj/{path}", "Text.\n")
    place.write("proj/CLAUDE.md", text)
    found = plan(place)
    assert (found.fixes, found.changes) == ((), {})


def test_several_imports_in_one_line_are_fixed_together(place):
    for name in "abc":
        place.write(f"proj/docs/{name}.md", f"{name}\n")
    place.write("proj/CLAUDE.md", "Read @docs/a.md, @docs/b.md, @docs/c.md.\n")
    assert fix(place) == ["import-punctuation"] * 3
    assert read(place, "CLAUDE.md") == "Read @docs/a.md , @docs/b.md , @docs/c.md .\n"


def test_an_import_in_a_code_span_is_taken_out_only_if_that_is_wanted(place):
    place.write("proj/docs/style.md", "Short names.\n")
    place.write("proj/CLAUDE.md", "Style: `@docs/style.md`.\n")
    assert plan(place).unsafe == 1
    assert fix(place) == []
    assert fix(place, unsafe=True) == ["import-in-code"]
    assert read(place, "CLAUDE.md") == "Style: @docs/style.md .\n"


# -- rules


RULE = "---\n{}\n---\nValidate.\n"


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        (RULE.format("globs: src/**"), RULE.format('paths: "src/**"'), "rule-key-unread"),
        (RULE.format("globs: *.ts"), RULE.format('paths: "*.ts"'), "rule-key-unread"),
        (
            RULE.format('description: x\nglobs: "src/*.{ts,tsx}, docs/**"\nalwaysApply: false'),
            RULE.format('description: x\npaths:\n  - "src/*.{ts,tsx}"\n  - "docs/**"\nalwaysApply: false'),
            "rule-key-unread",
        ),
        (
            RULE.format("globs:\n  - src/**\n  - docs/**"),
            RULE.format("paths:\n  - src/**\n  - docs/**"),
            "rule-key-unread",
        ),
        (RULE.format('glob: ["src/**"]'), RULE.format('paths: ["src/**"]'), "rule-key-unread"),
        (RULE.format("path: src/**"), RULE.format('paths: "src/**"'), "rule-key-unread"),
        ("\n" + RULE.format("paths: src/**"), RULE.format("paths: src/**"), "frontmatter-unread"),
        ("---\npaths: src/**\n\nValidate.\n", "---\npaths: src/**\n---\n\nValidate.\n", "frontmatter-unread"),
        ("---\r\npaths: src/**\r\n\r\nText.\r\n", "---\r\npaths: src/**\r\n---\r\n\r\nText.\r\n", "frontmatter-unread"),
        ("---\npaths: src/**\n...\nText.\n", "---\npaths: src/**\n---\nText.\n", "frontmatter-unread"),
        ("\n" + RULE.format("globs: src/**"), RULE.format('paths: "src/**"'), "frontmatter-unread"),
        ("\ufeff" + RULE.format("paths: src/**"), RULE.format("paths: src/**"), "byte-order-mark"),
        (RULE.format("paths: **/*.ts"), RULE.format('paths: "**/*.ts"'), "frontmatter-repaired"),
        (RULE.format("paths:\n  - **/*.ts\n  - b"), RULE.format('paths:\n  - "**/*.ts"\n  - b'), "frontmatter-invalid"),
        (RULE.format('paths: ["./src/**"]'), RULE.format('paths: ["src/**"]'), "glob-never-matches"),
        (RULE.format("paths: src//*.ts"), RULE.format("paths: src/*.ts"), "glob-never-matches"),
    ],
)
def test_a_rule_waits_for_what_its_author_wrote(place, before, after, code):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/src/a.ts", "")
    place.write("proj/.claude/rules/api.md", before)
    version = "claude-code@2.1.197" if code == "byte-order-mark" else CLAUDE
    assert code in fix(place, version)
    assert read(place, ".claude/rules/api.md") == after
    (rule,) = [each for _, each in map_deliveries(open_project(place, version)).find(".claude/rules/api.md")]
    assert rule.when == "match"


@pytest.mark.parametrize(
    "text",
    [
        RULE.format("globs: 5"),
        RULE.format("globs:"),
        RULE.format("alwaysApply: false"),
        RULE.format("globs: src/** # sources"),
        "A line.\n" + RULE.format("paths: src/**"),
        RULE.format('paths: ["../src/**"]'),
    ],
)
def test_a_rule_that_needs_a_person_is_left_alone(place, text):
    place.write("proj/src/a.ts", "")
    place.write("proj/.claude/rules/api.md", text)
    assert plan(place).changes == {}


def test_a_key_that_another_agent_reads_in_the_same_file_stays(place):
    text = RULE.format("applyTo: 'src/**,docs/**'")
    place.write("proj/src/a.ts", "")
    place.write("proj/.github/instructions/api.instructions.md", text)
    place.link("proj/.claude/rules/api.md", "../../.github/instructions/api.instructions.md")
    assert fix(place) == ["rule-key-unread"]
    new = RULE.format('paths:\n  - "src/**"\n  - "docs/**"\napplyTo: \'src/**,docs/**\'')
    assert read(place, ".github/instructions/api.instructions.md") == new


def test_patterns_that_match_nothing_are_not_made_to_count(place):
    """The rule is always loaded now. With its key corrected it would never be: that is for a person to decide."""
    place.write("proj/.claude/rules/api.md", RULE.format("globs: gone/**"))
    found = plan(place)
    assert found.changes == {}
    assert [each.reason.partition(" in ")[0] for each in found.refused] == [
        "there would be a new finding, glob-matches-nothing"
    ]


def test_a_rule_of_another_agent_is_renamed_with_its_keys_only_if_that_is_wanted(place):
    place.write("proj/src/a.ts", "")
    place.write("proj/.claude/rules/api.mdc", RULE.format("description: x\nglobs: src/**"))
    assert fix(place) == []
    assert fix(place, unsafe=True) == ["rule-extension"]
    assert read(place, ".claude/rules/api.md") == RULE.format('description: x\npaths: "src/**"')
    assert not os.path.exists(place.path("proj/.claude/rules/api.mdc"))


# -- names, words


def test_capitals_of_a_name_are_corrected_if_nobody_has_it_in_a_text(place):
    place.git("init -q")
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/src/claude.md", "Sources.\n")
    place.write("proj/src/a.py", "")
    place.git("add -A")
    assert fix(place) == ["name-case"]
    assert sorted(os.listdir(place.path("proj/src"))) == ["CLAUDE.md", "a.py"]
    undo_fixes(place.proj, store(place))
    place.write("proj/readme.txt", "see src/claude.md\n")
    place.git("add -A")
    assert (plan(place).fixes, plan(place).unsafe) == ((), 1)


def test_a_name_that_would_hide_other_files_is_not_given(place):
    place.write("proj/claude.md", "Use tabs.\n")
    place.write("proj/AGENTS.md", "Agents.\n")
    place.write("proj/api/AGENTS.md", "Api.\n")
    found = plan(place, unsafe=True)
    assert found.changes == {}
    assert len(found.refused) == 1


def test_a_file_that_is_never_read_is_imported_from_a_new_one_only_if_that_is_wanted(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/api/AGENTS.md", "Api.\n")
    assert fix(place) == []
    assert fix(place, unsafe=True) == ["file-shadowed"]
    assert read(place, "api/CLAUDE.md") == "@AGENTS.md\n"


def test_git_ignores_a_local_file(place):
    place.git("init -q")
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/.gitignore", "dist/")
    place.write("proj/CLAUDE.local.md", "Mine.\n")
    assert fix(place) == ["local-not-ignored"]
    assert read(place, ".gitignore") == "dist/\nCLAUDE.local.md\n"


def test_what_git_does_not_do_is_taken_back(place):
    place.git("init -q")
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/sub/CLAUDE.local.md", "Mine.\n")
    found = plan(place)
    place.write("proj/sub/.gitignore", "!CLAUDE.local.md\n")  # meanwhile
    with pytest.raises(RestoreRefused, match=r"git still does not ignore sub/CLAUDE\.local\.md"):
        write_fixes(found, store(place))
    assert not os.path.exists(place.path("proj/.gitignore"))


def test_hidden_characters_are_deleted_only_if_that_is_wanted(place):
    place.write("proj/CLAUDE.md", "Use t\u200babs, \U0001f469\u200d\U0001f4bb.\n")
    assert fix(place) == []
    assert fix(place, unsafe=True) == ["instructions-hidden"]
    assert read(place, "CLAUDE.md") == "Use tabs, \U0001f469\u200d\U0001f4bb.\n"


def test_a_path_that_git_moved_is_written_anew_and_a_placeholder_is_not(place):
    place.git("init -q")
    place.write("proj/src/routes/orders.ts", "export const orders = 1;\n" * 20)
    place.git("add -A")
    place.git("commit -q -m start")
    place.git("mv src/routes/orders.ts src/routes/sales.ts")
    place.write("proj/CLAUDE.md", "Start from `src/routes/orders.ts`.\n\nA new one is `src/routes/your-route.ts`.\n")
    place.git("add -A")
    place.git("commit -q -m move")
    assert fix(place) == ["path-moved"]
    assert read(place, "CLAUDE.md").startswith(
        "Start from `src/routes/sales.ts`.\n\nA new one is `src/routes/your-route"
    )


def test_a_path_that_moved_is_written_in_every_line(place):
    place.git("init -q")
    place.write("proj/src/orders.ts", "export const orders = 1;\n" * 20)
    place.git("add -A")
    place.git("commit -q -m start")
    place.git("mv src/orders.ts src/sales.ts")
    place.write("proj/CLAUDE.md", "Start from `src/orders.ts`.\n\nEnd with `src/orders.ts`.\n")
    place.git("add -A")
    place.git("commit -q -m move")
    assert {*fix(place)} == {"path-moved"}
    assert read(place, "CLAUDE.md") == "Start from `src/sales.ts`.\n\nEnd with `src/sales.ts`.\n"


def test_the_path_of_a_file_that_was_put_away_is_not_safe_to_write(place):
    place.git("init -q")
    place.write("proj/docs/plan.md", "The plan.\n" * 20)
    place.git("add -A")
    place.git("commit -q -m start")
    place.folder("proj/docs/archive")
    place.git("mv docs/plan.md docs/archive/plan.md")
    place.write("proj/CLAUDE.md", "Follow `docs/plan.md`.\n")
    place.git("add -A")
    place.git("commit -q -m move")
    assert (plan(place).fixes, plan(place).unsafe) == ((), 1)


# -- the proof


def attempt(project, finding, fix):
    """The refusal of one fix, or nothing."""
    settings = CheckSettings()
    renames = {rename.path: rename.to for rename in fix.renames}
    changes = {edit.path: apply_edits(project.tree.read(edit.path, 10_000), [edit]) for edit in fix.edits}
    before = examine(project, settings, [finding.code], renames)
    after = examine(project.with_changes(changes), settings, [finding.code], renames)
    return prove(before, after, [FixAttempt(finding, fix)], renames).refusal


@pytest.fixture
def comma(place):
    """A project with a comma after an import, and its finding."""
    place.write("proj/docs/style.md", "Short names.\n")
    place.write("proj/CLAUDE.md", "See @docs/style.md, please.\n")

    def look():
        project = open_project(place)
        (finding,) = check_tree(project).findings
        return project, finding

    return look


def edit(project, text, brings=("docs/style.md",)):
    path = project.absolute("CLAUDE.md")
    effect = Effect(tuple(map(project.absolute, brings)))
    return Fix("try it", (TextEdit(path, 0, len(project.read(path).encode()), text),), effect=effect)


def test_a_fix_that_does_what_it_announces_is_proven(comma):
    project, finding = comma()
    assert attempt(project, finding, edit(project, "See @docs/style.md , please.\n")) == ""


def test_a_fix_that_leaves_the_finding_is_refused(comma):
    project, finding = comma()
    assert (
        attempt(project, finding, edit(project, "Do see @docs/style.md, please.\n"))
        == "the finding would still be there"
    )


def test_a_fix_that_brings_another_finding_is_refused(comma):
    project, finding = comma()
    said = attempt(project, finding, edit(project, "See @docs/style.md and @docs/gone.md\n"))
    assert said.startswith("there would be a new finding, import-missing in CLAUDE.md:1: docs/gone.md")


def test_a_fix_that_delivers_what_it_does_not_announce_is_refused(comma, place):
    place.write("proj/docs/more.md", "More.\n")
    project, finding = comma()
    said = attempt(project, finding, edit(project, "See @docs/style.md and @docs/more.md\n"))
    assert said == "it would also change what Claude Code is given: docs/more.md (delivered)"


def test_what_comes_with_an_announced_file_is_announced(comma, place):
    place.write("proj/docs/style.md", "Short names. @more.md\n")
    place.write("proj/docs/more.md", "More. @most.md\n")
    place.write("proj/docs/most.md", "Most.\n")
    project, finding = comma()
    assert attempt(project, finding, edit(project, "See @docs/style.md , please.\n")) == ""


def test_a_fix_that_does_not_do_what_it_announces_is_refused(comma):
    project, finding = comma()
    said = attempt(project, finding, edit(project, "See the style.\n"))
    assert said == "docs/style.md would still not be given to any agent"


def test_a_budget_that_would_cut_off_more_refuses_a_fix(place):
    place.git("init -q")
    place.write("proj/docs/style.md", "Short names.\n")
    place.write("proj/AGENTS.md", "See @docs/style.md, please.\n" + "x" * 33_000 + "\n")
    place.write("proj/CLAUDE.md", "@AGENTS.md\n")
    found = plan(place, CLAUDE, "codex")
    assert found.changes == {}
    assert [each.reason for each in found.refused] == ["the budget of Codex would cut off more of AGENTS.md"]


def test_a_fix_that_would_send_a_secret_is_refused(place):
    secret = "ghp_" + "8dKq2vLw9XzR4tYb6NcJ1mHs7PfG3aQe5Uio"
    place.write("proj/docs/deploy.md", f"The token is {secret}\n")
    place.write("proj/CLAUDE.md", "See @docs/deploy.md, please.\n")
    found = plan(place)
    assert found.changes == {}
    assert [each.reason.partition(" in ")[0] for each in found.refused] == [
        "there would be a new finding, instructions-credential"
    ]


def test_one_fix_that_is_refused_does_not_stop_the_others(place):
    place.write("proj/docs/a.md", "A.\n")
    place.write("proj/docs/b.md", "B. @gone.md\n")
    place.write("proj/docs/c.md", "C.\n")
    place.write("proj/CLAUDE.md", "@docs/a.md, and\n@docs/b.md, and\n@docs/c.md, too\n")
    found = plan(place)
    assert [each.finding.line for each in found.fixes] == [1, 3]
    assert [each.finding.line for each in found.refused] == [2]
    assert found.changes[place.path("proj/CLAUDE.md")] == b"@docs/a.md , and\n@docs/b.md, and\n@docs/c.md , too\n"


# -- edits


def test_fixes_that_touch_the_same_bytes_are_not_made_together():
    one, other = (Fix("", (TextEdit("a", start, start + 2, "x"),)) for start in (0, 2))
    far, same = Fix("", (TextEdit("a", 9, 9, "x"),)), Fix("again", one.edits)
    renamed = Fix("", renames=(Rename("a", "b"),))
    assert [may_combine(one, [each]) for each in (other, far, same, renamed)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("before", "after"),
    [("", "a"), ("a", ""), ("aaa", "aa"), ("é", "è"), ("xéy", "xy"), ("\U0001f469a", "\U0001f4bba"), ("abab", "ab")],
)
def test_an_edit_makes_one_text_of_another(before, after):
    edits = EditedText("a.md", before).replace(after)
    assert apply_edits(before.encode(), edits).decode() == after


def test_a_file_that_is_not_utf_8_is_not_edited(place):
    place.write("proj/docs/style.md", "Short names.\n")
    place.write("proj/CLAUDE.md", b"caf\xe9 @docs/style.md, please\n")
    assert plan(place).changes == {}


@pytest.mark.parametrize(
    "text",
    [
        "@docs/style.md, " * 20_000,
        "@docs/style.md,\n" * 1_000,
        "".join(f"@docs/gone{number}.md " for number in range(4_000)),
        "`@docs/style.md`" * 20_000,
        "@include " * 20_000,
    ],
    ids=["one line", "many lines", "missing", "code", "directives"],
)
def test_a_hostile_file_costs_little(place, text):
    place.write("proj/docs/style.md", "Short names.\n")
    place.write("proj/CLAUDE.md", text)
    project = open_project(place)
    report = check_tree(project)
    start = time.process_time()
    plan_fixes(report._replace(findings=tuple(attach_fixes(report.findings, project))), CheckSettings(), unsafe=True)
    assert time.process_time() - start < 20


def test_a_header_of_spaces_costs_little(place):
    place.write("proj/.claude/rules/a.md", "---\npaths:\n  - *" + " " * 60_000 + "'\n---\nText.\n")
    start = time.process_time()
    plan(place, unsafe=True)
    assert time.process_time() - start < 10


def test_only_the_first_findings_of_a_report_get_their_fixes(comma):
    project, finding = comma()
    assert [each.fix is not None for each in attach_fixes([finding] * 3, project, 2)] == [True, True, False]


# -- writing


@pytest.fixture
def fixable(place):
    place.write("proj/docs/style.md", "Short names.\n")
    place.write("proj/CLAUDE.md", "See @docs/style.md, please.\n", mode=0o640)
    return place


def test_mode_and_line_ends_stay(fixable):
    fixable.write("proj/CLAUDE.md", "One.\r\nSee @docs/style.md, please.\r\n", mode=0o640)
    fix(fixable)
    assert read(fixable, "CLAUDE.md") == "One.\r\nSee @docs/style.md , please.\r\n"
    assert stat.S_IMODE(os.stat(fixable.path("proj/CLAUDE.md")).st_mode) == 0o640
    assert sorted(os.listdir(fixable.proj)) == ["CLAUDE.md", "docs"]


def test_the_file_behind_a_link_is_written_and_the_link_stays(fixable):
    os.rename(fixable.path("proj/CLAUDE.md"), fixable.path("proj/AGENTS.md"))
    fixable.link("proj/CLAUDE.md", "AGENTS.md")
    assert set(fix(fixable)) == {"import-punctuation"}
    assert os.readlink(fixable.path("proj/CLAUDE.md")) == "AGENTS.md"
    assert read(fixable, "AGENTS.md") == "See @docs/style.md , please.\n"


def test_nothing_outside_of_the_project_is_written(fixable):
    outside = fixable.write("shared/CLAUDE.md", "See @docs/style.md, please.\n")
    os.remove(fixable.path("proj/CLAUDE.md"))
    fixable.link("proj/CLAUDE.md", outside)
    assert plan(fixable, unsafe=True).changes == {}


def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(fixable):
    fixable.write("proj/api/CLAUDE.md", "See @../docs/style.md, please.\n")
    found = plan(fixable)
    os.rename(fixable.path("proj/api"), fixable.path("elsewhere"))
    fixable.link("proj/api", fixable.path("elsewhere"))
    with pytest.raises(RestoreRefused, match="is not in"):
        write_fixes(found, store(fixable))
    assert read(fixable, "CLAUDE.md") == "See @docs/style.md, please.\n"


def test_a_file_that_was_changed_meanwhile_is_not_written(fixable):
    found = plan(fixable)
    fixable.write("proj/CLAUDE.md", "Something else.\n")
    with pytest.raises(RestoreRefused, match="was changed meanwhile"):
        write_fixes(found, store(fixable))
    assert read(fixable, "CLAUDE.md") == "Something else.\n"


def test_a_file_that_gets_a_second_name_meanwhile_is_not_written(fixable):
    found = plan(fixable)
    os.link(fixable.path("proj/CLAUDE.md"), fixable.path("copy.md"))
    with pytest.raises(RestoreRefused, match="has 2 names"):
        write_fixes(found, store(fixable))
    assert read(fixable, "CLAUDE.md") == "See @docs/style.md, please.\n"


def test_undo_restores_every_byte_and_mode(fixable):
    fixable.write("proj/.claude/rules/api.mdc", RULE.format("globs: docs/**"), mode=0o600)
    before = snapshot(fixable.proj)
    assert set(fix(fixable, unsafe=True)) == {"import-punctuation", "rule-extension"}
    assert snapshot(fixable.proj) != before
    undo_fixes(fixable.proj, store(fixable))
    assert snapshot(fixable.proj) == before
    with pytest.raises(NoCheckpoint, match="nothing to undo"):
        undo_fixes(fixable.proj, store(fixable))


def test_undo_goes_back_one_run_after_another(fixable):
    fix(fixable)
    fixable.write("proj/api/CLAUDE.md", "See @../docs/style.md, please.\n")
    fix(fixable)
    undo_fixes(fixable.proj, store(fixable))
    assert (read(fixable, "api/CLAUDE.md"), read(fixable, "CLAUDE.md")) == (
        "See @../docs/style.md, please.\n",
        "See @docs/style.md , please.\n",
    )
    undo_fixes(fixable.proj, store(fixable))
    assert read(fixable, "CLAUDE.md") == "See @docs/style.md, please.\n"


def test_undo_does_not_overwrite_what_was_written_since(fixable):
    fix(fixable)
    fixable.write("proj/CLAUDE.md", "Mine.\n")
    with pytest.raises(RestoreRefused, match="was changed after the fixes") as refused:
        undo_fixes(fixable.proj, store(fixable))
    copied = str(refused.value).partition("what it was is in ")[2].partition(". Nothing")[0]
    with open(copied, encoding="utf-8") as file:
        assert file.read() == "See @docs/style.md, please.\n"
    assert read(fixable, "CLAUDE.md") == "Mine.\n"


def test_only_the_last_runs_are_kept(fixable, monkeypatch):
    monkeypatch.setattr("foretold.check.fix.write.MOST_KEPT", 2)
    assert MOST_KEPT > 2
    for number in range(4):
        fixable.write("proj/CLAUDE.md", f"{number} See @docs/style.md, please.\n")
        fix(fixable)
    folder = store(fixable).folder
    assert len(os.listdir(os.path.join(folder, "restores"))) == 2
    assert len(os.listdir(os.path.join(folder, "objects"))) == 4
    undo_fixes(fixable.proj, store(fixable))
    assert read(fixable, "CLAUDE.md") == "3 See @docs/style.md, please.\n"


# -- the command


def test_the_command_says_what_changes_for_whom(fixable):
    status, printed = run(fixable, "--fix")
    assert (status, printed.split("\n")[:5]) == (
        0,
        [
            "CLAUDE.md:1  import-punctuation",
            "  put white space after @docs/style.md",
            "    docs/style.md: not delivered → always (Claude Code)",
            "    CLAUDE.md: its text changes (Claude Code)",
            "",
        ],
    )
    assert printed.endswith(f"undo it: foretold -C {fixable.proj} check --undo\n")
    assert run(fixable, "--fix") == (0, "nothing to fix\n")
    status, printed = run(fixable, "--undo")
    assert (status, printed.splitlines()[-1]) == (0, "  write  CLAUDE.md")
    assert read(fixable, "CLAUDE.md") == "See @docs/style.md, please.\n"


def test_a_long_path_leaves_room_for_its_rule(fixable, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    folder = "a-folder-with-a-long-name/" * 3
    fixable.write(f"proj/{folder}CLAUDE.md", "See @../../../docs/style.md, please.\n")
    _, printed = run(fixable, "--fix")
    assert f"{folder}CLAUDE.md:1\n  import-punctuation\n  put white space after" in printed
    *lines, undo = printed.splitlines()
    assert all(len(line) <= 91 for line in lines)  # the path itself stays whole
    assert undo == f"undo it: foretold -C {fixable.proj} check --undo"  # so does a command


def test_a_dry_run_shows_the_diff_and_writes_nothing(fixable):
    status, printed = run(fixable, "--fix", "--dry-run")
    assert status == 1
    assert "-See @docs/style.md, please.\n+See @docs/style.md , please.\n" in printed
    assert "would fix 1 finding in 1 file\n" in printed
    assert read(fixable, "CLAUDE.md") == "See @docs/style.md, please.\n"
    assert not os.path.exists(store(fixable).folder)


def test_the_document_is_as_its_schema_says(fixable):
    fixable.write("proj/docs/b.md", "@gone.md\n")
    fixable.write("proj/api/CLAUDE.md", "@../docs/b.md, too\n")
    status, printed = run(fixable, "--fix", "--json")
    document = read_document(printed)
    assert (status, document["done"], document["files"]) == (1, True, ["CLAUDE.md"])
    assert [each["finding"]["code"] for each in document["fixes"]] == ["import-punctuation"]
    assert document["fixes"][0]["fix"]["brings"] == ["docs/style.md"]
    assert [each["finding"]["path"] for each in document["refused"]] == ["api/CLAUDE.md"]


def test_formats_for_findings_alone_are_refused(fixable, capsys):
    assert main(["check", "-C", fixable.proj, "--fix", "--format", "sarif"]) == 2
    assert "--fix has the formats text and json" in capsys.readouterr().err


# -- the registry, and every fault of the yardstick


def test_the_registry_says_what_can_be_fixed():
    rules = {rule.code: rule.fixable for name in CHECKED for rule in load_families()[name]}
    own = {"ignore-unused"}  # which brings its fix along
    said = {code: fixable for code, fixable in rules.items() if fixable and code not in own}
    assert said == {**dict.fromkeys(SAFE, "safe"), **dict.fromkeys(UNSAFE, "unsafe")}


def test_a_safe_table_makes_safe_fixes_only_where_it_is_certain():
    assert set(FIXERS) == {*SAFE, *UNSAFE}
    assert not {*SAFE} & {*UNSAFE}


def test_a_finding_without_a_fixer_has_no_fix(place):
    project = open_project(place)
    assert find_fix(CheckFinding(place.path("proj/a.md"), 1, "budget-cut", "it is cut"), project) is None


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    return build(str(tmp_path_factory.mktemp("fix") / "clean"))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_every_fix_of_every_fault(fault, clean, tmp_path):
    """The finding is gone, what is delivered changed as announced, a second run changes nothing, undo restores all."""
    tree = plant(fault, clean, str(tmp_path / "tree"))
    options = CheckOptions(home=tree.home)
    project = Project(tree.repo, options)
    found = plan_fixes(check_tree(project), CheckSettings(), unsafe=True)
    if not found.fixes:
        assert found.changes == {}
        return
    before, undo = snapshot(tree.repo), open_undo(str(tmp_path), {})
    write_fixes(found, undo)
    fixed = Project(tree.repo, options)
    assert map_deliveries(fixed) == map_deliveries(found.after)
    _, deliveries, cuts = compare_projects(project, fixed, every=True)
    assert {*deliveries} == {change for each in found.fixes for change in each.deliveries}
    assert not any(cut.is_worse for cut in cuts)
    report = check_tree(fixed)
    assert serious(report.findings) == serious(found.left)
    assert plan_fixes(report, CheckSettings(), unsafe=True).changes == {}
    if fault.delivery and not found.left:
        is_new = fault.delivery.clean == fault.delivery.faulty == 0  # a text that the clean tree does not have
        assert count(fault.delivery, tree) == (1 if is_new else fault.delivery.clean)
    undo_fixes(tree.repo, undo)
    assert snapshot(tree.repo) == before


def serious(findings):
    return [each._replace(fix=None) for each in findings if each.severity != "note"]


def test_nothing_of_the_clean_tree_is_fixed(clean, tmp_path):
    tree = copy(clean, str(tmp_path / "tree"))
    project = Project(tree.repo, CheckOptions(home=tree.home))
    assert plan_fixes(check_tree(project), CheckSettings(), unsafe=True).changes == {}
