"""Whether a value is a secret, once its surroundings said that it may be one.

1. A placeholder, a reference, a call or the name of a type stands for a value and is none.
2. Where only a secret can stand (`given`), every other value counts.
3. After a word such as `password` (`chosen`), a person chose the value: it counts if it is not a plain word.
4. After a word such as `token` or `key`, a machine made the value: it counts if it looks random.
"""

from __future__ import annotations

from functools import lru_cache

from foretold.text.patterns import lazy

#: words that stand for a value; a whole value that is one of them is none
_NO_VALUES = (
    "none|null|nil|undefined|true|false|yes|no|on|off|todo|tbd|test|tests?123|string|str|int|bool|boolean|number|bytes|any|object"
    "|required|optional|missing|invalid|unknown|empty|default|hidden|masked|secret|foo|bar|baz|abc|abcd|env|file|prompt|stdin|ask"
    "|passwort|kennwort|geheimnis|wachtwoord|contraseña|senha|parola|mot de passe|properties|confirm|verify|reset|change|forgot"  # noqa: E501
    "|postgres|mysql|root|admin|administrator|guest|user|username|docker|rabbitmq|minio|minioadmin|sa|self|this|value|text|redacted"
    r"|(?:my|new|old|the|a|db|user|test|some)?[_-]?(?:pass(?:word|wd|phrase|wort)?|pwd|pw|secret|token|api[_-]?(?:key|token)|key|credentials?)\d?"
)
_PLACEHOLDER = lazy(
    r"(?i)@{1,2}[a-z][\w.-]*@|__[a-z_]+__\Z|\\?[dwsb][*+?][\[(\\]|\$[{(\[]|\$\w+(?:\Z|[/:.,;)}\]'\"-])|\$\Z|%\w+%|%[({]|%s|<|\{\{|\{[a-z_%]|#\{|\[[a-z][a-z _-]*\]"  # noqa: E501
    r"|[.*x•_#?-]{3,}\Z|([.*x•_#?-])\1\1|~/|\.{1,2}/|@/|~?/(?-i:[a-z]{2,12}\d?|[A-Z][a-z]+|[a-z]*[.$_-][\w.-]+)(?:[/.]|\Z)"
    r"|/?\^[\[(.\\\w]|/[\[(\\]|\(\?[=!:<]|\[(?:a-z|A-Z|0-9)|\\[dwsSb]"
    r"|-\w?\Z|--?(?-i:[a-z][a-z0-9_-]*|[A-Z][a-z]+)(?:\Z|[=:\s,;)\]])|&[a-z]\w*\Z|\*[a-z]\w*\Z|[|>]-?\Z|!(?:vault|env|secret|ref|sub|getatt)\b|(?:ENC|secret|vault|env|file|ref|sops|enc|arn"
    r"|ssm|op|akv|gcp|keyring|config)[:\[(+]|projects/|your|my[_-]?(?:pass|secret|token|key|api)"
    r"|(?:insert|replace|enter|fill|put|use|see|get|fake|sample|same|todo|fixme)(?:[_ -]|\Z)"
    rf"|0x[0-9a-f]{{40}}\Z|(?:{_NO_VALUES})[,;:?!)\]}}]*\Z"
)
#: characters that occur in no value, in lower case
_STANDS_FOR = (
    "changeme change-me change_me changethis change-this change_this change.me placeholder dummy"
    " redacted example xxxx *** ... …"
    " ${ $( {{ your_ your- _your -your <your"
).split()
_HERE = ("_here", "-here", " here", "keyhere", "tokenhere", "passwordhere", "secrethere", "goeshere")
_CALL = lazy(r"[A-Za-z_]{3,}(?:\.[A-Za-z_]+)*\([^()]{0,200}\)[,;)!]*|[a-z_]+(?:\.[A-Za-z_]+)+")
_BETWEEN = lazy(r"<[a-z_ -]{2,30}>")
_CODE = lazy(
    r"(?:await |new |new_)?[A-Za-z_][\w.]*(?:\([^()]{0,200}\)|\[[^\]]{0,80}\])[,;)!]*"
    r"|[A-Za-z_]+\d?(?:(?:\.|::|->|\?\.)[A-Za-z_]+\d?)+!?[,;)]*|[A-Za-z_][\w.]{2,}\([^)]*|[\w.:]+\[['\"]?\w*['\"]?(?:\][\w.\[\]'\"]*)?"
    r"|(?:self|this|config|settings|process|os|env|req|request|user|args|params|ctx|options|props|state|data|cfg|opts)[.:>-]\S*"
    r"|[A-Za-z_.:]{3,}\d?\([^()]*\)(?:[.?!]+[A-Za-z_]\w*|\([^()]*\)?)*[,;)!]*|(?:[A-Z_]{3,}|[A-Za-z_][a-z_]{2,})=\w.*"
)
_WORDED = lazy(r"[A-Za-z_]+(?:[.:-]{1,2}[A-Za-z_]+)*")  #: `auth.login.label`, `acme-db-secret`
_STRONG = lazy(r"(?=\S*[^\W\d_])\S*(?:\d|[!@#$%^&*+=?~§€]\S)\S*|(?=\S*[^\W\d_])\S*[#$%^&*+~§€]")
#: what is called so has a digit in it, and is a word
_TECHNICAL = lazy(
    r"(?i)(?:sha-?\d+|md5|base\d+|utf-?\d+|oauth-?2?\S*|pbkdf2\S*|argon2\S*|bcrypt\S*|scrypt\S*|[hrepd]s\d{3}|aes-?\d*\S*|rsa-?\d*|1password\S*"
    r"|http/?\d\S*|ipv[46]|k8s|s3|ec2|auth0|x\.?509|pkcs#?\d+|v?\d+(?:[.,:/-]\d+)*\w{0,2}|web3|h2|m2m|2fa|ed25519|p256"
    r"|v?\d+(?:\.\d+){1,3}[-+~\w.]*|[<>=~^]{1,2}=?v?\d[\w.*]*|\d{4}-\d\d-\d\dT?\S*)"
    r"[.,;:!?)]*"
)
_NUMBERED = lazy(r"(?i)[a-z]+-?v?\d(?:\.\d+)*[.,;:!?)]*")  #: `field2`, `python3.12`
_NAMED_SO = lazy(
    r"(?i)[A-Za-z_]\w*(?:pass(?:word|wd|phrase)?|secret|token|credential|auth)\w*|(?:pass|secret|token|credential)\w*"
)
_PATH = lazy(
    r"[\w.@-]*(?:/[\w.@-]+)+\.[a-z]{1,5}|(?:[a-z][a-z0-9_.-]*/)+[a-z][a-z0-9_.-]*/?|[\w-]+\.(?:md|py|js|ts|json|ya?ml|toml|txt|sh|go|rs|java|env|pem|key|html?|cfg|ini|conf|exe)"
)
_NAMING = ("pass", "secret", "token", "cred", "auth", "key", "pwd", "login", "wort")
WORDS = lazy(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
REMEMBERED = 256  #: values, because a text that is written to cost time repeats itself
SHORTEST = 6  #: characters of a password that is told by itself


@lru_cache(REMEMBERED)
def is_placeholder(value: str, *, code: bool = True) -> bool:
    """Whether a value stands for none: a placeholder, a reference, a call; `code`: whether it could be an expression.

    >>> [is_placeholder(value) for value in ("<token>", "${PW}", "os.getenv(1)", "changeme", "hunter2", "S3cure.Horse")]
    [True, True, True, True, False, False]
    """
    value = value.strip()
    if len(value) < 3 or len(set(value)) < 3:
        return True
    if _PLACEHOLDER.match(value) or (_CODE if code else _CALL).fullmatch(value):
        return True
    low = value.lower()
    return (
        any(word in low for word in _STANDS_FOR) or low.endswith(_HERE) or ("<" in low and bool(_BETWEEN.search(low)))
    )


def is_given(value: str, *, code: bool = False) -> bool:
    """Whether a value is a secret that stands where only a secret can, or an expression if there is `code`."""
    return not is_placeholder(value, code=code) and not _is_name(value) and not _PATH.fullmatch(value)


def _is_name(value: str) -> bool:
    """Whether a value is words one of which says that it names a secret: `acme-db-password`."""
    return bool(_WORDED.fullmatch(value)) and any(word in value.lower() for word in _NAMING)


def is_chosen(value: str, *, code: bool = True) -> bool:
    """Whether a person chose a value, and it is not a word.

    >>> is_chosen("hunter2"), is_chosen("hunter"), is_chosen("$PW1")
    (True, False, False)
    """
    return not is_placeholder(value, code=code) and bool(_STRONG.fullmatch(value))


@lru_cache(REMEMBERED)
def is_told(value: str) -> bool:
    """Whether a value that stands without quotes, after a word for a password, is one.

    >>> [is_told(value) for value in ("rosebud42", "S3cretPassw0rd9", "SHA-256", "docs/keys2.md", "reset_token2")]
    [True, True, False, False, False]
    """
    return (
        len(value) >= SHORTEST
        and is_chosen(value)
        and "://" not in value
        and not _TECHNICAL.fullmatch(value)
        and not _names_secret(value)
        and not _PATH.fullmatch(value)
    )


def _names_secret(value: str) -> bool:
    """Whether a value is the name of a variable for a secret: `reset_token2`. With more digits, a person chose it."""
    return bool(_NAMED_SO.fullmatch(value)) and sum(map(str.isdigit, value)) < 2


def is_mentioned(value: str) -> bool:
    """Whether a value is a password that follows a word for it in a sentence, and nothing joins them."""
    return is_told(value) and not _NUMBERED.fullmatch(value)


def _is_odd_word(word: str) -> bool:
    return bool(_STRONG.fullmatch(word)) and not _TECHNICAL.fullmatch(word) and word[0] not in "({["


_STOP = frozenset(
    "a an and are as be by can do does for from has have if in is it its must no not of on or please should that the this to"  # noqa: E501
    " use was will with you your der die das ein eine ist nicht und oder bitte für mit muss auf le la les est pas invalid"  # noqa: E501
    " wrong too incorrect missing required expired password passwort kennwort passphrase token secret key at least characters".split()  # noqa: E501
)


def is_phrase(value: str) -> bool:
    """Whether a value in quotes is a passphrase: words that are no sentence.

    >>> is_phrase("correct horse battery staple"), is_phrase("the password is wrong"), is_phrase("lorem")
    (True, False, False)
    """
    words = value.lower().split()
    return 3 <= len(words) <= 10 and not _STOP.intersection(words) and all(map(str.isalnum, words))


@lru_cache(REMEMBERED)
def is_quoted(value: str, *, chosen: bool = False, strict: bool = False) -> bool:
    """Whether a value in quotes is a secret. What a person chose may be a word; what a machine made has digits."""
    value = value.strip()
    if is_placeholder(value, code=False) or _is_name(value) or _PATH.fullmatch(value):
        return False
    if " " in value:
        return chosen and len(value.split()) <= 8 and any(map(_is_odd_word, value.split()))
    digits = sum(map(str.isdigit, value))
    if strict:
        words = sum(map(len, WORDS.findall(value)))
        return len(value) >= 16 and digits > 0 and (digits >= 3 or words < 0.7 * len(value))
    if chosen:
        if digits == 0 and _WORDED.fullmatch(value):
            is_word = value.isalpha() and value.islower() and len(value) >= 8
            return is_word or len(WORDS.findall(value)) >= 4 or is_phrase(value.replace("_", " ").replace("-", " "))
        return True
    return len(value) >= 8 and digits > 0 and not value.isdigit() and any(map(str.isalpha, value))


_REFERENCE = lazy(r"[A-Za-z_]+\d{0,2}(?:(?:\.|::|->)[A-Za-z_]+\d{0,2})+")


@lru_cache(REMEMBERED)
def is_random(value: str) -> bool:
    """Whether a value is not a word, a path or a reference that a person would write.

    >>> [is_random(value) for value in ("aB3xY9kLmQ2w", "MyVeryLongClassName2", "settings.SECRET_KEY_V2", "Summer2024")]
    [True, False, False, True]
    """
    if (
        len(value) < 8
        or value[0] in "$%@~.&#|"
        or (value[0] == "-" and len(value) < 20)
        or "://" in value
        or is_placeholder(value)
        or _REFERENCE.fullmatch(value)
    ):
        return False
    if value[0] == "/" or _PATH.fullmatch(value) or _TECHNICAL.fullmatch(value):
        return False
    digits = sum(map(str.isdigit, value))
    odd = any(not char.isalnum() and char not in "._-/:" for char in value)
    if digits <= 2 and not odd and sum(map(len, WORDS.findall(value))) >= 0.7 * len(value):
        return False
    kinds = any(map(str.islower, value)) + any(map(str.isupper, value)) + bool(digits)
    return _entropy(value) >= 2.7 and (kinds + odd >= 3 or (kinds >= 2 and bool(digits) and len(value) >= 20))


def _entropy(value: str) -> float:
    """Bits per character."""
    from math import log2

    counts = [value.count(char) for char in set(value)]
    return -sum(count / len(value) * log2(count / len(value)) for count in counts)
