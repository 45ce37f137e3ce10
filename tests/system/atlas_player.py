"""Plays recorded cases to a released program, and keeps what it sent: a line a case.

1. A worker is one process; it plays one case after the other. All workers share a network that has a loopback interface
   only, and a tree of processes that ends with them. What an agent leaves running is ended after its case.
2. A case is staged as for `foretold conform`. A case of the organisation's folder has it laid over the real one, in a
   file system that only the worker sees; one that needs a user without rights is played as one.
3. What was sent is kept whole: every text once, and per request which texts it had, with their roles and kinds. Paths
   and dates become the placeholders of the cases. The text of the system is kept only where it has instructions.
4. The order in which the file system lists folders of rules is kept: some agents do not sort.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from foretold.harness.tools.process import adopter, end_descendants
from foretold.proof.conform.cases import Case, dict_at, list_at
from foretold.proof.conform.stage import Stage
from foretold.proof.probe.cases import session_id, settings_of_run, turns_of
from foretold.proof.probe.recipes import KEY, RECIPES, Recipe
from foretold.proof.probe.run import first_option
from foretold.proof.probe.sandbox import fill_places, write_files
from foretold.proof.probe.segments import SHAPES
from foretold.proof.probe.server import ModelServer, ToolCall

MANAGED = "/etc/claude-code"
DATE = "2026-01-02"
LONG = 60.0  #: seconds for one run; a quiet machine needs less than one
LARGEST = 1_000_000  #: characters of a text that is kept whole
NOBODY = 65534
PROMPT = "Say hello, please."
#: agent -> what of the system's text is worth keeping: of Claude Code it is long, and has instructions up to 0.2.x only
SYSTEM = {"claude-code": "Contents of /"}


class Program(NamedTuple):
    """A released program, as it is started."""

    agent: str
    version: str
    words: tuple[str, ...]
    env: Mapping[str, str] = {}
    refuses: tuple[str, ...] = ()  #: options of the recipe that this release does not know


def reason_to_skip(case: Case) -> str:
    """Why a case cannot be played to any release here; empty if it can."""
    text = json.dumps({key: value for key, value in case.items() if key != "expect"})
    reasons = {
        "it has files at the top of the file system": "{fsroot}" in text,
        f"{case.get('agent')} cannot be run": case.get("agent") not in RECIPES,
        "it needs another provider": "CLAUDE_CODE_USE_" in text,
        "it needs pages of a server": "{url}" in text and not case.get("static"),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def play_case(case: Case, program: Program) -> dict[str, Any]:
    """Play one case to a program: what it sent, as a row."""
    row: dict[str, Any] = {"id": case["id"], "played": time.strftime("%Y-%m-%d")}
    reason = reason_to_skip(case)
    if reason:
        return {**row, "skipped": reason}
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    with Stage(case, DATE) as stage:
        manages = "{managed}" in json.dumps(case)
        if manages:
            stage.places["managed"] = MANAGED
            stage = _restage(case, stage)
        stage.prepare()
        with _managed_folder(stage) if manages else contextlib.nullcontext():
            runs = list(_play_runs(stage, program))
        row |= {"readdir": _orders(stage), **_condense(runs, stage, program)}
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    row["cpu"] = round(ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime, 2)
    return row


def _restage(case: Case, stage: Stage) -> Stage:
    """The same stage with the organisation's folder where the agent looks for it."""
    from foretold.proof.conform.cases import fill

    stage.case = {str(key): fill(value, stage.places) for key, value in case.items()}
    return stage


@contextlib.contextmanager
def _managed_folder(stage: Stage) -> Iterator[None]:
    """Lay the organisation's folder of a case over the real one, for this process and what it starts."""
    folder = stage.over + MANAGED
    os.makedirs(folder, exist_ok=True)
    os.makedirs(MANAGED, exist_ok=True)
    subprocess.run(["mount", "--bind", folder, MANAGED], check=True, stdin=subprocess.DEVNULL)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", MANAGED], check=True, stdin=subprocess.DEVNULL)


class _Run(NamedTuple):
    url: str
    requests: list[Any]
    exit: int
    timed_out: bool
    stderr: str


def _play_runs(stage: Stage, program: Program) -> Iterator[_Run]:
    """All runs of a case: those before it, in which files change, and its own."""
    earlier = list_at(stage.case, "before")
    for position, run in enumerate([*earlier, stage.case]):
        args = [] if earlier and not position else [session_id(stage, word) for word in stage.strings("args")]
        yield _one_run(stage, program, args, run)
        stage.change(dict_at(run, "then_files"))


def _one_run(stage: Stage, program: Program, args: list[str], run: Case) -> _Run:
    case = stage.case
    recipe, files = settings_of_run(case, RECIPES[program.agent], args, stage.places["home"])
    args = [word for word in args if word not in (*recipe.argv, *recipe.tools)]
    cwd = str(case.get("cwd") or stage.places["proj"])
    os.makedirs(cwd, exist_ok=True)
    turns = [
        [ToolCall(tuple(call["names"]), call["input"], bool(call.get("anyway"))) for call in turn]
        for turn in turns_of(run)
    ]
    sub_turns = [
        [ToolCall((str(call["name"]),), call["input"], True) for call in turn] for turn in list_at(run, "sub_turns")
    ]
    argv = _argv(recipe, program, args, has_turns=bool(turns))
    prompt = str(case.get("prompt") or PROMPT)
    uid = _uid_of(case)
    with tempfile.TemporaryDirectory(prefix="foretold-atlas-") as folder:
        folder = os.path.realpath(folder)
        with ModelServer(
            turns,
            pages={str(path): str(text) for path, text in dict_at(case, "static").items()},
            respond=_Conversations(turns, sub_turns, prompt).respond if _has_subagent(case) else None,
        ) as server:
            places = {"url": server.url, "home": stage.places["home"], "key": KEY, "prompt": prompt}
            filled = {name: fill_places(text, places) for name, text in files.items()}
            filled = {name: text.replace(stage.places["url"], server.url) for name, text in filled.items()}
            write_files(stage.places["home"], filled)
            words = [fill_places(word, places) for word in (*program.words, *argv)]
            path = os.environ.get("PATH", os.defpath)
            env = {"PATH": path, "HOME": stage.places["home"], "TERM": "dumb", "NO_COLOR": "1", "TMPDIR": folder}
            env |= {**program.env, **recipe.env}
            if uid:
                subprocess.run(["chown", "-hR", str(uid), stage.base, folder], check=True)
            code, timed_out, stderr = _start(
                words, cwd, {key: fill_places(str(env[key]), places) for key in env}, folder, uid
            )
            requests = [exchange for exchange in server.requests if exchange.tools]
    return _Run(server.url, requests, code, timed_out, stderr)


def _has_subagent(case: Case) -> bool:
    return bool(
        case.get("sub_turns")
        or (dict_at(case, "expect").get("sub") is not None and '"Agent"' in json.dumps(case.get("turns")))
    )


class _Conversations:
    """A model that tells a subagent's conversation from the main one by the prompt, and has turns for each."""

    def __init__(self, turns: list[list[ToolCall]], sub_turns: list[list[ToolCall]], prompt: str) -> None:
        self._turns, self._sub_turns, self._prompt = turns, sub_turns, prompt
        self._played: dict[str, int] = {}

    def respond(self, body: dict[str, Any], wire: str) -> Any:
        offered = [tool for tool in list_at(body, "tools") if isinstance(tool, dict) and tool.get("name")]
        if not offered:  # 2.1.285 to 2.1.293 ask whether a subagent may be started
            return "<severity>0</severity>" if "<severity>" in json.dumps(body.get("system")) else "Done."
        is_main = self._prompt in json.dumps(list_at(body, "messages")[:3])
        turns = self._turns if is_main else self._sub_turns
        at = sum(1 for message in list_at(body, "messages") if message.get("role") == "assistant")
        return list(turns[at]) if at < len(turns) else "Done."


def _uid_of(case: Case) -> int:
    if os.geteuid():
        return 0
    if case.get("uid"):
        return int(str(case["uid"]))
    return NOBODY if "--dangerously-skip-permissions" in json.dumps(case) else 0


def _argv(recipe: Recipe, program: Program, args: list[str], *, has_turns: bool) -> list[str]:
    """The words after the program: those of the recipe and of the case, without what this release does not know."""
    at = first_option(recipe.argv)
    words = [*recipe.argv[:at], *args, *(recipe.tools if has_turns else ()), *recipe.argv[at:]]
    for option in program.refuses:
        name, _, count = option.partition(" ")
        while name in words:
            place = words.index(name)
            del words[place : place + 1 + int(count or 0)]
    return words


def _start(words: list[str], cwd: str, env: dict[str, str], folder: str, uid: int) -> tuple[int, bool, str]:
    """Run the agent to its end; how it ended, whether it took too long, and the end of what it complained about."""

    def demote() -> None:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)

    if adopt := adopter():
        adopt()
    with open(os.path.join(folder, "stderr"), "wb") as err:
        process = subprocess.Popen(
            words,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=err,
            stderr=err,
            process_group=0,
            preexec_fn=demote if uid else None,
        )
        timed_out = False
        try:
            process.wait(LONG)
        except subprocess.TimeoutExpired:
            timed_out = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        end_descendants(os.getpid())
    with open(os.path.join(folder, "stderr"), "rb") as file:
        return code, timed_out, file.read()[-300:].decode("utf-8", "replace")


def _orders(stage: Stage) -> dict[str, list[str]]:
    """Folders of rules, and their names in the order in which the file system lists them."""
    found = {}
    for top in (stage.base,):
        for folder, _, _ in os.walk(top):
            if "rules" in folder[len(top) :].split("/"):
                names = [item.name for item in os.scandir(folder)]
                if len(names) > 1:
                    key = folder.removeprefix(stage.over) if folder.startswith(stage.over) else folder
                    found[_place(key, stage)] = names
    return found


def _place(text: str, stage: Stage) -> str:
    """A text with the names of places instead of this run's."""
    places = {stage.places["proj"]: "{proj}", stage.places["home"]: "{home}", stage.root: "{root}"}
    for path in sorted(places, key=len, reverse=True):
        text = text.replace(path, places[path])
    text = text.replace(stage.places["root-slug"], "{root-slug}").replace(MANAGED, "{managed}")
    return text.replace(time.strftime("%Y-%m-%d"), "{date}")


def _condense(runs: list[_Run], stage: Stage, program: Program) -> dict[str, Any]:
    """Every text once, and per request the numbers of its texts."""
    table: dict[tuple[str, str, str], int] = {}
    requests = []
    for number, run in enumerate(runs):
        for request in run.requests:
            body = request.body
            parts = [
                (role, kind, _place(text, stage).replace(run.url, "{url}"))
                for role, kind, text in find_parts(body, request.format, program.agent)
            ]
            numbers = [table.setdefault(part, len(table)) for part in parts]
            requests.append({"run": number, "model": body.get("model", ""), "parts": numbers})
    texts = [[role, kind, _shorten(text)] for role, kind, text in table]
    found: dict[str, Any] = {"exit": [run.exit for run in runs], "texts": texts, "requests": requests}
    if any(run.timed_out for run in runs):
        found["timed_out"] = True
    if not requests or any(run.exit for run in runs):
        found["stderr"] = _place(runs[-1].stderr, stage)
    return found


def _shorten(text: str) -> object:
    if len(text) <= LARGEST:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {"head": text[:2000], "tail": text[-2000:], "sha256": digest, "chars": len(text)}


def find_parts(body: Mapping[str, Any], wire: str, agent: str) -> Iterator[tuple[str, str, str]]:
    """Role, kind and text of everything that a request says."""
    system, messages, role = SHAPES[wire]
    worth = SYSTEM.get(agent, "")
    for kind, text in _texts(body.get(system), "text"):
        if worth in text:
            yield "system", kind, text
    for message in body.get(messages) or []:
        if isinstance(message, dict):
            content = next((message[key] for key in ("content", "output", "parts") if key in message), None)
            for kind, text in _texts(content, "text"):
                yield str(message.get("role") or role), kind, text


def _texts(value: object, kind: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield kind, value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, kind)
    elif isinstance(value, dict):
        if value.get("type") == "tool_result":
            kind = "tool_result"
        for key in ("text", "content", "output", "parts", "functionResponse", "response", "llmContent"):
            yield from _texts(value.get(key), kind)
