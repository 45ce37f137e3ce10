"""Credentials in a text, for whoever refuses or reports them: the way into the one search of this package.

1. The guard, the hooks and the export find the same: all ask `detector.find_secrets`.
2. A text without any characters that a search begins with costs next to nothing: no other module is imported, and one
   pattern is compiled.
3. A finding has a kind, a place and a one-way fingerprint; the value itself is never repeated.
"""

from __future__ import annotations

import re

from foretold.types import NamedTuple

#: what a search by surroundings begins with, in lower case
HINTS = (
    *(
        "pass pw secret token credential key auth bearer basic cookie kennwort wachtwoord contrase senha"
        " parola haslo hasło heslo lösenord парол"
        " 密码 密碼 口令 パスワード 비밀번호 şifre jelszó salasana adgangskode mdp schlüssel zugangsdaten psk pin: pin_"
        " salt :// sig= mysql mariadb redis-cli"
        " mongo login ldap 7z zip unrar openssl htpasswd smbclient freerdp rdesktop sqlcmd sqlplus curl"
        " wget psexec ipmitool add-mask identified"
        " securestring sudo jdbc: wifi: akia asia abia hooks. recovery backup wiederherstellung mnemonic"
        " seed phrase otp admin: root:"
        " $1$ $2 $5$ $6$ $y$ $apr1 $argon2 $pbkdf2 private-lines clave"
    ).split(),
    "http ",
    "admin /",
    "root /",
    "connect",
    "pdo(",
    "ftp",
    "net user",
    "useradd",
    "new value:",
    "2fa",
    "mfa",
    "setup-",
    "qr",
    "two-factor",
    "enable ",
    "account",
    'send "',
    "net use",
    " pin ",
    "kind: secret",
    *("base64", "op read", "op item", "bw get", "pwgen", "-field", "chamber", "creds", "oath", "wallet", "signer"),
)
LARGE = 20_000  #: characters: to look for hints in more costs as much as the search
_CODED = (
    r"(?<![\w+/-])(?=[A-Za-z+/_-]{0,40}\d)[A-Za-z0-9+/_-]{15}|:(?:\d{2,5}|\*):"
    r"|[a-z]{3,8}(?:[\s,]+(?:\d{1,2}[.)]? )?[a-z]{3,8}){11}"
)


class Credential(NamedTuple):
    """A place in a text that looks like a credential."""

    kind: str
    start: int
    end: int
    line: int  #: from 1
    fingerprint: str  #: the start of a one-way digest: equal for equal values


def credentials_in(text: str) -> list[Credential]:
    """What looks like a credential, in the order of the text; a private key is told by its first line alone."""
    if not may_have_secrets(text):
        return []
    from foretold.secrets.detector import find_secrets
    from foretold.secrets.tokens import first_lines_of_keys, resolve_overlaps

    found: list[Credential] = []
    line, last = 1, 0
    for kind, start, end in resolve_overlaps(text, (*find_secrets(text), *first_lines_of_keys(text))):
        line, last = line + text.count("\n", last, start), start
        found.append(Credential(kind, start, end, line, _fingerprint(text[start:end])))
    return found


def may_have_secrets(text: str) -> bool:
    """Whether a text has any of the characters that a search begins with. Most sentences have none."""
    if len(text) > LARGE:
        return True
    plain = text.replace("\n", "").replace("\t", "").replace("\r", "")
    if not plain.isprintable():  # colours of a terminal, and characters that nobody sees
        return True
    low = text.lower()
    return any(hint in low for hint in HINTS) or re.search(_CODED, text) is not None


def _fingerprint(value: str) -> str:
    """Fast, for reports that stay on this machine; `redactor.fingerprint` is slow to guess, for what leaves it."""
    from hashlib import sha256

    return sha256(b"foretold:" + value.encode("utf-8", "replace")).hexdigest()[:12]
