"""One database of the index over sessions: which messages hold which words, and where they stand in their files.

1. A message has a number. Its text is not kept: `word` is a contentless FTS5 table, that knows only which words are in
   which number.
2. Messages of one session that were added together are a `run` of consecutive numbers: for each, packed, where its
   record begins and how long it is, its time, who speaks, which tools. A row of its own for each message would cost as
   much as its words.
3. A number that belongs to no run is dead: its session was rewritten or has gone. FTS5 cannot forget a row whose text
   is not at hand, so a database with more dead numbers than living ones is built anew.
4. `session` says how far a file was read (`mark`), and what it was like then: whoever adds rows moves the mark in the
   same transaction. Its stamp is noted when it has been read to its end.

The tables: docs/formats/session-index.md.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from array import array

from foretold.sessions.fulltext.message_text import VOICES
from foretold.sessions.fulltext.query import index_text
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from foretold.sessions.model import StoredSession

VERSION = 1
HASH = 32 * 1024 * 1024  #: bytes of words that FTS5 may gather; it writes them at the end of a statement anyway
TOGETHER = 16_000  #: rows that one statement adds at most: meanwhile SQLite works without Python's lock
DEAD = 20_000  #: dead rows that do no harm
SCHEMA = """
CREATE TABLE told (name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
CREATE TABLE session (
  id INTEGER PRIMARY KEY, agent TEXT, name TEXT, path BLOB, card TEXT, size INTEGER, changed REAL,
  mark INTEGER, digest BLOB, UNIQUE (path, name, agent));
CREATE TABLE run (
  first INTEGER PRIMARY KEY, last INTEGER, session INTEGER, oldest REAL, newest REAL, packed BLOB);
CREATE INDEX run_session ON run (session);
CREATE VIRTUAL TABLE word USING fts5 (
  text, content = '', columnsize = 0, detail = none, tokenize = 'unicode61 remove_diacritics 0');
"""


class Known(NamedTuple):
    """A session as the index knows it."""

    row: int
    size: int  #: -1 if it was not read to its end
    changed: float
    mark: int
    digest: bytes
    card: str  #: the session as a list shows it, in JSON


class Found(NamedTuple):
    """A message for the index."""

    start: int
    size: int
    time: float | None
    voices: int
    tools: str
    text: str


class Run(NamedTuple):
    """Messages of one session that were added together."""

    first: int
    last: int
    session: int
    oldest: float
    newest: float  #: infinite if a time is not known


Key = tuple[str, str, str]  #: path, id, agent


def key_of(stored: StoredSession) -> Key:
    return (stored.path, stored.id, stored.agent)


class Shard:
    """An open database. Errors of SQLite pass through: whoever asks decides what to do without it."""

    def __init__(self, path: str) -> None:
        self.base = sqlite3.connect(
            path, timeout=30, isolation_level=None, check_same_thread=False, cached_statements=0
        )
        self._most = min(TOGETHER, self.base.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // 2)

    def close(self) -> None:
        self.base.close()

    def create(self) -> None:
        self.base.execute("PRAGMA page_size = 8192")
        self.base.execute("PRAGMA journal_mode = WAL")
        self.base.executescript(f"BEGIN; {SCHEMA} COMMIT;")
        self.base.execute("INSERT INTO told VALUES ('version', ?), ('dead', 0), ('numbers', 0)", (VERSION,))
        self._set("hashsize", HASH)
        self._set("crisismerge", 60)

    def _set(self, name: str, value: int) -> None:
        self.base.execute("INSERT INTO word(word, rank) VALUES (?, ?)", (name, value))

    def told(self, name: str) -> int | None:
        found = self.base.execute("SELECT value FROM told WHERE name = ?", (name,)).fetchone()
        return int(found[0]) if found and isinstance(found[0], int) else None

    def is_whole(self) -> bool:
        """Whether nothing in the file contradicts itself. It costs a reading of the file."""
        try:
            self.base.execute("INSERT INTO word(word) VALUES ('integrity-check')")
            return bool(self.base.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
        except sqlite3.Error:
            return False

    def is_stale(self) -> bool:
        """Whether it is mostly dead rows."""
        dead = self.told("dead") or 0
        live = self.base.execute("SELECT total(last - first + 1) FROM run").fetchone()[0] if dead > DEAD else 0
        return bool(dead > DEAD and dead > live)

    # Writing

    def begin(self, *, is_bulk: bool) -> None:
        self.base.execute("PRAGMA synchronous = OFF")
        self._set("automerge", 0 if is_bulk else 8)

    def drop(self, row: int) -> None:
        """Forget a session."""
        count = "SELECT total(last - first + 1) FROM run WHERE session = ?"
        dead = int(self.base.execute(count, (row,)).fetchone()[0])
        self.base.execute("DELETE FROM run WHERE session = ?", (row,))
        self.base.execute("DELETE FROM session WHERE id = ?", (row,))
        self.base.execute("UPDATE told SET value = value + ? WHERE name = 'dead'", (dead,))

    def session(self, stored: StoredSession, card: StoredSession) -> int:
        """The row of a session, with its card."""
        key = (os.fsencode(stored.path), stored.id, stored.agent)
        self.base.execute("INSERT OR IGNORE INTO session(path, name, agent, size) VALUES (?, ?, ?, -1)", key)
        asked = "SELECT id FROM session WHERE path = ? AND name = ? AND agent = ?"
        row = int(self.base.execute(asked, key).fetchone()[0])
        self.base.execute("UPDATE session SET card = ? WHERE id = ?", (json.dumps(card), row))
        return row

    def mark(self, row: int, mark: int, digest: bytes, size: int, changed: float) -> None:
        """Note how far a session was read."""
        self.base.execute(
            "UPDATE session SET mark = ?, digest = ?, size = ?, changed = ? WHERE id = ?",
            (mark, digest, size, changed, row),
        )

    def add(self, rows: Sequence[tuple[int, Found]]) -> None:
        """Add messages of one or more sessions, each with the row of its session, in the order of their sessions."""
        if not rows:
            return
        first = (self.told("numbers") or 0) + 1
        self.base.executemany("INSERT INTO run VALUES (?, ?, ?, ?, ?, ?)", _runs(rows, first))
        for at in range(0, len(rows), self._most):
            some = rows[at : at + self._most]
            flat: list[object] = []
            for number, (_, found) in enumerate(some, first + at):
                flat += (number, index_text(found.text))
            values = ", ".join(["(?, ?)"] * len(some))
            self.base.execute(f"INSERT INTO word(rowid, text) VALUES {values}", flat)  # noqa: S608
        self.base.execute("INSERT OR REPLACE INTO told VALUES ('numbers', ?)", (first + len(rows) - 1,))

    # Reading

    def known(self) -> dict[Key, Known]:
        """Every session."""
        rows = self.base.execute("SELECT path, name, agent, id, size, changed, mark, digest, card FROM session")
        return {
            (os.fsdecode(path), name, agent): Known(row, size, changed, mark, digest, card)
            for path, name, agent, row, size, changed, mark, digest, card in rows
        }

    def runs(self) -> list[Run]:
        return [
            Run(*row) for row in self.base.execute("SELECT first, last, session, oldest, newest FROM run ORDER BY 1")
        ]

    def rows(self, run: Run, numbers: Sequence[int]) -> list[Found]:
        """Some messages of a run, without their texts."""
        packed = self.base.execute("SELECT packed FROM run WHERE first = ?", (run.first,)).fetchone()
        return unpacked(packed[0], [number - run.first for number in numbers]) if packed else []

    def numbers(self, match: str, first: int = 0, last: int = 2**62, most: int = -1) -> list[int]:
        """The messages with these words, between two numbers."""
        asked = "SELECT rowid FROM word WHERE word MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?"
        return [row[0] for row in self.base.execute(asked, (match, first, last, most))]


def _runs(rows: Sequence[tuple[int, Found]], first: int) -> Iterator[tuple[int, int, int, float, float, bytes]]:
    at = 0
    while at < len(rows):
        session, end = rows[at][0], at
        while end < len(rows) and rows[end][0] == session:
            end += 1
        found = [each for _, each in rows[at:end]]
        times = [each.time for each in found]
        known = [time for time in times if time is not None]
        newest = max(known) if len(known) == len(times) else math.inf
        yield first + at, first + end - 1, session, min(known, default=-math.inf), newest, packed(found)
        at = end


def packed(found: Sequence[Found]) -> bytes:
    """Messages without their texts, in columns.

    >>> unpacked(packed([Found(5, 10, None, 9, "Bash", "not kept"), Found(15, 4, 1.5, 1, "", "")]), [1, 0])
    [Found(start=15, size=4, time=1.5, voices=1, tools='', text=''), \
Found(start=5, size=10, time=None, voices=9, tools='Bash', text='')]
    """
    names = list(dict.fromkeys(each.tools for each in found))
    place = {name: at for at, name in enumerate(names)}
    columns = (
        array("q", [each.start for each in found]),
        array("q", [each.size for each in found]),
        array("d", [math.nan if each.time is None else each.time for each in found]),
        array("B", [each.voices for each in found]),
        array("I", [place[each.tools] for each in found]),
    )
    head = json.dumps([len(found), names]).encode()
    return b"\n".join([head, b"".join(column.tobytes() for column in columns)])


def unpacked(data: bytes, wanted: Sequence[int]) -> list[Found]:
    """Some of what was packed, by their places."""
    head, _, rest = data.partition(b"\n")
    count, names = json.loads(head)
    columns, at = [], 0
    for kind in "qqdBI":
        column = array(kind)
        column.frombytes(rest[at : at + count * column.itemsize])
        columns.append([column[place] for place in wanted])
        at += count * column.itemsize
    return [
        Found(start, size, None if math.isnan(time) else time, voices, names[tools], "")
        for start, size, time, voices, tools in zip(*columns, strict=True)
    ]


_BITS = {voice: 1 << at for at, voice in enumerate(VOICES)}


def mask_of(voices: Iterable[str]) -> int:
    """Voices as bits.

    >>> mask_of(["user", "tool", "tool"])
    9
    """
    mask = 0
    for voice in voices:
        mask |= _BITS.get(voice, 0)
    return mask
