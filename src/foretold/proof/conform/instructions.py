"""Running an instruction case: what the requests of a conversation carry.

1. The conversation is acted out: files are written and edited as its tool calls do, then our session answers what that
   attaches.
2. A case with `segments` records, per request, the texts that carry instructions. Any other records what Claude Code
   loads: the memory text, what each turn adds, what subagents get, and what its hook reports.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from foretold.errors import BadCase
from foretold.instructions.session import Attachment, Call, Session
from foretold.instructions.view import report
from foretold.proof.conform.cases import CaseOutcome, dict_at, is_same, list_at, outcome_of
from foretold.proof.conform.stage import Stage, StagedTree
from foretold.types import Block

Segment = dict[str, object]
LANGUAGE = "{output-language}"
REPORTED = ("file_path", "memory_type", "load_reason", "globs", "parent_file_path", "trigger_file_path")


class CaseSettings(NamedTuple):
    """What a case of an agent needs in its home."""

    config: str = ""  #: the file that `config` of a case is written to
    asks_trust: bool = False  #: whether the agent must be told that it may trust the folder
    writes: str = ""  #: an instruction file that the agent writes itself


SETTINGS: dict[str, CaseSettings] = {
    "codex": CaseSettings("{home}/.codex/config.toml"),
    "opencode": CaseSettings("{home}/.config/opencode/opencode.json"),
    "gemini-cli": CaseSettings("{home}/.gemini/settings.json", asks_trust=True),
    "qwen-code": CaseSettings("{home}/.qwen/settings.json", writes="{home}/.qwen/output-language.md"),
    "continue": CaseSettings("{home}/.continue/config.yaml"),
}


def run_instruction_case(stage: Stage, *, allow_shell: bool) -> CaseOutcome:
    """Compare our answer for a staged case with the recorded one."""
    expected = dict_at(stage.case, "expect")
    if not expected:
        raise BadCase(f"{stage.case['id']}: expect is missing")
    if "segments" in expected:
        differences = _compare_segments(stage, expected)
    else:
        found = _play(stage, allow_shell=allow_shell)
        differences = [
            {"key": key, "expected": expected[key], "actual": value}
            for key, value in found.items()
            if key in expected and not _is_same_answer(key, expected[key], value)
        ]
    return outcome_of(stage.case, differences)


def _cwd_of(stage: Stage) -> str:
    return str(stage.case.get("cwd") or stage.places["proj"])


def _open_session(stage: Stage, settings: CaseSettings) -> Session:
    case = stage.case
    trusts = settings.asks_trust and case.get("trust", True) is not False
    return Session(
        _cwd_of(stage),
        agent=f"{case['agent']}@{case['version']}",
        home=stage.places["home"],
        managed=stage.places["managed"],
        env=dict_at(case, "env"),
        args=stage.strings("args"),
        now=stage.places["date"],
        trust=True if trusts else None,
        settings={"fetch": lambda url: dict_at(case, "static").get(url.removeprefix(stage.places["url"]))},
        tree=StagedTree(stage, dict_at(dict_at(case, "expect"), "readdir")),
    )


# Claude Code


def _is_same_answer(key: str, expected: object, actual: object) -> bool:
    return _as_set(expected) == _as_set(actual) if key == "loaded" else is_same(expected, actual)


def _as_set(reports: object) -> set[str]:
    assert isinstance(reports, list)
    return {json.dumps({key: row[key] for key in REPORTED if key in row}, sort_keys=True) for row in reports}


def _play(stage: Stage, *, allow_shell: bool) -> dict[str, object]:
    """Play the agent's part of a case; our answers under the names of the recording."""
    session = _open_session(stage, CaseSettings())
    view, prompt = session.start(), stage.case.get("prompt")
    loaded, later, sub, sub_later = [*view.loaded], [], [], []

    def blocks(attachment: Attachment) -> list[list[str]]:
        loaded.extend(report(entry, view.dialect) for entry in attachment.entries if entry.announced)
        return [list(block) for block in attachment.blocks]

    first = blocks(session.prompt(prompt)) if isinstance(prompt, str) else []
    for turn in list_at(stage.case, "turns"):
        calls = [_perform(call, stage, session, allow_shell=allow_shell) for call in turn]
        later.append(blocks(session.use(calls)))
        for call in calls:
            if call.tool == "Agent" and not call.error:
                inner = session.subagent(str(call.input.get("subagent_type", "general-purpose")))
                sub.append(inner.view.text)
                for of_sub in list_at(stage.case, "sub_turns"):
                    done = [_perform(each, stage, session, allow_shell=allow_shell) for each in of_sub]
                    sub_later.append(blocks(inner.use(done)))
    wrapper = None  # what surrounds the memory text in its block
    if view.text is not None:
        before, _, after = view.slots[0].block.text.partition(view.text)
        wrapper = [before, after]
    found: dict[str, object] = {"memory": view.text, "first": first, "later": later, "sub": sub}
    return {**found, "sub_later": sub_later, "loaded": loaded, "wrapper": wrapper}


def _perform(call: dict[str, object], stage: Stage, session: Session, *, allow_shell: bool) -> Call:
    """Do what a tool call does to the files."""
    tool, given, error = str(call["name"]), dict_at(call, "input"), str(call.get("error") or "")
    if not error and tool in ("Write", "Edit"):
        path = os.path.join(_cwd_of(stage), str(given["file_path"]))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        content = given.get("content")
        if content is None:
            with open(path, encoding="utf-8", newline="") as file:
                content = file.read().replace(str(given["old_string"]), str(given["new_string"]), 1)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(str(content))
    if tool == "Bash" and allow_shell:
        stage.run_shell(str(given["command"]), session.shell_folder)
    return Call(tool, given, error)


# Agents whose cases record segments


def _compare_segments(stage: Stage, expected: Mapping[str, object]) -> list[dict[str, object]]:
    settings = SETTINGS.get(str(stage.case["agent"]), CaseSettings())
    os.makedirs(_cwd_of(stage), exist_ok=True)
    _write_config(stage, settings)
    session = _open_session(stage, settings)
    found = _find_segments(session, stage)
    wanted = [{key: each[key] for key in ("request", "role", "text")} for each in list_at(expected, "segments")]
    differences: list[dict[str, object]] = []
    is_equal = _pieces(wanted) == _pieces(found) if expected.get("unordered") else is_same(wanted, found)
    if not is_equal:
        differences.append({"key": "segments", "expected": wanted, "actual": found})
    if session.view.refusal != expected.get("exit", 0):
        differences.append({"key": "exit", "expected": expected.get("exit"), "actual": session.view.refusal})
    return differences


def _pieces(segments: list[Segment]) -> list[str]:
    """The texts of segments, split before each file, in an order of their own."""
    text = "\n".join(str(segment["text"]) for segment in segments)
    return sorted(piece.strip("\n") for piece in text.split("Instructions from: "))


def _write_config(stage: Stage, settings: CaseSettings) -> None:
    home = stage.places["home"]
    if settings.writes:
        stage.write(settings.writes.replace("{home}", home), LANGUAGE)
    config = stage.case.get("config")
    if config is None:
        return
    if not settings.config or not isinstance(config, dict):
        raise BadCase(f"{stage.case['id']}: {stage.case['agent']} has no config file that a case can write")
    path, moved = settings.config, stage.case.get("codex_home")
    path = path.replace("{home}/.codex", str(moved)) if moved else path
    text = "\n".join(toml_lines(config)) if path.endswith(".toml") else json.dumps(config)
    stage.write(path.replace("{home}", home), text + "\n")


def toml_lines(values: dict[str, object], table: str = "") -> list[str]:
    """The lines of a TOML table: values first, then tables."""
    lines = [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in values.items() if not isinstance(value, dict)]
    for key, value in values.items():
        if isinstance(value, dict):
            name = f"{table}.{json.dumps(key)}" if table else json.dumps(key)
            lines += [f"[{name}]", *toml_lines(value, name)]
    return lines


def _find_segments(session: Session, stage: Stage) -> list[Segment]:
    """The segments of a conversation: of its start, of earlier runs, then of each turn."""
    found: list[Segment] = []

    def add(request: int, blocks: Iterable[Block]) -> None:
        found.extend({"request": request, "role": block.role, "text": block.text} for block in blocks)

    view, first = session.start(), 0
    add(0, (slot.block for slot in view.slots))
    for first, run in enumerate(list_at(stage.case, "before"), 1):
        stage.change(run.get("files", run))
        add(first, session.resume(view).blocks)
        view = session.view
    for number, turn in enumerate(list_at(stage.case, "turns"), first + 1):
        names = turn["tool"] if isinstance(turn["tool"], list) else [turn["tool"]]
        command = turn["args"].get("cmd") or turn["args"].get("command")
        if command:
            stage.run_shell(str(command), view.surroundings.cwd)
        add(number, session.use([Call(names[0], turn["args"])]).blocks)
    return found
