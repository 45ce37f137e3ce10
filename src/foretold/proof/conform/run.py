"""Running cases: which can run here, each in a stage of its own, and why the others are skipped."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator

from foretold.dialects.registry import AGENTS, DEFAULT_AGENT
from foretold.proof.conform import compaction, context, files, history, memory, sessions
from foretold.proof.conform.cases import Case, Outcome
from foretold.proof.conform.claude import run_claude_case
from foretold.proof.conform.plain import is_plain
from foretold.proof.conform.scene import Kinds, run_state_case
from foretold.proof.conform.seeds import reason_to_skip, run_seed_case
from foretold.proof.conform.segments import run_segment_case
from foretold.proof.conform.stage import Stage

KINDS: Kinds = {**memory.KINDS, **sessions.KINDS, **files.KINDS, **history.KINDS, **context.KINDS, **compaction.KINDS}


def run_cases(cases: Iterable[Case], *, allow_setup: bool) -> Iterator[Outcome]:
    """The outcome of every case, in order."""
    for case in cases:
        reason = _cannot_run(case, allow_setup=allow_setup)
        if reason:
            yield Outcome(str(case["id"]), "skipped", reason)
            continue
        try:
            yield run_case(case, allow_setup=allow_setup)
        except Exception as error:  # a fault of ours in one case must not hide the other cases
            yield Outcome(str(case["id"]), "failed", f"{type(error).__name__}: {error}")


def _cannot_run(case: Case, *, allow_setup: bool) -> str:
    if "fn" in case:
        return reason_to_skip(case)
    if "kind" in case and case["kind"] not in KINDS:
        return f"nothing answers the kind {case['kind']} yet"
    if case.get("agent") not in AGENTS:
        return f"no dialect for {case.get('agent')} yet"
    if case.get("setup") and not allow_setup:
        return "it runs shell commands to set itself up; --allow-setup permits that"
    if not allow_setup and not all(map(is_plain, _shell_steps(case))):
        return "it runs shell commands; --allow-setup permits that"
    if case.get("uid") and os.name != "posix":
        return "it needs another user id"
    return ""


def _shell_steps(case: Case) -> list[str]:
    """The shell commands among the steps of a state case."""
    given = case.get("input")
    steps = given.get("steps") if isinstance(given, dict) else None
    steps = steps if isinstance(steps, list) else []
    return [str(step.get("command")) for step in steps if isinstance(step, dict) and step.get("op") == "bash"]


def run_case(case: Case, *, allow_setup: bool) -> Outcome:
    """Stage one case and compare."""
    if "fn" in case:
        return run_seed_case(case)
    if "kind" in case:
        return run_state_case(case, KINDS)
    with Stage(case, time.strftime("%Y-%m-%d")) as stage:
        stage.prepare()
        if case.get("uid") and os.geteuid() == 0:
            return _as_user(stage, int(str(case["uid"])), allow_shell=allow_setup)
        if case["agent"] != DEFAULT_AGENT:
            return run_segment_case(stage)
        return run_claude_case(stage, allow_shell=allow_setup)


def _as_user(stage: Stage, uid: int, *, allow_shell: bool) -> Outcome:
    """Compare in a child process that has given up its rights, as root could read everything."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reader)
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            outcome = run_claude_case(stage, allow_shell=allow_shell)
            os.write(writer, json.dumps(outcome).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        data = answer.read()
    os.waitpid(child, 0)
    if not data:
        return Outcome(str(stage.case["id"]), "failed", "the process of the other user ended without an answer")
    name, status, reason, differences = json.loads(data)
    return Outcome(name, status, reason, tuple(differences))
