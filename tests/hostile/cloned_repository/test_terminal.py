"""The author of a cloned repository as the attacker."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time

import pytest

from foretold.cli import COMMANDS
from foretold.cli.files import COMMANDS as FILES
from foretold.cli.memory import COMMANDS as MEMORY
from foretold.cli.sessions import COMMANDS as SESSIONS

# Commands to the terminal

#: title, clipboard, screen, conceal, bell, C1 forms, DEL, overrides and isolates of direction, tags, a bare return
TRICKS = (
    "\x1b]0;pwned\x07\x1b]52;c;cm0=\x07\x1b[2J\x1b[8m\x1bP\x9b31m"
    "\x9d0;x\x9c\x7f\u202e\u2066\u200f\u061c\u200b\ufeff\U000e0041\rover\b"
)
NAME = TRICKS.replace("\n", "")
BYTES = b"\xff\x9b31m\xc2\x9b"  #: in a file name that is not UTF-8
OURS = re.compile(r"\x1b\[(?:0|1|2|31)m|\r\x1b\[K|\r(?=\n)|\x1b\[K|\r(?=[A-Za-z ]+: +\d+ %)")
HOSTILE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
ID = "11111111-2222-4333-8444-555555555555"
SECONDS = 60


def memory(name):
    body = f"We deploy {TRICKS} with `src/a{NAME}.py`.\n"
    return f"---\nname: {name}\ndescription: deploy {TRICKS} pool\ntype: user\n---\n{body}"


def hostile_place(place):
    """A project and a home in which every name and every text has commands to a terminal in it."""
    slug = re.sub("[^a-zA-Z0-9]", "-", place.proj)
    place.write("proj/CLAUDE.md", f"Text {TRICKS}\n@missing{NAME}.md\n@./sub/x{NAME}.md\n")
    place.write(f"proj/sub/x{NAME}.md", f"imported {TRICKS}\n")
    place.write("proj/AGENTS.md", f"Text {TRICKS}\n")
    place.write(f"proj/.claude/rules/r{NAME}.md", f"---\npaths: ['src/**{NAME}']\n---\nRule {TRICKS}\n")
    place.write("proj/.claude/settings.json", json.dumps({"claudeMdExcludes": [f"**/{NAME}", 1], f"k{NAME}": NAME}))
    place.write(f"proj/src/a{NAME}.py", "x = 1\n")
    with open(os.fsencode(place.path("proj/.claude/rules/")) + BYTES + b".md", "wb") as file:
        file.write(b"bytes \xff\x9b31m " + TRICKS.encode())
    place.write("proj/opencode.json", json.dumps({"instructions": [f"x{NAME}.md"]}))
    for folder in (f"home/.claude/projects/{slug}/memory", f"home/.claude/projects/{slug}/memory/team"):
        place.write(f"{folder}/deploy{NAME}.md", memory(f"deploy{NAME}"))
        place.write(f"{folder}/plain.md", memory("plain"))
        place.fifo(f"{folder}/pipe{NAME}.md")
        place.write(f"{folder}/MEMORY.md", f"- [deploy](deploy{NAME}.md): {TRICKS}\n- [plain](plain.md)\n")
    path = f"home/.claude/projects/{slug}/{ID}.jsonl"
    about = {"sessionId": ID, "cwd": place.proj, "timestamp": "2026-11-16T10:00:00.000Z", "gitBranch": NAME}
    call = {"type": "tool_use", "id": "t1", "name": f"Bash{NAME}", "input": {"command": TRICKS}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": f"pool {TRICKS}"}
    backup = {"backupFileName": "0000000000000000@v1", "version": 1, "backupTime": about["timestamp"]}
    tracked = {f"src/a{NAME}.py": backup}
    rows = [
        {"type": "custom-title", "customTitle": f"title {TRICKS}", "sessionId": ID},
        {"type": "user", "uuid": "u1", **about, "message": {"role": "user", "content": f"pool {TRICKS}"}},
        {
            "type": "assistant",
            "uuid": "u2",
            "parentUuid": "u1",
            **about,
            "message": {"role": "assistant", "content": [call]},
        },
        {"type": "user", "uuid": "u3", "parentUuid": "u2", **about, "message": {"role": "user", "content": [result]}},
        {
            "type": "file-history-snapshot",
            "messageId": "u1",
            "snapshot": {"messageId": "u1", "trackedFileBackups": tracked, "timestamp": about["timestamp"]},
            "isSnapshotUpdate": False,
        },
    ]
    place.write(path, "".join(json.dumps(row) + "\n" for row in rows) + f'{{"damaged {TRICKS}\n')
    place.write(f"home/.claude/file-history/{ID}/0000000000000000@v1", f"before {TRICKS}\n")
    place.fifo(f"home/.claude/projects/{slug}/11111111-2222-4333-8444-000000000001.jsonl")
    place.write("home/.claude/settings.json", json.dumps({"hooks": {"Stop": [{"hooks": [{"command": NAME}]}]}}))
    place.write("home/.claude.json", json.dumps({"mcpServers": {NAME: {"command": NAME}}}))
    return place


SOURCE = f"src/a{NAME}.py"
#: every command, with words that make it say as much as it can about what is there
WORDS = {
    "": [()],
    "show": [(), ("--messages",), ("--json",), ("--agent", "opencode")],
    "explain": [(), ("--file", SOURCE), ("--json",), ("--session", ID), ("--agent", f"x{NAME}")],
    "compare": [(), ("--all",), ("--json",)],
    "check": [
        (),
        *(("--format", name) for name in ("json", "sarif", "github", "gitlab", "markdown")),
        ("--fix", "--unsafe", "--dry-run"),
        ("--diff", "HEAD"),
        ("--show-settings",),
        ("--select", NAME),
        (NAME,),
    ],
    "releases": [(), ("claude-code",), ("--json",), (f"x{NAME}",), (f"1{NAME}..2",), (f"claude-code@2{NAME}",)],
    "upgrade": [
        (),
        ("--from", "2.1.60", "--to", "2.1.325", "--file", SOURCE),
        ("--from", "2.1.60", "--json"),
        ("--from", NAME),
        ("--agent", f"x{NAME}"),
    ],
    "lsp": [("--help",), (NAME,)],
    "install": [(), ("--list",), ("claude-code", "--dry-run"), ("claude-code", "--yes"), (NAME,)],
    "uninstall": [("claude-code", "--dry-run"), ("claude-code", "--yes"), (NAME,)],
    "doctor": [(), ("--json",), ("--fix",)],
    "probe": [("--program", f"/nowhere{NAME}"), (NAME,)],
    "conform": [(f"missing{NAME}.jsonl",)],
    "hook": [
        ("UserPromptSubmit", "--explain", "--prompt", f"how do we deploy {TRICKS} pool?"),
        ("PostToolUse", "--explain", "--file", SOURCE),
        ("SessionStart", "--explain"),
        ("--log",),
        ("SessionStart",),
    ],
    "mcp": [("--help",), (NAME,)],
    "rule": [(), ("unreadable",), (NAME,)],
    "completion": [("bash",), (NAME,)],
}
GROUPS = {
    "memory": {
        "list": [(), ("--json",)],
        "show": [("plain",), (f"deploy{NAME}",), (NAME,)],
        "log": [(), ("plain",)],
        "diff": [("plain",)],
        "budget": [()],
        "recall": [("deploy", "pool"), ("deploy", "--json")],
        "verify": [("--all",)],
        "add": [(f"Topic {NAME}", "-t", "user", "-d", f"d {TRICKS}", "-b", TRICKS)],
        "edit": [("plain", "-d", f"d {TRICKS}"), (NAME, "-d", "x")],
        "rename": [("plain", f"other{NAME}")],
        "rm": [("plain",), (NAME,)],
        "restore": [("plain",), (NAME,)],
        "compact": [("--yes",)],
        "doctor": [(), ("--fix",)],
        "erase": [("plain",), (f"deploy{NAME}", "--yes"), (NAME,), ("--text-from", f"missing{NAME}")],
        "trust": [(), ("--withdraw",)],
        "vectors": [(), ("status",), ("build",), ("remove",)],
        "relocate": [(f"/nowhere{NAME}",)],
        "export": [("-",), (f"out{NAME}.json",)],
        "import": [(f"missing{NAME}",)],
        "prompt": [()],
        "consolidate": [(), ("--dry-run",)],
        "extract": [(ID,), (NAME,)],
        "inbox": [()],
        "share": [("plain", "--yes"), (NAME,)],
    },
    "sessions": {
        "list": [("--all",), ("--json",)],
        "show": [(ID,), (ID, "--full"), (NAME,)],
        "search": [("pool",), ("pool", "--no-index"), ("pool", "--json")],
        "export": [(ID,), (ID, "--format", "markdown"), (ID, "--format", "json")],
        "resume": [(ID,), (ID, "--json"), (NAME,)],
        "archive": [(ID,), ("--list",)],
        "restore": [(NAME,), (ID,)],
        "repair": [(ID,)],
        "relocate": [(f"/nowhere{NAME}",)],
        "du": [()],
        "prune": [("--older", "1d"), ("--empty",)],
    },
    "files": {
        "list": [()],
        "history": [(SOURCE,), (NAME,)],
        "diff": [(SOURCE,), (NAME,)],
        "restore": [(SOURCE, "--dry-run"), (NAME,)],
        "rewind": [(ID, "--dry-run"), (NAME,)],
        "undo": [("--dry-run",), (NAME,)],
    },
}
LINES = {
    **WORDS,
    **{f"{group} {name}": calls for group, each in GROUPS.items() for name, calls in each.items()},
}


def on_a_terminal(installed, words):
    """What a command prints on a terminal; both streams go there. The answer to every question is no."""
    leader, follower = pty.openpty()
    process = installed.start(*words, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower)
    os.close(follower)
    said, until = b"", time.monotonic() + SECONDS
    try:
        while select.select([leader], [], [], max(0, until - time.monotonic()))[0]:
            try:
                data = os.read(leader, 65536)
            except OSError:  # Linux says so when nobody has the other end any more
                data = b""
            if not data:
                process.wait(SECONDS)
                return process.returncode, said
            said += data
    finally:
        os.close(leader)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    pytest.fail(f"foretold {words!r} hangs")


def test_every_command_is_tried():
    assert WORDS.keys() == {"", *COMMANDS} - GROUPS.keys()
    assert {name: {*GROUPS[name]} for name in GROUPS} == {
        "memory": {*MEMORY},
        "sessions": {*SESSIONS},
        "files": {*FILES},
    }


@pytest.mark.parametrize("name", LINES)
def test_no_text_of_a_stranger_commands_the_terminal(place, installed, name):
    hostile_place(place)
    for words in LINES[name]:
        code, said = on_a_terminal(installed, [*name.split(), *words])
        text = said.decode("utf-8", "surrogateescape")
        left = OURS.sub("", text)
        found = HOSTILE.search(left)
        where = left[max(0, found.start() - 200) : found.end() + 60] if found else ""
        assert not found, (words, where)
        assert "\udc9b" not in left, words
        assert "Traceback" not in text, (words, text[-2000:])
        assert code in (0, 1, 2, 3), words


def test_a_pipe_gets_every_byte_as_it_is(place, installed):
    place.write("proj/CLAUDE.md", f"Text {TRICKS}\n")
    _, out, _ = installed.run("show")
    assert TRICKS.encode() in out
