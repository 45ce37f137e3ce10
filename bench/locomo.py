"""LoCoMo as a yardstick of recall: memories, questions, and which memories answer them. The data is never copied.

1. A memory is a session or a turn, with its date and its speakers; captions of pictures are appended. One store holds
   all ten conversations.
2. A question is asked verbatim. What answers it is LoCoMo's evidence, as corrected by the audit.
3. Headline: categories 1-4; category 5 asks for what was never said, and is part of "all 5".
"""

from __future__ import annotations

import gzip
import json
import math
import re
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

DEPTH = 50
MemoryRecord = dict[str, str | float]  #: file, name, description, type, body and changed, for retriever_worker.py


class Question(NamedTuple):
    conversation: int
    category: int
    text: str
    answers: frozenset[str]


class Corpus(NamedTuple):
    grain: str
    memories: list[MemoryRecord]
    questions: list[Question]


class Marks(NamedTuple):
    """Means over questions."""

    r1: float
    r5: float
    r10: float
    ndcg: float
    mrr: float


def load(folder: str, grain: str) -> Corpus:
    """The corpus at one grain: `session` or `turn`."""
    samples = _json(f"{folder}/locomo10.json.gz")
    corrected = {
        each["question_id"]: each["correct_evidence"] for each in _json(f"{folder}/locomo_audit_errors.json.gz")
    }
    texts: dict[str, tuple[str, float]] = {}
    for at, sample in enumerate(samples):
        texts.update(_texts(at, sample["conversation"], grain))
    questions = []
    for at, sample in enumerate(samples):
        for number, asked in enumerate(sample["qa"]):
            evidence = corrected.get(f"locomo_{at}_qa{number}") or asked["evidence"]
            answers = _answers(at, evidence, grain) & texts.keys()
            if answers:
                questions.append(Question(at, asked["category"], asked["question"], frozenset(answers)))
    empty = dict.fromkeys(("name", "description", "type"), "")
    memories: list[MemoryRecord] = [
        {**empty, "file": file, "body": text, "changed": changed} for file, (text, changed) in texts.items()
    ]
    return Corpus(grain, memories, questions)


def _json(path: str) -> list[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def _texts(at: int, conversation: dict, grain: str) -> dict[str, tuple[str, float]]:
    found = {}
    for key, turns in conversation.items():
        if not re.fullmatch(r"session_\d+", key) or not turns:
            continue
        session = key.removeprefix("session_")
        date = conversation[f"{key}_date_time"]
        changed = time.mktime(time.strptime(date, "%I:%M %p on %d %B, %Y"))
        lines = [_line(turn) for turn in turns]
        if grain == "session":
            found[f"{at}-D{session}.md"] = ("\n".join([f"({date})", *lines]), changed)
        else:
            found.update(
                {f"{at}-{t['dia_id']}.md": (f"({date}) {line}", changed) for t, line in zip(turns, lines, strict=True)}
            )
    return found


def _line(turn: dict) -> str:
    caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{caption}"


def _answers(at: int, evidence: list[str], grain: str) -> set[str]:
    """The memories that evidence names; some of it is written as `D8:6; D9:17` or `D:11:26`."""
    found = re.findall(r"D:?(\d+):(\d+)", " ".join(evidence))
    return {f"{at}-D{int(s)}.md" if grain == "session" else f"{at}-D{int(s)}:{int(t)}.md" for s, t in found}


def measure(questions: Sequence[Question], ranked: Sequence[list[str]], keep: Callable[[Question], bool]) -> Marks:
    """The means over the questions that are kept."""
    return average([marks_of(q.answers, r) for q, r in zip(questions, ranked, strict=True) if keep(q)])


def average(rows: Sequence[Marks]) -> Marks:
    return Marks(*(sum(column) / len(rows) for column in zip(*rows, strict=True)))


def marks_of(answers: frozenset[str], ranked: list[str]) -> Marks:
    """How well one question was answered.

    >>> marks_of(frozenset("ab"), ["x", "a"])._asdict()
    {'r1': 0.0, 'r5': 0.5, 'r10': 0.5, 'ndcg': 0.38685280723454163, 'mrr': 0.5}
    """

    def part(depth: int) -> float:
        return len(answers & set(ranked[:depth])) / len(answers)

    gains = [1 / math.log2(at + 2) for at, file in enumerate(ranked[:10]) if file in answers]
    ideal = [1 / math.log2(at + 2) for at in range(min(10, len(answers)))]
    first = next((1 / (at + 1) for at, file in enumerate(ranked[:DEPTH]) if file in answers), 0.0)
    return Marks(part(1), part(5), part(10), sum(gains) / sum(ideal), first)
