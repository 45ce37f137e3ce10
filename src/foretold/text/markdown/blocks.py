"""The blocks of a Markdown text, cut where the agent's own parser cuts them; lists and quotes hold blocks themselves.

`lines` says what a line begins. From there:

1. What begins nothing else is tried as a definition, as a heading with an underline, and is then a paragraph; in a
   list item it is a text, until a list was in that item.
2. HTML reaches to its end mark: a comment or a `<script>` to the end of that line; `<?`, `<!X` and `<![CDATA[` to the
   mark itself, and the rest of the line is read by itself; a tag reaches to a blank line.
3. HTML, headings, thematic breaks and definitions take the empty lines after them.
4. A text in a list item takes indented code with all its blank lines.
5. A list item takes lines that are indented to its text, blank lines, and lazy lines: those that begin nothing. After
   a blank line nothing is lazy, nor after a line that is code, a fence, a heading or a thematic break.
6. Items continue while they have the same sort of mark. A list ends with its last line that is not blank.
7. A quote takes lazy lines unless its last block is code; a list or a quote at its end takes them itself. Where that
   happens the agent's parser loses count of what it has read, and the shown text of the quote repeats or lacks a mark.
   That is the agent's text, so it is ours.
8. Lines that belong to no block are blank.
"""

from __future__ import annotations

from foretold.text.frontmatter import SPACE
from foretold.text.markdown.lines import (
    BLANK_LINE,
    PLAIN,
    closes_fence,
    ends_item,
    ends_laziness,
    fence_of,
    html_end,
    interrupts,
    is_blank,
    is_no_title,
    is_rule,
    is_underline,
    kind_of,
    mark_of,
    parse_definition,
)
from foretold.text.patterns import lazy
from foretold.types import NamedTuple


class ListItem(NamedTuple):
    """The text of a list item, without its indentation."""

    start: int
    lines: list[str]


class MarkdownBlock(NamedTuple):
    """Lines `start` to `end` of a text, and what is in them."""

    kind: str  #: code, fence, heading, rule, quote, list, html, definition, paragraph, text
    start: int
    end: int
    raw: str | None = None  #: where it is not its lines; of a definition, the label
    items: tuple[ListItem, ...] = ()  #: of a list
    lines: list[str] | None = None  #: of a quote, without its marks
    blocks: tuple[MarkdownBlock, ...] = ()  #: of a quote


DEFINITION_LINES, TITLE_LINES = 8, 64


def paragraph(lines: list[str], start: int) -> MarkdownBlock:
    """Running text: to a blank line, or a line that interrupts it."""
    end = start + 1
    while end < len(lines) and lines[end] and (lines[end][0] in PLAIN or not interrupts(lines[end])):
        end += 1
    if end == len(lines) - 1 and fence_of(lines[end]):
        end += 1  # a fence without a line end does not interrupt
    return MarkdownBlock("paragraph", start, end)


def text(lines: list[str], start: int) -> MarkdownBlock:
    """Running text of a list item."""
    end = start + 1
    while end < len(lines):
        kind = "" if lines[end][:1] in PLAIN else kind_of(lines[end])
        if kind not in ("", "code"):
            break
        end = _indented(lines, end).end if kind else end + 1
    return MarkdownBlock("text", start, end)


def title(lines: list[str], start: int) -> tuple[MarkdownBlock | None, int]:
    """A heading with an underline; or none, and the line before which none can begin."""
    if lines[start][0] not in PLAIN and is_no_title(lines[start]):
        return None, start
    limit = min(len(lines), start + TITLE_LINES)
    for end in range(start + 1, limit):
        line = lines[end]
        if not line:
            return None, end
        if line[0] not in PLAIN:
            if is_underline(line):
                return MarkdownBlock("heading", start, _with_empty(lines, end + 1)), start
            if is_no_title(line):
                return None, end
    return None, limit


def definition(lines: list[str], start: int) -> MarkdownBlock | None:
    """A definition of a link, of up to so many lines."""
    found = parse_definition("\n".join(lines[start : start + DEFINITION_LINES]))
    return MarkdownBlock("definition", start, _with_empty(lines, start + found[1]), found[0]) if found else None


def _with_empty(lines: list[str], at: int) -> int:
    """The first line from here that is not empty."""
    while at < len(lines) and not lines[at]:
        at += 1
    return at


def _indented(lines: list[str], start: int) -> MarkdownBlock:
    end = start + 1
    while end < len(lines) and kind_of(lines[end]) in ("code", "blank"):
        end += 1
    return MarkdownBlock("code", start, end)


def _fenced(lines: list[str], start: int) -> MarkdownBlock:
    fence = fence_of(lines[start])
    for end in range(start + 1, len(lines)):
        if closes_fence(lines[end], fence):
            return MarkdownBlock("fence", start, end + 1)
    return MarkdownBlock("fence", start, len(lines))


def _html(lines: list[str], start: int) -> MarkdownBlock:
    text = lines[start].lstrip(" ")
    mark = html_end(text)
    if mark == BLANK_LINE:
        end = start + 2 if text.lstrip("</").isalnum() else start + 1  # `<div` alone takes the line end for itself
        while end < len(lines) - 1 and lines[end].strip(" \t"):
            end += 1
        return MarkdownBlock("html", start, len(lines) if end >= len(lines) - 1 else end)
    skip = len(lines[start]) - len(text) + 2
    for end in range(start, len(lines)):
        line = lines[end].lower() if mark[0] == "<" else lines[end]
        found = line.find(mark, skip)
        skip = 0
        if found < 0:
            continue
        column = found + len(mark)
        rest = lines[end][column:]
        if not rest or mark == "-->" or mark[0] == "<":
            return MarkdownBlock("html", start, _with_empty(lines, end + 1))
        raw = "\n".join([*lines[start:end], lines[end][:column]])
        lines[end] = rest
        return MarkdownBlock("html", start, end, raw)
    return MarkdownBlock("html", start, len(lines))


def without_comments(html: str) -> str | None:
    """What is left of HTML that begins with a comment; nothing if it does not, or if no comment in it ends."""
    return cut_comments(html) if "-->" in html and html.lstrip(SPACE).startswith("<!--") else None


def cut_comments(text: str) -> str:
    """A text without its comments, wherever they are; one without an end stays."""
    kept, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept.append(text[at:start])
        at = end + 3
    return "".join(kept) + text[at:]


class TangledError(Exception):
    """The text has too many blocks, or they are nested too deeply."""


class Effort:
    """How many lines and blocks may still be read: each level of lists and quotes reads its lines again.

    Lists of short items, nested twice, spend half of it; prose a tenth.
    """

    __slots__ = ("left", "lines")

    def __init__(self, size: int) -> None:
        self.left = SPARE + size // CHARACTERS_PER_STEP
        self.lines = LINES + size // CHARACTERS_PER_LINE

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TangledError


DEPTH = 16
SPARE, CHARACTERS_PER_STEP = 40_000, 6
LINES, CHARACTERS_PER_LINE = 20_000, 16
STEPS_PER_BLOCK, STEPS_PER_HTML = 3, 12

_QUOTED = lazy(r" {0,3}> ?")
_UNQUOTE = lazy(r" {0,3}>[ \t]?")
_DEEP = lazy(rf" {{0,3}}(?:(?:[*+-]|[0-9]{{1,9}}[.)])[ \t]+|> ?){{{DEPTH}}}")


def cut(lines: list[str], effort: Effort, *, top: bool = True, depth: int = 0) -> list[MarkdownBlock]:
    """The blocks of a text; `top` unless it is the text of a list item. Raises `TangledError`."""
    if depth > DEPTH or len(lines) > effort.lines:
        raise TangledError
    effort.spend(len(lines))
    found: list[MarkdownBlock] = []
    untitled = at = 0
    while at < len(lines):
        block: MarkdownBlock | None
        kind = kind_of(lines[at]) if lines[at] else "blank"
        if kind == "blank":
            at += 1
            continue
        if kind == "list":
            block = _list(lines, at, effort)
            top = True
        elif kind == "quote":
            block = _quote(lines, at, effort, depth)
        elif kind in ("heading", "rule"):
            block = MarkdownBlock(kind, at, _with_empty(lines, at + 1))
        elif kind:
            block = (_indented if kind == "code" else _fenced if kind == "fence" else _html)(lines, at)
        else:
            block = definition(lines, at) if lines[at].lstrip(" ")[0] == "[" else None
            if not block and at >= untitled:
                block, untitled = title(lines, at)
            block = block or (paragraph(lines, at) if top else text(lines, at))
        effort.spend(STEPS_PER_HTML if kind == "html" else STEPS_PER_BLOCK)
        found.append(block)
        at = block.end
    return found


def _list(lines: list[str], start: int, effort: Effort) -> MarkdownBlock:
    """The list that begins with this line."""
    if _DEEP.match(lines[start]):
        raise TangledError
    sort = mark_of(lines[start])[-1]
    items = _short_items(lines, start, f"{sort} ") if sort in "*+-" else []
    effort.spend(STEPS_PER_BLOCK * len(items))
    at = start + len(items)
    while at < len(lines):
        mark = mark_of(lines[at])
        if mark[-1:] != sort or (at > start and is_rule(lines[at])):
            break
        at, item = _item(lines, at, len(mark))
        items.append(item)
        effort.spend(STEPS_PER_BLOCK)
    while at > start + 1 and is_blank(lines[at - 1]):
        at -= 1
    last = items[-1].lines
    while len(last) > 1 and is_blank(last[-1]):
        last.pop()
    return MarkdownBlock("list", start, at, items=tuple(items))


def _short_items(lines: list[str], at: int, mark: str) -> list[ListItem]:
    """The items of one line of plain text that begin a list, up to the last one that another follows."""
    found = []
    while at + 1 < len(lines) and lines[at][2:3] in PLAIN and lines[at].startswith(mark):
        if not lines[at + 1].startswith(mark):
            break
        found.append(ListItem(at, [lines[at][2:]]))
        at += 1
    return found


def _item(lines: list[str], start: int, width: int) -> tuple[int, ListItem]:
    """An item whose mark has this width; and the line after it."""
    rest = lines[start][width:]
    text = rest.lstrip(" ")
    indent = len(rest) - len(text)
    if is_blank(text):
        if start + 1 < len(lines) and not lines[start + 1].strip(" \t"):
            return start + 2, ListItem(start, [""])
        taken, indent = [""], 1
    elif text[0] == "\t" and not indent:
        text = rest.lstrip("\t")
        rest = "   " * (len(rest) - len(text)) + text
        taken = [rest]
    else:
        indent = 1 if indent > 4 else indent
        taken = [rest[indent:]]
    return _rest_of_item(lines, start + 1, width + indent, rest, taken), ListItem(start, taken)


def _rest_of_item(lines: list[str], at: int, indent: int, last: str, taken: list[str]) -> int:
    """Take lines for an item; `last` is the line before. The line after the item."""
    pad = " " * indent
    near = min(3, indent - 1)
    blank = is_blank(last)
    while at < len(lines):
        line = lines[at]
        if "\t" in line or not line.startswith(pad):
            if line[:1] not in PLAIN and ends_item(line, near):
                break
            flat = line.replace("\t", "    ")
            is_lazy = not flat.startswith(pad) and not is_blank(line)
            if is_lazy and (blank or ends_laziness(last, near)):
                break
            last = flat[indent:]
            taken.append(line if is_lazy else last)
        else:
            last = line[indent:]
            taken.append(last)
        blank = blank or is_blank(line)
        at += 1
    return at


def _quote(lines: list[str], start: int, effort: Effort, depth: int) -> MarkdownBlock:
    """The quote that begins with this line."""
    if _DEEP.match(lines[start]):
        raise TangledError
    at = start
    span = _span(lines, start)
    body: list[str] = []
    blocks: list[MarkdownBlock] = []
    raw: list[str] = []
    while at < span:
        end = _lines_at_once(lines, at, span)
        _read(lines[at:end], body, blocks, effort, depth)
        if raw:
            raw += lines[at:end]
        at = end
        last = _last_kind(blocks, body)
        if at == span or last == "code":
            break
        if last in ("list", "quote"):
            effort.spend(span - at)
            taken, now = _lazy(blocks, body, lines[at:span], "\n".join(raw or lines[start:at]), effort, depth)
            at += taken
            raw = [now] if now else raw
            if last == "quote":
                raw += [""] if now and at < len(lines) and not now.endswith("\n") else []
                break
    return MarkdownBlock("quote", start, at, "\n".join(raw) if raw else None, lines=body, blocks=tuple(blocks))


def _span(lines: list[str], at: int) -> int:
    """The line after a quote, if it takes every lazy line."""
    while at < len(lines):
        mark = _QUOTED.match(lines[at])
        if not mark:
            break
        at = at + 1 if mark.end() == len(lines[at]) else paragraph(lines, at).end
    return at


def _lines_at_once(lines: list[str], at: int, span: int) -> int:
    """The lines to read at once: lazy ones, then those with a mark."""
    while at < span and not _QUOTED.match(lines[at]):
        at += 1
    while at < span and _QUOTED.match(lines[at]):
        at += 1
    return at


def _read(lines: list[str], body: list[str], blocks: list[MarkdownBlock], effort: Effort, depth: int) -> None:
    """Read lines of a quote; a paragraph goes on where the lines before ended with one."""
    own: list[str] = []
    for line in lines:
        mark = _UNQUOTE.match(line)
        if mark:
            own.append(line[mark.end() :])
        else:
            own.append("    " + line if own and is_underline(line) else line)
    new = [_moved(block, len(body)) for block in cut(own, effort, depth=depth + 1)]
    body += own
    while new and blocks and blocks[-1].kind == "paragraph" and blocks[-1].end == new[0].start:
        if new[0].kind not in ("paragraph", "code", "definition"):
            break
        blocks[-1] = blocks[-1]._replace(end=new.pop(0).end)
    blocks += new


def _last_kind(blocks: list[MarkdownBlock], body: list[str]) -> str:
    """What may take lazy lines itself: a list or a quote that nothing blank follows; or code, which takes none."""
    last = blocks[-1] if blocks else None
    if last and last.kind in ("code", "fence"):
        return "code"
    return last.kind if last and last.end == len(body) and body[-1][-1:] not in (" ", "\t") else ""


def _lazy(
    blocks: list[MarkdownBlock], body: list[str], lines: list[str], raw: str, effort: Effort, depth: int
) -> tuple[int, str]:
    """Let the list or quote at the end of a quote take lazy lines: how many it took, and what the quote is then,
    if it is not its lines."""
    last = blocks[-1]
    old = body[last.start : last.end]
    own = [*old, *lines]
    more = _list(own, 0, effort) if last.kind == "list" else _quote(own, 0, effort, depth + 1)
    taken = more.end - len(old)
    if taken < 0:
        return 0, ""
    blocks[-1] = _moved(more, last.start)
    body += lines[:taken]
    before, now = last.raw or "\n".join(old), more.raw or "\n".join(own[: more.end])
    if last.kind == "list":
        before, now = before.rstrip(SPACE), now.rstrip(SPACE) + "\n"
    return taken, raw[: len(raw) - len(before)] + now


def _moved(block: MarkdownBlock, by: int) -> MarkdownBlock:
    if not by:
        return block
    items = tuple(ListItem(item.start + by, item.lines) for item in block.items)
    return block._replace(start=block.start + by, end=block.end + by, items=items)
