"""Which of the memories that were found a prompt is really about: for those who quote without being asked to.

What is judged does not depend on how many memories there are: a word weighs by the part of all memories that have it,
not by their number. Words in which people say what is to be done, whatever it is done to (GENERAL), weigh little. For
each of the best memories:

1. share: how much of the prompt's weight its words have; front: the same in its name and description.
2. evidence: what these words weigh; words: how many they are.
3. relative: its score, as a part of the best. lone and fifth: how much more of the prompt it has than the next one, and
   than the fifth: a word of many memories finds all of them alike.
4. With vectors, near: its cosine; nearer: how much nearer it is than a memory that has nothing to do with the prompt.

5. A memory is worth quoting if these numbers, weighed (WITH_WORDS, WITH_VECTORS), are above zero, and if it has a
   telling word in its name, its description or a name of code, one with a digit, one that is the whole prompt, or two
   of them anywhere, or two GENERAL ones in its name or description. A word is telling if it is not GENERAL, and at most
   one memory in ten holds it, or three. One word that is a small part of the prompt (ONE_WORD) proves nothing. Nor do
   vectors alone: they find what is alike, not what is meant.
6. A memory whose whole name is in the prompt, with a telling word in it, is worth quoting whatever else is asked.
7. Small talk is about nothing: a prompt all of whose words are of SMALL_TALK or GENERAL.

The weights are those of a logistic regression. `python bench/gate.py` fits them, says how well they do on projects that
were left out, and prints the lines below.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from math import log

from foretold.memory.recall.index import with_respellings
from foretold.memory.recall.query import STOPWORDS
from foretold.memory.recall.ranking import name_group
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.recall.index import IndexMatches, RecallQuery
    from foretold.memory.recall.ranking import RankedMemory

COMMON = 10  #: one in so many memories holds a word that tells nothing
FEW = 3  #: memories that hold a word; fewer are never too many
JUDGED = 8  #: the best memories, which are judged; the others are not quoted
SMALL = 50  #: memories; in a smaller store a word is as frequent as if there were so many
FAINT = 0.01  #: what is added to how frequent a word is: one that no memory has is not infinitely rare
RAREST = log(1 + 1 / FAINT)  #: the weight of a word that no memory has
MANY = 6  #: words; more prove no more
LITTLE, NOTHING = 0.25, 0.1  #: the part of its weight that a general word has, and a stopword
ONE_WORD = 0.15  #: the share of one word that proves nothing; 0.25 costs 0.02 of what is said, of prompts of the bench
WHOLE = 0.9  #: the share of a memory that has all of a prompt but what says nothing
FRONT = ("name", "description")
TYPES = ("user", "feedback", "project", "reference")  #: how the names of files begin
_WORD = re.compile(r"[^\W_]+")


class QuoteGate(NamedTuple):
    """What each number of a match counts, in the order of MatchNumbers; the sum must be above zero."""

    share: float
    front: float
    relative: float
    evidence: float
    lone: float
    fifth: float
    words: float
    near: float
    nearer: float
    base: float


#: bench/gate.py, 309 prompts and 101 about nothing, of three projects. Projects that were left out, each in its store:
#: something relevant said to 0.547 of prompts, precision 0.810, something said to 0.050 of prompts about nothing; with
#: vectors, from a probability of 0.25: 0.557, 0.849, 0.040. All in one store: 0.534, 0.719, 0.119; with vectors 0.540,
#: 0.740, 0.129. Both bases are about 0.1 above what was fitted: a little more is said, within the bars of precision
#: (`bench/memory.py --only hook`)
WITH_WORDS = QuoteGate(-2.36, 1.59, 2.75, 2.77, 3.92, 2.97, 1.36, 0.00, 0.00, -5.35)
WITH_VECTORS = QuoteGate(-1.44, 0.46, 2.82, 1.72, 4.27, 1.74, 0.98, 0.86, 4.17, -5.35)
#: words of many prompts that say nothing about their subject
GENERAL = frozenset(
    "able actually add again ahead answer anything array ask assign assignment await begin best better big bit "
    "boolean branch call called can case change check class clean code color come comment commit compile constant "
    "continue convert correct could count create current day debug declare define delete describe dict dictionary did "
    "difference different do does done easy edit eight element else end equal error every everything example "
    "exception exit explain expression extract false faster file find fine finish finished first five fix following "
    "four fun function generate get give go good great guess handle happen hard help helper idea implement "
    "implementation import important improve indent insert instance instead integer interesting issue item iterate "
    "job joke keep kind know last later leave left length less let letter like likely line list little long look loop "
    "lot lowercase make maybe mean meaning method mind module moment move much name need nested new next nine nothing "
    "now null number object old one open operator opinion option order parameter parse part pattern perhaps person "
    "place point possible prefer pretty print probably problem program programmer programming property put question "
    "quick read ready really reason recommend recursion refactor regex remember remove rename repeat replace result "
    "return reverse rewrite right run same save say script second see seem sense set seven short shorter should show "
    "shuffle side simple six sleep small snippet something sort sound split start statement stay step still stop "
    "string structure suggest summary suppose sure swap symbol syntax take talk task tell ten text thing think third "
    "three time today together tomorrow top translate trim true try tuple turn two type understand undo until unused "
    "update uppercase use useful user value variable version wait want way well went whole why wonder word work world "
    "would wrap write wrong year yesterday yet".split()
)
#: words that people say to be polite; days and times of day are among them: "happy Friday"
SMALL_TALK = frozenset(
    "adiós afternoon aha alright amazing anyway awesome bien bitte bonjour bye cheers ciao congrats cool danke "
    "evening excellent fantastic friday glad good goodbye gracias grazie great greetings gut ha haha hallo happy "
    "hello hey hi hm hmm hola holiday hooray hurray ja lol love lovely luck lunch mach merci moin monday morning nah "
    "nein night no non nope obrigado oh ok okay ooh oops ouch oui perfect perfecto please prima salut saturday sorry "
    "sunday super sí thank thanks thursday thx tschüss tuesday ty vale wednesday weekend weiter welcome wow yay yeah "
    "yep yes yo".split()
)


class MatchNumbers(NamedTuple):
    """How a memory matches a prompt; see the top of this module."""

    share: float
    front: float
    relative: float
    evidence: float
    lone: float
    fifth: float
    words: float
    near: float
    nearer: float


def worth_quoting(
    query: RecallQuery, indexes: Sequence[IndexMatches], ranked: list[RankedMemory]
) -> list[RankedMemory]:
    """What is left of what was found; for `recall(…, worth=worth_quoting)`."""
    if is_small_talk(query):
        return []
    gate = WITH_VECTORS if any(found.near for found in indexes) else WITH_WORDS
    telling = {*telling_words(query, indexes)}
    judged = zip(ranked, describe_matches(query, indexes, ranked), strict=False)
    return [
        mark
        for mark, numbers in judged
        if numbers is not None and (is_above(gate, numbers) or is_named(query, mark, telling))
    ]


def is_named(query: RecallQuery, mark: RankedMemory, telling: Collection[str]) -> bool:
    """Whether a prompt has the whole name of a memory's file, and a telling word in it."""
    topic = mark.candidate.file.rpartition("/")[2].removesuffix(".md").lower()
    words = [word for word in _WORD.findall(topic) if word not in TYPES]
    asked = {word for group in query.words for word in group}
    return asked.issuperset(words) and any(word in telling and "name" in mark.why.get(word, ()) for word in words)


def is_above(gate: QuoteGate, numbers: MatchNumbers) -> bool:
    """Whether the numbers of a match, weighed, are above zero."""
    return sum(weight * number for weight, number in zip(gate, numbers, strict=False)) + gate.base > 0


def is_small_talk(query: RecallQuery) -> bool:
    """Whether no word of a prompt has a subject, and one is of small talk."""
    words = [group[0] for group in query.words]
    spoken = [word in SMALL_TALK for word in words]
    return any(spoken) and all(small or is_general((word,)) for small, word in zip(spoken, words, strict=True))


def is_general(group: Sequence[str]) -> bool:
    """Whether a word, or the word that it is a form of, says nothing about a subject.

    >>> is_general(("files",)), is_general(("meant", "mean")), is_general(("berth",))
    (True, True, False)
    """
    for word in group:
        bases = [word, *(word.removesuffix(ending) for ending in ("s", "es", "d", "ed", "ing"))]
        if any(base in GENERAL or base in STOPWORDS for base in bases) or f"{bases[-1]}e" in GENERAL:
            return True
    return False


def describe_matches(
    query: RecallQuery, indexes: Sequence[IndexMatches], ranked: Sequence[RankedMemory]
) -> list[MatchNumbers | None]:
    """The numbers of the best memories; None for one that has no word that could tell it from others."""
    weights = _weigh_words(query, indexes)
    whole = sum(weights) or 1.0
    telling = {*telling_words(query, indexes)}
    tells = [group[0] in telling for group in query.words]
    held = [_held_groups(query, indexes[mark.folder], mark) for mark in ranked[:JUDGED]]
    held_weights = [
        {at: weights[at] * _likeness(indexes[mark.folder], at) for at in groups}
        for mark, groups in zip(ranked, held, strict=False)
    ]
    shares = [sum(each.values()) / whole for each in held_weights]
    described: list[MatchNumbers | None] = []
    for number, (mark, groups) in enumerate(zip(ranked, held, strict=False)):
        front = [at for at, columns in groups.items() if any(column in FRONT for column in columns)]
        told = [at for at in groups if tells[at]]
        is_sure = any(groups[at] != ("body",) or not query.words[at][0].isalpha() for at in told)
        if len(groups) == 1 and shares[number] < ONE_WORD:
            is_sure, told = False, []
        if not is_sure and len(front) < 2 and len(told) < 2 and not (told and shares[number] > WHOLE):
            described.append(None)
            continue
        others = sorted(shares[:number] + shares[number + 1 :], reverse=True) + [0.0] * 5
        numbers = MatchNumbers(
            share=shares[number],
            front=sum(held_weights[number][at] for at in front) / whole,
            relative=mark.score / ranked[0].score if ranked[0].score else 0.0,
            evidence=log(1 + sum(held_weights[number].values()) / RAREST),
            lone=shares[number] - others[0],
            fifth=shares[number] - others[4],
            words=min(len(groups), MANY) / 4,
            near=mark.near,
            nearer=mark.near - indexes[mark.folder].usual,
        )
        described.append(numbers)
    return described


def _weigh_words(query: RecallQuery, indexes: Sequence[IndexMatches]) -> list[float]:
    """The weight of each word: the smaller the part of all memories that have it, the more."""
    count = max(SMALL, sum(found.memories for found in indexes))
    weights = []
    for group, holding in zip(query.words, _count_holding(query, indexes), strict=True):
        part = min(1.0, holding / count)
        worth = NOTHING if group[0] in STOPWORDS else LITTLE if is_general(group) else 1.0
        weights.append(worth * log(1 + (1 - part) / (part + FAINT)))
    return weights


def _count_holding(query: RecallQuery, indexes: Sequence[IndexMatches]) -> list[int]:
    """How many memories have each word, or what takes its place."""
    counts = [0] * len(query.words)
    for found in indexes:
        for at, stems in enumerate(with_respellings(query, found.respelled).stems):
            counts[at] += sum(found.spread.get(stem, 0) for stem in stems)
    return counts


def _held_groups(query: RecallQuery, found: IndexMatches, mark: RankedMemory) -> dict[int, tuple[str, ...]]:
    """The numbers of the words that a memory has, and where it has them."""
    numbers = {name_group(query, found, at): at for at in range(len(query.words))}
    return {numbers[name]: columns for name, columns in mark.why.items() if name in numbers}


def _likeness(found: IndexMatches, at: int) -> float:
    return found.respelled[at].likeness if at in found.respelled else 1.0


def telling_words(query: RecallQuery, indexes: Sequence[IndexMatches]) -> list[str]:
    """The words of a question that distinguish memories: for people, who want to know what was found."""
    most = max(FEW, sum(found.memories for found in indexes) // COMMON)
    found = []
    for words, holding in zip(query.words, _count_holding(query, indexes), strict=True):
        if 0 < holding <= most and not is_general(words[:1]):
            found.append(words[0])
    return found
