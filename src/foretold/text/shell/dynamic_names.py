"""Commands whose names reading a line does not tell: `${R}m x`, `/bin/r? x`, `env $R x`, `echo … | sh`.

A rule that refuses a command by its name says nothing about these, so they are asked about where such rules exist:

1. The name has an expansion, braces or a glob; or the line cannot be read to its end.
2. A command that runs others (`env`, `sudo`, `timeout`, `xargs`, `find -exec`) has such a word where the name of the
   other may be: before the first word that is certainly its command. The value of an option may be that command.
3. A text that is run (`eval`, `bash -c`, `trap`, `alias`) is not known, or itself runs such a command.
4. A shell reads its commands from its input, or `source` from something other than a file.
5. A variable that makes a shell or a program run something is set, or a builtin is given a text that it evaluates.

In doubt it is asked. What a script, an interpreter or another program does is not seen (docs/formats/permissions.md).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from foretold.text.shell.commands import find_command
from foretold.text.shell.parse import SPLICED, TOO_DEEP, CommandLine, SimpleCommand, Word, read_command

MARK = "\2"  #: in a text that is run, in place of what a program puts there
MAX_DEPTH = 20  #: levels of commands in the words of others
#: words of their own that these have before the command they run
_OWN_WORDS = {"timeout": 1, "flock": 1, "chroot": 1, "taskset": 1, "chrt": 1, "sg": 1, "faketime": 1, "hash": 0}
#: doubts of the reader after which it may have read on in a wrong place
_UNREADABLE = re.compile(rf"{TOO_DEEP}|{SPLICED}|.* not closed|the delimiter of .*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_RUNNING_VARIABLE = re.compile(r"(?:PS4|PS0|PROMPT_COMMAND|BASH_ENV|ENV|LD_PRELOAD|LD_AUDIT|BASH_FUNC_[^=]*)\+?=")
_EXPANSION = re.compile(r"[$`]|[<>]\(")
_EVALUATING = frozenset("let test [ [[ printf declare typeset local export readonly unset read wait".split())
_INPUT_FILES = re.compile(r"-|/dev/(?:stdin|fd/.*)|/proc/.*/fd/.*")
#: these start a shell if they are given no command
_SHELL_STARTING = frozenset(
    "sudo doas runuser chroot unshare nsenter script newgrp sg fakeroot setarch linux32 linux64 firejail proot".split()
)
_LITERAL = ("[", "[[", "{", "}")


def find_dynamic_name(line: CommandLine, depth: int = 0) -> str:
    """Why it is not known which commands a line runs; empty if their names can be read from it.

    >>> find_dynamic_name(read_command("${R}m x"))
    'the name of a command is not known: ${R}m'
    >>> find_dynamic_name(read_command('for f in *; do echo "$f" | wc -c; done'))
    ''
    """
    if depth > MAX_DEPTH:
        return TOO_DEEP
    broken = next((doubt for doubt in line.doubts if _UNREADABLE.fullmatch(doubt)), "")
    if broken:
        return broken
    has_case = any(part.words and part.words[0].raw == "case" for part in line.parts)
    for part in line.parts:
        is_pattern = has_case and bool(part.words) and part.words[0].raw == "*"
        why = _in_assignments(part) or ("" if is_pattern else _in_words(part.words, depth))
        if why:
            return why
    return ""


def is_static(word: Word) -> bool:
    """Whether a word is what it is written as, apart from quotes."""
    if word.raw in _LITERAL:
        return True
    if word.globbed or MARK in word.raw:
        return False
    has_braces = "{" in word.raw and "}" in word.raw and ("," in word.raw or ".." in word.raw)
    return word.known or not (has_braces or _EXPANSION.search(word.raw))


def _is_known(word: Word) -> bool:
    """Whether the text of a word is known; stars in it are."""
    return is_static(word._replace(globbed=False))


def _unknown(word: Word) -> str:
    return f"the name of a command is not known: {word.raw}"


def _in_assignments(part: SimpleCommand) -> str:
    for word in (*part.assigned, *part.words):
        if _RUNNING_VARIABLE.match(word.text):
            return f"a variable is set that runs commands: {word.raw.partition('=')[0]}"
        if "@P}" in word.raw:
            return f"a text is expanded as a prompt: {word.raw}"
    return ""


def _in_words(
    words: Sequence[Word], depth: int, *, is_fed: bool = False, mark: str = "", is_replaced: bool = True
) -> str:
    """What is not known about one command.

    `is_fed`: more words come from an input. `mark` is what a program puts something else for, unless in the name.
    """
    if depth > MAX_DEPTH:
        return TOO_DEEP
    if not words:
        return "the name of a command comes from an input" if is_fed else ""
    name = os.path.basename(words[0].text)
    if not is_static(words[0]) or (mark and is_replaced and mark in words[0].raw):
        return _unknown(words[0])
    known = find_command(name)
    if name in _EVALUATING:
        return _in_evaluated(words)
    if name in ("source", "."):
        return _in_script(words[1:], name)
    if known.runs == "shell" and name not in ("at", "batch"):
        return _in_shell(words, depth, is_fed=is_fed, mark=mark)
    if name in ("eval", "trap", "alias"):
        return _in_text(words[1:], depth, name, is_fed=is_fed)
    if name == "find":
        return _in_find(words, depth + 1)
    return _in_wrapper(words, name, depth, is_fed=is_fed, mark=mark) if known.runs else ""


def _in_evaluated(words: Sequence[Word]) -> str:
    """Builtins evaluate a subscript: `test -v 'a[$(rm x)]'`."""
    for word in words[1:]:
        subscript = word.text.partition("[")[2] if word.known else ""
        if "$(" in subscript or "`" in subscript:
            return f"a builtin evaluates a text: {word.raw}"
    return ""


def _in_script(words: Sequence[Word], name: str) -> str:
    first = next((word for word in words if word.text != "--"), None)
    if first is None or (is_static(first) and not _INPUT_FILES.fullmatch(first.text)):
        return ""
    return f"it is not known what `{name}` reads: {first.raw}"


def _in_text(words: Sequence[Word], depth: int, name: str, *, is_fed: bool) -> str:
    """The words of `eval`, `trap` and `alias` are command lines, or those of `eval` together are one."""
    dynamic = next((word for word in words if not _is_known(word)), None)
    if dynamic is not None or is_fed:
        return f"it is not known what `{name}` runs" + (f": {dynamic.raw}" if dynamic else "")
    texts = [word.text.partition("=")[2] if name == "alias" else word.text for word in words]
    texts = texts[:1] if name == "trap" else [" ".join(texts)] if name == "eval" else texts
    return next(filter(None, (find_dynamic_name(read_command(text), depth + 1) for text in texts)), "")


def _in_shell(words: Sequence[Word], depth: int, *, is_fed: bool, mark: str) -> str:
    """A shell runs the text after `-c`, a script, or what it reads."""
    at, has_text = 1, False
    while at < len(words) and words[at].text[:1] in ("-", "+") and words[at].text not in ("-", "--"):
        if not is_static(words[at]):
            return _unknown(words[at])
        text = words[at].text
        has_text = has_text or (text[0] == "-" and text[:2] != "--" and "c" in text)
        at += 2 if text in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file") else 1
    at += at < len(words) and words[at].text == "--"
    reads_input = any(re.fullmatch(r"-\w*s\w*", word.text) for word in words[1:at])
    if has_text and at < len(words):
        if not _is_known(words[at]):
            return f"it is not known what a shell runs: {words[at].raw}"
        text = words[at].text.replace(mark, MARK) if mark else words[at].text
        return find_dynamic_name(read_command(text), depth + 1)
    if at >= len(words) or reads_input:
        is_question = any(word.text in ("--version", "--help") for word in words) and not is_fed
        return "" if is_question else "it is not known which commands a shell reads"
    return _in_script(words[at:], words[0].raw)


def _in_find(words: Sequence[Word], depth: int) -> str:
    before = ""
    for at, word in enumerate(words):
        if not is_static(word) and not word.globbed and not before.startswith("-") and not word.raw.startswith('"'):
            return f"it is not known what `find` is told: {word.raw}"
        if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            return _in_words(words[at + 1 :], depth, mark="{}")
        before = word.text
    return ""


def _in_wrapper(words: Sequence[Word], name: str, depth: int, *, is_fed: bool, mark: str) -> str:
    """The command that another one runs begins with the first word that is neither an option nor its value."""
    is_fed = is_fed or name in ("xargs", "parallel")
    mark = mark or _replaced_mark(words, name)
    inner = {"is_fed": is_fed, "is_replaced": name != "xargs"}  # xargs does not replace the name of the command
    own, follows_option = _OWN_WORDS.get(name, len(words) if name == "su" else 0), False
    for at, word in enumerate(words[1:], 1):
        if word.text.startswith("-") and is_static(word):
            if name == "env" and re.match(r"-\w*S|--split", word.text):
                return _in_split(words[at:], depth)
            follows_option = "=" not in word.text
        elif _ASSIGNMENT.match(word.raw):
            follows_option = False
        elif not is_static(word):
            return _unknown(word)
        elif follows_option and not find_command(word.text).runs:
            follows_option = False
        elif own and not follows_option:
            own -= 1
        else:
            return _in_words(words[at:], depth + 1, mark=mark, **inner)
    if name in _SHELL_STARTING or (
        name == "su" and not any("c" in word.text for word in words if word.text[:1] == "-")
    ):
        return "it is not known which commands a shell reads"
    return "the name of a command comes from an input" if is_fed and name != "xargs" else ""


def _replaced_mark(words: Sequence[Word], name: str) -> str:
    """What `xargs` and `parallel` put words of their input for."""
    for at, word in enumerate(words) if name == "xargs" else ():
        if found := re.match(r"-I|-i|--replace=?", word.text):
            following = words[at + 1].text if word.text == "-I" and at + 1 < len(words) else ""
            return word.text[found.end() :] or following or "{}"
    return "{}" if name == "parallel" else ""


def _in_split(words: Sequence[Word], depth: int) -> str:
    """`env -S` splits a text into words."""
    dynamic = next((word for word in words if not _is_known(word)), None)
    if dynamic is not None:
        return _unknown(dynamic)
    text = re.sub(r"^(?:-\w*S|--split-string=?)", "", words[0].text)
    line = " ".join([text, *(word.text for word in words[1:])])
    return find_dynamic_name(read_command(f"env {line}" if line.strip() else ":"), depth + 1)
