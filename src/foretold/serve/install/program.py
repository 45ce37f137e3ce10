"""Which command an agent shall run: one that is still there tomorrow.

1. For a user: the program `foretold` by its whole path, as PATH names it if that is this one (a link of pipx or of `uv
   tool` survives an upgrade); else the one beside this interpreter; else this interpreter with `-m foretold`.
2. For a project: `foretold`, from the PATH of whoever works there; a path of this machine is of no use to others.
3. In an environment that `uvx` made for one call: `uvx --from foretold[mcp] foretold`.
4. A command in a folder for temporary files, or in a virtual environment, may be gone one day: a warning says so.
"""

from __future__ import annotations

import os
import shutil
import sys

from foretold.dialects.install_targets import NAME
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TOOLS = ("/pipx/venvs/", "/uv/tools/", "/.local/share/uv/")  #: environments that stay until somebody removes them
_FLEETING = ("/uv/archive-v", "/uv/environments-v", "/.cache/uv/")
_TEMPORARY = ("/tmp/", "/var/tmp/", "/private/tmp/", "/dev/shm/")  # noqa: S108


def our_command(scope: str, env: Mapping[str, str], interpreter: str = sys.executable) -> list[str]:
    """The words that start foretold."""
    if scope == "project":
        return [NAME]
    if any(mark in interpreter for mark in _FLEETING) and shutil.which("uvx", path=env.get("PATH", "")):
        return ["uvx", "--from", f"{NAME}[mcp]", NAME]
    beside = os.path.join(os.path.dirname(interpreter), NAME)
    named = shutil.which(NAME, path=env.get("PATH", ""))
    if named and os.path.isabs(named) and os.path.realpath(named) == os.path.realpath(beside):
        return [named]
    return [beside] if os.access(beside, os.X_OK) else [interpreter, "-m", NAME]


def doubts(command: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Why a command may not be there when an agent wants it.

    >>> doubts(["/tmp/x/bin/foretold"], {})
    ['/tmp/x/bin/foretold is in a folder for temporary files: once it is gone, the agent cannot start it']
    """
    program = command[0]
    if not os.path.isabs(program):
        if shutil.which(program, path=env.get("PATH", "")):
            return [
                "uvx looks for the newest foretold at each call, which is slow; better: uv tool install foretold"
            ] * (program == "uvx")
        return [f"{program} is not on your PATH: until it is, the agent cannot start it"]
    if program.startswith(_TEMPORARY):
        return [f"{program} is in a folder for temporary files: once it is gone, the agent cannot start it"]
    home = os.path.dirname(os.path.dirname(program))
    if os.path.isfile(os.path.join(home, "pyvenv.cfg")) and not any(mark in program for mark in _TOOLS):
        said = f"{program} is in a virtual environment: once that is gone, the agent cannot start it"
        return [f"{said}; better: uv tool install foretold, or pipx install foretold"]
    return []


def is_there(words: Sequence[str], env: Mapping[str, str]) -> bool:
    """Whether a command can still be started."""
    if not words:
        return False
    if os.path.isabs(words[0]):
        return os.path.isfile(words[0]) and os.access(words[0], os.X_OK)
    return shutil.which(words[0], path=env.get("PATH", "")) is not None
