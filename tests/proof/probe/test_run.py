"""Asking an agent: real processes that stand in for one, and what becomes of a user's files."""

import json
import os
import re
import stat
import subprocess
import sys
import tempfile

import pytest

import foretold
from foretold.errors import ProbeFailed
from foretold.proof.conform.run import run_cases
from foretold.proof.probe.cases import case_of, play
from foretold.proof.probe.failure import find_cause
from foretold.proof.probe.recipes import RECIPES
from foretold.proof.probe.run import NAMESPACES, Probe, namespace, probe
from foretold.proof.probe.segments import Segment, find_segments, parts_of

from ...cli.documents import read_document

#: a program that does what Claude Code does, as far as a probe sees it: it sends a text with its first request
AGENT = """\
#!{python}
import json, os, sys, urllib.request
def ask(messages):
    body = {{"model": "m", "max_tokens": 1, "messages": messages, "tools": [{{"name": "Read", "input_schema": {{}}}}]}}
    request = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(),
        {{"content-type": "application/json", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}})
    return json.load(urllib.request.urlopen(request))
{body}
"""


def agent(place, body):
    """The path of a program with this body."""
    path = place.write("bin/claude", AGENT.format(python=sys.executable, body=body))
    os.chmod(path, 0o755)
    return path


def snapshot(folder):
    """Every file below a folder, with its text, its rights and its time."""
    found = {}
    for here, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(here, name)
            info = os.lstat(path)
            with open(path, "rb") as file:
                found[path] = (file.read(), stat.S_IMODE(info.st_mode), info.st_mtime_ns)
    return found


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path_factory, monkeypatch):
    """Other tests, and other runs of these, make folders in the usual one at the same time."""
    monkeypatch.setattr(tempfile, "tempdir", os.fspath(tmp_path_factory.mktemp("temporary")))


def left():
    """Temporary folders of probes that are still there."""
    return [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("foretold-probe-")]


def asked(place, body, **options):
    return probe("claude-code@2.1.325", place.proj, program=agent(place, body), home=place.home, **options)


SENDS = """\
text = "<system-reminder>\\n{}\\n</system-reminder>"
ask([{{"role": "user", "content": [{{"type": "text", "text": text}}]}}])
"""


def test_an_agent_that_does_as_we_expect(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    text = foretold.load(place.proj, agent="claude-code@2.1.325", home=place.home, env={}).text
    found = asked(place, SENDS.format(text.replace("\n", "\\n").replace('"', '\\"')))
    assert (found.same, found.exit, found.requests) == (True, 0, 1)
    assert found.sent == (Segment(0, "user", text),)
    assert (found.agent, found.version) == ("claude-code", "2.1.325")


def test_an_agent_that_does_something_else(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    found = asked(place, SENDS.format("Codebase and user instructions are shown below. X"))
    assert (found.same, [segment.text for segment in found.sent]) == (
        False,
        ["Codebase and user instructions are shown below. X"],
    )
    assert [segment.request for segment in found.expected] == [0]


def test_a_file_that_it_reads(place):
    place.write("proj/sub/CLAUDE.md", "Sub.\n")
    path = place.write("proj/sub/x.py")
    body = """\
answer = ask([{"role": "user", "content": "hi"}])
call = answer["content"][0]
assert call["input"] == {"file_path": sys.argv[0] and PATH}, call
said = "<system-reminder>\\nContents of SUB:\\n\\nSub.\\n\\n</system-reminder>"
ask([{"role": "user", "content": [{"type": "text", "text": said}]}])
"""
    body = body.replace("sys.argv[0] and PATH", repr(path)).replace("SUB", place.path("proj/sub/CLAUDE.md"))
    found = asked(place, body, read=["sub/x.py"])
    assert (found.same, found.requests, found.exit) == (True, 2, 0)


def test_a_file_whose_name_has_quotes_and_backslashes(place):
    path = place.write('proj/a\\b "c" d.py')
    body = (
        'answer = ask([{"role": "user", "content": "hi"}])\nassert answer["content"][0]["input"] == {"file_path": PATH}'
    )
    found = asked(place, body.replace("PATH", repr(path)), read=[os.path.basename(path)])
    assert (found.exit, found.requests) == (0, 1)


def test_a_date_alone_is_not_an_instruction(place):
    place.write("proj/x.txt", "x\n")
    date = "As you answer the user's questions, you can use the following context:\\n# currentDate\\nToday's date is X."
    body = SENDS.format(date)
    found = probe("claude-code@2.1.197", place.proj, program=agent(place, body), home=place.home)
    assert (found.sent, found.expected, found.same) == ((), (), True)


HOOK = "tool.call hook additional context: "
CONTENTS = "Contents of /p/a/AGENTS.md:\n\nA\n"
REMINDER = f"<system-reminder>\n{HOOK}{CONTENTS}\n</system-reminder>"


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        (HOOK + CONTENTS, [HOOK + CONTENTS]),
        (f"{HOOK}{CONTENTS}\n\n<total_tokens>5 tokens left</total_tokens>", [HOOK + CONTENTS]),
        (f"{REMINDER}\n\n<system-reminder>\n<total_tokens>5</total_tokens>\n</system-reminder>", [REMINDER]),
        (f"     1\tx\n\n\n{REMINDER}\n\n{REMINDER}", [f"\n\n{REMINDER}\n\n{REMINDER}"]),
        (REMINDER.replace("tool.call", "prompt.mention"), [REMINDER.replace("tool.call", "prompt.mention")]),
        (REMINDER.replace(HOOK, "") + "\n", [REMINDER.replace(HOOK, "") + "\n"]),
        (f"a file that says {HOOK}{CONTENTS}", []),
    ],
)
def test_forms_in_which_nested_files_are_sent(text, segments):
    body = {"messages": [{"role": "system", "content": text}]}
    found = find_segments([{"format": "messages", "tools": ["Read"], "body": body}], "claude-code")
    assert [segment.text for segment in found] == segments


def test_a_mention_in_the_prompt(place):
    place.write("proj/AGENTS.md", "Root.\n")
    nested, _ = place.write("proj/a/AGENTS.md", "A.\n"), place.write("proj/a/x.txt", "x\n")
    text = foretold.load(place.proj, agent="claude-code@2.1.325", home=place.home, env={}).text
    said = (
        f"<system-reminder>\nprompt.mention hook additional context: Contents of {nested}:\n\nA.\n\n</system-reminder>"
    )
    start = f"<system-reminder>\n{text}\n</system-reminder>"
    body = f'ask([{{"role": "user", "content": [{{"type": "text", "text": t}} for t in ({said!r}, {start!r})]}}])'
    found = asked(place, body, prompt="look at @a/x.txt")
    assert (found.same, len(found.sent)) == (True, 2)


def test_the_home_is_not_touched_and_nothing_is_left(place):
    place.write("home/.claude/CLAUDE.md", "Mine.\n")
    place.write("home/.claude/settings.json", '{"hooks": {"Stop": []}, "claudeMdExcludes": ["/x"], "env": {"A": "b"}}')
    place.write("home/.claude/.credentials.json", "{}")
    before, folders = snapshot(place.root), left()
    body = """\
home = os.environ["HOME"]
assert sorted(os.listdir(home + "/.claude")) == ["CLAUDE.md", "settings.json"], os.listdir(home + "/.claude")
assert json.load(open(home + "/.claude/settings.json")) == {"claudeMdExcludes": ["/x"]}
assert os.environ["ANTHROPIC_API_KEY"] == "not-a-key"
assert not {"PYTHONPATH", "VIRTUAL_ENV", "USER"} & set(os.environ)
open(home + "/.claude/CLAUDE.md", "w").write("changed")
open(home + "/new", "w").write("new")
ask([{"role": "user", "content": "hi"}])
"""
    program = agent(place, body)
    before = snapshot(place.root)
    assert asked(place, body).exit == 0
    os.remove(program)
    after = snapshot(place.root)
    assert after == {path: value for path, value in before.items() if path != program}
    assert left() == folders


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.exit(7)", "ended with 7 without asking its model: it said nothing"),
        ("sys.exit('no key')", "ended with 1 without asking its model: no key"),
        ("sys.stdout.buffer.write(bytes(range(256)) * 1000)", "ended with 0 without asking its model: "),
        ("raise RuntimeError('broken')", "without asking its model: RuntimeError: broken"),
        ("import time; time.sleep(600)", "did not ask its model within 2 s, and was ended: it said nothing"),
    ],
)
def test_an_agent_that_cannot_be_asked(place, body, said):
    folders = left()
    with pytest.raises(ProbeFailed) as error:
        asked(place, body, timeout=2)
    assert said in str(error.value)
    assert (error.value.exit_code, left()) == (3, folders)


def test_the_cause_is_shown_not_the_last_line(place):
    place.write("proj/x.txt")
    said = (
        "Warning: an old version\\n\\x1b[91mError: the model gpt-9 is unknown\\x1b[0m\\n"
        "    at run (file:///app.js:1:2)\\n\\nResume  copilot --resume=1234"
    )
    program = agent(place, f'sys.exit("{said}")')
    with pytest.raises(ProbeFailed) as error:
        probe("claude-code@2.1.325", place.proj, program=program, home=place.home)
    first, contact = str(error.value).split("\n")
    assert first == f"{program} ended with 1 without asking its model: Error: the model gpt-9 is unknown"
    assert re.fullmatch(r"  it never contacted our server, in \d+\.\d s", contact)
    words = ("probe", "--agent", "claude-code@2.1.325", "--program", program, "--json")
    done = place.run(*words, env={"PATH": os.environ["PATH"]})
    found = read_document(done.stdout)
    assert (done.returncode, found["schema"], found["exit"]) == (3, "foretold.probe-failed/1", 1)
    assert (found["lines"], found["requests"]) == (["Error: the model gpt-9 is unknown"], [])


def test_an_agent_that_asks_for_something_else(place):
    body = 'urllib.request.urlopen(os.environ["ANTHROPIC_BASE_URL"] + "/v1/models")'
    with pytest.raises(ProbeFailed, match=r"it asked our server 1 times in .*, but for no answer: GET /v1/models"):
        asked(place, body)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Error: sandbox is required (sandbox.failIfUnavailable)", "sandbox.failIfUnavailable"),
        ("Manual authorization is required but the current session is non-interactive.", "security.auth.selectedType"),
        ("Static system messages exceed the model's usable context budget", "larger than what it lets its model read"),
        ("MCP server docs: request timed out", "MCP servers"),
    ],
)
def test_reasons_that_are_known(said, reason):
    assert reason in find_cause(said)[0]


def test_what_leads_the_agent_away_is_hidden_and_named(place):
    if not namespace():
        pytest.skip("this system cannot hide files from a program (unshare)")
    place.write("proj/.claude/settings.json", '{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, "model": "haiku"}')
    body = """\
assert json.load(open(".claude/settings.json")) == {"env": {}, "model": "haiku"}
assert os.environ["GIT_CONFIG_KEY_1"] == "core.fsmonitor"
ask([{"role": "user", "content": "hi"}])
"""
    found = asked(place, body)
    assert (found.exit, found.set_aside) == (0, (".claude/settings.json: env.ANTHROPIC_BASE_URL",))
    done = place.run(
        *("probe", "--agent", "claude-code@2.1.325", "--program", place.path("bin/claude")),
        env={"PATH": os.environ["PATH"]},
    )
    line = (
        "hidden from it, because it leads to other servers or programs: .claude/settings.json: env.ANTHROPIC_BASE_URL"
    )
    assert line in done.stdout.decode().split("\n")


def test_no_process_is_left(place):
    body = f"""\
import subprocess
child = subprocess.Popen(["sleep", "1000"])
open({place.path("pid")!r}, "w").write(os.readlink("/proc/self") + " " + open(f"/proc/{{child.pid}}/cmdline").read())
ask([{{"role": "user", "content": "hi"}}])
"""
    marker = f"sleep-{os.getpid()}"
    body = body.replace('["sleep", "1000"]', f'["bash", "-c", "exec -a {marker} sleep 1000"]')
    assert asked(place, body).exit == 0
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert marker not in listed


def test_it_reaches_nothing_but_this_machine(place):
    if not namespace():
        pytest.skip(f"this system allows no network of its own: {' '.join(NAMESPACES[0])}")
    body = """\
import socket
names = socket.if_nameindex()
assert [name for _, name in names] == ["lo"], names
ask([{"role": "user", "content": "hi"}])
"""
    found = asked(place, body)
    assert (found.isolated, found.exit) == (True, 0)


def test_a_program_that_is_not_there(place, monkeypatch):
    monkeypatch.setenv("PATH", place.root)
    with pytest.raises(ProbeFailed, match="codex is not on PATH; install it, or give --program PATH"):
        probe("codex", place.proj)
    with pytest.raises(ProbeFailed, match="could not be run"):
        probe("codex", place.proj, program=place.path("none"), home=place.home)
    with pytest.raises(ProbeFailed, match="zed cannot be run; supported agents: claude-code, codex"):
        probe("zed", place.proj)
    with pytest.raises(ProbeFailed, match="is not a folder"):
        probe("codex", place.path("none"), program="/bin/true")


def test_the_command(place):
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    program = agent(place, SENDS.format("Codebase and user instructions are shown below. X"))
    done = place.run("probe", "--agent", "claude-code@2.1.325", "--program", program, env={"PATH": os.environ["PATH"]})
    assert done.returncode == 1
    assert "+Codebase and user instructions are shown below. X" in done.stdout.decode().split("\n")
    words = ("probe", "--agent", "claude-code@2.1.325", "--program", program, "--json")
    found = read_document(place.run(*words, env={"PATH": os.environ["PATH"]}).stdout)
    assert (found["schema"], found["same"], found["sent"][0]["role"]) == ("foretold.probe/1", False, "user")
    done = place.run("probe", "--agent", "codex")
    assert (done.returncode, done.stderr) == (
        3,
        b"foretold: codex is not on PATH; install it, or give --program PATH\n",
    )


def test_every_recipe_keeps_keys_to_itself():
    for name, recipe in RECIPES.items():
        copied = " ".join((*recipe.copies, *recipe.keeps)).lower()
        assert not any(word in copied for word in ("credential", "auth.json", "token", "key", "hooks", "env")), name


@pytest.mark.parametrize(
    ("wire", "body", "parts"),
    [
        (
            "messages",
            {
                "system": [{"type": "text", "text": "s"}],
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "tool_result", "content": [{"type": "text", "text": "r"}]},
                            {"type": "text", "text": "t"},
                        ],
                    }
                ],
            },
            [("system", "s"), ("user", "r"), ("user", "t")],
        ),
        (
            "responses",
            {
                "instructions": "i",
                "input": [
                    {"role": "developer", "content": [{"type": "input_text", "text": "d"}]},
                    {"type": "function_call_output", "output": "o"},
                ],
            },
            [("system", "i"), ("developer", "d"), ("tool", "o")],
        ),
        (
            "chat",
            {
                "messages": [
                    {"role": "system", "content": "s"},
                    {"role": "tool", "content": [{"type": "text", "text": "t"}]},
                ]
            },
            [("system", "s"), ("tool", "t")],
        ),
        (
            "gemini",
            {
                "systemInstruction": {"parts": [{"text": "s"}]},
                "contents": [{"role": "user", "parts": [{"functionResponse": {"response": {"output": "o"}}}]}],
            },
            [("system", "s"), ("user", "o")],
        ),
        ("chat", "garbage", []),
        ("chat", {"messages": [None, {"role": "user", "content": None}]}, []),
    ],
)
def test_what_a_request_says(wire, body, parts):
    assert list(parts_of(body, wire)) == parts


def test_a_segment_is_told_once():
    body = {"messages": [{"role": "system", "content": "a\n# Rules\n## x\nX"}]}
    requests = [{"format": "chat", "tools": ["t"], "body": body}] * 2 + [{"format": "chat", "tools": [], "body": body}]
    assert find_segments(requests, "cline") == [Segment(0, "system", "# Rules\n## x\nX")]


def test_a_side_conversation_is_not_counted():
    system = {"role": "system", "content": "You are now acting as the managed memory extraction subagent for an agent."}
    told = {"role": "system", "content": "--- Context from: Q ---\nQ\n--- End of Context from: Q ---"}
    bodies = [{"messages": [system]}, {"messages": [told]}]
    requests = [{"format": "chat", "tools": ["t"], "body": body} for body in bodies]
    assert find_segments(requests, "qwen-code") == [Segment(0, "system", told["content"])]


def test_a_reminder_without_its_end_is_found():
    text = "\n<system_reminder>\nCustom instructions from a/AGENTS.md. Apply these:\n\nAuthorization: ******"
    requests = [{"format": "chat", "tools": ["t"], "body": {"messages": [{"role": "user", "content": text}]}}]
    assert find_segments(requests, "copilot-cli") == [Segment(0, "user", text)]


# -- cases: recording them, and playing them to a program -----------------------------------------------------


def test_a_probe_becomes_a_case_that_conforms(place):
    place.git("init -q .")
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/bad.md", b"\xff")
    place.write("home/.claude/CLAUDE.md", "Mine.\n")
    text = foretold.load(place.proj, agent="claude-code@2.1.325", home=place.home, env={}).text
    sent = text.replace(place.home, "HOME").replace("\n", "\\n").replace('"', '\\"')
    body = SENDS.format(sent).replace("ask(", 'text = text.replace("HOME", os.environ["HOME"])\nask(')
    found = asked(place, body)
    case = case_of(found, home=place.home)
    assert (found.same, case["git"], sorted(case["files"])) == (
        True,
        ["{proj}"],
        ["{home}/.claude/CLAUDE.md", "{proj}/CLAUDE.md"],
    )
    assert "{home}/.claude/CLAUDE.md" in case["expect"]["memory"]
    (outcome,) = run_cases([case], allow_setup=False)
    assert outcome.status == "passed"


def test_a_case_has_the_nested_files_of_every_agent(place):
    place.git("init -q .")
    place.write("proj/sub/AGENTS.md", "@more.md\n")
    place.write("proj/sub/more.md", "More.\n")
    place.write("proj/sub/x.py", "x = 1\n")
    found = Probe("copilot-cli", "1.0.102", "copilot", 0, True, 2, (), (), (), cwd=place.proj, home=place.home)
    case = case_of(found, ["sub/x.py"], place.home)
    assert sorted(case["files"]) == ["{proj}/sub/AGENTS.md", "{proj}/sub/more.md", "{proj}/sub/x.py"]


def played(place, case, body):
    return play(
        {"id": "t", "agent": "claude-code", "version": "2.1.325", **case}, agent(place, body), allow_setup=False
    )


def test_a_case_is_played_to_a_program(place):
    body = """\
told = "Codebase and user instructions are shown below. " + open("CLAUDE.md").read()
text = "<system-reminder>\\n" + told + "\\n</system-reminder>"
ask([{"role": "user", "content": [{"type": "text", "text": text}]}])
"""
    case = {"files": {"{proj}/CLAUDE.md": "A"}}
    expected = "Codebase and user instructions are shown below. A"
    assert played(place, {**case, "expect": {"memory": expected}}, body).status == "passed"
    missing = played(place, {**case, "expect": {"memory": expected + "B"}}, body)
    assert (missing.status, missing.differences[0]["actual"]) == ("failed", "not there")
    extra = played(place, {**case, "expect": {"memory": None}}, body)
    assert (extra.status, extra.differences[0]["actual"]) == ("failed", expected)


def test_earlier_runs_are_played_with_their_turns_and_changes(place):
    body = """\
answer = ask([{"role": "user", "content": " ".join(sys.argv[1:3])}])
told = "Codebase and user instructions are shown below. " + open("CLAUDE.md").read()
while answer["content"][0]["type"] == "tool_use":
    told += " " + answer["content"][0]["input"]["file_path"]
    answer = ask([{"role": "user", "content": "<system-reminder>\\n" + told + "\\n</system-reminder>"}])
"""
    call = {"name": "Read", "input": {"file_path": "f"}}
    case = {
        "files": {"{proj}/CLAUDE.md": "A"},
        "args": ["--continue"],
        "before": [{"turns": [[call]], "then_files": {"{proj}/CLAUDE.md": "B"}}],
        "turns": [[call], [call]],
    }
    start = "Codebase and user instructions are shown below. "
    later = [
        [["user", "text", start + "A f"]],
        [],
        [["user", "text", start + "B f"]],
        [["user", "text", start + "B f f"]],
    ]
    found = played(place, {**case, "expect": {"later": later}}, body)
    assert (found.status, found.differences) == ("passed", ())
    later[2] = [["user", "text", start + "A f f"]]
    assert played(place, {**case, "expect": {"later": later}}, body).status == "failed"


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ({"files": {"{managed}/CLAUDE.md": "x"}, "expect": {}}, "it has files in the organisation's folder"),
        ({"files": {"{fsroot}/tmp/x": "x"}, "expect": {}}, "it has files at the top of the file system"),
        ({"agent": "zed", "expect": {}}, "zed cannot be run"),
        ({"uid": 1000, "expect": {}}, "it needs another user"),
        ({"static": {"/x": "y"}, "expect": {}}, "it needs pages of a server"),
        ({"expect": {"readdir": {"/x": ["a"]}}}, "it depends on the order in which a file system lists folders"),
        ({"expect": {"sub": ["x"]}}, "it needs a subagent"),
        ({"setup": ["true"], "expect": {}}, "it runs shell commands; allow them with --allow-setup"),
    ],
)
def test_what_cannot_be_played(place, case, reason):
    outcome = play({"id": "t", "agent": "codex", **case}, "/bin/false", allow_setup=False)
    assert (outcome.status, outcome.reason) == ("skipped", reason)


def test_settings_of_a_case_that_lead_away_need_consent(place):
    case = {"files": {"{proj}/.claude/settings.json": '{"apiKeyHelper": "x"}'}, "expect": {"memory": None}}
    outcome = played(place, case, 'ask([{"role": "user", "content": "hi"}])')
    reason = "its settings lead the agent elsewhere or start programs; allow them with --allow-setup"
    assert (outcome.status, outcome.reason) == ("skipped", reason)


def test_conform_asks_the_program(place):
    path = place.write(
        "cases.jsonl",
        json.dumps({"id": "t", "agent": "claude-code", "version": "2.1.325", "files": {}, "expect": {"memory": None}}),
    )
    program = agent(place, 'ask([{"role": "user", "content": "hi"}])')
    done = place.run("conform", "--live", "--program", program, path, env={"PATH": os.environ["PATH"]})
    assert (done.returncode, done.stdout) == (0, b"1 passed, 0 failed, 0 skipped\n")
    done = place.run("conform", "--live", path)
    assert (done.returncode, done.stderr) == (
        3,
        b"foretold: claude is not on PATH; install it, or give --program PATH\n",
    )
