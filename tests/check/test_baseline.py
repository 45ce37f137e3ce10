"""Fingerprints stay while a file changes around them; a baseline hides what was there, and names what is fixed."""

import json
import os

import pytest

from foretold.check.baseline import fingerprint_findings, read_baseline, write_baseline
from foretold.check.finding import CheckFinding
from foretold.check.project import CheckOptions, Project
from foretold.check.run import check_tree, hide_known, restrict_report
from foretold.check.settings import CheckSettings
from foretold.errors import BadSettings

from ..cli.documents import read_document

SETTINGS = CheckSettings(select=("delivery",))


def check(place):
    return check_tree(Project(place.proj, CheckOptions(home="")), SETTINGS)


def marks(place):
    report = check(place)
    return fingerprint_findings(report.findings, report.project)


def test_lines_above_and_spaces_change_nothing(place):
    place.write("proj/CLAUDE.md", "See @docs/a.md  now\n\n@docs/b.md\n")
    before = marks(place)
    assert len(set(before)) == 2
    place.write("proj/CLAUDE.md", "# Title\n\nText.\n\nSee  @docs/a.md now\n\n@docs/b.md\n")
    assert marks(place) == before


def test_another_line_path_or_rule_is_another_finding(place):
    project = Project(place.proj, CheckOptions(home=""))
    path, other = place.write("proj/CLAUDE.md", "one\ntwo\n"), place.write("proj/AGENTS.md", "one\n")
    findings = [
        CheckFinding(path, 1, "import-missing", "x"),
        CheckFinding(path, 2, "import-missing", "x"),
        CheckFinding(path, 1, "import-form", "x"),
        CheckFinding(other, 1, "import-missing", "x"),
        CheckFinding(path, None, "import-missing", "x"),
        CheckFinding(path, 1, "import-missing", "@a.md: x"),
    ]
    assert len(set(fingerprint_findings(findings, project))) == len(findings)


def test_equal_findings_are_told_apart_by_their_order(place):
    project = Project(place.proj, CheckOptions(home=""))
    path = place.write("proj/CLAUDE.md", "same\nother\nsame\n")
    both = [CheckFinding(path, 1, "import-missing", "x"), CheckFinding(path, 3, "import-missing", "x")]
    first, second = fingerprint_findings(both, project)
    assert first != second
    assert fingerprint_findings(both[1:], project) == [first]


def test_numbers_in_a_message_do_not_count(place):
    project = Project(place.proj, CheckOptions(home=""))
    path = place.write("proj/CLAUDE.md", "one\n")
    said = ("loses 23,387 bytes: it stops", "loses 24,001 bytes: it stops", "gains 24,001 bytes: it stops")
    found = [fingerprint_findings([CheckFinding(path, None, "budget-cut", text)], project) for text in said]
    assert found[0] == found[1] != found[2]


def test_a_project_at_another_place_has_the_same_fingerprints(place):
    found = []
    for name in ("proj", "copy"):
        place.write(f"{name}/CLAUDE.md", "Shared: @../handbook/style.md and @docs/a.md\n")
        place.write("handbook/style.md")
        report = check_tree(Project(place.path(name), CheckOptions(home="")), SETTINGS)
        found.append(fingerprint_findings(report.findings, report.project))
    assert len(found[0]) == 2
    assert found[0] == found[1]


def test_a_path_in_a_home_is_the_same_on_every_machine(place):
    memory = CheckFinding(place.write("home/.claude/CLAUDE.md"), None, "import-missing", "x")
    project = Project(place.proj, CheckOptions(home=place.home, managed=place.managed, env={}))
    report = place.path("baseline.json")
    write_baseline(report, [memory], project)
    assert [entry.path for entry in read_baseline(report)] == ["~/.claude/CLAUDE.md"]


def test_a_baseline_hides_what_it_has_and_names_what_is_fixed(place):
    place.write("proj/CLAUDE.md", "@docs/a.md\n\n@docs/b.md\n")
    report = check(place)
    baseline = place.path("baseline.json")
    write_baseline(baseline, report.findings, report.project)
    place.write("proj/CLAUDE.md", "New line.\n\n@docs/b.md\n\n@docs/c.md\n")
    left = hide_known(check(place), read_baseline(baseline), SETTINGS)
    assert [each.line for each in left.findings] == [5]
    assert left.known == 1
    assert [(entry.path, entry.code) for entry in left.fixed] == [("CLAUDE.md", "import-missing")]


def test_what_was_not_asked_about_is_not_fixed(place):
    place.write("proj/CLAUDE.md", "@docs/a.md\n")
    place.write("proj/web/CLAUDE.md", "@docs/a.md\n")
    report = check(place)
    baseline = place.path("baseline.json")
    write_baseline(baseline, report.findings, report.project)
    place.write("proj/CLAUDE.md", "x\n")
    entries = read_baseline(baseline)
    whole = hide_known(check(place), entries, SETTINGS)
    assert [entry.path for entry in whole.fixed] == ["CLAUDE.md"]
    assert restrict_report(whole, [place.path("proj/web")]).fixed == ()
    others = CheckSettings(select=("cost",))
    assert hide_known(check(place), entries, others).fixed == ()


def test_a_baseline_is_written_for_people_and_by_its_schema(place):
    place.write("proj/CLAUDE.md", "@docs/a.md\n")
    report = check(place)
    baseline = place.path("baseline.json")
    write_baseline(baseline, report.findings, report.project)
    with open(baseline, encoding="utf-8") as file:
        text = file.read()
    document = read_document(text)
    assert list(document["findings"][0]) == ["fingerprint", "path", "code"]
    assert text.count("\n") > 5
    assert os.stat(baseline).st_mode & 0o077 == 0o666 & ~umask() & 0o077


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


WRONG = {
    "": "is not JSON",
    "[": "is not JSON",
    "[" * 100_000: "is not JSON",
    "{}": "is not a baseline; write one with: foretold check --write-baseline ",
    "[]": "is not a baseline",
    '{"schema": "foretold.baseline/2", "findings": []}': "is not a baseline",
    json.dumps({"schema": "foretold.baseline/1", "findings": {}}): "is not a baseline",
    json.dumps({"schema": "foretold.baseline/1", "findings": [{"path": "x"}]}): "its finding 1 has no fingerprint",
    json.dumps({"schema": "foretold.baseline/1", "findings": ["x"]}): "is damaged",
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:30])
def test_a_broken_baseline_is_an_error(place, text):
    path = place.write("baseline.json", text)
    with pytest.raises(BadSettings) as raised:
        read_baseline(path)
    assert path in str(raised.value)
    assert WRONG[text] in str(raised.value)


def test_a_baseline_that_is_not_there(place):
    with pytest.raises(BadSettings, match="cannot be read: No such file"):
        read_baseline(place.path("none.json"))
    with pytest.raises(BadSettings, match="cannot be read"):
        read_baseline(place.fifo("pipe"))
