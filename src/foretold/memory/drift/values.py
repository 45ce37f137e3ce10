"""Values that a memory states, and what the files have now: "port 8080", "`LIMIT = 20`", "Python 3.9 or later".

1. A value is a claim if the memory says where it is: a key with its value in backticks, a key in backticks and "is 30",
   "defaults to 30"; `name>=1.2` of a requirement; a word such as *port* with a number, next to one file; a version of a
   language that is required.
2. A key that is an ordinary word counts only next to a file. Another one may be without: then every file that is not
   a test or a document is asked, and all must agree.
3. A value holds if one of the values of its key is equal, or has it as a part (`6023` in `[6023, 6073]`, `3.10` in
   `>=3.10`). Case, quotes and white space do not count, nor does the unit (180 is 3 minutes).
4. It has changed only if the key is there, every value of it is a literal, and none holds. All else is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from foretold.memory.drift import classify
from foretold.memory.drift.definitions import is_comment
from foretold.memory.drift.sentences import Sentence
from foretold.text.patterns import lazy
from foretold.types import NamedTuple

LONGEST = 80  #: characters of a value
MOST = 40  #: values of a key in one file
WIDE = 240  #: characters before a key on its line that are read
_LITERAL = r"-?\d[\d_]*(?:\.\d+)*|\"[^\"]*\"|'[^']*'|true|false|True|False|None|null|nil|\[[^\[\]()]*\]"
_SETTING = lazy(rf"[\"']?([A-Za-z_][\w.-]*)[\"']?\s*(?::=|=(?!=)|:)\s*({_LITERAL}|v?\d[\w.]*|[a-z][\w-]*)[,;]?")
_REQUIREMENT = lazy(r"([A-Za-z][\w.-]+)(?:\[[\w,-]+\])?(==|>=|~=|<=|\^|@)v?(\d+\.\d[\w.]*)")
_S = r"\s{0,3}"  #: white space, never more: a long run of it must not be tried in every way
_IS = lazy(
    rf"[`*)]{{0,3}}{_S}(?:,?{_S}which\s)?"
    r"(?:(?:is|are|equals?|stays?|was)(?:\s(?:set|limited|fixed|capped))?|defaults?|set|of|=|:)\s{1,3}"
    r"(?:(?:still|always|now|by\sdefault|only|at|to|a\sdefault\sof)\s{1,3}){0,4}"
    r"(`\x00+`|-?\d[\d_]*(?:\.\d+)*|true\b|false\b)(?![\w.]*\d)"
    r"(?!\s?(?:times|x\b|%|percent|lines|files|years?|days? (?:old|ago)|places|of|or|to|-|classes|functions|methods"
    r"|copies|callers|levels|and)\b)",
    re.IGNORECASE,
)
_BEFORE_KEY = lazy(
    r"(?:^|\s)(-?\d[\d_]*(?:\.\d+)?)\s?(?:ms|s|seconds?|minutes?|kB|KB|MB|bytes)?\s?(?:by default\s?)?"
    r"(?:\(|:\s)\s?(?:see\s|setting\s)?`*\Z",
)
_WORD = lazy(
    r"\b(port|timeout|limit|retries|workers|line[- ]length|concurrency|ttl|interval|version)\b"
    r"(?:\s{1,3}(?:number|in|of|`\x00+`)){0,4}(?:\s{0,3}(?:is|of|=|:|at|set to))?\s{1,3}(?:still\s)?"
    r"v?(\d[\d_]*(?:\.\d+)*)(?![\w-])",
    re.IGNORECASE,
)
_LANGUAGE = lazy(r"\b(Python|Node(?:\.js)?|Go|Rust|Ruby|PHP)\s(?:version\s)?v?(\d+(?:\.\d+){0,2})(?![\w.]{0,9}\d)")
_REQUIRED = lazy(
    r"\b(?:needs?|requires?|required|minimum|at least|or (?:later|newer|above|higher|up)|and (?:up|later|newer)"
    r"|supports?|oldest|lowest)\b|\d\+|>=",
    re.IGNORECASE,
)
#: where a language's version is required: file and key
LANGUAGES = {
    "python": (
        ("pyproject.toml", "requires-python"),
        ("setup.cfg", "python_requires"),
        ("setup.py", "python_requires"),
    ),
    "node": (("package.json", "node"),),
    "go": (("go.mod", "go"),),
    "rust": (("Cargo.toml", "rust-version"),),
    "php": (("composer.json", "php"),),
    "ruby": (("Gemfile", "ruby"),),
}
_FACTORS = (1, 60, 3600, 1000, 1024, 1_000_000, 1 << 20, 60_000)  #: between a number as people say and as code has it


class StatedValue(NamedTuple):
    """A key and the value that a sentence says it has."""

    key: str
    value: str
    at: int  #: in the sentence
    language: str = ""  #: of which a version is required


class FoundValue(NamedTuple):
    """What a file has for a key."""

    value: str  #: as it is written
    line: int


def find_values(sentence: Sentence) -> Iterator[StatedValue]:
    """The values that a sentence states."""
    text, spans = sentence.text, {span.at: span.text for span in sentence.spans}
    for span in sentence.spans:
        if span.is_link or len(span.text) > LONGEST:
            continue
        setting, needed = _SETTING.fullmatch(span.text), _REQUIREMENT.fullmatch(span.text)
        if setting and not is_path_like(setting[2]):
            yield StatedValue(setting[1], setting[2].strip(), span.at)
        elif needed and not needed[1].startswith("-"):
            yield StatedValue(needed[1], needed[2] + needed[3], span.at)
        elif re.fullmatch(r"[A-Za-z_][\w.-]*", span.text) and not classify.path_of(span.text):
            value = _value_of_key(text, spans, span.at)
            if value:
                yield StatedValue(span.text, value, span.at)
    for found in _WORD.finditer(text):
        yield StatedValue(found[1].lower().replace(" ", "-"), found[2], found.start())
    for found in _LANGUAGE.finditer(text) if _REQUIRED.search(text) else ():
        name = found[1].lower().removesuffix(".js")
        yield StatedValue(LANGUAGES[name][0][1], found[2], found.start(), name)


def is_path_like(value: str) -> bool:
    """Whether a value is a path, which is a claim of its own."""
    return "/" in value and value[:1] not in "\"'["


def _value_of_key(text: str, spans: dict[int, str], at: int) -> str:
    """What the prose after or before a key in backticks says it is."""
    found = _IS.match(text, at + len(spans[at]) + 2)
    if found and found[1].startswith("`"):
        value = spans.get(found.start(1), "")
        return value if re.fullmatch(_LITERAL, value) else ""
    if found:
        return found[1]
    before = _BEFORE_KEY.search(text[max(at - 40, 0) : at + 1])
    return before[1] if before else ""


def is_ordinary(key: str) -> bool:
    """Whether a key is a word, so that it counts only next to a file."""
    return not (classify.is_distinct(key) or ("-" in key and len(key) > 6) or (key.isupper() and "_" in key))


def read_values(text: str, key: str) -> list[FoundValue]:
    """Every value that a text gives to a key: as a setting, as a default, as a requirement."""
    found: list[FoundValue] = []
    line, seen = 1, 0
    for match in _pattern_of(key).finditer(text):
        start = match.start()
        line, seen = line + text.count("\n", seen, start), start
        before = text[max(text.rfind("\n", max(start - WIDE, 0), start) + 1, start - WIDE, 0) : start]
        raw = clean_value(next(filter(None, match.groups()), ""))
        if raw and not is_comment(before + "x", "py" if before.lstrip().startswith("#") else "js"):
            found.append(FoundValue(raw, line))
        if len(found) == MOST:
            break
    return found


@lru_cache(256)
def _pattern_of(key: str) -> re.Pattern[str]:
    """A key with its value: `key = value`, `key: type = value`, `"key": value`, `key>=1`; `go 1.21` in go.mod."""
    if key == "go":
        return re.compile(r"^go[ \t]+(\S{1,40})", re.MULTILINE)
    name, is_whole = re.escape(key.rpartition(".")[2]), is_distinct_key(key)
    inner = name if is_whole else rf"[\w.-]{{0,40}}{name}[\w.-]{{0,40}}"
    return re.compile(
        rf"(?<![\w.-])[\"']?{inner}[\"']?(?![\w-])"
        r"(?:[?!]?[ \t]{0,9}:[ \t]{0,9}[A-Za-z_][\w\[\]<>| ,.]{0,60}?[ \t]{0,9}=(?![=>])"
        r"|[ \t]{0,40}(?::=|=(?![=>])|=>|[?!]?:(?![:=])))[ \t]{0,40}([^\n]{1,300})"
        rf"|(?<![\w-]){name}(?:\[[\w,-]{{1,60}}\])?[ \t]{{0,9}}((?:==|>=|~=|<=|\^|@)[ \t]?v?\d+\.\d[^\n\"']{{0,60}})",
        re.MULTILINE | (0 if is_whole else re.IGNORECASE),
    )


def is_distinct_key(key: str) -> bool:
    """Whether a key is looked for as it is; a word such as *port* is also looked for in longer names."""
    return key not in ("port", "timeout", "limit", "retries", "workers", "concurrency", "ttl", "interval")


def clean_value(raw: str) -> str:
    """A value as a file has it, without what follows it on its line."""
    raw = re.split(r"\s(?:#|//|/\*|--)|\sas const", raw, maxsplit=1)[0].strip().rstrip(",;").strip()
    if raw[:1] in "\"'`" and raw.count(raw[0]) >= 2:
        return raw[: raw.index(raw[0], 1) + 1]
    if raw[:1] not in "[({":
        raw = re.split(r",\s|\)|\}", raw, maxsplit=1)[0].rstrip(",;\"'")
    return raw


def holds(stated: str, raw: str) -> bool:
    """Whether a value of a file is the one that is stated, or has it as a part.

    >>> holds("6023", "[6023, 6073]"), holds("3.10", '">=3.10"'), holds("180", "3 * 60"), holds("20", "200")
    (True, True, True, False)
    """
    one, other = _plain(stated), _plain(raw)
    if one == other or _has_version(one, other):
        return True
    number, parts = _number(one), [*re.findall(r"-?\d+(?:\.\d+)*", other), other]
    if number is None:
        return False
    numbers = [_number(part) for part in parts if not ("." in one and "." in part)]  # 3.1 is not 3.10
    return any(number * factor == each for factor in _FACTORS for each in numbers if each is not None)


def _has_version(one: str, other: str) -> bool:
    """Whether one of the versions in a text is this one, or a finer one: `18` is in `^18.0.0`."""
    if not re.fullmatch(r"[=><~^]*v?\d+(?:\.\d+)*", one):
        return False
    version = one.lstrip("=><~^v")
    found = re.findall(r"\d+(?:\.\d+)*", other)
    return any(each == version or each.startswith(f"{version}.") or version == f"{each}.0" for each in found)


def _plain(value: str) -> str:
    return re.sub(r"[\s\"'`_]", "", value).casefold()


def _number(text: str) -> float | None:
    """The number that a text is; a product of numbers is one."""
    parts = text.split("*")
    try:
        product = 1.0
        for part in parts:
            product *= float(part)
    except ValueError:
        return None
    return product


def is_literal(raw: str) -> bool:
    """Whether a value can be compared: a number, a text in quotes, a list of such, a word."""
    return bool(
        re.fullmatch(rf"(?:{_LITERAL})", raw)
        or re.fullmatch(r"[-\d._ *+]*\d[-\d._ *+]*", raw)
        or re.fullmatch(r"(?:==|>=|~=|<=|\^|@|[~^<>=]*)\s*v?\d[\w.,<>=~^| -]*", raw)
    )
