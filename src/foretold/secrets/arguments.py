"""Secrets that a call or a tool is given, and what a tool prints: wallets, seeds of one-time passwords, clients.

1. `new Wallet("0x…")`, `accounts: ["0x…"]`: 64 hexadecimal digits are a key there; elsewhere they are a hash.
2. A seed in base32 on a line about one-time passwords: `oathtool --totp -b …`, `pyotp.TOTP("…")`.
3. The line below a command that prints a secret: `… get secret … | base64 -d`, `vault kv get -field=password …`.
4. `echo … | base64 -d`, if what it says is no word.
5. `Client("…")`, if the one argument looks random; `auth: [bob, …]`.
6. `psk="…"` and `wpa-psk …`: whatever is there. `key = …` in a section of an INI file, if it looks random.
"""

from __future__ import annotations

from collections.abc import Iterator

from foretold.secrets.by_context import ASSIGNED, reads_secret
from foretold.secrets.documents import find_runs
from foretold.secrets.headers import decode_base64, match_at_words
from foretold.secrets.tokens import Span, find_all, may_have
from foretold.secrets.values import is_given, is_quoted, is_random, is_told
from foretold.text.patterns import lazy

LONGEST = 1_000  #: characters of a line before and after a word that are searched
#: what stands before the key of a wallet
_WALLET = lazy(
    r"""(?i)(?:(?:(?<!get)(?<!get_)(?<!find)(?<!has)(?:wallets?|key|keypair|signer)\w{0,24}|startbroadcast|vm\.(?:addr|sign|broadcast))"""
    r"""(?:(?:\.|::)\w{1,24}){0,3}[!(]\(?\s{0,12}(?:[\w.]{1,24}\(\s{0,4})?"""
    r"""|accounts?["'`]?\s{0,3}[:=]\s{0,3}\[\s{0,12}|signers?["'`]?\s{0,3}[:=]\s{0,3}\[?\s{0,12}"""
    r"""|(?:priv(?:ate)?|deployer|(?<![a-z])pk|(?<![a-z])sk|wif)["'`]?\s{0,3}[:=]\s{0,3})["'`]?(?:0x)?\Z"""
)
_NEXT = lazy(r"""["'`]?,\s{0,12}["'`]?(?:0x)?""")  #: between the items of a list
_WALLETS = ("wallet", "key", "startbroadcast", "vm.", "signer", "account", "priv", "deployer", "pk", "sk", "wif")
_HEX, KEY_DIGITS, BEFORE = b"0123456789abcdefABCDEF", 64, 120
_SEED = lazy(r"(?<![\w/+.-])((?=[A-Z]{0,127}[2-7])(?=[2-7]{0,127}[A-Z])[A-Z2-7]{16,128}={0,6})(?![\w/+.-])")
_TOOL_SEED = lazy(
    r"(?<=[\s\"'=])((?=[a-z]{0,127}[2-7])(?=[2-7]{0,127}[a-z])[a-z2-7]{16,128}|[0-9a-fA-F]{32,128}|[A-Z2-7]{16,128})"
    r"(?=[\s\"']|\Z)"
)
_SEEDED = (("otp", _SEED), ("oath", _SEED), ("2fa", _SEED), ("mfa", _SEED), ("authenticator", _SEED))
_TOOLS = (("oathtool", _TOOL_SEED), ("oath accounts add", _TOOL_SEED), ("mintotp", _TOOL_SEED))
_PRINTS = lazy(
    r"(?i)[^\n]{0,400}?(?:secret|passw|token|cred|key|\bpw\b)[^\n]{0,400}?\bbase64 +(?:-d|-D|-di|--decode)\b"
    r"|[^\n]{0,40}\b(?:vault (?:kv get|read) [^\n]{0,200}-field|pass show |gopass show |op (?:read|item get) |bw get (?:password|totp)"  # noqa: E501
    r"|lpass show [^\n]{0,80}-(?:p|-password)|secret-tool lookup|security find-(?:generic|internet)-password [^\n]{0,200}-w"  # noqa: E501
    r"|gcloud (?:secrets versions access|auth print-)|az keyvault secret show|az account get-access-token"
    r"|aws secretsmanager get-secret-value|aws ssm get-parameter|doppler secrets get|chamber read|heroku auth:token"
    r"|gh auth token|kubectl create token|terraform output (?:-\w+ ){0,2}\w{0,40}(?:password|secret|token|key)"
    r"|cat [^\n]{0,100}/(?:run/)?secrets?/|pwgen|wg genkey|openssl rand -base64|(?:print|get)env \w{0,40}(?:password|secret|token|api_?key)"  # noqa: E501
    r"|echo \"?\$\{?\w{0,40}(?:password|secret|token|api_?key))"
)
_PRINTING = (
    "base64 -",
    *(
        "-field",
        "show",
        "op read",
        "op item",
        "bw get",
        "secret-tool",
        "-password",
        "gcloud ",
        "keyvault",
        "access-token",
    ),
    *("secretsmanager", "get-parameter", "doppler", "chamber", "auth:token", "auth token", "create token", "output "),
    *("/secret", "pwgen", "genkey", "openssl rand", "printenv", "getenv", "echo"),
)
_PRINTED = lazy(r"[ \t]*\r?\n[ \t]*[\"']?([^\s\"']{8,400}+)[\"']?%?[ \t]*(?=\r?\n|\Z)")
_ECHOED = lazy(
    r"""(?:echo|printf|<<<)\s{1,3}(?:-\w{1,3}\s{1,3})?["']?([A-Za-z0-9+/_-]{8,4000}={0,2})["']?\s{0,3}\|\s{0,3}(?:openssl )?base64 +(?:-d|-D|-di|--decode)\b"""  # noqa: E501
)
_HERE_STRING = lazy(r"""base64 +(?:-d|-D|-di|--decode)\s{0,3}<<<\s{0,3}["']?([A-Za-z0-9+/_-]{8,4000}={0,2})""")
_CLIENT = lazy(
    r"""(?i)(?:client|bot|api|sdk|session|login|auth|connect|stripe|openai|slack|github|gitlab|octokit|telegram|discord|run)\w{0,20}"""
    r"""(?:(?:\.|::)\w{1,24}){0,2}\(\s{0,8}["'`]([A-Za-z0-9_.+/=-]{20,400})["'`]\s{0,8}[,)]"""
)
_CLIENTS = "client bot api sdk session login auth connect stripe openai slack github gitlab octokit telegram discord run(".split()  # noqa: E501
_LIST = lazy(
    r"""(?i)(?:auth|credentials?|creds|login|user_?pass|zugangsdaten)["'`]?\s{0,3}(?:[:=]|=>)\s{0,3}[\[(]\s{0,8}["'`]?[\w.@+-]{1,64}["'`]?\s{0,3},"""
    r"""\s{0,8}["'`]?([^\s"'`,;\[\]()]{6,128})["'`]?\s{0,8}[\])]"""
)
_PSK = lazy(
    r"""(?i)(?:psk|wpa_passphrase)["']?(?:\s{0,2}=\s{0,2}|:[ \t]{1,3}(?=["'])|[ \t]{1,4})"""
    r"""(?:"([^"\n]{8,64})"|'([^'\n]{8,64})'|([^\s"'`,;<>()\[\]{}=]{8,64}+={0,2})(?=[ \t]*(?:\r?\n|\Z)))"""
)
_INI = lazy(
    r"(?:key|pass|secret|pin|auth|hash|token)[ \t]{0,4}=[ \t]{0,4}([^\s\"'`(){}\[\]<>.:,;$%@]{16,400}+)[ \t]*(?=\r?\n|\Z)"  # noqa: E501
)
_SECTION = lazy(r"(?m)^\[[^\]\n]{1,80}\][ \t]*\r?$")
_ID = lazy(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
MOST_ABOVE = 600  #: characters between the title of a section and a field of it


def find_arguments(text: str, low: str) -> Iterator[Span]:
    """Secrets that calls and tools are given, or print; `low` is the text in lower case."""
    yield from _find_wallets(text, low)
    for word, form in (*_SEEDED, *_TOOLS):
        for start, end in lines_with(text, low, word, LONGEST):
            yield from ((ASSIGNED, *match.span(1)) for match in form.finditer(text, start, end))
    yield from _find_printed(text, low)
    for word in _CLIENTS:
        for match in match_at_words(_CLIENT, text, low, word):
            if _is_token(match[1]) and not reads_secret(text, match.start()):
                yield ASSIGNED, *match.span(1)
    for word in ("auth", "cred", "login", "user", "zugangsdaten"):
        for match in match_at_words(_LIST, text, low, word):
            if is_told(match[1]) and any(map(str.isdigit, match[1])):
                yield ASSIGNED, *match.span(1)
    yield from _find_in_settings(text, low)


def _find_wallets(text: str, low: str) -> Iterator[Span]:
    """Keys of wallets; the other items of a list, too. What they are is told by what stands before them."""
    last = -1  #: the end of the last key
    for start, end in find_runs(text, _HEX, KEY_DIGITS):
        if end - start != KEY_DIGITS or text[end : end + 1].isalnum() or not is_given(text[start:end]):
            continue
        first = max(0, start - BEFORE)
        is_item = last >= 0 and start - last < BEFORE and _NEXT.fullmatch(text, last, start)
        if not is_item:
            before = low[first:start]
            if not any(word in before for word in _WALLETS) or not _WALLET.search(text, first, start):
                continue
        last = end
        yield ASSIGNED, start, end


def _find_printed(text: str, low: str) -> Iterator[Span]:
    """What the line below a command is that prints a secret, and what is decoded."""
    for word in _PRINTING:
        for start, end in lines_with(text, low, word, LONGEST):
            line = _PRINTS.match(text, start, end)
            printed = _PRINTED.match(text, end) if line else None
            if printed and is_told(printed[1]) and printed[1][-1] not in ":,":
                yield ASSIGNED, *printed.span(1)
    for start, end in lines_with(text, low, "base64", LONGEST):
        for form in (_ECHOED, _HERE_STRING):
            for match in form.finditer(text, start, end):
                said = decode_base64(match[1]).strip()
                if is_told(said.rpartition(":")[2]) and said.isprintable():
                    yield ASSIGNED, *match.span(1)


def _is_token(value: str) -> bool:
    """Whether an argument is a token: letters of both cases and digits, or nothing but 32 digits and more."""
    kinds = any(map(str.islower, value)) + any(map(str.isupper, value)) + any(map(str.isdigit, value))
    digits = sum(map(str.isdigit, value))
    if kinds < 3:
        return len(value) in (32, 40, 64) and digits > 3 and not value.strip("0123456789abcdef")
    return digits >= 2 and is_quoted(value, strict=True) and is_random(value)


def _find_in_settings(text: str, low: str) -> Iterator[Span]:
    for match in (found for word in ("psk", "wpa_pass") for found in match_at_words(_PSK, text, low, word)):
        group = match.lastindex or 1
        joint = text[match.start() : match.start(group)]
        is_option = low.startswith(("wpa-", "sec."), max(0, match.start() - 4))
        if ("=" in joint or ":" in joint or is_option) and is_given(match[group], code=group == 3):
            yield ASSIGNED, *match.span(group)
    for word in ("key", "pass", "secret", "pin", "auth", "hash", "token"):
        for at in find_all(low, f"\n{word}"):
            field = _INI.match(text, at + 1)
            if field and is_random(field[1]) and not _ID.fullmatch(field[1]):
                above = text[max(0, at - MOST_ABOVE) : at + 1]
                if _SECTION.search(above):
                    yield ASSIGNED, *field.span(1)


def lines_with(text: str, low: str, letters: str, longest: int) -> Iterator[tuple[int, int]]:
    """Start and end of the lines that have certain characters, each once; of long lines, the part around them."""
    at, end = low.find(letters) if may_have(low, letters) else -1, 0
    while at >= 0:
        start = max(text.rfind("\n", max(0, at - longest), at) + 1, at - longest, end)
        end = text.find("\n", at, at + longest)
        end = min(len(text), at + longest) if end < 0 else end
        yield start, end
        at = low.find(letters, max(end, at + 1))
