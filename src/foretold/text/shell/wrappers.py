"""Commands in the clothes of others: `timeout 5 npm test`, `sudo rm x`, `bash -c "rm x"`.

1. To allow: only wrappers that change nothing about what runs are taken off, with options that are known.
2. To refuse or ask: whatever could be a command behind something that runs commands is looked at, and each command is
   also known by the last name of its path.
"""

from __future__ import annotations

import os
import re

from foretold.text.shell.parse import SimpleCommand, Word, read_command
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: wrapper -> options that stand alone, options that take the next word, words of its own before the command
WRAPPERS: dict[str, tuple[str, tuple[str, ...], int]] = {
    "timeout": (r"--(?:foreground|preserve-status|verbose)|-v|--(?:signal|kill-after)=\S+", ("-s", "-k"), 1),
    "time": (r"-p", (), 0),
    "nice": (r"-\d+|--adjustment=-?\d+", ("-n",), 0),
    "nohup": (r"(?!)", (), 0),
    "stdbuf": (r"-[ioe]\w+|--(?:input|output|error)=\w+", (), 0),
    "xargs": (r"(?!)", (), 0),
}
#: what runs other commands, which a rule with a star does not permit
RUNNERS = frozenset("watch setsid ionice flock".split())
#: of `find`: what runs commands, deletes or writes
FINDS = ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf")
CARRIERS = frozenset(
    "sudo doas su env exec command builtin nohup time timeout nice ionice stdbuf setsid flock watch xargs find chroot "
    "unshare nsenter strace ltrace script parallel busybox npx chrt taskset eval trap bash sh zsh dash ksh function "
    "coproc alias".split()
)
SHELLS = frozenset("bash sh zsh dash ksh".split())
READERS = SHELLS | frozenset("eval trap su watch xargs env parallel script sudo alias".split())
#: options of git itself that take the next word
GIT_PAIRED = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--exec-path")
#: variables that change nothing about what a command does
HARMLESS = re.compile(
    r"(?:LANG|LC_\w+|TZ|NO_COLOR|FORCE_COLOR|COLUMNS|LINES|TERM|CI|NODE_ENV|PYTHONUNBUFFERED|RUST_BACKTRACE)=.*",
    re.DOTALL,
)


def unwrapped(words: Sequence[Word]) -> Sequence[Word]:
    """The words without wrappers before them.

    >>> [word.text for word in unwrapped(read_command("timeout -s KILL 5 nice npm test").parts[0].words)]
    ['npm', 'test']
    """
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


def allowable(part: SimpleCommand) -> list[str]:
    """The texts by which a rule may permit a command: as it is, and without harmless clothes."""
    rest = " ".join(word.raw for word in unwrapped(part.words))
    if all(HARMLESS.fullmatch(word.raw) for word in part.assigned if word.known) and all(
        word.known for word in part.assigned
    ):
        return list(dict.fromkeys((part.text, rest)))
    return [" ".join([*(word.raw for word in part.assigned), part.text])]


def runs_others(part: SimpleCommand) -> bool:
    """Whether a command runs others, or deletes, so that only its exact text permits it."""
    words = unwrapped(part.words)
    if not words:
        return False
    name = os.path.basename(words[0].text)
    if name == "find":
        return any(not word.known or word.globbed or word.text.startswith(FINDS) for word in words[1:])
    return name in RUNNERS


def refusable(part: SimpleCommand, depth: int = 0) -> Iterator[Sequence[Word]]:
    """The words of every command that this one is, or may run."""
    words = part.words
    if not words:
        return
    yield words
    name = os.path.basename(words[0].text)
    if name == "git":
        yield from _git(words, depth)
    if name not in CARRIERS:
        return
    yield from (words[at:] for at in range(1, len(words)))
    if depth > 4 or READERS.isdisjoint(os.path.basename(word.text) for word in words):
        return
    for word in words[1:]:
        for text in _read(word.text, is_alias=name == "alias"):
            for inner in read_command(text).parts:
                yield from refusable(inner, depth + 1)


def _read(text: str, *, is_alias: bool) -> Iterator[str]:
    """What a word may be to a command that reads commands: itself, or what it gives an option or a name."""
    if re.search(r"\s", text) or is_alias:
        yield text
        if "=" in text:
            yield text.partition("=")[2]
        if re.match(r"-\w", text):
            yield text[2:]


def _git(words: Sequence[Word], depth: int) -> Iterator[Sequence[Word]]:
    """A command of git without the options before it; and what is set for it, which git may run."""
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        if words[at].text == "-c" and at + 1 < len(words) and depth <= 4:
            for inner in read_command(words[at + 1].text.partition("=")[2].lstrip("!")).parts:
                yield from refusable(inner, depth + 1)
        at += 2 if words[at].text in GIT_PAIRED else 1
    if at > 1:
        yield [words[0], *words[at:]]


def refusable_texts(part: SimpleCommand) -> Iterator[str]:
    """Each of them as a text: as it is written, as the shell reads it, and by the last name of its path."""
    seen: set[str] = set()
    for words in refusable(part):
        plain = [word.text for word in words]
        named = [os.path.basename(plain[0]), *plain[1:]]
        for texts in ([word.raw for word in words], plain, named):
            text = " ".join(texts)
            if text not in seen:
                seen.add(text)
                yield text
