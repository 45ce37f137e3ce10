"""Why an agent could not be asked: how it ended, whether it spoke to our server, and what it said about it.

1. A reason that we know by its words is named first.
2. Then the lines in which the agent speaks of an error; where none does, its last ones. Frames of stacks, hints how to
   resume, warnings and decorations are not a cause.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from foretold.errors import ProbeFailed

MOST_LINES = 5
LONGEST = 300
ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07")
#: lines that are never the cause
NOISE = re.compile(
    r"at (?:async )?\S.*[(:/]|File \"|raise |Traceback"
    r"|\S+ \[as |(?:new |Object\.)?\w+ \(|Resume\b|(?:To )?resume|Warning\b|\(node:|Node\.js v"
    r"|[\W_]*\Z|Total |Usage by|API time|Changes\b|Requests\b|Tokens\b|Duration\b|Session\b|file:///|\d+ \|",
    re.IGNORECASE,
)
CAUSE = re.compile(
    r"error|fail|cannot|can't|could not|couldn't|unable|refus|denied|not found|no such|invalid|required|exceed|missing"
    r"|unknown|unavailable|unauthorized|timed out|exception|not supported|must |please",
    re.IGNORECASE,
)
#: what an agent says -> the reason; each seen with a real program on a real repository
KNOWN = (
    (
        re.compile(r"sandbox[\s\S]{0,200}(?:failIfUnavailable|unavailable|not available|required)", re.IGNORECASE),
        "its settings want a sandbox that this system does not have (sandbox.failIfUnavailable)",
    ),
    (
        re.compile(r"manual authorization is required|oauth|authentication consent|set an auth method", re.IGNORECASE),
        "its settings choose a login that needs a browser (security.auth.selectedType)",
    ),
    (
        re.compile(r"exceeds? the model's usable context budget", re.IGNORECASE),
        "the instructions are larger than what it lets its model read",
    ),
    (
        re.compile(r"MCP[\s\S]{0,120}(?:timed out|timeout|ECONNREFUSED|failed|ENOTFOUND)", re.IGNORECASE),
        "it waited for MCP servers, which a probe does not let it reach",
    ),
)


def require_conversation(answer: Mapping[str, Any], program: str, timeout: float) -> None:
    """ProbeFailed for a run without a request of the main conversation."""
    if any(request.get("tools") for request in answer["requests"]):
        return
    seconds = float(answer.get("seconds", 0.0))
    how = f"ended with {answer['exit']} without asking its model"
    if answer["timed_out"]:
        how = f"did not ask its model within {timeout:g} s, and was ended"
    reason, lines = find_cause(f"{answer['stderr']}\n{answer['stdout']}")
    paths = [f"{request['method']} {request['path']}" for request in answer["requests"]]
    contact = f"it never contacted our server, in {seconds:.1f} s"
    if paths:
        contact = f"it asked our server {len(paths)} times in {seconds:.1f} s, but for no answer: {paths[0]}"
    first, *more = [*([reason] if reason else []), *lines] or ["it said nothing"]
    text = "\n  ".join([f"{program} {how}: {first}", *more, contact])
    details = {"reason": reason, "lines": lines, "seconds": round(seconds, 1), "timed_out": bool(answer["timed_out"])}
    raise ProbeFailed(text, {"program": program, "exit": int(answer["exit"]), **details, "requests": paths})


def find_cause(said: str) -> tuple[str, list[str]]:
    """The known reason in what an agent said, empty if there is none; and the lines that speak of the cause.

    >>> find_cause("Error: no key\\n    at run (a.js:1:2)\\nResume copilot --resume=1")
    ('', ['Error: no key'])
    >>> find_cause("one\\ntwo")
    ('', ['one', 'two'])
    """
    lines = [ANSI.sub("", line).strip() for line in said.split("\n")]
    lines = list(dict.fromkeys(line[:LONGEST] for line in lines if line and not NOISE.match(line)))
    text = "\n".join(lines)
    reason = next((reason for pattern, reason in KNOWN if pattern.search(text)), "")
    causes = [line for line in lines if CAUSE.search(line)]
    return reason, causes[:MOST_LINES] or lines[-3:]
