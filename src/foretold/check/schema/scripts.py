"""Scripts that a command line of a hook or a server runs, and that are not there.

1. `$CLAUDE_PROJECT_DIR` and its like are the folder that the agent starts in, `${CLAUDE_PLUGIN_ROOT}` is the top of the
   plugin. A relative path counts from there, or from the top of the tree. Words with other expansions are left alone.
2. A script is a command with a slash in it, or the first word after an interpreter (`bash x.sh`, `python3 -u x.py`,
   `node x.js`, `uv run x.py`).
3. Nothing is said of a line that asks whether a file is there, that goes on if the command fails (`||`), or that goes
   to a folder which is not known; nor of a file that git ignores, as what is built, or of paths outside of the tree.
4. A script that is run by itself must be executable.
5. Whether git ignores the scripts that are missing is one question for all of them, so what depends on it is a doubt
   (`ScriptDoubt`) until the end.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.schema.source import SourceFile
from foretold.storage.tree import is_inside
from foretold.text.shell.parse import Word, read_command
from foretold.text.shell.wrappers import strip_wrappers
from foretold.types import NamedTuple

LONGEST = 10_000  #: characters of a command line
PROJECT, PLUGIN = "/__project__", "/__plugin__"  #: what stands for the two folders while a line is read
_PROJECT = re.compile(
    r"\$(?:\{(?:CLAUDE|GEMINI|CURSOR|QWEN)_PROJECT_DIR(?::-[^}]*)?\}|(?:CLAUDE|GEMINI|CURSOR|QWEN)_PROJECT_DIR\b)"
)
_PLUGIN = re.compile(r"\$(?:\{(?:CLAUDE_)?PLUGIN_ROOT\}|(?:CLAUDE_)?PLUGIN_ROOT\b|\{extensionPath\})")
_WORKSPACE = re.compile(r"\$\{workspaceFolder\}")
_ASKS = re.compile(r"(?:^|[\s;&|(])(?:test|\[\[?)\s|\bcommand -v\b|\bwhich\b|\|\|")
#: interpreters, options of theirs that take the next word, and those after which no script follows
_INTERPRETERS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("bash", "sh", "zsh", "dash"), ("-o -O --rcfile --init-file", "-c -s")),
    **dict.fromkeys(("python", "python3", "python2", "py"), ("-W -X", "-c -m -")),
    "node": ("-r --require --import --loader -C --conditions --env-file", "-e -p --eval --print --test -"),
    "bun": ("-r --preload --env-file", "-e -p x add install test"),
    "tsx": ("--tsconfig", "-e -p"),
    "ruby": ("-r -I", "-e"),
    "perl": ("-I", "-e -E -n -p"),
    "php": ("-c -d", "-r"),
    "pwsh": ("-ExecutionPolicy -ep", "-Command -c"),
    "source": ("", ""),
    ".": ("", ""),
}
_RUNNERS = {
    ("uv", "run"): ("--with --python -p", "-m --module --project --directory -C --cwd"),
    ("bun", "run"): ("", "--cwd"),
    ("deno", "run"): ("", ""),
}
_BUILT = re.compile(r"/(?:node_modules|dist|build|\.venv|venv|target)/")
_SCRIPT = re.compile(r"[^\s$`*?~{}\\]+\.(?:sh|bash|zsh|py|pyw|js|mjs|cjs|ts|mts|cts|rb|pl|php|ps1)")


class ScriptUse(NamedTuple):
    """A script that a line runs."""

    path: str  #: as it is written, with its folder in place of a variable
    is_direct: bool  #: it is the command itself


class MissingScript(NamedTuple):
    """A script with which something is wrong."""

    path: str  #: absolute
    is_there: bool  #: it is, but cannot be executed
    places: tuple[str, ...] = ()  #: where it may be: if git ignores one of them, nothing is wrong


class ScriptDoubt(NamedTuple):
    """A finding about a script that is missing, which does not count if git ignores one of some places."""

    places: tuple[str, ...]
    finding: CheckFinding  #: without its line: to find that takes a look at the whole file
    source: SourceFile
    keys: tuple[object, ...]  #: of the line


def find_scripts(line: str) -> list[ScriptUse]:
    """The scripts that a line for a shell runs, as far as it is certain.

    >>> find_scripts('"$CLAUDE_PROJECT_DIR"/.claude/fmt.sh --fix; python3 -u tools/a.py; node "$X/b.js"')
    [ScriptUse(path='/__project__/.claude/fmt.sh', is_direct=True), ScriptUse(path='tools/a.py', is_direct=False)]
    """
    if len(line) > LONGEST or "\\" in line.replace('\\"', "") or _ASKS.search(line):
        return []
    line = _PLUGIN.sub(PLUGIN, _PROJECT.sub(PROJECT, line))
    read = read_command(line)
    if any("not closed" in doubt or "function" in doubt for doubt in read.doubts):
        return []
    found: list[ScriptUse] = []
    for part in read.parts:
        words = strip_wrappers(part.words)
        if words and words[0].text in ("cd", "pushd"):
            if len(words) != 2 or words[1].text not in (PROJECT, ".", "./"):
                return found
        elif words:
            found += _find_in_words(words)
    return found


def find_in_arguments(command: str, arguments: Sequence[object]) -> list[ScriptUse]:
    """The scripts that a program with its arguments runs, without a shell."""
    texts = [command, *(each for each in arguments if isinstance(each, str))]
    if len(texts) != len(arguments) + 1 or any(len(text) > LONGEST for text in texts):
        return []
    texts = [_WORKSPACE.sub(PROJECT, _PLUGIN.sub(PLUGIN, _PROJECT.sub(PROJECT, text))) for text in texts]
    words = [Word(text, text, known="$" not in text and "{" not in text, tilde=text.startswith("~")) for text in texts]
    return list(_find_in_words(words)) if words[0].known else []


def _find_in_words(words: Sequence[Word]) -> Iterator[ScriptUse]:
    name = words[0]
    if not name.known or name.globbed or name.tilde:
        return
    base = name.text.rpartition("/")[2]
    two = (base, words[1].text) if len(words) > 1 else (base, "")
    if two in _RUNNERS:
        yield from _first_script(words[2:], *_RUNNERS[two])
    elif base in _INTERPRETERS and ("/" not in name.text or name.text.startswith(("/usr/", "/bin/"))):
        yield from _first_script(words[1:], *_INTERPRETERS[base])
    elif "/" in name.text:
        yield ScriptUse(name.text, is_direct=True)


def _first_script(words: Sequence[Word], paired: str, ending: str) -> Iterator[ScriptUse]:
    at = 0
    while at < len(words):
        word = words[at]
        if not word.known or word.globbed or word.tilde or word.text in ending.split():
            return
        if word.text in paired.split():
            at += 2
        elif word.text.startswith("-"):
            at += 1
        else:
            if _SCRIPT.fullmatch(word.text):
                yield ScriptUse(word.text, is_direct=False)
            return


def check_scripts(
    project: Project, uses: Sequence[ScriptUse], base: str, plugin: str, *others: str
) -> Iterator[MissingScript]:
    """The scripts of a line that are not there, or cannot be executed; relative paths count from several folders."""
    for use in uses:
        places = list(_places(use.path, base, plugin, project.top, others))
        if not places or not all(is_inside(place, project.top) for place in places):
            continue
        there = next((place for place in places if project.tree.kind(place) != "missing"), "")
        if not there:
            if not any(_BUILT.search(place) for place in places):
                yield MissingScript(places[0], is_there=False, places=tuple(places))
        elif use.is_direct and project.tree.kind(there) == "file" and not project.tree.is_executable(there):
            yield MissingScript(there, is_there=True)


def locate_scripts(project: Project, uses: Sequence[ScriptUse], base: str, plugin: str) -> Iterator[str]:
    """The scripts of a line that are in the tree."""
    for use in uses:
        for place in _places(use.path, base, plugin, project.top, ()):
            if is_inside(place, project.top) and project.tree.kind(place) == "file":
                yield place
                break


def _places(path: str, base: str, plugin: str, top: str, others: Sequence[str]) -> Iterator[str]:
    """Where a script may be: whole paths."""
    if path.startswith((PLUGIN, PROJECT)):
        mark = PLUGIN if path.startswith(PLUGIN) else PROJECT
        rest = path[len(mark) :].lstrip("/")
        folders = ([plugin] if plugin else []) if mark == PLUGIN else [base, top] if not plugin else []
    elif path.startswith("/"):
        return
    else:
        # a plugin's hook runs in the project that it is used in
        rest, folders = path, [base, top, *others] if not plugin else []
    for folder in dict.fromkeys(folders):
        yield os.path.normpath(os.path.join(folder, rest))


def find_made(project: Project, findings: Iterable[CheckFinding | ScriptDoubt]) -> frozenset[str]:
    """Those places of doubts that git ignores, so that a script there is made or brought by something else."""
    places = dict.fromkeys(place for each in findings if isinstance(each, ScriptDoubt) for place in each.places)
    if not places or project.git is None:
        return frozenset()
    return frozenset(map(project.absolute, project.git.ignored(map(project.relative, places))))


def settle_doubts(findings: Iterable[CheckFinding | ScriptDoubt], made: frozenset[str]) -> Iterator[CheckFinding]:
    """Findings, and those doubts that turned out to be one."""
    for each in findings:
        if isinstance(each, CheckFinding):
            yield each
        elif made.isdisjoint(each.places):
            yield each.finding._replace(line=each.source.line_of(*each.keys))
