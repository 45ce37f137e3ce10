"""The benchmark of coding memories (`coding_memory/`): stores, prompts, and what the hook says to them.

1. A project is a store of about 50 memories; `together` puts all projects into one store. A memory that another one
   supersedes is older than all others.
2. A prompt has the memories that a colleague would want said. Prompts that nothing is about are for the hook alone.
3. The hook is asked in this process, with the code that the command runs, each prompt in a conversation of its own. A
   sample is asked through the real command, and has to say the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

from locomo import Marks, MemoryRecord, average, marks_of
from retriever_worker import write_store

from foretold.dialects.claude_code.settings import slug
from foretold.memory.recall.render import parse_rendered
from foretold.serve.hooks.context import Caller, HookContext
from foretold.serve.hooks.dispatch import answer
from foretold.serve.hooks.jobs import JOBS
from foretold.types import estimate_tokens

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "coding_memory")
NEW, STALE = 1_780_000_000.0, 1_760_000_000.0  #: when a memory was written, and one that was superseded since
#: kinds that share no words with the memory on purpose
OTHER_WORDS = ("para", "de", "es", "ja", "zh")
SAMPLE = 15  #: every so many prompts one is asked through the real command


class Prompt(NamedTuple):
    kind: str
    text: str
    relevant: frozenset[str]  #: files


class Project(NamedTuple):
    """A store, the prompts to it, and prompts that nothing in it is about."""

    memories: list[MemoryRecord]
    prompts: list[Prompt]
    unrelated: list[Prompt]


class Said(NamedTuple):
    """What the hook said to one prompt."""

    files: tuple[str, ...]
    tokens: int


class HookMarks(NamedTuple):
    said: float  #: of the prompts with a relevant memory: one of them is quoted
    first: float  #: … and it is the first one
    precision: float  #: of the memories that are quoted to these prompts: relevant
    false: float  #: of the prompts that nothing is about: something is quoted
    memories: float  #: a prompt
    tokens: float  #: a prompt


def load(folder: str = FOLDER, *, together: bool = False) -> list[Project]:
    """The projects, each with its own store; or all memories in one."""
    notes, prompts, none = (_lines(f"{folder}/{name}.jsonl") for name in ("memories", "prompts", "none"))
    files = {note["id"]: f"{note['type']}_{note['id'].replace('/', '_').replace('-', '_')}.md" for note in notes}
    projects: dict[str, Project] = {}
    for note in notes:
        project = projects.setdefault("" if together else note["project"], Project([], [], []))
        changed = STALE if note["stale"] else NEW
        record = {key: note[key] for key in ("name", "description", "type", "body")}
        project.memories.append({**record, "file": files[note["id"]], "changed": changed})
    for each in (*prompts, *none):
        project = projects["" if together else each["project"]]
        prompt = Prompt(each["kind"], each["text"], frozenset(files[one] for one in each["relevant"]))
        (project.prompts if prompt.relevant else project.unrelated).append(prompt)
    return list(projects.values())


def _lines(path: str) -> list[dict]:
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


# Retrieval


def measure_kinds(prompts: list[Prompt], ranked: list[list[str]]) -> dict[str, Marks]:
    """The means over all prompts (``), over each kind, over kinds (`macro`), over those that share words (`words`)."""
    rows = [(prompt.kind, marks_of(prompt.relevant, found)) for prompt, found in zip(prompts, ranked, strict=True)]
    kinds = {name: average([marks for kind, marks in rows if kind == name]) for name in dict(rows)}
    return {
        "": average([marks for _, marks in rows]),
        "macro": average(list(kinds.values())),
        "words": average([marks for kind, marks in rows if kind not in OTHER_WORDS]),
        **kinds,
    }


# The hook


class HookPlace:
    """A project on disk, with the memories of a store, in which hooks are asked."""

    def __init__(self, root: str, project: Project) -> None:
        self.home, self.repo = os.path.realpath(f"{root}/home"), os.path.realpath(f"{root}/repo")
        os.makedirs(f"{self.repo}/.git")
        self.env = {"HOME": self.home, "PATH": "/usr/bin:/bin"}
        write_store({"memories": project.memories}, f"{self.home}/.claude/projects/{slug(self.repo)}/memory")
        self.caller = Caller("claude-code", self.home, "", self.env, begin=lambda *_: 0)
        self.count = 0

    def refresh(self) -> None:
        """What the process does that a hook leaves behind."""
        JOBS["refresh"](HookContext("work", {"cwd": self.repo}, self.caller))

    def ask(self, text: str) -> Said:
        return _parse_said(answer("UserPromptSubmit", self._payload(text), self.caller))

    def ask_process(self, text: str) -> Said:
        words = [sys.executable, "-m", "foretold", "hook", "UserPromptSubmit"]
        env = {**self.env, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        done = subprocess.run(words, input=self._payload(text), env=env, cwd=self.repo, capture_output=True, check=True)
        return _parse_said(done.stdout.decode())

    def _payload(self, text: str) -> bytes:
        self.count += 1
        base = {"session_id": f"bench-{self.count}", "cwd": self.repo, "hook_event_name": "UserPromptSubmit"}
        return json.dumps({**base, "prompt": text}).encode()


def _parse_said(printed: str) -> Said:
    if not printed.strip():
        return Said((), 0)
    text = json.loads(printed)["hookSpecificOutput"]["additionalContext"]
    return Said(tuple(quote.file for quote in parse_rendered(text)), estimate_tokens(text))


def ask_hook(place: HookPlace, project: Project) -> Iterator[tuple[Prompt, Said]]:
    """What the hook says to every prompt. An error, if the real command says anything else."""
    for at, prompt in enumerate((*project.prompts, *project.unrelated)):
        said = place.ask(prompt.text)
        if at % SAMPLE == 0 and (other := place.ask_process(prompt.text)) != said:
            raise SystemExit(f"{prompt.text!r}: the hook says {said} here, and {other} as a process")
        yield prompt, said


def mark_hook(asked: list[tuple[Prompt, Said]]) -> HookMarks:
    """
    >>> one = Prompt("plain", "deploy?", frozenset({"a"}))
    >>> mark_hook([(one, Said(("b", "a"), 90)), (one, Said((), 0)), (Prompt("x", "hi", frozenset()), Said(("b",), 30))])
    HookMarks(said=0.5, first=0.0, precision=0.5, false=1.0, memories=1.0, tokens=40.0)
    """
    about = [(prompt.relevant, said.files) for prompt, said in asked if prompt.relevant]
    none = [said for prompt, said in asked if not prompt.relevant]
    quoted = sum(len(files) for _, files in about)
    return HookMarks(
        sum(bool(relevant & set(files)) for relevant, files in about) / len(about),
        sum(files[0] in relevant for relevant, files in about if files) / len(about),
        sum(len(relevant & set(files)) for relevant, files in about) / quoted if quoted else 0.0,
        sum(bool(said.files) for said in none) / len(none),
        sum(len(said.files) for _, said in asked) / len(asked),
        sum(said.tokens for _, said in asked) / len(asked),
    )
