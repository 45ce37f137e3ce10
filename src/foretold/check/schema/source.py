"""A settings file or a definition, read: its values, what is wrong with its form, and on which line something is.

1. JSON may have comments where the agent allows them. A key that an object has twice is named: the first is lost.
2. The line of a value is found by looking for the keys above it one after the other; in a file that repeats them, it
   may be that of an equal one.
3. Nothing is raised for what a user wrote. Files are bounded by `Project.read`; nesting that Python cannot follow makes
   a file unreadable.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping

from foretold.check.finding import CheckFinding
from foretold.dialects.settings_files import without_json_comments
from foretold.text.frontmatter import first_line, parse, split
from foretold.types import Facts, NamedTuple

MOST_JSON = 1_000_000  #: characters of a settings file; agents refuse files of some megabytes (Claude Code: 2 MiB)


#: half of a character, which no text can be encoded with
_LONE = re.compile(
    r"(?<!\\)((?:\\\\)*)(?:\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)


class SourceFile(NamedTuple):
    """A file, and what it says."""

    path: str
    text: str
    values: Mapping[str, object]  #: empty if it says nothing
    fault: str = ""  #: why it says nothing
    line: int | None = None  #: where that is
    twice: tuple[str, ...] = ()  #: keys that an object has more than once
    form: str = "json"

    def line_of(self, *names: object) -> int | None:
        """The line of the last of some keys or texts, each looked for after the one before."""
        at, found = 0, -1
        for name in names:
            for needle in _needles(name, self.form):
                place = needle.search(self.text, at)
                if place:
                    found, at = place.start(), place.end()
                    break
        return self.text.count("\n", 0, found) + 1 if found >= 0 else None


def _needles(name: object, form: str) -> Iterator[re.Pattern[str]]:
    if not isinstance(name, str):
        return
    if form == "yaml":
        yield re.compile(rf"(?m)^[ \t]*(?:- )?[\"']?{re.escape(name)}[\"']?[ \t]*:")
    elif form == "toml":
        key = re.escape(name)
        yield re.compile(rf"(?m)^[ \t]*(?:\[+[^\]\n]{{0,200}}(?<![\w-]){key}(?![\w-])|\"?{key}\"?[ \t]*=)")
    else:
        yield re.compile(re.escape(json.dumps(name)) + r"\s{0,20}:")
        yield re.compile(re.escape(json.dumps(name)))
    yield re.compile(re.escape(json.dumps(name, ensure_ascii=False)))
    yield re.compile(re.escape(name))


def read_json(path: str, text: str, *, comments: bool = False) -> SourceFile:
    """A JSON file.

    >>> read_json("a.json", '{"a": 1, "a": 2}').twice, read_json("a.json", '{"a": 1,}').line
    (('a',), 1)
    """
    if len(text) > MOST_JSON:
        return SourceFile(path, "", {}, "")
    twice: list[str] = []

    def collect(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            counts = Counter(name for name, _ in pairs)
            twice.extend(name for name in counts if counts[name] > 1 and not name.startswith(("_", "//", "#")))
        return found

    plain = without_json_comments(text) if comments else text
    try:
        value = json.loads(_LONE.sub(r"\\ufffd", plain.removeprefix("\ufeff")), object_pairs_hook=collect)
    except json.JSONDecodeError as error:
        return SourceFile(path, text, {}, f"{error.msg} (column {error.colno})", error.lineno)
    except (ValueError, RecursionError):
        return SourceFile(path, text, {}, "it is nested too deeply, or has a number that is too large")
    if not isinstance(value, dict):
        return SourceFile(path, text, {}, "it is not an object")
    return SourceFile(path, text, value, twice=tuple(dict.fromkeys(twice)))


def read_toml(path: str, text: str) -> SourceFile:
    """A TOML file."""
    if len(text) > MOST_JSON:
        return SourceFile(path, "", {}, form="toml")
    try:
        return SourceFile(path, text, tomllib.loads(text.replace("\r\n", "\n")), form="toml")
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a plain ValueError
        line = re.search(r"at line (\d+)", str(error))
        said = re.sub(r" \(at [^)]*\)", "", str(error))
        return SourceFile(path, text, {}, said, int(line[1]) if line else None, form="toml")


def read_settings(path: str, text: str, form: str) -> SourceFile:
    """A settings file of a form: json, jsonc or toml."""
    return read_toml(path, text) if form == "toml" else read_json(path, text, comments=form == "jsonc")


class DefinitionHead(NamedTuple):
    """The frontmatter of a definition."""

    source: SourceFile
    is_there: bool  #: there is a frontmatter, valid or not
    repaired: str = ""  #: what was read as if it were valid
    body: str = ""


def read_head(path: str, text: str) -> DefinitionHead:
    """The frontmatter of a text, as Claude Code reads it: values that YAML refuses are read as if in quotes."""
    plain = text.replace("\r\n", "\n")
    front, body = split(plain, after_bom=True)
    if front is None:
        return DefinitionHead(SourceFile(path, "", {}, form="yaml"), is_there=False, body=plain)
    found = parse(front)
    start = first_line(plain)
    line = start + found.line - 1 if found.line else None
    head = plain[: len(plain) - len(body)]
    if found.problem and not found.values:
        source = SourceFile(path, head, {}, found.problem, line, form="yaml")
        return DefinitionHead(source, is_there=True, body=body)
    source = SourceFile(path, head, found.values, line=line, form="yaml")
    return DefinitionHead(source, is_there=True, repaired=found.problem or "", body=body)


def is_unclosed(text: str) -> bool:
    """Whether a text begins as a frontmatter does. One that `read_head` finds none in has no end of it.

    >>> is_unclosed("---\\nname: x\\n"), is_unclosed("----\\n")
    (True, False)
    """
    return text.removeprefix("\ufeff").partition("\n")[0].rstrip() == "---"


def report_slip(
    source: SourceFile, key: str, code: str, message: str, facts: Facts, agents: tuple[str, ...] = ()
) -> CheckFinding:
    """The finding about a word, in the line of a key, that is nearly the right one."""
    return CheckFinding(source.path, source.line_of(key), code, message, f"write {facts.meant}", agents, facts=facts)
