"""`foretold check --diff`: what a change does to what each agent is given, and the old side without a checkout."""

import os
import re
import shutil
import subprocess
import tempfile

import pytest
from hypothesis import given, settings, strategies as st

from foretold.check import CheckOptions, Project
from foretold.check.delivered import map_deliveries
from foretold.check.diff.base import find_base, open_base
from foretold.check.diff.change import compare_with
from foretold.check.diff.report import describe_cut, render_json, render_markdown, summarize_change
from foretold.cli import main
from foretold.errors import BadArgument
from foretold.storage.layers import LinkTo

from ..cli.documents import read_document


@pytest.fixture
def repo(place):
    """A repository with one commit: CLAUDE.md, which imports a page, and AGENTS.md in a folder."""
    place.git("init -q -b main")
    place.write("proj/CLAUDE.md", "Use tabs.\n\n@docs/style.md\n")
    place.write("proj/docs/style.md", "Short names.\n")
    place.write("proj/api/CLAUDE.md", "Handlers return JSON.\n")
    commit(place, "start")
    return place


def commit(place, message):
    place.git("add -A")
    place.git(f"commit -q -m {message}")


def compare(place, base="HEAD", **options):
    return compare_with(Project(place.proj, CheckOptions(home="", **options)), base)


def kinds(report):
    return [(each.kind, each.agent.partition("@")[0], each.path) for each in report.deliveries]


# -- what is reported


def test_nothing_changed(repo):
    report = compare(repo)
    assert (kinds(report), report.cuts, report.new, report.fixed, report.is_worse) == ([], (), (), (), False)
    assert summarize_change(report) == "This change does not affect what agents are given."


def test_a_file_that_another_one_hides_is_unreachable(place):
    place.git("init -q")
    place.write("proj/api/AGENTS.md", "Api.\n")
    place.write("proj/.claude/settings.json", "{}\n")
    commit(place, "start")
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    report = compare(place, agents=("claude-code@2.1.325",))
    assert kinds(report) == [("unreachable", "claude-code", "api/AGENTS.md"), ("delivered", "claude-code", "CLAUDE.md")]
    assert report.deliveries[0].reason.startswith("another file takes its place")
    assert [(each.code, each.severity) for each in report.new] == [("file-shadowed", "error")]
    assert report.is_worse
    assert re.fullmatch(
        r"This change makes 1 file unreachable for Claude Code, costs \d+ more tokens in every session and adds 1"
        r" finding\.",
        summarize_change(report),
    )


def test_an_import_that_breaks_is_unreachable_and_one_that_is_taken_out_is_not(repo):
    repo.write("proj/CLAUDE.md", "Use tabs.\n\nRead `@docs/style.md`.\n")
    report = compare(repo)
    assert kinds(report) == [("unreachable", "claude-code", "docs/style.md"), ("changed", "claude-code", "CLAUDE.md")]
    assert report.is_worse
    repo.write("proj/CLAUDE.md", "Use tabs.\n")
    report = compare(repo)
    assert kinds(report) == [("dropped", "claude-code", "docs/style.md"), ("changed", "claude-code", "CLAUDE.md")]
    assert not report.is_worse
    assert summarize_change(report).startswith("This change saves ")


def test_removed_moved_rescoped_and_new_files(repo):
    repo.write("proj/.claude/rules/a.md", "Always.\n")
    repo.write("proj/.claude/rules/b.md", "Moves.\n")
    commit(repo, "rules")
    os.remove(repo.path("proj/api/CLAUDE.md"))
    repo.write("proj/.claude/rules/a.md", '---\npaths: "docs/**"\n---\nAlways.\n')
    os.rename(repo.path("proj/.claude/rules/b.md"), repo.path("proj/.claude/rules/c.md"))
    repo.write("proj/web/CLAUDE.md", "Web.\n")
    report = compare(repo)
    assert kinds(report) == [
        ("removed", "claude-code", "api/CLAUDE.md"),
        ("delivered", "claude-code", "web/CLAUDE.md"),
        ("moved", "claude-code", ".claude/rules/c.md"),
        ("rescoped", "claude-code", ".claude/rules/a.md"),
    ]
    assert report.deliveries[2].other == ".claude/rules/b.md"
    assert not report.is_worse


def test_a_cut_is_named_with_its_heading_even_if_another_file_grew(place):
    place.git("init -q")
    place.write("proj/AGENTS.md", "x" * 30_000 + "\n")
    place.write("proj/api/AGENTS.md", "# Api\n\nRoutes.\n\n## Tests\n\nMany.\n")
    commit(place, "start")
    place.write("proj/AGENTS.md", "x" * 32_740 + "\n")
    report = compare(place)
    (cut,) = report.cuts
    assert (cut.path, cut.folders, cut.before, cut.after) == ("api/AGENTS.md", ("api",), None, (5, 7, ""))
    assert kinds(report) == [("changed", "codex", "AGENTS.md")]
    assert report.is_worse
    assert describe_cut(cut) == "its last 5 bytes are lost, from line 7 on, if it starts in api"
    place.write("proj/AGENTS.md", "x" * 32_750 + "\n")
    (cut,) = compare(place).cuts
    assert "the first heading that is lost is “Tests”" in describe_cut(cut)


def test_findings_are_new_or_fixed_but_not_because_a_line_or_a_file_moved(repo):
    repo.write("proj/CLAUDE.md", "See @docs/gone.md\n\n@docs/style.md\n")
    commit(repo, "fault")
    repo.write("proj/CLAUDE.md", "First.\n\nPlease see @docs/gone.md\n\n@docs/style.md\n")
    assert (compare(repo).new, compare(repo).fixed) == ((), ())
    repo.write("proj/CLAUDE.md", "@docs/style.md\n\n@docs/away.md\n")
    report = compare(repo)
    assert [(each.code, each.message.partition(":")[0]) for each in (*report.new, *report.fixed)] == [
        ("import-missing", "docs/away.md"),
        ("import-missing", "docs/gone.md"),
    ]


def test_an_agent_that_one_side_alone_uses_is_compared_all_the_same(repo):
    repo.write("proj/AGENTS.md", "Top.\n")
    report = compare(repo)
    assert ("delivered", "codex", "AGENTS.md") in kinds(report)
    os.remove(repo.path("proj/AGENTS.md"))
    for path in ("CLAUDE.md", "api/CLAUDE.md"):
        os.remove(repo.path(f"proj/{path}"))
    assert [kind for kind in kinds(compare(repo)) if kind[1] == "claude-code"] == [
        ("removed", "claude-code", "CLAUDE.md"),
        ("removed", "claude-code", "api/CLAUDE.md"),
        ("dropped", "claude-code", "docs/style.md"),
    ]


def test_fixtures_are_left_out(repo):
    repo.write("proj/tests/fixtures/CLAUDE.md", "A sample.\n")
    assert kinds(compare(repo)) == []


# -- the base


def test_a_branch_is_compared_with_where_it_began(repo):
    repo.git("checkout -q -b topic")
    repo.write("proj/CLAUDE.md", "Use spaces.\n\n@docs/style.md\n")
    commit(repo, "topic")
    repo.git("checkout -q main")
    repo.write("proj/web/CLAUDE.md", "Web.\n")
    commit(repo, "later")
    repo.git("checkout -q topic")
    report = compare(repo, "main")
    assert kinds(report) == [("changed", "claude-code", "CLAUDE.md")]
    assert report.base.note == "where the branch began"
    assert kinds(compare(repo, "main..")) == [
        ("removed", "claude-code", "web/CLAUDE.md"),
        ("changed", "claude-code", "CLAUDE.md"),
    ]
    assert compare(repo, "main...").base == report.base


def test_a_shallow_clone_that_has_the_base_is_enough(repo):
    repo.write("proj/CLAUDE.md", "Use spaces.\n\n@docs/style.md\n")
    commit(repo, "second")
    repo.git(f"clone -q --depth=2 file://{repo.proj} {repo.path('shallow')}", "")
    report = compare_with(Project(repo.path("shallow"), CheckOptions(home="")), "HEAD~1")
    assert kinds(report) == [("changed", "claude-code", "CLAUDE.md")]
    with pytest.raises(BadArgument, match=r"shallow clone .* git fetch --depth=1 origin release$"):
        find_base(Project(repo.path("shallow")), "origin/release")


@pytest.mark.parametrize(
    ("name", "fetch"),
    [
        ("origin/next", "git fetch origin next"),
        ("next", "git fetch origin next"),
        ("--help", "git fetch origin --help"),
    ],
)
def test_a_base_that_git_does_not_know_says_what_to_do(repo, name, fetch):
    repo.git("remote add origin ../elsewhere")
    with pytest.raises(BadArgument, match=re.escape(fetch)):
        find_base(Project(repo.proj), name)


def test_without_a_remote_nothing_can_be_fetched(repo):
    with pytest.raises(BadArgument) as refused:
        find_base(Project(repo.proj), "next")
    assert str(refused.value) == (
        "git does not know the commit 'next', and there is no remote to fetch it from."
        " See what there is: git branch --all"
    )


def test_a_file_that_was_there_is_not_new(repo, capsys):
    repo.write("proj/docs/other.md", "Long names.\n")
    repo.write("proj/web/AGENTS.md", "Web.\n")
    repo.write("proj/web/CLAUDE.md", "Other.\n")
    commit(repo, "more")
    repo.write("proj/CLAUDE.md", "Use tabs.\n\n@docs/style.md\n\n@docs/other.md\n\n@docs/fresh.md\n")
    repo.write("proj/docs/fresh.md", "Fresh.\n")
    os.remove(repo.path("proj/web/CLAUDE.md"))
    words = ["check", "--no-home", "-C", repo.proj, "--agent", "claude-code@2.1.325", "--diff", "HEAD"]
    main(words)
    printed = capsys.readouterr().out
    assert "  newly imported     docs/other.md\n" in printed
    assert "  new                docs/fresh.md\n" in printed
    assert {each.reason for each in compare(repo).deliveries if each.path == "docs/other.md"} == {"newly imported"}
    assert {each.kind for each in compare(repo).deliveries if each.path == "docs/other.md"} == {"delivered"}


def test_the_first_sentence_names_agents_and_what_is_fixed(repo):
    repo.write("proj/AGENTS.md", "Use npm.\n\nRead carefully what is written here.\n")
    repo.write("proj/CLAUDE.md", "Use tabs.\n\n@docs/gone.md\n")
    commit(repo, "broken")
    repo.write("proj/CLAUDE.md", "Use tabs.\n\n@docs/style.md\n")
    report = compare(repo, agents=("claude-code@2.1.325", "codex"))
    said = summarize_change(report)
    assert re.fullmatch(
        r"This change costs \d+ more tokens in every session of Claude Code and fixes 1 finding\.", said
    )
    repo.write("proj/AGENTS.md", "Use npm.\n")
    said = summarize_change(compare(repo, agents=("claude-code@2.1.325", "codex")))
    assert re.fullmatch(
        r"This change costs \d+ more tokens in every session of Claude Code, saves \d+ tokens in every session of Codex"
        r" and fixes 1 finding\.",
        said,
    )


def test_patterns_are_shown_as_they_are_written(repo, capsys):
    repo.write("proj/web/a.ts", "")
    repo.write("proj/.claude/rules/a.md", '---\npaths: "web/**"\n---\nRule.\n')
    main(["check", "--no-home", "-C", repo.proj, "--diff", "HEAD"])
    assert "when a file that matches web/** is touched" in capsys.readouterr().out


def test_without_git_there_is_nothing_to_compare_with(place):
    with pytest.raises(BadArgument, match="not in a git repository"):
        find_base(Project(place.proj), "main")


def test_what_git_ignores_is_on_both_sides(repo):
    repo.write("proj/.gitignore", "CLAUDE.local.md\n")
    commit(repo, "ignore")
    repo.write("proj/CLAUDE.local.md", "Mine.\n")
    assert kinds(compare(repo)) == []


def test_files_that_are_not_tracked_yet_are_part_of_the_change(repo):
    repo.write("proj/web/CLAUDE.md", "Web.\n")
    assert kinds(compare(repo)) == [("delivered", "claude-code", "web/CLAUDE.md")]


def test_a_project_below_the_top_of_its_repository(place):
    place.git("init -q")
    place.write("proj/CLAUDE.md", "Top.\n")
    place.write("proj/pkg/CLAUDE.md", "Package.\n")
    commit(place, "start")
    place.write("proj/CLAUDE.md", "Other.\n")
    place.write("proj/pkg/CLAUDE.md", "Other package.\n")
    report = compare_with(Project(place.path("proj/pkg"), CheckOptions(home="")), "HEAD")
    assert kinds(report) == [
        ("changed", "claude-code", place.path("proj/CLAUDE.md")),
        ("changed", "claude-code", "CLAUDE.md"),
    ]


def test_line_ends_of_a_checkout_are_not_a_change(repo):
    repo.git("config core.autocrlf true")
    repo.write("proj/CLAUDE.md", "Use tabs.\r\n\r\n@docs/style.md\r\n")
    assert kinds(compare(repo)) == []


# -- the old side, against a checkout


PATHS = (
    "CLAUDE.md",
    "AGENTS.md",
    "a/CLAUDE.md",
    "a/AGENTS.md",
    "docs/x.md",
    ".claude/rules/r.md",
    "docs",
    ".gitignore",
)
CONTENTS = (
    b"One.\n",
    b"@docs/x.md\n",
    b'---\npaths: "a/**"\n---\nRule.\n',
    LinkTo("AGENTS.md"),
    LinkTo("a"),
    b"a/\n",
)


def write_tree(root, files):
    for path, content in files.items():
        whole = os.path.join(root, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        if isinstance(content, LinkTo):
            os.symlink(content.target, whole)
        else:
            with open(whole, "wb") as file:
                file.write(content)


def clear_tree(root):
    for name in os.listdir(root):
        path = os.path.join(root, name)
        if name != ".git" and os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif name != ".git":
            os.remove(path)


def git(root, *words):
    who = {f"GIT_{who}_{what}": "t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = {"PATH": os.environ["PATH"], "HOME": root, "GIT_CONFIG_NOSYSTEM": "1", **who}
    subprocess.run(["git", "-C", root, *words], env=env, check=True, capture_output=True)


def is_possible(files):
    return not any(path.startswith(f"{other}/") for path in files for other in files)


snapshots = st.dictionaries(st.sampled_from(PATHS), st.sampled_from(CONTENTS)).filter(is_possible)


@settings(max_examples=40)
@given(snapshots, snapshots, snapshots, st.booleans())
def test_the_old_side_is_what_a_checkout_would_be(old, staged, now, is_committed):
    root = os.path.realpath(tempfile.mkdtemp())
    try:
        git(root, "init", "-q")
        write_tree(root, old)
        git(root, "add", "-A", "-f")
        git(root, "commit", "-q", "--allow-empty", "-m", "old")
        options = CheckOptions(agents=("claude-code@2.1.325", "codex", "gemini-cli"), home="")
        expected = map_deliveries(Project(root, options))
        clear_tree(root)
        write_tree(root, staged)
        git(root, "add", "-A", "-f")
        if is_committed:
            git(root, "commit", "-q", "--allow-empty", "-m", "new")
        base = "HEAD~1.." if is_committed else "HEAD"
        clear_tree(root)
        write_tree(root, now if not any(path.endswith(".gitignore") for path in now) else staged)
        project = Project(root, options)
        assert map_deliveries(open_base(project, find_base(project, base))) == expected
    finally:
        shutil.rmtree(root)


# -- formats and the command


def test_the_command_prints_and_exits(repo, capsys):
    words = ["check", "-C", repo.proj, "--diff", "HEAD"]
    assert main(words) == 0
    assert capsys.readouterr().out.startswith(
        "This change does not affect what agents are given.\ncompared with HEAD ("
    )
    repo.write("proj/CLAUDE.md", "Use tabs.\n\n@docs/styel.md\n")
    assert main(words) == 1
    printed = capsys.readouterr().out
    assert "Claude Code 2.1.325\n" in printed
    assert "no longer imported docs/style.md\n" in printed
    assert "New findings\n  error import-missing  CLAUDE.md:3\n" in printed
    assert main([*words, "--exit-zero"]) == 0


def test_github_gets_the_new_findings(repo, capsys):
    repo.write("proj/CLAUDE.md", "Use tabs.\n\n@docs/styel.md\n")
    assert main(["check", "-C", repo.proj, "--diff", "HEAD", "--format", "github"]) == 1
    assert capsys.readouterr().out.startswith("::error file=CLAUDE.md,line=3,title=foretold import-missing::")


def test_an_unknown_base_is_wrong_usage(repo, capsys):
    repo.git("remote add origin ../elsewhere")
    assert main(["check", "-C", repo.proj, "--diff", "origin/main"]) == 2
    assert "Fetch it: git fetch origin main" in capsys.readouterr().err


def test_the_json_has_its_schema(repo):
    repo.write("proj/CLAUDE.md", "x" * 100 + " @docs/gone.md\n")
    repo.write("proj/AGENTS.md", "x" * 40_000)
    document = read_document(render_json(compare(repo)))
    assert document["schema"] == "foretold.check-diff/1"
    assert {each["kind"] for each in document["deliveries"]} == {"delivered", "changed", "dropped"}


def test_markdown_begins_with_the_sentence_and_nothing_breaks_out(repo):
    repo.write("proj/CLAUDE.md", "Use tabs.\n")
    repo.write("proj/a|b @octocat/CLAUDE.md", "Hello.\n")
    text = render_markdown(compare(repo))
    assert text.startswith("### What agents are told\n\nThis change saves ")
    assert "@octocat" not in text
    assert "<code>a&#124;b &#64;octocat/CLAUDE.md</code>" in text
    assert all(line.count("|") in (0, 3, 5) for line in text.split("\n"))


def test_markdown_is_never_longer_than_a_comment_may_be(repo):
    for number in range(300):
        repo.write(f"proj/p{number}/CLAUDE.md", f"Text {number}.\n")
    text = render_markdown(compare(repo), 5_000)
    assert len(text) <= 5_000
    assert "… and more; all of it: `foretold check --diff HEAD`" in text


@pytest.mark.parametrize("is_staged", [False, True])
def test_a_change_of_rights_alone(repo, is_staged):
    handler = '{"type": "command", "command": "./run.sh"}'
    repo.write("proj/.claude/settings.json", f'{{"hooks": {{"Stop": [{{"hooks": [{handler}]}}]}}}}')
    script = repo.write("proj/run.sh", "#!/bin/sh\n", mode=0o755)
    commit(repo, "executable")
    os.chmod(script, 0o644)
    if is_staged:
        repo.git("add -A")
    report = compare(repo)
    assert ([each.code for each in report.new], report.fixed) == (["hook-not-executable"], ())
    commit(repo, "plain")
    os.chmod(script, 0o755)
    if is_staged:
        repo.git("add -A")
    report = compare(repo)
    assert (report.new, [each.code for each in report.fixed]) == ((), ["hook-not-executable"])
