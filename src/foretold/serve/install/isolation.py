"""Whether a command that runs foretold takes Python modules, or programs, from the folder it is started in.

Agents start hooks and servers in the folder of a project, which may be a stranger's clone. Whatever wrote a command, it
is not isolated if it

1. runs our module, or code that imports it, in a Python without `-I` or `-P` (`python3 -m foretold`);
2. runs our program, or Python, by a path relative to the folder, or through a tool that enters or builds the project
   there (`uv run`, `uvx --from .`, `activate`);
3. gives a relative entry to PYTHONPATH, PYTHONHOME or PATH.

A variable that means the project (`$PWD`, `$CLAUDE_PROJECT_DIR`, `${workspaceFolder}`) counts as relative: all do but
those of the user's home.

Command lines in words of others (`sh -c '…'`, `env -S '…'`) are looked into. Nothing is ever started.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import pairwise

from foretold.dialects.install_targets import NAME
from foretold.types import NamedTuple

NAMES = (NAME, "headnote")  #: of our module and program; the second is what we were called before
CALLS = ("hook", "mcp")  #: commands of ours that agents run
DEEPEST = 4  #: levels of command lines in words of others
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*\Z")
_MODULE = re.compile(rf"-([A-Za-z]*)m((?:{'|'.join(NAMES)})(?:\.[\w.]*)?)?\Z")
_IMPORT = re.compile(
    rf"\bimport\b.*\b(?:{'|'.join(NAMES)})\b|\b(?:{'|'.join(NAMES)})\b.*\bimport\b|(?:import|module)\w*\W+(?:{'|'.join(NAMES)})\b",
    re.DOTALL,
)
#: these resolve, build and enter the project of the folder they are started in
_RUNNERS = ("uv", "poetry", "pdm", "hatch", "rye", "pipenv", "pixi")
_OPTIONS = re.compile(r"-([A-VYZa-z]+)")  #: letters up to -W and -X, which have values
_PATHS = ("PYTHONPATH", "PYTHONHOME", "PATH")  #: variables that say where modules and programs are
#: variables that do not mean the project
_FIXED = re.compile(r"/|~|\$\{?(?:env:)?(?:HOME|USERPROFILE|PATH|PYTHONPATH|XDG_[A-Z_]+|[A-Z]*PLUGIN_ROOT)\b")
_BUILDERS = {"uvx": "--from", "pipx": "--spec"}  #: tools that build what an option names, and that option
_OPERATORS = re.compile(r"[;&|()<>\n]+\Z")


class LooseCommand(NamedTuple):
    """A command that is not isolated."""

    why: str
    words: tuple[str, ...]  #: what our program is called with: `hook Stop`
    is_alone: bool  #: whether the command line does nothing else, so that another can take its place


def find_loose(command: object, env: object = None) -> LooseCommand | None:
    """How a command, a line for a shell or its words, runs foretold without isolation; None if it does not.

    >>> find_loose("python3 -m foretold hook Stop").words, find_loose("python3 -I -m foretold hook Stop")
    (('hook', 'Stop'), None)
    """
    if isinstance(command, str):
        found = _look_at_line(command, 0)
    else:
        words = [str(word) for word in command] if isinstance(command, list | tuple) else []
        found = _look_at(words, 0)
        given = env if isinstance(env, Mapping) and found is None and _call_in(words) else {}
        for name in _PATHS:
            value = given.get(name)
            if isinstance(value, str) and _is_relative(value):
                return LooseCommand(f"{name} has a relative entry", _call_in(words), is_alone=False)
    return found


def _look_at_line(line: str, depth: int) -> LooseCommand | None:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        words = list(lexer)
    except ValueError:
        words = line.split()
    return _look_at(words, depth)


def _look_at(words: Sequence[str], depth: int) -> LooseCommand | None:
    why, after = _why_loose(words)
    if why:
        rest = words[after:]
        end = next((at for at, word in enumerate(rest) if _OPERATORS.match(word)), len(rest))
        is_alone = not any(map(_OPERATORS.match, words[:after])) and tuple(rest[end:]) in ((), ("||", "true"))
        return LooseCommand(why, tuple(rest[:end]), is_alone)
    if "eval" in words and depth < DEEPEST:  # which joins its words to a line
        found = _look_at_line(" ".join(words[words.index("eval") + 1 :]), depth + 1)
        if found:
            return found._replace(is_alone=False)
    for word in words if depth < DEEPEST else ():
        if re.search(r"\s", word) and any(name in word for name in NAMES):
            found = _look_at_line(word, depth + 1)
            if found:
                is_alone = found.is_alone and not any(map(_OPERATORS.match, words))
                return found._replace(is_alone=is_alone)
    return None


def _why_loose(words: Sequence[str]) -> tuple[str, int]:
    """Why a command is not isolated, and where what our program is called with begins; empty if it is."""
    letters, is_python, is_safe = set[str](), False, False
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if word.startswith("PYTHONSAFEPATH=") and word != "PYTHONSAFEPATH=":
            is_safe = True
        elif _call_in(words[at:]) and (why := _why_before(word, following)):
            return why, _call_at(words)
        if _PYTHON.match(os.path.basename(word)):
            letters, is_python = set(), True
        module = _MODULE.match(word)
        name = (module[2] or following) if module else following if word == "--module" else ""
        through = name == "runpy"  # a module of Python that runs the one it is given
        if through:
            name = words[at + 2] if at + 2 < len(words) else ""
        if name.split(".")[0] in NAMES:
            letters |= set(module[1] if module else "")
            if not is_python or not (is_safe or letters & set("IP")):
                why = f"`-m {name}` takes Python modules from the folder it is started in"
                return why, at + (1 if module and module[2] else 2) + through
        elif word == "-c" and is_python and _IMPORT.search(following) and not (is_safe or letters & set("IP")):
            return "`python -c` takes Python modules from the folder it is started in", at + 2
        elif options := _OPTIONS.match(word):
            letters |= set(options[1])
        elif following in CALLS and (why := _why_program(words[: at + 1])):
            return why, at + 1
    return "", 0


def _why_program(words: Sequence[str]) -> str:
    """Why our program, the last of these words, is not safe to call so; empty if it is, or is not ours."""
    program = words[-1]
    if os.path.basename(program) not in NAMES and not program.endswith(tuple(f"{name}/__main__.py" for name in NAMES)):
        return ""
    if "/" in program and _is_relative(program):
        return f"{program} is a program of the folder it is started in"
    for at, tool in enumerate(os.path.basename(word) for word in words):
        if tool in _RUNNERS and "run" in words[at:] and "--no-project" not in words:
            return f"`{tool} run` enters the environment of the folder it is started in"
        named = [value for option, value in pairwise(words[at:]) if option == _BUILDERS.get(tool)]
        named += [word.partition("=")[2] for word in words[at:] if word.startswith(f"{_BUILDERS.get(tool)}=")]
        if any(value[:1] == "." or ("/" in value and ":" not in value and _is_relative(value)) for value in named):
            return f"`{tool}` builds the folder it is started in"
    return ""


def _why_before(word: str, following: str) -> str:
    """Why a word before our program makes the call not isolated; empty if it does not."""
    name, _, value = word.partition("=")
    if name in _PATHS and _is_relative(value):
        return f"{name} has a relative entry"
    if "/" in word and _PYTHON.match(os.path.basename(word)) and "=" not in word and _is_relative(word):
        return f"{word} is a program of the folder it is started in"
    if word in (".", "source") and os.path.basename(following) == "activate" and _is_relative(following):
        return f"{following} enters an environment of the folder it is started in"
    return ""


def _call_at(words: Sequence[str]) -> int:
    """Where what our program is called with begins."""
    return next((at for at, word in enumerate(words) if word in CALLS), len(words))


def _call_in(words: Sequence[str]) -> tuple[str, ...]:
    is_ours = any(name in word for word in words for name in NAMES)
    return tuple(words[_call_at(words) :]) if is_ours else ()


def _is_relative(value: str) -> bool:
    """Whether a variable has entries that depend on the folder."""
    return bool(value) and any(not _FIXED.match(entry) for entry in re.sub(r"\{env:", "{", value).split(":"))
