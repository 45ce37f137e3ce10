"""Spans of what was said, to look statements up in: who said something, and in which words.

1. A window is a statement and the one behind it: what is said in two short sentences is found too. Windows are found by
   their words, so a long output costs its length once.
2. Of text without end only the last MOST characters are looked at: a claim that nothing supports is refused anyway.
3. A window that wants something of whoever reads it (to remember, always, never, from now on) is `asking`: from a tool
   or a file that is how memories are poisoned, and less of it is enough to be recognised.
"""

from __future__ import annotations

import re
from collections import Counter

from headnote.extract.words import folded, neighbours, statements, words
from headnote.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 2_000_000  #: characters
_ASKING = re.compile(
    r"remember|memor|from now on|going forward|in (?:the )?future|always|never|must|user (?:prefer|want|like|said|ask)"
    r"|preference|(?:ai|assistant|agent|model)s? (?:must|should|shall|will)|save (?:this|that|the)"
    r"|note (?:this|that|to)|ignore (?:all|any|prev)|instruct|merk|ab jetzt|ab sofort|zukunft|kunftig|immer"
    r"|souvi|desorm|toujours|recuerd|siempre|a partir de ahora|запомни|отныне|всегда|记住|从现在|覚え|今後|기억"
)


class Window(NamedTuple):
    """Two statements that stand side by side."""

    text: str
    words: frozenset[str]
    order: frozenset[tuple[str, str]]  #: words that stand side by side in it
    is_asking: bool


class Best(NamedTuple):
    """The window that has most of some words."""

    share: float  #: of the words
    order: float  #: of those that stand side by side
    window: Window


NOTHING = Best(0.0, 0.0, Window("", frozenset(), frozenset(), is_asking=False))


class Spans:
    """All that was said by one kind of speaker.

    >>> spans = Spans(["Run `make lint` before committing. Thanks!"])
    >>> spans.best(words("Before every commit, run make lint."))[:2], spans.has("make lint"), spans.has("evil.example")
    ((1.0, 0.6666666666666666), True, False)
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.windows: list[Window] = []
        self._where: dict[str, list[int]] = {}
        kept: list[str] = []
        room = MOST
        for text in reversed(list(texts)):
            kept.append(text[-room:] if room else "")
            room = max(0, room - len(text))
        for text in reversed(kept):
            self._add(text)
        self._plain = "\n".join(folded(text) for text in reversed(kept))

    def _add(self, text: str) -> None:
        cut = [(each, words(each), bool(_ASKING.search(folded(each)))) for each in statements(text)]
        for first, second in zip(cut, [*cut[1:], ("", [], False)], strict=False):
            order = [*first[1], *second[1]]
            held = frozenset(order)
            for word in held:
                self._where.setdefault(word, []).append(len(self.windows))
            both = f"{first[0]} {second[0]}".strip()
            self.windows.append(Window(both, held, frozenset(neighbours(order)), first[2] or second[2]))

    def has(self, word: str) -> bool:
        """Whether something stands anywhere in it, letter for letter."""
        return folded(word) in self._plain

    def best(self, given: list[str], *, asking: bool = False) -> Best:
        """The window that has most of these words; with `asking`, of those that want something."""
        wanted, order = set(given), neighbours(given)
        counts = Counter(at for word in wanted for at in self._where.get(word, ()))
        best = NOTHING
        for at, count in counts.items():
            window = self.windows[at]
            if count / len(wanted) >= best.share and (window.is_asking or not asking):
                beside = len(order & window.order) / len(order) if order else 1.0
                if (count / len(wanted), beside) > best[:2]:
                    best = Best(count / len(wanted), beside, window)
        return best
