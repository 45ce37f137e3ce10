"""Cases of facts: what was said, and a memory of it that is honest or says otherwise; read from `facts/*.txt`.

`development_*` are those that the rules were made with. `frozen_*` were written before the rules, and run for the first
time when those did well on the development set; `later_*`, `last_*` and `newest_*` were written after
that, each before its run. `second_*` are another author's; `unseen_*` were written before the rules that those led to,
`after_*` after the rules from `unseen_*`, and `final_*` after those from `after_*`.
"""

import os
from typing import NamedTuple

from foretold.memory.extraction.judge.evidence import evidence_of
from foretold.memory.extraction.judge.judge import Draft, judge
from foretold.memory.extraction.transcript import TranscriptPiece

from .bank import NOISE

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "facts")
MONDAY = 1772445600.0  #: 2026-03-02, 10:00 UTC
ORIGINS = {"U": "user", "A": "assistant", "T": "tool"}


class FactCase(NamedTuple):
    """A conversation and a memory of it."""

    kind: str
    said: tuple
    body: str


def read_cases(name):
    """The cases of a file."""
    found, kind, said = [], "", []
    with open(os.path.join(FOLDER, f"{name}.txt"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            mark, text = line[:1], line[2:].replace("\\n", "\n")
            if mark == "[":
                kind = line.strip("[]")
            elif mark == "M":
                found.append(FactCase(kind, tuple(said), text))
                said = []
            elif mark in ORIGINS:
                said.append((ORIGINS[mark], text))
    return found


def judge_case(case):
    """What the judge says of a case, among everyday output of tools."""
    said = [("user", "have a look at the project first"), *(("tool", text) for text in NOISE)]
    said += [("assistant", "It is a service."), *case.said]
    if case.said[-1][0] == "user":
        said.append(("assistant", "Understood."))
    pieces = [
        TranscriptPiece(f"m{at}", "assistant" if origin == "assistant" else "user", text, origin, time=MONDAY + at)
        for at, (origin, text) in enumerate(said)
    ]
    return judge(Draft("feedback_x.md", "x", case.body[:60], "feedback", case.body), evidence_of(pieces), [])
