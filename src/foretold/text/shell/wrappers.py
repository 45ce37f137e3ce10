"""Commands that run other commands: `timeout 5 npm test`, `sudo rm x`, `bash -c "rm x"`.

1. To allow a command, only wrappers that do not change what runs are removed, with options that are known.
2. To refuse or ask, every word after something that runs commands may begin one, and each command is also known by the
   last name of its path.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from foretold.text.shell.commands import FIND_ACTIONS, GIT_PAIRED, GIT_RUNS, HARMLESS_VARIABLE, WRAPPERS, find_command
from foretold.text.shell.parse import SimpleCommand, Word, read_command

MAX_DEPTH = 4  #: levels of command lines in the words of others


def strip_wrappers(words: Sequence[Word]) -> Sequence[Word]:
    """The words without wrappers before them."""
    while words and words[0].known and words[0].text in WRAPPERS:
        alone, paired, own = WRAPPERS[words[0].text]
        at = 1
        while at < len(words) and words[at].known and words[at].text.startswith("-"):
            if words[at].text in paired:
                at += 2
            elif re.fullmatch(alone, words[at].text):
                at += 1
            else:
                return words
        if not all(word.known for word in words[at : at + own]) or at + own >= len(words):
            return words
        words = words[at + own :]
    return words


def has_harmless_variables(part: SimpleCommand) -> bool:
    """Whether the assignments before a command do not change what it does."""
    return all(word.known and HARMLESS_VARIABLE.fullmatch(word.raw) for word in part.assigned)


def allowed_texts(part: SimpleCommand) -> list[str]:
    """The texts by which a rule may allow a command: as it is, and without harmless wrappers."""
    if has_harmless_variables(part):
        return list(dict.fromkeys((part.text, " ".join(word.raw for word in strip_wrappers(part.words)))))
    return [" ".join([*(word.raw for word in part.assigned), part.text])]


def needs_exact_rule(part: SimpleCommand) -> bool:
    """Whether a command runs others, or deletes, so that only a rule with its exact text allows it."""
    words = strip_wrappers(part.words)
    if words and os.path.basename(words[0].text) == "find":
        return has_find_action(words[1:])
    return bool(words) and find_command(words[0].text).needs_exact_rule


def has_find_action(words: Sequence[Word]) -> bool:
    """Whether the words of a `find` may run, delete or write something."""
    return any(not word.known or word.globbed or word.text.startswith(FIND_ACTIONS) for word in words)


def possible_commands(part: SimpleCommand, depth: int = 0) -> Iterator[Sequence[Word]]:
    """The words of every command that this one is, or may run."""
    words = part.words
    if not words:
        return
    yield words
    name = os.path.basename(words[0].text)
    if name == "git":
        yield from _find_git_commands(words, depth)
    if name in ("for", "select"):  # `for x do rm "$x"; done` has no separator before `do`
        yield from (words[at + 1 :] for at, word in enumerate(words[:-1]) if word.raw == "do")
    if name in ("ln", "cp", "mv", "install", "link"):  # a program under another name
        programs = (word for word in words[1:] if os.path.basename(os.path.dirname(word.text)) in ("bin", "sbin"))
        yield from ([word] for word in programs)
    if not find_command(words[0].text).runs or [word.text for word in words[:2]] in (
        ["command", "-v"],
        ["command", "-V"],
    ):
        return
    yield from (words[at:] for at in range(1, len(words)))
    if depth > MAX_DEPTH or not any(find_command(word.text).runs in ("text", "shell") for word in words):
        return
    lines = [text for word in words[1:] for text in _possible_lines(word.text, is_alias=name == "alias")]
    if name == "eval":
        lines.append(" ".join(word.text for word in words[1:]))
    for text in lines:
        for inner in read_command(text).parts:
            yield from possible_commands(inner, depth + 1)


def _possible_lines(text: str, *, is_alias: bool = False) -> Iterator[str]:
    """What a word may be to a command that reads commands: itself, or the value of an option or a name."""
    if not re.fullmatch(r"(?!-\w)[\w./:,@%+-]*", text):  # else the word itself is all that it can be
        yield text
        if "=" in text and (is_alias or text.startswith("-") or re.search(r"\s", text)):
            yield text.partition("=")[2]
        if re.match(r"-\w", text):
            yield text[2:]


def _find_git_commands(words: Sequence[Word], depth: int) -> Iterator[Sequence[Word]]:
    """A git command without the options before it; and values of its settings, which git may run."""
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        if words[at].text == "-c" and at + 1 < len(words) and depth <= MAX_DEPTH:
            for inner in read_command(words[at + 1].text.partition("=")[2].lstrip("!")).parts:
                yield from possible_commands(inner, depth + 1)
        at += 2 if words[at].text in GIT_PAIRED else 1
    if at > 1:
        yield [words[0], *words[at:]]
    if at < len(words) and words[at].text in GIT_RUNS and depth <= MAX_DEPTH:
        yield from (words[first:] for first in range(at + 1, len(words)))
        for word in words[at + 1 :]:
            for text in _possible_lines(word.text):
                for inner in read_command(text.lstrip("!")).parts:
                    yield from possible_commands(inner, depth + 1)


def possible_texts(part: SimpleCommand) -> Iterator[str]:
    """Each possible command as a text: as it is written, as the shell reads it, and by the last name of its path."""
    seen: set[str] = set()
    for words in possible_commands(part):
        plain = [word.text for word in words]
        for texts in ([word.raw for word in words], plain, [os.path.basename(plain[0]), *plain[1:]]):
            text = " ".join(texts)
            if text not in seen:
                seen.add(text)
                yield text
