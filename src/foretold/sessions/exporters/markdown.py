"""A session as Markdown.

Everything that was said stands in the page as the text it is: headings of an answer are pushed below those of the page,
and a fence is longer than any run of backticks inside it.
"""

from __future__ import annotations

from foretold.sessions.exporters.formatting import as_json, call_line, clock, taken_out, touched, visible
from foretold.text.patterns import lazy
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foretold.secrets.redactor import Redactor
    from foretold.sessions.exporters.export import Choice
    from foretold.sessions.model import Message, Part, StoredSession

WHO = {"user": "User", "assistant": "Agent"}
_TICKS = lazy(r"`+")
_HEADING = lazy(r"(?m)^ {0,3}#{1,6}(?=\s|$)")
_FENCE = lazy(r"(?m)^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})")  # what has backticks behind it opens none
_RULED = lazy(r"(?m)^ {0,3}(?:=+|-+)[ \t]*$")


def page(
    stored: StoredSession, messages: Iterator[Message], choice: Choice, redactor: Redactor | None
) -> Iterator[str]:
    """The pieces of the page."""
    yield f"# {_inline(stored.title or stored.id)}\n\n"
    yield f"{_about(stored)}\n"
    files: dict[str, int] = {}
    last = ""
    for message in messages:
        for path, times in touched([message]).items():
            files[path] = files.get(path, 0) + times
        said = "\n\n".join(piece for part in message.parts if (piece := _part(part, choice)))
        if said:
            who = _who(message)
            yield ("" if last == who == "Agent" else f"\n## {who}{_when(message.time)}\n") + f"\n{said}\n"
            last = who
    if files and choice.brief:
        yield "\n## Files that were changed\n\n" + "".join(f"- {_code(path)}\n" for path in files)
    if redactor and redactor.found:
        yield f"\n---\n\n{taken_out(len(redactor.found))}.\n"


def _who(message: Message) -> str:
    """Who speaks; what a tool said belongs to the agent that called it."""
    if message.kind == "summary":
        return "Summary"
    if all(part.kind in ("result", "image") for part in message.parts):
        return "Agent"
    return WHO.get(message.role, "System")


def _about(stored: StoredSession) -> str:
    day = clock(stored.started, "%Y-%m-%d")
    told = [f"{stored.agent} {stored.version}".strip(), stored.model, stored.cwd, day]
    return " · ".join(_inline(each) for each in told if each)


def _when(moment: float | None) -> str:
    return clock(moment, " · %H:%M")


def _part(part: Part, choice: Choice) -> str:
    if part.kind == "text":
        return _lowered(visible(part.text.strip("\n")))
    if part.kind == "thinking":
        return "\n".join(f"> {line}" for line in _lowered(visible(part.text.strip("\n"))).split("\n"))
    if part.kind == "image":
        return "*(a picture)*"
    if part.kind == "call":
        if choice.brief:
            return ""
        given = as_json(part.input, 2) if part.input else ""
        line = f"**{_inline(call_line(part, 200))}**"
        return line + (f"\n\n{_fenced(given, 'json')}" if given and _is_longer(part) else "")
    text = part.text or (as_json(part.raw) if part.raw is not None else "")
    return _fenced(text, "") if text else ""


def _is_longer(part: Part) -> bool:
    """Whether a call has more to it than its line says."""
    return part.input is not None and (len(part.input) > 1 or len(call_line(part, 200)) >= 199)


def _fenced(text: str, language: str) -> str:
    text = visible(text)
    fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _code(text: str) -> str:
    text = visible(" ".join(text.split()))
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def _inline(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|" else char for char in visible(" ".join(text.split())))


def _lowered(text: str) -> str:
    """A text whose headings are none of the page's, and whose fences are closed; tags and pictures are not followed."""
    out, fence = [], ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not line.strip().strip(fence[0]):
                fence = ""
            out.append(line)
            continue
        if mark:
            fence = mark[1]
            out.append(line)
            continue
        line = _HEADING.sub(lambda found: "\\" + found[0].lstrip(), line)
        line = "\\" + line.lstrip() if _RULED.match(line) else line
        out.append(line.replace("<", "&lt;").replace("![", "!\\["))
    return "\n".join([*out, fence] if fence else out)
