"""Where foretold keeps its own files: never in an agent's folders; and where it imports its modules from.

1. `$FORETOLD_HOME` holds everything; without it, the folders of the XDG base directories do.
2. We are started in folders of strangers. A process that we start is isolated: its Python gets no module from its
   folder, from variables or from relative paths, only from the folders that this process has.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from foretold.types import NamedTuple


class ForetoldFolders(NamedTuple):
    """The folders of foretold, and its settings file."""

    state: str  #: what must not be lost: histories, the archive, what undoes a restore
    cache: str  #: indexes, which can be deleted at any moment
    config: str  #: a file


def foretold_folders(home: str, env: Mapping[str, str]) -> ForetoldFolders:
    """The folders of foretold for a home and its environment.

    >>> foretold_folders("/home/me", {}).state
    '/home/me/.local/state/foretold'
    >>> foretold_folders("/home/me", {"FORETOLD_HOME": "/srv/h"})
    ForetoldFolders(state='/srv/h', cache='/srv/h/cache', config='/srv/h/config.toml')
    """
    own = env.get("FORETOLD_HOME")
    if own:
        own = os.path.abspath(own)
        return ForetoldFolders(own, f"{own}/cache", f"{own}/config.toml")

    def base(name: str, default: str) -> str:
        value = env.get(name, "")
        return value if value.startswith("/") else f"{home}/{default}"

    return ForetoldFolders(
        base("XDG_STATE_HOME", ".local/state") + "/foretold",
        base("XDG_CACHE_HOME", ".cache") + "/foretold",
        base("XDG_CONFIG_HOME", ".config") + "/foretold/config.toml",
    )


def cache_home(env: Mapping[str, str]) -> str:
    """The folder for indexes.

    >>> cache_home({"HOME": "/home/ada"}), cache_home({"FORETOLD_HOME": "/srv/foretold"})
    ('/home/ada/.cache/foretold', '/srv/foretold/cache')
    """
    return foretold_folders(env.get("HOME", ""), env).cache


def source_folder() -> str:
    """The folder that a child process puts on its path to import this very foretold."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


#: the module path is the first argument: `-I` leaves out a user's own packages, where we may be installed
_BOOT = "import sys; sys.path[:] = sys.argv.pop(1).split('\\n'); from {0} import {1}; {1}()"


def python_words(module: str, function: str, *words: str) -> list[str]:
    """The words that call one of our functions in another process, which is isolated and finds the same modules."""
    path = "\n".join(module_path())
    return [sys.executable, "-I", "-c", _BOOT.format(module, function), path, *words]


def module_path() -> list[str]:
    """The folders that modules come from, without any that depends on where a process was started."""
    found = [entry for entry in sys.path if entry.startswith("/") and entry not in relative_folders("PYTHONPATH")]
    return found if source_folder() in found else [source_folder(), *found]


def relative_folders(variable: str, env: Mapping[str, str] = os.environ) -> list[str]:
    """What the relative and empty entries of a variable such as PATH stand for here; Python knows them by that name.

    >>> relative_folders("PATH", {"PATH": "/usr/bin:/bin"}), relative_folders("PATH", {})
    ([], [])
    """
    value = env.get(variable, "")
    return [os.path.abspath(entry) for entry in value.split(os.pathsep) if entry[:1] != "/"] if value else []


def forget_relative_modules() -> None:
    """Import nothing more from the folder that this process was started in, unless we are installed there."""
    sys.path[:] = module_path()
