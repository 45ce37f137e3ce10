"""Copies of settings that a process left next to them when it was killed.

1. They have our name and a number, and are next to a settings file of an agent.
2. One is removed if its content is stored in our backups, whole or, of a file that was half written, up to its end; any
   other may be the only copy of what another program wrote.
3. While a process changes settings, it holds a lock: then nothing is removed.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

from foretold.dialects.install_targets import INSTALLS
from foretold.extras import names_in
from foretold.serve.install.backup import Backups
from foretold.serve.install.targets import SCOPES, InstallPlace, path_of
from foretold.storage.lock import try_lock

_NAME = re.compile(r"\.(?:foretold|headnote)-[0-9a-z-]+-\d+(?:-old)?\Z")


def find_leftovers(place: InstallPlace) -> list[str]:
    """The paths of what killed processes left."""
    targets = [
        path_of(part.where, scope, place)
        for install in INSTALLS.values()
        for part in (install.hooks, install.mcp)
        for scope in SCOPES
        if part
    ]
    folders = dict.fromkeys(os.path.dirname(os.path.realpath(path)) for path in targets if path)
    return [os.path.join(folder, name) for folder in folders for name in names_in(folder) if _NAME.match(name)]


def remove_leftovers(place: InstallPlace, backups: Backups) -> list[str]:
    """Remove what killed processes left, as far as its content is stored; the paths that were removed."""
    if not os.path.isdir(backups.folder):
        return []
    removed = []
    with suppress(OSError):
        lock = os.open(os.path.join(backups.folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            for path in find_leftovers(place) if try_lock(lock) else ():
                if backups.holds(path):
                    backups.kernel.unlink(path)
                    removed.append(path)
        finally:
            os.close(lock)
    return removed
