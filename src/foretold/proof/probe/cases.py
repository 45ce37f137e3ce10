"""Cases and real agents: a probe recorded as a case, and recorded cases played to the agent on this machine.

Recording:

1. The files are those that the agent is known to read, below the folder (or the top of its repository) and below the
   home; their paths, and those in texts, become `{proj}` and `{home}`.
2. What is expected is what the agent sent, not what we expected.

Playing:

1. A case is staged as for `foretold conform`, with the settings that the run needs added to its own.
2. Every recorded text must be, whole, in a text of the same role of the request it was recorded in; where nothing was
   recorded, no instruction text may be.
3. Earlier runs of a session are played one after the other, with their turns, and the files change between them; the
   requests of all runs count.
4. What cannot be played is skipped, with the reason: files at the top of the file system or in the organisation's
   folder, a recorded order of folders, another user, pages of a server, subagents.
"""

from __future__ import annotations

import base64
import json
import os
import re
import tempfile
import tomllib
from collections.abc import Iterator, Sequence

import foretold
from foretold.dialects.surroundings import find_git
from foretold.proof.conform.cases import Case, CaseOutcome, dict_at, is_same, list_at, outcome_of
from foretold.proof.conform.instructions import LANGUAGE, SETTINGS, toml_lines
from foretold.proof.conform.stage import Stage
from foretold.proof.probe.project_settings import find_covers
from foretold.proof.probe.recipes import RECIPES, Recipe
from foretold.proof.probe.run import Probe, ask_agent, first_option
from foretold.proof.probe.segments import CUTS, PROSE, Segment, main_requests, parts_of
from foretold.sessions.catalog import find_homes, newest_first
from foretold.storage.tree import Disk


def case_of(found: Probe, read: Sequence[str] = (), home: str = "") -> dict[str, object]:
    """The case that a probe shows."""
    home = os.path.abspath(home or os.path.expanduser("~"))
    view = foretold.load(found.cwd, agent=f"{found.agent}@{found.version}" if found.version else found.agent, home=home)
    git = find_git(Disk(), found.cwd)
    top = git.top if git else found.cwd
    places = {top: "{proj}", found.home: "{home}", home: "{home}"}
    turns = [_turn(found.agent, _replace_places(os.path.join(found.cwd, path), places)) for path in read]
    return {
        "id": f"{found.agent}-probe",
        "agent": found.agent,
        "version": found.version or view.dialect.version,
        "question": "recorded by foretold probe",
        "files": {_replace_places(path, places): content for path, content in _files(view, read, top, home)},
        **({"git": ["{proj}"]} if git else {}),
        **({"cwd": _replace_places(found.cwd, places)} if found.cwd != top else {}),
        **({"turns": turns} if turns else {}),
        "expect": _expected(found, places),
    }


def _turn(agent: str, path: str) -> object:
    names, form = RECIPES[agent].reads
    given = json.loads(form.replace("{path}", path))
    if RECIPES[agent].records_blocks:
        return [{"name": names[0], "input": given}]
    return {"tool": list(names) if len(names) > 1 else names[0], "args": given}


def _expected(found: Probe, places: dict[str, str]) -> dict[str, object]:
    segments = [Segment(each.request, each.role, _replace_places(each.text, places)) for each in found.sent]
    if not RECIPES[found.agent].records_blocks:
        return {"exit": found.exit, "segments": [segment._asdict() for segment in segments]}
    first = [segment.text for segment in segments if segment.request == 0]
    last = max((segment.request for segment in segments), default=0)
    later = [
        [[segment.role, "text", segment.text] for segment in segments if segment.request == number]
        for number in range(1, last + 1)
    ]
    return {"memory": first[0] if first else None, **({"later": later} if later else {})}


def _replace_places(text: str, places: dict[str, str]) -> str:
    for path in sorted(places, key=len, reverse=True):
        text = text.replace(path, places[path])
    return text


def _files(view: foretold.View, read: Sequence[str], top: str, home: str) -> Iterator[tuple[str, object]]:
    """The files that matter, with their texts."""
    paths = [entry.path for entry in (*view.entries, *(rule.entry for rule in view.waiting))]
    paths += [path for entry in view.entries for path in entry.includes] + [skip.path for skip in view.skips]
    session = foretold.Session(view.surroundings.cwd, agent=view.dialect.name, home=view.surroundings.home)
    recipe = RECIPES[view.dialect.agent]
    for path in read:
        paths.append(os.path.join(view.surroundings.cwd, path))
        attached = session.use([foretold.Call(recipe.reads[0][0], recipe.read_input(paths[-1]))])
        paths += [each for entry in attached.entries for each in (entry.path, *entry.includes)]
        paths += [skip.path for skip in attached.skips]
    for path in dict.fromkeys(paths):
        if path.startswith((top + "/", home + "/")) and os.path.isfile(path):
            with open(path, "rb") as file:
                data = file.read()
            try:
                yield path, data.decode("utf-8")
            except UnicodeDecodeError:
                yield path, {"b64": base64.b64encode(data).decode()}


LONG = 90.0  #: seconds for one run of an agent; the slowest took 30 on two cores that had five other jobs


def cannot_play(case: Case, *, allow_setup: bool) -> str:
    """Why a case cannot be played; empty if it can."""
    text, expected = json.dumps(case), dict_at(case, "expect")
    needs_user = case.get("uid") or ("--dangerously-skip-permissions" in text and os.geteuid() == 0)
    reasons = {
        "it has files in the organisation's folder": "{managed}" in text,
        "it has files at the top of the file system": "{fsroot}" in text,
        f"{case.get('agent')} cannot be run": case.get("agent") not in RECIPES,
        "it needs another user": needs_user,
        "it needs another provider": "CLAUDE_CODE_USE_" in text,
        "it needs pages of a server": case.get("static") or "{url}" in text,
        "it depends on the order in which a file system lists folders": expected.get("readdir"),
        "it needs a subagent": case.get("sub_turns") or expected.get("sub"),
        "it runs shell commands; allow them with --allow-setup": case.get("setup") and not allow_setup,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def play(case: Case, program: str, *, allow_setup: bool) -> CaseOutcome:
    """Play one case to an agent, and compare."""
    reason = cannot_play(case, allow_setup=allow_setup)
    if reason:
        return CaseOutcome(str(case["id"]), "skipped", reason)
    with Stage(case, "2026-01-02") as stage:
        stage.prepare()
        recipe = RECIPES[str(case["agent"])]
        cwd = str(stage.case.get("cwd") or stage.places["proj"])
        if not allow_setup and os.path.isdir(cwd) and find_covers(cwd, recipe.project):
            reason = "its settings lead the agent elsewhere or start programs; allow them with --allow-setup"
            return CaseOutcome(str(case["id"]), "skipped", reason)
        requests = main_requests(_requests(stage, recipe, program), str(case["agent"]))
        differences = list(_differences(_fill_language(stage, recipe), requests))
    return outcome_of(case, differences)


def _fill_language(stage: Stage, recipe: Recipe) -> Case:
    """The case with what the agent wrote itself in place of the placeholder."""
    case: Case = stage.case
    for path in (os.path.join(stage.places["home"], name) for name in recipe.writes):
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                written = json.dumps(file.read().strip())[1:-1]
            case = json.loads(json.dumps(case).replace(LANGUAGE, written))
    return case


def _requests(stage: Stage, recipe: Recipe, program: str) -> list[dict[str, object]]:
    """The requests of all runs of a case."""
    found: list[dict[str, object]] = []
    earlier = list_at(stage.case, "before")
    for position, run in enumerate([*earlier, stage.case]):
        args = [] if earlier and not position else [session_id(stage, word) for word in stage.strings("args")]
        found += _one_run(stage, recipe, program, args, turns_of(run))
        stage.change(dict_at(run, "then_files"))
    return found


def session_id(stage: Stage, word: str) -> str:
    """A word of the command line, in which SESSION stands for the id of the session that an earlier run has made."""
    if word != "SESSION":
        return word
    stored = newest_first(find_homes(stage.places["home"], {}), [str(stage.case["agent"])])
    return stored[0].id if stored else word


def turns_of(case: Case) -> list[list[dict[str, object]]]:
    def call_of(call: dict[str, object]) -> dict[str, object]:
        named = call.get("name", call.get("tool"))
        names = named if isinstance(named, list) else [named]
        return {"names": names, "input": call.get("input", call.get("args")), "anyway": len(names) == 1}

    turns = [turn if isinstance(turn, list) else [turn] for turn in list_at(case, "turns")]
    return [[call_of(call) for call in turn] for turn in turns]


def _one_run(
    stage: Stage, recipe: Recipe, program: str, args: list[str], turns: list[list[dict[str, object]]]
) -> list[dict[str, object]]:
    case = stage.case
    recipe, files = settings_of_run(case, recipe, args, stage.places["home"])
    cwd = str(case.get("cwd") or stage.places["proj"])
    os.makedirs(cwd, exist_ok=True)
    args = [word for word in args if word not in (*recipe.argv, *recipe.tools)]
    at = first_option(recipe.argv)
    with tempfile.TemporaryDirectory(prefix="foretold-live-") as root:
        answer, _ = ask_agent(
            recipe._replace(argv=(*recipe.argv[:at], *args, *recipe.argv[at:])),
            program,
            cwd,
            os.path.realpath(root),
            files,
            turns,
            str(case.get("prompt") or "Say hello, please."),
            LONG,
            home=stage.places["home"],
        )
    return list_at(answer, "requests")


def settings_of_run(case: Case, recipe: Recipe, args: list[str], home: str) -> tuple[Recipe, dict[str, str]]:
    """The recipe as a case needs it, and the files that the run needs in the home, those of the case over them."""
    env = {**recipe.env, **dict_at(case, "env")}
    if case.get("trust") is False:
        env.pop(recipe.trust, None)
    files = {path: text.replace("{kept}", "") for path, text in recipe.files.items()} | _config(case, recipe)
    moved = case.get("codex_home")
    if moved:
        files[os.path.relpath(f"{moved}/config.toml", home)] = files.pop(".codex/config.toml")
    files |= dict.fromkeys(recipe.writes, LANGUAGE)
    argv, tools = recipe.argv, recipe.tools
    if "--approval-mode" in args:
        tools = ()
    if "--settings" in args and "--settings" in argv:
        own_settings = argv.index("--settings")
        argv = (*argv[:own_settings], *argv[own_settings + 2 :])
    if '"error": "denied"' in json.dumps(case.get("turns")):  # copilot-369
        argv = tuple(word for word in argv if word not in recipe.permits)
    return recipe._replace(argv=argv, tools=tools, env=env), files


def _config(case: Case, recipe: Recipe) -> dict[str, str]:
    """The settings of the run with those of the case over them."""
    config = case.get("config")
    if not isinstance(config, dict):
        return {}
    if recipe.rules_file:
        rules = json.dumps(config.get("rules", []))
        return {recipe.rules_file: f"{recipe.files[recipe.rules_file]}rules: {rules}\n"}
    path = SETTINGS[str(case["agent"])].config.removeprefix("{home}/")
    if path.endswith(".toml"):
        own = tomllib.loads(recipe.files[path].replace("{kept}", ""))
        return {path: "\n".join(toml_lines(_merge(own, config))) + "\n"}
    return {path: json.dumps(_merge(json.loads(recipe.files.get(path, "{}")), config))}


def _merge(one: dict[str, object], two: dict[str, object]) -> dict[str, object]:
    """One mapping over another, all the way down."""
    found = dict(one)
    for key, value in two.items():
        old = found.get(key)
        found[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return found


def _differences(case: Case, requests: list[dict[str, object]]) -> Iterator[dict[str, object]]:
    """Recorded texts that are not there, and instruction texts that were not recorded."""
    expected = dict_at(case, "expect")
    if expected.get("exit") and not requests:
        return
    wanted = list(_recorded_texts(expected))
    for number, role, text in wanted:
        parts = [PROSE.sub("", part) for who, part in _parts(requests, number) if who == role or role == "tool"]
        if not any(_is_in(text, part) for part in parts):
            yield {"key": f"request {number}, {role}", "expected": text, "actual": "not there"}
    texts = [text for _, _, text in wanted]
    for number in range(len(requests)):
        for _, part in _parts(requests, number):
            for found in re.finditer(CUTS[str(case["agent"])], PROSE.sub("", part)):
                extra = found[0]
                known = (_is_in(text, extra) or (isinstance(text, str) and extra in text) for text in texts)
                if extra.strip() and not any(known):
                    yield {"key": f"request {number}", "expected": "nothing", "actual": extra}
                    return


def _recorded_texts(expected: dict[str, object]) -> Iterator[tuple[int, str, object]]:
    """Request, role and text of what was recorded."""
    for segment in list_at(expected, "segments"):
        yield segment["request"], segment["role"], segment["text"]
    if expected.get("memory") is not None:
        yield 0, "user", expected["memory"]
    for number, blocks in enumerate([list_at(expected, "first"), *list_at(expected, "later")]):
        yield from ((number, role, text) for role, _, text in blocks)


def _is_in(text: object, part: str) -> bool:
    if isinstance(text, str):
        return text in part
    cuts = (match[0] for cut in CUTS.values() for match in re.finditer(cut, part))
    return any(is_same(text, found) for found in (part, *cuts))


def _parts(requests: list[dict[str, object]], number: int) -> list[tuple[str, str]]:
    if number >= len(requests):
        return []
    return list(parts_of(requests[number]["body"], str(requests[number]["format"])))
