"""Taking credentials out of what leaves the machine.

1. What looks like a credential is found by `foretold.secrets.forms`, by what stands around it (`sessions.exposed`) and,
   where the extra `secrets` is installed, by the detectors of detect-secrets as well.
2. In its place stands its kind and a one-way fingerprint: equal values have equal fingerprints and one kind, wherever
   they stand (`overlap.py`), so that a reader can tell "the same key again". Of a value that could be guessed they are
   slow to compute.
3. A private key is taken out from its first line to its last.
4. A value under a key such as `password` is read together with that key; so is one beside a name (`{"name":
   "DB_PASSWORD", "value": …}`) and one behind a flag (`["--password", …]`).
5. A password that was found once is taken out wherever it stands again, also without what betrayed it.
6. Colours and invisible characters hide nothing.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from foretold.extras import how_to_install
from foretold.secrets.by_context import (
    ASSIGNED,
    HEADER,
    URL,
    exposed_in,
    is_chosen,
    is_random,
    is_secret_field,
    is_secret_name,
)
from foretold.secrets.detectors import installed
from foretold.secrets.spans import holding
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foretold.secrets.by_context import Span

MOST_KNOWN = 64  #: values that are looked for again
_MARK = re.compile(r"\[redacted: [^\[\]\n]{1,80} [0-9a-f]{12}\]")
_HIDDEN = re.compile(
    r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)"
    r"|[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)
_PLAIN = re.compile(r"[A-Za-z]{0,15}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")  #: a word, an id: most of all texts
_NAMES, _VALUES = ("name", "key", "Name", "Key", "variable"), ("value", "Value", "val", "default")


class Redacted(NamedTuple):
    """Something that was taken out."""

    kind: str
    fingerprint: str


class Redactor:
    """Takes credentials out of texts and of values of JSON, and remembers what it found.

    >>> redactor = Redactor()
    >>> redactor.text("key " + "AKIA" + "IOSFODNN7ABCDEFG" + " end")[:24]
    'key [redacted: AWS acces'
    >>> redactor.value({"password": "Kq92-mmPl0t7", "note": "ok"})["note"]
    'ok'
    >>> sorted({found.kind for found in redactor.found})
    ['AWS access key', 'assigned secret']
    """

    def __init__(self, *, extra: bool | None = None) -> None:
        """`extra`: whether the detectors of the extra are used; None = if they are installed."""
        self.found: dict[Redacted, int] = {}
        self._known: dict[str, str] = {}
        self._kinds: dict[str, str] = {}  #: fingerprint -> what the value was called first
        detector = None if extra is False else installed()
        if extra and detector is None:
            raise ModuleNotFoundError(f"{how_to_install('secrets')} brings the detectors")
        self._detector = detector

    @property
    def detectors(self) -> str:
        """Who looks for credentials, for people."""
        return "foretold and detect-secrets" if self._detector else "foretold"

    def text(self, text: str) -> str:
        """A text without its credentials."""
        return self._without(text, 0)

    def _without(self, text: str, start: int, *more: Span) -> str:
        """A text from a place on, without its credentials; what stands before that place is read with it."""
        marks = [match.span() for match in _MARK.finditer(text)] if "[redacted: " in text else []
        found = _unmarked([*self._spans(text), *more], marks)
        for kind, begin, end in holding(text, found):
            self._learn(kind, text[max(begin, start) : end])
        again = _unmarked(self._again(text), marks)
        if not found and not again:
            return text[start:]
        out, at = [], start
        for kind, begin, end in holding(text, found, again):
            begin = max(begin, at)
            if end > begin:
                out += [text[at:begin], self._mark(kind, text[begin:end])]
                at = end
        return "".join((*out, text[at:]))

    def value(self, value: object, key: str = "") -> object:
        """A value of JSON without its credentials, all the way down."""
        if isinstance(value, str):
            return self._field(value, key)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._mark(ASSIGNED, str(value)) if is_secret_field(key, str(value)) else value
        if isinstance(value, dict):
            return {self.text(str(name)): self.value(item, _name(name, value, key)) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return self._list(value, key)
        return value

    def _field(self, value: str, key: str) -> str:
        if key and is_secret_field(key, value) and not _MARK.search(value):
            return self._without(value, 0, (ASSIGNED, 0, len(value)))
        before = f'{key}="' if key and not value.startswith(key) else ""
        return self._without(before + value, len(before))

    def _list(self, items: Sequence[object], key: str) -> list[object]:
        lines = [item for item in items if isinstance(item, str)]
        if len(lines) == len(items) and any("PRIVATE KEY" in line for line in lines):
            return list(self.text("\n".join(lines)).split("\n"))
        found, flag = [], ""
        for item in items:
            found.append(self.value(item, flag or key))
            flag = item.lstrip("-") if isinstance(item, str) and item.startswith("-") and "=" not in item else ""
        return found

    def _spans(self, text: str) -> list[Span]:
        if len(text) <= 36 and _PLAIN.fullmatch(text):
            return []
        return [*_in_sight(text), *(self._detector(text) if self._detector else ())]

    def _again(self, text: str) -> list[Span]:
        """Where values stand that were found before."""
        spans = []
        for value, kind in self._known.items():
            at = text.find(value)
            while at >= 0:
                spans.append((kind, at, at + len(value)))
                at = text.find(value, at + len(value))
        return spans

    def _learn(self, kind: str, said: str) -> None:
        value = _plain(said)
        if len(self._known) < MOST_KNOWN and _is_sure(kind, value):
            self._known.setdefault(value, kind)

    def _mark(self, kind: str, said: str) -> str:
        digits = fingerprint(_plain(said))
        found = Redacted(self._kinds.setdefault(digits, kind), digits)
        self.found[found] = self.found.get(found, 0) + 1
        return f"[redacted: {found.kind} {found.fingerprint}]"


def _is_sure(kind: str, value: str) -> bool:
    """Whether a value is a secret also where nothing betrays it: no word that may be said by chance."""
    if kind not in (ASSIGNED, HEADER, URL):
        return False
    return len(value) >= (6 if kind == URL else 8) and (is_random(value[:200]) or is_chosen(value))


def _plain(said: str) -> str:
    """A value without what only surrounds it: colours, and the sign at the end of a line of code."""
    return _HIDDEN.sub("", said).rstrip(",;") or said


def _unmarked(spans: list[Span], marks: list[tuple[int, int]]) -> list[Span]:
    """Spans without those that touch what was put in the place of a credential before."""
    if not marks:
        return spans
    return [span for span in spans if not any(start < span[2] and span[1] < end for start, end in marks)]


def _name(name: object, fields: Mapping[str, object], above: str) -> str:
    """What a field is called: by its key, by the name that stands beside it, or by what it is a part of."""
    key = str(name)
    if key in _VALUES:
        beside = next((said for other in _NAMES if isinstance(said := fields.get(other), str)), "")
        return beside or (above if is_secret_name(above) else key)
    return key


def _in_sight(text: str) -> list[Span]:
    """What is exposed in a text, also where colours and invisible characters stand in it."""
    hidden = [match.span() for match in _HIDDEN.finditer(text)] if not text.isascii() or "\x1b" in text else []
    if not hidden:
        return exposed_in(text)
    places: list[int] = []
    at = 0
    for start, end in (*hidden, (len(text), len(text))):
        places += range(at, start)
        at = end
    plain = "".join(text[place] for place in places) if len(places) < len(text) else text
    return [
        *((kind, places[start], places[end - 1] + 1) for kind, start, end in exposed_in(plain)),
        *exposed_in(text),
    ]


@lru_cache(4096)
def fingerprint(value: str) -> str:
    """Twelve digits that are equal for equal values, and from which a value cannot be computed, nor easily guessed.

    >>> fingerprint("hunter2") == fingerprint("hunter2") != fingerprint("hunter3")
    True
    """
    data = value.encode("utf-8", "surrogatepass")
    if len(value) >= 24 and is_random(value[:200]):  # nobody guesses it, so that no time need be spent
        return hashlib.blake2b(data, digest_size=6, salt=b"foretold").hexdigest()
    return hashlib.scrypt(data, salt=b"foretold", n=2**14, r=8, p=1, dklen=6).hex()
