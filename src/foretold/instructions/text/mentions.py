"""The `@path` tokens of a Markdown text: which ones the agent follows, and why not the others.

1. Looked at is running text: paragraphs, headings, the text of list items, what is left of the line of a comment.
   Every piece between code spans, tags, links, images, emphasis and escaped characters is read for itself. [imp-emph]
2. The text of a list item is before that read as a whole, whatever is in it: `- like `x @a.md y`` is an import.
   (2.1.197 and 2.1.325 do so; found by asking them.)
3. A token begins with an `@` at the start of a piece or after white space, and reaches to the next white space or to
   a backslash that is not followed by a space. `#` and what follows is cut, `\\ ` is a space, and the path begins
   with a letter or digit of ASCII, `.`, `_`, `-`, `/` or `~/`. [imp-sentence, imp-space-escape, imp-leadchars]
4. Paths that may have been meant are noted where the agent does not look: in a code-span, a code-block, html, a
   comment, a link-target, an image or a definition, or in text with punctuation-before or a bad-start.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from foretold.text.frontmatter import SPACE
from foretold.text.markdown import blocks as leaves, inline
from foretold.text.markdown.blocks import Effort, cut
from foretold.text.markdown.lines import PLAIN
from foretold.text.patterns import lazy
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.text.markdown.blocks import ListItem, MarkdownBlock

MANY, MOST, MOST_MEANT = 1_000, 20_000, 2_000
GAP = 8  #: lines between pieces of running text that are read as one
SPARE_EVENTS, CHARACTERS_PER_EVENT = 20_000, 8
CLOSING = ".,;:!?_~…”“’»)]}>\"'`*|"
_MEANT = r"([A-Za-z0-9._~/-][^\s`\"'()<>\[\]{}|,;*\\#]*)"

_TOKEN = lazy(
    r"@(?<![\S\x1c-\x1f\x85]@)((?:[^\s\\]|\\ |[\x1c-\x1f\x85])[^\s\\]*+(?:(?:\\ |[\x1c-\x1f\x85])[^\s\\]*+)*)"
)
_FIRST = lazy(r"[A-Za-z0-9._/-]|~/")
_POSSIBLE = lazy(r"@(?<![A-Za-z0-9]@)(?:[A-Za-z0-9._/-]|(?<!\S@)\S)")
_LOOSE = lazy(rf"@(?<![\w/.@+%\\#&?=]@){_MEANT}")
_PUNCTUATED = lazy(rf"@(?<=[^\s\w/.@+%\\#&?=]@){_MEANT}")
_PATH = lazy(r"[^/]*/.|.*\.\w")
_SEPARATORS = lazy(r"[\x1c-\x1f\x85]")  #: white space for Python, and not for the agents
_MARKUP = lazy(r"[`*_\[<\\]")


def is_possible(text: str) -> bool:
    """Whether a text may hold an import at all: e-mail addresses are none."""
    return bool(_POSSIBLE.search(text))


class Leaf(NamedTuple):
    """Running text: consecutive lines."""

    line: int
    rows: list[str]
    is_whole: bool = True  #: it is read as a whole
    has_marks: bool = False  #: it is read piece by piece


class Mentions:
    """Collects the mentions of a text: first the running text, then the tokens in it."""

    __slots__ = ("effort", "end", "found", "labels", "leaves", "meant", "room", "tokens")

    def __init__(self, size: int) -> None:
        self.effort = Effort(size)
        self.room = SPARE_EVENTS + size // CHARACTERS_PER_EVENT
        self.found: dict[str, int] = {}  #: path -> line
        self.meant: dict[tuple[str, str], int] = {}  #: path, region -> line
        self.labels: set[str] = set()
        self.leaves: list[Leaf] = []
        self.end = -GAP  #: the line after the last leaf, if more running text can be added to that
        self.tokens: set[str] = set()

    # -- running text ---------------------------------------------------------------------------------------------

    def collect(self, lines: list[str]) -> list[MarkdownBlock]:
        """Take the running text of a text. Its blocks. Raises `TangledError`."""
        blocks = cut(lines, self.effort)
        self._collect(lines, blocks, 1, 0)
        return blocks

    def _collect(self, lines: list[str], blocks: Iterable[MarkdownBlock], line: int, depth: int) -> None:
        """Take the running text of blocks; the first line of theirs has this number."""
        for block in blocks:
            if block.kind == "list":
                for item in block.items:
                    self._take_item(item, line + item.start, depth + 1)
            elif block.kind == "quote":
                self._collect(block.lines or [], block.blocks, line + block.start, depth + 1)
            else:
                self._take(block, "\n".join(lines[block.start : block.end]), line + block.start)

    def _take_item(self, item: ListItem, line: int, depth: int) -> None:
        text = "\n".join(item.lines)
        if "@" not in text and "]:" not in text:
            return
        if text[0] != "[" and all(row[:1] in PLAIN for row in item.lines):
            self._take_running(text, line, is_whole=True)
        else:
            self._collect(item.lines, cut(item.lines, self.effort, top=False, depth=depth), line, depth)

    def _take(self, block: MarkdownBlock, text: str, line: int) -> None:
        if block.kind == "definition":
            self.labels.add(inline.label_of(block.raw or ""))
            self._take_meant(_LOOSE, text, line, "definition")
        elif block.kind == "html":
            html = block.raw or text
            rest = leaves.without_comments(html)
            self._take_meant(_LOOSE, html, line, "comment" if html.lstrip(" ").startswith("<!--") else "html")
            if rest and "@" in rest:
                self.leaves.append(Leaf(line + html.count("\n", 0, html.index("-->")), [rest]))
                self.end = -GAP
        elif "@" not in text:
            pass
        elif block.kind in ("code", "fence"):
            self._take_meant(_LOOSE, text, line, "code-block")
        else:
            self._take_running(text, line, is_whole=block.kind == "text")

    def _take_running(self, text: str, line: int, *, is_whole: bool) -> None:
        if _MARKUP.search(text):
            self.leaves.append(Leaf(line, [text], is_whole, has_marks=True))
            self.end = -GAP
            return
        gap = line - self.end
        rows = text.split("\n")
        if self.leaves and 0 <= gap <= GAP and not self.leaves[-1].has_marks:
            self.leaves[-1].rows.extend(("",) * gap if gap else ())  # what is between has no token
            self.leaves[-1].rows.extend(rows)
        else:
            self.leaves.append(Leaf(line, rows))
        self.end = line + len(rows)

    # -- tokens -----------------------------------------------------------------------------------------------------

    def read(self) -> bool:
        """Read the running text; false if not all of it could be read as it should."""
        texts = ["\n".join(leaf.rows) for leaf in self.leaves]
        cut_up = [leaf.has_marks and self._has_room(text) for leaf, text in zip(self.leaves, texts, strict=True)]
        pieces = inline.pieces([text for text, is_cut in zip(texts, cut_up, strict=True) if is_cut], self.labels)
        is_read = True
        for leaf, text, is_cut in zip(self.leaves, texts, cut_up, strict=True):
            if leaf.is_whole or not is_cut:
                self.follow(text, leaf.line)
            for region, piece, row in next(pieces) if is_cut else ():
                if region == "text":
                    self.follow(piece, leaf.line + row)
                else:
                    self._take_meant(_LOOSE, piece, leaf.line + row, region)
            is_read = is_read and is_cut == leaf.has_marks
        return is_read and len(self.found) < MOST

    def _has_room(self, text: str) -> bool:
        count = text.count
        events = 3 * count("[") + 2 * count("<") + count("*") + count("_") + count("`") + count("\\")
        if events > self.room:
            return False
        self.room -= events
        return True

    def follow(self, text: str, line: int) -> None:
        """Take the tokens of a piece of running text."""
        if "\ufeff" in text:
            text = text.replace("\ufeff", " ")
        count = text.count("@")
        if count >= MANY and "\\" not in text and not _SEPARATORS.search(text):
            self._follow_many(text, line)
            return
        tokens = _TOKEN.findall(text)
        if len(tokens) < count < MANY:
            self._take_meant(_PUNCTUATED, text, line, "punctuation-before")
        new = dict.fromkeys(tokens)
        if self.tokens:
            new = {token: None for token in new if token not in self.tokens}
        at = 0
        is_long = "\n" in text
        for token in new:
            if is_long:
                start = _find(text, token, at)
                line += text.count("\n", at, start)
                at = start
            self._take_token(token, line)
            if len(self.found) >= MOST:
                break

    def _follow_many(self, text: str, line: int) -> None:
        """The same for a text that has a great many, and none with a space in it: thrice as fast."""
        known, found = self.tokens, self.found
        for number, row in enumerate(text.split("\n"), line):
            if "@" not in row:
                continue
            count = row.count("@")
            for word in row.split():
                if word[0] != "@" or word == "@":
                    continue
                count -= 1
                if (token := word[1:]) not in known:
                    self._take_token(token, number)
                    if len(found) >= MOST:
                        return
            if count > 0:
                self._take_meant(_PUNCTUATED, row, number, "punctuation-before")

    def _take_token(self, token: str, line: int) -> None:
        """Take a token that was not there before."""
        self.tokens.add(token)
        path = token.partition("#")[0].replace("\\ ", " ") if "#" in token or "\\" in token else token
        if _FIRST.match(path):
            self.found.setdefault(path.strip(SPACE) if path[-1] == " " else path, line)
        elif _PATH.match(path) and len(self.meant) < MOST_MEANT:
            self.meant.setdefault((path.rstrip(CLOSING), "bad-start"), line)

    def _take_meant(self, pattern: re.Pattern[str], text: str, line: int, region: str) -> None:
        """Take what may have been meant to be followed."""
        if "@" not in text:
            return
        at = 0
        for found in pattern.finditer(text):
            path = found[1].rstrip(CLOSING)
            if (path, region) not in self.meant and _PATH.match(path):
                line += text.count("\n", at, found.start())
                at = found.start()
                self.meant[path, region] = line
                if len(self.meant) >= MOST_MEANT:
                    break

    def result(self) -> Iterator[tuple[str, int, str]]:
        """Path, line and region: what the agent follows, in its order; then what it would not follow anyhow."""
        for path, line in self.found.items():
            yield path, line, "text"
        for (path, region), line in self.meant.items():
            if path not in self.found:
                yield path, line, region


def _find(text: str, token: str, at: int) -> int:
    """The first place of a token, from here; it may be the beginning of others."""
    for _ in range(20):
        at = text.index("@" + token, at)
        found = _TOKEN.match(text, at)
        if found and found[1] == token:
            return at
        at += 1
    found = re.compile(rf"@(?<![\S\x1c-\x1f\x85]@){re.escape(token)}(?=\s|\\|\Z)").search(text, at)
    return found.start() if found else at
