"""Playing recorded cases to the agent on this machine: does it still do what was recorded?

1. A case is staged as for `foretold conform`, with the settings that the run needs beside its own.
2. Every recorded text must stand, whole, in a text of the same role of the request that it was recorded in; and where
   nothing was recorded, nothing may stand.
3. What cannot be played is skipped, with the reason: files at the top of the file system or in the organisation's
   folder, a recorded order of folders, another user, pages of a server, subagents.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Iterator

from foretold.proof.conform.cases import Case, Outcome, is_same
from foretold.proof.conform.segments import CONFIGS, LANGUAGE, toml_lines
from foretold.proof.conform.stage import Stage
from foretold.proof.probe.recipes import RECIPES, Recipe
from foretold.proof.probe.run import ask_agent, first_option
from foretold.proof.probe.told import CUTS, PROSE, parts_of

CANNOT = {
    "{managed}": "it has files in the organisation's folder",
    "{fsroot}": "it has files at the top of the file system",
}
LONG = 90.0  #: seconds


def cannot_play(case: Case, *, allow_setup: bool) -> str:
    """Why a case cannot be played; empty if it can."""
    text = json.dumps(case)
    for mark, reason in CANNOT.items():
        if mark in text:
            return reason
    expected = case.get("expect")
    if case.get("agent") not in RECIPES:
        return f"{case.get('agent')} cannot be run"
    if case.get("uid") or ("--dangerously-skip-permissions" in text and os.geteuid() == 0):
        return "it needs another user"
    if "CLAUDE_CODE_USE_" in text:
        return "it needs another provider"
    if case.get("static") or "{url}" in text:
        return "it needs pages of a server"
    if isinstance(expected, dict) and expected.get("readdir"):
        return "it depends on the order in which a file system lists folders"
    if case.get("sub_turns") or (isinstance(expected, dict) and expected.get("sub")):
        return "it needs a subagent"
    return "it runs shell commands; --allow-setup permits that" if case.get("setup") and not allow_setup else ""


def play(case: Case, program: str, *, allow_setup: bool) -> Outcome:
    """Play one case to an agent, and compare."""
    reason = cannot_play(case, allow_setup=allow_setup)
    if reason:
        return Outcome(str(case["id"]), "skipped", reason)
    with Stage(case, "2026-01-02") as stage:
        stage.prepare()
        recipe = RECIPES[str(case["agent"])]
        requests = [request for request in _requests(stage, recipe, program) if request.get("tools")]
        differences = list(_differences(_spoken(stage), requests))
    return Outcome(str(case["id"]), "failed" if differences else "passed", differences=tuple(differences))


def _spoken(stage: Stage) -> Case:
    """The case with the language file that Qwen Code wrote itself in place of its placeholder."""
    path = stage.places["home"] + "/.qwen/output-language.md"
    if not os.path.exists(path):
        return stage.case
    with open(path, encoding="utf-8") as file:
        written = json.dumps(file.read().strip())[1:-1]
    spoken: Case = json.loads(json.dumps(stage.case).replace(LANGUAGE, written))
    return spoken


def _requests(stage: Stage, recipe: Recipe, program: str) -> list[dict[str, object]]:
    """The requests of all runs of a case."""
    found: list[dict[str, object]] = []
    earlier = stage.case.get("before") or []
    assert isinstance(earlier, list)
    for change in earlier:
        found += _one_run(stage, recipe, program, [], [])
        stage.change(change.get("files", change))
    return found + _one_run(stage, recipe, program, stage.strings("args"), _turns(stage.case))


def _turns(case: Case) -> list[list[dict[str, object]]]:
    turns = case.get("turns") or []
    assert isinstance(turns, list)
    found = []
    for turn in turns:
        calls = turn if isinstance(turn, list) else [turn]
        found.append([{"names": _names(call), "input": call.get("input", call.get("args"))} for call in calls])
    return found


def _names(call: dict[str, object]) -> list[object]:
    named = call.get("name", call.get("tool"))
    return named if isinstance(named, list) else [named]


def _one_run(
    stage: Stage, recipe: Recipe, program: str, args: list[str], turns: list[list[dict[str, object]]]
) -> list[dict[str, object]]:
    case = stage.case
    agent = str(case["agent"])
    env = {**recipe.env, **(case["env"] if isinstance(case.get("env"), dict) else {})}  # type: ignore[dict-item]
    if agent == "gemini-cli" and case.get("trust") is False:
        env.pop("GEMINI_CLI_TRUST_WORKSPACE", None)
    cwd = str(case.get("cwd") or stage.places["proj"])
    os.makedirs(cwd, exist_ok=True)
    own = {path: text.replace("{kept}", "") for path, text in recipe.files.items()}
    files = {**own, **_config(case, recipe, agent)}
    if "--approval-mode" in args:
        recipe = recipe._replace(tools=())
    if "--settings" in args and "--settings" in recipe.argv:
        own_settings = recipe.argv.index("--settings")
        recipe = recipe._replace(argv=(*recipe.argv[:own_settings], *recipe.argv[own_settings + 2 :]))
    args = [word for word in args if word not in (*recipe.argv, *recipe.tools)]
    moved = case.get("codex_home")
    if moved:
        files[os.path.relpath(f"{moved}/config.toml", stage.places["home"])] = files.pop(".codex/config.toml")
    if agent == "qwen-code":
        files[".qwen/output-language.md"] = LANGUAGE
    at = first_option(recipe.argv)
    with tempfile.TemporaryDirectory(prefix="foretold-live-") as root:
        answer, _ = ask_agent(
            recipe._replace(argv=(*recipe.argv[:at], *args, *recipe.argv[at:]), env=env),
            program,
            cwd,
            os.path.realpath(root),
            files,
            turns,
            str(case.get("prompt") or "Say hello, please."),
            LONG,
            home=stage.places["home"],
        )
    requests = answer["requests"]
    assert isinstance(requests, list)
    return requests


def _config(case: Case, recipe: Recipe, agent: str) -> dict[str, str]:
    """The settings of the run with those of the case over them."""
    config = case.get("config")
    if not isinstance(config, dict):
        return {}
    path = CONFIGS[agent][0].removeprefix("{home}/")
    if agent == "continue":
        return {"probe.yaml": recipe.files["probe.yaml"] + "rules: " + json.dumps(config.get("rules", [])) + "\n"}
    if path.endswith(".toml"):
        own = tomllib.loads(recipe.files[path].replace("{kept}", ""))
        return {path: "\n".join(toml_lines(_merged(own, config))) + "\n"}
    return {path: json.dumps(_merged(json.loads(recipe.files.get(path, "{}")), config))}


def _merged(one: dict[str, object], two: dict[str, object]) -> dict[str, object]:
    """One mapping over another, all the way down."""
    found = dict(one)
    for key, value in two.items():
        old = found.get(key)
        found[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return found


def _differences(case: Case, requests: list[dict[str, object]]) -> Iterator[dict[str, object]]:
    """Recorded texts that are not there, and instruction texts that were not recorded."""
    expected = case["expect"]
    assert isinstance(expected, dict)
    if expected.get("exit") and not requests:
        return
    wanted = list(_wanted(expected))
    for number, role, text in wanted:
        parts = [PROSE.sub("", part) for who, part in _parts(requests, number) if who == role or role == "tool"]
        if not any(_stands_in(text, part) for part in parts):
            yield {"key": f"request {number}, {role}", "expected": text, "actual": "not there"}
    texts = [text for _, _, text in wanted]
    for number in range(len(requests)):
        for _, part in _parts(requests, number):
            for found in re.finditer(CUTS[str(case["agent"])], PROSE.sub("", part)):
                extra = found[0]
                if extra.strip() and not any(
                    _stands_in(text, extra) or (isinstance(text, str) and extra in text) for text in texts
                ):
                    yield {"key": f"request {number}", "expected": "nothing", "actual": extra}
                    return


def _wanted(expected: dict[str, object]) -> Iterator[tuple[int, str, object]]:
    """Request, role and text of what was recorded."""
    segments = expected.get("segments")
    if isinstance(segments, list):
        for segment in segments:
            yield segment["request"], segment["role"], segment["text"]
        return
    if expected.get("memory") is not None:
        yield 0, "user", expected["memory"]
    first = expected.get("first") or []
    assert isinstance(first, list)
    yield from ((0, role, text) for role, _, text in first)
    later = expected.get("later") or []
    assert isinstance(later, list)
    for number, blocks in enumerate(later, 1):
        for role, _, text in blocks:
            yield number, role, text


def _stands_in(text: object, part: str) -> bool:
    if isinstance(text, str):
        return text in part
    return any(
        is_same(text, found)
        for found in (part, *(match[0] for cut in CUTS.values() for match in re.finditer(cut, part)))
    )


def _parts(requests: list[dict[str, object]], number: int) -> list[tuple[str, str]]:
    if number >= len(requests):
        return []
    return list(parts_of(requests[number]["body"], str(requests[number]["format"])))
