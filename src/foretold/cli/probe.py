"""`foretold probe`: run the agent on this machine against a model server of ours, and see what it sends."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence

from foretold.cli.options import make_parser
from foretold.cli.output import plural
from foretold.dialects.registry import DEFAULT_AGENT
from foretold.errors import ProbeFailed
from foretold.proof.probe.recipes import RECIPES
from foretold.proof.probe.run import PROMPT, TIMEOUT, Probe, probe

EXAMPLES = """\
examples:
  foretold probe                          Claude Code, in this folder
  foretold probe --agent codex
  foretold probe --read src/api/users.py  and let it read a file
  foretold probe --agent gemini-cli --program ~/bin/gemini --show

It spends no token and reaches nothing but this machine. The agent runs in
this folder with a temporary home that has copies of instruction files only.
Settings of the project that lead it to another server or start programs are
hidden from it; where that is not possible, it is not run."""


def command(words: Sequence[str]) -> int:
    about = "See which instructions the agent on this machine sends to its model, and compare with our answer."
    helps = {"C": "the folder the agent starts in", "agent": ", ".join(RECIPES)}
    helps["home"] = "the home whose instruction files are copied"
    parser = make_parser("probe", about, EXAMPLES, "-C --agent --home --json", **helps)
    parser.set_defaults(agent=DEFAULT_AGENT, home="")
    parser.add_argument("--program", default="", metavar="PATH", help="its program, if not the one on PATH")
    parser.add_argument("--read", action="append", default=[], metavar="PATH", help="let it read this file")
    parser.add_argument("--prompt", default=PROMPT, help="the prompt of the user")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, metavar="SECONDS", help="default: %(default)g")
    parser.add_argument("--record", default="", metavar="FILE", help="add a case to this file (.jsonl)")
    parser.add_argument("--show", action="store_true", help="print what it sent")
    options = parser.parse_args(list(words))
    try:
        found = probe(
            options.agent,
            options.cwd,
            read=options.read,
            program=options.program,
            home=options.home,
            prompt=options.prompt,
            timeout=options.timeout,
        )
    except ProbeFailed as error:
        if options.json and error.details:
            from foretold.cli.json import emit

            emit("probe-failed", {"agent": options.agent, "message": str(error), **error.details})
        raise
    if options.record:
        from foretold.proof.probe.cases import case_of

        with open(options.record, "a", encoding="utf-8") as file:
            file.write(json.dumps(case_of(found, options.read, options.home), ensure_ascii=False) + "\n")
    if options.json:
        from foretold.cli.json import emit

        segments = {key: [segment._asdict() for segment in getattr(found, key)] for key in ("sent", "expected")}
        emit("probe", {**found._asdict(), **segments, "same": found.same})
    else:
        _print(found, show=options.show)
    return 0 if found.same else 1


def _print(found: Probe, *, show: bool) -> None:
    print(f"{found.agent} {found.version or '(version unknown)'}, {found.program}")
    size = sum(len(segment.text.encode("utf-8", "replace")) for segment in found.sent)
    segments = plural(len(found.sent), "segment")
    print(f"{plural(found.requests, 'request')}, {segments} with instructions, {size:,} bytes")
    if not found.isolated:
        print("It could reach the network: this system cannot isolate it (unshare).")
    for each in found.set_aside:
        print(f"hidden from it, because it leads to other servers or programs: {each}")
    for problem in found.problems:
        print(f"problem: {problem}")
    if show:
        for segment in found.sent:
            print(f"\n--- request {segment.request}, {segment.role} ---\n{segment.text}")
    if found.same:
        print("\nEqual to what foretold expects, byte for byte.")
    else:
        print("\nDifferent from what foretold expects:\n")
        expected, sent = _lines(found.expected), _lines(found.sent)
        print("\n".join(difflib.unified_diff(expected, sent, "expected", "sent", lineterm="")))


def _lines(segments: Sequence[tuple[int, str, str]]) -> list[str]:
    lines = []
    for request, role, text in segments:
        lines += [f"=== request {request}, {role}", *text.split("\n")]
    return lines
