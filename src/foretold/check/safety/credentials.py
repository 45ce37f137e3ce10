"""Credentials and hidden characters in what an agent is given.

What counts as a credential was measured on 10,568 instruction files, skills, agents and commands, and 2,514 settings
files, of 120 public repositories:

1. A token with a form of its own (`ghp_…`) or a private key counts everywhere, if it is not an example.
2. In settings, what its surroundings mark counts, too: one such value, and that one was real.
3. In instruction files, of what its surroundings mark only a value that looks random does: texts about passwords are
   full of others. In skills, agents and commands none does: nearly all were examples.
4. A value of words is none that a machine made: `verify+assert+render`. One of words that says it is for tests
   (`test-webhook-secret`) is no secret in settings either, nor is the form of a date.
5. A value in base64 is what it says: `dGVzdC1rZXkt…` is words, too.
6. A value is never repeated: kind and line say which it is.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.safety.tracking import is_shared
from foretold.check.schema.catalog import Catalog, FoundSettings, catalog_of
from foretold.secrets.forms import Credential, credentials_in, may_have_secrets
from foretold.secrets.invisible import hidden_in
from foretold.secrets.tokens import TOKENS, Span, first_lines_of_keys, keys_in, resolve_overlaps, tokens_in
from foretold.secrets.values import WORDS, is_placeholder, is_random
from foretold.types import may_hide

#: what no token is without: a run of its characters with a digit in it; and the first line of a private key
_RUN = re.compile(r"PRIVATE KEY-----|(?<![\w+/=.-])(?=[\w+/=:.-]{0,40}\d)[\w+/=:.-]{20}")
#: characters in a row that a person types, or that stand for something
_EXAMPLE = re.compile(
    r"(?i)01234|12345|54321|abcde|qwert|([a-z0-9])\1{4}|example|dummy|fake|sample|placeholder|redacted|deadbeef"
)
_WORDS = re.compile(
    r"(?i)pass|admin|test|demo|secret|your|change|here|user|guest|summer|winter|spring|welcome|generate"
)
#: words by which a value says that it is for tests, or for the machine of a developer
_FOR_TESTS = re.compile(r"Tests?(?![a-z])|(?<![a-zA-Z])(?:tests?|dev|local|TEST|DEV|LOCAL)(?![a-zA-Z])")
_PATTERN = re.compile(r"[.:]\*|\*\)|\s")  #: of a permission rule or a search, which no assigned value has
_JOINED = re.compile(r"[A-Za-z]+(?:[^A-Za-z0-9]+[A-Za-z]+){2,}")
_DATE = re.compile(r"%[a-zA-Z][^\w%]{0,2}%[a-zA-Z]")
LEAST_WORDS = 0.7  #: of the letters and digits of a value that words spell
_STRONG = re.compile(r"[\w!#$%^&+/~.-]{10,200}")
_CODE = re.compile(r"[A-Za-z]{2,}[./][A-Za-z]|--")
_NAMED = re.compile(r"(?i)pass|pwd|secret|token|key\b|credential|://")
#: kinds of what its surroundings mark that count in instructions: a badge has a signed address, a text a hash
MARKED = ("assigned secret", "password in a URL", "authorization")
NEAR, MOST_NAMES = 300, 3_000  #: characters after a name that are looked at, and names before the whole text is
_KEY_LINE = re.compile(r"[A-Za-z0-9+/]{40,}")
LEAST_KEY_ENTROPY = 4.0
MOST_READ, MOST_ROWS = 200_000, 50_000  #: characters of a text that is read row by row, and rows that are remembered
LEAST_ENTROPY = 3.0  #: bits a character, of what follows the prefix of a token


def find_credentials(project: Project) -> Iterator[CheckFinding]:
    """Credentials in instruction files, in skills, agents and commands, and in settings."""
    catalog, seen = catalog_of(project), set[str]()
    marked, formed = (
        partial(_list_credentials, project, by_context=True),
        partial(_list_credentials, project, by_context=False),
    )
    for found in project.remember_each("marked", _once(project, project.instruction_files, seen), marked):
        yield from found
    for found in project.remember_each("formed", _once(project, _list_definitions(catalog), seen), formed):
        yield from found
    for settings in catalog.settings:
        yield from _in_settings(project, settings)


def _once(project: Project, paths: Iterable[str], seen: set[str]) -> Iterator[str]:
    """Those of some paths that lead to a file that none before them did."""
    for path in paths:
        real = project.tree.real(path)
        if real not in seen:
            seen.add(real)
            yield path


def _list_definitions(catalog: Catalog) -> list[str]:
    return [*(each.path for each in catalog.skills), *(each.path for each in catalog.definitions)]


def _list_credentials(project: Project, path: str, *, by_context: bool) -> list[CheckFinding]:
    text = project.read(path)
    return [*_judge_text(path, text, by_context=by_context)] if text else []


def _judge_text(path: str, text: str, *, by_context: bool) -> Iterator[CheckFinding]:
    rows = text.split("\n") if len(text) <= MOST_READ else None
    by_context = by_context and (_may_name(text) if rows is None else _may_name_row(rows))
    if rows is not None and not by_context and "PRIVATE KEY-----" not in text:
        for number, row in enumerate(rows, 1):
            for kind in _kinds_in(row):
                said = f"it has what looks like a credential: {kind}"
                yield CheckFinding(path, number, "instructions-credential", said)
        return
    if not by_context and not _RUN.search(text):
        return
    spans = [(each.kind, each.start, each.end) for each in credentials_in(text)] if by_context else _formed(text)
    for kind, start, end in spans:
        if is_real(text[start:end], kind, by_context=by_context):
            said = f"it has what looks like a credential: {kind}"
            yield CheckFinding(path, text.count("\n", 0, start) + 1, "instructions-credential", said)


def _formed(text: str) -> list[Span]:
    """What has a form of its own."""
    keys = (("private key", *span) for span in keys_in(text, first_lines_of_keys(text)))
    return resolve_overlaps(text, (*tokens_in(text, text.lower()), *keys))


def _in_settings(project: Project, found: FoundSettings) -> Iterator[CheckFinding]:
    text, path = found.source.text, found.source.path
    if not may_have_secrets(text):
        return
    credentials = [each for each in credentials_in(text) if _is_given(text, each)]
    if not credentials or not is_shared(project, path):
        return
    has_servers = found.servers is not None and found.settings is None
    code = "mcp-credential" if has_servers else "settings-credential"
    for each in credentials:
        said = f"it has what looks like a credential: {each.kind}"
        yield CheckFinding(path, each.line, code, said)


def _is_given(text: str, each: Credential) -> bool:
    value = text[each.start : each.end]
    if is_placeholder(value) or _EXAMPLE.search(value):
        return False
    if each.kind in TOKENS:
        return True
    is_for_tests = any(_FOR_TESTS.search(said) and _is_spelled(said) for said in (value, _decode(value)))
    is_pattern = each.kind == "assigned secret" and bool(_PATTERN.search(value))
    return len(set(value)) > 4 and not (is_for_tests or is_pattern or _DATE.search(value))


def _is_spelled(value: str) -> bool:
    """Whether a value is words for the most part.

    >>> _is_spelled("test-webhook-secret"), _is_spelled("test_5OWRapdA8dWg4pRQ")
    (True, False)
    """
    return sum(map(len, WORDS.findall(value))) >= LEAST_WORDS * sum(map(str.isalnum, value))


def _decode(value: str) -> str:
    """What a value says in base64; empty if that is not a text, or a user with a password.

    >>> [_decode(value) for value in ("dGVzdC1lbmNyeXB0aW9uLWtleQ==", "k3YyVq8ZtQm1x7Hc", "YWRtaW46aHVudGVyMg==")]
    ['test-encryption-key', '', '']
    """
    bare = value.rstrip("=")
    try:
        said = binascii.a2b_base64(bare + "=" * (-len(bare) % 4), strict_mode=True).decode("ascii")
    except ValueError:
        return ""
    return said if said.isprintable() and ":" not in said else ""


def _may_name(text: str) -> bool:
    """Whether a line names a credential, and it or the next one has a value that looks random."""
    for number, match in enumerate(_NAMED.finditer(text)):
        if number == MOST_NAMES:
            return True
        end = match.end() + NEAR
        line = text.find("\n", match.end(), end)
        end = text.find("\n", line + 1, end) if line >= 0 else end
        near = text[match.start() : end if end >= 0 else match.end() + NEAR]
        if any(_is_strong(word[0]) for word in _STRONG.finditer(near)):
            return True
    return False


def _may_name_row(rows: list[str]) -> bool:
    """The same for the rows of a text: what is known of a row and the next one is not asked again."""
    count = 0
    for row, following in zip(rows, (*rows[1:], ""), strict=True):
        names, is_strong = _names_in(row, following)
        count += names
        if is_strong or count > MOST_NAMES:
            return True
    return False


@lru_cache(MOST_ROWS)
def _names_in(row: str, following: str) -> tuple[int, bool]:
    """How many credentials a row names, and whether it, or the next one, has a value that looks random."""
    names = [*_NAMED.finditer(row)]
    both = f"{row}\n{following}"
    near = (both[match.start() : match.end() + NEAR] for match in names)
    return len(names), any(_is_strong(word[0]) for text in near for word in _STRONG.finditer(text))


@lru_cache(MOST_ROWS)
def _kinds_in(row: str) -> tuple[str, ...]:
    """The kinds of the credentials in a row that have a form of their own."""
    spans = _formed(row) if _RUN.search(row) else ()
    return tuple(kind for kind, start, end in spans if is_real(row[start:end], kind, by_context=False))


def is_real(value: str, kind: str, *, by_context: bool) -> bool:
    """Whether a value is not an example.

    >>> is_real("AKIAIOSFODNN7EXAMPLE", "AWS access key", by_context=False)
    False
    """
    if kind == "private key":
        runs = [run for run in _KEY_LINE.findall(value) if _entropy(run) >= LEAST_KEY_ENTROPY]
        return len(runs) > 1
    if _EXAMPLE.search(value):
        return False
    if kind == "JSON web token":  # texts about logging in are full of them
        return by_context and not is_placeholder(value)
    if kind in TOKENS:
        return not is_placeholder(value) and _entropy(value[4:]) >= LEAST_ENTROPY
    return by_context and kind in MARKED and _is_strong(value.rstrip("=")) and not _is_words(_decode(value))


def _is_words(said: str) -> bool:
    return bool(said) and _is_spelled(said)


def _is_strong(value: str) -> bool:
    return (
        bool(_STRONG.fullmatch(value))
        and not _CODE.search(value)
        and not _WORDS.search(value)
        and not _EXAMPLE.search(value)
        and not (_JOINED.fullmatch(value) and _is_spelled(value))
        and is_random(value)
        and _entropy(value) >= LEAST_ENTROPY
    )


def _entropy(value: str) -> float:
    from math import log2

    counts = [value.count(char) for char in set(value)]
    return -sum(count / len(value) * log2(count / len(value)) for count in counts)


# -- what a reader does not see

#: classes of `secrets.invisible` that no editor leaves in a text by accident
_MEANT = ("tags block", "direction", "variation selector")
#: selectors that say something: one of U+FE0E and U+FE0F alone is what is left of an emoji that someone removed
_SELECTORS = re.compile("[\ufe00-\ufe0d\U000e0100-\U000e01ef]|[\ufe0e\ufe0f]{2,}")


def find_hidden(project: Project) -> Iterator[CheckFinding]:
    """Characters that a person does not see, in instruction files, skills, agents and commands."""
    paths = _once(project, (*project.instruction_files, *_list_definitions(catalog_of(project))), set())
    for found in project.remember_each("hidden", paths, partial(_list_hidden, project)):
        yield from found


def _list_hidden(project: Project, path: str) -> list[CheckFinding]:
    text, found = project.read(path) or "", list[CheckFinding]()
    if not may_hide(text.replace("\r\n", "\n")):
        return found
    for each in hidden_in(path, text.removeprefix("\ufeff")):
        kind = each.facts.subject if each.facts else ""
        if "variation selector" in kind and not _SELECTORS.search(text):
            continue
        is_meant = any(word in kind for word in _MEANT)
        finding = CheckFinding(path, each.line, "instructions-hidden", each.message, each.hint, facts=each.facts)
        found.append(finding if is_meant else finding._replace(severity="warning"))
    return found


_ORDER = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+)*(?:previous|prior|above|earlier|other|system)"
    r"\s+(?:instructions?|prompts?|rules?|messages?)|\bdo not (?:tell|inform|mention (?:this|it) to) the user\b"
)


def find_orders(project: Project) -> Iterator[CheckFinding]:
    """Comments, which pages do not show, that tell a model to set its instructions aside."""
    for found in project.remember_each("orders", project.instruction_files, partial(_list_orders, project)):
        yield from found


def _list_orders(project: Project, path: str) -> list[CheckFinding]:
    text = project.read(path) or ""
    start = text.find("<!--")
    start = start if start >= 0 and _ORDER.search(text) else -1
    while start >= 0 and (end := text.find("-->", start)) >= 0:
        order = _ORDER.search(text, start, end)
        if order:
            line = text.count("\n", 0, order.start()) + 1
            said = f"a comment, which pages do not show, says to a model: {order[0][:80]}"
            return [CheckFinding(path, line, "instructions-order", said)]
        start = text.find("<!--", end)
    return []
