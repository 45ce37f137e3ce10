"""Running a Claude Code case: what the first request carries, what each turn adds, what subagents get.

The conversation of the case is acted out: files are written and edited as its tool calls do, then our session is asked
what that attaches.
"""

from __future__ import annotations

import json
import os

from foretold.instructions.session import Attachment, Call, Session
from foretold.instructions.view import View, report
from foretold.proof.conform.cases import Outcome, is_same
from foretold.proof.conform.stage import Stage, StagedTree


def run_claude_case(stage: Stage, *, allow_shell: bool) -> Outcome:
    """Compare our answer for a staged case with the recorded one."""
    case = stage.case
    expected = case["expect"]
    assert isinstance(expected, dict)
    actor = Actor(stage, expected.get("readdir", {}), allow_shell=allow_shell)
    actor.act()
    found = actor.answers()
    differences = []
    for key in ("memory", "first", "later", "sub", "sub_later", "loaded", "wrapper"):
        if key in expected and not _is_same(key, expected[key], found.get(key)):
            differences.append({"key": key, "expected": expected[key], "actual": found.get(key)})
    status = "failed" if differences else "passed"
    return Outcome(str(case["id"]), status, differences=tuple(differences))


def _is_same(key: str, expected: object, actual: object) -> bool:
    if key == "loaded":
        return _as_set(expected) == _as_set(actual)
    return is_same(expected, actual)


def _as_set(reports: object) -> set[str]:
    known = ("file_path", "memory_type", "load_reason", "globs", "parent_file_path", "trigger_file_path")
    assert isinstance(reports, list)
    return {json.dumps({key: row[key] for key in known if key in row}, sort_keys=True) for row in reports}


class Actor:
    """Plays the agent's part of a case."""

    def __init__(self, stage: Stage, order: dict[str, list[str]], *, allow_shell: bool) -> None:
        case = stage.case
        self.stage, self.allow_shell = stage, allow_shell
        self.cwd = str(case.get("cwd") or stage.places["proj"])
        env = case.get("env") or {}
        assert isinstance(env, dict)
        self.session = Session(
            "/" if self.cwd == "/" else self.cwd,
            agent=f"{case['agent']}@{case['version']}",
            home=stage.places["home"],
            managed=stage.places["managed"],
            env=env,
            args=stage.strings("args"),
            now=stage.places["date"],
            tree=StagedTree(stage, order),
        )
        self.first: list[list[str]] = []
        self.later: list[list[list[str]]] = []
        self.sub: list[str | None] = []
        self.sub_later: list[list[list[str]]] = []
        self.loaded: list[dict[str, object]] = []
        self.view: View | None = None

    def act(self) -> None:
        self.view = self.session.start()
        self.loaded += self.view.loaded
        prompt = self.stage.case.get("prompt")
        if isinstance(prompt, str):
            self.first = self._blocks(self.session.prompt(prompt))
        for turn in self._turns("turns"):
            calls = [self._perform(call) for call in turn]
            self.later.append(self._blocks(self.session.use(calls)))
            for call in calls:
                if call.tool == "Agent" and not call.error:
                    self._act_subagent(str(call.input.get("subagent_type", "general-purpose")))

    def _act_subagent(self, name: str) -> None:
        session = self.session.subagent(name)
        self.sub.append(session.view.text)
        for turn in self._turns("sub_turns"):
            self.sub_later.append(self._blocks(session.use([self._perform(call) for call in turn])))

    def _turns(self, key: str) -> list[list[dict[str, object]]]:
        turns = self.stage.case.get(key) or []
        assert isinstance(turns, list)
        return turns

    def _blocks(self, attachment: Attachment) -> list[list[str]]:
        dialect = self.session.view.dialect
        self.loaded += [report(entry, dialect) for entry in attachment.entries if entry.announced]
        return [list(block) for block in attachment.blocks]

    def _perform(self, call: dict[str, object]) -> Call:
        """Do what a tool call does to the files."""
        tool, given, error = str(call["name"]), call["input"], str(call.get("error") or "")
        assert isinstance(given, dict)
        if not error and tool in ("Write", "Edit"):
            path = os.path.join(self.cwd, str(given["file_path"]))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            content = given.get("content")
            if content is None:
                with open(path, encoding="utf-8", newline="") as file:
                    content = file.read().replace(str(given["old_string"]), str(given["new_string"]), 1)
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(str(content))
        if tool == "Bash" and self.allow_shell:
            self.stage.run_shell(str(given["command"]), self.session.shell_folder)
        return Call(tool, given, error)

    def answers(self) -> dict[str, object]:
        """Our answers under the names of the recording."""
        assert self.view is not None
        found: dict[str, object] = {
            "memory": self.view.text,
            "first": self.first,
            "later": self.later,
            "sub": self.sub,
            "sub_later": self.sub_later,
            "loaded": self.loaded,
        }
        if self.view.text is not None:
            before, _, after = self.view.slots[0].block.text.partition(self.view.text)
            found["wrapper"] = [before, after]
        return found
