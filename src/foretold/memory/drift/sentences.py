"""Cut a memory into sentences and fenced blocks, and find what is in backticks and links.

1. HTML comments, URLs, e-mail addresses and `[[links]]` to other memories are blanked: nothing in them is a claim.
2. A fenced block is one piece; its introduction is the sentence before it. Indented code is ignored: it is mostly a
   command to type.
3. All else is paragraphs (a list item, a row of a table and a heading is one too), and each is cut into sentences.
   In the text of a sentence what was in backticks is replaced by NUL, so that only prose is read as prose.
4. A sentence knows what leads to it: the heading above, and the sentence before its list if that ends with a colon.

Lines are counted from 1 in the file.
"""

from __future__ import annotations

import re
from itertools import pairwise

from foretold.text.patterns import lazy
from foretold.types import NamedTuple

LONGEST = 20_000  #: characters of a paragraph; what is longer is cut
HIDDEN = "\0"


class Span(NamedTuple):
    """What is in backticks, or the target of a link."""

    text: str
    line: int
    is_link: bool = False
    at: int = 0  #: where it begins in the sentence


class Sentence(NamedTuple):
    """A sentence: its prose, and the code spans in it."""

    text: str  #: with NUL for every character in backticks
    line: int
    spans: tuple[Span, ...] = ()
    lead: str = ""  #: heading and introduction, as prose


class Fence(NamedTuple):
    """A fenced block."""

    text: str
    line: int  #: of its first line of text
    info: str
    intro: Sentence | None  #: the sentence before it


_COMMENT = lazy(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NO_PROSE = lazy(
    r"\[\[[^\[\]\n]*+\]\]|\b[a-z][a-z0-9+.-]{1,15}://[^\s<>)\]`]*|\bwww\.[^\s<>)\]`]*|(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+",
    re.IGNORECASE,
)
_FENCE = lazy(r"[ \t>]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})[ \t]*([^`]*)")
_CODE = lazy(r"(?<!`)(`)(?!`)([^`]+)`(?!`)|(?<!`)(``)(?!`)((?:[^`]|`(?!`))+)``(?!`)")
_LINK = lazy(r"\]\(<?([^()\s<>]+)>?(?:\s+\"[^\"\n]*\")?\)")
_ITEM = lazy(r"\s*(?:[-*+]|\d+[.)])\s+")
_HEADING = lazy(r"\s{0,3}#{1,6}\s")
_END = lazy(r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<=[.!?;])[\"')*_]*\s+")


def split_sentences(text: str, first: int = 1) -> list[Sentence | Fence]:
    """The pieces of a text whose first line is this line of its file."""
    reader = _Reader()
    lines = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text.replace("\r\n", "\n")).split("\n")
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening:
            at = reader.fence(lines, at, first, opening[1], opening[2].strip())
        else:
            reader.line(lines[at], first + at)
            at += 1
    reader.paragraph()
    return reader.pieces


class _Reader:
    """The paragraph that is being read, and what leads to the next one."""

    def __init__(self) -> None:
        self.pieces: list[Sentence | Fence] = []
        self._lines: list[str] = []
        self._first = 0
        self._heading = self._intro = ""
        self._is_item = self._was_blank = self._in_list = False

    def fence(self, lines: list[str], at: int, first: int, mark: str, info: str) -> int:
        """Read a fenced block that opens at this line; the line after it. One that is not closed goes to the end."""
        self.paragraph()
        end = at + 1
        while end < len(lines) and not (lines[end].strip(" \t>").startswith(mark) and not lines[end].strip(" \t>`~")):
            end += 1
        before = next((piece for piece in self.pieces[-1:] if isinstance(piece, Sentence)), None)
        self.pieces.append(Fence("\n".join(lines[at + 1 : end]), first + at + 1, info, before))
        return end + 1

    def line(self, line: str, number: int) -> None:
        """Take a line that is not fenced."""
        is_item, is_heading = bool(_ITEM.match(line)), bool(_HEADING.match(line))
        if not line.strip() or is_item or is_heading or line.lstrip().startswith("|"):
            self.paragraph()
        is_code = self._was_blank and not self._in_list and not is_item and line.startswith(("    ", "\t"))
        self._was_blank = not line.strip() or (is_code and self._was_blank)
        if not line.strip() or is_code:
            return
        if not self._lines:
            self._first, self._is_item = number, is_item
        self._lines.append(line)
        if is_heading:
            self._heading, self._intro = line.strip("# \t"), ""
            self.paragraph()

    def paragraph(self) -> None:
        """End the paragraph: its sentences are pieces."""
        text, self._lines = "\n".join(self._lines)[:LONGEST], []
        if not text:
            return
        self._in_list = self._is_item
        if not self._is_item:
            self._intro = ""
        found = _sentences(text, self._first, f"{self._heading} {self._intro}".strip())
        self.pieces += found
        if found and not self._is_item and found[-1].text.rstrip("*_ \n").endswith(":"):
            self._intro = found[-1].text


def _sentences(text: str, first: int, lead: str) -> list[Sentence]:
    """The sentences of a paragraph."""
    spans: list[tuple[int, Span]] = []

    def code(found: re.Match[str]) -> str:
        content, mark = found[2] or found[4], found[1] or found[3]
        line = first + text.count("\n", 0, found.start())
        spans.append((found.start(), Span(" ".join(content.split()), line)))
        return mark + HIDDEN * len(content) + mark

    def link(found: re.Match[str]) -> str:
        line = first + text.count("\n", 0, found.start())
        spans.append((found.start(), Span(found[1], line, is_link=True)))
        return "](" + " " * (len(found[0]) - 3) + ")"

    prose = _NO_PROSE.sub(lambda found: " " * len(found[0]), _LINK.sub(link, _CODE.sub(code, text)))
    ends = [0, *(found.end() for found in _END.finditer(prose)), len(prose)]
    found = []
    for start, end in pairwise(ends):
        start += len(prose[start:end]) - len(prose[start:end].lstrip())
        inside = tuple(span._replace(at=at - start) for at, span in sorted(spans) if start <= at < end)
        if start < end:
            found.append(Sentence(prose[start:end].rstrip(), first + prose.count("\n", 0, start), inside, lead))
    return found
