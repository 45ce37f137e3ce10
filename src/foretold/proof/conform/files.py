"""State cases about what a model knows of files: the steps of a case are done, by us and by somebody else.

1. The agent looks for changed files before each request: at a prompt, and after each of its tools.
2. Files are staged 100 s old. What the agent writes is a moment old, what somebody else changes is newer than all
   before, unless the case says how much newer than the staged file it is.
3. `restart_resume` gives the records of what was done so far to a new state.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from datetime import UTC, datetime

from foretold.errors import BadCase
from foretold.files.disk import Disk
from foretold.files.read_state.outcome import Outcome
from foretold.files.read_state.state import ReadState
from foretold.instructions.text.prompt_mentions import mentions_in
from foretold.proof.conform.cases import content_of
from foretold.proof.conform.scene import Answer, Kinds, Scene

Step = dict[str, object]
STAGED, OWN = 100, 10  #: seconds of age
ATTACHED = 5  #: files that a compaction brings back
TOOLS = {"read": "Read", "write": "Write", "edit": "Edit"}
NAMES = {"path": "file_path", "old": "old_string", "new": "new_string"}


class AgedDisk(Disk):
    """A disk on which each of our writes is a moment old, and one millisecond newer than the one before."""

    syncs = False

    def __init__(self, now: float) -> None:
        self.next = now - OWN

    def write(self, path: str, data: bytes) -> None:
        super().write(path, data)
        self.next += 0.001
        os.utime(path, (self.next, self.next))


class Play:
    """An agent at work in a folder, and somebody else."""

    def __init__(self, cwd: str, version: str, model: str = "", home: str = "") -> None:
        self.cwd, self.version, self.model, self.home = cwd, version, model, home
        self.began = self.latest = time.time()
        self.disk = AgedDisk(self.began)
        self.state = self._new()
        self.records: list[dict[str, object]] = []
        self.outcomes: list[Outcome | None] = []
        self.attachments: list[dict[str, str]] = []
        self.staged: dict[str, float] = {}

    def _new(self) -> ReadState:
        return ReadState(self.cwd, version=self.version, model=self.model, home=self.home, disk=self.disk)

    def stage(self, name: str, content: object) -> None:
        """A file that is there before."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(content, dict) and "symlink" in content:
            os.symlink(str(content["symlink"]), path)
            return
        with open(path, "wb") as file:
            file.write(bytes_of(content))
        if isinstance(content, dict) and "mode" in content:
            os.chmod(path, int(str(content["mode"]), 8))
        self._date(path, self.began - STAGED)
        self.staged[path] = self.began - STAGED

    def path(self, name: object) -> str:
        return os.path.normpath(os.path.join(self.cwd, str(name)))

    def do(self, step: Step) -> None:
        """One step; its outcome, and what the model is told behind it."""
        op, outcome = str(step["op"]), None
        if op in TOOLS:
            outcome = self._tool(op, step)
        elif op == "bash":
            status = step["status"] if "status" in step else self.run_shell(str(step["command"]))
            self.state.shell(str(step["command"]), succeeded=status == 0)
        elif op in ("prompt", "mention"):
            self._mentions(
                str(step.get("text") or step.get("prompt") or (f"@{step['path']}" if "path" in step else ""))
            )
        elif op == "inject":
            self.state.inject(str(step["path"]), str(step["raw"]), shown=str(step["shown"]))
        elif op == "restart_resume":
            self.state = self._new()
            self.state.resume(self.records)
        elif op == "compact":
            kept = sorted(self.state.recent(), key=lambda file: -file.mtime)[:ATTACHED]
            self.state.clear()
            for file in kept:
                self.state.attached(file.path)
        elif op.startswith("external_"):
            self._external(op, step)
        elif op != "request":
            raise BadCase(f"no step is called {op}")
        self.outcomes.append(outcome)
        if not op.startswith("external_"):
            self.attachments += [notice.attachment for notice in self.state.changed()]

    def _mentions(self, text: str) -> None:
        for path in mentions_in(text):
            lines = re.search(re.escape(path) + r"#L(\d+)(?:-(\d+))?", text)
            first, last = (int(n) if n else None for n in lines.groups()) if lines else (None, None)
            self.state.mention(path, first, last)

    def run_shell(self, command: str) -> int:
        raise BadCase(f"no shell here: {command}")

    def _tool(self, op: str, step: Step) -> Outcome:
        given = {name: value for name, value in step.items() if name != "op"}
        done: Outcome = getattr(self.state, op)(**given)
        call = {NAMES.get(name, name): value for name, value in given.items()}
        name = f"toolu_{len(self.records)}"
        use = {"type": "tool_use", "id": name, "name": TOOLS[op], "input": call}
        result = {"type": "tool_result", "tool_use_id": name, "content": done.text, "is_error": not done.ok}
        now = datetime.now(UTC).isoformat()
        self.records += [
            {"type": kind, "timestamp": now, "message": {"role": kind, "content": [block]}}
            for kind, block in (("assistant", use), ("user", result))
        ]
        return done

    def _external(self, op: str, step: Step) -> None:
        path = self.path(step["path"])
        if op == "external_delete":
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
            return
        if op == "external_chmod":
            os.chmod(path, int(str(step["mode"]), 8))
            return
        if op != "external_touch":
            with open(path, "ab" if op == "external_append" else "wb") as file:
                file.write(bytes_of(step["content"]))
        if "mtime_delta_s" in step:
            self._date(path, self.staged.get(path, self.began - STAGED) + float(str(step["mtime_delta_s"])))
        else:
            self.latest += 1
            self._date(path, self.latest)

    def _date(self, path: str, when: float) -> None:
        os.utime(path, (when, when))


class _Staged(Play):
    """A play on the stage of a case."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene.cwd, scene.agent, home=scene.stage.places["home"])
        self.scene = scene

    def run_shell(self, command: str) -> int:
        return self.scene.stage.run_shell(command, self.cwd)


def bytes_of(content: object) -> bytes:
    """The content of a file: as in other cases, or a number of lines."""
    if not (isinstance(content, dict) and "lines" in content):
        return content_of(content)
    form, other = str(content["lines"]), content.get("replace") or {}
    lines = (other.get(str(n), form.replace("{n}", str(n))) for n in range(1, int(content["count"]) + 1))
    return "".join(f"{line}\n" for line in lines).encode()


def _played(scene: Scene, given: Answer) -> Play:
    files, steps = given.get("files") or {}, given["steps"]
    assert isinstance(files, dict)
    assert isinstance(steps, list)
    play = _Staged(scene)
    for name, content in files.items():
        play.stage(scene.text(name), content)
    for step in steps:
        play.do({key: scene.fill(value) if key in ("path", "command") else value for key, value in step.items()})
    return play


def _read_state(scene: Scene, given: Answer) -> Answer:
    return {"results": [outcome and outcome.label for outcome in _played(scene, given).outcomes]}


def _notices(scene: Scene, given: Answer) -> Answer:
    found = _played(scene, given).attachments
    return {"attachments": [{**each, "filename": each["filename"].replace(scene.cwd, "{cwd}", 1)} for each in found]}


KINDS: Kinds = {"read_state": _read_state, "changed_file_notice": _notices}
