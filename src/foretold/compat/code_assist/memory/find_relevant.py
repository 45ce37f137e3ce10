"""Choosing among memory entries of code-assist: its `memory.find_relevant`."""

from __future__ import annotations

from typing import Unpack

from foretold.compat.code_assist.memory.memory_scan import Options, scan_memory_files
from foretold.compat.code_assist.memory.memory_types import MemoryEntry
from foretold.compat.engine import Folder


def find_relevant_memories(project_root: Folder, query: str, **options: Unpack[Options]) -> list[MemoryEntry]:
    """The memories that have words of a query, those with the most of them first; all for an empty query."""
    entries = scan_memory_files(project_root, **options)
    if not query.split():
        return entries
    scores = [score(query, f"{entry.name} {entry.description} {entry.content}") for entry in entries]
    ranked = sorted(zip(scores, entries, strict=True), key=lambda pair: -pair[0])
    return [entry for count, entry in ranked if count]


def score(query: str, text: str) -> int:
    """How many different words of a query are found in a text, also within other words.

    >>> score("Python tests python", "how we test python code"), score("tests", "we are testing")
    (1, 0)
    """
    text = text.lower()
    return sum(word in text for word in dict.fromkeys(query.lower().split()))


def should_load_memory(entry: MemoryEntry, context: str) -> bool:
    """Whether a memory bears on a context: it has no description, or one with a longer word that occurs there.

    >>> should_load_memory(MemoryEntry("a", "testing patterns"), "we need Testing")
    True
    """
    context = context.lower()
    words = entry.description.lower().split()
    return not words or any(word in context for word in words if len(word) > 3)
