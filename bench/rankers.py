"""Ways to find memories, side by side over the same corpus: ours, and what it is measured against.

All of them drop the same stopwords. `ours` goes through the index and the marks of `foretold.memory.recall.recall`.
"""

from __future__ import annotations

import re
import sqlite3

from locomo import DEPTH, Corpus, Ranker

from foretold.memory.recall import ranking
from foretold.memory.recall.index import RecallIndex, index_memories, make_query
from foretold.memory.recall.query import STOPWORDS, word_groups
from foretold.memory.recall.vectors import Vectors, find_nearness

RRF = 60


def ours(corpus: Corpus, vectors: Vectors | None = None, postings: RecallIndex | None = None) -> Ranker:
    postings = postings or index_memories(corpus.memories)
    now = max(memory.changed for memory in corpus.memories)

    def ranked(text: str) -> list[str]:
        query = make_query(word_groups(text))
        near = find_nearness(postings, vectors, text) if vectors else None
        marks = ranking.rank(query, [postings.find(query, (), near)], now)
        return [mark.candidate.file for mark in marks[:DEPTH]]

    return ranked


def fts5(corpus: Corpus) -> Ranker:
    """What comes with SQLite: the Porter stemmer and its own BM25."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE memory USING fts5(body, tokenize='porter unicode61')")
    base.executemany(
        "INSERT INTO memory(rowid, body) VALUES (?, ?)", [(n, m.body) for n, m in enumerate(corpus.memories)]
    )
    asked = f"SELECT rowid FROM memory WHERE memory MATCH ? ORDER BY bm25(memory), rowid LIMIT {DEPTH}"

    def ranked(text: str) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in _words(text))
        return [corpus.memories[row].file for (row,) in base.execute(asked, (match,))]

    return ranked


def grep(corpus: Corpus) -> Ranker:
    """An agent with grep: how many of the words are there, then how often."""
    bodies = [memory.body.lower() for memory in corpus.memories]

    def ranked(text: str) -> list[str]:
        words = _words(text)
        counts = [[body.count(word) for word in words] for body in bodies]
        scores = [(sum(n > 0 for n in row), sum(min(n, 5) for n in row)) for row in counts]
        best = sorted(
            (at for at, score in enumerate(scores) if score[0]), key=lambda at: (-scores[at][0], -scores[at][1])
        )
        return [corpus.memories[at].file for at in best[:DEPTH]]

    return ranked


def tantivy(corpus: Corpus) -> Ranker:
    import tantivy as engine

    builder = engine.SchemaBuilder()
    builder.add_text_field("body", stored=False, tokenizer_name="en_stem")
    builder.add_integer_field("row", stored=True)
    index = engine.Index(builder.build())
    writer = index.writer(num_threads=1)
    for row, memory in enumerate(corpus.memories):
        writer.add_document(engine.Document(body=memory.body, row=row))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def ranked(text: str) -> list[str]:
        query = index.parse_query(" ".join(f'"{word}"' for word in _words(text)), ["body"])
        hits = searcher.search(query, DEPTH).hits
        return [corpus.memories[searcher.doc(where)["row"][0]].file for _, where in hits]

    return ranked


def rrf(words: Ranker, vectors: Vectors, postings: RecallIndex) -> Ranker:
    """Both lists fused by rank: the customary way, and a worse one."""
    files = dict(postings.base.execute("SELECT id, CAST(file AS TEXT) FROM memory").fetchall())

    def ranked(text: str) -> list[str]:
        near = find_nearness(postings, vectors, text)
        nearest = [files[row] for row in sorted(near, key=near.__getitem__, reverse=True)[:DEPTH]]
        scores: dict[str, float] = {}
        for found in (words(text), nearest):
            for at, file in enumerate(found):
                scores[file] = scores.get(file, 0.0) + 1 / (RRF + at + 1)
        return sorted(scores, key=scores.__getitem__, reverse=True)[:DEPTH]

    return ranked


def _words(text: str) -> list[str]:
    words = list(dict.fromkeys(re.findall(r"[^\W_]+", text.lower())))
    return [word for word in words if word not in STOPWORDS] or words
