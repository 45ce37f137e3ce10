"""Cases that record segments: several runs, files that change between them, and calls that are acted out."""

from foretold.proof.conform.run import run_case, run_cases

FORM = "# AGENTS.md instructions for {proj}\n\n<INSTRUCTIONS>\n%s\n</INSTRUCTIONS>"
REPLACED = FORM % "These AGENTS.md instructions replace all previously provided AGENTS.md instructions.\n\n%s"
SHELL = "printf two > AGENTS.md"
NESTED = "\n\n<system-reminder>\nInstructions from: {proj}/%s\n%s\n</system-reminder>"


def codex(segments, **more):
    segments = [{"request": number, "role": "user", "text": text} for number, text in segments]
    return {
        "id": "t",
        "agent": "codex",
        "version": "0.166.0",
        "files": {"{proj}/AGENTS.md": "one"},
        "git": ["{proj}"],
        "args": ["resume", "--last"],
        "expect": {"segments": segments},
        **more,
    }


def opencode(segments, turns, **files):
    segments = [{"request": number, "role": "tool", "text": NESTED % (path, text)} for number, path, text in segments]
    files = {"{proj}/a/x": "", "{proj}/b/x": "", **{"{proj}/" + path.replace("_", "/"): files[path] for path in files}}
    return {
        "id": "t",
        "agent": "opencode",
        "version": "1.18.33",
        "files": files,
        "git": ["{proj}"],
        "turns": turns,
        "expect": {"segments": segments},
    }


def read(path, **more):
    return {"tool": "read", "args": {"filePath": "{proj}/" + path}, **more}


def write(path, content, **more):
    return {"tool": "write", "args": {"filePath": "{proj}/" + path, "content": content}, **more}


def status(case):
    return run_case(case, allow_setup=True).status


def test_files_that_change_after_a_run():
    one, two = (0, FORM % "one"), (1, REPLACED % "two")
    changed = {"then_files": {"{proj}/AGENTS.md": "two"}}
    assert status(codex([one, two], before=[changed])) == "passed"
    assert status(codex([one], before=[changed])) == "failed"
    gone = FORM.replace(" for {proj}", "") % "The previously provided AGENTS.md instructions no longer apply."
    deleted = {"then_files": {"{proj}/AGENTS.md": None}}
    assert status(codex([one, (1, gone)], before=[deleted])) == "passed"
    assert status(codex([one, (1, gone), (3, FORM % "two")], before=[deleted, {}, changed])) == "passed"


def test_requests_count_through_all_runs():
    turn = {"tool": ["exec_command", "shell"], "args": {"cmd": SHELL}}
    segments = [(0, FORM % "one"), (3, REPLACED % "two")]
    assert status(codex(segments, before=[{"turns": [turn, turn]}])) == "passed"
    assert status(codex(segments, before=[{"turns": [{**turn, "error": "exit"}, turn]}])) == "passed"
    assert status(codex(segments, before=[{"turns": [{**turn, "error": "denied"}] * 2}])) == "failed"


def test_the_command_line_of_a_case_is_that_of_the_runs_that_resume():
    short = ["resume", "--last", "-c", "project_doc_max_bytes=2"]
    assert status(codex([(0, FORM % "one"), (1, REPLACED % "on")], args=short, before=[{}])) == "passed"
    assert status(codex([(0, FORM % "on")], args=short)) == "passed"


def test_commands_run_only_if_they_are_allowed_or_can_do_nothing_else():
    segments = [(0, FORM % "one"), (2, REPLACED % "two")]
    for command, expected in ((SHELL, "passed"), (f"bash -c '{SHELL}'", "skipped")):
        case = codex(segments, before=[{"turns": [{"tool": "shell", "args": {"command": command}}]}])
        (outcome,) = run_cases([case], allow_setup=False)
        assert outcome.status == expected
        assert status(case) == "passed"


def test_calls_of_one_turn_are_acted_out_in_order():
    made = write("a/AGENTS.md", "A")
    assert status(opencode([(1, "a/AGENTS.md", "A")], [[made, read("a/x")]])) == "passed"
    assert status(opencode([(2, "a/AGENTS.md", "A")], [[read("a/x"), made], read("a/x")])) == "passed"
    two = [(1, "a/AGENTS.md", "A"), (1, "b/AGENTS.md", "B")]
    assert status(opencode(two, [[read("a/x"), read("b/x")]], **AB)) == "passed"


def test_a_call_that_failed_changes_nothing_and_attaches_nothing():
    assert status(opencode([], [write("a/AGENTS.md", "A", error="denied"), read("a/x")])) == "passed"
    assert status(opencode([(2, "a/AGENTS.md", "A")], [read("a/x", error="missing"), read("a/x")], **AB)) == "passed"


def test_edits_change_files():
    edit = {"tool": "edit", "args": {"filePath": "{proj}/a/AGENTS.md", "oldString": "A", "newString": "C"}}
    assert status(opencode([(2, "a/AGENTS.md", "C")], [edit, read("a/x")], **AB)) == "passed"


AB = {"a_AGENTS.md": "A", "b_AGENTS.md": "B"}
