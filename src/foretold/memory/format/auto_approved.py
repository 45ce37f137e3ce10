"""What Claude Code writes into its memory folder without asking.

A Write or Edit in the folder needs no approval if the file's name ends in `.md`, in small letters; but it does in
folders that hold the settings of tools, and where a link leads out.
"""

from __future__ import annotations

from foretold.dialects.surroundings import join
from foretold.storage.tree import Disk, Tree, is_inside

#: folders, in any case, in which whatever is written needs approval; seen on 2.1.197 and 2.1.325
GUARDED = frozenset(".cargo .claude .devcontainer .git .husky .idea .mvn .vscode .yarn node_modules".split())


def writes_without_asking(path: str, folder: str, tree: Tree | None = None) -> bool:
    """Whether Claude Code, in its default permission mode, writes a file without approval because of its memory folder.

    >>> [writes_without_asking(f"/m/{name}", "/m") for name in ("a.md", "b/a.md", "a.txt", "a.MD", "../a.md")]
    [True, True, False, False, False]
    """
    tree = tree if tree is not None else Disk()
    path, folder = join("/", path.strip()), join("/", folder)
    if not path.endswith(".md") or not is_inside(path, folder) or path == folder:
        return False
    if any(part in GUARDED for part in path[len(folder) :].lower().split("/")[:-1]):
        return False
    return is_inside(tree.real(path), tree.real(folder))
