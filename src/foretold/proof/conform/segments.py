"""Running a case of an agent other than Claude Code: the segments of its requests that carry instructions."""

from __future__ import annotations

import json
import os

from foretold.errors import BadCase
from foretold.instructions.session import Call, Session
from foretold.proof.conform.cases import Outcome, is_same
from foretold.proof.conform.stage import Stage, StagedTree

#: agent -> the file that `config` of a case is written to, and its form
CONFIGS = {
    "codex": ("{home}/.codex/config.toml", "toml"),
    "opencode": ("{home}/.config/opencode/opencode.json", "json"),
    "gemini-cli": ("{home}/.gemini/settings.json", "json"),
    "qwen-code": ("{home}/.qwen/settings.json", "json"),
    "continue": ("{home}/.continue/config.yaml", "json"),
}
LANGUAGE = "{output-language}"


def run_segment_case(stage: Stage) -> Outcome:
    """Compare the segments that we expect a run to send with the recorded ones."""
    case = stage.case
    expected = case["expect"]
    assert isinstance(expected, dict)
    session = _session(stage)
    found = _acted(session, stage)
    wanted = [{key: each[key] for key in ("request", "role", "text")} for each in expected["segments"]]
    differences: list[dict[str, object]] = []
    same = _is_same_set(wanted, found) if expected.get("unordered") else _is_same_list(wanted, found)
    if not same:
        differences.append({"key": "segments", "expected": wanted, "actual": found})
    if session.view.refusal != expected.get("exit", 0):
        differences.append({"key": "exit", "expected": expected.get("exit"), "actual": session.view.refusal})
    return Outcome(str(case["id"]), "failed" if differences else "passed", differences=tuple(differences))


def _is_same_list(wanted: list[dict[str, object]], found: list[dict[str, object]]) -> bool:
    if len(wanted) != len(found):
        return False
    pairs = zip(wanted, found, strict=True)
    return all(
        one["request"] == two["request"] and one["role"] == two["role"] and is_same(one["text"], two["text"])
        for one, two in pairs
    )


def _is_same_set(wanted: list[dict[str, object]], found: list[dict[str, object]]) -> bool:
    """Compared as a multiset, split before each file."""

    def pieces(segments: list[dict[str, object]]) -> list[str]:
        mark = "Instructions from: "
        text = "\n".join(str(segment["text"]) for segment in segments)
        return sorted(piece.strip("\n") for piece in text.split(mark))

    return pieces(wanted) == pieces(found)


def _session(stage: Stage) -> Session:
    case, agent = stage.case, str(stage.case["agent"])
    os.makedirs(str(case.get("cwd") or stage.places["proj"]), exist_ok=True)
    _write_config(stage, agent)
    env = case.get("env") or {}
    assert isinstance(env, dict)
    pages = case.get("static") or {}
    assert isinstance(pages, dict)
    trust = True if agent == "gemini-cli" and case.get("trust", True) is not False else None
    return Session(
        str(case.get("cwd") or stage.places["proj"]),
        agent=f"{agent}@{case['version']}",
        home=stage.places["home"],
        managed=stage.places["managed"],
        env=env,
        args=stage.strings("args"),
        now=stage.places["date"],
        trust=trust,
        settings={"fetch": lambda url: pages.get(url.removeprefix(stage.places["url"]))},
        tree=StagedTree(stage, {}),
    )


def _write_config(stage: Stage, agent: str) -> None:
    if agent == "qwen-code":
        stage.write_text(stage.places["home"] + "/.qwen/output-language.md", LANGUAGE)
    config = stage.case.get("config")
    if config is None:
        return
    if agent not in CONFIGS or not isinstance(config, dict):
        raise BadCase(f"{stage.case['id']}: {agent} has no config file that a case can write")
    path, form = CONFIGS[agent]
    moved = stage.case.get("codex_home")
    path = path.replace("{home}/.codex", str(moved)) if moved else path
    text = "\n".join(toml_lines(config)) if form == "toml" else json.dumps(config)
    stage.write_text(path.replace("{home}", stage.places["home"]), text + "\n")


def toml_lines(values: dict[str, object], table: str = "") -> list[str]:
    """The lines of a TOML table: values first, then tables."""
    lines = [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in values.items() if not isinstance(value, dict)]
    for key, value in values.items():
        if isinstance(value, dict):
            name = f"{table}.{json.dumps(key)}" if table else json.dumps(key)
            lines += [f"[{name}]", *toml_lines(value, name)]
    return lines


def _acted(session: Session, stage: Stage) -> list[dict[str, object]]:
    """The segments of a conversation: of its start, or of earlier runs, then of each turn."""
    view = session.start()
    found: list[dict[str, object]] = [
        {"request": 0, "role": slot.block.role, "text": slot.block.text} for slot in view.slots
    ]
    first = 0
    for change in _earlier(stage):
        first += 1
        stage.change(change)
        blocks = session.resume(view).blocks
        found += [{"request": first, "role": block.role, "text": block.text} for block in blocks]
        view = session.view
    turns = stage.case.get("turns") or []
    assert isinstance(turns, list)
    for number, turn in enumerate(turns, first + 1):
        names = turn["tool"] if isinstance(turn["tool"], list) else [turn["tool"]]
        command = turn["args"].get("cmd") or turn["args"].get("command")
        if command:
            stage.run_shell(str(command), view.surroundings.cwd)
        for block in session.use([Call(names[0], turn["args"])]).blocks:
            found.append({"request": number, "role": block.role, "text": block.text})
    return found


def _earlier(stage: Stage) -> list[dict[str, object]]:
    """For each earlier run of the same conversation, the files that change after it."""
    runs = stage.case.get("before") or []
    assert isinstance(runs, list)
    return [run.get("files", run) for run in runs]
