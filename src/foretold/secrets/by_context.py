"""Values that a name marks as secret: `DB_PASSWORD=…`, `"apiKey": "…"`, "the password is …", `--token …`.

1. A name ends in a word such as `password`, `token` or, with an owner, `key`; passwords have names in many languages.
2. What joins the two says how sure it is. A line of `.env`, quotes, a tag or a flag: any value that is not a
   placeholder. A colon, a table, a copula: a password that is not a plain word, or what looks random. Nothing but a
   space: a password with digits in it.
3. The value of a pair (`name: DB_PASSWORD`, then `value: …`) belongs to the name.
4. The time is linear: each name is looked at once, and no pattern reaches further than its bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from foretold.secrets.tokens import Span, find_all, may_have
from foretold.secrets.values import (
    is_chosen,
    is_given,
    is_mentioned,
    is_phrase,
    is_placeholder,
    is_quoted,
    is_random,
    is_told,
)
from foretold.text.patterns import lazy

ASSIGNED = "assigned secret"

PASSWORD, SECRET, MADE = 2, 1, 0  #: people choose the value; they may; a machine makes it
_ABROAD = (
    "kennwort wachtwoord senha hasło haslo heslo contrase парол lösenord jelszó şifre parola salasana adgangskode"
    " 密码 密碼 口令 パスワード 비밀번호"
).split()
#: characters to search for, the name they begin, and who makes what is assigned to it
_NAMES = (
    ("pass", lazy(r"(?i)pass(?:word|wd|phrase|code|wort|wrd)s?|(?<![a-z])pass(?:e|es|word)?\b"
    r"|(?<=_)pass|(?<=store)pass(?:wd)?|(?-i:(?<=[a-z])Pass\b)|(?<!by)(?<!com)(?<!tres)(?<!sur)pass(?==)"), PASSWORD),
    ("pwd", lazy(r"(?i)pwd"), PASSWORD),
    ("pw", lazy(r"(?i)(?:(?<![a-z])|(?<=bind)|(?<=root)|(?<=user)|(?<=admin))pw(?![a-z])"), PASSWORD),
    ("keymaterial", lazy(r"(?i)keymaterial"), PASSWORD),
    ("key content", lazy(r"(?i)key content"), PASSWORD),
    ("psk", lazy(r"(?i)(?<![a-z])psk(?![a-z])"), PASSWORD),
    ("mdp", lazy(r"(?i)(?<![a-z])mdp(?![a-z])"), PASSWORD),
    ("clave", lazy(r"(?i)(?<![a-z])clave(?![a-z])"), PASSWORD),
    *((word, lazy(rf"(?i){word}\w{{0,3}}"), PASSWORD) for word in _ABROAD),
    ("schlüssel", lazy(r"(?i)(?:(?<=api[- ])|(?<=wlan[- ])|(?<=geheim)|(?<=zugangs)"
    r"|(?<=netzwerk))schlüssel"), PASSWORD),
    ("secret", lazy(r"(?i)secrets?(?:[_ -]?(?:access)?[_ -]?key)?"), SECRET),
    ("token", lazy(r"(?i)(?<!page)(?<!page_)(?<!next_)(?<!continuation_)(?<!sync_)tokens?"), MADE),
    ("credential", lazy(r"(?i)credentials?"), MADE),
    ("key", lazy(r"(?i)(?<=[a-z_ -])keys?"), MADE),
    ("salt", lazy(r"(?i)(?<=_)salt\b"), MADE),
    ("auth", lazy(r"(?:(?<=_)AUTH\b|(?<=_)auth\b)"), MADE),
)  # fmt: skip
_OWNERS = tuple(
    "unseal recovery vault webhook subscription session api access auth account private priv preshared pre-shared signing sign encryption encrypt"  # noqa: E501
    " crypto master shared service client db"
    " database admin secret app jwt hmac aes storage wlan wifi network logged_in nonce root server deploy".split()
)
#: owners of keys that are not secrets, before `_KEY=`
_OPEN = tuple(
    "public pub cache sort partition primary foreign object state build idempotency hash range row"
    " map group index site license"
    " host gpg ssh".split()
)
_SUFFIX = r"(?:[_-]?(?:BASE|KEY|VALUE|PROD|DEV|TEST|STAGING|LIVE|MAIN|OLD|NEW|[0-9]{1,3}))?"
_ENV = lazy(
    _SUFFIX + r"[ \t]{0,3}[?:+]?=(?:\\\n)?[ \t]{0,2}"
    r"""(?:"(?P<a>[^"\n]{3,400})"|'(?P<b>[^'\n]{3,400})'|(?P<c>[^\s"'`]{3,400}))"""
)  # of `.env`
_QUOTED = lazy(
    r"""(?:(?:[_-]?(?i:base|value|prod|data|text|[0-9]{1,3})\b)?\s{0,8}["'`\])]{0,3}\s{0,12}(?P<sep>:=|=>|={1,3}|:(?:\s{0,3}&?[\w<>\[\]'&;|.? ]{1,40}[\w>\]?]\s{0,3}=)?|,|\()\s{0,12}\(?|\s{1,3})"""  # noqa: E501
    r"""[bBrRfFuUN@]{0,2}(?:"(?P<a>[^"\n]{4,400})"|'(?P<b>[^'\n]{4,400})'|`(?P<c>[^`\n]{4,400})`"""
    r"""|„(?P<d>[^“”"\n]{4,200})[“”"]|“(?P<e>[^”\n]{4,200})”)"""
)
_JOIN = r"(?:[:=|]|=>|:=|->|→|：|=\\\n)"
_BARE = lazy(
    r"""(?:[_ -]?[0-9]{1,3}\b|[_-]?(?i:base|value|prod|data|hex|base64)\b)?["'`*_\])]{0,4}(?: ?\([^()\n]{1,80}\))?\s{0,12}"""  # noqa: E501
    + _JOIN
    + r"""[*_]{0,2}(?P<gap>\s{0,40})(?:- )?["'`]?(?P<value>[^\s"'`,;<>|]{4,200})"""
)
_COPULA = r"(?:is|are|was|be|to|ist|lautet|lauten|war|sind|auf|est|es|è|é|jest|är|это|является|は|는|(?<=salasana )on|becomes|wird|hei(?:ss|ß)t)"  # noqa: E501
_COPULA += (
    r"(?:[ \t]+(?:now|still|currently|again|always|just|simply|set to|jetzt|nun|aktuell|derzeit|momentan|wieder|immer|noch|also"  # noqa: E501
    r"|einfach|maintenant|ahora|ora|teraz|the following|as follows|folgendes|wie folgt)){0,2}:?"
)
_PROSE = lazy(
    r"""(?i)["'`*]{0,2}(?:[ \t]+[^\W\d_][\w./@'’-]{0,40}|[ \t]+\([^()\n]{1,90}\)|[ \t]+["'`][^"'`\n]{1,90}["'`]|[ \t]+[„“”«»‚‘’‹›][^„“”«»‚‘‹›\n]{1,60}[“”«»‘’‹›]|[ \t]+\[[^\]\n]{1,40}\]){0,8}?[ \t]*"""  # noqa: E501
    r"""(?:(?<![^\W\d_])""" + _COPULA + r"""(?=\s)|:|=(?!\s{0,3}\n))\s{1,4}\(?(?:it['’]?s |it is |es ist )?"""
    r"""(?:["„“«](?P<phrase>[^\s"„“”«»]{1,40}(?: [^\s"„“”«»]{1,40}){2,9})["”“»]|["'`„“«*]{0,2}(?![^\W\d_]+(?:[\s,:]|\.\s))(?P<value>[^\s"'`„“”«»<>]{4,200}))"""  # noqa: E501
)
_LATER = lazy(
    r"""(?i)[\w \t,()'’"„“”«»‚‘‹›/@.-]{0,100}?(?:(?<![^\W\d_])(?:is|ist|lautet|to|auf|est|es)|[:=]|->|→)[ \t]{1,4}"""
    r"""\(?["'`„“«*]{0,2}(?P<value>(?=[^\s\d]{0,60}\d)[^\s"'`„“”«»<>]{8,200})"""
)
#: four groups of four letters, as Google makes them
_GROUPS = lazy(
    r"""["'`*]{0,2}(?: ?\([^()\n]{1,60}\))?\s{0,3}(?:[:=]|is|ist|lautet)[*]{0,2}\s{1,4}["'`]?(?P<value>(?:[a-z]{4} ){3}[a-z]{4})(?![a-z])"""  # noqa: E501
)
_NO_VOWELS = lazy(r"[b-df-hj-np-tv-z]{3}")
#: what a script types into a field
_TYPED = lazy(
    r"""["'`\])]{1,3}\s{0,3}\)?\s{0,12}\.(?i:send_?keys|type|fill|set_?value|val|input|press_?sequentially)\(\s{0,3}["'`](?P<value>[^"'`\n]{4,200})["'`]"""
)
#: "use … as the password"
_NAMED_LATER = lazy(
    r"""(?i)\b(?:use|with|using|try|enter|type|set|mit|nutze|verwende|nimm)[ \t]+["'`„“«]?(?P<value>[^\s"'`„“”«»]{6,50})["'`”“»]?"""  # noqa: E501
    r"""[ \t]+(?:as|for|als|für)[ \t]+(?:[^\W\d_]{1,12}[ -]){0,3}\Z"""
)
_DEFAULT = lazy(r":?[-=]([^}\s\"']{4,200})\}")
_OF_ARN = lazy(r"arn:[\w:/.*+=,@-]*\Z")
_READS = lazy(
    r"(?i)(?:get|read|fetch|load|find|look_?up|prompt|ask|check|verify|validate|hash|compare|forgot|reset|is|has|need|require)s?_?\w{0,20}\Z"
)
_SPACED = lazy(r"""["'`*]{0,2}[ \t]{1,4}["'`„“«]?(?P<value>[^\s"'`„“”«»<>,;()]{6,200})""")
_REST = lazy(r"[\w+/=.~-]*")  #: of a value that was cut at a bound
_FLAG = lazy(r"""(?:\s{1,4}|=|:)(?:"([^"\n]{4,400})"|'([^'\n]{4,400})'|["']?(?![-=])([^\s"'`<>$|;]{4,400}))""")
_TAG = lazy(r"[^<>\n]{0,60}>\s{0,8}(?:<[\w:]{1,30}>\s{0,8}){0,2}([^<>\n]{4,400})</")
_PAIR = lazy(
    r"""(?i)["']?[^\n]{0,80}?(?:\n[^\n]{0,12}?){0,2}(?<![a-z])(?:(?:parameter|setting|option)?value|default|val|body|content)["']?\s{0,3}(?:[:=>]|\s)\s{0,3}"""
    r"""(?:"(?P<a>[^"\n]{3,400})"|'(?P<b>[^'\n]{3,400})'|(?P<c>[^\s"'`<>,;]{6,400}))"""
)
_SET = lazy(
    r"(?:ENV|set|export|setenv|declare|local|ARG)\s(?:-\w+\s)?\w*\Z|config(?:ure)?\s+set\s\S{0,40}\Z|config:set\s\S{0,40}\Z"
)


REACH, BEFORE = 700, 64  #: characters after a name that its value is searched in, and before it
#: without one of these there is no value that counts, but for a flag
_WORTH = lazy(r"[\d!@#$%^&*+=?~§€\"'`„“<>]|: (?:[a-z]{4} ){3}[a-z]{4}")
_PAIRED = ("value", "default", "body", "content")


def find_assigned(text: str, low: str) -> Iterator[Span]:
    """What is assigned to names of secrets; `low` is the text in lower case, with `?` for letters beyond Latin-1."""
    has_pairs = any(word in low for word in _PAIRED)
    # the one letter whose lower case is longer
    wide = low if text.isascii() else text.replace("\u0130", "I").lower()
    for letters, name, maker in _NAMES:
        if max(letters) <= "\xff" and not may_have(low, letters):
            continue
        worth = done = 0
        for at in find_all(low if max(letters) <= "\xff" else wide, letters):
            if 0 <= worth < at:
                following = _WORTH.search(text, at)
                worth = following.start() if following else -1
            if not 0 <= worth < at + 240 and text[at - 1 : at] != "-" and not _is_named_later(low, at):
                continue
            match = name.match(text, at) if at >= done else None
            if match is None or (letters == "key" and not _is_key(text, at)):
                continue
            start, end = match.span()
            first = max(0, start - BEFORE)
            found = _find_in_window(text[first : end + REACH], start - first, end - first, maker, has_pairs=has_pairs)
            if found:
                begin, stop = first + found[0], first + found[1]
                rest = _REST.match(text, stop) if stop - begin >= 200 else None
                done = rest.end() if rest else 0  # so that no rest is read twice
                yield ASSIGNED, begin, done or stop


def _is_named_later(low: str, at: int) -> bool:
    """Whether a name may say what the word before it is: "use … as the password"."""
    before = low[max(0, at - 24) : at]
    return " as " in before or " als " in before or " for " in before or " für " in before


def _is_key(text: str, at: int) -> bool:
    """Whether `key` at a place has an owner that makes it a secret."""
    before = text[max(0, at - 16) : at]
    owner = before.lower()
    owner = owner[:-1] if owner[-1:] in ("_", " ", "-") else owner
    if owner.endswith(_OWNERS):
        return True
    return text[at : at + 3] == "KEY" and before.endswith("_") and not owner.endswith(_OPEN)


@lru_cache(512)
def _find_in_window(text: str, start: int, end: int, maker: int, *, has_pairs: bool) -> tuple[int, int] | None:
    """The value of the name from `start` to `end`. Cached: a text that is written to cost time repeats itself."""
    found = _find_value(text, start, end, maker)
    return _find_pair(text, text.lower(), end, maker) if found is None and has_pairs else found


def _find_value(text: str, start: int, end: int, maker: int) -> tuple[int, int] | None:
    """Where the value is that follows a name, whatever joins them."""
    after = text[end : end + 1]
    named = _NAMED_LATER.search(text, 0, start) if maker == PASSWORD else None
    if named and is_mentioned(named["value"]):
        return named.span("value")
    if not after or _OF_ARN.search(text, 0, start) or _is_piped(text, start, end):
        return None
    if "${" in text[:start] and text[:start].rstrip(_WORD).endswith("${"):
        default = _DEFAULT.match(text, end)
        return default.span(1) if default and is_told(default[1]) else None
    if text[start:end].isupper() and (env := _ENV.match(text, end)):
        group = env.lastgroup or "c"
        if is_given(env[group], code=group == "c") and not (env[group].isdigit() and maker != PASSWORD):
            return env.span(group)
    quoted = None if after == "<" else _QUOTED.match(text, end)
    if quoted and (found := _find_quoted(text, start, end, quoted, maker)):
        return found
    typed = _TYPED.match(text, end) if after in "\"'`])" and maker == PASSWORD else None
    if typed and is_given(typed["value"]):
        return typed.span("value")
    for form, is_here in ((_TAG, after in "> \"'"), (_FLAG, _is_flag(text, start))):
        match = form.match(text, end) if is_here else None
        value = match[match.lastindex or 1] if match else ""
        if match and (is_given(value) if maker == PASSWORD else is_quoted(value, chosen=False)):
            return match.span(match.lastindex or 1)
    return _find_bare(text, start, end, maker)


def _is_piped(text: str, start: int, end: int) -> bool:
    """Whether a name is in an expression of a template that goes on with a filter: `{{ .password | quote }}`."""
    is_filter = text[end : end + 4].lstrip(" ")[:1] == "|"
    return (
        is_filter and 0 <= text.rfind("{{", 0, start) > text.rfind("\n", 0, start) and "}}" in text[end:].split("\n")[0]
    )


_WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


def _find_quoted(text: str, start: int, end: int, quoted: re.Match[str], maker: int) -> tuple[int, int] | None:
    """The value in quotes after a name; not the next key, or the argument of a function that reads a secret."""
    group, separator = quoted.lastgroup or "a", quoted["sep"]
    value = quoted[group]
    if separator is None and maker != PASSWORD and text[end] in " \t\n":
        return None
    if separator == ",":
        between = text[end : quoted.start(group)]
        is_list = "\n" in between or (between[0] not in "])" and between.lstrip("\"'`")[:1] in ("]", ")"))
        if is_list or text[quoted.end() : quoted.end() + 4].lstrip()[:1] in (":", "="):
            return None
    if separator == "(" and (_READS.search(text, 0, start) or not is_told(value.strip())):
        return None
    return quoted.span(group) if is_quoted(value, chosen=maker > MADE) else None


def reads_secret(text: str, start: int) -> bool:
    """Whether what is called at a place has a name of what reads or checks a secret: `get_…`, `has…`."""
    return bool(_READS.search(text, max(0, start - 32), start))


def _is_flag(text: str, start: int) -> bool:
    """Whether a name is a flag: `--password`, `-storepass`, `--auth-token`."""
    at = text.rfind(" ", max(0, start - 32), start) + 1
    return at > 0 and text[at] == "-" and text.find("=", at, start) < 0


def _find_bare(text: str, start: int, end: int, maker: int) -> tuple[int, int] | None:
    """A value without quotes: after a colon, a copula, or only a space."""
    judge: Callable[[str], bool] = is_told if maker == PASSWORD else is_random
    if maker == PASSWORD and (found := _find_phrase(text, start, end)):
        return found
    for form in (_BARE, _PROSE, _SPACED):
        match = form.match(text, end)
        if match is None or match["value"] is None or (form is _BARE and _is_next_line(text, match)):
            continue
        if _FIELD.match(match["value"]) and "\n" in match[0]:
            continue
        begin = match.start("value")
        value = _trim(match["value"])
        if form is _SPACED:
            judge = is_mentioned if maker == PASSWORD else is_random
            if (
                maker != PASSWORD
                and not _SET.search(text, max(0, start - 60), start)
                and text[start - 1 : start] != "-"
            ):
                continue
        if maker == PASSWORD and text[end] == "=" and is_chosen(value):
            return begin, begin + len(value)
        digits = value.isdigit() and maker == PASSWORD and len(value) >= (12 if form is _SPACED else 6)
        if digits or judge(value if maker == PASSWORD else value.rstrip("?")):  # a type may end so
            return begin, begin + len(value)
    if maker == PASSWORD and (later := _LATER.match(text, end)):
        value = _trim(later["value"])
        if is_told(value) and is_random(value):
            return later.start("value"), later.start("value") + len(value)
    return None


def _find_phrase(text: str, start: int, end: int) -> tuple[int, int] | None:
    """A password of several words: in quotes after a copula, or four groups of letters."""
    groups = _GROUPS.match(text, end)
    if groups and sum(bool(_NO_VOWELS.search(word)) for word in groups["value"].split()) >= 2:
        return groups.span("value")
    match = _PROSE.match(text, end)
    phrase = match["phrase"] if match else None
    if match and phrase:
        is_said = (
            text[: match.start("phrase")].rstrip(' \t"„“«')[-1:] not in ":=" or "phrase" in text[start:end].lower()
        )
        if (is_said and is_phrase(phrase)) or is_quoted(phrase, chosen=True):
            return match.span("phrase")
    return None


def _is_next_line(text: str, match: re.Match[str]) -> bool:
    """Whether what looks like a value is the next line: `PASSWORD=` is empty, and `password:` has fields below it."""
    gap = match["gap"]
    if "\n" not in gap:
        return False
    before = text[match.start("gap") - 1 : match.start("gap")]
    value, rest = match["value"], text[match.end() : match.end() + 40].split("\n")[0].strip(" \t\r\"'`")
    return (before == "=" and "\\" not in match[0]) or bool(rest) or value[-1] in ":=" or bool(_FIELD.match(value))


_FIELD = lazy(r"[A-Za-z_][\w.-]{0,60}[:=]")


def _trim(value: str) -> str:
    """A value without the punctuation of the sentence that it ends."""
    while value and value[-1] in ".,;:)]}":
        if value[-1] in ")]}" and value.count(value[-1]) <= value.count("([{"[")]}".index(value[-1])]):
            break
        value = value[:-1]
    return value


def _find_pair(text: str, low: str, end: int, maker: int) -> tuple[int, int] | None:
    """The value of a pair whose name ends at `end`."""
    if not any(low.find(word, end, end + 120) >= 0 for word in _PAIRED):
        return None
    match = _PAIR.match(text, end)
    if match is None:
        return None
    group = match.lastgroup or "c"
    value = match[group]
    fits = (
        is_quoted(value, chosen=maker > MADE)
        if group != "c"
        else is_told(value)
        if maker == PASSWORD
        else is_random(value)
    )
    return match.span(group) if fits else None


def is_secret_name(name: str) -> bool:
    """Whether a field of this name has a secret in it.

    >>> [is_secret_name(name) for name in ("db_password", "apiKey", "token_type", "secretName", "max_tokens")]
    [True, True, False, False, True]
    """
    return _maker_of(name) is not None


def _maker_of(name: str) -> int | None:
    """Who makes the value of a field that is named like a secret; None for another field."""
    low = name.lower()
    for letters, form, maker in _NAMES:
        at = low.rfind(letters)
        match = form.match(name, at) if at >= 0 else None
        if match and match.end() == len(name) and (letters != "key" or _is_key(name, at)):
            return maker
    return None


def is_secret_field(name: str, value: str) -> bool:
    """Whether the whole value of a field is a secret, by the name of the field."""
    maker = _maker_of(name)
    if maker and " " in value and not is_placeholder(value):
        return len(value) <= 200 and "\n" not in value
    return maker is not None and is_quoted(value, chosen=maker > MADE)


__all__ = ["ASSIGNED", "find_assigned", "is_chosen", "is_secret_field", "is_secret_name"]
