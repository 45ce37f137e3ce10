r"""What is searched for: words, phrases, beginnings of words, and words that must not occur.

1. A query is words, all of which must occur in a message: `pool`, `"connection pool"` (one after the other), `conn*`
   (how a word begins), `-test` (must not occur). Any text is a query; nothing is an error.
2. A word is a run of letters and digits of any script; case does not matter. `parse_http`, `parse.http` and
   `--parse-http` are phrases of two words. In Chinese, Japanese, Korean and Thai, which are written without spaces,
   each character is a word: 制表 finds every place where they follow one another.
3. Accents matter: `cafe` does not find `café`. How an accent is encoded does not.
4. Between two words of a phrase there are at most `GAP` other characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice

from foretold.types import NamedTuple

MOST = 50  #: terms of a query; more are ignored
LONGEST = 10_000  #: characters of a query
GAP = 64
RUN = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(f"[{RUN}]|[^\\W_{RUN}]+")
_IS_RUN = re.compile(f"[{RUN}]")
_TERM = re.compile(r'(-(?=[^\s-]))?(?:"([^"]*)"?(\*?)|(\S+))')
#: letters that are ASCII letters when case does not matter
ALIKE = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}


class QueryTerm(NamedTuple):
    """One word, or several that follow one another."""

    words: tuple[str, ...]
    is_prefix: bool = False  #: whether the last word may go on


class SearchQuery(NamedTuple):
    """What must occur, and what must not."""

    wanted: tuple[QueryTerm, ...]
    unwanted: tuple[QueryTerm, ...] = ()


def parse_query(text: str) -> SearchQuery:
    """The query that a text stands for.

    >>> query = parse_query('pool "Max Size" conn* -test')
    >>> [term.words for term in query.wanted], query.wanted[2].is_prefix, [term.words for term in query.unwanted]
    ([('pool',), ('max', 'size'), ('conn',)], True, [('test',)])
    >>> parse_query('" - * ) -'), [term.words for term in parse_query("--no-index 制表").wanted]
    (SearchQuery(wanted=(), unwanted=()), [('no', 'index'), ('制', '表')])
    """
    wanted: dict[QueryTerm, None] = {}
    unwanted: dict[QueryTerm, None] = {}
    for match in _TERM.finditer(text[:LONGEST]):
        minus, quoted, star, bare = match.groups()
        words = words_of(quoted if bare is None else bare)
        if words and len(wanted) + len(unwanted) < MOST:
            is_prefix = bool(star) if bare is None else bare.endswith("*")
            (unwanted if minus else wanted)[QueryTerm(words, is_prefix)] = None
    return SearchQuery(tuple(wanted), tuple(unwanted))


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, in order.

    >>> words_of("Don't parse_HTTP, Größe 使用tabs")
    ('don', 't', 'parse', 'http', 'größe', '使', '用', 'tabs')
    """
    return tuple(_WORD.findall(_fold_case(normalize_accents(text))))


def normalize_accents(text: str) -> str:
    """A text with its accents encoded in one form."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _fold_case(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(ALIKE).lower()


# For the index, and for bytes


def ascii_words(query: SearchQuery) -> list[bytes]:
    """The words that must occur and are plain ASCII, the longest first."""
    words = {word.encode() for term in query.wanted for word in term.words if word.isascii()}
    return sorted(words, key=len, reverse=True)


def index_text(text: str) -> str:
    """A text as it is given to FTS5: followed by every word that is not plain ASCII, as `index_word` writes it.

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
    """A word in ASCII letters and digits, so that every version of SQLite cuts it in the same place.

    >>> index_word("pool"), index_word("制")
    ('pool', 'ue588b6')
    """
    return word if word.isascii() else "u" + word.encode("utf-8", "surrogatepass").hex()


def fts_expression(query: SearchQuery) -> str:
    """The FTS5 expression for the messages that may match; it finds too many, never too few.

    >>> fts_expression(parse_query('"max size" conn* -test'))
    '"max" AND "size" AND "conn" *'
    """
    terms: dict[str, None] = {}
    for term in query.wanted:
        for at, word in enumerate(term.words):
            is_open = (term.is_prefix and at == len(term.words) - 1) or len(word) > 200
            terms[f'"{index_word(word[:200])}"{" *" if is_open else ""}'] = None
    return " AND ".join(terms)


# For a text


class QueryMatcher:
    """Whether a message has what a query asks for, and where."""

    def __init__(self, query: SearchQuery) -> None:
        self._wanted, self._unwanted = (
            [(term.words[0], re.compile(_pattern_of(term))) for term in terms] for terms in query
        )

    def fits(self, texts: Iterable[str]) -> bool:
        """Whether each wanted term is in one of the texts, and no unwanted one in any."""
        lows = [_fold_case_in_place(text) for text in texts]
        return all(any(any(_spans(term, low)) for low in lows) for term in self._wanted) and not any(
            any(_spans(term, low)) for term in self._unwanted for low in lows
        )

    def spans(self, text: str, most: int = 1000) -> list[tuple[int, int]]:
        """Where wanted terms are in a text, in order, without overlaps; of each term no more than `most`."""
        low = _fold_case_in_place(text)
        clean: list[tuple[int, int]] = []
        for start, end in sorted(span for term in self._wanted for span in islice(_spans(term, low), most)):
            if not clean or start >= clean[-1][1]:
                clean.append((start, end))
        return clean

    def counts(self, texts: Iterable[str], most: int = 20) -> list[int]:
        """How often each wanted term occurs; more than `most` is not counted."""
        lows = [_fold_case_in_place(text) for text in texts]
        return [len([*islice((span for low in lows for span in _spans(term, low)), most)]) for term in self._wanted]


def _spans(term: tuple[str, re.Pattern[str]], low: str) -> Iterator[tuple[int, int]]:
    """Where a term is: its first word as it is, which is fast to find, then the rest at that place."""
    first, whole = term
    at = low.find(first)
    while at >= 0:
        match = whole.match(low, at)
        if match is not None:
            yield match.span()
        at = low.find(first, match.end() if match is not None else at + 1)


def _fold_case_in_place(text: str) -> str:
    """A text without differences of case, in which every character keeps its place."""
    low = _fold_case(text)
    if len(low) == len(text):
        return low
    return "".join([one if len(one := _fold_case(char)) == 1 else char for char in text])


def _pattern_of(term: QueryTerm) -> str:
    first, last = term.words[0], term.words[-1]
    before = "" if _IS_RUN.match(first) else f"(?<![^\\W_{RUN}])"
    after = "" if term.is_prefix or _IS_RUN.match(last) else f"(?![^\\W_{RUN}])"
    made = re.escape(first)
    for left, right in zip(term.words, term.words[1:], strict=False):
        least = 0 if _IS_RUN.match(left) or _IS_RUN.match(right) else 1
        made += f"[\\W_]{{{least},{GAP}}}{re.escape(right)}"
    return before + made + after
