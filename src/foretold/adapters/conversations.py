"""The conversations of one adapter: each framework names them in its own way.

1. A conversation is made when it is first asked for; at most MOST are remembered, the least used is forgotten first.
2. What was put into messages is remembered with its conversation. When one of these texts is no longer there, the
   framework has shortened its history, and everything has to be said again.
"""

from __future__ import annotations

import threading

from foretold.adapters.conversation import Conversation
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from typing import Any

    from foretold.types import Finding

MOST = 100
_ADDED = "added"


class Talks:
    """Conversations in a folder, by their names.

    >>> talks = Talks(".", {})
    >>> talks.of("monday") is talks.of("monday"), talks.of("monday") is talks.of("tuesday")
    (True, False)
    """

    def __init__(self, cwd: str | os.PathLike[str], options: dict[str, Any]) -> None:
        """`options` are those of `Conversation`. A caller's mistake raises now, not in a run."""
        given = options.get("findings")
        self.findings: list[Finding] = [] if given is None else given
        self._cwd, self._options, self._lock = cwd, {**options, "findings": self.findings}, threading.Lock()
        self._talks: dict[str, Conversation] = {}
        Conversation(cwd, **self._options)

    def of(self, name: object) -> Conversation:
        """The conversation of this name."""
        key = str(name)
        with self._lock:  # two threads that ask for one conversation get the same
            known = self._talks.pop(key, None)
            talk = known if known is not None else Conversation(self._cwd, **self._options)
            self._talks[key] = talk
            for old in list(self._talks)[:-MOST]:
                del self._talks[old]
        return talk


def added(talk: Conversation, text: str) -> None:
    """Remember that a text was put into the messages of a conversation."""
    if text:
        talk.beside.setdefault(_ADDED, []).append(text)


def said_again(talk: Conversation, there: str) -> str:
    """What has to be said again, if a text that was added is no longer in what is there.

    >>> talk = Conversation(".")
    >>> added(talk, "Handlers return JSON.")
    >>> said_again(talk, "… Handlers return JSON. …"), talk.beside
    ('', {'added': ['Handlers return JSON.']})
    """
    if all(text in there for text in talk.beside.get(_ADDED, ())):
        return ""
    talk.beside[_ADDED] = []
    text = talk.compacted()
    added(talk, text)
    return text
