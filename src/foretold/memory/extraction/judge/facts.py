"""Whether the facts of a claim are those that the user gave: numbers, dates, names, and what it affirms or denies.

1. A claim *contradicts* the user if it has another path or name where the user gave one, says the opposite, exchanges
   two sides, gives one thing's value to another, or makes a rule of what was said of one time.
2. Numbers, dates and addresses that the user did not give are *invented*, also where nothing is contradicted.
3. Paths, names of code, people and products that the user did not name are *inferred*: a model may know them from
   elsewhere. In a line `Why` or `How to apply`, so is everything that is not an address.
4. Facts follow from others: a date from a relative one, 120 minutes from two hours, three from a list of three.

What is contradicted or invented is refused; what is inferred is kept, and marked. So is what seems to be the opposite
in other words, or where both deny something (`stances`): there, honest words differ most.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import pairwise

from foretold.memory.extraction.judge.dates import agree
from foretold.memory.extraction.judge.names import NameFact, flow_of
from foretold.memory.extraction.judge.polarity import compare_signs, is_swapped, signed_text
from foretold.memory.extraction.judge.quantities import Quantity, is_same
from foretold.memory.extraction.judge.speech import (
    Context,
    FactSet,
    Statement,
    UserSpeech,
    blank_spans,
    facts_of,
    meaning_of,
)
from foretold.memory.extraction.judge.stances import consent_of, is_exchanged, is_freed, is_opposed, is_unsaid
from foretold.memory.extraction.judge.vocabulary import (
    ALWAYS,
    BAD,
    DELEGATED,
    EVERYONE,
    HEDGES,
    LIGHT,
    NEGATING,
    NUMBERS,
    ONCE,
    ONLY,
    RIVALS,
    SHORT,
    UNITS,
)
from foretold.memory.extraction.judge.words import COMMON, fold_text, share_of, stem
from foretold.memory.recall.query import STOPWORDS
from foretold.types import NamedTuple

NEAR = 0.5  #: of a claim's words in one statement: then the two are about the same
ALIGNED = 0.6  #: of a claim's words in the order of a statement: then a word that differs replaces another
SAME = 0.8  #: of the words of two statements in one another: then a denial in one of them is certain
_ITEMS = re.compile(r",|;|\band\b|\bor\b|\bund\b|\boder\b|:")
_CLAUSES = re.compile(r"[,;]|:(?!\d)|\band\b|\bund\b|\bbut\b|\bwhile\b|\baber\b")
_MOST = re.compile(
    r"\b(?:most|max|maximum|under|below|less|fewer|within|up to|bound|hochstens|unter|cap\w*|limit\w*)\b"
)
_LEAST = re.compile(r"\b(?:least|min|minimum|over|above|exceed\w*|more than|beyond|mindestens|uber)\b")
_MOST_AFTER = re.compile(r"\b(?:max|maximum|at most|or less|or fewer|tops|or older)\b")
_LEAST_AFTER = re.compile(r"\b(?:min|minimum|at least|or more|and up|and newer|or newer|or later)\b")
_NOT = re.compile(r"\b(?:not|never|no|dont|nie|nicht)\b")
_ONCE, _HEDGES, _ALWAYS = re.compile(ONCE), re.compile(HEDGES), re.compile(ALWAYS)
_EVERYONE, _ONLY, _DELEGATED = re.compile(EVERYONE), re.compile(ONLY), re.compile(DELEGATED)
_BAD = re.compile(BAD)
_EVERYDAY = frozenset("themselves myself port version number default unused fine okay good".split())
_ENDINGS = ("ing", "tion", "ment", "ness", "ity", "ed", "ly")  #: of words that name no person or product
_GROUPS = {stem(word): group for group in (frozenset(map(stem, each)) for each in RIVALS) for word in group}


class FactVerdict(NamedTuple):
    """What is wrong with the facts of a claim: at most one of the first two, and what it adds."""

    contradicted: str = ""
    invented: str = ""
    inferred: tuple[str, ...] = ()


def compare_facts(
    text: str, speech: UserSpeech, *, known: str = "", is_aside: bool = False, is_topic: bool = False
) -> FactVerdict:
    """Compare the facts of a claim with what was said. `known`: a text whose facts count as said.

    A topic, such as a description, affirms nothing by naming it: `merged branches`.
    """
    context = speech.context(meaning_of(text), known)
    facts = facts_of(text, speech.last_time)
    near = [each for each in context.statements if share_of(meaning_of(text), each.words) >= NEAR]
    is_polar = not is_topic or bool(signed_text(text).denied) or bool(_ALWAYS.search(fold_text(text)))
    if not is_aside and (contradiction := _find_contradiction(text, near, context, is_polar=is_polar)):
        return FactVerdict(contradicted=contradiction)
    missing = _missing_values(facts, context)
    names = [name for name in facts.names if not context.has_name(name) and _is_naming_file(name, context)]
    if address := next((name for name in names if name.kind in ("address", "network")), None):
        return FactVerdict(invented=f"no one named {address.text!r}")
    if is_aside:
        spans = [*missing, *((name.start, name.end) for name in names)]
        return FactVerdict(inferred=tuple(dict.fromkeys(_cite(text, *span) for span in spans)))
    if missing:
        return FactVerdict(invented=f"the user did not say {_cite(text, *missing[0])!r}")
    verdict = _judge_names(text, names, context)
    plain = [each for each in near if not each.is_corrected]
    is_opposite = is_polar and (bool(_find_opposite(text, plain)) or _takes_other_side(text, context))
    is_opposite = is_opposite or any(_is_wider(text, each.text) for each in plain)
    if is_opposite or (not is_topic and is_unsaid(text, context.vocabularies)):
        return verdict._replace(inferred=(_cite(text, 0, len(text)), *verdict.inferred))
    return verdict


def _cite(text: str, start: int, end: int) -> str:
    """A fact as a claim has it, in a form that a mark can hold."""
    return re.sub(r"[;\"\s]+", " ", text[start:end].strip("`")).strip()


def without_given(text: str, speech: UserSpeech) -> str:
    """A claim without the numbers and dates in it that the user gave, in whatever words."""
    facts = facts_of(text, speech.last_time)
    if not facts.dates and not facts.quantities:
        return text
    missing = _missing_values(facts, speech.context(meaning_of(text)))
    spans = [(each.start, each.end) for each in facts.dates] + [(each.start, each.end) for each in facts.quantities]
    return blank_spans(text, [span for span in spans if span not in missing])


# Values


def _missing_values(facts: FactSet, context: Context) -> list[tuple[int, int]]:
    """Where a claim has dates and numbers that were not said."""
    dates = [each for part in context.facts for each in part.dates]
    numbers = [each for part in context.facts for each in part.quantities]
    found = [(each.start, each.end) for each in facts.dates if not any(agree(each, other) for other in dates)]
    return found + [(each.start, each.end) for each in facts.quantities if not _is_given(each, numbers, context)]


def _is_given(quantity: Quantity, said: list[Quantity], context: Context) -> bool:
    """Whether a quantity was said, or counts what was said. `one` is a word of every sentence."""
    if quantity.is_article or quantity.text in ("one", "single", "both", "couple", "zero", "null"):
        return True
    is_version = "." in quantity.text and not quantity.dimension
    if is_version:
        return context.has_words(flow_of(quantity.text)) or context.has_words(flow_of(quantity.text)[:-1] + " ")
    if any(is_same(quantity, other) for other in said):
        return True
    if not quantity.dimension and context.has_words(flow_of(quantity.text)):
        return True
    is_count = not quantity.dimension and 2 <= quantity.raw <= max(NUMBERS.values())
    is_other = quantity.noun and any(quantity.noun == other.noun for other in said)  # `4 spaces`, not 2
    return is_count and not is_other and any(_count_items(each.text) == quantity.raw for each in context.statements)


def _count_items(text: str) -> int:
    """How many things a statement lists."""
    return sum(any(map(str.isalnum, part)) for part in _ITEMS.split(text.rpartition(":")[2]))


# Names


def _judge_names(text: str, missing: list[NameFact], context: Context) -> FactVerdict:
    """Names that were not said: in the place of another they contradict it, otherwise they are inferred."""
    own = flow_of(text)
    for name in missing:
        for statement in context.statements:
            other = _replaced_name(name, statement, own)
            if other:
                return FactVerdict(contradicted=f"the user said {other!r}, not {name.text.strip('`')!r}")
    missing = [name for name in missing if name.kind != "path" or not _is_meant(name, context)]
    aligned = _find_replaced_word(text, context)
    return FactVerdict(
        inferred=tuple(dict.fromkeys([*(_cite(text, name.start, name.end) for name in missing), *aligned]))
    )


def _is_naming_file(name: NameFact, context: Context) -> bool:
    """Whether words with a slash between them are a path: the user gave another in the same folder."""
    if name.kind != "words":
        return True
    folder = name.text.partition("/")[0] + "/"
    return any(other.text.startswith(folder) for part in context.facts for other in part.names)


def _is_meant(path: NameFact, context: Context) -> bool:
    """Whether a file is meant that the user called by its name: the importer, `src/importer.py`."""
    name = path.text.strip("`").rpartition("/")[2].partition(".")[0]
    return "/" in path.text and bool(name) and context.has_words(flow_of(name))


def _replaced_name(name: NameFact, statement: Statement, own: str) -> str:
    """The name of the same kind that a statement has and a claim has not."""
    kinds = ("name",) if name.kind == "name" else ("path", "code", "words", "network")
    for other in facts_of(statement.text).names:
        if other.kind in kinds and flow_of(other.text) not in own:
            return other.text.strip("`")
    return ""


def _surfaces(text: str) -> list[tuple[str, str]]:
    """The words of meaning of a text: their stems, and as they are written."""
    found = []
    for word in re.findall(r"[\w'’]+", text):
        low = fold_text(word).replace("'", "").replace("’", "")
        if low not in STOPWORDS and low not in LIGHT:
            found.append((stem(SHORT.get(low, low)), word))
    return found


def _find_replaced_word(text: str, context: Context) -> list[str]:
    """A word that stands where a statement has another, in an otherwise equal sentence."""
    own = _surfaces(text)[:60]
    for statement in context.statements[:3]:
        theirs = _surfaces(statement.text)[:60]
        matcher = SequenceMatcher(None, [each for each, _ in own], [each for each, _ in theirs], autojunk=False)
        codes = matcher.get_opcodes()
        equal = sum(end - start for tag, start, end, _, _ in codes if tag == "equal")
        changed = [code for code in codes if code[0] != "equal"]
        if equal < 2 or equal < ALIGNED * len(own) or len(changed) != 1 or changed[0][0] != "replace":
            continue
        _, start, end, first, last = changed[0]
        mine, other = [word for _, word in own[start:end]], [word for _, word in theirs[first:last]]
        if len(mine) == 1 and 1 <= len(other) <= 2 and _is_naming(mine[0]) and _is_naming(other[0]):
            return [] if context.has_name(NameFact("name", mine[0], 0, 0)) else mine
    return []


def _is_naming(word: str) -> bool:
    """Whether a word may name something: a number, a denial or a word of every sentence does not."""
    low = fold_text(word)
    return (
        low.isalpha()
        and not low.endswith(_ENDINGS)
        and not any(low in each for each in (NEGATING, COMMON, UNITS, _EVERYDAY))
    )


# What is affirmed and denied


def _find_contradiction(text: str, near: list[Statement], context: Context, *, is_polar: bool) -> str:
    plain = [each for each in near if not each.is_corrected]
    opposite = _find_opposite(text, plain) if is_polar else ""
    if opposite and _is_certain(text, opposite):
        return f"the user said {_short(opposite)}"
    for each in plain:
        if is_swapped(text, each.text) or (_is_wider(text, each.text) and _is_near(text, each.text)):
            return f"the user said {_short(each.text)}"
    return _find_rival(text, context) or _find_other_bound(text, plain) or _find_other_owner(text, context)


def _is_wider(text: str, said: str) -> bool:
    """Whether a claim makes a rule for all, or for always, of what was said of some, or of one time."""
    own, theirs = fold_text(text), fold_text(said)
    is_wider = _EVERYONE.search(own) and not _ONLY.search(own) and _is_limited(theirs, meaning_of(text))
    is_always = _HEDGES.search(theirs) and _ALWAYS.search(own) and not _HEDGES.search(own)
    is_once = _ONCE.search(theirs) and not re.search(r"\bonce\b|\btime\b|\btoday\b", own)
    return bool(is_wider or is_always or is_once)


def _is_near(text: str, said: str) -> bool:
    """Whether two statements have nearly the same words."""
    mine, other = meaning_of(text), meaning_of(said)
    return share_of(mine, other) >= SAME and share_of(other, mine) >= SAME


def _is_limited(said: str, given: frozenset[str]) -> bool:
    """Whether a statement has `only` in the clause that is about some words, and not in another one."""
    parts = [(bool(_ONLY.search(part)), len(meaning_of(part) & given)) for part in re.split(r"[,;:]", said)]
    most = max(count for _, count in parts)
    return any(is_limit and count == most for is_limit, count in parts)


def _find_opposite(text: str, near: list[Statement]) -> str:
    """The statement that a claim says the opposite of."""
    others = [each for each in near if not _DELEGATED.search(fold_text(each.text))]
    compared = [(each, compare_signs(text, each.text)) for each in others]
    if any(agreement.same for _, agreement in compared):
        return ""
    given = meaning_of(text)
    for each, agreement in compared:
        said = fold_text(each.text)
        is_denied = agreement.is_new and share_of(given, each.words) >= ALIGNED and len(others) == len(near)
        # `walls of text are hard`, so `avoid walls of text`
        is_ours = bool(signed_text(text).denied) and bool(_BAD.search(said))
        is_ours = is_ours or _is_bad_alike(text, each.text) or consent_of(text) == consent_of(each.text) == 1
        if (agreement.opposed and not is_ours) or (is_denied and not is_ours and not _ONLY.search(said)):
            return each.text
    return ""


def _is_bad_alike(text: str, said: str) -> bool:
    """Whether a claim denies nothing, and says what is bad with the user's word: `the workflow is broken`."""
    bad = set(_BAD.findall(fold_text(text)))
    return bool(bad & set(_BAD.findall(fold_text(said)))) and not signed_text(text).has_denial


def _takes_other_side(text: str, context: Context) -> bool:
    """Whether a claim seems to take another side than a statement, in other words."""
    said = tuple(each.text for each in context.statements if not each.is_corrected)
    return any(is_opposed(text, each, said) or is_freed(text, each) or is_exchanged(text, each) for each in said)


def _is_certain(text: str, said: str) -> bool:
    """Whether only one of two statements denies something, in nearly the same words; otherwise, honest words differ."""
    own, theirs = signed_text(text), signed_text(said)
    is_limited = bool(_ONLY.search(fold_text(text))) and theirs.has_denial
    return not is_limited and _is_near(text, said) and own.has_denial != theirs.has_denial


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")


def _find_rival(text: str, context: Context) -> str:
    """A product that the user did not name, where the user named another of its kind."""
    own = {stem(SHORT.get(word, word)) for word in re.findall(r"[^\W_]+", fold_text(text))}
    for word in own & _GROUPS.keys():
        if any(word in each.words for each in context.vocabularies):
            continue
        for statement in context.statements:
            theirs = {stem(SHORT.get(each, each)) for each in re.findall(r"[^\W_]+", fold_text(statement.text))}
            if other := (theirs & _GROUPS[word]) - own:
                return f"the user said {_short(statement.text)}, with {min(other)!r}"
    return ""


def _find_other_bound(text: str, near: list[Statement]) -> str:
    """A number that is a maximum in one of the two, and a minimum in the other."""
    for each in near:
        for one in facts_of(text).quantities:
            for two in facts_of(each.text).quantities:
                bounds = {_bound(text, one), _bound(each.text, two)}
                if is_same(one, two) and bounds == {-1, 1}:
                    return f"the user said {_short(each.text)}"
    return ""


def _bound(text: str, quantity: Quantity) -> int:
    """Whether a number is a maximum (1) or a minimum (-1); 0 if it is neither."""
    before = fold_text(text[max(0, quantity.start - 40) : quantity.start]).replace("'", "")
    after = fold_text(text[quantity.end : quantity.end + 25])
    if edge := _MOST_AFTER.search(after) or _LEAST_AFTER.search(after):
        return 1 if edge.re is _MOST_AFTER else -1
    found = [
        (match.start(), sign) for sign, pattern in ((1, _MOST), (-1, _LEAST)) for match in pattern.finditer(before)
    ]
    if not found:
        return 0
    at, sign = max(found)
    return -sign if _NOT.search(before[:at]) else sign


def _find_other_owner(text: str, context: Context) -> str:
    """A value or name that the user gave to something else, in a statement that has one for each."""
    for statement in context.statements[:3]:
        said = [_clause(part) for part in _CLAUSES.split(statement.text) if any(map(str.isalnum, part))]
        if len(said) < 2:
            continue
        parts = _parts_of(text)
        given = frozenset(value for part in parts for value in part.values)
        for part in parts:
            for value in part.values:
                if other := _owner_of(value, part, said, given):
                    return f"the user said {_short(statement.text)}, not that {other} is {value}"
    return ""


class _Clause(NamedTuple):
    words: frozenset[str]
    values: frozenset[str]
    before: dict[str, str]  #: of a number, the word before it: `Postgres 15`


def _parts_of(text: str) -> list[_Clause]:
    """The parts of a claim; a value alone belongs to what is before it: `the dashboard: 99.9 %`."""
    found: list[_Clause] = []
    for part in map(_clause, _CLAUSES.split(text)):
        if found and part.words and all(word[:1].isdigit() for word in part.words):
            last = found.pop()
            part = _Clause(last.words | part.words, last.values | part.values, last.before | part.before)
        found.append(part)
    return found


def _clause(text: str) -> _Clause:
    """What a part of a sentence is about, and its values: numbers, and words with a capital."""
    tokens = re.findall(r"[\w./:-]*\w", text)
    values = {fold_text(each) for each in tokens if each[:1].isdigit()}
    plain = [each for each in map(fold_text, tokens) if each not in STOPWORDS and each not in LIGHT]
    words = {stem(SHORT.get(each, each)) for each in plain} - STOPWORDS - LIGHT
    capital = {fold_text(each) for each in tokens if each[:1].isupper() and fold_text(each) not in COMMON}
    pairs = pairwise(stem(SHORT.get(fold_text(each), fold_text(each))) for each in tokens)
    before = {two: one for one, two in pairs if two[:1].isdigit()}
    return _Clause(frozenset(words), frozenset(values | capital), before)


def _owner_of(value: str, part: _Clause, said: list[_Clause], given: frozenset[str]) -> str:
    """What of a claim's part belongs to another clause than a value does; that has a value which is not given."""
    with_value = [each for each in said if value in each.values or stem(value) in each.words]
    others = [each for each in said if each not in with_value and each.values]
    if len(with_value) != 1 or not others:
        return ""
    rest = part.words - {value, stem(value), part.before.get(value, "")}
    for other in others:
        theirs, own = (rest & other.words) - with_value[0].words, (rest & with_value[0].words) - other.words
        if theirs and not own and other.values - given:
            return min(theirs)
    return ""
