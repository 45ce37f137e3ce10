r"""What is searched for: words, phrases, beginnings of words, and words that must not be there.

1. A query is words, all of which must occur in a message: `pool`, `"connection pool"` (one after the other), `conn*`
   (how a word begins), `-test` (must not occur). Whatever is typed is a query; nothing is an error.
2. A word is a run of letters and digits, whatever its script; case does not matter. `parse_http`, `parse.http` and
   `--parse-http` are phrases of two words. In Chinese, Japanese, Korean and Thai, which are written without spaces,
   each letter is a word: 制表 finds every place where they follow one another.
3. Accents matter: `cafe` does not find `café`. How an accent is encoded does not.
4. A phrase does not reach over more than `GAP` signs between two of its words.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import islice

from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST = 50  #: terms of a query; more are not looked at
LONGEST = 10_000  #: letters of a query
GAP = 64
RUN = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(f"[{RUN}]|[^\\W_{RUN}]+")
_IS_RUN = re.compile(f"[{RUN}]")
_TERM = re.compile(r'(-(?=[^\s-]))?(?:"([^"]*)"?(\*?)|(\S+))')
#: letters that are ASCII letters when case does not matter
ALIKE = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}


class Term(NamedTuple):
    """One word, or several that follow one another."""

    words: tuple[str, ...]
    is_prefix: bool = False  #: whether the last word may go on


class Query(NamedTuple):
    """What must occur, and what must not."""

    wanted: tuple[Term, ...]
    unwanted: tuple[Term, ...] = ()


def query_of(text: str) -> Query:
    """A query as it was typed.

    >>> query_of('pool "Max Size" conn* -test')
    Query(wanted=(Term(words=('pool',), is_prefix=False), Term(words=('max', 'size'), is_prefix=False), \
Term(words=('conn',), is_prefix=True)), unwanted=(Term(words=('test',), is_prefix=False),))
    >>> query_of('" - * ) -'), [term.words for term in query_of("--no-index 制表").wanted]
    (Query(wanted=(), unwanted=()), [('no', 'index'), ('制', '表')])
    """
    wanted: dict[Term, None] = {}
    unwanted: dict[Term, None] = {}
    for match in _TERM.finditer(text[:LONGEST]):
        minus, quoted, star, bare = match.groups()
        words = words_of(quoted if bare is None else bare)
        if words and len(wanted) + len(unwanted) < MOST:
            is_prefix = bool(star) if bare is None else bare.endswith("*")
            (unwanted if minus else wanted)[Term(words, is_prefix)] = None
    return Query(tuple(wanted), tuple(unwanted))


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, in order.

    >>> words_of("Don't parse_HTTP, Größe 使用tabs")
    ('don', 't', 'parse', 'http', 'größe', '使', '用', 'tabs')
    """
    return tuple(_WORD.findall(_folded(even(text))))


def even(text: str) -> str:
    """A text with its accents encoded in one way."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(ALIKE).lower()


# For an index of words


def index_text(text: str) -> str:
    """A text as an FTS5 table takes it: beside it every word that is not plain ASCII, as `index_word` writes it.

    >>> index_text("Größe: 5"), index_text("plain_text")
    ('Größe: 5 u6772c3b6c39f65', 'plain_text')
    """
    if text.isascii():
        return text.replace("\0", " ") if "\0" in text else text
    words: dict[str, None] = {}
    for piece in set(text.split()):
        if not piece.isascii():
            words.update(dict.fromkeys(words_of(piece)))
    whole = " ".join([text, *map(index_word, words)])
    return whole.encode("utf-8", "replace").decode().replace("\0", " ")


def index_word(word: str) -> str:
    """A word by ASCII letters and digits alone, so that every version of SQLite cuts it in the same way.

    >>> index_word("pool"), index_word("制")
    ('pool', 'ue588b6')
    """
    return word if word.isascii() else "u" + word.encode("utf-8", "surrogatepass").hex()


def expression(query: Query) -> str:
    """The FTS5 expression for the messages that may be meant; it finds too many, never too few.

    >>> expression(query_of('"max size" conn* -test'))
    '"max" AND "size" AND "conn" *'
    """
    terms: dict[str, None] = {}
    for term in query.wanted:
        for at, word in enumerate(term.words):
            is_open = (term.is_prefix and at == len(term.words) - 1) or len(word) > 200
            terms[f'"{index_word(word[:200])}"{" *" if is_open else ""}'] = None
    return " AND ".join(terms)


# For a text


class Matcher:
    """Whether a message has what a query asks for, and where.

    >>> matcher = Matcher(query_of('"Max size" -test'))
    >>> matcher.fits(["pool", "max_size = 5"]), matcher.fits(["max size", "a test"]), matcher.spans("a max.size")
    (True, False, [(2, 10)])
    """

    def __init__(self, query: Query) -> None:
        self._wanted = [_Finder(term) for term in query.wanted]
        self._unwanted = [_Finder(term) for term in query.unwanted]

    def fits(self, texts: Iterable[str]) -> bool:
        """Whether each wanted term is in one of the texts, and no unwanted one in any."""
        lows = [_level(text) for text in texts]
        return all(any(wanted.is_in(low) for low in lows) for wanted in self._wanted) and not any(
            unwanted.is_in(low) for unwanted in self._unwanted for low in lows
        )

    def spans(self, text: str, most: int = 1000) -> list[tuple[int, int]]:
        """Where wanted terms stand in a text, in order, without overlaps; of each term no more than `most`."""
        low = _level(text)
        found = [span for wanted in self._wanted for span in islice(wanted.spans(low), most)]
        clean: list[tuple[int, int]] = []
        for start, end in sorted(found):
            if not clean or start >= clean[-1][1]:
                clean.append((start, end))
        return clean

    def counts(self, texts: Iterable[str], most: int = 20) -> list[int]:
        """How often each wanted term occurs; more than `most` is not counted."""
        lows = [_level(text) for text in texts]
        spans = [islice((span for low in lows for span in wanted.spans(low)), most) for wanted in self._wanted]
        return [sum(1 for _ in some) for some in spans]


class _Finder:
    """Where a term is: its first word is looked for as it is, which is fast, then the rest at that place."""

    def __init__(self, term: Term) -> None:
        self._first = term.words[0]
        self._whole = re.compile(_pattern(term))

    def is_in(self, low: str) -> bool:
        return next(self.spans(low), None) is not None

    def spans(self, low: str) -> Iterator[tuple[int, int]]:
        at = low.find(self._first)
        while at >= 0:
            match = self._whole.match(low, at)
            if match is not None:
                yield match.span()
            at = low.find(self._first, match.end() if match is not None else at + 1)


def _level(text: str) -> str:
    """A text without differences of case, letter for letter as long as it was."""
    low = _folded(text)
    return low if len(low) == len(text) else "".join([_one(sign) for sign in text])


def _one(sign: str) -> str:
    low = sign.translate(ALIKE).lower()
    return low if len(low) == 1 else sign


def _pattern(term: Term) -> str:
    first, last = term.words[0], term.words[-1]
    before = "" if _IS_RUN.match(first) else f"(?<![^\\W_{RUN}])"
    after = "" if term.is_prefix or _IS_RUN.match(last) else f"(?![^\\W_{RUN}])"
    made = re.escape(first)
    for left, right in zip(term.words, term.words[1:], strict=False):
        least = 0 if _IS_RUN.match(left) or _IS_RUN.match(right) else 1
        made += f"[\\W_]{{{least},{GAP}}}{re.escape(right)}"
    return before + made + after
