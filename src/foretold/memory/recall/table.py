"""A table of word vectors in SQLite: which memories mean the same in other words, with the standard library alone.

1. `foretold memory vectors build` writes the table once, from the package of the extra `vectors` (`vectors.py`): 256
   numbers of one byte for each of its tokens. Only the rows that are needed are read, so a hook can afford it.
2. A text is cut into tokens as the package does it: of all neighbours, those are joined first whose token has the
   lowest number. Its vector is the sum of theirs.
3. Sums are made of whole rows: a row is one large integer with 16 bits for each number, and so is a sum of up to 256.
4. The vectors of memories are stored in their index: numbers of one byte, and a code of one bit for each (is it above
   zero?). In a store of up to ALL parts every one is compared with the prompt; in a larger one the codes choose: the
   NEAREST of the last SCAN memories by the bits that differ, and as many of what the words found. Of these, the cosine
   is exact.
5. A table that cannot be read is not used. Then less is found; `foretold memory vectors status` says so.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import sqrt
from operator import mul

from foretold.memory.recall.index import WORD_TABLE, RecallIndex, mean_of
from foretold.storage.tree import require_regular
from foretold.types import NamedTuple

SCHEMA = "foretold word vectors 1"
#: read in the wheel of wordllama 0.4.0.post1 (its LICENSE and METADATA), and in the Llama 2 licence
LICENCE = (
    "the package wordllama and its table are published under the MIT licence (Lee Miller, 2024); its authors say that "
    "the table was trained from the token embeddings of other models, Llama 2 70B and Phi 3 among them, so the Llama 2 "
    "Community License may apply to it as well. foretold contains nothing of it and does not pass it on"
)
TABLES = (
    "CREATE TABLE about(key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE token(text TEXT PRIMARY KEY, id INTEGER) WITHOUT ROWID",
    "CREATE TABLE vector(id INTEGER PRIMARY KEY, row BLOB)",
)
SIZE = 256  #: numbers of a vector
BIAS = 128  #: a byte is from 0 to 255, a number from -128 to 127
SCALE = 32  #: the table's numbers are within 4 but for one in a thousand (measured: wordllama 0.4, l2_supercat_256)
PART = 400  #: characters of a memory that have one vector
LONGEST_PIECE = 16  #: characters of the longest token that is a word, with the mark of its beginning
MOST_ROWS = 256  #: of one sum: more would not fit into 16 bits
MOST_SUMS = 20_000  #: words whose sums are kept, of half a kilobyte each
MOST_WORDS = 200  #: words of a text that count: a prompt may be a pasted log
WORD_LENGTH = 64  #: characters of one word; the rest of it is another one
START = "\u2581"  #: the mark of the beginning of a word, in tokens
#: in bench/hooks.py each 1,000 codes cost a quarter of a bare start
ALL, SCAN, NEAREST = 400, 5000, 64
SAMPLE = 48  #: memories of a larger store that say how near one usually is
QUICK = 4  #: memories whose vectors are made while an agent waits: about 1 ms each; with more, none is
SOME = 8  #: texts; for more, all tokens are read at once


class WordTable:
    """The table in a file. Close it after use."""

    def __init__(self, path: str) -> None:
        require_regular(path)
        self.base = sqlite3.connect(path, isolation_level=None)
        try:
            about = dict(self.base.execute("SELECT key, value FROM about").fetchall())
            if about.get("schema") != SCHEMA:
                raise sqlite3.DatabaseError("another schema")
        except sqlite3.Error:
            self.base.close()
            raise
        self.about: dict[str, object] = about
        self.name = f"table {about['digest']}"
        self._ids: dict[str, int] = {}
        self._rows: dict[int, int] = {}
        self._sums: dict[str, tuple[int, int]] = {}
        self._is_whole = False

    def read_tokens(self) -> None:
        """Read all tokens at once: for many texts."""
        if not self._is_whole:
            self._ids = dict(self.base.execute("SELECT text, id FROM token").fetchall())
            self._is_whole = True

    def embed(self, text: str) -> list[int]:
        """The vector of a text, of whole numbers; nothing if it has no words."""
        words = _cut_words(text)
        if len(self._sums) > MOST_SUMS:
            self._sums.clear()
        self._learn([word for word in words if word not in self._sums])
        total, lanes, count = [0] * SIZE, 0, 0
        for lane, tokens in (self._sums[word] for word in words):
            if count + tokens > MOST_ROWS:
                total, lanes, count = _add_lanes(total, lanes, count), 0, 0
            lanes, count = lanes + lane, count + tokens
        total = _add_lanes(total, lanes, count)
        return total if any(total) else []

    def _learn(self, words: list[str]) -> None:
        """Sum up the rows of words that are new, with how many these are."""
        self._look_up(words)
        cut = {word: self._tokens(word) for word in words}
        self._fetch({number for numbers in cut.values() for number in numbers})
        for word, numbers in cut.items():
            rows = [self._rows[number] for number in numbers if number in self._rows]
            self._sums[word] = (sum(rows), len(rows))

    def _look_up(self, words: Iterable[str]) -> None:
        """Read the numbers of all tokens that may be in these words."""
        if self._is_whole:
            return
        wanted = {
            word[at : at + size]
            for word in words
            for at in range(len(word))
            for size in range(1, min(LONGEST_PIECE, len(word) - at) + 1)
        }
        wanted |= {
            f"<0x{byte:02X}>" for word in words if not word.isascii() for byte in word.encode("utf-8", "replace")
        }
        asked = sorted(wanted - self._ids.keys())
        for some in _batches(asked, 500):
            found = self.base.execute(f"SELECT text, id FROM token WHERE text IN ({_marks(some)})", some)  # noqa: S608
            self._ids.update(found.fetchall())

    def _tokens(self, word: str) -> list[int]:
        """The numbers of a word's tokens."""
        ids, pieces = self._ids, list(word)
        while len(pieces) > 1:
            ranked = [(ids.get(pieces[at] + pieces[at + 1], 1 << 30), at) for at in range(len(pieces) - 1)]
            number, at = min(ranked)
            if number == 1 << 30:
                break
            pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
        found = []
        for piece in pieces:
            if piece in ids:
                found.append(ids[piece])
            else:
                names = [f"<0x{byte:02X}>" for byte in piece.encode("utf-8", "replace")]
                found += [ids[name] for name in names if name in ids]
        return found

    def _fetch(self, numbers: set[int]) -> None:
        for some in _batches(sorted(numbers - self._rows.keys()), 500):
            asked = f"SELECT id, row FROM vector WHERE id IN ({_marks(some)})"  # noqa: S608
            for number, row in self.base.execute(asked, some):
                wide = bytearray(2 * SIZE)
                wide[::2] = row
                self._rows[number] = int.from_bytes(wide, "little")


def open_table(home: str | None) -> WordTable | None:
    """The table in a cache folder; None if there is none, or it cannot be used."""
    path = table_path(home) if home else ""
    if not path or not os.path.isfile(path):
        return None
    try:
        return WordTable(path)
    except (sqlite3.Error, OSError):
        return None


def table_path(home: str) -> str:
    return f"{home}/{WORD_TABLE}"


def _add_lanes(total: list[int], lanes: int, count: int) -> list[int]:
    """A sum of so many rows, in lanes of 16 bits, added to a total."""
    data, bias = lanes.to_bytes(2 * SIZE + 1, "little"), BIAS * count
    return [before + low + 256 * high - bias for before, low, high in zip(total, data[::2], data[1::2], strict=False)]


class TableState(NamedTuple):
    """Whether there is a table, and of what."""

    path: str
    is_built: bool
    tokens: int = 0
    bytes: int = 0
    source: str = ""
    problem: str = ""  #: why it cannot be used


def table_state(home: str) -> TableState:
    path = table_path(home)
    if not os.path.lexists(path):
        return TableState(path, is_built=False)
    try:
        table = WordTable(path)
    except (sqlite3.Error, OSError) as error:
        return TableState(path, is_built=False, problem=str(error))
    about = table.about
    table.base.close()
    tokens = about.get("tokens")
    count = tokens if isinstance(tokens, int) else 0
    source = str(about.get("source", ""))
    return TableState(path, is_built=True, tokens=count, bytes=os.stat(path).st_size, source=source)


def write_table(home: str, tokens: Iterable[tuple[str, int]], rows: Iterable[bytes], about: dict[str, object]) -> None:
    """Write a table: in a temporary file, which is renamed over an older one."""
    os.makedirs(home, 0o700, exist_ok=True)
    path = table_path(home)
    partial = f"{path}.{os.urandom(6).hex()}.tmp"
    try:
        base = sqlite3.connect(partial, isolation_level=None)
        try:
            base.execute("PRAGMA journal_mode = OFF")
            base.execute("BEGIN")
            for statement in TABLES:
                base.execute(statement)
            base.executemany("INSERT OR IGNORE INTO token VALUES (?, ?)", tokens)
            base.executemany("INSERT INTO vector VALUES (?, ?)", enumerate(rows))
            base.executemany("INSERT INTO about VALUES (?, ?)", {"schema": SCHEMA, **about}.items())
            base.execute("COMMIT")
        finally:
            base.close()
        os.replace(partial, path)
    finally:
        if os.path.lexists(partial):
            os.unlink(partial)


def remove_table(home: str) -> None:
    """Remove the table; vectors that were made with it are no longer used."""
    if os.path.lexists(table_path(home)):
        os.unlink(table_path(home))


def _cut_words(text: str) -> list[str]:
    """The words of a text with the mark of their beginning; very long ones in pieces."""
    found: list[str] = []
    for word in text.split():
        marked = START + word
        found += [marked[at : at + WORD_LENGTH] for at in range(0, len(marked), WORD_LENGTH)]
        if len(found) >= MOST_WORDS:
            break
    return found[:MOST_WORDS]


def _batches(values: list[str] | list[int], size: int) -> Iterator[list[str] | list[int]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


# The vectors of memories


def split_parts(name: str, description: str, body: str) -> list[str]:
    """What of a memory gets a vector each: name and description, and parts of its body of whole lines."""
    found, part = [f"{name}: {description}"] if description else [], ""
    for line in body.split("\n"):
        if part and len(part) + len(line) > PART:
            found.append(part)
            part = ""
        part += f"\n{line}" if part else line[: 4 * PART]
    return [*found, part] if part or not found else found


def pack_vector(vector: Sequence[int]) -> bytes:
    """A vector with numbers of one byte each: of full length, whatever the number of words was."""
    most = max(map(abs, vector), default=0)
    return bytes(BIAS + value * 127 // most if most else BIAS for value in vector)


def code_of(packed: bytes) -> bytes:
    """One bit for each number of a vector: whether it is above zero."""
    bits = 0
    for at, byte in enumerate(packed):
        if byte > BIAS:
            bits |= 1 << at
    return bits.to_bytes(SIZE // 8, "little")


def complete_vectors(index: RecallIndex, table: WordTable, most: int | None = None) -> bool:
    """Make the vectors that an index lacks, unless more than `most` memories lack them; whether all are there then."""
    if index.get_value("vectors") == table.name:
        return True
    texts = list(islice(index.texts(table.name), None if most is None else most + 1))
    if most is not None and len(texts) > most:
        return False
    if len(texts) > SOME:
        table.read_tokens()
    for row, *text in texts:
        packed = [pack_vector(vector) for vector in map(table.embed, split_parts(*text)) if vector]
        index.put_vectors(table.name, [(row, b"".join(packed))])
        index.put_codes(table.name, [(row, b"".join(map(code_of, packed)))])
    index.set_value("vectors", table.name)
    return True


def find_table_nearness(
    index: RecallIndex, table: WordTable, query: str, found: Sequence[int] = ()
) -> tuple[dict[int, float], float]:
    """The cosine of a query and the nearest part, for the nearest rows and those that words found; the usual one."""
    vector = table.embed(query)
    if not vector:
        return {}, 0.0
    packed = pack_vector(vector)
    rows, sample = None, set[int]()
    if count_memories(index) > ALL:
        codes = index.codes(table.name, SCAN)
        sample = {row for row, _ in codes[:: max(1, len(codes) // SAMPLE)]}
        rows = {*found[:NEAREST], *sample, *_nearest_codes(codes, packed)}
    asked = [byte - BIAS for byte in packed]
    length, shift = sqrt(sum(map(mul, asked, asked))), BIAS * sum(asked)
    near = {}
    for row, data in index.vectors(table.name, rows):
        parts = (data[at : at + SIZE] for at in range(0, len(data), SIZE))
        near[row] = max((_cosine(asked, shift, length, part) for part in parts), default=-1.0)
    return near, mean_of({row: close for row, close in near.items() if not sample or row in sample})


def count_memories(index: RecallIndex) -> int:
    count = index.get_value("count")
    return count if isinstance(count, int) else 0


def _cosine(asked: list[int], shift: int, length: float, part: bytes) -> float:
    own = sum(map(mul, part, part)) - 2 * BIAS * sum(part) + BIAS * BIAS * SIZE
    return (sum(map(mul, asked, part)) - shift) / (length * sqrt(own)) if own else -1.0


def _nearest_codes(codes: Iterable[tuple[int, bytes]], packed: bytes) -> list[int]:
    """The rows whose codes differ least from that of a vector."""
    wanted, size = int.from_bytes(code_of(packed), "little"), SIZE // 8
    differing = []
    for row, bits in codes:
        if len(bits) == size:
            least = (int.from_bytes(bits, "little") ^ wanted).bit_count()
        else:
            cut = (bits[at : at + size] for at in range(0, len(bits), size))
            least = min(((int.from_bytes(each, "little") ^ wanted).bit_count() for each in cut), default=SIZE)
        differing.append((least, row))
    return [row for _, row in sorted(differing)[:NEAREST]]


# Asking


class TableNearness:
    """Says how near the memories of indexes are to a query, by the table in their folder.

    In a hurry, missing vectors are made if they are few, and none in a large index; `is_behind` says that some are
    missing.
    """

    def __init__(self, table: WordTable, query: str, *, is_hurried: bool) -> None:
        self.table, self.query, self.is_hurried = table, query, is_hurried
        self.is_behind = False

    def ask(self, index: RecallIndex, found: Sequence[int]) -> tuple[dict[int, float], float]:
        most = None if not self.is_hurried else QUICK if count_memories(index) <= ALL else 0
        self.is_behind |= not complete_vectors(index, self.table, most)
        return find_table_nearness(index, self.table, self.query, found)
