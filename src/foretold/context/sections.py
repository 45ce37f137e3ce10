"""Sections of a system prompt, each kept until what it is made from changes.

1. A section has a name, a function that makes its text, and a function that says what the text depends on.
2. The text is made again only when that answer differs from the last one, or after `invalidate`. So a prompt stays the
   same to the byte as long as nothing has changed, and a provider's cache of its beginning stays good.
3. A section whose text is empty or None is left out. The order is that in which the sections were added.
"""

from __future__ import annotations

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator


class Sections:
    """The sections of one conversation.

    >>> made = []
    >>> state = {"date": "2026-01-02"}
    >>> sections = Sections()
    >>> sections.add("date", lambda: made.append(1) or f"It is {state['date']}.", lambda: state["date"])
    >>> sections.text(), sections.text(), len(made)
    ('It is 2026-01-02.', 'It is 2026-01-02.', 1)
    >>> state["date"] = "2026-01-03"
    >>> sections.text(), len(made)
    ('It is 2026-01-03.', 2)
    """

    __slots__ = ("_kept", "_makers")

    def __init__(self) -> None:
        self._makers: dict[str, tuple[Callable[[], str | None], Callable[[], Hashable]]] = {}
        self._kept: dict[str, tuple[Hashable, str]] = {}  #: what each was made from, and its text: stored in one step

    def add(self, name: str, make: Callable[[], str | None], inputs: Callable[[], Hashable] = tuple) -> None:
        """Add a section, or give one another maker. Without `inputs` it is made once."""
        self._makers[name] = (make, inputs)
        self.invalidate(name)

    def __getitem__(self, name: str) -> str:
        make, inputs = self._makers[name]
        now = inputs()
        kept = self._kept.get(name)
        if kept is None or kept[0] != now:
            kept = self._kept[name] = (now, make() or "")
        return kept[1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def text(self, join: str = "\n\n") -> str:
        """All sections that have a text, in order."""
        return join.join(text for text in map(self.__getitem__, self._makers) if text)

    def invalidate(self, name: str | None = None) -> None:
        """Forget the text of a section, or of all: after `/clear`, a compaction, a change that no input shows."""
        for each in [name] if name is not None else list(self._kept):
            self._kept.pop(each, None)
