"""Where headnote keeps what is its own: never in an agent's folders.

`$HEADNOTE_HOME` holds everything; without it, the folders of the XDG base directories do.
"""

from __future__ import annotations

import os

from headnote.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Ours(NamedTuple):
    """Our own folders, and our settings."""

    state: str  #: what must not be lost: histories, the archive, what undoes a restore
    cache: str  #: indexes, which can be deleted at any moment
    config: str  #: a file


def our_folders(home: str, env: Mapping[str, str]) -> Ours:
    """Our own folders for a home and its environment.

    >>> our_folders("/home/me", {}).state, our_folders("/home/me", {"HEADNOTE_HOME": "/srv/h"})
    ('/home/me/.local/state/headnote', Ours(state='/srv/h', cache='/srv/h/cache', config='/srv/h/config.toml'))
    """
    own = env.get("HEADNOTE_HOME")
    if own:
        own = os.path.abspath(own)
        return Ours(own, f"{own}/cache", f"{own}/config.toml")

    def base(name: str, default: str) -> str:
        value = env.get(name, "")
        return value if value.startswith("/") else f"{home}/{default}"

    return Ours(
        base("XDG_STATE_HOME", ".local/state") + "/headnote",
        base("XDG_CACHE_HOME", ".cache") + "/headnote",
        base("XDG_CONFIG_HOME", ".config") + "/headnote/config.toml",
    )
