"""Whether a command that runs foretold takes Python modules, or programs, from the folder it is started in.

Agents start hooks and servers in the folder of a project, which may be a stranger's clone. Whatever wrote a command, it
is not isolated if it

1. runs our module, or code that imports it, in a Python without `-I` or `-P` (`python3 -m foretold`);
2. runs our program by a path relative to the folder, or through a tool that enters the project there (`uv run`);
3. gives Python a relative entry of PYTHONPATH.

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
_IMPORT = re.compile(rf"\bimport\b.*\b(?:{'|'.join(NAMES)})\b|\b(?:{'|'.join(NAMES)})\b.*\bimport\b", re.DOTALL)
#: these resolve, build and enter the project of the folder they are started in
_RUNNERS = ("uv", "poetry", "pdm", "hatch", "rye", "pipenv", "pixi")
_OPTIONS = re.compile(r"-([A-VYZa-z]+)")  #: letters up to -W and -X, which have values
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
        value = env.get("PYTHONPATH") if isinstance(env, Mapping) else None
        if found is None and isinstance(value, str) and _is_relative(value) and _call_in(words):
            found = LooseCommand("PYTHONPATH has a relative entry", _call_in(words), is_alone=False)
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
        elif word.startswith("PYTHONPATH=") and _is_relative(word.partition("=")[2]) and _call_in(words[at:]):
            return "PYTHONPATH has a relative entry", _call_at(words)
        if _PYTHON.match(os.path.basename(word)):
            letters, is_python = set(), True
        module = _MODULE.match(word)
        name = (module[2] or following) if module else following if word == "--module" else ""
        if name.split(".")[0] in NAMES:
            letters |= set(module[1] if module else "")
            if not is_python or not (is_safe or letters & set("IP")):
                why = f"`-m {name}` takes Python modules from the folder it is started in"
                return why, at + (1 if module and module[2] else 2)
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
    if "/" in program and program[0] not in "/~$":
        return f"{program} is a program of the folder it is started in"
    for tool, verb in pairwise(words):
        if os.path.basename(tool) in _RUNNERS and verb == "run" and "--no-project" not in words:
            return f"`{os.path.basename(tool)} run` enters the environment of the folder it is started in"
    return ""


def _call_at(words: Sequence[str]) -> int:
    """Where what our program is called with begins."""
    return next((at for at, word in enumerate(words) if word in CALLS), len(words))


def _call_in(words: Sequence[str]) -> tuple[str, ...]:
    is_ours = any(name in word for word in words for name in NAMES)
    return tuple(words[_call_at(words) :]) if is_ours else ()


def _is_relative(value: str) -> bool:
    """Whether a variable has entries that depend on the folder."""
    return bool(value) and any(entry[:1] not in ("/", "~", "$") for entry in value.split(":"))
