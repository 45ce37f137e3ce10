"""The evidence for a memory: who said what, so that a claim is traced to the person who made it.

1. What a person typed has the user's authority; nothing else has it by itself. A question that asks for information is
   not a wish, and neither is one about what a tool or a file has said. A prompt that the next one retracts (`forget
   that`) does not count. In a long prompt, sentences that speak to models or in the user's name, and those after them,
   were pasted: they are what a file said.
2. What the assistant says counts as the user's where the user confirms it in the next message (`yes, exactly`), and
   where it restates what the user has said: two words and half of all in common. A question that the agent asked counts
   along with its answer, unless that had to be yes and is not. Never a sentence that a tool, a file, an instruction or
   a recalled memory has said before, and never one that names what only tools have named. The words of a restatement
   count, its facts do not: what it adds to the user's was found elsewhere.
3. A unit is one prompt with what counts along; a claim is compared with two consecutive prompts, because a correction
   is half of one. So in a long conversation unrelated words do not add up to support.
4. Recalled memories and instruction files support nothing. They are kept to recognise what repeats them. What a tool
   or a prompt gave as recalled may be forged: it is also what a tool said.

`Spans` finds statements in the text of one kind of speaker:

5. A window is a statement and the next one: what is said in two short sentences is found too. Windows are found by
   their words, so a long output costs its length once. Of longer text only the last MOST characters are searched: a
   claim that nothing supports is refused anyway.
6. A window that demands something of its reader (to remember, always, never, from now on) is `demanding`: from a tool
   or a file that is how memories are poisoned, and less of it is enough to be recognised.
7. Text that speaks to models, in the user's name, or wants to be remembered *pleads*: where tools give such text there
   is reason to be strict.
8. Repeated statements are kept once. Windows that have too little in common with a query are not compared: one with
   MINIMUM of some words has at least one of their rarer ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from foretold.memory.extraction.judge.phrases import DEMAND, OPEN_QUESTION, PLEA, QUESTION, RETRACTION, TO_MODELS, YES
from foretold.memory.extraction.judge.speech import UserSpeech, Utterance
from foretold.memory.extraction.judge.words import adjacent_pairs, fold_text, specific_words, statements, words
from foretold.memory.extraction.transcript import ASKING
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.extraction.transcript import TranscriptPiece


MOST = 2_000_000  #: characters
MINIMUM = 0.4  #: of the words: a window with fewer is not found
SAID = 0.6  #: of a sentence's words in one window of a tool: then the tool has said it
SAID_DEMANDING = 0.4  #: the same, if that window demands something
RESTATED, RESTATED_SHARE = 2, 0.5  #: words that a restatement shares with the prompt, and their share of its own
PROMPTS, SENTENCES = 200, 20  #: the last prompts that words of the assistant support; sentences for each
QUESTIONS = 100  #: of one prompt; a person does not type more
PASTED = 2000  #: characters of a prompt; a longer one was hardly typed


def speaks_to_models(text: str) -> bool:
    """Whether a text speaks to models, or in the user's name."""
    return bool(TO_MODELS.search(fold_text(text)))


class Window(NamedTuple):
    """Two adjacent statements."""

    text: str
    words: frozenset[str]
    given: list[str]  #: the words in their order
    is_demanding: bool


class Best(NamedTuple):
    """The window that has most of some words."""

    share: float  #: of the words
    order: float  #: of the pairs of adjacent words
    window: Window


NOTHING = Best(0.0, 0.0, Window("", frozenset(), [], is_demanding=False))


class Spans:
    """All that was said by one kind of speaker."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.windows: list[Window] = []
        self._where: dict[str, list[int]] = {}
        self._found: dict[tuple[tuple[str, ...], bool], Best] = {}
        known: set[str] = set()
        kept: list[str] = []
        room = MOST
        for text in reversed(list(texts)):
            kept.insert(0, text[-room:] if room else "")
            room = max(0, room - len(text))
        for text in kept:
            self._add(text, known)
        self._plain = "\n".join(map(fold_text, kept))
        self.pleads = bool(PLEA.search(self._plain))

    def _add(self, text: str, known: set[str]) -> None:
        cut = [(each, words(each), bool(DEMAND.search(fold_text(each)))) for each in statements(text)]
        for (one, given, demands), (two, more, is_asking) in pairwise([*cut, ("", [], False)]):
            both = f"{one} {two}".strip()
            if both not in known:
                known.add(both)
                window = Window(both, frozenset([*given, *more]), [*given, *more], demands or is_asking)
                for word in window.words:
                    self._where.setdefault(word, []).append(len(self.windows))
                self.windows.append(window)

    def has(self, word: str) -> bool:
        """Whether a word occurs anywhere in it."""
        return fold_text(word) in self._plain

    def demands(self, word: str) -> bool:
        """Whether a word is in a window that demands something."""
        plain = fold_text(word)
        return any(window.is_demanding and plain in fold_text(window.text) for window in self.windows)

    def best(self, given: list[str], *, demanding: bool = False) -> Best:
        """The window that has most of these words; with `demanding`, of those that demand something."""
        key = tuple(given), demanding
        if key in self._found:
            return self._found[key]
        wanted, order = set(given), adjacent_pairs(given)
        least = MINIMUM * len(wanted)
        places = sorted((self._where.get(word, []) for word in wanted), key=len)
        rarer = places[: len(wanted) - math.ceil(least) + 1]
        best = NOTHING
        for at in {at for place in rarer for at in place}:
            window = self.windows[at]
            if demanding and not window.is_demanding:
                continue
            count = len(wanted & window.words)
            if count >= least and count / len(wanted) >= best.share:
                adjacent = len(order & adjacent_pairs(window.given)) / len(order) if order else 1.0
                if (count / len(wanted), adjacent) > best[:2]:
                    best = Best(count / len(wanted), adjacent, window)
                if best[:2] == (1.0, 1.0):
                    break
        self._found[key] = best
        return best


class Unit(NamedTuple):
    """A prompt, and what counts along with it."""

    id: str
    typed: frozenset[str]  #: words
    words: frozenset[str]
    is_new: bool


class ConversationEvidence(NamedTuple):
    """What was said, by who said it."""

    units: tuple[Unit, ...]
    user: Spans  #: typed
    backed: Spans  #: typed, confirmed or restated
    assistant: Spans
    tools: Spans  #: what tools and files said
    recalled: Spans
    instructions: Spans
    masked: int  #: pieces that count as no one's word
    speech: UserSpeech  #: typed, confirmed or restated, with the facts in it

    def support(self, given: set[str]) -> float:
        """How much of some words two prompts that follow each other have."""
        if not given:
            return 0.0
        pairs = pairwise([*self.units, _NONE])
        return max((len((given & one.words) | (given & two.words)) for one, two in pairs), default=0) / len(given)

    def typed(self, given: set[str]) -> float:
        """How much of some words one prompt has by itself."""
        return max((len(given & unit.typed) for unit in self.units), default=0) / max(1, len(given))

    def source(self, given: set[str]) -> str:
        """The message that some words come from: of the new ones the one with most of them, the last of equals."""
        new = [unit for unit in self.units if unit.is_new] or list(self.units)
        best = max(enumerate(new), key=lambda each: (len(given & each[1].words), each[0]), default=(0, _NONE))
        return best[1].id


_NONE = Unit("", frozenset(), frozenset(), is_new=False)


def evidence_of(
    said: Sequence[TranscriptPiece], new: int = 0, instructions: Iterable[str] = ()
) -> ConversationEvidence:
    """The evidence of a conversation; what is new begins with piece number `new`."""
    parts = [(part, at >= new) for at, piece in enumerate(said) for part in _split_pasted(piece)]
    said, is_new = [part for part, _ in parts], [each for _, each in parts]
    tools = Spans(piece.text for piece in said if _is_from_tool(piece))
    known = [piece.text for piece in said if piece.origin == "instructions"] + list(instructions)
    recalled, instructed = Spans(piece.text for piece in said if piece.origin == "recalled"), Spans(known)
    foreign = tools, recalled, instructed
    prompts = [at for at, piece in enumerate(said) if piece.origin == "user"]
    back = {one for one, two in pairwise(prompts) if RETRACTION.match(_bare(said[two].text))}  # by the next prompt
    for at in prompts:
        said[at] = said[at]._replace(text="" if at in back else _without_questions(said[at].text, tools))
    typed = Spans(said[at].text for at in prompts)
    units: list[Unit] = []
    backing: list[str] = []
    utterances: list[Utterance] = []
    last = [at for at in prompts if at not in back][-PROMPTS:]
    for at in prompts:
        confirmed, restated = _counted_along(said, at, foreign, typed) if at in last else ([], [])
        counted = [*confirmed, *restated]
        own = _all_words(said[at].text)
        units.append(Unit(said[at].id, own, own.union(*(words(each) for each in counted)), is_new[at]))
        backing += [said[at].text, *counted]
        utterances.append(Utterance((said[at].text, *confirmed), units[-1].words, said[at].time))
    masked = sum(each and piece.origin in ("recalled", "instructions") for piece, each in parts)
    assistant = Spans(piece.text for piece in said if piece.origin == "assistant")
    return ConversationEvidence(
        tuple(units), typed, Spans(backing), assistant, *foreign, masked, UserSpeech(utterances)
    )


def _split_pasted(piece: TranscriptPiece) -> list[TranscriptPiece]:
    """A prompt without what was pasted into it to be obeyed, and that part by itself."""
    if piece.origin != "user" or len(piece.text) <= PASTED or not speaks_to_models(piece.text):
        return [piece]
    own, others, follows = list[str](), list[str](), False
    for each in statements(piece.text):
        is_to_models = speaks_to_models(each)
        (others if is_to_models or follows else own).append(each)
        follows = is_to_models
    return [piece._replace(text="\n".join(own)), piece._replace(text="\n".join(others), origin="file")]


def _is_from_tool(piece: TranscriptPiece) -> bool:
    """Whether a piece is what a tool, a file or a hook said."""
    return piece.origin in ("tool", "file", "reminder") or (piece.origin == "recalled" and piece.role == "user")


def _bare(text: str) -> str:
    """The beginning of a text, without apostrophes, which people leave out."""
    return fold_text(text[:80]).replace("'", "").replace("’", "")


def _without_questions(text: str, tools: Spans) -> str:
    """A prompt without the questions that ask for something, or about what a tool or a file has said."""
    if "?" not in text and "？" not in text:
        return text
    cut = statements(text)
    asked = [each for each in cut if each.rstrip("\"'`)*_ ").endswith(("?", "？"))]
    if len(asked) <= QUESTIONS:
        asked = [each for each in asked if QUESTION.match(fold_text(each)) or tools.best(words(each)).share >= SAID]
    left_out = set(asked)
    return "\n".join(each for each in cut if each not in left_out)


def _counted_along(
    said: Sequence[TranscriptPiece], at: int, foreign: Sequence[Spans], typed: Spans
) -> tuple[list[str], list[str]]:
    """The sentences of the assistant that count along with a prompt: those that it confirms, and that restate it.

    The facts of the second kind do not count: `all 41 tests pass` restates `run the tests`.
    """
    prompt = _all_words(said[at].text)
    confirmed, restated = list[str](), list[str]()
    before = next((said[each] for each in range(at - 1, -1, -1) if said[each].origin in ("assistant", "user")), None)
    if before is not None and before.origin == "assistant":
        is_answer = said[at].tool in ASKING and bool(OPEN_QUESTION.match(fold_text(before.text)))
        confirmed += statements(before.text) if is_yes(said[at].text) or is_answer else []
    for number in range(at + 1, len(said)):
        if said[number].origin == "user":
            break
        for each in statements(said[number].text) if said[number].origin == "assistant" else ():
            own = set(words(each))
            if len(prompt & own) >= max(RESTATED, RESTATED_SHARE * len(own)):
                restated.append(each)
    left = SENTENCES - len(restated[-SENTENCES:])
    kept = confirmed[-left:] if left else [], restated[-SENTENCES:]
    first, second = ([each for each in part if not _is_foreign(each, foreign, typed)] for part in kept)
    return first, second


def _is_foreign(sentence: str, foreign: Sequence[Spans], typed: Spans) -> bool:
    return any(is_said_by(sentence, spans, typed) for spans in foreign)


def _all_words(text: str) -> frozenset[str]:
    """The words of a text of any length."""
    return frozenset(word for each in statements(text) for word in words(each))


def is_yes(text: str) -> bool:
    """Whether a message confirms what was said before it."""
    return bool(YES.match(_bare(text)))


def is_said_by(sentence: str, others: Spans, typed: Spans) -> bool:
    """Whether others have said a sentence, or something in it that the user has not."""
    given = words(sentence)
    if any(others.has(word) and not typed.has(word) for word in specific_words(sentence)):
        return True
    own = typed.best(given).share
    is_demanded = others.best(given, demanding=True).share >= SAID_DEMANDING > own
    return len(set(given)) > 1 and (is_demanded or others.best(given).share >= SAID > own)
