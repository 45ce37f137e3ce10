"""Running an instruction case: what the requests of a conversation carry.

1. The conversation is acted out: files are written and edited as its tool calls do, then our session answers what that
   attaches.
2. A case with `segments` records, per request, the texts that carry instructions. Any other records what Claude Code
   loads: the memory text, what each turn adds, what subagents get, and what its hook reports.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from foretold.errors import BadCase
from foretold.instructions.session import Attachment, Call, Session
from foretold.instructions.view import report
from foretold.proof.conform.cases import CaseOutcome, dict_at, is_same, list_at, outcome_of
from foretold.proof.conform.stage import Stage, StagedTree
from foretold.types import Block

Segment = dict[str, object]
LANGUAGE = "{output-language}"
#: how the tools of the agents name a path, the text of a whole file, a text of it and what replaces that
KEYS = (
    ("filePath", "file_path", "path"),
    ("content", "file_text"),
    ("oldString", "old_string", "old_str"),
    ("newString", "new_string", "new_str"),
)
REFUSED = ("missing", "is-a-folder", "not-found", "denied", "refused")  #: errors of calls that did nothing
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
        tree = StagedTree(stage, dict_at(expected, "readdir"))
        found, _ = play_agent(stage, tree, allow_shell=allow_shell)
        differences = [
            {"key": key, "expected": expected[key], "actual": value}
            for key, value in found.items()
            if key in expected and not _is_same_answer(key, expected[key], value)
        ]
    return outcome_of(stage.case, differences)


def _cwd_of(stage: Stage) -> str:
    return str(stage.case.get("cwd") or stage.places["proj"])


def _open_session(stage: Stage, settings: CaseSettings, tree: StagedTree) -> Session:
    case = stage.case
    trusts = settings.asks_trust and case.get("trust", True) is not False
    return Session(
        _cwd_of(stage),
        agent=f"{case['agent']}@{case['version']}",
        home=stage.places["home"],
        managed=stage.places["managed"],
        env=dict_at(case, "env"),
        args=() if case.get("before") else stage.strings("args"),  # which are those of a run that resumes
        now=stage.places["date"],
        trust=True if trusts else None,
        settings={"fetch": lambda url: dict_at(case, "static").get(url.removeprefix(stage.places["url"]))},
        tree=tree,
    )


# Claude Code


def _is_same_answer(key: str, expected: object, actual: object) -> bool:
    return _as_set(expected) == _as_set(actual) if key == "loaded" else is_same(expected, actual)


def _as_set(reports: object) -> set[str]:
    assert isinstance(reports, list)
    return {json.dumps({key: row[key] for key in REPORTED if key in row}, sort_keys=True) for row in reports}


def play_agent(stage: Stage, tree: StagedTree, *, allow_shell: bool) -> tuple[dict[str, Any], Session]:
    """Play the agent's part of a case; our answers under the names of the recording, and the session."""
    session = _open_session(stage, CaseSettings(), tree)
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
    return {**found, "sub_later": sub_later, "loaded": loaded, "wrapper": wrapper}, session


def _perform(call: dict[str, object], stage: Stage, session: Session, *, allow_shell: bool) -> Call:
    """Do what a tool call does to the files."""
    tool, given, error = str(call["name"]), dict_at(call, "input"), str(call.get("error") or "")
    if not error and tool in ("Write", "Edit"):
        change_file(given, stage, _cwd_of(stage))
    if tool == "Bash" and allow_shell:
        stage.run_shell(str(given["command"]), session.shell_folder)
    return Call(tool, given, error)


# Agents whose cases record segments


def _compare_segments(stage: Stage, expected: Mapping[str, object]) -> list[dict[str, object]]:
    found, session = play_segments(stage, StagedTree(stage, {}))
    wanted = [{key: each[key] for key in ("request", "role", "text")} for each in list_at(expected, "segments")]
    differences: list[dict[str, object]] = []
    is_equal = _pieces(wanted) == _pieces(found) if expected.get("unordered") else is_same(wanted, found)
    if not is_equal:
        differences.append({"key": "segments", "expected": wanted, "actual": found})
    if session.view.refusal != expected.get("exit", 0):
        differences.append({"key": "exit", "expected": expected.get("exit"), "actual": session.view.refusal})
    return differences


def play_segments(stage: Stage, tree: StagedTree) -> tuple[list[Segment], Session]:
    """Play the agent's part of a case with segments; ours, and the session."""
    settings = SETTINGS.get(str(stage.case["agent"]), CaseSettings())
    os.makedirs(_cwd_of(stage), exist_ok=True)
    _write_config(stage, settings)
    session = _open_session(stage, settings, tree)
    return _find_segments(session, stage, tree), session


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


def _find_segments(session: Session, stage: Stage, tree: StagedTree) -> list[Segment]:
    """The segments of a conversation, run by run: a text in its place is listed at the first request that has it.

    The first run starts the session, each later one resumes it with the command line of the case.
    """
    found: list[Segment] = []
    number, seen = 0, set[Block]()

    def add(blocks: Iterable[Block]) -> None:
        found.extend({"request": number, "role": block.role, "text": block.text} for block in blocks)

    def add_start(blocks: Iterable[Block], effect: str) -> None:
        """A message is new whenever it is sent; a text that stands where it stood before is not."""
        new = [block for block in blocks if effect != "rebuilt" or block not in seen]
        seen.update(new)
        add(new)

    for position, run in enumerate([*list_at(stage.case, "before"), stage.case]):
        if position == 0:
            add_start([slot.block for slot in session.start().slots], "")
        else:
            number += 1
            update = session.resume(args=stage.strings("args"))
            add_start(update.blocks, update.effect)
            add(update.repeated)
        for turn in list_at(run, "turns"):
            number += 1
            attachment = session.use(_act(turn, stage, session, tree))
            update = session.turn()
            add_start(update.blocks, update.effect)
            add(attachment.blocks)
        stage.change(dict_at(run, "then_files"))
        tree.forget()
    return found


def calls_of(turn: Any) -> list[dict[str, Any]]:
    """The calls of a turn: a list of them, or one."""
    return turn if isinstance(turn, list) else [turn]


def _act(turn: object, stage: Stage, session: Session, tree: StagedTree) -> Iterator[Call]:
    """Do what the calls of a turn do to files, each when the session asks for it."""
    for call in calls_of(turn):
        tool, given, error = call["tool"], dict_at(call, "args"), str(call.get("error") or "")
        cwd, command = session.view.surroundings.cwd, command_of(call)
        if command and error not in REFUSED:
            stage.run_shell(command, cwd)
        elif not error:
            change_file(given, stage, cwd)
        tree.forget()
        yield Call(str(tool[0] if isinstance(tool, list) else tool), given, error)


def command_of(call: Mapping[str, object]) -> str:
    """The shell command of a call; empty if it has none."""
    given = dict_at(call, "args")
    command = given.get("cmd") or given.get("command") or ""
    return shlex.join(command) if isinstance(command, list) else str(command)


def change_file(given: Mapping[str, object], stage: Stage, cwd: str) -> None:
    """Write the file that a call writes or edits; a call that only reads has no text."""
    path, text, old, new = (next((given[key] for key in keys if key in given), None) for keys in KEYS)
    if path is None or (text is None and old is None):
        return
    path = stage.on_disk(os.path.join(cwd, str(path)))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if text is None:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read().replace(str(old), str(new), 1)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(str(text))
