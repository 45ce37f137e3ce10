"""State cases about memory: layouts of repositories, and that a wrong answer is seen."""

import pytest

from foretold.proof.conform.cases import CaseOutcome
from foretold.proof.conform.run import run_cases


def run(kind, given, expected):
    case = {"id": "t", "kind": kind, "agent": "claude-code", "version": "2.1.197", "input": given, "expected": expected}
    (outcome,) = run_cases([case], allow_setup=False)
    return outcome


@pytest.mark.parametrize(
    ("layout", "cwd", "memory"),
    [
        ([["dir", "{root}/a"]], "{root}/a", "{root}/a"),
        ([["git", "{root}/r"], ["dir", "{root}/r/s"]], "{root}/r/s", "{root}/r"),
        ([["bare", "{root}/b.git"], ["worktree", "{root}/b.git", "{root}/w"]], "{root}/w", "{root}/b.git"),
        ([["git", "{root}/r"], ["worktree", "{root}/r", "{root}/r/w t"]], "{root}/r/w t", "{root}/r"),
        (
            [
                ["git", "{root}/l"],
                ["git", "{root}/s"],
                ["dir", "{root}/s/d"],
                ["submodule", "{root}/l", "{root}/s/d/m"],
            ],
            "{root}/s/d/m",
            "{root}/s/d/m",
        ),
    ],
    ids=["folder", "below", "bare", "worktree", "submodule"],
)
def test_layouts(layout, cwd, memory):
    expected = {"memory_project": memory, "transcript_project": cwd}
    assert run("memory_project", {"layout": layout, "cwd": cwd}, expected) == CaseOutcome("t", "passed")


def test_a_layout_that_cannot_be_made_fails():
    outcome = run("memory_project", {"layout": [["worktree", "{root}/no", "{root}/w"]], "cwd": "{root}"}, {})
    assert (outcome.status, "cannot be made" in outcome.reason) == ("failed", True)


@pytest.mark.parametrize(
    ("kind", "given", "expected", "actual"),
    [
        ("project_slug", {"path": "/a.b"}, {"slug": "a"}, "-a-b"),
        ("memory_staleness", {"age_days": 3}, {"note_days": 2}, 3),
        ("memory_index", {"missing": True}, {"loaded": True}, False),
        ("memory_index", {"parts": [["a", 2]]}, {"body_tail": "a"}, "aa"),
        ("auto_memory_switch", {"flag": "--bare"}, {"enabled": True}, False),
        ("memory_write_permission", {"path": "{memdir}/a.md"}, {"allowed_without_asking": False}, True),
        (
            "memory_frontmatter_write",
            {"session_id": "s", "relative_path": "a.txt", "content": "---\na: b\n---\n"},
            {"changed": True},
            False,
        ),
    ],
)
def test_a_wrong_expectation_fails_and_shows_both(kind, given, expected, actual):
    ((key, value),) = expected.items()
    difference = {"key": key, "expected": value, "actual": actual}
    assert run(kind, given, expected) == CaseOutcome("t", "failed", differences=(difference,))


def test_the_default_folder_while_another_one_is_configured():
    given = {"path": "{config}/projects/<slug>/memory/x.md", "settings": {"user": {"autoMemoryDirectory": "/x"}}}
    assert run("memory_write_permission", given, {"allowed_without_asking": False}).status == "passed"
    given["path"] = "{memdir}/x.md"
    assert run("memory_write_permission", given, {"allowed_without_asking": True}).status == "passed"


def test_an_index_of_the_newer_version_goes_through_its_own_dialect():
    case = {
        "id": "t",
        "kind": "memory_index",
        "agent": "claude-code",
        "version": "2.1.325",
        "input": {"parts": [["a\n", 201]]},
        "expected": {"lines": 200},
    }
    (outcome,) = run_cases([{**case, "expected": {"lines": 200, "warning": ""}}], allow_setup=False)
    assert [difference["key"] for difference in outcome.differences] == ["warning"]
    assert "1 of 201 lines were cut off, starting at line 201" in str(outcome.differences[0]["actual"])
