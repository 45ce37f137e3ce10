"""What the agent makes of the Markdown of an instruction file: the text it shows, and the imports it sees in it.

1. A text with neither `@` nor `<!--` is shown as it is. Nothing is parsed.
2. A text with `<!--` anywhere is put together again from its blocks: line ends become LF; definitions of links go,
   with the empty lines after them; from HTML that begins with a comment and has a `-->`, every `<!-- ... -->` goes,
   and all of it if only white space is left. A comment inside a paragraph, a list, a quote or code stays.
   [cont-c-block, cont-c-trail, cont-c-list, cont-x-def-inline, cont-x-crlf-inline]
3. Imports are looked for in the blocks before anything was taken out: see `mentions`.
4. With a directive, `@include path` is read as `@path`; the text is shown as it is.
5. A text that is nested too deeply, or has more marks than words, is not read as Markdown: comments that begin a line
   go, every `@` after white space is an import, and `problem` says so.

The agent's parser behaves as `marked` 15 with GFM off. It is near CommonMark and not the same, so blocks are cut here
(`text.markdown`), and pyromark reads the inline text of those that have an `@` (`text.markdown.inline`).
"""

from __future__ import annotations

from foretold.text.frontmatter import SPACE
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.text.markdown.blocks import MarkdownBlock


class ImportMention(NamedTuple):
    """An `@path` of a text."""

    path: str  #: without `#...`, and with spaces for `\\ `; outside of text also without closing punctuation
    line: int  #: from 1; lines end with LF, CRLF or CR
    region: str  #: text: the agent follows it; else where it is, or what is wrong: see `mentions`


class Document(NamedTuple):
    """A text as the agent reads it."""

    text: str  #: as it is shown, not trimmed
    mentions: tuple[ImportMention, ...] = ()  #: first those the agent follows, in its order; a path once a region
    problem: str | None = None  #: why it was not read as Markdown, or not all of it


TANGLED = "nested too deeply or cut up too finely to be read as Markdown: @ in code may have been taken for imports"
DENSE = "too many marks or @ to read all of it as Markdown: @ in code may have been taken for imports"


def scan(text: str, directives: tuple[str, ...] = ()) -> Document:
    """Read a text, after its frontmatter was cut. `directives` are words that may come between `@` and a path."""
    written = [word for word in directives if f"@{word}" in text]
    if written:
        import re

        words = "|".join(map(re.escape, written))
        plain = re.sub(rf"(?<![\w./@-])@(?:{words})[ \t]+@?(?=\S)", "@", text)
        return scan(text)._replace(mentions=scan(plain).mentions)  # lines are the same in both
    is_commented = "<!--" in text
    if not is_commented and "@" not in text:
        return Document(text)
    from foretold.instructions.text import mentions
    from foretold.text.markdown.blocks import TangledError

    if not is_commented and not mentions.is_possible(text):
        return Document(text)
    source = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    lines = source.split("\n")
    found = mentions.Mentions(len(source))
    problem: str | None = TANGLED
    try:
        blocks = found.collect(lines)
    except TangledError:
        found.follow(source, 1)
        shown = _without_comment_lines(source) if is_commented else text
    else:
        problem = None if found.read() else DENSE
        shown = _shown(lines, blocks) if is_commented else text
    return Document(shown, tuple(map(ImportMention._make, found.result())), problem)


def _shown(lines: list[str], blocks: list[MarkdownBlock]) -> str:
    """A text without the comments and definitions among its blocks."""
    from foretold.text.markdown.blocks import without_comments

    kept = []
    at = 0
    for block in blocks:
        if block.raw is None and block.kind != "html":
            continue
        kept.append(_joined(lines, at, block.start))
        at = block.end
        if block.kind == "definition":
            continue
        raw = _joined(lines, block.start, block.end) if block.raw is None else block.raw
        rest = without_comments(raw) if block.kind == "html" else raw
        kept.append(raw if rest is None else rest if rest.strip(SPACE) else "")
    kept.append(_joined(lines, at, len(lines)))
    return _with_last_end("".join(kept), lines, blocks)


def _joined(lines: list[str], start: int, end: int) -> str:
    """Lines with their line ends; the last line of a text has none."""
    if start == end:
        return ""
    return "\n".join(lines[start:end]) + ("\n" if end < len(lines) else "")


def _with_last_end(text: str, lines: list[str], blocks: list[MarkdownBlock]) -> str:
    """The agent's parser takes a single blank at the very end, after a list or a block that takes empty lines, for a
    line end."""
    if not blocks or text[-1:] not in (" ", "\t") or text[-2:-1] in (" ", "\t"):
        return text
    last = blocks[-1]
    if last.kind == "list":
        return text[:-1] + "\n"
    is_alone = last.end == len(lines) - 1 and last.kind in ("heading", "rule", "html", "definition")
    return text[:-1] + "\n" if is_alone else text


def _without_comment_lines(text: str) -> str:
    """A text without comments that begin a line, if it is not read as Markdown."""
    kept = []
    at = seen = 0
    while (start := text.find("<!--", seen)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        seen = start + 4
        before = text[max(at, start - 4) : start].rstrip(" ")
        if before[-1:] == "\n" or (not before and start < 4):
            kept.append(text[at:start])
            at = seen = end + 3
    return "".join(kept) + text[at:]
