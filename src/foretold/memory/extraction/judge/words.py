"""The words of a text, for the comparison of texts that may say the same in other words.

1. A text is cut into statements: its lines, and their sentences. Markup of lists, headings and emphasis is ignored.
2. A statement's words count, except the most common ones of a few languages and those that memories are made of,
   whatever they say (`user`, `prefers`, `why`). What denies (`not`, `never`, `nicht`) is one word, NOT.
3. Of a file's path only its name counts, and dates do not: models add both to what people say.
4. Words are reduced to a stem: forms of irregular verbs are one, endings are removed, and six characters are kept.
   Scripts without spaces count by pairs of characters. Accents, case and compatibility forms do not count.
5. *Specific* words are unlikely by chance: addresses, paths, hosts, names of code, flags, longer numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set
from functools import lru_cache
from itertools import pairwise

from foretold.memory.extraction.judge.phrases import words_for
from foretold.memory.extraction.judge.vocabulary import SHORT
from foretold.memory.recall.query import STOPWORDS, forms_of, letter_pairs

NOT = "¬"
LONGEST = 400  #: characters of a statement; a longer one is cut into several
STEM = 6
_DENIES = words_for("denying")
COMMON = STOPWORDS | words_for("common")
_LEAD = re.compile(r"^[\s>#*+-]*(?:\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s*)?")
_SENTENCES = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\s+[—–]\s+")
_WORD = re.compile(r"[^\W_]+")
_OWNED = re.compile(r"(?<=\w)['’]s\b")
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_FILE = re.compile(r"(?<![\w:/.])(?:[\w.-]+/)+([\w-]+)\.[a-z]{1,4}\b")
_SPECIFIC = re.compile(
    r"[a-z][a-z0-9+.-]{1,15}://[^\s<>\"'`)\]]+"  # an address
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?:[\w~.@-]+/)+[\w.*@-]+|/[\w.-]+(?:/[\w.*-]+)*"
    r"|--?[a-z][\w-]+"
    r"|\w+(?:(?:\.|::)\w+)+(?:\(\))?"
    r"|[A-Za-z]+_\w+|\b[A-Za-z]*[a-z][A-Z]\w*"
    r"|\w*\d[\w:,.-]*"
)
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}|20\d\d")
ABBREVIATED = ("e.g", "i.e", "z.b", "d.h", "p.ex", "etc")


def statements(text: str) -> list[str]:
    """A text cut into lines and sentences."""
    found = []
    for line in text.splitlines():
        bare = _LEAD.sub("", line, count=1) if not line.lstrip().startswith("**") else line.strip()
        for sentence in _SENTENCES.split(bare):
            found += [sentence[at : at + LONGEST] for at in range(0, len(sentence), LONGEST)]
    return [each.strip() for each in found if each and any(map(str.isalnum, each))]


def words(text: str) -> list[str]:
    """The stems of a text that count, in order."""
    plain = _DAY.sub(" ", _OWNED.sub("", fold_text(text))).replace("'", "").replace("’", "")
    if "/" in plain:
        plain = _FILE.sub(r" \1 ", plain)
    found = []
    for word in _WORD.findall(plain):
        runs = letter_pairs(word) if not word.isascii() else []
        if runs:
            found += runs
        elif word in _DENIES:
            found.append(NOT)
        elif word not in COMMON and (len(word) > 1 or word.isdigit()):
            found.append(stem(SHORT.get(word, word)))
    return found


def fold_text(text: str) -> str:
    """A text without case, accents and compatibility forms."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", "".join(each for each in plain if unicodedata.category(each) != "Mn"))


@lru_cache(1 << 16)
def stem(word: str) -> str:
    """The common stem of a word's forms, as far as a few rules find it."""
    word = next(iter(forms_of(word)), word)
    for ending in ("ings", "ing", "edly", "ed", "es", "s", "ly", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 2 and word[-2:] != "ss":
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:STEM]


def specific_words(text: str) -> set[str]:
    """Words that are unlikely by chance. Dates and small numbers are not: a model makes dates of `Thursday`."""
    found = set()
    for match in _SPECIFIC.finditer(text):
        word = match[0].rstrip(".,:;-").lower().removesuffix("()")
        if len(word) > 2 and not _DATE.fullmatch(word) and word not in ABBREVIATED:
            found.add(word)
    return found


def exact_words(text: str) -> set[str]:
    """What two statements must have in common exactly to be one: dates, specific and longer words."""
    plain = fold_text(text)
    long = {word for word in _WORD.findall(plain) if len(word) > STEM and word not in COMMON}
    return long | specific_words(text) | set(_DAY.findall(plain))


def share_of(some: Set[str], others: Set[str]) -> float:
    """The share of some words that is among others."""
    return len(some & others) / len(some) if some else 0.0


def adjacent_pairs(given: list[str]) -> set[tuple[str, str]]:
    """Pairs of adjacent words, in either order; but what is denied comes after NOT."""
    return {pair if NOT in pair or pair[0] < pair[1] else pair[::-1] for pair in pairwise(given)}
