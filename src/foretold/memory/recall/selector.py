"""For harnesses that let a model choose: a list of what there is, and a strict reading of what it chose.

1. The list has one line for each memory: file, type, age, description.
2. Of the answer at most MOST memories count, each once, in its order, and none that was not offered: a model invents
   names, and a memory may tell it to name another file.
3. The answer may be a list, JSON (a list, or an object with one in it), or lines with bullets, quotes or numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from foretold.memory.note import Memory

MOST = 5
_LEAD = r"^\s*(?:[-*•]|\d+[.)])?\s*(?:\[\w*\]\s*)?"


def age_of(changed: float, now: float) -> tuple[int, str]:
    """How old something is: whole days, and in words. What comes from the future is of today.

    >>> age_of(0, 86400 * 3 + 5), age_of(100, 0)
    ((3, '3 days old'), (0, 'today'))
    """
    days = max(0, int((now - changed) // 86400))
    return days, "today" if days == 0 else "yesterday" if days == 1 else f"{days} days old"


def manifest(memories: Iterable[Memory], now: float) -> str:
    """One line for each memory.

    >>> from foretold.memory.note import read_note
    >>> text = b"---\\nname: tabs\\ndescription: indent with tabs\\ntype: feedback\\n---\\nUse tabs."
    >>> manifest([read_note("a.md", text)], now=172800)
    '- a.md [feedback] (2 days old): indent with tabs'
    """
    lines = []
    for memory in memories:
        kind = f" [{memory.type}]" if memory.type else ""
        said = f": {memory.description}" if memory.description else ""
        lines.append(f"- {_line(memory.file)}{kind} ({age_of(memory.changed, now)[1]}){_line(said)}")
    return "\n".join(lines)


def chosen(answer: str | Sequence[object], offered: Iterable[str | Memory]) -> tuple[str, ...]:
    """The files that an answer names, of those that were offered.

    >>> chosen('Sure: {"selected_memories": ["a.md", "/etc/passwd", "a.md"]}', ["a.md", "b.md"])
    ('a.md',)
    >>> chosen("1. `b.md`\\n- a.md [user]: because", ["a.md", "b.md"])
    ('b.md', 'a.md')
    """
    files = [each if isinstance(each, str) else each.file for each in offered]
    known = {_line(file): file for file in files}
    given = answer if not isinstance(answer, str) else _from_json(answer)
    named = [each for each in given if isinstance(each, str)] if given is not None else _from_lines(str(answer), known)
    return tuple(dict.fromkeys(known[name] for name in named if name in known))[:MOST]


def _from_json(answer: str) -> Sequence[object] | None:
    """The first list in the JSON of an answer; None if there is none."""
    import json

    decoder = json.JSONDecoder()
    for start in [match.start() for match in re.finditer(r"[\[{]", answer)][:20]:
        try:
            value, _ = decoder.raw_decode(answer, start)
        except (ValueError, RecursionError):
            continue
        values = [value, *value.values()] if isinstance(value, dict) else [value]
        found = next((each for each in values if isinstance(each, list)), None)
        if found is not None and (not found or any(isinstance(each, str) for each in found)):
            return found
    return None


def _from_lines(answer: str, known: dict[str, str]) -> list[str]:
    """Of every line the name it begins with."""
    found = []
    for line in answer.splitlines()[:1000]:
        rest = re.sub(_LEAD, "", line, count=1).strip("`'\"* ")
        whole = rest if rest in known else re.split(r"[`'\"*:\[(]|\s[-–—]\s", rest, maxsplit=1)[0].strip("`'\"* ,;")
        found.append(whole)
    return found


def _line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split("\n")).replace("\r", " ")
