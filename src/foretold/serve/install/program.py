"""Which command an agent shall run: one that still works tomorrow.

1. For a user: the program `foretold` by its absolute path, as PATH names it if that is this one (a link of pipx or of
   `uv tool` survives an upgrade); else the one that is running (`pip install --user` puts it into `~/.local/bin`); else
   the one next to this interpreter; else this interpreter with `-m foretold`.
2. It is called by its Python, isolated: agents start it in folders of strangers, and Python would take modules from
   there (`-m`, or a relative entry of PYTHONPATH). With `-I` if our modules are found so, else with `-E -P`, which keep
   the user's own packages. A program that is not a Python script is called as it is.
3. For a project: `foretold`, from the PATH of everyone who works there; a path of this machine is of no use to others.
4. In an environment that `uvx` made for one call: `uvx` with the origin of this foretold (`foretold.extras`).
5. A command in a folder for temporary files, or in a virtual environment, may disappear: a note says so.
6. Whether the Python of a command has the package that the server needs is found out by looking at files; a settings
   file of a project may name any program, so none is ever started. The Python of a command is its first word, if that
   is one, else the one in the first line of a script. If it is the running Python, that is asked; of another virtual
   environment, the packages folder is looked at; about any other Python nothing is said.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise

from foretold.dialects.install_targets import NAME
from foretold.extras import names_in, package_folders, requirement_of
from foretold.storage.tree import open_regular, read_regular

PACKAGE = "mcp"  #: and the extra that brings it
_TOOLS = ("/pipx/venvs/", "/uv/tools/", "/.local/share/uv/")  #: environments that stay until someone removes them
_FLEETING = ("/uv/archive-v", "/uv/environments-v", "/.cache/uv/")
_TEMPORARY = ("/tmp/", "/var/tmp/", "/private/tmp/", "/dev/shm/")  # noqa: S108
_PYTHON = re.compile(r"python[0-9.]*\Z")
#: the first line; or the second, if the first could not hold such a long path
_SHEBANG = re.compile(r"#!(?:/bin/sh\n'''exec' \"?)?(/[^\n\"]*?python[0-9.]*)(?=[ \n\"])")


def our_command(scope: str, env: Mapping[str, str], interpreter: str = sys.executable) -> list[str]:
    """The words that start foretold."""
    if scope == "project":
        return [NAME]
    if any(mark in interpreter for mark in _FLEETING) and shutil.which("uvx", path=env.get("PATH", "")):
        return ["uvx", "--from", requirement_of(interpreter, PACKAGE), NAME]
    script = _find_script(env, interpreter)
    if not script:  # without isolation only if nothing else finds our modules, and never with those of the folder
        return [interpreter, *(_isolation(interpreter) or ("-P",)), "-m", NAME]
    flags = _isolation(interpreter) if python_of([script], {}) else ()
    return [interpreter, *flags, script] if flags else [script]


def _find_script(env: Mapping[str, str], interpreter: str) -> str:
    """The program of this foretold; empty if there is none."""
    sibling = os.path.join(os.path.dirname(interpreter), NAME)
    scripts = [sibling] if os.access(sibling, os.X_OK) else []
    if _is_same(interpreter, sys.executable) and _is_our_script(sys.argv[0]):
        scripts.insert(0, sys.argv[0])
    named = shutil.which(NAME, path=env.get("PATH", ""))
    if named and os.path.isabs(named) and any(_is_same(named, script) for script in scripts):
        return named
    return scripts[0] if scripts else ""


def _is_our_script(path: str) -> bool:
    """Whether this process runs the program that an installer made for us."""
    return os.path.isabs(path) and os.path.basename(path) == NAME and os.access(path, os.X_OK)


#: what a Python finds of these, and where
_LOOKUP = "import sys, importlib.util as u; print([(s := u.find_spec(n)) and s.origin for n in sys.argv[1:]])"
_MODULES = (NAME, "pyromark", "ryaml", PACKAGE)


def _isolation(python: str) -> tuple[str, ...]:
    """The options that isolate a Python, and with which it finds the modules that this process has; none if none do."""
    import subprocess
    from importlib.util import find_spec

    found = repr([(spec := find_spec(name)) and spec.origin for name in _MODULES]) + "\n"
    env = {"PATH": os.defpath, "HOME": os.path.expanduser("~")}
    for flags in (("-I",), ("-E", "-P")):
        words = [python, *flags, "-c", _LOOKUP, *_MODULES]
        try:
            done = subprocess.run(words, env=env, cwd="/", capture_output=True, text=True, timeout=60, check=False)
        except (OSError, subprocess.SubprocessError):
            return ("-I",)  # it cannot be asked
        if done.stdout == found:
            return flags
    return ()


def doubts(command: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Why a command may not be there when an agent wants it; `; try: ` begins a command to type.

    >>> doubts(["/tmp/x/bin/foretold"], {})
    ['/tmp/x/bin/foretold is in a folder for temporary files: once it is gone, the agent cannot start it']
    """
    program = script_of(command) or command[0]
    if not os.path.isabs(program):
        if not shutil.which(program, path=env.get("PATH", "")):
            return [f"{program} is not on your PATH: until it is, the agent cannot start it"]
        origin = next((after for word, after in pairwise(command) if word == "--from"), "")
        tool = shlex.join(["uv", "tool", "install", origin or requirement_of(extra=PACKAGE)])
        return [f"uvx resolves foretold at each call, which is slow; try: {tool}"] if program == "uvx" else []
    if program.startswith(_TEMPORARY):
        return [f"{program} is in a folder for temporary files: once it is gone, the agent cannot start it"]
    home = os.path.dirname(os.path.dirname(program))
    if os.path.isfile(os.path.join(home, "pyvenv.cfg")) and not any(mark in program for mark in _TOOLS):
        tool = shlex.join(["uv", "tool", "install", requirement_of(f"{home}/bin/python", PACKAGE)])
        return [f"{program} is in a virtual environment: once that is gone, the agent cannot start it; try: {tool}"]
    return []


def script_of(words: Sequence[str]) -> str:
    """The script that a Python is to run; empty if it is not a Python, or runs something else.

    >>> script_of(["/usr/bin/python3", "-I", "/opt/bin/foretold", "mcp"]), script_of(["/usr/bin/python3", "-m", "x"])
    ('/opt/bin/foretold', '')
    """
    if not words or not _PYTHON.match(os.path.basename(words[0])):
        return ""
    first = next((word for word in words[1:] if word in ("-m", "-c") or not word.startswith("-")), "")
    return "" if first in ("-m", "-c") else first


def is_there(words: Sequence[str], env: Mapping[str, str]) -> bool:
    """Whether a command can still be started."""
    if not words:
        return False
    script = script_of(words)
    if script and not os.path.isfile(script):
        return False
    if os.path.isabs(words[0]):
        return os.path.isfile(words[0]) and os.access(words[0], os.X_OK)
    return shutil.which(words[0], path=env.get("PATH", "")) is not None


def python_of(command: Sequence[str], env: Mapping[str, str]) -> str:
    """The absolute path of the Python that a command starts; empty if it is not known."""
    program = shutil.which(command[0], path=env.get("PATH", "")) if command else None
    if not program:
        return ""
    if _PYTHON.match(os.path.basename(program)):
        return program
    try:
        with open(program, "rb", opener=open_regular) as file:
            start = file.read(1024).decode("utf-8", "replace")
    except OSError:
        return ""
    found = _SHEBANG.match(start)
    return found[1] if found else ""


def without_package(command: Sequence[str], env: Mapping[str, str]) -> str:
    """The Python of a command if it lacks the package; empty if it has it, or that is not known."""
    python = python_of(command, env)
    return python if python and _has_package(python) is False else ""


def _has_package(python: str) -> bool | None:
    """None: it is not known."""
    prefix = os.path.dirname(os.path.dirname(python))
    if _is_same(prefix, sys.prefix) and _is_same(python, sys.executable):
        from importlib.util import find_spec

        return find_spec(PACKAGE) is not None
    try:
        settings = read_regular(os.path.join(prefix, "pyvenv.cfg"), 1 << 20).decode("utf-8", "replace")
    except OSError:
        return None
    names = [name for folder in package_folders(prefix) for name in names_in(folder)]
    if any(name == PACKAGE or name.startswith(f"{PACKAGE}-") for name in names):
        return True
    is_open = re.search(r"^include-system-site-packages\s*=\s*true\s*$", settings, re.MULTILINE | re.IGNORECASE)
    return None if is_open else False


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
