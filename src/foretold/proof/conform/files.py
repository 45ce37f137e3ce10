"""State cases about files: what a model knows of them, and what they were before.

1. The steps of a case are done by the agent and by another program. The agent looks for changed files before each
   request: at a prompt, and after each of its tools.
2. Files are staged 100 s old. What the agent writes is a moment old; what another program changes is newer than all
   before, unless the case says how much newer than the staged file it is.
3. `restart_resume` gives the records of what was done so far to a new state.
4. Of `snapshots` a case has the first records, of `rewind` some of the prompts: our answer may have more.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from foretold.dialects.claude_code.file_history import form_of
from foretold.errors import BadCase, NoCheckpoint
from foretold.files.history.history import FileHistory
from foretold.files.history.snapshots import backup_name
from foretold.files.read_state.state import LocalDisk, ReadState
from foretold.files.read_state.values import Outcome
from foretold.instructions.text.prompt_mentions import mentions_in
from foretold.proof.conform.cases import content_of, dict_at, list_at
from foretold.proof.conform.state import Answer, CaseKind, Kinds, StagedAgent

Step = dict[str, Any]
STAGED, OWN = 100, 10  #: seconds of age
ATTACHED = 5  #: files that a compaction brings back
TOOLS = {"read": "Read", "write": "Write", "edit": "Edit"}
NAMES = {"path": "file_path", "old": "old_string", "new": "new_string"}


class AgedDisk(LocalDisk):
    """A disk on which each of our writes is a moment old, and one millisecond newer than the one before."""

    syncs = False

    def __init__(self, now: float) -> None:
        self.next = now - OWN

    def write(self, path: str, data: bytes) -> None:
        super().write(path, data)
        self.next += 0.001
        os.utime(path, (self.next, self.next))


class FileSession:
    """An agent at work in a folder, and another program."""

    def __init__(
        self, cwd: str, version: str, model: str = "", home: str = "", shell: Callable[[str, str], int] | None = None
    ) -> None:
        self.cwd, self.version, self.model, self.home, self.shell = cwd, version, model, home, shell
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
        """Write a file that is there before."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(content, dict) and "symlink" in content:
            os.symlink(str(content["symlink"]), path)
            return
        with open(path, "wb") as file:
            file.write(bytes_of(content))
        if isinstance(content, dict) and "mode" in content:
            os.chmod(path, int(str(content["mode"]), 8))
        self.staged[path] = when = self.began - STAGED
        os.utime(path, (when, when))

    def path(self, name: object) -> str:
        return os.path.normpath(os.path.join(self.cwd, str(name)))

    def do(self, step: Step) -> None:
        """Do one step; its outcome, and the notices after it."""
        op, outcome = str(step["op"]), None
        if op in TOOLS:
            outcome = self._tool(op, step)
        elif op == "bash":
            command = str(step["command"])
            if "status" not in step and not self.shell:
                raise BadCase(f"there is no shell here: {command}")
            status = step["status"] if "status" in step or not self.shell else self.shell(command, self.cwd)
            self.state.shell(command, succeeded=status == 0)
        elif op in ("prompt", "mention"):
            mentioned = f"@{step['path']}" if "path" in step else ""
            self._mentions(str(step.get("text") or step.get("prompt") or mentioned))
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
            raise BadCase(f"there is no step {op}")
        self.outcomes.append(outcome)
        if not op.startswith("external_"):
            self.attachments += [notice.attachment for notice in self.state.changed()]

    def _mentions(self, text: str) -> None:
        for path in mentions_in(text):
            lines = re.search(re.escape(path) + r"#L(\d+)(?:-(\d+))?", text)
            first, last = (int(n) if n else None for n in lines.groups()) if lines else (None, None)
            self.state.mention(path, first, last)

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
            when = self.staged.get(path, self.began - STAGED) + float(str(step["mtime_delta_s"]))
        else:
            when = self.latest = self.latest + 1
        os.utime(path, (when, when))


def bytes_of(content: object) -> bytes:
    """The content of a file: as in other cases, or a number of lines."""
    if not (isinstance(content, dict) and "lines" in content):
        return content_of(content)
    form, other = str(content["lines"]), content.get("replace") or {}
    lines = (other.get(str(n), form.replace("{n}", str(n))) for n in range(1, int(content["count"]) + 1))
    return "".join(f"{line}\n" for line in lines).encode()


def _run_steps(agent: StagedAgent, given: Answer) -> FileSession:
    play = FileSession(agent.cwd, agent.name, home=agent.stage.places["home"], shell=agent.stage.run_shell)
    for name, content in dict_at(given, "files").items():
        play.stage(agent.text(name), content)
    for step in list_at(given, "steps"):
        play.do({key: agent.fill(value) if key in ("path", "command") else value for key, value in step.items()})
    return play


def _read_state(agent: StagedAgent, given: Answer) -> Answer:
    return {"results": [outcome and outcome.label for outcome in _run_steps(agent, given).outcomes]}


def _notices(agent: StagedAgent, given: Answer) -> Answer:
    found = _run_steps(agent, given).attachments
    return {"attachments": [{**each, "filename": each["filename"].replace(agent.cwd, "{cwd}", 1)} for each in found]}


def _history(agent: StagedAgent, given: Answer) -> Answer:
    session = _StagedHistory(agent)
    if "user_turns" in given:
        return session.many(int(str(given["user_turns"])))
    files, steps = dict_at(given, "files"), list_at(given, "steps")
    for name, text in files.items():
        session.write(name, text)
    for step in steps:
        session.do(step)
    tracked = [each["snapshot"]["trackedFileBackups"] for each in session.records]
    return {
        "versions_per_record": {name: [each.get(name, {}).get("version") for each in tracked] for name in files},
        "snapshots": [session.shown(record) for record in session.records],
        "backup_contents": session.contents(),
        "rewind": {step["id"]: session.rewound(step["id"]) for step in steps if step["op"] == "prompt"},
    }


def _as_recorded(found: Answer, wanted: Answer) -> tuple[Answer, Answer]:
    """Of our answer, what was recorded: the first records, and some of the prompts."""
    if "snapshots" in found:
        prompts = dict_at(found, "rewind")
        found["snapshots"] = list_at(found, "snapshots")[: len(list_at(wanted, "snapshots"))]
        found["rewind"] = {key: prompts.get(key) for key in dict_at(wanted, "rewind")}
    return found, wanted


class _StagedHistory:
    """A session that does what a case says."""

    def __init__(self, agent: StagedAgent) -> None:
        self.agent, self.cwd = agent, agent.cwd
        folder, form = agent.text("{config}") + "/file-history", form_of(agent.name.partition("@")[2])
        self.history = FileHistory(folder, "session", self.cwd, form=form)
        self.records: list[dict[str, Any]] = []
        self.names: dict[str, str] = {}  #: digest of a path -> what the case calls it

    def path(self, name: str) -> str:
        path = os.path.join(self.cwd, name)
        label = os.path.splitext(os.path.basename(name))[0]
        self.names[hashlib.sha256(path.encode()).hexdigest()[:16]] = label
        return path

    def write(self, name: str, text: str) -> None:
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        is_new = not os.path.exists(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        if is_new:
            os.chmod(path, 0o644)

    def do(self, step: Step) -> None:
        """Do one step of the user, the agent, or another program."""
        if step["op"] == "prompt":
            self.records.append(self.history.prompt(step["id"]))
        elif step["op"] in ("edit", "write"):
            record = self.history.before_edit(self.path(step["path"]), "edit")
            self.records += [record] if record else []
            content = step.get("content")
            if step["op"] == "edit":
                with open(self.path(step["path"]), encoding="utf-8") as file:
                    content = file.read().replace(step["old"], step["new"], 1)
            self.write(step["path"], str(content))
        elif step["op"] == "bash":
            self.agent.stage.run_shell(step["command"], self.cwd)
        elif step["op"] == "external_chmod":
            os.chmod(self.path(step["path"]), int(step["mode"], 8))
        elif step["op"] == "external_write":
            self.write(step["path"], step["content"])
        elif step["op"] != "read":
            raise BadCase(f"a history has no step {step['op']}")

    def shown(self, record: dict[str, Any]) -> Answer:
        """A record as a case writes it."""
        inner, update = record["snapshot"], bool(record["isSnapshotUpdate"])
        backups = inner["trackedFileBackups"].items()
        tracked = {key: [self._label(each["backupFileName"]), each["version"]] for key, each in backups}
        whose = {"snapshot_of": inner["messageId"]} if update else {"messageId": record["messageId"]}
        return {**whose, "isSnapshotUpdate": update, "tracked": tracked}

    def _label(self, name: str | None) -> str | None:
        digest, _, version = (name or "").partition("@")
        return f"H({self.names[digest]})@{version}" if name else None

    def contents(self) -> Answer:
        """Every backup on disk."""
        found: Answer = {}
        folder = self.history.backups.folder
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found[str(self._label(name))] = file.read()
        return found

    def rewound(self, message: str) -> Answer:
        """The files after going back."""
        self.history.rewind(message)
        found: Answer = {os.path.relpath(path, self.cwd): None for path in sorted(self.history.tracked)}
        for name in found:
            with suppress(FileNotFoundError), open(os.path.join(self.cwd, name), encoding="utf-8") as file:
                found[name] = [file.read(), f"{stat.S_IMODE(os.fstat(file.fileno()).st_mode):o}"]
        return found

    def many(self, turns: int) -> Answer:
        """A prompt and an edit, many times: how far back one can go."""
        for turn in range(turns):
            self.history.prompt(f"U{turn}")
            self.history.before_edit(self.path("a.txt"))
            self.write("a.txt", f"{turn}\n")
        can = []
        for turn in range(turns):
            with suppress(NoCheckpoint):
                self.history.rewind(f"U{turn}", dry_run=True)
                can.append(turn)
        kept = len(os.listdir(self.history.backups.folder))
        return {"oldest_rewindable_index": can[0], "kept": len(can), "backups_on_disk_not_pruned": kept == turns - 1}


KINDS: Kinds = {
    "read_state": _read_state,
    "changed_file_notice": _notices,
    "file_history": CaseKind(_history, _as_recorded),
    "file_history_name": lambda _, of: {"backup": backup_name(str(of["absolute_path"]), int(str(of["version"])))},
}
