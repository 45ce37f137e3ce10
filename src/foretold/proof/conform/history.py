"""State cases about what files were: the steps of a case are done to a history of ours, and compared with its records.

Of `snapshots` a case has the first records, of `rewind` some of the prompts: ours may have more.
"""

from __future__ import annotations

import hashlib
import os
import stat

from foretold.dialects.claude_code.file_history import form_of
from foretold.errors import BadCase, NoCheckpoint
from foretold.files.history.history import FileHistory
from foretold.files.history.snapshots import backup_name
from foretold.proof.conform.scene import Answer, Kinds, Scene

Step = dict[str, str]


def _name(_: Scene, given: Answer) -> Answer:
    return {"backup": backup_name(str(given["absolute_path"]), int(str(given["version"])))}


def _history(scene: Scene, given: Answer) -> Answer:
    told = _Told(scene)
    if "user_turns" in given:
        return told.many(int(str(given["user_turns"])))
    files, steps = given["files"], given["steps"]
    assert isinstance(files, dict)
    assert isinstance(steps, list)
    for name, text in files.items():
        told.write(name, text)
    for step in steps:
        told.do(step)
    versions = {name: [_version(each, name) for each in told.records] for name in files}
    snapshots = _Records(told.shown(record) for record in told.records)
    contents = told.contents()
    rewind = _Prompts((step["id"], told.rewound(step["id"])) for step in steps if step["op"] == "prompt")
    return {
        "versions_per_record": versions,
        "snapshots": snapshots,
        "backup_contents": contents,
        "rewind": rewind,
    }


class _Records(list[Answer]):
    """Records that are right if the recorded ones are their beginning."""

    __hash__ = None

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, list) or list(self[: len(other)]) != other


class _Prompts(dict[str, Answer]):
    """Answers that are right if the recorded ones are among them."""

    __hash__ = None

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, dict) or {key: self.get(key) for key in other} != other


class _Told:
    """A session that does what a case says."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.cwd = scene, scene.cwd
        self.folder = scene.text("{config}") + "/file-history"
        form = form_of(scene.agent.partition("@")[2])
        self.history = FileHistory(self.folder, "session", self.cwd, form=form)
        self.records: list[Answer] = []
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
        """One step: of the user, the agent, or somebody else."""
        if step["op"] == "prompt":
            self.records.append(self.history.prompt(step["id"]))
        elif step["op"] in ("edit", "write"):
            record = self.history.before_edit(self.path(step["path"]), "edit")
            self.records += [record] if record else []
            self.write(step["path"], self._edited(step))
        elif step["op"] == "bash":
            self.scene.stage.run_shell(step["command"], self.cwd)
        elif step["op"] == "external_chmod":
            os.chmod(self.path(step["path"]), int(step["mode"], 8))
        elif step["op"] == "external_write":
            self.write(step["path"], step["content"])
        elif step["op"] != "read":
            raise BadCase(f"a history has no step {step['op']}")

    def _edited(self, step: Step) -> str:
        if step["op"] == "write":
            return step["content"]
        with open(self.path(step["path"]), encoding="utf-8") as file:
            return file.read().replace(step["old"], step["new"], 1)

    def shown(self, record: Answer) -> Answer:
        """A record as a case writes it."""
        inner = record["snapshot"]
        assert isinstance(inner, dict)
        update = bool(record["isSnapshotUpdate"])
        tracked = {
            key: [self._label(each["backupFileName"]), each["version"]]
            for key, each in inner["trackedFileBackups"].items()
        }
        whose = {"snapshot_of": inner["messageId"]} if update else {"messageId": record["messageId"]}
        return {**whose, "isSnapshotUpdate": update, "tracked": tracked}

    def _label(self, name: str | None) -> str | None:
        if name is None:
            return None
        digest, _, version = name.partition("@")
        return f"H({self.names[digest]})@{version}"

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
        found: Answer = {}
        for path in sorted(self.history.tracked):
            name = os.path.relpath(path, self.cwd)
            if not os.path.exists(path):
                found[name] = None
                continue
            with open(path, encoding="utf-8") as file:
                found[name] = [file.read(), f"{stat.S_IMODE(os.stat(path).st_mode):o}"]
        return found

    def many(self, turns: int) -> Answer:
        """A prompt and an edit, many times: how far back one can go."""
        for turn in range(turns):
            self.history.prompt(f"U{turn}")
            self.history.before_edit(self.path("a.txt"))
            self.write("a.txt", f"{turn}\n")
        can = [turn for turn in range(turns) if self._can_rewind(f"U{turn}")]
        kept = len(os.listdir(self.history.backups.folder))
        return {
            "oldest_rewindable_index": can[0],
            "kept": len(can),
            "backups_on_disk_not_pruned": kept == turns - 1,
        }

    def _can_rewind(self, message: str) -> bool:
        try:
            self.history.rewind(message, dry_run=True)
        except NoCheckpoint:
            return False
        return True


def _version(record: Answer, name: str) -> object:
    inner = record["snapshot"]
    assert isinstance(inner, dict)
    return inner["trackedFileBackups"].get(name, {}).get("version")


KINDS: Kinds = {"file_history": _history, "file_history_name": _name}
