"""Credentials known by their surroundings: a header, a flag, a line of `.env`, the name of a field.

`secrets.forms` warns before a text is written, so it reports only what is surely a secret. Here a page is about to
leave the machine, and even a password that is easy to guess must not:

1. A value that is assigned to a word such as `password`, `token` or `api_key` counts, unless it is a placeholder, a
   reference, a call or a plain word of code.
2. Headers, cookies, flags, URLs, hashes and the bodies of keys have patterns of their own.
3. A text may be quoted in another: escapes of JSON, URLs and HTML are decoded, every character at its place.
4. The time is linear: each place is searched once, and no pattern reaches further than its bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foretold.secrets.forms import FORMS, NO_VALUES, PLACEHOLDERS, WORDS, end_of_key, find_all, is_random, key_tails
from foretold.text.patterns import lazy

Span = tuple[str, int, int]

ASSIGNED, HEADER, KEY, URL = "assigned secret", "authorization", "private key", "password in a URL"

_TOKENS = tuple((kind, letters, lazy(form)) for kind, letters, form in FORMS)
#: characters to search for, the name they may be the end of, and whether people choose what is assigned to it
_NAMES = (
    ("pass", re.compile(r"(?i)(?:pass(?:word|wd|phrase|code)|(?<![a-z])pass)s?"), True),
    ("pwd", re.compile(r"(?i)pwd"), True),
    ("secret", re.compile(r"(?i)secrets?(?:[_-]?(?:access)?[_-]?key)?"), True),
    ("token", re.compile(r"(?i)tokens?"), False),
    ("credential", re.compile(r"(?i)credentials?"), False),
    ("key", re.compile(r"(?i)(?<=[a-z_-])keys?"), False),
)
_OWNER = re.compile(
    r"(?i)(?:api|access|auth|account|private|priv|signing|encryption|master|shared|service|client|db|database)[_-]?\Z"
)
_ENV = re.compile(
    r"(?:_(?:BASE|KEY|VALUE|PROD|DEV|TEST|STAGING|LIVE|[0-9]{1,3}))?="
    r"""(?:"(?P<a>[^"\n]{3,400})"|'(?P<b>[^'\n]{3,400})'|(?P<c>[^\s"'`]{3,400}))"""
)
_QUOTED = re.compile(
    r"""\s{0,8}["'`\]]{0,2}\s{0,12}(?::=|=>|={1,3}|:|,)\s{0,12}(?:"(?P<a>[^"\n]{4,400})"|'(?P<b>[^'\n]{4,400})'"""
    r"""|`(?P<c>[^`\n]{4,400})`)"""
)
_BARE = re.compile(
    r"""["'`*_]{0,4}\s{0,12}(?:[:=|]|=>|:=|->|→|\bis\b)?[*_]{0,2}\s{0,40}["'`]?([^\s"'`,;()<>|]{8,200})"""
)
_REST = re.compile(r"[\w+/=.~-]*")  #: of a value that was cut at a bound
_FLAG = re.compile(r"""(?:\s{1,4}|=)["']?(?![-=])([^\s"'`<>$|;&]{4,400})""")
_TAG = re.compile(r">\s{0,8}([^<>\n]{4,400})</")

_HEADERS = re.compile(
    r"(?i)\b(?P<kind>bearer|basic|authorization[\"'`]?\s{0,12}[:=]\s{0,12}[\"'`]?(?:(?!bearer|basic)[a-z]{1,20}\s{1,3})?)"
    r"\s{0,3}(?P<value>[\w+/~.=:-]{8,4000})"
)
_COOKIE = re.compile(r"""(?i)cookie["'`]?\s{0,3}:\s{0,3}["'`]?([^\s"'`=;$<{]{1,60}=(?![$<{*])[^"'`\n]{8,4000})""")
_BASIC = re.compile(r"""(?i)(?:\b|(?<=\b_))auth["'`]?\s{0,12}[:=]\s{0,12}["'`]?([A-Za-z0-9+/]{12,4000}={0,2})""")
_LOGIN = re.compile(r"""(?:\s-u|--user|--proxy-user)[ =]{0,2}["']?[^\s:"'$<]{1,64}:(?![/\\$<{])([^\s"']{3,128})""")
_MYSQL = re.compile(r"""\b(?:mysql\w{0,8}|mariadb|sshpass)\b[^\n|;&]{0,200}?\s-p\s?["']?([^\s"'$<-][^\s"'$]{3,127})""")
_SIGNED = re.compile(
    r"(?i)[?&](?:sig|signature|secret|x-(?:amz|goog)-(?:signature|security-token)|[a-z_-]{0,20}token|key|code|auth)="
    r"([\w%+/=.~-]{16,4000})"
)
_USER = re.compile(r"(?<=://)([\w~-]{20,255})(?=(?::x-oauth-basic)?@)")
_LOGGED = re.compile(r"(?<=://)[^\s/:@\"'`<>]{1,64}:(?!\d{1,5}[/?#])([^\s@\"'`<>]{3,128})@(?=[\w\[])")
_HASH = re.compile(r"(\$(?:apr1|1|2[aby]|5|6|7|y|argon2[a-z]{1,2}|pbkdf2[\w-]{0,20})\$[\w./$=,+-]{16,400})")
_OTP = re.compile(r"""otpauth://[^\s"'`]{0,400}?secret=([A-Za-z2-7]{8,128})""")
_PUTTY = re.compile(r"Private-Lines: ?\d{1,4}\s{1,4}([A-Za-z0-9+/=\s]{16,32768})")
#: characters that must occur, the pattern, and the kind
_FORMS = (
    ("ookie", _COOKIE, "cookie"),
    ("-u", _LOGIN, ASSIGNED),
    ("-p", _MYSQL, ASSIGNED),
    ("=", _SIGNED, "signed URL"),
    ("://", _USER, URL),
    ("://", _LOGGED, URL),
    ("$", _HASH, "password hash"),
    ("otpauth://", _OTP, ASSIGNED),
    ("Private-Lines:", _PUTTY, KEY),
)

_PLACEHOLDER = re.compile(
    rf"(?i)[$%<{{\[*#/~&|\\.]|-|x{{3,}}|{PLACEHOLDERS}|your|my[_-]?(?:pass|secret|token|key)"
    rf"|(?:{NO_VALUES}|nil|undefined|string|str|int|bool|required|optional|foo|bar|missing|invalid"
    r"|(?:my|new|old|the|a)?[_-]?(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|credentials?)\d?)\Z"
)
_CODE = re.compile(
    r"(?:await |new |new_)?[A-Za-z_][\w.]*(?:\([^()]{0,200}\)|\[[^\]]{0,80}\]|(?:\.|::|->)[A-Za-z_]\w*)[,;)]*"
)
_STRONG = re.compile(r"(?=\S*[A-Za-z])\S*[\d!@#$%^&*+]\S*")

_ESCAPES = re.compile(
    r"(?<!\\)\\+(?:[nrtbf\"'/]|u00[0-9a-fA-F]{2})|%[2-7][0-9A-Fa-f]|%0[9ADad]|&(?:quot|apos|amp|#34|#39);"
)
_MEANINGS = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " ", "quot": '"', "#34": '"', "apos": "'", "#39": "'"}


def exposed_in(text: str) -> list[Span]:
    """Kind and place of what looks like a credential, unsorted; places may overlap."""
    found = list(_spans(text))
    for start, line in _escaped_lines(text):
        for kind, begin, end in _spans(line):
            value = line[begin:end]
            begin += len(value) - len(value.lstrip())  # an escaped quote after a value is not part of it
            found.append((kind, start + begin, start + end - len(value) + len(value.rstrip())))
    return found


def _escaped_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that have escapes, decoded, and where they begin."""
    at = 0
    while match := _ESCAPES.search(text, at):
        start, at = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        at = len(text) if at < 0 else at
        yield start, unescape(text[start:at])


def _spans(text: str) -> Iterator[Span]:
    for kind, letters, form in _TOKENS:
        for match in form.finditer(text) if letters in text else ():
            end = end_of_key(text, match.end()) if kind == KEY else match.end()
            if kind == URL:  # only the password: it may occur elsewhere without the URL
                yield kind, match.end("user") + 1, end - 1
            elif kind != KEY or end > match.end():  # a first line alone occurs in code about keys
                yield kind, match.start(), end
    for letters, form, kind in _FORMS:
        for match in form.finditer(text) if letters in text else ():
            chosen, strict = form in (_LOGGED, _MYSQL, _COOKIE), form in (_USER, _SIGNED)
            if form in (_HASH, _OTP) or _is_secret_value(match[1], chosen=chosen, strict=strict):
                yield kind, match.start(1), match.end(1)
    low = text.replace("\u0130", "I").lower()  # the one letter whose lower case is longer
    yield from _find_headers(text, low)
    yield from _find_assigned(text, low)
    yield from ((KEY, start, end) for start, end in key_tails(text))


def _find_headers(text: str, low: str) -> Iterator[Span]:
    for word in ("bearer", "basic", "authorization"):
        for match in _match_at_words(_HEADERS, text, low, word):
            kind, value = match["kind"].lower(), match["value"]
            if _is_login(value) if kind == "basic" else _is_secret_value(value, strict=kind == "bearer"):
                yield HEADER, *match.span("value")
    for match in _match_at_words(_BASIC, text, low, "auth"):
        if _is_login(match[1]):
            yield HEADER, match.start(1), match.end(1)


def _match_at_words(form: re.Pattern[str], text: str, low: str, word: str) -> Iterator[re.Match[str]]:
    """Matches of a pattern that begins with a word: searching the word first is ten times faster."""
    at = low.find(word)
    while at >= 0:
        match = form.match(text, at)
        if match:
            yield match
        at = low.find(word, match.end() if match else at + len(word))


def _is_login(value: str) -> bool:
    """Whether a value is `user:password` in base64."""
    from base64 import b64decode

    try:
        said = b64decode(value + "=" * (-len(value) % 4), validate=True)
    except ValueError:
        return False
    return b":" in said and said.isascii() and said.decode().isprintable()


def _find_assigned(text: str, low: str) -> Iterator[Span]:
    """What is assigned to names of secrets; `low` is the text in lower case."""
    for letters, name, chosen in _NAMES:
        for at in find_all(low, letters):
            match = name.match(text, at)
            if match and (letters != "key" or _OWNER.search(text, max(0, at - 12), at)):
                yield from _find_value(text, match.start(), match.end(), chosen=chosen)


def _find_value(text: str, start: int, end: int, *, chosen: bool) -> Iterator[Span]:
    """The value that follows a name, whatever joins them."""
    if text[start:end].isupper() and (env := _ENV.match(text, end)):
        value = env.lastgroup or "c"
        if not is_placeholder(env[value]) and not (env[value].isdigit() and not chosen):
            yield ASSIGNED, *env.span(value)
            return
    if quoted := _QUOTED.match(text, end):
        group = quoted.lastgroup or "a"
        if _is_secret_value(quoted[group], chosen=chosen):
            yield ASSIGNED, *quoted.span(group)
            return
    tag = _TAG.match(text, end) if text[end : end + 1] == ">" else None
    flag = _FLAG.match(text, end) if text[max(0, start - 1) : start] == "-" else None
    for match in (tag, flag):
        if match and _is_secret_value(match[1], chosen=chosen and match is tag):
            yield ASSIGNED, match.start(1), match.end(1)
            return
    bare = _BARE.match(text, end)
    if bare and is_random(bare[1]) and (rest := _REST.match(text, bare.end(1))):
        yield ASSIGNED, bare.start(1), rest.end()


def is_chosen(value: str) -> bool:
    """Whether a person chose a value, and it is not a word.

    >>> is_chosen("hunter2"), is_chosen("hunter"), is_chosen("$PW1")
    (True, False, False)
    """
    return not is_placeholder(value) and bool(_STRONG.fullmatch(value))


def is_placeholder(value: str) -> bool:
    """Whether a value stands for none: a placeholder, a reference, a call."""
    value = value.strip()
    return len(value) < 3 or len(set(value)) < 3 or bool(_PLACEHOLDER.match(value)) or bool(_CODE.fullmatch(value))


def _is_secret_value(value: str, *, chosen: bool = False, strict: bool = False) -> bool:
    """Whether a value is a secret. What a person chose may be a word; what a machine made has digits."""
    if is_placeholder(value):
        return False
    if " " in value:
        return chosen and len(value.split()) <= 8 and any(map(_STRONG.fullmatch, value.split()))
    digits = sum(map(str.isdigit, value))
    if strict:
        words = sum(map(len, WORDS.findall(value)))
        return len(value) >= 16 and digits > 0 and (digits >= 3 or words < 0.7 * len(value))
    if chosen:
        return digits > 0 or not value.isalpha() or (value.islower() and len(value) >= 8)
    return len(value) >= 8 and digits > 0 and not value.isdigit() and any(map(str.isalpha, value))


def is_secret_name(name: str) -> bool:
    """Whether a field of this name has a secret in it.

    >>> [is_secret_name(name) for name in ("db_password", "apiKey", "token_type", "secretName", "max_tokens")]
    [True, True, False, False, True]
    """
    return _chooses_value(name) is not None


def _chooses_value(name: str) -> bool | None:
    """Whether people choose the value of a field that is named like a secret; None for another field."""
    low = name.lower()
    for letters, form, chosen in _NAMES:
        at = low.rfind(letters)
        match = form.match(name, at) if at >= 0 else None
        if match and match.end() == len(name) and (letters != "key" or _OWNER.search(name, 0, at)):
            return chosen
    return None


def is_secret_field(name: str, value: str) -> bool:
    """Whether the whole value of a field is a secret, by the name of the field."""
    chosen = _chooses_value(name)
    if chosen and " " in value and not is_placeholder(value):
        return len(value) <= 200 and "\n" not in value
    return chosen is not None and _is_secret_value(value, chosen=chosen)


def unescape(text: str) -> str:
    """A text with its escapes decoded, every character at its place.

    >>> unescape('{\\\\"a\\\\": 1}'), unescape("a%3Db")
    ('{ "a ": 1}', 'a  =b')
    """
    return _ESCAPES.sub(_decode_escape, text)


def _decode_escape(match: re.Match[str]) -> str:
    escape = match[0]
    if escape[0] == "%":
        char = chr(int(escape[1:], 16))
    elif escape[0] == "&":
        char = _MEANINGS.get(escape[1:-1], "&")
    else:
        name = escape.lstrip("\\")
        char = chr(int(name[1:], 16)) if len(name) == 5 else _MEANINGS.get(name, name)
    return char.rjust(len(escape))
