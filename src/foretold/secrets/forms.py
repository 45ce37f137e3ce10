"""Credentials known by their form: tokens of well-known issuers, private keys, and random values after a telling word.

1. A token whose issuer gave it a form is recognised by that form.
2. A value that is assigned to a word such as `password` or `api_key` counts if it looks random: not a placeholder,
   not a reference to a variable, not a call, and characters that could not be guessed.
3. A finding has a kind, a place and a one-way fingerprint; the value itself is never repeated.
4. A private key is recognised by its first line. It ends at its last line, or, if that is missing, where the text stops
   looking like a key; its lines may be numbered or quoted. A last line without a first one ends a key whose beginning
   was cut off.
5. The time is linear in the text, also in one written to cost time: a form is searched only where its first characters
   are found, and begins only where a word does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foretold.types import NamedTuple

#: kind, characters that must occur in the text, and the form; several forms may have one kind
FORMS: tuple[tuple[str, str, str], ...] = (
    ("private key", "PRIVATE KEY", r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"),
    *(("AWS access key", start, rf"\b{start}[A-Z0-9]{{16}}\b") for start in ("AKIA", "ASIA", "ABIA", "ACCA")),
    *(("GitHub token", f"gh{kind}_", rf"\bgh{kind}_[A-Za-z0-9]{{36,}}") for kind in "pousr"),
    ("GitHub token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{22,}"),
    *(("GitLab token", f"{kind}-", rf"\b{kind}-[\w-]{{20,}}") for kind in "glpat gloas glrt glptt gldt glcbt".split()),
    ("Slack token", "xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("Slack token", "xapp-", r"\bxapp-[0-9]-[A-Za-z0-9-]{10,}"),
    ("Slack webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/]{20,}"),
    ("Discord webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/[0-9]{10,}/[\w-]{40,}"),
    ("Anthropic key", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("OpenAI key", "sk-", r"(?<![\w-])sk-(?!ant-)(?=[\w-]{0,99}[0-9])(?=[\w-]{0,99}[A-Z])[A-Za-z0-9_-]{32,}"),
    ("OpenAI key", "sk-", r"(?<![\w-])sk-(?:or-v1-)?[0-9a-f]{32,}\b"),
    ("xAI key", "xai-", r"\bxai-[A-Za-z0-9]{60,}"),
    ("Groq key", "gsk_", r"\bgsk_[A-Za-z0-9]{40,}"),
    ("Perplexity key", "pplx-", r"\bpplx-[A-Za-z0-9]{40,}"),
    ("Replicate token", "r8_", r"\br8_[A-Za-z0-9]{30,}"),
    ("Google key", "AIza", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("Google key", "ya29.", r"\bya29\.[\w-]{20,}"),
    ("Google key", "GOCSPX-", r"\bGOCSPX-[\w-]{20,}"),
    ("Stripe key", "k_", r"\b[sr]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    ("Stripe key", "whsec_", r"\bwhsec_[0-9A-Za-z+/]{24,}"),
    ("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}"),
    ("PyPI token", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("RubyGems token", "rubygems_", r"\brubygems_[0-9a-f]{48}"),
    ("Docker token", "dckr_", r"\bdckr_[po]at_[\w-]{20,}"),
    ("Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,}"),
    ("SendGrid key", "SG.", r"\bSG\.[\w-]{16,}\.[\w-]{32,}"),
    ("Twilio key", "SK", r"\bSK[0-9a-f]{32}\b"),
    ("Vault token", "hv", r"\bhv[sbr]\.[\w-]{24,}"),
    ("Terraform token", ".atlasv1.", r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}"),
    ("DigitalOcean token", "_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}"),
    ("Shopify token", "shp", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("Square token", "sq0", r"\bsq0[a-z]{3}-[\w-]{22,}"),
    ("Databricks token", "dapi", r"\bdapi[0-9a-f]{32}"),
    ("Grafana token", "glsa_", r"\bglsa_[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    ("Sentry token", "sntry", r"\bsntry[su]_[\w+/=-]{40,}"),
    ("New Relic key", "NRAK-", r"\bNRAK-[A-Z0-9]{27}"),
    ("Linear key", "lin_api_", r"\blin_api_[A-Za-z0-9]{32,}"),
    ("Notion token", "ntn_", r"\bntn_[A-Za-z0-9]{40,}"),
    ("Figma token", "figd_", r"\bfigd_[\w-]{35,}"),
    ("Atlassian token", "ATATT3", r"\bATATT3[\w=-]{60,}"),
    ("Postman key", "PMAK-", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("Supabase token", "sbp_", r"\bsbp_[0-9a-f]{40}"),
    ("Telegram token", ":AA", r"\b[0-9]{8,10}:AA[\w-]{33}\b"),
    ("age key", "AGE-SECRET-KEY-1", r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("Azure key", "AccountKey=", r"\bAccountKey=[A-Za-z0-9+/]{40,}={0,2}"),
    ("Azure key", "SharedAccessKey=", r"\bSharedAccessKey=[A-Za-z0-9+/]{40,}={0,2}"),
    ("JSON web token", "eyJ", r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    (
        "password in a URL",
        "://",
        (
            r"(?i)(?<=[a-z0-9])://(?P<user>[^\s/:@<>{}$]{0,64}):(?!(?P=user)@|[<{$*]|(?:pass|password|passwd|pwd|secret|token"
            r"|x+|change.?me|example)@)[^\s/:@<>{}$]{3,128}@"
        ),
    ),
)
_FORMS = tuple((kind, letters, re.compile(form)) for kind, letters, form in FORMS)
_WORD = (
    r"pass(?:word|wd|phrase)|\bpass(?==)|pwd|secret(?:[_-]?key)?|token|(?:api|access|auth|account|private|signing"
    r"|encryption)[_-]?key|credential"
)
_ASSIGNED = re.compile(
    rf"""(?i)(?:{_WORD})s?["'`]?\s{{0,3}}(?::=|=>|[:=]|\bis\b)[*_]{{0,2}}\s{{0,3}}["'`]?"""
    r"""([^\s"'`,;()\[\]{}<>]{8,200})(?![(\[])"""
)
PLACEHOLDERS, NO_VALUES = "change.?me|example|dummy|placeholder|redacted", "none|null|true|false|todo|test"
_PLACEHOLDER = re.compile(rf"(?i)(?:x+|\*+|\.+|{PLACEHOLDERS}|your[_-]|my[_-]|{NO_VALUES}|[a-z_]+=)")
_REFERENCE = re.compile(r"[A-Za-z_]+\d{0,2}(?:(?:\.|::|->)[A-Za-z_]+\d{0,2})+")
WORDS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")


class Credential(NamedTuple):
    """A place in a text that looks like a credential."""

    kind: str
    start: int
    end: int
    line: int  #: from 1
    fingerprint: str  #: the start of a one-way digest: equal for equal values


def credentials_in(text: str) -> list[Credential]:
    """What looks like a credential, in the order of the text."""
    found: list[Credential] = []
    line, last = 1, 0
    for kind, start, end in sorted(_spans(text), key=lambda span: (span[1], -span[2])):
        if not found or start >= found[-1].end:
            line, last = line + text.count("\n", last, start), start
            found.append(Credential(kind, start, end, line, _fingerprint(text[start:end])))
    return found


def _spans(text: str) -> Iterator[tuple[str, int, int]]:
    for kind, letters, form in _FORMS:
        if letters in text:
            for match in form.finditer(text):
                yield kind, match.start(), match.end()
    for match in _ASSIGNED.finditer(text):
        if _looks_random(match[1]):
            yield "assigned secret", match.start(1), match.end(1)


def _looks_random(value: str) -> bool:
    """Whether a value is not a word, a path or a reference that a person would write."""
    if value[0] in "$%@/~.&#|-" or "://" in value or _PLACEHOLDER.match(value) or _REFERENCE.fullmatch(value):
        return False
    digits = sum(map(str.isdigit, value))
    odd = any(not char.isalnum() and char not in "._-/:" for char in value)
    if digits <= 2 and not odd and sum(map(len, WORDS.findall(value))) >= 0.7 * len(value):
        return False
    kinds = any(map(str.islower, value)) + any(map(str.isupper, value)) + bool(digits)
    return _entropy(value) >= 2.7 and (kinds + odd >= 3 or (kinds >= 2 and bool(digits) and len(value) >= 20))


def find_all(text: str, part: str) -> Iterator[int]:
    """Every place of a part in a text; they do not overlap."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))


def is_random(value: str) -> bool:
    """Whether a value would count if it were assigned to a password."""
    return any(one.end > 8 for one in credentials_in(f'secret="{value}'))


def _entropy(value: str) -> float:
    """Bits per character."""
    from math import log2

    counts = [value.count(char) for char in set(value)]
    return -sum(count / len(value) * log2(count / len(value)) for count in counts)


def _fingerprint(value: str) -> str:
    """Fast, for reports that stay on this machine; `redactor.fingerprint` is slow to guess, for what leaves it."""
    from hashlib import sha256

    return sha256(b"foretold:" + value.encode("utf-8", "replace")).hexdigest()[:12]


LONGEST_KEY = 32_768  #: characters from the first line of a private key to its last
MOST_LINES, LONGEST_LINE = 200, 400
_LAST = r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_BEFORE = r"""[ \t]*(?:\d{1,6}[\t→:| ]|[+>#|*-])?[ \t"'`]{0,8}"""  # the number of a line, a mark of a diff, a quote
_LINE = _BEFORE + r"(?:[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info|Version|Comment|Hash): .{1,200})"
_SHORT = _BEFORE + r"""[A-Za-z0-9+/]{1,64}={0,2}[ \t"'`\\+,;)]{0,8}(?=\n|\Z)"""


def end_of_key(text: str, start: int) -> int:
    """Where the private key ends whose first line ends at `start`.

    >>> end_of_key("\\nMIIEowIBAAKCAQEA0Z3VS5\\nq9==\\n\\nSo it is.", 0)
    28
    """
    last = re.compile(_LAST).search(text, start, start + LONGEST_KEY)
    if last:
        return last.end()
    at, whole, short = start, re.compile(_LINE), re.compile(_SHORT)
    while at < len(text) and at - start < LONGEST_KEY:
        line = at + 1 if text[at] == "\n" else at
        match = whole.match(text, line)
        if match is None:
            final = short.match(text, line) if at > start else None
            return final.end() if final else at
        end = text.find("\n", match.end())
        at = len(text) if end < 0 else end
    return at


def key_tails(text: str) -> Iterator[tuple[int, int]]:
    """The ends of private keys, from where the lines look like a key."""
    whole, short = re.compile(_LINE), re.compile(_SHORT)
    for last in re.finditer(_LAST, text) if "-----END" in text else ():
        start = last.start()
        for _ in range(MOST_LINES):
            line = text.rfind("\n", max(0, start - LONGEST_LINE), max(0, start - 1)) + 1
            if line == start or (line == 0 and start > LONGEST_LINE):
                break
            if not whole.match(text, line, start) and not short.match(text, line, start):
                break
            start = line
        yield start, last.end()
