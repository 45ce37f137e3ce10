"""What a memory may stand on: who said what, so that a claim is traced to the person who made it.

1. What a person typed has the user's authority; nothing else has it by itself. A question that wants to know something
   is no wish, and neither is one about what a tool or a file has said. What the user takes back in the next message
   (`forget that`) counts no more. In a long prompt, sentences that speak to models or in the user's name, and those
   behind them, were pasted: they are what a file said.
2. What the assistant says counts as the user's where the user confirms it in the next message (`yes, exactly`), and
   where it restates what the user has said: two words and half of all in common. A question that the agent asked counts
   along with its answer, unless that had to be yes and is not. Never a sentence that a tool, a file, an instruction or
   a recalled memory has said before, and never one that names what only tools have named.
3. A unit is what one prompt amounts to, with what counts along; a claim is held against two prompts that follow each
   other, because a correction is half of one. So in a long conversation not just any words add up to support.
4. Recalled memories and instruction files support nothing. They are kept to recognise what repeats them. What a tool
   or a prompt gave as recalled it may have forged: it is what a tool said, too.
"""

from __future__ import annotations

import re
from itertools import pairwise

from foretold.memory.extraction.judge.spans import Spans, speaks_to_models
from foretold.memory.extraction.judge.words import folded, shared, specifics, statements, words
from foretold.memory.extraction.transcript import ASKING
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from foretold.memory.extraction.transcript import Said

TOLD = 0.6  #: of a sentence's words in one window of a tool: then the tool has said it
TOLD_ASKING = 0.4  #: the same, if the tool wants something remembered
RESTATED, RESTATED_SHARE = 2, 0.5  #: words that a restatement has in common with what is restated, and of its own
PROMPTS, SENTENCES = 200, 20  #: the last prompts that others' words count along with; sentences for each
QUESTIONS = 100  #: of one prompt; nobody types more
PASTED = 2000  #: characters of a prompt that somebody hardly typed
_YES = re.compile(
    r"\W*(?:yes|yep|yeah|yup|exactly|precisely|right|correct|perfect|agreed|thats (?:it|right|how|what|the)|just so"
    r"|good (?:call|choice|idea|that|thinking)|keep (?:doing|it|that|this)|love (?:it|that|this|how)|remember th"
    r"|(?:please )?(?:always )?do (?:it|that) (?:like|this|that)"
    r"|ja|genau|richtig|stimmt|perfekt|merk dir das|oui|exact|parfait|si|exacto|perfecto|sim|isso|да|точно|верно"
    r"|はい|その通り|是的|对|没错|네|맞)(?!\w)"
)
#: how questions begin that want to know something; `could you` and `why not` are wishes
_ASKS = re.compile(
    r"\W*(?:who|whose|what|which|where|when|why(?! (?:dont|not|cant))|how(?! about)|is|are|does|do|did|was|were|has"
    r"|have|wer|wessen|welche[rsnm]?|wo|wann|warum|weshalb|wie|ist|sind|qui|que|quoi|ou|quand|pourquoi|comment|quien"
    r"|cual|donde|cuando|como|por que)(?:s|re)?(?![\w])"
)
#: questions that yes or no would be no answer to
_OPEN = re.compile(
    r"\W*(?:who|whose|what|which|where|when|how|wer|wessen|welche[rsnm]?|wo|wann|wie|was|qui|que|quel\w*|ou|quand"
    r"|comment|quien|cual|donde|cuando|como)(?:s|re)?(?![\w])"
)
#: how a message begins that takes back the one before it
_BACK = re.compile(
    r"\W*(?:(?:no|oh|ok|sorry|actually|wait|hm+|nein|non),?\W+){0,3}(?:please |bitte )?(?:forget (?:that|it|this|what"
    r" i)|never ?mind|scratch that|(?:i )?take (?:that|it) back|dont (?:remember|save|store) (?:that|this|it)"
    r"|vergiss (?:das|es)|oublie[sz]? (?:ca|cela)|olvida(?:lo| eso)|забудь|忘れて|忘掉)(?!\w)"
)


class Unit(NamedTuple):
    """A prompt, and what counts along with it."""

    id: str
    typed: frozenset[str]  #: words
    words: frozenset[str]
    is_new: bool


class Ground(NamedTuple):
    """What was said, by who said it."""

    units: tuple[Unit, ...]
    user: Spans  #: typed
    backed: Spans  #: typed, confirmed or restated
    assistant: Spans
    told: Spans  #: by tools and files
    recalled: Spans
    instructions: Spans
    masked: int  #: pieces that count as nobody's word

    def support(self, given: set[str]) -> float:
        """How much of some words two prompts that follow each other have."""
        if not given:
            return 0.0
        pairs = zip(self.units, [*self.units[1:], _NONE], strict=False)
        most = max((len(given & one.words) + len((given - one.words) & two.words) for one, two in pairs), default=0)
        return most / len(given)

    def typed(self, given: set[str]) -> float:
        """How much of some words one prompt has by itself."""
        return max((shared(given, unit.typed) for unit in self.units), default=0.0)

    def source(self, given: set[str]) -> str:
        """The message that some words come from: of the new ones the one with most of them, the last of equals."""
        new = [unit for unit in self.units if unit.is_new] or list(self.units)
        best = max(enumerate(new), key=lambda each: (len(given & each[1].words), each[0]), default=(0, _NONE))
        return best[1].id


_NONE = Unit("", frozenset(), frozenset(), is_new=False)


def ground_of(said: Sequence[Said], new: int = 0, instructions: Iterable[str] = ()) -> Ground:
    """The ground of a conversation; what is new begins with piece number `new`.

    >>> from foretold.memory.extraction.transcript import Said
    >>> ground = ground_of([Said("u", "user", "Use tabs.", "user"), Said("t", "user", "Use spaces!", "tool")])
    >>> ground.support({"tab"}), ground.support({"spac"}), ground.told.best(["spac"]).share
    (1.0, 0.0, 1.0)
    """
    parts = [(part, at >= new) for at, piece in enumerate(said) for part in _parts(piece)]
    said, is_new = [part for part, _ in parts], [each for _, each in parts]
    told = Spans(piece.text for piece in said if _is_claim(piece))
    known = [piece.text for piece in said if piece.origin == "instructions"] + list(instructions)
    recalled, instructed = Spans(piece.text for piece in said if piece.origin == "recalled"), Spans(known)
    foreign = told, recalled, instructed
    back = _taken_back(said)
    said = [_wish(piece, told) if at not in back else piece._replace(text="") for at, piece in enumerate(said)]
    typed = Spans(piece.text for piece in said if piece.origin == "user")
    units: list[Unit] = []
    backing: list[str] = []
    last = [at for at, piece in enumerate(said) if piece.origin == "user" and at not in back][-PROMPTS:]
    for at, piece in enumerate(said):
        if piece.origin == "user":
            counted = _counted(said, at, foreign, typed) if last and at >= last[0] and at not in back else []
            own = _all_words(piece.text)
            units.append(Unit(piece.id, own, own.union(*(words(each) for each in counted)), is_new[at]))
            backing += [piece.text, *counted]
    masked = sum(each and piece.origin in ("recalled", "instructions") for piece, each in parts)
    return Ground(
        tuple(units),
        typed,
        Spans(backing),
        Spans(piece.text for piece in said if piece.origin == "assistant"),
        told,
        recalled,
        instructed,
        masked,
    )


def _parts(piece: Said) -> list[Said]:
    """A prompt without what was pasted into it to be obeyed, and that beside it."""
    if piece.origin != "user" or len(piece.text) <= PASTED or not speaks_to_models(piece.text):
        return [piece]
    own, others, is_behind = list[str](), list[str](), False
    for each in statements(piece.text):
        is_to_models = speaks_to_models(each)
        (others if is_to_models or is_behind else own).append(each)
        is_behind = is_to_models
    return [piece._replace(text="\n".join(own)), piece._replace(text="\n".join(others), origin="file")]


def _is_claim(piece: Said) -> bool:
    """Whether a piece is what a tool, a file or a hook said."""
    return piece.origin in ("tool", "file", "reminder") or (piece.origin == "recalled" and piece.role == "user")


def _taken_back(said: Sequence[Said]) -> set[int]:
    """The prompts that the next one takes back, by their numbers."""
    prompts = [at for at, piece in enumerate(said) if piece.origin == "user"]
    return {one for one, two in pairwise(prompts) if _BACK.match(_bare(said[two].text))}


def _bare(text: str) -> str:
    """How a text begins, without what people leave out."""
    return folded(text[:80]).replace("'", "").replace("’", "")


def _wish(piece: Said, told: Spans) -> Said:
    return piece._replace(text=_wished(piece.text, told)) if piece.origin == "user" else piece


def _wished(text: str, told: Spans) -> str:
    """A prompt without the questions that ask for something, or about what a tool or a file has said."""
    if "?" not in text and "？" not in text:
        return text
    cut = statements(text)
    many = sum(map(_is_question, cut)) > QUESTIONS
    return "\n".join(each for each in cut if not (_is_question(each) and (many or _is_asked(each, told))))


def _is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'`)*_ ").endswith(("?", "？"))


def _is_asked(sentence: str, told: Spans) -> bool:
    return bool(_ASKS.match(folded(sentence))) or told.best(words(sentence)).share >= TOLD


def _counted(said: Sequence[Said], at: int, foreign: Sequence[Spans], typed: Spans) -> list[str]:
    """The sentences of the assistant that count along with a prompt."""
    prompt = _all_words(said[at].text)
    found: list[str] = []
    before = next((said[each] for each in range(at - 1, -1, -1) if said[each].origin in ("assistant", "user")), None)
    if before is not None and before.origin == "assistant":
        is_answer = said[at].tool in ASKING and bool(_OPEN.match(folded(before.text)))
        found += statements(before.text) if is_yes(said[at].text) or is_answer else []
    for number in range(at + 1, len(said)):
        if said[number].origin == "user":
            break
        if said[number].origin == "assistant":
            found += [each for each in statements(said[number].text) if _restates(each, prompt)]
    return [each for each in found[-SENTENCES:] if not any(is_told(each, spans, typed) for spans in foreign)]


def _restates(sentence: str, prompt: frozenset[str]) -> bool:
    own = set(words(sentence))
    return len(prompt & own) >= max(RESTATED, RESTATED_SHARE * len(own))


def _all_words(text: str) -> frozenset[str]:
    """The words of a text of any length."""
    return frozenset(word for each in statements(text) for word in words(each))


def is_yes(text: str) -> bool:
    """Whether a message confirms what was said before it.

    >>> is_yes("Yes, exactly like that."), is_yes("ok thanks, now the tests"), is_yes("Yesterday it broke")
    (True, False, False)
    """
    return bool(_YES.match(_bare(text)))


def is_told(sentence: str, told: Spans, typed: Spans) -> bool:
    """Whether a tool has said a sentence, or something in it that the user has not."""
    given = words(sentence)
    if any(told.has(word) and not typed.has(word) for word in specifics(sentence)):
        return True
    if len(set(given)) < 2:
        return False
    own = typed.best(given).share
    if told.best(given, asking=True).share >= TOLD_ASKING and own < TOLD_ASKING:
        return True
    return told.best(given).share >= TOLD > own
