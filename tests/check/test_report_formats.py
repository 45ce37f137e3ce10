"""JSON, workflow commands of GitHub, Code Quality of GitLab."""

import json

from foretold.check.finding import CheckFinding
from foretold.check.report.github import render_github
from foretold.check.report.gitlab import render_gitlab
from foretold.check.report.json import render_json

from ..cli.documents import read_document
from .reports import CODEX, make_report


def test_json_is_as_its_schema_says(place):
    document = read_document(render_json(make_report(place, ignored=1, known=2, cut="x")))
    assert document["findings"][0] == {
        "path": "AGENTS.md",
        "line": None,
        "code": "budget-cut",
        "severity": "error",
        "message": "23 bytes are lost",
        "hint": "shorten it",
        "agents": [CODEX],
        "fix": None,
    }
    assert document["findings"][1]["fix"] == {
        "title": "write @docs/a.md ,",
        "safe": True,
        "edits": [{"path": "CLAUDE.md", "start": 22, "end": 22, "text": " "}],
        "renames": [],
    }
    assert document["findings"][3]["path"] == place.path("home/.claude/x.md")
    assert document["agents"] == ["claude-code@2.1.325", "codex@0.166.0"]
    assert document["costs"][0] == {"agent": "claude-code@2.1.325", "files": 2, "tokens": 1200}
    assert (document["ignored"], document["known"], document["cut"], document["top"]) == (1, 2, "x", place.proj)


def test_json_with_a_name_that_is_not_utf8(place):
    path = place.path("proj") + "/\udcff.md"
    text = render_json(make_report(place, [CheckFinding(path, 1, "import-missing", path, "", (), "error")]))
    assert json.loads(text.encode())["findings"][0]["path"] == "\udcff.md"


def test_workflow_commands(place):
    assert render_github(make_report(place)).splitlines() == [
        "::error file=AGENTS.md,line=1,title=foretold budget-cut::23 bytes are lost (codex). To do: shorten it.",
        (
            "::error file=CLAUDE.md,line=3,title=foretold import-punctuation::docs/a.md,: not imported (claude-code). "
            "To do: add a space."
        ),
        "::warning file=CLAUDE.md,line=3,title=foretold text-repeated::AGENTS.md has it, too. To do: keep one.",
        "::notice title=foretold file-long::it has 300 lines.",
    ]


def test_no_name_or_message_can_begin_another_command(place):
    path = place.path("proj/a,b:c%d\r\n::warning::e.md")
    finding = CheckFinding(path, 1, "import-missing", "100%\n::add-mask::x\r::stop", "", (), "error")
    assert render_github(make_report(place, [finding])) == (
        "::error file=a%2Cb%3Ac%25d%0D%0A%3A%3Awarning%3A%3Ae.md,line=1,title=foretold import-missing"
        "::100%25%0A::add-mask::x%0D::stop.\n"
    )


def test_code_quality(place):
    rows = json.loads(render_gitlab(make_report(place)))
    assert [(row["check_name"], row["severity"], row["location"]) for row in rows] == [
        ("budget-cut", "major", {"path": "AGENTS.md", "lines": {"begin": 1}}),
        ("import-punctuation", "major", {"path": "CLAUDE.md", "lines": {"begin": 3}}),
        ("text-repeated", "minor", {"path": "CLAUDE.md", "lines": {"begin": 3}}),
    ]
    assert len({row["fingerprint"] for row in rows}) == 3
    assert rows[0]["description"] == "23 bytes are lost (codex). To do: shorten it."


def test_a_clean_tree(place):
    assert json.loads(render_gitlab(make_report(place, []))) == []
    assert render_github(make_report(place, [])) == ""
