"""Rewind by the real Claude Code compared with ours, on sessions it recorded: part of `make live`.

python tests/system/live_files.py PROGRAM VERSION [SEED ...]     compare, on random sessions; seeds 1 to 3 by default
python tests/system/live_files.py PROGRAM VERSION 1 --record F   add what the agent did to a file of recordings

1. The agent is driven through seven prompts with writes and shell commands, and others change files in between.
2. It is closed and resumed. To every prompt in turn: its answer to a dry run, and the files after its own rewind, must
   be what ours are; and undoing ours must give back what was there.
3. A session whose records and backups are ours, not the agent's, is rewound by the agent: the files must be what they
   were.

The agent runs in a network of its own, with a home of its own, against a model server of ours.
"""

from __future__ import annotations

import json
import os
import queue
import random
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Sequence

from foretold.dialects.claude_code.file_history import form_of
from foretold.files.history.history import FileHistory, answer_of
from foretold.files.history.recorded import Recorded, find_session
from foretold.files.restore.plans import make_plan
from foretold.files.restore.restore import Undo, restore
from foretold.proof.probe.recipes import KEY, RECIPES
from foretold.proof.probe.run import namespace
from foretold.proof.probe.sandbox import bring_up_loopback
from foretold.proof.probe.server import ModelServer, ToolCall
from foretold.sessions.model import Homes

INSIDE = "FORETOLD_LIVE_INSIDE"
SWITCH = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"
PROMPTS = 7
TIMEOUT = 90
Json = dict[str, object]
Turns = list[list[ToolCall]]


class Agent:
    """A running agent, and the model it talks to."""

    def __init__(self, program: str, root: str, turns: Turns, session: str = "", *, records: bool = True) -> None:
        self.root, self.session = root, session or str(uuid.uuid4())
        self.server = ModelServer(turns)
        self.server.start()
        places = {"{key}": KEY, "{url}": self.server.url}
        env = {name: places.get(value, value) for name, value in RECIPES["claude-code"].env.items()}
        self.env = {"PATH": os.defpath, "HOME": f"{root}/home", SWITCH: "1" if records else "", **env}
        which = ("--resume",) if session else ("--session-id",)
        words = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
        self.process = subprocess.Popen(
            [program, "--allowedTools=Bash,Edit,Write,Read", *words, *which, self.session],
            cwd=f"{root}/proj",
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._said: queue.Queue[Json | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._said.put(json.loads(line))
        self._said.put(None)

    def _ask(self, value: Json, kind: str) -> Json:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(value).encode() + b"\n")
        self.process.stdin.flush()
        while (said := self._said.get(timeout=TIMEOUT)) is not None:
            if said.get("type") == kind:
                return said
        raise SystemExit("the agent ended")

    def prompt(self, text: str) -> str:
        """Give it a prompt and wait until it is done; the prompt's id."""
        name = str(uuid.uuid4())
        self._ask({"type": "user", "uuid": name, "message": {"role": "user", "content": text}}, "result")
        return name

    def rewind(self, prompt: str, *, dry_run: bool) -> Json:
        asked = {"subtype": "rewind_files", "user_message_id": prompt, "dry_run": dry_run}
        said = self._ask({"type": "control_request", "request_id": "r", "request": asked}, "control_response")
        response = said["response"]
        assert isinstance(response, dict)
        answer: Json = response["response"]
        return answer

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(TIMEOUT)
        self.server.stop()


# A random session


def files_of(root: str) -> list[str]:
    return [f"{root}/{name}" for name in ("proj/a", "proj/b", "proj/d/c", "proj/d/n", "proj/new/n", "out/o", "proj/m")]


def plan_session(root: str, chance: random.Random) -> tuple[Turns, list[list[tuple[str, str]]]]:
    """What the model does at each prompt, and what others do after it."""
    turns: Turns = []
    others = []
    names = files_of(root)
    for _ in range(PROMPTS):
        for _ in range(chance.randint(0, 3)):
            name = chance.choice(names)
            if chance.random() < 0.6:
                text = "".join(f"{chance.choice('wxyz')} {at}\n" for at in range(chance.randint(0, 5)))
                turns += [[call("Read", file_path=name)], [call("Write", file_path=name, content=text)]]
            else:
                what = chance.choice(("rm -f", "echo more >>", "chmod 755", "touch"))
                turns.append([call("Bash", command=f"{what} {name} 2>/dev/null; true")])
        turns.append([])
        acts = ("rm -f", "echo else >", "chmod 600", "chmod 444", "touch -c")
        others.append([(chance.choice(acts), chance.choice(names)) for _ in range(chance.randint(0, 2))])
    return turns, others


def call(tool: str, **given: str) -> ToolCall:
    return ToolCall((tool,), given)


def hold(program: str, root: str, seed: int) -> tuple[str, list[str]]:
    """Hold a session: its id and the ids of its prompts."""
    turns, others = plan_session(root, random.Random(seed))
    for name in files_of(root)[:3]:
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w", encoding="utf-8") as file:
            file.writelines(f"line {at}\n" for at in range(6))
    os.makedirs(f"{root}/out", exist_ok=True)
    agent = Agent(program, root, turns)
    prompts = []
    for number, acts in enumerate(others):
        prompts.append(agent.prompt(f"prompt {number}"))
        for act, name in acts:
            subprocess.run(f"({act} {name}) 2>/dev/null", shell=True, check=False)
    agent.close()
    return agent.session, prompts


# Comparing


def states(root: str) -> dict[str, list[str]]:
    found = {}
    for top in ("proj", "out"):
        for folder, _, names in os.walk(f"{root}/{top}"):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8", newline="") as file:
                    found[os.path.relpath(path, root)] = [file.read(), f"{stat.S_IMODE(os.stat(path).st_mode):o}"]
    return found


def put(root: str, wanted: dict[str, list[str]]) -> None:
    """Make the files what they are to be; the folders stay."""
    for name in states(root):
        os.remove(f"{root}/{name}")
    for name, (text, mode) in wanted.items():
        os.makedirs(os.path.dirname(f"{root}/{name}"), exist_ok=True)
        with open(f"{root}/{name}", "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(f"{root}/{name}", int(mode, 8))


def compare(program: str, root: str, session: str, prompts: Sequence[str]) -> tuple[list[str], dict[str, Json]]:
    """What differs, and what the agent did."""
    problems, rewinds = [], {}
    closed, undo = states(root), Undo(f"{root}/state")
    recorded = find_session(Homes(f"{root}/home", {}), session)
    agent = Agent(program, root, [], session)
    for prompt in prompts:
        answer = agent.rewind(prompt, dry_run=True)
        plan = make_plan(recorded.wanted(prompt))
        if _sorted(answer) != _sorted(answer_of(plan)):
            problems.append(f"{prompt}: a dry run says {answer}, ours {answer_of(plan)}")
        agent.rewind(prompt, dry_run=False)
        rewinds[prompt] = {"answer": answer, "files": states(root)}
        put(root, closed)
        done = restore(make_plan(recorded.wanted(prompt)), undo, "rewind")
        if states(root) != rewinds[prompt]["files"]:
            problems.append(f"{prompt}: the agent made {rewinds[prompt]['files']}, we {states(root)}")
        if done.undo:
            restore(make_plan(undo.wanted(undo.find(done.undo))), undo, "undo")
        if states(root) != closed:
            problems.append(f"{prompt}: the undo made {states(root)} of {closed}")
        put(root, closed)
    agent.close()
    return problems, rewinds


def _sorted(answer: Json) -> Json:
    changed = answer["filesChanged"]
    assert isinstance(changed, list)
    return {**answer, "filesChanged": sorted(changed)}


def record(file: str, recorded: Recorded, root: str, rewinds: dict[str, Json]) -> None:
    """Add a session to the recordings that `make test` plays."""
    with open(recorded.transcript, encoding="utf-8") as lines:
        values = [json.loads(line) for line in lines]
    keys = ("type", "uuid", "message", "timestamp", "cwd", "sessionId", "version")
    kept = [
        value if value["type"].startswith("file-history") else {key: value[key] for key in keys if key in value}
        for value in values
        if value["type"].startswith("file-history") or (value["type"] == "user" and value["uuid"] in recorded.prompts)
    ]
    backups = {}
    for name in sorted(os.listdir(recorded.backups.folder)):
        path = recorded.backups.path(name)
        with open(path, encoding="utf-8", newline="") as opened:
            backups[name] = [opened.read(), f"{stat.S_IMODE(os.stat(path).st_mode):o}"]
    value = {"agent": "claude-code", "version": recorded.version, "session": recorded.session, "records": kept}
    value |= {"backups": backups, "files": states(root), "rewinds": rewinds}
    with open(file, "a", encoding="utf-8") as out:
        out.write(json.dumps(value, separators=(",", ":")).replace(root, "{root}") + "\n")


def ours(program: str, version: str, root: str) -> list[str]:
    """The agent rewinds by records of ours."""
    agent = Agent(program, root, [[]] * PROMPTS, records=False)
    history = FileHistory(f"{root}/home/.claude/file-history", agent.session, f"{root}/proj", form=form_of(version))
    records, were = [], {}
    for number in range(4):
        prompt = agent.prompt(f"prompt {number}")
        records.append(history.prompt(prompt))
        were[prompt] = states(root)
        for name in ("a", "new/n", "b")[: number + 1]:
            made = history.before_edit(name, prompt)
            records += [made] if made else []
            put(root, {**states(root), f"proj/{name}": [f"{number}\n", ("644", "755")[number % 2]]})
    agent.close()
    recorded = next(
        f"{folder}/{agent.session}.jsonl" for folder, _, names in os.walk(root) if f"{agent.session}.jsonl" in names
    )
    with open(recorded, "a", encoding="utf-8") as file:
        file.writelines(json.dumps(each, separators=(",", ":")) + "\n" for each in records)
    problems = []
    for prompt, wanted in were.items():
        command = [program, "--resume", agent.session, "--rewind-files", prompt]
        subprocess.run(command, cwd=f"{root}/proj", env={**agent.env, SWITCH: "1"}, capture_output=True, check=False)
        if states(root) != wanted:
            problems.append(f"by our records the agent made {states(root)} of {wanted}")
    return problems


def main(words: list[str]) -> int:
    prefix = () if os.environ.get(INSIDE) else namespace()
    if prefix:
        return subprocess.run(
            [*prefix, sys.executable, *sys.argv], env={**os.environ, INSIDE: "1"}, check=False
        ).returncode
    bring_up_loopback()
    file = words[words.index("--record") + 1] if "--record" in words else ""
    program, version, *seeds = [word for word in words if word not in ("--record", file)]
    problems = []
    for seed in map(int, seeds or "123"):
        root = os.path.realpath(tempfile.mkdtemp())
        os.makedirs(f"{root}/home")
        os.makedirs(f"{root}/proj")
        session, prompts = hold(program, root, seed)
        found, rewinds = compare(program, root, session, prompts)
        if file:
            record(file, find_session(Homes(f"{root}/home", {}), session), root, rewinds)
        problems += [f"session {seed}: {problem}" for problem in found + ours(program, version, root)]
        shutil.rmtree(root, ignore_errors=True)
    print("\n".join(problems) or f"claude-code {version}: every rewind is the agent's")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
