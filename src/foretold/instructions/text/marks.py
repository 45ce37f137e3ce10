"""The marks of a text that imports are put into: tokens and comments, and where neither is looked for.

What a token is, and what counts as code, are fields of the dialect (`Inline`): the blocks and spans of Markdown, fences
and spans alone, or whatever stands between backticks. Every text is read in time in proportion to its length.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from foretold.dialects.schema import Inline
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from foretold.text.markdown.blocks import Block

#: what may be of interest: backticks, a comment, a token
_SIGNS = {
    "mink": re.compile(r"`+|<!--|(?<!\S)@(?=[~./A-Za-z0-9_-])[^\s<]+(?:<(?!!--)[^\s<]*)*"),
    "gemini": re.compile(r"`+|(?<![^ \t\r\n])@(?=[./A-Za-z])[^ \t\r\n]+"),
    "copilot": re.compile(r"`+|(?<![\w`@/.])@(?=[./A-Za-z0-9_-])[^\s(),`]+"),
}
_CLOSING = {"mink": ".,;:)]}", "gemini": "", "copilot": "."}
_MAY_BE_CODE = re.compile(r"(?m)```|~~~|^[ >*+.)0-9-]*?(?: {4}|\t)")
_MARGIN = r"(?:[ \t]*(?:>|[*+-][ \t]|[0-9]{1,9}[.)][ \t]))*[ \t]*"
_PARAGRAPH_END = re.compile(r"\n[ \t]*(?:\r?\n|[>#]|```|~~~|[*+-][ \t]|[0-9]{1,9}[.)][ \t])")
_HEADING = re.compile(_MARGIN + r"#{1,6}[ \t]")
_FENCE = re.compile(_MARGIN + r"(`{3,}(?!.*`)|~{3,})")


class Mark(NamedTuple):
    """A comment, or a token with its path, in running text."""

    start: int
    end: int
    path: str  #: empty for a comment


def marks_of(text: str, inline: Inline = Inline()) -> tuple[list[Mark], bool]:  # noqa: B008 - a value
    """The marks of a text in their order, and whether its code blocks could be told apart.

    >>> [mark.path for mark in marks_of("see @a.md, not `x @b.md` <!-- @c.md -->")[0]]
    ['a.md', '']
    """
    if "<!--" not in text and "@" not in text:
        return [], True
    blocks, is_told = REGIONS[inline.regions](text)
    return list(_marks(text, blocks, inline)), is_told


def _marks(text: str, blocks: list[tuple[int, int]], inline: Inline) -> Iterator[Mark]:
    at = block = 0
    spans = _Spans(text, bounded=inline.regions != "backticks")
    sign, closing = _SIGNS[inline.form].search, _CLOSING[inline.form]
    is_open = True  #: whether a comment may still end
    while found := sign(text, at):
        start, at = found.span()
        while block < len(blocks) and blocks[block][1] <= start:
            block += 1
        if block < len(blocks) and blocks[block][0] <= start:
            at = blocks[block][1]
        elif text[start] == "`":
            at = spans.end(start, at)
        elif text[start] == "@":
            end = start + 1 + len(found[0][1:].rstrip(closing))
            if end > start + 1:
                yield Mark(start, end, text[start + 1 : end])
        elif is_open:
            end = text.find("-->", at)
            is_open = end >= 0
            if is_open:
                at = end + 3
                yield Mark(start, at, "")


class _Spans:
    """Where spans of code end: at the next run of as many backticks in the same paragraph.

    Where a span is not `bounded`, it ends at the next run of at least as many, wherever that stands.
    """

    __slots__ = ("bounded", "limit", "runs", "text")

    def __init__(self, text: str, *, bounded: bool = True) -> None:
        self.text, self.limit, self.bounded = text, -1, bounded
        self.runs: dict[int, list[int]] | None = None

    def end(self, start: int, end: int) -> int:
        if not self.bounded:
            closing = self.text.find(self.text[start:end], end)
            return closing + end - start if closing >= 0 else self._shorter(start, end)
        before = self.text[max(0, start - 100) : start]
        if (len(before) - len(before.rstrip("\\"))) % 2:
            start += 1  # the first one is escaped
        if self.runs is None:
            self.runs = {}
            for found in re.finditer("`+", self.text):
                self.runs.setdefault(len(found[0]), []).append(found.start())
        runs = self.runs.get(end - start, [])
        at = bisect_left(runs, end)
        if at == len(runs) or runs[at] > self._paragraph_end(end):
            return end
        return runs[at] + end - start

    def _shorter(self, start: int, end: int) -> int:
        """Where a run ends a span of fewer backticks: `(`+)([\\s\\S]*?)\\1` gives back until it matches."""
        for width in range(end - start - 1, 0, -1):
            closing = self.text.find("`" * width, start + width)
            if closing >= 0:
                return closing + width
        return end

    def _paragraph_end(self, at: int) -> int:
        if self.limit < at:
            found = _PARAGRAPH_END.search(self.text, at)
            self.limit = found.start() if found else len(self.text)
        line = self.text.rfind("\n", 0, at) + 1
        if _HEADING.match(self.text, line):
            return min(self.limit, self.text.find("\n", at) % (len(self.text) + 1))
        return self.limit


def _code_blocks(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Start and end of the code blocks of a text, and whether all could be told; else these are the fenced ones."""
    if not _MAY_BE_CODE.search(text):
        return [], True
    from foretold.text.markdown.blocks import Effort, TangledError, cut

    lines = text.split("\n")
    plain = [line.removesuffix("\r") for line in lines] if "\r" in text else lines
    effort = Effort(len(text))

    def ranges(blocks: list[Block] | tuple[Block, ...], first: int) -> Iterator[tuple[int, int]]:
        for block in blocks:
            if block.kind in ("code", "fence"):
                yield first + block.start, first + block.end
            elif block.kind == "quote":
                yield from ranges(block.blocks, first + block.start)
            elif block.kind == "list":
                for item in block.items:
                    if _MAY_BE_CODE.search("\n".join(item.lines)):
                        below = cut(item.lines, effort, top=False, depth=1)
                        yield from ranges(below, first + item.start)

    is_told = True
    try:
        found = list(ranges(cut(plain, effort), 0))
    except (TangledError, RecursionError):
        found, is_told = list(_fences(plain)), False
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return [(starts[first], starts[end]) for first, end in found], is_told


def _fenced_blocks(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Start and end of fenced code, whatever it stands in; indented code is text."""
    lines = text.split("\n") if "```" in text or "~~~" in text else []
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return [(starts[first], starts[end]) for first, end in _fences(lines)], True


#: where no token is looked for, by name: backticks are seen to as the text is read
REGIONS: dict[str, Callable[[str], tuple[list[tuple[int, int]], bool]]] = {
    "markdown": _code_blocks,
    "fences": _fenced_blocks,
    "backticks": lambda _: ([], True),
}


def _fences(lines: list[str]) -> Iterator[tuple[int, int]]:
    """First line and end of fenced code, whatever it stands in."""
    opening, start = "", 0
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if not found:
            continue
        if not opening:
            opening, start = found[1], number
        elif found[1][0] == opening[0] and len(found[1]) >= len(opening) and not line[found.end() :].strip():
            yield start, number + 1
            opening = ""
    if opening:
        yield start, len(lines)
