"""Running cases: a wrong expectation fails, a case that cannot run says why."""

import os
import tempfile

import pytest

from foretold.proof.conform.cases import CaseOutcome
from foretold.proof.conform.run import run_case, run_cases

HEADER = (
    "Codebase and user instructions are shown below. Be sure to adhere to these instructions. IMPORTANT: "
    "These instructions OVERRIDE any default behavior and you MUST follow them exactly as written."
)
MEMORY = f"{HEADER}\n\nContents of {{proj}}/CLAUDE.md (project instructions, checked into the codebase):\n\nhello"
LOADED = {"file_path": "{proj}/CLAUDE.md", "memory_type": "Project", "load_reason": "session_start"}


def case(*, expect=None, **more):
    return {
        "id": "t",
        "agent": "claude-code",
        "version": "2.1.325",
        "files": {"{proj}/CLAUDE.md": "hello\n"},
        "expect": {"memory": MEMORY, **(expect or {})},
        **more,
    }


def run(given, **options):
    return run_case(given, allow_setup=options.get("allow_setup", True))


def keys(outcome):
    return [difference["key"] for difference in outcome.differences]


def test_a_case_that_passes():
    assert run(case()) == CaseOutcome("t", "passed")


def test_both_versions():
    assert [run(case(version=version)).status for version in ("2.1.197", "2.1.325")] == ["passed", "passed"]


def test_a_wrong_expectation_fails_and_shows_both():
    outcome = run(case(expect={"memory": "something else"}))
    assert (outcome.id, outcome.status, keys(outcome)) == ("t", "failed", ["memory"])
    (difference,) = outcome.differences
    assert difference["expected"] == "something else"
    assert difference["actual"].startswith(HEADER)


READ = [[{"name": "Read", "input": {"file_path": "{proj}/a/x.ts"}}]]
NESTED = ["user", "text", "<system-reminder>\nContents of {proj}/a/CLAUDE.md:\n\nnested\n</system-reminder>"]
TWO_FILES = {"{proj}/CLAUDE.md": "hello", "{proj}/a/CLAUDE.md": "nested", "{proj}/a/x.ts": ""}


@pytest.mark.parametrize(
    ("expect", "failed"),
    [
        ({"later": [[NESTED]]}, []),
        ({"later": [[]]}, ["later"]),
        ({"later": []}, ["later"]),
        ({"later": [[NESTED, NESTED]]}, ["later"]),
        ({"wrapper": ["<system-reminder>\n", "\n</system-reminder>"]}, []),
        ({"wrapper": ["", ""]}, ["wrapper"]),
        ({"memory": None, "wrapper": ["", ""]}, ["memory", "wrapper"]),
        ({"envelope": "anything", "blocks": 99, "rc": 7, "message_index": 3}, []),
        ({"loaded": []}, ["loaded"]),
        ({"loaded": [LOADED]}, ["loaded"]),
        (
            {
                "loaded": [
                    {
                        "file_path": "{proj}/a/CLAUDE.md",
                        "memory_type": "Project",
                        "load_reason": "nested_traversal",
                        "trigger_file_path": "{proj}/a/x.ts",
                        "effort": "not compared",
                    },
                    LOADED,
                ]
            },
            [],
        ),
        ({"sub": ["x"]}, ["sub"]),
        ({"first": [["user", "text", "x"]]}, ["first"]),
    ],
    ids=range(13),
)
def test_every_recorded_key_counts(expect, failed):
    outcome = run(case(files=TWO_FILES, turns=READ, expect=expect))
    assert (keys(outcome), outcome.status) == (failed, "failed" if failed else "passed")


def test_a_prompt_and_what_it_mentions():
    assert run(case(files=TWO_FILES, prompt="see @a/x.ts", expect={"first": [NESTED]})).status == "passed"


def test_a_subagent_and_its_turns():
    agent = [[{"name": "Agent", "input": {"subagent_type": "Plan"}}]]
    given = case(files=TWO_FILES, turns=agent, sub_turns=READ, expect={"sub": [None], "sub_later": [[NESTED]]})
    assert run(given).status == "passed"
    assert keys(run({**given, "expect": {**given["expect"], "sub": [MEMORY]}})) == ["sub"]


def test_tool_calls_change_the_files():
    """What a call writes is there for the next one."""
    turns = [
        [{"name": "Write", "input": {"file_path": "{proj}/b/CLAUDE.md", "content": "one"}}],
        [{"name": "Edit", "input": {"file_path": "b/CLAUDE.md", "old_string": "one", "new_string": "two"}}],
        [{"name": "Read", "input": {"file_path": "{proj}/b/x.ts"}}],
    ]
    files = {"{proj}/CLAUDE.md": "hello", "{proj}/c/y.ts": ""}
    outcome = run(case(files=files, turns=turns, expect={"later": None}))
    assert outcome.differences[0]["actual"] == [[], [], []]  # a file that was itself touched is not attached


@pytest.mark.parametrize("allowed", [True, False])
def test_shell_commands_of_a_turn_need_permission(allowed):
    command = "mkdir a && touch a/x.ts && printf nested > a/CLAUDE.md"
    turns = [[{"name": "Bash", "input": {"command": command}}], *READ]
    outcome = run_case(case(turns=turns, expect={"later": [[], [NESTED]]}), allow_setup=allowed)
    assert outcome.status == ("passed" if allowed else "failed")


# -- what cannot run -----------------------------------------------------------------------------------------


def test_setup_without_permission_is_skipped_with_the_reason():
    given = case(setup=["touch {root}/made"])
    (outcome,) = run_cases([given], allow_setup=False)
    reason = "its setup runs shell commands; allow them with --allow-setup"
    assert outcome == CaseOutcome("t", "skipped", reason)
    assert [each.status for each in run_cases([given], allow_setup=True)] == ["passed"]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"agent": "emacs"}, "there is no dialect for emacs"),
        ({"agent": None}, "there is no dialect for None"),
        ({"fn": "mink.lode"}, "no interface has a function mink.lode"),
        ({"kind": "telepathy"}, "the kind telepathy is not supported"),
    ],
)
def test_what_is_not_built_yet_is_skipped(more, reason):
    (outcome,) = run_cases([case(**more)], allow_setup=True)
    assert outcome == CaseOutcome("t", "skipped", reason)


def test_outcomes_come_in_order_and_one_by_one():
    given = [case(id="a"), case(id="b", agent="x"), case(id="c", expect={"memory": None})]
    outcomes = run_cases(iter(given), allow_setup=False)
    assert next(outcomes).id == "a"
    assert [(each.id, each.status) for each in outcomes] == [("b", "skipped"), ("c", "failed")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_cannot_read_what_is_closed():
    files = {"{proj}/CLAUDE.md": "hello\n", "{proj}/CLAUDE.local.md": {"text": "closed", "mode": "000"}}
    assert run(case(files=files, uid=65534)) == CaseOutcome("t", "passed")
    assert keys(run(case(files=files))) == ["memory"]  # root reads everything


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_differences_survive_the_other_process():
    outcome = run(case(uid=65534, expect={"memory": "é\n\u2028"}))
    assert (outcome.status, outcome.differences[0]["expected"]) == ("failed", "é\n\u2028")


def test_the_host_is_not_seen(place, monkeypatch):
    """Nothing above the stage, and no home but the staged one."""
    place.write("CLAUDE.md", "of this machine")
    place.write(".claude/CLAUDE.md", "of this machine")
    monkeypatch.setenv("HOME", place.root)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", place.path(".claude"))
    monkeypatch.setenv("TMPDIR", place.folder("tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert run(case()).status == "passed"
    assert os.listdir(place.path("tmp")) == []


@pytest.mark.parametrize("missing", ["expect", "version", "files"])
def test_a_case_without_what_it_needs_hides_no_other(missing):
    given = case()
    del given[missing]
    outcomes = list(run_cases([given, case(id="next")], allow_setup=True))
    assert [(each.id, each.status) for each in outcomes] == [("t", "failed"), ("next", "passed")]
    assert missing in outcomes[0].reason
