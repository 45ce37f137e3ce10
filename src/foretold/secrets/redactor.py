"""Replacing credentials in what leaves the machine.

1. Credentials are those that `detector.find_secrets` finds: by their form, by their surroundings.
2. Each is replaced by its kind and a one-way fingerprint. Equal values have equal fingerprints and one kind, so that a
   reader sees "the same key again". The fingerprint of a value that could be guessed is slow to compute.
3. A private key is replaced from its first line to its last.
4. A value under a key such as `password` is read together with that key; so is one next to a name (`{"name":
   "DB_PASSWORD", "value": …}`) and one after a flag (`["--password", …]`).
5. A password that was found once is replaced wherever it occurs again, also without its surroundings.
6. Terminal colours and invisible characters hide nothing.
7. Where spans overlap, a token with a form of its own wins, then a value that was found before, then what its
   surroundings mark. Spans of equal rank become one, with the kind of the first. What a weaker span has outside a
   stronger one is replaced too, unless it is only a name and punctuation (`ID=` before a key).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from foretold.secrets.by_context import ASSIGNED, is_secret_field, is_secret_name
from foretold.secrets.detector import find_secrets
from foretold.secrets.forms import may_have_secrets
from foretold.secrets.headers import HEADER
from foretold.secrets.tokens import HIDDEN, URL, Span, find_all, resolve_overlaps
from foretold.secrets.values import is_chosen, is_random
from foretold.types import NamedTuple

MOST_KNOWN = 64  #: values that are searched again
_MARK = re.compile(r"\[redacted: [^\[\]\n]{1,80} [0-9a-f]{12}\]")
_HIDDEN = re.compile(HIDDEN)
_PLAIN = re.compile(r"[A-Za-z]{0,15}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")  #: a word, an id: most of all texts
_NAMES, _VALUES = ("name", "key", "Name", "Key", "variable"), ("value", "Value", "val", "default")


class Redacted(NamedTuple):
    """A credential that was replaced."""

    kind: str
    fingerprint: str


class Redactor:
    """Replaces credentials in texts and in JSON values, and remembers what it found.

    >>> redactor = Redactor()
    >>> redactor.text("key " + "AKIA" + "IOSFODNN7ABCDEFG" + " end")[:24]
    'key [redacted: AWS acces'
    >>> redactor.value({"password": "Kq92-mmPl0t7", "note": "ok"})["note"]
    'ok'
    >>> sorted({found.kind for found in redactor.found})
    ['AWS access key', 'assigned secret']
    """

    def __init__(self) -> None:
        self.found: dict[Redacted, int] = {}
        self._known: dict[str, str] = {}
        self._kinds: dict[str, str] = {}  #: fingerprint -> the kind it had first

    def text(self, text: str) -> str:
        """A text without its credentials."""
        return self._without(text, 0)

    def _without(self, text: str, start: int, *more: Span) -> str:
        """A text from `start` on, without its credentials; what comes before it is read as context."""
        marks = [match.span() for match in _MARK.finditer(text)] if "[redacted: " in text else []
        found = _without_marks([*self._spans(text), *more], marks)
        for kind, begin, end in resolve_overlaps(text, found):
            self._learn(kind, text[max(begin, start) : end])
        known = self._known.items()
        again = [(kind, at, at + len(value)) for value, kind in known for at in find_all(text, value)]
        again = _without_marks(again, marks)
        if not found and not again:
            return text[start:]
        out, at = [], start
        for kind, begin, end in resolve_overlaps(text, found, again):
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
            return {
                self.text(str(name)): self.value(item, _name_of_field(name, value, key)) for name, item in value.items()
            }
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
        return find_secrets(text) if may_have_secrets(text) else []

    def _learn(self, kind: str, said: str) -> None:
        """Remember a value that is a secret wherever it occurs: not a word that may be there by chance."""
        value = _strip_decoration(said)
        may_be = kind in (ASSIGNED, HEADER, URL) and len(value) >= (6 if kind == URL else 8)
        if may_be and len(self._known) < MOST_KNOWN and (is_random(value[:200]) or is_chosen(value)):
            self._known.setdefault(value, kind)

    def _mark(self, kind: str, said: str) -> str:
        digits = fingerprint(_strip_decoration(said))
        found = Redacted(self._kinds.setdefault(digits, kind), digits)
        self.found[found] = self.found.get(found, 0) + 1
        return f"[redacted: {found.kind} {found.fingerprint}]"


def _strip_decoration(said: str) -> str:
    """A value without colours, and without the punctuation at the end of a line of code."""
    return _HIDDEN.sub("", said).rstrip(",;") or said


def _without_marks(spans: list[Span], marks: list[tuple[int, int]]) -> list[Span]:
    """Spans that do not touch a mark of an earlier redaction."""
    if not marks:
        return spans
    return [span for span in spans if not any(start < span[2] and span[1] < end for start, end in marks)]


def _name_of_field(name: object, fields: Mapping[str, object], above: str) -> str:
    """The name of a field: its key, the name next to it, or what it is part of."""
    key = str(name)
    if key in _VALUES:
        given = next((name for other in _NAMES if isinstance(name := fields.get(other), str)), "")
        return given or (above if is_secret_name(above) else key)
    return key


@lru_cache(4096)
def fingerprint(value: str) -> str:
    """Twelve digits that are equal for equal values, and from which a value cannot be computed, nor easily guessed.

    >>> fingerprint("hunter2") == fingerprint("hunter2") != fingerprint("hunter3")
    True
    """
    data = value.encode("utf-8", "surrogatepass")
    if len(value) >= 24 and is_random(value[:200]):  # it cannot be guessed, so it need not be slow
        return hashlib.blake2b(data, digest_size=6, salt=b"foretold").hexdigest()
    return hashlib.scrypt(data, salt=b"foretold", n=2**14, r=8, p=1, dklen=6).hex()
