"""Whether keys and values are those of a table (`dialects.extensions.tables`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from foretold.check.schema.spelling import find_near, fold
from foretold.types import NamedTuple

MOST_KEYS = 200  #: of one table that are compared with known ones: a file may have any number of them
FLAGS = frozenset("true false yes no on off 1 0".split())
NAMES = {
    "text": "a text",
    "flag": "true or false",
    "number": "a number",
    "list": "a list",
    "table": "an object",
    "texts": "a text or a list of texts",
}


class WrongValue(NamedTuple):
    """A value that is not of the kind that its key has."""

    key: str
    wanted: str  #: what it should be, in words
    near: str = ""  #: the value that was meant
    is_choice: bool = False  #: it should be one of several


def find_slips(keys: Iterable[str], known: Iterable[str], others: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Keys that are nearly known ones, and those; not one that is right elsewhere (`others`) or next to the right."""
    given, names, foreign = list(keys)[:MOST_KEYS], list(known), set(others)
    there = set(given)
    for key in dict.fromkeys(given):
        if key in foreign or key in names:
            continue
        near = find_near(key, names)
        if (
            near
            and near not in there
            and not (key[:1] in "_$#/" or any(fold(key) == fold(each) for each in foreign - {near}))
        ):
            yield key, near


def find_wrong(values: Mapping[str, object], kinds: Mapping[str, str], *, is_strict: bool) -> Iterator[WrongValue]:
    """Values of known keys that are of another kind. YAML is not strict: there a number is a text, too."""
    for key, kind in kinds.items():
        found = _dig(values, key)
        if found is not None and not fits(found, kind, is_strict=is_strict):
            yield WrongValue(key, describe(kind), _near_choice(found, kind), kind.startswith("one of "))


def fits(value: object, kind: str, *, is_strict: bool) -> bool:
    """Whether a value is of a kind.

    >>> fits(True, "flag", is_strict=True), fits("yes", "flag", is_strict=False), fits("yes", "flag", is_strict=True)
    (True, True, False)
    """
    if kind.startswith("one of "):
        return str(value) in kind.split()[2:]
    return any(_is_of(value, each, is_strict=is_strict) for each in kind.split(" or "))


def _is_of(value: object, kind: str, *, is_strict: bool) -> bool:
    plain = not isinstance(value, (list, dict))
    if kind == "text":
        return isinstance(value, str) if is_strict else plain
    if kind == "flag":
        return isinstance(value, bool) or (not is_strict and plain and str(value).lower() in FLAGS)
    if kind == "number":
        if isinstance(value, str) and not is_strict:
            return value.replace(".", "", 1).isdigit()
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "list":
        return isinstance(value, list)
    if kind == "table":
        return isinstance(value, dict)
    if kind == "texts":
        return plain or isinstance(value, list)
    return True


def is_windows_path(path: str) -> bool:
    """Whether a path begins with a drive: it is whole, and of one machine.

    >>> is_windows_path("C:/tools/db.js"), is_windows_path("tools/db.js")
    (True, False)
    """
    return path[1:3] in (":/", ":\\") and path[0].isalpha()


def describe(kind: str) -> str:
    """A kind in words.

    >>> describe("text or table"), describe("one of low high")
    ('a text or an object', 'one of low, high')
    """
    if kind.startswith("one of "):
        return f"one of {', '.join(kind.split()[2:])}"
    return " or ".join(NAMES[each] for each in kind.split(" or "))


def _near_choice(value: object, kind: str) -> str:
    if kind.startswith("one of ") and isinstance(value, str):
        return find_near(value, kind.split()[2:])
    return ""


def _dig(values: Mapping[str, object], key: str) -> object:
    if "." not in key or key in values:
        return values.get(key)
    first, _, rest = key.partition(".")
    inner = values.get(first)
    return inner.get(rest) if isinstance(inner, dict) else None
