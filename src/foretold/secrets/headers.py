"""Secrets of the web: headers, cookies, URLs, connection strings; and hashes of passwords."""

from __future__ import annotations

import re
from collections.abc import Iterator

from foretold.secrets.by_context import ASSIGNED
from foretold.secrets.tokens import URL, Span, find_all, may_have
from foretold.secrets.values import is_given, is_placeholder, is_quoted
from foretold.text.patterns import lazy

HEADER, KEY = "authorization", "private key"

_HEADERS = lazy(
    r"(?i)\b(?P<kind>bearer|basic|authorization[\"'`]?\s{0,12}[:=]\s{0,12}[\"'`]?(?:(?!bearer|basic)[a-z]{1,20}\s{1,3})?)"
    r"\s{0,3}(?P<value>[\w+/~.=:-]{8,4000})"
)
_COOKIE = lazy(r"""(?i)cookie["'`]?\s{0,3}:\s{0,3}["'`]?([^\s"'`=;$<{]{1,60}=(?![$<{*])[^"'`\n]{3,4000})""")
_COOKIE_VALUE = lazy(r"=(?=[^;\s]{0,400}\d)(?=[^;\s]{0,400}[A-Za-z])[^;\s]{8,}|=[^;\s]{20,}")
_BASIC = lazy(r"""(?i)(?:\b|(?<=\b_))auth["'`]?\s{0,12}[:=]\s{0,12}["'`]?([A-Za-z0-9+/]{12,4000}={0,2})""")
_SIGNED = lazy(r"(?i)[a-z]{3,9}=([\w%+/=.~-]{16,4000})")
_NAMED = lazy(r"(?i)[?&;\s](?:x-(?:amz|goog)-(?:security-)?|[a-z_-]{0,20}(?=\Z))\Z")
_USER = lazy(r"://([\w~-]{20,255})(?:(?::x-oauth-basic)?@)")
_LOGGED = lazy(
    r"://([^\s/:@\"'`<>]{0,64}):(?!\d{1,5}[/?#])((?:[^\s@\"'`<>]|@(?=[^\s@\"'`<>/]{0,80}@)){3,128})@(?=[\w\[])"
)
_HASH = lazy(r"(\$(?:apr1|1|2[aby]|5|6|7|y|argon2[a-z]{1,2}|pbkdf2[\w-]{0,20})\$[\w./$=,+-]{16,400})")
_OTP = lazy(r"""otpauth://[^\s"'`?]{0,200}\?[^\s"'`]{0,200}?secret=([A-Za-z2-7]{8,128})""")
_TOTP = lazy(
    r"(?i)(?:2fa|totp|mfa|otp|authenticator|setup[ -]?key|secret key|einrichtungsschlüssel|qr[ -]code|manual entry|two-factor)"  # noqa: E501
    r"(?:[ _-][a-z]{2,12}){0,6}[\"'`*]{0,2}(?: ?\([^()\n]{1,80}\))?\s{0,3}(?:[:=]|->|is|ist|lautet)\s{0,4}[\"'`*]{0,2}"
    r"((?-i:[A-Z2-7]{16,64}\b|(?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{4}\b|(?=[a-z ]{0,60}[2-7])(?:[a-z2-7]{4} ){3,15}[a-z2-7]{4}\b)|[A-Z2-7]{16,64}\b)"  # noqa: E501
)
_TOTP_WORDS: tuple[str, ...] = (
    "2fa",
    "totp",
    "mfa",
    "otp",
    "authenticator",
    "setup key",
    "setup-key",
    "secret key",
    "einrichtungsschlüssel",
)
_TOTP_WORDS += ("qr code", "qr-code", "manual entry", "two-factor")
#: the id of a Twilio account
_ACCOUNT = lazy(r"\bAC[0-9a-f]{32}\b")
_HEX = lazy(r"(?<![0-9A-Za-z])[0-9a-f]{32}(?![0-9A-Za-z])")
NEAR = 120  #: characters between an account and its token
_PUTTY = lazy(r"Private-Lines: ?\d{1,4}\s{1,4}([A-Za-z0-9+/=\s]{16,32768})")


def find_in_headers(text: str, low: str) -> Iterator[Span]:
    """Headers, cookies, URLs and hashes; `low` is the text in lower case."""
    yield from _find_headers(text, low)
    if "://" in text:
        yield from _find_in_urls(text)
    for match in match_at_words(_COOKIE, text, low, "cookie"):
        if _COOKIE_VALUE.search(match[1]):
            yield "cookie", *match.span(1)
    for word in _SIGNING:
        for match in match_at_words(_SIGNED, text, low, f"{word}="):
            if _NAMED.search(text, max(0, match.start() - 32), match.start()) and is_quoted(match[1], strict=True):
                yield "signed URL", *match.span(1)
    found = (("$", _HASH, "password hash"), ("otpauth://", _OTP, ASSIGNED), ("Private-Lines:", _PUTTY, KEY))
    for letters, form, kind in found:
        for match in form.finditer(text) if letters in text else ():
            yield kind, *match.span(1)
    for word in _TOTP_WORDS:
        for match in match_at_words(_TOTP, text, low, word):
            yield ASSIGNED, *match.span(1)
    done = 0
    for at in find_all(text, "AC"):
        if account := _ACCOUNT.match(text, at) if at >= done else None:
            done = account.end() + NEAR
            yield from (("Twilio token", *token.span()) for token in _HEX.finditer(text, account.end(), done))


FARTHEST = 300  #: characters from `://` to the `@` after a user and a password
_SIGNING = ("sig", "signature", "secret", "token", "key", "code", "auth")


def _find_in_urls(text: str) -> Iterator[Span]:
    sign = done = 0  #: the next `@`, and the end of the last match
    for at in find_all(text, "://"):
        sign = text.find("@", at) if 0 <= sign < at else sign
        if not at < sign < at + FARTHEST or at < done:
            continue
        if logged := _LOGGED.match(text, at):
            done = logged.end()
            if logged[1] != logged[2] and not is_placeholder(logged[2]):
                yield URL, *logged.span(2)
        elif (user := _USER.match(text, at)) and is_quoted(user[1], strict=True):
            yield URL, *user.span(1)


def _find_headers(text: str, low: str) -> Iterator[Span]:
    for word in ("bearer", "basic", "authorization"):
        for match in match_at_words(_HEADERS, text, low, word):
            kind, value = match["kind"].lower(), match["value"]
            if is_login(value) if kind == "basic" else is_quoted(value, strict=kind == "bearer"):
                yield HEADER, *match.span("value")
    for match in match_at_words(_BASIC, text, low, "auth"):
        if is_login(match[1]):
            yield HEADER, match.start(1), match.end(1)


def match_at_words(form: re.Pattern[str], text: str, low: str, word: str) -> Iterator[re.Match[str]]:
    """Matches of a pattern that begins with a word: searching the word first is ten times faster."""
    at = low.find(word) if may_have(low, word) else -1
    while at >= 0:
        match = form.match(text, at)
        if match:
            yield match
        at = low.find(word, match.end() if match else at + len(word))


def is_login(value: str) -> bool:
    """Whether a value is `user:password` in base64."""
    said = decode_base64(value)
    _, colon, password = said.partition(":")
    return bool(colon and is_given(password)) and said.isascii() and said.isprintable()


def decode_base64(value: str) -> str:
    """What a value says that is text in base64; empty if it is not."""
    from binascii import a2b_base64

    coded = value.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        said = a2b_base64(coded + "=" * (-len(coded) % 4))
    except ValueError:
        return ""
    return said.decode() if said.isascii() else ""
