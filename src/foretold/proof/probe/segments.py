"""What the requests of an agent say to its model: texts with their roles, and the segments that carry instructions.

1. `parts_of` yields every text of a request, whatever its wire format, also the text of a tool's result.
2. `find_segments` cuts from them what an agent puts around instruction files, by the words it uses for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from foretold.proof.probe.script import objects


class Segment(NamedTuple):
    """A text that carries instructions, listed at the first request that has it."""

    request: int
    role: str
    text: str


#: of claude-code: how a nested file begins, one of its own or, announced as a hook's words, a fallback one
NESTED = r"(?:[a-z.]+ hook additional context: )?Contents of /[^\n]*:\n\n"
REMINDER = rf"<system-reminder>\n{NESTED}[\s\S]*?\n</system-reminder>"

#: agent -> how its instruction text begins and ends in a part
CUTS = {
    "claude-code": r"(?:Codebase and user instructions are shown below\."
    r"[\s\S]*?(?=\n</system-reminder>|\n# currentDate\n))"
    rf"|(?:(?:\n\n{REMINDER})+)|(?:{REMINDER}(?:\n\Z)?)|(?:\A{NESTED}[\s\S]*?(?=\n\n<total_tokens>|\Z))",
    "codex": r"# AGENTS\.md instructions[\s\S]*\n</INSTRUCTIONS>"
    r"|========= MEMORY_SUMMARY BEGINS =========\n[\s\S]*?\n========= MEMORY_SUMMARY ENDS =========",
    "opencode": r"(?:\n\n<system-reminder>\nInstructions from: [\s\S]*?\n</system-reminder>)"
    r"|(?:Instructions from: [\s\S]*?(?=\nSkills provide specialized instructions|\Z))",
    "gemini-cli": r"(?:<loaded_context>\n[\s\S]*?\n</loaded_context>)"
    r"|(?:\n\n--- Newly Discovered Project Context ---\n[\s\S]*?\n--- End Project Context ---)",
    "copilot-cli": r"(?:(?<=</tools>\n)(?=\n(?!<system_notifications>))[\s\S]*?(?=\n<system_notifications>))"
    r"|(?:(?:\n<system_reminder>\nCustom instructions from [\s\S]*?(?:\n</system_reminder>|\Z))+)",
    "qwen-code": r"(?:--- Context from: [\s\S]*?(?=\n\n---\n\n# auto memory|\Z))"
    r"|(?:\n\n<system-reminder>\n--- Rule from: [\s\S]*?\n</system-reminder>)",
    "cline": r"# Rules\n## [\s\S]*\Z",
    "continue": r"\n\n<context name=\"userRules\">\n[\s\S]*?\n</context>",
}


#: agent -> how the system's text of a side conversation that offers tools begins: a subagent nobody asked for
SIDES = {
    "codex": "## Memory Writing Agent",
    "qwen-code": "You are now acting as the managed memory extraction subagent",
}

PROSE = re.compile(r"Here is a list of[\s\S]*?(?=\| (?:Pattern|Directory) )")  #: of copilot-cli, before its tables


#: wire format -> where the system's text is, where the messages are, and the role of one that names none
SHAPES = {
    "messages": ("system", "messages", "user"),
    "responses": ("instructions", "input", "tool"),
    "chat": ("", "messages", "user"),
    "gemini": ("systemInstruction", "contents", "user"),
}


def parts_of(body: object, wire: str) -> Iterator[tuple[str, str]]:
    """Role and text of everything that a request says."""
    if isinstance(body, dict):
        system, messages, role = SHAPES[wire]
        yield from (("system", text) for text in _texts(body.get(system)))
        for message in objects(body.get(messages)):
            content = next((message[key] for key in ("content", "output", "parts") if key in message), None)
            yield from ((str(message.get("role") or role), text) for text in _texts(content))


def _texts(value: object) -> Iterator[str]:
    """The texts of a content: itself, its blocks, the results in it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key in ("text", "content", "output", "parts", "functionResponse", "response", "llmContent"):
            yield from _texts(value.get(key))


def main_requests(requests: list[dict[str, object]], agent: str) -> list[dict[str, object]]:
    """The requests of the main conversation: they offer tools, and are not of a subagent that nobody asked for."""
    side = SIDES.get(agent)

    def is_main(request: dict[str, object]) -> bool:
        if not side:
            return True
        return not any(text.startswith(side) for _, text in parts_of(request["body"], str(request["format"])))

    return [request for request in requests if request.get("tools") and is_main(request)]


def find_segments(requests: list[dict[str, object]], agent: str) -> list[Segment]:
    """The segments of a conversation that carry instructions, each at the first request that has it."""
    found: list[Segment] = []
    seen: set[tuple[str, str]] = set()
    for number, request in enumerate(main_requests(requests, agent)):
        for role, text in parts_of(request["body"], str(request["format"])):
            for match in re.finditer(CUTS[agent], PROSE.sub("", text)):
                if match[0].strip() and (role, match[0]) not in seen:
                    seen.add((role, match[0]))
                    found.append(Segment(number, role, match[0]))
    return found


def order_first_request(segments: list[Segment]) -> list[Segment]:
    """Segments with those of the first request in an order of their own.

    Where mentions of the prompt go depends on the model, and the order of several is a race in the agent.

    >>> order_first_request([Segment(0, "user", "b"), Segment(0, "user", "a"), Segment(1, "user", "a")])[0].text
    'a'
    """
    return sorted(segments, key=lambda segment: (segment.request, *(segment[1:] if segment.request == 0 else ())))
