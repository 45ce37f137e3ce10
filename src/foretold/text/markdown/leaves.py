"""Blocks of Markdown that hold no other blocks.

What a line begins is told in `mdlines`. From there:

1. What begins nothing else is tried as a definition, as a heading with an underline, and is then a paragraph; in a
   list item it is a text, until a list stood in that item.
2. HTML reaches to its end mark: a comment or a `<script>` to the end of that line; `<?`, `<!X` and `<![CDATA[` to the
   mark itself, and what is left of the line is read on its own; a tag reaches to a blank line.
3. HTML, headings, thematic breaks and definitions take the empty lines behind them.
4. A text in a list item takes indented code with all its blank lines.
"""

from __future__ import annotations

from foretold.text.markdown import lines as mdlines
from foretold.text.markdown.lines import BLANK_LINE, PLAIN, SPACES
from foretold.types import NamedTuple


class Item(NamedTuple):
    """The text of a list item, without its indentation."""

    start: int
    lines: list[str]


class Block(NamedTuple):
    """Lines `start` to `end` of a text, and what is in them."""

    kind: str  #: code, fence, heading, rule, quote, list, html, definition, paragraph, text
    start: int
    end: int
    raw: str | None = None  #: where it is not its lines; of a definition, the label
    items: tuple[Item, ...] = ()  #: of a list
    lines: list[str] | None = None  #: of a quote, without its marks
    blocks: tuple[Block, ...] = ()  #: of a quote


DEFINITION_LINES, TITLE_LINES = 8, 64


def paragraph(lines: list[str], start: int) -> Block:
    """Running text: to a blank line, or a line that interrupts it."""
    end = start + 1
    while end < len(lines) and lines[end] and (lines[end][0] in PLAIN or not mdlines.interrupts(lines[end])):
        end += 1
    if end == len(lines) - 1 and mdlines.fence_of(lines[end]):
        end += 1  # a fence without a line end does not interrupt
    return Block("paragraph", start, end)


def text(lines: list[str], start: int) -> Block:
    """Running text of a list item."""
    end = start + 1
    while end < len(lines):
        kind = "" if lines[end][:1] in PLAIN else mdlines.kind_of(lines[end])
        if kind not in ("", "code"):
            break
        end = _indented(lines, end).end if kind else end + 1
    return Block("text", start, end)


def title(lines: list[str], start: int) -> tuple[Block | None, int]:
    """A heading with an underline; or none, and the line before which none can begin."""
    if lines[start][0] not in PLAIN and mdlines.is_no_title(lines[start]):
        return None, start
    limit = min(len(lines), start + TITLE_LINES)
    for end in range(start + 1, limit):
        line = lines[end]
        if not line:
            return None, end
        if line[0] not in PLAIN:
            if mdlines.is_underline(line):
                return Block("heading", start, _with_empty(lines, end + 1)), start
            if mdlines.is_no_title(line):
                return None, end
    return None, limit


def definition(lines: list[str], start: int) -> Block | None:
    """A definition of a link, of up to so many lines."""
    found = mdlines.definition("\n".join(lines[start : start + DEFINITION_LINES]))
    if not found:
        return None
    label, count = found
    return Block("definition", start, _with_empty(lines, start + count), label)


def _with_empty(lines: list[str], at: int) -> int:
    """The first line from here that is not empty."""
    while at < len(lines) and not lines[at]:
        at += 1
    return at


def _indented(lines: list[str], start: int) -> Block:
    end = start + 1
    while end < len(lines) and mdlines.kind_of(lines[end]) in ("code", "blank"):
        end += 1
    return Block("code", start, end)


def _fenced(lines: list[str], start: int) -> Block:
    fence = mdlines.fence_of(lines[start])
    for end in range(start + 1, len(lines)):
        if mdlines.closes(lines[end], fence):
            return Block("fence", start, end + 1)
    return Block("fence", start, len(lines))


def _heading(lines: list[str], start: int) -> Block:
    return Block("heading", start, _with_empty(lines, start + 1))


def _rule(lines: list[str], start: int) -> Block:
    return Block("rule", start, _with_empty(lines, start + 1))


def _html(lines: list[str], start: int) -> Block:
    text = lines[start].lstrip(" ")
    mark = mdlines.html_end(text)
    if mark == BLANK_LINE:
        end = start + 2 if text.lstrip("</").isalnum() else start + 1  # `<div` alone takes the line end for itself
        while end < len(lines) - 1 and lines[end].strip(" \t"):
            end += 1
        return Block("html", start, len(lines) if end >= len(lines) - 1 else end)
    skip = len(lines[start]) - len(text) + 2
    for end in range(start, len(lines)):
        line = lines[end].lower() if mark[0] == "<" else lines[end]
        found = line.find(mark, skip)
        if found >= 0:
            return _html_up_to(lines, start, end, found + len(mark), mark)
        skip = 0
    return Block("html", start, len(lines))


def _html_up_to(lines: list[str], start: int, end: int, column: int, mark: str) -> Block:
    rest = lines[end][column:]
    if not rest or mark == "-->" or mark[0] == "<":
        return Block("html", start, _with_empty(lines, end + 1))
    raw = "\n".join([*lines[start:end], lines[end][:column]])
    lines[end] = rest
    return Block("html", start, end, raw)


#: what a line begins -> the block
BLOCKS = {
    "code": _indented,
    "fence": _fenced,
    "heading": _heading,
    "rule": _rule,
    "html": _html,
}


def without_comments(html: str) -> str | None:
    """What is left of HTML that begins with a comment; nothing if it does not, or if no comment in it ends.

    >>> without_comments("<!-- a --> b <!-- c -->"), without_comments("<div><!-- a -->"), without_comments("<!--> a")
    (' b ', None, '<!--> a')
    """
    if "-->" not in html or not html.lstrip(SPACES).startswith("<!--"):
        return None
    kept = []
    at = 0
    while (start := html.find("<!--", at)) >= 0 and (end := html.find("-->", start + 4)) >= 0:
        kept.append(html[at:start])
        at = end + 3
    return "".join(kept) + html[at:]
