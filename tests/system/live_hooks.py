"""Hooks and the MCP server in real agents: installed by our command, driven on loopback, and uninstalled again.

python tests/system/live_hooks.py             every agent that can be asked
python tests/system/live_hooks.py 2.1.325     only releases with this in their name

1. Hooks are installed into settings that have content of their own, in an odd form. The context that our hooks give
   must be in the requests, for the start, for a prompt and after a tool; the hooks of others must run. A foretold that
   is broken must not be noticed. Uninstalled, every settings file is what it was, byte for byte.
2. The server is installed; its tools must be offered to the model. The model calls `recall`, and what that found must
   be in the next request.
3. The plugin folder is valid, and its hooks and server run (Claude Code).

Used by `make live`; nothing of this is part of `make test`. Each agent has a row in `AGENTS`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from live import RELEASES, ROOT, Release, install

from foretold.dialects.install_targets import INSTALLS
from foretold.proof.probe.recipes import RECIPES
from foretold.proof.probe.run import ask_agent

OTHER_PROGRAM = os.environ.get("FORETOLD_PROGRAM", "")  #: to try an installed foretold instead of this one
PROGRAM = OTHER_PROGRAM or os.path.join(os.path.dirname(sys.executable), "foretold")
TIMEOUT = 90.0
PROMPT = "How do we deploy the payment service to staging?"
FACT = "Staging of the payment service is deployed with `deploy.sh`, never by hand."
TEAM = "Reviews of the payment service need two people."
WAIT = "python3 -c 'import time; time.sleep(6)'"  #: what memories name is worked out beside the conversation
DRIFTED = "correct it: foretold memory edit"
RULE = "Migrations are written backwards first."
OTHER = {"hooks": [{"type": "command", "command": "touch $HOME/theirs"}]}


class Agent(NamedTuple):
    """How an agent is asked, beyond its recipe."""

    settings: dict[str, str]  #: files that the home has before, in an odd form; None of them may be lost
    shell: tuple[str, str]  #: the tool that runs a command, and the key of the command
    calls: tuple[tuple[str, dict[str, object]], ...]  #: what the model does to call `recall`
    words: tuple[str, ...] = ()
    env: dict[str, str] = {}  # noqa: RUF012
    is_called: bool = True  #: whether a tool that a search found is offered then, so that it can be called
    moved: dict[str, str] = {}  # noqa: RUF012  #: files of the recipe that the agent finds by itself elsewhere
    is_told: bool = False  #: whether it has instructions for single folders, which it misses after a shell command
    remembers: bool = False  #: whether it has a memory of its own, which its hooks quote


def odd(value: dict[str, object]) -> str:
    """Settings as nobody writes them: one line, strange spaces."""
    return json.dumps(value, separators=(" ,  ", ":")).replace("{", "{ ", 1) + "\n\n"


RECALL = {"query": "how do we deploy the payment service?"}
AGENTS = {
    "claude-code": Agent(
        {
            ".claude/settings.json": odd({"cleanupPeriodDays": 99, "hooks": {"Stop": [OTHER]}, "env": {"A": "b"}}),
            ".claude.json": '{\r\n\t"numStartups": 7\r\n}',
        },
        ("Bash", "command"),
        (("ToolSearch", {"query": "select:mcp__foretold__recall"}), ("mcp__foretold__recall", RECALL)),
        ("--allowedTools=Bash,Edit,Write,mcp__foretold",),
        {"MCP_CONNECTION_NONBLOCKING": "false"},
        is_told=True,
    ),
    "codex": Agent(
        {".codex/hooks.json": odd({"hooks": {"Stop": [OTHER]}})},
        ("exec_command", "cmd"),
        (("exec_command", {"cmd": "sleep 8"}), ("recall", RECALL)),  # it asks its model before servers have started
        ("--dangerously-bypass-hook-trust",),
    ),
    "gemini-cli": Agent({}, ("run_shell_command", "command"), (("mcp_foretold_recall", RECALL),)),
    "qwen-code": Agent(
        {},
        ("run_shell_command", "command"),
        (("tool_search", {"query": "select:mcp__foretold__recall"}),),
        is_called=False,
        remembers=True,
    ),
    "opencode": Agent({}, ("bash", "command"), (("foretold_recall", RECALL),)),
    "copilot-cli": Agent({}, ("bash", "command"), (("foretold-recall", RECALL),)),
    "cline": Agent({}, ("execute_command", "command"), (("foretold__recall", RECALL),)),
    "continue": Agent({}, ("Bash", "command"), (("recall", RECALL),), moved={"probe.yaml": ".continue/config.yaml"}),
}


class Place:
    """A home and a project of their own, with memories and instructions, and an agent that works there."""

    def __init__(self, root, release, program):
        self.root, self.release, self.program = root, release, program
        self.home, self.folder = os.path.join(root, "home"), os.path.join(root, "proj")
        self.agent, self.recipe, self.runs = AGENTS[release.agent], RECIPES[release.agent], 0
        for folder in (self.home, self.folder, os.path.join(self.folder, "db")):
            os.mkdir(folder)
        subprocess.run(["git", "init", "-q", self.folder], check=True)
        for name in ("CLAUDE.md", "AGENTS.md", "GEMINI.md", "QWEN.md"):
            self.write(os.path.join(self.folder, "db", name), RULE + "\n")
        self.write(os.path.join(self.folder, "db", "one.sql"), "select 1;\n")
        self.write(os.path.join(self.folder, "deploy.sh"), "make ship\n")
        moved = self.agent.moved
        self.templates = {moved.get(name, name): text.replace("{kept}", "") for name, text in self.recipe.files.items()}
        for name, text in self.templates.items():
            if name.endswith(".yaml"):  # a place to be filled in is a mapping there, unless it is in quotes
                self.templates[name] = text.replace("{url}/v1", '"{url}/v1"')
        for name, text in {**self.templates, **self.agent.settings}.items():
            self.write(os.path.join(self.home, name), text)
        whose = ("--agent", release.agent) if self.agent.remembers else ()
        add = ("memory", "add", *whose, "-t", "project")
        self.foretold(*add, "deploy staging", "-d", "how the payment service is deployed to staging", "-b", FACT)
        self.foretold(*add, "--team", "reviews", "-d", TEAM, "-b", TEAM)

    @staticmethod
    def write(path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def foretold(self, *words):
        """Run our command with this home; what it printed."""
        env = {"HOME": self.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"foretold {' '.join(words)}: {done.returncode} {done.stdout}{done.stderr}")
        return done.stdout

    def install(self, *words):
        program = ["--command", OTHER_PROGRAM] if OTHER_PROGRAM else []
        return self.foretold("install", self.release.agent, *words, "--yes", *program)

    def settings(self, *parts):
        """The settings files that an install of these parts may touch, as they are."""
        table = INSTALLS[self.release.agent]._asdict()
        names = {table[part].where.home for part in parts or ("hooks", "mcp") if table[part]}
        found = {}
        for name in sorted(names):
            path = os.path.join(self.home, name)
            if os.path.exists(path):
                with open(path, "rb") as file:
                    found[name] = file.read()
        return found

    def ask(self, prompt, *words, turns=(), path=""):
        """Run the agent once. What it sent, and how it ended. Files of the recipe are filled in for the run only."""
        recipe = self.recipe
        at = recipe.argv.index("-p") if "-p" in recipe.argv else recipe.argv.index("{prompt}")
        before = [
            word
            for number, word in enumerate(recipe.argv[:at])
            if not {"--settings", "--config"} & {word, recipe.argv[number - 1] if number else ""}
        ]
        env = {**recipe.env, **self.agent.env, **({"PATH": path} if path else {})}
        recipe = recipe._replace(argv=(*before, *self.agent.words, *words, *recipe.argv[at:]), env=env)
        self.runs += 1
        root = os.path.join(self.root, f"run{self.runs}")
        os.mkdir(root)
        kept = self.settings()
        files = {name: kept[name].decode() if name in kept else text for name, text in self.templates.items()}
        calls = [[{"names": [name], "input": given} for name, given in turn] for turn in turns]
        answer, _ = ask_agent(recipe, self.program, self.folder, root, files, calls, prompt, TIMEOUT, home=self.home)
        for name in files:
            if name in kept:
                with open(os.path.join(self.home, name), "wb") as file:
                    file.write(kept[name])
        answer["asked"] = [json.dumps(each["body"], ensure_ascii=False) for each in answer["requests"] if each["tools"]]
        answer["offered"] = [each["tools"] for each in answer["requests"] if each["tools"]]
        return answer


def hooks(place: Place) -> list[str]:
    """Hooks: installed, heard, broken, uninstalled."""
    if not INSTALLS[place.release.agent].hooks:
        return []
    agent, name = place.agent, place.release.agent
    tool, key = agent.shell
    before = place.settings("hooks")
    place.install("--no-mcp")
    if place.install("--no-mcp").count("already installed") != 1:
        return ["a second install changes something"]
    command = "sed -i s/1/2/ db/one.sql && sed -i s/make/exec/ deploy.sh"
    touching = [[(tool, {key: each, "description": "change"})] for each in (WAIT, command)]
    answer = place.ask(PROMPT, turns=touching)
    found = [
        _missing(answer, 0, TEAM, "the team's memory at the start"),
        _missing(answer, 0, FACT, "the memory that the prompt is about"),
        _missing(answer, -1, RULE, "the instructions for the file that was changed") if agent.is_told else "",
        _missing(answer, -1, DRIFTED, "the memory that speaks of the file that was changed"),
        "" if not before or b"theirs" not in b"".join(before.values()) or _exists(place, "theirs") else "their hook",
    ]
    os.rename(os.path.join(place.home, ".local"), os.path.join(place.home, "local"))
    place.write(os.path.join(place.home, ".local"), "a file where our state should be")
    broken = place.ask(PROMPT, turns=touching)
    found.append("" if len(broken["asked"]) == 3 and broken["exit"] == 0 else f"disturbed: {_said(broken)}")
    os.remove(os.path.join(place.home, ".local"))
    os.rename(os.path.join(place.home, "local"), os.path.join(place.home, ".local"))
    gone = os.path.join(place.root, "gone", "foretold")
    place.foretold("install", name, "--no-mcp", "--yes", "--command", gone)
    alone = place.ask(PROMPT, turns=touching)
    found.append(
        "" if len(alone["asked"]) == 3 and alone["exit"] == 0 else f"disturbed by a program gone: {_said(alone)}"
    )
    place.foretold("uninstall", name, "--yes")
    after = place.settings("hooks")
    found.append("" if after == before else f"not as before: {after} {before}")
    if any(found):
        found.append(f"the log of hooks: {place.foretold('hook', '--log')}")
    quiet = place.ask(PROMPT)
    return [*found, "it is still heard" if FACT in "".join(quiet["asked"]) else ""]


def _exists(place, name):
    return os.path.exists(os.path.join(place.home, name))


def _missing(answer, number, text, what):
    asked = answer["asked"]
    if asked and json.dumps(text, ensure_ascii=False)[1:-1] in asked[number]:
        return ""
    return f"{what} is not in request {number} of {len(asked)}: {_said(answer)}"


def _said(answer):
    return f"exit {answer['exit']}, {answer['problems']} {str(answer['stderr'])[-300:]}{str(answer['stdout'])[-200:]}"


def server(place: Place) -> list[str]:
    """The MCP server: installed, offered, called, uninstalled."""
    name = place.release.agent
    place.install("--no-hooks")
    answer = place.ask("Use your tools.", turns=[[call] for call in _calls(place)])
    tools = json.dumps(answer["offered"]) + "".join(answer["asked"])
    found = [
        "" if all(each in tools for each in ("explain_file", "search_sessions", "recall")) else "tools are not offered",
        _missing(answer, -1, FACT if place.agent.is_called else "mcp__foretold__recall", "what recall found"),
        f"problems: {answer['problems']}" if answer["problems"] else "",
    ]
    place.foretold("uninstall", name, "--yes")
    rest = place.foretold("install")
    return [*found, "" if "not installed in any agent" in rest else f"still installed: {rest}"]


def _calls(place):
    """Tools that are offered at once need no search."""
    return place.agent.calls[-1:] if place.release.version == "2.1.197" else place.agent.calls


def plugin(place: Place) -> list[str]:
    """The plugin folder: valid, and alive. Only Claude Code has plugins of this kind."""
    if place.release.agent != "claude-code":
        return []
    folder = os.path.join(ROOT, "plugin")
    env = {
        "HOME": place.home,
        "PATH": os.environ["PATH"],
        **place.recipe.env,
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
    }
    valid = [
        subprocess.run(
            [place.program, "plugin", "validate", path], env=env, capture_output=True, text=True, check=False
        )
        for path in (folder, ROOT)
    ]
    path = os.pathsep.join([os.path.dirname(PROGRAM), os.environ["PATH"]])
    mine = dict(place.agent.calls[-1:])
    calls = (
        [("ToolSearch", {"query": "select:mcp__plugin_foretold_foretold__recall"})] if len(_calls(place)) > 1 else []
    )
    calls.append(("mcp__plugin_foretold_foretold__recall", next(iter(mine.values()))))
    words = ("--plugin-dir", folder, "--allowedTools=mcp__plugin_foretold_foretold")
    answer = place.ask(PROMPT, *words, turns=[[call] for call in calls], path=path)
    return [
        *(f"not valid: {done.stdout}{done.stderr}" for done in valid if done.returncode),
        _missing(answer, 0, TEAM, "the plugin's hook at the start"),
        _missing(answer, 0, FACT, "the plugin's hook at the prompt"),
        f"problems: {answer['problems']}" if answer["problems"] else "",
    ]


def check(release: Release) -> list[str]:
    """What is wrong with a release, each in a place of its own."""
    found = []
    for part in (hooks, server, plugin):
        root = os.path.realpath(tempfile.mkdtemp(prefix="foretold-live-"))
        try:
            found += [f"{part.__name__}: {text}" for text in part(Place(root, release, install(release))) if text]
        finally:
            shutil.rmtree(root, ignore_errors=True)
    return found


def main(words: list[str]) -> int:
    wrong = 0
    for release in RELEASES:
        name = f"{release.agent}@{release.version}"
        if release.agent not in AGENTS or (words and not any(word in name for word in words)):
            continue
        differences = check(release)
        wrong += len(differences)
        print(f"{name}: {'hooks and server are heard' if not differences else 'differs'}", flush=True)
        for text in differences:
            print(f"    {text}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
