"""Whether a claim takes another side than the user, in other words: a second reading, which only marks.

`polarity` compares two statements that have most of their words in common, and what it finds is refused. Here, less is
enough, and what is found is kept and marked.

1. A text is cut into clauses. One that denies (`tests must not hit the network`), bans (`pip is banned`) or says that
   something is out of use (`is dead code`, `stays off`) denies all its words; `no`, `avoid` and `without` deny those
   that follow. Two denials in one clause, and what follows `if`, `before` or `until`, are neither.
2. A claim that affirms what a clause of the user's denies is *opposed*: it has all words of that clause, or half of
   them and none that the user affirmed in their place (`don't open PRs against main, use develop`).
3. A claim that denies nothing but what the user affirmed is opposed, too.
4. *Consent*: what needs a yes in one of the two (`ask first`, `nothing goes out without my ok`) and none in the other.
5. *Unsaid*: half of the words that carry a claim, and at least two, are in no prompt that belongs to it (`Redis is only
   a cache`, and `Redis is the primary store`).
6. *Exchanged*: two clauses that have each other's words (`new to Go, ten years of Java`), or two words on either side
   of a third (`Lena reviews Tom's code`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise, permutations

from foretold.memory.extraction.judge.names import ROOT, NameVocabulary
from foretold.memory.extraction.judge.polarity import plain_words, sides_of
from foretold.memory.extraction.judge.vocabulary import (
    BAD,
    DELEGATED,
    LIGHT,
    MONTHS,
    NEGATING,
    NUMBERS,
    ONLY,
    OPPOSITES,
    SHORT,
    UNITS,
    WEAK,
    WEEKDAYS,
)
from foretold.memory.extraction.judge.words import fold_text, stem
from foretold.memory.recall.query import STOPWORDS
from foretold.types import NamedTuple

UNSAID = 0.5  #: of the words that carry a claim
MOST = 12  #: clauses of a statement that are compared; a sentence has fewer
COVERED = 0.5  #: of the words of a clause that denies: then a claim is about it
_TOKEN = re.compile(r"[^\W_]+|[,;!?—–]|[:.](?!\w)")
_STOPS = frozenset(",;:.!?—–")
#: words that begin a clause of which nothing is affirmed or denied
_NEUTRAL = frozenset(
    "if when whenever before after until unless because since once while though although wenn bevor nachdem weil"
    " falls".split()
)
_MAIN = frozenset("but so then sondern aber".split())  #: words that begin another clause
#: denials of the whole clause, wherever they stand in it
_WHOLE = frozenset(
    "not never cannot cant wont dont nobody nothing none neither nie nicht niemals niemand off disabled forbidden"
    " banned prohibited excluded removed deleted dropped unused blocked rejected ignored frozen deprecated disallowed"
    " denied verboten skipped omitted unsupported dead gone abandoned retired obsolete broken paused suspended"
    " unmaintained discontinued exempt killed scrapped shelved"
    " ignore ignores worthless pointless unsafe insecure".split()
)
_AUXILIARY = frozenset(
    "is are was were be been am do does did must should shall may might can could will would have has had to you we i"
    " they it he she please and or but that which youre theyre im thats its now".split()
)
_NO = "not|never|dont|cannot|cant|must not|no"
#: phrases that are replaced before a text is cut
_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"\bsign\w* off\b", " approve "),
        (r"\b(?:not|never|nothing|no|isnt) (?:\w+ )?(?:wrong|bad|harm|objections?)\b", " "),
        (
            rf"\b(?:{_NO})\b((?: \w+){{1,3}}) (?:above|over|more than|below|under|past|beyond|exceed)\b(?=.{{1,12}}\d)",
            r"\1 ",
        ),
        (r"\boff[ -]limits\b|\bnot an option\b|\bno[ -]go\b|\btaboo\b", " forbidden "),
        (r"\bread[ -]only\b", " not edit "),
        (r"\b(?:is|are) (?:an? )?(?:bug|mistake|trap|joke|disaster|nightmare|anti.?pattern)s?\b", " forbidden "),
        (r"\bno need for\b|\bhands off\b|\bstay away from\b|\bnothing to do with\b", " not "),
        (r"\bkeep(?:s|ing)? (.{1,40}?) out\b", r" not \1 "),
    )
)
#: denials, but for verbs that name what needs the yes: `delete without asking`
_NAYS = NEGATING - frozenset(
    word for word in NEGATING if word.startswith(("delet", "remov", "drop", "disabl", "block", "free", "strip", "fail"))
)
_YES = (
    r"ask|asks|asked|asking|approv(?:al|als|ed|ing)|ok|okay|permission|consent|go.?ahead|confirm\w*|green ?light"
    r"|sign\w* ?off|say\w* so|heads.?up|reviews?|reviewed"
)
_CONSENT = re.compile(rf"\b(?:{_YES})\b")
_ALONE = re.compile(r"\bon (?:your|its|their|his|her|my) own\b|\bby (?:your|it)self\b")
#: a denial of the yes itself: `without asking`, `needs no approval`
_FREED = re.compile(rf"\b(?:{'|'.join(sorted(_NAYS))})(?: (?!before|until|unless|if|when)\w+){{0,3}}? (?:{_YES})\b")
_BAD, _DELEGATED, _ONLY = re.compile(BAD), re.compile(DELEGATED), re.compile(ONLY)
_OPPOSITE = {stem(one): stem(two) for pair in OPPOSITES for one, two in (pair, pair[::-1])}
_TIMES = frozenset(map(stem, (*UNITS, *NUMBERS, "time", "last", "next")))  #: words that belong to every clause
_PASSIVE = re.compile(r"\b(?:by|from|to|through|via|of|with|than|and|or|von|durch)\b")
_WEAK = _TIMES | frozenset(stem(word) for word in (*MONTHS, *WEEKDAYS, *NEGATING, *WEAK))


class Clause(NamedTuple):
    """A clause of a text."""

    words: tuple[str, ...]  #: the stems of its words of meaning
    sign: int  #: 1: it affirms, -1: it denies, 0: neither

    @property
    def set(self) -> frozenset[str]:
        return frozenset(self.words)


@lru_cache(1 << 12)
def clauses_of(text: str) -> tuple[Clause, ...]:
    """The clauses of a text, in their order."""
    plain = fold_text(text).replace("'", "").replace("’", "")
    for pattern, instead in _PHRASES:
        plain = pattern.sub(instead, plain)
    reader = _Reader(_capitals(text))
    for token in _TOKEN.findall(plain_words(plain)):
        reader.read(token)
    reader.end()
    return tuple(reader.found[:MOST])


def _capitals(text: str) -> frozenset[str]:
    """The words with a capital inside a sentence: there, `Go` is a name."""
    return frozenset(map(fold_text, re.findall(r"(?<=[a-z] )[A-Z][a-z]+", text)))


class _Reader:
    """Reads a text, token by token."""

    def __init__(self, names: frozenset[str]) -> None:
        self.found: list[Clause] = []
        self.words: list[str] = []
        self.names, self.is_neutral, self.count, self.last = names, False, 0, ""

    def read(self, word: str) -> None:
        if word in _STOPS or word in _MAIN:
            self.end()
        elif word in _NEUTRAL:
            self.end()
            self.is_neutral = True
        elif word in _WHOLE or word in NEGATING:
            self._deny(word)
        elif self.last == "and" and word in ("is", "are", "get", "gets", "be", "was", "were"):
            subject = self.words[:1]  # `names start with ft_ and get removed`
            self.end()
            self.words = subject
        elif word in self.names or not _is_light(word):
            self.words += {stem(SHORT.get(word, word))} - _TIMES
        self.last = word

    def _deny(self, word: str) -> None:
        is_cut = word not in _WHOLE or (word == "not" and self.last not in _AUXILIARY)
        if is_cut and self.words:
            count = self.count
            is_neutral = self.is_neutral
            self.is_neutral = is_neutral or word == "no"  # `the shell needs no explanation`
            self.end()
            self.is_neutral = is_neutral
            if count and word == "without":  # `nothing goes out without my ok`
                self.found[-1] = self.found[-1]._replace(sign=0)
                self.count = 1
        self.count += 1

    def end(self) -> None:
        sign = 0 if self.is_neutral or self.count > 1 else -1 if self.count else 1
        if self.words or self.count:
            self.found.append(Clause(tuple(self.words), sign))
        self.words, self.count, self.is_neutral = [], 0, False


def _is_light(word: str) -> bool:
    return word in LIGHT or word in STOPWORDS or word in _AUXILIARY or len(word) < 2


def is_opposed(claim: str, said: str, others: tuple[str, ...] = ()) -> bool:
    """Whether a claim affirms what a statement denies, or denies what it affirms; others may say the same as it."""
    own, theirs = clauses_of(claim), clauses_of(said)
    is_bare = any(each.sign < 0 and not each.words for each in own)  # `do not run them`
    is_limited = _ONLY.search(fold_text(claim)) and any(each.sign < 0 for each in theirs)
    if is_bare or is_limited:
        return False
    known = [each for text in (said, *others) for each in clauses_of(text)]
    for mine in own:
        if mine.sign and mine.words and not any(_agrees(mine, each) for each in known):
            if mine.sign < 0 and _denies(mine, theirs, said):
                return True
            if mine.sign > 0 and not _is_handed(claim, said) and _affirms(mine, own, theirs):
                return True
    return False


def _agrees(mine: Clause, other: Clause) -> bool:
    """Whether a clause of the user's says what one of a claim says: all that it affirms, half of what it denies."""
    least = 1.0 if mine.sign > 0 else COVERED
    return mine.sign == other.sign and len(mine.set & other.set) >= least * len(mine.set)


def _is_handed(claim: str, said: str) -> bool:
    """Whether the user does it: `I run the migrations myself`."""
    return bool(_DELEGATED.search(fold_text(said))) and bool(re.search(r"\busers?\b", fold_text(claim)))


def _affirms(mine: Clause, own: tuple[Clause, ...], theirs: tuple[Clause, ...]) -> bool:
    """Whether a clause affirms what one of a statement's denies."""
    affirmed = frozenset(word for each in theirs if each.sign > 0 for word in each.words)
    whole = frozenset(word for each in own for word in each.words)
    for denied in theirs:
        if denied.sign >= 0 or not denied.words:
            continue
        shared = mine.set & denied.set
        cover = len(shared) / len(denied.set)
        is_explained = cover < 1 and bool(mine.set & affirmed - denied.set)
        is_denied = any(each.sign <= 0 and each.set & denied.set for each in own)
        is_turned = any(_OPPOSITE.get(word, "") in whole for word in denied.set)  # `no long answers`: short ones
        if shared - affirmed and cover >= COVERED and not (is_explained or is_denied or is_turned):
            return True
    return False


def _denies(mine: Clause, theirs: tuple[Clause, ...], said: str) -> bool:
    """Whether all that a clause denies was affirmed, by a statement that denies nothing."""
    if any(each.sign <= 0 for each in theirs) or _BAD.search(fold_text(said)):
        return False
    return any(mine.set <= each.set for each in theirs)


# Consent


def is_freed(claim: str, said: str) -> bool:
    """Whether one of two texts asks for a yes, and the other one for none."""
    return {consent_of(claim), consent_of(said)} == {1, -1} and not _ONLY.search(fold_text(said))


@lru_cache(1 << 12)
def consent_of(text: str) -> int:
    """Whether something needs a yes (1), or expressly none (-1)."""
    plain = _ALONE.sub(" without asking ", fold_text(text).replace("'", "").replace("’", ""))
    for part in re.split(r"[,;:.!?()]", plain):
        if _CONSENT.search(part):
            count = sum(word in _NAYS for word in re.findall(r"\w+", part))
            return -1 if _FREED.search(part) and count % 2 else 1
    return 0


# Words


def is_unsaid(claim: str, vocabularies: Iterable[NameVocabulary]) -> bool:
    """Whether most of what carries a claim was not said. One that has nothing of what was said is not judged here."""
    known = list(vocabularies)
    plain = re.findall(r"[^\W\d_]{2,}", fold_text(claim).replace("'", "").replace("’", ""))
    given = {stem(SHORT.get(word, word)) for word in plain if not _is_light(word)} - _WEAK
    missing = {word for word in given if not any(each.has_root(word, _OPPOSITE.get(word, word)) for each in known)}
    return 2 <= len(missing) < len(given) and len(missing) >= UNSAID * len(given)


# Sides


def is_exchanged(claim: str, said: str) -> bool:
    """Whether a claim has exchanged what belongs to two clauses, or the two sides of a word."""
    own = [each for each in _cut(claim) if each]
    theirs = [each for each in _cut(said) if each]
    pairs = list(permutations(_rows(said), 2))
    is_rebound = any(_is_rebound(mine, one, two) for mine in _rows(claim) for one, two in pairs)
    return _is_crossed(own, theirs) or is_rebound or _is_turned(claim, said) or _is_mirrored(claim, said)


def _rows(text: str) -> list[tuple[str, ...]]:
    """The words of each clause that affirms something, in their order."""
    return [each.words for each in clauses_of(text) if each.sign > 0]


def _is_rebound(mine: tuple[str, ...], one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    """Whether a clause says of what one clause is about what another one says of something else."""
    if len(mine) < 2 or len(two) < 2 or not one:
        return False
    subject, rest = mine[0], {word for word in mine if word not in one}
    if len(one) > 2 and len(rest) == len(set(one) - set(mine)) == 1 and rest <= set(two):
        return True  # `francs in Switzerland, euros elsewhere`
    roots = {word[:ROOT] for word in mine}
    return subject in one and subject not in two and len(rest) > 1 and rest <= set(two) and two[0][:ROOT] not in roots


def _is_turned(claim: str, said: str) -> bool:
    """Whether more words have changed sides around `before` and the like than have stayed."""
    for kind, (left, right) in sides_of(claim):
        for other, (one, two) in sides_of(said):
            moved = (left - right) & (two - one), (right - left) & (one - two)
            stayed = ((left - right) & (one - two)) | ((right - left) & (two - one))
            if kind == other and all(moved) and len(moved[0] | moved[1]) > len(stayed):
                return True
    return False


def _cut(text: str) -> list[frozenset[str]]:
    """The words of each part of a text, also of those that `and` joins."""
    parts = re.split(r"[,;:.!?()—–]|\b(?:and|but|while|und|aber)\b", text)
    names = _capitals(text)
    return [
        frozenset(
            stem(SHORT.get(word, word))
            for word in re.findall(r"[^\W_]+", fold_text(part))
            if word not in UNITS and (word in names or not _is_light(word))
        )
        for part in parts[:MOST]
    ]


def _is_crossed(own: list[frozenset[str]], theirs: list[frozenset[str]]) -> bool:
    """Whether two parts of a claim both mix the words of two parts of what was said."""
    for one, two in permutations(theirs, 2):
        left, right = one - two, two - one
        for mine, other in pairwise(own):
            is_mixed = mine & left and mine & right and other & left and other & right
            if is_mixed and not mine & other & (left | right):
                return True
    return False


def _is_mirrored(claim: str, said: str) -> bool:
    """Whether two words have changed sides around a third: `Lena reviews Tom's code`."""
    theirs = _triples(said)
    return any((last, middle, first) in theirs for first, middle, last in _triples(claim))


def _triples(text: str) -> set[tuple[str, str, str]]:
    found = set()
    for part in re.split(r"[,;:.!?()—–]|\b(?:and|but|while)\b", text):
        given = [] if _PASSIVE.search(fold_text(part)) else [word for each in clauses_of(part) for word in each.words]
        found |= set(zip(given, given[1:], given[2:], strict=False))
    return found
