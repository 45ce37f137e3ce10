"""The inline pieces of running text: what pyromark is for. It is imported when there is something to parse.

1. Blocks are cut already: the text goes to the parser as one line that begins with a word, so it is one paragraph.
2. Text that the parser gives in parts is one piece as long as nothing is left out between them. An escaped character
   is not part of a piece; the text after it is a new one. [imp-escape]
3. The agent differs from CommonMark: U+FEFF is white space; and there is no emphasis after a `*` that is left over
   (`***a**` is text), nor if it ends between two backticks or between `<` and `>`, whatever these are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from pyromark.event import BrokenLink, Event, _Tag as Tag, _TagEnd as TagEnd

_GAP = re.compile(r"\s+")
_HIDDEN = re.compile(rb"\\[!-/:-@\[-`{-~]|`[^`]*`|<[^<>]*>")
_START = "x "


def label_of(text: str) -> str:
    """The label of a link, as labels are compared."""
    return _GAP.sub(" ", text).lower()


def pieces(texts: list[str], labels: set[str]) -> Iterator[list[tuple[str, str, int]]]:
    """For each text its pieces that hold an `@`: region, text, and the line within the text. One parse for all."""
    rows = [(_START + text).encode("utf-8", "replace") for text in texts]
    data = b"\n\n".join(rows)
    spans = _spans(data, b"\n\n".join([row.replace(b"\n", b" ") for row in rows]), labels)
    count = limit = 0
    for row in rows:
        at = limit
        limit += len(row) + 2
        line = 0
        found = []
        while count < len(spans) and spans[count][1] < limit:
            region, start, end = spans[count]
            line += data.count(b"\n", at, start)
            at = start
            found.append((region, data[start:end].decode("utf-8"), line))
            count += 1
        yield found


def whole_events(text: str) -> list[Event]:
    """The events of a whole text, tables and task lists too: for a page that shows it, not for what is loaded."""
    from pyromark import Options, events

    return list(events(text, options=Options.ENABLE_TABLES | Options.ENABLE_STRIKETHROUGH | Options.ENABLE_TASKLISTS))


def _spans(data: bytes, source: bytes, labels: set[str]) -> list[tuple[str, int, int]]:
    """Region, start and end of the pieces; `source` is the data with every text on one line."""
    from pyromark import events_with_range

    def resolve(link: BrokenLink) -> tuple[str, str] | None:
        return ("/", "") if label_of(link["reference"]) in labels else None

    text = source.decode("utf-8").replace("\ufeff", "\u3000")
    spans = _Spans(data)
    take_text = spans.text
    for event, span in events_with_range(text, broken_link_callback=resolve if labels else None):
        if "Text" in event:
            take_text(span["start"], span["end"])
        elif isinstance(event, str):
            continue
        elif "Start" in event:
            spans.open(event["Start"], span["start"], span["end"])
        elif "End" in event:
            spans.close(event["End"], span["end"])
        elif "Code" in event:
            spans.add("code-span", span["start"], span["end"])
        elif "InlineHtml" in event:
            is_comment = event["InlineHtml"].startswith("<!--")
            spans.add("comment" if is_comment else "html", span["start"], span["end"])
    return spans.found


class _Spans:
    """Joins what the parser gives in parts, and keeps what holds an `@`."""

    __slots__ = ("block", "data", "end", "found", "images", "region", "signs", "start", "void")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.found: list[tuple[str, int, int]] = []
        self.region, self.start, self.end = "text", 0, 0  #: the piece of text that may go on
        self.block = (0, 0)  #: where the paragraph begins and ends
        self.signs: _Signs | None = None  #: of that paragraph
        self.images = 0
        self.void: list[int] = []  #: where emphasis ends that is none

    def text(self, start: int, end: int) -> None:
        region = "image" if self.images else "text"
        if start != self.end or region != self.region:
            self.flush()
            self.region = region
            self.start = start + 1 if self.data[start - 1 : start] == b"\\" else start
        self.end = end

    def flush(self) -> None:
        if self.data.find(b"@", self.start, self.end) >= 0:
            self.found.append((self.region, self.start, self.end))
        self.start = self.end

    def add(self, region: str, start: int, end: int) -> None:
        self.flush()
        if self.data.find(b"@", start, end) >= 0:
            self.found.append((region, start, end))

    def open(self, tag: Tag, start: int, end: int) -> None:
        if tag == "Paragraph":
            self.block, self.signs = (start, end), None
        elif tag == "Emphasis" or tag == "Strong":
            width = _WIDTH[tag]
            if (start == self.end and self.data[start - 1 : start] == b"*") or self._is_hidden(end - width):
                self.text(start, start + width)
                self.void.append(end)
        elif "Image" in tag:
            self.images += 1
            self.add("image", start, end)
        elif "Link" in tag:
            self.add("link-target", start, end)

    def close(self, tag: TagEnd, end: int) -> None:
        if tag == "Paragraph":
            self.flush()
        elif tag == "Image":
            self.images -= 1
        elif self.void and self.void[-1] == end and (tag == "Emphasis" or tag == "Strong"):
            self.void.pop()
            self.text(end - _WIDTH[tag], end)

    def _is_hidden(self, at: int) -> bool:
        """Whether something stands between two backticks, or between `<` and `>`."""
        if self.signs is None:  # once a paragraph, which may hold thousands of emphases
            self.signs = _Signs(self.data, *self.block)
        signs = self.signs
        if not _count(signs.backticks, at) % 2 and _last(signs.less, at) <= _last(signs.greater, at):
            return False
        found = _count(signs.starts, at + 1) - 1
        return found >= 0 and at < signs.ends[found]


class _Signs:
    """Where the signs of a paragraph are that hide others."""

    __slots__ = ("backticks", "ends", "greater", "less", "starts")

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self.backticks, self.less, self.greater = (
            [found.start() for found in re.compile(sign).finditer(data, start, end)] for sign in (b"`", b"<", b">")
        )
        hidden = [found.span() for found in _HIDDEN.finditer(data, start, end)] if self.backticks or self.less else []
        self.starts, self.ends = [span[0] for span in hidden], [span[1] for span in hidden]


def _last(places: list[int], at: int) -> int:
    """The last place before another; -1 if there is none."""
    found = _count(places, at)
    return places[found - 1] if found else -1


def _count(places: list[int], at: int) -> int:
    """How many places are before another; `show` does not import `bisect`."""
    low, high = 0, len(places)
    while low < high:
        middle = (low + high) // 2
        if places[middle] < at:
            low = middle + 1
        else:
            high = middle
    return low


_WIDTH = {"Emphasis": 1, "Strong": 2}
