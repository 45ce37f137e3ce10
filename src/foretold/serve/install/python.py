"""Whether the Python that would run our server has the package for it. Files are looked at; nothing is started.

1. The Python of a command is its first word, if that is one, else the one that the first line of a script names.
2. If it is the Python that runs now, that is asked. Of another virtual environment, the folder with its packages is
   looked at. Of any other Python, and of a program that is no Python script, nothing is said.
3. A settings file of a project may name any program: it is never run to find out.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys

from foretold.extras import EXTRAS
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PACKAGE = "mcp"  #: and the extra that brings it
_PYTHON = re.compile(r"python[0-9.]*\Z")
#: the first line; or the second, where the first could not hold so long a path
_SHEBANG = re.compile(r"#!(?:/bin/sh\n'''exec' \"?)?(/[^\n\"]*?python[0-9.]*)(?=[ \n\"])")
#: environments of tools have no pip of their own
_WAYS = {
    "/uv/tools/": "uv tool install --with {package} foretold",
    "/pipx/venvs/": "pipx inject foretold {package}",
    "": "{python} -m pip install {package}",
}


def python_of(command: Sequence[str], env: Mapping[str, str]) -> str:
    """The Python that a command starts, by its whole path; empty if that is not known."""
    program = shutil.which(command[0], path=env.get("PATH", "")) if command else None
    if not program:
        return ""
    if _PYTHON.match(os.path.basename(program)):
        return program
    try:
        with open(program, "rb") as file:
            start = file.read(1024).decode("utf-8", "replace")
    except OSError:
        return ""
    found = _SHEBANG.match(start)
    return found[1] if found else ""


def without_package(command: Sequence[str], env: Mapping[str, str]) -> str:
    """The Python of a command if the package is missing there; empty if it is there, or nobody knows."""
    python = python_of(command, env)
    return python if python and _has_package(python) is False else ""


def way_to_get(python: str) -> str:
    """The command that gives a Python the package.

    >>> way_to_get("/opt/venv/bin/python")
    "/opt/venv/bin/python -m pip install 'mcp>=2.3,<3'"
    """
    way = next(way for mark, way in _WAYS.items() if mark in python)
    return way.format(python=shlex.quote(python), package=shlex.quote(EXTRAS[PACKAGE]))


def _has_package(python: str) -> bool | None:
    """None: it is not known."""
    prefix = os.path.dirname(os.path.dirname(python))
    if _is_same(prefix, sys.prefix) and _is_same(python, sys.executable):
        from importlib.util import find_spec

        return find_spec(PACKAGE) is not None
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
            settings = file.read()
    except OSError:
        return None
    if _in_packages(prefix):
        return True
    is_open = re.search(r"^include-system-site-packages\s*=\s*true\s*$", settings, re.MULTILINE | re.IGNORECASE)
    return None if is_open else False


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _in_packages(prefix: str) -> bool:
    """Whether a virtual environment has the package, or what an installer says about it."""
    lib = os.path.join(prefix, "lib")
    folders = [os.path.join(lib, name, "site-packages") for name in _names(lib) if name.startswith("python")]
    return any(name == PACKAGE or name.startswith(f"{PACKAGE}-") for folder in folders for name in _names(folder))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
