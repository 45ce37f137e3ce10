"""YAML as Claude Code writes it into memory files.

1. Two spaces for every level, a list one level deeper than its key; flow style only for empty collections.
2. Keys that are integers come first in every mapping, in ascending order, as in JavaScript.
3. A string is plain where no reader could take it for something else; otherwise in double quotes.
4. Numbers are written as JavaScript writes them.

`YamlStyle` holds what differs between versions. The rules were fitted to some ten thousand texts that the agent itself
wrote; `tests/memory/format/stored_more.jsonl` has a selection.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from foretold.types import NamedTuple


class YamlStyle(NamedTuple):
    """How a version of the agent writes YAML."""

    gap: str = " "  #: between the colon of a key and the end of its line
    inline_empty: bool = False  #: whether an empty list or mapping is on the line of its key
    quoted_mark: str = ""  #: one more character that a plain string must not begin with
    careful: bool = False  #: whether comments are preserved, and the time of the change is noted


STYLE = YamlStyle()
NEWER_STYLE = YamlStyle(gap="", inline_empty=True, quoted_mark="\ufeff", careful=True)  #: of 2.1.325

#: words that a reader of YAML 1.1 or 1.2 does not take for a string
WORDS = frozenset(
    word
    for small in ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
    for word in (small, small.upper(), small.capitalize())
) | frozenset("~ .inf .Inf .INF +.inf +.Inf +.INF .nan .NaN .NAN".split())
_START = re.compile(r"[&*?|\-<>!%@:,\[\]{}#'\"` \t\n\r]")
_WITHIN = re.compile(
    r"[{}\[\],#`'\"\x00-\x1f\x7f\x85\xa0\u2028\u2029]"
    r"|:(?:[ \t\n\r]|\Z)|(?:---|\.\.\.)(?:[ \t\n\r\[\]{},]|\Z)|[ \t\n\r]\Z"
)
_LETTERS = dict(zip('\0\a\b\t\n\v\f\r\x1b"\\\x85\xa0\u2028\u2029', '0abtnvfre"\\N_LP', strict=True))
_ESCAPES = {chr(code): f"\\x{code:02x}" for code in (*range(32), 127)} | {
    char: f"\\{letter}" for char, letter in _LETTERS.items()
}


def write_yaml(value: object, style: YamlStyle = STYLE, depth: int = 0) -> str:
    """A value as YAML; its first line continues the caller's."""
    if isinstance(value, dict) and value:
        rows = [_entry(key, item, style, depth) for key, item in _order_keys(value)]
    elif isinstance(value, list | tuple) and value:
        rows = ["- " + write_yaml(item, style, depth + 1) for item in value]
    elif isinstance(value, dict | list | tuple):
        return "{}" if isinstance(value, dict) else "[]"
    else:
        return quote(value, style) if isinstance(value, str) else _scalar(value)
    return ("\n" + "  " * depth).join(rows)


def _entry(key: str, value: object, style: YamlStyle, depth: int) -> str:
    text = write_yaml(value, style, depth + 1)
    below = isinstance(value, dict | list | tuple) and (value or not style.inline_empty)
    return f"{quote(key, style)}:{style.gap}\n{'  ' * (depth + 1)}{text}" if below else f"{quote(key, style)}: {text}"


def _order_keys(values: Mapping[object, object]) -> list[tuple[str, object]]:
    named = {key if isinstance(key, str) else _scalar(key): value for key, value in values.items()}
    first = {key for key in named if re.fullmatch(r"0|[1-9][0-9]{0,9}", key) and int(key) < 0xFFFFFFFF}
    return [(key, named[key]) for key in (*sorted(first, key=int), *(key for key in named if key not in first))]


def quote(text: str, style: YamlStyle = STYLE) -> str:
    """A string as YAML."""
    clear = text and text not in WORDS and not _START.match(text) and not _WITHIN.search(text)
    if clear and not _is_like_number(text) and not (style.quoted_mark and text.startswith(style.quoted_mark)):
        return text
    return '"' + "".join(_ESCAPES.get(char, char) for char in text) + '"'


def _is_like_number(text: str) -> bool:
    """Whether the agent quotes a string as if it were a number; many are not. # stored_more: f-str0"""
    rest = text.removeprefix("+")
    if text[0] not in "0123456789.+" or not rest or rest.count("-") > 1:
        return False
    if re.fullmatch(r"0[xX][0-9A-Fa-f-]+|0[oO][0-9eE+-]+", rest):
        return True
    return bool(re.fullmatch(r"[0-9.eE+-]+", rest)) and rest.count(".") < 2 and len(re.findall("[eE]", rest)) < 2


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        text = number(value)
        return {"Infinity": ".inf", "-Infinity": "-.inf", "NaN": ".nan"}.get(text, text)
    return quote(str(value))


def number(value: float) -> str:
    """A number as JavaScript writes it, except that zero keeps its sign."""
    try:
        text = repr(float(value))
    except OverflowError:
        text = "-inf" if value < 0 else "inf"
    sign, text = ("-", text[1:]) if text[0] == "-" else ("", text)
    if text in ("inf", "nan"):
        return sign + {"inf": "Infinity", "nan": "NaN"}[text]
    mantissa, _, power = text.partition("e")
    whole, _, rest = mantissa.partition(".")
    digits = (whole + rest).lstrip("0")
    point = len(whole) + int(power or 0) - (len(whole + rest) - len(digits))
    return sign + _place_point(digits.rstrip("0"), point)


def _place_point(digits: str, point: int) -> str:
    """Digits with a decimal point after the first `point` of them."""
    if not digits:
        return "0"
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    more = "." + digits[1:] if len(digits) > 1 else ""
    return f"{digits[0]}{more}e{point - 1:+d}"
