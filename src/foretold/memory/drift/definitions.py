"""What an occurrence of a name in a file proves: that it is defined there, that code needs it, or only that it is said.

1. A *definition* binds the name: after a keyword (`class`, `def`, `func`, `const`, …), as what is assigned or annotated
   at the start of a line, as a key of data, as a method with a body, as a field; or it reads a variable of the
   environment.
2. A *live* occurrence breaks if the name is gone: an import, a call, a base class, an exception that is raised.
3. Any other occurrence in code is a *mention*. In a comment or a string a name is only a *remark*: both go on for years
   after what they name. A string may still be the only place of a setting or a header, so the caller weighs it.
4. One line around the name is read, at most `WIDE` bytes on each side, and at most `MOST` occurrences of a file: what
   a hostile file costs is linear.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache

from foretold.git.definitions import KEYWORDS
from foretold.text.patterns import lazy
from foretold.types import NamedTuple

DEFINITION, LIVE, MENTION, TEXT, COMMENT = 5, 4, 3, 2, 1
WIDE = 240  #: bytes of a line before and after a name
MOST = 200  #: occurrences of a name in one file
_JOINED = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") | frozenset(range(128, 256))

_MODIFIERS = (
    "public|private|protected|internal|static|final|async|export|abstract|override|virtual|inline|extern|pub|readonly"
    "|unsafe|suspend|open|declare|default|get|set"
)
_KEYWORD = lazy(rf"(?:^|[^\w.$])(?:{KEYWORDS})\s+(?:\([^()]*\)\s*|\*\s*)?\Z")
_IMPORTED = lazy(
    r"\s*(?:import|from|use|using|include|require_once|require|export\s*[{*])\b|.*\brequire\(|.*\bimport\s*[({*]"
)
_NAMES_BEFORE = lazy(r"\s*(?:export\s+)?(?:[\w$]+\s*,\s*)*(?:[A-Za-z_$][\w$]*\.)*[@$#-]?\s*\Z")
_ASSIGNED = lazy(r"(?:\s*,\s*[\w$.]+)*\s*(?:\??!?\s*:[^=\n]{0,160}?)?(?<![=!<>+*/-])(?::=|\?=|=)(?![=>])")
_KEY = lazy(r"\s*\??!?:(?![:=])")
_QUOTED_KEY = lazy(r"[\"']\s*(?:\]\s*=(?!=)|:|=>)")
_EXPORTED = lazy(r"\bexports\.\w*\s*=|=\s*(?:async\s+)?(?:function|lambda|\(?[\w\s,]*\)?\s*=>)")
#: a variable of the environment is defined by whoever reads it
_READ = lazy(
    r"(?:\benviron|\bgetenv|\bprocess\.env|\bENV|\benv::var|\bGetenv|\bLookupEnv)\b[\w.]{0,12}\s?[\[(.]\s?[\"']?\Z"
)
_FIELD = lazy(r"\s+[\w*\[\].]+(?:\s*$|\s*[`=/])")
_METHOD_BEFORE = lazy(rf"\s*(?:(?:{_MODIFIERS})\s+)*[*#]?\Z")
_METHOD = lazy(r"\s*(?:<[^>]*>)?\(.*[{]\s*\Z")
_TYPED = lazy(rf"\s*(?:(?:{_MODIFIERS})\s+)+[\w\s<>\[\],.*&?:|]*\s\Z|(?:[A-Za-z_][\w:<>,]*[\s*&]+)+\Z")
_OPENED = lazy(r"\s*[(=;:{<]")
_NEEDED = lazy(
    r"\b(?:new|extends|implements|raise|throw|except|catch|instanceof|return|await|class\s+\w+)\s*\(?[\w,.\s]*\Z"
)
_ALONE = lazy(r"\s*,?\s*\Z")
#: languages in which a type may be all that is before a name
_OF_C = frozenset("c cc cpp cxx h hpp java cs kt swift dart m mm scala groovy".split())
_OF_SCRIPT = frozenset(
    "js jsx ts tsx mjs cjs mts cts vue svelte go rs java c cc cpp h cs kt swift php css scss".split()
)
#: comments and strings of Python. Every choice begins otherwise, so nothing is tried twice.
_PYTHON = re.compile(
    rb'''(?P<text>"""[\s\S]*?(?:"""|\Z)|\'{3}[\s\S]*?(?:\'{3}|\Z))|#[^\n]*|"(?:[^"\\\n]|\\.)*"?|\'(?:[^\'\\\n]|\\.)*\'?'''
)
_NO_COMMENT = lazy(r"#\s*(?:define|include|ifn?def|if|undef|\[|!)")


class NameEvidence(NamedTuple):
    """The best occurrence of a name in a file."""

    rank: int = 0  #: DEFINITION, LIVE, MENTION, TEXT, COMMENT; 0 if there is none
    at: int = -1


def rank_name(name: bytes, data: bytes, ending: str) -> NameEvidence:
    """What a file proves about a name. `ending` is the file's, in lower case."""
    best, at = NameEvidence(), data.find(name)
    texts = find_texts(data) if at >= 0 and ending in ("py", "pyi") else ()
    count = 0
    while at >= 0 and count < MOST:
        end = at + len(name)
        if (at == 0 or data[at - 1] not in _JOINED) and (end == len(data) or data[end] not in _JOINED):
            count += 1
            is_text = bool(bisect_left(texts, at) % 2)  # after the start of one and before its end
            rank = TEXT if is_text else rank_occurrence(data, at, end, ending)
            if rank > best.rank:
                best = NameEvidence(rank, at)
            if rank == DEFINITION:
                break
        at = data.find(name, end)
    return best


@lru_cache(8)
def find_texts(data: bytes) -> tuple[int, ...]:
    """Where the texts in three quotes of a file of Python begin and end, in turns."""
    ends: list[int] = []
    for found in _PYTHON.finditer(data) if b'"""' in data or b"'''" in data else ():
        if found.lastgroup == "text":
            ends += (found.start(), found.end())
    return tuple(ends)


def rank_occurrence(data: bytes, at: int, end: int, ending: str) -> int:
    """What one occurrence proves, by its line."""
    start = max(data.rfind(b"\n", max(at - WIDE, 0), at) + 1, at - WIDE, 0)
    stop = data.find(b"\n", end, end + WIDE)
    before = data[start:at].decode("latin-1")
    after = data[end : stop if stop >= 0 else end + WIDE].decode("latin-1").rstrip("\r")
    if is_comment(before, ending):
        return COMMENT
    if is_definition(before, after, ending):
        return DEFINITION
    if _IMPORTED.match(before):
        return LIVE
    if _is_quoted(before):
        return TEXT
    is_bare = not before.rstrip().endswith((".", "->", "::")) or before.rstrip().endswith("...")
    if is_bare and (
        after.startswith("(") or _NEEDED.search(before) or (not before.strip() and _ALONE.fullmatch(after))
    ):
        return LIVE
    return LIVE if before.rstrip().endswith("@") else MENTION


def is_comment(before: str, ending: str) -> bool:
    """Whether what is before a name on its line begins a comment."""
    text = before.lstrip()
    if text.startswith(("//", "/*", "* ", "<!--", "--", ";", "%", '"""')) or text.rstrip() == "*":
        return True
    if "//" in text and re.search(r"(?<![:\"'\w/])//", text):
        return True
    if "#" in text and ending not in _OF_SCRIPT:
        return bool(re.search(r"(?:^|\s)#(?![{\[])", text)) and not _NO_COMMENT.match(text)
    return False


def is_definition(before: str, after: str, ending: str) -> bool:
    """Whether a name between these two pieces of its line is defined there."""
    if _KEYWORD.search(before):
        return not after.lstrip().startswith((",", "}", ")")) and not _IMPORTED.match(before)
    if _READ.search(before):
        return True
    last = before[-1:]
    if last in "\"'" and last:
        return bool(_QUOTED_KEY.match(after)) and before[:-1].rstrip()[-1:] in ("", "{", ",", "(", "[")
    if _NAMES_BEFORE.fullmatch(before) and (_ASSIGNED.match(after) or _KEY.match(after)):
        return not before.endswith(".") or bool(_EXPORTED.search(before + after))  # `self.x = 1` makes no function
    if _METHOD_BEFORE.fullmatch(before) and _METHOD.fullmatch(after):
        return True
    if ending == "go" and before.isspace() and _FIELD.match(after):
        return True
    is_typed = ending in _OF_C or any(before.lstrip().startswith(word) for word in _MODIFIERS.split("|"))
    if is_typed and before[:1] not in "\t" and _TYPED.fullmatch(before) and _OPENED.match(after):
        return not before.lstrip().startswith(("return", "new ", "throw", "else", "export {", "export *"))
    return before.lstrip().startswith("[") and "]" in after and "=" not in before  # a section of a settings file


def _is_quoted(before: str) -> bool:
    """Whether a name is in a string that began on its line."""
    return any(before.count(mark) % 2 == 1 for mark in "\"'`")
