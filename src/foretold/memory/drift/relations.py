"""In which file a sentence says that a name is.

1. A name is *in* a file if the sentence says so between the two and hardly anything else: "`a()` and `b()` live in
   `x.py`", "`a` (x.py)", "`x.py` defines `a`", "`x.py`'s `a`", "import `a` from `x.py`".
2. It is *near* a file if more is said in between, or the sentence begins with the file ("In `x.py` … `a`"): then the
   file counts only if git says that it once had the name.
3. A file in which a name is called, tested or documented is not its place.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from foretold.memory.drift import classify
from foretold.memory.drift.sentences import Sentence
from foretold.text.patterns import lazy
from foretold.types import NamedTuple

FAR = 160  #: characters between a name and its file
_SPAN = lazy(r"`+\x00+`+")
_TO_FILE = lazy(
    r"\b(?:in|of|inside|within|from|at|under|into)\s+(?:the\s+)?(?:(?:file|module|folder|package)\s+)?[`(\"*]*\Z",
    re.IGNORECASE,
)
_PARENTHESIS = lazy(r"[`)(]*\s*\((?:(?:see|in|now in|file)\s+)?[`\"]*\Z", re.IGNORECASE)
#: what may be between a name and `in FILE`
_PLAIN = lazy(
    r"(?:[`*()\s,]|\x00|\b(?:and|or|is|are|was|were|it|lives?|sits?|resides?|stays?|defined|declared|implemented"
    r"|located|exported|found|belongs?|kept|still|now|both|all|only|also|here|comes?|code|the|an?|class|function|method|constant|helper|hook"
    r"|setting|default|which|that|value|entry|live)\b)*\Z",
    re.IGNORECASE,
)
_USED = lazy(
    r"\b(?:call(?:s|ed|ing)?|us(?:e[sd]?|ing)|import(?:s|ed)?|mock\w*|patch\w*|test(?:s|ed)|read(?:s|ing)?|regist\w+"
    r"|configur\w+|document\w*|mention\w*|describ\w+|but|unlike|instead|not|via|through|when|if|replac\w+|list(?:s|ed)"
    r"|pass(?:es|ed)?|overrid\w+|run|runs|invoked?|needs?|see|then)\b",
    re.IGNORECASE,
)
_HAS = lazy(
    r"[`)*]*(?:['’]s\s+|\s*:\s+|\s*,?\s*(?:(?:which|that|also|still|now|only)\s+)*(?:has|have|holds?|contains?|defines?"
    r"|exports?|declares?|implements?|provides?|exposes?|houses?)\s+)(?:\b(?:the|an?|its|our|both|class|function|functions|"
    r"helpers?|constants?|type|and|or|default|one)\b|[`*()\s,]|\x00)*\Z",
    re.IGNORECASE,
)
_IN = lazy(r"\bin\s+(?:the\s+)?(?:(?:file|module)\s+)?[`(\"*]*\Z", re.IGNORECASE)


class Mentioned(NamedTuple):
    """Something that a sentence names, and where in its text."""

    kind: str
    text: str
    at: int
    end: int


class NamePlace(NamedTuple):
    """The file that a name is said to be in; empty if none."""

    path: str = ""
    is_near: bool = False  #: only near to it in the sentence


def end_of(sentence: Sentence, at: int, text: str) -> int:
    """Where something that begins at a place of a sentence ends."""
    span = _SPAN.match(sentence.text, at)
    return span.end() if span else at + len(text)


class PlaceFinder:
    """The files of a sentence, in their order."""

    def __init__(self, sentence: Sentence, mentioned: list[Mentioned]) -> None:
        self._text = sentence.text
        self.paths = sorted(
            (each for each in mentioned if each.kind == "path" and is_place(each.text)), key=lambda each: each.at
        )
        self._starts = [path.at for path in self.paths]

    def find_place(self, at: int, end: int) -> NamePlace:
        """The file that a name between two offsets is said to be in."""
        after = bisect_left(self._starts, end)
        if after < len(self.paths) and self._starts[after] - end <= FAR:
            return _place_after(self.paths[after], self._text[end : self._starts[after]])
        before = bisect_left(self._starts, at) - 1
        path = self.paths[before] if before >= 0 else None
        if path is None or not path.end <= at <= path.end + FAR:
            return NamePlace()
        if _HAS.fullmatch(self._text[path.end : at]):
            return NamePlace(path.text)
        is_in = bool(_IN.search(self._text[max(path.at - 40, 0) : path.at]))
        return NamePlace(path.text, is_near=True) if is_in else NamePlace()


def _place_after(path: Mentioned, between: str) -> NamePlace:
    if _PARENTHESIS.fullmatch(between):
        return NamePlace(path.text)
    link = _TO_FILE.search(between)
    if link is None or _USED.search(between, 0, link.start()):
        return NamePlace()
    return NamePlace(path.text, is_near=not _PLAIN.fullmatch(between[: link.start()]))


def is_place(path: str) -> bool:
    """Whether a path names one file or folder in which something can be."""
    return classify.is_sure(path) and not any(char in path for char in "*?[{") and not path.startswith(("/", "~"))
