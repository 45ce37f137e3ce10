"""What a command line runs that a repository must have: scripts of a package, targets, packages, programs.

1. A line is read as a shell reads it (`text.shell`); a word that depends on a variable, or is a placeholder, says
   nothing, and neither does anything after it.
2. `cd FOLDER &&`, `-C FOLDER` and `--prefix FOLDER` say where the rest runs.
3. `npm run NAME` and `pnpm run NAME` can only be scripts. `pnpm NAME`, `yarn NAME` and `bun run NAME` may be programs
   of packages, too: those are `loose`.
4. `make`, `just` and `task` take targets. A program is what an interpreter is given, or a path at the beginning.
   A path among other words is an *argument*: often an example.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from foretold.memory.drift import classify
from foretold.text.patterns import lazy
from foretold.text.shell.parse import SimpleCommand, read_command
from foretold.types import NamedTuple

LONGEST = 1_000  #: characters of a line; a longer one is not read
_UNCLEAR = lazy(r"[<>{}$*?\[\]…\ufffd]|\.\.\.")
_ANGLES = lazy(r"<[^<>\n]{1,80}>")
_NAME = lazy(r"[A-Za-z0-9][\w:.@/+-]*")
_TARGET = lazy(r"[A-Za-z0-9][\w./+-]*")
_PACKAGE = lazy(r"@[\w.-]+/[\w.-]+|[A-Za-z0-9][\w.-]*")


class Command(NamedTuple):
    """One thing that a command line needs."""

    kind: str  #: script, target, package, program, argument, cd
    tool: str  #: npm, pnpm, yarn, bun; make, just, task; an interpreter
    name: str
    folder: str  #: where it runs, as far as the line says so
    is_loose: bool = False  #: a script that may as well be a program of some package
    is_unsure: bool = False  #: options say that it may run elsewhere


def parse_commands(text: str, folder: str = "") -> list[Command]:
    """What a line runs.

    >>> [(each.kind, each.name) for each in parse_commands("cd web && npm run build && make -j4 lint test")]
    [('cd', ''), ('script', 'build'), ('target', 'lint'), ('target', 'test')]
    """
    if len(text) > LONGEST or not text or not _begins(text):
        return []
    found: list[Command] = []
    text = _ANGLES.sub("\ufffd", text)  # `<name>` is a placeholder, not two redirections
    for part in read_command(text).parts:
        for command in _read_part(part, folder):
            folder = command.folder if command.kind == "cd" else folder
            found.append(command)
    return found if any(each.kind != "cd" for each in found) else found if text.startswith("cd ") else []


def _begins(text: str) -> bool:
    """Whether a text can be a command line: its first word is a program that is known here, or a path."""
    first = text.split(maxsplit=1)
    word = first[0] if first else ""
    if word.startswith("./") or "=" in word:
        return len(first) > 1 or word.startswith("./")
    return word in _READERS or word in _WRAPPERS or word in INTERPRETERS or word in _RUNNERS


def _read_part(part: SimpleCommand, folder: str) -> Iterator[Command]:
    words = []
    for word in part.words:
        if not word.known or word.globbed or word.tilde or _UNCLEAR.search(word.text):
            break
        words.append(word.text)
    words = _unwrap(words)
    if not words:
        return
    name, rest = words[0], words[1:]
    if name in _READERS:
        yield from _READERS[name](name, rest, folder)
    elif name in INTERPRETERS:
        yield from _read_interpreter(name, rest, folder)
    elif name.startswith("./") and "/" in name[2:]:
        yield Command("program", "", name, folder)
        yield from _arguments(rest, folder)
    elif name in _RUNNERS:
        yield from _arguments(rest, folder)


#: programs that run the command after them, and the words that come between
_WRAPPERS = {
    "sudo": (),
    "time": (),
    "nohup": (),
    "env": (),
    "command": (),
    "exec": (),
    "uv": ("run",),
    "poetry": ("run",),
    "pipenv": ("run",),
    "pdm": ("run",),
    "hatch": ("run",),
    "rye": ("run",),
    "bundle": ("exec",),
    "corepack": (),
}
#: programs whose arguments are often files of the repository
_RUNNERS = frozenset("pytest cat vitest jest ruff mypy eslint prettier cp sed head tail less open code docker".split())


def _unwrap(words: Sequence[str]) -> list[str]:
    """A command without the programs that only run it, as far as their options are plain."""
    words = list(words)
    while words:
        name = words[0]
        if "=" in name and name.partition("=")[0].isidentifier():
            words = words[1:]
        elif name in _WRAPPERS:
            between = _WRAPPERS[name]
            if tuple(words[1 : 1 + len(between)]) != between:
                return []
            words = words[1 + len(between) :]
            while words and words[0].startswith("-"):
                if "=" not in words[0] and words[0] not in ("-q", "--quiet", "--frozen", "--no-sync", "--locked", "--"):
                    return []
                words = words[1:]
        else:
            break
    return words


def _arguments(words: Sequence[str], folder: str) -> Iterator[Command]:
    for word in words:
        path = word.partition("::")[0]
        if not word.startswith("-") and "/" in path and classify.is_sure(path) and classify.path_of(path):
            yield Command("argument", "", classify.without_line(path), folder)


def _read_cd(_: str, words: Sequence[str], folder: str) -> Iterator[Command]:
    target = words[0] if words else "~"
    yield Command("cd", "cd", "", posixpath.normpath(posixpath.join(folder, target)))


# Packages of Node

#: commands of the package managers themselves. From `npm help`, `pnpm help --all`, `yarn help` (1 and 4), `bun --help`.
BUILT_IN = {
    "pnpm": frozenset(
        """
        add approve-builds audit bin c cache cat-file cat-index ci config create dedupe deploy dlx doctor env exec fetch
        find-hash get help i ignored-builds import init install install-test it licenses link list ll ln ls m multi
        outdated ow owner pack patch patch-commit patch-remove prepare prune publish rb rebuild recursive rm root run
        run-script runtime self-update server set setup store t team tst unlink uninstall un uni update up upgrade
        version view whoami why x exec login logout search info star stars docs bugs repo dist-tag access deprecate
        edit explore fund global hook org ping pkg prefix profile query sbom shrinkwrap token unpublish xmas
    """.split()
    ),
    "yarn": frozenset(
        """
        access add audit autoclean bin cache check config constraints create dedupe dlx exec explain generate-lock-entry
        global help import info init install licenses link list login logout node npm outdated owner pack patch
        patch-commit plugin policies prune publish rebuild remove run search set stage tag team unlink unplug up
        upgrade upgrade-interactive upgradeInteractive version versions why workspace workspaces
    """.split()
    ),
    "bun": frozenset(
        "run test x repl exec install add remove update audit outdated link unlink publish patch pm info why build init"
        " create upgrade feedback i a rm".split()
    ),
}
#: options that take no value
_FLAGS = {
    "npm": frozenset("-s --silent --if-present --workspaces -ws --include-workspace-root".split()),
    "pnpm": frozenset("-r --recursive -w --workspace-root -s --silent --parallel --stream --if-present -q".split()),
    "yarn": frozenset("-s --silent -T --top-level -B --binaries-only".split()),
    "bun": frozenset("--silent --watch --hot --bun -b".split()),
}
_WHERE = {  #: options whose value is a folder
    "npm": frozenset(("--prefix", "-C")),
    "pnpm": frozenset(("-C", "--dir", "--prefix")),
    "yarn": frozenset(("--cwd",)),
    "bun": frozenset(("--cwd",)),
}
_PACKAGES = {  #: options whose value is a package of the workspace
    "npm": frozenset(("-w", "--workspace")),
    "pnpm": frozenset(("--filter", "-F", "--filter-prod")),
    "yarn": frozenset(),
    "bun": frozenset(("--filter", "-F")),
}


class _Options(NamedTuple):
    rest: list[str]
    folder: str
    packages: tuple[str, ...]
    is_known: bool


def _take_options(tool: str, words: Sequence[str], folder: str) -> _Options:
    """The options before a word; an option that is not in the tables makes the rest uncertain."""
    rest = list(words)
    packages: list[str] = []
    while rest and rest[0].startswith("-"):
        option, equal, value = rest.pop(0).partition("=")
        if option in _FLAGS[tool] and not equal:
            continue
        if option not in _WHERE[tool] and option not in _PACKAGES[tool]:
            return _Options(rest, folder, tuple(packages), is_known=False)
        if not equal:
            value = rest.pop(0) if rest else ""
        if option in _WHERE[tool]:
            folder = posixpath.normpath(posixpath.join(folder, value))
        else:
            packages.append(value)
    return _Options(rest, folder, tuple(packages), is_known=True)


def _read_npm(tool: str, words: Sequence[str], folder: str) -> Iterator[Command]:
    options = _take_options(tool, words, folder)
    rest, packages = options.rest, options.packages
    if tool == "yarn" and rest[:1] == ["workspace"] and len(rest) > 1:
        rest, packages = rest[2:], (rest[1],)
    if not options.is_known or not rest:
        return
    verb, *rest = rest
    is_run = verb in ("run", "run-script", "rum", "urn")
    if is_run:
        options = _take_options(tool, rest, options.folder)
        packages += options.packages
        if not options.is_known or not options.rest:
            return
        verb, *rest = options.rest
    after = _take_options(tool, [word for word in rest[: _end_of(rest)] if word.startswith("-")], "")
    packages += after.packages if tool == "npm" else ()
    for package in packages:
        if _PACKAGE.fullmatch(package):
            yield Command("package", tool, package, options.folder)
    if not _NAME.fullmatch(verb) or "/" in verb or (classify.is_sure(verb) and tool == "bun"):
        return
    is_elsewhere = bool(packages) or (tool == "npm" and not after.is_known)
    if len(verb) < 2 or verb.isupper():
        return  # `npm run X` stands for any script
    if is_run or _is_script(tool, verb):
        is_loose = tool in ("yarn", "bun") or not is_run
        if not is_run and verb in ("test", "start", "t", "tst"):
            verb, is_loose = {"t": "test", "tst": "test"}.get(verb, verb), False
        yield Command("script", tool, verb, options.folder, is_loose, is_elsewhere)


def _end_of(words: Sequence[str]) -> int:
    return words.index("--") if "--" in words else len(words)


def _is_script(tool: str, verb: str) -> bool:
    """Whether a word right after a package manager can be the name of a script."""
    if tool == "npm":
        return verb in ("test", "start", "t", "tst")
    if tool == "bun":
        return False
    return verb not in BUILT_IN[tool] or (tool == "pnpm" and verb in ("t", "tst"))


# Targets


def _read_make(tool: str, words: Sequence[str], folder: str) -> Iterator[Command]:
    rest, found = list(words), []
    while rest:
        word = rest.pop(0)
        if word in ("-C", "--directory"):
            folder = posixpath.normpath(posixpath.join(folder, rest.pop(0))) if rest else folder
        elif word in ("-j", "-l") or word.startswith(("-j", "-O", "--jobs", "-l")):
            if word in ("-j", "-l", "--jobs") and rest and rest[0].isdigit():
                rest.pop(0)
        elif word in ("-s", "-k", "-B", "-i", "-n", "--silent", "--always-make", "--dry-run", "-q", "-w"):
            continue
        elif word.startswith("-"):
            return  # -f, and what is not known
        elif "=" not in word:
            found.append(word)
    if all(_TARGET.fullmatch(word) for word in found):
        yield from (Command("target", tool, word, folder) for word in found)


def _read_just(tool: str, words: Sequence[str], folder: str) -> Iterator[Command]:
    """Of `just` and `task` only the first word: others are arguments, or targets of their own."""
    if words and not words[0].startswith("-") and _TARGET.fullmatch(words[0]) and "/" not in words[0]:
        yield Command("target", tool, words[0], folder)


# Programs

INTERPRETERS = {
    **dict.fromkeys(("python", "python3"), frozenset(("-u", "-B", "-O", "-I", "-s"))),
    **dict.fromkeys(("bash", "sh", "zsh"), frozenset(("-x", "-e", "-ex", "-eu", "-n", "-l", "-eux"))),
    **dict.fromkeys(("node", "tsx", "ts-node", "ruby", "perl", "php", "Rscript"), frozenset(("--no-warnings",))),
    **dict.fromkeys(("source", "."), frozenset[str]()),
}


def _read_interpreter(tool: str, words: Sequence[str], folder: str) -> Iterator[Command]:
    rest = list(words)
    while rest and rest[0] in INTERPRETERS[tool]:
        rest.pop(0)
    if not rest or rest[0].startswith("-") or not classify.path_of(rest[0]) or not classify.is_sure(rest[0]):
        return
    yield Command("program", tool, rest[0], folder)
    yield from _arguments(rest[1:], folder)


_READERS = {
    "cd": _read_cd,
    "npm": _read_npm,
    "pnpm": _read_npm,
    "yarn": _read_npm,
    "bun": _read_npm,
    "make": _read_make,
    "just": _read_just,
    "task": _read_just,
}
