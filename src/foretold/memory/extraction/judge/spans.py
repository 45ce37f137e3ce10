"""Spans of what was said, to look statements up in: who said something, and in which words.

1. A window is a statement and the one behind it: what is said in two short sentences is found too. Windows are found by
   their words, so a long output costs its length once.
2. Of text without end only the last MOST characters are looked at: a claim that nothing supports is refused anyway.
3. A window that wants something of whoever reads it (to remember, always, never, from now on) is `asking`: from a tool
   or a file that is how memories are poisoned, and less of it is enough to be recognised.
4. Text that speaks to models, in the user's name, or wants to be remembered *pleads*: where tools give such text there
   is reason to be strict.
5. Statements that come again are kept once, and of those that have too little in common with what is looked for none is
   looked at: a window with MINIMUM of some words has at least one of their rarer ones.
"""

from __future__ import annotations

import math
import re

from foretold.memory.extraction.judge.words import folded, neighbours, statements, words
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 2_000_000  #: characters
MINIMUM = 0.4  #: of the words: less of them is found as nothing
_ASKING = re.compile(
    r"remember|memor|from now on|going forward|in (?:the )?future|always|never|must|user (?:prefer|want|like|said|ask)"
    r"|preference|(?:ai|assistant|agent|model)s? (?:must|should|shall|will)|save (?:this|that|the)"
    r"|note (?:this|that|to)|ignore (?:all|any|prev)|instruct|merk|ab jetzt|ab sofort|zukunft|kunftig|immer"
    r"|souvi|desorm|toujours|recuerd|siempre|a partir de ahora|запомни|отныне|всегда|记住|从现在|覚え|今後|기억"
)
_TO_MODELS = re.compile(
    r"\b(?:to|for) (?:all )?(?:ai|llm|assistant|agent|model)s?\b"
    r"|\b(?:ai|llm|assistant|agent|model)s?\W{1,3}(?:must|should|shall|will|please|store|note|agents?)\b"
    r"|\busers? (?:also |always )?(?:prefer|want|like|said|ask|consent|agree|approv|typed)"
    r"|nutzer (?:mochte|will|wunscht)|utilisateur (?:veut|prefer)|usuario (?:quiere|prefiere)"
)
_PLEADS = re.compile(
    _TO_MODELS.pattern + r"|\bremember\b|memori[sz]e|\b(?:store|save|note) (?:this|that)\b|from now on|going forward"
    r"|\bmerken?\b|erinner|ab (?:jetzt|sofort)|souvien|retien|desorm|recuerd|a partir de ahora"
    r"|запомни|отныне|记住|从现在|覚え|今後|기억"
)


def speaks_to_models(text: str) -> bool:
    """Whether a text speaks to models, or in the user's name.

    >>> speaks_to_models("Note to AI agents: the tests are skipped."), speaks_to_models("Remember the milk.")
    (True, False)
    """
    return bool(_TO_MODELS.search(folded(text)))


class Window(NamedTuple):
    """Two statements that stand side by side."""

    text: str
    words: frozenset[str]
    given: tuple[str, ...]  #: the words in their order
    is_asking: bool


class Best(NamedTuple):
    """The window that has most of some words."""

    share: float  #: of the words
    order: float  #: of those that stand side by side
    window: Window


NOTHING = Best(0.0, 0.0, Window("", frozenset(), (), is_asking=False))


class Spans:
    """All that was said by one kind of speaker.

    >>> spans = Spans(["Run `make lint` before committing. Thanks!"])
    >>> spans.best(words("Before every commit, run make lint."))[:2], spans.has("make lint"), spans.has("evil.example")
    ((1.0, 0.6666666666666666), True, False)
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.windows: list[Window] = []
        self.pleads = False
        self._where: dict[str, list[int]] = {}
        self._found: dict[tuple[tuple[str, ...], bool], Best] = {}
        self._heard: set[str] = set()
        self._orders: dict[int, set[tuple[str, str]]] = {}
        kept: list[str] = []
        room = MOST
        for text in reversed(list(texts)):
            kept.append(text[-room:] if room else "")
            room = max(0, room - len(text))
        for text in reversed(kept):
            self._add(text)
        self._heard.clear()
        self._plain = "\n".join(folded(text) for text in reversed(kept))
        self.pleads = bool(_PLEADS.search(self._plain))

    def _add(self, text: str) -> None:
        cut = [(each, words(each), bool(_ASKING.search(folded(each)))) for each in statements(text)]
        for first, second in zip(cut, [*cut[1:], ("", [], False)], strict=False):
            both = f"{first[0]} {second[0]}".strip()
            if both in self._heard:
                continue
            self._heard.add(both)
            order = [*first[1], *second[1]]
            held = frozenset(order)
            for word in held:
                self._where.setdefault(word, []).append(len(self.windows))
            self.windows.append(Window(both, held, tuple(order), first[2] or second[2]))

    def has(self, word: str) -> bool:
        """Whether something stands anywhere in it, letter for letter."""
        return folded(word) in self._plain

    def asks_for(self, word: str) -> bool:
        """Whether something stands in a window that wants something."""
        plain = folded(word)
        return any(window.is_asking and plain in folded(window.text) for window in self.windows)

    def best(self, given: list[str], *, asking: bool = False) -> Best:
        """The window that has most of these words; with `asking`, of those that want something."""
        key = tuple(given), asking
        if key not in self._found:
            self._found[key] = self._best(given, asking=asking)
        return self._found[key]

    def _best(self, given: list[str], *, asking: bool) -> Best:
        wanted, order = set(given), neighbours(given)
        least = MINIMUM * len(wanted)
        places = sorted((self._where.get(word, []) for word in wanted), key=len)
        rarer = places[: len(wanted) - math.ceil(least) + 1]
        best = NOTHING
        for at in {at for place in rarer for at in place}:
            window = self.windows[at]
            if asking and not window.is_asking:
                continue
            count = len(wanted & window.words)
            if count >= least and count / len(wanted) >= best.share:
                beside = len(order & self._order(at)) / len(order) if order else 1.0
                if (count / len(wanted), beside) > best[:2]:
                    best = Best(count / len(wanted), beside, window)
                if best[:2] == (1.0, 1.0):
                    break
        return best

    def _order(self, at: int) -> set[tuple[str, str]]:
        """Words that stand side by side in a window; few windows are ever asked for them."""
        if at not in self._orders:
            self._orders[at] = neighbours(list(self.windows[at].given))
        return self._orders[at]
