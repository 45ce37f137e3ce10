"""Where foretold keeps its own files: never in an agent's folders.

`$FORETOLD_HOME` holds everything; without it, the folders of the XDG base directories do.
"""

from __future__ import annotations

import os
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
