"""`foretold check` in a repository that pins the version of an agent, and what `--diff` says of another pin."""

import json
import os

import pytest

from foretold.check import CheckOptions, Project, check_tree
from foretold.check.diff.change import compare_with
from foretold.check.diff.releases import ReleaseChange, describe_release
from foretold.check.diff.report import render_markdown, summarize_change
from foretold.check.recheck import LiveCheck
from foretold.check.report.sentences import list_assumed, list_pin_problems, name_choices
from foretold.cli import main
from foretold.dialects.registry import history_of
from foretold.dialects.releases.history import version_key

from ..cli.documents import read_document

CLAUDE = "@anthropic-ai/claude-code"


def pin(place, version):
    place.write("proj/package.json", json.dumps({"devDependencies": {CLAUDE: version}}, indent=1))


def project(place, *agents):
    return Project(place.proj, CheckOptions(home="", agents=agents))


def names(place, *agents):
    return [choice.dialect.name for choice in project(place, *agents).choices]


def between(first, last):
    """How many dated changes lie between two releases."""
    low, high = version_key(first), version_key(last)
    return sum(low < version_key(change.version) <= high for change in history_of("claude-code").changes)


@pytest.fixture
def repo(place):
    place.git("init -q -b main")
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    pin(place, "2.1.250")
    commit(place)
    return place


def commit(place):
    place.git("add -A")
    place.git("commit -q -m start")


def compare(place, *agents, env=None):
    return compare_with(project(place, *agents), "HEAD", env=env)


# -- the version that is checked for


def test_the_pin_decides(repo):
    assert names(repo) == ["claude-code@2.1.250"]
    assert name_choices(project(repo)) == "claude-code 2.1.250 (pinned in package.json)"


def test_a_version_that_is_asked_for_wins(repo):
    assert names(repo, "claude-code@2.1.197") == ["claude-code@2.1.197"]
    assert name_choices(project(repo, "claude-code@2.1.197")) == "claude-code 2.1.197"


def test_an_agent_that_is_asked_for_without_a_version_has_the_pinned_one(repo):
    for name in ("claude-code", "Claude-Code", "claude-code@"):
        assert names(repo, name) == ["claude-code@2.1.250"]


def test_what_differs_between_releases_follows_the_pin(place):
    """Claude Code reads AGENTS.md since 2.1.281."""
    place.write("proj/AGENTS.md", "Use tabs.\n")
    place.write("proj/.claude/settings.json", "{}\n")
    for version, files in (("2.1.280", 0), ("2.1.281", 1)):
        pin(place, version)
        report = check_tree(project(place, "claude-code"))
        assert [(cost.agent, cost.files) for cost in report.costs] == [(f"claude-code@{version}", files)]


def test_without_a_pin_the_newest_is_assumed(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    pin(place, "latest")
    assert names(place) == [f"claude-code@{history_of('claude-code').ends[1]}"]
    assert [*list_pin_problems(project(place))] == []


def test_a_pin_that_is_newer_than_what_is_known_is_assumed(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    pin(place, "99.0.0")
    newest = history_of("claude-code").ends[1]
    found = project(place)
    assert name_choices(found) == f"claude-code {newest} (package.json pins 99.0.0)"
    assert [*list_assumed(found)] == [f"claude-code 99.0.0 is not recorded; treated like {newest}"]


def test_a_release_next_to_a_change_of_unknown_date_is_not_treated_like_another(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    open_change = next(each for each in history_of("claude-code").changes if each.after == "2.1.278")
    assert open_change.version == "2.1.280"
    pin(place, "2.1.279")
    said = "2.1.279 was not recorded, and what it does changed between the releases next to it that were"
    assert [*list_assumed(project(place))] == [f"claude-code {said}"]


def test_conflicts_and_what_is_no_version_are_reported(repo):
    lines = "".join(f"- npx {CLAUDE}@2.1.30{number}\n" for number in range(5))
    repo.write("proj/.github/workflows/ci.yml", lines)
    repo.write("proj/.tool-versions", "codex $(id)\n")
    others = ", ".join(f"2.1.30{number} in .github/workflows/ci.yml:{number + 1}" for number in range(3))
    assert [*list_pin_problems(project(repo))] == [
        f"pinned otherwise: claude-code {others} and 2 more",
        ".tool-versions:1 asks for codex '$(id)', which is not a version",
    ]
    assert len([*list_pin_problems(project(repo, "claude-code@2.1.250"))]) == 1


def test_the_report_of_a_pinned_repository(repo, capsys):
    assert main(["check", "-C", repo.proj, "--no-home"]) == 0
    clean = "no problems in 1 file of 1 agent\nchecked for claude-code 2.1.250 (pinned in package.json)\n"
    assert capsys.readouterr().out == clean
    repo.write("proj/CLAUDE.md", "@gone.md\n")
    assert main(["check", "-C", repo.proj, "--no-home"]) == 1
    assert "checked 1 file for claude-code 2.1.250 (pinned in package.json)\n" in capsys.readouterr().out
    main(["check", "-C", repo.proj, "--no-home", "--json"])
    source = {"agent": "claude-code", "version": "2.1.250", "kind": "manifest", "path": "package.json", "line": 3}
    assert read_document(capsys.readouterr().out)["pinned"] == [source]
    main(["check", "-C", repo.proj, "--no-home", "--agent", "claude-code@2.1.300", "--json"])
    assert read_document(capsys.readouterr().out)["pinned"] == []


def test_a_check_that_is_repeated_follows_the_pin(repo):
    live = LiveCheck(repo.proj, repo.proj, CheckOptions(home=""))

    def asked():
        live.refresh(live.find_changes())
        return [choice.dialect.name for choice in live.project.choices]

    assert asked() == ["claude-code@2.1.250"]
    pin(repo, "2.1.300")
    assert asked() == ["claude-code@2.1.300"]
    pin(repo, "latest")
    repo.write("proj/.github/workflows/ci.yml", f"npx {CLAUDE}@2.1.197\n")
    assert asked() == ["claude-code@2.1.197"]
    repo.write("proj/.github/workflows/ci.yml", f"npx {CLAUDE}@2.1.198\n")
    assert asked() == ["claude-code@2.1.198"]
    repo.write("proj/.github/workflows/a.yml", f"npx {CLAUDE}@2.1.199\n")
    assert asked() == ["claude-code@2.1.199"]
    live.edit({os.path.join(repo.proj, ".github/workflows/a.yml"): b"nothing\n"})
    assert [choice.dialect.name for choice in live.project.choices] == ["claude-code@2.1.198"]


# -- what a change does to it


def test_another_pin_is_another_release(place):
    place.git("init -q -b main")
    place.write("proj/AGENTS.md", "Use tabs.\n")
    place.write("proj/.claude/settings.json", "{}\n")
    pin(place, "2.1.280")
    commit(place)
    pin(place, "2.1.281")
    report = compare(place, "claude-code")
    found = ReleaseChange("changed", "claude-code", ("package.json:3",), "2.1.280", "2.1.281", 1)
    assert [each._replace(changes=1) for each in report.releases] == [found]
    assert [(each.kind, each.agent, each.path) for each in report.deliveries] == [
        ("delivered", "claude-code@2.1.281", "AGENTS.md")
    ]
    assert [(cost.agent, cost.before) for cost in report.costs] == [("claude-code@2.1.281", 0)]
    assert summarize_change(report).startswith("This change takes Claude Code from 2.1.280 to 2.1.281 and costs ")


def test_an_upgrade_takes_what_only_the_older_release_was_given(place):
    """A rule through a link out of the folder is loaded up to 2.1.231."""
    place.git("init -q -b main")
    place.write("outside/rule.md", "Rule.\n")
    place.link("proj/.claude/rules/out.md", place.path("outside/rule.md"))
    pin(place, "2.1.231")
    commit(place)
    pin(place, "2.1.232")
    report = compare(place)
    assert [each.kind for each in report.deliveries] == ["unreachable"]
    assert report.is_worse


def test_files_with_the_same_change_are_one(repo):
    repo.write("proj/.tool-versions", "claude 2.1.250\n")
    repo.write("proj/.github/workflows/ci.yml", f"npx {CLAUDE}@2.1.250\n")
    commit(repo)
    repo.write("proj/.tool-versions", "claude 2.1.300\n")
    pin(repo, "2.1.300")
    (found,) = compare(repo).releases
    count = between("2.1.250", "2.1.300")
    places = ("package.json:3", ".tool-versions:1")
    assert found == ReleaseChange("changed", "claude-code", places, "2.1.250", "2.1.300", count)
    said = "package.json:3 and .tool-versions:1 pin claude-code 2.1.300 instead of 2.1.250"
    assert describe_release(found) == f"{said}: {count} dated changes lie between"
    assert found.command == "foretold upgrade --from 2.1.250 --to 2.1.300"


def test_a_pin_that_comes_or_goes_is_compared_with_the_newest(repo):
    newest = history_of("claude-code").ends[1]
    pin(repo, "^2.1.0")
    (gone,) = compare(repo).releases
    count = between("2.1.250", newest)
    assert gone == ReleaseChange("unpinned", "claude-code", ("package.json:3",), "2.1.250", newest, count)
    commit(repo)
    pin(repo, "2.1.250")
    (come,) = compare(repo).releases
    assert come == ReleaseChange("pinned", "claude-code", ("package.json:3",), newest, "2.1.250", count)


def test_a_pin_that_stays_is_compared_with_the_newest_and_with_what_is_installed(repo):
    newest = history_of("claude-code").ends[1]
    old = ReleaseChange("newest", "claude-code", ("package.json:3",), "2.1.250", newest, between("2.1.250", newest))
    assert compare(repo).releases == (old,)
    assert not old.is_change
    assert summarize_change(compare(repo)) == "This change does not affect what agents are given."
    repo.write("proj/node_modules/" + CLAUDE + "/package.json", '{"version": "2.1.260"}')
    here = old._replace(kind="installed", after="2.1.260", changes=between("2.1.250", "2.1.260"))
    assert compare(repo, env={}).releases == (old, here)
    said = "package.json:3 pins claude-code 2.1.250; 2.1.260 is installed here: "
    assert describe_release(here).startswith(said)
    pin(repo, newest)
    commit(repo)
    assert compare(repo).releases == ()


def test_a_version_that_was_asked_for_makes_pins_irrelevant(repo):
    pin(repo, "2.1.300")
    report = compare(repo, "claude-code@2.1.325")
    assert (report.releases, report.deliveries) == ((), ())


def test_what_changed_after_the_newest_is_not_known(place):
    place.git("init -q -b main")
    place.write("proj/AGENTS.md", "Use tabs.\n")
    place.write("proj/.tool-versions", "codex 98.0.0\n")
    commit(place)
    place.write("proj/.tool-versions", "codex 99.0.0\n")
    (found,) = compare(place).releases
    assert (found.agent, found.kind, found.changes, found.command) == ("codex", "changed", 0, "")
    newest = history_of("codex").ends[1] or history_of("codex").base.version
    said = f".tool-versions:1 pins codex 99.0.0 instead of 98.0.0: what changed after {newest} is not known"
    assert describe_release(found) == said


def test_an_agent_that_only_one_side_uses(place):
    place.git("init -q -b main")
    pin(place, "2.1.250")
    commit(place)
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    pin(place, "2.1.300")
    report = compare(place)
    assert [(each.kind, each.agent) for each in report.deliveries] == [("delivered", "claude-code@2.1.300")]
    assert [(each.before, each.after) for each in report.releases] == [("2.1.250", "2.1.300")]


def test_the_reports_of_a_change(repo, capsys):
    pin(repo, "2.1.300")
    count = between("2.1.250", "2.1.300")
    assert main(["check", "-C", repo.proj, "--diff", "HEAD"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    said = f"package.json:3 pins claude-code 2.1.300 instead of 2.1.250: {count} dated changes lie between"
    assert f"{said} → foretold upgrade --from 2.1.250 --to 2.1.300" in out
    main(["check", "-C", repo.proj, "--diff", "HEAD", "--json"])
    assert read_document(capsys.readouterr().out)["releases"] == [
        {
            "kind": "changed",
            "agent": "claude-code",
            "places": ["package.json:3"],
            "before": "2.1.250",
            "after": "2.1.300",
            "changes": count,
        }
    ]
    text = render_markdown(compare(repo))
    assert "\n- package.json&#58;3 pins claude-code 2.1.300 instead of 2.1.250&#58; " in text


def test_a_hostile_pin_breaks_no_report(repo):
    repo.write("proj/.github/workflows/a|b\n<x>.yml", f"npx {CLAUDE}@2.1.300 {CLAUDE}@$(id)\n")
    text = render_markdown(compare(repo))
    assert "\n<x>" not in text
    assert "|b" not in text
