"""Running cases: which can run here, each in its own stage, and why the others are skipped.

Shell commands of a state case run without permission only if they can do nothing but read and write files of the stage:

1. Only the programs of a short table, joined by `;`, `&&`, `||`, `|` and redirections.
2. No expansion, no substitution, no absolute path, no `..`; `sed` only replaces a text, or selects a range of lines.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from collections.abc import Iterable, Iterator

from foretold.dialects.registry import AGENTS
from foretold.proof.conform import answers, files
from foretold.proof.conform.cases import Case, CaseOutcome, dict_at, list_at
from foretold.proof.conform.instructions import calls_of, command_of, run_instruction_case
from foretold.proof.conform.seeds import reason_to_skip, run_seed_case
from foretold.proof.conform.stage import Stage
from foretold.proof.conform.state import Kinds, run_state_case

KINDS: Kinds = {**answers.KINDS, **files.KINDS}


def run_cases(cases: Iterable[Case], *, allow_setup: bool) -> Iterator[CaseOutcome]:
    """The outcome of every case, in order."""
    for case in cases:
        reason = _cannot_run(case, allow_setup=allow_setup)
        if reason:
            yield CaseOutcome(str(case["id"]), "skipped", reason)
            continue
        try:
            yield run_case(case, allow_setup=allow_setup)
        except Exception as error:  # a fault of ours in one case must not hide the other cases
            yield CaseOutcome(str(case["id"]), "failed", f"{type(error).__name__}: {error}")


def _cannot_run(case: Case, *, allow_setup: bool) -> str:
    if "fn" in case:
        return reason_to_skip(case)
    if "kind" in case and case["kind"] not in KINDS:
        return f"the kind {case['kind']} is not supported"
    if case.get("agent") not in AGENTS:
        return f"there is no dialect for {case.get('agent')}"
    if case.get("setup") and not allow_setup:
        return "its setup runs shell commands; allow them with --allow-setup"
    steps = list_at(dict_at(case, "input"), "steps")
    commands = [str(step.get("command")) for step in steps if isinstance(step, dict) and step.get("op") == "bash"]
    if "segments" in dict_at(case, "expect"):
        turns = [turn for run in (*list_at(case, "before"), case) for turn in list_at(run, "turns")]
        commands += [command for turn in turns for call in calls_of(turn) if (command := command_of(call))]
    if not allow_setup and not all(map(is_plain, commands)):
        return "it runs shell commands; allow them with --allow-setup"
    if case.get("uid") and os.name != "posix":
        return "it needs a different user id"
    return ""


def run_case(case: Case, *, allow_setup: bool) -> CaseOutcome:
    """Stage one case and compare."""
    if "fn" in case:
        return run_seed_case(case)
    if "kind" in case:
        return run_state_case(case, KINDS)
    with Stage(case, time.strftime("%Y-%m-%d")) as stage:
        stage.prepare()
        if case.get("uid") and os.geteuid() == 0:
            return _as_user(stage, int(str(case["uid"])), allow_shell=allow_setup)
        return run_instruction_case(stage, allow_shell=allow_setup)


def _as_user(stage: Stage, uid: int, *, allow_shell: bool) -> CaseOutcome:
    """Compare in a child process without root's rights: root could read everything."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reader)
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            outcome = run_instruction_case(stage, allow_shell=allow_shell)
            os.write(writer, json.dumps(outcome).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        data = answer.read()
    os.waitpid(child, 0)
    if not data:
        return CaseOutcome(str(stage.case["id"]), "failed", "the process of the other user ended without an answer")
    name, status, reason, differences = json.loads(data)
    return CaseOutcome(name, status, reason, tuple(differences))


PROGRAMS = frozenset("cat chmod cp echo egrep fgrep grep head ls mkdir mv nl printf rm sed tail touch true wc".split())
JOINS = (";", "&&", "||", "|")
ARROWS = (">", ">>", "<")
_MARKS = frozenset(";&|<>()")
_SAFE = re.compile(r"[\w ./,:;=+@%^|&<>\n'\"*?!#\[\]{}$\\-]*")
_SED = re.compile(r"(-[ni]+ )*(s/[^/\n ]*/[^/\n\\& ]*/g?|[0-9]+(,([0-9]+|\$))?[pd])( [\w.-]+(/[\w.-]+)*)*")
_OUTSIDE = re.compile(r"[/~].*|.*(\.\.|[$`]|=/).*", re.DOTALL)


def is_plain(command: str) -> bool:
    """Whether a command can do nothing but read and write files below its folder."""
    words = _words(command)
    if words is None:
        return False
    simple: list[list[str]] = [[]]
    for word in words:
        if word in JOINS:
            simple.append([])
        elif set(word) <= _MARKS and word not in ARROWS:
            return False
        elif word not in ARROWS:
            simple[-1].append(word)
    return all(_is_harmless(each) for each in simple if each)


def _words(command: str) -> list[str] | None:
    """The words and operators of a command; None if there is anything else in it."""
    if not _SAFE.fullmatch(command):
        return None
    reader = shlex.shlex(command.replace("\n", ";"), posix=True, punctuation_chars="".join(_MARKS))
    reader.whitespace_split = True
    reader.commenters = ""
    try:
        return list(reader)
    except ValueError:
        return None


def _is_harmless(words: list[str]) -> bool:
    """Whether a simple command reads and writes files of the stage only."""
    program, *rest = words
    if program == "sed":
        return bool(_SED.fullmatch(" ".join(rest)))
    return program in PROGRAMS and not any(_OUTSIDE.fullmatch(word) for word in rest)
