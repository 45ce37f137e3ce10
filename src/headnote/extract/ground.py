"""What a memory may stand on: who said what, so that a claim is traced to the person who made it.

1. What a person typed has the user's authority; nothing else has it by itself. A question that wants to know something
   is no wish, and neither is one about what a tool or a file has said.
2. What the assistant says counts as the user's where the user confirms it in the next message (`yes, exactly`), and
   where it restates what the user has said: at least two words in common. Never a sentence that a tool or a file has
   said before, and never one that names what only tools have named.
3. A unit is what one prompt amounts to, with what counts along; a claim is held against two prompts that follow each
   other, because a correction is half of one. So in a long conversation not just any words add up to support.
4. Recalled memories and instruction files support nothing. They are kept to recognise what repeats them.
"""

from __future__ import annotations

import re

from headnote.extract.spans import Spans
from headnote.extract.words import folded, shared, specifics, statements, words
from headnote.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headnote.extract.said import Said

TOLD = 0.6  #: of a sentence's words in one window of a tool: then the tool has said it
TOLD_ASKING = 0.4  #: the same, if the tool wants something remembered
RESTATED = 2  #: words that a restatement has in common with what is restated
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
        pairs = zip(self.units, [*self.units[1:], _NONE], strict=False)
        return max((shared(given, first.words | second.words) for first, second in pairs), default=0.0)

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

    >>> from headnote.extract.said import Said
    >>> ground = ground_of([Said("u", "user", "Use tabs.", "user"), Said("t", "user", "Use spaces!", "tool")])
    >>> ground.support({"tab"}), ground.support({"spac"}), ground.told.best(["spac"]).share
    (1.0, 0.0, 1.0)
    """
    told = Spans(piece.text for piece in said if piece.origin in ("tool", "file", "reminder"))
    said = [piece._replace(text=_wished(piece.text, told)) if piece.origin == "user" else piece for piece in said]
    typed = Spans(piece.text for piece in said if piece.origin == "user")
    units: list[Unit] = []
    backing: list[str] = []
    for at, piece in enumerate(said):
        if piece.origin == "user":
            counted = _counted(said, at, told, typed)
            own = _all_words(piece.text)
            units.append(Unit(piece.id, own, own.union(*(words(each) for each in counted)), at >= new))
            backing += [piece.text, *counted]
    masked = sum(piece.origin in ("recalled", "instructions") for piece in said[new:])
    return Ground(
        tuple(units),
        typed,
        Spans(backing),
        Spans(piece.text for piece in said if piece.origin == "assistant"),
        told,
        Spans(piece.text for piece in said if piece.origin == "recalled"),
        Spans([*(piece.text for piece in said if piece.origin == "instructions"), *instructions]),
        masked,
    )


def _wished(text: str, told: Spans) -> str:
    """A prompt without the questions that ask for something, or about what a tool or a file has said."""
    if "?" not in text and "？" not in text:
        return text
    return "\n".join(each for each in statements(text) if not (_is_question(each) and _is_asked(each, told)))


def _is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'`)*_ ").endswith(("?", "？"))


def _is_asked(sentence: str, told: Spans) -> bool:
    return bool(_ASKS.match(folded(sentence))) or told.best(words(sentence)).share >= TOLD


def _counted(said: Sequence[Said], at: int, told: Spans, typed: Spans) -> list[str]:
    """The sentences of the assistant that count along with a prompt."""
    prompt = _all_words(said[at].text)
    found: list[str] = []
    if is_yes(said[at].text):
        before = next((each for each in reversed(said[:at]) if each.origin in ("assistant", "user")), None)
        if before is not None and before.origin == "assistant":
            found += statements(before.text)
    for each in said[at + 1 :]:
        if each.origin == "user":
            break
        if each.origin == "assistant":
            found += [one for one in statements(each.text) if len(prompt & set(words(one))) >= RESTATED]
    return [sentence for sentence in found if not is_told(sentence, told, typed)]


def _all_words(text: str) -> frozenset[str]:
    """The words of a text of any length."""
    return frozenset(word for each in statements(text) for word in words(each))


def is_yes(text: str) -> bool:
    """Whether a message confirms what was said before it.

    >>> is_yes("Yes, exactly like that."), is_yes("ok thanks, now the tests"), is_yes("Yesterday it broke")
    (True, False, False)
    """
    return bool(_YES.match(folded(text[:80]).replace("'", "").replace("’", "")))


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
