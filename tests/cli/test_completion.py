"""Completion, in real shells: a line is typed with a Tab in it, and what the shell then runs is read."""

import os
import pty
import select
import shutil
import subprocess
import time

import pytest

from foretold.cli import COMMANDS, GROUPS
from foretold.cli.completion import SHELLS, describe_commands
from foretold.serve.hooks import EVENTS

#: what is typed before a Tab, and the line that then runs
TYPED = {
    "sho": "show",
    "help sess": "help sessions",
    "memory rec": "memory recall",
    "sessions sea": "sessions search",
    "files hist": "files history",
    "-C src sessions exp": "-C src sessions export",
    "show --mess": "show --messages",
    "memory list --typ": "memory list --type",
    "memory list --type feed": "memory list --type feedback",
    "sessions search x --rol": "sessions search x --role",
    "sessions list --agent gem": "sessions list --agent gemini-cli",
    "show --agent codex@0.16": "show --agent codex@0.166.0",
    "compare --agent codex,gem": "compare --agent codex,gemini-cli",
    "install gem": "install gemini-cli",
    "hook UserP": "hook UserPromptSubmit",
    "hook Stop --exp": "hook Stop --explain",
    "completion fi": "completion fish",
    "rule import-mis": "rule import-missing",
    "check --select import-mis": "check --select import-missing",
    "check --select safety,import-mis": "check --select safety,import-missing",
    "check --format sar": "check --format sarif",
    "check --agent codex,gem": "check --agent codex,gemini-cli",
    "explain CLAU": "explain CLAUDE.md",
    "sessions show talk": "sessions show talk.jsonl",
}
START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
#: the command is a function that prints its words between marks
SET_UP = {
    "bash": "PS1='> '; foretold() {{ echo \"<<$*>>\"; }}; . {script}",
    "zsh": "PS1='> '; autoload -U compinit; compinit -u -D; foretold() {{ print -r -- \"<<$*>>\" }}; . {script}",
    "fish": 'function foretold; echo "<<$argv>>"; end; source {script}',
}


@pytest.fixture(scope="module")
def scripts():
    commands = describe_commands()
    return {shell: write(commands) for shell, write in SHELLS.items()}


def test_the_table_has_every_command_and_every_option_of_its_help(place):
    commands = {each.name: each for each in describe_commands()}
    assert set(commands[""].takes.words) == {*COMMANDS, "help", "version"}
    assert [name for name in COMMANDS if name not in commands] == []
    for group in GROUPS:
        inside = __import__(f"foretold.cli.{group}", fromlist=["COMMANDS"]).COMMANDS
        assert set(commands[group].takes.words) == set(inside)
        assert [name for name in inside if f"{group} {name}" not in commands] == []
    assert set(commands["hook"].takes.words) == set(EVENTS)
    help_text = place.run("sessions", "search", "--help").stdout.decode()
    known = {name for option in commands["sessions search"].options for name in option.names}
    assert {word.strip(",[]") for word in help_text.split() if word.startswith("--") and word[2:3].isalpha()} <= known


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_printed(place, shell, scripts):
    done = place.run("completion", shell)
    assert (done.returncode, done.stderr, done.stdout.decode()) == (0, b"", scripts[shell])


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_valid(place, shell, scripts):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = place.write("script", scripts[shell])
    done = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes(place, shell, scripts):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    place.write("proj/CLAUDE.md")
    place.write("proj/talk.jsonl")
    place.folder("proj/src")
    script = place.write("script", scripts[shell])
    with Terminal(START[shell], place) as terminal:
        terminal.send(SET_UP[shell].format(script=script) + "\n")
        terminal.send("foretold ready\n", until="<<ready>>")
        found = {}
        for typed in TYPED:
            terminal.send(f"foretold {typed}\t", until=None)
            terminal.send("\n", until=">>")
            found[typed] = " ".join(terminal.last_answer().split())
    assert found == TYPED


class Terminal:
    """A shell on a terminal of its own."""

    def __init__(self, words, place):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(place.proj)
            environment = {"HOME": place.home, "PATH": os.environ["PATH"], "TERM": "dumb", "LANG": "C.UTF-8"}
            os.execvpe(words[0], words, environment)
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)
        os.waitpid(self.pid, 0)

    def send(self, text, until=None):
        """Type a text, and read until the shell is silent, or has printed something."""
        self.text = "" if until != ">>" else self.text
        os.write(self.fd, text.encode())
        end = time.monotonic() + 20
        while time.monotonic() < end:
            ready = select.select([self.fd], [], [], 0.4 if until is None else 1)[0]
            if ready:
                self.text += os.read(self.fd, 65536).decode("utf-8", "replace")
            if (until is None and not ready) or (until is not None and until in self.text):
                return

    def last_answer(self):
        return self.text.rpartition("<<")[2].partition(">>")[0]
