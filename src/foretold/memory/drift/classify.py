"""What the spelling of a text says it is: a path, a symbol, a flag, a commit, a quoted piece of code, or nothing.

The rules look at one text, not at the sentence around it. Each says no unless the text can hardly be anything else:

1. Placeholders (`<name>`, `{x}`, `...`, `YYYY`), URLs, versions, dates, ratios, branches, MIME types, routes,
   packages and products are nothing.
2. A path has a known ending or name, or a slash. One with a slash but neither ending nor final slash may be a branch,
   a route or a repository: it is a path here, and `is_sure` tells the two apart.
3. A symbol has an inner underscore or an inner capital, is dotted or called: `open_store`, `FooBar`, `a.b`, `run()`.
4. A flag starts with two dashes. A name in capitals with an underscore is a symbol; the sentence may make it a flag.
5. A text with spaces is a definition (`class Foo`), a setting (`max_size: 3`), a command or a piece of code.
"""

from __future__ import annotations

from itertools import pairwise

from foretold.memory.drift import vocabulary
from foretold.text.patterns import lazy
from foretold.types import NamedTuple

GONE = "gone"  #: the beginning of a hedge that says so
LONGEST = 400  #: characters; a longer text is not a name


class TypedName(NamedTuple):
    """A kind of claim, and the text that names the thing."""

    kind: str
    text: str


class DriftClaim(NamedTuple):
    """One thing that a memory says exists."""

    kind: str  #: one of `claims.KINDS`
    text: str  #: as it is written, without backticks
    line: int  #: of the memory's file, from 1
    quoted: bool  #: written as code or as an anchor, not as plain prose
    hedge: str = ""  #: why its absence would not be drift; empty if it would
    place: str = ""  #: the file that it is said to be in
    is_near: bool = False  #: the file is only near to it in the sentence
    is_word: bool = False  #: its spelling says nothing: a claim only because of its place
    language: str = ""  #: of which a version is required; a value

    @property
    def is_gone(self) -> bool:
        """Whether the memory itself says that the thing does not exist."""
        return self.hedge.startswith(GONE)


_PLACEHOLDER = lazy(r"<[^>]*>|\{[^,{}]*\}|\.\.\.|…|YYYY|XXX|\$[({]|%[sd]|\ufffd|\bN\b|[\x00-\x1f]|\[\[")
_NOTHING = lazy(r"[vV]?\d[\d.,:/xX-]*\w?|[\w.+-]+@[\w.-]+|[a-z][a-z0-9+.-]*://.*|#.*")
_LINES = lazy(r":\d+(?:[-:]\d+)?$|#L\d+(?:-L?\d+)?$")
_TAIL = lazy(r"(?:::?|#)([A-Za-z_][\w.]*)(?:\(\))?$")
_PATH = lazy(r"(?:~|\.{0,2})/?[\w.@+*?\[\](){},$~-]+(?:/[\w.@+*?\[\](){},$~-]+)*/?|(?:~)?/[\w./+@*-]+")
_FLAG = lazy(r"(--[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*)(?:[= ]\S+)?")
_ENV = lazy(r"\$\{?([A-Z][A-Z0-9]*_[A-Z0-9_]+)\}?|([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])=\S*")
_HEX = lazy(r"[0-9a-f]{7,40}")
_NAME = lazy(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
_CALL = lazy(r"([\w.$:#>@-]+)\(.*\)")
_DEFINED = lazy(
    r"(?:(?:export|default|public|private|static|async|abstract|pub|final)\s+)*"
    r"(?:class|def|function|func|fn|const|let|interface|type|struct|enum|trait|module|macro_rules!)\s+([A-Za-z_]\w*)\b"
    r"(?:[(<:].*)?"
)
_SETTING = lazy(r"['\"]?([A-Za-z_][\w.]*)['\"]?\s*(?::=|[:=])\s*\S+")
_BRANCH = lazy(
    r"(?:origin|upstream|refs|heads|feature|feat|fix|bugfix|hotfix|release|chore|dependabot|renovate|user)/.*"
)
_MIME = lazy(r"(?:application|text|image|audio|video|multipart|font|message)/[\w.+*-]+")
_CODE = lazy(r"[=(){}\[\];]|=>|->|::|\breturn\b|\bimport\b")


def classify_text(text: str) -> tuple[TypedName, ...]:
    """What a text in backticks names."""
    text = text.strip().rstrip(",;")
    if not text or len(text) > LONGEST:
        return ()
    call = _CALL.fullmatch(text)
    if call and not path_of(text):
        return symbol_of(call[1], is_called=True)
    if " " in text:
        return _phrase(text)
    variable = _ENV.fullmatch(text)
    if variable:
        name = variable[1] or variable[2]
        return () if name in vocabulary.NAMES else (TypedName("flag", name),)
    if _PLACEHOLDER.search(text) or _NOTHING.fullmatch(text):
        return ()
    if text.startswith("-"):
        flag = _FLAG.fullmatch(text)
        return (TypedName("flag", flag[1]),) if flag else ()
    if _HEX.fullmatch(text):
        return (TypedName("commit", text),) if is_hash(text) else ()
    return path_of(text) or symbol_of(text, is_called=False)


def is_hash(text: str) -> bool:
    """Whether a run of hexadecimal digits is neither a number nor a word: it has two digits and a letter."""
    return 2 <= sum(map(str.isdigit, text)) < len(text)


def is_sure(path: str) -> bool:
    """Whether a text that was taken for a path cannot be anything else."""
    bare = without_line(path)
    if "[" in bare or "(" in bare:
        return False
    return bare.endswith("/") or bare.startswith(("./", "~/", "/")) or _has_ending(bare.rpartition("/")[2])


def without_line(path: str) -> str:
    """A path without the line number after it."""
    return _LINES.sub("", path)


def path_of(text: str) -> tuple[TypedName, ...]:
    """The path that a text is, and perhaps a symbol after it; nothing if it is not a path."""
    bare = without_line(text)
    tail = _TAIL.search(bare)
    if tail and _has_ending(bare[: tail.start()].rpartition("/")[2]):
        return (TypedName("path", bare[: tail.start()]), TypedName("symbol", tail[1].rpartition(".")[2]))
    if not _PATH.fullmatch(bare) or _PLACEHOLDER.search(bare) or ".." in bare.split("/"):
        return ()
    is_path = _is_slashed(bare) if "/" in bare else _is_file(bare)
    return (TypedName("path", text),) if is_path else ()


def _is_file(name: str) -> bool:
    """Whether a name without slash is a file's."""
    stem = name.rpartition(".")[0].strip("*?.")
    if name in vocabulary.FILES:
        return True
    if name.lower() in vocabulary.PRODUCTS or stem.lower() in vocabulary.STAND_INS or not any(map(str.isalpha, stem)):
        return False
    ending = name.rpartition(".")[2]
    if ending in vocabulary.ATTRIBUTES or (ending in vocabulary.OF_OBJECTS and stem in vocabulary.OBJECTS):
        return False
    return _has_ending(name) and not name.startswith("@")


def _has_ending(name: str) -> bool:
    stem, _, ending = name.rpartition(".")
    endings = ending.lower().strip("{}").split(",") if ending.startswith("{") else [ending.lower()]  # `{ts,tsx}`
    return name in vocabulary.FILES or bool(stem and any(each in vocabulary.EXTENSIONS for each in endings))


def _is_slashed(path: str) -> bool:
    """Whether a text with a slash can be a path."""
    parts = [part for part in path.split("/") if part not in ("", ".", "~")]
    if not parts or "//" in path or "path/to" in path:
        return False
    if parts[0][0] in "@$" or parts[0].lower() in vocabulary.STAND_INS:
        return False
    has_ending = _has_ending(parts[-1])
    if path.startswith("/"):
        return (has_ending and len(parts) > 1) or parts[0] in vocabulary.TOP
    if has_ending or path.startswith(("./", "~/")):
        return any(map(str.isalpha, parts[-1]))
    if _BRANCH.fullmatch(path) or _MIME.fullmatch(path) or {part.lower() for part in parts} <= vocabulary.PAIRS:
        return False
    if all(part.isupper() or not any(map(str.isalpha, part)) for part in parts):
        return False
    return not any(part.strip("*").replace(".", "").isdigit() for part in parts)


def symbol_of(text: str, *, is_called: bool) -> tuple[TypedName, ...]:
    """The symbol that a text is; nothing if it is an ordinary word, or belongs to a language."""
    name = text.removeprefix("@").replace("::", ".").replace("->", ".").replace("#", ".")
    for receiver in ("self.", "this.", "cls."):
        name = name.removeprefix(receiver)
    if not _NAME.fullmatch(name) or len(name) > 120:
        return ()
    parts = name.split(".")
    if len(parts) == 1:
        ordinary = name.lower() in vocabulary.CALLS | vocabulary.STAND_INS or name in vocabulary.NAMES
        is_named = not ordinary and (len(name) > 2 if is_called else is_distinct(name))
    else:
        foreign = parts[0] in vocabulary.ROOTS or (parts[-1] in vocabulary.DOMAINS and not is_called)
        is_named = not foreign and min(map(len, parts)) > 1 and not set(parts) & vocabulary.STAND_INS
    return (TypedName("symbol", name),) if is_named else ()


def is_distinct(name: str) -> bool:
    """Whether a name is not a word: it has an inner underscore or an inner capital.

    >>> [is_distinct(name) for name in ("open_store", "FooBar", "HTMLBuilder", "Builder", "URLs", "HTML")]
    [True, True, True, False, False, False]
    """
    inner = name.strip("_$")
    if len(inner) < 4 or inner.isdigit():
        return False
    if "_" in inner or any(one.islower() and two.isupper() for one, two in pairwise(inner)):
        return True
    return any(inner[at : at + 2].isupper() and inner[at + 2 : at + 4].islower() for at in range(len(inner) - 3))


def _phrase(text: str) -> tuple[TypedName, ...]:
    """What a text with spaces names."""
    first = text.split()[0]
    if first in ("$", ">", "%", "#", "❯", "/", "!") or first.lower() in vocabulary.TOOLS or _ENV.fullmatch(first):
        return ()
    flag = _FLAG.fullmatch(text)
    if flag:
        return (TypedName("flag", flag[1]),)
    defined = _DEFINED.fullmatch(text)
    if defined:
        name = defined[1]
        return (TypedName("symbol", name),) if len(name) > 2 and name.lower() not in vocabulary.STAND_INS else ()
    setting = _SETTING.fullmatch(text)
    if setting:
        return symbol_of(setting[1], is_called=False)
    is_code = bool(_CODE.search(text)) and len(text) >= 12 and not _PLACEHOLDER.search(text) and " -" not in text
    return (TypedName("code", text),) if is_code else ()
