"""A session as Markdown.

Every text is on the page as it is: its headings are escaped, so that only those of the page count, and a fence is
longer than any run of backticks inside it. A link that would run something (`javascript:`, `data:`) is shown as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foretold.sessions.exporters.formatting import (
    SPEAKERS,
    describe_removed,
    facts_of,
    format_call,
    format_json,
    make_visible,
    output_of,
    page_texts,
)
from foretold.text.patterns import lazy
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.secrets.redactor import Redactor
    from foretold.sessions.exporters.export import Choice
    from foretold.sessions.model import Message, Part, StoredSession

_TICKS = lazy(r"`+")
_HEADING = lazy(r"(?m)^ {0,3}#{1,6}(?=\s|$)")
_FENCE = lazy(r"(?m)^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})")  # with backticks after it, it does not open a block
_LINK = lazy(r"\]([(:])(?=[\s>]*([^)\s\[\]]{1,4000}))")  # no scheme has a bracket in it: the time is linear
_SCHEME = lazy(r"[<>]*([a-z][a-z0-9+.-]*):")
_SAFE = ("http", "https", "mailto")  #: schemes of links that stay links
_RULED = lazy(r"(?m)^ {0,3}(?:=+|-+)[ \t]*$")


def render_page(
    stored: StoredSession, messages: Iterator[Message], choice: Choice, redactor: Redactor | None
) -> Iterator[str]:
    """The pieces of the page."""
    yield f"# {_inline(stored.title or stored.id)}\n\n"
    yield " · ".join(map(_inline, facts_of(stored, "%Y-%m-%d"))) + "\n"
    files: dict[str, None] = {}
    for speaker, time, text, is_more in page_texts(messages, choice, _render_part, "\n\n", files):
        heading = "" if is_more else f"\n## {' · '.join(filter(None, (SPEAKERS[speaker], time)))}\n"
        yield f"{heading}\n{text}\n"
    if files and choice.brief:
        yield "\n## Files that were changed\n\n" + "".join(f"- {_code(path)}\n" for path in files)
    if removed := describe_removed(redactor):
        yield f"\n---\n\n{removed}.\n"


def _render_part(part: Part, _: str) -> str:
    if part.kind == "text":
        return _escape_structure(make_visible(part.text.strip("\n")))
    if part.kind == "thinking":
        return "\n".join(f"> {line}" for line in _escape_structure(make_visible(part.text.strip("\n"))).split("\n"))
    if part.kind == "image":
        return "*(a picture)*"
    if part.kind == "call":
        line = format_call(part, 200)
        has_more = part.input and (len(part.input) > 1 or len(line) >= 199)
        return f"**{_inline(line)}**" + (f"\n\n{_fenced(format_json(part.input, 2), 'json')}" if has_more else "")
    text = output_of(part)
    return _fenced(text, "") if text else ""


def _fenced(text: str, language: str) -> str:
    text = make_visible(text)
    fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _code(text: str) -> str:
    text = make_visible(" ".join(text.split()))
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def _inline(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|" else char for char in make_visible(" ".join(text.split())))


def _escape_structure(text: str) -> str:
    """A text without headings, whose fences are closed; tags, pictures and links that run something are shown."""
    out: list[str] = []
    plain: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if not fence and not mark:
            plain.append(_escape_line(line))
            continue
        if not fence and mark:
            out += _show_links(plain)
            plain, fence = [], mark[1]
        elif mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not line.strip().strip(fence[0]):
            fence = ""
        out.append(line)
    out += _show_links(plain)
    return "\n".join([*out, fence] if fence else out)


def _escape_line(line: str) -> str:
    line = _HEADING.sub(lambda found: "\\" + found[0].lstrip(), line)
    line = "\\" + line.lstrip() if _RULED.match(line) else line
    return line.replace("<", "&lt;").replace("![", "!\\[")


def _show_links(lines: list[str]) -> list[str]:
    """Lines in which a link to another scheme than those of the web and of mail is not a link.

    What a viewer decodes is decoded first: entities, escapes, white space inside the scheme.
    """
    text = "\n".join(lines)
    if "](" not in text and "]:" not in text:
        return lines
    from html import unescape

    def show(found: re.Match[str]) -> str:
        target = unescape(unescape(found[2])).replace("\\", "")
        scheme = _SCHEME.match("".join(char for char in target if char > " " and char.isprintable()).lower())
        return f"]\\{found[1]}" if scheme and scheme[1] not in _SAFE else found[0]

    return _LINK.sub(show, text).split("\n")
