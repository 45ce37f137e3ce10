"""Shell commands of a case that may run unasked: they can do nothing but read and write files of the stage.

1. Only the programs of a short table, joined by `;`, `&&`, `||`, `|` and redirections.
2. No expansion, no substitution, no absolute path, no `..`; `sed` only replaces a text, or takes a range of lines.
"""

from __future__ import annotations

import re
import shlex

PROGRAMS = frozenset("cat chmod cp echo egrep fgrep grep head ls mkdir mv nl printf rm sed tail touch true wc".split())
JOINS = (";", "&&", "||", "|")
ARROWS = (">", ">>", "<")
_MARKS = frozenset(";&|<>()")
_SAFE = re.compile(r"[\w ./,:;=+@%^|&<>\n'\"*?!#\[\]{}$\\-]*")
_SED = re.compile(r"(-[ni]+ )*(s/[^/\n ]*/[^/\n\\& ]*/g?|[0-9]+(,([0-9]+|\$))?[pd])( [\w.-]+(/[\w.-]+)*)*")
_OUTSIDE = re.compile(r"[/~].*|.*(\.\.|[$`]|=/).*", re.DOTALL)


def is_plain(command: str) -> bool:
    """Whether a command can do nothing but read and write files below its folder.

    >>> is_plain("echo bash >> b.txt; rm sub/new.txt"), is_plain("sed -i s/a/b/ a.txt | wc -l")
    (True, True)
    >>> is_plain("cat /etc/passwd"), is_plain("echo $(id)"), is_plain("curl x"), is_plain("sed s/a/b/e x")
    (False, False, False, False)
    """
    words = _words(command)
    if words is None:
        return False
    simple: list[list[str]] = [[]]
    for word in words:
        if word in JOINS:
            simple.append([])
        elif set(word) <= _MARKS and word not in ARROWS:
            return False
        elif word not in ARROWS:
            simple[-1].append(word)
    return all(_is_harmless(each) for each in simple if each)


def _words(command: str) -> list[str] | None:
    """The words and operators of a command; None if there is anything else in it."""
    if not _SAFE.fullmatch(command):
        return None
    reader = shlex.shlex(command.replace("\n", ";"), posix=True, punctuation_chars="".join(_MARKS))
    reader.whitespace_split = True
    reader.commenters = ""
    try:
        return list(reader)
    except ValueError:
        return None


def _is_harmless(words: list[str]) -> bool:
    """Whether a simple command reads and writes files of the stage only."""
    program, *rest = words
    if program == "sed":
        return bool(_SED.fullmatch(" ".join(rest)))
    return program in PROGRAMS and not any(_OUTSIDE.fullmatch(word) for word in rest)
