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
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter

from foretold.text.patterns import lazy
from foretold.types import NamedTuple

LONGEST = 20_000  #: characters of a paragraph; what is longer is cut
MOST_KEPT = 20_000  #: paragraphs that are remembered
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


class Paragraph(NamedTuple):
    """Sentences that belong together."""

    text: str
    line: int
    lead: str


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
_LINK = lazy(r"\]\(<?([^()\s<>]+)>?(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?\)")
_ITEM = lazy(r"\s*(?:[-*+]|\d+[.)])\s+")
_BULLETS = ("-", "*", "+")
_HEADING = lazy(r"\s{0,3}#{1,6}\s")
_END = lazy(r"[.!?;][\"')*_]*\s+")
_SHORT = ("e.g.", "i.e.", "etc.", "vs.")  #: these do not end a sentence


def split_sentences(text: str, first: int = 1) -> list[Sentence | Fence]:
    """The pieces of a text whose first line is this line of its file."""
    found: list[Sentence | Fence] = []
    for piece in split_paragraphs(text, first):
        if isinstance(piece, Fence):
            found.append(piece)
        else:
            found += (_move(each, piece.line) for each in read_paragraph(piece.text, piece.lead))
    return found


def _move(sentence: Sentence, lines: int) -> Sentence:
    spans = tuple(span._replace(line=span.line + lines) for span in sentence.spans)
    return sentence._replace(line=sentence.line + lines, spans=spans)


def split_paragraphs(text: str, first: int = 1) -> list[Paragraph | Fence]:
    """The same, with its sentences still together: `read_paragraph` reads them."""
    reader = _Reader()
    text = text.replace("\r\n", "\n")
    if "<!--" in text:
        text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        opening = _FENCE.match(line) if "```" in line or "~~~" in line else None
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
        self.pieces: list[Paragraph | Fence] = []
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
        last = self.pieces[-1] if self.pieces else None
        before = read_paragraph(last.text, last.lead)[-1:] if isinstance(last, Paragraph) else ()
        self.pieces.append(Fence("\n".join(lines[at + 1 : end]), first + at + 1, info, before[0] if before else None))
        return end + 1

    def line(self, line: str, number: int) -> None:
        """Take a line that is not fenced."""
        inner = line.strip()
        first = inner[:1]
        is_item = (first in _BULLETS or first.isdigit()) and bool(_ITEM.match(line))
        is_heading = first == "#" and bool(_HEADING.match(line))
        if not inner or is_item or is_heading or first == "|":
            self.paragraph()
        is_code = self._was_blank and not self._in_list and not is_item and line.startswith(("    ", "\t"))
        self._was_blank = not inner or (is_code and self._was_blank)
        if not inner or is_code:
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
        lead = f"{self._heading} {self._intro}".strip()
        found = read_paragraph(text, lead)
        if found:
            self.pieces.append(Paragraph(text, self._first, lead))
        if found and not self._is_item and found[-1].text.rstrip("*_ \n").endswith(":"):
            self._intro = found[-1].text


@lru_cache(MOST_KEPT)  # most paragraphs of a text that is edited are the ones that they were
def read_paragraph(text: str, lead: str) -> tuple[Sentence, ...]:
    """The sentences of a paragraph; its first line has the number 0."""
    spans: list[tuple[int, Span]] = []

    def code(found: re.Match[str]) -> str:
        content, mark = found[2] or found[4], found[1] or found[3]
        line = text.count("\n", 0, found.start())
        spans.append((found.start(), Span(" ".join(content.split()), line)))
        return mark + HIDDEN * len(content) + mark

    def link(found: re.Match[str]) -> str:
        line = text.count("\n", 0, found.start())
        spans.append((found.start(), Span(found[1], line, is_link=True)))
        return "](" + " " * (len(found[0]) - 3) + ")"

    prose = _CODE.sub(code, text) if "`" in text else text
    prose = _LINK.sub(link, prose) if "](" in prose else prose
    if "://" in prose or "@" in prose or "[[" in prose or "www." in prose.lower():
        prose = _NO_PROSE.sub(lambda found: " " * len(found[0]), prose)
    ends = [0, *(found.end() for found in _END.finditer(prose) if not _is_short(prose, found.start())), len(prose)]
    spans.sort(key=itemgetter(0))
    found, at, line = [], 0, 0
    for start, end in pairwise(ends):
        piece = prose[start:end]
        lead_in = len(piece) - len(piece.lstrip())
        inside = []
        while at < len(spans) and spans[at][0] < end:
            if spans[at][0] >= start + lead_in:
                inside.append(spans[at][1]._replace(at=spans[at][0] - start - lead_in))
            at += 1
        if piece.strip():
            number = line + piece.count("\n", 0, lead_in)
            found.append(Sentence(piece.strip(), number, tuple(inside), lead))
        line += piece.count("\n")
    return tuple(found)


def _is_short(prose: str, at: int) -> bool:
    """Whether the dot at a place is that of an abbreviation."""
    if prose[at] != ".":
        return False
    word = next((each for each in _SHORT if prose.endswith(each, 0, at + 1)), "")
    before = prose[at - len(word) : at - len(word) + 1] if word and at >= len(word) else ""
    return bool(word) and not (before.isalnum() or before == "_")
