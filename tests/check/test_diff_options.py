"""`foretold check --diff` with paths, a severity and a baseline; and what cannot be combined."""

import json
import os
import re
import shutil

import pytest

from foretold.cli import main

from .fixing import run


@pytest.fixture
def repo(place):
    """Two packages and a change of both: each gets a broken import, one a note; the first one loses a file."""
    place.git("init -q -b main")
    place.write("proj/AGENTS.md", "Top.\n")
    place.write("proj/CLAUDE.md", "@AGENTS.md\n")
    for name in ("api", "web"):
        place.write(f"proj/{name}/CLAUDE.md", f"Package {name}.\n\n@style.md\n")
        place.write(f"proj/{name}/style.md", "Short names.\n")
        place.write(f"proj/{name}/AGENTS.md", f"Agents of {name}.\n")
    place.git("add -A")
    place.git("commit -q -m start")
    for name in ("api", "web"):
        place.write(f"proj/{name}/CLAUDE.md", f"Package {name}.\n\n@styel.md\n")
        place.write(f"proj/{name}/AGENTS.md", f"Agents of {name}, who know more.\n")
    return place


def compare(place, *words):
    status, printed = run(place, "--diff", "HEAD", "--json", *words)
    return status, json.loads(printed)


def paths(document):
    return {
        "deliveries": sorted({each["path"] for each in document["deliveries"]}),
        "new": [(each["path"], each["code"]) for each in document["new"]],
        "costs": sorted({(each["agent"].partition("@")[0], each["folder"]) for each in document["costs"]}),
    }


def test_a_folder_restricts_what_is_reported(repo):
    status, document = compare(repo, os.path.join(repo.proj, "api"))
    assert (status, document["worse"]) == (1, True)
    assert paths(document) == {
        "deliveries": ["api/AGENTS.md", "api/CLAUDE.md", "api/style.md"],
        "new": [("api/CLAUDE.md", "import-missing")],
        "costs": [("claude-code", ""), ("codex", "api")],
    }
    assert "web" not in json.dumps(document)


def test_what_is_worse_elsewhere_does_not_count(repo):
    repo.write("proj/api/CLAUDE.md", "Package api.\n\n@style.md\n")
    assert compare(repo, os.path.join(repo.proj, "api"))[0] == 0
    assert compare(repo)[0] == 1


def test_a_file_restricts_what_is_reported(repo):
    _, document = compare(repo, os.path.join(repo.proj, "web/AGENTS.md"))
    assert paths(document) == {
        "deliveries": ["web/AGENTS.md"],
        "new": [],
        "costs": [("claude-code", ""), ("codex", "web")],
    }
    _, printed = run(repo, "--diff", "HEAD", os.path.join(repo.proj, "web/AGENTS.md"))
    # the path of the folder is sent, too, and tokens are rounded: another temporary folder, another sum
    assert re.match(r"This change costs [34] more tokens in every session of Codex in web\.\n", printed)


def test_a_cut_in_a_folder_is_reported_there(place):
    place.git("init -q")
    place.write("proj/AGENTS.md", "x" * 30_000 + "\n")
    for name in ("api", "web"):
        place.write(f"proj/{name}/AGENTS.md", "# Api\n\nRoutes.\n")
    place.git("add -A")
    place.git("commit -q -m start")
    place.write("proj/AGENTS.md", "x" * 32_760 + "\n")
    status, document = compare(place, os.path.join(place.proj, "api"))
    assert (status, [each["path"] for each in document["cuts"]], document["deliveries"]) == (1, ["api/AGENTS.md"], [])


def test_a_path_that_the_change_removes_is_reported(repo):
    shutil.rmtree(repo.path("proj/api"))
    status, document = compare(repo, os.path.join(repo.proj, "api"))
    kinds = {(each["path"], each["kind"]) for each in document["deliveries"]}
    assert kinds >= {("api/AGENTS.md", "removed"), ("api/CLAUDE.md", "removed")}
    assert (status, document["new"]) == (0, [])


def test_a_path_that_neither_side_has_is_wrong_usage(repo, capsys):
    assert main(["check", "-C", repo.proj, "--diff", "HEAD", "nowhere/at/all"]) == 2
    assert "nowhere/at/all is not a file or folder, and was not at HEAD" in capsys.readouterr().err


def test_the_severity_counts_for_new_and_fixed_findings(repo):
    assert paths(compare(repo, "--severity", "error")[1])["new"] == [
        ("api/CLAUDE.md", "import-missing"),
        ("web/CLAUDE.md", "import-missing"),
    ]
    repo.git("commit -q -a -m worse")
    repo.write("proj/api/CLAUDE.md", "Package api.\n")
    repo.write("proj/web/CLAUDE.md", "Package web.\n\n---\nglobs: a\n---\n@styel.md\n")
    repo.write("proj/.claude/rules/r.md", "---\nglobs: api/**\n---\nRule.\n")
    status, document = compare(repo)
    severities = [each["severity"] for each in document["new"]]
    assert (status, {*severities}) == (1, {"warning"})
    status, document = compare(repo, "--severity", "error")
    assert (status, document["new"], len(document["fixed"])) == (0, [], 1)


def test_findings_of_a_baseline_are_not_new(repo, tmp_path):
    baseline = str(tmp_path / "baseline.json")
    main(["check", "-C", os.path.join(repo.proj, "api"), "--no-home", "--write-baseline", baseline])
    _, document = compare(repo, "--baseline", baseline)
    assert paths(document)["new"] == [("web/CLAUDE.md", "import-missing")]
    assert document["known"] == 1
    _, printed = run(repo, "--diff", "HEAD", "--baseline", baseline)
    assert "1 new finding is in the baseline" in printed
    main(["check", "-C", repo.proj, "--no-home", "--write-baseline", baseline])
    assert paths(compare(repo, "--baseline", baseline)[1])["new"] == []


def test_a_baseline_that_cannot_be_read_is_named(repo, capsys):
    assert main(["check", "-C", repo.proj, "--diff", "HEAD", "--baseline", "gone.json"]) == 2
    assert "gone.json cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--diff", ""], "--diff is empty; give a commit or a branch"),
        (["--baseline", ""], "--baseline is empty; give a file"),
        (["--write-baseline", ""], "--write-baseline is empty; give a file"),
        (["--output", ""], "--output is empty; give a file"),
        (["--diff", "HEAD", "--statistics"], "--statistics counts the findings of a report; it is not for --diff"),
        (["--fix", "--statistics"], "--statistics counts the findings of a report; it is not for --fix"),
        (["--undo", "--json"], "--undo prints text; it has no --format json"),
        (["--undo", "--output", "x"], "--undo prints text; it has no --output"),
        (["--undo", "--baseline", "x"], "--undo takes back all of the last fixes; it has no --baseline"),
    ],
)
def test_what_means_nothing_is_wrong_usage(repo, capsys, words, said):
    with pytest.raises(SystemExit) as stopped:
        main(["check", "-C", repo.proj, *words])
    assert stopped.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())
