"""A name that fits several sessions: which they are, in lines that tell them apart."""

from __future__ import annotations

import time
import unicodedata

from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foretold.sessions.model import StoredSession

MOST = 8  #: sessions that are told
WIDTH = 80  #: columns of a line
SHORTEST = 8  #: letters of an id that people know sessions by


def several(name: str, close: Sequence[StoredSession], card_of: Callable[[StoredSession], StoredSession | None]) -> str:
    """What to say of a name that fits several sessions; only those that are told are opened.

    >>> from foretold.sessions.model import StoredSession
    >>> one = StoredSession("codex", "a1", "", title="One", changed=9e8)
    >>> two = StoredSession("codex", "a2", "", title="Two")
    >>> first, *rows = several("a", [two, one], lambda stored: stored).splitlines()
    >>> first, [row[20:] for row in rows]
    ("'a' may be 2 sessions; write more of the id:", ['codex        a1        One', 'codex        a2        Two'])
    """
    ones = [*{(stored.agent, stored.id): stored for stored in close}.values()]
    more = "give --agent" if len({stored.id for stored in ones}) == 1 else "write more of the id"
    told = sorted((card_of(stored) or stored for stored in ones[:MOST]), key=lambda stored: -stored.changed)
    length = _letters([stored.id for stored in ones])
    rows = [_row(stored, length) for stored in told]
    rows += [f"  and {len(ones) - MOST:,} more"] if len(ones) > MOST else []
    return "\n".join([f"{name!r} may be {len(ones):,} sessions; {more}:", *rows])


def _letters(ids: Sequence[str]) -> int:
    """How many letters of ids tell them apart."""
    names = {*ids}
    length = SHORTEST
    while len({each[:length] for each in names}) < len(names):
        length += 1
    return length


def _row(stored: StoredSession, length: int) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(stored.changed))
    head = f"  {when}  {stored.agent:11}  {_plain(stored.id[:length]):{length}}  "
    return (head + _cut(_plain(stored.title or "(nothing was said)"), max(20, WIDTH - len(head)))).rstrip()


def _plain(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)


def _cut(text: str, room: int) -> str:
    """A text in so many columns; what is cut off is marked.

    >>> _cut("abcdef", 4), _cut("日本語", 5)
    ('abc…', '日本…')
    """
    if sum(map(_columns, text)) <= room:
        return text
    taken, used = "", 1
    for char in text:
        used += _columns(char)
        if used > room:
            break
        taken += char
    return taken + "…"


def _columns(char: str) -> int:
    return 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
