"""SARIF: the structure that code scanning needs. `tests/system/sarif.py` asks Microsoft's validator as well."""

import json

from foretold.check.finding import CheckFinding, Fix, Rename, TextEdit
from foretold.check.report.sarif import render_sarif

from .reports import CLAUDE, make_report


def run_of(place, findings=None, **more):
    log = json.loads(render_sarif(make_report(place, findings, **more)))
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    return log["runs"][0]


def test_every_result_is_whole(place):
    run = run_of(place)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["budget-cut", "import-punctuation", "text-repeated", "file-long"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"].endswith(".")
        (location,) = result["locations"]
        place_ = location["physicalLocation"]
        assert place_["region"]["startLine"] >= 1
        assert not place_["artifactLocation"]["uri"].startswith("/")
        assert len(result["partialFingerprints"]["foretold/v1"]) == 32
    for rule in rules:
        assert {"text", "markdown"} == set(rule["help"])
        assert rule["shortDescription"]["text"].endswith(".")
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
        assert rule["properties"]["tags"]
        assert "helpUri" not in rule
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]
    assert run["columnKind"] == "unicodeCodePoints"


def test_one_result(place):
    assert run_of(place)["results"][1] == {
        "ruleId": "import-punctuation",
        "ruleIndex": 1,
        "level": "error",
        "message": {"text": "docs/a.md,: not imported (claude-code). To do: add a space."},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "CLAUDE.md", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 3},
                }
            }
        ],
        "partialFingerprints": {"foretold/v1": run_of(place)["results"][1]["partialFingerprints"]["foretold/v1"]},
        "properties": {"agents": [CLAUDE]},
        "fixes": [
            {
                "description": {"text": "Write @docs/a.md ,."},
                "artifactChanges": [
                    {
                        "artifactLocation": {"uri": "CLAUDE.md", "uriBaseId": "%SRCROOT%"},
                        "replacements": [
                            {
                                "deletedRegion": {"startLine": 3, "startColumn": 15, "endLine": 3, "endColumn": 15},
                                "insertedContent": {"text": " "},
                            }
                        ],
                    }
                ],
            }
        ],
    }


def test_paths_are_percent_encoded(place):
    path = place.path("proj/docs/Ä b%c#d?.md")
    uri = run_of(place, [CheckFinding(path, 1, "import-missing", "x", "", (), "error")])["results"][0]["locations"][0]
    assert uri["physicalLocation"]["artifactLocation"] == {
        "uri": "docs/%C3%84%20b%25c%23d%3F.md",
        "uriBaseId": "%SRCROOT%",
    }


def test_a_name_that_is_not_utf8(place):
    path = place.path("proj") + "/\udcff.md"
    text = render_sarif(make_report(place, [CheckFinding(path, 1, "import-missing", path, "", (), "error")]))
    text.encode()
    location = json.loads(text)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "%FF.md"


def test_columns_count_characters_not_bytes(place):
    report = make_report(place)
    path = place.path("proj/AGENTS.md")
    fix = Fix("x", (TextEdit(path, len("# Bü".encode()), len("# Büro\n\nT".encode()), "n"),))
    finding = CheckFinding(path, 1, "import-missing", "x", "", (), "error", fix)
    run = json.loads(render_sarif(report._replace(findings=(finding,))))["runs"][0]
    change = run["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][0]["deletedRegion"]
    assert change == {"startLine": 1, "startColumn": 5, "endLine": 3, "endColumn": 2}


def test_a_rename_is_no_fix_of_sarif(place):
    path = place.path("proj/CLAUDE.md")
    finding = CheckFinding(path, 1, "name-case", "x", "", (), "error", Fix("x", (), (Rename(path, path + "x"),)))
    assert "fixes" not in run_of(place, [finding])["results"][0]


def test_what_was_cut_is_a_notification(place):
    (invocation,) = run_of(place, [], cut="too many folders")["invocations"]
    assert invocation["toolExecutionNotifications"] == [
        {"level": "warning", "message": {"text": "Not everything was looked at: too many folders."}}
    ]


def test_no_path_of_this_machine_is_in_it(place):
    assert place.proj not in render_sarif(make_report(place))


def test_no_more_results_than_github_takes(place):
    path = place.path("proj/CLAUDE.md")
    notes = [CheckFinding(path, 1, "file-long", "x", "", (), "note") for _ in range(25_000)]
    run = run_of(place, [*notes, CheckFinding(path, 1, "import-missing", "x", "", (), "error")])
    assert (len(run["results"]), run["results"][0]["level"]) == (25_000, "error")
    (said,) = run["invocations"][0]["toolExecutionNotifications"]
    assert said["message"]["text"] == "1 finding left out: a file may have 25,000."
