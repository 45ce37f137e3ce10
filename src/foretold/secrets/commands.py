"""Secrets in commands: where the option of a program takes a password, whatever the value looks like.

Each line with the name of a program is searched once for the options of that program. `mysql -p shop` names a database,
`mysql -pshop` a password; the table knows which program joins the two.
"""

from __future__ import annotations

from collections.abc import Iterator

from foretold.secrets.arguments import lines_with
from foretold.secrets.by_context import ASSIGNED
from foretold.secrets.headers import match_at_words
from foretold.secrets.tokens import Span
from foretold.secrets.values import is_chosen, is_given
from foretold.text.patterns import lazy

LONGEST = 4_000  #: characters of a line that are searched on either side of a program's name
_VALUE = r"""(?:"([^"\n]{3,200})"|'([^'\n]{3,200})'|((?!-)[^\s"'|;<>]{3,200}))"""
_JOINED = lazy(rf"\s-p{_VALUE}")
_SPACED = lazy(rf"\s(?:-p|--password|--pass)[ =]{{1,3}}{_VALUE}")
_EITHER = lazy(rf"\s-p ?{_VALUE}")
_LARGE = lazy(rf"\s-P ?{_VALUE}")
_ECHO = lazy(r"""\b(?:echo|printf)\s(?:-\w+\s)?["']?(?:[\w.-]{1,32}:)?([^\s"'|]{3,200})["']?\s{0,4}\|""")
_LOGINS = (
    *(f"{program} login" for program in "docker podman oc az cf registry buildah nerdctl".split()),
    *("twine", "psexec", "rdesktop", "rabbitmqadmin", "skopeo"),
)
#: characters to search for in lower case, and the place of the value on their line
_COMMANDS = (
    ("mysql", _JOINED),
    ("mariadb", _JOINED),
    ("sshpass", _EITHER),
    ("mongo", _SPACED),
    *((program, _SPACED) for program in _LOGINS),
    *((program, _LARGE) for program in ("sqlcmd", "zip ", "ipmitool", "bcp ")),
    ("redis-cli", lazy(rf"\s(?:-a|--pass)[ =]{{1,3}}{_VALUE}")),
    ("ldap", lazy(rf"\s-w ?{_VALUE}")),
    ("7z", lazy(rf"\s-p{_VALUE}")),
    ("rar ", lazy(rf"\s-h?p{_VALUE}")),
    ("ssh-keygen", lazy(rf"\s-[NP] ?{_VALUE}")),
    ("openssl", lazy(r"""\s-pass(?:in|out)?\s{1,3}["']?pass:([^\s"']{3,200})"""
    r"""|\s-[kK]\s{1,3}["']?([^\s"'-][^\s"']{2,200})""")),
    ("htpasswd", lazy(rf"\s-\w*b\w*\s{{1,3}}(?:\S+\s{{1,3}}){{1,2}}{_VALUE}\s{{0,3}}(?:$|[;|&>])")),
    ("http ", lazy(r"""\s(?:-a|--auth)[ =]{1,2}["']?[^\s:"'$<]{1,64}:([^\s"']{3,200})""")),
    ("https ", lazy(r"""\s(?:-a|--auth)[ =]{1,2}["']?[^\s:"'$<]{1,64}:([^\s"']{3,200})""")),
    ("smbclient", lazy(r"""\s-U ?["']?[^\s%"']{1,64}%([^\s"']{3,200})""")),
    ("net use", lazy(rf"/user:\S{{1,64}}\s{{1,3}}(?![/*]){_VALUE}")),
    ("net use", lazy(rf"\s\\\\\S{{1,200}}\s{{1,3}}(?![/*]){_VALUE}")),
    ("freerdp", lazy(rf"\s/p:{_VALUE}")),
    ("sqlplus", lazy(r"\s[\w$#]{1,32}/([^\s@/]{3,200})@")),
    ("jdbc:oracle", lazy(r"thin:[\w$#]{1,32}/([^\s@/]{3,200})@")),
    ("curl", lazy(r"""\s(?:-b|--cookie)[ =]{0,2}["']?[^\s=;"'$<]{1,60}=([^\s;"'$<]{8,4000})""")),
    ("snmp", lazy(rf"\s-[AX] ?{_VALUE}")),
    ("wpa_passphrase", lazy(rf"wpa_passphrase\s\S{{1,40}}\s{_VALUE}")),
    ("add-mask::", lazy(r"add-mask::([^\s$][^\n]{2,400})")),
    ("identified", lazy(r"""(?i)identified(?:\s+with\s+\S+)?\s+by\s+(?:password\s+)?["']([^"'\n]{3,200})["']""")),
    ("securestring", lazy(r"""(?i)securestring\s+(?:-string\s+)?["']([^"'\n]{3,200})["']""")),
    ("machine ", lazy(rf"\bmachine\s{{1,3}}\S{{1,64}}\s{{1,3}}login\s{{1,3}}[^\s,;]{{1,64}}\s{{1,3}}password\s{{1,3}}{_VALUE}")),  # noqa: E501
    ("login", lazy(r"\blogin\s{1,3}[^\s,;]{1,64}\s{1,3}password\s{1,3}((?=\S{0,60}[\d!@#$%^&*])\S{3,200})")),
    ("net user", lazy(rf"(?i)net user\s{{1,3}}[\w.-]{{1,40}}\s{{1,3}}(?!/){_VALUE}")),
    ("useradd", lazy(rf"\s-p ?{_VALUE}")),
    *((word, lazy(rf"(?:^|\s){word}\s{{1,3}}{_VALUE}")) for word in ("requirepass", "masterauth")),
    ("new value:", lazy(r"New value:\s{1,3}((?=\S*\d)(?=\S*[a-z])(?=\S*[^a-z0-9.\s])\S{12,200})")),
    *((word, lazy(rf"\b(?:secret|password)\s{{1,3}}(?:[0-9]\s{{1,3}})?{_VALUE}\s{{0,3}}$"))
      for word in ("enable secret", "enable password", "privilege ")),
    ("set password", lazy(r"""(?i)set\s+password\s[^\n]{0,120}?=\s{0,3}(?:password\s{0,2}\()?["']([^"'\n]{3,200})["']""")),  # noqa: E501
    ("chpasswd", _ECHO),
    ("--stdin", _ECHO),
    ("-stdin", _ECHO),
    ("sudo -s", _ECHO),
    ("wifi:", lazy(r"WIFI:[^\n]{0,200}?P:((?:[^;\\\n]|\\.){3,64});")),
)  # fmt: skip
_SENT = lazy(r"""\bsend\s(?:-- )?"([^"\\\n]{4,200})\\[rn]\"""")
_LOGIN = lazy(r"""-(?:u|U|-user|-proxy-user)[ =]{0,2}["']?[^\s:"'$<\\/]{1,64}:(?![/\\$<{])([^\s"']{3,128})""")
#: `admin:…`, with a password that nobody would take for something else
_PAIR = lazy(
    r"(?i)(?<![\w./-])(?<!chown )(?<!chown -R )(?<!chgrp )(?:admin|root|administrator|superuser|postgres|ubuntu|deploy|guest|user)(?::|"  # noqa: E501
    r" / |/)(?![/$<{]|v?\d+(?:[.-][\w.-]*)?(?![^\s\"'`,/]))([^\s\"'`:,/]{6,128})"
)
_CREDENTIALS = lazy(
    r"""(?i)(?:credentials?|zugangsdaten|creds|logins?)["'`*]{0,2}\s{0,3}[:=]\s{0,3}["'`]?[\w.@+-]{2,64}["'`]?\s{0,3}[/:|,]\s{0,3}["'`]?([^\s"'`,;]{6,128})"""
)
#: what takes a name and a password, one after the other
_ARGUMENTS = lazy(
    r"""(?i)(?:login|auth|credentials?|connect(?:ion)?|client|twilio|pdo|authenticate|sign_?in|basic_?auth|mysqli|smtp|imap|ftp)"""
    r"""\w{0,24}["']?\s{0,2}[=:(]\s{0,2}[(\[]?\s{0,8}(?:[^\s"'(),]{1,60},\s{0,8}){0,2}"""
    r"""["'][^"'\n]{1,100}["']\s{0,2},\s{0,8}(?:["'][^"'\n]{1,100}["']\s{0,2},\s{0,8}(?=["'][^"'\n]{6}))?"""
    r"""["'](?![a-z]{1,12}[-_.]v?\d{1,3}["'])([^"'\n]{6,200})["']\s{0,8}[,)\]]"""
)
_PROSE = (
    (
        (
            "login",
            "auth",
            "credential",
            "connect",
            "client",
            "twilio",
            "pdo",
            "signin",
            "sign_in",
            "mysqli",
            "smtp",
            "imap",
            "ftp",
        ),
        _ARGUMENTS,
    ),
    (('send "', "send --"), _SENT),
    (("admin", "root", "superuser", "postgres", "ubuntu", "deploy", "guest", "user"), _PAIR),
    (("cred", "zugangsdaten", "login"), _CREDENTIALS),
)


def find_in_commands(text: str, low: str) -> Iterator[Span]:
    """Values of options that take a secret; `low` is the text in lower case."""
    for letters, form in _COMMANDS:
        for start, end in lines_with(text, low, letters, LONGEST):
            for match in form.finditer(text, start, end):
                group = match.lastindex or 1
                if is_given(match[group]) and not match[group].isdigit():
                    yield ASSIGNED, *match.span(group)
    for match in _LOGIN.finditer(text) if "-u" in low or "--user" in low or "--proxy-user" in low else ():
        is_option = text[match.start() - 1 : match.start()].isspace() or not match.start()
        if is_option and is_given(match[1]) and not match[1].isdigit():
            yield ASSIGNED, *match.span(1)
    for words, form in _PROSE:
        for word in words:
            for match in match_at_words(form, text, low, word):
                value = match[1].rstrip(".)")
                if is_chosen(value, code=False) and any(map(str.isalpha, value)) and any(map(str.isdigit, value)):
                    yield ASSIGNED, match.start(1), match.start(1) + len(value)
