"""Which memory replaces another one: of two on one thing, the newer comes first, and the older says so.

1. A memory may say that something is gone: "moved from Redshift to BigQuery", "RabbitMQ was switched off", "replaces
   BullMQ", "no longer Jenkins". What is gone is a name in that sentence.
2. An older memory whose name or description has that name, and which does not say itself that it is gone, is
   superseded. Memories that were written at the same time count as well: files that were copied are all alike.
3. What replaces a memory comes before it, also if it was not found good enough by itself: what is superseded is never
   quoted alone, and is marked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foretold.memory.note import Memory

_NAME = r"[`\"']?([A-Za-z][\w.+-]*\w)[`\"']?"
_GONE = (
    r"(?:switched off|turned off|removed|gone|retired|terminated|shut down|decommissioned|deprecated|dropped|replaced|"
    r"dead|abandoned|deleted|discontinued|no longer (?:used|in use|there|run))"
)
_ENDED = (
    *(" off", "removed", "gone", "retired", "terminated", "shut down", "decommissioned", "deprecated", "dropped"),
    *("replaced", "dead", "abandoned", "deleted", "discontinued", "no longer"),
)
_INSTEAD = ("replace", "supersedes", "instead of", "rather than", "no longer", "not ", "away from")
#: with words of which one must be there: most texts have none, and to compile an expression costs more than to look
_PATTERNS = (
    ((" from ",), rf"\b(?:moved|migrated|switched|changed|went|ported)(?: away)? from (?:the )?{_NAME}"),
    (_ENDED, rf"{_NAME}[`\"']? (?:is|was|were|are|has been|have been|got|will be) (?:now |finally )?{_GONE}\b"),
    (_INSTEAD, rf"\b(?:replace[sd]|supersedes|instead of|rather than|no longer|not|away from) (?:the |uses? )?{_NAME}"),
)
#: words that stand where a name may stand
_NO_NAMES = frozenset(
    "it that this they the a an all any which what use used using we you i to be in on at of by".split()
)


def find_superseded(memories: Sequence[Memory]) -> dict[int, int]:
    """Which of these memories replaces which: the number of the older one, and that of the newer one."""
    gone = [names_gone(f"{memory.description}\n{memory.body}") for memory in memories]
    found: dict[int, int] = {}
    for newer, names in enumerate(gone):
        for older, memory in enumerate(memories):
            if older == newer or not names or memory.changed > memories[newer].changed:
                continue
            about = {*re.findall(r"\w+", f"{memory.name} {memory.description}".lower())}
            if names & about and not names & gone[older]:
                found.setdefault(older, newer)
    return found


def names_gone(text: str) -> set[str]:
    """What a memory says is gone, in lower case.

    >>> sorted(names_gone("the warehouse moved from Redshift to BigQuery. RabbitMQ was switched off."))
    ['rabbitmq', 'redshift']
    >>> names_gone("use tabs, not spaces")
    set()
    """
    wanted = [pattern for words, pattern in _PATTERNS if any(word in text for word in words)]
    found = {match[1] for pattern in wanted for match in re.finditer(pattern, text)}
    return {name.lower() for name in found if name.lower() not in _NO_NAMES and not name.islower()}
