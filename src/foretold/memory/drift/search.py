"""Look for many texts in all files of a repository at once.

1. Every text to look for (a `Needle`) consists of words: runs of letters, digits, `_` and bytes beyond ASCII. A file is
   cut into words by two calls that run in C, and one set operation tells which of the wanted words it has. A needle is
   looked for only in files that have all of its words. When few needles are left, they are looked for one by one.
2. A needle is found once. The search for it ends when code contains it; a document that mentions it is only noted,
   because documents go on mentioning what is gone. The search for a *name* ends only where it is defined, and not in a
   test or an example (`definitions`); until then its best occurrence is noted. When nothing is left to look for, no
   more files are read.
3. The first files, among them those that memories name, mostly contain everything. If some needles are left after
   `FIRST` files of a large repository, git lists the remaining files that contain one of their words (`git grep -P`),
   and only those are read. Where git cannot tell, all files are read.
4. Binary files and files of more than `LARGEST` bytes are counted, not searched. Links are not followed; devices and
   pipes are not opened for reading.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress

from foretold.memory.drift.definitions import DEFINITION, rank_name
from foretold.memory.drift.vocabulary import PROSE, SECONDARY, TESTS
from foretold.memory.note import INDEX
from foretold.storage.digest import digest_of
from foretold.storage.tree import open_regular
from foretold.types import NamedTuple

LARGEST = 2_000_000  #: bytes of a file
FEW = 24  #: words; so few are found faster one by one than by cutting a file into words
FIRST = 2_000  #: files that are searched before git is asked for the rest
#: files below which all are read here. Cutting 200,000 files of 570 MB into words takes 6 s and reading them 1 s;
#: `git grep -P` with one expression of 1,200 words takes 4 to 5 s on two cores.
MANY = 22_000
_WORDS = bytes(at if at > 127 or chr(at).isalnum() or at == 95 else 32 for at in range(256))
_JOINED = bytes(at for at, word in enumerate(_WORDS) if word != 32)
_SPACE = b" \t\r\n\f\v"


class Needle(NamedTuple):
    """A text to look for: a word; a name that something defines; a text between non-words; or one whose white space
    does not count."""

    text: str
    form: str = "word"  #: word, name, text, loose


class Occurrence(NamedTuple):
    """Where a needle was found first."""

    path: str
    line: int
    is_prose: bool = False
    rank: int = 0  #: of a name: what this proves, by `definitions`

    @property
    def weight(self) -> tuple[bool, int, bool]:
        """How much it proves, to compare: code before documents, definitions before all else, tests last."""
        return not self.is_prose, self.rank, not is_secondary(self.path)


class SearchResult(NamedTuple):
    """What a search found and how far it went."""

    hits: dict[Needle, Occurrence]
    files: int  #: that were searched
    binary: int = 0
    large: tuple[str, ...] = ()
    unread: int = 0


class OwnFiles(NamedTuple):
    """The files that prove nothing: the memories themselves, known by name and digest, and their index."""

    names: frozenset[str] = frozenset()
    digests: frozenset[str] = frozenset()

    def covers(self, path: str, data: bytes) -> bool:
        """Whether a file is one of them."""
        name = path.rpartition("/")[2]
        return name == INDEX or (name in self.names and digest_of(data) in self.digests)


Group = tuple[Needle, ...]
#: the files that contain one of these words; None if that is not known
Narrow = Callable[[Collection[bytes]], frozenset[str] | None]


def search(
    root: str,
    files: list[str],
    groups: Iterable[Group],
    *,
    own: OwnFiles | None = None,
    narrow: Narrow | None = None,
    progress: Callable[[int], None] | None = None,
) -> SearchResult:
    """Look in all files for all groups of needles. A group is found when one of its needles is."""
    hunt, reader, own, near = _Hunt(groups), _Reader(root), own or OwnFiles(), None
    first = FIRST if len(files) >= MANY else len(files)
    for number, path in enumerate(files):
        if not hunt.keys:
            break
        if narrow and number == first:
            near = narrow(sorted(hunt.keys))
        if progress and number % 1000 == 0:
            progress(number)
        if near is not None and path not in near:
            reader.count += 1
            continue
        data = reader.read(path)
        if data and not own.covers(path, data):
            hunt.look(path, data)
    return SearchResult(hunt.hits, reader.count, reader.binary, tuple(reader.large), reader.unread)


class _Hunt:
    """The needles that are not found yet, each under the rarest of its words."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self.hits: dict[Needle, Occurrence] = {}
        self._groups: dict[Needle, set[Group]] = {}
        for group in {*groups}:
            for needle in group:
                self._groups.setdefault(needle, set()).add(group)
        self._words = {needle: words_of(needle.text) for needle in self._groups}
        often = Counter(word for words in self._words.values() for word in words)
        self._wanted = frozenset(often)
        self._key_of = {  # of `--part-7` the 7, if other needles have `part` too
            needle: min(words, key=lambda word: (often[word], -len(word), word))
            for needle, words in self._words.items()
            if words
        }
        self.keys: dict[bytes, list[Needle]] = {}
        for needle, key in self._key_of.items():
            self.keys.setdefault(key, []).append(needle)

    def look(self, path: str, data: bytes) -> None:
        """Look for all needles in a file."""
        if len(self.keys) <= FEW and not any(key in data for key in self.keys):
            return
        found = self._wanted.intersection(data.translate(_WORDS).split())
        is_prose = path.lower().endswith(PROSE)
        for word in found & self.keys.keys():
            for needle in [*self.keys.get(word, ())]:
                if needle not in self._key_of or not self._words[needle] <= found:
                    continue
                if needle.form == "name" and not is_prose:
                    self._look_for_name(needle, path, data)
                elif needle not in self.hits or not is_prose:
                    self._look_for_text(needle, path, data, is_prose=is_prose)

    def _look_for_text(self, needle: Needle, path: str, data: bytes, *, is_prose: bool) -> None:
        at = find_needle(needle, data)
        if at >= 0:
            self.hits[needle] = Occurrence(path, data.count(b"\n", 0, at) + 1, is_prose)
            if not is_prose:
                self._settle(needle)

    def _look_for_name(self, needle: Needle, path: str, data: bytes) -> None:
        """Note where a name is, if that proves more than what is known."""
        rank, at = rank_name(needle.text.encode(), data, path.rpartition(".")[2].lower())
        if at < 0:
            return
        hit, known = Occurrence(path, data.count(b"\n", 0, at) + 1, rank=rank), self.hits.get(needle)
        if known is None or hit.weight > known.weight:
            self.hits[needle] = hit
        if rank == DEFINITION and not is_secondary(path):
            self._settle(needle)

    def _settle(self, needle: Needle) -> None:
        """Stop looking for a needle, and for those that only its groups want."""
        for group in [*self._groups[needle]]:
            for each in group:
                self._groups[each].discard(group)
                if not self._groups[each] and each in self._key_of:
                    key = self._key_of.pop(each)
                    self.keys[key].remove(each)
                    if not self.keys[key]:
                        del self.keys[key]


def is_secondary(path: str) -> bool:
    """Whether a file is a test, an example, vendored or part of the documentation: what it defines is its own.

    >>> is_secondary("tests/a.py"), is_secondary("src/a.spec.ts"), is_secondary("src/a.py")
    (True, True, False)
    """
    *folders, name = path.lower().split("/")
    return not SECONDARY.isdisjoint(folders) or bool(TESTS.search(name))


def words_of(text: str) -> frozenset[bytes]:
    """The words of a text."""
    return frozenset(text.encode("utf-8", "surrogateescape").translate(_WORDS).split())


def find_needle(needle: Needle, data: bytes) -> int:
    """Where a file that has all words of a needle contains it; -1 if nowhere."""
    text = needle.text.encode("utf-8", "surrogateescape")
    if needle.form == "loose":
        tight = text.translate(None, _SPACE)
        at = data.translate(None, _SPACE).find(tight)
        return -1 if at < 0 else _loosen(data, at)
    joined = _JOINED if needle.form in ("word", "name") else _JOINED + b"-"
    at = data.find(text)
    while at >= 0:
        end = at + len(text)
        if (at == 0 or data[at - 1] not in joined) and (end == len(data) or data[end] not in joined):
            return at
        at = data.find(text, at + 1)
    return -1


def _loosen(data: bytes, at: int) -> int:
    """The offset in a text of the byte at this offset of the text without white space."""
    seen = 0
    for match in re.finditer(rb"[^ \t\r\n\f\v]+", data):
        seen += match.end() - match.start()
        if seen > at:
            return match.end() - (seen - at)
    return len(data)


class _Reader:
    """Reads text files, and counts the others."""

    def __init__(self, root: str) -> None:
        self._root = os.fsencode(root)
        self._real: dict[bytes, bool] = {b"": True}
        self.count = self.binary = self.unread = 0
        self.large: list[str] = []

    def read(self, path: str) -> bytes:
        """The bytes of a text file; nothing for all else."""
        name, data = os.fsencode(path), None
        if self._is_real(name.rpartition(b"/")[0]):
            with suppress(OSError):
                handle = open_regular(self._root + b"/" + name, os.O_NOFOLLOW)
                try:
                    info = os.fstat(handle)
                    if stat.S_ISREG(info.st_mode) and info.st_size > LARGEST:
                        self.large.append(path)
                        return b""
                    data = os.read(handle, info.st_size + 1) if stat.S_ISREG(info.st_mode) else None
                finally:
                    os.close(handle)
        if data is None:
            self.unread += 1
        elif data.find(b"\0", 0, 8000) >= 0:
            self.binary += 1
        else:
            self.count += 1
            return data
        return b""

    def _is_real(self, folder: bytes) -> bool:
        """Whether a folder is reached without following a link."""
        above = [folder]
        while above[-1] not in self._real:
            above.append(above[-1].rpartition(b"/")[0])
        known = self._real[above.pop()]
        for each in reversed(above):
            path = self._root + b"/" + each
            known = self._real[each] = known and os.path.isdir(path) and not os.path.islink(path)
        return known
