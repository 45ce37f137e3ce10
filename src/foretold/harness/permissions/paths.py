"""Paths as a permission sees them: every spelling of a file counts, also the one that its links lead to.

1. A file is in a folder only if all its spellings are: as it is written, and as it really is.
2. Some files are never changed without asking: what belongs to git, to editors, shells and package managers, and what
   steers an agent itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from foretold.storage.tree import is_inside

HOPS = 40  #: links to links
#: as the public documentation of Claude Code lists them
PROTECTED_FOLDERS = frozenset(".git .config/git .vscode .idea .husky .cargo .devcontainer .yarn .mvn .claude".split())
PROTECTED_FILES = frozenset(
    ".gitconfig .gitmodules .bashrc .bash_profile .bash_login .bash_aliases .bash_logout .zshrc .zprofile .zshenv"
    " .zlogin .zlogout .profile .envrc .npmrc .yarnrc .yarnrc.yml .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs bunfig.toml"
    " .bunfig.toml .bazelrc .bazelversion .bazeliskrc .pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml"
    " .lefthook.yaml gradle-wrapper.properties maven-wrapper.properties .devcontainer.json .ripgreprc"
    " pyrightconfig.json .mcp.json .claude.json".split()
)


def spellings(path: str) -> tuple[str, ...]:
    """All that a path leads through: itself, normalized, and the targets of its links."""
    plain = os.path.normpath(path)
    found = {plain: None, os.path.realpath(path): None, os.path.realpath(plain): None}
    hop = plain
    for _ in range(HOPS):
        try:
            hop = os.path.normpath(os.path.join(os.path.dirname(hop), os.readlink(hop)))
        except OSError:
            break
        found[hop] = None
    return tuple(found)


def with_real_paths(folders: Iterable[str]) -> tuple[str, ...]:
    """Folders as they are written, and as they really are."""
    return tuple(
        dict.fromkeys(one for folder in folders for one in (os.path.normpath(folder), os.path.realpath(folder)))
    )


def are_below(paths: Iterable[str], folders: Iterable[str]) -> bool:
    """Whether each path is in one of the folders."""
    folders = tuple(folders)
    return all(any(is_inside(path, folder) for folder in folders) for path in paths)


def is_protected(path: str, folders: Iterable[str]) -> bool:
    """Whether a file is one that is never changed without asking; what leads to the folders worked in says nothing.

    >>> [is_protected("/repo/" + name, ["/repo"]) for name in ("a.py", ".git/config", ".claude/worktrees/x/a")]
    [False, True, False]
    """
    inside = [folder for folder in folders if is_inside(path, folder)]
    start = max((len(folder.rstrip("/")) for folder in inside), default=0)
    parts = [part for part in path[start:].lower().split("/") if part]
    for at, part in enumerate(parts):
        if part == ".claude" and parts[at + 1 : at + 2] == ["worktrees"] and len(parts) > at + 2:
            continue
        if part in PROTECTED_FOLDERS or "/".join(parts[at : at + 2]) in PROTECTED_FOLDERS:
            return True
    return bool(parts) and parts[-1] in PROTECTED_FILES
