"""The names of a text: addresses, paths, names of code, and those of people and products.

1. An address is a URL, a mail address, or a host, also without a scheme: `evil.example/d/qa`. It was said only if it
   was said whole.
2. Paths and names of code are compared by their words: `refreshCache()`, `refresh_cache` and `the refresh cache` are
   one, and `prod.yaml` is part of `config/prod.yaml`.
3. A word with a capital inside a sentence is a name. In German every noun has one, so there it is none by itself.
   Abbreviations of developers stand for their words (`k8s`), and initials for theirs (`IE`).
"""

from __future__ import annotations

import re

from foretold.memory.extraction.judge.vocabulary import GENERIC, MONTHS, SHORT, UNITS, WEEKDAYS
from foretold.memory.extraction.judge.words import ABBREVIATED, fold_text, stem
from foretold.memory.recall.query import STOPWORDS
from foretold.types import NamedTuple

ROOT = 4  #: characters that words of one root share: `deploy`, `deployment`
#: endings that a host has and a file has not
_HOSTED = (
    "com net org io dev app example internal local lan corp cloud edu gov eu de uk fr ch at us ai info biz xyz site"
)
_HOST_END = "|".join(_HOSTED.split())
_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,15}://[^\s<>\"'`)\]]+"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?<![\w./@-])(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?/[^\s<>\"'`)\],;]*"
    rf"|(?<![\w./@-])(?:[a-z0-9-]+\.){{2,}}[a-z]{{2,}}(?::\d+)?(?![\w/]|\.\w)"
    rf"|(?<![\w./@-])[a-z0-9-]+\.(?:{_HOST_END})(?::\d+)?(?![\w/]|\.\w)",
    re.IGNORECASE,
)
_NETWORK = re.compile(
    r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?(?![\w.]\w)|(?<!\w)#[0-9a-f]{3,8}\b", re.IGNORECASE
)
_PATH = re.compile(
    r"(?<![\w])(?:~|\.{1,2})?/?(?:[\w.@<>*-]+/)+[\w.@<>*-]*|(?<![\w./])/[\w.-]+|\b[\w-]+\.[a-z]{1,4}\b(?!\()"
)
_CODE = re.compile(
    r"`[^`\n]+`|(?<![\w.])@[a-zA-Z][\w-]+"
    r"|\b(?:[Oo]ption|[Pp]lan|[Vv]ariant|[Pp]hase|[Tt]ier|[Gg]roup|[Zz]one|[Ss]tage|[Mm]ilestone|[Tt]rack) [A-Z0-9]\b"
    r"|(?<![\w-])--?[a-z][\w-]+"
    r"|\b\w+(?:(?:\.|::)\w+)*\(\)"
    r"|\b[a-zA-Z]\w*(?:(?:\.|::)[A-Za-z_]\w*)+"
    r"|\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*"
    r"|\b[A-Z]{2,}-\d+\b|\b[A-Za-z]+\d[\w]*\b"
)
_NO_NAME = re.compile(r"[\d/.]+/[\d/.]+|[qQ][1-4]")  # a date, or a fraction
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CAPITAL = re.compile(r"(?<![\w`'’./-])[A-ZÄÖÜ][\w-]*")
_START = re.compile(r"(?:^|[.:;!?(\"“„‚'*—–])[\s*\"“(']*$")
_GERMAN = re.compile(r"\b(?:der|die|das|ist|und|nicht|wird|ein|eine|mit|auf|für|von|im|den|dem|nie|keine?)\b")
_OWNED = re.compile(r"['’]s?$")


class NameFact(NamedTuple):
    """A name in a text."""

    kind: str  #: address, network, path, code, name
    text: str
    start: int
    end: int


def flow_of(text: str) -> str:
    """The words of a text with single spaces between and around them; names of code in parts."""
    plain = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", _HUMPS.sub(" ", text))
    return f" {' '.join(_WORDS.findall(fold_text(plain)))} "


def names_of(text: str) -> list[NameFact]:
    """The names of a text, in their order; a part of one is not counted again."""
    found: list[NameFact] = []
    for kind, pattern in (("address", _ADDRESS), ("network", _NETWORK), ("path", _PATH), ("code", _CODE)):
        for match in pattern.finditer(text):
            bare = match[0].rstrip(".,:;-")
            end = match.start() + len(bare)
            is_taken = any(match.start() < each.end and each.start < end for each in found)
            is_dated = kind != "network" and bool(_NO_NAME.fullmatch(bare))
            is_name = len(bare) > 1 and bare.lower() not in ABBREVIATED and not is_dated
            if is_name and not is_taken:
                found.append(NameFact(_kind(kind, bare), bare, match.start(), end))
    if not _GERMAN.search(text):
        found += _proper_names(text, found)
    return sorted(found, key=lambda each: each.start)


def _kind(kind: str, text: str) -> str:
    """What is in backticks may be a path, too; words with a slash between them may be no path."""
    if kind == "code" and "/" in text:
        return "path"
    if kind == "path" and "/" in text and re.fullmatch(r"[A-Za-z]+(?:/[A-Za-z]+)+", text):
        return "words"
    return kind


def _proper_names(text: str, taken: list[NameFact]) -> list[NameFact]:
    found: list[NameFact] = []
    for match in _CAPITAL.finditer(text):
        word = _OWNED.sub("", match[0]).rstrip("-")
        is_inside = any(each.start <= match.start() < each.end for each in taken)
        if is_inside or _START.search(text[: match.start()][-12:]) or not word:
            continue
        low = fold_text(word)
        if not _NO_NAME.fullmatch(low) and not any(
            low in each for each in (STOPWORDS, GENERIC, MONTHS, WEEKDAYS, UNITS)
        ):
            found.append(NameFact("name", word, match.start(), match.start() + len(word)))
    return found


class NameVocabulary:
    """The words that were said in some texts, to ask whether a name was."""

    def __init__(self, texts: list[str]) -> None:
        self.plain = fold_text("\n".join(texts))
        self.flow = "".join(map(flow_of, texts))
        self.words = {each for word in self.flow.split() for each in (word, stem(word), SHORT.get(word, word))}
        self.words |= {fold_text(part) for part in re.findall(r"[\w-]+", self.plain)}
        self.words |= {SHORT[word] for word in self.words if word in SHORT}
        self.roots = {each[:ROOT] for word in self.words for each in (word, stem(word))}

    def has(self, name: NameFact) -> bool:
        """Whether a name was said."""
        low = fold_text(name.text.strip("`"))
        if name.kind in ("address", "network"):
            return bool(re.search(rf"(?<![\w.@/-]){re.escape(low)}(?![\w-]|\.\w)", self.plain)) or self._has_host(low)
        if name.kind != "name":
            bare = low.removesuffix("()")
            return flow_of(name.text) in self.flow or bare in self.words or SHORT.get(bare, "") in self.words
        return all(self._has_word(part) for part in re.split(r"-", low) if part) or low in self.words

    def has_root(self, *words: str) -> bool:
        """Whether one of some words was said, or one of its root."""
        return any(word in self.words or word[:ROOT] in self.roots for word in words)

    def _has_host(self, low: str) -> bool:
        """Whether a host was said in an address, with or without its scheme and what follows it."""
        bare = re.sub(r"^[a-z]+://", "", low).rstrip("/")
        return bool(re.search(rf"(?<![\w.@-]){re.escape(bare)}(?![\w-]|\.\w)", self.plain))

    def _has_word(self, low: str) -> bool:
        short = SHORT.get(low, low)
        return low in self.words or short in self.words or stem(low) in self.words or self._has_initials(low)

    def _has_initials(self, low: str) -> bool:
        """Whether the initials of words that were said are a name: `pull requests`, so `PRs`."""
        bare = low.removesuffix("s")
        if not 2 <= len(bare) <= 4:
            return False
        return bool(re.search(" " + r"\w* ".join(map(re.escape, bare)), self.flow))
