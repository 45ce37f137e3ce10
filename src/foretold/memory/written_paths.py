"""Into which folders a command line may write, when its paths have globs and expansions.

1. A glob stands for a part of a name, an expansion for anything: but one that begins a path, or comes before the path
   leads towards a guarded folder, says nothing.
2. A redirection writes to its target. A command that does not plainly read may write to each path that it names; one
   that removes or copies whole folders, also to what is below.
3. Comparing a path takes as many steps as it has characters, for each position in the folder that it may stand for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from foretold.text.shell.parse import CommandLine, SimpleCommand, Word

ANY, GLOB, ONE = "\x01", "\x02", "\x03"  #: an expansion, `*` and `?` in a pattern
LONGEST = 4096  #: characters of a path: PATH_MAX of Linux
REMOVING = frozenset("rm rmdir mv shred unlink trash chmod chown".split())
COPYING = frozenset("cp rsync ln install ditto".split())
UNPACKING = frozenset("tar bsdtar unzip cpio 7z".split())
ACTIONS = ("-exec", "-ok", "-delete", "-fprint", "-fls")
#: ends of names that files in guarded folders have
ENDINGS = (".md", ".toml", ".json", ".jsonl", ".db", ".sqlite", "*")
_EXPANSION = re.compile(r"\$\([^)]*\)?|`[^`]*`?|\$\{[^}]*\}|\$\w+|\$[@*#?!$-]|\{[^}]*\}")
_GLOBS = re.compile(r"\[[^\]/]*\]|\?")


def path_pattern(word: Word, home: str) -> str:
    """A word as a pattern for paths.

    >>> word = Word("", '~/.x/"a$b"*', known=False, globbed=True, tilde=True)
    >>> path_pattern(word, "/h").replace(ANY, "<any>").replace(GLOB, "<*>")
    '/h/.x/a<any><*>'
    """
    text = word.text if word.known else word.raw.replace("${HOME}", home).replace("$HOME", home)
    if not word.known:
        text = _EXPANSION.sub(ANY, text)
        text = text.replace("'", "").replace('"', "").replace("\\", "")
    if word.globbed:
        text = re.sub(r"\*+", GLOB, _GLOBS.sub(ONE, text))
    if word.tilde and (text == "~" or text.startswith("~/")):
        text = home + text[1:]
    return text


def join_pattern(base: str, pattern: str) -> str:
    """A pattern as an absolute path; empty if nothing is known of its begin."""
    if not pattern or pattern[0] == ANY or len(pattern) > LONGEST:
        return ""
    return os.path.normpath(os.path.join(base, pattern)) if base or pattern[0] == "/" else ""


def compare_pattern(pattern: str, folder: str, cwd: str, home: str) -> str:
    """Whether a path may be `inside` a folder (or the folder), or `above` it; empty if neither."""
    states, end = {0}, len(folder)
    for at, char in enumerate(pattern):
        if not states:
            return ""
        if end in states and char in ("/", ANY):
            return "inside"
        if char == ANY and at > len(home) and f"{cwd}/" != pattern[:at]:
            return "inside"
        if char in (ANY, GLOB):
            states = {to for state in states for to in _spans(folder, state)}
        elif char == ONE:
            states = {state + 1 for state in states if state < end and folder[state] != "/"}
        else:
            states = {state + 1 for state in states if folder[state : state + 1] == char}
    if end in states:
        return "inside"
    return "above" if pattern and any(folder[state] == "/" or state == 1 for state in states) else ""


def _spans(folder: str, state: int) -> range:
    """The positions up to which a glob may reach: in one name, and not its first dot."""
    if folder[state : state + 1] == "." and folder[state - 1 : state] == "/":
        return range(state, state + 1)
    found = folder.find("/", state)
    return range(state, (found if found >= 0 else len(folder)) + 1)


def written_folders(
    line: CommandLine, folders: Sequence[str], cwd: str, home: str, reading: frozenset[str]
) -> list[str]:
    """Those folders, or files, into which a line may write."""
    spelled = [(each, folder) for folder in folders for each in {folder, os.path.realpath(folder)}]
    bases, found = [cwd], dict[str, None]()
    for part in line.parts:
        for pattern, is_whole in _targets(part, bases, home, reading):
            for each, folder in spelled:
                relation = compare_pattern(pattern, each, cwd, home)
                is_below = each.startswith(f"{cwd}/") and is_whole != "removed"
                if relation == "inside" or (relation == "above" and is_whole and not is_below):
                    found[folder] = None
        names = [word.text for word in part.words[:1]]
        if names in (["cd"], ["pushd"]):
            plain = [word for word in part.words[1:] if not word.text.startswith("-")]
            entered = join_pattern(bases[-1], path_pattern(plain[0], home)) if plain else home
            bases = [cwd, entered] if entered else [cwd]
    return [*found]


def _targets(part: SimpleCommand, bases: list[str], home: str, reading: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The paths that a command may write to, and whether it does so to all below: `removed`, or `copied`."""
    words = [each.target for each in part.redirects if ">" in each.operator]
    pairs = [(path_pattern(word, home), "") for word in words]
    texts = [word.text for word in part.words]
    names = {os.path.basename(text) for text in texts}
    acts = any(text.startswith(ACTIONS) for text in texts)
    if texts and (os.path.basename(texts[0]) not in reading or acts):
        whole = _reach(texts, names, acts=acts)
        words += part.words[1:]
        values = [word._replace(text=word.text.partition("=")[2], raw=word.raw.partition("=")[2]) for word in words]
        plain = [word for word in part.words[1:] if not word.text.startswith("-")]
        patterns = [path_pattern(word, home) for word in plain]
        if os.path.basename(texts[0]) == "mv" and patterns:  # the last word is where it goes
            pairs.append((patterns.pop(), ""))
        pairs += _copied(patterns, texts) if names & COPYING and not acts else [(each, whole) for each in patterns]
        pairs += [(path_pattern(word, home), "") for word in values if word.text or word.raw]
    for word in words:
        if "$(" in word.raw or "`" in word.raw:
            inner = [each for each in re.split(r"[\s`()\"']+", word.raw) if each.startswith(("/", "~", "$HOME"))]
            pairs += [
                (path_pattern(Word("", each, known=False, tilde=each[0] == "~"), home), "copied") for each in inner
            ]
    for base in dict.fromkeys(bases):
        yield from ((path, whole) for pattern, whole in pairs if (path := join_pattern(base, pattern)))


def _reach(texts: list[str], names: set[str], *, acts: bool) -> str:
    """Whether a command also changes what is below a path that it names."""
    if acts:
        wanted = [after for text, after in pairwise(texts) if text in ("-name", "-iname")]
        return "removed" if not wanted else "copied" if any(each.endswith(ENDINGS) for each in wanted) else ""
    if names & REMOVING:
        return "removed"
    is_unpacked = any(text.lstrip("-").startswith(("x", "extract", "i")) or text == "-d" for text in texts[1:])
    return "copied" if names & UNPACKING and is_unpacked else ""


def _copied(patterns: list[str], texts: list[str]) -> list[tuple[str, str]]:
    """Where a command that copies puts what it copies."""
    if not patterns:
        return []
    target, sources = patterns[-1], patterns[:-1]
    is_deep = "rsync" in texts[0] or any(re.match(r"-\w*[rRa]|--rec|--arch", text) for text in texts[1:])
    ends = [os.path.basename(each) for each in sources]
    merges = is_deep and any(end in ("", ".", "..") or GLOB in end or ANY in end for end in ends)
    found = [(target, "copied" if merges else "")]
    return found + [(f"{target}/{end}", "copied" if is_deep else "") for end in ends if end not in ("", ".", "..")]
