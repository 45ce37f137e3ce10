"""The index of a folder of memories: which words are where. SQLite FTS5; only this module knows its tables.

1. A memory has four columns: name, description, anchors (the words in names and paths of code) and body.
2. The index answers with plain facts (how many memories have a word, where it is in which memory); scores are computed
   in `ranking`, so that folders with an index each are weighed together.
3. Facts never depend on the order in which memories were added: ties at the edge of a pool are decided by file name.
4. A word that no memory has is looked up in `spelling`: words that may be meant by it take its place, for less.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence

from foretold.memory.note import Memory
from foretold.memory.recall import spelling
from foretold.memory.recall.file_stamps import Stamp
from foretold.memory.recall.query import anchor_words, fts_expression
from foretold.types import NamedTuple

COLUMNS = ("name", "description", "anchors", "body")
WEIGHTS = (2, 3, 2, 1)
TOKENIZER = "porter unicode61 remove_diacritics 2"
SCHEMA = f"foretold recall 2, {TOKENIZER}"
POOL = 200  #: memories that are ranked
WINDOW = 1201  #: rows that are looked at first: of 100,000 alike, some 700 have the score of the last of the pool
ENOUGH = 1200  #: memories with a word are enough to choose the pool from
NEAREST = 50  #: memories more, by their vectors
WORD_TABLE = "word-vectors.db"  #: in the folder of indexes, once it was built (`table.py`)
MOST_GROUPS = 32  #: words of a query that count; of more, the rarest
TABLES = (
    "CREATE TABLE about(key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE memory(id INTEGER PRIMARY KEY, file BLOB UNIQUE, inode, size, mtime, ctime, type TEXT, length)",
    "CREATE INDEX unread ON memory(file) WHERE type IS NULL",
    "CREATE TABLE vector(id INTEGER, model TEXT, rows BLOB, PRIMARY KEY (id, model)) WITHOUT ROWID",
    "CREATE TABLE code(model TEXT, id INTEGER, bits BLOB, PRIMARY KEY (model, id)) WITHOUT ROWID",
    f"CREATE VIRTUAL TABLE word USING fts5({', '.join(COLUMNS)}, tokenize='{TOKENIZER}')",
    "CREATE VIRTUAL TABLE spread USING fts5vocab('word', 'row')",
    "CREATE VIRTUAL TABLE place USING fts5vocab('word', 'instance')",
    *spelling.TABLES,
)

Group = tuple[str, ...]
#: how near memories are, by row; or what says that of some, with those that words found, and how near one usually is
Nearness = dict[int, float] | Callable[[Sequence[int]], tuple[dict[int, float], float]]


class RecallQuery(NamedTuple):
    """What is asked for: groups of words, and the same as the stems that the index holds."""

    words: tuple[Group, ...]
    stems: tuple[Group, ...]


class RecallCandidate(NamedTuple):
    """A memory that may be an answer: its row, and where the stems are, as (stem, column, position)."""

    id: int
    file: str
    mtime: int
    length: int  #: characters
    places: list[tuple[str, str, int]]


class Respelling(NamedTuple):
    """Words of the index that take the place of a word that it lacks."""

    words: Group
    stems: Group
    likeness: float  #: how much of the word they are worth


class IndexMatches(NamedTuple):
    """What an index found for a query."""

    memories: int  #: how many there are
    length: int  #: characters of all of them
    spread: dict[str, int]  #: stem: how many memories have it
    candidates: list[RecallCandidate]
    near: dict[int, float] = {}  # noqa: RUF012 - never changed; row: how near its vectors are
    respelled: dict[int, Respelling] = {}  # noqa: RUF012 - never changed; number of a group: what takes its place
    usual: float = 0.0  #: how near a memory is that has nothing to do with the query


class RecallIndex:
    """The index in one database. The caller opens the transaction for a change."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self.base = base
        self.vocabulary = spelling.Vocabulary(base)

    def create(self) -> None:
        """Make the tables of an empty index."""
        for statement in TABLES:
            self.base.execute(statement)
        self.set_value("schema", SCHEMA)

    def get_value(self, key: str) -> object:
        """The value of a key; None if there is none."""
        row = self.base.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def set_value(self, key: str, value: object) -> None:
        self.base.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (key, value))

    def stamps(self) -> dict[str, tuple[int, tuple[int, ...]]]:
        """For every file its row and its stamp."""
        rows = self.base.execute("SELECT file, id, inode, size, mtime, ctime FROM memory")
        return {_name(file): (row, tuple(stamp)) for file, row, *stamp in rows}

    def unread(self) -> list[str]:
        """Files that could not be read."""
        found = self.base.execute("SELECT file FROM memory WHERE type IS NULL ORDER BY file")
        return [_name(file) for (file,) in found]

    def put(self, stamp: Stamp, memory: Memory | None) -> None:
        """Add a memory, or a file that cannot be read."""
        kind, length = (memory.type, len(memory.body) + len(memory.description)) if memory else (None, 0)
        added = self.base.execute(
            "INSERT INTO memory(file, inode, size, mtime, ctime, type, length) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (_blob(stamp[0]), *stamp[1:], kind, length),
        )
        if memory:
            named = f"{memory.file.removesuffix('.md')}\n{memory.description}\n{memory.metadata.get('anchors', '')}"
            text = (memory.name, memory.description, anchor_words(f"{named}\n{memory.body}"), memory.body)
            columns = [*map(_storable, text)]
            insert = "INSERT INTO word(rowid, name, description, anchors, body) VALUES (?, ?, ?, ?, ?)"
            self.base.execute(insert, (added.lastrowid, *columns))
            self.vocabulary.learn(columns)

    def drop(self, row: int) -> None:
        for table, key in (("memory", "id"), ("vector", "id"), ("code", "id"), ("word", "rowid")):
            self.base.execute(f"DELETE FROM {table} WHERE {key} = ?", (row,))  # noqa: S608

    def total(self) -> None:
        """Store how many memories there are and how long they are."""
        counted = "SELECT count(*), coalesce(sum(length), 0) FROM memory WHERE type IS NOT NULL"
        for key, value in zip(("count", "length"), self.base.execute(counted).fetchone(), strict=True):
            self.set_value(key, value)
        self.set_value("vectors", "")  # which model has vectors of all of them

    def find(self, query: RecallQuery, types: Sequence[str] = (), near: Nearness | None = None) -> IndexMatches:
        """What the index finds for a query. `near` says how near memories are; the nearest need no word of it."""
        spread = self._spread({stem for group in query.stems for stem in group})
        respelled = self._respell(query, spread)
        query = with_respellings(query, respelled)
        chosen = pick_rarest(query, spread)
        leading, total = [], 0
        for at, holding in chosen:  # the rarest select candidates, until ENOUGH memories have them
            leading += [query.words[at]] if total < ENOUGH else []
            total += holding
        pool = self._pool(fts_expression(leading), types) if chosen else []
        close, usual = near(pool) if callable(near) else (near or {}, mean_of(near or {}))
        rows = sorted({*pool, *sorted(close, key=close.__getitem__, reverse=True)[:NEAREST]})
        stems = {stem for at, _ in chosen for stem in query.stems[at]}
        count, length = self.get_value("count"), self.get_value("length")
        assert isinstance(count, int)
        assert isinstance(length, int)
        return IndexMatches(count, length, spread, self._candidates(rows, stems, types), close, respelled, usual)

    def _respell(self, query: RecallQuery, spread: dict[str, int]) -> dict[int, Respelling]:
        """What takes the place of words that no memory has; `spread` learns the stems of it."""
        lacking = [at for at, group in enumerate(query.stems) if not any(stem in spread for stem in group)]
        rules: dict[int, tuple[str, Group]] = {}
        for at in lacking[: spelling.UNKNOWN]:
            following = query.words[at + 1][0] if at + 1 < len(query.words) else ""
            rule, words = self.vocabulary.find(query.words[at][0], following)
            if words:
                rules[at] = (rule, words)
        if not rules:
            return {}
        meant = make_query([words for _, words in rules.values()])
        known = self._spread({stem for group in meant.stems for stem in group})
        spread.update(known)
        found = {}
        for (at, (rule, words)), stems in zip(rules.items(), meant.stems, strict=True):
            if any(stem in known for stem in stems):
                found[at] = Respelling(words, stems, spelling.LIKENESS[rule])
        return found

    def _spread(self, stems: set[str]) -> dict[str, int]:
        asked = sorted(stems)
        found = self.base.execute(f"SELECT term, doc FROM spread WHERE term IN ({_marks(asked)})", asked)  # noqa: S608
        return dict(found.fetchall())

    def _pool(self, match: str, types: Sequence[str]) -> list[int]:
        """The rows that FTS5's own scores put first; of equal ones at the edge, the first by file name."""
        among = f"AND rowid IN (SELECT id FROM memory WHERE type IN ({_marks(types)}))" if types else ""  # noqa: S608
        mark = f"bm25(word, {', '.join(map(str, WEIGHTS))})"
        asked = f"SELECT rowid, {mark} FROM word WHERE word MATCH ? {among}"  # noqa: S608
        found = self.base.execute(f"{asked} ORDER BY 2 LIMIT {WINDOW}", (match, *types)).fetchall()
        if len(found) <= POOL or found[POOL][1] != found[POOL - 1][1]:
            return [row for row, _ in found[:POOL]]
        edge = found[POOL][1]
        inside = [row for row, score in found if score < edge]
        if len(found) == WINDOW and found[-1][1] == edge:  # there may be more of them
            found = self.base.execute(asked, (match, *types)).fetchall()
        tied = [row for row, score in found if score == edge]
        by_file = self.base.execute(f"SELECT id FROM memory WHERE id IN ({_list(tied)}) ORDER BY file")  # noqa: S608
        return inside + [row for (row,) in by_file][: POOL - len(inside)]

    def _candidates(self, rows: list[int], stems: set[str], types: Sequence[str]) -> list[RecallCandidate]:
        kinds = f"type IN ({_marks(types)})" if types else "type IS NOT NULL"
        asked = f"SELECT id, file, mtime, length FROM memory WHERE id IN ({_list(rows)}) AND {kinds}"  # noqa: S608
        found = {
            row: RecallCandidate(row, _name(file), mtime, length, [])
            for row, file, mtime, length in self.base.execute(asked, tuple(types))
        }
        for stem in sorted(stems):
            where = f"SELECT doc, col, offset FROM place WHERE term = ? AND doc IN ({_list(rows)})"  # noqa: S608
            for row, column, at in self.base.execute(where, (stem,)):
                if row in found:
                    found[row].places.append((stem, column, at))
        return list(found.values())

    def texts(self, model: str) -> Iterator[tuple[int, str, str, str]]:
        """Row, name, description and body of every memory that has no vectors of this model."""
        missing = "SELECT id FROM memory WHERE type IS NOT NULL AND id NOT IN (SELECT id FROM vector WHERE model = ?)"
        for row in self.base.execute(missing, (model,)).fetchall():
            yield self.base.execute("SELECT rowid, name, description, body FROM word WHERE rowid = ?", row).fetchone()

    def put_vectors(self, model: str, rows: Iterable[tuple[int, bytes]]) -> None:
        values = ((row, model, data) for row, data in rows)
        self.base.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", values)

    def vectors(self, model: str, rows: Iterable[int] | None = None) -> list[tuple[int, bytes]]:
        """The vectors of a model: of all memories, or of those in some rows."""
        among = "" if rows is None else f"AND id IN ({_list(sorted(rows))})"
        asked = f"SELECT id, rows FROM vector WHERE model = ? {among} ORDER BY id"  # noqa: S608
        return self.base.execute(asked, (model,)).fetchall()

    def put_codes(self, model: str, rows: Iterable[tuple[int, bytes]]) -> None:
        values = ((model, row, bits) for row, bits in rows)
        self.base.executemany("INSERT OR REPLACE INTO code VALUES (?, ?, ?)", values)

    def codes(self, model: str, most: int) -> list[tuple[int, bytes]]:
        """The codes of the memories that were added last, at most so many."""
        asked = "SELECT id, bits FROM code WHERE model = ? ORDER BY id DESC LIMIT ?"
        return self.base.execute(asked, (model, most)).fetchall()


def mean_of(near: dict[int, float]) -> float:
    return sum(near.values()) / len(near) if near else 0.0


def with_respellings(query: RecallQuery, respelled: dict[int, Respelling]) -> RecallQuery:
    """A query with the words that take the place of others."""
    if not respelled:
        return query
    words = tuple(respelled[at].words if at in respelled else group for at, group in enumerate(query.words))
    stems = tuple(respelled[at].stems if at in respelled else group for at, group in enumerate(query.stems))
    return RecallQuery(words, stems)


def pick_rarest(query: RecallQuery, spread: dict[str, int]) -> list[tuple[int, int]]:
    """Which groups count, and how many memories hold each: those that occur, the rarest first."""
    counts = [(sum(spread.get(stem, 0) for stem in group), at) for at, group in enumerate(query.stems)]
    return [(at, count) for count, at in sorted(pair for pair in counts if pair[0])[:MOST_GROUPS]]


def index_memories(memories: Iterable[Memory]) -> RecallIndex:
    """An index of these memories, in memory. The caller closes its database."""
    postings = RecallIndex(sqlite3.connect(":memory:", isolation_level=None))
    postings.create()
    for memory in memories:
        postings.put((memory.file, 0, 0, int(memory.changed * 1e9), 0), memory)
    postings.total()
    return postings


def find_among(memories: Iterable[Memory], query: RecallQuery) -> IndexMatches:
    """The matches of a query among these memories."""
    index = index_memories(memories)
    try:
        return index.find(query)
    finally:
        index.base.close()


def make_query(groups: Sequence[Group]) -> RecallQuery:
    """A query with its stems, as FTS5's own tokenizer makes them."""
    base = sqlite3.connect(":memory:", isolation_level=None)
    try:
        base.execute(f"CREATE VIRTUAL TABLE word USING fts5(text, tokenize='{TOKENIZER}')")
        base.execute("CREATE VIRTUAL TABLE place USING fts5vocab('word', 'instance')")
        numbered = [(at, " ".join(group)) for at, group in enumerate(groups)]
        base.executemany("INSERT INTO word(rowid, text) VALUES (?, ?)", numbered)
        stems: dict[int, list[str]] = {}
        for at, stem in base.execute("SELECT doc, term FROM place ORDER BY doc, offset"):
            stems.setdefault(at, []).append(stem)
    finally:
        base.close()
    return RecallQuery(tuple(groups), tuple(tuple(dict.fromkeys(stems.get(at, ()))) for at in range(len(groups))))


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _list(rows: list[int]) -> str:
    return ", ".join(map(str, rows))


def _blob(file: str) -> bytes:
    return file.encode("utf-8", "surrogateescape")


def _name(file: bytes) -> str:
    return file.decode("utf-8", "surrogateescape")


def _storable(text: str) -> str:
    """Text that SQLite takes: a file name may have bytes that are not text; FTS5 ends a text at NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")
